/* arena.h: memory that is taken piece by piece and given back at once. Pieces never move. */
#ifndef WT_BASE_ARENA_H
#define WT_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_block;

/* All zero is an empty arena, ready for use. */
struct arena {
    struct arena_block *block; /* the one being filled; full ones hang behind it */
    size_t used;               /* bytes used of block */
};

/* size bytes on an `align` boundary (a power of two, at most 64), uninitialised; NULL when memory is out. */
void *wt__arena_alloc(struct arena *arena, size_t size, size_t align);

/* [count] items, checked for overflow; zeroed. */
void *wt__arena_calloc(struct arena *arena, size_t count, size_t size, size_t align);
#define wt__arena_array(arena, type, count) ((type *)wt__arena_calloc((arena), (count), sizeof(type), _Alignof(type)))

/* [count] pointers, to each item of an array of items of so many bytes: how results hold what may grow. items NULL:
 * memory was out before, as it is now, unless count is 0. */
void *wt__arena_pointers(struct arena *arena, const void *items, size_t count, size_t size);

/* A NUL-terminated copy. */
char *wt__arena_copy(struct arena *arena, struct str s);

/* Forgets every piece but keeps the largest block for the next use. */
void wt__arena_reset(struct arena *arena);
void wt__arena_dispose(struct arena *arena);

#endif
