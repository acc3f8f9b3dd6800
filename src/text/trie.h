/* trie.h: byte strings with a number each, as one flat section of a blob that is used as it lies.
 *
 *   node_count u32 | labels [N] u8 | nodes [N + 1] { first_child u32, value i32 }
 *
 * Nodes are numbered level by level and, within one parent, by label; so a node's children are
 * first_child(n) .. first_child(n + 1) - 1, sorted, and no child count is stored. Node 0 is the root, the last node a
 * sentinel. Nine bytes a node: the 30,522 tokens of uncased BERT make about 0.7 MB, of which a request touches a few
 * pages.
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
    const unsigned char *labels; /* [node_count] the byte that leads into a node */
    const unsigned char *nodes;  /* [node_count + 1] */
    uint32_t node_count;
};

struct trie_node {
    uint32_t first_child;
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

static inline struct trie_node wt__trie_node(const struct trie *trie, uint32_t index)
{
    struct trie_node node;
    memcpy(&node, trie->nodes + (size_t)index * sizeof node, sizeof node);
    return node;
}

/* The child of `parent`, which is below node_count, under label, or 0. */
static inline uint32_t wt__trie_child(const struct trie *trie, uint32_t parent, unsigned char label)
{
    uint32_t low = wt__trie_node(trie, parent).first_child, end = wt__trie_node(trie, parent + 1).first_child;

    if (end > trie->node_count)
        return 0;
    for (uint32_t high = end; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (trie->labels[middle] == label)
            return middle;
        if (trie->labels[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* The longest key that word begins with, reading from `node` instead of the root as if the bytes that lead there stood
 * before word. Returns its bytes in word and sets *value, or returns 0. */
size_t wt__trie_longest(const struct trie *trie, uint32_t node, struct str word, int32_t *value);

/* The value of exactly this key, or -1; and the node of a prefix, or 0. */
int32_t wt__trie_find(const struct trie *trie, struct str key);
uint32_t wt__trie_walk(const struct trie *trie, struct str prefix);

#endif
