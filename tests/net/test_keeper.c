/* Who ends of whatever leaves no program behind: neither child nor grandchild, and nobody else is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/coprocess.h"
#include "net/keeper.h"
#include "net/held_pipe.h"

/* The library's own is hidden by this one: with the first word to the keeper the process that would say it, or its
 * parent whose child says it, is killed. */
static pid_t doomed;
static int told_pipe[2];

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    pid_t word;
    if (doomed && len == sizeof word) {
        memcpy(&word, bytes, len);
        (void)!write(told_pipe[1], &word, sizeof word);
        kill(doomed, SIGKILL);
    }
    return sendto(fd, bytes, len, flags, NULL, 0);
}

enum how { KILLED, ENDS, TERMINATED };

/* Each script holds a pipe of the test's ($1) in all its processes; who sleeps would sleep longer than a test may run.
 */
static const struct {
    const char *name, *script;
    enum how how;
} rows[] = {
    {"killed, with a child and grandchildren", "sleep 900 & (sleep 900 & sleep 900) & echo up; sleep 900", KILLED},
    {"killed, when the child has ended and the grandchild has not", "sleep 900 & echo up; exit 0", KILLED},
    {"killed, with one that does not let itself be asked", "trap '' TERM; echo up; sleep 900 & wait; sleep 900",
     KILLED},
    {"terminated", "sleep 900 & echo up; sleep 900", TERMINATED},
    {"at its own end", "sleep 900 & echo up; sleep 900", ENDS},
};

/* A process that has begun a program, and is ended. Its exit status, or 128 and a signal's number, comes back. */
static int live_and_end(const char *script, enum how how)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const char *argv[] = {"sh", "-c", script, "sh", pipe_path, NULL};
        struct child child = {.argv = argv};
        struct coprocess *coprocess;
        struct str line;
        bool up = wt__keeper_start(NULL) == 0 && wt__keeper_start(NULL) == 0 &&
                  wt__coprocess_start(&coprocess, &child, NULL) == 0 &&
                  wt__coprocess_receive(coprocess, &line, NULL) == 1;
        (void)!write(ready[1], "", up);
        if (how == ENDS)
            _exit(!up);
        pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    int status;
    if (how != ENDS)
        kill(pid, how == KILLED ? SIGKILL : SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_nothing_is_left(void **state)
{
    static const int statuses[] = {[KILLED] = 128 + SIGKILL, [TERMINATED] = 128 + SIGTERM};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char script[256], byte;
        snprintf(script, sizeof script, "exec 3>\"$1\"; %s", rows[i].script);
        int status = live_and_end(script, rows[i].how);
        if (status != statuses[rows[i].how] || read(pipe_fd, &byte, 1) != 0)
            fail_msg("%s: status %d", rows[i].name, status);
    }
}

static pid_t begin_group(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        pause();
        _exit(0);
    }
    setpgid(pid, pid);
    return pid;
}

/* Killed when its program stands already and the keeper has not heard of it yet. It does not end with its stdin. */
static void test_there_is_no_moment_between(void **state)
{
    static const char *const argv[] = {"sleep", "900", NULL};
    const struct child child = {.argv = argv};
    struct coprocess *coprocess;
    pid_t group;
    int status;
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* who is left over is ours to wait for */
    assert_int_equal(pipe2(told_pipe, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (wt__keeper_start(NULL) == 0) {
            doomed = getpid();
            wt__coprocess_start(&coprocess, &child, NULL);
        }
        _exit(1);
    }
    assert_int_equal(read(told_pipe[0], &group, sizeof group), sizeof group);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(waitpid(group, &status, 0), group); /* as long as the test may run, where nobody ends it */
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(told_pipe[0]);
    close(told_pipe[1]);
}

/* Numbers are given anew: that of a group that has ended may be a stranger's. */
static void test_what_has_ended_is_not_touched(void **state)
{
    int status;
    (void)state;
    pid_t stranger = begin_group(), ours = begin_group();
    assert_true(stranger > 0 && ours > 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (wt__keeper_start(NULL) < 0)
            _exit(1);
        wt__keeper_begun(stranger);
        wt__keeper_begun(ours);
        wt__keeper_ended(stranger);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(waitpid(ours, &status, 0), ours);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(waitpid(stranger, &status, WNOHANG), 0);
    kill(stranger, SIGKILL);
    waitpid(stranger, &status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_there_is_no_moment_between),
        cmocka_unit_test(test_what_has_ended_is_not_touched),
    };
    return cmocka_run_group_tests(tests, make_pipe, remove_pipe);
}
