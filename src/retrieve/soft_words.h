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

/* Providers of N candidates. */
struct candidate_providers {
    size_t count;            /* P */
    const uint32_t *numbers; /* [N] provider of each candidate, below P */
    const uint32_t *order;   /* [N] candidates, those of a provider together */
    const uint32_t *ends;    /* [P] end of each provider in `order` */
};

/* Cosines of the request's words with the words of candidates. Memory is in an arena. */
struct soft_words {
    size_t word_count, count, dim; /* n; N; dimensions of a vector */
    const struct soft_word *words; /* [n] in the order of the request */
    const float *requested;        /* [n, dim] vectors of the request's words, not normalised */

    size_t distinct;      /* W different words of all candidates */
    const float *cosines; /* [W, n] */
    const float *vectors; /* [W, dim] not normalised */
    const float *rarity;  /* [W] 1 for a word that a single candidate has, near 0 for a word that all have */
    float *sum;           /* [dim] scratch of wt__soft_match */
    float *best, *dots;   /* [W] the same */

    const uint32_t *numbers;   /* [total] number of each candidate word, below W */
    const float *own_rarity;   /* [total] its rarity among the candidates of the same provider */
    const uint32_t *ends;      /* [N] end of each candidate's words in `numbers` */
    const uint32_t *name_ends; /* [N] end of the words of its name, which come first */
    const float *name_lengths; /* [N] length of the sum of the vectors of the name's words */
    const float *lengths;      /* [N] of all words */
};

/* Compares words [word_count], at most SOFT_WORDS_MAX, with the words of rows [count]. Errors: WT_ENOMEM. */
int wt__soft_words_compare(struct soft_words *out, const struct packed *encoder, const struct soft_word *words,
                           size_t word_count, const struct row_words *index, const uint32_t *rows, size_t count,
                           const struct candidate_providers *providers, struct arena *arena, wt_error *err);

/* Similarity of a candidate's words to a text. Values are 0 to 1 if nothing else is said. Means over the text's words
 * are weighted by idf. All zero if either side has no words. */
struct soft_match {
    float name, sentence, any; /* mean over the text's words of the best cosine with a word of that part */
    float cubed;               /* the same as `any` with the third power of each cosine */
    float hits;                /* share of the text's words with a cosine above SOFT_HIT */
    float name_mean, name_min; /* mean and minimum over the name's words of the best cosine with a word of the text */
    float sentence_mean;       /* mean over the sentence's words */

    /* Means weighted by rarity among all candidates (rare), and among those of the provider (own). */
    float rare_name, rare_sentence, own_name, own_sentence;
    /* Sums of rarity times (best cosine - 1): what the tool says and the text does not. At most 0. */
    float rare_name_excess, rare_sentence_excess, own_name_excess, own_sentence_excess;
    /* Cosine of the sum of the vectors of the text's words with that of the name's words or of all words; -1 to 1. */
    float name_cosine, cosine;
};
#define SOFT_HIT 0.6f

/* Computes the match of each candidate with the part of the request that is `text`. matches: [N]. */
void wt__soft_match(const struct soft_words *soft, struct str text, struct soft_match *matches);

/* Raises each member of `best` to that of `match` if it is greater. */
void wt__soft_match_raise(struct soft_match *best, const struct soft_match *match);

#endif
