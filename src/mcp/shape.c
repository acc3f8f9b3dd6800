/* shape.c: see shape.h. A shape is a list of members. One of them may be the tag that selects a further shape, such as
 * the "type" of a content block. */
#include "mcp/shape.h"

#include "base/json_scan.h"

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
    const char *tag;                    /* member that selects the variant; NULL if absent */
    const struct shape_variant *variants;
    const char *either[2]; /* at least one of the two is required; NULL if absent */
};

#define END                                                                                                            \
    {                                                                                                                  \
        NULL, 0, 0, NULL                                                                                               \
    }

static const struct shape contents_of_resource = {(const struct shape_member[]){{"uri", IS_STRING | REQUIRED, 0, NULL},
                                                                                {"mimeType", IS_STRING, 0, NULL},
                                                                                {"text", IS_STRING, 0, NULL},
                                                                                {"blob", IS_STRING, 0, NULL},
                                                                                {"_meta", IS_OBJECT, 0, NULL},
                                                                                END},
                                                  NULL,
                                                  NULL,
                                                  {"text", "blob"}};

static const struct shape annotations = {(const struct shape_member[]){{"audience", IS_ARRAY, IS_STRING, NULL},
                                                                       {"priority", IS_NUMBER, 0, NULL},
                                                                       {"lastModified", IS_STRING, 0, NULL},
                                                                       END},
                                         NULL,
                                         NULL,
                                         {NULL, NULL}};

#define SHAPE(name, ...)                                                                                               \
    static const struct shape name = {(const struct shape_member[]){__VA_ARGS__, END}, NULL, NULL, {NULL, NULL}}

SHAPE(icon, {"src", IS_STRING | REQUIRED, 0, NULL}, {"mimeType", IS_STRING, 0, NULL},
      {"sizes", IS_ARRAY, IS_STRING, NULL});

#define ANNOTATED                                                                                                      \
    {"annotations", IS_OBJECT, 0, &annotations},                                                                       \
    {                                                                                                                  \
        "_meta", IS_OBJECT, 0, NULL                                                                                    \
    }
#define DESCRIBED                                                                                                      \
    {"title", IS_STRING, 0, NULL}, {"description", IS_STRING, 0, NULL},                                                \
    {                                                                                                                  \
        "icons", IS_ARRAY, IS_OBJECT, &icon                                                                            \
    }

SHAPE(text_block, {"text", IS_STRING | REQUIRED, 0, NULL}, ANNOTATED);
SHAPE(media_block, {"data", IS_STRING | REQUIRED, 0, NULL}, {"mimeType", IS_STRING | REQUIRED, 0, NULL}, ANNOTATED);
SHAPE(embedded_block, {"resource", IS_OBJECT | REQUIRED, 0, &contents_of_resource}, ANNOTATED);
SHAPE(resource, {"uri", IS_STRING | REQUIRED, 0, NULL}, {"name", IS_STRING | REQUIRED, 0, NULL},
      {"mimeType", IS_STRING, 0, NULL}, {"size", IS_NUMBER, 0, NULL}, DESCRIBED, ANNOTATED);
SHAPE(tool_use_block, {"id", IS_STRING | REQUIRED, 0, NULL}, {"name", IS_STRING | REQUIRED, 0, NULL},
      {"input", IS_OBJECT | REQUIRED, 0, NULL}, {"_meta", IS_OBJECT, 0, NULL});
SHAPE(tool_result_block, {"toolUseId", IS_STRING | REQUIRED, 0, NULL},
      {"content", IS_ARRAY | REQUIRED, IS_OBJECT, NULL}, {"isError", IS_BOOLEAN, 0, NULL},
      {"_meta", IS_OBJECT, 0, NULL});

#define BLOCKS                                                                                                         \
    {"text", &text_block}, {"image", &media_block}, {"audio", &media_block}, {"resource_link", &resource},             \
    {                                                                                                                  \
        "resource", &embedded_block                                                                                    \
    }

static const struct shape block = {(const struct shape_member[]){{"type", IS_STRING | REQUIRED, 0, NULL}, END},
                                   "type",
                                   (const struct shape_variant[]){BLOCKS, {NULL, NULL}},
                                   {NULL, NULL}},
                          sampled_block = {(const struct shape_member[]){{"type", IS_STRING | REQUIRED, 0, NULL}, END},
                                           "type",
                                           (const struct shape_variant[]){BLOCKS,
                                                                          {"tool_use", &tool_use_block},
                                                                          {"tool_result", &tool_result_block},
                                                                          {NULL, NULL}},
                                           {NULL, NULL}};

SHAPE(no_members, {"_meta", IS_OBJECT, 0, NULL});

static const struct shape_variant roles[] = {{"user", &no_members}, {"assistant", &no_members}, {NULL, NULL}};
static const struct shape message = {(const struct shape_member[]){{"role", IS_STRING | REQUIRED, 0, NULL},
                                                                   {"content", IS_OBJECT | REQUIRED, 0, &block},
                                                                   END},
                                     "role",
                                     roles,
                                     {NULL, NULL}},
                          sampled_message = {(const struct shape_member[]){{"role", IS_STRING | REQUIRED, 0, NULL},
                                                                           {"content", IS_OBJECT | IS_ARRAY | REQUIRED,
                                                                            IS_OBJECT, &sampled_block},
                                                                           END},
                                             "role",
                                             roles,
                                             {NULL, NULL}};

SHAPE(called, {"content", IS_ARRAY | REQUIRED, IS_OBJECT, &block}, {"isError", IS_BOOLEAN, 0, NULL},
      {"_meta", IS_OBJECT, 0, NULL});
SHAPE(prompted, {"messages", IS_ARRAY | REQUIRED, IS_OBJECT, &message}, {"description", IS_STRING, 0, NULL},
      {"_meta", IS_OBJECT, 0, NULL});
SHAPE(contents_read, {"contents", IS_ARRAY | REQUIRED, IS_OBJECT, &contents_of_resource}, {"ttlMs", IS_NUMBER, 0, NULL},
      {"cacheScope", IS_STRING, 0, NULL}, {"_meta", IS_OBJECT, 0, NULL});
SHAPE(completion, {"values", IS_ARRAY | REQUIRED, IS_STRING, NULL}, {"total", IS_NUMBER, 0, NULL},
      {"hasMore", IS_BOOLEAN, 0, NULL});
SHAPE(completed, {"completion", IS_OBJECT | REQUIRED, 0, &completion}, {"_meta", IS_OBJECT, 0, NULL});
SHAPE(asking, {"inputRequests", IS_OBJECT, 0, NULL}, {"requestState", IS_STRING, 0, NULL},
      {"_meta", IS_OBJECT, 0, NULL});
SHAPE(question, {"method", IS_STRING | REQUIRED, 0, NULL}, {"params", IS_OBJECT, 0, NULL});
SHAPE(refusal, {"code", IS_INTEGER | REQUIRED, 0, NULL}, {"message", IS_STRING | REQUIRED, 0, NULL});

SHAPE(elicitation, {"message", IS_STRING | REQUIRED, 0, NULL}, {"requestedSchema", IS_OBJECT, 0, NULL},
      {"mode", IS_STRING, 0, NULL}, {"url", IS_STRING, 0, NULL}, {"elicitationId", IS_STRING, 0, NULL},
      {"_meta", IS_OBJECT, 0, NULL});
SHAPE(sampling, {"messages", IS_ARRAY | REQUIRED, IS_OBJECT, &sampled_message},
      {"maxTokens", IS_NUMBER | REQUIRED, 0, NULL}, {"modelPreferences", IS_OBJECT, 0, NULL},
      {"systemPrompt", IS_STRING, 0, NULL}, {"includeContext", IS_STRING, 0, NULL}, {"temperature", IS_NUMBER, 0, NULL},
      {"stopSequences", IS_ARRAY, IS_STRING, NULL}, {"metadata", IS_OBJECT, 0, NULL},
      {"tools", IS_ARRAY, IS_OBJECT, NULL}, {"toolChoice", IS_OBJECT, 0, NULL}, {"_meta", IS_OBJECT, 0, NULL});
SHAPE(progress, {"progress", IS_NUMBER | REQUIRED, 0, NULL}, {"total", IS_NUMBER, 0, NULL},
      {"message", IS_STRING, 0, NULL});
SHAPE(log_line, {"level", IS_STRING | REQUIRED, 0, NULL}, {"data", IS_ANY | REQUIRED, 0, NULL},
      {"logger", IS_STRING, 0, NULL}, {"_meta", IS_OBJECT, 0, NULL});
SHAPE(template_item, {"uriTemplate", IS_STRING | REQUIRED, 0, NULL}, {"name", IS_STRING | REQUIRED, 0, NULL},
      {"mimeType", IS_STRING, 0, NULL}, DESCRIBED, ANNOTATED);
SHAPE(prompt_argument, {"name", IS_STRING | REQUIRED, 0, NULL}, {"title", IS_STRING, 0, NULL},
      {"description", IS_STRING, 0, NULL}, {"required", IS_BOOLEAN, 0, NULL});
SHAPE(prompt_item, {"name", IS_STRING | REQUIRED, 0, NULL}, {"arguments", IS_ARRAY, IS_OBJECT, &prompt_argument},
      DESCRIBED, {"_meta", IS_OBJECT, 0, NULL});
SHAPE(tool_hints, {"title", IS_STRING, 0, NULL}, {"readOnlyHint", IS_BOOLEAN, 0, NULL},
      {"destructiveHint", IS_BOOLEAN, 0, NULL}, {"idempotentHint", IS_BOOLEAN, 0, NULL},
      {"openWorldHint", IS_BOOLEAN, 0, NULL});
static const struct shape no_more = {(const struct shape_member[]){END}, NULL, NULL, {NULL, NULL}},
                          input_schema = {(const struct shape_member[]){{"$schema", IS_STRING, 0, NULL},
                                                                        {"type", IS_STRING | REQUIRED, 0, NULL},
                                                                        {"properties", IS_OBJECT, IS_OBJECT, NULL},
                                                                        {"required", IS_ARRAY, IS_STRING, NULL},
                                                                        END},
                                          "type",
                                          (const struct shape_variant[]){{"object", &no_more}, {NULL, NULL}},
                                          {NULL, NULL}};
SHAPE(tool_item, {"name", IS_STRING | REQUIRED, 0, NULL}, {"inputSchema", IS_OBJECT | REQUIRED, 0, &input_schema},
      {"outputSchema", IS_OBJECT, 0, NULL}, {"annotations", IS_OBJECT, 0, &tool_hints}, DESCRIBED,
      {"_meta", IS_OBJECT, 0, NULL});

static const struct shape_variant results[] = {{"tools/call", &called},
                                               {"prompts/get", &prompted},
                                               {"resources/read", &contents_read},
                                               {"completion/complete", &completed},
                                               {NULL, NULL}},
                                  questions[] = {{"elicitation/create", &elicitation},
                                                 {"sampling/createMessage", &sampling},
                                                 {NULL, NULL}},
                                  notices[] = {{"notifications/progress", &progress},
                                               {"notifications/message", &log_line},
                                               {NULL, NULL}},
                                  items[] = {{"tools", &tool_item},
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

static unsigned type_of_json(struct str value)
{
    char first = value.len > 0 ? value.ptr[0] : '\0';
    switch (first) {
    case '{':
        return IS_OBJECT;
    case '[':
        return IS_ARRAY;
    case '"':
        return IS_STRING;
    case 't':
    case 'f':
        return IS_BOOLEAN;
    case 'n':
        return IS_NULL;
    default:
        break;
    }
    bool whole = value.len > 0;
    for (size_t i = 0; i < value.len; i++)
        whole &= wt__is_digit(value.ptr[i]) || value.ptr[i] == '-';
    return whole ? IS_NUMBER | IS_INTEGER : IS_NUMBER;
}

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

static const struct shape *find_variant(const struct shape_variant *variants, struct str value)
{
    while (variants->value && !wt__str_equal(value, wt__str(variants->value)))
        variants++;
    return variants->shape;
}

/* Checks the members of an object. Refuses a repeated member, since parsers disagree on which copy counts. *tag: value
 * of the tag without quotes. */
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
    const struct shape *more = find_variant(shape->variants, tag);
    return more ? object_fits(object, more, out) : report_misfit(out, shape->tag, "a known one");
}

static bool fits_row(const struct shape_variant *rows, struct str name, struct str value, struct mcp_misfit *out)
{
    const struct shape *shape = find_variant(rows, name);
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
