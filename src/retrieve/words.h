/* words.h: the words of a request as written: splitting, stop words, and verbs with their kinds of action. */
#ifndef WT_RETRIEVE_WORDS_H
#define WT_RETRIEVE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* True for letters and digits. Bytes beyond ASCII count as letters, so words of other scripts stay whole. */
static inline bool wt__is_word_byte(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* Returns a capital of ASCII in lower case, and any other byte as it is. */
static inline char wt__lower_ascii(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* Returns the next word of text from *at on, and moves *at behind it. Empty at the end. */
struct str wt__next_word(struct str text, size_t *at);

/* True if the bytes of part are among those of whole: the same memory, not only equal text. */
static inline bool wt__is_part_of(struct str part, struct str whole)
{
    uintptr_t begin = (uintptr_t)part.ptr, from = (uintptr_t)whole.ptr;
    return begin >= from && begin + part.len <= from + whole.len;
}

/* Finds the next sentence from *at on, and moves *at behind it. A sentence ends at a full stop, question or exclamation
 * mark before a blank, or at the line end. False at the end of the text. */
bool wt__next_sentence(struct str text, size_t *at, struct str *out);

/* Looks up a word of at most WORD_LISTED_MAX bytes in a list that has a blank before and after each word. */
enum { WORD_LISTED_MAX = 30 };
bool wt__is_listed(const char *word, const char *list);

/* Copies a word in lower case. A longer word is cut to WORD_LISTED_MAX bytes. */
void wt__lower_word(struct str word, char out[WORD_LISTED_MAX + 1]);

/* True for a stop word, in any case. */
bool wt__is_stopword_any_case(struct str word);

/* Returns the length of a straight or typographic apostrophe at `at`, or 0. at: at most text.len. */
size_t wt__apostrophe(struct str text, size_t at);

/* True for a word that looks like an English plural, in any case: "invoices", but not "status" or "address". */
bool wt__is_plural(struct str word);

/* Kinds of actions as bits, because some verbs have two: "close" may update or delete. */
enum action { ACTION_READ = 1, ACTION_CREATE = 2, ACTION_UPDATE = 4, ACTION_DELETE = 8 };

struct verb {
    unsigned actions; /* 0 if the word is not a known verb */
    bool noun;        /* also common as a noun: "list", "comment" */
};

/* Looks up a verb in its base form ("create", "unlock"), in any case. "re-run" is two words. */
struct verb wt__verb(struct str word);

#endif
