/* trie.h: byte strings with a number each, as one flat section of a blob that is used as it lies: a double array.
 *
 *   units [N] { base u32, parent u32, value i32 }
 *
 * A node is the index of its unit; the root is 0. Its child under a byte stands at base ^ byte if the unit there names
 * the node as its parent, so that a step costs one look at one place. Twelve bytes a node, and few of them free: the
 * 30,522 tokens of uncased BERT make about 0.8 MB, of which a request touches a few pages.
 *
 * Safety: numbers from the blob are checked where they are used, because checking 80,000 nodes at open would cost more
 * than the request. A walk takes one byte of the word a step, so that cycles cannot hold it. */
#ifndef WT_TEXT_TRIE_H
#define WT_TEXT_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/str.h"

/* Borrows the section. */
struct trie {
    const unsigned char *units; /* [unit_count] struct trie_unit */
    uint32_t unit_count;
};

struct trie_unit {
    uint32_t base, parent;
    int32_t value; /* -1: only a prefix */
};

struct trie_key {
    struct str text;
    int32_t value; /* 0 or more */
};

/* Appends the section for keys, which are sorted by it. Of equal keys the one with the largest value counts. The empty
 * key is never found. 0, or -1 when memory is out. */
int wt__trie_build(struct buffer *out, struct trie_key *keys, size_t count);

/* False when section is not exactly one trie. */
bool wt__trie_open(struct trie *out, const void *section, size_t len);

static inline struct trie_unit wt__trie_unit(const struct trie *trie, uint32_t node)
{
    struct trie_unit unit;
    memcpy(&unit, trie->units + (size_t)node * sizeof unit, sizeof unit);
    return unit;
}

/* The child of `node`, which is below unit_count, under label, or 0. */
static inline uint32_t wt__trie_child(const struct trie *trie, uint32_t node, unsigned char label)
{
    uint32_t child = wt__trie_unit(trie, node).base ^ label;
    return child < trie->unit_count && wt__trie_unit(trie, child).parent == node ? child : 0;
}

/* The longest key that word begins with, reading from `node` instead of the root as if the bytes that lead there stood
 * before word. Returns its bytes in word and sets *value, or returns 0. */
size_t wt__trie_longest(const struct trie *trie, uint32_t node, struct str word, int32_t *value);

/* The node of a prefix, or 0. */
uint32_t wt__trie_walk(const struct trie *trie, struct str prefix);

#endif
