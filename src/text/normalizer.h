/* normalizer.h: normalises text for a unigram model. The output is sent in pieces, and at most one character is
 * buffered.
 *
 * The reference library runs several passes over the whole text. Each pass depends only on a character and its
 * neighbours, so here all passes run character by character. Models use one of two sets of passes, depending on the
 * version of the reference library:
 *
 *   4.x, and models with spm.model alone   strip both ends, character map, collapse spaces
 *   5.x                                    collapse blanks to a space, NFC, strip the right end
 *
 * The character map works on grapheme clusters. If a cluster is shorter than NORMALIZER_CLUSTER bytes and a key of the
 * map is a prefix of the cluster, the replacement of the shortest such key replaces the whole cluster. Otherwise each
 * code point is looked up separately. */
#ifndef WT_TEXT_NORMALIZER_H
#define WT_TEXT_NORMALIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* The character map that SentencePiece compiles into its models ("precompiled_charsmap"), used in place.
 * Layout: size of the trie u32 LE | double-array trie, units u32 LE | NUL-terminated replacements.
 *
 * A unit of the trie has a label, the offset of its children, and a flag if one of the children is a leaf. A leaf has
 * the offset of the replacement. Every index is checked at use, so any bytes can be opened and searched safely.
 *
 * The struct borrows the map. A zeroed struct has an empty map. */
struct precompiled {
    const unsigned char *units; /* [unit_count] u32 LE */
    size_t unit_count;
    struct str replacements; /* NUL-terminated texts */
};

/* Opens a map. Returns false if the sizes in it do not match its length. */
bool wt__precompiled_open(struct precompiled *out, struct str map);

/* Finds the replacement of the shortest key that is a prefix of text. Returns false if no key matches. */
bool wt__precompiled_find(const struct precompiled *p, struct str text, struct str *replacement);

enum {
    NORMALIZER_CLUSTER = 6,   /* clusters of at least this many bytes are looked up by code point */
    NORMALIZER_RUN = 256,     /* maximum bytes of unchanged ASCII per output call */
    NORMALIZER_CHARACTER = 64 /* maximum code points that NFC composes together */
};

/* Passes of a normaliser; true to run the pass. If all are false, the normaliser only replaces invalid UTF-8 by
 * U+FFFD. */
struct normalizer {
    bool squeeze_blanks;          /* replace each run of two or more blanks, and each tab and line end, by one space */
    bool compose;                 /* NFC */
    bool strip_left, strip_right; /* remove blanks at the start, at the end */
    struct precompiled map;       /* empty without a character map */
    bool collapse_spaces;         /* replace runs of U+0020 by one U+0020, after the map */
    bool plain[128]; /* true for ASCII characters that no pass changes, unless a non-ASCII character follows; set by
                      * wt__normalizer_prepare */
};

/* Sets `plain` from the other fields. Must be called before wt__normalizer_run. */
void wt__normalizer_prepare(struct normalizer *n);

/* Receives the next bytes of normalised text, in whole code points. Returns false to stop. */
typedef bool (*normalizer_put)(void *context, struct str bytes);

/* Normalises text and sends the result to `put`. Invalid UTF-8 is read as U+FFFD. */
void wt__normalizer_run(const struct normalizer *n, struct str text, normalizer_put put, void *context);

#endif
