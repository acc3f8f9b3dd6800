/* lexical_format.h: byte layout of a lexical index. Only counts are stored; array offsets are derived from them, so
 * no offset can be invalid. */
#ifndef WT_INDEX_LEXICAL_FORMAT_H
#define WT_INDEX_LEXICAL_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "index/lexical.h"

#define LEXICAL_MAGIC 0x58455457u /* "WTEX" in little-endian order */
enum { LEXICAL_VERSION = 2, LEXICAL_FULL = 65535 /* stored value of a term's maximum impact */ };

struct lexical_header {
    uint32_t magic, version, rows, terms, postings, blocks, text_len, reserved;
};

struct lexical_layout {
    size_t entries, row, block_last, damping, impact, block_max, text, len; /* byte offsets; len: whole block */
};

/* Returns the layout: arrays ordered by falling alignment, without gaps. Cannot overflow, because each count is
 * below 2^32. */
static inline struct lexical_layout wt__lexical_layout(const struct lexical_header *header)
{
    struct lexical_layout at = {.entries = sizeof *header};
    at.row = at.entries + ((size_t)header->terms + 1) * sizeof(struct lexical_entry);
    at.block_last = at.row + (size_t)header->postings * sizeof(uint32_t);
    at.damping = at.block_last + (size_t)header->blocks * sizeof(uint32_t);
    at.impact = at.damping + (size_t)header->rows * sizeof(float);
    at.block_max = at.impact + (size_t)header->postings * sizeof(uint16_t);
    at.text = at.block_max + (size_t)header->blocks * sizeof(uint16_t);
    at.len = at.text + header->text_len;
    return at;
}

/* Compares terms in dictionary order: unsigned bytes, prefixes first. */
static inline int wt__lexical_compare(struct str a, struct str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared ? memcmp(a.ptr, b.ptr, shared) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

#endif
