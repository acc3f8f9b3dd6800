/* trie.h: a trie that maps byte strings to numbers. It is a double array, in a flat section of a blob that is used in
 * place:
 *
 *   units [N] { base u32, parent u32, value i32 }
 *
 * A node is identified by the index of its unit, and the root is 0. The child of a node for a byte is at base ^ byte,
 * if the unit there has the node as its parent. So each step reads one unit. A unit takes twelve bytes, and few units
 * are free. The 30,522 tokens of uncased BERT take about 0.8 MB, and a request reads only a few pages of them.
 *
 * Safety: numbers in the blob are checked at use. Checking 80,000 nodes when a blob is opened would take longer than a
 * request. A lookup consumes one byte of the word per step, so it ends even if the nodes form a cycle. */
#ifndef WT_TEXT_TRIE_H
#define WT_TEXT_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/str.h"

/* A trie, which borrows its section. */
struct trie {
    const unsigned char *units; /* [unit_count] struct trie_unit */
    uint32_t unit_count;
};

struct trie_unit {
    uint32_t base, parent;
    int32_t value; /* -1 if the node is only a prefix of keys */
};

struct trie_key {
    struct str text;
    int32_t value; /* 0 or more */
};

/* Appends the section for keys [count], and sorts `keys`. Of equal keys, the largest value is kept. The empty key is
 * ignored. Returns 0, or -1 if out of memory. */
int wt__trie_build(struct buffer *out, struct trie_key *keys, size_t count);

/* Opens a section. Returns false if its size is invalid. */
bool wt__trie_open(struct trie *out, const void *section, size_t len);

static inline struct trie_unit wt__trie_unit(const struct trie *trie, uint32_t node)
{
    struct trie_unit unit;
    memcpy(&unit, trie->units + (size_t)node * sizeof unit, sizeof unit);
    return unit;
}

/* Returns the child of `node` for the byte `label`; 0 if there is no such child. node must be below unit_count. */
static inline uint32_t wt__trie_child(const struct trie *trie, uint32_t node, unsigned char label)
{
    uint32_t child = wt__trie_unit(trie, node).base ^ label;
    return child < trie->unit_count && wt__trie_unit(trie, child).parent == node ? child : 0;
}

/* Finds the longest prefix of `word` that leads from `node` to a key. node: 0 to search for the prefix itself, or the
 * result of wt__trie_walk to search for keys that start with the walked text. Returns the length of the prefix of
 * `word` and sets *value to the value of the key. Returns 0 if no key is found. */
size_t wt__trie_longest(const struct trie *trie, uint32_t node, struct str word, int32_t *value);

/* Returns the node of a prefix; 0 if no key has the prefix. */
uint32_t wt__trie_walk(const struct trie *trie, struct str prefix);

#endif
