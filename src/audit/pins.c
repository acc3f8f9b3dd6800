#include "audit/pins.h"

#include <math.h>
#include <stdlib.h>

#include "audit/families.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"

enum { PINS_VERSION = 1 };
#define PINS_KEY "whichtool_pins"

/* ---------------------------------------------------------------- hashes */

static int take(const char *bytes, size_t len, void *sha)
{
    wt__sha256_update(sha, bytes, len);
    return 0;
}

static int hash_json(const json_t *value, char hex[PIN_DIGITS + 1])
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

int wt__pin_hash(struct str definition, char sha256[PIN_DIGITS + 1], json_t **members, wt_error *err)
{
    json_t *whole = NULL, *value;
    const char *key;
    *members = json_object();
    int rc = wt__json_parse(&whole, definition.ptr, definition.len, NULL);
    if (rc == WT_ENOMEM || !*members)
        rc = wt__fail_nomem(err);
    else if (rc < 0 || !json_is_object(whole)) {
        unsigned char digest[32];
        wt__sha256(definition.ptr, definition.len, digest);
        wt__sha256_hex(digest, sha256);
        rc = 0;
    } else {
        rc = hash_json(whole, sha256) < 0 ? wt__fail_nomem(err) : 0;
        json_object_foreach(whole, key, value)
        {
            char hex[PIN_DIGITS + 1];
            if (rc == 0 && (hash_json(value, hex) < 0 ||
                            json_object_set_new(*members, key, json_stringn(hex, PIN_MEMBER_DIGITS)) < 0))
                rc = wt__fail_nomem(err);
        }
    }
    json_decref(whole);
    if (rc < 0) {
        json_decref(*members);
        *members = NULL;
    }
    return rc;
}

/* ---------------------------------------------------------------- writing */

void wt__pins_begin(struct buffer *out)
{
    wt__buffer_printf(out, "{\"" PINS_KEY "\": %d}\n", PINS_VERSION);
}

int wt__pins_add(struct buffer *out, struct str id, struct str provider, struct str definition, wt_error *err)
{
    char sha256[PIN_DIGITS + 1];
    json_t *members;
    int rc = wt__pin_hash(definition, sha256, &members, err);
    if (rc < 0)
        return rc;
    wt__buffer_text(out, "{\"id\": ");
    wt__buffer_json(out, id);
    wt__buffer_text(out, ", \"provider\": ");
    wt__buffer_json(out, provider);
    wt__buffer_printf(out, ", \"sha256\": \"%s\", \"members\": ", sha256);
    rc = wt__json_write(out, members) < 0 || out->failed ? wt__fail_nomem(err) : 0;
    wt__buffer_text(out, "}\n");
    json_decref(members);
    return rc;
}

/* ---------------------------------------------------------------- reading */

static bool is_hex(struct str text, size_t len)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789abcdef", text.ptr[i]) || text.ptr[i] == '\0')
            return false;
    return text.len == len;
}

static int add_pin(struct pins *pins, const json_t *row, size_t line, wt_error *err)
{
    struct str id = wt__json_str(row, "id"), provider = wt__json_str(row, "provider");
    struct str sha256 = wt__json_str(row, "sha256");
    json_t *members = wt__json_object(row, "members");
    if (id.len == 0 || !is_hex(sha256, PIN_DIGITS) || !members)
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL,
                           "line %zu of the pins is no pin: it has no id, sha256 or members", line);
    if (wt__grow((void **)&pins->items, &pins->capacity, pins->count + 1, sizeof *pins->items) < 0)
        return wt__fail_nomem(err);
    struct pin *pin = &pins->items[pins->count];
    *pin = (struct pin){.id = {wt__arena_copy(&pins->arena, id), id.len},
                        .provider = {wt__arena_copy(&pins->arena, provider), provider.len}};
    bool added;
    if (!pin->id.ptr || !pin->provider.ptr || !wt__map_insert(&pins->by_id, pin->id, (uint32_t)pins->count, &added))
        return wt__fail_nomem(err);
    if (!added)
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL, "line %zu of the pins has the id of an earlier one", line);
    memcpy(pin->sha256, sha256.ptr, PIN_DIGITS);
    pin->members = json_incref(members);
    pins->count++;
    return 0;
}

static int read_line(struct pins *pins, struct str text, size_t line, wt_error *err)
{
    json_t *row = NULL;
    wt_error why = {0};
    int rc = wt__json_parse(&row, text.ptr, text.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0)
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL, "line %zu of the pins is no JSON: %s", line, why.message);
    int64_t version = wt__json_int(row, PINS_KEY, 0);
    if (line == 1 && version > PINS_VERSION)
        rc = wt__fail_at(err, WT_EFORMAT, line, 0, NULL, "the pins were written by a newer version of whichtool");
    else if (line == 1 && version != PINS_VERSION)
        rc = wt__fail_at(err, WT_EFORMAT, line, 0, NULL,
                         "this is no file of pins; `whichtool check --pin FILE` writes one");
    else if (line > 1)
        rc = add_pin(pins, row, line, err);
    json_decref(row);
    return rc;
}

int wt__pins_read(struct pins *pins, const char *text, size_t len, wt_error *err)
{
    size_t line = 0;
    int rc = 0;
    for (size_t at = 0, end; rc == 0 && at < len; at = end + 1) {
        const char *newline = memchr(text + at, '\n', len - at);
        end = newline ? (size_t)(newline - text) : len;
        struct str row = wt__str_trim((struct str){text + at, end - at});
        if (line++ == 0 || row.len > 0)
            rc = read_line(pins, row, line, err);
    }
    return rc == 0 && line == 0 ? read_line(pins, STR(""), 1, err) : rc;
}

void wt__pins_dispose(struct pins *pins)
{
    for (size_t i = 0; i < pins->count; i++)
        json_decref(pins->items[i].members);
    free(pins->items);
    wt__map_dispose(&pins->by_id);
    wt__arena_dispose(&pins->arena);
    *pins = (struct pins){0};
}

struct pin *wt__pins_find(const struct pins *pins, struct str id)
{
    const uint32_t *place = wt__map_get(&pins->by_id, id);
    return place ? &pins->items[*place] : NULL;
}

/* ---------------------------------------------------------------- comparing */

/* "description, inputSchema (new)". */
static void name_changes(const json_t *was, const json_t *now, struct buffer *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)now, key, value)
    {
        const json_t *before = json_object_get(was, key);
        if (!before || !json_equal(before, value))
            wt__buffer_printf(out, "%s%s%s", out->len > 0 ? ", " : "", key, before ? "" : " (new)");
    }
    json_object_foreach((json_t *)was, key, value) if (!json_object_get(now, key))
        wt__buffer_printf(out, "%s%s (gone)", out->len > 0 ? ", " : "", key);
}

static int compare_tool(struct auditing *a, struct pin *pin, size_t tool, wt_error *err)
{
    char sha256[PIN_DIGITS + 1];
    struct buffer changes = {0};
    json_t *members;
    if (!pin)
        return wt__audit_find_one(a, RULE_PIN_NEW, tool, err, "It was not there when the pins were written.");
    pin->met = true;
    int rc = wt__pin_hash(a->tools[tool].tool.definition, sha256, &members, err);
    if (rc < 0)
        return rc;
    if (strcmp(sha256, pin->sha256) != 0) {
        name_changes(pin->members, members, &changes);
        rc = changes.failed
                 ? wt__fail_nomem(err)
                 : wt__audit_find_one(a, RULE_PIN_CHANGED, tool, err, "Its definition changed since it was pinned%s%s.",
                                      changes.len > 0 ? ": " : "", wt__audit_quoted(a, wt__buffer_view(&changes)));
    }
    wt__buffer_dispose(&changes);
    json_decref(members);
    return rc;
}

int wt__audit_pinned(struct auditing *a, wt_error *err)
{
    struct pins pins = {0};
    int rc = wt__pins_read(&pins, a->options.pins, a->options.pins_len, err);
    for (size_t i = 0; rc == 0 && i < a->count; i++)
        if (!a->scoped || a->tools[i].provider == a->scope)
            rc = compare_tool(a, wt__pins_find(&pins, wt__str(a->tools[i].id)), i, err);
    for (size_t i = 0; rc == 0 && i < pins.count; i++) {
        const struct pin *pin = &pins.items[i];
        const struct found found = {
            .rule = RULE_PIN_GONE, .gone = pin->id, .gone_provider = pin->provider, .figure = NAN};
        if (!pin->met)
            rc = wt__audit_find(a, &found, err, "It was pinned and is not in the catalogue any more.");
    }
    wt__pins_dispose(&pins);
    return rc;
}
