/* child.c: see child.h. posix_spawn rather than fork: the caller may hold a gigabyte and several threads. */
#include "net/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

extern char **environ;

enum { POLL_MS = 20 };

/* The last bytes of a stream. */
struct tail {
    char bytes[CHILD_TAIL_BYTES];
    size_t len;
};

static void tail_append(struct tail *tail, const char *bytes, size_t len)
{
    const size_t room = sizeof tail->bytes - 1;
    if (len > room) {
        bytes += len - room;
        len = room;
    }
    size_t keep = tail->len + len > room ? room - len : tail->len;
    memmove(tail->bytes, tail->bytes + tail->len - keep, keep);
    memcpy(tail->bytes + keep, bytes, len);
    tail->len = keep + len;
}

/* As one line: control characters become blanks, and blanks at the ends go. */
static void tail_finish(const struct tail *tail, char out[CHILD_TAIL_BYTES])
{
    size_t len = 0;
    for (size_t i = 0; i < tail->len; i++) {
        unsigned char byte = (unsigned char)tail->bytes[i];
        bool blank = byte <= ' ' || byte == 0x7f;
        if (!blank || (len > 0 && out[len - 1] != ' '))
            out[len++] = blank ? ' ' : (char)byte;
    }
    while (len > 0 && out[len - 1] == ' ')
        len--;
    out[len] = '\0';
}

static int spawn(const struct child *child, int stderr_fd, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed) {
        posix_spawn_file_actions_destroy(&files);
        return failed;
    }
    sigemptyset(&none);
    sigfillset(&all);
    const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    const int refusals[] = {
        posix_spawnattr_setflags(&attributes, flags),
        posix_spawnattr_setpgroup(&attributes, 0),
        posix_spawnattr_setsigmask(&attributes, &none),
        posix_spawnattr_setsigdefault(&attributes, &all),
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0),
        posix_spawn_file_actions_adddup2(&files, stderr_fd, STDERR_FILENO),
    };
    for (size_t i = 0; !failed && i < sizeof refusals / sizeof *refusals; i++)
        failed = refusals[i];
    if (!failed)
        failed = posix_spawnp(pid, child->argv[0], &files, &attributes, (char *const *)child->argv,
                              child->environment ? (char *const *)child->environment : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Reads what is there, for at most wait_ms; false at the end of the stream. */
static bool drain(int fd, struct tail *tail, int wait_ms)
{
    char bytes[4096];
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, wait_ms) <= 0)
        return true;
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got > 0)
        tail_append(tail, bytes, (size_t)got);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool has_ended(pid_t pid, int *status)
{
    return waitpid(pid, status, WNOHANG) == pid;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

/* Asks the group to end, then ends it. */
static void stop(pid_t pid)
{
    int status;
    double until = wt__now_ms() + CHILD_GRACE_MS;
    kill(-pid, SIGTERM);
    while (!has_ended(pid, &status)) {
        if (wt__now_ms() >= until) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            return;
        }
        pause_ms(POLL_MS);
    }
    kill(-pid, SIGKILL); /* what the child left behind */
}

/* Until the child ends: its wait status in *status. */
static int attend(const struct child *child, pid_t pid, int fd, struct tail *tail, int *status, wt_error *err)
{
    double until = wt__now_ms() + child->timeout_ms;
    bool open = true;
    while (!has_ended(pid, status)) {
        if (open)
            open = drain(fd, tail, POLL_MS);
        else
            pause_ms(POLL_MS);
        bool late = child->timeout_ms > 0 && wt__now_ms() >= until;
        if (late || wt__progress_step(child->progress, 0)) {
            stop(pid);
            return late ? wt__fail(err, WT_EIO, "%s did not end within %.1f seconds", child->argv[0],
                                   child->timeout_ms / 1000)
                        : wt__fail_cancelled(err);
        }
    }
    /* The pipe may be held open by something that the child left behind, so an empty one is the end too. */
    for (struct pollfd ready = {.fd = fd, .events = POLLIN}; open && poll(&ready, 1, 0) > 0;)
        open = drain(fd, tail, 0);
    return 0;
}

int wt__child_run(const struct child *child, char tail[CHILD_TAIL_BYTES], wt_error *err)
{
    int ends[2], status = 0;
    pid_t pid;
    struct tail heard = {.len = 0};
    if (tail)
        tail[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return wt__fail_errno(err, "start", child->argv[0]);
    errno = spawn(child, ends[1], &pid);
    close(ends[1]);
    if (errno) {
        int rc = wt__fail_errno(err, "run", child->argv[0]);
        close(ends[0]);
        return rc;
    }
    int rc = attend(child, pid, ends[0], &heard, &status, err);
    close(ends[0]);
    if (tail)
        tail_finish(&heard, tail);
    if (rc < 0)
        return rc;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
