/* token_vectors.h: what an encoder makes of each of its tokens standing alone: where a static encoder begins. */
#ifndef WT_ENCODER_TOKEN_VECTORS_H
#define WT_ENCODER_TOKEN_VECTORS_H

#include "base/progress.h"
#include "encoder/encoder.h"

/* out [token_count of its tokenizer, H]: the unit vector of [CLS] token [SEP], of every token. By several threads (0:
 * one a processor), which do not change a bit; a step of progress for every token, the phase is the caller's. Errors:
 * WT_ECANCELLED, WT_ENOMEM. */
int wt__token_vectors(const struct encoder *encoder, unsigned threads, float *out, struct progress *progress,
                      wt_error *err);

#endif
