/* options_find.c: the verbs that search: find, pick and call. */
#include "cli/option_macros.h"

#define ABSTAIN_HELP                                                                                                   \
    "Return no tools and exit with 1 if probably none fits. SHARE is the false alarm rate, such as 0.05: the share "   \
    "of requests that have a tool and get none."

/* Filters of find, pick and call. */
#define FILTER_OPTIONS                                                                                                 \
    OPTION(PROVIDER, "provider", TEXT, "NAME", "Only tools of this provider. Repeat it to allow several providers.",   \
           .letter = 'p', .repeats = true),                                                                            \
        OPTION(EXCLUDE_PROVIDER, "exclude-provider", TEXT, "NAME", "No tools of this provider. May be repeated.",      \
               .repeats = true),                                                                                       \
        OPTION(                                                                                                        \
            ONLY, "only", TEXT, "PATTERN",                                                                             \
            "Only tools that match, such as 'github/get_*': * matches any characters, ? matches one. PATTERN is "      \
            "matched against the name, and with a / also against provider/name. Repeat it to allow several patterns.", \
            .repeats = true),                                                                                          \
        OPTION(EXCLUDE, "exclude", TEXT, "PATTERN", "No tools that match, such as 'delete_*'. May be repeated.",       \
               .repeats = true)

#define MAX_TOKENS_OPTION                                                                                              \
    NUMBER(MAX_TOKENS, "max-tokens", "N", UINT32_MAX,                                                                  \
           "Token budget for the definitions in the form of --format (else openai), at four bytes a token. Tools "     \
           "that still fit are kept in order, and a note counts the others.")

/* A conversation as the request of find and pick. */
#define CONVERSATION_OPTIONS                                                                                           \
    OPTION(MESSAGES, "messages", FILE, "FILE",                                                                         \
           "Read a conversation, in OpenAI's, Anthropic's or a plain form (docs/json.md); - reads standard input. "    \
           "The request is the user's last turn, or REQUEST if given. Earlier turns give context, and tools that "     \
           "were called stay in the result."),                                                                         \
        OPTION(HAVE, "have", TEXT, "TOOL",                                                                             \
               "Tool that is already loaded, by a name as in show. It is always included, without using one of the k " \
               "places. May be repeated.",                                                                             \
               .repeats = true)

#define FOUND_FORMAT_OPTION                                                                                            \
    CHOICE(FORMAT, "format", "FORMAT", "table json " EXPORT_FORMATS " " LOADING_FORMATS,                               \
           "table is for reading. json prints the whole result as one object, like --json (docs/json.md). The others " \
           "print complete definitions as an array that the provider's API accepts. anthropic-reference, "             \
           "anthropic-inline and openai-search answer clients that defer their tools and search for them "             \
           "(docs/search-backend.md).",                                                                                \
           .letter = 'f')

static const struct cli_option find_options[] = {
    NUMBER(K, "k", "N", WT_MAX_K, "Number of tools. Default: 5.", .letter = 'k'),
    OPTION(RECIPE, "recipe", RECIPE, "NAME",
           "Search method; `whichtool help --recipes` lists them. Default: the best one that the store and the model "
           "allow.",
           .letter = 'r'),
    FLAG(EXPLAIN, "explain",
         "Explain each score: what words, meaning and past requests contributed, and which words matched in which "
         "fields.",
         .letter = 'e'),
    FILTER_OPTIONS,
    TENANT_OPTIONS,
    MAX_PER_PROVIDER_OPTION,
    MAX_TOKENS_OPTION,
    FLAG(COPIES, "all-copies",
         "List copies separately. By default, identical tools of several providers (such as forked servers) and near "
         "copies of an older tool share one place, and the hit names the others."),
    AS_TYPED_OPTION,
    TIMEOUT_OPTION,
    OPTION(ABSTAIN, "abstain", TEXT, "SHARE", ABSTAIN_HELP " Only without --recipe. Default: 0, which turns this off."),
    FLAG(NONE_IF_UNSURE, "none-if-unsure",
         "Leave out weak hits, which are marked with '?': there is hardly any evidence for them. Exit with 1 if no hit "
         "is left."),
    FOUND_FORMAT_OPTION,
    CONVERSATION_OPTIONS,
    FOLLOW_OPTIONS,
    MODEL_OPTIONS,
};
static const struct cli_example find_examples[] = {
    {"whichtool find book a table for two", "Shows the five best tools."},
    {"whichtool find -p github -p git --exclude 'delete_*' --exclude '*_merge' who changed this file",
     "Searches two providers, without destructive tools."},
    {"whichtool find -k 3 --explain \"convert 20 euros to yen\"", "Shows three tools and explains their scores."},
    {"whichtool find --format openai -k 8 - < request.txt",
     "Reads the request from standard input and prints function definitions for a chat request."},
    {"whichtool find --format openai-search -k 8 plan a journey",
     "Answers a model's own tool search: the \"tools\" of a tool_search_output."},
    {"whichtool find --format mcp -k 50 --max-tokens 4000 plan a journey",
     "Prints as many of the fifty best definitions as fit into 4,000 tokens."},
    {"whichtool find --messages chat.json --have github__get_issue --format openai",
     "Finds tools for the next step of a conversation, and keeps the called tools and one more."},
};

const struct cli_verb wt__find_verb = {
    .name = "find",
    .arguments = "REQUEST...",
    .summary = "Show the tools that a request needs, best first",
    .text = "The words form one request; - reads it from standard input. The first number ranks the tools within this "
            "request. The second is the probability that the request needs the tool, and is comparable across "
            "requests. Probabilities are estimated separately from the ranking, so they may rise along the list.\n"
            "They are calibrated on other catalogues, where one request in five needed no tool, until `train all` "
            "calibrates them on recorded use.",
    .kind = VALUE_TEXT,
    .min_words = 1,
    .max_words = MANY_WORDS,
    OPTIONS(find_options),
    EXAMPLES(find_examples),
    .run = wt__cmd_find,
};

static const struct cli_option pick_options[] = {
    OPTION(RECIPE, "recipe", RECIPE, "NAME",
           "set (default) predicts the set, and leaves it to ptr if a language model is configured and no past set is "
           "near; bundle takes the most similar set of past use; ptr has a language model "
           "correct that set.",
           .letter = 'r'),
    OPTION(COMPLETE, "complete", TEXT, "P",
           "Pick enough tools that the set is complete for a share P of requests, such as 0.9. This is a target, not a "
           "guarantee. `whichtool train all` measures the necessary number on held-out requests. Without that "
           "measurement, or if more than 64 tools are necessary, the exit code is 5, unless --max-tokens bounds the "
           "set. Requests that no tool fits still get none; see --abstain."),
    OPTION(ABSTAIN, "abstain", TEXT, "SHARE",
           ABSTAIN_HELP
           " Before training, a need whose best tool has a probability below 5 % gets none, either. Only with "
           "the recipe set. Default: 0.05. 0 turns both off."),
    FLAG(EXPLAIN, "explain",
         "Explain each score: what words, meaning and past requests contributed, and which words matched in which "
         "fields. With the recipe ptr, show every list, decision and answer.",
         .letter = 'e'),
    FILTER_OPTIONS,
    TENANT_OPTIONS,
    MAX_TOKENS_OPTION,
    AS_TYPED_OPTION,
    FOUND_FORMAT_OPTION,
    TIMEOUT_OPTION,
    CONVERSATION_OPTIONS,
    PTR_OPTIONS,
    MODEL_OPTIONS,
};
static const struct cli_example pick_examples[] = {
    {"whichtool pick book a table for two and tell me the weather", "Picks the exact set of tools."},
    {"whichtool pick --complete 0.9 --format openai - < request.txt",
     "Prints definitions that are complete with probability 0.9 (after `train all`)."},
    {"whichtool pick --recipe ptr --chat-url http://127.0.0.1:8080/v1 --chat-model smollm2 --explain book a table",
     "Asks a local language model and shows the exchange."},
    {"whichtool pick --messages - < chat.json", "Picks tools for the last turn of a conversation."},
};

const struct cli_verb wt__pick_verb = {
    .name = "pick",
    .arguments = "REQUEST...",
    .summary = "Show the exact set of tools that a request needs, or none",
    .text =
        "The words form one request; - reads it from standard input. The first number is the probability that the tool "
        "is needed, given that any tool is; the second is the probability without that condition. The last line shows "
        "the probability that the set is complete. If no tool fits, the output is empty and the exit code is 1.\n"
        "Probabilities are calibrated on other catalogues until `train all` calibrates them on recorded use.\n"
        "The recipes bundle and ptr start from a tool set of past requests, which `train neighbours` stores; ptr has a "
        "language model correct it.",
    .kind = VALUE_TEXT,
    .min_words = 1,
    .max_words = MANY_WORDS,
    OPTIONS(pick_options),
    EXAMPLES(pick_examples),
    .run = wt__cmd_pick,
};

static const struct cli_option call_options[] = {
    OPTION(TOOL, "tool", TEXT, "TOOL",
           "Tool to call, by a name as in show; only its arguments are read from the request. Default: the best tool.",
           .letter = 't'),
    CHOICE(FORMAT, "format", "FORM", "arguments json " EXPORT_FORMATS " lines",
           "Format of the call. arguments prints the arguments as one JSON object; lines prints lines of NAME: VALUE; "
           "openai and the like print the call as the provider's API represents it, and only if the exit code is 0. "
           "Questions go to standard error. json prints the whole result as one object, like --json (docs/json.md). "
           "Default: text to read.",
           .letter = 'f'),
    OPTION(RECIPE, "recipe", RECIPE, "NAME",
           "Search method for the candidate tools. Default: the best one that the store and the model allow.",
           .letter = 'r'),
    FLAG(EXPLAIN, "explain",
         "Show the candidates, the evidence for each, and the words that each argument was read from.", .letter = 'e'),
    FILTER_OPTIONS,
    TENANT_OPTIONS,
    NUMBER(CANDIDATES, "candidates", "N", WT_MAX_CALL_CANDIDATES,
           "Choose from the first N hits. Default: 8, with --chat-model 20."),
    OPTION(ABSTAIN, "abstain", TEXT, "SHARE",
           ABSTAIN_HELP " Only without --recipe. Default: 0.05, with --chat-model 0. 0 turns this off."),
    AS_TYPED_OPTION,
    CHAT_OPTIONS("that chooses the tool and writes the arguments"),
    CHOICE(
        SELECTION, "selection", "METHOD", "verified once one-shot direct conditioned consistent single-step",
        "For experiments with --chat-model: how the model chooses the tool. verified (default) asks for the two best "
        "tools, for a question that distinguishes them, and for its answer. once asks for the best tool only; one-shot "
        "also shows a recorded request of each tool. direct asks to choose between the two best without a question. "
        "conditioned shows the request when asking for the question. consistent takes the majority of several samples. "
        "single-step asks for the tool and the arguments in one answer, and verifies nothing."),
    NUMBER(PREPARE, "prepare", "N", WT_MAX_PREPARED,
           "Instead of a call: let the language model write the contrastive questions of up to N pairs of tools ahead. "
           "The pairs are those that recorded requests find first and second, or similar tools. REQUEST is left out."),
    OPTION(VERIFY_CHAT_MODEL, "verify-chat-model", TEXT, "NAME",
           "Language model that verifies the tool and the arguments, as NAME of the same server or NAME@URL. Default: "
           "--chat-model."),
    OPTION(ARGUMENT_CHAT_MODEL, "argument-chat-model", TEXT, "NAME",
           "Language model that writes the arguments, as NAME or NAME@URL. Default: --chat-model."),
    CHOICE(GENERATION, "generation", "SOURCE", "react second-model sampled alone consistent",
           "For experiments with --chat-model: source of the second set of arguments, which verifies the first. react "
           "(default): the model after reasoning; second-model: --second-chat-model; sampled: another sample; alone: "
           "no verification. consistent takes the majority of several samples instead."),
    OPTION(SECOND_CHAT_MODEL, "second-chat-model", TEXT, "NAME",
           "Another language model, as NAME or NAME@URL; its arguments verify those of --chat-model."),
    OPTION(SAMPLES, "samples", TEXT, "N", "Number of samples of consistent, 1 to 32. Default: 3."),
    OPTION(TEMPERATURE, "temperature", TEXT, "T", "Temperature of samples, above 0 and at most 2. Default: 0.7."),
    OPTION(TOP_P, "top-p", TEXT, "P",
           "Nucleus sampling: samples come from the tokens whose probabilities sum to P. Default: the server's."),
    CHOICE(CONSTRUCTION, "construction", "WAY", "assembled written",
           "For experiments with --chat-model: who builds the call from the arguments. assembled (default): whichtool; "
           "written: the language model, from lines of NAME: VALUE."),
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
    {"whichtool call --prepare 200 --chat-url http://127.0.0.1:8080/v1 --chat-model NAME",
     "Writes 200 contrastive questions ahead, so that later calls need not."},
};

const struct cli_verb wt__call_verb = {
    .name = "call",
    .arguments = "REQUEST...",
    .summary = "Write the call that a request asks for, or say what is missing",
    .text = "The words form one request; - reads it from standard input. call takes the best tool, reads its arguments "
            "from the request, validates them against the tool's schema, and prints the call. It never executes the "
            "call and never invents a value. It asks for values that are missing or uncertain, and exits with 8.\n"
            "To answer a question, repeat the request with the argument's name and value: \"turn off the lamp, target: "
            "kitchen\". Quote the texts of a list: \"items: 'dog food', 'a bowl'\". Write none to leave out an "
            "optional argument: \"due: none\".\n"
            "call also asks, and exits with 8, before a tool that acts if the request is a question, a prohibition or "
            "only mentions the action (\"is the vault locked?\"), or if the call ignores a word of the request "
            "(\"cancel all kitchen timers\"). It asks which of two tools is meant, and whether a weak tool with a "
            "probability of at least 16 % is meant.\n"
            "With --chat-model, a language model chooses the tool and writes the arguments, and verifies both.\n"
            "If no tool fits, the exit code is 1.",
    .kind = VALUE_TEXT,
    .min_words = 1,
    .max_words = MANY_WORDS,
    OPTIONS(call_options),
    EXAMPLES(call_examples),
    .run = wt__cmd_call,
};
