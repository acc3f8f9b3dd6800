/* pool.h: the same work on many items by several threads, for imports, training, and waiting for a language model;
 * never for a query that takes milliseconds. */
#ifndef WT_BASE_POOL_H
#define WT_BASE_POOL_H

#include <stddef.h>

/* Does item `index` as worker `worker` (0 .. threads-1; the caller is worker 0). Non-zero stops the hand-out. */
typedef int (*pool_work)(void *context, size_t index, unsigned worker);

/* Calls work for 0 .. count-1, each once, in order of hand-out, on at most `threads` threads (0: one a processor).
 * Returns 0, or the first non-zero result; running items finish first. Starts fewer threads when the system
 * refuses more. */
int wt__pool_run(unsigned threads, size_t count, pool_work work, void *context);

unsigned wt__processor_count(void);

#endif
