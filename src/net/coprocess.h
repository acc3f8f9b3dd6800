/* coprocess.h: exchanges lines with another program: output goes to its stdin, input comes from its stdout. The end of
 * its stderr is kept for error messages. No shell is involved (child.h).
 *
 * The program cannot block the caller beyond wt__coprocess_stop, whether it stops reading, writing or fails to end.
 * stdin is a socket, as in Node, so that writing to an ended program is an error, not a signal.
 *
 * One thread receives and ends it. Other threads may send at the same time: they write as much as the program accepts,
 * and the receiving thread writes the rest. */
#ifndef WT_NET_COPROCESS_H
#define WT_NET_COPROCESS_H

#include "base/str.h"
#include "net/child.h"

enum {
    COPROCESS_LINE_BYTES_MAX = 16 << 20,
    COPROCESS_UNREAD_BYTES_MAX = 8 << 20, /* maximum output that the program has not read */
    COPROCESS_EOF_MS = 1000,              /* time to exit after the end of stdin */
};

struct coprocess;

/* Starts the program. child must outlive it; its timeout and progress are ignored. Errors: WT_ENOTFOUND (no such
 * program or folder), WT_EIO, WT_ENOMEM. */
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

#endif
