/* token_vectors.h: encodes each token of an encoder by itself, as the initial rows of a static encoder. */
#ifndef WT_ENCODER_TOKEN_VECTORS_H
#define WT_ENCODER_TOKEN_VECTORS_H

#include "base/progress.h"
#include "encoder/encoder.h"

/* Writes the unit vector of [CLS] token [SEP] for every token to out [token_count of the tokenizer, H]. Uses `threads`
 * threads (0: one per processor); the result does not depend on their number. Counts one progress step per token; the
 * caller sets the phase. Errors: WT_ECANCELLED, WT_ENOMEM. */
int wt__token_vectors(const struct encoder *encoder, unsigned threads, float *out, struct progress *progress,
                      wt_error *err);

#endif
