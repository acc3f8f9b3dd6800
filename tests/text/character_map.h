/* character_map.h: compiles a SentencePiece character map from a list, for tests. The map is a double array. For each
 * node, bases are tried in order until the units of all its children are free. */
#ifndef WT_TESTS_TEXT_CHARACTER_MAP_H
#define WT_TESTS_TEXT_CHARACTER_MAP_H

#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

struct mapped {
    const char *key, *replacement;
};

enum { MAP_UNITS = 1 << 14 };

struct map_builder {
    const struct mapped *rows;
    size_t count;
    uint32_t units[MAP_UNITS];
    unsigned char taken[MAP_UNITS];
    unsigned char is_base[MAP_UNITS]; /* 1 if a node has this base, which no other node may share */
    uint32_t places[64];              /* offset in bytes of each row's replacement */
};

static inline void map_place(struct map_builder *b, uint32_t node, const char *prefix, size_t depth)
{
    unsigned char labels[256] = {0};
    uint32_t base = 1;

    for (size_t i = 0; i < b->count; i++)
        if (strncmp(b->rows[i].key, prefix, depth) == 0)
            labels[(unsigned char)b->rows[i].key[depth]] = 1; /* NUL marks a leaf */
    for (;; base++) {
        int free_here = !b->is_base[base];
        for (uint32_t c = 0; c < 256; c++)
            free_here = free_here && !(labels[c] && b->taken[base ^ c]);
        if (free_here)
            break;
    }
    b->is_base[base] = 1;
    b->units[node] |= (node ^ base) << 10 | (labels[0] ? 0x100U : 0U);
    for (uint32_t c = 0; c < 256; c++)
        b->taken[base ^ c] |= labels[c];
    for (size_t i = 0; i < b->count; i++) {
        if (strncmp(b->rows[i].key, prefix, depth) != 0 || !labels[(unsigned char)b->rows[i].key[depth]])
            continue;
        unsigned char c = (unsigned char)b->rows[i].key[depth];
        labels[c] = 0;
        b->units[base ^ c] = c == 0 ? 0x80000000U | b->places[i] : c;
        if (c != 0)
            map_place(b, base ^ c, b->rows[i].key, depth + 1);
    }
}

/* Appends the map of the rows. rows: [count], with unique keys. count: at most 64. */
static inline void append_character_map(struct buffer *out, const struct mapped *rows, size_t count)
{
    static struct map_builder b;
    struct buffer replacements = {0};
    uint32_t size = sizeof b.units;

    memset(&b, 0, sizeof b);
    b.rows = rows;
    b.count = count;
    b.taken[0] = 1;
    for (size_t i = 0; i < count; i++) {
        b.places[i] = (uint32_t)replacements.len;
        wt__buffer_append(&replacements, rows[i].replacement, strlen(rows[i].replacement) + 1);
    }
    map_place(&b, 0, "", 0);
    for (int shift = 0; shift < 32; shift += 8)
        wt__buffer_char(out, (char)(size >> shift & 0xFF));
    for (size_t i = 0; i < MAP_UNITS; i++)
        for (int shift = 0; shift < 32; shift += 8)
            wt__buffer_char(out, (char)(b.units[i] >> shift & 0xFF));
    wt__buffer_append(out, replacements.ptr, replacements.len);
    wt__buffer_dispose(&replacements);
}

#endif
