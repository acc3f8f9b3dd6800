/* shown.c: escapes invisible characters in JSON. See shown.h. Outside strings, JSON is ASCII and its only controls are
 * blanks, so every character to escape is inside a string. */
#include "text/shown.h"

#include "base/memory.h"
#include "text/unicode.h"

static void put_escape(struct buffer *out, uint32_t c)
{
    if (c > 0xFFFF) {
        wt__buffer_printf(out, "\\u%04x", 0xD800 + (unsigned)((c - 0x10000) >> 10));
        c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    wt__buffer_printf(out, "\\u%04x", (unsigned)c);
}

void wt__shown_json(struct buffer *out, struct str json)
{
    const char *at = json.ptr, *end = json.ptr + json.len, *kept = at; /* start of the unwritten text */
    if (json.len == 0)
        return;
    while (at < end) {
        const char *begin = at;
        if ((unsigned char)*at < 0x7F) {
            at++;
            continue;
        }
        uint32_t c = wt__utf8_next(&at, end);
        bool broken = c == UNICODE_REPLACEMENT && *begin != '\xEF';
        if (!broken && !wt__unicode_unseen(c))
            continue;
        wt__buffer_append(out, kept, (size_t)(begin - kept));
        put_escape(out, c);
        kept = at;
    }
    wt__buffer_append(out, kept, (size_t)(end - kept));
}

/* Escapes the JSON appended from `begin` on. Most JSON is ASCII and stays unchanged. */
static void escape_from(struct buffer *out, size_t begin)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    size_t at = begin;
    while (at < out->len && (unsigned char)out->ptr[at] < 0x7F)
        at++;
    if (at == out->len)
        return;
    wt__buffer_append(&json, out->ptr + begin, out->len - begin);
    wt__buffer_cut(out, begin);
    wt__shown_json(out, wt__buffer_view(&json));
    out->failed |= json.failed;
}

void wt__shown_string(struct buffer *out, struct str s)
{
    size_t begin = out->len;
    if (wt__str_plain(s) < s.len) {
        wt__buffer_json(out, s);
        escape_from(out, begin);
        return;
    }
    wt__buffer_char(out, '"');
    wt__buffer_str(out, s);
    wt__buffer_char(out, '"');
}

void wt__shown_value(struct buffer *out, const json_t *value)
{
    size_t begin = out->len;
    wt__json_write(out, value);
    escape_from(out, begin);
}
