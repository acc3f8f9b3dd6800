/* encoder.h: texts to unit vectors with a model directory: a transformer, or a static encoder (encoder/token_table.h).
 * One static encoder is built into the library; MODEL_BUILT_IN stands where else its folder would.
 *
 *   wt__encoder_open(&encoder, folder, err)              once; mapped, shared by all threads, never written
 *   wt__encoder_scratch_new(&scratch, encoder, err)      once a thread
 *   wt__encode(encoder, scratch, role, texts, n, ...)    a request, on the calling thread
 *   wt__encode_many(encoder, role, texts, n, ...)        an import, on several
 *
 * A text's vector does not depend on the texts beside it nor on the number of threads, to the last bit. */
#ifndef WT_ENCODER_ENCODER_H
#define WT_ENCODER_ENCODER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"
#include "encoder/config.h"
#include "encoder/prompts.h"

struct encoder;
struct encoder_scratch;

/* Opens the packed model of the folder, made on the first use. Errors: WT_EMODEL (missing, damaged, or of a kind that
 * the sentence names), WT_ENOMEM. */
int wt__encoder_open(struct encoder **out, const char *folder, wt_error *err);
/* The same; progress is heard while the packed model is made. Errors: and WT_ECANCELLED. */
int wt__encoder_load(struct encoder **out, const char *folder, struct progress *progress, wt_error *err);
void wt__encoder_close(struct encoder *encoder);

size_t wt__encoder_dim(const struct encoder *encoder);           /* D */
size_t wt__encoder_max_tokens(const struct encoder *encoder);    /* of one text, with [CLS] and [SEP] if it has them */
bool wt__encoder_is_static(const struct encoder *encoder);       /* has no layers for others to build on */
bool wt__encoder_is_multilingual(const struct encoder *encoder); /* by the size of its vocabulary (encoder.c) */
const char *wt__encoder_name(const struct encoder *encoder);     /* the folder's last part; lives as the encoder does */
const char *wt__encoder_hash(
    const struct encoder *encoder); /* SHA-256 of weights, fields, prompts: 64 digits; the same */
const char *wt__encoder_fields(const struct encoder *encoder); /* wt__model_fields of its folder; the same */
struct dense_weight wt__encoder_dense_weight(const struct encoder *encoder); /* wt__model_dense_weight of its folder */

/* The hash of the encoder that the folder holds, without opening it, as far as its packed model tells; false where
 * there is none that is current. */
bool wt__encoder_peek(const char *folder, char hash[65]);

struct packed;
/* Its tokenizer and layers (encoder/packed.h), for those who build on them; lives as the encoder does. */
const struct packed *wt__encoder_packed(const struct encoder *encoder);

/* Makes the packed model unless it is there, current and whole to the last byte. *made may be NULL. Errors as
 * wt__encoder_open, and where no file could be written, why (WT_EFULL, WT_EREADONLY, WT_EIO, ...). */
int wt__encoder_pack(const char *folder, bool *made, wt_error *err);

/* Memory for one thread at a time. Errors: WT_ENOMEM. */
int wt__encoder_scratch_new(struct encoder_scratch **out, const struct encoder *encoder, wt_error *err);
void wt__encoder_scratch_free(struct encoder_scratch *scratch);

/* out: [count, D], each of length one; all zero where a static encoder knows no token of a text. Text beyond the most
 * tokens is cut. Any bytes are text; what they are says which of the model's prompts stands before them. Allocates
 * nothing unless there is one. Errors: WT_ENOMEM. */
int wt__encode(const struct encoder *encoder, struct encoder_scratch *scratch, enum text_role role,
               const struct str *texts, size_t count, float *out, wt_error *err);

/* The same by several threads (0: one a processor), with a step of progress for every text; the phase is the caller's.
 * progress may be NULL. Errors: WT_ECANCELLED, WT_ENOMEM. */
int wt__encode_many(const struct encoder *encoder, enum text_role role, const struct str *texts, size_t count,
                    unsigned threads, float *out, struct progress *progress, wt_error *err);

#endif
