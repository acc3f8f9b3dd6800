/* option_macros.h: options of several verbs, for the tables in options_*.c. */
#ifndef WT_CLI_OPTION_MACROS_H
#define WT_CLI_OPTION_MACROS_H

#include "cli/cli.h"
#include "cli/options.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OPTIONS(array) .options = (array), .option_count = COUNT(array)
#define EXAMPLES(array) .examples = (array), .example_count = COUNT(array)

enum { TIMEOUT_MAX = 24 * 60 * 60 };

#define MODELS_OPTION                                                                                                  \
    {                                                                                                                  \
        .id = OPT_MODELS, .name = "models", .kind = VALUE_FOLDER, .value = "FOLDER",                                   \
        .help = "Folder of the models, instead of $WHICHTOOL_MODELS."                                                  \
    }

#define MODEL_OPTIONS                                                                                                  \
    {.id = OPT_MODEL,                                                                                                  \
     .name = "model",                                                                                                  \
     .kind = VALUE_TEXT,                                                                                               \
     .value = "NAME",                                                                                                  \
     .help = "Encoder to use: a name (ORG/NAME for a model of the hub) or a folder. \"\" finds by words only. "        \
             "Default: the first one present of " WT_DEFAULT_MODEL ", " WT_BASE_MODEL " and " WT_BUILT_IN_MODEL        \
             ", which is built in."},                                                                                  \
        MODELS_OPTION

#define EXPORT_FORMATS "openai openai-responses anthropic gemini mcp"

#define LOADING_FORMATS "anthropic-reference anthropic-inline openai-search"

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

#endif
