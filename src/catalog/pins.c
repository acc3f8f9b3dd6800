#include "catalog/pins.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"

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
    int rc = wt__tool_hash(tool, sha256, &members, err);
    if (rc < 0)
        return rc;
    wt__buffer_text(out, "{\"id\": ");
    wt__buffer_json(out, id);
    wt__buffer_text(out, ", \"provider\": ");
    wt__buffer_json(out, tool->provider);
    wt__buffer_printf(out, ", \"sha256\": \"%s\", \"members\": ", sha256);
    rc = wt__json_write(out, members) < 0 || out->failed ? wt__fail_nomem(err) : 0;
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

/* ---------------------------------------------------------------- reading */

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
    bool instructions = json_is_string(json_object_get(row, "instructions"));
    if (instructions)
        provider = wt__json_str(row, "instructions");
    if ((id.len == 0) != instructions || !wt__is_hash(sha256, DEFINITION_DIGITS) || (!members && !instructions))
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL,
                           "line %zu of the pins is no pin: it has no id, sha256 or members", line);
    struct pin *pin = grow_pins(pins, id, provider, sha256);
    bool added;
    if (!pin || !wt__map_insert(instructions ? &pins->by_server : &pins->by_id, instructions ? pin->provider : pin->id,
                                (uint32_t)pins->count, &added))
        return wt__fail_nomem(err);
    if (!added)
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL, "line %zu of the pins has the id of an earlier one", line);
    pin->members = json_incref(members);
    pin->line = line;
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
    if (rc < 0 && (wt__str_starts(text, STR("<<<<<<<")) || wt__str_starts(text, STR("======="))))
        return wt__fail_at(err, WT_EFORMAT, line, 0, NULL, "line %zu of the pins is a mark that a merge left: pin anew",
                           line);
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
    wt__map_dispose(&pins->by_server);
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
