/* words.h: the words of a request as they are written, for what looks at them one by one. */
#ifndef WT_RETRIEVE_WORDS_H
#define WT_RETRIEVE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Bytes beyond ASCII count as letters: a word of another script is a word. */
static inline bool wt__is_word_byte(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* The next word of text from *at on, which then stands behind it; empty at the end. */
struct str wt__next_word(struct str text, size_t *at);

/* Whether it is a stop word, in any case. */
bool wt__says_nothing(struct str word);

/* "what", "is" (there): a question begins, which asks to be told something. Any case. */
bool wt__asks(struct str word);

#endif
