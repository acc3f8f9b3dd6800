/* wording.h: splits a text into lower-case words, and matches patterns of words.
 *
 * A pattern is a list of words separated by blanks:
 *   a|b   a or b
 *   a|b?  a or b, optional
 *   *     0 to PATTERN_GAP words
 *   .     end of a sentence
 * Without ".", a match lies within one sentence. The characters . ! ? ; : brackets and line ends become the word ".".
 * Apostrophes of any form are part of a word. */
#ifndef WT_AUDIT_WORDING_H
#define WT_AUDIT_WORDING_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    PATTERN_GAP = 3,      /* maximum words matched by "*" */
    WORDING_MAX = 4000,   /* maximum words of a text; the rest is ignored */
    WORDING_WORD_MAX = 64 /* maximum bytes of a word; the rest is cut off */
};

struct text_word {
    struct str text;   /* lower case, in the wording's arena; "." at the end of a sentence */
    size_t start, end; /* byte offsets in the text: start .. end - 1 */
};

/* Initialise with zeros. */
struct wording {
    struct text_word *words; /* [count] */
    size_t count, capacity;
    size_t marks; /* number of punctuation characters and brackets */
    struct arena arena;
};

/* Splits a text, replacing the previous one. Accepts any bytes. Errors: WT_ENOMEM. */
int wt__wording_read(struct wording *wording, struct str text, wt_error *err);
void wt__wording_dispose(struct wording *wording);

/* Returns the index of the first match at or after `at`, and the index after its last word in *end; count if none. */
size_t wt__wording_find(const struct wording *wording, const char *pattern, size_t at, size_t *end);

/* Returns the sentence that contains the bytes start .. end - 1 of the text. */
struct str wt__wording_sentence(struct str text, size_t start, size_t end);

#endif
