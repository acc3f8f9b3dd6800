#include "base/memory.h"

#include <stdint.h>
#include <string.h>

void *wt__alloc_array(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    size_t bytes = count * size;
    return malloc(bytes ? bytes : 1);
}

void *wt__alloc_zeros(size_t count, size_t size)
{
    return calloc(count ? count : 1, size ? size : 1);
}

void *wt__alloc_aligned(size_t count, size_t size)
{
    enum { LINE = 64 };
    if (size != 0 && count > (SIZE_MAX - LINE) / size)
        return NULL;
    size_t bytes = (count * size + LINE - 1) / LINE * LINE;
    return aligned_alloc(LINE, bytes ? bytes : LINE);
}

char *wt__copy_string(const char *bytes, size_t len)
{
    char *copy = wt__alloc_array(len + 1, 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

int wt__grow(void **items, size_t *capacity, size_t need, size_t size)
{
    enum { FIRST = 16 };
    if (need <= *capacity)
        return 0;
    size_t wanted = *capacity ? *capacity : FIRST;
    while (wanted < need)
        wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
    if (size != 0 && wanted > SIZE_MAX / size)
        return -1;
    void *moved = realloc(*items, wanted * size);
    if (!moved)
        return -1;
    *items = moved;
    *capacity = wanted;
    return 0;
}

void wt__free_variable(void *variable)
{
    void *block;
    memcpy(&block, variable, sizeof block); /* the variable may be a pointer of any type */
    free(block);
}
