/* header.c: see header.h. */
#include "mcp/header.h"

#include "base/base64.h"

static bool is_plain_header(struct str text)
{
    if (text.len == 0 || wt__str_starts(text, STR("=?base64?")) || text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    return true;
}

const char *wt__mcp_encode_header(struct arena *arena, struct str text)
{
    struct buffer out = {0};
    if (is_plain_header(text))
        return wt__arena_copy(arena, text);
    wt__buffer_text(&out, "=?base64?");
    wt__base64(&out, text);
    wt__buffer_text(&out, "?=");
    const char *copy = out.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&out));
    wt__buffer_dispose(&out);
    return copy;
}
