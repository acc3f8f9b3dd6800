/* soft_words.h: compares the words of a request with the words of tools by meaning. The rows of the built-in static
 * encoder serve as word vectors. "Photo" is close to "image", so a tool can match a request without a common word. */
#ifndef WT_RETRIEVE_SOFT_WORDS_H
#define WT_RETRIEVE_SOFT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "encoder/packed.h"
#include "index/row_words.h"

enum { SOFT_WORDS_MAX = 64 /* words of a request that are compared */ };

/* A word of a request. */
struct soft_word {
    struct str text; /* as written */
    float idf;
};

/* Cosines of the request's words with the words of candidates. Memory is in an arena. */
struct soft_words {
    size_t word_count;             /* n */
    const struct soft_word *words; /* [n] in the order of the request */
    const float **cosines;         /* [total] cosines [n] of each candidate word */
    const uint32_t *ends;          /* [N] end of each candidate's words in `cosines` */
    const uint32_t *name_ends;     /* [N] end of the words of its name, which come first */
};

/* Compares words [word_count], at most SOFT_WORDS_MAX, with the words of rows [count]. Errors: WT_ENOMEM. */
int wt__soft_words_compare(struct soft_words *out, const struct packed *encoder, const struct soft_word *words,
                           size_t word_count, const struct row_words *index, const uint32_t *rows, size_t count,
                           struct arena *arena, wt_error *err);

/* Similarity of a candidate's words to a text, 0 to 1. Means over the text's words are weighted by idf. All zero if
 * either side has no words. */
struct soft_match {
    float name, sentence, any; /* mean over the text's words of the best cosine with a word of that part */
    float cubed;               /* the same as `any` with the third power of each cosine */
    float hits;                /* share of the text's words with a cosine above SOFT_HIT */
    float name_mean, name_min; /* mean and minimum over the name's words of the best cosine with a word of the text */
    float sentence_mean;       /* mean over the sentence's words */
};
#define SOFT_HIT 0.6f

/* Computes the match of candidate c with the part of the request that is `text`. */
struct soft_match wt__soft_match(const struct soft_words *soft, struct str text, size_t c);

/* Raises each member of `best` to that of `match` if it is greater. */
void wt__soft_match_raise(struct soft_match *best, const struct soft_match *match);

#endif
