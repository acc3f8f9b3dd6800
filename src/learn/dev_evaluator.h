/* dev_evaluator.h: shared by the lessons after the encoder: the current encoder's vectors of tools and requests, and a
 * measurement of how well given weights find the dev requests' tools.
 *
 * The measurement uses the retrieval itself (retrieve/retrieve.h) over the catalogue's snapshot, so queries get what
 * was chosen here. Requests are encoded once and cached with their sub-queries. A measurement then costs one search per
 * dev request. */
#ifndef WT_LEARN_DEV_EVALUATOR_H
#define WT_LEARN_DEV_EVALUATOR_H

#include <math.h>

#include "engine/engine.h"
#include "learn/learn.h"

enum {
    EVALUATOR_PAST = 20000, /* maximum training requests among which neighbours are searched */
    EVALUATOR_DEV = 600,    /* maximum dev requests of a measurement; of larger sets always the same seeded sample */
    EVALUATOR_DEPTH = 7,    /* hits that are measured */
    EVALUATOR_CHANCE = 1    /* standard errors by which a choice must beat the preferred one */
};

struct dev_evaluator {
    struct training *training;
    struct training_base base;     /* location of the encoder */
    struct encoder *own;           /* encoder opened here */
    const struct encoder *encoder; /* current encoder of tools and requests */
    size_t tools, dim;             /* M, D */
    float *documents;              /* [M, D] unit vectors of the tools' texts */
    float *requests;               /* [B, D] vectors of the whole training requests */
    float **train_encoded;         /* [B] vectors with sub-queries of requests searched for; NULL for the others */
    float *sums;                   /* [M, D] sum of the vectors of the requests that used each tool */
    uint32_t *uses;                /* [M] number of these requests */
    bool single;                   /* fewer than one in 20 training requests used several tools */
    struct neighbours past;        /* training requests and their tools */
    uint32_t *past_starts;         /* [past.count + 1] */
    uint32_t *every_row;           /* [M] 0, 1, ...: labels are rows */
    struct index_handle *index;    /* its rows are the examples' rows */
    size_t dev_count;              /* Q */
    uint32_t *dev;                 /* [Q] numbers of the dev examples */
    float **encoded;               /* [Q] vectors of the request and its sub-queries */
    struct neighbour_votes *votes; /* [Q] votes of the past requests; items is NULL before the first search */
    struct workspace **workspaces; /* [training->threads] */
};

/* Returns the training's evaluator. Creates it on first use and after the encoder has changed. It lives as long as the
 * training. Errors: WT_EMODEL, WT_ECANCELLED, WT_ENOMEM, those of the store. */
int wt__evaluator_open(struct dev_evaluator **out, struct training *training, wt_error *err);
void wt__evaluator_free(struct dev_evaluator *evaluator);

/* Result on the dev requests. figure: mean of recall at 3, 5 and 7, the cutoffs of the paper's tables, which is more
 * stable than a single one. */
struct dev_outcome {
    double figure, recall, first; /* recall: at 5; first: at 1 */
    double *each;                 /* [Q] figure of each request, in the caller's array; may be NULL */
};

/* Returns the outcome without dev requests. */
static inline struct dev_outcome wt__no_outcome(void)
{
    return (struct dev_outcome){NAN, NAN, NAN, NULL};
}

/* True if b [Q] exceeds a by so many standard errors of their difference. With a few dozen dev requests a single
 * request could otherwise decide, so the preferred choice stays unless another is better by more than chance. */
bool wt__evaluator_is_better(const struct dev_evaluator *evaluator, const double *a, const double *b, double errors);

/* Tool vectors in the form of a search. */
struct tool_vectors {
    struct vectors view;
    void *chunks;
    uint32_t *rows;
};
/* Opens vectors [M, D]. Errors: WT_ENOMEM, WT_EMODEL (not finite). */
int wt__tool_vectors_open(struct tool_vectors *out, const float *vectors, size_t tools, size_t dim, wt_error *err);
void wt__tool_vectors_dispose(struct tool_vectors *vectors);

/* Measures a retriever over these tool vectors (NULL for words only) on the dev requests. */
int wt__evaluator_measure(struct dev_evaluator *evaluator, const struct retriever *retriever,
                          const struct tool_vectors *vectors, struct dev_outcome *out, wt_error *err);

/* Measures each of retrievers [count] and chooses the first, unless another is better by more than chance. */
int wt__evaluator_choose(struct dev_evaluator *evaluator, const struct retriever *retrievers, size_t count,
                         const struct tool_vectors *vectors, size_t *chosen, struct dev_outcome *out, wt_error *err);

/* Measures meaning alone with several weights of sub-queries. Returns the best outcome and its weight. Preferred
 * weights: 0 if hardly any request used two tools, else the same as the whole request. */
int wt__evaluator_measure_subqueries(struct dev_evaluator *evaluator, const struct tool_vectors *vectors,
                                     float *subquery, struct dev_outcome *out, wt_error *err);

/* Same as wt__evaluator_measure, followed by a reranker that reads only vectors. */
int wt__evaluator_measure_refined(struct dev_evaluator *evaluator, const struct retriever *retriever,
                                  const struct tool_vectors *vectors, const struct reranker *reranker,
                                  struct dev_outcome *out, wt_error *err);

/* Measures `hybrid` with the engine's own encoder, the baseline of training. */
int wt__evaluator_measure_hybrid(struct dev_evaluator *evaluator, struct dev_outcome *out, wt_error *err);

/* Caches the vectors of a request and its sub-queries for the next search, unless they are cached. */
int wt__evaluator_cache(const struct dev_evaluator *evaluator, float **kept, const struct hit_list *hits,
                        wt_error *err);

/* Appends the ids of all tools, in row order, to the JSON array. */
int wt__evaluator_tool_names(struct dev_evaluator *evaluator, json_t *out, wt_error *err);

/* Writes FOLDER/config.json: about with the outcome under "whichtool", the encoder, and the members of config. Steals
 * the reference of config; NULL means that it could not be allocated. */
int wt__evaluator_save(struct dev_evaluator *evaluator, const char *folder, const json_t *about,
                       const struct loop_state *state, json_t *config, wt_error *err);

/* Starts a lesson without training steps. *about as from wt__training_plan. */
int wt__evaluator_begin(struct dev_evaluator **out, struct training *training, json_t **about, wt_error *err);
/* Saves to the path in `trained`, with its figures before and after (wt__evaluator_save). */
int wt__evaluator_finish(struct dev_evaluator *evaluator, const json_t *about, json_t *config,
                         const wt_trained *trained, wt_error *err);

#endif
