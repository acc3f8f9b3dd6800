#include "cli/progress_line.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/text.h"

static const double QUIET_MS = 2000; /* shorter operations show no line */
/* Interval of lines in a pipe or a file: 120 lines for an hour of training. */
static const double STAYING_MS = 30000;

static volatile sig_atomic_t interrupted;
static bool line_is_there;

static void on_interrupt_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static void catch_signal(int number)
{
    /* SA_RESETHAND: the second Ctrl-C has the default action and ends the process. No SA_RESTART: read() returns. */
    struct sigaction action = {.sa_handler = on_interrupt_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void wt__watch_interrupt(void)
{
    catch_signal(SIGINT);
}

void wt__watch_end_signals(void)
{
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
}

bool wt__interrupted(void)
{
    return interrupted != 0;
}

void wt__progress_begin(struct progress_line *line, const struct cli *cli)
{
    const char *term = getenv("TERM");
    bool able = term && *term && strcmp(term, "dumb") != 0;
    struct winsize size = {0};
    *line = (struct progress_line){
        .shown = !cli->quiet, .redrawn = cli->tty_err && able, .started_ms = wt__now_ms(), .told_ms = wt__now_ms()};
    line->width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79;
}

void wt__put_duration(struct buffer *out, double seconds)
{
    uint64_t whole = (uint64_t)(seconds + .5);
    if (whole < 60)
        wt__buffer_printf(out, "%llu s", (unsigned long long)whole);
    else if (whole < 3600)
        wt__buffer_printf(out, "%llu min %llu s", (unsigned long long)whole / 60, (unsigned long long)whole % 60);
    else
        wt__buffer_printf(out, "%llu h %llu min", (unsigned long long)whole / 3600,
                          (unsigned long long)whole % 3600 / 60);
}

void wt__put_grouped(struct buffer *out, uint64_t number)
{
    if (number >= 1000) {
        wt__put_grouped(out, number / 1000);
        wt__buffer_printf(out, ",%03llu", (unsigned long long)(number % 1000));
    } else {
        wt__buffer_printf(out, "%llu", (unsigned long long)number);
    }
}

/* Appends "encoding 1,204 of 9,970 (12 %), 310/s, 28 s left". */
static void describe_progress(struct buffer *out, const struct progress_line *line, uint64_t done, uint64_t total,
                              double now)
{
    wt__buffer_printf(out, "%s ", line->phase);
    wt__put_grouped(out, done);
    if (total) {
        wt__buffer_text(out, " of ");
        wt__put_grouped(out, total);
        wt__buffer_printf(out, " (%.0f %%)", 100.0 * (double)done / (double)total);
    }
    double seconds = (now - line->phase_ms) / 1000;
    double rate = seconds > .5 && done > line->phase_done ? (double)(done - line->phase_done) / seconds : 0;
    if (rate >= 10) {
        wt__buffer_text(out, ", ");
        wt__put_grouped(out, (uint64_t)rate);
        wt__buffer_text(out, "/s");
    } else if (rate > 0) {
        wt__buffer_printf(out, ", %.1f/s", rate);
    }
    if (rate > 0 && total > done) {
        wt__buffer_text(out, ", ");
        wt__put_duration(out, (double)(total - done) / rate);
        wt__buffer_text(out, " left");
    }
}

static void redraw_line(const struct progress_line *line, const struct buffer *text)
{
    struct buffer cut = {0};
    wt__text_cut(&cut, wt__buffer_view(text), line->width);
    if (!text->failed && !cut.failed)
        fprintf(stderr, "\r\x1b[K%s", cut.ptr);
    fflush(stderr);
    line_is_there = true;
    wt__buffer_dispose(&cut);
}

static bool is_progress_due(const struct progress_line *line)
{
    double now = wt__now_ms();
    return line->redrawn ? now - line->started_ms > QUIET_MS : now - line->told_ms > STAYING_MS;
}

void wt__progress_draw(struct progress_line *line, const struct buffer *text)
{
    if (!line->shown || !is_progress_due(line))
        return;
    line->told_ms = wt__now_ms();
    if (line->redrawn)
        redraw_line(line, text);
    else if (!text->failed)
        fprintf(stderr, "%s\n", text->ptr);
}

int wt__progress_show(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct progress_line *line = context;
    double now = wt__now_ms();
    if (!line->phase || strcmp(line->phase, phase) != 0 || done < line->phase_done) {
        line->phase = phase;
        line->phase_ms = now;
        line->phase_done = done;
    }
    struct buffer text = {0};
    describe_progress(&text, line, done, total, now);
    wt__progress_draw(line, &text);
    wt__buffer_dispose(&text);
    return interrupted;
}

void wt__progress_clear(void)
{
    if (line_is_there)
        fputs("\r\x1b[K", stderr);
    line_is_there = false;
}
