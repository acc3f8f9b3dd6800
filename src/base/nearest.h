/* nearest.h: suggests the closest known word for a misspelt one ("did you mean"). */
#ifndef WT_BASE_NEAREST_H
#define WT_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum {
    NEAREST_WORD_MAX = 96, /* maximum bytes of a compared word; longer words never match */
    NEAREST_EDITS = 3      /* edit distance from which words count as unrelated */
};

/* The best candidate so far. The first of several equally close candidates wins. */
struct nearest {
    struct str word;                     /* misspelt word; borrowed */
    size_t edits;                        /* distance of the best candidate; NEAREST_EDITS if no candidate is close */
    char best[2 * NEAREST_WORD_MAX + 2]; /* name of the best candidate; "" if no candidate is close */
};

void wt__nearest_begin(struct nearest *nearest, struct str word);

/* Returns the edit distance with insertions, deletions, substitutions and swaps of neighbours (optimal string
 * alignment). Returns `most` if the distance is at least `most`, or if more characters change than stay. */
size_t wt__edit_distance(struct str word, struct str candidate, size_t most);

/* Keeps the candidate if it is closer to the word than the best candidate so far. */
void wt__nearest_show(struct nearest *nearest, struct str candidate);

#endif
