/* refiner_samples.h: what a refiner learns from: the first stage's own candidates for each request, with what the first
 * stage knows of them, and which of them were used.
 *
 * A tool's vector is made of the requests that used it, so for one of those requests the first stage is better than it
 * will ever be again. Therefore requests are dealt to FOLDS folds, and the candidates of a fold come from tool vectors
 * (and a classifier) made of the others. That is all that is cross-fitted: the encoder has seen every fold. Training it
 * without each fold as well was no better on dev (docs/learning.md). The dev requests come from vectors made of all, as
 * a query's will. */
#ifndef WT_LEARN_REFINER_SAMPLES_H
#define WT_LEARN_REFINER_SAMPLES_H

#include "learn/dev_evaluator.h"
#include "rerank/refiner.h"

enum {
    REFINER_FOLDS = 4,
    REFINER_REQUESTS = 8000, /* most training requests that are looked at, a seeded part of them */
    REFINER_DEPTH = 256      /* hits among which a tool that was used is found and kept in */
};

/* The first stage that comes before a refiner. */
struct first_stage {
    const char *name;     /* of its recipe */
    const char *identity; /* of its training */
    struct retriever retriever;
    bool classified; /* its vectors are the classifier's rows, not T */
};

/* Samples of requests, S of them, each with at most N candidates. */
struct refiner_samples {
    size_t count, candidates;             /* S, N */
    uint32_t *requests;                   /* [S] their numbers in the example set */
    uint16_t *lengths;                    /* [S] candidates that there are */
    uint16_t *tokens;                     /* [S] tokens that the refiner will read */
    uint8_t *vectors;                     /* [S] which of the tool vectors is theirs */
    uint32_t *rows;                       /* [S, N] in the first stage's order, but for tools that were kept in */
    uint8_t *gold;                        /* [S, N] */
    float (*features)[RETRIEVE_FEATURES]; /* [S, N] */
    const struct example_set *set;        /* where the requests are */
};

struct refiner_data {
    size_t tools, dim;
    struct tool_vectors made[REFINER_FOLDS + 1]; /* without each fold, and of all */
    uint64_t *folds[REFINER_FOLDS];              /* a bit a past request: those of the fold */
    struct refiner_samples train, dev;
};

/* The fold of a training request. */
unsigned wt__refiner_fold(size_t request);

/* T, or the classifier's rows, of all training requests but those of a fold (REFINER_FOLDS: of all): vectors [M, D]. */
int wt__refiner_vectors(struct dev_evaluator *evaluator, const struct first_stage *first, unsigned without,
                        float *vectors, wt_error *err);

/* kept: the probability with which a used tool that is no candidate takes the place of the last one that was not
 * used. Errors: WT_ENOMEM, WT_ECANCELLED, WT_EMODEL. */
int wt__refiner_data_open(struct refiner_data *out, struct dev_evaluator *evaluator, const struct first_stage *first,
                          size_t candidates, double kept, wt_error *err);
void wt__refiner_data_dispose(struct refiner_data *data);

/* A candidate's vector, [D]. */
const float *wt__refiner_vector(const struct refiner_data *data, const struct refiner_samples *samples, size_t sample,
                                size_t candidate);

#endif
