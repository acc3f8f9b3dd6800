/* str.c: see str.h. */
#include "base/str.h"

static bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str wt__str_trim(struct str s)
{
    while (s.len && blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len && blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}
