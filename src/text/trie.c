/* trie.c: builds a trie level by level from sorted keys. A node is a range of keys with a common prefix. The children
 * of a node are placed at a base where all their units are free. Nodes near the root have many children and are placed
 * first. The many nodes with one child then fill the gaps. After TRIES failed attempts to place a node's children, the
 * array grows, so that building takes linear time. */
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
        int32_t here = wt__trie_unit(trie, node).value;
        if (here >= 0) {
            best = i + 1;
            *value = here;
        }
    }
    return best;
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
    size_t count = len / sizeof(struct trie_unit);
    out->units = section;
    out->unit_count = (uint32_t)count;
    return count > 0 && count < UINT32_MAX && len % sizeof(struct trie_unit) == 0;
}

static int compare_key_texts(const void *left, const void *right)
{
    const struct trie_key *a = left, *b = right;
    size_t shorter = a->text.len < b->text.len ? a->text.len : b->text.len;
    int order = shorter > 0 ? memcmp(a->text.ptr, b->text.ptr, shorter) : 0;
    if (order == 0)
        order = (a->text.len > b->text.len) - (a->text.len < b->text.len);
    return order != 0 ? order : (a->value > b->value) - (a->value < b->value);
}

enum {
    BLOCK = 256, /* units added when the array grows; the children of a node are in one block */
    TRIES = 256  /* attempts to place the children of one node */
};
#define NO_PARENT UINT32_MAX /* parent of free units and of the root */

/* A node to be added: keys first .. last - 1, which are equal in their first `depth` bytes. */
struct key_range {
    uint32_t node, first, last, depth;
};

/* State of a unit. Free units form a linked list in array order. */
struct gap {
    uint32_t next, previous; /* adjacent free units; 0 at the ends of the list */
    bool taken;
};

struct builder {
    const struct trie_key *keys;
    struct trie_unit *units;
    struct gap *gaps;
    struct key_range *queue;
    size_t unit_count, unit_capacity, gap_capacity, queued, queue_capacity;
    uint32_t first_free, last_free;
};

static void claim_unit(struct builder *b, uint32_t node)
{
    struct gap *gap = &b->gaps[node];
    *(gap->previous ? &b->gaps[gap->previous].next : &b->first_free) = gap->next;
    *(gap->next ? &b->gaps[gap->next].previous : &b->last_free) = gap->previous;
    gap->taken = true;
}

static int add_block(struct builder *b)
{
    size_t count = b->unit_count + BLOCK;
    if (wt__grow((void **)&b->units, &b->unit_capacity, count, sizeof *b->units) != 0 ||
        wt__grow((void **)&b->gaps, &b->gap_capacity, count, sizeof *b->gaps) != 0)
        return -1;
    for (; b->unit_count < count; b->unit_count++) {
        uint32_t node = (uint32_t)b->unit_count;
        b->units[node] = (struct trie_unit){0, NO_PARENT, -1};
        b->gaps[node] = (struct gap){0, b->last_free, node == 0};
        if (node == 0) /* Unit 0 is the root and never free. */
            continue;
        *(b->last_free ? &b->gaps[b->last_free].next : &b->first_free) = node;
        b->last_free = node;
    }
    return 0;
}

static bool labels_fit(const struct builder *b, uint32_t base, const unsigned char *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (b->gaps[base ^ labels[i]].taken)
            return false;
    return true;
}

/* Finds a base at which the units of all children with these labels are free. count is at least 1. */
static int find_base(struct builder *b, const unsigned char *labels, size_t count, uint32_t *base)
{
    uint32_t place = b->first_free;
    for (size_t tries = 0; place != 0 && tries < TRIES; tries++, place = b->gaps[place].next) {
        *base = place ^ labels[0];
        if (labels_fit(b, *base, labels, count))
            return 0;
    }
    *base = (uint32_t)b->unit_count ^ labels[0]; /* No base was found: use a new block. */
    return add_block(b);
}

static int enqueue_range(struct builder *b, struct key_range range)
{
    if (wt__grow((void **)&b->queue, &b->queue_capacity, b->queued + 1, sizeof *b->queue) != 0)
        return -1;
    b->queue[b->queued++] = range;
    return 0;
}

/* Sets the value of a node and adds its children. */
static int add_node(struct builder *b, struct key_range range)
{
    unsigned char labels[256];
    uint32_t starts[257], base = 0;
    size_t count = 0;
    /* Keys that end at this node come first. Of equal keys, the last has the largest value. */
    for (; range.first < range.last && b->keys[range.first].text.len == range.depth; range.first++)
        if (range.node != 0)
            b->units[range.node].value = b->keys[range.first].value;
    for (uint32_t i = range.first; i < range.last; i++) {
        unsigned char label = (unsigned char)b->keys[i].text.ptr[range.depth];
        if (count == 0 || labels[count - 1] != label) {
            starts[count] = i;
            labels[count++] = label;
        }
    }
    starts[count] = range.last;
    if (count == 0)
        return 0;
    if (find_base(b, labels, count, &base) != 0)
        return -1;
    b->units[range.node].base = base;
    for (size_t i = 0; i < count; i++) {
        uint32_t child = base ^ labels[i];
        claim_unit(b, child);
        b->units[child].parent = range.node;
        if (enqueue_range(b, (struct key_range){child, starts[i], starts[i + 1], range.depth + 1}) != 0)
            return -1;
    }
    return 0;
}

int wt__trie_build(struct buffer *out, struct trie_key *keys, size_t count)
{
    struct builder b = {.keys = keys};
    if (count > 0)
        qsort(keys, count, sizeof *keys, compare_key_texts);
    int rc = add_block(&b);
    if (rc == 0)
        rc = enqueue_range(&b, (struct key_range){0, 0, (uint32_t)count, 0});
    for (size_t i = 0; rc == 0 && i < b.queued; i++)
        rc = add_node(&b, b.queue[i]);
    if (rc == 0) {
        wt__buffer_append(out, b.units, b.unit_count * sizeof *b.units);
        rc = out->failed ? -1 : 0;
    }
    free(b.units);
    free(b.gaps);
    free(b.queue);
    return rc;
}
