#include "base/str.h"

#include <stdint.h>
#include <strings.h>

bool wt__str_line(const char **text, struct str *line)
{
    *text += strspn(*text, "\n");
    *line = (struct str){*text, strcspn(*text, "\n")};
    *text += line->len;
    return line->len > 0;
}

bool wt__str_among(struct str text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == text.len && strncasecmp(words[i], text.ptr, text.len) == 0)
            return true;
    return false;
}

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

bool wt__str_is_one_of(struct str s, struct str alternatives)
{
    for (size_t at = 0; at <= alternatives.len;) {
        const char *bar = memchr(alternatives.ptr + at, '|', alternatives.len - at);
        size_t end = bar ? (size_t)(bar - alternatives.ptr) : alternatives.len;
        if (wt__str_equal(s, (struct str){alternatives.ptr + at, end - at}))
            return true;
        at = end + 1;
    }
    return false;
}

struct str wt__str_cut(struct str text, size_t most)
{
    if (text.len <= most)
        return text;
    while (most > 0 && ((unsigned char)text.ptr[most] & 0xC0) == 0x80)
        most--;
    return (struct str){text.ptr, most};
}

struct str wt__str_head(struct str text, size_t most)
{
    if (text.len <= most)
        return text;
    size_t cut = most;
    while (cut > most / 2 && text.ptr[cut] != ' ')
        cut--;
    return cut > most / 2 ? (struct str){text.ptr, cut} : wt__str_cut(text, most);
}

/* Marks special bytes among eight: sets the highest bit of each byte that is below 0x20, above 0x7E, a quotation mark
 * or a backslash (zero-byte test by borrow: Warren, Hacker's Delight, 6-1). A borrow may also mark the byte above a
 * marked byte. The caller therefore rechecks byte by byte. */
static uint64_t mark_special_bytes(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    uint64_t quote = bytes ^ ones * '"', slash = bytes ^ ones * '\\', delete = bytes ^ ones * 0x7F;
    return (bytes | (bytes - ones * 0x20) | (quote - ones) | (slash - ones) | (delete - ones)) & high;
}

size_t wt__str_plain(struct str s)
{
    size_t at = 0;
    for (uint64_t eight; s.len - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, s.ptr + at, sizeof eight);
        if (mark_special_bytes(eight))
            break;
    }
    while (at < s.len && s.ptr[at] >= 0x20 && s.ptr[at] < 0x7F && s.ptr[at] != '"' && s.ptr[at] != '\\')
        at++;
    return at;
}

size_t wt__utf8_length(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t want = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
                  : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                  : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                                : 0;
    if (want == 0 || want > len)
        return 0;
    for (size_t i = 1; i < want; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF0 && s[1] < 0x90) ||
        (s[0] == 0xF4 && s[1] >= 0x90))
        return 0;
    return want;
}

/* Returns the length of the character at text[at]; 1 if it is not valid UTF-8. */
static size_t character_length(struct str text, size_t at)
{
    size_t end = at + 1;
    while ((unsigned char)text.ptr[at] >= 0xc0 && end < text.len && ((unsigned char)text.ptr[end] & 0xc0) == 0x80)
        end++;
    return end - at;
}

/* On a mismatch, the last '*' matches one more character. Earlier '*' never need to be retried. */
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
