/* cache.c: tries two places in order, for reading and for writing. The model folder comes first, except for models that
 * came with the program. Without a known cache folder the model folder is the only place. */
#include "encoder/cache.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/checksum.h"
#include "encoder/manifest.h"
#include "encoder/pack.h"
#include "nn/linear_bytes.h"

enum { PLACES = 2 };

/* Fills `places` and returns their number. The cache folder holds models of many folders, so the file name there starts
 * with a hash of the folder's path. */
static int find_cache_paths(struct arena *arena, const char *folder, char *places[PLACES], wt_error *err)
{
    char resolved[PATH_MAX], name[64];
    const char *path = realpath(folder, resolved) ? resolved : folder;
    char *cache;
    int rc = wt__cache_folder(&cache, arena, err);

    snprintf(name, sizeof(name), "models/%016" PRIx64 "-%s", wt__checksum(path, strlen(path), 0), MODEL_CACHE_NAME);
    places[0] = wt__path_join(arena, folder, MODEL_CACHE_NAME);
    places[1] = cache ? wt__path_join(arena, cache, name) : NULL;
    if (rc == WT_ENOMEM || !places[0] || (cache && !places[1]))
        return wt__fail_nomem(err);
    if (cache && wt__program_has(folder)) { /* leave the installed files unchanged */
        char *beside = places[0];
        places[0] = places[1];
        places[1] = beside;
    }
    return cache ? PLACES : PLACES - 1;
}

static int map_packed_file(struct model_cache *cache, const char *path, uint64_t key, bool whole, wt_error *err)
{
    int rc = wt__file_map(&cache->map, path, err);

    if (rc == 0)
        rc = wt__packed_open(&cache->packed, cache->map.ptr, cache->map.len, path, err);
    if (rc == 0 && cache->packed.header->source_key != key)
        rc = wt__fail(err, WT_EMODEL, "%s: stale: the files of the model have changed", path);
    if (rc == 0 && whole)
        rc = wt__packed_verify(&cache->packed, path, err);
    if (rc < 0)
        wt__file_unmap(&cache->map);
    return rc;
}

void wt__model_cache_populate(const struct model_cache *cache)
{
    if (!cache->map.ptr)
        return;
    bool bytes = cache->packed.header->bytes && wt__bytes_ready();
    const struct packed_section *layers = &cache->packed.header->sections[bytes ? PACKED_BYTES : PACKED_LAYERS];
    void *start = (void *)(uintptr_t)(cache->map.ptr + layers->offset);

#ifdef MADV_POPULATE_READ
    if (madvise(start, (size_t)layers->size, MADV_POPULATE_READ) == 0)
        return;
#endif
    /* A failure is harmless: the pages are then faulted in one by one. */
    (void)madvise(start, (size_t)layers->size, MADV_WILLNEED);
}

static int write_packed_image(const char *path, const unsigned char *image, size_t len, wt_error *err)
{
    struct arena arena = {0};
    char *folder = wt__arena_copy(&arena, wt__str(path));
    int rc = folder ? 0 : wt__fail_nomem(err);

    if (rc == 0) {
        *strrchr(folder, '/') = '\0';
        rc = wt__make_folders(folder, err);
    }
    if (rc == 0)
        rc = wt__file_replace(path, image, len, err);
    wt__arena_dispose(&arena);
    return rc;
}

/* Packs the model and writes the image to the first writable place. A written image is mapped, since a map needs no
 * private memory. */
static int create_packed_model(struct model_cache *cache, const char *folder, char *const *places, int place_count,
                               struct progress *progress, wt_error *err)
{
    size_t len;
    int rc = wt__model_pack(&cache->image, &len, folder, progress, err);

    if (rc < 0)
        return rc;
    uint64_t key = ((const struct packed_header *)(const void *)cache->image)->source_key;
    for (int i = 0; i < place_count; i++)
        if (write_packed_image(places[i], cache->image, len, &cache->unwritten) == 0 &&
            map_packed_file(cache, places[i], key, true, &cache->unwritten) == 0) {
            free(cache->image);
            cache->image = NULL;
            return 0;
        }
    return wt__packed_open(&cache->packed, cache->image, len, folder, err);
}

int wt__model_cache_open(struct model_cache *out, const char *folder, bool whole, bool *made, struct progress *progress,
                         wt_error *err)
{
    struct arena arena = {0};
    char *places[PLACES];
    uint64_t key;
    int count = find_cache_paths(&arena, folder, places, err), rc = count;

    out->map = (struct mapping){0};
    out->image = NULL;
    if (rc >= 0)
        rc = wt__model_source_key(&key, folder, err);
    bool found = false;
    for (int i = 0; rc == 0 && !found && i < count; i++)
        found = map_packed_file(out, places[i], key, whole, NULL) == 0;
    if (made)
        *made = rc == 0 && !found;
    if (rc == 0 && !found)
        rc = create_packed_model(out, folder, places, count, progress, err);
    wt__arena_dispose(&arena);
    if (rc < 0)
        wt__model_cache_close(out);
    return rc;
}

void wt__model_cache_close(struct model_cache *cache)
{
    wt__file_unmap(&cache->map);
    free(cache->image);
    cache->image = NULL;
}

bool wt__model_cache_current(const char *folder, struct packed_header *header)
{
    struct model_cache *cache = calloc(1, sizeof(*cache));
    struct arena arena = {0};
    char *places[PLACES];
    uint64_t key;
    bool found = false;

    int count = cache ? find_cache_paths(&arena, folder, places, NULL) : 0;
    if (count > 0 && wt__model_source_key(&key, folder, NULL) == 0)
        for (int i = 0; !found && i < count; i++)
            found = map_packed_file(cache, places[i], key, false, NULL) == 0;
    if (found && header)
        *header = *cache->packed.header;
    if (cache)
        wt__model_cache_close(cache);
    free(cache);
    wt__arena_dispose(&arena);
    return found;
}
