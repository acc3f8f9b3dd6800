/* Child processes: how each ending is told, and that nothing outlives a stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "net/child.h"

static wt_error err;

/* Who sleeps would sleep longer than a test may run. */
static const struct {
    const char *name;
    const char *script; /* for sh -c */
    double timeout_ms;
    int rc;
    const char *tail; /* or what the sentence holds */
} rows[] = {
    {"success is silent", "echo unheard", 0, 0, ""},
    {"a status comes back", "echo 'no such  package' >&2; exit 3", 0, 3, "no such package"},
    {"a signal is 128 and its number", "kill -9 $$", 0, 128 + 9, ""},
    {"the tail is one line without control characters", "printf ' one\\n\\033two\\t\\n' >&2; exit 1", 0, 1, "one two"},
    {"stdin is empty", "read x || exit 7", 0, 7, ""},
    {"what is left behind does not hold us up", "sleep 900 & exit 4", 0, 4, ""},
    {"a slow one is stopped", "sleep 900", 100, WT_EIO, "sh did not end within 0.1 seconds"},
    {"a stubborn one too", "trap '' TERM; sleep 900 & wait; sleep 900", 100, WT_EIO, "did not end"},
};

static void test_endings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *argv[] = {"sh", "-c", rows[i].script, NULL};
        struct child child = {.argv = argv, .timeout_ms = rows[i].timeout_ms};
        char tail[CHILD_TAIL_BYTES];
        int rc = wt__child_run(&child, tail, &err);
        bool heard = rc >= 0 ? strcmp(tail, rows[i].tail) == 0 : strstr(err.message, rows[i].tail) != NULL;
        if (rc != rows[i].rc || !heard)
            fail_msg("%s: %d, \"%s\", \"%s\"", rows[i].name, rc, tail, err.message);
    }
}

static void test_only_the_end_of_much_output_is_kept(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done >&2", NULL};
    struct child child = {.argv = argv};
    char tail[CHILD_TAIL_BYTES];
    assert_int_equal(wt__child_run(&child, tail, &err), 0);
    size_t len = strlen(tail);
    assert_true(len > CHILD_TAIL_BYTES - 20 && strcmp(tail + len - 9, "line 4999") == 0);
}

static void test_arguments_and_environment_go_as_they_are(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "echo \"$1 $NAME\" >&2", "sh", "$(touch x); a  'b'", NULL};
    const char *environment[] = {"NAME=value", "PATH=/usr/bin:/bin", NULL};
    struct child child = {.argv = argv, .environment = environment};
    char tail[CHILD_TAIL_BYTES];
    assert_int_equal(wt__child_run(&child, tail, &err), 0);
    assert_string_equal(tail, "$(touch x); a 'b' value");
}

static void test_a_program_that_is_not_there(void **state)
{
    (void)state;
    const char *argv[] = {"no-such-program-of-ours", NULL};
    struct child child = {.argv = argv};
    assert_int_equal(wt__child_run(&child, NULL, &err), WT_ENOTFOUND);
    assert_string_equal(err.message, "cannot run no-such-program-of-ours: No such file or directory");
}

/* Whether the group has begun: it writes a byte into the pipe that *context reads. */
static int stop(void *context, const char *phase, uint64_t done, uint64_t total)
{
    char byte;
    (void)phase;
    (void)done;
    (void)total;
    return read(*(int *)context, &byte, 1) == 1;
}

/* The pipe ends when all of the group that hold it are gone; until then the test would wait. */
static void test_a_wish_to_stop_ends_the_whole_group(void **state)
{
    (void)state;
    char folder[] = "/tmp/whichtool-child-XXXXXX", path[64], script[128], byte;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    snprintf(script, sizeof script, "exec 3>%s; sleep 900 & echo >&3; sleep 900", path);
    const char *argv[] = {"sh", "-c", script, NULL};
    struct progress progress;
    wt__progress_init(&progress, stop, &fd);
    struct child child = {.argv = argv, .progress = &progress};
    assert_int_equal(wt__child_run(&child, NULL, &err), WT_ECANCELLED);
    wt__progress_dispose(&progress);
    assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
    assert_int_equal(read(fd, &byte, 1), 0);
    close(fd);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_only_the_end_of_much_output_is_kept),
        cmocka_unit_test(test_arguments_and_environment_go_as_they_are),
        cmocka_unit_test(test_a_program_that_is_not_there),
        cmocka_unit_test(test_a_wish_to_stop_ends_the_whole_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
