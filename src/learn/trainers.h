/* trainers.h: the functions of the lessons (train.c), and functions of a lesson that other lessons call. */
#ifndef WT_LEARN_TRAINERS_H
#define WT_LEARN_TRAINERS_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "learn/dev_evaluator.h"
#include "learn/learn.h"
#include "rerank/refiner.h"
#include "rerank/toolrerank.h"

int wt__lesson_encoder(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_dpr(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_tool2vec(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_mlc(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_neighbours(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_refiner(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_auto(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_set(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_cross(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_toolrerank(struct training *training, wt_trained *out, wt_error *err);

/* Stores the head of a classifier that was trained together with the encoder (tuning.c). The file
 * head.safetensors next to the encoder's weights has one tensor MLC_HEAD [M, D] with a row per tool, in the order of
 * the training's examples. Its metadata identify training and step, so that it is never used with another encoder. */

/* Writes the head. folder: the encoder's. outcome: of the matching model (wt__training_outcome). */
int wt__kept_head_write(const char *folder, const float *rows, size_t tools, size_t dim, const json_t *outcome,
                        wt_error *err);

/* Removes the head of an earlier training, if there is one. */
int wt__kept_head_remove(const char *folder, wt_error *err);

/* The lesson "mlc" (section 4.2 of the Tool2Vec paper): multi-label classification with one row per tool. */

enum { MLC_BATCH = 64 }; /* the lesson's default */
#define MLC_RATE 3e-4

/* Computes the classifier's row of every tool from the recipe "mlc" saved for this evaluator's encoder: vectors [M, D].
 * Without that recipe, *there is false and vectors are a copy of tools. tools: [M, D] the tools' vectors by tool2vec,
 * which also serve tools without a row. */
int wt__mlc_vectors(struct dev_evaluator *evaluator, const float *tools, float *vectors, bool *there, wt_error *err);

/* Trains a head on some of the training requests (which [count]) with the lesson's defaults. rows: [M, D] initial
 * values, replaced by the result. Errors: WT_ENOMEM, WT_ECANCELLED, WT_EMODEL. */
int wt__mlc_fit(struct dev_evaluator *evaluator, const uint32_t *which, size_t count, float *rows, wt_error *err);

/* The lesson "tool2vec" (section 4.1 of Moon et al., Efficient and Scalable Estimation of Tool Representations in
 * Vector Space): a tool's vector from the requests that used it. */

/* Computes the vector of every tool by tool2vec (recipe/trained.h), called T below: vectors [M, D]. */
void wt__evaluator_tool2vec(const struct dev_evaluator *evaluator, const struct tool2vec *tool2vec, float *vectors);

/* Reads the weights that the lesson "tool2vec" saved for this encoder, or sets default weights. Errors: WT_EMODEL,
 * WT_ENOMEM. */
int wt__evaluator_tool2vec_weights(struct dev_evaluator *evaluator, struct tool2vec *out, wt_error *err);

/* Training data of a refiner: the first stage's candidates for each request with their features, and whether the
 * request used them.
 *
 * A tool's vector is computed from the requests that used it, so the first stage is unrealistically good for those
 * requests. Training requests are therefore split into folds, and the candidates of a fold come from tool vectors (and
 * a classifier) of the other folds. The encoder has seen every fold; training it without each fold did not improve dev
 * (docs/learning.md). Dev requests use vectors of all training requests, like a query. */

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
    bool classified; /* true if its tool vectors are the classifier's rows rather than T */
};

/* Samples of S requests, each with at most N candidates. */
struct refiner_samples {
    size_t count, candidates;             /* S, N */
    uint32_t *requests;                   /* [S] numbers in the example set */
    uint16_t *lengths;                    /* [S] number of candidates */
    uint16_t *tokens;                     /* [S] tokens that the refiner will read */
    uint8_t *vectors;                     /* [S] index of their tool vectors in refiner_data.made */
    uint32_t *rows;                       /* [S, N] candidates in the first stage's order, except for kept tools */
    uint8_t *gold;                        /* [S, N] 1 if the request used the candidate */
    float (*features)[RETRIEVE_FEATURES]; /* [S, N] */
    const struct example_set *set;        /* set of the requests */
};

struct refiner_data {
    size_t tools, dim;
    struct tool_vectors made[REFINER_FOLDS + 1]; /* tool vectors without each fold, then those of all requests */
    uint64_t *folds[REFINER_FOLDS];              /* bitmap of the past requests in each fold */
    struct refiner_samples train, dev;
};

/* Returns the fold of a training request. */
unsigned wt__refiner_fold(size_t request);

/* Computes the first stage's tool vectors from all training requests except those of a fold; REFINER_FOLDS leaves none
 * out. vectors: [M, D]. */
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

/* The lessons "tool2vec+refiner" and "mlc+refiner" (section 4.3 of the Tool2Vec paper): train the model of
 * rerank/refiner.h on its first stage's candidates. */

enum { REFINER_BATCH = 32, REFINER_CANDIDATES = 32 /* default of N */ };
#define REFINER_RATE 1e-4

/* Losses of the candidates of one request. logits: [n]. gold: [n] 1 for a used candidate. They set the gradients
 * dlogits [n], which may be the same array as logits, and *terms.
 *
 *   softmax   sum over gold candidates of -log(softmax among the candidate and all unused candidates); *terms is their
 *             number
 *   bce       sum over all candidates of the binary cross-entropy; *terms is n
 *
 * The caller divides loss and gradients by the sum of terms of the batch. */
typedef double (*refiner_loss)(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);
double wt__refiner_softmax(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);
double wt__refiner_bce(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);

/* Fits the weights of the features, followed by a constant, to all samples. The logit of a candidate is
 * prior * (score - 1) + weights . features + constant. */
enum { FIT_WEIGHTS = RETRIEVE_FEATURES + 1 };
void wt__refiner_fit(const struct refiner_samples *samples, refiner_loss loss, float prior, float weights[FIT_WEIGHTS]);

/* Measures a trained recipe "...+refiner" on dev. *there is false, and *out unchanged, if it was not trained. */
int wt__refiner_measure(struct dev_evaluator *evaluator, const char *recipe, bool *there, struct dev_outcome *out,
                        wt_error *err);

/* The lesson "cross": trains a cross-encoder (rerank/cross.h) to distinguish a request's tools from similar ones
 * (section 4.1 of ToolRerank, which gives no further details).
 *
 * Positives are the labels. Negatives are drawn from the encoder's nearest tools by description in the request's own
 * data set, without the labels, tools with the same text and tools that no request needs. Each request is a group of
 * some positives and some negatives. The loss is per group: the share of each positive against the negatives
 * (softmax), or of each pair alone (bce). The saved model gives log odds in both cases: Platt scaling, the logistic
 * function that best separates right and wrong dev pairs, is folded into the head's last weights. Without dev
 * requests the scale is that of the loss.
 *
 * The model starts as the trained encoder, if there is one, with a new head. */

enum {
    CROSS_BATCH = 8,     /* requests per step */
    CROSS_POSITIVES = 3, /* maximum positives of a request per step */
    CROSS_NEGATIVES = 4, /* default number of negatives */
    CROSS_DEPTH = 30,    /* first-stage hits that negatives are drawn from, and that are reranked on dev */
    CROSS_DEV = 200      /* maximum number of dev requests; a seeded sample of a larger set */
};
#define CROSS_RATE 5e-5

/* Fits the classifier of rerank/toolrerank.h on requests with known tools: requests for one provider and for
 * several. If a data set has hardly any of one kind, synthetic ones are made of the other: requests for several
 * providers are cut down to the sub-queries with one provider's words, and requests for one are joined in pairs. */

enum { KIND_SAMPLES = 1200 /* maximum training requests; a seeded sample of more */ };

/* First stage over the evaluator's tools, and their providers. */
struct first_ranking {
    struct dev_evaluator *evaluator;
    struct retriever retriever; /* dpr, or dpr with words */
    struct tool_vectors documents;
    uint32_t *providers; /* [M] HIERARCHY_NO_PROVIDER for tools without one */
    /* the snapshot's number for tools without a provider; HIERARCHY_NO_PROVIDER if all have one */
    uint32_t no_provider;
};

/* Ranks one request: its k best tools, and the classifier's evidence. Both live in the worker's workspace. */
int wt__kind_rank(const struct first_ranking *ranking, struct str request, size_t k, unsigned worker,
                  struct hit_list *hits, struct request_texts *texts, wt_error *err);

/* True if a request's tools [count] belong to more than one provider. */
bool wt__kind_has_several(const struct first_ranking *ranking, const uint32_t *tools, size_t count);

/* Cuts a request for several providers down to the provider of most of its tools [count], at least two. Appends to out
 * the sub-queries that match this provider's tools best, compared with the request's other tools. Compares words: cuts
 * chosen by the encoder would teach the classifier that the encoder is always sure of one provider. Appends nothing if
 * no provider has two tools, or if all or none of the sub-queries match it. *provider: the provider, or
 * HIERARCHY_NO_PROVIDER. */
int wt__kind_cut_down(const struct first_ranking *ranking, struct str request, const uint32_t *tools, size_t count,
                      unsigned worker, struct buffer *out, uint32_t *provider, wt_error *err);

/* True if so few of all requests are of a kind that synthetic ones are added. */
bool wt__kind_is_scarce(size_t of_kind, size_t all);

struct kind_fit {
    struct request_classifier classifier; /* with margin 0 */
    size_t single, several, synthetic;    /* number of requests, including synthetic ones */
    double accuracy; /* on the hold-out, with both kinds weighted equally; NaN without a hold-out */
};

/* Fits the classifier on training requests. It is all zero if there is only one kind. Errors: WT_ECANCELLED, WT_ENOMEM,
 * those of the search. */
int wt__kind_fit(const struct first_ranking *ranking, struct kind_fit *out, wt_error *err);

/* Fits the classifier to samples by logistic regression, with equal total weight of both kinds. lacks: [count] feature
 * of each sample (wt__request_lack). several: [count] 1 if the sample needs several providers. */
void wt__kind_weigh(const float *lacks, const uint8_t *several, size_t count, struct request_classifier *out);

#endif
