/* How far a long operation is, where it goes to a terminal, to a pipe, and to nobody. The clock is not waited for: what
 * the line remembers of it is put back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/progress_line.h"

#define STEPS 3
static const double HOUR_MS = 3600e3;

static const struct {
    const char *name, *term;
    bool tty, quiet;
    bool waited[STEPS]; /* whether an hour seems to have passed before each telling */
    const char *told;   /* on stderr */
} rows[] = {
    {"into a pipe what is over soon says nothing", "xterm", false, false, {false, false, false}, ""},
    {"what lasts is told in lines that stay, and not at every step",
     "xterm",
     false,
     false,
     {true, false, true},
     "encoder: training 1 of 3 (33 %)\nencoder: training 3 of 3 (100 %)\n"},
    {"nobody wants to hear", "xterm", false, true, {true, true, true}, ""},
    {"a terminal that can take no line back",
     "dumb",
     true,
     false,
     {true, false, false},
     "encoder: training 1 of 3 (33 %)\n"},
    {"a terminal has one line, drawn again",
     "xterm",
     true,
     false,
     {true, true, false},
     "\r\x1b[Kencoder: training 1 of 3 (33 %)\r\x1b[Kencoder: training 2 of 3 (67 %)"
     "\r\x1b[Kencoder: training 3 of 3 (100 %)\r\x1b[K"},
    {"and none for what is over soon", "xterm", true, false, {false, false, false}, ""},
};

/* What the row's tellings leave on stderr. */
static void tell(size_t r, char *told, size_t size)
{
    const struct cli cli = {.tty_err = rows[r].tty, .quiet = rows[r].quiet};
    struct progress_line line;
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    assert_true(file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    setenv("TERM", rows[r].term, 1);
    wt__progress_begin(&line, &cli);
    line.started_ms += HOUR_MS; /* however slow the test is, it is over soon */
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

static void what_lasts_is_told_to_whoever_reads(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char told[512];
        tell(r, told, sizeof told);
        if (strcmp(told, rows[r].told) != 0)
            fail_msg("%s: \"%s\"", rows[r].name, told);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_lasts_is_told_to_whoever_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
