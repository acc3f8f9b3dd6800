/* trainers.h: the lessons of the table in train.c, and functions that several lessons share. */
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

/* The head of a classifier that was trained together with the encoder (tuning.c) is stored in head.safetensors, next
 * to the encoder's weights. The file has one tensor MLC_HEAD [M, D] with a row per tool, in the order of the examples.
 * The metadata of the file identify the training and the step, so that the head is never used with another encoder. */

/* Writes the head. folder: folder of the encoder. outcome: outcome of the encoder's training (wt__training_outcome).
 */
int wt__kept_head_write(const char *folder, const float *rows, size_t tools, size_t dim, const json_t *outcome,
                        wt_error *err);

/* Removes the head of an earlier training, if it exists. */
int wt__kept_head_remove(const char *folder, wt_error *err);

/* The lesson "mlc" (section 4.2 of the Tool2Vec paper): multi-label classification with one row per tool. */

enum { MLC_BATCH = 64 }; /* the lesson's default */
#define MLC_RATE 3e-4
/* With the loss bce, each tool has a learned shift: the cosine at which it has even odds. It starts here, so that most
 * tools are unlikely before the first step. */
#define MLC_START_SHIFT 0.5f

/* Computes the vector of every tool in the recipe "mlc" that was saved for the evaluator's encoder. vectors: [M, D].
 * tools: [M, D] vectors of the tools by tool2vec, used for tools without a row in the classifier. If the recipe does
 * not exist, *there is false and vectors is a copy of tools. */
int wt__mlc_vectors(struct dev_evaluator *evaluator, const float *tools, float *vectors, bool *there, wt_error *err);

/* Trains a head with the loss of the trained recipe mlc, and otherwise the lesson's defaults. Refiners then learn from
 * the same kind of candidates that they will see. which: [count] numbers of the training requests to train on. rows:
 * [M, D] initial values, replaced by the result. Errors: WT_ENOMEM, WT_ECANCELLED, WT_EMODEL. */
int wt__mlc_fit(struct dev_evaluator *evaluator, const uint32_t *which, size_t count, float *rows, wt_error *err);

/* The lesson "tool2vec" computes a tool's vector from the requests that used the tool (section 4.1 of Moon et al.,
 * Efficient and Scalable Estimation of Tool Representations in Vector Space). */

/* Computes the vector of every tool by tool2vec (retrieve/trained_vectors.h). vectors: [M, D]; called T below. */
void wt__evaluator_tool2vec(const struct dev_evaluator *evaluator, const struct tool2vec *tool2vec, float *vectors);

/* Reads the weights that the lesson "tool2vec" saved for this encoder, or sets default weights. Errors: WT_EMODEL,
 * WT_ENOMEM. */
int wt__evaluator_tool2vec_weights(struct dev_evaluator *evaluator, struct tool2vec *out, wt_error *err);

/* Training data of a refiner: the first stage's candidates for each request, their features, and the labels.
 *
 * A tool's vector is computed from the training requests that used the tool. So the first stage is unrealistically
 * good for these requests. Training requests are therefore split into folds. The candidates of a fold come from tool
 * vectors, or a classifier, computed from the other folds. The encoder is the same for all folds. Dev requests use
 * vectors of all training requests, like a query. */

enum {
    REFINER_FOLDS = 4,
    REFINER_REQUESTS = 8000, /* maximum training requests, a seeded sample */
    REFINER_DEPTH = 256      /* hits that are searched for used tools to keep as candidates */
};

/* First stage of a refiner. */
struct first_stage {
    const char *name;     /* name of the recipe */
    const char *identity; /* identity of the recipe's training */
    struct retriever retriever;
    bool classified; /* true if the tool vectors are rows of the classifier; false if they are T */
};

/* Samples of S requests, each with at most N candidates. */
struct refiner_samples {
    size_t count, candidates;             /* S, N */
    uint32_t *requests;                   /* [S] numbers in the example set */
    uint16_t *lengths;                    /* [S] number of candidates */
    uint16_t *tokens;                     /* [S] number of the request's tokens that the refiner reads */
    uint8_t *vectors;                     /* [S] index in refiner_data.made of the tool vectors of the candidates */
    uint32_t *rows;                       /* [S, N] candidates in the first stage's order, with replacements (kept) */
    uint8_t *gold;                        /* [S, N] 1 if the request used the candidate, else 0 */
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

/* Computes the first stage's tool vectors from all training requests except those of fold `without`. REFINER_FOLDS
 * leaves out no fold. vectors: [M, D]. */
int wt__refiner_vectors(struct dev_evaluator *evaluator, const struct first_stage *first, unsigned without,
                        float *vectors, wt_error *err);

/* Builds the samples. kept: probability that a used tool outside a training sample's candidates replaces the last
 * unused candidate. Errors: WT_ENOMEM, WT_ECANCELLED, WT_EMODEL. */
int wt__refiner_data_open(struct refiner_data *out, struct dev_evaluator *evaluator, const struct first_stage *first,
                          size_t candidates, double kept, wt_error *err);
void wt__refiner_data_dispose(struct refiner_data *data);

/* Returns a candidate's vector, [D]. */
const float *wt__refiner_vector(const struct refiner_data *data, const struct refiner_samples *samples, size_t sample,
                                size_t candidate);

/* The lessons "tool2vec+refiner" and "mlc+refiner" train the model of rerank/refiner.h on the candidates of its first
 * stage (section 4.3 of the Tool2Vec paper). */

enum { REFINER_BATCH = 32, REFINER_CANDIDATES = 32 /* default of N */ };
#define REFINER_RATE 1e-4

/* Computes the loss of the candidates of one request. logits: [n]. gold: [n] 1 for a used candidate, else 0. dlogits:
 * [n] gradients of the loss; may be the same array as logits. *terms: number of terms of the loss. The caller divides
 * loss and gradients by the sum of the terms of the batch.
 *
 *   softmax   one term for each gold candidate: -log(softmax among the candidate and all unused candidates)
 *   bce       one term for each candidate: the binary cross-entropy */
typedef double (*refiner_loss)(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);
double wt__refiner_softmax(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);
double wt__refiner_bce(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);

/* Fits the weights of the features and a constant to all samples. The logit of a candidate is
 * prior * (score - 1) + weights . features + constant. The constant is the last element of weights. */
enum { FIT_WEIGHTS = RETRIEVE_FEATURES + 1 };
void wt__refiner_fit(const struct refiner_samples *samples, refiner_loss loss, float prior, float weights[FIT_WEIGHTS]);

/* Measures a recipe "...+refiner" on dev. If the recipe was not trained, *there is false and *out is unchanged. */
int wt__refiner_measure(struct dev_evaluator *evaluator, const char *recipe, bool *there, struct dev_outcome *out,
                        wt_error *err);

/* The lesson "cross" trains a cross-encoder (rerank/cross.h) to distinguish a request's tools from similar tools
 * (section 4.1 of ToolRerank, which gives no further details). The model starts as the trained encoder, if it exists,
 * else as the engine's model, with a new head.
 *
 * Positives are the labels of a request. Negatives are drawn from the tools of the request's data set whose
 * descriptions are nearest to the request. Labels, tools with the same text as a label, and tools that no request
 * needs are not negatives. A request with some of its positives and negatives is a group. The loss of a group is the
 * softmax of each positive against the negatives, the binary cross-entropy of each pair, or both together. With both,
 * some groups have no positives, as if no tool fitted.
 *
 * The saved model gives log odds. For this, Platt scaling is folded into the head's last weights: the logistic
 * function that best separates right and wrong dev pairs. Without dev requests the logits are not scaled. */

enum {
    CROSS_BATCH = 8,     /* requests per step */
    CROSS_POSITIVES = 3, /* maximum positives of a request per step */
    CROSS_NEGATIVES = 4, /* default number of negatives */
    NEGATIVES_MAX = 8,   /* maximum number of negatives, also of the lesson "encoder" */
    CROSS_DEPTH = 30,    /* maximum negatives to draw from; number of first-stage hits reranked on dev */
    CROSS_DEV = 200      /* maximum number of dev requests; a seeded sample of a larger set */
};
#define CROSS_RATE 5e-5

/* The classifier of rerank/toolrerank.h is fitted on requests with known tools. It separates two kinds: requests for
 * one provider and requests for several. If one kind is scarce, synthetic requests of this kind are made from the
 * other. A request for several providers is cut down to the sub-queries for one provider. Requests for one provider
 * are joined in pairs. */

enum { KIND_SAMPLES = 1200 /* maximum training requests; a seeded sample of a larger set */ };

/* First stage over the evaluator's tools, and the providers of the tools. */
struct first_ranking {
    struct dev_evaluator *evaluator;
    struct retriever retriever; /* dpr, or dpr with words */
    struct tool_vectors documents;
    uint32_t *providers; /* [M] HIERARCHY_NO_PROVIDER for tools without a provider */
    /* the snapshot's provider number for tools without a provider; HIERARCHY_NO_PROVIDER if all tools have one */
    uint32_t no_provider;
};

/* Ranks one request. *hits: its k best tools. *texts: the evidence for the classifier. Both live in the worker's
 * workspace. */
int wt__kind_rank(const struct first_ranking *ranking, struct str request, size_t k, unsigned worker,
                  struct hit_list *hits, struct request_texts *texts, wt_error *err);

/* True if a request's tools, [count], belong to more than one provider. Each tool without a provider counts as a
 * provider of its own. */
bool wt__kind_has_several(const struct first_ranking *ranking, const uint32_t *tools, size_t count);

/* Cuts a request for several providers down to the provider that has the most of its tools, [count], and at least two
 * of them. Appends to out the sub-queries whose best match among the request's tools belongs to this provider. Appends
 * nothing if no provider has two of the tools, or if all sub-queries or none belong to the provider. *provider: the
 * provider, or HIERARCHY_NO_PROVIDER.
 *
 * Sub-queries and tools are matched by words. If the encoder matched them, the classifier would learn that the encoder
 * is always sure of one provider. */
int wt__kind_cut_down(const struct first_ranking *ranking, struct str request, const uint32_t *tools, size_t count,
                      unsigned worker, struct buffer *out, uint32_t *provider, wt_error *err);

/* True if of_kind is so small a share of all requests that synthetic requests of this kind are added. */
bool wt__kind_is_scarce(size_t of_kind, size_t all);

struct kind_fit {
    struct request_classifier classifier; /* with margin 0 */
    size_t single, several, synthetic;    /* number of requests, including synthetic ones */
    double accuracy; /* accuracy on the hold-out, with equal weight of both kinds; NaN without a hold-out */
};

/* Fits the classifier on training requests. The classifier is zeroed if all requests are of one kind. Errors:
 * WT_ECANCELLED, WT_ENOMEM, those of the search. */
int wt__kind_fit(const struct first_ranking *ranking, struct kind_fit *out, wt_error *err);

/* Fits the classifier by logistic regression, with equal total weight of both kinds. lacks: [count] feature of each
 * sample (wt__request_lack). several: [count] 1 if the sample needs several providers, else 0. */
void wt__kind_weigh(const float *lacks, const uint8_t *several, size_t count, struct request_classifier *out);

#endif
