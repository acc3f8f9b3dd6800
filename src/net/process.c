/* process.c: starts, watches and ends programs; see process.h.
 *
 * Uses vfork, because copying the page tables of a caller that uses a gigabyte would be slow. posix_spawn is not
 * sufficient: the child must report to the keeper before it executes the program. If the parent reported the child
 * afterwards and were killed in between, the child would be left behind. */
#include "net/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

extern char **environ;

enum { WATCH_MS = 5, READ_BYTES = 4096, REPORT = 3 /* descriptor of the report pipe in the child, until exec */ };

static void tail_append(struct tail *tail, const char *bytes, size_t len)
{
    const size_t room = sizeof tail->bytes - 1;
    tail->cut |= tail->len + len > room;
    if (len > room) {
        bytes += len - room;
        len = room;
    }
    size_t keep = tail->len + len > room ? room - len : tail->len;
    memmove(tail->bytes, tail->bytes + tail->len - keep, keep);
    memcpy(tail->bytes + keep, bytes, len);
    tail->len = keep + len;
}

bool wt__tail_read(struct tail *tail, int fd)
{
    char bytes[READ_BYTES];
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got > 0)
        tail_append(tail, bytes, (size_t)got);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool is_blank_or_control(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

void wt__tail_format(const struct tail *tail, char out[CHILD_TAIL_BYTES])
{
    size_t len = 0, i = 0;
    while (tail->cut && i < tail->len && !is_blank_or_control(tail->bytes[i]))
        i++;
    for (; i < tail->len; i++) {
        bool blank = is_blank_or_control(tail->bytes[i]);
        if (!blank || (len > 0 && out[len - 1] != ' '))
            out[len++] = blank ? ' ' : tail->bytes[i];
    }
    while (len > 0 && out[len - 1] == ' ')
        len--;
    out[len] = '\0';
}

/* Looks up argv[0] in the PATH of child->environment, or in this process's PATH if that environment has no PATH. A name
 * with a slash is returned unchecked. *out: the name itself, or path. Returns 0 or ENOENT. */
static int find_in_path(const struct child *child, char path[PATH_MAX], const char **out)
{
    const char *name = child->argv[0], *folders = getenv("PATH");
    *out = name;
    for (size_t i = 0; child->environment && child->environment[i]; i++)
        if (strncmp(child->environment[i], "PATH=", 5) == 0)
            folders = child->environment[i] + 5;
    if (strchr(name, '/'))
        return 0;
    for (const char *at = folders ? folders : "/bin:/usr/bin"; *at;) {
        int len = (int)strcspn(at, ":");
        int written = snprintf(path, PATH_MAX, "%.*s/%s", len, at, name);
        if (len > 0 && written < PATH_MAX && access(path, X_OK) == 0 && !wt__is_folder(path)) {
            *out = path;
            return 0;
        }
        at += len + (at[len] == ':');
    }
    return ENOENT;
}

bool wt__process_can_find(const struct child *child)
{
    char path[PATH_MAX];
    const char *program;
    return find_in_path(child, path, &program) == 0;
}

/* Input of the child process, which shares our memory until exec and must not change it. */
struct exec_request {
    const struct child *child;
    const char *program;
    const int *ends;
    int report; /* pipe to which the child writes its errno if exec fails; above 2 */
};

/* Connects stdin, stdout and stderr and closes all other descriptors, such as pipes to other servers or sockets of
 * libraries. The report pipe closes on exec. */
static bool connect_ends(const struct exec_request *request)
{
    for (int i = 0; i < 3; i++) {
        int end = request->ends[i] >= 0 ? request->ends[i] : open("/dev/null", (i ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        if (end < 0 || (end == i ? fcntl(i, F_SETFD, 0) : dup2(end, i)) < 0)
            return false;
    }
    if (request->report != REPORT && dup3(request->report, REPORT, O_CLOEXEC) < 0)
        return false;
    wt__close_from(REPORT + 1);
    return true;
}

/* Resets all signals to their defaults and unblocks them. Our handlers must not run in the child, and the program must
 * not inherit ignored signals. */
static void reset_signals(void)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in the child and executes the program. On failure, returns the current descriptor of the report pipe. */
static int exec_program(const struct exec_request *request)
{
    const struct child *child = request->child;
    if (setpgid(0, 0) < 0)
        return request->report;
    wt__keeper_add(getpid());
    if (!connect_ends(request))
        return request->report;
    reset_signals();
    if (!child->folder || chdir(child->folder) == 0)
        execve(request->program, (char *const *)child->argv,
               child->environment ? (char *const *)child->environment : environ);
    return REPORT;
}

/* Calls vfork in a separate stack frame, which the child never leaves. */
static pid_t fork_program(const struct exec_request *request)
{
    pid_t pid = vfork();
    if (pid == 0) {
        int report = exec_program(request), why = errno;
        (void)!write(report, &why, sizeof why);
        _exit(127);
    }
    return pid;
}

/* Reads the child's report. Returns 0 if exec succeeded. Otherwise, reaps the child and returns its errno. */
static int read_report(int fd, pid_t pid)
{
    int why = 0;
    ssize_t got;
    do
        got = read(fd, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    if (got != sizeof why)
        return 0;
    wt__keeper_remove(pid);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return why ? why : EIO;
}

int wt__process_spawn(pid_t *out, const struct child *child, const int ends[3])
{
    struct exec_request request = {.child = child, .ends = ends};
    sigset_t all, before;
    char path[PATH_MAX];
    int report[2], failed = find_in_path(child, path, &request.program);
    if (failed)
        return failed;
    if (pipe2(report, O_CLOEXEC) < 0)
        return errno;
    request.report = fcntl(report[1], F_DUPFD_CLOEXEC, REPORT);
    failed = request.report < 0 ? errno : 0;
    close(report[1]);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* our signal handlers must not run in the child */
    pid_t pid = failed ? -1 : fork_program(&request);
    if (pid < 0 && !failed)
        failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (request.report >= 0)
        close(request.report);
    if (!failed)
        failed = read_report(report[0], pid);
    close(report[0]);
    *out = pid;
    return failed;
}

bool wt__process_has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    int rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return rc == 0 ? info.si_pid == pid : errno == ECHILD;
}

bool wt__process_ends_within(pid_t pid, double ms)
{
    for (double until = wt__now_ms() + ms; !wt__process_has_ended(pid);) {
        if (wt__now_ms() >= until)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = WATCH_MS * 1000000L}, NULL);
    }
    return true;
}

void wt__process_terminate(pid_t pid)
{
    kill(-pid, SIGTERM);
    wt__process_ends_within(pid, CHILD_GRACE_MS);
}

int wt__process_reap(pid_t pid)
{
    int status;
    if (kill(-pid, SIGKILL) < 0 && errno == EPERM && !wt__process_ends_within(pid, CHILD_GRACE_MS))
        return -1;
    wt__keeper_remove(pid); /* must come before waitpid, after which the ID can be reused */
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum { POLL_MS = 20 };

/* Waits for output for up to wait_ms and reads it. Returns false at the end of the stream. */
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
