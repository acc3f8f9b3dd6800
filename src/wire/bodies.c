/* bodies.c: field tables of find, pick, call, the catalogue, recorded usage, and formats of other APIs. The texts of
 * the fields also appear in the API description and in docs/serving.md. */
#include "wire/bodies.h"

#include <stdio.h>

#include "base/memory.h"
#include "import/formats.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TABLE(array)                                                                                                   \
    {                                                                                                                  \
        (array), COUNT(array)                                                                                          \
    }
/* The table of a query: the rows of the JSON body without the first. Queries lack this member. */
#define TABLE_OF_QUERY(array)                                                                                          \
    {                                                                                                                  \
        (array) + 1, COUNT(array) - 1                                                                                  \
    }

/* Rows: kind, JSON name, struct and member that receive the value, then the limits and the description. */
#define FIELD(kind_name, json_name, type, member, least, most, text)                                                   \
    {                                                                                                                  \
        .name = (json_name), .kind = FIELD_##kind_name, .offset = offsetof(struct type, member), .min = (least),       \
        .max = (most), .says = (text)                                                                                  \
    }
#define FLAG(json_name, type, member, text) FIELD(FLAG, json_name, type, member, 0, 0, text)
#define TEXT(json_name, type, member, most, text) FIELD(TEXT, json_name, type, member, 0, most, text)
#define REQUIRED_TEXT(json_name, type, member, most, text)                                                             \
    {                                                                                                                  \
        .name = (json_name), .kind = FIELD_TEXT, .required = true, .offset = offsetof(struct type, member),            \
        .max = (most), .says = (text)                                                                                  \
    }
#define CHOICE(json_name, type, member, words, text)                                                                   \
    {                                                                                                                  \
        .name = (json_name), .kind = FIELD_CHOICE, .offset = offsetof(struct type, member), .choices = (words),        \
        .says = (text)                                                                                                 \
    }
#define TEXTS(json_name, member, most, item_bytes, text)                                                               \
    {                                                                                                                  \
        .name = (json_name), .kind = FIELD_TEXTS, .offset = offsetof(struct asked_body, member), .max = (most),        \
        .bytes = (item_bytes), .says = (text)                                                                          \
    }
#define REQUIRED_ANY(json_name, type, member, json_schema, text)                                                       \
    {                                                                                                                  \
        .name = (json_name), .kind = FIELD_ANY, .required = true, .offset = offsetof(struct type, member),             \
        .schema = (json_schema), .says = (text)                                                                        \
    }

/* ---------------------------------------------------------------- find, pick, call */

static const struct field filter_fields[] = {
    TEXTS("providers", providers, WT_MAX_FILTER_ITEMS, WT_MAX_NAME_BYTES, "Only tools of these providers."),
    TEXTS("exclude_providers", excluded_providers, WT_MAX_FILTER_ITEMS, WT_MAX_NAME_BYTES,
          "No tools of these providers."),
    TEXTS("only", only, WT_MAX_FILTER_ITEMS, WT_MAX_PATTERN_BYTES,
          "Only tools that match one of these patterns, such as \"github/get_*\": * matches any characters, ? one. A "
          "pattern must match the whole name, or, if it has a /, provider/name."),
    TEXTS("exclude", excluded, WT_MAX_FILTER_ITEMS, WT_MAX_PATTERN_BYTES,
          "No tools that match one of these patterns, such as \"delete_*\"."),
};

#define QUERY_FIELD                                                                                                    \
    TEXT("query", asked_body, query, WT_MAX_REQUEST_BYTES, "The request, in words; with messages, an additional turn.")
#define MESSAGES_FIELD                                                                                                 \
    FIELD(TREE, "messages", asked_body, messages, 0, WT_MAX_MESSAGES_BYTES,                                            \
          "A conversation as the request, in the messages of OpenAI's or Anthropic's API, or plain. The user's last "  \
          "turn is the request; earlier turns are its context.")
#define HAVE_FIELD                                                                                                     \
    TEXTS("have", have, WT_MAX_KEPT, WT_MAX_REQUEST_BYTES,                                                             \
          "Tools that are already loaded, by name; always included, without using one of the k places.")
#define FILTER_FIELD                                                                                                   \
    {                                                                                                                  \
        .name = "filter", .kind = FIELD_OBJECT, .members = filter_fields, .member_count = COUNT(filter_fields),        \
        .says = "Restricts the tools that may be found; only allowed tools count towards k."                           \
    }
#define RECIPE_FIELD(type, text) TEXT("recipe", type, options.recipe, 64, text)
#define EXPLAIN_FIELD(type) FLAG("explain", type, options.explain, "Explain each hit: stages and matched words.")
#define AS_TYPED_FIELD(type)                                                                                           \
    FLAG("as_typed", type, options.as_typed, "Do not correct words of the request, and do not shorten a long one.")
#define TIME_LIMIT_FIELD(type)                                                                                         \
    FIELD(MS, "time_limit_ms", type, options.time_limit_ms, 1, WIRE_TIME_LIMIT_MS_MAX,                                 \
          "Time limit in milliseconds, then status 504. The server's own limit applies if it is smaller.")
#define DEFINITIONS_FIELD(type)                                                                                        \
    CHOICE("format", type, definitions, WIRE_EXPORT_FORMATS " " WIRE_LOADING_FORMATS,                                  \
           "Adds the member definitions: the hits' definitions as this provider's API accepts them.")
#define MAX_TOKENS_FIELD(type)                                                                                         \
    FIELD(COUNT, "max_tokens", type, options.max_tokens, 1, UINT32_MAX,                                                \
          "Token budget for the hits' definitions in this format (default openai), estimated as a quarter of their "   \
          "bytes.")

static const struct field find_items[] = {
    QUERY_FIELD,
    MESSAGES_FIELD,
    HAVE_FIELD,
    FIELD(COUNT, "k", find_body, options.k, 1, WT_MAX_K, "Maximum number of tools; default 5."),
    RECIPE_FIELD(find_body, "How to search: a name of /v1/recipes; default: the best that the store can run."),
    FILTER_FIELD,
    FIELD(COUNT, "max_per_provider", find_body, options.max_per_provider, 1, WT_MAX_K,
          "Maximum number of tools per provider."),
    MAX_TOKENS_FIELD(find_body),
    FIELD(
        SHARE, "abstain", find_body, options.abstain, 0, 0,
        "Return no tools if probably none fits. At most this share of requests with a fitting tool, such as 0.05, gets "
        "none by mistake. Only without recipe."),
    FLAG("none_if_unsure", find_body, options.none_if_unsure, "Omit weak hits; the result may be empty."),
    FLAG("all_copies", find_body, options.copies, "Give each copy of a tool a place of its own."),
    AS_TYPED_FIELD(find_body),
    EXPLAIN_FIELD(find_body),
    DEFINITIONS_FIELD(find_body),
    TIME_LIMIT_FIELD(find_body),
};
const struct fields wt__find_fields = TABLE(find_items);

static const struct field pick_items[] = {
    QUERY_FIELD,
    MESSAGES_FIELD,
    HAVE_FIELD,
    RECIPE_FIELD(pick_body, "set (when absent), bundle, or ptr, which asks the server's language model."),
    TEXT("base_retriever", pick_body, options.base_retriever, 64,
         "Recipe of find that finds tools for ptr and bundle."),
    FILTER_FIELD,
    FIELD(SHARE, "complete", pick_body, options.complete, 0, 0,
          "Return as many tools as needed for a complete set in this share of requests. Requires training."),
    FIELD(RATE, "abstain", pick_body, options.abstain, 0, 0,
          "Share of requests with a fitting tool that may get none, in exchange for fewer wrong tools; default 0.05; 0 "
          "turns this off. Only with the recipe set."),
    MAX_TOKENS_FIELD(pick_body),
    AS_TYPED_FIELD(pick_body),
    EXPLAIN_FIELD(pick_body),
    DEFINITIONS_FIELD(pick_body),
    TIME_LIMIT_FIELD(pick_body),
};
const struct fields wt__pick_fields = TABLE(pick_items);

static const struct field call_items[] = {
    REQUIRED_TEXT("query", asked_body, query, WT_MAX_REQUEST_BYTES, "The request, in words."),
    TEXT("tool", call_body, options.tool, WT_MAX_REQUEST_BYTES, "The tool to call, by name; default: the best fit."),
    RECIPE_FIELD(call_body, "Recipe of find that finds the candidates."),
    FILTER_FIELD,
    FIELD(
        RATE, "abstain", call_body, options.abstain, 0, 0,
        "Share of requests with a fitting tool that may get no call, in exchange for fewer wrong calls; default 0.05, "
        "with language_model 0; 0 turns this off. Only without recipe."),
    FIELD(COUNT, "candidates", call_body, options.candidates, 1, WT_MAX_CALL_CANDIDATES,
          "Number of first hits to choose from; default 8, with language_model 20."),
    FLAG("language_model", call_body, options.language_model,
         "The server's language model chooses the tool, writes the arguments and verifies both."),
    AS_TYPED_FIELD(call_body),
    FLAG("explain", call_body, options.explain, "Explain how the call was made, in the member steps."),
    CHOICE("format", call_body, options.form, "arguments " WIRE_EXPORT_FORMATS,
           "Adds the member call: the call in the format of this provider's API."),
    TIME_LIMIT_FIELD(call_body),
};
const struct fields wt__call_fields = TABLE(call_items);

/* Parses the body of find, pick or call. asked: the first member of the struct that `fields` fills. */
static int read_asked_body(struct asked_body *asked, struct str json, struct fields fields, wt_error *err)
{
    WT_TRY(wt__body_read(&asked->body, json, fields, asked, err));
    if (!asked->messages && wt__str_trim(wt__str(asked->query)).len == 0)
        return wt__fail_at(err, WT_EINVAL, 0, 0, "/query", "the request is empty; set query or messages");
    wt_filter_init(&asked->filter);
    asked->filter.providers = asked->providers.items;
    asked->filter.provider_count = asked->providers.count;
    asked->filter.excluded_providers = asked->excluded_providers.items;
    asked->filter.excluded_provider_count = asked->excluded_providers.count;
    asked->filter.only = asked->only.items;
    asked->filter.only_count = asked->only.count;
    asked->filter.excluded = asked->excluded.items;
    asked->filter.excluded_count = asked->excluded.count;
    return 0;
}

int wt__find_body_read(struct find_body *out, struct str json, wt_error *err)
{
    *out = (struct find_body){0};
    wt_find_options_init(&out->options);
    WT_TRY(read_asked_body(&out->asked, json, wt__find_fields, err));
    out->options.filter = &out->asked.filter;
    out->options.format = out->definitions;
    out->options.have = out->asked.have.items;
    out->options.have_count = out->asked.have.count;
    return 0;
}

int wt__pick_body_read(struct pick_body *out, struct str json, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer messages = {0};
    *out = (struct pick_body){0};
    wt_pick_options_init(&out->options);
    WT_TRY(read_asked_body(&out->asked, json, wt__pick_fields, err));
    out->options.filter = &out->asked.filter;
    out->options.format = out->definitions;
    out->options.have = out->asked.have.items;
    out->options.have_count = out->asked.have.count;
    if (!out->asked.messages)
        return 0;
    wt__json_write(&messages, out->asked.messages);
    out->options.messages = messages.failed ? NULL : wt__arena_copy(&out->asked.body.arena, wt__buffer_view(&messages));
    out->options.messages_len = messages.len;
    WT_CHECK_ALLOC(out->options.messages, err);
    return 0;
}

int wt__call_body_read(struct call_body *out, struct str json, wt_error *err)
{
    *out = (struct call_body){0};
    wt_call_options_init(&out->options);
    WT_TRY(read_asked_body(&out->asked, json, wt__call_fields, err));
    out->options.filter = &out->asked.filter;
    return 0;
}

/* ---------------------------------------------------------------- the catalogue */

static const struct field list_items[] = {
    TEXT("provider", list_query, options.provider, WT_MAX_NAME_BYTES, "Only tools of this provider."),
    TEXT("pattern", list_query, options.pattern, WT_MAX_PATTERN_BYTES,
         "Only matching tools: a part of the id, or with * or ? a pattern for the whole name."),
    FIELD(COUNT, "limit", list_query, options.limit, 1, WIRE_LIST_MAX,
          "Maximum number of tools per page; default 100."),
    FIELD(COUNT, "offset", list_query, options.offset, 0, WT_MAX_TOOLS,
          "Number of tools to skip: next_offset of the previous page."),
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

#define TOOL_NAME "The tool's name: an id, an exported name, or a unique bare name."

static const struct field show_items[] = {
    REQUIRED_TEXT("name", show_query, name, WT_MAX_REQUEST_BYTES, TOOL_NAME),
    CHOICE("format", show_query, definition, WIRE_EXPORT_FORMATS " " WIRE_LOADING_FORMATS,
           "Return only the definition, as this provider's API accepts it."),
};
const struct fields wt__show_fields = TABLE_OF_QUERY(show_items);

int wt__show_body_read(struct show_query *out, struct str json, wt_error *err)
{
    *out = (struct show_query){0};
    return wt__body_read(&out->body, json, (struct fields)TABLE(show_items), out, err);
}

int wt__show_query_read(struct show_query *out, struct str query, wt_error *err)
{
    *out = (struct show_query){0};
    return wt__query_read(&out->body, query, wt__show_fields, out, err);
}

static const struct field add_items[] = {
    REQUIRED_ANY("tools", add_query, tools, "\"type\":[\"array\",\"object\",\"string\"]",
                 "The source in any format: a JSON value, or a string with its text."),
    CHOICE("format", add_query, options.format, IMPORT_FORMAT_NAMES, "Format of the source; default: detected."),
    TEXT("provider", add_query, options.provider, WT_MAX_NAME_BYTES,
         "Provider of the tools, overriding the source's own."),
    TEXT("source", add_query, options.source_name, WT_MAX_NAME_BYTES, "Name of the source, for sync."),
    FLAG("sync", add_query, options.sync,
         "Remove tools of earlier imports of the same source that this one lacks. Requires source."),
    FLAG("strict", add_query, options.strict, "A bad tool fails the whole import."),
    FLAG("no_vectors", add_query, options.no_vectors,
         "Do not encode now; until later the tools are found by words only."),
};
const struct fields wt__add_fields = TABLE_OF_QUERY(add_items);

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
    WT_TRY(wt__body_read(&out->body, json, (struct fields)TABLE(add_items), out, err));
    return check_sync(out, err);
}

#define REMOVED_PROVIDER "The provider whose tools are removed."

static const struct field remove_items[] = {
    REQUIRED_TEXT("provider", remove_query, provider, WT_MAX_NAME_BYTES, REMOVED_PROVIDER)};
const struct fields wt__remove_fields = TABLE(remove_items);

int wt__remove_query_read(struct remove_query *out, struct str query, wt_error *err)
{
    *out = (struct remove_query){0};
    return wt__query_read(&out->body, query, wt__remove_fields, out, err);
}

static const struct field remove_body_items[] = {
    TEXT("name", remove_query, name, WT_MAX_REQUEST_BYTES, TOOL_NAME),
    TEXT("provider", remove_query, provider, WT_MAX_NAME_BYTES, REMOVED_PROVIDER),
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

/* ---------------------------------------------------------------- recorded usage */

static const struct field usage_items[] = {
    TEXT("id", batch_query, id, WIRE_BATCH_ID_BYTES_MAX,
         "Id of the batch, chosen by the client. A batch that is sent again is not recorded twice."),
};
const struct fields wt__usage_fields = TABLE(usage_items);

int wt__batch_query_read(struct batch_query *out, struct str query, wt_error *err)
{
    *out = (struct batch_query){.id = ""};
    return wt__query_read(&out->body, query, wt__usage_fields, out, err);
}

static const struct field usages_items[] = {
    REQUIRED_ANY("usages", usages_body, usages, "\"type\":\"array\",\"items\":{\"type\":\"object\"}",
                 "Usages, each with request and tools; outcome, time, client and key are optional."),
};

/* Fails with "MEMBER WHY" or "MEMBER/INDEX WHY" and that JSON pointer. index: SIZE_MAX for the member itself. */
static int fail_at_member(wt_error *err, int code, const char *member, size_t index, const char *why)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, index == SIZE_MAX ? "/%s" : "/%s/%zu", member, index);
    return wt__fail_at(err, code, 0, 0, pointer, "%s %s", pointer + 1, why);
}

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
    REQUIRED_ANY(
        "input", embeddings_body, input,
        "\"anyOf\":[{\"type\":\"string\",\"maxLength\":65536},{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,"
        "\"items\":{\"type\":\"string\",\"maxLength\":65536}}]",
        "One text, or up to 1,000."),
    REQUIRED_TEXT("model", embeddings_body, model, WT_MAX_NAME_BYTES,
                  "The encoder's name, as in the answer, or \"default\"."),
    CHOICE("encoding_format", embeddings_body, encoding, "float base64",
           "Numbers (default), or little-endian floats as base64."),
    FIELD(COUNT, "dimensions", embeddings_body, dimensions, 1, 65536,
          "Number of dimensions to keep, normalised again; default: all."),
    TEXT("user", embeddings_body, user, WT_MAX_NAME_BYTES, "Ignored."),
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
    REQUIRED_TEXT("query", rerank_body, query, WIRE_TEXT_BYTES_MAX, "The request to rank the documents for."),
    REQUIRED_ANY(
        "documents", rerank_body, documents_json,
        "\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,\"items\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":"
        "\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"}}}]}",
        "Up to 1,000 texts, or objects with a text."),
    TEXT("model", rerank_body, model, WT_MAX_NAME_BYTES, "The encoder's name, or \"default\"."),
    FIELD(COUNT, "top_n", rerank_body, top_n, 1, UINT32_MAX, "Maximum number of results; default: all."),
    FLAG("return_documents", rerank_body, return_documents, "Include the document in each result."),
    FIELD(COUNT, "max_tokens_per_doc", rerank_body, max_tokens_per_document, 0, UINT32_MAX,
          "Ignored: the encoder reads as much of a document as it can."),
    FIELD(COUNT, "priority", rerank_body, priority, 0, UINT32_MAX, "Ignored."),
};
const struct fields wt__rerank_fields = TABLE(rerank_items);

int wt__rerank_body_read(struct rerank_body *out, struct str json, wt_error *err)
{
    *out = (struct rerank_body){0};
    WT_TRY(wt__body_read(&out->body, json, wt__rerank_fields, out, err));
    return read_input_texts(&out->body, out->documents_json, "documents", &out->documents, err);
}

/* The schemas of the questions. Texts may also be parts of messages, or JSON. */
#define WORDS_SCHEMA "{\"type\":[\"string\",\"array\",\"object\",\"null\"]}"
#define OPTIONS_SCHEMA(key, value)                                                                                     \
    "{\"type\":\"array\",\"minItems\":2,\"maxItems\":255,\"items\":{\"type\":\"object\",\"required\":[\"" key          \
    "\"],\"properties\":{\"" key "\":" value ",\"description\":{\"type\":\"string\"}}}}"

static const struct field decisions_items[] = {
    REQUIRED_ANY("input", decisions_body, input, "\"type\":[\"string\",\"array\"]",
                 "A text, or messages; the last message of the user is read, without images."),
    REQUIRED_ANY(
        "questions", decisions_body, questions,
        "\"type\":\"array\",\"minItems\":1,\"maxItems\":400,\"items\":{\"type\":\"object\",\"required\":["
        "\"type\",\"instructions\"],\"properties\":{\"type\":{\"enum\":[\"predicate\",\"choice\",\"score\"]},"
        "\"name\":{\"type\":\"string\"},\"instructions\":" WORDS_SCHEMA
        ",\"choices\":" OPTIONS_SCHEMA("value", "{\"type\":[\"string\",\"boolean\"]}") ",\"levels\":" OPTIONS_SCHEMA(
            "label", "{\"type\":\"string\"}") "}}",
        "Questions about the input, with up to 1,000 options together."),
    REQUIRED_TEXT("model", decisions_body, model, WT_MAX_NAME_BYTES, "The encoder's name, or \"default\"."),
    TEXT("prompt_cache_key", decisions_body, cache_key, WIRE_TEXT_BYTES_MAX, "Ignored."),
    FIELD(TREE, "prompt_cache_options", decisions_body, cache_options, 0, WIRE_TEXT_BYTES_MAX, "Ignored."),
    TEXT("safety_identifier", decisions_body, safety_identifier, WIRE_TEXT_BYTES_MAX, "Ignored."),
};
const struct fields wt__decisions_fields = TABLE(decisions_items);

int wt__decisions_body_read(struct decisions_body *out, struct str json, wt_error *err)
{
    *out = (struct decisions_body){0};
    return wt__body_read(&out->body, json, wt__decisions_fields, out, err);
}

static const struct field system_one_items[] = {
    REQUIRED_ANY("state", system_one_body, state, "\"type\":[\"string\",\"array\",\"object\"]",
                 "What the questions are about: a text, or JSON whose strings are read."),
    REQUIRED_ANY(
        "questions", system_one_body, questions,
        "\"type\":\"object\",\"minProperties\":1,\"maxProperties\":400,\"additionalProperties\":{\"type\":"
        "\"object\",\"required\":[\"type\"],\"properties\":{\"type\":{\"enum\":[\"noul\",\"choice\",\"score\"]},"
        "\"instructions\":" WORDS_SCHEMA ",\"criteria\":{\"type\":[\"object\",\"array\",\"null\"]}}}",
        "Questions by name, with up to 1,000 options together."),
    TEXT("model", system_one_body, model, WT_MAX_NAME_BYTES, "The encoder's name, or \"default\"."),
};
const struct fields wt__system_one_fields = TABLE(system_one_items);

int wt__system_one_body_read(struct system_one_body *out, struct str json, wt_error *err)
{
    *out = (struct system_one_body){0};
    return wt__body_read(&out->body, json, wt__system_one_fields, out, err);
}
