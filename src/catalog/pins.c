/* pins.c: hashes definitions, and reads and writes files of pins (pins.h). */
#include "catalog/pins.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"

/* ---------------------------------------------------------------- hashes of definitions */

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

/* True if text consists of exactly `digits` lower-case hexadecimal digits. */
static bool is_hash_text(struct str text, size_t digits)
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
    json_object_foreach((json_t *)whole, key, value)
    {
        WT_TRY(hash_member(members, key, value, err));
    }
    return 0;
}

int wt__definition_hash(struct str definition, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err)
{
    json_auto_t *whole = NULL, *hashes = members ? json_object() : NULL;
    if (members)
        *members = NULL;
    int rc = wt__json_parse(&whole, definition.ptr, definition.len, NULL);
    if (rc == WT_ENOMEM || (members && !hashes))
        return wt__fail_nomem(err);
    if (rc < 0 || !json_is_object(whole)) {
        wt__bytes_hash(definition, sha256);
    } else {
        if (wt__json_hash(whole, sha256) < 0)
            return wt__fail_nomem(err);
        if (members)
            WT_TRY(hash_members(whole, hashes, err));
    }
    if (members)
        *members = WT_TAKE(hashes);
    return 0;
}

/* ---------------------------------------------------------------- whole tools */

#define ROUTE_KEY "route"

/* True if the definition is only a part of the tool. */
static bool is_partial(const struct tool *tool)
{
    return wt__str_equal(tool->format, STR("openapi"));
}

bool wt__is_partial_hash(const struct tool *tool, const json_t *members)
{
    return is_partial(tool) && !json_object_get(members, ROUTE_KEY);
}

/* Parses text as JSON. If the text is not valid JSON, returns a JSON string with the hash of the text. Returns a new
 * reference, or NULL if out of memory. */
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

/* Hashes the parts of an OpenAPI tool. whole: [definition, arguments, source id, title, description]. A title or
 * description from the path counts as a member of the operation if the operation has none. */
static int hash_parts(const json_t *whole, json_t *members, wt_error *err)
{
    static const struct {
        const char *key;
        size_t part;
        bool own; /* a member of the definition itself takes precedence */
    } parts[] = {{"arguments", 1, false}, {ROUTE_KEY, 2, false}, {"summary", 3, true}, {"description", 4, true}};
    const json_t *definition = json_array_get(whole, 0);
    WT_TRY(hash_members(definition, members, err));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_array_get(whole, parts[i].part);
        bool said = json_object_get(definition, parts[i].key) || json_string_length(part) == 0;
        if (!parts[i].own || !said)
            WT_TRY(hash_member(members, parts[i].key, part, err));
    }
    return 0;
}

int wt__tool_hash(const struct tool *tool, char sha256[DEFINITION_DIGITS + 1], json_t **members, wt_error *err)
{
    if (!is_partial(tool))
        return wt__definition_hash(tool->definition, sha256, members, err);
    *members = NULL;
    json_auto_t *hashes = json_object(),
                *whole = json_pack("[ooooo]", read_json_or_hash(tool->definition), read_json_or_hash(tool->schema),
                                   wt__json_string(tool->source_id), wt__json_string(tool->title),
                                   wt__json_string(tool->description));
    if (!hashes || !whole || wt__json_hash(whole, sha256) < 0)
        return wt__fail_nomem(err);
    WT_TRY(hash_parts(whole, hashes, err));
    *members = WT_TAKE(hashes);
    return 0;
}

enum { PINS_VERSION = 1 };
#define PINS_KEY "whichtool_pins"

/* ---------------------------------------------------------------- writing */

void wt__pins_begin(struct buffer *out)
{
    wt__buffer_printf(out, "{\"" PINS_KEY "\": %d}\n", PINS_VERSION);
}

int wt__pins_add(struct buffer *out, struct str id, const struct tool *tool, wt_error *err)
{
    char sha256[DEFINITION_DIGITS + 1];
    json_t *members;
    WT_TRY(wt__tool_hash(tool, sha256, &members, err));
    wt__buffer_text(out, "{\"id\": ");
    wt__buffer_json(out, id);
    wt__buffer_text(out, ", \"provider\": ");
    wt__buffer_json(out, tool->provider);
    wt__buffer_printf(out, ", \"sha256\": \"%s\", \"members\": ", sha256);
    int rc = wt__json_write(out, members) < 0 || out->failed ? wt__fail_nomem(err) : 0;
    wt__buffer_text(out, "}\n");
    json_decref(members);
    return rc;
}

void wt__pins_add_instructions(struct buffer *out, struct str provider, const char *sha256)
{
    wt__buffer_text(out, "{\"instructions\": ");
    wt__buffer_json(out, provider);
    wt__buffer_printf(out, ", \"sha256\": \"%s\"}\n", sha256);
}

void wt__pins_add_offer(struct buffer *out, const char *kind, struct str provider, struct str name, const char *sha256)
{
    wt__buffer_printf(out, "{\"%s\": ", kind);
    wt__buffer_json(out, name);
    wt__buffer_text(out, ", \"provider\": ");
    wt__buffer_json(out, provider);
    wt__buffer_printf(out, ", \"sha256\": \"%s\"}\n", sha256);
}

/* ---------------------------------------------------------------- reading */

/* Appends the key of a prompt, resource or template in by_offer. */
static void put_offer_key(struct buffer *out, const char *kind, struct str provider, struct str name)
{
    wt__buffer_text(out, kind);
    wt__buffer_char(out, '\0');
    wt__buffer_str(out, provider);
    wt__buffer_char(out, '\0');
    wt__buffer_str(out, name);
}

/* Returns the map for the pin of a line, and sets *key to the pin's key in that map. *key is "" if the line is invalid.
 * If out of memory, key->ptr is NULL and key->len is positive. */
static struct map *find_map(struct pins *pins, const json_t *row, struct str *key)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct map *map = &pins->by_id;
    *key = wt__json_str(row, "id");
    if (key->len > 0)
        return map;
    *key = wt__json_str(row, "instructions");
    if (key->len > 0)
        return &pins->by_server;
    for (int kind = REVIEW_PROMPT; kind < REVIEW_KINDS; kind++) {
        struct str name = wt__json_str(row, wt__review_words[kind]);
        if (name.len == 0)
            continue;
        put_offer_key(&text, wt__review_words[kind], wt__json_str(row, "provider"), name);
        map = &pins->by_offer;
    }
    if (text.len > 0)
        *key = (struct str){text.failed ? NULL : wt__arena_copy(&pins->arena, wt__buffer_view(&text)), text.len};
    return map;
}

/* Returns a new pin after the last pin, or NULL if out of memory. The caller increments pins->count. */
static struct pin *grow_pins(struct pins *pins, struct str id, struct str provider, struct str sha256)
{
    if (wt__grow((void **)&pins->items, &pins->capacity, pins->count + 1, sizeof *pins->items) < 0)
        return NULL;
    struct pin *pin = &pins->items[pins->count];
    *pin = (struct pin){.id = {wt__arena_copy(&pins->arena, id), id.len},
                        .provider = {wt__arena_copy(&pins->arena, provider), provider.len}};
    memcpy(pin->sha256, sha256.ptr, DEFINITION_DIGITS);
    return pin->id.ptr && pin->provider.ptr ? pin : NULL;
}

static int add_pin(struct pins *pins, const json_t *row, size_t line, wt_error *err)
{
    struct str id = wt__json_str(row, "id"), provider = wt__json_str(row, "provider");
    struct str sha256 = wt__json_str(row, "sha256");
    json_t *members = wt__json_object(row, "members");
    struct str key;
    struct map *map = find_map(pins, row, &key);
    if (map == &pins->by_server)
        provider = key;
    if (key.len > 0 && !key.ptr)
        return wt__fail_nomem(err);
    if (key.len == 0 || !is_hash_text(sha256, DEFINITION_DIGITS) || (!members && map == &pins->by_id))
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL,
                           "line %zu of the pins is invalid: it has no id, sha256 or members", line);
    struct pin *pin = grow_pins(pins, id, provider, sha256);
    bool added;
    if (map != &pins->by_offer && pin)
        key = map == &pins->by_id ? pin->id : pin->provider;
    if (!pin || !wt__map_insert(map, key, (uint32_t)pins->count, &added))
        return wt__fail_nomem(err);
    if (!added)
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL, "line %zu of the pins repeats the id of an earlier one",
                           line);
    pin->members = json_incref(members);
    pin->line = line;
    pins->count++;
    return 0;
}

static int read_pin_line(struct pins *pins, struct str text, size_t line, wt_error *err)
{
    json_auto_t *row = NULL;
    wt_error why = {0};
    int rc = wt__json_parse(&row, text.ptr, text.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0 && (wt__str_starts(text, STR("<<<<<<<")) || wt__str_starts(text, STR("======="))))
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL,
                           "line %zu of the pins is a conflict marker of a merge: create the pins again", line);
    if (rc < 0)
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL, "line %zu of the pins is not valid JSON: %s", line,
                           why.message);
    int64_t version = wt__json_int(row, PINS_KEY, 0);
    if (line > 1)
        return add_pin(pins, row, line, err);
    if (version > PINS_VERSION)
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL, "the pins were written by a newer version of whichtool");
    if (version != PINS_VERSION)
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL,
                           "this is not a file of pins; create one with `whichtool check --pin FILE`");
    return 0;
}

int wt__pins_read(struct pins *pins, const char *text, size_t len, wt_error *err)
{
    size_t line = 0;
    for (size_t at = 0, end; at < len; at = end + 1) {
        const char *newline = memchr(text + at, '\n', len - at);
        end = newline ? (size_t)(newline - text) : len;
        struct str row = wt__str_trim((struct str){text + at, end - at});
        if (line++ == 0 || row.len > 0)
            WT_TRY(read_pin_line(pins, row, line, err));
    }
    return line == 0 ? read_pin_line(pins, STR(""), 1, err) : 0;
}

void wt__pins_dispose(struct pins *pins)
{
    for (size_t i = 0; i < pins->count; i++)
        json_decref(pins->items[i].members);
    free(pins->items);
    wt__map_dispose(&pins->by_id);
    wt__map_dispose(&pins->by_server);
    wt__map_dispose(&pins->by_offer);
    wt__arena_dispose(&pins->arena);
    *pins = (struct pins){0};
}

struct pin *wt__pins_find(const struct pins *pins, struct str id)
{
    const uint32_t *place = wt__map_get(&pins->by_id, id);
    return place ? &pins->items[*place] : NULL;
}

const struct pin *wt__pins_instructions(const struct pins *pins, struct str provider)
{
    const uint32_t *place = wt__map_get(&pins->by_server, provider);
    return place ? &pins->items[*place] : NULL;
}

const struct pin *wt__pins_offer(const struct pins *pins, const char *kind, struct str provider, struct str name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
    put_offer_key(&key, kind, provider, name);
    const uint32_t *place = key.failed ? NULL : wt__map_get(&pins->by_offer, wt__buffer_view(&key));
    return place ? &pins->items[*place] : NULL;
}
