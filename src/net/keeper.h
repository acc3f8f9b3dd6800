/* keeper.h: ends the programs that this process leaves behind, even after SIGKILL. The keeper is a separate process
 * that holds one end of a connection. When the connection breaks, this process has ended.
 *
 * PR_SET_PDEATHSIG would reach only the child, not its descendants, and depends on the thread that started the
 * child. */
#ifndef WT_NET_KEEPER_H
#define WT_NET_KEEPER_H

#include <sys/types.h>

#include "base/error.h"

enum { KEEPER_GROUPS_MAX = 4096 /* maximum number at a time; further groups are not tracked */ };

/* Forks the keeper; later calls do nothing. Call before starting threads. Errors: WT_EIO, WT_ENOMEM, WT_EFULL. */
int wt__keeper_start(wt_error *err);

/* Report the start and the end of a process group, from any thread. Without a keeper they do nothing. The start is
 * reported by the new process itself, which also holds the connection. So if this process ends first, the keeper
 * receives the report before it sees the connection break. */
void wt__keeper_add(pid_t group);
void wt__keeper_remove(pid_t group);

#endif
