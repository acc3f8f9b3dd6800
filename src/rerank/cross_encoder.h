/* cross_encoder.h: a cross-encoder in a folder, opened on first use, and its scores of tools. */
#ifndef WT_RERANK_CROSS_ENCODER_H
#define WT_RERANK_CROSS_ENCODER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "catalog/tool.h"
#include "rerank/cross.h"

struct cross_encoder {
    const char *folder, *identity; /* identity: of its training; "" if the model was not trained here */
    unsigned fields;               /* fields of a tool to read (retrieve/document.h) */
    pthread_mutex_t lock;
    struct cross *model; /* these three are protected by the lock */
    wt_error error;
    bool tried;
};

/* Prepares a cross-encoder. Only reads the list of fields. Borrows folder and identity. Returns NULL if out of
 * memory. */
struct cross_encoder *wt__cross_encoder_new(const char *folder, const char *identity);
void wt__cross_encoder_free(struct cross_encoder *cross);

/* Opens the model on first use. Thread-safe. progress is reported while opening; it may be NULL. Errors: those of
 * wt__cross_load, returned on every call; WT_ECANCELLED. */
int wt__cross_encoder_open(struct cross_encoder *cross, struct progress *progress, struct cross **out, wt_error *err);

/* Computes logits [count] of the request with each tool's `fields`. A tool that was removed in the meantime has no
 * words; the caller must drop it. Errors: those of wt__cross_score. */
int wt__cross_encoder_score(struct cross *model, unsigned fields, struct str request, const struct tool *tools,
                            size_t count, struct progress *progress, struct arena *arena, float *logits, wt_error *err);

#endif
