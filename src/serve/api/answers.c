/* answers.c: the schemas of answers in /openapi.json, from which clients generate types. tests/e2e/test_api_answers.sh
 * compares the tables with real answers; docs/json.md describes the members. */
#include "serve/api/internal.h"

#include <string.h>

/* A member's type is a JSON type, "any", or "#NAME" for another schema. "[]" after it means an array of it, and "|null"
 * that it may be null. */
struct answer_member {
    const char *name, *type;
    bool optional; /* only in some answers, such as with `explain` */
};

struct answer_schema {
    const char *name;
    const struct answer_member *members; /* [count] */
    size_t count;
};

#define TOOL_MEMBERS                                                                                                   \
    {"id", "string", false}, {"provider", "string", false}, {"name", "string", false},                                 \
        {"export_name", "string", false}, {"title", "string", false}, {"description", "string", false},                \
        {"category", "string", false}, {"source_id", "string", false}, {"format", "string", false},                    \
        {"sha256", "string", false},                                                                                   \
    {                                                                                                                  \
        "schema", "object", false                                                                                      \
    }

static const struct answer_member tool_members[] = {TOOL_MEMBERS, {"definition", "any", true}};

static const struct answer_member hit_members[] = {
    TOOL_MEMBERS,
    {"rank", "integer", false},
    {"score", "number", false},
    {"probability", "number|null", false},
    {"tokens", "number|null", false},
    {"weak", "boolean", false},
    {"kept", "boolean", false},
    {"more_like_it", "string[]", false},
    {"more_like_it_count", "integer", false},
    {"stages", "object[]", true},
    {"matches", "object[]", true},
    {"features", "object[]", true},
};

static const struct answer_member found_members[] = {
    {"request", "string", false},
    {"read_as", "string|null", false},
    {"unknown_words", "string[]", false},
    {"recipe", "string", false},
    {"encoder", "string", false},
    {"reason", "string|null", false},
    {"notice", "string|null", false},
    {"notice_codes", "string[]", false},
    {"no_tool_probability", "number|null", false},
    {"several_providers_probability", "number|null", false},
    {"complete_probability", "number|null", false},
    {"expected_match", "number|null", false},
    {"copies", "integer", false},
    {"tokens", "number|null", false},
    {"over_budget", "number|null", false},
    {"kept", "integer", false},
    {"encode_ms", "number", false},
    {"search_ms", "number", false},
    {"total_ms", "number", false},
    {"language_model", "object|null", false},
    {"trace", "object", true},
    {"definitions", "object[]", true},
    {"hits", "#hit[]", false},
};

static const struct answer_member called_members[] = {
    {"request", "string", false},    {"tool", "string|null", false},           {"arguments", "object|null", false},
    {"valid", "boolean", false},     {"missing", "string[]", false},           {"question", "string|null", false},
    {"asks_tool", "boolean", false}, {"doubt", "string|null", false},          {"violations", "string[]", false},
    {"verified", "object[]", false}, {"probability", "number|null", false},    {"recipe", "string", false},
    {"encoder", "string", false},    {"notice", "string|null", false},         {"notice_codes", "string[]", false},
    {"total_ms", "number", false},   {"language_model", "object|null", false}, {"call", "any", true},
    {"steps", "object", true},
};

static const struct answer_member tools_members[] = {
    {"total", "integer", false}, {"next_offset", "integer|null", false}, {"tools", "#tool[]", false}};

static const struct answer_member added_members[] = {
    {"source", "string", false},         {"format", "string", false},     {"added", "integer", false},
    {"updated", "integer", false},       {"unchanged", "integer", false}, {"removed", "integer", false},
    {"skipped", "integer", false},       {"embedded", "integer", false},  {"collisions", "integer", false},
    {"collided", "object[]", false},     {"seconds", "number", false},    {"notice", "string|null", false},
    {"notice_codes", "string[]", false}, {"issues", "object[]", false},
};

static const struct answer_member removed_members[] = {{"removed", "integer", false}};

static const struct answer_member embedding_members[] = {
    {"object", "string", false}, {"index", "integer", false}, {"embedding", "any", false}};
static const struct answer_member embeddings_members[] = {{"object", "string", false},
                                                          {"data", "#embedding[]", false},
                                                          {"model", "string", false},
                                                          {"usage", "object", false}};

static const struct answer_member ranked_members[] = {
    {"index", "integer", false}, {"relevance_score", "number", false}, {"document", "object", true}};
static const struct answer_member ranking_members[] = {{"id", "string", false},
                                                       {"model", "string", false},
                                                       {"results", "#ranked[]", false},
                                                       {"usage", "object", false},
                                                       {"meta", "object", false}};

/* A predicate has only type, name and probability; a score has score instead of choice. */
static const struct answer_member decision_members[] = {
    {"type", "string", false},
    {"name", "string|null", false},
    {"probability", "number", true},
    {"choice", "any", true},
    {"score", "number", true},
    {"confidence", "number", true},
    {"none_probability", "number", true},
    {"probabilities", "object[]", true},
};
static const struct answer_member decisions_members[] = {
    {"answers", "#decision[]", false}, {"model", "string", false}, {"usage", "object", false}};
static const struct answer_member system_one_members[] = {
    {"model", "string", false}, {"answers", "object", false}, {"usage", "object", false}};

static const struct answer_member recipes_members[] = {{"recipes", "object[]", false}};
static const struct answer_member health_members[] = {
    {"status", "string", false}, {"ready", "boolean", false}, {"version", "string", false}};

#define SCHEMA(its_name, its_members)                                                                                  \
    {                                                                                                                  \
        its_name, its_members, sizeof(its_members) / sizeof *(its_members)                                             \
    }
static const struct answer_schema schemas[] = {
    SCHEMA("tool", tool_members),
    SCHEMA("hit", hit_members),
    SCHEMA("found", found_members),
    SCHEMA("called", called_members),
    SCHEMA("tools", tools_members),
    SCHEMA("added", added_members),
    SCHEMA("removed", removed_members),
    SCHEMA("embedding", embedding_members),
    SCHEMA("embeddings", embeddings_members),
    SCHEMA("ranked", ranked_members),
    SCHEMA("ranking", ranking_members),
    SCHEMA("decision", decision_members),
    SCHEMA("decisions", decisions_members),
    SCHEMA("system_one_answers", system_one_members),
    SCHEMA("recipes", recipes_members),
    SCHEMA("health", health_members),
};

static void put_member_type(struct buffer *out, const char *type)
{
    size_t len = strcspn(type, "[|");
    bool array = type[len] == '[', nullable = strstr(type, "|null") != NULL;
    if (array)
        wt__buffer_text(out, "{\"type\":\"array\",\"items\":");
    if (*type == '#')
        wt__buffer_printf(out, "{\"$ref\":\"#/components/schemas/%.*s\"}", (int)len - 1, type + 1);
    else if (strcmp(type, "any") == 0)
        wt__buffer_text(out, "{}");
    else
        wt__buffer_printf(out, nullable ? "{\"type\":[\"%.*s\",\"null\"]}" : "{\"type\":\"%.*s\"}", (int)len, type);
    if (array)
        wt__buffer_char(out, '}');
}

static void put_answer_schema(struct buffer *out, const struct answer_schema *schema)
{
    bool any = false;
    wt__buffer_printf(out, ",\"%s\":{\"type\":\"object\",\"required\":[", schema->name);
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->members[i].optional)
            continue;
        wt__buffer_printf(out, "%s\"%s\"", any ? "," : "", schema->members[i].name);
        any = true;
    }
    wt__buffer_text(out, "],\"properties\":{");
    for (size_t i = 0; i < schema->count; i++) {
        wt__buffer_printf(out, "%s\"%s\":", i > 0 ? "," : "", schema->members[i].name);
        put_member_type(out, schema->members[i].type);
    }
    wt__buffer_text(out, "}}");
}

void wt__api_put_answer_schemas(struct buffer *out)
{
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        put_answer_schema(out, &schemas[i]);
}
