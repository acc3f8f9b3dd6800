/* sized_options.h: reading and filling a caller's struct, which may be older or newer than ours: it begins with its
 * size as the caller knew it, and nothing beyond that is there to be read or written. */
#ifndef WT_ENGINE_SIZED_OPTIONS_H
#define WT_ENGINE_SIZED_OPTIONS_H

#include <stddef.h>
#include <string.h>

#include "base/error.h"

/* How many bytes of a struct the caller and we both know, or WT_EINVAL. size: of ours. */
static inline int wt__options_shared(const void *given, size_t size, size_t *out, wt_error *err)
{
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs)
        return wt__fail(err, WT_EINVAL, "a struct of options has the size %zu; fill it with its _init function first",
                        theirs);
    *out = theirs < size ? theirs : size;
    return 0;
}

/* Fields that the caller does not have are 0, and the size is ours. given NULL: all defaults. */
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

/* Fills the caller's struct from ours, all but its size. */
static inline int wt__options_write(void *out, size_t size, const void *ours, wt_error *err)
{
    size_t shared = 0, own = sizeof shared;
    int rc = wt__options_shared(out, size, &shared, err);
    if (rc == 0)
        memcpy((char *)out + own, (const char *)ours + own, shared - own);
    return rc;
}

#endif
