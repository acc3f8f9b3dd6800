/* sized_options.h: reads and fills structs of callers that were compiled with an older or newer header. The first field
 * of such a struct is its size in the caller's header. Bytes beyond that size are neither read nor written. */
#ifndef WT_ENGINE_SIZED_OPTIONS_H
#define WT_ENGINE_SIZED_OPTIONS_H

#include <stddef.h>
#include <string.h>

#include "base/error.h"

/* Computes the number of bytes common to the caller's version of a struct and ours. size: size of our version. Errors:
 * WT_EINVAL (the caller's size is smaller than the size field itself). */
static inline int wt__options_shared(const void *given, size_t size, size_t *out, wt_error *err)
{
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs)
        return wt__fail(err, WT_EINVAL, "an options struct has the size %zu; initialise it with its _init function",
                        theirs);
    *out = theirs < size ? theirs : size;
    return 0;
}

/* Copies a caller's struct to ours. Fields that the caller's version lacks become 0, and so do all fields if `given` is
 * NULL. The size field becomes the size of our version. */
static inline int wt__options_read(void *out, size_t size, const void *given, wt_error *err)
{
    size_t shared = 0;
    int rc = given ? wt__options_shared(given, size, &shared, err) : 0;
    memset(out, 0, size);
    if (shared > 0)
        memcpy(out, given, shared);
    memcpy(out, &size, sizeof size);
    return rc;
}

/* Copies our struct to the caller's, except the size field. */
static inline int wt__options_write(void *out, size_t size, const void *ours, wt_error *err)
{
    size_t shared = 0, own = sizeof shared;
    int rc = wt__options_shared(out, size, &shared, err);
    if (rc == 0)
        memcpy((char *)out + own, (const char *)ours + own, shared - own);
    return rc;
}

#endif
