/* characters.h: what grammars of ASCII ask of a character; no locale has a say. */
#ifndef WT_SCHEMA_CHARACTERS_H
#define WT_SCHEMA_CHARACTERS_H

#include <stdbool.h>

static inline bool wt__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool wt__is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* 0 to 15; -1 for what is no hexadecimal digit. */
static inline int wt__hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
