/* memory_budget.h: how much memory the machine can give to this process. */
#ifndef WT_LEARN_MEMORY_BUDGET_H
#define WT_LEARN_MEMORY_BUDGET_H

#include <stdint.h>

/* Bytes: what the system has to give without swapping, or what the process's control group has left when that is
 * less. 0: not known. */
uint64_t wt__memory_available(void);

#endif
