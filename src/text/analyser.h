/* analyser.h: text as the terms that BM25 counts. A tool's name, its description and a request all go through here, so
 * that "getUserById", "get_user_by_id" and "getting users by their ids" meet in the same terms.
 *
 * Words are runs of letters and digits, and parts of identifiers:
 *   getUserById -> get user by id     parseHTTPResponse -> parse http response     user_IDs -> user ids
 * in lower case, without the accents of Latin, Greek and Cyrillic letters, stop words left out, stemmed (Snowball
 * English). An ideograph is a word. A word is cut after ANALYSER_MAX_TERM bytes; what is cut off is not indexed.
 * Any bytes are text: what is not UTF-8 parts words. */
#ifndef WT_TEXT_ANALYSER_H
#define WT_TEXT_ANALYSER_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum { ANALYSER_MAX_TERM = 64 };

/* Where a term came from: bytes start .. end - 1 of the text. */
struct token_source {
    size_t start, end;
};

/* All zero is an empty list. */
struct token_list {
    struct str *terms;            /* [len] stems; their bytes live until the list's reset or dispose */
    struct token_source *sources; /* [len] */
    size_t len;
    size_t term_capacity, source_capacity;
    struct arena bytes;
};
void wt__token_list_reset(struct token_list *list); /* empties it and keeps its memory */
void wt__token_list_dispose(struct token_list *list);

/* The stemmer and a cache of words that it has seen: one a thread, for any number of texts. */
struct analyser;
int wt__analyser_open(struct analyser **out, wt_error *err);
void wt__analyser_close(struct analyser *analyser); /* NULL is a no-op */

/* Appends the terms of text to out, in order and with repetitions. 0, or WT_ENOMEM. */
int wt__analyser_run(struct analyser *analyser, struct str text, struct token_list *out);

#endif
