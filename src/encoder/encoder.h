/* encoder.h: turns texts into unit vectors with a transformer or a static encoder (encoder/token_table.h). One static
 * encoder is built into the library; MODEL_BUILT_IN is used as its folder.
 *
 *   wt__encoder_open(&encoder, folder, err)              once; mapped, read-only, shared by all threads
 *   wt__encoder_scratch_new(&scratch, encoder, err)      once per thread
 *   wt__encode(encoder, scratch, role, texts, n, ...)    a request, on the calling thread
 *   wt__encode_many(encoder, role, texts, n, ...)        an import, on several threads
 *
 * The vector of a text depends neither on the other texts nor on the number of threads, to the last bit. */
#ifndef WT_ENCODER_ENCODER_H
#define WT_ENCODER_ENCODER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"
#include "encoder/config.h"

struct encoder;
struct encoder_scratch;

/* Opens the packed model of a folder, creating it on first use. Errors: WT_EMODEL (missing, damaged or unsupported),
 * WT_ENOMEM. */
int wt__encoder_open(struct encoder **out, const char *folder, wt_error *err);
/* Works like wt__encoder_open and updates `progress` while it creates the packed model. Further error:
 * WT_ECANCELLED. */
int wt__encoder_load(struct encoder **out, const char *folder, struct progress *progress, wt_error *err);
void wt__encoder_close(struct encoder *encoder);

size_t wt__encoder_dim(const struct encoder *encoder);           /* D */
size_t wt__encoder_max_tokens(const struct encoder *encoder);    /* including [CLS] and [SEP] if used */
bool wt__encoder_is_static(const struct encoder *encoder);       /* true if it has no layers */
bool wt__encoder_is_multilingual(const struct encoder *encoder); /* judged by the vocabulary */
bool wt__encoder_is_cross(const struct encoder *encoder); /* true for a cross-encoder: it has a head of one label */

/* Returns the last part of the folder's path. The string lives as long as the encoder. */
const char *wt__encoder_name(const struct encoder *encoder);
/* Returns the SHA-256 of weights, fields and prompts as 64 hex digits. The string lives as long as the encoder. */
const char *wt__encoder_hash(const struct encoder *encoder);
/* Returns wt__model_fields of the folder. The string lives as long as the encoder. */
const char *wt__encoder_fields(const struct encoder *encoder);

/* Writes the hash of a folder's encoder, read from its packed model without opening it. Returns false if the folder has
 * no current packed model. */
bool wt__encoder_peek(const char *folder, char hash[65]);

struct packed;
/* Returns the encoder's packed model. It lives as long as the encoder. */
const struct packed *wt__encoder_packed(const struct encoder *encoder);

/* Creates the packed model unless a current and undamaged one exists. `made` may be NULL. Errors: those of
 * wt__encoder_open, and the reason if no file could be written (WT_EFULL, WT_EREADONLY, WT_EIO, ...). */
int wt__encoder_pack(const char *folder, bool *made, wt_error *err);

/* Allocates the memory for one thread. Errors: WT_ENOMEM. */
int wt__encoder_scratch_new(struct encoder_scratch **out, const struct encoder *encoder, wt_error *err);
void wt__encoder_scratch_free(struct encoder_scratch *scratch);

/* Writes the unit vectors of the texts to out [count, D]; a vector is zero if a static encoder knows no token of the
 * text. Texts above the maximum number of tokens are truncated, and invalid UTF-8 is accepted. `role` selects the
 * prompt of the model. Allocates memory only to add a prompt. Errors: WT_ENOMEM. */
int wt__encode(const struct encoder *encoder, struct encoder_scratch *scratch, enum text_role role,
               const struct str *texts, size_t count, float *out, wt_error *err);

/* Works like wt__encode on several threads (0: one per processor). Counts one progress step per text; the caller sets
 * the phase. `progress` may be NULL. Errors: WT_ECANCELLED, WT_ENOMEM. */
int wt__encode_many(const struct encoder *encoder, enum text_role role, const struct str *texts, size_t count,
                    unsigned threads, float *out, struct progress *progress, wt_error *err);

/* Writes the unit vector of [CLS] token [SEP] for every token to out [token_count of the tokenizer, H]. Uses `threads`
 * threads (0: one per processor); the result does not depend on their number. Counts one progress step per token; the
 * caller sets the phase. Errors: WT_ECANCELLED, WT_ENOMEM. */
int wt__token_vectors(const struct encoder *encoder, unsigned threads, float *out, struct progress *progress,
                      wt_error *err);

#endif
