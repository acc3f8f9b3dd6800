#include "cli/text.h"

#include <utf8proc.h>

#include "text/unicode.h"

static const char MARK[] = "\xe2\x80\xa6"; /* ellipsis, one column */

/* Returns the next character of s and moves *at; returns -1 and skips one byte if the bytes are not valid. */
static utf8proc_int32_t next_character(struct str s, size_t *at)
{
    utf8proc_int32_t c = -1;
    utf8proc_ssize_t step =
        utf8proc_iterate((const utf8proc_uint8_t *)s.ptr + *at, (utf8proc_ssize_t)(s.len - *at), &c);
    *at += step > 0 ? (size_t)step : 1;
    return step > 0 ? c : -1;
}

/* True for invisible characters, except those that some scripts and emoji need: joiners, the soft hyphen, and variation
 * selectors. */
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
    int blank = 1; /* at the begin, or after a blank */
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
    struct buffer escaped = {0};
    /* Do not escape much more text than fits; 16 bytes a column are more than any character takes. */
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
    wt__buffer_dispose(&escaped);
    return taken;
}

void wt__text_pad(struct buffer *out, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        wt__buffer_char(out, ' ');
}

/* Wraps one paragraph at blanks; words longer than a line are broken at its end. */
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
    struct buffer escaped = {0};
    wt__text_escape(&escaped, s, TEXT_LINES);
    out->failed |= escaped.failed;
    struct str rest = wt__buffer_view(&escaped);
    while (rest.len > 0) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) : rest.len;
        struct buffer line = {0};
        wt__text_escape(&line, (struct str){rest.ptr, len}, TEXT_LINE); /* tabs and runs of blanks */
        wrap_paragraph(out, wt__buffer_view(&line), indent, width);
        out->failed |= line.failed;
        wt__buffer_dispose(&line);
        size_t step = len + (newline ? 1 : 0);
        rest = (struct str){rest.ptr + step, rest.len - step};
        if (rest.len > 0) {
            wt__buffer_char(out, '\n');
            wt__text_pad(out, indent);
        }
    }
    wt__buffer_dispose(&escaped);
}
