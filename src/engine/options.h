/* options.h: reading a caller's options struct, which may be older than ours. */
#ifndef WT_ENGINE_OPTIONS_H
#define WT_ENGINE_OPTIONS_H

#include <stddef.h>
#include <string.h>

/* Every options struct begins with its size as the caller knew it; fields beyond that are not there to be read and
 * count as 0. given NULL: all defaults. A size of 0 stands for the struct of this header. */
static inline void wt__options_read(void *out, size_t size, const void *given)
{
    size_t theirs = size;
    memset(out, 0, size);
    if (!given)
        return;
    memcpy(&theirs, given, sizeof theirs);
    memcpy(out, given, theirs > 0 && theirs < size ? theirs : size);
}

#endif
