/* wording.h: a text as words in lower case, and patterns of words.
 *
 * A pattern is words with blanks between them. "a|b" is either, "a|b?" either or none; "*" any up to PATTERN_GAP
 * words, or none. A match lies
 * within one sentence: '.', '!', '?', ';', ':', a bracket and the end of a line are the word "." in a text, which no
 * pattern has. Apostrophes belong to words, whichever way they are written. */
#ifndef WT_AUDIT_WORDING_H
#define WT_AUDIT_WORDING_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    PATTERN_GAP = 3,      /* words that a "*" stands for at most */
    WORDING_MAX = 4000,   /* words of a text that are read */
    WORDING_WORD_MAX = 64 /* bytes of a word that are read */
};

struct word {
    struct str text;   /* lower case, in the wording's arena; "." between sentences */
    size_t start, end; /* where it stands in the text: bytes start .. end - 1 */
};

/* All zero is empty. */
struct wording {
    struct word *words; /* [count] */
    size_t count, capacity;
    size_t marks; /* punctuation and brackets that were passed */
    struct arena arena;
};

/* Reads another text. Any bytes are text. 0, or WT_ENOMEM. */
int wt__wording_read(struct wording *wording, struct str text, wt_error *err);
void wt__wording_dispose(struct wording *wording);

/* The first word from `at` on where the pattern matches, and the word behind it in *end; count where it does not. */
size_t wt__wording_find(const struct wording *wording, const char *pattern, size_t at, size_t *end);

/* The sentence of a text that has bytes start .. end - 1 in it. */
struct str wt__wording_sentence(struct str text, size_t start, size_t end);

#endif
