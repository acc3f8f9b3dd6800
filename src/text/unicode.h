/* unicode.h: decodes UTF-8 and looks up properties of code points. Accepts any bytes.
 *
 * An invalid sequence is read as one U+FFFD. The sequence ends before the first byte that cannot continue it ("maximal
 * subpart" in the Unicode standard, section 3.9), so no valid character is lost. Overlong forms, surrogates and values
 * above U+10FFFF are invalid. */
#ifndef WT_TEXT_UNICODE_H
#define WT_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/str.h"

enum {
    UNICODE_REPLACEMENT = 0xFFFD,
    UNICODE_MAX_LOWER = 2,     /* maximum code points of a lower-case mapping */
    UNICODE_MAX_DECOMPOSED = 4 /* maximum code points of an NFD mapping */
};

/* Returns the code point at *at, which must be before end, and moves *at past it. */
uint32_t wt__utf8_next(const char **at, const char *end);

/* Writes a code point as UTF-8. Surrogates and values above U+10FFFF become U+FFFD. Returns the number of bytes, 1 to
 * 4. */
size_t wt__utf8_put(uint32_t c, char out[4]);

bool wt__utf8_valid(struct str s);

/* Returns the number of code points. s must be valid UTF-8. */
size_t wt__utf8_count(struct str s);

/* Appends s with each invalid sequence replaced by U+FFFD. */
void wt__utf8_append(struct buffer *out, struct str s);

/* Kinds of code points, used to find words. */
enum unicode_kind {
    UNICODE_OTHER, /* blanks, punctuation, symbols, controls, unassigned */
    UNICODE_LETTER,
    UNICODE_UPPER, /* letter in upper or title case */
    UNICODE_DIGIT, /* digit or other number */
    UNICODE_MARK   /* combining mark: belongs to the character before it */
};
enum unicode_kind wt__unicode_kind(uint32_t c);

/* True if s contains a letter or a number. */
bool wt__has_word(struct str s);

/* Write the lower-case form, or the canonical decomposition (NFD), of `c` to `out` and return the number of code
 * points. Without a mapping, the result is `c` itself. Context is ignored, so every capital sigma becomes a normal
 * sigma. */
unsigned wt__unicode_lower(uint32_t c, uint32_t out[UNICODE_MAX_LOWER]);
unsigned wt__unicode_decompose(uint32_t c, uint32_t out[UNICODE_MAX_DECOMPOSED]);

/* True for White_Space as defined by Unicode. */
bool wt__unicode_blank(uint32_t c);

/* True for characters that are invisible or affect the display of others: controls, format characters (direction,
 * joiners, tags), line and paragraph separators, surrogates (Cc, Cf, Zl, Zp, Cs), and all other
 * Default_Ignorable_Code_Point. */
bool wt__unicode_unseen(uint32_t c);

/* Returns the end of the text start .. end - 1 without trailing blanks. */
const char *wt__unicode_trim_end(const char *start, const char *end);

/* True if the adjacent code points `before` and `c` belong to one grapheme cluster. *state: kept between calls; 0
 * before the first pair. */
bool wt__unicode_joins(uint32_t before, uint32_t c, int32_t *state);

/* Returns the canonical combining class, which orders combining marks in NFD; 0 for other code points. */
unsigned wt__unicode_combining_class(uint32_t c);

/* Composes code points [count] in place (NFC). The code points must be decomposed and in canonical order. Returns the
 * new count. */
size_t wt__unicode_compose(uint32_t *characters, size_t count);

/* Classes of code points in BERT's tokenizer. */
enum bert_class {
    BERT_LETTER,      /* all others: part of a word */
    BERT_REMOVED,     /* controls, formats, private use, U+FFFD: ignored */
    BERT_SPACE,       /* ends a word */
    BERT_PUNCTUATION, /* a separate word */
    BERT_CJK,         /* ideograph: a separate word in models that split them */
    BERT_MARK         /* combining mark (Mn): removed if accents are stripped, else part of a word */
};

enum bert_class wt__bert_class(uint32_t c);

/* The classes of the code points below 128. */
extern const unsigned char wt__bert_ascii[128];

#endif
