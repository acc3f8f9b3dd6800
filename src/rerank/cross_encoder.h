/* cross_encoder.h: a cross-encoder of a folder, opened when a query first has a use for it, and what it says of tools.
 */
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
    const char *folder, *identity; /* identity: of its training; "" when it is not ours */
    unsigned fields;               /* of a tool, that it reads (retrieve/document.h) */
    pthread_mutex_t lock;
    struct cross *model; /* these three under the lock */
    wt_error error;
    bool tried;
};

/* Reads nothing but which fields it wants. folder and identity are borrowed. NULL when memory is out. */
struct cross_encoder *wt__cross_encoder_new(const char *folder, const char *identity);
void wt__cross_encoder_free(struct cross_encoder *cross);

/* From any thread. progress is heard in the first opening; may be NULL. Errors: those of wt__cross_load, each time;
 * WT_ECANCELLED. */
int wt__cross_encoder_open(struct cross_encoder *cross, struct progress *progress, struct cross **out, wt_error *err);

/* logits [count]: what the model says of the request with each tool, by those fields. A tool that was removed
 * meanwhile is read as one without words, which the caller leaves out. Errors: those of wt__cross_score. */
int wt__cross_encoder_score(struct cross *model, unsigned fields, struct str request, const struct tool *tools,
                            size_t count, struct progress *progress, struct arena *arena, float *logits, wt_error *err);

#endif
