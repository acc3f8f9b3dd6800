/* request_vectors.h: computes the vectors of an audit's requests before they are searched.
 *
 * Encoding the request and its sub-queries dominates the cost of a search with a transformer. Searches of an audit
 * share many of these texts: the words of a voice surround many descriptions, a description is searched for plain and
 * in a voice, and copies have the same description. Each distinct text is therefore encoded once, and in batches, which
 * is faster. The batch does not change a vector, so results stay the same. */
#ifndef WT_AUDIT_REQUEST_VECTORS_H
#define WT_AUDIT_REQUEST_VECTORS_H

#include "base/arena.h"
#include "base/map.h"
#include "encoder/encoder.h"

enum { REQUEST_VECTORS_MAX = 65536 /* maximum kept vectors, 96 MiB at dimension 384; then all are dropped */ };

struct request_vectors {
    const struct encoder *encoder; /* borrowed; NULL to encode nothing */
    struct map places;             /* text -> place; the texts are views of the requests */
    float *vectors;                /* [capacity, D] */
    size_t count, capacity;
};

void wt__request_vectors_dispose(struct request_vectors *vectors);

/* Computes the missing vectors of these requests. The requests must outlive `vectors`. Errors: WT_ENOMEM. */
int wt__request_vectors_make(struct request_vectors *vectors, const struct str *requests, size_t count,
                             unsigned threads, wt_error *err);

/* Returns the vectors of a request of the last wt__request_vectors_make, in the arena, for `encoded` of struct
 * retrieve_request. NULL if out of memory or without an encoder. Thread-safe. */
const float *wt__request_vectors_of(const struct request_vectors *vectors, struct str request, struct arena *arena);

#endif
