#include "audit/request_vectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "retrieve/compose.h"
#include "retrieve/retrieve.h"

void wt__request_vectors_dispose(struct request_vectors *vectors)
{
    wt__map_dispose(&vectors->places);
    free(vectors->vectors);
    *vectors = (struct request_vectors){.encoder = vectors->encoder};
}

/* Lists the texts without a place, and assigns places to them. texts: [count * TEXTS_MAX]. Returns their number;
 * SIZE_MAX if out of memory. */
static size_t list_new_texts(struct request_vectors *vectors, const struct str *requests, size_t count,
                             struct str *texts)
{
    size_t new = 0;
    for (size_t i = 0; i < count; i++) {
        struct str of[TEXTS_MAX];
        for (size_t t = 0, all = wt__retrieve_texts(requests[i], of); t < all; t++) {
            bool added;
            if (!wt__map_insert(&vectors->places, of[t], (uint32_t)(vectors->count + new), &added))
                return SIZE_MAX;
            if (added)
                texts[new ++] = of[t];
        }
    }
    return new;
}

static int encode_new_texts(struct request_vectors *vectors, const struct str *requests, size_t count,
                            struct str *texts, unsigned threads, wt_error *err)
{
    const size_t dim = wt__encoder_dim(vectors->encoder), new = list_new_texts(vectors, requests, count, texts);
    if (new == SIZE_MAX || wt__grow((void **)&vectors->vectors, &vectors->capacity, vectors->count + new,
                                    dim * sizeof *vectors->vectors) < 0)
        return wt__fail_nomem(err);
    int rc = wt__encode_many(vectors->encoder, TEXT_REQUEST, texts, new, threads,
                             vectors->vectors + vectors->count * dim, NULL, err);
    vectors->count += new;
    return rc;
}

int wt__request_vectors_make(struct request_vectors *vectors, const struct str *requests, size_t count,
                             unsigned threads, wt_error *err)
{
    if (!vectors->encoder || count == 0)
        return 0;
    if (vectors->count + count * TEXTS_MAX > REQUEST_VECTORS_MAX)
        wt__request_vectors_dispose(vectors);
    struct str *texts = wt__alloc_array(count * TEXTS_MAX, sizeof *texts);
    int rc = texts ? encode_new_texts(vectors, requests, count, texts, threads, err) : wt__fail_nomem(err);
    free(texts);
    return rc;
}

const float *wt__request_vectors_of(const struct request_vectors *vectors, struct str request, struct arena *arena)
{
    struct str texts[TEXTS_MAX];
    if (!vectors->encoder)
        return NULL;
    const size_t dim = wt__encoder_dim(vectors->encoder), count = wt__retrieve_texts(request, texts);
    float *out = wt__arena_array(arena, float, count *dim);
    for (size_t t = 0; out && t < count; t++) {
        const uint32_t *place = wt__map_get(&vectors->places, texts[t]);
        if (!place)
            return NULL;
        memcpy(out + t * dim, vectors->vectors + *place * dim, dim * sizeof *out);
    }
    return out;
}
