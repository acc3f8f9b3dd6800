/* training_batch.h: the texts of one step through a trainable encoder, forward and backward, shared out over workers.
 *
 *   wt__batch_begin, wt__batch_add a text ..., wt__batch_share     what the step reads; gives each worker its texts
 *   wt__batch_forward(batch, w)    each w       -> vectors, or rows
 *   (the loss fills dvectors, or the rows' gradients)
 *   wt__batch_backward(batch, w)   each w       -> gradients of the worker
 *   wt__batch_reduce               -> gradients of the parameters
 *
 * Longest texts first, each to the worker that has the fewest tokens: a fixed rule, so that the same texts always meet
 * the same workers. */
#ifndef WT_LEARN_TRAINING_BATCH_H
#define WT_LEARN_TRAINING_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "encoder/trainable.h"
#include "learn/train_progress.h"

/* Texts as tokens, one behind the other. */
struct token_texts {
    size_t count;
    size_t *starts; /* [count + 1] */
    int32_t *ids;   /* [starts[count]] */
};
/* At most max_tokens of each text, the model's own limit and its prompt for the role included. WT_ENOMEM. */
int wt__token_texts_read(struct token_texts *out, const struct trainable *model, enum text_role role,
                         const struct str *texts, size_t count, size_t max_tokens, unsigned threads, wt_error *err);
void wt__token_texts_dispose(struct token_texts *texts);
size_t wt__token_texts_longest(const struct token_texts *texts, size_t count); /* tokens of the `count` longest */

enum batch_output {
    BATCH_ROWS,   /* last hidden states: wt__batch_rows */
    BATCH_POOLED, /* a vector a text, pooled as the model's configuration says */
    BATCH_UNIT    /* the same at length one */
};

/* The largest step. */
struct batch_limits {
    size_t texts;    /* S */
    size_t rows;     /* of all texts together, external ones included */
    size_t longest;  /* rows of one text */
    size_t external; /* external rows of all texts together */
};

struct batch_text {
    const int32_t *ids;       /* borrowed until the next begin; -1: an external row */
    const int32_t *positions; /* NULL: 0, 1, ... */
    const int32_t *types;     /* NULL: 0 */
    size_t length, external;  /* rows, and external ones among them */
    unsigned worker;
    size_t first, first_external; /* where they begin in the worker's batch */
};

struct batch_worker;

struct training_batch {
    struct trainable *model;
    enum batch_output output;
    unsigned workers;
    size_t hidden; /* H */
    struct batch_limits limits;
    struct batch_worker *work;    /* [workers] */
    struct gradients **gradients; /* [workers] */

    size_t count;             /* texts of this step */
    struct batch_text *texts; /* [S] */
    float *pooled;            /* [S, H] */
    float *vectors;           /* [S, H] */
    float *dvectors;          /* [S, H] the loss's to overwrite */
    uint32_t *order;          /* [S] scratch of sharing */
};

/* Bytes that open will take, gradients included; SIZE_MAX: beyond any memory. */
size_t wt__batch_bytes(const struct trainable *model, unsigned workers, const struct batch_limits *limits);
/* The model is borrowed; freeze it before. Errors: WT_ENOMEM. */
int wt__batch_open(struct training_batch *out, struct trainable *model, enum batch_output output, unsigned workers,
                   const struct batch_limits *limits, wt_error *err);
void wt__batch_dispose(struct training_batch *training_batch);

void wt__batch_begin(struct training_batch *training_batch);
/* Returns the text's number, 0, 1, ... The limits must be kept. */
size_t wt__batch_add(struct training_batch *training_batch, const int32_t *ids, size_t length);
/* The same with external rows (ids of -1, `external` of them) and places (NULL: 0, 1, ...). */
size_t wt__batch_add_mixed(struct training_batch *training_batch, const int32_t *ids, const int32_t *positions,
                           size_t length, size_t external);
/* Two texts as one, which types [length] tells apart (NULL: nothing does). */
size_t wt__batch_add_pair(struct training_batch *training_batch, const int32_t *ids, const int32_t *types,
                          size_t length);
size_t wt__batch_share(struct training_batch *training_batch); /* tokens of all texts */

void wt__batch_forward(struct training_batch *training_batch, unsigned worker);
void wt__batch_backward(struct training_batch *training_batch, unsigned worker);
void wt__batch_reduce(struct training_batch *training_batch, unsigned part, unsigned parts);

/* A text's external rows [external, H], to be filled between share and forward, and after backward their gradients;
 * rows are H floats apart, those of the gradients *stride. */
float *wt__batch_external(struct training_batch *training_batch, size_t text);
const float *wt__batch_dexternal(const struct training_batch *training_batch, size_t text, size_t *stride);

/* A text's last hidden states and their gradients (BATCH_ROWS: zero after forward, the loss's to fill), rows *stride
 * floats apart, between forward and backward. */
void wt__batch_rows(const struct training_batch *training_batch, size_t text, const float **last, float **dlast,
                    size_t *stride);

/* Vectors [count, H] of texts by number (which [count]; NULL: 0, 1, ...), at length one or, for BATCH_POOLED, as they
 * are, with the parameters of now. The step in hand is lost. No text may be longer than the limits' longest. progress
 * may be NULL; it is told by texts. Errors: WT_ECANCELLED, WT_ENOMEM. */
int wt__batch_encode(struct training_batch *training_batch, enum batch_output output, const struct token_texts *texts,
                     const uint32_t *which, size_t count, float *out, struct train_progress *progress, wt_error *err);

#endif
