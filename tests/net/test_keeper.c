/* Tests the keeper: however a process ends, it leaves no child or grandchild behind. No other process is ended. */
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

#include "net/process.h"
#include "net/held_pipe.h"

static pid_t doomed;     /* process that send() kills; 0 for none */
static int told_pipe[2]; /* receives a copy of the message to the keeper, a process group ID */

/* Replaces the C library's send, which sends messages to the keeper. If `doomed` is set, first copies the message to
 * told_pipe and kills `doomed`. */
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

/* Each script holds the test's pipe ($1) open in all its processes. `sleep 900` takes longer than a test may run. */
static const struct {
    const char *name, *script;
    enum how how;
} rows[] = {
    {"killed while a child and grandchildren run", "sleep 900 & (sleep 900 & sleep 900) & echo up; sleep 900", KILLED},
    {"killed after the child has ended and while the grandchild runs", "sleep 900 & echo up; exit 0", KILLED},
    {"killed while a child that ignores SIGTERM runs", "trap '' TERM; echo up; sleep 900 & wait; sleep 900", KILLED},
    {"terminated by SIGTERM", "sleep 900 & echo up; sleep 900", TERMINATED},
    {"exits by itself", "sleep 900 & echo up; sleep 900", ENDS},
};

/* Forks a process that runs the script as a coprocess, and ends that process as `how` says. Returns its exit status, or
 * 128 plus the signal's number. */
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

static void keeper_ends_all_descendants(void **state)
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

/* The process is killed after it has started the program and before the keeper receives the message. The program
 * ignores the end of its stdin, so only the keeper can end it. */
static void keeper_ends_program_started_just_before_the_kill(void **state)
{
    static const char *const argv[] = {"sleep", "900", NULL};
    const struct child child = {.argv = argv};
    struct coprocess *coprocess;
    pid_t group;
    int status;
    (void)state;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) /* orphans are reparented to this process */
        skip();                                /* qemu-user refuses it */
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
    assert_int_equal(waitpid(group, &status, 0), group); /* blocks until the test times out if the keeper fails */
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(told_pipe[0]);
    close(told_pipe[1]);
}

/* Group IDs are reused: the ID of an ended group may belong to another process. */
static void keeper_leaves_ended_groups_alone(void **state)
{
    int status;
    (void)state;
    pid_t stranger = begin_group(), ours = begin_group();
    assert_true(stranger > 0 && ours > 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (wt__keeper_start(NULL) < 0)
            _exit(1);
        wt__keeper_add(stranger);
        wt__keeper_add(ours);
        wt__keeper_remove(stranger);
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
        cmocka_unit_test(keeper_ends_all_descendants),
        cmocka_unit_test(keeper_ends_program_started_just_before_the_kill),
        cmocka_unit_test(keeper_leaves_ended_groups_alone),
    };
    return cmocka_run_group_tests(tests, make_pipe, remove_pipe);
}
