/* progress_line.h: progress of long operations on stderr, and Ctrl-C.
 *
 * A terminal shows one line, which is redrawn; a pipe or a file gets a new line every half minute.
 *
 * The first Ctrl-C asks the library to stop cleanly; the second ends the process. */
#ifndef WT_CLI_PROGRESS_LINE_H
#define WT_CLI_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

/* Catches Ctrl-C. Call before a long operation; otherwise Ctrl-C ends the process at once. */
void wt__watch_interrupt(void);
/* Also catches SIGTERM and SIGHUP, for operations with child processes. */
void wt__watch_end_signals(void);
bool wt__interrupted(void);

struct progress_line {
    bool shown;   /* --quiet is absent */
    bool redrawn; /* stderr is a terminal that can erase a line */
    size_t width;
    const char *phase;
    double started_ms, told_ms,
        phase_ms;        /* times of the start, of the last output or start, and of the phase's start */
    uint64_t phase_done; /* value of done at phase_ms */
};

void wt__progress_begin(struct progress_line *line, const struct cli *cli);

/* Shows progress (wt_progress_fn); context is a struct progress_line. Draws after two seconds on a terminal, after half
 * a minute elsewhere. Returns 1 after Ctrl-C. */
int wt__progress_show(void *context, const char *phase, uint64_t done, uint64_t total);

/* Draws text as the line, cut to the terminal, under the same conditions. */
void wt__progress_draw(struct progress_line *line, const struct buffer *text);

/* Erases the line, if one is shown. */
void wt__progress_clear(void);

/* Appends a duration such as "12 s", "3 min 5 s" or "2 h 10 min". */
void wt__put_duration(struct buffer *out, double seconds);
/* Appends a number with separators, such as "9,970". */
void wt__put_grouped(struct buffer *out, uint64_t number);

#endif
