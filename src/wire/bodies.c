/* bodies.c: field tables of find, pick, call, the catalogue, recorded usage, and formats of other APIs. The API
 * description and docs/serving.md take the text of each field from here. */
#include "wire/bodies.h"

#include <stdio.h>

#include "base/memory.h"
#include "import/formats.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TABLE(array)                                                                                                   \
    {                                                                                                                  \
        (array), COUNT(array)                                                                                          \
    }

/* ---------------------------------------------------------------- find, pick, call */

static const struct field filter_fields[] = {
    {.name = "providers",
     .kind = FIELD_TEXTS,
     .offset = offsetof(struct asked_body, providers),
     .max = WT_MAX_FILTER_ITEMS,
     .bytes = WT_MAX_NAME_BYTES,
     .says = "Only tools of these providers."},
    {.name = "exclude_providers",
     .kind = FIELD_TEXTS,
     .offset = offsetof(struct asked_body, excluded_providers),
     .max = WT_MAX_FILTER_ITEMS,
     .bytes = WT_MAX_NAME_BYTES,
     .says = "No tools of these providers."},
    {.name = "only",
     .kind = FIELD_TEXTS,
     .offset = offsetof(struct asked_body, only),
     .max = WT_MAX_FILTER_ITEMS,
     .bytes = WT_MAX_PATTERN_BYTES,
     .says =
         "Only tools that match one of these patterns, such as \"github/get_*\": * matches any characters, ? one. A "
         "pattern must match the whole name, or, if it has a /, provider/name."},
    {.name = "exclude",
     .kind = FIELD_TEXTS,
     .offset = offsetof(struct asked_body, excluded),
     .max = WT_MAX_FILTER_ITEMS,
     .bytes = WT_MAX_PATTERN_BYTES,
     .says = "No tools that match one of these patterns, such as \"delete_*\"."},
};

#define QUERY_FIELD                                                                                                    \
    {                                                                                                                  \
        .name = "query", .kind = FIELD_TEXT, .offset = offsetof(struct asked_body, query),                             \
        .max = WT_MAX_REQUEST_BYTES, .says = "The request, in words; with messages, an additional turn."               \
    }
#define MESSAGES_FIELDS                                                                                                \
    {.name = "messages",                                                                                               \
     .kind = FIELD_TREE,                                                                                               \
     .offset = offsetof(struct asked_body, messages),                                                                  \
     .max = WT_MAX_MESSAGES_BYTES,                                                                                     \
     .says =                                                                                                           \
         "A conversation as the request, in the messages of OpenAI's or Anthropic's API, or plain. The user's last "   \
         "turn is the request; earlier turns are its context."},                                                       \
    {                                                                                                                  \
        .name = "have", .kind = FIELD_TEXTS, .offset = offsetof(struct asked_body, have), .max = WT_MAX_KEPT,          \
        .bytes = WT_MAX_REQUEST_BYTES,                                                                                 \
        .says = "Tools that are already loaded, by name; always included, without using one of the k places."          \
    }
#define FILTER_FIELD                                                                                                   \
    {                                                                                                                  \
        .name = "filter", .kind = FIELD_OBJECT, .members = filter_fields, .member_count = COUNT(filter_fields),        \
        .says = "Restricts the tools that may be found; only allowed tools count towards k."                           \
    }
#define RECIPE_FIELD(type, text)                                                                                       \
    {                                                                                                                  \
        .name = "recipe", .kind = FIELD_TEXT, .offset = offsetof(struct type, options.recipe), .max = 64,              \
        .says = (text)                                                                                                 \
    }
#define FLAG_FIELD(type, member, field_name, text)                                                                     \
    {                                                                                                                  \
        .name = (field_name), .kind = FIELD_FLAG, .offset = offsetof(struct type, options.member), .says = (text)      \
    }
#define EXPLAIN_FIELD(type) FLAG_FIELD(type, explain, "explain", "Explain each hit: stages and matched words.")
#define AS_TYPED_FIELD(type)                                                                                           \
    FLAG_FIELD(type, as_typed, "as_typed", "Do not correct words of the request, and do not shorten a long one.")
#define TIME_LIMIT_FIELD(type)                                                                                         \
    {                                                                                                                  \
        .name = "time_limit_ms", .kind = FIELD_MS, .offset = offsetof(struct type, options.time_limit_ms), .min = 1,   \
        .max = WIRE_TIME_LIMIT_MS_MAX,                                                                                 \
        .says = "Time limit in milliseconds, then status 504. The server's own limit applies if it is smaller."        \
    }
#define DEFINITIONS_FIELD(type)                                                                                        \
    {                                                                                                                  \
        .name = "format", .kind = FIELD_CHOICE, .offset = offsetof(struct type, definitions),                          \
        .choices = WIRE_EXPORT_FORMATS " " WIRE_LOADING_FORMATS,                                                       \
        .says = "Adds the member definitions: the hits' definitions as this provider's API accepts them."              \
    }
#define MAX_TOKENS_FIELD(type)                                                                                         \
    {                                                                                                                  \
        .name = "max_tokens", .kind = FIELD_COUNT, .offset = offsetof(struct type, options.max_tokens), .min = 1,      \
        .max = UINT32_MAX,                                                                                             \
        .says = "Token budget for the hits' definitions in this format (default openai), estimated as a quarter of "   \
                "their bytes."                                                                                         \
    }

static const struct field find_items[] = {
    QUERY_FIELD,
    MESSAGES_FIELDS,
    {.name = "k",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct find_body, options.k),
     .min = 1,
     .max = WT_MAX_K,
     .says = "Maximum number of tools; default 5."},
    RECIPE_FIELD(find_body, "How to search: a name of /v1/recipes; default: the best that the store can run."),
    FILTER_FIELD,
    {.name = "max_per_provider",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct find_body, options.max_per_provider),
     .min = 1,
     .max = WT_MAX_K,
     .says = "Maximum number of tools per provider."},
    MAX_TOKENS_FIELD(find_body),
    {.name = "abstain",
     .kind = FIELD_SHARE,
     .offset = offsetof(struct find_body, options.abstain),
     .says = "Return no tools if probably none fits, at this rate of false alarms, such as 0.05. Only without recipe."},
    FLAG_FIELD(find_body, none_if_unsure, "none_if_unsure", "Omit weak hits; the result may be empty."),
    FLAG_FIELD(find_body, copies, "all_copies", "Give each copy of a tool a place of its own."),
    AS_TYPED_FIELD(find_body),
    EXPLAIN_FIELD(find_body),
    DEFINITIONS_FIELD(find_body),
    TIME_LIMIT_FIELD(find_body),
};
const struct fields wt__find_fields = TABLE(find_items);

static const struct field pick_items[] = {
    QUERY_FIELD,
    MESSAGES_FIELDS,
    RECIPE_FIELD(pick_body, "set (when absent), bundle, or ptr, which asks the server's language model."),
    {.name = "base_retriever",
     .kind = FIELD_TEXT,
     .offset = offsetof(struct pick_body, options.base_retriever),
     .max = 64,
     .says = "Recipe of find that finds tools for ptr and bundle."},
    FILTER_FIELD,
    {.name = "complete",
     .kind = FIELD_SHARE,
     .offset = offsetof(struct pick_body, options.complete),
     .says = "Return as many tools as needed for a complete set in this share of requests. Requires training."},
    {.name = "abstain",
     .kind = FIELD_RATE,
     .offset = offsetof(struct pick_body, options.abstain),
     .says = "Rate of false alarms at which no tool is picked; default 0.05; 0: always pick a tool."},
    MAX_TOKENS_FIELD(pick_body),
    AS_TYPED_FIELD(pick_body),
    EXPLAIN_FIELD(pick_body),
    DEFINITIONS_FIELD(pick_body),
    TIME_LIMIT_FIELD(pick_body),
};
const struct fields wt__pick_fields = TABLE(pick_items);

static const struct field call_items[] = {
    {.name = "query",
     .kind = FIELD_TEXT,
     .required = true,
     .offset = offsetof(struct asked_body, query),
     .max = WT_MAX_REQUEST_BYTES,
     .says = "The request, in words."},
    {.name = "tool",
     .kind = FIELD_TEXT,
     .offset = offsetof(struct call_body, options.tool),
     .max = WT_MAX_REQUEST_BYTES,
     .says = "The tool to call, by name; default: the best fit."},
    RECIPE_FIELD(call_body, "Recipe of find that finds the candidates."),
    FILTER_FIELD,
    {.name = "abstain",
     .kind = FIELD_RATE,
     .offset = offsetof(struct call_body, options.abstain),
     .says = "Rate of false alarms at which no tool is called; default 0.05; 0: always call one. Only without recipe."},
    FLAG_FIELD(call_body, language_model, "language_model",
               "The server's language model chooses the tool, writes the arguments and verifies both."),
    AS_TYPED_FIELD(call_body),
    FLAG_FIELD(call_body, explain, "explain", "Explain how the call was made, in the member steps."),
    {.name = "format",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct call_body, options.form),
     .choices = "arguments " WIRE_EXPORT_FORMATS,
     .says = "Adds the member call: the call in the format of this provider's API."},
    TIME_LIMIT_FIELD(call_body),
};
const struct fields wt__call_fields = TABLE(call_items);

static void fill_filter(struct asked_body *asked)
{
    wt_filter_init(&asked->filter);
    asked->filter.providers = asked->providers.items;
    asked->filter.provider_count = asked->providers.count;
    asked->filter.excluded_providers = asked->excluded_providers.items;
    asked->filter.excluded_provider_count = asked->excluded_providers.count;
    asked->filter.only = asked->only.items;
    asked->filter.only_count = asked->only.count;
    asked->filter.excluded = asked->excluded.items;
    asked->filter.excluded_count = asked->excluded.count;
}

static int require_request(const struct asked_body *asked, wt_error *err)
{
    if (!asked->messages && wt__str_trim(wt__str(asked->query)).len == 0)
        return wt__fail_at(err, WT_EINVAL, 0, 0, "/query", "the request is empty; set query or messages");
    return 0;
}

int wt__find_body_read(struct find_body *out, struct str json, wt_error *err)
{
    *out = (struct find_body){0};
    wt_find_options_init(&out->options);
    int rc = wt__body_read(&out->asked.body, json, wt__find_fields, out, err);
    if (rc == 0)
        rc = require_request(&out->asked, err);
    fill_filter(&out->asked);
    out->options.filter = &out->asked.filter;
    out->options.format = out->definitions;
    out->options.have = out->asked.have.items;
    out->options.have_count = out->asked.have.count;
    return rc;
}

static int write_messages(struct pick_body *out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    wt__json_write(&json, out->asked.messages);
    out->options.messages = json.failed ? NULL : wt__arena_copy(&out->asked.body.arena, wt__buffer_view(&json));
    out->options.messages_len = json.len;
    WT_CHECK_ALLOC(out->options.messages, err);
    return 0;
}

int wt__pick_body_read(struct pick_body *out, struct str json, wt_error *err)
{
    *out = (struct pick_body){0};
    wt_pick_options_init(&out->options);
    int rc = wt__body_read(&out->asked.body, json, wt__pick_fields, out, err);
    if (rc == 0)
        rc = require_request(&out->asked, err);
    fill_filter(&out->asked);
    out->options.filter = &out->asked.filter;
    out->options.format = out->definitions;
    out->options.have = out->asked.have.items;
    out->options.have_count = out->asked.have.count;
    return rc == 0 && out->asked.messages ? write_messages(out, err) : rc;
}

int wt__call_body_read(struct call_body *out, struct str json, wt_error *err)
{
    *out = (struct call_body){0};
    wt_call_options_init(&out->options);
    int rc = wt__body_read(&out->asked.body, json, wt__call_fields, out, err);
    if (rc == 0)
        rc = require_request(&out->asked, err);
    fill_filter(&out->asked);
    out->options.filter = &out->asked.filter;
    return rc;
}

/* ---------------------------------------------------------------- the catalogue */

static const struct field list_items[] = {
    {.name = "provider",
     .kind = FIELD_TEXT,
     .offset = offsetof(struct list_query, options.provider),
     .max = WT_MAX_NAME_BYTES,
     .says = "Only tools of this provider."},
    {.name = "pattern",
     .kind = FIELD_TEXT,
     .offset = offsetof(struct list_query, options.pattern),
     .max = WT_MAX_PATTERN_BYTES,
     .says = "Only matching tools: a part of the id, or with * or ? a pattern for the whole name."},
    {.name = "limit",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct list_query, options.limit),
     .min = 1,
     .max = WIRE_LIST_MAX,
     .says = "Maximum number of tools per page; default 100."},
    {.name = "offset",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct list_query, options.offset),
     .max = WT_MAX_TOOLS,
     .says = "Number of tools to skip: next_offset of the previous page."},
};
const struct fields wt__list_fields = TABLE(list_items);

static void init_list_query(struct list_query *out)
{
    *out = (struct list_query){0};
    wt_list_options_init(&out->options);
    out->options.limit = WIRE_LIST_USUAL;
}

int wt__list_query_read(struct list_query *out, struct str query, wt_error *err)
{
    init_list_query(out);
    return wt__query_read(&out->body, query, wt__list_fields, out, err);
}

int wt__list_body_read(struct list_query *out, struct str json, wt_error *err)
{
    init_list_query(out);
    return wt__body_read(&out->body, json, wt__list_fields, out, err);
}

#define TOOL_NAME_FIELD(type, is_required)                                                                             \
    {                                                                                                                  \
        .name = "name", .kind = FIELD_TEXT, .required = (is_required), .offset = offsetof(struct type, name),          \
        .max = WT_MAX_REQUEST_BYTES, .says = "The tool's name: an id, an exported name, or a unique bare name."        \
    }

static const struct field show_body_items[] = {
    TOOL_NAME_FIELD(show_query, true),
    {.name = "format",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct show_query, definition),
     .choices = WIRE_EXPORT_FORMATS " " WIRE_LOADING_FORMATS,
     .says = "Return only the definition, as this provider's API accepts it."},
};

int wt__show_body_read(struct show_query *out, struct str json, wt_error *err)
{
    *out = (struct show_query){0};
    return wt__body_read(&out->body, json, (struct fields)TABLE(show_body_items), out, err);
}

static const struct field show_items[] = {
    {.name = "format",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct show_query, definition),
     .choices = WIRE_EXPORT_FORMATS " " WIRE_LOADING_FORMATS,
     .says = "Return only the definition, as this provider's API accepts it."},
};
const struct fields wt__show_fields = TABLE(show_items);

int wt__show_query_read(struct show_query *out, struct str query, wt_error *err)
{
    *out = (struct show_query){0};
    return wt__query_read(&out->body, query, wt__show_fields, out, err);
}

#define ADD_FIELDS                                                                                                     \
    {.name = "format",                                                                                                 \
     .kind = FIELD_CHOICE,                                                                                             \
     .offset = offsetof(struct add_query, options.format),                                                             \
     .choices = IMPORT_FORMAT_NAMES,                                                                                   \
     .says = "Format of the source; default: detected."},                                                              \
        {.name = "provider",                                                                                           \
         .kind = FIELD_TEXT,                                                                                           \
         .offset = offsetof(struct add_query, options.provider),                                                       \
         .max = WT_MAX_NAME_BYTES,                                                                                     \
         .says = "Provider of the tools, overriding the source's own."},                                               \
        {.name = "source",                                                                                             \
         .kind = FIELD_TEXT,                                                                                           \
         .offset = offsetof(struct add_query, options.source_name),                                                    \
         .max = WT_MAX_NAME_BYTES,                                                                                     \
         .says = "Name of the source, for sync."},                                                                     \
        FLAG_FIELD(add_query, sync, "sync",                                                                            \
                   "Remove tools of earlier imports of the same source that this one lacks. Requires source."),        \
        FLAG_FIELD(add_query, strict, "strict", "A bad tool fails the whole import."),                                 \
        FLAG_FIELD(add_query, no_vectors, "no_vectors",                                                                \
                   "Do not encode now; until later the tools are found by words only.")

static const struct field add_body_items[] = {
    {.name = "tools",
     .kind = FIELD_ANY,
     .required = true,
     .offset = offsetof(struct add_query, tools),
     .schema = "\"type\":[\"array\",\"object\",\"string\"]",
     .says = "The source in any format: a JSON value, or a string with its text."},
    ADD_FIELDS};

static const struct field add_items[] = {ADD_FIELDS};
const struct fields wt__add_fields = TABLE(add_items);

static int check_sync(const struct add_query *query, wt_error *err)
{
    if (query->options.sync && !query->options.source_name)
        return wt__fail_at(err, WT_EINVAL, 0, 0, "/source",
                           "sync requires source, the name of the import to synchronise");
    return 0;
}

int wt__add_query_read(struct add_query *out, struct str query, wt_error *err)
{
    *out = (struct add_query){0};
    wt_add_options_init(&out->options);
    WT_TRY(wt__query_read(&out->body, query, wt__add_fields, out, err));
    return check_sync(out, err);
}

int wt__add_body_read(struct add_query *out, struct str json, wt_error *err)
{
    *out = (struct add_query){0};
    wt_add_options_init(&out->options);
    WT_TRY(wt__body_read(&out->body, json, (struct fields)TABLE(add_body_items), out, err));
    return check_sync(out, err);
}

static const struct field remove_items[] = {
    {.name = "provider",
     .kind = FIELD_TEXT,
     .required = true,
     .offset = offsetof(struct remove_query, provider),
     .max = WT_MAX_NAME_BYTES,
     .says = "The provider whose tools are removed."},
};
const struct fields wt__remove_fields = TABLE(remove_items);

int wt__remove_query_read(struct remove_query *out, struct str query, wt_error *err)
{
    *out = (struct remove_query){0};
    return wt__query_read(&out->body, query, wt__remove_fields, out, err);
}

static const struct field remove_body_items[] = {
    TOOL_NAME_FIELD(remove_query, false),
    {.name = "provider",
     .kind = FIELD_TEXT,
     .offset = offsetof(struct remove_query, provider),
     .max = WT_MAX_NAME_BYTES,
     .says = "The provider whose tools are removed."},
};

int wt__remove_body_read(struct remove_query *out, struct str json, wt_error *err)
{
    *out = (struct remove_query){0};
    WT_TRY(wt__body_read(&out->body, json, (struct fields)TABLE(remove_body_items), out, err));
    if (!out->name == !out->provider)
        return wt__fail_at(err, WT_EINVAL, 0, 0, "",
                           "give either name, for one tool, or provider, for all of its tools");
    return 0;
}

static int fail_at_member(wt_error *err, int code, const char *member, size_t index, const char *why)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, index == SIZE_MAX ? "/%s" : "/%s/%zu", member, index);
    return wt__fail_at(err, code, 0, 0, pointer, "%s %s", pointer + 1, why);
}

/* ---------------------------------------------------------------- recorded usage */

static const struct field usage_items[] = {
    {.name = "id",
     .kind = FIELD_TEXT,
     .offset = offsetof(struct batch_query, id),
     .max = WIRE_BATCH_ID_BYTES_MAX,
     .says = "Id of the batch, chosen by the client. A batch that is sent again is not recorded twice."},
};
const struct fields wt__usage_fields = TABLE(usage_items);

int wt__batch_query_read(struct batch_query *out, struct str query, wt_error *err)
{
    *out = (struct batch_query){.id = ""};
    return wt__query_read(&out->body, query, wt__usage_fields, out, err);
}

static const struct field usages_items[] = {
    {.name = "usages",
     .kind = FIELD_ANY,
     .required = true,
     .offset = offsetof(struct usages_body, usages),
     .schema = "\"type\":\"array\",\"items\":{\"type\":\"object\"}",
     .says = "Usages, each with request and tools; outcome, time, client and key are optional."},
};

int wt__usages_body_read(struct usages_body *out, struct str json, wt_error *err)
{
    *out = (struct usages_body){0};
    WT_TRY(wt__body_read(&out->body, json, (struct fields)TABLE(usages_items), out, err));
    size_t count = json_array_size(out->usages);
    if (!json_is_array(out->usages) || count == 0 || count > WIRE_TEXTS_MAX)
        return fail_at_member(err, WT_EINVAL, "usages", SIZE_MAX, "must be an array of 1 to 1000 objects");
    return 0;
}

/* ---------------------------------------------------------------- formats of other APIs */

/* Reads an array of strings, or of objects with a string `text`. */
static int read_input_texts(struct body *body, const json_t *list, const char *member, struct texts *out, wt_error *err)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > WIRE_TEXTS_MAX)
        return fail_at_member(err, WT_EINVAL, member, SIZE_MAX, "must be an array of 1 to 1000 strings");
    const char **items = wt__arena_array(&body->arena, const char *, count);
    WT_CHECK_ALLOC(items, err);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        const json_t *text = json_is_object(item) ? json_object_get(item, "text") : item;
        if (!json_is_string(text))
            return fail_at_member(err, WT_EINVAL, member, i, "must be a string; arrays of tokens are not supported");
        if (json_string_length(text) > WIRE_TEXT_BYTES_MAX)
            return fail_at_member(err, WT_ETOOLONG, member, i, "has more than 65536 bytes");
        items[i] = json_string_value(text);
    }
    *out = (struct texts){items, count};
    return 0;
}

static const struct field embeddings_items[] = {
    {.name = "input",
     .kind = FIELD_ANY,
     .required = true,
     .offset = offsetof(struct embeddings_body, input),
     .schema =
         "\"anyOf\":[{\"type\":\"string\",\"maxLength\":65536},{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,"
         "\"items\":{\"type\":\"string\",\"maxLength\":65536}}]",
     .says = "One text, or up to 1,000."},
    {.name = "model",
     .kind = FIELD_TEXT,
     .required = true,
     .offset = offsetof(struct embeddings_body, model),
     .max = WT_MAX_NAME_BYTES,
     .says = "The encoder's name, as in the answer, or \"default\"."},
    {.name = "encoding_format",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct embeddings_body, encoding),
     .choices = "float base64",
     .says = "Numbers (default), or little-endian floats as base64."},
    {.name = "dimensions",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct embeddings_body, dimensions),
     .min = 1,
     .max = 65536,
     .says = "Number of dimensions to keep, normalised again; default: all."},
    {.name = "user",
     .kind = FIELD_TEXT,
     .offset = offsetof(struct embeddings_body, user),
     .max = WT_MAX_NAME_BYTES,
     .says = "Ignored."},
};
const struct fields wt__embeddings_fields = TABLE(embeddings_items);

int wt__embeddings_body_read(struct embeddings_body *out, struct str json, wt_error *err)
{
    *out = (struct embeddings_body){0};
    WT_TRY(wt__body_read(&out->body, json, wt__embeddings_fields, out, err));
    if (!json_is_string(out->input))
        return read_input_texts(&out->body, out->input, "input", &out->texts, err);
    if (json_string_length(out->input) > WIRE_TEXT_BYTES_MAX)
        return fail_at_member(err, WT_ETOOLONG, "input", SIZE_MAX, "has more than 65536 bytes");
    const char **one = wt__arena_array(&out->body.arena, const char *, 1);
    WT_CHECK_ALLOC(one, err);
    one[0] = json_string_value(out->input);
    out->texts = (struct texts){one, 1};
    return 0;
}

static const struct field rerank_items[] = {
    {.name = "query",
     .kind = FIELD_TEXT,
     .required = true,
     .offset = offsetof(struct rerank_body, query),
     .max = WIRE_TEXT_BYTES_MAX,
     .says = "The request to rank the documents for."},
    {.name = "documents",
     .kind = FIELD_ANY,
     .required = true,
     .offset = offsetof(struct rerank_body, documents_json),
     .schema =
         "\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,\"items\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":"
         "\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"}}}]}",
     .says = "Up to 1,000 texts, or objects with a text."},
    {.name = "model",
     .kind = FIELD_TEXT,
     .offset = offsetof(struct rerank_body, model),
     .max = WT_MAX_NAME_BYTES,
     .says = "The encoder's name, or \"default\"."},
    {.name = "top_n",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct rerank_body, top_n),
     .min = 1,
     .max = UINT32_MAX,
     .says = "Maximum number of results; default: all."},
    {.name = "return_documents",
     .kind = FIELD_FLAG,
     .offset = offsetof(struct rerank_body, return_documents),
     .says = "Include the document in each result."},
    {.name = "max_tokens_per_doc",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct rerank_body, max_tokens_per_document),
     .max = UINT32_MAX,
     .says = "Ignored: the encoder reads as much of a document as it can."},
    {.name = "priority",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct rerank_body, priority),
     .max = UINT32_MAX,
     .says = "Ignored."},
};
const struct fields wt__rerank_fields = TABLE(rerank_items);

int wt__rerank_body_read(struct rerank_body *out, struct str json, wt_error *err)
{
    *out = (struct rerank_body){0};
    WT_TRY(wt__body_read(&out->body, json, wt__rerank_fields, out, err));
    return read_input_texts(&out->body, out->documents_json, "documents", &out->documents, err);
}
