/* distinct.h: texts of which no two are the same, by their words, and where there is an encoder by their meaning: a
 * cosine at or above the threshold. Every text is encoded once, and compared with all before it. */
#ifndef WT_GENERATE_DISTINCT_H
#define WT_GENERATE_DISTINCT_H

#include "base/arena.h"
#include "base/map.h"
#include "encoder/encoder.h"
#include "generate/piece.h"

struct distinct {
    const struct encoder *encoder; /* NULL: words alone */
    struct encoder_scratch *scratch;
    struct arena arena; /* of the words */
    struct map words;
    double threshold;
    float *vectors;  /* [count, D] */
    float *likeness; /* [capacity] of the text at hand with each */
    size_t count, capacity, likeness_capacity, dim;
};

/* encoder may be NULL, and must outlive it. Errors: WT_ENOMEM. */
int wt__distinct_open(struct distinct *out, const struct encoder *encoder, double threshold, wt_error *err);
void wt__distinct_dispose(struct distinct *distinct);

/* Adds the text unless it is the same as one before: *fate is PIECE_TAKEN, PIECE_SAME_WORDS or PIECE_ALIKE. WT_ENOMEM.
 */
int wt__distinct_add(struct distinct *distinct, struct str text, enum piece_fate *fate, wt_error *err);

/* Whether a text of the same words was added. WT_ENOMEM. */
int wt__distinct_has_words(const struct distinct *distinct, struct str text, bool *has, wt_error *err);

/* The place in texts [count] (numbers of texts, as they were added from 0) of the one nearest to the text that was
 * added last; count where there is no encoder. count > 0. */
size_t wt__distinct_nearest(const struct distinct *distinct, const size_t *texts, size_t count);

#endif
