/* bodies_other.c: bodies other than options of the library: recorded usage, and formats of other APIs. Members of those
 * without meaning here, such as "user", are accepted and ignored. */
#include "wire/bodies.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TABLE(array)                                                                                                   \
    {                                                                                                                  \
        (array), COUNT(array)                                                                                          \
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
     .says = "Of these usages together, chosen by the client: when they are reported again by it, none is recorded "
             "twice."},
};
const struct fields wt__usage_fields = TABLE(usage_items);

int wt__batch_query_read(struct batch_query *out, struct str query, wt_error *err)
{
    *out = (struct batch_query){.id = ""};
    return wt__query_read(&out->body, query, wt__usage_fields, out, err);
}

/* ---------------------------------------------------------------- formats of other APIs */

/* Reads an array of strings, or of objects with a string `text`. */
static int read_input_texts(struct body *body, const json_t *list, const char *member, struct texts *out, wt_error *err)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > WIRE_TEXTS_MAX)
        return fail_at_member(err, WT_EINVAL, member, SIZE_MAX, "must be an array of 1 to 1000 strings");
    const char **items = wt__arena_array(&body->arena, const char *, count);
    if (!items)
        return wt__fail_nomem(err);
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
     .says = "The encoder's name, as the answer has it, or \"default\"."},
    {.name = "encoding_format",
     .kind = FIELD_CHOICE,
     .offset = offsetof(struct embeddings_body, encoding),
     .choices = "float base64",
     .says = "Numbers (when absent), or the little-endian floats as base64."},
    {.name = "dimensions",
     .kind = FIELD_COUNT,
     .offset = offsetof(struct embeddings_body, dimensions),
     .min = 1,
     .max = 65536,
     .says = "The first so many numbers of each vector, at unit length again; all when absent."},
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
    int rc = wt__body_read(&out->body, json, wt__embeddings_fields, out, err);
    if (rc < 0)
        return rc;
    if (!json_is_string(out->input))
        return read_input_texts(&out->body, out->input, "input", &out->texts, err);
    if (json_string_length(out->input) > WIRE_TEXT_BYTES_MAX)
        return fail_at_member(err, WT_ETOOLONG, "input", SIZE_MAX, "has more than 65536 bytes");
    const char **one = wt__arena_array(&out->body.arena, const char *, 1);
    if (!one)
        return wt__fail_nomem(err);
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
     .says = "Number of results; all when absent."},
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
    int rc = wt__body_read(&out->body, json, wt__rerank_fields, out, err);
    return rc < 0 ? rc : read_input_texts(&out->body, out->documents_json, "documents", &out->documents, err);
}
