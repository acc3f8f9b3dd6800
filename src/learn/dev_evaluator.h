/* dev_evaluator.h: encodes tools and requests with the current encoder, and measures recall on dev requests. The
 * lessons after "encoder" share the vectors and the measurement.
 *
 * The measurement uses the retrieval of queries (retrieve/retrieve.h) over the catalogue's snapshot. The vectors of
 * requests and of their sub-queries are cached, so a measurement costs one search per dev request. */
#ifndef WT_LEARN_DEV_EVALUATOR_H
#define WT_LEARN_DEV_EVALUATOR_H

#include <math.h>

#include "engine/engine.h"
#include "learn/learn.h"

enum {
    EVALUATOR_PAST = 20000, /* maximum training requests that are searched for neighbours */
    EVALUATOR_DEV = 600,    /* maximum dev requests of a measurement; a seeded sample of larger sets */
    EVALUATOR_DEPTH = 7,    /* number of hits that are measured */
    EVALUATOR_CHANCE = 1    /* minimum lead of another choice over the preferred one, in standard errors */
};

struct dev_evaluator {
    struct training *training;
    struct training_base base;     /* base model of the lessons (wt__training_base) */
    struct encoder *own;           /* encoder of the base model; NULL if the engine has this encoder open */
    const struct encoder *encoder; /* encoder of tools and requests: own, or the engine's */
    size_t tools, dim;             /* M, D */
    float *documents;              /* [M, D] unit vectors of the tools' texts */
    float *requests;               /* [B, D] vectors of the training requests, without sub-queries */
    float **train_encoded;      /* [B] cached vectors of a training request and its sub-queries; NULL if not cached */
    float *sums;                /* [M, D] sum of the vectors of the requests that used each tool */
    uint32_t *uses;             /* [M] number of requests in the sum of each tool */
    bool single;                /* true if fewer than one in 20 training requests used several tools */
    struct neighbours past;     /* training requests and their tools */
    uint32_t *past_starts;      /* [past.count + 1] starts in `past` */
    uint32_t *every_row;        /* [M] 0, 1, ...: maps each label in `past` to a row; labels are row numbers here */
    struct index_handle *index; /* the snapshot; its rows are the tools of the examples, in the same order */
    size_t dev_count;           /* Q */
    uint32_t *dev;              /* [Q] numbers of the dev examples */
    float **encoded;            /* [Q] cached vectors of a dev request and its sub-queries; NULL if not cached */
    struct neighbour_votes *votes; /* [Q] votes of the past requests; items is NULL before the first search */
    struct workspace **workspaces; /* [training->threads] */
};

/* Returns the training's evaluator. Creates the evaluator on first use and after the encoder has changed. The training
 * owns it. Errors: WT_EMODEL, WT_ECANCELLED, WT_ENOMEM, those of the store. */
int wt__evaluator_open(struct dev_evaluator **out, struct training *training, wt_error *err);
void wt__evaluator_free(struct dev_evaluator *evaluator);

/* Result on the dev requests. */
struct dev_outcome {
    double figure; /* mean of recall at 3, 5 and 7, the cutoffs of the Tool2Vec paper */
    double recall; /* recall at 5 */
    double first;  /* recall at 1 */
    double *each;  /* [Q] array of the caller for the figure of each request; may be NULL */
};

/* Returns the outcome without dev requests: all NaN. */
static inline struct dev_outcome wt__no_outcome(void)
{
    return (struct dev_outcome){NAN, NAN, NAN, NULL};
}

/* True if the mean of the figures b, [Q], exceeds that of a, [Q], by more than `errors` standard errors of the
 * difference. */
bool wt__evaluator_is_better(const struct dev_evaluator *evaluator, const double *a, const double *b, double errors);

/* Tool vectors in the form that a search reads. */
struct tool_vectors {
    struct vectors view;
    void *chunks;
    uint32_t *rows;
};
/* Copies vectors [M, D] into *out. Errors: WT_ENOMEM, WT_EMODEL (not finite). */
int wt__tool_vectors_open(struct tool_vectors *out, const float *vectors, size_t tools, size_t dim, wt_error *err);
void wt__tool_vectors_dispose(struct tool_vectors *vectors);

/* Measures a retriever on the dev requests. vectors: the tool vectors to search; NULL to search only words. */
int wt__evaluator_measure(struct dev_evaluator *evaluator, const struct retriever *retriever,
                          const struct tool_vectors *vectors, struct dev_outcome *out, wt_error *err);

/* Measures retrievers [count], the preferred one first, and chooses one. A later retriever replaces the choice so far
 * if it is better by EVALUATOR_CHANCE standard errors. *chosen: index of the choice. *out: its outcome. */
int wt__evaluator_choose(struct dev_evaluator *evaluator, const struct retriever *retrievers, size_t count,
                         const struct tool_vectors *vectors, size_t *chosen, struct dev_outcome *out, wt_error *err);

/* Measures retrieval by vectors alone with the weights 0, 0.5 and 1 of sub-queries, and chooses a weight as
 * wt__evaluator_choose does. The preferred weight is 0 if evaluator->single, else 1. *subquery: the chosen weight.
 * *out: its outcome. */
int wt__evaluator_measure_subqueries(struct dev_evaluator *evaluator, const struct tool_vectors *vectors,
                                     float *subquery, struct dev_outcome *out, wt_error *err);

/* Works like wt__evaluator_measure, but reranks the hits before it measures them. reranker: a reranker that reads only
 * vectors; NULL to keep the order. */
int wt__evaluator_measure_refined(struct dev_evaluator *evaluator, const struct retriever *retriever,
                                  const struct tool_vectors *vectors, const struct reranker *reranker,
                                  struct dev_outcome *out, wt_error *err);

/* Measures the recipe `hybrid` with the engine's own encoder. This is the baseline of a training. */
int wt__evaluator_measure_hybrid(struct dev_evaluator *evaluator, struct dev_outcome *out, wt_error *err);

/* Copies the vectors of a request and its sub-queries from its hits to a new array *kept. Does nothing if *kept is
 * set. */
int wt__evaluator_cache(const struct dev_evaluator *evaluator, float **kept, const struct hit_list *hits,
                        wt_error *err);

/* Appends the ids of all tools, in row order, to the JSON array. */
int wt__evaluator_tool_names(struct dev_evaluator *evaluator, json_t *out, wt_error *err);

/* Writes FOLDER/config.json. The file has the members of config, "encoder" (name and hash of the encoder), and
 * "whichtool" (`about` and the figures of state). Steals the reference of config. If config is NULL, fails with
 * WT_ENOMEM. */
int wt__evaluator_save(struct dev_evaluator *evaluator, const char *folder, const json_t *about,
                       const struct loop_state *state, json_t *config, wt_error *err);

/* Starts a lesson that has no training steps. Opens the evaluator, and sets *about as wt__training_plan does. */
int wt__evaluator_begin(struct dev_evaluator **out, struct training *training, json_t **about, wt_error *err);
/* Ends a lesson that has no training steps. Saves config to trained->path with the figures trained->before and
 * trained->after, as wt__evaluator_save does. Steals config. */
int wt__evaluator_finish(struct dev_evaluator *evaluator, const json_t *about, json_t *config,
                         const wt_trained *trained, wt_error *err);

#endif
