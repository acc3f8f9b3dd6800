/* call_options.h: options and examples of `whichtool call`. A part of the table of options.c, by itself for that file's
 * length: read there alone, by whose macros it is written. */
#ifndef WT_CLI_CALL_OPTIONS_H
#define WT_CLI_CALL_OPTIONS_H

static const struct option call_options[] = {
    {.id = OPT_TOOL,
     .letter = 't',
     .name = "tool",
     .kind = VALUE_TEXT,
     .value = "TOOL",
     .help = "The tool to call, as `show` takes it: only its arguments are looked for. Default: the one that fits."},
    {.id = OPT_FORMAT,
     .letter = 'f',
     .name = "format",
     .kind = VALUE_CHOICE,
     .value = "FORM",
     .choices = "arguments json " EXPORT_FORMATS " lines",
     .help = "Print the call alone: its arguments as one JSON object, the object that a provider's API has for calls, "
             "or lines of NAME: VALUE. A provider's object is printed only where the exit code is 0: nothing is where "
             "it is 8, and the question is on standard error. json is the whole result as one object, as --json prints "
             "it (docs/json.md). "
             "Default: words for people."},
    {.id = OPT_RECIPE,
     .letter = 'r',
     .name = "recipe",
     .kind = VALUE_RECIPE,
     .value = "NAME",
     .help = "How to find the tools to choose from. Default: the best that the store and the model allow."},
    {.id = OPT_EXPLAIN,
     .letter = 'e',
     .name = "explain",
     .help = "Show the tools that it was chosen from, what decided, and what each argument is from."},
    FILTER_OPTIONS,
    {.id = OPT_ABSTAIN,
     .name = "abstain",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = ABSTAIN_HELP " Only without --recipe. Default: 0.05; 0: never."},
    AS_TYPED_OPTION,
    CHAT_OPTIONS("that chooses the tool and writes the arguments"),
    {.id = OPT_SELECTION,
     .name = "selection",
     .kind = VALUE_CHOICE,
     .value = "METHOD",
     .choices = "verified once one-shot direct conditioned consistent",
     .help =
         "For experiments with --chat-model: how it chooses the tool. verified (default) asks for the two best, a "
         "question that tells them apart, and its answer; once for the best alone; one-shot for that beside a recorded "
         "request of each tool; direct for the two without a question; conditioned lets the question see the request; "
         "consistent takes the majority of three samples."},
    {.id = OPT_GENERATION,
     .name = "generation",
     .kind = VALUE_CHOICE,
     .value = "SOURCE",
     .choices = "react second-model sampled alone",
     .help = "For experiments with --chat-model: what its first arguments are verified by. react (default): others "
             "after reasoning; second-model: those of --second-chat-model; sampled: a sample; alone: nothing."},
    {.id = OPT_SECOND_CHAT_MODEL,
     .name = "second-chat-model",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Another language model of the same server, whose arguments verify those of --chat-model."},
    {.id = OPT_CONSTRUCTION,
     .name = "construction",
     .kind = VALUE_CHOICE,
     .value = "WAY",
     .choices = "assembled written",
     .help = "For experiments with --chat-model: how the arguments that were decided on become a call. assembled "
             "(default): as they are; written: by the language model, from lines of NAME: VALUE."},
    TIMEOUT_OPTION,
    MODEL_OPTIONS,
};
static const struct example call_examples[] = {
    {"whichtool call \"weather at latitude 11.6 and longitude -97.8\"",
     "The tool, its arguments, and what is missing."},
    {"whichtool call --tool weather/current --format arguments \"how warm is it in Lagos\"",
     "The arguments of one tool, as JSON."},
    {"whichtool call --format openai - < request.txt", "A call as OpenAI's API has it."},
    {"whichtool call --chat-url http://127.0.0.1:8080/v1 --chat-model NAME \"how warm is it in Lagos\"",
     "Chosen and written by a language model that verifies itself."},
};

#endif
