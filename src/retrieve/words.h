/* words.h: splits a request into its words as written. */
#ifndef WT_RETRIEVE_WORDS_H
#define WT_RETRIEVE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* True for letters and digits. Bytes beyond ASCII count as letters, so words of other scripts stay whole. */
static inline bool wt__is_word_byte(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* Returns the next word of text from *at on, and moves *at behind it. Empty at the end. */
struct str wt__next_word(struct str text, size_t *at);

/* True for a stop word, in any case. */
bool wt__says_nothing(struct str word);

/* True for a word that begins a question ("what", "is"), in any case. */
bool wt__asks(struct str word);

#endif
