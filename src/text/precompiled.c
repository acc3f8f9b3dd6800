/* precompiled.c: lookup in the double-array trie, up to the first matching key. */
#include "text/precompiled.h"

enum { UNIT_BYTES = 4 };

#define LABEL_MASK 0x800000FFU /* leaves have the top bit set, so they never match a label */
#define VALUE_MASK 0x7FFFFFFFU

static uint32_t read_unit(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Returns a unit, or 0 if the index is out of range. 0 never matches a label. */
static uint32_t unit_at(const struct precompiled *p, size_t index)
{
    return index < p->unit_count ? read_unit(p->units + index * UNIT_BYTES) : 0;
}

static size_t offset_of(uint32_t unit)
{
    return (size_t)(unit >> 10) << ((unit & 0x200) >> 6);
}

static bool has_leaf(uint32_t unit)
{
    return (unit >> 8 & 1) != 0;
}

bool wt__precompiled_open(struct precompiled *out, struct str map)
{
    *out = (struct precompiled){0};
    if (map.len < UNIT_BYTES)
        return false;
    const unsigned char *bytes = (const unsigned char *)map.ptr;
    size_t trie = read_unit(bytes);
    if (trie % UNIT_BYTES != 0 || trie > map.len - UNIT_BYTES)
        return false;
    out->units = bytes + UNIT_BYTES;
    out->unit_count = trie / UNIT_BYTES;
    out->replacements = (struct str){map.ptr + UNIT_BYTES + trie, map.len - UNIT_BYTES - trie};
    return true;
}

bool wt__precompiled_find(const struct precompiled *p, struct str text, struct str *replacement)
{
    size_t at = offset_of(unit_at(p, 0));

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == 0) /* NUL ends keys */
            return false;
        uint32_t unit = unit_at(p, at ^ c);
        if ((unit & LABEL_MASK) != c)
            return false;
        at = at ^ c ^ offset_of(unit);
        if (!has_leaf(unit))
            continue;
        size_t start = unit_at(p, at) & VALUE_MASK;
        if (start >= p->replacements.len)
            return false;
        const char *from = p->replacements.ptr + start, *stop = memchr(from, 0, p->replacements.len - start);
        *replacement = (struct str){from, stop ? (size_t)(stop - from) : 0};
        return stop != NULL;
    }
    return false;
}
