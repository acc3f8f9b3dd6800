/* failing_allocator.h: replaces the C library's allocator in the including program. It counts blocks and fails on
 * request.
 *
 * INTERPOSED is 1 if the allocator is replaced. It is 0 with a sanitizer and without glibc; no allocation then fails.
 *
 * Each thread has its own counters, and sets `counting` to enable them. If COUNT_ALL_THREADS is defined before the
 * include, all threads share one set of counters. */
#ifndef WT_TESTS_FAILING_ALLOCATOR_H
#define WT_TESTS_FAILING_ALLOCATOR_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define INTERPOSED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define INTERPOSED 0
#endif
#endif
#ifndef INTERPOSED
#define INTERPOSED 1
#endif

#ifdef COUNT_ALL_THREADS
#define COUNTED static _Atomic
#else
#define COUNTED static _Thread_local
#endif

/* Number of allocations up to and including the one that fails; negative if none should fail. After the failure: 0 if
 * `stuck` is set, so that all later allocations fail too, else -1. */
COUNTED long countdown;
COUNTED long live; /* blocks allocated minus blocks freed while counting */
COUNTED int counting, stuck;

#if INTERPOSED

/* Shared libraries must use this allocator as well. */
#pragma GCC visibility push(default)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

static int refuse_allocation(void)
{
    if (!counting || countdown < 0)
        return 0;
    if (countdown > 0 && --countdown > 0)
        return 0;
    countdown = stuck ? 0 : -1;
    errno = ENOMEM;
    return 1;
}

static void *count_allocation(void *block)
{
    live += counting && block;
    return block;
}

void *malloc(size_t size)
{
    return refuse_allocation() ? NULL : count_allocation(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return refuse_allocation() ? NULL : count_allocation(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    if (refuse_allocation())
        return NULL;
    void *moved = __libc_realloc(block, size);
    if (!block)
        count_allocation(moved);
    return moved;
}

void *aligned_alloc(size_t align, size_t size)
{
    return refuse_allocation() ? NULL : count_allocation(__libc_memalign(align, size));
}

int posix_memalign(void **out, size_t align, size_t size)
{
    if (refuse_allocation())
        return ENOMEM;
    *out = count_allocation(__libc_memalign(align, size));
    return *out ? 0 : ENOMEM;
}

void free(void *block)
{
    live -= counting && block;
    __libc_free(block);
}

#pragma GCC visibility pop

#endif

#endif
