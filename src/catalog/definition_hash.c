#include "catalog/definition_hash.h"

#include "base/json.h"
#include "base/sha256.h"

const char *const wt__review_words[REVIEW_KINDS] = {"tool", "prompt", "resource", "template"};

static int hash_chunk(const char *bytes, size_t len, void *sha)
{
    wt__sha256_update(sha, bytes, len);
    return 0;
}

int wt__json_hash(const json_t *value, char hex[DEFINITION_DIGITS + 1])
{
    struct sha256 sha;
    unsigned char digest[32];
    wt__sha256_begin(&sha);
    if (json_dump_callback(value, hash_chunk, &sha, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) < 0)
        return -1;
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, hex);
    return 0;
}

void wt__bytes_hash(struct str bytes, char sha256[DEFINITION_DIGITS + 1])
{
    unsigned char digest[32];
    wt__sha256(bytes.ptr, bytes.len, digest);
    wt__sha256_hex(digest, sha256);
}

bool wt__is_hash(struct str text, size_t digits)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789abcdef", text.ptr[i]) || text.ptr[i] == '\0')
            return false;
    return text.len == digits;
}

static int hash_member(json_t *members, const char *key, const json_t *value, wt_error *err)
{
    char hex[DEFINITION_DIGITS + 1];
    return wt__json_hash(value, hex) < 0 ||
                   json_object_set_new(members, key, json_stringn(hex, DEFINITION_MEMBER_DIGITS)) < 0
               ? wt__fail_nomem(err)
               : 0;
}

static int hash_members(const json_t *whole, json_t *members, wt_error *err)
{
    const char *key;
    json_t *value;
    int rc = 0;
    json_object_foreach((json_t *)whole, key, value)
    {
        if (rc == 0)
            rc = hash_member(members, key, value, err);
    }
    return rc;
}

int wt__definition_hash(struct str definition, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err)
{
    json_t *whole = NULL;
    if (members)
        *members = NULL;
    int rc = wt__json_parse(&whole, definition.ptr, definition.len, NULL);
    if (rc == WT_ENOMEM || (members && !(*members = json_object())))
        rc = wt__fail_nomem(err);
    else if (rc < 0 || !json_is_object(whole)) {
        wt__bytes_hash(definition, sha256);
        rc = 0;
    } else {
        rc = wt__json_hash(whole, sha256) < 0 ? wt__fail_nomem(err) : 0;
        if (rc == 0 && members)
            rc = hash_members(whole, *members, err);
    }
    json_decref(whole);
    if (rc < 0 && members) {
        json_decref(*members);
        *members = NULL;
    }
    return rc;
}

/* ---------------------------------------------------------------- whole tools */

#define ROUTE_KEY "route"

static bool is_partial(const struct tool *tool)
{
    return wt__str_equal(tool->format, STR("openapi"));
}

bool wt__is_partial_hash(const struct tool *tool, const json_t *members)
{
    return is_partial(tool) && !json_object_get(members, ROUTE_KEY);
}

/* Parses text as JSON, or returns its hash if invalid. Returns a new reference, or NULL if out of memory. */
static json_t *read_json_or_hash(struct str text)
{
    char hex[DEFINITION_DIGITS + 1];
    json_t *out = NULL;
    int rc = wt__json_parse(&out, text.ptr, text.len, NULL);
    if (rc == 0 || rc == WT_ENOMEM)
        return out;
    wt__bytes_hash(text, hex);
    return json_string(hex);
}

/* Texts of the path that the operation lacks count under the names they would have in the operation. */
static int hash_parts(const json_t *whole, json_t *members, wt_error *err)
{
    static const struct {
        const char *key;
        size_t part;
        bool own; /* a member of the definition itself takes precedence */
    } parts[] = {{"arguments", 1, false}, {ROUTE_KEY, 2, false}, {"summary", 3, true}, {"description", 4, true}};
    const json_t *definition = json_array_get(whole, 0);
    int rc = hash_members(definition, members, err);
    for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_array_get(whole, parts[i].part);
        bool said = json_object_get(definition, parts[i].key) || json_string_length(part) == 0;
        if (!parts[i].own || !said)
            rc = hash_member(members, parts[i].key, part, err);
    }
    return rc;
}

int wt__tool_hash(const struct tool *tool, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err)
{
    if (!is_partial(tool))
        return wt__definition_hash(tool->definition, sha256, members, err);
    json_t *whole =
        json_pack("[ooooo]", read_json_or_hash(tool->definition), read_json_or_hash(tool->schema),
                  wt__json_string(tool->source_id), wt__json_string(tool->title), wt__json_string(tool->description));
    *members = json_object();
    int rc =
        *members && whole && wt__json_hash(whole, sha256) == 0 ? hash_parts(whole, *members, err) : wt__fail_nomem(err);
    json_decref(whole);
    if (rc < 0) {
        json_decref(*members);
        *members = NULL;
    }
    return rc;
}
