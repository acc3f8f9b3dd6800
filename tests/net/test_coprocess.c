/* Tests coprocesses: the exchange of lines in both directions. No program may block the caller, or run on after the end
 * of the coprocess. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "net/process.h"

static wt_error err;

/* `sleep 900` takes longer than a test may run. */
static const struct {
    const char *name;
    const char *script; /* for sh -c; receives the line "hello" */
    bool stops;         /* call wt__coprocess_stop after the expected lines */
    const char *lines;  /* expected lines, each followed by |; NULL to receive none */
    int last;           /* result of the last receive */
    const char *says;   /* part of the error message if last is negative, else end of stderr */
    int status;         /* exit status if the program ends by itself; -1 if it is terminated */
} rows[] = {
    {"answers one line", "read x; echo \"$x you\"", false, "hello you|", 0, "", 0},
    {"several lines in one write", "printf 'a\\nb\\n\\nc\\n'", false, "a|b||c|", 0, "", 0},
    {"lines that end in CR LF", "printf 'a\\r\\nb\\r\\n'", false, "a|b|", 0, "", 0},
    {"last line without a newline", "printf 'a\\nb'", false, "a|b|", 0, "", 0},
    {"line written in two pieces", "printf a; sleep .1; printf 'b\\n'", false, "ab|", 0, "", 0},
    {"exits at the end of stdin", "read x; cat; exit 4", false, NULL, 1, "", 4},
    {"much output on stderr: only its end is kept",
     "i=0; while [ $i -lt 20000 ]; do echo noise noise noise $i; i=$((i+1)); done >&2; echo done; echo 'the end' >&2",
     false, "done|", 0, "the end", 0},
    {"exit status and a line on stderr", "echo no >&2; exit 3", false, "", 0, "no", 3},
    {"program that writes nothing is stopped", "sleep 900", true, "", WT_ECANCELLED, "stop", -1},
    {"program that ignores SIGTERM is stopped", "trap '' TERM; echo a; sleep 900 & wait; sleep 900", true, "a|",
     WT_ECANCELLED, "stop", -1},
    {"suspended program is stopped", "echo a; kill -STOP $$", true, "a|", WT_ECANCELLED, "stop", -1},
    {"a process left behind holds stdout open", "echo a; sleep 900 & exit 5", false, "a|", 0, "", 5},
    {"line longer than the limit", "while :; do printf %65536s x; done", false, "", WT_ETOOLONG,
     "sh wrote a line of more than 16 MB", -1},
};

static void coprocess_exchanges_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *argv[] = {"sh", "-c", rows[i].script, NULL};
        struct child child = {.argv = argv};
        size_t left = 0;
        struct coprocess *coprocess;
        char tail[CHILD_TAIL_BYTES];
        struct buffer heard = {0};
        struct str line;
        int rc = wt__coprocess_start(&coprocess, &child, &err);
        assert_int_equal(rc, 0);
        assert_int_equal(wt__coprocess_send(coprocess, STR("hello"), &err), 0);
        for (const char *at = rows[i].lines; at && *at; at++)
            left += *at == '|';
        if (rows[i].stops && left == 0)
            wt__coprocess_stop(coprocess);
        while (rows[i].lines && (rc = wt__coprocess_receive(coprocess, &line, &err)) == 1) {
            wt__buffer_str(&heard, line);
            wt__buffer_char(&heard, '|');
            if (rows[i].stops && --left == 0)
                wt__coprocess_stop(coprocess);
        }
        if (!rows[i].lines) /* the program must exit when wt__coprocess_end closes its stdin */
            rc = rows[i].last;
        int status = wt__coprocess_end(coprocess, false, tail);
        const char *said = rc < 0 ? err.message : tail;
        bool ended_well = rows[i].status < 0 || status == rows[i].status;
        bool all = !rows[i].lines || strcmp(heard.ptr ? heard.ptr : "", rows[i].lines) == 0;
        size_t want = strlen(rows[i].says), have = strlen(said);
        bool told =
            rc < 0 ? strstr(said, rows[i].says) != NULL : have >= want && strcmp(said + have - want, rows[i].says) == 0;
        if (rc != rows[i].last || !all || !told || !ended_well)
            fail_msg("%s: result %d, lines \"%s\", message \"%s\", status %d", rows[i].name, rc,
                     heard.ptr ? heard.ptr : "", said, status);
        wt__buffer_dispose(&heard);
    }
}

static void program_that_never_reads_is_reported(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "sleep 900", NULL};
    struct child child = {.argv = argv};
    struct coprocess *coprocess;
    char *much = calloc(1, 1 << 20);
    assert_non_null(much);
    memset(much, 'a', 1 << 20);
    int rc = wt__coprocess_start(&coprocess, &child, &err);
    for (int i = 0; rc == 0 && i < 10; i++)
        rc = wt__coprocess_send(coprocess, (struct str){much, 1 << 20}, &err);
    assert_int_equal(rc, WT_ETOOLONG);
    assert_string_equal(err.message, "sh does not read what it is sent");
    wt__coprocess_end(coprocess, true, NULL);
    free(much);
}

/* A line larger than the socket's buffer is sent while the caller waits for the answer. No byte is lost. */
static void long_lines_are_sent_while_receiving(void **state)
{
    enum { BYTES = 4 << 20 };
    const char *argv[] = {"cat", NULL};
    struct child child = {.argv = argv};
    struct coprocess *coprocess;
    char *sent = malloc(BYTES);
    struct str line;
    (void)state;
    assert_non_null(sent);
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (char)('!' + i % 89); /* a lost or repeated piece shifts all later bytes */
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), 0);
    assert_int_equal(wt__coprocess_send(coprocess, (struct str){sent, BYTES}, &err), 0);
    assert_int_equal(wt__coprocess_receive(coprocess, &line, &err), 1);
    assert_int_equal(line.len, BYTES);
    assert_memory_equal(line.ptr, sent, BYTES);
    wt__coprocess_end(coprocess, false, NULL);
    free(sent);
}

/* SIGPIPE would end the test. */
static void writing_to_closed_stdin_raises_no_signal(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "exec <&-; echo closed; sleep 900", NULL};
    struct child child = {.argv = argv};
    struct coprocess *coprocess;
    struct str line;
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), 0);
    assert_int_equal(wt__coprocess_receive(coprocess, &line, &err), 1);
    assert_int_equal(wt__coprocess_send(coprocess, STR("hello"), &err), 0);
    wt__coprocess_stop(coprocess);
    assert_int_equal(wt__coprocess_receive(coprocess, &line, &err), WT_ECANCELLED);
    wt__coprocess_end(coprocess, true, NULL);
}

/* An inherited descriptor could be a pipe to another server or a socket of a library. */
static void open_descriptors_are_not_inherited(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "if true <&9; then echo open; else echo closed; fi 2>/dev/null", NULL};
    struct child child = {.argv = argv};
    struct coprocess *coprocess;
    struct str line;
    assert_int_equal(dup2(STDIN_FILENO, 9), 9);
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), 0);
    assert_int_equal(wt__coprocess_receive(coprocess, &line, &err), 1);
    assert_true(wt__str_equal(line, STR("closed")));
    assert_int_equal(wt__coprocess_end(coprocess, false, NULL), 0);
    close(9);
}

/* If the calling process ignores SIGCHLD, the system discards the exit statuses of its children. */
static void ignored_sigchld_makes_status_unknown(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "echo a; sleep 900 & exit 3", NULL};
    struct child child = {.argv = argv};
    struct coprocess *coprocess;
    struct str line;
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), 0);
    assert_int_equal(wt__coprocess_receive(coprocess, &line, &err), 1);
    assert_int_equal(wt__coprocess_receive(coprocess, &line, &err), 0);
    assert_int_equal(wt__coprocess_end(coprocess, false, NULL), -1);
    assert_int_equal(wt__child_run(&child, NULL, &err), WT_EIO);
    assert_string_equal(err.message, "the exit status of sh is unknown because SIGCHLD is ignored");
    signal(SIGCHLD, SIG_DFL);
}

static bool is_another_users;

/* Replaces the C library's kill. If is_another_users is set, fails as for a process of another user. */
int kill(pid_t pid, int number)
{
    errno = EPERM;
    return is_another_users ? -1 : (int)syscall(SYS_kill, pid, number);
}

static void program_of_another_user_does_not_block(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "echo $$; sleep 900", NULL};
    struct child child = {.argv = argv};
    struct coprocess *coprocess;
    struct str line;
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), 0);
    assert_int_equal(wt__coprocess_receive(coprocess, &line, &err), 1);
    pid_t group = (pid_t)strtol(line.ptr, NULL, 10); /* ends at a newline */
    assert_true(group > 1);
    is_another_users = true;
    assert_int_equal(wt__coprocess_end(coprocess, true, NULL), -1);
    is_another_users = false;
    assert_int_equal(kill(-group, SIGKILL), 0);
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void coprocess_closes_all_descriptors(void **state)
{
    const char *argv[] = {"true", NULL}, *nobody[] = {"there-is-no-such-program", NULL};
    struct child child = {.argv = argv}, none = {.argv = nobody};
    struct coprocess *coprocess;
    (void)state;
    /* Count only after one program has run, in case a library has opened descriptors that stay open. */
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), 0);
    wt__coprocess_end(coprocess, false, NULL);
    size_t before = open_descriptors();
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), 0);
    assert_true(open_descriptors() > before);
    wt__coprocess_end(coprocess, false, NULL);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(wt__coprocess_start(&coprocess, &none, &err), WT_ENOTFOUND);
    assert_int_equal(open_descriptors(), before);
}

static void coprocess_uses_folder_environment_and_path(void **state)
{
    (void)state;
    char folder[] = "/tmp/whichtool-coprocess-XXXXXX", program[64], path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(program, sizeof program, "%s/of-our-own", folder);
    snprintf(path, sizeof path, "PATH=/none:%s:/usr/bin:/bin", folder);
    FILE *file = fopen(program, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\necho \"$(pwd) $NAME $1 ${HOME-none}\"\n", file);
    fclose(file);
    assert_int_equal(chmod(program, 0700), 0);
    const char *argv[] = {"of-our-own", "$(touch x); 'a b'", NULL};
    const char *environment[] = {"NAME=a value", path, NULL};
    struct child child = {.argv = argv, .environment = environment, .folder = folder};
    struct coprocess *coprocess;
    struct str line;
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s a value $(touch x); 'a b' none", folder);
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), 0);
    assert_int_equal(wt__coprocess_receive(coprocess, &line, &err), 1);
    assert_true(wt__str_equal(line, wt__str(wanted)));
    wt__coprocess_end(coprocess, false, NULL);
    unlink(program);
    rmdir(folder);
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), WT_ENOTFOUND);
    assert_non_null(strstr(err.message, "there is no such folder"));
    child.folder = NULL;
    assert_int_equal(wt__coprocess_start(&coprocess, &child, &err), WT_ENOTFOUND);
    assert_string_equal(err.message, "cannot run of-our-own: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coprocess_exchanges_lines),
        cmocka_unit_test(program_that_never_reads_is_reported),
        cmocka_unit_test(long_lines_are_sent_while_receiving),
        cmocka_unit_test(writing_to_closed_stdin_raises_no_signal),
        cmocka_unit_test(open_descriptors_are_not_inherited),
        cmocka_unit_test(ignored_sigchld_makes_status_unknown),
        cmocka_unit_test(program_of_another_user_does_not_block),
        cmocka_unit_test(coprocess_closes_all_descriptors),
        cmocka_unit_test(coprocess_uses_folder_environment_and_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
