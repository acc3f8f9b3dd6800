/* analyser.h: text as the terms that BM25 counts. A tool's name, its description and a request all go through here, so
 * that "userRecord", "user_record" and "the records of users" meet in the same terms.
 *
 * A run is letters and digits without a break. It falls into parts where its case changes:
 *   parseHTTPResponse -> parse http response     Top5News -> top5 news     md5, ec2, 3D, APIs: one part
 * A part that is no stop word gives its stem (Snowball English, lower case, accents off); two parts that stand together
 * in a run also give the stem of both in one, stop word or not, so that "YouTube" is found as "youtube". An ideograph
 * is a part, so that ideographs give single ones and pairs.
 *
 * A part is cut after ANALYSER_MAX_TERM bytes and what is cut off is not indexed; a joined form that is longer is left
 * out. Any bytes are text: what is not UTF-8 ends a run. */
#ifndef WT_TEXT_ANALYSER_H
#define WT_TEXT_ANALYSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
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

/* Appends the terms of text to out, with repetitions, a joined form behind its second part. 0, or WT_ENOMEM. */
int wt__analyser_run(struct analyser *analyser, struct str text, struct token_list *out);

/* A part of a text: bytes start .. end - 1. */
struct word_part {
    size_t start, end;
    bool joined; /* its run is that of the part before it */
};
/* The part after *part, or the first when part->end is 0; false where there is none. Any bytes are text. */
bool wt__analyser_next_part(struct str text, struct word_part *part);

/* A letter or digit in lower case and without accents, as UTF-8; returns its bytes, 0 for an accent. */
size_t wt__analyser_fold(uint32_t c, char bytes[4]);

/* Appends the parts of text as they are written, with one blank between: a name as a person would write it. */
void wt__analyser_spell_out(struct str text, struct buffer *out);

/* Whether it says nothing about which tool is meant. word: in lower case, not stemmed. */
bool wt__is_stopword(struct str word);

#endif
