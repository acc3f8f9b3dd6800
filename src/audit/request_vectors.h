/* request_vectors.h: the vectors of an audit's requests, made before they are searched.
 *
 * A search encodes its request and the request's sub-queries, which is nearly all that it costs with a transformer. Of
 * an audit's searches many share these: what a voice says stands around many descriptions, a description is asked for
 * plain and by a voice, copies are described alike. So each different text is encoded once, and many texts together,
 * which is quicker than each by itself. A text's vector does not depend on those beside it: searches find the same. */
#ifndef WT_AUDIT_REQUEST_VECTORS_H
#define WT_AUDIT_REQUEST_VECTORS_H

#include "base/arena.h"
#include "base/map.h"
#include "encoder/encoder.h"

enum { REQUEST_VECTORS_MAX = 65536 /* that are kept; 96 MiB of 384 numbers. Beyond them all are made anew */ };

struct request_vectors {
    const struct encoder *encoder; /* borrowed; NULL: nothing is encoded here */
    struct map places;             /* texts, which the requests hold, to places */
    float *vectors;                /* [capacity, D] */
    size_t count, capacity;
};

void wt__request_vectors_dispose(struct request_vectors *vectors);

/* Makes those of these requests that are not there. The requests must stay where they are. Errors: WT_ENOMEM. */
int wt__request_vectors_make(struct request_vectors *vectors, const struct str *requests, size_t count,
                             unsigned threads, wt_error *err);

/* What struct retrieve_request wants as `encoded`, in the arena, of a request of the last make. NULL: memory is out, or
 * there is no encoder. Any number of threads at once. */
const float *wt__request_vectors_of(const struct request_vectors *vectors, struct str request, struct arena *arena);

#endif
