/* Child processes: every way to end is reported, and no process outlives a cancellation. */
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
#include "net/process.h"

static wt_error err;

/* Sleeping programs sleep longer than a test may run. */
static const struct {
    const char *name;
    const char *script; /* for sh -c */
    double timeout_ms;
    int rc;
    const char *tail; /* expected end of stderr, or part of the error message if rc is negative */
} rows[] = {
    {"status 0, nothing on stderr", "echo unheard", 0, 0, ""},
    {"exit status 3 and a line on stderr", "echo 'no such  package' >&2; exit 3", 0, 3, "no such package"},
    {"killed by a signal: status is 128 plus its number", "kill -9 $$", 0, 128 + 9, ""},
    {"control characters and line breaks on stderr", "printf ' one\\n\\033two\\t\\n' >&2; exit 1", 0, 1, "one two"},
    {"stdin is empty", "read x || exit 7", 0, 7, ""},
    {"a process left behind does not delay the result", "sleep 900 & exit 4", 0, 4, ""},
    {"program that exceeds its timeout", "sleep 900", 100, WT_EIO, "sh did not end within 0.1 seconds"},
    {"program that ignores SIGTERM and exceeds its timeout", "trap '' TERM; sleep 900 & wait; sleep 900", 100, WT_EIO,
     "did not end"},
};

static void child_result_tells_how_the_program_ended(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *argv[] = {"sh", "-c", rows[i].script, NULL};
        struct child child = {.argv = argv, .timeout_ms = rows[i].timeout_ms};
        char tail[CHILD_TAIL_BYTES];
        int rc = wt__child_run(&child, tail, &err);
        bool heard = rc >= 0 ? strcmp(tail, rows[i].tail) == 0 : strstr(err.message, rows[i].tail) != NULL;
        if (rc != rows[i].rc || !heard)
            fail_msg("%s: result %d, stderr \"%s\", error \"%s\"", rows[i].name, rc, tail, err.message);
    }
}

static void child_keeps_only_the_end_of_long_stderr(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done >&2", NULL};
    struct child child = {.argv = argv};
    char tail[CHILD_TAIL_BYTES];
    assert_int_equal(wt__child_run(&child, tail, &err), 0);
    size_t len = strlen(tail);
    assert_true(len > CHILD_TAIL_BYTES - 20 && strcmp(tail + len - 9, "line 4999") == 0);
}

static void child_gets_arguments_and_environment_unchanged(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "echo \"$1 $NAME\" >&2", "sh", "$(touch x); a  'b'", NULL};
    const char *environment[] = {"NAME=value", "PATH=/usr/bin:/bin", NULL};
    struct child child = {.argv = argv, .environment = environment};
    char tail[CHILD_TAIL_BYTES];
    assert_int_equal(wt__child_run(&child, tail, &err), 0);
    assert_string_equal(tail, "$(touch x); a 'b' value");
}

static void missing_program_is_reported(void **state)
{
    (void)state;
    const char *argv[] = {"no-such-program-of-ours", NULL};
    struct child child = {.argv = argv};
    assert_int_equal(wt__child_run(&child, NULL, &err), WT_ENOTFOUND);
    assert_string_equal(err.message, "cannot run no-such-program-of-ours: No such file or directory");
}

/* Progress callback. Cancels (returns 1) once the group has written a byte to the pipe *context. */
static int has_started(void *context, const char *phase, uint64_t done, uint64_t total)
{
    char byte;
    (void)phase;
    (void)done;
    (void)total;
    return read(*(int *)context, &byte, 1) == 1;
}

/* All processes of the group hold the pipe open, so end of file means that all of them have ended. */
static void cancellation_ends_the_whole_group(void **state)
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
    wt__progress_init(&progress, has_started, &fd);
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
        cmocka_unit_test(child_result_tells_how_the_program_ended),
        cmocka_unit_test(child_keeps_only_the_end_of_long_stderr),
        cmocka_unit_test(child_gets_arguments_and_environment_unchanged),
        cmocka_unit_test(missing_program_is_reported),
        cmocka_unit_test(cancellation_ends_the_whole_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
