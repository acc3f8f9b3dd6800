/* glob.c: on a mismatch, the last '*' matches one more character. Earlier ones never need to be retried. */
#include "base/glob.h"

/* Returns the length of the character at text[at]; 1 if it is not valid UTF-8. */
static size_t character_length(struct str text, size_t at)
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
            t += character_length(text, t);
        } else if (p < pattern.len && pattern.ptr[p] == text.ptr[t]) {
            p++;
            t++;
        } else if (star < pattern.len) {
            p = star + 1;
            t = taken += character_length(text, taken);
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}
