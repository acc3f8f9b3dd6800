/* trie_find.h: exact lookup in a trie, for tests. */
#ifndef WT_TESTS_TEXT_TRIE_FIND_H
#define WT_TESTS_TEXT_TRIE_FIND_H

#include "text/trie.h"

/* Returns the key's value, or -1. */
static inline int32_t trie_find(const struct trie *trie, struct str key)
{
    uint32_t node = wt__trie_walk(trie, key);
    return node == 0 ? -1 : wt__trie_unit(trie, node).value;
}

#endif
