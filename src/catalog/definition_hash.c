#include "catalog/definition_hash.h"

#include "base/json.h"
#include "base/sha256.h"

static int take(const char *bytes, size_t len, void *sha)
{
    wt__sha256_update(sha, bytes, len);
    return 0;
}

static int hash_json(const json_t *value, char hex[DEFINITION_DIGITS + 1])
{
    struct sha256 sha;
    unsigned char digest[32];
    wt__sha256_begin(&sha);
    if (json_dump_callback(value, take, &sha, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) < 0)
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

static int hash_members(const json_t *whole, json_t *members, wt_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)whole, key, value)
    {
        char hex[DEFINITION_DIGITS + 1];
        if (hash_json(value, hex) < 0 ||
            json_object_set_new(members, key, json_stringn(hex, DEFINITION_MEMBER_DIGITS)) < 0)
            return wt__fail_nomem(err);
    }
    return 0;
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
        rc = hash_json(whole, sha256) < 0 ? wt__fail_nomem(err) : 0;
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
