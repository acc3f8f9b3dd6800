/* options.c: the table of verbs, with their options and examples above it. */
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
     .help = "Encoder to use: a name (ORG/NAME for a model of the hub) or a folder. \"\" finds by words only. "        \
             "Default: the first one present of " WT_DEFAULT_MODEL ", " WT_BASE_MODEL " and " WT_BUILT_IN_MODEL        \
             ", which is built in."},                                                                                  \
        MODELS_OPTION
#define MODELS_OPTION                                                                                                  \
    {                                                                                                                  \
        .id = OPT_MODELS, .name = "models", .kind = VALUE_FOLDER, .value = "FOLDER",                                   \
        .help = "Folder of the models, instead of $WHICHTOOL_MODELS."                                                  \
    }
#define EXPORT_FORMATS "openai openai-responses anthropic gemini mcp"
#define LOADING_FORMATS "anthropic-reference anthropic-inline openai-search"
#define FOUND_FORMAT_OPTION                                                                                            \
    {                                                                                                                  \
        .id = OPT_FORMAT, .letter = 'f', .name = "format", .kind = VALUE_CHOICE, .value = "FORMAT",                    \
        .choices = "table json " EXPORT_FORMATS " " LOADING_FORMATS,                                                   \
        .help = "table is for reading. json prints the whole result as one object, like --json (docs/json.md). The "   \
                "others print complete definitions as an array that the provider's API accepts. anthropic-reference, " \
                "anthropic-inline and openai-search answer clients that defer their tools and search for them "        \
                "(docs/search-backend.md)."                                                                            \
    }

enum { TIMEOUT_MAX = 24 * 60 * 60 };

const char wt__purpose[] = "find the few right tools for a request, out of hundreds to a million";

const struct cli_option wt__global_options[] = {
    {.id = OPT_STORE,
     .letter = 's',
     .name = "store",
     .kind = VALUE_FILE,
     .value = "FILE",
     .help = "Store file of the catalogue; created if missing. Default: $WHICHTOOL_STORE, else tools.wt in the data "
             "folder."},
    {.id = OPT_JSON, .name = "json", .help = "Print JSON on standard output, one object a line."},
    {.id = OPT_QUIET,
     .letter = 'q',
     .name = "quiet",
     .help = "Suppress notes, timings and progress on standard error."},
    {.id = OPT_NO_COLOR, .name = "no-color", .help = "Disable colours, as NO_COLOR does."},
    {.id = OPT_HELP, .letter = 'h', .name = "help", .help = "Show help for the verb or the command."},
    {.id = OPT_VERSION, .name = "version", .help = "Print the version."},
};
const size_t wt__global_option_count = COUNT(wt__global_options);

static const struct cli_option add_options[] = {
    {.id = OPT_FORMAT,
     .letter = 'f',
     .name = "format",
     .kind = VALUE_CHOICE,
     .value = "FORMAT",
     .choices = IMPORT_FORMAT_NAMES,
     .help = "Format of the source. Default: detected."},
    {.id = OPT_MCP,
     .name = "mcp",
     .help = "List the tools of MCP servers. SOURCE is a client's configuration (a name that ends in .json), an "
             "http:// or https:// address, or a command: quoted as one word, or as words after --."},
    {.id = OPT_PROVIDER,
     .letter = 'p',
     .name = "provider",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Provider of the tools; overrides the source's own."},
    {.id = OPT_SYNC,
     .name = "sync",
     .help =
         "Remove tools that an earlier import of the same source added and the source no longer contains. A folder "
         "covers all files below it, including deleted ones. Stored operations that are now skipped as broken stay."},
    {.id = OPT_STRICT, .name = "strict", .help = "Import nothing and exit with 3 if a tool is invalid."},
    {.id = OPT_NO_VECTORS,
     .name = "no-vectors",
     .help = "Do not compute vectors now; `whichtool vectors` or a later add does. Finding by words works at once."},
    {.id = OPT_TIMEOUT,
     .name = "timeout",
     .kind = VALUE_NUMBER,
     .value = "SECONDS",
     .max = TIMEOUT_MAX,
     .help = "With --mcp: time limit of a server, from its start to its last tool. Default: 60."},
    MODEL_OPTIONS,
};
static const struct cli_example add_examples[] = {
    {"whichtool add tools.json", "Imports a file and detects its format."},
    {"whichtool add --sync --provider github mcp-github.json",
     "Updates the tools of one server and removes those it dropped."},
    {"curl -s https://example.com/openapi.json | whichtool add --format openapi -",
     "Imports the output of another command."},
    {"whichtool add --mcp ~/.cursor/mcp.json",
     "Starts the MCP servers of a client's configuration and lists their tools."},
    {"whichtool add --mcp -- npx -y @modelcontextprotocol/server-memory",
     "Lists the tools of one server, given as a command."},
    {"whichtool add --mcp https://mcp.example.com/mcp", "Lists the tools of a server at an address."},
};

#define ABSTAIN_HELP                                                                                                   \
    "Show nothing and exit with 1 if probably no tool fits. SHARE is the false alarm rate, such as 0.05: the share "   \
    "of requests that have a tool and get none."

#define TIMEOUT_OPTION                                                                                                 \
    {                                                                                                                  \
        .id = OPT_TIMEOUT, .name = "timeout", .kind = VALUE_NUMBER, .value = "SECONDS", .max = TIMEOUT_MAX,            \
        .help = "Time limit; exit with 124 when it is exceeded. Checked between stages, while models load, while the " \
                "index is built, and while a reranker or a language model runs. Default: no limit."                    \
    }

#define MAX_PER_PROVIDER_OPTION                                                                                        \
    {                                                                                                                  \
        .id = OPT_MAX_PER_PROVIDER, .name = "max-per-provider", .kind = VALUE_NUMBER, .value = "N", .max = WT_MAX_K,   \
        .help = "At most N tools of one provider."                                                                     \
    }

#define AS_TYPED_OPTION                                                                                                \
    {                                                                                                                  \
        .id = OPT_AS_TYPED, .name = "as-typed",                                                                        \
        .help = "Do not correct spelling. By default, a word that occurs neither in a tool nor in English is read as " \
                "the closest known word, unless it is quoted. Of a request over 1,200 bytes only the beginning and "   \
                "the end are read. A note reports both."                                                               \
    }

/* Filters of find, pick and call. */
#define FILTER_OPTIONS                                                                                                 \
    {.id = OPT_PROVIDER,                                                                                               \
     .letter = 'p',                                                                                                    \
     .name = "provider",                                                                                               \
     .kind = VALUE_TEXT,                                                                                               \
     .value = "NAME",                                                                                                  \
     .repeats = true,                                                                                                  \
     .help = "Only tools of this provider. Repeat it to allow several providers."},                                    \
        {.id = OPT_EXCLUDE_PROVIDER,                                                                                   \
         .name = "exclude-provider",                                                                                   \
         .kind = VALUE_TEXT,                                                                                           \
         .value = "NAME",                                                                                              \
         .repeats = true,                                                                                              \
         .help = "No tools of this provider. May be repeated."},                                                       \
        {.id = OPT_ONLY,                                                                                               \
         .name = "only",                                                                                               \
         .kind = VALUE_TEXT,                                                                                           \
         .value = "PATTERN",                                                                                           \
         .repeats = true,                                                                                              \
         .help = "Only tools that match, such as 'github/get_*': * matches any characters, ? matches one. PATTERN is " \
                 "matched against the name, and with a / also against provider/name. Repeat it to allow several "      \
                 "patterns."},                                                                                         \
    {                                                                                                                  \
        .id = OPT_EXCLUDE, .name = "exclude", .kind = VALUE_TEXT, .value = "PATTERN", .repeats = true,                 \
        .help = "No tools that match, such as 'delete_*'. May be repeated."                                            \
    }

#define MAX_TOKENS_OPTION                                                                                              \
    {                                                                                                                  \
        .id = OPT_MAX_TOKENS, .name = "max-tokens", .kind = VALUE_NUMBER, .value = "N", .max = UINT32_MAX,             \
        .help = "Token budget for the definitions in the form of --format (else openai), at four bytes a token. "      \
                "Tools that still fit are kept in order, and a note counts the others."                                \
    }

/* A conversation as the request of find and pick. */
#define CONVERSATION_OPTIONS                                                                                           \
    {.id = OPT_MESSAGES,                                                                                               \
     .name = "messages",                                                                                               \
     .kind = VALUE_FILE,                                                                                               \
     .value = "FILE",                                                                                                  \
     .help = "Read a conversation, in OpenAI's, Anthropic's or a plain form (docs/json.md); - reads standard input. "  \
             "The request is the user's last turn, or REQUEST if given. Earlier turns give context, and tools that "   \
             "were called stay in the result."},                                                                       \
    {                                                                                                                  \
        .id = OPT_HAVE, .name = "have", .kind = VALUE_TEXT, .value = "TOOL", .repeats = true,                          \
        .help = "Tool that is already loaded, by a name as in show. It is always included, without using one of the "  \
                "k places. May be repeated."                                                                           \
    }

static const struct cli_option find_options[] = {
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
     .help = "Search method; `whichtool help --recipes` lists them. Default: the best one that the store and the model "
             "allow."},
    {.id = OPT_EXPLAIN,
     .letter = 'e',
     .name = "explain",
     .help = "Explain each score: what words, meaning and past requests contributed, and which words matched in which "
             "fields."},
    FILTER_OPTIONS,
    MAX_PER_PROVIDER_OPTION,
    MAX_TOKENS_OPTION,
    {.id = OPT_COPIES,
     .name = "all-copies",
     .help = "List copies separately. By default, identical tools of several providers (such as forked servers) and "
             "near copies of an older tool share one place, and the hit names the others."},
    AS_TYPED_OPTION,
    TIMEOUT_OPTION,
    {.id = OPT_ABSTAIN,
     .name = "abstain",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = ABSTAIN_HELP " Only without --recipe. Default: off."},
    {.id = OPT_NONE_IF_UNSURE,
     .name = "none-if-unsure",
     .help = "Leave out weak hits, which are marked with '?': they share at most one common word with the request and "
             "differ from it in meaning. Exit with 1 if no hit is left."},
    FOUND_FORMAT_OPTION,
    CONVERSATION_OPTIONS,
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

/* Options of verbs that use a language model. what: its use, such as "for the recipe ptr". */
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
         .help = "Name of the language model on the server."},                                                         \
        {.id = OPT_RECORD,                                                                                             \
         .name = "record",                                                                                             \
         .kind = VALUE_FILE,                                                                                           \
         .value = "FILE",                                                                                              \
         .help = "Reuse answers of the language model that FILE holds, and append new ones to it."},                   \
    {                                                                                                                  \
        .id = OPT_REPLAY, .name = "replay", .kind = VALUE_FILE, .value = "FILE",                                       \
        .help = "Take all answers from FILE, and contact no server."                                                   \
    }

/* Options of the recipe ptr, in pick and eval. */
#define PTR_OPTIONS                                                                                                    \
    {.id = OPT_BASE_RETRIEVER,                                                                                         \
     .name = "base-retriever",                                                                                         \
     .kind = VALUE_RECIPE,                                                                                             \
     .value = "RECIPE",                                                                                                \
     .help = "Recipe of find that the recipes ptr and bundle search with. Default: auto."},                            \
        {.id = OPT_ABLATE,                                                                                             \
         .name = "ablate",                                                                                             \
         .kind = VALUE_TEXT,                                                                                           \
         .value = "A,B",                                                                                               \
         .help = "For experiments with the recipe ptr: leave out some of bundle (the initial set from past use), dsa " \
                 "(tools near the words), hqc (tools of similar requests) and cte (tools similar to the first of "     \
                 "these)."},                                                                                           \
        CHAT_OPTIONS("for the recipe ptr")

static const struct cli_option pick_options[] = {
    {.id = OPT_RECIPE,
     .letter = 'r',
     .name = "recipe",
     .kind = VALUE_RECIPE,
     .value = "NAME",
     .help = "set (default) predicts the set; bundle takes the most similar set of past use; ptr has a language model "
             "correct that set."},
    {.id = OPT_COMPLETE,
     .name = "complete",
     .kind = VALUE_TEXT,
     .value = "P",
     .help = "Pick enough tools that the set is complete for a share P of requests, such as 0.9. This is a target, not "
             "a guarantee. `whichtool train all` measures the necessary number on held-out requests. Without that "
             "measurement, or if more than 64 tools are necessary, the exit code is 5, unless --max-tokens bounds the "
             "set. Requests that no tool fits still get none; see --abstain."},
    {.id = OPT_ABSTAIN,
     .name = "abstain",
     .kind = VALUE_TEXT,
     .value = "SHARE",
     .help = ABSTAIN_HELP " Default: 0.05. 0 always picks a tool."},
    {.id = OPT_EXPLAIN,
     .letter = 'e',
     .name = "explain",
     .help = "Explain each score: what words, meaning and past requests contributed, and which words matched in which "
             "fields. With the recipe ptr, show every list, decision and answer."},
    FILTER_OPTIONS,
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

static const struct cli_option list_options[] = {
    {.id = OPT_PROVIDER,
     .letter = 'p',
     .name = "provider",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Only tools of this provider."},
    {.id = OPT_PROVIDERS, .name = "providers", .help = "List the providers and their number of tools."},
    {.id = OPT_LIMIT, .name = "limit", .kind = VALUE_NUMBER, .value = "N", .max = WT_MAX_TOOLS, .help = "At most N."},
    {.id = OPT_OFFSET,
     .name = "offset",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = WT_MAX_TOOLS,
     .help = "Skip the first N."},
};
static const struct cli_example list_examples[] = {
    {"whichtool list --providers", "Lists the providers of the catalogue."},
    {"whichtool list issue", "Lists tools with \"issue\" in their id."},
    {"whichtool list 'create_*'", "Lists tools by a name pattern; 'git*/create_*' also matches the provider."},
    {"whichtool list --provider github --json", "Lists one provider's tools as JSON."},
};

static const struct cli_option status_options[] = {MODEL_OPTIONS};
static const struct cli_example status_examples[] = {
    {"whichtool status", "Shows the store and its contents."},
    {"whichtool status --json | jq .untrained", "Prints the number of requests that no training has used."},
};

#include "cli/audit_options.h"

static const struct cli_option show_options[] = {
    {.id = OPT_DEFINITION, .name = "definition", .help = "Print the definition byte for byte as in the source."},
    {.id = OPT_SCHEMA, .name = "schema", .help = "Print the JSON Schema of the arguments."},
    {.id = OPT_FORMAT,
     .letter = 'f',
     .name = "format",
     .kind = VALUE_CHOICE,
     .value = "FORMAT",
     .choices = EXPORT_FORMATS " " LOADING_FORMATS,
     .help = "Print the definition as the provider's API accepts it."},
};
static const struct cli_example show_examples[] = {
    {"whichtool show github/create_issue", "Shows one tool."},
    {"whichtool show --format anthropic create_issue", "Prints its definition for another API."},
};

static const struct cli_option remove_options[] = {
    {.id = OPT_PROVIDER,
     .letter = 'p',
     .name = "provider",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Remove every tool of this provider."},
    {.id = OPT_YES, .letter = 'y', .name = "yes", .help = "Do not ask."},
};
static const struct cli_example remove_examples[] = {
    {"whichtool remove github/create_issue", "Removes one tool."},
    {"whichtool remove --yes --provider github", "Removes all tools of a provider without asking."},
};

static const struct cli_option rename_options[] = {
    {.id = OPT_NO_VECTORS,
     .name = "no-vectors",
     .help = "Do not recompute vectors now; the next add does. Finding by words works at once."},
    MODEL_OPTIONS,
};
static const struct cli_example rename_examples[] = {
    {"whichtool rename pet-shop-of-springfield pets",
     "Exported names then begin with the new name, such as pets__list_pets."},
};

static const struct cli_option vectors_options[] = {MODEL_OPTIONS};
static const struct cli_example vectors_examples[] = {
    {"whichtool add --no-vectors tools.json && whichtool vectors", "First the tools, then their vectors."},
};

static const struct cli_option usage_options[] = {
    {.id = OPT_SPLIT,
     .name = "split",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "add: split of a data set in BEIR layout, qrels/NAME.tsv. Default: train."},
    {.id = OPT_STRICT, .name = "strict", .help = "add: import nothing and exit with 3 if a usage is invalid."},
    {.id = OPT_TOOL,
     .letter = 't',
     .name = "tool",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .repeats = true,
     .help = "Only usages of this tool, by a name as in show or the recorded name of a removed tool. With --request: a "
             "tool that was used; repeat it for several."},
    {.id = OPT_REQUEST,
     .name = "request",
     .kind = VALUE_TEXT,
     .value = "TEXT",
     .help = "add: record one usage: this request with the tools of --tool."},
    {.id = OPT_ARGUMENTS,
     .name = "arguments",
     .kind = VALUE_TEXT,
     .value = "JSON",
     .repeats = true,
     .one_line = true,
     .help = "add --request: arguments of a tool's call, as a JSON object. Give one for each --tool, in the same "
             "order, and '' if unknown."},
    {.id = OPT_OUTCOME,
     .name = "outcome",
     .kind = VALUE_CHOICE,
     .value = "OUTCOME",
     .choices = USAGE_OUTCOME_WORDS,
     .help = "add --request: outcome of the call. The first two words are stored; the others are synonyms. Default: "
             "unknown, which counts as ok."},
    {.id = OPT_BEFORE,
     .name = "before",
     .kind = VALUE_TEXT,
     .value = "TIME",
     .help = "Only usages before a time, such as 2026-11-22 or 2026-11-22T08:30:00Z."},
    {.id = OPT_CLIENT,
     .name = "client",
     .kind = VALUE_TEXT,
     .value = "NAME",
     .help = "Only usages of this client, as recorded. With --request: the client whose request it was."},
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
    {.id = OPT_ALL, .name = "all", .help = "forget: remove all usages."},
    {.id = OPT_YES, .letter = 'y', .name = "yes", .help = "forget: do not ask."},
    {.id = OPT_NO_VECTORS,
     .name = "no-vectors",
     .help = "add, forget: do not compute vectors of requests now; `whichtool vectors` or a later add does."},
    MODEL_OPTIONS,
};
static const struct cli_example usage_examples[] = {
    {"whichtool usage add log.jsonl", "Imports usages, one on each line."},
    {"whichtool usage add --request \"do I need an umbrella?\" --tool weather/forecast", "Records one usage."},
    {"whichtool usage add --request \"rain in Oslo?\" --tool weather/forecast --arguments '{\"city\": \"Oslo\"}'",
     "Records the call's arguments as well."},
    {"tail -n 100 log.jsonl | whichtool usage add -", "Imports the output of another command."},
    {"whichtool usage list --tool book_table --limit 20", "Lists the first requests that used a tool."},
    {"whichtool usage export >log.jsonl", "Exports all usages in the form that add reads."},
    {"whichtool usage forget --before 2026-01-01", "Removes older usages."},
};

#include "cli/call_options.h"
#include "cli/eval_options.h"
#include "cli/generate_options.h"
#include "cli/mcp_options.h"
#include "cli/serve_options.h"
#include "cli/train_options.h"

static const struct cli_option distil_options[] = {
    {.id = OPT_DATA,
     .name = "data",
     .kind = VALUE_FOLDER,
     .value = "DIR",
     .repeats = true,
     .help = "Data set in BEIR layout to learn from, instead of the store: its tools' texts and training requests. A "
             "catalogue without requests is enough. May be repeated."},
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "Folder of the new model. Required; it must not contain a model."},
    {.id = OPT_DIMENSION,
     .name = "dimension",
     .kind = VALUE_NUMBER,
     .value = "N",
     .max = 8192,
     .help = "Dimension of the vectors, stored as one byte a number. Default: 256, or the teacher's if that is less."},
    {.id = OPT_EPOCHS,
     .name = "epochs",
     .kind = VALUE_TEXT,
     .value = "N",
     .help = "Epochs of fitting texts to the teacher's vectors. Default: depends on the number of texts."},
    {.id = OPT_CONTRAST_EPOCHS,
     .name = "contrast-epochs",
     .kind = VALUE_TEXT,
     .value = "N",
     .help = "Epochs of contrastive training on requests and their tools. Default: depends on the number of requests."},
    {.id = OPT_SMOOTHING,
     .name = "smoothing",
     .kind = VALUE_TEXT,
     .value = "A",
     .help = "Initial weight of a token: A / (A + p), where p is its share of all tokens. Default: 0.001."},
    {.id = OPT_DENSE_WEIGHT,
     .name = "dense-weight",
     .kind = VALUE_TEXT,
     .value = "W,BRIEF",
     .help = "Weight of meaning in hybrid to write into config.json; words weigh 1. A second number, as in 0.6,1.8, is "
             "for brief requests. Default: not written."},
    {.id = OPT_ABLATE,
     .name = "ablate",
     .kind = VALUE_TEXT,
     .value = "A,B",
     .help = "For experiments: leave out some of weights (of tokens), fit, likeness (of pairs of texts, in the fit), "
             "contrast and merge (keep all changes of contrast instead of half)."},
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
     .help = "Cache folder for catalogues of data sets, as in eval."},
    MODELS_OPTION,
};
static const struct cli_example distil_examples[] = {
    {"whichtool distil " WT_BASE_MODEL " --out models/mine", "Makes a static encoder for the store's tools."},
    {"whichtool distil models/tuned --data data/one --data data/two --out models/static",
     "Makes one from two data sets, for `whichtool find --model models/static ...`."},
};

static const struct cli_option model_options[] = {
    {.id = OPT_WEIGHT,
     .name = "weight",
     .kind = VALUE_TEXT,
     .value = "W",
     .help = "merge, two models: weight of the second one, 0 to 1. Default: 0.5."},
    {.id = OPT_PRECISION,
     .name = "precision",
     .kind = VALUE_CHOICE,
     .value = "TYPE",
     .choices = "int8 fp16",
     .help = "quantize: number type. Default: int8."},
    {.id = OPT_OUT,
     .name = "out",
     .kind = VALUE_FOLDER,
     .value = "FOLDER",
     .help = "merge, quantize: folder of the new model."},
    MODELS_OPTION,
};
static const struct cli_example model_examples[] = {
    {"whichtool model list", "Lists known and present models."},
    {"whichtool model pull " WT_BASE_MODEL, "Downloads and verifies the model that the default was tuned from."},
    {"whichtool model pull intfloat/multilingual-e5-small",
     "Downloads a multilingual model, for `--model intfloat/multilingual-e5-small`."},
    {"whichtool model merge " WT_BASE_MODEL " ./tuned --weight 0.7 --out ./merged",
     "Mixes a model (0.3) with one tuned from it (0.7)."},
};

static const struct cli_option help_options[] = {
    {.id = OPT_RECIPES, .name = "recipes", .help = "List the recipes of find, pick and eval."},
    {.id = OPT_MAN, .name = "man", .help = "Print the manual page."},
    {.id = OPT_COMPLETIONS,
     .name = "completions",
     .kind = VALUE_CHOICE,
     .value = "SHELL",
     .choices = "bash zsh fish",
     .help = "Print the completions for a shell."},
    {.id = OPT_FOLLOW,
     .name = "follow",
     .help = "Print completions for the words after --. The first line names the kind: words (on the next lines), "
             "files, folders or stores."},
};
static const struct cli_example help_examples[] = {
    {"whichtool help find", "Shows help for one verb."},
    {"eval \"$(whichtool help --completions bash)\"", "Enables completions in the running shell."},
};

#define OPTIONS(array) .options = (array), .option_count = COUNT(array)
#define EXAMPLES(array) .examples = (array), .example_count = COUNT(array)

const struct cli_verb wt__verbs[] = {
    {.name = "add",
     .arguments = "SOURCE...",
     .summary = "Import tools from files, folders, standard input or MCP servers",
     .text = "SOURCE is a file, a folder of files, a BEIR folder, or - for standard input. Recognised formats: MCP "
             "tool lists; function arrays of OpenAI, Anthropic and Gemini; OpenAPI and Swagger documents (JSON or "
             "YAML); RapidAPI descriptions; JSON Lines. Arguments that are credentials, such as api_key, are left "
             "out.\nEach source is imported in one transaction. Unchanged tools are left alone. An invalid tool is "
             "reported, skipped and counted; a source without a valid tool is bad input. Vectors are computed after "
             "the import, if a model is present. An interrupted add keeps the tools, and the next add computes the "
             "missing vectors.\nWith --mcp, all servers are started at once, without a shell and with few environment "
             "variables, and stopped after listing. Each server is a source, with its name as provider. If one server "
             "fails, the others are still imported, and the exit code is 6. docs/mcp.md has details.",
     .kind = VALUE_FILE,
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(add_options),
     EXAMPLES(add_examples),
     .run = wt__cmd_add},
    {.name = "find",
     .arguments = "REQUEST...",
     .summary = "Show the tools that a request needs, best first",
     .text = "The words form one request; - reads it from standard input. The first number ranks the tools within this "
             "request. The second is the probability that the request needs the tool, and is comparable across "
             "requests. Probabilities are estimated separately from the ranking, so they may rise along the "
             "list.\nThey are calibrated on other catalogues, where one request in five needed no tool, until `train "
             "all` calibrates them on recorded use.",
     .kind = VALUE_TEXT,
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(find_options),
     EXAMPLES(find_examples),
     .run = wt__cmd_find},
    {.name = "pick",
     .arguments = "REQUEST...",
     .summary = "Show the exact set of tools that a request needs, or none",
     .text = "The words form one request; - reads it from standard input. The first number is the probability that the "
             "tool is needed, given that any tool is; the second is the probability without that condition. The last "
             "line shows the probability that the set is complete. If no tool fits, the output is empty and the exit "
             "code is 1.\nProbabilities are calibrated on other catalogues until `train all` calibrates them on "
             "recorded use.\nThe recipes bundle and ptr start from a tool set of past requests, which `train "
             "neighbours` stores; ptr has a language model correct it.",
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
         "The words form one request; - reads it from standard input. call takes the best tool, reads its arguments "
         "from the request, validates them against the tool's schema, and prints the call. It never executes the call "
         "and never invents a value. It asks for values that are missing or uncertain, and exits with 8.\nTo answer a "
         "question, repeat the request with the argument's name and value: \"turn off the lamp, target: kitchen\". "
         "Quote the texts of a list: \"items: 'dog food', 'a bowl'\". Write none to leave out an optional argument: "
         "\"due: none\".\ncall also asks, and exits with 8, before a tool that acts if the request is a question, a "
         "prohibition or only mentions the action (\"is the vault locked?\"), or if the call ignores a word of the "
         "request (\"cancel all kitchen timers\"). It asks which of two tools is meant, and whether a weak tool with a "
         "probability of at least 16 % is meant.\nWith --chat-model, a language model chooses the tool and writes the "
         "arguments, and verifies both.\nIf no tool fits, the exit code is 1.",
     .kind = VALUE_TEXT,
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(call_options),
     EXAMPLES(call_examples),
     .run = wt__cmd_call},
    {.name = "list",
     .arguments = "[PATTERN]",
     .summary = "List the tools or the providers of the catalogue",
     .text = "Tools are listed in import order. PATTERN matches a part of the id (provider/name), ignoring case. A "
             "PATTERN with * (any characters) or ? (one character) must match the whole name, or with a / the whole "
             "id. Quote it, so that the shell does not expand it.",
     .kind = VALUE_TEXT,
     .max_words = 1,
     OPTIONS(list_options),
     EXAMPLES(list_examples),
     .run = wt__cmd_list},
    {.name = "show",
     .arguments = "NAME",
     .summary = "Show one tool",
     .text = "NAME is an id such as provider/name, a bare name that is unique, the source's own identifier, or an "
             "exported name of `find --format`.",
     .kind = VALUE_TEXT,
     .min_words = 1,
     .max_words = 1,
     OPTIONS(show_options),
     EXAMPLES(show_examples),
     .run = wt__cmd_show},
    {.name = "remove",
     .arguments = "[NAME...]",
     .summary = "Remove tools, or all tools of a provider",
     .text = "NAME is as in show. If a NAME does not exist, no tool is removed. On a terminal, removing more than one "
             "tool asks first, unless --yes is given.",
     .kind = VALUE_TEXT,
     .max_words = MANY_WORDS,
     OPTIONS(remove_options),
     EXAMPLES(remove_examples),
     .run = wt__cmd_remove},
    {.name = "status",
     .arguments = "",
     .summary = "Show tools, vectors, recorded use, trained models and sizes",
     .text = "Shows how many tools have vectors, how many usages no training has used, and for each trained model its "
             "date, data and figure on held-out requests before and after. Also shows which recipe find uses and "
             "why.\nstatus opens only the store and takes milliseconds; `whichtool check` looks for damage.",
     OPTIONS(status_options),
     EXAMPLES(status_examples),
     .run = wt__cmd_status},
    {.name = "rename",
     .arguments = "OLD NEW",
     .summary = "Give a provider another name",
     .text = "The tools keep their usages. Their ids and exported names begin with the new name. Later imports of the "
             "old name use the new name.",
     .kind = VALUE_TEXT,
     .min_words = 2,
     .max_words = 2,
     OPTIONS(rename_options),
     EXAMPLES(rename_examples),
     .run = wt__cmd_rename},
    {.name = "check",
     .arguments = "",
     .summary = "Look for damage, and audit the catalogue",
     .text = "Reads the whole store and index. Reports damage with a remedy, and exits with 4. Then audits the "
             "catalogue (docs/audit.md): descriptions, schemas, names, hidden characters, tools that no request finds, "
             "copies, and providers that displace others. Each finding suggests what to write instead.",
     OPTIONS(check_options),
     EXAMPLES(check_examples),
     .run = wt__cmd_check},
    {.name = "vectors",
     .arguments = "",
     .summary = "Compute missing vectors, which finding by meaning needs",
     .text = "A vector represents the meaning of a text. `add` computes one for each tool, unless it ran with "
             "--no-vectors, was interrupted or found no model. This verb computes the missing ones, also for recorded "
             "requests. If the model is missing, it says how to download it.\nCtrl-C keeps finished vectors; the next "
             "run continues.",
     OPTIONS(vectors_options),
     EXAMPLES(vectors_examples),
     .run = wt__cmd_vectors},
    {.name = "usage",
     .arguments = "add|list|export|forget [SOURCE...]",
     .summary = "Record which tools requests used, to improve finding",
     .text =
         "add imports usages from files, data sets in BEIR layout (folders with queries.jsonl and qrels/SPLIT.tsv) or "
         "standard input (-), or records one usage given by --request and --tool. Each line of a file is one usage: "
         "{\"request\": \"...\", \"tools\": [\"provider/name\"], \"outcome\": \"ok\", "
         "\"time\": \"2026-11-22T08:30:00Z\", \"client\": \"c17\", \"key\": \"run-17/3\"}. outcome, time, client "
         "and key are optional; outcome is one of the words of --outcome. The client is any name for the sender of the "
         "request; a tool counts once for each client and request. A second usage with the same client and key is "
         "ignored. A line {\"key\": \"run-17/3\", \"client\": \"c17\", \"outcome\": \"failed\"} sets the outcome of an "
         "earlier usage. {\"tool\": \"provider/name\", \"arguments\": {...}} instead of a name records the arguments "
         "of "
         "the call.\nEach source is imported in one transaction. An unknown tool is reported, and the usage is kept "
         "with "
         "its other tools. A usage that is invalid, or has no known tool, is reported, skipped and counted. Failed "
         "usages "
         "are stored, but not used for training.\n"
         "list shows usages in the order of recording, with removed tools in brackets. export writes them in the form "
         "that add reads. forget removes them permanently; on a terminal it asks first, unless --yes is given.\n"
         "Requests and arguments are stored verbatim, in the store only. Arguments with names of credentials are left "
         "out, as in schemas; do not record other secrets.",
     .kind = VALUE_FILE,
     .choices = "add list export forget",
     .min_words = 1,
     .max_words = MANY_WORDS,
     OPTIONS(usage_options),
     EXAMPLES(usage_examples),
     .run = wt__cmd_usage},
    {.name = "eval",
     .arguments = "DIR",
     .summary = "Measure recipes on a data set in BEIR layout",
     .text =
         "A recipe is a search method; `whichtool help --recipes` lists them. DIR contains corpus.jsonl (tools), "
         "queries.jsonl (requests) and qrels/SPLIT.tsv (relevance judgements: the tools that each request needs). "
         "SPLIT "
         "is train, dev or test.\n"
         "The metrics are means over the requests, in percent: recall@k, the share of needed tools among the first k; "
         "ndcg@k, the same with more weight on early places; complete@k, the share of requests with all needed tools "
         "among the first k; mrr, the reciprocal rank of the first needed tool. p50, p95 and p99 are percentiles of "
         "the "
         "latency of one find on one thread. Recipes that pick a set also have tracc, the share of needed tools in the "
         "set with a penalty for sets of the wrong size; exact, the share of identical sets; set_precision, set_recall "
         "and set_f1; complete, the share of sets without a missing tool. docs/eval.md defines all metrics. A paired "
         "bootstrap compares each further recipe with the first.\n"
         "Recipes that need training are trained on qrels/train.tsv, with models and parameters selected on "
         "qrels/dev.tsv; they are left out if there is no train split.\n"
         "The catalogue of a data set, its embeddings and the trained models are cached between evaluations.",
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
         "Run `whichtool train all` for a store. find then uses the recipe that did best, and `whichtool status` shows "
         "which one.\n"
         "Training data are requests with known tools: the store's recorded use (`whichtool usage add`), or the train "
         "split of a data set in BEIR layout. A tenth of the recorded requests, or the split dev, is held out. Figures "
         "\"on dev\" are measured on held-out requests; a model replaces an earlier one only if it is better there, "
         "and "
         "training stops early if it does not improve.\n"
         "MODEL is one of the following, or all of them in this order (all): encoder (the model that computes "
         "vectors); "
         "dpr (dense retrieval over the tools' texts); tool2vec, mlc and neighbours (past requests as embeddings of "
         "tools, as classes of a classifier, and as nearest neighbours); two refiners, which rerank them; auto, which "
         "selects among these and their combinations; set (set prediction from auto's hits, for `pick`); and "
         "toolrerank "
         "(reranking of dpr's hits by provider). The cross-encoder, cross, is trained only if named; train toolrerank "
         "again after it.\n"
         "Ctrl-C, or even kill -9, loses only minutes: the best model so far is kept, and --resume with the same "
         "options "
         "continues. Trained models are folders in the layout of the Hugging Face hub; their config.json records the "
         "training data.",
     .kind = VALUE_LESSON,
     .min_words = 1,
     .max_words = 1,
     OPTIONS(train_options),
     EXAMPLES(train_examples),
     .run = wt__cmd_train},
    {.name = "generate",
     .arguments = "toolbank|rectools|verdicts|comparison|toolselect|fine-tuning|names",
     .summary = "Generate data with a language model",
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
     .summary = "Distil a model into a small, fast static encoder",
     .text = "A static encoder is a table with one vector for each token; the vector of a text is their sum. It "
             "encodes a text in microseconds instead of milliseconds, and is less accurate than MODEL, its "
             "teacher.\nThe table starts from the teacher's vectors of single tokens, is fitted to the teacher's "
             "vectors of tool texts and training requests, and is then trained to bring requests near their tools. The "
             "texts come from the store or from data sets. docs/encoders.md measures each step.\nDistilling takes "
             "minutes, most of them for the teacher. Ctrl-C leaves no model and cannot be resumed.",
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
         "list shows known and installed models; info shows one model. pull downloads a model and verifies the SHA-256 "
         "of every file; it resumes an interrupted download. ORG/NAME or ORG/NAME@REVISION is a model of the Hugging "
         "Face hub, or of $HF_ENDPOINT if set. The first pull records its hashes, and later pulls verify them. "
         "$HF_TOKEN, for gated models, is sent to that host only. pack writes the cache that speeds up loading; the "
         "first use also writes it. NAME defaults to the default model. " WT_BUILT_IN_MODEL " is built in.\n"
         "merge writes the weighted mean of several models to a new folder, such as a tuned model and its base, or "
         "several seeds. All must have the same architecture, dimensions and tokenizer. quantize stores a model in a "
         "quarter (int8) or half (fp16) of the space; int8 is also faster on processors with fast byte multiplication.",
     .kind = VALUE_TEXT,
     .choices = "list info pull pack merge quantize",
     .max_words = 1 + WT_MAX_MERGED,
     OPTIONS(model_options),
     EXAMPLES(model_examples),
     .run = wt__cmd_model},
    {.name = "serve",
     .arguments = "",
     .summary = "Serve find, pick, call, the catalogue and embeddings over HTTP",
     .text = serve_text,
     OPTIONS(serve_options),
     EXAMPLES(serve_examples),
     .run = wt__cmd_serve},
    {.name = "version",
     .arguments = "",
     .summary = "Print the version",
     .text = "The command and its library have the same version.",
     .run = wt__cmd_version},
    {.name = "help",
     .arguments = "[VERB]",
     .summary = "Show help for the command or a verb",
     .text = "Without VERB, lists all verbs.",
     .kind = VALUE_VERB,
     .max_words = MANY_WORDS,
     OPTIONS(help_options),
     EXAMPLES(help_examples),
     .run = wt__cmd_help},
};
const size_t wt__verb_count = COUNT(wt__verbs);

const struct cli_meaning wt__exit_codes[] = {
    {"0", "Done."},
    {"1", "No tool was found; check: the audit has findings."},
    {"2", "Invalid command line."},
    {"3", "Invalid input: a source, a request or a data set."},
    {"4", "The store is empty, damaged, locked, or cannot be read or written."},
    {"5", "A required model or training is missing or damaged, or --complete cannot be met."},
    {"6", "The network or an MCP server failed; serve: cannot listen on the address."},
    {"7", "Out of memory, disk full, or an I/O error."},
    {"8", "A call lacks an argument or needs an answer."},
    {"124", "Timeout."},
    {"130", "Interrupted by Ctrl-C."},
};
const size_t wt__exit_code_count = COUNT(wt__exit_codes);

const struct cli_meaning wt__environment[] = {
    {"WHICHTOOL_STORE", "Store file, unless -s is given."},
    {"WHICHTOOL_MODELS", "Folder of the models, unless --models is given."},
    {"OPENAI_BASE_URL", "Server of the language model, unless --chat-url is given."},
    {"OPENAI_API_KEY", "Its key, sent if set, together with OPENAI_ORG_ID and OPENAI_PROJECT_ID."},
    {"XDG_DATA_HOME", "Parent of the data folder `whichtool`. Default: ~/.local/share."},
    {"XDG_CACHE_HOME", "Parent of the cache folder `whichtool`. Default: ~/.cache."},
    {"COLUMNS", "Width of tables. Default: the terminal's width. Output to a pipe or a file is not cut."},
    {"NO_COLOR", "Disables colours if set, like --no-color. TERM=dumb disables them as well."},
};
const size_t wt__environment_count = COUNT(wt__environment);

const struct cli_meaning wt__files[] = {
    {"tools.wt", "Data folder: the store. The index in tools.wt-index/ can be rebuilt."},
    {"models/", "Data folder: one folder for each model."},
    {"eval/", "Cache folder: catalogues of evaluated data sets. May be deleted."},
};
const size_t wt__file_count = COUNT(wt__files);
