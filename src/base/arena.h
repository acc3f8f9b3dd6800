/* arena.h: a bump allocator. Allocations never move, and all are freed at once. */
#ifndef WT_BASE_ARENA_H
#define WT_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_block;

/* A zeroed struct is an empty arena, ready for use. */
struct arena {
    struct arena_block *block; /* block being filled; full blocks are linked behind it */
    size_t used;               /* bytes used in block */
};

/* Allocates size uninitialised bytes. align: a power of two, at most 64. Returns NULL if out of memory. */
void *wt__arena_alloc(struct arena *arena, size_t size, size_t align);

/* Allocates a zeroed array of [count] items. Returns NULL on overflow or if out of memory. */
void *wt__arena_calloc(struct arena *arena, size_t count, size_t size, size_t align);
#define wt__arena_array(arena, type, count) ((type *)wt__arena_calloc((arena), (count), sizeof(type), _Alignof(type)))

/* Returns [count] pointers, one to each item of an array with items of `size` bytes. Returns NULL if out of memory, or
 * if items is NULL and count is not 0, so that callers can pass on a failed allocation. */
void *wt__arena_pointers(struct arena *arena, const void *items, size_t count, size_t size);

/* Returns a NUL-terminated copy of s, or NULL if out of memory. */
char *wt__arena_copy(struct arena *arena, struct str s);

/* Frees all allocations but keeps the newest block for reuse. */
void wt__arena_reset(struct arena *arena);
void wt__arena_dispose(struct arena *arena);

/* Disposes of the arena that is arena_at bytes behind the start of the block, then frees the block with free(). NULL is
 * a no-op. */
void wt__arena_free_owner(void *block, size_t arena_at);

#endif
