/* child.h: runs another program to its end. Only its exit status and the end of its stderr are kept. Arguments are
 * passed unchanged, without a shell, so they need no quoting. */
#ifndef WT_NET_CHILD_H
#define WT_NET_CHILD_H

#include "base/error.h"
#include "base/progress.h"

enum {
    CHILD_TAIL_BYTES = 512, /* last bytes of stderr that are kept */
    CHILD_GRACE_MS = 2000,  /* time between SIGTERM and SIGKILL */
};

struct child {
    const char *const *argv; /* argv[0] is looked up in PATH; ends in NULL */
    /* "NAME=value", ends in NULL; NULL for this process's own. Its PATH is used for the lookup. */
    const char *const *environment;
    const char *folder;        /* working directory; NULL for this process's own */
    double timeout_ms;         /* 0 for no timeout */
    struct progress *progress; /* checked for cancellation; may be NULL */
};

/* Runs the program with stdin and stdout at /dev/null. It gets its own process group, so that processes it started end
 * with it. tail: end of its stderr as one line without control characters; may be NULL. Returns its exit status (0 to
 * 255; 128 + N after signal N), or WT_ENOTFOUND (no such program), WT_ECANCELLED, WT_EIO (timeout or system error),
 * WT_ENOMEM. */
int wt__child_run(const struct child *child, char tail[CHILD_TAIL_BYTES], wt_error *err);

#endif
