/* trie.c: built from sorted keys in one pass, level by level: a node is a range of them that agree so far. */
#include "text/trie.h"

#include <stdlib.h>

#include "base/memory.h"

size_t wt__trie_longest(const struct trie *trie, uint32_t node, struct str word, int32_t *value)
{
    size_t best = 0;

    for (size_t i = 0; i < word.len; i++) {
        node = wt__trie_child(trie, node, (unsigned char)word.ptr[i]);
        if (node == 0)
            break;
        int32_t here = wt__trie_node(trie, node).value;
        if (here >= 0) {
            best = i + 1;
            *value = here;
        }
    }
    return best;
}

int32_t wt__trie_find(const struct trie *trie, struct str key)
{
    uint32_t node = wt__trie_walk(trie, key);
    return node == 0 ? -1 : wt__trie_node(trie, node).value;
}

uint32_t wt__trie_walk(const struct trie *trie, struct str prefix)
{
    uint32_t node = 0;

    for (size_t i = 0; i < prefix.len; i++) {
        node = wt__trie_child(trie, node, (unsigned char)prefix.ptr[i]);
        if (node == 0)
            return 0;
    }
    return node;
}

bool wt__trie_open(struct trie *out, const void *section, size_t len)
{
    uint32_t count = 0;

    if (len < sizeof count)
        return false;
    memcpy(&count, section, sizeof count);
    uint64_t need = sizeof count + (uint64_t)count + ((uint64_t)count + 1) * sizeof(struct trie_node);
    if (count == 0 || need != len)
        return false;
    out->node_count = count;
    out->labels = (const unsigned char *)section + sizeof count;
    out->nodes = out->labels + count;
    return true;
}

/* Building. */

static int by_text(const void *left, const void *right)
{
    const struct trie_key *a = left, *b = right;
    size_t shorter = a->text.len < b->text.len ? a->text.len : b->text.len;
    int order = shorter > 0 ? memcmp(a->text.ptr, b->text.ptr, shorter) : 0;

    if (order == 0)
        order = (a->text.len > b->text.len) - (a->text.len < b->text.len);
    return order != 0 ? order : (a->value > b->value) - (a->value < b->value);
}

/* Range i is the sorted keys below node i, all of its depth in bytes or more, and alike so far. */
struct range {
    uint32_t first, last;
};

struct builder {
    const struct trie_key *keys;
    struct range *ranges;
    struct trie_node *nodes;
    unsigned char *labels;
    size_t len, range_capacity, node_capacity, label_capacity;
};

static int add_node(struct builder *b, unsigned char label, struct range range)
{
    size_t need = b->len + 1;

    if (wt__grow((void **)&b->ranges, &b->range_capacity, need, sizeof *b->ranges) != 0 ||
        wt__grow((void **)&b->nodes, &b->node_capacity, need, sizeof *b->nodes) != 0 ||
        wt__grow((void **)&b->labels, &b->label_capacity, need, 1) != 0)
        return -1;
    b->ranges[b->len] = range;
    b->nodes[b->len] = (struct trie_node){0, -1};
    b->labels[b->len++] = label;
    return 0;
}

/* Makes the children of node n, whose keys agree in their first depth bytes. */
static int add_children(struct builder *b, size_t n, size_t depth)
{
    struct range range = b->ranges[n];

    b->nodes[n].first_child = (uint32_t)b->len;
    /* Keys that end here come first, the one with the largest value last among them. */
    for (; range.first < range.last && b->keys[range.first].text.len == depth; range.first++)
        if (n > 0)
            b->nodes[n].value = b->keys[range.first].value;
    while (range.first < range.last) {
        unsigned char label = (unsigned char)b->keys[range.first].text.ptr[depth];
        uint32_t stop = range.first + 1;
        while (stop < range.last && (unsigned char)b->keys[stop].text.ptr[depth] == label)
            stop++;
        if (add_node(b, label, (struct range){range.first, stop}) != 0)
            return -1;
        range.first = stop;
    }
    return 0;
}

static int add_levels(struct builder *b, uint32_t count)
{
    if (add_node(b, 0, (struct range){0, count}) != 0)
        return -1;
    size_t depth = 0, level_end = 1;
    for (size_t n = 0; n < b->len; n++) {
        if (n == level_end) {
            depth++;
            level_end = b->len;
        }
        if (add_children(b, n, depth) != 0)
            return -1;
    }
    return 0;
}

int wt__trie_build(struct buffer *out, struct trie_key *keys, size_t count)
{
    struct builder b = {.keys = keys};

    if (count > 0)
        qsort(keys, count, sizeof *keys, by_text);
    int rc = add_levels(&b, (uint32_t)count);
    if (rc == 0) {
        uint32_t nodes = (uint32_t)b.len;
        struct trie_node sentinel = {nodes, -1};
        wt__buffer_append(out, &nodes, sizeof nodes);
        wt__buffer_append(out, b.labels, b.len);
        wt__buffer_append(out, b.nodes, b.len * sizeof *b.nodes);
        wt__buffer_append(out, &sentinel, sizeof sentinel);
        rc = out->failed ? -1 : 0;
    }
    free(b.ranges);
    free(b.nodes);
    free(b.labels);
    return rc;
}
