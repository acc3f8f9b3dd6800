/* child.h: another program, run to its end and heard only through its exit status and the end of what it wrote to
 * stderr. The arguments go to the program as they are: there is no shell in between, so nothing in them is special. */
#ifndef WT_NET_CHILD_H
#define WT_NET_CHILD_H

#include "base/error.h"
#include "base/progress.h"

enum {
    CHILD_TAIL_BYTES = 512, /* kept of stderr, the last ones */
    CHILD_GRACE_MS = 2000,  /* between asking it to end and ending it */
};

struct child {
    const char *const *argv;        /* argv[0] is looked up in PATH; ends in NULL */
    const char *const *environment; /* "NAME=value", ends in NULL; NULL: this process's own; its PATH counts */
    const char *folder;             /* to run it in; NULL: this process's own */
    double timeout_ms;              /* 0: none */
    struct progress *progress;      /* heard for a wish to stop; may be NULL */
};

/* Runs it with stdin and stdout at /dev/null, in its own process group, so that what it started ends with it.
 * tail: the end of its stderr as one line, without control characters; may be NULL.
 * Returns its exit status (0 to 255; 128 + N when signal N ended it), or WT_ENOTFOUND (no such program),
 * WT_ECANCELLED, WT_EIO (timeout, or the system refused), WT_ENOMEM. */
int wt__child_run(const struct child *child, char tail[CHILD_TAIL_BYTES], wt_error *err);

#endif
