/* nearest.h: which of many words somebody may have meant who typed one that is none of them. */
#ifndef WT_BASE_NEAREST_H
#define WT_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum {
    NEAREST_WORD_MAX = 96, /* bytes of a word that is compared: longer ones are near nothing */
    NEAREST_EDITS = 3      /* so many edits away is another word */
};

/* Candidates are shown one after another; the nearest is kept, the first of equally near ones. */
struct nearest {
    struct str word;                     /* what was typed; borrowed */
    size_t edits;                        /* to the nearest so far; NEAREST_EDITS: none is near */
    char best[2 * NEAREST_WORD_MAX + 2]; /* what to call it; "" where none is near */
};

void wt__nearest_begin(struct nearest *nearest, struct str word);

/* Edits from `word` to the candidate: insert, delete, change, swap neighbours (optimal string alignment); `most` where
 * there are that many or more, or where as much would be changed as is kept. */
size_t wt__edits(struct str word, struct str candidate, size_t most);

/* The candidate takes the place if it is nearer. */
void wt__nearest_show(struct nearest *nearest, struct str candidate);

/* Notes what is called so as `edits` away, if that is nearer. */
void wt__nearest_note(struct nearest *nearest, size_t edits, struct str called);

#endif
