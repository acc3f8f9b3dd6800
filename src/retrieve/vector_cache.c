/* vector_cache.c: see vector_cache.h. The cache is set-associative: the hash of a text selects a set of WAYS entries,
 * and a new text replaces the entry of its set that was used longest ago. So neither a look-up nor a replacement
 * allocates memory or follows lists.
 *
 * The hash is SHA-256 of the encoder's hash and the text. Two texts with the same hash are not expected to exist, and a
 * client cannot make one. */
#include "retrieve/vector_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"

enum { WAYS = 4, DIGEST = 32 };

struct cached_vector {
    unsigned char digest[DIGEST];
    uint64_t used; /* tick of the last use; 0 if the entry is empty */
};

struct vector_cache {
    pthread_mutex_t lock;
    size_t sets;                   /* a power of two */
    size_t dim;                    /* D of the vectors; another dimension empties the cache */
    struct cached_vector *entries; /* [sets, WAYS]; NULL before the first use */
    float *vectors;                /* [sets, WAYS, D] */
    uint64_t tick;
    struct vector_cache_counts counts;
};

struct vector_cache *wt__vector_cache_new(size_t entries)
{
    struct vector_cache *cache = wt__alloc_zeros(1, sizeof *cache);
    if (!cache)
        return NULL;
    pthread_mutex_init(&cache->lock, NULL);
    cache->sets = 1;
    while (cache->sets * WAYS < entries)
        cache->sets *= 2;
    return cache;
}

static void empty_vector_cache(struct vector_cache *cache)
{
    free(cache->entries);
    free(cache->vectors);
    cache->entries = NULL;
    cache->vectors = NULL;
}

void wt__vector_cache_free(struct vector_cache *cache)
{
    if (!cache)
        return;
    empty_vector_cache(cache);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* Allocates the entries for vectors of this dimension. Returns false if out of memory. Requires the lock. */
static bool prepare_vector_cache(struct vector_cache *cache, size_t dim)
{
    if (cache->entries && cache->dim == dim)
        return true;
    empty_vector_cache(cache);
    cache->dim = dim;
    cache->entries = wt__alloc_zeros(cache->sets * WAYS, sizeof *cache->entries);
    cache->vectors = wt__alloc_array(cache->sets * WAYS * dim, sizeof *cache->vectors);
    if (cache->entries && cache->vectors)
        return true;
    empty_vector_cache(cache);
    return false;
}

static void hash_request_text(const struct encoder *encoder, struct str text, unsigned char digest[DIGEST])
{
    const char *model = wt__encoder_hash(encoder);
    struct sha256 sha;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, model, strlen(model));
    wt__sha256_update(&sha, text.ptr, text.len);
    wt__sha256_end(&sha, digest);
}

/* Returns the first entry of the digest's set. */
static size_t find_cached_set(const struct vector_cache *cache, const unsigned char digest[DIGEST])
{
    uint64_t lot;
    memcpy(&lot, digest, sizeof lot);
    return (size_t)(lot & (cache->sets - 1)) * WAYS;
}

/* Copies a cached vector to out. Returns false if the cache lacks it. Requires the lock. */
static bool read_cached_vector(struct vector_cache *cache, const unsigned char digest[DIGEST], float *out)
{
    size_t first = find_cached_set(cache, digest);
    for (size_t e = first; e < first + WAYS; e++) {
        struct cached_vector *entry = &cache->entries[e];
        if (entry->used == 0 || memcmp(entry->digest, digest, DIGEST) != 0)
            continue;
        entry->used = ++cache->tick;
        memcpy(out, cache->vectors + e * cache->dim, cache->dim * sizeof *out);
        return true;
    }
    return false;
}

/* Requires the lock. */
static void store_cached_vector(struct vector_cache *cache, const unsigned char digest[DIGEST], const float *vector)
{
    size_t first = find_cached_set(cache, digest), oldest = first;
    for (size_t e = first; e < first + WAYS; e++) {
        if (cache->entries[e].used > 0 && memcmp(cache->entries[e].digest, digest, DIGEST) == 0)
            return; /* another thread was faster */
        if (cache->entries[e].used < cache->entries[oldest].used)
            oldest = e;
    }
    memcpy(cache->entries[oldest].digest, digest, DIGEST);
    cache->entries[oldest].used = ++cache->tick;
    memcpy(cache->vectors + oldest * cache->dim, vector, cache->dim * sizeof *vector);
}

/* Copies the cached vectors of the digests, [count], to their places in out, [count, D]. Writes the numbers of the
 * others to missing and returns how many there are. */
static size_t look_up_vectors(struct vector_cache *cache, unsigned char (*digests)[DIGEST], size_t count, size_t dim,
                              float *out, size_t *missing)
{
    size_t lacking = 0;
    pthread_mutex_lock(&cache->lock);
    bool ready = prepare_vector_cache(cache, dim);
    for (size_t t = 0; t < count; t++)
        if (!ready || !read_cached_vector(cache, digests[t], out + t * dim))
            missing[lacking++] = t;
    cache->counts.found += count - lacking;
    cache->counts.encoded += lacking;
    pthread_mutex_unlock(&cache->lock);
    return lacking;
}

/* Keeps vectors, [count, D], of the digests with the numbers in missing, [count]. */
static void keep_vectors(struct vector_cache *cache, unsigned char (*digests)[DIGEST], const size_t *missing,
                         size_t count, size_t dim, const float *vectors)
{
    pthread_mutex_lock(&cache->lock);
    bool ready = prepare_vector_cache(cache, dim);
    for (size_t m = 0; ready && m < count; m++)
        store_cached_vector(cache, digests[missing[m]], vectors + m * dim);
    pthread_mutex_unlock(&cache->lock);
}

int wt__vector_cache_encode(struct vector_cache *cache, const struct encoder *encoder, struct encoder_scratch *scratch,
                            const struct str *texts, size_t count, float *out, struct arena *arena, wt_error *err)
{
    if (!cache || wt__encoder_is_static(encoder))
        return wt__encode(encoder, scratch, TEXT_REQUEST, texts, count, out, err);
    size_t dim = wt__encoder_dim(encoder), *missing = wt__arena_array(arena, size_t, count);
    unsigned char(*digests)[DIGEST] = wt__arena_alloc(arena, count * sizeof *digests, 1);
    WT_CHECK_ALLOC(missing && digests, err);
    for (size_t t = 0; t < count; t++)
        hash_request_text(encoder, texts[t], digests[t]);
    size_t lacking = look_up_vectors(cache, digests, count, dim, out, missing);
    if (lacking == 0)
        return 0;
    struct str *encoded = wt__arena_array(arena, struct str, lacking);
    float *vectors = lacking < count ? wt__arena_array(arena, float, lacking *dim) : out;
    WT_CHECK_ALLOC(encoded && vectors, err);
    for (size_t m = 0; m < lacking; m++)
        encoded[m] = texts[missing[m]];
    WT_TRY(wt__encode(encoder, scratch, TEXT_REQUEST, encoded, lacking, vectors, err));
    keep_vectors(cache, digests, missing, lacking, dim, vectors);
    for (size_t m = 0; vectors != out && m < lacking; m++)
        memcpy(out + missing[m] * dim, vectors + m * dim, dim * sizeof *out);
    return 0;
}

struct vector_cache_counts wt__vector_cache_count(struct vector_cache *cache)
{
    struct vector_cache_counts counts = {0};
    if (cache) {
        pthread_mutex_lock(&cache->lock);
        counts = cache->counts;
        pthread_mutex_unlock(&cache->lock);
    }
    return counts;
}
