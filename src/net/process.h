/* process.h: common parts of the two ways to run a program (child.h runs it to its end, coprocess.h exchanges lines):
 * starting it, collecting its stderr, and ending it with all its descendants.
 *
 * Each process leads its own group. Its number is not reused until it is reaped, so the ended group is always the one
 * that was started. */
#ifndef WT_NET_PROCESS_H
#define WT_NET_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "net/child.h"

/* The last bytes of a stream. A zeroed struct is empty. */
struct tail {
    char bytes[CHILD_TAIL_BYTES];
    size_t len;
    bool cut; /* earlier bytes were dropped */
};

/* Reads available bytes, at most a few KB. Returns false at the end of the stream. */
bool wt__tail_read(struct tail *tail, int fd);
/* Formats the tail as one line without control characters. If bytes were dropped, also drops the first word: it may be
 * part of a password that filters would no longer recognise. */
void wt__tail_format(const struct tail *tail, char out[CHILD_TAIL_BYTES]);

/* True if wt__process_spawn would find the program. A path with a slash counts as found, because it may be relative to
 * the working directory. */
bool wt__process_can_find(const struct child *child);
/* Starts the program. ends: its stdin, stdout and stderr; -1 for /dev/null. Returns 0 or an errno. */
int wt__process_spawn(pid_t *out, const struct child *child, const int ends[3]);

/* True if the process has ended. Does not reap it; if this process ignores SIGCHLD, the system does. */
bool wt__process_has_ended(pid_t pid);
/* Works like wt__process_has_ended but waits for up to ms. */
bool wt__process_ends_within(pid_t pid, double ms);
/* Sends SIGTERM to the group and waits for up to CHILD_GRACE_MS. */
void wt__process_terminate(pid_t pid);
/* Kills the rest of the group and reaps the process. Returns its exit status, 128 + N after signal N, or -1 if it is
 * unknown: this process ignores SIGCHLD, or the program runs as another user and cannot be killed. */
int wt__process_reap(pid_t pid);

#endif
