/* training_batch.h: runs the texts of one step through a trainable encoder, forward and backward, on several workers.
 *
 *   wt__batch_begin, wt__batch_add for each text, wt__batch_share   -> the texts of the step and of each worker
 *   wt__batch_forward(batch, w)    for each w   -> vectors, or rows
 *   (the loss fills dvectors, or the rows' gradients)
 *   wt__batch_backward(batch, w)   for each w   -> gradients of the worker
 *   wt__batch_reduce               -> gradients of the parameters
 *
 * Texts are assigned to workers in order of descending length, each to the worker with the fewest rows so far. This
 * rule is deterministic, so the same texts always get the same workers. */
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
/* Tokenises texts, with the model's prompt for the role. A text has at most max_tokens tokens, and at most the model's
 * limit. Errors: WT_ENOMEM. */
int wt__token_texts_read(struct token_texts *out, const struct trainable *model, enum text_role role,
                         const struct str *texts, size_t count, size_t max_tokens, unsigned threads, wt_error *err);
void wt__token_texts_dispose(struct token_texts *texts);
/* Returns the number of tokens of the `count` longest texts together. Returns an upper bound if out of memory. */
size_t wt__token_texts_longest(const struct token_texts *texts, size_t count);

enum batch_output {
    BATCH_ROWS,   /* last hidden states of all rows (wt__batch_rows) */
    BATCH_POOLED, /* one vector per text, pooled according to the model's configuration */
    BATCH_UNIT    /* pooled vectors, normalised */
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
    size_t length, external;  /* number of rows; number of external rows among them */
    unsigned worker;
    size_t first, first_external; /* first row and first external row of the text in the worker's batch */
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
    float *vectors;           /* [S, H] output; unused for BATCH_ROWS */
    float *dvectors;          /* [S, H] gradients of vectors, filled by the loss */
    uint32_t *order;          /* [S] scratch of wt__batch_share */
};

/* Estimates the bytes that wt__batch_open allocates, including gradients. Returns SIZE_MAX on overflow. */
size_t wt__batch_bytes(const struct trainable *model, unsigned workers, const struct batch_limits *limits);
/* Opens a batch. Borrows the model. Freeze layers of the model before this call. Errors: WT_ENOMEM. */
int wt__batch_open(struct training_batch *out, struct trainable *model, enum batch_output output, unsigned workers,
                   const struct batch_limits *limits, wt_error *err);
void wt__batch_dispose(struct training_batch *training_batch);

/* Starts an empty step. */
void wt__batch_begin(struct training_batch *training_batch);
/* Adds a text to the step. The step must stay within the limits. Returns the number of the text, counted from 0. */
size_t wt__batch_add(struct training_batch *training_batch, const int32_t *ids, size_t length);
/* Adds a text with external rows. The caller computes an external row (wt__batch_external); it is not looked up by
 * token. The id of an external row is -1. external: number of external rows. positions: [length], or NULL to count from
 * 0. */
size_t wt__batch_add_mixed(struct training_batch *training_batch, const int32_t *ids, const int32_t *positions,
                           size_t length, size_t external);
/* Adds a pair of texts as one text. types: [length] token types that distinguish the two texts; NULL for all 0. */
size_t wt__batch_add_pair(struct training_batch *training_batch, const int32_t *ids, const int32_t *types,
                          size_t length);
/* Assigns the texts to workers. Returns the number of rows of all texts. */
size_t wt__batch_share(struct training_batch *training_batch);

void wt__batch_forward(struct training_batch *training_batch, unsigned worker);
void wt__batch_backward(struct training_batch *training_batch, unsigned worker);
void wt__batch_reduce(struct training_batch *training_batch, unsigned part, unsigned parts);

/* Returns the external rows of a text, [external, H]. The caller fills them after wt__batch_share and before
 * wt__batch_forward. */
float *wt__batch_external(struct training_batch *training_batch, size_t text);
/* Returns the gradients of the external rows of a text, after wt__batch_backward. The rows are *stride floats apart. */
const float *wt__batch_dexternal(const struct training_batch *training_batch, size_t text, size_t *stride);

/* Gets the last hidden states of a text and their gradients, for BATCH_ROWS, between wt__batch_forward and
 * wt__batch_backward. The rows of *last and *dlast are *stride floats apart. *dlast is zero after wt__batch_forward,
 * and the loss fills it. */
void wt__batch_rows(const struct training_batch *training_batch, size_t text, const float **last, float **dlast,
                    size_t *stride);

/* Encodes texts with the current parameters. which: [count] numbers of the texts; NULL for 0, 1, ... output:
 * BATCH_POOLED or BATCH_UNIT. out: [count, H] vectors. Discards the current step; call wt__batch_begin before the next
 * one. No text may be longer than limits.longest. progress: counts texts; may be NULL. Errors: WT_ECANCELLED,
 * WT_ENOMEM. */
int wt__batch_encode(struct training_batch *training_batch, enum batch_output output, const struct token_texts *texts,
                     const uint32_t *which, size_t count, float *out, struct train_progress *progress, wt_error *err);

#endif
