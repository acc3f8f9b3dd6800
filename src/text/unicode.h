/* unicode.h: decodes text as code points. Safe on any bytes: invalid UTF-8 is read as U+FFFD.
 *
 * Resynchronisation: an invalid sequence is read as one U+FFFD and ends before the first byte that cannot continue it
 * ("maximal subpart" in the Unicode standard, section 3.9), so that no valid character after it is lost. Overlong
 * forms, surrogates and values above U+10FFFF are invalid. */
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

/* Writes a code point as UTF-8; surrogates and values out of range become U+FFFD. Returns the number of bytes, 1 to
 * 4. */
size_t wt__utf8_put(uint32_t c, char out[4]);

bool wt__utf8_valid(struct str s);

/* Returns the number of code points. s must be valid UTF-8. */
size_t wt__utf8_count(struct str s);

/* Appends s with each invalid sequence replaced by U+FFFD. */
void wt__utf8_append(struct buffer *out, struct str s);

/* Kinds of code points for finding words. */
enum unicode_kind {
    UNICODE_OTHER, /* blanks, punctuation, symbols, controls, unassigned */
    UNICODE_LETTER,
    UNICODE_UPPER, /* letter in upper or title case */
    UNICODE_DIGIT, /* any number */
    UNICODE_MARK   /* combining mark: belongs to the character before it */
};
enum unicode_kind wt__unicode_kind(uint32_t c);

/* True if s contains a letter or a number. */
bool wt__has_word(struct str s);

/* Write the mapping of c, at least c itself, and return the number of code points. Context is ignored: a final sigma is
 * mapped to a normal sigma. */
unsigned wt__unicode_lower(uint32_t c, uint32_t out[UNICODE_MAX_LOWER]);
unsigned wt__unicode_decompose(uint32_t c, uint32_t out[UNICODE_MAX_DECOMPOSED]);

/* True for White_Space as defined by Unicode. */
bool wt__unicode_blank(uint32_t c);

/* True for characters that are invisible or affect the display of others: controls, format characters (direction,
 * joiners, tags), line and paragraph separators, surrogates (Cc, Cf, Zl, Zp, Cs), and all other
 * Default_Ignorable_Code_Point. */
bool wt__unicode_unseen(uint32_t c);

/* Returns the end of start .. end - 1 without its trailing blanks. */
const char *wt__unicode_trim_end(const char *start, const char *end);

/* True if two adjacent code points belong to one grapheme cluster. *state: 0 before the first pair. */
bool wt__unicode_joins(uint32_t before, uint32_t c, int32_t *state);

/* Returns the canonical combining class, the order of marks in NFD; 0 for the start of a character. */
unsigned wt__unicode_combining_class(uint32_t c);

/* Composes characters, [count], in place (NFC). They must be decomposed and in canonical order. Returns the new
 * count. */
size_t wt__unicode_compose(uint32_t *characters, size_t count);

/* BERT's classes of code points. */
enum bert_class {
    BERT_LETTER,      /* all others: part of a word */
    BERT_REMOVED,     /* controls, formats, private use, U+FFFD: ignored */
    BERT_SPACE,       /* ends a word */
    BERT_PUNCTUATION, /* a separate word */
    BERT_CJK,         /* ideograph: a separate word in models that split them */
    BERT_MARK         /* combining mark (Mn): removed if accents are stripped, else part of a word */
};

enum bert_class wt__bert_class(uint32_t c);

/* The classes of c < 128. */
extern const unsigned char wt__bert_ascii[128];

#endif
