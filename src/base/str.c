/* str.c: see str.h. */
#include "base/str.h"

struct str wt__str_trim(struct str s)
{
    while (s.len && wt__is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len && wt__is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}
