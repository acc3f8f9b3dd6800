/* characters.h: the sets of characters that RFC 9110 (section 5.6) and RFC 3986 (section 2) name. Bytes above 127 are
 * in none of them. */
#ifndef WT_HTTP_CHARACTERS_H
#define WT_HTTP_CHARACTERS_H

#include "base/str.h"

static inline bool wt__http_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool wt__http_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* C0 and DEL; a tab is one of them. */
static inline bool wt__http_is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* The value of a hexadecimal digit, or -1. */
static inline int wt__http_hex(char c)
{
    return wt__http_is_digit(c)   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* tchar */
static inline bool wt__http_is_token_char(char c)
{
    return wt__http_is_letter(c) || wt__http_is_digit(c) || (c && strchr("-_.!#$%&'*+^`|~", c));
}

static inline bool wt__http_is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!wt__http_is_token_char(s.ptr[i]))
            return false;
    return s.len > 0;
}

/* What may stand in a path or a query as it is: pchar but for '%', '/', and '?'. */
static inline bool wt__http_is_target_char(char c)
{
    return wt__http_is_letter(c) || wt__http_is_digit(c) || (c && strchr("/-._~?&=!$'()*+,;:@", c));
}

#endif
