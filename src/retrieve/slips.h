/* slips.h: how much it takes to have typed one word for another.
 *
 * The distance of Damerau and Levenshtein (letters lost, added, exchanged and swapped), weighed by how often people
 * slip so: a letter doubled or not, neighbours swapped and a vowel for a vowel are likely, the first letter is mostly
 * right, and another consonant near a word's end is rather another word (quantify, quantity) than a slip.
 *
 * The meant word is given letter by letter, so that words that begin alike share the work. Nobody asks for what takes
 * more than SLIPS_MOST: no less brings three letters more or fewer than were typed, so of each letter only the
 * SLIPS_BAND places on either side are looked at (Ukkonen 1985). */
#ifndef WT_RETRIEVE_SLIPS_H
#define WT_RETRIEVE_SLIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Hundredths of a letter lost or added. */
enum slip {
    SLIP_DOUBLED = 60, /* mesage, channnel */
    SLIP_SWAPPED = 70, /* porject */
    SLIP_VOWEL = 75,   /* calender */
    SLIP_LOST_VOWEL = 90,
    SLIP_LOST = 100,
    SLIP_ADDED = 100,
    SLIP_ALIKE = 100,    /* consonants that lie or sound alike: gitjub, subscribtion */
    SLIP_UNLIKE = 200,   /* any other letter */
    SLIP_AT_FRONT = 80,  /* more, where it is the first letter */
    SLIP_NEAR_END = 100, /* more, where a consonant is one of the last two letters typed */
};

enum {
    SLIPS_ALPHABET = 26,
    SLIPS_LETTERS = 24, /* of a typed word; a meant one may have two more */
    SLIPS_BAND = 2,
    SLIPS_MOST = (SLIPS_BAND + 1) * SLIP_DOUBLED - 1,
    SLIPS_FAR = 30000 /* more than any word takes */
};

struct slips {
    struct str typed; /* letters a to z */
    char meant[SLIPS_LETTERS + 2];
    unsigned most;
    uint16_t added[SLIPS_LETTERS];                        /* what it takes that each typed letter is too many */
    uint16_t exchanged[SLIPS_ALPHABET][SLIPS_LETTERS];    /* for each letter behind the first one meant */
    uint16_t least[SLIPS_LETTERS + 3];                    /* of the costs of so many letters meant */
    uint32_t near[SLIPS_LETTERS + SLIPS_BAND];            /* the letters typed near each meant one, a bit each */
    uint16_t costs[SLIPS_LETTERS + 3][SLIPS_LETTERS + 1]; /* of so many letters meant and so many typed */
};

/* typed: 1 to SLIPS_LETTERS letters a to z, borrowed. most: what may be told as any more if it is more; at most
 * SLIPS_MOST. */
void wt__slips_begin(struct slips *slips, struct str typed, unsigned most);

/* The meant word's letter number `at`, from 0, which is below typed.len + 2; those before it stay. Returns the least
 * cost that a word which begins so can have; if it is more than `most`, no letter may follow. */
unsigned wt__slips_add(struct slips *slips, size_t at, char letter);

/* The letters that may be the meant word's number `at`, a bit each from a on; any other costs too much. */
uint32_t wt__slips_letters(const struct slips *slips, size_t at);

/* What it takes where the meant word ends after so many letters. */
static inline unsigned wt__slips_cost(const struct slips *slips, size_t letters)
{
    bool near = letters <= slips->typed.len + SLIPS_BAND && slips->typed.len <= letters + SLIPS_BAND;
    return near ? slips->costs[letters][slips->typed.len] : SLIPS_FAR;
}

#endif
