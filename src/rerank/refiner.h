/* refiner.h: the refiner, a model that reranks the best hits of the first stage. It reads these hits, the candidates,
 * together with the request. It follows ToolRefiner (Moon et al., Efficient and Scalable Estimation of Tool
 * Representations in Vector Space, section 4.3).
 *
 * The request has T tokens. There are N candidates. The encoder has the width H.
 *
 *   tokens      [T, H] the request after the encoder's embeddings and first `join` layers, which are not retrained
 *   candidates  [N, H] C [vector; features] + c, from the tool's vector and the features of its hit
 *   layers      the encoder's layers from `join` on, retrained; they run on all T + N rows
 *   addition    s . state + w . features + b for each candidate; `state` is the candidate's row after the layers
 *
 * The addition, times the best first-stage score, is added to the first-stage score of the candidate. If all weights
 * are zero, the order stays the same.
 *
 * Differences from the paper:
 *
 *   - All candidates have the same position, after the request, so their order does not matter.
 *   - Candidates join above the first `join` layers, which saves time. In the paper, `join` is 0.
 *   - The model learns a correction of the first-stage scores. */
#ifndef WT_RERANK_REFINER_H
#define WT_RERANK_REFINER_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "encoder/encoder.h"
#include "retrieve/retrieve.h"

enum {
    REFINER_TOKENS = 128,       /* maximum tokens of a request */
    REFINER_MIN_CANDIDATES = 8, /* range of the maximum number of candidates */
    REFINER_MAX_CANDIDATES = 128
};

/* Names of the tensors in the refiner's file, in addition to the tensors of its layers. F is RETRIEVE_FEATURES. D is
 * the width of a tool's vector. */
#define REFINER_CANDIDATE "candidate.weight"    /* C [H, D + F] */
#define REFINER_CANDIDATE_BIAS "candidate.bias" /* c [H] */
#define REFINER_SCORE "score.weight"            /* s and w, concatenated: [1, H + F] */
#define REFINER_SCORE_BIAS "score.bias"         /* b [1] */

#define REFINER_STAGE "refiner" /* name of the refiner among the stages of a hit */

struct refiner;
struct refiner_scratch;

/* Opens a refiner from the file `path`. Borrows the encoder. candidates: maximum number of candidates. The refiner is
 * thread-safe. Errors: WT_EMODEL (missing, damaged, or wrong shape), WT_ENOMEM. */
int wt__refiner_open(struct refiner **out, const struct encoder *encoder, const char *path, size_t join,
                     size_t candidates, wt_error *err);
void wt__refiner_close(struct refiner *refiner); /* NULL is a no-op */
size_t wt__refiner_candidates(const struct refiner *refiner);

/* Allocates scratch memory, which one thread at a time may use. candidates: maximum number of candidates. Errors:
 * WT_ENOMEM. */
int wt__refiner_scratch_new(struct refiner_scratch **out, const struct encoder *encoder, size_t candidates,
                            wt_error *err);
void wt__refiner_scratch_free(struct refiner_scratch *scratch); /* NULL is a no-op */

/* Runs the request through the first `join` layers of the encoder. *rows: T rows of H numbers, *stride numbers apart,
 * valid until the next use of the scratch memory. Returns T. */
size_t wt__refiner_request(const struct encoder *encoder, size_t join, struct refiner_scratch *scratch,
                           struct str request, const float **rows, size_t *stride);

/* Computes additions [count] for the candidates, in units of the best first-stage score. count: at most the
 * `candidates` of the scratch memory. vectors: [count] vectors [D] of the tools. features: [count] features of the
 * hits. */
void wt__refiner_run(const struct refiner *refiner, struct refiner_scratch *scratch, struct str request, size_t count,
                     const float *const *vectors, const float (*features)[RETRIEVE_FEATURES], float *additions);

/* Adds the additions to the scores of the first wt__refiner_candidates hits, and sorts these hits. Later hits follow in
 * their order. Records REFINER_STAGE in all hits. Does nothing if the best score is not positive. The hits must have
 * features. vectors: the tool vectors that the search used; NULL for a search without vectors. Errors: WT_ESTORE
 * (damaged vector), WT_ENOMEM. */
int wt__refine(struct refiner *refiner, struct str request, const struct vectors *vectors, struct hit_list *hits,
               wt_error *err);

#endif
