/* arena.c: a list of blocks, newest first. Block sizes double up to BLOCK_MAX, so that few allocations of blocks are
 * needed. An allocation that is larger than the next block size gets a block of its own size.
 *
 * Under AddressSanitizer each allocation is followed by a poisoned gap, so that an overrun is detected. */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>

#include "base/memory.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARDED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define GUARDED 1
#endif
#ifdef GUARDED
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
enum { GAP = 0 };
#endif

enum { BLOCK_MIN = 4096, BLOCK_MAX = 4 << 20, BLOCK_ALIGN = 64 };

struct arena_block {
    struct arena_block *previous;
    size_t size; /* length of `bytes` */
    _Alignas(BLOCK_ALIGN) unsigned char bytes[];
};

static struct arena_block *add_arena_block(struct arena *arena, size_t need)
{
    size_t size = arena->block ? arena->block->size * 2 : BLOCK_MIN;
    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    if (size < need)
        size = need;
    if (size > SIZE_MAX - sizeof(struct arena_block) - BLOCK_ALIGN)
        return NULL;
    struct arena_block *block = wt__alloc_aligned(sizeof *block + size, 1);
    if (!block)
        return NULL;
    block->previous = arena->block;
    block->size = size;
    ASAN_POISON_MEMORY_REGION(block->bytes, size);
    arena->block = block;
    arena->used = 0;
    return block;
}

void *wt__arena_alloc(struct arena *arena, size_t size, size_t align)
{
    assert(align > 0 && align <= BLOCK_ALIGN && (align & (align - 1)) == 0);
    size_t at = (arena->used + align - 1) & ~(align - 1);
    if (!arena->block || at > arena->block->size || size > arena->block->size - at) {
        if (!add_arena_block(arena, size))
            return NULL;
        at = 0;
    }
    arena->used = at + size + GAP;
    ASAN_UNPOISON_MEMORY_REGION(arena->block->bytes + at, size);
    return arena->block->bytes + at;
}

void *wt__arena_calloc(struct arena *arena, size_t count, size_t size, size_t align)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    void *piece = wt__arena_alloc(arena, count * size, align);
    if (piece)
        memset(piece, 0, count * size);
    return piece;
}

void *wt__arena_pointers(struct arena *arena, const void *items, size_t count, size_t size)
{
    const void **pointers = items || count == 0 ? wt__arena_array(arena, const void *, count) : NULL;
    for (size_t i = 0; pointers && i < count; i++)
        pointers[i] = (const char *)items + i * size;
    return pointers;
}

char *wt__arena_copy(struct arena *arena, struct str s)
{
    char *copy = wt__arena_alloc(arena, s.len + 1, 1);
    if (!copy)
        return NULL;
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    return copy;
}

static void free_chain(struct arena_block *block)
{
    while (block) {
        struct arena_block *previous = block->previous;
        free(block);
        block = previous;
    }
}

void wt__arena_reset(struct arena *arena)
{
    if (arena->block) {
        free_chain(arena->block->previous);
        arena->block->previous = NULL;
        ASAN_POISON_MEMORY_REGION(arena->block->bytes, arena->block->size);
    }
    arena->used = 0;
}

void wt__arena_dispose(struct arena *arena)
{
    free_chain(arena->block);
    *arena = (struct arena){0};
}

void wt__arena_free_owner(void *block, size_t arena_at)
{
    if (!block)
        return;
    wt__arena_dispose((struct arena *)(void *)((char *)block + arena_at));
    free(block);
}
