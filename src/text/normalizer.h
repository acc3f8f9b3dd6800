/* normalizer.h: prepares text for a unigram model, as a stream that buffers only one character.
 *
 * The reference runs passes over the whole text, in the order of the fields below. Each pass depends on one character
 * and its neighbours, so all passes can run character by character. Two sets of passes are in use:
 *
 *   4.x of the reference library (and spm.model alone)   strip both ends, character map, collapse spaces
 *   5.x                                                  collapse blanks to a space, NFC, strip the right end
 *
 * The character map works on grapheme clusters. A cluster shorter than NORMALIZER_CLUSTER bytes is looked up as a
 * whole: the shortest key that is its prefix replaces the entire cluster. If no key matches, or the cluster is longer,
 * each code point is looked up separately. */
#ifndef WT_TEXT_NORMALIZER_H
#define WT_TEXT_NORMALIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* The character map that SentencePiece compiles into its models ("precompiled_charsmap"), used in place.
 * Layout: size of the trie u32 LE | double-array trie, units u32 LE | NUL-terminated replacements.
 *
 * A unit has a label, an offset to its children, and a flag for a leaf among them. A leaf has the offset of the
 * replacement. Every index is checked, so any bytes can be opened and searched.
 *
 * The struct borrows the map. A zeroed struct has an empty map. */
struct precompiled {
    const unsigned char *units; /* [unit_count] u32 LE */
    size_t unit_count;
    struct str replacements;
};

/* Opens a map. Returns false if the sizes in it do not match its length. */
bool wt__precompiled_open(struct precompiled *out, struct str map);

/* Finds the replacement of the shortest key that is a prefix of text. Returns false if no key matches. */
bool wt__precompiled_find(const struct precompiled *p, struct str text, struct str *replacement);

enum {
    NORMALIZER_CLUSTER = 6,   /* bytes; clusters of this length or more are looked up by code point */
    NORMALIZER_RUN = 256,     /* maximum bytes per output call */
    NORMALIZER_CHARACTER = 64 /* maximum code points of a character for NFC; longer ones are processed in portions */
};

/* A zeroed struct, after wt__normalizer_prepare, only replaces invalid UTF-8 by U+FFFD. */
struct normalizer {
    bool squeeze_blanks; /* replace two or more blanks, and each tab, line feed and carriage return, by a space */
    bool compose;        /* NFC */
    bool strip_left, strip_right;
    struct precompiled map;
    bool collapse_spaces; /* replace several U+0020 by one, after the map */
    bool plain[128];      /* set by prepare: ASCII that no pass changes if ASCII follows */
};

/* Derives the remaining fields. */
void wt__normalizer_prepare(struct normalizer *n);

/* Receives the next bytes of normalised text, in whole code points. Returns false to stop. */
typedef bool (*normalizer_put)(void *context, struct str bytes);

void wt__normalizer_run(const struct normalizer *n, struct str text, normalizer_put put, void *context);

#endif
