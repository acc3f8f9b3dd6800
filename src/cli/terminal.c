/* terminal.c: escaped, cut and wrapped text, the progress line, and Ctrl-C. */
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include "base/clock.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- text */

static const char MARK[] = "\xe2\x80\xa6"; /* ellipsis, one column */

/* Returns the character of s at *at, and moves *at behind it. If the bytes are not valid UTF-8, returns -1 and skips
 * one byte. */
static utf8proc_int32_t next_character(struct str s, size_t *at)
{
    utf8proc_int32_t c = -1;
    utf8proc_ssize_t step =
        utf8proc_iterate((const utf8proc_uint8_t *)s.ptr + *at, (utf8proc_ssize_t)(s.len - *at), &c);
    *at += step > 0 ? (size_t)step : 1;
    return step > 0 ? c : -1;
}

/* True for invisible characters, except characters that some scripts and emoji need: joiners, the soft hyphen, and
 * variation selectors. */
static bool is_unsafe_character(utf8proc_int32_t c)
{
    bool needed = c == 0x200c || c == 0x200d || c == 0xad || c == 0xfe0e || c == 0xfe0f;
    return !needed && wt__unicode_unseen((uint32_t)c);
}

static int is_blank_character(utf8proc_int32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029;
}

void wt__text_escape(struct buffer *out, struct str s, enum text_shape shape)
{
    int blank = 1; /* true at the start, and after a blank */
    size_t end = out->len;
    for (size_t at = 0; at < s.len;) {
        size_t begin = at;
        utf8proc_int32_t c = next_character(s, &at);
        if (shape == TEXT_LINE && c >= 0 && is_blank_character(c)) {
            if (!blank)
                wt__buffer_char(out, ' ');
            blank = 1;
            continue;
        }
        blank = 0;
        if (c < 0)
            wt__buffer_text(out, "\xef\xbf\xbd");
        else if (shape == TEXT_LINES && (c == '\n' || c == '\t'))
            wt__buffer_char(out, (char)c);
        else if (is_unsafe_character(c))
            wt__buffer_printf(out, c < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
        else
            wt__buffer_append(out, s.ptr + begin, at - begin);
        end = out->len;
    }
    if (shape == TEXT_LINE && !out->failed && out->len > end) {
        out->len = end; /* drop the trailing blank */
        out->ptr[end] = '\0';
    }
}

static size_t character_width(utf8proc_int32_t c)
{
    int width = c < 0 ? 1 : utf8proc_charwidth(c);
    return width > 0 ? (size_t)width : 0;
}

size_t wt__text_width(struct str s)
{
    size_t width = 0;
    for (size_t at = 0; at < s.len;)
        width += character_width(next_character(s, &at));
    return width;
}

/* Returns the number of bytes of escaped text that fit into `width` columns. */
static size_t fitting_bytes(struct str s, size_t width)
{
    size_t taken = 0, at = 0;
    while (at < s.len) {
        size_t begin = at;
        taken += character_width(next_character(s, &at));
        if (taken > width)
            return begin;
    }
    return at;
}

size_t wt__text_cut(struct buffer *out, struct str s, size_t width)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer escaped = {0};
    /* Do not escape much more text than fits. */
    if (width > 0 && s.len > width * 16 + 64)
        s.len = width * 16 + 64;
    wt__text_escape(&escaped, s, TEXT_LINE);
    out->failed |= escaped.failed;
    struct str text = wt__buffer_view(&escaped);
    size_t taken = wt__text_width(text);
    if (width == 0 || taken <= width) {
        wt__buffer_str(out, text);
    } else {
        size_t len = fitting_bytes(text, width - 1);
        while (len > 0 && text.ptr[len - 1] == ' ')
            len--;
        wt__buffer_append(out, text.ptr, len);
        wt__buffer_text(out, MARK);
        taken = wt__text_width((struct str){text.ptr, len}) + 1;
    }
    return taken;
}

void wt__text_pad(struct buffer *out, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        wt__buffer_char(out, ' ');
}

/* Wraps one paragraph at blanks. A word longer than a line is broken at the end of the line. */
static void wrap_paragraph(struct buffer *out, struct str s, size_t indent, size_t width)
{
    size_t room = width > indent + 8 ? width - indent : width ? 8 : 0, used = 0;
    while (s.len > 0) {
        const char *blank = memchr(s.ptr, ' ', s.len);
        size_t len = blank ? (size_t)(blank - s.ptr) : s.len;
        size_t columns = wt__text_width((struct str){s.ptr, len});
        if (room && used && used + 1 + columns > room) {
            wt__buffer_char(out, '\n');
            wt__text_pad(out, indent);
            used = 0;
        }
        if (room && columns > room) {
            len = fitting_bytes((struct str){s.ptr, len}, room);
            columns = room;
            blank = NULL;
        }
        if (used) {
            wt__buffer_char(out, ' ');
            used++;
        }
        wt__buffer_append(out, s.ptr, len);
        used += columns;
        size_t step = len + (blank ? 1 : 0);
        s = (struct str){s.ptr + step, s.len - step};
        if (!blank && s.len > 0) {
            wt__buffer_char(out, '\n');
            wt__text_pad(out, indent);
            used = 0;
        }
    }
}

void wt__text_wrap(struct buffer *out, struct str s, size_t indent, size_t width)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer escaped = {0};
    wt__text_escape(&escaped, s, TEXT_LINES);
    out->failed |= escaped.failed;
    struct str rest = wt__buffer_view(&escaped);
    while (rest.len > 0) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) : rest.len;
        WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
        wt__text_escape(&line, (struct str){rest.ptr, len}, TEXT_LINE); /* collapse tabs and runs of blanks */
        wrap_paragraph(out, wt__buffer_view(&line), indent, width);
        out->failed |= line.failed;
        size_t step = len + (newline ? 1 : 0);
        rest = (struct str){rest.ptr + step, rest.len - step};
        if (rest.len > 0) {
            wt__buffer_char(out, '\n');
            wt__text_pad(out, indent);
        }
    }
}

void wt__style_begin(struct buffer *out, bool color, enum text_style style)
{
    if (color)
        wt__buffer_text(out, style == STYLE_BOLD ? "\x1b[1m" : "\x1b[2m");
}

void wt__style_end(struct buffer *out, bool color)
{
    if (color)
        wt__buffer_text(out, "\x1b[0m");
}

/* ---------------------------------------------------------------- progress */

static const double QUIET_MS = 2000; /* shorter operations show no progress line on a terminal */
/* Interval of progress lines in a pipe or a file. An hour of training prints 120 lines. */
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

void wt__put_count(struct buffer *out, uint64_t number, const char *one, const char *many)
{
    wt__put_grouped(out, number);
    wt__buffer_printf(out, " %s", number == 1 ? one : many);
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
    WT_CLEANUP(wt__buffer_dispose) struct buffer cut = {0};
    wt__text_cut(&cut, wt__buffer_view(text), line->width);
    if (!text->failed && !cut.failed)
        fprintf(stderr, "\r\x1b[K%s", cut.ptr);
    fflush(stderr);
    line_is_there = true;
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
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    describe_progress(&text, line, done, total, now);
    wt__progress_draw(line, &text);
    return interrupted;
}

void wt__progress_clear(void)
{
    if (line_is_there)
        fputs("\r\x1b[K", stderr);
    line_is_there = false;
}
