/* added.h: tokens that stand in text literally, and cut it before the algorithm sees it: "[MASK]", "</s>".
 *
 * They are found from left to right, the longest where several begin. One may take the blanks beside it with it, and
 * one may ask to stand alone as a word. */
#ifndef WT_TEXT_ADDED_H
#define WT_TEXT_ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "text/trie.h"

/* What a token asks for besides its text. */
enum { ADDED_LSTRIP = 1, ADDED_RSTRIP = 2, ADDED_SINGLE_WORD = 4, ADDED_FLAG_BITS = 3 };

/* The trie's value of a token: its id, then its flags. */
static inline int32_t wt__added_value(int32_t id, unsigned flags)
{
    return (int32_t)((uint32_t)id << ADDED_FLAG_BITS | flags);
}

struct added {
    struct trie trie;
    bool begins[256]; /* the first bytes of tokens */
    int only;         /* the first byte when all agree; -1: none, -2: several */
    uint32_t id_end;  /* ids from here on are not found */
};

/* From a section as wt__trie_build makes it. False when it is not one. */
bool wt__added_open(struct added *out, const void *section, size_t len, uint32_t id_end);

struct added_match {
    struct str place; /* with the blanks that it takes */
    int32_t id;
};

/* The first token in text at `from` or behind it. */
bool wt__added_next(const struct added *added, struct str text, const char *from, struct added_match *out);

#endif
