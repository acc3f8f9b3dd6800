/* precompiled.h: the character map that SentencePiece compiles into its models ("precompiled_charsmap"), read as it
 * lies: size of the trie u32 LE | double-array trie, units u32 LE | replacements, each ended by a NUL.
 *
 * A unit holds a label, an offset to the units of its children, and whether one of them is a leaf, which holds where in
 * the replacements the key's begins. Every index is checked, so that any bytes can be opened and searched. */
#ifndef WT_TEXT_PRECOMPILED_H
#define WT_TEXT_PRECOMPILED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Borrows the map. All zero maps nothing. */
struct precompiled {
    const unsigned char *units; /* [unit_count] u32 LE */
    size_t unit_count;
    struct str replacements;
};

/* False when the sizes in map do not fit its length. */
bool wt__precompiled_open(struct precompiled *out, struct str map);

/* The replacement of the shortest key that text begins with. False when there is none. */
bool wt__precompiled_find(const struct precompiled *p, struct str text, struct str *replacement);

#endif
