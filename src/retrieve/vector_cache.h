/* vector_cache.h: the vectors of recent requests. Encoding takes most of the time of a search, and agents search for
 * the same request several times: first for tools, then for a set or a call.
 *
 * The cache has a fixed size. It keeps a hash of each text instead of the text. Vectors are the same, to the bit,
 * whether they come from the cache or from the encoder. */
#ifndef WT_RETRIEVE_VECTOR_CACHE_H
#define WT_RETRIEVE_VECTOR_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "encoder/encoder.h"

struct vector_cache;

/* Creates a cache for about `entries` vectors; their memory is allocated at the first use of an encoder. Any thread may
 * use the cache. Returns NULL if out of memory. */
struct vector_cache *wt__vector_cache_new(size_t entries);
void wt__vector_cache_free(struct vector_cache *cache); /* NULL is a no-op */

/* Works like wt__encode with TEXT_REQUEST, and encodes only texts that the cache lacks. cache may be NULL. Static
 * encoders are faster than a look-up, so their vectors are not cached. arena: for vectors that are encoded, if the
 * cache has others. Errors: WT_ENOMEM. */
int wt__vector_cache_encode(struct vector_cache *cache, const struct encoder *encoder, struct encoder_scratch *scratch,
                            const struct str *texts, size_t count, float *out, struct arena *arena, wt_error *err);

struct vector_cache_counts {
    uint64_t found, encoded; /* texts since the cache was created */
};
struct vector_cache_counts wt__vector_cache_count(struct vector_cache *cache); /* zeros if cache is NULL */

#endif
