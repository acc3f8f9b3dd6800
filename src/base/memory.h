/* memory.h: allocation with overflow checks. Free all results with free(). */
#ifndef WT_BASE_MEMORY_H
#define WT_BASE_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

/* Allocates an uninitialised array; NULL on overflow or if out of memory. A count of 0 still returns a block. */
void *wt__alloc_array(size_t count, size_t size);

/* Works like wt__alloc_array, aligned to 64 bytes and with the size rounded up to 64, as SIMD kernels need. */
void *wt__alloc_aligned(size_t count, size_t size);

/* Returns a NUL-terminated copy of len bytes, or NULL if out of memory. */
char *wt__copy_string(const char *bytes, size_t len);

/* Grows *items to at least `need` items by doubling *capacity. Returns 0, or -1 with everything unchanged. */
int wt__grow(void **items, size_t *capacity, size_t need, size_t size);

#endif
