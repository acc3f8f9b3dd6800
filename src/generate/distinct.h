/* distinct.h: a set of texts without duplicates. Texts are duplicates if they have the same words or, with an
 * encoder, if the cosine of their vectors reaches a threshold. Each text is encoded once and compared with all
 * before it. */
#ifndef WT_GENERATE_DISTINCT_H
#define WT_GENERATE_DISTINCT_H

#include "base/arena.h"
#include "base/map.h"
#include "encoder/encoder.h"
#include "generate/piece.h"

struct distinct {
    const struct encoder *encoder; /* NULL to compare words only */
    struct encoder_scratch *scratch;
    struct arena arena; /* memory of the words */
    struct map words;
    double threshold;
    float *vectors;  /* [count, D] */
    float *likeness; /* [capacity] similarity of the current text to each */
    size_t count, capacity, likeness_capacity, dim;
};

/* encoder may be NULL, and must outlive the set. Errors: WT_ENOMEM. */
int wt__distinct_open(struct distinct *out, const struct encoder *encoder, double threshold, wt_error *err);
void wt__distinct_dispose(struct distinct *distinct);

/* Adds the text unless it is a duplicate. *fate: PIECE_TAKEN, PIECE_SAME_WORDS or PIECE_ALIKE. Errors: WT_ENOMEM. */
int wt__distinct_add(struct distinct *distinct, struct str text, enum piece_fate *fate, wt_error *err);

/* Sets *has to true if a text with the same words was added. Errors: WT_ENOMEM. */
int wt__distinct_has_words(const struct distinct *distinct, struct str text, bool *has, wt_error *err);

/* Returns the position in texts [count] of the text nearest to the last added one, or count without an encoder.
 * texts: numbers of texts in the order of adding, from 0. count > 0. */
size_t wt__distinct_nearest(const struct distinct *distinct, const size_t *texts, size_t count);

#endif
