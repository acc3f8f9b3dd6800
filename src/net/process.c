/* process.c: see process.h. posix_spawn rather than fork: the caller may hold a gigabyte and several threads. */
#include "net/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "net/keeper.h"

extern char **environ;

enum { WATCH_MS = 5, READ_BYTES = 4096 };

/* ---------------------------------------------------------------- stderr */

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

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

void wt__tail_line(const struct tail *tail, char out[CHILD_TAIL_BYTES])
{
    size_t len = 0, i = 0;
    while (tail->cut && i < tail->len && !is_blank(tail->bytes[i]))
        i++;
    for (; i < tail->len; i++) {
        bool blank = is_blank(tail->bytes[i]);
        if (!blank || (len > 0 && out[len - 1] != ' '))
            out[len++] = blank ? ' ' : tail->bytes[i];
    }
    while (len > 0 && out[len - 1] == ' ')
        len--;
    out[len] = '\0';
}

/* ---------------------------------------------------------------- beginning */

/* The program as the child's own PATH finds it; the system looks it up where there is none. Returns 0 or an errno. */
static int find_program(const struct child *child, char path[PATH_MAX], const char **out)
{
    const char *name = child->argv[0], *folders = NULL;
    *out = name;
    for (size_t i = 0; child->environment && child->environment[i]; i++)
        if (strncmp(child->environment[i], "PATH=", 5) == 0)
            folders = child->environment[i] + 5;
    if (!folders || strchr(name, '/'))
        return 0;
    for (const char *at = folders; *at;) {
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

/* What else this process has open, a pipe to another server or a socket that a library made, stays its own. */
static int connect_ends(posix_spawn_file_actions_t *files, const int ends[3])
{
    int failed = 0;
    for (int i = 0; !failed && i < 3; i++)
        failed = ends[i] >= 0 ? posix_spawn_file_actions_adddup2(files, ends[i], i)
                              : posix_spawn_file_actions_addopen(files, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
    return failed ? failed : posix_spawn_file_actions_addclosefrom_np(files, 3);
}

int wt__process_spawn(pid_t *out, const struct child *child, const int ends[3])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char path[PATH_MAX];
    const char *program;
    int failed = find_program(child, path, &program);
    if (!failed)
        failed = posix_spawn_file_actions_init(&files);
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
        connect_ends(&files, ends),
        child->folder ? posix_spawn_file_actions_addchdir_np(&files, child->folder) : 0,
    };
    for (size_t i = 0; !failed && i < sizeof refusals / sizeof *refusals; i++)
        failed = refusals[i];
    if (!failed)
        failed = posix_spawnp(out, program, &files, &attributes, (char *const *)child->argv,
                              child->environment ? (char *const *)child->environment : environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (!failed)
        wt__keeper_begun(*out);
    return failed;
}

/* ---------------------------------------------------------------- ending */

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

void wt__process_ask_to_end(pid_t pid)
{
    kill(-pid, SIGTERM);
    wt__process_ends_within(pid, CHILD_GRACE_MS);
}

int wt__process_reap(pid_t pid)
{
    int status;
    if (kill(-pid, SIGKILL) < 0 && errno == EPERM && !wt__process_ends_within(pid, CHILD_GRACE_MS))
        return -1;
    wt__keeper_ended(pid); /* before its number can be another's */
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
