/* dev_evaluator.h: what lessons after the encoder share: the vectors of tools and requests by the encoder as it is now,
 * and a way to ask how well some weighing of evidence would find the dev requests' tools.
 *
 * The answer comes from the retrieval itself (retrieve/retrieve.h) over the catalogue's own snapshot, so that what is
 * chosen here is what a query will get. Requests are encoded once and remembered with their sub-queries; a question
 * then costs a search a dev request. */
#ifndef WT_LEARN_DEV_EVALUATOR_H
#define WT_LEARN_DEV_EVALUATOR_H

#include <math.h>

#include "engine/engine.h"
#include "learn/learn.h"

enum {
    EVALUATOR_PAST = 20000, /* training requests that neighbours are looked for among */
    EVALUATOR_DEV = 600,    /* dev requests that a question is put to; of larger sets a seeded part, always the same */
    EVALUATOR_DEPTH = 7,    /* hits that are measured */
    EVALUATOR_CHANCE = 1    /* standard errors by which a choice must be better than what is preferred */
};

struct dev_evaluator {
    struct training *training;
    struct training_base base;     /* where the encoder lies */
    struct encoder *own;           /* opened here */
    const struct encoder *encoder; /* of tools and requests */
    size_t tools, dim;             /* M, D */
    float *documents;              /* [M, D] unit vectors of the tools' texts */
    float *requests;               /* [B, D] of the training requests, each whole */
    float **train_encoded;         /* [B] of those that were searched for: each with its sub-queries; else NULL */
    float *sums;                   /* [M, D] of the requests that used a tool */
    uint32_t *uses;                /* [M] how many those are */
    bool single;                   /* hardly a training request (one in 20) used two tools */
    struct neighbours past;        /* the training requests and their tools */
    uint32_t *past_starts;         /* [past.count + 1] */
    uint32_t *every_row;           /* [M] 0, 1, ...: a label is a row */
    struct index_handle *index;    /* its rows are the examples' rows */
    size_t dev_count;              /* Q */
    uint32_t *dev;                 /* [Q] which dev examples */
    float **encoded;               /* [Q] vectors of the request and its sub-queries */
    struct neighbour_votes *votes; /* [Q] of the past requests; without items: not asked yet */
    struct workspace **workspaces; /* [training->threads] */
};

/* The training's evaluator; made when it is first asked for or when the encoder has changed since. Lives as long as the
 * training. Errors: WT_EMODEL, WT_ECANCELLED, WT_ENOMEM, those of the store. */
int wt__evaluator_open(struct dev_evaluator **out, struct training *training, wt_error *err);
void wt__evaluator_free(struct dev_evaluator *evaluator);

/* How the dev requests fared. figure: the mean of recall at 3, 5 and 7, the cutoffs of the paper's tables: steadier
 * than one of them, for choosing. */
struct outcome {
    double figure, recall, first; /* recall: at 5; first: at 1 */
    double *each;                 /* [Q] the figure of each request, the caller's array; may be NULL */
};

/* Of no dev request. */
static inline struct outcome wt__no_outcome(void)
{
    return (struct outcome){NAN, NAN, NAN, NULL};
}

/* Whether b [Q] is above a by so many standard errors of their difference. A choice on a few dozen requests is else one
 * of those requests: what is preferred stays until something is better by more than chance. */
bool wt__evaluator_better(const struct dev_evaluator *evaluator, const double *a, const double *b, double errors);

/* Tool vectors as a search wants them. */
struct tool_vectors {
    struct vectors view;
    void *chunks;
    uint32_t *rows;
};
/* vectors: [M, D]. Errors: WT_ENOMEM, WT_EMODEL (not finite). */
int wt__tool_vectors_open(struct tool_vectors *out, const float *vectors, size_t tools, size_t dim, wt_error *err);
void wt__tool_vectors_dispose(struct tool_vectors *vectors);

/* Puts the dev requests to a retriever over these tool vectors (NULL: words alone). */
int wt__evaluator_ask(struct dev_evaluator *evaluator, const struct retriever *retriever,
                      const struct tool_vectors *vectors, struct outcome *out, wt_error *err);

/* Puts them to each of retrievers [count]: the first of them, until one is better by more than chance. */
int wt__evaluator_choose(struct dev_evaluator *evaluator, const struct retriever *retrievers, size_t count,
                         const struct tool_vectors *vectors, size_t *chosen, struct outcome *out, wt_error *err);

/* Puts them to meaning alone with each of a few weights of sub-queries: the best outcome, and its weight. What
 * is preferred: sub-queries do not count where hardly a request used two tools, and count as much as the whole
 * elsewhere. */
int wt__evaluator_ask_subqueries(struct dev_evaluator *evaluator, const struct tool_vectors *vectors, float *subquery,
                                 struct outcome *out, wt_error *err);

/* The same as wt__evaluator_ask, with a reranker that reads vectors alone behind the retriever. */
int wt__evaluator_ask_refined(struct dev_evaluator *evaluator, const struct retriever *retriever,
                              const struct tool_vectors *vectors, const struct reranker *reranker, struct outcome *out,
                              wt_error *err);

/* Puts them to `hybrid` with the engine's own encoder: what training has to better. */
int wt__evaluator_ask_hybrid(struct dev_evaluator *evaluator, struct outcome *out, wt_error *err);

/* Keeps the vectors of a request and its sub-queries for the next search, where that is not done yet. */
int wt__evaluator_keep(const struct dev_evaluator *evaluator, float **kept, const struct hit_list *hits, wt_error *err);

/* Appends every tool's id, in order of row, to the JSON array. */
int wt__evaluator_tool_names(struct dev_evaluator *evaluator, json_t *out, wt_error *err);

/* Writes FOLDER/config.json: about with the outcome under "whichtool", the encoder, and the members of config, whose
 * reference is taken; a NULL is one that there was no memory for. */
int wt__evaluator_save(struct dev_evaluator *evaluator, const char *folder, const json_t *about,
                       const struct loop_state *state, json_t *config, wt_error *err);

/* Lessons that look at each request once, without steps of learning. *about as from wt__training_plan. */
int wt__evaluator_begin(struct dev_evaluator **out, struct training *training, json_t **about, wt_error *err);
/* wt__evaluator_save to the path of what was trained, with its figures before and after. */
int wt__evaluator_leave(struct dev_evaluator *evaluator, const json_t *about, json_t *config, const wt_trained *trained,
                        wt_error *err);

#endif
