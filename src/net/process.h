/* process.h: runs other programs to their end (child), or exchanges lines with them (coprocess). Ends the programs that
 * this process leaves behind (keeper). */
#ifndef WT_NET_PROCESS_H
#define WT_NET_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"

/* Runs another program to its end. Only its exit status and the end of its stderr are kept. Arguments are passed
 * unchanged, without a shell, so they need no quoting. */

enum {
    CHILD_TAIL_BYTES = 512, /* last bytes of stderr that are kept */
    CHILD_GRACE_MS = 2000,  /* time between SIGTERM and SIGKILL */
};

struct child {
    const char *const *argv; /* argv[0] is looked up in PATH; ends in NULL */
    /* "NAME=value", ends in NULL; NULL for this process's own environment. Its PATH, if set, is used for the lookup. */
    const char *const *environment;
    const char *folder;        /* working directory; NULL for this process's own */
    double timeout_ms;         /* 0 for no timeout */
    struct progress *progress; /* checked for cancellation; may be NULL */
};

/* Runs the program with stdin and stdout at /dev/null. The program gets its own process group, so that its child
 * processes end with it. tail: end of its stderr as one line without control characters; may be NULL. Returns the exit
 * status (0 to 255; 128 + N after signal N). Errors: WT_ENOTFOUND (no such program), WT_ECANCELLED, WT_EIO (timeout or
 * system error), WT_ENOMEM. */
int wt__child_run(const struct child *child, char tail[CHILD_TAIL_BYTES], wt_error *err);

/* Functions that child and coprocess share: they start a program, collect its stderr, and end it with its process
 * group.
 *
 * Each program leads its own process group. The number of a process is not reused until the process is reaped, so
 * signals always reach the group that was started. */

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

/* True if the process has ended. Does not reap it. If this process ignores SIGCHLD, the system reaps it. */
bool wt__process_has_ended(pid_t pid);
/* Works like wt__process_has_ended but waits for up to ms. */
bool wt__process_ends_within(pid_t pid, double ms);
/* Sends SIGTERM to the group and waits for up to CHILD_GRACE_MS. */
void wt__process_terminate(pid_t pid);
/* Kills the rest of the group and reaps the process. Returns its exit status, 128 + N after signal N, or -1 if it is
 * unknown: this process ignores SIGCHLD, or the program runs as another user and cannot be killed. */
int wt__process_reap(pid_t pid);

/* Exchanges lines with another program: sent lines go to its stdin, and received lines come from its stdout. The end of
 * its stderr is kept for error messages. No shell is involved.
 *
 * wt__coprocess_stop ends any wait for the program, even if the program stops reading or writing, or does not end. The
 * program's stdin is a socket, as in Node, so that writing to an ended program is an error, not a signal.
 *
 * One thread receives lines and ends the program. Other threads may send at the same time: they write as much as the
 * program accepts, and the receiving thread writes the rest. */

enum {
    COPROCESS_LINE_BYTES_MAX = 16 << 20,
    COPROCESS_UNREAD_BYTES_MAX = 8 << 20, /* maximum bytes that wait until the program reads its stdin */
    COPROCESS_EOF_MS = 1000,              /* time to exit after the end of stdin */
};

struct coprocess;

/* Starts the program. child must outlive the coprocess; its timeout and progress are ignored. Errors: WT_ENOTFOUND (no
 * such program or folder), WT_EIO, WT_ENOMEM. */
int wt__coprocess_start(struct coprocess **out, const struct child *child, wt_error *err);

/* Sends a line, with a newline added, or queues the part that would block. Any thread; does not block. Errors:
 * WT_ETOOLONG if the program does not read its input, WT_ENOMEM. */
int wt__coprocess_send(struct coprocess *coprocess, struct str line, wt_error *err);

/* Receives the next line without its line end; valid until the next call. Returns 1, or 0 after the end of the output
 * or of the program. Errors: WT_ETOOLONG, WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
int wt__coprocess_receive(struct coprocess *coprocess, struct str *line, wt_error *err);

/* Makes wt__coprocess_receive fail with WT_ECANCELLED from now on. Any thread. */
void wt__coprocess_stop(struct coprocess *coprocess);

/* Returns the end of stderr, like wt__child_run. For the receiving thread, after the program has ended. */
void wt__coprocess_stderr_tail(struct coprocess *coprocess, char tail[CHILD_TAIL_BYTES]);

/* Ends the program and all processes in its group: closes its stdin, then sends SIGTERM, then SIGKILL. at_once: skips
 * the wait after closing stdin. tail: end of stderr, like wt__child_run. Returns the exit status like wt__process_reap;
 * the status of a terminated program is meaningless. Ignores NULL. */
int wt__coprocess_end(struct coprocess *coprocess, bool at_once, char tail[CHILD_TAIL_BYTES]);

/* Ends the programs that this process leaves behind, even if SIGKILL ends this process. The keeper is a separate
 * process that holds one end of a connection to this process. When the connection breaks, this process has ended.
 *
 * PR_SET_PDEATHSIG would reach only the child, not its descendants. It also depends on the thread that started the
 * child. */

enum { KEEPER_GROUPS_MAX = 4096 /* maximum number at a time; further groups are not tracked */ };

/* Forks the keeper; later calls do nothing. Call before starting threads. Errors: WT_EIO, WT_ENOMEM, WT_EFULL. */
int wt__keeper_start(wt_error *err);

/* Report the start and the end of a process group, from any thread. Without a keeper they do nothing. The start is
 * reported by the new process itself, which also holds the connection. So if this process ends first, the keeper
 * receives the report before it sees the connection break. */
void wt__keeper_add(pid_t group);
void wt__keeper_remove(pid_t group);

#endif
