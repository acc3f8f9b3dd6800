/* Tests the progress line on a terminal, in a pipe and with --quiet. The tests do not wait: they change the times
 * stored in the line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/cli.h"

#define STEPS 3
static const double HOUR_MS = 3600e3;

static const struct {
    const char *name, *term;
    bool tty, quiet;
    bool waited[STEPS]; /* an hour seems to have passed before the step */
    const char *told;   /* expected on stderr */
} rows[] = {
    {"a short operation in a pipe shows no line", "xterm", false, false, {false, false, false}, ""},
    {"a long operation in a pipe shows a line for some steps",
     "xterm",
     false,
     false,
     {true, false, true},
     "encoder: training 1 of 3 (33 %)\nencoder: training 3 of 3 (100 %)\n"},
    {"--quiet shows no line", "xterm", false, true, {true, true, true}, ""},
    {"a dumb terminal shows permanent lines",
     "dumb",
     true,
     false,
     {true, false, false},
     "encoder: training 1 of 3 (33 %)\n"},
    {"a terminal shows one line, redrawn",
     "xterm",
     true,
     false,
     {true, true, false},
     "\r\x1b[Kencoder: training 1 of 3 (33 %)\r\x1b[Kencoder: training 2 of 3 (67 %)"
     "\r\x1b[Kencoder: training 3 of 3 (100 %)\r\x1b[K"},
    {"a short operation on a terminal shows no line", "xterm", true, false, {false, false, false}, ""},
};

/* Runs the steps of a row and reads the output on stderr. */
static void run_progress_steps(size_t r, char *told, size_t size)
{
    const struct cli cli = {.tty_err = rows[r].tty, .quiet = rows[r].quiet};
    struct progress_line line;
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    assert_true(file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    setenv("TERM", rows[r].term, 1);
    wt__progress_begin(&line, &cli);
    line.started_ms += HOUR_MS; /* the operation counts as short, however slow the test is */
    for (size_t step = 0; step < STEPS; step++) {
        line.started_ms -= rows[r].waited[step] ? 2 * HOUR_MS : 0;
        line.told_ms += rows[r].waited[step] ? -2 * HOUR_MS : HOUR_MS;
        wt__progress_show(&line, "encoder: training", step + 1, STEPS);
    }
    wt__progress_clear();
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    told[fread(told, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void progress_depends_on_time_and_output(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char told[512];
        run_progress_steps(r, told, sizeof told);
        if (strcmp(told, rows[r].told) != 0)
            fail_msg("%s: \"%s\"", rows[r].name, told);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(progress_depends_on_time_and_output)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
