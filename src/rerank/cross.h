/* cross.h: a cross-encoder, which reads request and tool together and gives one number (Nogueira and Cho 2019; the
 * reranker of ToolRerank, section 2.3). Any model directory ...ForSequenceClassification of one label is one.
 *
 *   CLS request SEP tool SEP, with the model's own frame and token types -> the layers -> the head on CLS' row
 *
 * The layers see both texts from the first on, so that nothing of a tool can be made beforehand but its tokens. The
 * pairs of a request run in ragged batches, without padding; a pair's number does not depend on those beside it, to
 * the last bit. */
#ifndef WT_RERANK_CROSS_H
#define WT_RERANK_CROSS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"
#include "encoder/encoder.h"
#include "text/tokenizer.h"

enum { CROSS_TOKENS = 256 }; /* most tokens of a pair, frame included, where the model has no lower limit */

/* The pieces of a text without a frame; borrowed. */
struct token_run {
    const int32_t *ids;
    size_t count;
};

struct cross;

/* Immutable but for its idle memory: any number of threads may use it. Errors: WT_EMODEL (missing, damaged, no
 * classifier, more labels than one, or no room for a pair), WT_ENOMEM. */
int wt__cross_open(struct cross **out, const char *folder, wt_error *err);
/* The same; progress is heard while the packed model is made. Errors: and WT_ECANCELLED. */
int wt__cross_load(struct cross **out, const char *folder, struct progress *progress, wt_error *err);
void wt__cross_close(struct cross *cross); /* NULL is a no-op */

/* A text's pieces, as many as a pair could ever hold: what can be kept of a tool. ids: [CROSS_TOKENS], which the run
 * borrows. */
struct token_run wt__cross_tokens(const struct cross *cross, struct str text, int32_t *ids);

/* logits [N] of the request with each of N tools; N may be 0. Where a pair is too long, the longer text is cut down to
 * the shorter one's length, then both. Allocates only for more threads at once than there were before. progress is
 * heard after every few tools; may be NULL.
 * Errors: WT_EMODEL (tokens that the model has not, or a number that is not finite), WT_ENOMEM, WT_ECANCELLED. */
int wt__cross_score(struct cross *cross, struct str request, const struct token_run *tools, size_t count,
                    struct progress *progress, float *logits, wt_error *err);

/* The probability that a logit stands for. */
float wt__cross_probability(float logit);

/* A pair as the model reads it, at most `most` tokens, which are at least its frame. Where both texts are cut to half
 * of an odd room, the longer one keeps the odd token; runs that wt__cross_tokens cut count as equal, which the
 * reference's may not. ids, types: [most]. Returns how many were written. */
size_t wt__cross_pair(const struct tokenizer *tokenizer, struct token_run first, struct token_run second, size_t most,
                      int32_t *ids, int32_t *types);
size_t wt__cross_frame(const struct tokenizer *tokenizer); /* tokens of a pair of empty texts */

#endif
