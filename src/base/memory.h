/* memory.h: checked allocation. Sizes never overflow; memory is freed with free(). */
#ifndef WT_BASE_MEMORY_H
#define WT_BASE_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

/* [count] items of size bytes, uninitialised; NULL on overflow or when memory is out. A count of 0 gives a block. */
void *wt__alloc_array(size_t count, size_t size);

/* The same on a 64-byte boundary, its length rounded up to 64: what SIMD kernels want. Freed with free(). */
void *wt__alloc_aligned(size_t count, size_t size);

/* A NUL-terminated copy of len bytes. */
char *wt__copy_string(const char *bytes, size_t len);

/* Makes room for at least `need` items in *items (capacity *capacity), doubling. 0, or -1 with nothing changed. */
int wt__grow(void **items, size_t *capacity, size_t need, size_t size);

#endif
