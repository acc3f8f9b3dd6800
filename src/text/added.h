/* added.h: finds added tokens, which are literal texts such as "[MASK]" or "</s>". They are cut out of the text before
 * the tokenizer's algorithm runs on the remaining segments.
 *
 * Tokens are matched from left to right, the longest first. Depending on its flags, a match includes adjacent blanks,
 * or must be a separate word. */
#ifndef WT_TEXT_ADDED_H
#define WT_TEXT_ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "text/trie.h"

/* Flags of a token. */
enum {
    ADDED_LSTRIP = 1,      /* a match includes the blanks before the token */
    ADDED_RSTRIP = 2,      /* a match includes the blanks after the token */
    ADDED_SINGLE_WORD = 4, /* the token matches only as a separate word */
    ADDED_FLAG_BITS = 3    /* number of bits of all flags */
};

/* Returns the value of a token in the trie, which combines id and flags. */
static inline int32_t wt__added_value(int32_t id, unsigned flags)
{
    return (int32_t)((uint32_t)id << ADDED_FLAG_BITS | flags);
}

struct added {
    struct trie trie;
    bool begins[256]; /* true for bytes that begin a token */
    int only;         /* first byte of all tokens; -1 without tokens, -2 if the first bytes differ */
    uint32_t id_end;  /* tokens with this id or a greater id are ignored */
};

/* Opens a section built by wt__trie_build. Returns false if it is invalid. */
bool wt__added_open(struct added *out, const void *section, size_t len, uint32_t id_end);

struct added_match {
    struct str place; /* matched text, with the blanks that the match includes */
    int32_t id;
};

/* Finds the first token in `text` from the position `from` on. Returns false if there are no more tokens. */
bool wt__added_next(const struct added *added, struct str text, const char *from, struct added_match *out);

#endif
