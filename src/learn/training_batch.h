/* training_batch.h: runs the texts of one step through a trainable encoder, forward and backward, distributed over
 * workers.
 *
 *   wt__batch_begin, wt__batch_add for each text, wt__batch_share   -> the texts of the step and of each worker
 *   wt__batch_forward(batch, w)    for each w   -> vectors, or rows
 *   (the loss fills dvectors, or the rows' gradients)
 *   wt__batch_backward(batch, w)   for each w   -> gradients of the worker
 *   wt__batch_reduce               -> gradients of the parameters
 *
 * Texts are assigned longest first, each to the worker with the fewest rows. The rule is fixed, so equal texts always
 * get equal workers. */
#ifndef WT_LEARN_TRAINING_BATCH_H
#define WT_LEARN_TRAINING_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "encoder/trainable.h"
#include "learn/loop.h"

/* Texts as tokens, concatenated. */
struct token_texts {
    size_t count;
    size_t *starts; /* [count + 1] */
    int32_t *ids;   /* [starts[count]] */
};
/* Tokenises texts, at most max_tokens each, within the model's own limit and including its prompt for the role.
 * WT_ENOMEM. */
int wt__token_texts_read(struct token_texts *out, const struct trainable *model, enum text_role role,
                         const struct str *texts, size_t count, size_t max_tokens, unsigned threads, wt_error *err);
void wt__token_texts_dispose(struct token_texts *texts);
/* Returns the total tokens of the `count` longest texts, or an upper bound if out of memory. */
size_t wt__token_texts_longest(const struct token_texts *texts, size_t count);

enum batch_output {
    BATCH_ROWS,   /* last hidden states: wt__batch_rows */
    BATCH_POOLED, /* one vector per text, pooled according to the model's configuration */
    BATCH_UNIT    /* the same, normalised */
};

/* Size of the largest step. */
struct batch_limits {
    size_t texts;    /* S */
    size_t rows;     /* rows (tokens and external rows) of all texts together */
    size_t longest;  /* rows of the longest text */
    size_t external; /* external rows of all texts together */
};

struct batch_text {
    const int32_t *ids;       /* borrowed until the next begin; -1 for an external row */
    const int32_t *positions; /* NULL for 0, 1, ... */
    const int32_t *types;     /* NULL for all 0 */
    size_t length, external;  /* number of rows, and of external rows among them */
    unsigned worker;
    size_t first, first_external; /* its first row and external row in the worker's batch */
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
    float *vectors;           /* [S, H] output; BATCH_ROWS leaves it empty */
    float *dvectors;          /* [S, H] their gradients, filled by the loss */
    uint32_t *order;          /* [S] scratch of wt__batch_share */
};

/* Returns the bytes that open will allocate, including gradients; SIZE_MAX if that overflows. */
size_t wt__batch_bytes(const struct trainable *model, unsigned workers, const struct batch_limits *limits);
/* Opens a batch. Borrows the model, which must be frozen before. Errors: WT_ENOMEM. */
int wt__batch_open(struct training_batch *out, struct trainable *model, enum batch_output output, unsigned workers,
                   const struct batch_limits *limits, wt_error *err);
void wt__batch_dispose(struct training_batch *training_batch);

void wt__batch_begin(struct training_batch *training_batch);
/* Adds a text within the limits. Returns its number, 0, 1, ... */
size_t wt__batch_add(struct training_batch *training_batch, const int32_t *ids, size_t length);
/* Works like wt__batch_add, with external rows, whose ids are -1, and positions (NULL for 0, 1, ...). External rows are
 * computed by the caller instead of looked up by token (wt__batch_external). */
size_t wt__batch_add_mixed(struct training_batch *training_batch, const int32_t *ids, const int32_t *positions,
                           size_t length, size_t external);
/* Adds a pair of texts as one. types [length] distinguishes them (NULL for a single type). */
size_t wt__batch_add_pair(struct training_batch *training_batch, const int32_t *ids, const int32_t *types,
                          size_t length);
/* Distributes the texts over the workers. Returns the rows of all texts. */
size_t wt__batch_share(struct training_batch *training_batch);

void wt__batch_forward(struct training_batch *training_batch, unsigned worker);
void wt__batch_backward(struct training_batch *training_batch, unsigned worker);
void wt__batch_reduce(struct training_batch *training_batch, unsigned part, unsigned parts);

/* Returns a text's external rows [external, H], which the caller fills between share and forward. */
float *wt__batch_external(struct training_batch *training_batch, size_t text);
/* Returns the gradients of a text's external rows after backward, *stride floats apart. */
const float *wt__batch_dexternal(const struct training_batch *training_batch, size_t text, size_t *stride);

/* Returns a text's last hidden states and their gradients (BATCH_ROWS: zero after forward, filled by the loss), rows
 * *stride floats apart, between forward and backward. */
void wt__batch_rows(const struct training_batch *training_batch, size_t text, const float **last, float **dlast,
                    size_t *stride);

/* Encodes texts by number (which [count]; NULL for 0, 1, ...) with the current parameters: vectors [count, H],
 * normalised or, for BATCH_POOLED, unchanged. Discards the current step. No text may exceed the limits' longest.
 * progress counts texts and may be NULL. Errors: WT_ECANCELLED, WT_ENOMEM. */
int wt__batch_encode(struct training_batch *training_batch, enum batch_output output, const struct token_texts *texts,
                     const uint32_t *which, size_t count, float *out, struct train_progress *progress, wt_error *err);

#endif
