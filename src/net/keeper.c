/* keeper.c: ends the programs that this process leaves behind; see process.h. Each message to the keeper is one pid_t
 * and is sent atomically: the ID of a new process group, or the negative ID of an ended group. If the connection is
 * full, the message is dropped, because sending must not block. */
#include "net/process.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum { READ_GROUPS = 256, WATCH_MS = 20 };

static int connection = -1; /* socket to the keeper; -1 without a keeper; set once, before threads start */

struct groups {
    pid_t list[KEEPER_GROUPS_MAX];
    size_t count;
};

static void update_groups(struct groups *groups, pid_t word)
{
    size_t i = 0;
    pid_t group = word < 0 ? -word : word;
    while (i < groups->count && groups->list[i] != group)
        i++;
    if (word < 0 && i < groups->count)
        groups->list[i] = groups->list[--groups->count];
    else if (word > 0 && i == groups->count && i < KEEPER_GROUPS_MAX)
        groups->list[groups->count++] = group;
}

/* Signals all groups and removes those that have ended. Signal number 0 only removes. */
static void signal_all(struct groups *groups, int number)
{
    for (size_t i = 0; i < groups->count;)
        if (kill(-groups->list[i], number) < 0 && errno == ESRCH)
            groups->list[i] = groups->list[--groups->count];
        else
            i++;
}

static void end_all(struct groups *groups)
{
    signal_all(groups, SIGTERM);
    for (double until = wt__now_ms() + CHILD_GRACE_MS; groups->count > 0 && wt__now_ms() < until;) {
        nanosleep(&(struct timespec){.tv_nsec = WATCH_MS * 1000000L}, NULL);
        signal_all(groups, 0);
    }
    signal_all(groups, SIGKILL);
}

/* Runs the keeper. A new session detaches it from the terminal. It blocks all signals, because service managers often
 * signal all processes of a service at once. */
static void run_keeper(int fd)
{
    static struct groups groups;
    pid_t words[READ_GROUPS];
    sigset_t all;
    ssize_t got;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    if (dup2(fd, 0) < 0 || chdir("/") < 0)
        _exit(1);
    wt__close_from(1);
    while ((got = recv(0, words, sizeof words, 0)) > 0 || (got < 0 && errno == EINTR))
        for (ssize_t i = 0; i < got / (ssize_t)sizeof *words; i++)
            update_groups(&groups, words[i]);
    end_all(&groups);
    _exit(0);
}

int wt__keeper_start(wt_error *err)
{
    int ends[2];
    if (connection >= 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return wt__fail_errno(err, "start", "the keeper of processes");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_keeper(ends[1]);
    }
    if (pid < 0)
        wt__fail_errno(err, "start", "the keeper of processes");
    close(ends[1]);
    if (pid > 0)
        connection = ends[0];
    else
        close(ends[0]);
    return pid > 0 ? 0 : err ? err->code : WT_EIO;
}

static void notify_keeper(pid_t word)
{
    if (connection >= 0)
        (void)!send(connection, &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void wt__keeper_add(pid_t group)
{
    notify_keeper(group);
}

void wt__keeper_remove(pid_t group)
{
    notify_keeper(-group);
}
