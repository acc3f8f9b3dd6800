/* coprocess.h: another program that is talked with, a line at a time: ours go to its stdin, its own come from its
 * stdout. The end of its stderr is kept for a sentence about it. There is no shell in between (child.h).
 *
 * Nothing that it does can hold us up beyond wt__coprocess_stop: not reading, not writing, not ending. stdin is a
 * socket, as Node's are, so that writing to a program that is gone is an error and not a signal.
 *
 * One thread receives, and ends it. Any thread may send meanwhile: it writes what the program takes at once, and the
 * thread that receives writes the rest. */
#ifndef WT_NET_COPROCESS_H
#define WT_NET_COPROCESS_H

#include "base/str.h"
#include "net/child.h"

enum {
    COPROCESS_LINE_BYTES_MAX = 16 << 20,
    COPROCESS_UNREAD_BYTES_MAX = 8 << 20, /* of ours, that it has not read */
    COPROCESS_EOF_MS = 1000,              /* to end by itself when its stdin has ended */
};

struct coprocess;

/* child lives as long as the talk does; it has no time limit and no progress here. WT_ENOTFOUND (no such program or
 * folder), WT_EIO, WT_ENOMEM. */
int wt__coprocess_start(struct coprocess **out, const struct child *child, wt_error *err);

/* Sends a line, or queues what does not go at once; what ends it is added. From any thread; it does not wait.
 * WT_ETOOLONG when it does not read what it was sent, WT_ENOMEM. */
int wt__coprocess_send(struct coprocess *coprocess, struct str line, wt_error *err);

/* Its next line, without what ends it; it lives until the next call. Returns 1, or 0 when it has ended its output or
 * itself. WT_ETOOLONG, WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
int wt__coprocess_receive(struct coprocess *coprocess, struct str *line, wt_error *err);

/* Who receives is told WT_ECANCELLED, now and from now on. From any thread. */
void wt__coprocess_stop(struct coprocess *coprocess);

/* What it said last on stderr, as of wt__child_run; for the thread that receives, when it has ended. */
void wt__coprocess_last_words(struct coprocess *coprocess, char tail[CHILD_TAIL_BYTES]);

/* Ends it, with all that it started and that stayed in its group: its stdin ends, and when it does not, it is asked
 * to, and then made to. at_once: its stdin's end is no longer waited for. tail: of its stderr, as of wt__child_run.
 * Returns its exit status as wt__process_reap does; one that we had to ask says nothing. NULL is a no-op. */
int wt__coprocess_end(struct coprocess *coprocess, bool at_once, char tail[CHILD_TAIL_BYTES]);

#endif
