/* cross.h: a cross-encoder, which scores tools for a request. */
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

/* A cross-encoder reads a request and a tool together and returns one number, a logit (Nogueira and Cho 2019; the reranker
 * of ToolRerank, section 2.3). It can use any model directory ...ForSequenceClassification with one label.
 *
 *   CLS request SEP tool SEP, with the model's own special tokens and token types -> layers -> head on the row of CLS
 *
 * The pairs of a request run in batches without padding. The logit of a pair does not depend on the other pairs, to the
 * last bit. */

enum {
    CROSS_TOKENS = 256
}; /* maximum tokens of a pair, including special tokens, unless the model has a lower limit */

/* Tokens of a text without special tokens; borrowed. */
struct token_run {
    const int32_t *ids;
    size_t count;
};

struct cross;

/* Opens a cross-encoder, which is thread-safe. progress is reported while the packed model is created; it may be NULL.
 * Errors: WT_EMODEL (missing or damaged model, no classifier, more than one label, or no room for a pair), WT_ENOMEM,
 * WT_ECANCELLED. */
int wt__cross_open(struct cross **out, const char *folder, struct progress *progress, wt_error *err);
void wt__cross_close(struct cross *cross); /* NULL is a no-op */

/* Returns the tokens of a text, at most as many as a pair can hold. ids: [CROSS_TOKENS], which the result borrows. */
struct token_run wt__cross_tokens(const struct cross *cross, struct str text, int32_t *ids);

/* Computes logits [N] of the request with each of N tools; N may be 0. If a pair is too long, the longer text is cut to
 * the length of the shorter one, then both. Allocates memory only if more threads run at once than before. progress is
 * reported after every few tools; it may be NULL. Errors: WT_EMODEL (unknown token, or a number that is not finite),
 * WT_ENOMEM, WT_ECANCELLED. */
int wt__cross_score(struct cross *cross, struct str request, const struct token_run *tools, size_t count,
                    struct progress *progress, float *logits, wt_error *err);

/* Converts a logit to a probability. */
float wt__cross_probability(float logit);

/* Writes a pair with its special tokens, as the model reads it. most: maximum number of tokens, at least wt__cross_frame.
 * If it is exceeded, the longer text is cut to the length of the shorter text, then both equally. ids, types: [most].
 * Returns the number of tokens. */
size_t wt__cross_pair(const struct tokenizer *tokenizer, struct token_run first, struct token_run second, size_t most,
                      int32_t *ids, int32_t *types);
size_t wt__cross_frame(const struct tokenizer *tokenizer); /* number of special tokens of a pair */

/* A cross-encoder in a folder, opened on first use. */
struct cross_encoder {
    const char *folder;
    const char *identity; /* identity of its training; "" if the model was not trained here */
    unsigned fields;      /* fields of a tool to read (retrieve/document.h) */
    pthread_mutex_t lock;
    struct cross *model; /* protected by the lock, like error and tried; NULL until opened */
    wt_error error;      /* why opening failed */
    bool tried;          /* true once opened or failed, except if cancelled or out of memory */
};

/* Prepares a cross-encoder. Only reads the list of fields. Borrows folder and identity. Returns NULL if out of
 * memory. */
struct cross_encoder *wt__cross_encoder_new(const char *folder, const char *identity);
void wt__cross_encoder_free(struct cross_encoder *cross);

/* Opens the model on first use. Thread-safe. progress is reported while opening; it may be NULL. Errors: those of
 * wt__cross_open, returned on every call. */
int wt__cross_encoder_open(struct cross_encoder *cross, struct progress *progress, struct cross **out, wt_error *err);

/* Computes logits [count] of the request with each tool's `fields`. A tool that was removed in the meantime has no
 * words; the caller must drop it. Errors: those of wt__cross_score. */
int wt__cross_encoder_score(struct cross *model, unsigned fields, struct str request, const struct tool *tools,
                            size_t count, struct progress *progress, struct arena *arena, float *logits, wt_error *err);

#endif
