/* cross.h: a cross-encoder, a model that scores a tool for a request. */
#ifndef WT_RERANK_CROSS_H
#define WT_RERANK_CROSS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"
#include "catalog/tool.h"
#include "encoder/encoder.h"
#include "text/tokenizer.h"

/* A cross-encoder reads a request and a tool together and returns one number, a logit (Nogueira and Cho 2019; the
 * reranker of ToolRerank, section 2.3). Any model directory with an architecture "...ForSequenceClassification" and one
 * label can be used.
 *
 *   CLS request SEP tool SEP, with the model's own special tokens and token types -> layers -> head on the row of CLS
 *
 * The pairs of a request run in batches without padding. The logit of a pair does not depend on the other pairs of the
 * batch, not even by rounding. */

enum { CROSS_TOKENS = 256 }; /* maximum tokens of a pair, with special tokens; a model may have a lower limit */

/* Tokens of a text, without special tokens. Borrowed. */
struct token_run {
    const int32_t *ids;
    size_t count;
};

struct cross;

/* Opens a cross-encoder, which is thread-safe. progress: reported while the packed model is created; may be NULL.
 * Errors: WT_EMODEL (missing or damaged model, no classifier, more than one label, or no room for a pair), WT_ENOMEM,
 * WT_ECANCELLED. */
int wt__cross_open(struct cross **out, const char *folder, struct progress *progress, wt_error *err);
void wt__cross_close(struct cross *cross); /* NULL is a no-op */

/* Returns the first tokens of a text, at most CROSS_TOKENS - 2 and fewer if the model has a lower limit. ids: memory
 * [CROSS_TOKENS], which the result borrows. */
struct token_run wt__cross_tokens(const struct cross *cross, struct str text, int32_t *ids);

/* Computes logits [count] of the request with each tool. count may be 0. Texts that are too long for a pair are cut as
 * in wt__cross_pair. Allocates memory only if more threads call the function at once than before. progress: reported
 * after every few tools; may be NULL. Errors: WT_EMODEL (unknown token, or a logit that is not finite), WT_ENOMEM,
 * WT_ECANCELLED. */
int wt__cross_score(struct cross *cross, struct str request, const struct token_run *tools, size_t count,
                    struct progress *progress, float *logits, wt_error *err);

/* Converts a logit to a probability, with the logistic function. */
float wt__cross_probability(float logit);

/* Writes the tokens of a pair, with special tokens, and the types of the tokens. Returns the number of tokens. most:
 * maximum number of tokens, at least wt__cross_frame. If the pair is longer, first the longer text is cut to the length
 * of the shorter text. Then both texts are cut equally. ids, types: memory [most]. */
size_t wt__cross_pair(const struct tokenizer *tokenizer, struct token_run first, struct token_run second, size_t most,
                      int32_t *ids, int32_t *types);
size_t wt__cross_frame(const struct tokenizer *tokenizer); /* returns the number of special tokens of a pair */

/* A cross-encoder in a model directory, opened on first use. */
struct cross_encoder {
    const char *folder;
    const char *identity; /* hash of its training; "" if the model was not trained here */
    unsigned fields;      /* bits of the fields of a tool that the model reads (retrieve/document.h) */
    pthread_mutex_t lock;
    /* The lock protects the following members. */
    struct cross *model; /* NULL until opened */
    wt_error error;      /* error of a failed opening */
    bool tried;          /* true once opened or failed; stays false if cancelled or out of memory */
};

/* Creates a cross-encoder. Reads the list of fields, but does not open the model. Borrows folder and identity. Returns
 * NULL if out of memory. */
struct cross_encoder *wt__cross_encoder_new(const char *folder, const char *identity);
void wt__cross_encoder_free(struct cross_encoder *cross);

/* Opens the model on first use. Thread-safe. progress: reported while opening; may be NULL. Errors: those of
 * wt__cross_open. Later calls return the error of a failed call. But after a cancellation or without memory, the next
 * call tries again. */
int wt__cross_encoder_open(struct cross_encoder *cross, struct progress *progress, struct cross **out, wt_error *err);

/* Computes logits [count] of the request with the given fields of each tool. fields: one bit per field. Errors: those
 * of wt__cross_score. */
int wt__cross_encoder_score(struct cross *model, unsigned fields, struct str request, const struct tool *tools,
                            size_t count, struct progress *progress, struct arena *arena, float *logits, wt_error *err);

#endif
