/* analyser.h: splits text into terms for BM25, and hashes names. Tool names, descriptions and requests are split in the
 * same way. "userRecord", "user_record" and "the records of users" all yield the terms "user" and "record".
 *
 * A run is an unbroken sequence of letters, digits and combining marks. A run is split into parts where the case
 * changes (the rules are in analyser.c):
 *
 *   parseHTTPResponse     parse http response
 *   Top5News              top5 news
 *   md5, ec2, 3D, APIs    one part each
 *
 * Each part that is not a stop word yields a term: its stem (Snowball English) in lower case without accents. Two
 * adjacent parts of a run also yield a joined form: the stem of both together. A joined form is kept even if its parts
 * are stop words. So "YouTube" is found as "youtube". Each ideograph is a part, so ideographs yield single characters
 * and pairs.
 *
 * Parts are truncated to ANALYSER_MAX_TERM bytes. Joined forms over ANALYSER_MAX_TERM bytes are dropped. Any bytes are
 * accepted, and invalid UTF-8 ends a run. */
#ifndef WT_TEXT_ANALYSER_H
#define WT_TEXT_ANALYSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

enum { ANALYSER_MAX_TERM = 64 }; /* maximum bytes of a term */

/* Source of a term: bytes start .. end - 1 of the text. */
struct token_source {
    size_t start, end;
};

/* The terms of texts. A zeroed struct is an empty list. */
struct token_list {
    struct str *terms;            /* [len] stems; valid until the list is reset or disposed of */
    struct token_source *sources; /* [len] place of each term in its text */
    size_t len;
    size_t term_capacity, source_capacity;
    struct arena bytes; /* memory of the terms */
};
void wt__token_list_reset(struct token_list *list); /* empties the list and keeps its memory */
void wt__token_list_dispose(struct token_list *list);

/* A stemmer with a cache of words. Use one per thread, for any number of texts. */
struct analyser;
int wt__analyser_open(struct analyser **out, wt_error *err);
void wt__analyser_close(struct analyser *analyser); /* NULL is a no-op */

/* Appends the terms of `text` to `out`, with repetitions. A joined form follows the term of its second part. Returns 0
 * or WT_ENOMEM. */
int wt__analyser_run(struct analyser *analyser, struct str text, struct token_list *out);

/* A part of a text: bytes start .. end - 1. */
struct word_part {
    size_t start, end;
    bool joined; /* true if in the same run as the previous part */
};
/* Advances *part to the next part, or to the first part if part->end is 0. Returns false at the end. Accepts any
 * bytes. */
bool wt__analyser_next_part(struct str text, struct word_part *part);

/* Writes a letter or digit as UTF-8, in lower case and without accents. Returns the number of bytes; 0 for a combining
 * accent. */
size_t wt__analyser_fold(uint32_t c, char bytes[4]);

/* Appends the parts of text unchanged, separated by blanks: a name as a person would write it. */
void wt__analyser_spell_out(struct str text, struct buffer *out);

/* True if the word does not help to identify a tool. word: lower case, not stemmed. */
bool wt__is_stopword(struct str word);

/* Hashes of names, independent of spelling. "create_issue", "createIssue", "Create Issue" and "CREATE-ISSUE" have the
 * same hash. Only letters and digits are hashed, in lower case and without accents, so no rule for word boundaries is
 * needed.
 *
 * A text can be hashed in pieces: adding "create" and then " issue" gives the same state as adding "create issue". */
enum { NAME_HASH_BITS = 40 }; /* bits of a final hash */

#define NAME_HASH_EMPTY UINT64_C(0xcbf29ce484222325) /* state before the first byte */

/* Adds the letters and digits of text to the state. Accepts any bytes. */
uint64_t wt__name_hash_text(uint64_t state, struct str text);

/* Adds one byte of any value to the state, such as a separator between names. */
static inline uint64_t wt__name_hash_byte(uint64_t state, unsigned char byte)
{
    return (state ^ byte) * UINT64_C(0x100000001b3); /* FNV-1a */
}

/* Returns the hash of a text in its exact spelling. Differs from every hash that ignores spelling. */
uint64_t wt__name_hash_written(struct str text);

/* Returns the final hash of a state, NAME_HASH_BITS bits. */
uint64_t wt__name_hash_end(uint64_t state);

#endif
