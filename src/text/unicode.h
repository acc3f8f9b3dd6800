/* unicode.h: text as code points, safe on any bytes: what is not UTF-8 reads as U+FFFD.
 *
 * Resynchronisation: a broken sequence counts as one U+FFFD and ends before the first byte that cannot continue it
 * (the "maximal subpart" practice of the Unicode standard, section 3.9), so that no valid character after it is
 * lost. Overlong forms, surrogates and values above U+10FFFF are broken. */
#ifndef WT_TEXT_UNICODE_H
#define WT_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/str.h"

enum {
    UNICODE_REPLACEMENT = 0xFFFD,
    UNICODE_MAX_LOWER = 2,     /* code points that one becomes in lower case */
    UNICODE_MAX_DECOMPOSED = 4 /* code points that one becomes in NFD */
};

/* The code point at *at, which must be before end; moves *at past it. */
uint32_t wt__utf8_next(const char **at, const char *end);

/* Writes a code point (a surrogate or one too large as U+FFFD); returns its bytes, 1 to 4. */
size_t wt__utf8_put(uint32_t c, char out[4]);

bool wt__utf8_valid(struct str s);

/* Appends s, each broken sequence as U+FFFD. */
void wt__utf8_append(struct buffer *out, struct str s);

/* What a code point is to someone who looks for words. */
enum unicode_kind {
    UNICODE_OTHER, /* blanks, punctuation, symbols, controls, unassigned */
    UNICODE_LETTER,
    UNICODE_UPPER, /* a letter in upper or title case */
    UNICODE_DIGIT, /* any number */
    UNICODE_MARK   /* combining: belongs to the character before it */
};
enum unicode_kind wt__unicode_kind(uint32_t c);

/* Whether a letter or a number is anywhere in s. */
bool wt__has_word(struct str s);

/* Each writes what c becomes, itself at the least, and returns how many code points that is. Without context: a
 * final sigma is a sigma. */
unsigned wt__unicode_lower(uint32_t c, uint32_t out[UNICODE_MAX_LOWER]);
unsigned wt__unicode_decompose(uint32_t c, uint32_t out[UNICODE_MAX_DECOMPOSED]);

/* White_Space, as Unicode defines it. */
bool wt__unicode_blank(uint32_t c);

/* Whether nobody sees it, or it moves what one sees: controls, format characters (turning text round, joining, tags),
 * line and paragraph separators, surrogates (Cc, Cf, Zl, Zp, Cs), and all else that is Default_Ignorable_Code_Point. */
bool wt__unicode_unseen(uint32_t c);

/* The end of start .. end - 1 without the blanks there. */
const char *wt__unicode_trim_end(const char *start, const char *end);

/* Whether two code points that stand side by side belong to one grapheme cluster. *state: 0 before the first pair. */
bool wt__unicode_joins(uint32_t before, uint32_t c, int32_t *state);

/* Canonical combining class: the order of marks in NFD; 0 for what starts a character. */
unsigned wt__unicode_combining_class(uint32_t c);

/* Composes characters [count] in place (NFC): decomposed and in canonical order. Returns how many remain. */
size_t wt__unicode_compose(uint32_t *characters, size_t count);

#endif
