/* added.h: literal tokens such as "[MASK]" or "</s>", which split text before the algorithm runs.
 *
 * Tokens are matched from left to right, the longest first. A token may include the blanks next to it, or may match
 * only as a separate word. */
#ifndef WT_TEXT_ADDED_H
#define WT_TEXT_ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "text/trie.h"

/* Matching options of a token. */
enum { ADDED_LSTRIP = 1, ADDED_RSTRIP = 2, ADDED_SINGLE_WORD = 4, ADDED_FLAG_BITS = 3 };

/* Returns the trie value of a token: its id and flags. */
static inline int32_t wt__added_value(int32_t id, unsigned flags)
{
    return (int32_t)((uint32_t)id << ADDED_FLAG_BITS | flags);
}

struct added {
    struct trie trie;
    bool begins[256]; /* first bytes of tokens */
    int only;         /* common first byte of all tokens; -1 without tokens, -2 if they differ */
    uint32_t id_end;  /* larger ids are ignored */
};

/* Opens a section built by wt__trie_build. Returns false if it is invalid. */
bool wt__added_open(struct added *out, const void *section, size_t len, uint32_t id_end);

struct added_match {
    struct str place; /* match, with the blanks it includes */
    int32_t id;
};

/* Finds the first token in text from `from` on. Returns false if there are no more tokens. */
bool wt__added_next(const struct added *added, struct str text, const char *from, struct added_match *out);

#endif
