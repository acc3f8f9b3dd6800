/* keeper.h: ends the programs that this process leaves behind, whatever ends it, SIGKILL too. It is a process of its
 * own that holds the end of a connection and nothing else; when that breaks, this process is gone.
 *
 * PR_SET_PDEATHSIG would reach the child alone, not what it started, and hangs on the thread that began it. */
#ifndef WT_NET_KEEPER_H
#define WT_NET_KEEPER_H

#include <sys/types.h>

#include "base/error.h"

enum { KEEPER_GROUPS_MAX = 4096 /* at once; more are not kept */ };

/* Forks it, once; a second call does nothing. Before there are threads. WT_EIO, WT_ENOMEM, WT_EFULL. */
int wt__keeper_start(wt_error *err);

/* A process group was begun, or has ended; from any thread. Where no keeper was started, nothing happens. The first of
 * these is said by the process that begins the group, which holds the connection as we do: if this process ends before
 * that is said, the keeper sees its end afterwards. */
void wt__keeper_begun(pid_t group);
void wt__keeper_ended(pid_t group);

#endif
