/* pool.h: runs the same function on many items in several threads. Meant for imports, training and waiting for a
 * language model, not for queries of a few milliseconds. */
#ifndef WT_BASE_POOL_H
#define WT_BASE_POOL_H

#include <stddef.h>

/* Processes item `index` as worker `worker` (0 .. threads-1; the caller is worker 0). A non-zero result stops the
 * run. */
typedef int (*pool_work)(void *context, size_t index, unsigned worker);

/* Calls `work` once for each index from 0 to count-1. The calls start in this order and run in parallel. Uses at most
 * `threads` threads; 0 means one per processor. Uses fewer threads if the system cannot create more. Returns 0 or the
 * first non-zero result, after all started items have finished. */
int wt__pool_run(unsigned threads, size_t count, pool_work work, void *context);

unsigned wt__processor_count(void);

#endif
