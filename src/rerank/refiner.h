/* refiner.h: the best hits of a first stage, looked at once more together with the request (ToolRefiner, section 4.3 of
 * Moon et al., Efficient and Scalable Estimation of Tool Representations in Vector Space).
 *
 *   tokens      the request behind the encoder's embeddings and first `join` layers, which stay as they are   [T, H]
 *   candidates  C [vector; features] + c, from a tool's vector and what the first stage knows of it          [N, H]
 *   layers      the encoder's layers from `join` on, trained anew, over all T + N rows
 *   addition    s . state + w . features + b, of each candidate: what is added to the first stage's score
 *
 * Departures from the paper. Candidates stand in one place behind the request, so that their order can make no
 * difference. They join above the lower layers (the paper: join = 0), because they are made of the encoder's output;
 * that also costs less. What is learned is a correction: all zeros leave the first stage's order as it is, words count
 * by way of the features, and a correction can be taken in part. */
#ifndef WT_RERANK_REFINER_H
#define WT_RERANK_REFINER_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "encoder/encoder.h"
#include "retrieve/retrieve.h"

/* Most tokens of a request that are read; bounds of N. */
enum { REFINER_TOKENS = 128, REFINER_MIN_CANDIDATES = 8, REFINER_MAX_CANDIDATES = 128 };

/* Tensors of its file, beside those of its layers. F is RETRIEVE_FEATURES, D the width of a tool's vector. */
#define REFINER_CANDIDATE "candidate.weight"    /* C [H, D + F] */
#define REFINER_CANDIDATE_BIAS "candidate.bias" /* c [H] */
#define REFINER_SCORE "score.weight"            /* s and w behind each other: [1, H + F] */
#define REFINER_SCORE_BIAS "score.bias"         /* b [1] */

#define REFINER_STAGE "refiner" /* among the stages of a hit */

struct refiner;
struct refiner_scratch;

/* The weights that training left in the file `path`. The encoder is borrowed. candidates: N. Immutable: any number of
 * threads may use it. Errors: WT_EMODEL (missing, damaged, or of another shape), WT_ENOMEM. */
int wt__refiner_open(struct refiner **out, const struct encoder *encoder, const char *path, size_t join,
                     size_t candidates, wt_error *err);
void wt__refiner_close(struct refiner *refiner); /* NULL is a no-op */
size_t wt__refiner_candidates(const struct refiner *refiner);

/* Memory for one thread at a time, for requests of this encoder and at most N candidates. Errors: WT_ENOMEM. */
int wt__refiner_scratch_new(struct refiner_scratch **out, const struct encoder *encoder, size_t candidates,
                            wt_error *err);
void wt__refiner_scratch_free(struct refiner_scratch *scratch); /* NULL is a no-op */

/* The request behind the first `join` layers of the encoder: *rows [T, H], *stride floats apart, in the scratch until
 * its next use. Returns T. */
size_t wt__refiner_request(const struct encoder *encoder, size_t join, struct refiner_scratch *scratch,
                           struct str request, const float **rows, size_t *stride);

/* additions [count]: in units of the first stage's best score. count is at most N; vectors[i] is [D]. */
void wt__refiner_run(const struct refiner *refiner, struct refiner_scratch *scratch, struct str request, size_t count,
                     const float *const *vectors, const float (*features)[RETRIEVE_FEATURES], float *additions);

/* The order that a refiner gives: of the first N hits, each by its score and the addition, in units of the best one's;
 * REFINER_STAGE tells. Hits behind them stay behind them. The hits must have features; vectors: those that were
 * searched. Takes scratch from those that the refiner keeps. Errors: WT_ESTORE (a damaged vector), WT_ENOMEM. */
int wt__refine(struct refiner *refiner, struct str request, const struct vectors *vectors, struct hit_list *hits,
               wt_error *err);

#endif
