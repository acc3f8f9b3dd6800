/* progress_line.h: how far a long operation is, on stderr, and Ctrl-C.
 *
 * A terminal has one line, which is drawn again; a pipe or a file gets a line that stays, every half minute.
 *
 * The first Ctrl-C asks the library to stop soon, which leaves everything sound; the second ends the process. */
#ifndef WT_CLI_PROGRESS_LINE_H
#define WT_CLI_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

/* Call before a long operation; without it Ctrl-C ends the process at once. */
void wt__interrupt_watch(void);
/* The same where the end of this process would leave others running: also of SIGTERM and SIGHUP. */
void wt__end_watch(void);
bool wt__interrupted(void);

struct progress_line {
    bool shown;   /* not --quiet */
    bool redrawn; /* stderr is a terminal that can take a line back */
    size_t width;
    const char *phase;
    double started_ms, told_ms, phase_ms; /* told_ms: the last line, or the start */
    uint64_t phase_done;                  /* done at phase_ms */
};

void wt__progress_begin(struct progress_line *line, const struct cli *cli);

/* A wt_progress_fn; context is a struct progress_line. Draws only what takes more than two seconds on a terminal, more
 * than half a minute elsewhere. */
int wt__progress_show(void *context, const char *phase, uint64_t done, uint64_t total);

/* Draws text as the line, cut to the terminal, under the same conditions. */
void wt__progress_draw(struct progress_line *line, const struct buffer *text);

/* Takes the line away, if one is there. */
void wt__progress_clear(void);

/* "12 s", "3 min 5 s", "2 h 10 min". */
void wt__duration(struct buffer *out, double seconds);
/* 9970 as "9,970". */
void wt__grouped(struct buffer *out, uint64_t number);

#endif
