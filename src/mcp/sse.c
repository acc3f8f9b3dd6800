/* sse.c: see sse.h. Lines end in \n, \r\n or \r; an empty one ends an event. */
#include "mcp/sse.h"

enum { RETRY_DIGITS = 9 };

/* Reads the line at *at and moves *at past it. False if the line is incomplete. If \r is the last byte
 * and half of \r\n, the \n yields an empty event later. */
static bool take_line(struct str text, size_t *at, struct str *line)
{
    size_t end = *at;
    while (end < text.len && text.ptr[end] != '\n' && text.ptr[end] != '\r')
        end++;
    if (end == text.len)
        return false;
    *line = (struct str){text.ptr + *at, end - *at};
    *at = end + 1 + (text.ptr[end] == '\r' && end + 1 < text.len && text.ptr[end + 1] == '\n');
    return true;
}

/* True if the line has the field. Skips one space after the colon. A line without a colon is a field name. */
static bool has_name(struct str line, struct str name, struct str *value)
{
    if (!wt__str_starts(line, name) || (line.len > name.len && line.ptr[name.len] != ':'))
        return false;
    size_t skip = name.len + (line.len > name.len);
    skip += line.len > skip && line.ptr[skip] == ' ';
    *value = (struct str){line.ptr + skip, line.len - skip};
    return true;
}

/* Parses a retry field; ignores an invalid one. */
static void take_retry(struct str value, int64_t *out)
{
    int64_t number = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9' || i >= RETRY_DIGITS)
            return;
        number = number * 10 + (value.ptr[i] - '0');
    }
    *out = value.len > 0 ? number : *out;
}

bool wt__sse_next(struct str *text, struct sse_event *out)
{
    struct str line, value;
    bool any = false;
    size_t at = 0;
    wt__buffer_clear(&out->data);
    out->type = out->id = (struct str){"", 0};
    out->has_id = false;
    out->retry_ms = -1;
    while (take_line(*text, &at, &line)) {
        if (line.len == 0) {
            *text = (struct str){text->ptr + at, text->len - at};
            return true;
        }
        if (has_name(line, STR("data"), &value)) {
            if (any)
                wt__buffer_char(&out->data, '\n');
            wt__buffer_str(&out->data, value);
            any = true;
        } else if (has_name(line, STR("id"), &value)) {
            out->id = value;
            out->has_id = true;
        } else if (has_name(line, STR("event"), &value)) {
            out->type = value;
        } else if (has_name(line, STR("retry"), &value)) {
            take_retry(value, &out->retry_ms);
        }
    }
    return false;
}

bool wt__sse_may_end(struct str text, size_t from)
{
    for (size_t at = from > 0 ? from : 1; at < text.len; at++) {
        bool ended = text.ptr[at - 1] == '\n' || text.ptr[at - 1] == '\r';
        if (ended && (text.ptr[at] == '\r' || (text.ptr[at] == '\n' && text.ptr[at - 1] == '\n')))
            return true;
    }
    return false;
}
