/* memory.h: allocation with overflow checks, and cleanup at the end of a scope. Free all results with free(). */
#ifndef WT_BASE_MEMORY_H
#define WT_BASE_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

/* Allocates an uninitialised array; NULL on overflow or if out of memory. A count of 0 still returns a block. */
void *wt__alloc_array(size_t count, size_t size);

/* Works like wt__alloc_array, filled with zeros. */
void *wt__alloc_zeros(size_t count, size_t size);

/* Works like wt__alloc_array, aligned to 64 bytes and with the size rounded up to 64, as SIMD kernels need. */
void *wt__alloc_aligned(size_t count, size_t size);

/* Returns a NUL-terminated copy of len bytes, or NULL if out of memory. */
char *wt__copy_string(const char *bytes, size_t len);

/* Grows *items to at least `need` items by doubling *capacity. Returns 0, or -1 on overflow or if out of memory. On
 * error, *items and *capacity stay the same. */
int wt__grow(void **items, size_t *capacity, size_t need, size_t size);

/* Calls dispose(&variable) when the variable goes out of scope: `WT_CLEANUP(wt__buffer_dispose) struct buffer text =
 * {0};` Initialise the variable in its declaration. */
#define WT_CLEANUP(dispose) __attribute__((cleanup(dispose)))

/* Frees a pointer variable when it goes out of scope: `WT_AUTO_FREE char *path = NULL;` */
#define WT_AUTO_FREE WT_CLEANUP(wt__free_variable)
void wt__free_variable(void *variable);

/* Evaluates to a pointer variable and sets the variable to NULL: hands a WT_AUTO_FREE variable to its next owner. */
#define WT_TAKE(pointer)                                                                                               \
    __extension__({                                                                                                    \
        __typeof__(pointer) wt_taken = (pointer);                                                                      \
        (pointer) = NULL;                                                                                              \
        wt_taken;                                                                                                      \
    })

#endif
