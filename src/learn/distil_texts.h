/* distil_texts.h: what a static encoder is distilled from: all different texts of catalogues and their training
 * requests, as text and as tokens, and which of them belong together. */
#ifndef WT_LEARN_DISTIL_TEXTS_H
#define WT_LEARN_DISTIL_TEXTS_H

#include "learn/examples.h"
#include "learn/training_batch.h"
#include "text/tokenizer.h"

struct distil_texts {
    size_t count;              /* N texts, all different: of tools, then of requests */
    struct str *texts;         /* [N] borrowed from the examples */
    struct token_texts tokens; /* [N] */
    uint32_t *tool_text;       /* [M] the text that stands for each tool of the examples */
    uint32_t *request_text;    /* [B] that of each training request */
    const struct examples *examples;
};

/* At most max_tokens of each text, frame included. The examples are borrowed. Errors: WT_EEMPTY (no text), WT_ENOMEM.
 */
int wt__distil_texts_open(struct distil_texts *out, const struct examples *examples, const struct tokenizer *tokenizer,
                          size_t max_tokens, wt_error *err);
void wt__distil_texts_dispose(struct distil_texts *texts);

/* What a static encoder reads of texts: no frame of [CLS] and [SEP], and no unknown word. To be disposed of, also on
 * failure. WT_ENOMEM. */
int wt__distil_tokens(struct token_texts *tokens, const struct tokenizer *tokenizer, const struct str *texts,
                      size_t count, size_t max_tokens, wt_error *err);

/* frequency [token_count]: the share of each token among the texts' tokens; 0 of those that no text has. */
void wt__distil_frequencies(const struct distil_texts *texts, size_t token_count, float *frequency);

#endif
