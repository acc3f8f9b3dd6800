/* glob.c: when something does not fit, the last '*' takes one character more; those before it need never. */
#include "base/glob.h"

/* Bytes of the character at text[at]: one that is no UTF-8 has one. */
static size_t character(struct str text, size_t at)
{
    size_t end = at + 1;
    while ((unsigned char)text.ptr[at] >= 0xc0 && end < text.len && ((unsigned char)text.ptr[end] & 0xc0) == 0x80)
        end++;
    return end - at;
}

bool wt__glob_matches(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = pattern.len, taken = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.len && pattern.ptr[p] == '?') {
            p++;
            t += character(text, t);
        } else if (p < pattern.len && pattern.ptr[p] == text.ptr[t]) {
            p++;
            t++;
        } else if (star < pattern.len) {
            p = star + 1;
            t = taken += character(text, taken);
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}
