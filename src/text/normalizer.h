/* normalizer.h: how text is prepared for a unigram model, as a stream: nothing is stored beyond one character.
 *
 * The reference runs whole-text passes, one after the other, in the order of the fields below. Each of them looks at
 * one character and its next neighbours, so that all run on one character after the other. Two sets of them are in use:
 *
 *   4.x of the reference library (and spm.model alone)   strip both ends, character map, several spaces are one
 *   5.x                                                  several blanks are a space, NFC, strip the right end
 *
 * The character map works on grapheme clusters: one of less than CLUSTER_BYTES bytes is looked up whole, and the
 * shortest key that it begins with replaces all of it, also what stands behind that key. What is not found so, or is
 * longer, is looked up code point by code point. */
#ifndef WT_TEXT_NORMALIZER_H
#define WT_TEXT_NORMALIZER_H

#include <stdbool.h>

#include "text/precompiled.h"

enum {
    NORMALIZER_CLUSTER = 6,   /* bytes; a cluster of as many or more is not looked up whole */
    NORMALIZER_RUN = 256,     /* bytes handed on at once at the most */
    NORMALIZER_CHARACTER = 64 /* code points of one character that NFC reorders; more are taken in portions */
};

/* All zero, prepared, changes nothing but what is not UTF-8, which becomes U+FFFD. */
struct normalizer {
    bool squeeze_blanks; /* two or more blanks, and each tab, line feed and carriage return, become a space */
    bool compose;        /* NFC */
    bool strip_left, strip_right;
    struct precompiled map;
    bool collapse_spaces; /* several U+0020 become one, after the map */
    bool plain[128];      /* made by prepare: ASCII that no pass changes where ASCII follows */
};

/* Fills in what follows from the other fields. */
void wt__normalizer_prepare(struct normalizer *n);

/* Takes the next bytes of normalised text, whole code points; false ends it. */
typedef bool (*normalizer_put)(void *context, struct str bytes);

void wt__normalizer_run(const struct normalizer *n, struct str text, normalizer_put put, void *context);

#endif
