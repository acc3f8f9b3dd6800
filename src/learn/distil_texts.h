/* distil_texts.h: the training data of a static encoder: all distinct texts of catalogues and their training requests,
 * as text and as tokens, and the pairs of request and tool. */
#ifndef WT_LEARN_DISTIL_TEXTS_H
#define WT_LEARN_DISTIL_TEXTS_H

#include "learn/examples.h"
#include "learn/training_batch.h"
#include "text/tokenizer.h"

struct distil_texts {
    size_t count;              /* N distinct texts: of tools, then of requests */
    struct str *texts;         /* [N] borrowed from the examples */
    struct token_texts tokens; /* [N] */
    uint32_t *tool_text;       /* [M] number of each tool's text */
    uint32_t *request_text;    /* [B] number of each training request's text */
    const struct examples *examples;
};

/* Reads at most max_tokens of each text, including the frame. Borrows the examples. Errors: WT_EEMPTY (no text),
 * WT_ENOMEM. */
int wt__distil_texts_open(struct distil_texts *out, const struct examples *examples, const struct tokenizer *tokenizer,
                          size_t max_tokens, wt_error *err);
void wt__distil_texts_dispose(struct distil_texts *texts);

/* Tokenises texts for a static encoder: without the frame of [CLS] and [SEP] and without unknown words. The caller
 * disposes of the result even on error. WT_ENOMEM. */
int wt__distil_tokens(struct token_texts *tokens, const struct tokenizer *tokenizer, const struct str *texts,
                      size_t count, size_t max_tokens, wt_error *err);

/* Sets frequency [token_count] to the share of each token among all tokens of the texts; 0 if it does not occur. */
void wt__distil_frequencies(const struct distil_texts *texts, size_t token_count, float *frequency);

#endif
