/* characters.h: character sets of RFC 9110 (section 5.6) and RFC 3986 (section 2). No set contains bytes above 127. */
#ifndef WT_HTTP_CHARACTERS_H
#define WT_HTTP_CHARACTERS_H

#include "base/str.h"

/* True for C0 controls, including tab, and DEL. */
static inline bool wt__http_is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* True for a tchar. */
static inline bool wt__http_is_token_char(char c)
{
    return wt__is_letter(c) || wt__is_digit(c) || (c && strchr("-_.!#$%&'*+^`|~", c));
}

static inline bool wt__http_is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!wt__http_is_token_char(s.ptr[i]))
            return false;
    return s.len > 0;
}

/* True for characters that a path or query may contain unencoded: pchar except '%', and '/' and '?'. */
static inline bool wt__http_is_target_char(char c)
{
    return wt__is_letter(c) || wt__is_digit(c) || (c && strchr("/-._~?&=!$'()*+,;:@", c));
}

#endif
