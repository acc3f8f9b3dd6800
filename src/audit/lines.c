#include "audit/lines.h"

#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "catalog/import/import.h"

enum { KEY = 32 }; /* bytes of a hash */

static void hash_tool(struct tool_origin *out, const struct tool *tool)
{
    struct sha256 sha, with_provider;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, tool->sha256, sizeof tool->sha256);
    wt__sha256_update(&sha, tool->source_id.ptr, tool->source_id.len);
    with_provider = sha;
    wt__sha256_update(&with_provider, "", 1); /* separator; texts contain no NUL, so keys are unambiguous */
    wt__sha256_update(&with_provider, tool->provider.ptr, tool->provider.len);
    wt__sha256_end(&sha, out->wherever);
    wt__sha256_end(&with_provider, out->exact);
}

bool wt__make_origin(struct tool_origin *out, const struct tool *tool, const char *source, struct arena *arena)
{
    *out = (struct tool_origin){.source = source, .format = wt__arena_copy(arena, tool->format)};
    hash_tool(out, tool);
    return out->format != NULL;
}

/* Returns source, NUL and key, in the arena; NULL if out of memory. */
static char *make_line_key(struct source_lines *lines, const char *source, const unsigned char *key)
{
    size_t len = strlen(source) + 1;
    char *copy = wt__arena_alloc(&lines->arena, len + KEY, 1);
    if (copy) {
        memcpy(copy, source, len);
        memcpy(copy + len, key, KEY);
    }
    return copy;
}

static int record_line(struct source_lines *lines, const char *source, const unsigned char *key, size_t line)
{
    char *copy = make_line_key(lines, source, key);
    bool added = false;
    uint32_t *place =
        copy ? wt__map_insert(&lines->lines, (struct str){copy, strlen(source) + 1 + KEY}, (uint32_t)line, &added)
             : NULL;
    if (place && !added && *place != line)
        *place = 0;
    return place ? 0 : WT_ENOMEM;
}

/* Reads the lines of all tools of a file. Ignores files that were removed or are no longer valid sources. */
static int read_source_lines(struct source_lines *lines, const char *source, const char *format)
{
    const struct import_options options = {.format = wt__str(format)};
    struct import import;
    int rc = wt__import_path(&import, source, &options, NULL);
    if (rc < 0)
        return rc == WT_ENOMEM ? rc : 0;
    for (size_t i = 0; rc == 0 && i < import.tool_count; i++) {
        struct tool_origin origin;
        size_t line = import.places[i].line;
        hash_tool(&origin, &import.tools[i]);
        rc = record_line(lines, source, origin.wherever, line);
        if (rc == 0)
            rc = record_line(lines, source, origin.exact, line);
    }
    wt__import_dispose(&import);
    return rc;
}

static size_t find_recorded_line(struct source_lines *lines, const char *source, const unsigned char *key)
{
    const char *copy = make_line_key(lines, source, key);
    const uint32_t *line = copy ? wt__map_get(&lines->lines, (struct str){copy, strlen(source) + 1 + KEY}) : NULL;
    return line ? *line : 0;
}

int wt__find_source_line(struct source_lines *lines, const struct tool_origin *origin, size_t *out)
{
    bool added = false;
    *out = 0;
    if (!origin->source || origin->source[0] != '/')
        return 0;
    if (!wt__map_insert(&lines->lines, wt__str(origin->source), 0, &added))
        return WT_ENOMEM;
    int rc = added && wt__is_file(origin->source) ? read_source_lines(lines, origin->source, origin->format) : 0;
    if (rc < 0)
        return rc;
    *out = find_recorded_line(lines, origin->source, origin->exact);
    if (*out == 0)
        *out = find_recorded_line(lines, origin->source, origin->wherever);
    return 0;
}

void wt__lines_dispose(struct source_lines *lines)
{
    wt__map_dispose(&lines->lines);
    wt__arena_dispose(&lines->arena);
}
