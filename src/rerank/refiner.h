/* refiner.h: reranks the best hits of a first stage together with the request (ToolRefiner, section 4.3 of Moon et al.,
 * Efficient and Scalable Estimation of Tool Representations in Vector Space).
 *
 *   tokens      the request after the encoder's embeddings and first `join` layers, which are not trained      [T, H]
 *   candidates  C [vector; features] + c, from a tool's vector and the first stage's features                  [N, H]
 *   layers      the encoder's layers from `join` on, retrained, over all T + N rows
 *   addition    s . state + w . features + b of each candidate, which is added to the first stage's score
 *
 * Differences from the paper: all candidates have the same position after the request, so their order does not matter.
 * They are added above the first `join` layers, which saves time; in the paper join is 0. The model learns a correction of
 * the first stage's scores: all zeros keep its order. */
#ifndef WT_RERANK_REFINER_H
#define WT_RERANK_REFINER_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "encoder/encoder.h"
#include "retrieve/retrieve.h"

enum {
    REFINER_TOKENS = 128,       /* maximum tokens of a request */
    REFINER_MIN_CANDIDATES = 8, /* bounds of N */
    REFINER_MAX_CANDIDATES = 128
};

/* Tensors of the refiner's file, in addition to those of its layers. F is RETRIEVE_FEATURES, D the width of a tool's vector. */
#define REFINER_CANDIDATE "candidate.weight"    /* C [H, D + F] */
#define REFINER_CANDIDATE_BIAS "candidate.bias" /* c [H] */
#define REFINER_SCORE "score.weight"            /* s and w, concatenated: [1, H + F] */
#define REFINER_SCORE_BIAS "score.bias"         /* b [1] */

#define REFINER_STAGE "refiner" /* name of its evidence among the stages of a hit */

struct refiner;
struct refiner_scratch;

/* Opens the weights in the file `path`. Borrows the encoder. candidates: N. Thread-safe. Errors: WT_EMODEL (missing,
 * damaged, or wrong shape), WT_ENOMEM. */
int wt__refiner_open(struct refiner **out, const struct encoder *encoder, const char *path, size_t join,
                     size_t candidates, wt_error *err);
void wt__refiner_close(struct refiner *refiner); /* NULL is a no-op */
size_t wt__refiner_candidates(const struct refiner *refiner);

/* Allocates the memory of one thread for requests of this encoder and at most N candidates. Errors: WT_ENOMEM. */
int wt__refiner_scratch_new(struct refiner_scratch **out, const struct encoder *encoder, size_t candidates,
                            wt_error *err);
void wt__refiner_scratch_free(struct refiner_scratch *scratch); /* NULL is a no-op */

/* Runs the request through the first `join` layers of the encoder. *rows [T, H], *stride floats apart, is valid until
 * the next use of the scratch. Returns T. */
size_t wt__refiner_request(const struct encoder *encoder, size_t join, struct refiner_scratch *scratch,
                           struct str request, const float **rows, size_t *stride);

/* Computes additions [count] in units of the first stage's best score. count is at most N; vectors[i] is [D]. */
void wt__refiner_run(const struct refiner *refiner, struct refiner_scratch *scratch, struct str request, size_t count,
                     const float *const *vectors, const float (*features)[RETRIEVE_FEATURES], float *additions);

/* Reorders the first N hits by score plus addition times the best hit's score, and records REFINER_STAGE. Later hits stay
 * after them. The hits must have features. vectors: the tool vectors that were searched; NULL if none. Errors: WT_ESTORE (damaged vector), WT_ENOMEM. */
int wt__refine(struct refiner *refiner, struct str request, const struct vectors *vectors, struct hit_list *hits,
               wt_error *err);

#endif
