/* options.c: the table. A verb is one row at the end; its options and examples stand above it. */
#include "cli/options.h"

#include "catalog/import/formats.h"
#include "catalog/usage.h"
#include "cli/cli.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MODEL_OPTIONS                                                                                                  \
    {.id = OPT_MODEL,                                                                                                  \
     .name = "model",                                                                                                  \
     .kind = VALUE_TEXT,                                                                                               \
     .value = "NAME",                                                                                                  \
     .help = "The model that makes vectors, by name (one of the hub: ORG/NAME) or folder; \"\" for none: words alone " \
             "count. "                                                                                                 \
             "Default: the first that is here of " WT_DEFAULT_MODEL ", " WT_BASE_MODEL " and " WT_BUILT_IN_MODEL       \
             ", which is built in."},                                                                                  \
        MODELS_OPTION
#define MODELS_OPTION                                                                                                  \
    {                                                                                                                  \
        .id = OPT_MODELS, .name = "models", .kind = VALUE_FOLDER, .value = "FOLDER",                                   \
        .help = "Where models live, instead of $WHICHTOOL_MODELS."                                                     \
    }
#define EXPORT_FORMATS "openai openai-responses anthropic gemini mcp"
#define LOADING_FORMATS "anthropic-reference anthropic-inline openai-search"
#define FOUND_FORMAT_OPTION                                                                                            \
    {                                                                                                                  \
        .id = OPT_FORMAT, .letter = 'f', .name = "format", .kind = VALUE_CHOICE, .value = "FORMAT",                    \
        .choices = "table json " EXPORT_FORMATS " " LOADING_FORMATS,                                                   \
        .help = "table for people; json for the whole result as one object, as --json does (docs/json.md); the "       \
                "others print the complete definitions as one array that the provider's API accepts. "                 \
                "anthropic-reference, anthropic-inline and openai-search answer a client that defers its tools and "   \
                "searches for them itself (docs/search-backend.md)."                                                   \
    }

enum { TIMEOUT_MAX = 24 * 60 * 60 };

const char wt__purpose[] = "find the few right tools for a request, out of hundreds to a million";

const struct option wt__global_options[] = {
    {.id = OPT_STORE,
     .letter = 's',
     .name = "store",
     .kind = VALUE_FILE,
     .value = "FILE",
     .help = "The store: the file that holds the catalogue, created when it is missing. Default: $WHICHTOOL_STORE, "
             "else tools.wt in the data folder."},
    {.id = OPT_JSON, .name = "json", .help = "Print one JSON object a line on standard output, and nothing else."},
    {.id = OPT_QUIET,
     .letter = 'q',
     .name = "quiet",
     .help = "No notes, timings or progress on standard error. What a verb prints stays."},
    {.id = OPT_NO_COLOR, .name = "no-color", .help = "No colours, as when NO_COLOR is set."},
    {.id = OPT_HELP, .letter = 'h', .name = "help", .help = "Explain the verb, or the command."},
    {.id = OPT_VERSION, .name = "version", .help = "Print the version."},
};
const size_t wt__global_option_count = COUNT(wt__global_options);

static const struct option add_options[] = {
    {.id = OPT_FORMAT,
     .letter = 'f',
     .name = "format",
     .kind = VALUE_CHOICE,
     .value = "FORMAT",
     .choices = IMPORT_FORMAT_NAMES,
     .help = "Format of the source. Default: detected."},
    {.id = OPT_MCP,
     .name = "mcp",
     .help = "Ask MCP servers for their tools. SOURCE is a client's configuration (its name ends in .json), an http:// "
             "or https:// address, or a command: in one word with blanks, or its words behind --."},
    {.id = OPT_PROVIDER,
     .letter = 'p',
     .name = "provider",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Provider that the tools belong to; overrides the source's own."},
    {.id = OPT_SYNC,
     .name = "sync",
     .help = "Remove the tools that earlier imports of the same source added and that it no longer contains. A folder "
             "is every file below it, also one that is gone. What is stored of an operation of OpenAPI that is skipped "
             "as broken stays."},
    {.id = OPT_STRICT, .name = "strict", .help = "Import nothing, and exit with 3, when a tool is invalid."},
    {.id = OPT_NO_VECTORS,
     .name = "no-vectors",
     .help = "Make no vectors now; `whichtool vectors` or a later add does. Finding by words works at once."},
    {.id = OPT_TIMEOUT,
     .name = "timeout",
     .kind = VALUE_NUMBER,
     .value = "SECONDS",
     .max = TIMEOUT_MAX,
     .help = "With --mcp: how long a server may take, from its start to its last tool. Default: 60."},
    MODEL_OPTIONS,
};
static const struct example add_examples[] = {
    {"whichtool add tools.json", "Imports a file; its format is found out."},
    {"whichtool add --sync --provider github mcp-github.json",
     "Brings the tools of one server up to date and removes those it dropped."},
    {"curl -s https://example.com/openapi.json | whichtool add --format openapi -",
     "Imports what another command prints."},
    {"whichtool add --mcp ~/.cursor/mcp.json",
     "Starts the MCP servers of a client's configuration and asks for their tools."},
    {"whichtool add --mcp -- npx -y @modelcontextprotocol/server-memory", "Asks one server, given as a command."},
    {"whichtool add --mcp https://mcp.example.com/mcp", "Asks one server at an address."},
};

#define ABSTAIN_HELP                                                                                                   \
    "Show nothing, and exit with 1, when probably no tool fits. SHARE is the rate of false alarms, such as 0.05: the " \
    "share of the requests that have a tool and get none."

#define TIMEOUT_OPTION                                                                                                 \
    {                                                                                                                  \
        .id = OPT_TIMEOUT, .name = "timeout", .kind = VALUE_NUMBER, .value = "SECONDS", .max = TIMEOUT_MAX,            \
        .help = "Time limit; beyond it the exit code is 124. Checked between the stages, while models are loaded and " \
                "the index is made, and while a reranker or a language model is at work. Default: none."               \
    }

#define MAX_PER_PROVIDER_OPTION                                                                                        \
    {                                                                                                                  \
        .id = OPT_MAX_PER_PROVIDER, .name = "max-per-provider", .kind = VALUE_NUMBER, .value = "N", .max = WT_MAX_K,   \
        .help = "At most N tools of one provider."                                                                     \
    }

#define AS_TYPED_OPTION                                                                                                \
    {                                                                                                                  \
        .id = OPT_AS_TYPED, .name = "as-typed",                                                                        \
        .help =                                                                                                        \
            "Correct no word of the request. Without it a word that neither a tool nor English has is read as the "    \
            "one that was probably meant, unless it is quoted, and of more than 1,200 bytes the ends are read, where " \
            "they ask for something; a note says so."                                                                  \
    }

/* Which tools may be found, in find and pick. */
#define FILTER_OPTIONS                                                                                                 \
    {.id = OPT_PROVIDER,                                                                                               \
     .letter = 'p',                                                                                                    \
     .name = "provider",                                                                                               \
     .kind = VALUE_TEXT,                                                                                               \
     .value = "NAME",                                                                                                  \
     .repeats = true,                                                                                                  \
     .help = "Only tools of this provider; given again, of any of those."},                                            \
        {.id = OPT_EXCLUDE_PROVIDER,                                                                                   \
         .name = "exclude-provider",                                                                                   \
         .kind = VALUE_TEXT,                                                                                           \
         .value = "NAME",                                                                                              \
         .repeats = true,                                                                                              \
         .help = "No tools of this provider. May be given again."},                                                    \
        {.id = OPT_ONLY,                                                                                               \
         .name = "only",                                                                                               \
         .kind = VALUE_TEXT,                                                                                           \
         .value = "PATTERN",                                                                                           \
         .repeats = true,                                                                                              \
         .help = "Only tools that match, such as 'github/get_*': * stands for any characters, ? for one. It is "       \
                 "held against the name, and with a / against provider/name, too. May be given again: any of those."}, \
    {                                                                                                                  \
        .id = OPT_EXCLUDE, .name = "exclude", .kind = VALUE_TEXT, .value = "PATTERN", .repeats = true,                 \
        .help = "No tools that match, such as 'delete_*'. May be given again."                                         \
    }

#define MAX_TOKENS_OPTION                                                                                              \
    {                                                                                                                  \
        .id = OPT_MAX_TOKENS, .name = "max-tokens", .kind = VALUE_NUMBER, .value = "N", .max = UINT32_MAX,             \
        .help = "At most N tokens of definitions in the form of --format (else openai), estimated as a quarter of "    \
                "their bytes: each tool that still fits, in order; a note tells of the others."                        \
    }

/* A conversation as the request, in find and pick. */
#define CONVERSATION_OPTIONS                                                                                           \
    {.id = OPT_MESSAGES,                                                                                               \
     .name = "messages",                                                                                               \
     .kind = VALUE_FILE,                                                                                               \
     .value = "FILE",                                                                                                  \
     .help = "A conversation as the request, as OpenAI's or Anthropic's API has it or plain (docs/json.md); - reads "  \
             "it from standard input. The user's last turn is the request, or REQUEST where one is given; what was "   \
             "said before helps to understand it, and the tools that were called stay in the result."},                \
    {                                                                                                                  \
        .id = OPT_HAVE, .name = "have", .kind = VALUE_TEXT, .value = "TOOL", .repeats = true,                          \
        .help =                                                                                                        \
            "A tool that is loaded already, by name as in show: it stays in the result, in nobody's place. May be "    \
            "given again."                                                                                             \
    }

static const struct option find_options[] = {
    {.id = OPT_K,
     .letter = 'k',
     .name = "k",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_K,
     .help = "Number of tools. Default: 5."},
    {.id = OPT_RECIPE,
     .letter = 'r',
     .name = "recipe",
     .kind = VALUE_RECIPE,
     .value = "NAME",
     .help = "How to search; `whichtool help --recipes` lists the recipes. Default: the best that the store and the "
             "model allow."},
    {.id = OPT_EXPLAIN,
     .letter = 'e',
     .name = "explain",
     .help = "Show why: what words, meaning and past requests gave each tool, and which words matched in which "
             "fields."},
    FILTER_OPTIONS,
    MAX_PER_PROVIDER_OPTION,
    MAX_TOKENS_OPTION,
    {.id = OPT_COPIES,
     .name = "all-copies",
     .help = "Give each copy a place of its own: tools of other providers that are the same word for word, as those of "
             "forked servers are, and near-copies of an older tool. Otherwise they share one, and it is told which "
             "are like it."},
    AS_TYPED_OPTION,
    TIMEOUT_OPTION,
    {.id = OPT_ABSTAIN,
     .name = "abstain",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = ABSTAIN_HELP " Only without --recipe. Default: off."},
    {.id = OPT_NONE_IF_UNSURE,
     .name = "none-if-unsure",
     .help = "Leave out the tools marked with '?', which share no more than one common word with the request and are "
             "not like it in meaning; exit code 1 where no others are left."},
    FOUND_FORMAT_OPTION,
    CONVERSATION_OPTIONS,
    MODEL_OPTIONS,
};
static const struct example find_examples[] = {
    {"whichtool find book a table for two", "The five tools that fit best."},
    {"whichtool find -p github -p git --exclude 'delete_*' --exclude '*_merge' who changed this file",
     "Tools of two providers, without those that destroy."},
    {"whichtool find -k 3 --explain \"convert 20 euros to yen\"", "Three, with the reasons."},
    {"whichtool find --format openai -k 8 - < request.txt",
     "Reads the request from standard input; prints function definitions for a chat request."},
    {"whichtool find --format openai-search -k 8 plan a journey",
     "What answers a model's own tool search: \"tools\" of a tool_search_output."},
    {"whichtool find --format mcp -k 50 --max-tokens 4000 plan a journey",
     "As many definitions of the fifty best as fit 4,000 tokens."},
    {"whichtool find --messages chat.json --have github__get_issue --format openai",
     "What the next step of a conversation needs, beside what was called in it and one tool more."},
};

/* Of whatever asks a language model; what: "for the recipe ptr". */
#define CHAT_OPTIONS(what)                                                                                             \
    {.id = OPT_CHAT_URL,                                                                                               \
     .name = "chat-url",                                                                                               \
     .kind = VALUE_TEXT,                                                                                               \
     .value = "URL",                                                                                                   \
     .help = "Server of the language model " what ", such as http://127.0.0.1:8080/v1. Default: $OPENAI_BASE_URL."},   \
        {.id = OPT_CHAT_MODEL,                                                                                         \
         .name = "chat-model",                                                                                         \
         .kind = VALUE_TEXT,                                                                                           \
         .value = "NAME",                                                                                              \
         .help = "Language model, by its name on the server."},                                                        \
        {.id = OPT_RECORD,                                                                                             \
         .name = "record",                                                                                             \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Take the language model's answers from FILE where it has them, and add the others to it."},          \
    {                                                                                                                  \
        .id = OPT_REPLAY, .name = "replay", .kind = VALUE_FILE, .value = "FILE",                                       \
        .help = "Take all of its answers from FILE, and ask no server."                                                \
    }

/* Of the recipe ptr, in pick and eval. */
#define PTR_OPTIONS                                                                                                    \
    {.id = OPT_BASE_RETRIEVER,                                                                                         \
     .name = "base-retriever",                                                                                         \
     .kind = VALUE_RECIPE,                                                                                             \
     .value = "RECIPE",                                                                                                \
     .help = "The recipe of find that finds tools for the recipes ptr and bundle. Default: auto."},                    \
        {.id = OPT_ABLATE,                                                                                             \
         .name = "ablate",                                                                                             \
         .kind = VALUE_TEXT,                                                                                           \
         .value = "A,B",                                                                                               \
         .help = "For experiments with the recipe ptr: leave out some of bundle (the set of past use that it starts "  \
                 "from), dsa "                                                                                         \
                 "(tools near the words), hqc (tools of requests like it) and cte (tools like the first of those)."},  \
        CHAT_OPTIONS("for the recipe ptr")

static const struct option pick_options[] = {
    {.id = OPT_RECIPE,
     .letter = 'r',
     .name = "recipe",
     .kind = VALUE_RECIPE,
     .value = "NAME",
     .help = "set (default); bundle, the most similar of the sets that past requests used; ptr, that set corrected by "
             "a language model."},
    {.id = OPT_COMPLETE,
     .name = "complete",
     .kind = VALUE_TEXT,
     .value = "P",
     .help =
         "Pick as many tools as it takes for nothing needed to be missing in a share P of requests, such as 0.9: that "
         "is aimed at, not guaranteed. How many those are is measured on requests that were held out of recorded use, "
         "by `whichtool train all`; without that, or where it is more than 64, "
         "the exit code is 5, unless --max-tokens bounds the set, which promises nothing then. Requests that no "
         "tool seems to fit get none all the same; see --abstain."},
    {.id = OPT_ABSTAIN,
     .name = "abstain",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = ABSTAIN_HELP " Default: 0.05; 0: always pick something."},
    {.id = OPT_EXPLAIN,
     .letter = 'e',
     .name = "explain",
     .help = "Show why: what words, meaning and past requests gave each tool, and which words matched in which "
             "fields; of the recipe ptr every list, decision and answer."},
    FILTER_OPTIONS,
    MAX_TOKENS_OPTION,
    AS_TYPED_OPTION,
    FOUND_FORMAT_OPTION,
    TIMEOUT_OPTION,
    CONVERSATION_OPTIONS,
    PTR_OPTIONS,
    MODEL_OPTIONS,
};
static const struct example pick_examples[] = {
    {"whichtool pick book a table for two and tell me the weather", "The tools that this takes, no more and no less."},
    {"whichtool pick --complete 0.9 --format openai - < request.txt",
     "Definitions for a chat request, all that are needed with probability 0.9 (after `train all`)."},
    {"whichtool pick --recipe ptr --chat-url http://127.0.0.1:8080/v1 --chat-model smollm2 --explain book a table",
     "By way of a language model of one's own, with all that it was asked and said."},
    {"whichtool pick --messages - < chat.json", "The set that the user's last turn takes."},
};

static const struct option list_options[] = {
    {.id = OPT_PROVIDER,
     .letter = 'p',
     .name = "provider",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Only tools of this provider."},
    {.id = OPT_PROVIDERS, .name = "providers", .help = "List the providers with their number of tools instead."},
    {.id = OPT_LIMIT, .name = "limit", .kind = VALUE_NUMBER, .value = "N", .max = WT_MAX_TOOLS, .help = "At most N."},
    {.id = OPT_OFFSET,
     .name = "offset",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_TOOLS,
     .help = "Skip the first N."},
};
static const struct example list_examples[] = {
    {"whichtool list --providers", "What the catalogue is made of."},
    {"whichtool list issue", "Tools with \"issue\" in their id."},
    {"whichtool list 'create_*'", "Tools whose name begins so; 'git*/create_*' also says of whom."},
    {"whichtool list --provider github --json", "One provider's tools, for a script."},
};

static const struct option status_options[] = {MODEL_OPTIONS};
static const struct example status_examples[] = {
    {"whichtool status", "Where the store is, and what is in it."},
    {"whichtool status --json | jq .untrained", "How many requests another training would add."},
};

#include "cli/audit_options.h"

static const struct option show_options[] = {
    {.id = OPT_DEFINITION, .name = "definition", .help = "Print the definition, byte for byte as in the source."},
    {.id = OPT_SCHEMA, .name = "schema", .help = "Print the JSON Schema of the arguments."},
    {.id = OPT_FORMAT,
     .letter = 'f',
     .name = "format",
     .kind = VALUE_CHOICE,
     .value = "FORMAT",
     .choices = EXPORT_FORMATS " " LOADING_FORMATS,
     .help = "Print the definition as the provider's API accepts it."},
};
static const struct example show_examples[] = {
    {"whichtool show github/create_issue", "What the catalogue knows of one tool."},
    {"whichtool show --format anthropic create_issue", "Its definition for another API."},
};

static const struct option remove_options[] = {
    {.id = OPT_PROVIDER,
     .letter = 'p',
     .name = "provider",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Remove every tool of this provider."},
    {.id = OPT_YES, .letter = 'y', .name = "yes", .help = "Do not ask."},
};
static const struct example remove_examples[] = {
    {"whichtool remove github/create_issue", "Removes one tool."},
    {"whichtool remove --yes --provider github", "Removes all tools of a provider without asking."},
};

static const struct option rename_options[] = {
    {.id = OPT_NO_VECTORS,
     .name = "no-vectors",
     .help = "Do not embed the tools anew; the next add does. Lexical recipes work at once."},
    MODEL_OPTIONS,
};
static const struct example rename_examples[] = {
    {"whichtool rename pet-shop-of-springfield pets",
     "Names such as pets__list_pets are what a model gets from now on."},
};

static const struct option vectors_options[] = {MODEL_OPTIONS};
static const struct example vectors_examples[] = {
    {"whichtool add --no-vectors tools.json && whichtool vectors", "First the tools, then their vectors."},
};

static const struct option usage_options[] = {
    {.id = OPT_SPLIT,
     .name = "split",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "add: which part of a data set in BEIR layout, qrels/NAME.tsv. Default: train."},
    {.id = OPT_STRICT, .name = "strict", .help = "add: import nothing, and exit with 3, when a usage is invalid."},
    {.id = OPT_TOOL,
     .letter = 't',
     .name = "tool",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "Only usages of this tool; NAME as in show, or what a usage calls a tool that is gone. With --request: a "
             "tool that was used; give it once for each."},
    {.id = OPT_REQUEST,
     .name = "request",
     .kind = VALUE_TEXT,
     .value = "TEXT",
     .help = "add: record one usage of this request, with the tools of --tool."},
    {.id = OPT_ARGUMENTS,
     .name = "arguments",
     .kind = VALUE_TEXT,
     .value = "JSON",
     .repeats = true,
     .one_line = true,
     .help = "add --request: what a tool was called with, as a JSON object; once for each --tool, in their order, ''"
             " for one of which it is not told."},
    {.id = OPT_OUTCOME,
     .name = "outcome",
     .kind = VALUE_CHOICE,
     .value = "OUTCOME",
     .choices = USAGE_OUTCOME_WORDS,
     .help = "add --request: how it ended; the first two words are kept, the others are read as one of them, as in a "
             "file. Default: not told, which counts as ok."},
    {.id = OPT_BEFORE,
     .name = "before",
     .kind = VALUE_TEXT,
     .value = "TIME",
     .help = "Only usages before a time, such as 2026-11-22 or 2026-11-22T08:30:00Z."},
    {.id = OPT_CLIENT,
     .name = "client",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Only usages of this client, by the name that they were recorded with. With --request: whose it was."},
    {.id = OPT_AFTER,
     .name = "after",
     .kind = VALUE_NUMBER,
     .value = "ID",
     .max = INT64_MAX / 16,
     .help = "list, export: start after the usage with this id."},
    {.id = OPT_LIMIT,
     .name = "limit",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_USAGES,
     .help = "list, export: at most N."},
    {.id = OPT_ALL, .name = "all", .help = "forget: every usage."},
    {.id = OPT_YES, .letter = 'y', .name = "yes", .help = "forget: do not ask."},
    {.id = OPT_NO_VECTORS,
     .name = "no-vectors",
     .help = "add, forget: make no vectors of requests now; `whichtool vectors` or a later add does."},
    MODEL_OPTIONS,
};
static const struct example usage_examples[] = {
    {"whichtool usage add log.jsonl", "Imports what was used; each line is one usage."},
    {"whichtool usage add --request \"do I need an umbrella?\" --tool weather/forecast",
     "Records one usage, without a file."},
    {"whichtool usage add --request \"rain in Oslo?\" --tool weather/forecast --arguments '{\"city\": \"Oslo\"}'",
     "The same with what the tool was called with."},
    {"tail -n 100 log.jsonl | whichtool usage add -", "Imports what another command prints."},
    {"whichtool usage list --tool book_table --limit 20", "The first requests that used a tool."},
    {"whichtool usage export >log.jsonl", "Everything that was recorded, as add reads it."},
    {"whichtool usage forget --before 2026-01-01", "Removes what is older."},
};

#include "cli/call_options.h"
#include "cli/eval_options.h"
#include "cli/generate_options.h"
#include "cli/mcp_options.h"
#include "cli/serve_options.h"
#include "cli/train_options.h"

static const struct option distil_options[] = {
    {.id = OPT_DATA,
     .name = "data",
     .kind = VALUE_FOLDER,
     .value = "DIR",
     .repeats = true,
     .help = "A data set in BEIR layout, whose tools' texts and training requests are learned from instead of the "
             "store's. It may be a catalogue without requests. May be given again."},
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Folder of the model. Required; it may not hold one yet."},
    {.id = OPT_DIMENSION,
     .name = "dimension",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 8192,
     .help = "Dimension of the vectors, which are stored at a byte a number. Default: 256, or the teacher's where that "
             "is less."},
    {.id = OPT_EPOCHS,
     .name = "epochs",
     .kind = VALUE_TEXT,
     .value = "N",
     .help = "Passes over the texts while they are fitted to the teacher's vectors. Default: by the number of "
             "texts."},
    {.id = OPT_CONTRAST_EPOCHS,
     .name = "contrast-epochs",
     .kind = VALUE_TEXT,
     .value = "N",
     .help = "Passes over the requests while they are brought near to their tools. Default: by the number of "
             "requests."},
    {.id = OPT_SMOOTHING,
     .name = "smoothing",
     .kind = VALUE_TEXT,
     .value = "A",
     .help = "A token begins with the weight A / (A + p), p its share of all tokens. Default: 0.001."},
    {.id = OPT_DENSE_WEIGHT,
     .name = "dense-weight",
     .kind = VALUE_TEXT,
     .value = "W,BRIEF",
     .help = "Weight of meaning in hybrid that the model's config.json asks for, beside words, which weigh 1; with a "
             "second number, which is for brief requests, such as 0.6,1.8. Default: none is said."},
    {.id = OPT_ABLATE,
     .name = "ablate",
     .kind = VALUE_TEXT,
     .value = "A,B",
     .help = "For experiments: leave out some of weights (of tokens), fit, likeness (of pairs of texts, in the fit), "
             "contrast and merge (all of what contrast changes is kept, not half)."},
    {.id = OPT_SEED,
     .name = "seed",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = UINT32_MAX,
     .help = "Random seed; the same seed gives the same model. Default: 1."},
    {.id = OPT_THREADS,
     .name = "threads",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 256,
     .help = "Number of threads. Default: one a processor."},
    {.id = OPT_CACHE,
     .name = "cache",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Where catalogues of data sets are kept, as in eval."},
    MODELS_OPTION,
};
static const struct example distil_examples[] = {
    {"whichtool distil " WT_BASE_MODEL " --out models/mine", "A static encoder for the store's own tools."},
    {"whichtool distil models/tuned --data data/one --data data/two --out models/static",
     "One from two data sets; then `whichtool find --model models/static ...`."},
};

static const struct option model_options[] = {
    {.id = OPT_WEIGHT,
     .name = "weight",
     .kind = VALUE_TEXT,
     .value = "W",
     .help = "Of merge with two models: what the second counts, from 0 to 1. Default: the plain mean."},
    {.id = OPT_PRECISION,
     .name = "precision",
     .kind = VALUE_CHOICE,
     .value = "TYPE",
     .choices = "int8 fp16",
     .help = "Of quantize: how numbers are kept. Default: int8."},
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Of merge and quantize: the new model."},
    MODELS_OPTION,
};
static const struct example model_examples[] = {
    {"whichtool model list", "Which models are known, and which are here."},
    {"whichtool model pull " WT_BASE_MODEL, "Fetches what the default was tuned from, and checks it."},
    {"whichtool model pull intfloat/multilingual-e5-small",
     "Fetches a model of many languages; then `--model intfloat/multilingual-e5-small`."},
    {"whichtool model merge " WT_BASE_MODEL " ./tuned --weight 0.7 --out ./merged",
     "Three tenths of a model and seven of what was tuned from it."},
};

static const struct option help_options[] = {
    {.id = OPT_RECIPES,
     .name = "recipes",
     .help = "List the recipes, which are ways of finding, of find, pick and eval."},
    {.id = OPT_MAN, .name = "man", .help = "Print the manual page."},
    {.id = OPT_COMPLETIONS,
     .name = "completions",
     .kind = VALUE_CHOICE,
     .value = "SHELL",
     .choices = "bash zsh fish",
     .help = "Print the completions for a shell."},
    {.id = OPT_FOLLOW,
     .name = "follow",
     .help = "Print what can follow the words behind --: what completions ask. The first line says who completes the "
             "last word: words (the lines that follow), files, folders or stores."},
};
static const struct example help_examples[] = {
    {"whichtool help find", "All about one verb."},
    {"eval \"$(whichtool help --completions bash)\"", "Completions for the running shell."},
};

#define OPTIONS(array) .options = (array), .option_count = COUNT(array)
#define EXAMPLES(array) .examples = (array), .example_count = COUNT(array)

const struct verb wt__verbs[] = {
    {.name = "add",
     .arguments = "SOURCE...",
     .summary = "Import tools from files, folders, standard input or MCP servers",
     .text = "SOURCE is a file, a folder of files, a BEIR folder, or - for standard input. MCP tool lists, OpenAI, "
             "Anthropic and Gemini function arrays, OpenAPI and Swagger documents (JSON or YAML), RapidAPI "
             "descriptions and "
             "JSON Lines are recognised. Arguments that are credentials, such as api_key, are left out.\n"
             "Each source is imported in one step: all of it or, on failure, nothing. A tool that is there already and "
             "did not change is left alone. A bad tool is reported, skipped and counted; a source without one good "
             "tool is bad input. When a model is there, the "
             "tools' vectors are made after the import; a stop in between loses no tool, and the next add goes on "
             "where it ended.\n"
             "With --mcp the servers are all asked at once and ended again, without a shell and with few variables of "
             "the environment; each is a source of its own, with its name as provider. A server that fails is told and "
             "keeps no other out: the exit code is 6 then. docs/mcp.md says more.",
     .kind = VALUE_FILE,
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(add_options),
     EXAMPLES(add_examples),
     .run = wt__cmd_add},
    {.name = "find",
     .arguments = "REQUEST...",
     .summary = "Show the tools that a request needs, best first",
     .text =
         "The words are joined to one request; - reads it from standard input. The first number orders the tools of "
         "this request, and says nothing beside another request's; the second is the chance that the request needs "
         "the tool. It may rise along the list, for the order is that of the scores alone, and the chance weighs "
         "words, meaning and past use by themselves.\n"
         "Chances are those of other catalogues' requests, of which one in five needed no tool there, until `train "
         "all` measures them on recorded use.",
     .kind = VALUE_TEXT,
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(find_options),
     EXAMPLES(find_examples),
     .run = wt__cmd_find},
    {.name = "pick",
     .arguments = "REQUEST...",
     .summary = "Show the exact set of tools that a request needs, or none",
     .text =
         "The words are joined to one request; - reads it from standard input. The first number is the chance that the "
         "tool is needed if any tool is, the second the chance that it is needed. Below stands the chance that nothing "
         "needed is missing. When no tool seems to fit, nothing is shown and the exit code is 1.\n"
         "Chances are those of other catalogues' requests until `train all` measures them on recorded use.\n"
         "The recipes bundle and ptr begin with a set of tools that past requests used, which `train neighbours` "
         "remembers; ptr has a language model correct it.",
     .kind = VALUE_TEXT,
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(pick_options),
     EXAMPLES(pick_examples),
     .run = wt__cmd_pick},
    {.name = "call",
     .arguments = "REQUEST...",
     .summary = "Write the call that a request asks for, or say what is missing",
     .text =
         "The words are joined to one request; - reads it from standard input. The tool is the one that fits best; its "
         "arguments are what the request says, and are validated against the tool's schema. Nothing is made up: what "
         "is not said is missing, what is not sure is asked for, and the exit code is 8 then. Nothing is called.\n"
         "To answer a question, say the request again with the argument's name and its value behind it: "
         "\"turn off the lamp, target: kitchen\". Texts for a list stand in quotes: \"items: 'dog food', 'a bowl'\". "
         "An optional argument is left out by none: \"due: none\".\n"
         "A tool that acts is not called for a question, a prohibition, or a request that only speaks of it: \"is the "
         "vault locked?\" locks nothing. Nor is it where a word of the request is not in the call, as in \"cancel all "
         "kitchen timers\". The question says why, and the exit code is 8.\n"
         "With --chat-model a language model chooses the tool and writes the arguments, and is asked to verify both.\n"
         "When no tool seems to fit, the exit code is 1. It is 8 also where it is asked which of two tools is meant, "
         "or "
         "whether one is that hardly anything speaks for, if it is 16 % likely.",
     .kind = VALUE_TEXT,
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(call_options),
     EXAMPLES(call_examples),
     .run = wt__cmd_call},
    {.name = "list",
     .arguments = "[PATTERN]",
     .summary = "List the tools or the providers of the catalogue",
     .text = "Tools come in the order of their import. With PATTERN only those that fit it: by a part of the id, which "
             "is provider/name, in upper or lower case; or, where it holds * (any characters) or ? (one character), by "
             "the whole name, and with a / by the whole id, too. Put quotes around such a PATTERN, or the shell reads "
             "it first.",
     .kind = VALUE_TEXT,
     .max_words = 1,
     OPTIONS(list_options),
     EXAMPLES(list_examples),
     .run = wt__cmd_list},
    {.name = "show",
     .arguments = "NAME",
     .summary = "Show one tool",
     .text = "NAME is an id such as provider/name, a bare name that only one tool has, the source's own identifier, or "
             "a name as `find --format` made it.",
     .kind = VALUE_TEXT,
     .min_words = 1,
     .max_words = 1,
     OPTIONS(show_options),
     EXAMPLES(show_examples),
     .run = wt__cmd_show},
    {.name = "remove",
     .arguments = "[NAME...]",
     .summary = "Remove tools, or all tools of a provider",
     .text = "NAME is as in show. Nothing is removed unless every NAME is there. On a terminal, more than one tool is "
             "removed only after a question, unless --yes is given.",
     .kind = VALUE_TEXT,
     .max_words = MANY_WORDS,
     OPTIONS(remove_options),
     EXAMPLES(remove_examples),
     .run = wt__cmd_remove},
    {.name = "status",
     .arguments = "",
     .summary = "Show what there is: tools, vectors, recorded use, trained models, sizes",
     .text =
         "Vectors are how many tools can be found by meaning. Of recorded use it says how much no training has seen; "
         "of each trained model when, from what, and its figure on requests that were held out, before and after. "
         "The recipe is what find runs, and why.\n"
         "Nothing is opened for it but the store, so it takes milliseconds; `whichtool check` looks for damage.",
     OPTIONS(status_options),
     EXAMPLES(status_examples),
     .run = wt__cmd_status},
    {.name = "rename",
     .arguments = "OLD NEW",
     .summary = "Give a provider another name",
     .text =
         "Its tools keep their usages; their ids, and the names that a model gets, begin with the new name. Sources "
         "that name the old one are imported under the new one from then on.",
     .kind = VALUE_TEXT,
     .min_words = 2,
     .max_words = 2,
     OPTIONS(rename_options),
     EXAMPLES(rename_examples),
     .run = wt__cmd_rename},
    {.name = "check",
     .arguments = "",
     .summary = "Look for damage, and for what is wrong with the tools",
     .text = "Reads store and index whole; damage is told with what to do about it, and the exit code is 4. Then it "
             "audits the catalogue (docs/audit.md): descriptions, schemas, names, hidden characters, tools that nobody "
             "finds, copies, providers that take the places of others. Each finding says what to write instead.",
     OPTIONS(check_options),
     EXAMPLES(check_examples),
     .run = wt__cmd_check},
    {.name = "vectors",
     .arguments = "",
     .summary = "Make the vectors that tools are found by meaning with, where they are missing",
     .text = "A vector stands for what a text means, as a model reads it. `add` makes one for each tool, unless it was "
             "told not to (--no-vectors), was stopped, or had no model: this makes the missing ones, and those of the "
             "requests of recorded use. When the model is missing it says how to fetch it.\n"
             "Ctrl-C loses nothing that was made; the next run goes on.",
     OPTIONS(vectors_options),
     EXAMPLES(vectors_examples),
     .run = wt__cmd_vectors},
    {.name = "usage",
     .arguments = "add|list|export|forget [SOURCE...]",
     .summary = "Record which tools requests used, so that finding gets better",
     .text =
         "add imports usages from files, data sets in BEIR layout (folders with queries.jsonl and qrels/SPLIT.tsv, "
         "which tells the tools of each query) or standard input (-), or records one of --request and --tool. A line "
         "of a file is one usage: {\"request\": \"...\", \"tools\": [\"provider/name\"], \"outcome\": \"ok\", "
         "\"time\": \"2026-11-22T08:30:00Z\", \"client\": \"c17\", \"key\": \"run-17/3\"}; outcome, time, "
         "client and key may be missing, and outcome is one of the words of --outcome. A client has one usage of a "
         "key: another is not recorded. A line {\"key\": \"run-17/3\", \"client\": \"c17\", \"outcome\": \"failed\"} "
         "tells how it ended. With {\"tool\": \"provider/name\", \"arguments\": {...}} in place of a name it tells "
         "what the tool "
         "was called with. A client is any name of your choosing for whose request it was: a tool counts once a client "
         "and request. Each source is imported in one step: all of it or, on failure, nothing. A name that no tool has "
         "is reported, and the usage is kept with the others; a usage without one known tool, or that makes no sense, "
         "is reported, skipped and counted. A usage that failed is kept, but nothing is learned of it.\n"
         "list shows usages in the order of their recording, a tool that is gone in brackets; export writes them as "
         "add reads them; forget removes them for good, on a terminal only after a question, unless --yes is given.\n"
         "Requests and arguments are kept word for word, in the store alone. Arguments that are credentials by their "
         "names are left out, as they are of schemas; other secrets do not belong there.",
     .kind = VALUE_FILE,
     .choices = "add list export forget",
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(usage_options),
     EXAMPLES(usage_examples),
     .run = wt__cmd_usage},
    {.name = "eval",
     .arguments = "DIR",
     .summary = "Measure how well recipes find, on a data set in BEIR layout",
     .text =
         "A recipe is a way of finding: `whichtool help --recipes` lists them. DIR holds corpus.jsonl (the tools), "
         "queries.jsonl (requests) and qrels/SPLIT.tsv (which tools each request needs: the relevance judgements of a "
         "split, which is train, dev or test).\n"
         "Shown in percent, each a mean over the requests, are recall@k (the share of the needed tools that are among "
         "the first k), ndcg@k (the same, where an earlier place counts more), complete@k (the share of the requests "
         "of which all needed tools are among the first k) and mrr (one divided by the place of the first needed "
         "tool); and the time of one find on one thread: half of them took p50 or less. Recipes that pick a set have "
         "more: tracc, the share of what is needed that the set holds, less for every tool too many or too few; exact, "
         "the same set; set_precision, set_recall and set_f1; complete, nothing needed is missing; docs/eval.md "
         "explains all. Each recipe after the first is compared with the first by a paired bootstrap, which tells a "
         "difference from chance.\n"
         "Recipes that need training train on qrels/train.tsv, and models and parameters are selected on "
         "qrels/dev.tsv; "
         "without a train split they are left out.\n"
         "The catalogue of a data set, its embeddings and the trained models are kept between evaluations.",
     .kind = VALUE_FOLDER,
     .min_words = 1,
     .max_words = 1,
     OPTIONS(eval_options),
     EXAMPLES(eval_examples),
     .run = wt__cmd_eval},
    {.name = "train",
     .arguments = "MODEL",
     .summary = "Train a model on recorded use or on a data set",
     .text =
         "`whichtool train all` is what a store needs: from then on find runs whichever recipe did best, and "
         "`whichtool "
         "status` says which.\n"
         "Training data are requests whose tools are known: the store's recorded use (`whichtool usage add`), or the "
         "train split of a data set in BEIR layout. A tenth of the recorded requests, or the split dev, is held out: "
         "figures \"on dev\" are measured on those, and a model replaces the one in its folder when it is better "
         "there; "
         "training stops early when it does not improve.\n"
         "MODEL is one of those below, or all of them in that order: encoder (the model that makes vectors, itself), "
         "dpr (dense retrieval over the tools' texts by it), tool2vec, mlc and neighbours (past requests as embeddings "
         "of tools, as classes of a classifier, and as nearest neighbours), two refiners, which rerank them, auto, "
         "which selects among these and their combinations, set (set prediction from auto's hits, for `pick`), and "
         "toolrerank (reranking of dpr's hits by provider). One more is trained only when it is named: cross, a "
         "cross-encoder; toolrerank is to be trained again after it.\n"
         "Ctrl-C, or even kill -9, loses nothing but minutes: the best model so far stays, and --resume with the "
         "same options goes on. The trained models are folders in the layout of the Hugging Face hub; their "
         "config.json says what they were trained on.",
     .kind = VALUE_LESSON,
     .min_words = 1,
     .max_words = 1,
     OPTIONS(train_options),
     EXAMPLES(train_examples),
     .run = wt__cmd_train},
    {.name = "generate",
     .arguments = "toolbank|rectools|verdicts|comparison|toolselect|fine-tuning|names",
     .summary = "Make data for choosing tools with a language model",
     .text = generate_text,
     .choices = "toolbank rectools verdicts comparison toolselect fine-tuning names",
     .min_words = 1,
     .max_words = 1,
     OPTIONS(generate_options),
     EXAMPLES(generate_examples),
     .run = wt__cmd_generate},
    {.name = "mcp",
     .arguments = "[status|approve [PROVIDER [NAME...]]|lock FILE [PROVIDER]|forget SERVER|audit FILE...|init|undo]",
     .summary = "Serve the catalogue to an MCP client that starts this command",
     .text = mcp_text,
     .kind = VALUE_TEXT,
     .choices = "status approve lock forget audit init undo",
     .max_words = MANY_WORDS,
     OPTIONS(mcp_options),
     EXAMPLES(mcp_examples),
     .run = wt__cmd_mcp},
    {.name = "distil",
     .arguments = "MODEL",
     .summary = "Make a static encoder of a model: quick, and a few megabytes",
     .text =
         "A static encoder is a table with a vector for each token; a text's vector is their sum. It reads a text in "
         "microseconds, where MODEL, its teacher, takes milliseconds, and finds by meaning less well.\n"
         "The rows begin as the teacher's vectors of single tokens; they are fitted to its vectors of the tools' texts "
         "and of training requests; then requests are brought near to their tools, where any are known. Texts are "
         "those of the store, or of data sets; docs/encoders.md says what each step is worth.\n"
         "It takes minutes, nearly all of them the teacher's. Ctrl-C leaves no model, and nothing to go on from.",
     .kind = VALUE_TEXT,
     .min_words = 1,
     .max_words = 1,
     OPTIONS(distil_options),
     EXAMPLES(distil_examples),
     .run = wt__cmd_distil},
    {.name = "model",
     .arguments = "[list|info|pull|pack|merge|quantize] [NAME...]",
     .summary = "List, inspect, fetch, pack, merge or quantize the models that make vectors",
     .text =
         "list shows what is known and what is here; info shows one model; pull fetches one and checks the SHA-256 "
         "of every file, going on where an earlier pull stopped. ORG/NAME or ORG/NAME@REVISION is a model of the "
         "Hugging Face hub, of $HF_ENDPOINT where that is set; the first pull records its hashes, and later ones hold "
         "it "
         "to them. $HF_TOKEN, which gated models need, is sent to that host alone. pack writes the cache that makes "
         "loading quick "
         "(the first use does so by itself). NAME is the default model when not given. " WT_BUILT_IN_MODEL
         " is part of whichtool and always here.\n"
         "merge writes the weighted mean of models of one kind to a new folder, such as a tuned one and what it was "
         "tuned from, or several seeds: all must have one architecture, the same dimensions and tokenizer. "
         "quantize writes a model in a quarter (int8) or half (fp16) of the room; int8 also reads texts "
         "in less time, on processors that multiply bytes faster.",
     .kind = VALUE_TEXT,
     .choices = "list info pull pack merge quantize",
     .max_words = 1 + WT_MAX_MERGED,
     OPTIONS(model_options),
     EXAMPLES(model_examples),
     .run = wt__cmd_model},
    {.name = "serve",
     .arguments = "",
     .summary = "Answer over HTTP: find, pick, call, the catalogue, embeddings",
     .text = serve_text,
     OPTIONS(serve_options),
     EXAMPLES(serve_examples),
     .run = wt__cmd_serve},
    {.name = "version",
     .arguments = "",
     .summary = "Print the version",
     .text = "The command and its library have one version.",
     .run = wt__cmd_version},
    {.name = "help",
     .arguments = "[VERB]",
     .summary = "Explain the command or a verb",
     .text = "Everything that help says comes from the table that the command line is read by.",
     .kind = VALUE_VERB,
     .max_words = MANY_WORDS,
     OPTIONS(help_options),
     EXAMPLES(help_examples),
     .run = wt__cmd_help},
};
const size_t wt__verb_count = COUNT(wt__verbs);

const struct meaning wt__exit_codes[] = {
    {"0", "Done."},
    {"1", "Nothing was found; of check: something was that is wrong."},
    {"2", "The command line makes no sense."},
    {"3", "Bad input: a source, a request or a data set."},
    {"4", "The store is empty, damaged, locked, or cannot be read or written."},
    {"5", "A model or training that it takes is missing or damaged; a promise cannot be kept."},
    {"6", "The network or an MCP server failed; of serve: it cannot listen there."},
    {"7", "Memory or the disk is full, or reading and writing failed."},
    {"8", "A call lacks an argument, or something must be asked first."},
    {"124", "The time of --timeout ran out."},
    {"130", "Interrupted by Ctrl-C."},
};
const size_t wt__exit_code_count = COUNT(wt__exit_codes);

const struct meaning wt__environment[] = {
    {"WHICHTOOL_STORE", "The store, when -s is not given."},
    {"WHICHTOOL_MODELS", "Where models live, when --models is not given."},
    {"OPENAI_BASE_URL", "The server of the language model, when --chat-url is not given."},
    {"OPENAI_API_KEY", "Its key; none is sent when it is unset. OPENAI_ORG_ID and OPENAI_PROJECT_ID go along."},
    {"XDG_DATA_HOME", "The data folder is whichtool below it; ~/.local/share when unset."},
    {"XDG_CACHE_HOME", "The cache folder is whichtool below it; ~/.cache when unset."},
    {"COLUMNS", "The width that tables are cut to; else the terminal's. Into a pipe or a file nothing is cut."},
    {"NO_COLOR", "No colours when set, as with --no-color. There are none either when TERM is dumb."},
};
const size_t wt__environment_count = COUNT(wt__environment);

const struct meaning wt__files[] = {
    {"tools.wt", "In the data folder: the store. Beside it, tools.wt-index/ holds what can be built anew."},
    {"models/", "In the data folder: one folder a model."},
    {"eval/", "In the cache folder: catalogues of evaluated data sets; may be deleted."},
};
const size_t wt__file_count = COUNT(wt__files);
