#include "net/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/process.h"

enum { POLL_MS = 20 };

/* Reads available output, waiting for at most wait_ms. Returns false at the end of the stream. */
static bool drain_stderr(int fd, struct tail *tail, int wait_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, wait_ms) <= 0 || wt__tail_read(tail, fd);
}

/* Reads stderr until the child ends, times out or is cancelled. */
static int watch_child(const struct child *child, pid_t pid, int fd, struct tail *tail, wt_error *err)
{
    double until = wt__now_ms() + child->timeout_ms;
    bool open = true;
    while (!wt__process_has_ended(pid)) {
        if (open)
            open = drain_stderr(fd, tail, POLL_MS);
        else
            nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
        bool late = child->timeout_ms > 0 && wt__now_ms() >= until;
        if (late || wt__progress_step(child->progress, 0)) {
            wt__process_terminate(pid);
            return late ? wt__fail(err, WT_EIO, "%s did not end within %.1f seconds", child->argv[0],
                                   child->timeout_ms / 1000)
                        : wt__fail_cancelled(err);
        }
    }
    /* A process left behind by the child may hold the pipe open, so an empty pipe counts as the end. */
    for (struct pollfd ready = {.fd = fd, .events = POLLIN}; open && poll(&ready, 1, 0) > 0;)
        open = wt__tail_read(tail, fd);
    return 0;
}

int wt__child_run(const struct child *child, char tail[CHILD_TAIL_BYTES], wt_error *err)
{
    int ends[2];
    pid_t pid;
    struct tail heard = {.len = 0};
    if (tail)
        tail[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return wt__fail_errno(err, "start", child->argv[0]);
    errno = wt__process_spawn(&pid, child, (const int[]){-1, -1, ends[1]});
    close(ends[1]);
    if (errno) {
        int rc = wt__fail_errno(err, "run", child->argv[0]);
        close(ends[0]);
        return rc;
    }
    int rc = watch_child(child, pid, ends[0], &heard, err);
    int status = wt__process_reap(pid);
    close(ends[0]);
    if (tail)
        wt__tail_format(&heard, tail);
    if (rc == 0 && status < 0)
        rc = wt__fail(err, WT_EIO, "the exit status of %s is unknown because SIGCHLD is ignored", child->argv[0]);
    return rc < 0 ? rc : status;
}
