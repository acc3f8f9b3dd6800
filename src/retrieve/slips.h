/* slips.h: the cost of mistyping one word as another.
 *
 * This is a Damerau-Levenshtein distance (letters lost, added, exchanged and swapped), weighted by how often people
 * make each slip. Cheap slips are a doubled letter, swapped neighbours and a wrong vowel. Expensive slips are a wrong
 * first letter and a wrong consonant near the end. The latter usually makes a different word (quantify, quantity).
 *
 * The intended word is given letter by letter, so that words with a common prefix share the work. Costs above
 * SLIPS_MOST are not computed. Words whose lengths differ by three letters always cost more, so only the SLIPS_BAND
 * positions on either side of each letter are computed (Ukkonen 1985). */
#ifndef WT_RETRIEVE_SLIPS_H
#define WT_RETRIEVE_SLIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Costs in hundredths of the cost of an added letter. */
enum slip {
    SLIP_DOUBLED = 60, /* mesage, channnel */
    SLIP_SWAPPED = 70, /* porject */
    SLIP_VOWEL = 75,   /* calender */
    SLIP_LOST_VOWEL = 90,
    SLIP_LOST = 100,
    SLIP_ADDED = 100,
    SLIP_ALIKE = 100,    /* neighbouring or similar-sounding consonants: gitjub, subscribtion */
    SLIP_UNLIKE = 200,   /* any other letter */
    SLIP_AT_FRONT = 80,  /* surcharge for the first letter */
    SLIP_NEAR_END = 100, /* surcharge for a consonant among the last two typed letters */
};

enum {
    SLIPS_ALPHABET = 26,
    SLIPS_LETTERS = 24, /* maximum letters of a typed word; the intended word may have two more */
    SLIPS_BAND = 2,
    SLIPS_MOST = (SLIPS_BAND + 1) * SLIP_DOUBLED - 1,
    SLIPS_FAR = 30000 /* above the cost of any word */
};

struct slips {
    struct str typed; /* letters a to z */
    char meant[SLIPS_LETTERS + 2];
    unsigned most;
    uint16_t added[SLIPS_LETTERS];                        /* cost of each typed letter as a superfluous one */
    uint16_t exchanged[SLIPS_ALPHABET][SLIPS_LETTERS];    /* cost by intended letter, except for the first one */
    uint16_t least[SLIPS_LETTERS + 3];                    /* minimum cost after so many intended letters */
    uint32_t near[SLIPS_LETTERS + SLIPS_BAND];            /* bitmap of the letters typed near each intended letter */
    uint16_t costs[SLIPS_LETTERS + 3][SLIPS_LETTERS + 1]; /* [intended letters so far][typed letters so far] */
};

/* Starts a comparison. typed: 1 to SLIPS_LETTERS letters a to z, borrowed. most: costs above it need not be exact; at
 * most SLIPS_MOST. */
void wt__slips_begin(struct slips *slips, struct str typed, unsigned most);

/* Sets letter number `at` (0-based, below typed.len + 2) of the intended word and keeps the letters before it. Returns
 * the minimum cost of any word with this prefix. If that exceeds `most`, do not add further letters. */
unsigned wt__slips_add(struct slips *slips, size_t at, char letter);

/* Returns a bitmap, a = bit 0, of the affordable letters at position `at` of the intended word. */
uint32_t wt__slips_letters(const struct slips *slips, size_t at);

/* Returns the cost if the intended word ends after so many letters. */
static inline unsigned wt__slips_cost(const struct slips *slips, size_t letters)
{
    bool near = letters <= slips->typed.len + SLIPS_BAND && slips->typed.len <= letters + SLIPS_BAND;
    return near ? slips->costs[letters][slips->typed.len] : SLIPS_FAR;
}

#endif
