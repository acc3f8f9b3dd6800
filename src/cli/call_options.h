/* call_options.h: options and examples of `whichtool call`, included by options.c only. */
#ifndef WT_CLI_CALL_OPTIONS_H
#define WT_CLI_CALL_OPTIONS_H

static const struct cli_option call_options[] = {
    {.id = OPT_TOOL,
     .letter = 't',
     .name = "tool",
     .kind = VALUE_TEXT,
     .value = "TOOL",
     .help =
         "Tool to call, by a name as in show; only its arguments are read from the request. Default: the best tool."},
    {.id = OPT_FORMAT,
     .letter = 'f',
     .name = "format",
     .kind = VALUE_CHOICE,
     .value = "FORM",
     .choices = "arguments json " EXPORT_FORMATS " lines",
     .help =
         "Format of the call. arguments prints the arguments as one JSON object; lines prints lines of NAME: VALUE; "
         "openai and the like print the call as the provider's API represents it, and only if the exit code is 0. "
         "Questions go to standard error. json prints the whole result as one object, like --json (docs/json.md). "
         "Default: text to read."},
    {.id = OPT_RECIPE,
     .letter = 'r',
     .name = "recipe",
     .kind = VALUE_RECIPE,
     .value = "NAME",
     .help = "Search method for the candidate tools. Default: the best one that the store and the model allow."},
    {.id = OPT_EXPLAIN,
     .letter = 'e',
     .name = "explain",
     .help = "Show the candidates, the evidence for each, and the words that each argument was read from."},
    FILTER_OPTIONS,
    {.id = OPT_ABSTAIN,
     .name = "abstain",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = ABSTAIN_HELP " Only without --recipe. Default: 0.05. 0 always chooses a tool."},
    AS_TYPED_OPTION,
    CHAT_OPTIONS("that chooses the tool and writes the arguments"),
    {.id = OPT_SELECTION,
     .name = "selection",
     .kind = VALUE_CHOICE,
     .value = "METHOD",
     .choices = "verified once one-shot direct conditioned consistent",
     .help =
         "For experiments with --chat-model: how the model chooses the tool. verified (default) asks for the two best "
         "tools, for a question that distinguishes them, and for its answer. once asks for the best tool only; "
         "one-shot "
         "also shows a recorded request of each tool. direct asks to choose between the two best without a question. "
         "conditioned shows the request when asking for the question. consistent takes the majority of three samples."},
    {.id = OPT_GENERATION,
     .name = "generation",
     .kind = VALUE_CHOICE,
     .value = "SOURCE",
     .choices = "react second-model sampled alone",
     .help =
         "For experiments with --chat-model: source of the second set of arguments, which verifies the first. react "
         "(default): the model after reasoning; second-model: --second-chat-model; sampled: another sample; alone: "
         "no verification."},
    {.id = OPT_SECOND_CHAT_MODEL,
     .name = "second-chat-model",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Name of another language model on the same server; its arguments verify those of --chat-model."},
    {.id = OPT_CONSTRUCTION,
     .name = "construction",
     .kind = VALUE_CHOICE,
     .value = "WAY",
     .choices = "assembled written",
     .help =
         "For experiments with --chat-model: who builds the call from the arguments. assembled (default): whichtool; "
         "written: the language model, from lines of NAME: VALUE."},
    TIMEOUT_OPTION,
    MODEL_OPTIONS,
};
static const struct cli_example call_examples[] = {
    {"whichtool call \"weather at latitude 11.6 and longitude -97.8\"",
     "Shows the tool, its arguments, and missing arguments."},
    {"whichtool call --tool weather/current --format arguments \"how warm is it in Lagos\"",
     "Prints the arguments for one tool as JSON."},
    {"whichtool call --format openai - < request.txt", "Prints a call as OpenAI's API represents it."},
    {"whichtool call --chat-url http://127.0.0.1:8080/v1 --chat-model NAME \"how warm is it in Lagos\"",
     "Has a language model choose the tool and write and verify the arguments."},
};

#endif
