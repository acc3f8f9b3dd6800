/* precompiled.h: the character map that SentencePiece compiles into its models ("precompiled_charsmap"), used in place.
 * Layout: size of the trie u32 LE | double-array trie, units u32 LE | NUL-terminated replacements.
 *
 * A unit has a label, an offset to its children, and a flag for a leaf among them. A leaf has the offset of the
 * replacement. Every index is checked, so any bytes can be opened and searched. */
#ifndef WT_TEXT_PRECOMPILED_H
#define WT_TEXT_PRECOMPILED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Borrows the map. A zeroed struct maps nothing. */
struct precompiled {
    const unsigned char *units; /* [unit_count] u32 LE */
    size_t unit_count;
    struct str replacements;
};

/* Opens a map. Returns false if the sizes in it do not match its length. */
bool wt__precompiled_open(struct precompiled *out, struct str map);

/* Finds the replacement of the shortest key that is a prefix of text. Returns false if no key matches. */
bool wt__precompiled_find(const struct precompiled *p, struct str text, struct str *replacement);

#endif
