/* request_words.h: compares requests by their words.
 *
 * Two requests are the same if they have the same words in the same order, ignoring case, blanks and punctuation. They
 * are nearly the same if one has every content word of the other and few more. A replaced word makes another request
 * ("cancel" for "book", "Oslo" for "Rome"), and so does an added word that reverses it ("not", "off"). */
#ifndef WT_STORE_REQUEST_WORDS_H
#define WT_STORE_REQUEST_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { REQUEST_WORDS_MAX = 64 }; /* distinct content words; a longer request is not near to any */

struct request_words {
    uint64_t hash;                         /* hash of all words in order, or of the bytes if there are no words */
    unsigned turning;                      /* bit set of the words that reverse a request */
    size_t count;                          /* over REQUEST_WORDS_MAX if there are more */
    uint64_t words[REQUEST_WORDS_MAX + 1]; /* hashes of the content words, ascending and unique */
};

/* Splits a request into words. Accepts any bytes. */
void wt__request_words(struct str request, struct request_words *out);

/* Returns 1 if the requests are the same. If they are nearly the same, returns common content words / all content
 * words. Otherwise returns 0. */
float wt__request_likeness(const struct request_words *a, const struct request_words *b);

#endif
