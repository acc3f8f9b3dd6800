/* option_macros.h: macros for the rows of the tables in options_*.c, and the options that several verbs have. */
#ifndef WT_CLI_OPTION_MACROS_H
#define WT_CLI_OPTION_MACROS_H

#include "cli/cli.h"
#include "cli/options.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OPTIONS(array) .options = (array), .option_count = COUNT(array)
#define EXAMPLES(array) .examples = (array), .example_count = COUNT(array)

/* Rows of a table of options, by the kind of their value. The last argument is the help text. Further fields may follow
 * it, such as `.letter = 'k'`. */
#define FLAG(identifier, word, ...)                                                                                    \
    {                                                                                                                  \
        .id = OPT_##identifier, .name = (word), .help = __VA_ARGS__                                                    \
    }
#define OPTION(identifier, word, value_kind, value_name, ...)                                                          \
    {                                                                                                                  \
        .id = OPT_##identifier, .name = (word), .kind = VALUE_##value_kind, .value = (value_name), .help = __VA_ARGS__ \
    }
#define NUMBER(identifier, word, value_name, maximum, ...)                                                             \
    {                                                                                                                  \
        .id = OPT_##identifier, .name = (word), .kind = VALUE_NUMBER, .value = (value_name), .max = (maximum),         \
        .help = __VA_ARGS__                                                                                            \
    }
#define CHOICE(identifier, word, value_name, words, ...)                                                               \
    {                                                                                                                  \
        .id = OPT_##identifier, .name = (word), .kind = VALUE_CHOICE, .value = (value_name), .choices = (words),       \
        .help = __VA_ARGS__                                                                                            \
    }

enum { TIMEOUT_MAX = 24 * 60 * 60 };

#define MODELS_OPTION OPTION(MODELS, "models", FOLDER, "FOLDER", "Folder of the models, instead of $WHICHTOOL_MODELS.")

#define MODEL_OPTIONS                                                                                                  \
    OPTION(MODEL, "model", TEXT, "NAME",                                                                               \
           "Encoder to use: a name (ORG/NAME for a model of the hub) or a folder. \"\" finds by words only. Default: " \
           "the first one present of " WT_DEFAULT_MODEL ", " WT_BASE_MODEL " and " WT_BUILT_IN_MODEL                   \
           ", which is built in."),                                                                                    \
        MODELS_OPTION

#define TENANTS_OPTION                                                                                                 \
    OPTION(TENANTS, "tenants", FILE, "FILE",                                                                           \
           "File of tenants (docs/tenants.md). Default: STORE-tenants.jsonl, if that file exists.")

#define TENANT_OPTIONS                                                                                                 \
    OPTION(TENANT, "tenant", TEXT, "NAME", "Only what this tenant sees, with its own statistics (docs/tenants.md)."),  \
        TENANTS_OPTION

#define OWN_TENANT_OPTIONS                                                                                             \
    OPTION(TENANT, "tenant", TEXT, "NAME", "The store of this tenant, which has one of its own (docs/tenants.md)."),   \
        TENANTS_OPTION

/* Options of verbs that can run on a replica. */
#define FOLLOW_OPTIONS                                                                                                 \
    OPTION(FOLLOW_PUBLICATION, "follow", TEXT, "LOCATION",                                                             \
           "Use a replica of the publication at LOCATION, a folder or an address that `whichtool publish` writes, "    \
           "instead of a store. Changes are refused (docs/replicas.md)."),                                             \
        OPTION(CACHE, "cache", FOLDER, "FOLDER",                                                                       \
               "With --follow: folder of the replica. Default: a folder below the cache folder."),                     \
        NUMBER(POLL, "poll", "MS", 3600000,                                                                            \
               "With --follow: interval of looking for a new generation, in milliseconds. Default: 250."),             \
        OPTION(TOKEN, "token", FILE, "FILE", "With --follow: file with the bearer token of the publication's server.")

#define WRITER_KEY_OPTION                                                                                              \
    OPTION(WRITER_KEY, "writer-key", FILE, "FILE",                                                                     \
           "With --follow: file with the key by which reported usage is delivered to the writer; it needs the scope "  \
           "write.")

#define EXPORT_FORMATS "openai openai-responses anthropic gemini mcp"

#define LOADING_FORMATS "anthropic-reference anthropic-inline openai-search"

#define TIMEOUT_OPTION                                                                                                 \
    NUMBER(TIMEOUT, "timeout", "SECONDS", TIMEOUT_MAX,                                                                 \
           "Time limit; exit with 124 when it is exceeded. Checked between stages, while models load, while the "      \
           "index is built, and while a reranker or a language model runs. Default: no limit.")

#define MAX_PER_PROVIDER_OPTION                                                                                        \
    NUMBER(MAX_PER_PROVIDER, "max-per-provider", "N", WT_MAX_K, "At most N tools of one provider.")

#define AS_TYPED_OPTION                                                                                                \
    FLAG(AS_TYPED, "as-typed",                                                                                         \
         "Do not correct spelling. By default, a word that occurs neither in a tool nor in English is read as the "    \
         "closest known word, unless it is quoted. Of a mail or another long request, only the wish is read. A note "  \
         "reports both.")

/* Options of verbs that use a language model. what: its use, such as "for the recipe ptr". */
#define CHAT_OPTIONS(what)                                                                                             \
    OPTION(CHAT_URL, "chat-url", TEXT, "URL",                                                                          \
           "Server of the language model " what ", such as http://127.0.0.1:8080/v1. Default: $OPENAI_BASE_URL."),     \
        OPTION(CHAT_MODEL, "chat-model", TEXT, "NAME", "Name of the language model on the server."),                   \
        OPTION(RECORD, "record", FILE, "FILE",                                                                         \
               "Reuse answers of the language model that FILE holds, and append new ones to it."),                     \
        OPTION(REPLAY, "replay", FILE, "FILE", "Take all answers from FILE, and contact no server.")

/* Options of the recipe ptr, in pick and eval. */
#define PTR_OPTIONS                                                                                                    \
    OPTION(BASE_RETRIEVER, "base-retriever", RECIPE, "RECIPE",                                                         \
           "Recipe of find that the recipes ptr and bundle search with. Default: auto."),                              \
        OPTION(                                                                                                        \
            ABLATE, "ablate", TEXT, "A,B",                                                                             \
            "For experiments with the recipe ptr: leave out some of bundle (the initial set from past use), dsa "      \
            "(tools near the words), hqc (tools of similar requests) and cte (tools similar to the first of these)."), \
        OPTION(                                                                                                        \
            VARIANT, "variant", TEXT, "A,B",                                                                           \
            "For experiments with the recipe ptr: some of problems (ask the model for the unsolved problems, as in "   \
            "the paper), protect (drop a tool of the bundle only if the model agrees in a second question) and "       \
            "examples (show examples in the prompts)."),                                                               \
        CHAT_OPTIONS("for the recipe ptr")

#endif
