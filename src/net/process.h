/* process.h: what the two ways of running another program share (child.h runs it to its end, coprocess.h talks with
 * it): how it starts, what it says on stderr, and how it ends with all that it started.
 *
 * A process is the leader of a group of its own. Until it is reaped its number is not given to another, so the group
 * that is ended is always the one that was begun. */
#ifndef WT_NET_PROCESS_H
#define WT_NET_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "net/child.h"

/* The last bytes of a stream; all zero is an empty one. */
struct tail {
    char bytes[CHILD_TAIL_BYTES];
    size_t len;
    bool cut; /* there were more before them */
};

/* Takes what is there to read, at most a few KB; false at the end of the stream. */
bool wt__tail_read(struct tail *tail, int fd);
/* As one line without control characters. Where the beginning is lost, its first word is too: it may be half of one,
 * which nobody would know for the password that it was. */
void wt__tail_line(const struct tail *tail, char out[CHILD_TAIL_BYTES]);

/* Whether the program is there to be started, as wt__process_spawn looks for it. One that is named by its place is
 * taken for there, since that may be said of the folder that it runs in. */
bool wt__process_is_there(const struct child *child);
/* ends: what becomes its stdin, stdout and stderr; -1: /dev/null. Returns 0 or an errno. */
int wt__process_spawn(pid_t *out, const struct child *child, const int ends[3]);

/* Whether it has ended; it is not reaped, but where this process ignores SIGCHLD the system does that. */
bool wt__process_has_ended(pid_t pid);
/* The same, waiting for it so long. */
bool wt__process_ends_within(pid_t pid, double ms);
/* Asks the group to end, and gives it CHILD_GRACE_MS for it. */
void wt__process_ask_to_end(pid_t pid);
/* Ends what is left of the group, and returns the process's exit status, 128 + N when signal N ended it. -1: nobody can
 * tell, for this process ignores SIGCHLD, or the program runs as another user and cannot be made to end. */
int wt__process_reap(pid_t pid);

#endif
