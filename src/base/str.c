/* str.c: see str.h. */
#include "base/str.h"

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

struct str wt__str_head(struct str text, size_t most)
{
    if (text.len <= most)
        return text;
    size_t cut = most;
    while (cut > most / 2 && text.ptr[cut] != ' ')
        cut--;
    if (cut == most / 2)
        for (cut = most; cut > 0 && (text.ptr[cut] & 0xC0) == 0x80; cut--)
            ;
    return (struct str){text.ptr, cut};
}
