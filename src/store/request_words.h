/* request_words.h: when two requests are the same, or nearly, by their words alone.
 *
 * The same: the same words in the same order, whatever the case, the blanks and the punctuation. Nearly the same: one
 * says every content word that the other says, and hardly more. A word in place of another is another request ("cancel"
 * for "book", "Oslo" for "Rome"), and so is one with another word that turns it round ("not", "off"). */
#ifndef WT_STORE_REQUEST_WORDS_H
#define WT_STORE_REQUEST_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { REQUEST_WORDS_MAX = 64 }; /* different content words; a request with more is near to none */

struct request_words {
    uint64_t hash;                         /* of all words in order; of the bytes where there are no words */
    unsigned turning;                      /* a bit for each word that turns a request round */
    size_t count;                          /* over REQUEST_WORDS_MAX: there are more */
    uint64_t words[REQUEST_WORDS_MAX + 1]; /* hashes of the content words, ascending, each once */
};

/* Any bytes are text. */
void wt__request_words(struct str request, struct request_words *out);

/* 1: the same. Else the share of the content words of both that both have, where they are nearly the same; or 0. */
float wt__request_likeness(const struct request_words *a, const struct request_words *b);

#endif
