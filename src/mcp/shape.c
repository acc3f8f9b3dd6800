/* shape.c: the shapes of MCP's messages, and their check. A shape is a list of members. One member may be a tag, whose
 * value selects a further shape for the same object, such as "type" of a content block. */
#include "mcp/shape.h"

#include "base/json_scan.h"

/* Types of JSON values, as bits. REQUIRED marks a member that must be present. */
enum {
    IS_OBJECT = 1,
    IS_ARRAY = 2,
    IS_STRING = 4,
    IS_NUMBER = 8,
    IS_INTEGER = 16,
    IS_BOOLEAN = 32,
    IS_NULL = 64,
    IS_ANY = 127,
    REQUIRED = 128,
};

enum { SHAPE_MEMBERS_MAX = 16 };

struct shape;

struct shape_member {
    const char *name;
    unsigned types;            /* bits of the enum above */
    unsigned elements;         /* allowed types of an array's elements or an object's values; 0 for any */
    const struct shape *inner; /* shape of an object or of each element; NULL for any */
};

struct shape_variant {
    const char *value; /* value of the tag; NULL ends the list */
    const struct shape *shape;
};

struct shape {
    const struct shape_member *members; /* ends with a NULL name; at most SHAPE_MEMBERS_MAX */
    const char *tag;                    /* name of the tag; NULL if the shape has none */
    const struct shape_variant *variants;
    const char *either[2]; /* members of which at least one is required; NULL if there is no such pair */
};

/* Rows of a list of members. The parameters are the fields of struct shape_member. Rows of NEEDED and NEEDED_LIST are
 * required members; rows of LIST and NEEDED_LIST are arrays. */
#define OPTIONAL(name, types) FULL(name, types, 0, NULL)
#define NEEDED(name, types) FULL(name, (types) | REQUIRED, 0, NULL)
#define NESTED(name, types, inner) FULL(name, types, 0, inner)
#define LIST(name, elements, inner) FULL(name, IS_ARRAY, elements, inner)
#define NEEDED_LIST(name, elements, inner) FULL(name, IS_ARRAY | REQUIRED, elements, inner)
#define FULL(name, types, elements, inner)                                                                             \
    {                                                                                                                  \
        name, types, elements, inner                                                                                   \
    }
#define META OPTIONAL("_meta", IS_OBJECT)
#define ANNOTATED NESTED("annotations", IS_OBJECT, &annotations), META
#define DESCRIBED OPTIONAL("title", IS_STRING), OPTIONAL("description", IS_STRING), LIST("icons", IS_OBJECT, &icon)

#define SHAPE(name, ...) FULL_SHAPE(name, NULL, NULL, NULL, NULL, __VA_ARGS__)
#define TAGGED_SHAPE(name, tag, variants, ...) FULL_SHAPE(name, tag, variants, NULL, NULL, __VA_ARGS__)
#define FULL_SHAPE(name, tag, variants, one, other, ...)                                                               \
    static const struct shape name = {                                                                                 \
        (const struct shape_member[]){__VA_ARGS__, FULL(NULL, 0, 0, NULL)}, tag, variants, {one, other}}

/* Shapes of contents. */
FULL_SHAPE(contents_of_resource, NULL, NULL, "text", "blob", NEEDED("uri", IS_STRING), OPTIONAL("mimeType", IS_STRING),
           OPTIONAL("text", IS_STRING), OPTIONAL("blob", IS_STRING), META);
SHAPE(annotations, LIST("audience", IS_STRING, NULL), OPTIONAL("priority", IS_NUMBER),
      OPTIONAL("lastModified", IS_STRING));
SHAPE(icon, NEEDED("src", IS_STRING), OPTIONAL("mimeType", IS_STRING), LIST("sizes", IS_STRING, NULL));
SHAPE(text_block, NEEDED("text", IS_STRING), ANNOTATED);
SHAPE(media_block, NEEDED("data", IS_STRING), NEEDED("mimeType", IS_STRING), ANNOTATED);
SHAPE(embedded_block, NESTED("resource", IS_OBJECT | REQUIRED, &contents_of_resource), ANNOTATED);
SHAPE(resource, NEEDED("uri", IS_STRING), NEEDED("name", IS_STRING), OPTIONAL("mimeType", IS_STRING),
      OPTIONAL("size", IS_NUMBER), DESCRIBED, ANNOTATED);
SHAPE(tool_use_block, NEEDED("id", IS_STRING), NEEDED("name", IS_STRING), NEEDED("input", IS_OBJECT), META);
SHAPE(tool_result_block, NEEDED("toolUseId", IS_STRING), NEEDED_LIST("content", IS_OBJECT, NULL),
      OPTIONAL("isError", IS_BOOLEAN), META);
SHAPE(no_members, META);

static const struct shape_variant blocks[] = {{"tool_use", &tool_use_block}, {"tool_result", &tool_result_block},
                                              {"text", &text_block},         {"image", &media_block},
                                              {"audio", &media_block},       {"resource_link", &resource},
                                              {"resource", &embedded_block}, {NULL, NULL}};
static const struct shape_variant roles[] = {{"user", &no_members}, {"assistant", &no_members}, {NULL, NULL}};
/* Only sampling messages may have blocks of tool calls. These blocks are the first two variants. */
TAGGED_SHAPE(sampled_block, "type", blocks, NEEDED("type", IS_STRING));
TAGGED_SHAPE(block, "type", blocks + 2, NEEDED("type", IS_STRING));
TAGGED_SHAPE(message, "role", roles, NEEDED("role", IS_STRING), NESTED("content", IS_OBJECT | REQUIRED, &block));
TAGGED_SHAPE(sampled_message, "role", roles, NEEDED("role", IS_STRING),
             FULL("content", IS_OBJECT | IS_ARRAY | REQUIRED, IS_OBJECT, &sampled_block));

/* Shapes of results and errors. */
SHAPE(called, NEEDED_LIST("content", IS_OBJECT, &block), OPTIONAL("isError", IS_BOOLEAN), META);
SHAPE(prompted, NEEDED_LIST("messages", IS_OBJECT, &message), OPTIONAL("description", IS_STRING), META);
SHAPE(contents_read, NEEDED_LIST("contents", IS_OBJECT, &contents_of_resource), OPTIONAL("ttlMs", IS_NUMBER),
      OPTIONAL("cacheScope", IS_STRING), META);
SHAPE(completion, NEEDED_LIST("values", IS_STRING, NULL), OPTIONAL("total", IS_NUMBER),
      OPTIONAL("hasMore", IS_BOOLEAN));
SHAPE(completed, NESTED("completion", IS_OBJECT | REQUIRED, &completion), META);
SHAPE(asking, OPTIONAL("inputRequests", IS_OBJECT), OPTIONAL("requestState", IS_STRING), META);
SHAPE(question, NEEDED("method", IS_STRING), OPTIONAL("params", IS_OBJECT));
SHAPE(refusal, NEEDED("code", IS_INTEGER), NEEDED("message", IS_STRING));

/* Shapes of questions, notifications and items of lists. */
SHAPE(elicitation, NEEDED("message", IS_STRING), OPTIONAL("requestedSchema", IS_OBJECT), OPTIONAL("mode", IS_STRING),
      OPTIONAL("url", IS_STRING), OPTIONAL("elicitationId", IS_STRING), META);
SHAPE(sampling, NEEDED_LIST("messages", IS_OBJECT, &sampled_message), NEEDED("maxTokens", IS_NUMBER),
      OPTIONAL("modelPreferences", IS_OBJECT), OPTIONAL("systemPrompt", IS_STRING),
      OPTIONAL("includeContext", IS_STRING), OPTIONAL("temperature", IS_NUMBER), LIST("stopSequences", IS_STRING, NULL),
      OPTIONAL("metadata", IS_OBJECT), LIST("tools", IS_OBJECT, NULL), OPTIONAL("toolChoice", IS_OBJECT), META);
SHAPE(progress, NEEDED("progress", IS_NUMBER), OPTIONAL("total", IS_NUMBER), OPTIONAL("message", IS_STRING));
SHAPE(log_line, NEEDED("level", IS_STRING), NEEDED("data", IS_ANY), OPTIONAL("logger", IS_STRING), META);
SHAPE(template_item, NEEDED("uriTemplate", IS_STRING), NEEDED("name", IS_STRING), OPTIONAL("mimeType", IS_STRING),
      DESCRIBED, ANNOTATED);
SHAPE(prompt_argument, NEEDED("name", IS_STRING), OPTIONAL("title", IS_STRING), OPTIONAL("description", IS_STRING),
      OPTIONAL("required", IS_BOOLEAN));
SHAPE(prompt_item, NEEDED("name", IS_STRING), LIST("arguments", IS_OBJECT, &prompt_argument), DESCRIBED, META);
SHAPE(tool_hints, OPTIONAL("title", IS_STRING), OPTIONAL("readOnlyHint", IS_BOOLEAN),
      OPTIONAL("destructiveHint", IS_BOOLEAN), OPTIONAL("idempotentHint", IS_BOOLEAN),
      OPTIONAL("openWorldHint", IS_BOOLEAN));
static const struct shape any_members = {
    (const struct shape_member[]){FULL(NULL, 0, 0, NULL)}, NULL, NULL, {NULL, NULL}};
static const struct shape_variant schema_types[] = {{"object", &any_members}, {NULL, NULL}};
TAGGED_SHAPE(input_schema, "type", schema_types, OPTIONAL("$schema", IS_STRING), NEEDED("type", IS_STRING),
             FULL("properties", IS_OBJECT, IS_OBJECT, NULL), LIST("required", IS_STRING, NULL));
SHAPE(tool_item, NEEDED("name", IS_STRING), NESTED("inputSchema", IS_OBJECT | REQUIRED, &input_schema),
      OPTIONAL("outputSchema", IS_OBJECT), NESTED("annotations", IS_OBJECT, &tool_hints), DESCRIBED, META);

static const struct shape_variant results[] = {{"tools/call", &called},
                                               {"prompts/get", &prompted},
                                               {"resources/read", &contents_read},
                                               {"completion/complete", &completed},
                                               {NULL, NULL}};
static const struct shape_variant questions[] = {
    {"elicitation/create", &elicitation}, {"sampling/createMessage", &sampling}, {NULL, NULL}};
static const struct shape_variant notices[] = {
    {"notifications/progress", &progress}, {"notifications/message", &log_line}, {NULL, NULL}};
static const struct shape_variant items[] = {{"tools", &tool_item},
                                             {"resources", &resource},
                                             {"resourceTemplates", &template_item},
                                             {"prompts", &prompt_item},
                                             {NULL, NULL}};

/* ---------------------------------------------------------------- checking */

static bool report_misfit(struct mcp_misfit *out, const char *member, const char *wanted)
{
    *out = (struct mcp_misfit){member, wanted};
    return false;
}

/* Returns the type bits of valid JSON text, by its first character. An integer is also a number. */
static unsigned type_of_json(struct str value)
{
    char first = value.len > 0 ? value.ptr[0] : '\0';
    static const char firsts[] = "{[\"tfn";
    static const unsigned types[] = {IS_OBJECT, IS_ARRAY, IS_STRING, IS_BOOLEAN, IS_BOOLEAN, IS_NULL};
    const char *known = first ? strchr(firsts, first) : NULL;
    if (known)
        return types[known - firsts];
    bool whole = value.len > 0;
    for (size_t i = 0; i < value.len; i++)
        whole &= wt__is_digit(value.ptr[i]) || value.ptr[i] == '-';
    return whole ? IS_NUMBER | IS_INTEGER : IS_NUMBER;
}

/* Returns the words for the first of the types. */
static const char *name_types(unsigned types)
{
    return types & IS_OBJECT    ? "an object"
           : types & IS_ARRAY   ? "an array"
           : types & IS_STRING  ? "a string"
           : types & IS_NUMBER  ? "a number"
           : types & IS_INTEGER ? "an integer"
                                : "true or false";
}

static bool object_fits(struct str object, const struct shape *shape, struct mcp_misfit *out);

/* Checks the elements of an array, or the values of an object with arbitrary names. */
static bool elements_fit(struct str container, const struct shape_member *member, struct mcp_misfit *out)
{
    struct json_scan scan;
    struct json_item item;
    if (member->elements == 0)
        return true;
    wt__json_scan_open(&scan, container, 0, 1);
    while (wt__json_scan_next(&scan, &item) > 0) {
        if (!(type_of_json(item.value) & member->elements))
            return report_misfit(out, member->name,
                                 !(member->types & IS_ARRAY)     ? "an object of objects"
                                 : member->elements == IS_OBJECT ? "an array of objects"
                                                                 : "an array of strings");
        if (member->inner && !object_fits(item.value, member->inner, out))
            return false;
    }
    return true;
}

static bool member_fits(struct str value, const struct shape_member *member, struct mcp_misfit *out)
{
    unsigned type = type_of_json(value), wanted = member->types;
    if (!(wanted & REQUIRED) && type == IS_NULL)
        return true;
    if (!(type & wanted))
        return report_misfit(out, member->name, name_types(wanted));
    if (type == IS_ARRAY || (type == IS_OBJECT && !member->inner))
        return elements_fit(value, member, out);
    return type != IS_OBJECT || object_fits(value, member->inner, out);
}

static const struct shape *find_shape_variant(const struct shape_variant *variants, struct str value)
{
    while (variants->value && !wt__str_equal(value, wt__str(variants->value)))
        variants++;
    return variants->shape;
}

/* Checks the members of an object. Rejects a repeated member, since parsers disagree on which copy counts. Sets *tag to
 * the value of the tag without quotes. */
static bool members_fit(struct str object, const struct shape *shape, struct str *tag, struct mcp_misfit *out)
{
    struct json_scan scan;
    struct json_item item;
    bool seen[SHAPE_MEMBERS_MAX] = {false}, has_either = !shape->either[0];
    wt__json_scan_open(&scan, object, 0, 1);
    while (wt__json_scan_next(&scan, &item) > 0) {
        for (size_t i = 0; shape->members[i].name; i++) {
            const struct shape_member *member = &shape->members[i];
            if (!wt__json_key_is(item.key, wt__str(member->name)))
                continue;
            if (seen[i])
                return report_misfit(out, member->name, "there once");
            seen[i] = true;
            if (!member_fits(item.value, member, out))
                return false;
            bool counts = type_of_json(item.value) != IS_NULL;
            has_either |= counts && shape->either[0] &&
                          (strcmp(member->name, shape->either[0]) == 0 || strcmp(member->name, shape->either[1]) == 0);
            if (shape->tag && strcmp(member->name, shape->tag) == 0)
                *tag = (struct str){item.value.ptr + 1, item.value.len - 2};
        }
    }
    for (size_t i = 0; shape->members[i].name; i++)
        if (!seen[i] && (shape->members[i].types & REQUIRED))
            return report_misfit(out, shape->members[i].name,
                                 (shape->members[i].types & IS_ANY) == IS_ANY ? "there"
                                                                              : name_types(shape->members[i].types));
    return has_either || report_misfit(out, shape->either[0], "a string");
}

static bool object_fits(struct str object, const struct shape *shape, struct mcp_misfit *out)
{
    struct str tag = {"", 0};
    if (type_of_json(object) != IS_OBJECT)
        return report_misfit(out, "", "an object");
    if (!members_fit(object, shape, &tag, out))
        return false;
    if (!shape->tag)
        return true;
    const struct shape *more = find_shape_variant(shape->variants, tag);
    return more ? object_fits(object, more, out) : report_misfit(out, shape->tag, "a known one");
}

/* Checks a value against the shape of the row `name`. If no row has this name, only the value's type and "_meta" are
 * checked. An empty value counts as {}. */
static bool fits_row(const struct shape_variant *rows, struct str name, struct str value, struct mcp_misfit *out)
{
    const struct shape *shape = find_shape_variant(rows, name);
    return object_fits(value.len > 0 ? value : STR("{}"), shape ? shape : &no_members, out);
}

/* Returns the first member of this name; empty if absent. */
static struct str find_member(struct str object, const char *name)
{
    struct json_scan scan;
    struct json_item item;
    wt__json_scan_open(&scan, object, 0, 1);
    while (wt__json_scan_next(&scan, &item) > 0)
        if (wt__json_key_is(item.key, wt__str(name)))
            return item.value;
    return STR("");
}

/* Checks a result that asks the client, and each of its questions. */
static bool questions_fit(struct str result, struct mcp_misfit *out)
{
    struct json_scan scan;
    struct json_item item;
    if (!object_fits(result, &asking, out))
        return false;
    struct str requests = find_member(result, "inputRequests");
    if (type_of_json(requests) != IS_OBJECT)
        return true;
    wt__json_scan_open(&scan, requests, 0, 1);
    while (wt__json_scan_next(&scan, &item) > 0) {
        if (!object_fits(item.value, &question, out))
            return false;
        struct str method = find_member(item.value, "method"), params = find_member(item.value, "params");
        if (!fits_row(questions, (struct str){method.ptr + 1, method.len - 2},
                      type_of_json(params) == IS_OBJECT ? params : STR(""), out))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- interface */

bool wt__mcp_result_fits(const char *method, struct str result, struct mcp_misfit *out)
{
    if (type_of_json(result) == IS_OBJECT &&
        wt__str_equal(find_member(result, "resultType"), STR("\"input_required\"")))
        return questions_fit(result, out);
    return fits_row(results, wt__str(method), result, out);
}

bool wt__mcp_error_fits(struct str error, struct mcp_misfit *out)
{
    return object_fits(error, &refusal, out);
}

bool wt__mcp_question_fits(struct str method, struct str params, struct mcp_misfit *out)
{
    return fits_row(questions, method, params, out);
}

bool wt__mcp_notice_fits(struct str method, struct str params, struct mcp_misfit *out)
{
    return fits_row(notices, method, params, out);
}

bool wt__mcp_item_fits(const char *member, struct str item, struct mcp_misfit *out)
{
    return fits_row(items, wt__str(member), item, out);
}
