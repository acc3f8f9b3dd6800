/* memory_budget.h: the amount of memory available to this process. */
#ifndef WT_LEARN_MEMORY_BUDGET_H
#define WT_LEARN_MEMORY_BUDGET_H

#include <stdint.h>

/* Returns the bytes that the system can provide without swapping, or the rest of the process's control group if that is
 * less. 0 if unknown. */
uint64_t wt__memory_available(void);

#endif
