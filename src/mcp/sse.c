/* sse.c: see sse.h. Lines end in \n, \r\n or \r; an empty one ends an event. */
#include "mcp/sse.h"

/* The line at *at, which moves behind it; false where none is whole. A \r at the very end may be half of \r\n. */
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

bool wt__sse_next(struct str *text, struct buffer *out)
{
    struct str line, name = STR("data:");
    bool any = false;
    size_t at = 0;
    wt__buffer_clear(out);
    while (take_line(*text, &at, &line)) {
        if (line.len == 0) {
            *text = (struct str){text->ptr + at, text->len - at};
            return true;
        }
        if (!wt__str_starts(line, name))
            continue;
        size_t skip = name.len + (line.len > name.len && line.ptr[name.len] == ' ');
        if (any)
            wt__buffer_char(out, '\n');
        wt__buffer_append(out, line.ptr + skip, line.len - skip);
        any = true;
    }
    return false;
}
