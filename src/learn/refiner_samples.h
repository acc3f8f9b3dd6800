/* refiner_samples.h: training data of a refiner: the first stage's candidates for each request with their features, and
 * which of them were used.
 *
 * A tool's vector is made of the requests that used it, so the first stage is unrealistically good for those requests.
 * Requests are therefore split into FOLDS folds, and the candidates of a fold come from tool vectors (and a classifier)
 * made of the other folds. Only these are cross-fitted; the encoder has seen every fold. Also training the encoder
 * without each fold did not improve dev (docs/learning.md). Dev requests use vectors made of all requests, like a
 * query. */
#ifndef WT_LEARN_REFINER_SAMPLES_H
#define WT_LEARN_REFINER_SAMPLES_H

#include "learn/dev_evaluator.h"
#include "rerank/refiner.h"

enum {
    REFINER_FOLDS = 4,
    REFINER_REQUESTS = 8000, /* maximum training requests, a seeded sample */
    REFINER_DEPTH = 256      /* hits among which used tools are found and kept as candidates */
};

/* First stage of a refiner. */
struct first_stage {
    const char *name;     /* name of its recipe */
    const char *identity; /* identity of its training */
    struct retriever retriever;
    bool classified; /* its vectors are the classifier's rows rather than T */
};

/* Samples of S requests, each with at most N candidates. */
struct refiner_samples {
    size_t count, candidates;             /* S, N */
    uint32_t *requests;                   /* [S] numbers in the example set */
    uint16_t *lengths;                    /* [S] number of candidates */
    uint16_t *tokens;                     /* [S] tokens that the refiner will read */
    uint8_t *vectors;                     /* [S] index of their tool vectors */
    uint32_t *rows;                       /* [S, N] in the first stage's order, except for tools that were kept in */
    uint8_t *gold;                        /* [S, N] */
    float (*features)[RETRIEVE_FEATURES]; /* [S, N] */
    const struct example_set *set;        /* set of the requests */
};

struct refiner_data {
    size_t tools, dim;
    struct tool_vectors made[REFINER_FOLDS + 1]; /* without each fold, and of all requests */
    uint64_t *folds[REFINER_FOLDS];              /* bitmap of past requests in each fold */
    struct refiner_samples train, dev;
};

/* Returns the fold of a training request. */
unsigned wt__refiner_fold(size_t request);

/* Computes T or the classifier's rows from all training requests except those of a fold (REFINER_FOLDS: from all):
 * vectors [M, D]. */
int wt__refiner_vectors(struct dev_evaluator *evaluator, const struct first_stage *first, unsigned without,
                        float *vectors, wt_error *err);

/* Builds the samples. kept: probability that a used tool outside the candidates replaces the last unused candidate.
 * Errors: WT_ENOMEM, WT_ECANCELLED, WT_EMODEL. */
int wt__refiner_data_open(struct refiner_data *out, struct dev_evaluator *evaluator, const struct first_stage *first,
                          size_t candidates, double kept, wt_error *err);
void wt__refiner_data_dispose(struct refiner_data *data);

/* Returns a candidate's vector, [D]. */
const float *wt__refiner_vector(const struct refiner_data *data, const struct refiner_samples *samples, size_t sample,
                                size_t candidate);

#endif
