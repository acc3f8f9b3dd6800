/* row_words.h: the words of each tool as tokens of the built-in encoder, so that a search can compare words by meaning.
 *
 * The words of a row are its name, a ROW_WORDS_BREAK, and the beginning of its description. A word is one token or
 * more; all but its first have the bit ROW_WORDS_CONTINUE. */
#ifndef WT_INDEX_ROW_WORDS_H
#define WT_INDEX_ROW_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    ROW_WORDS_CONTINUE = 0x8000, /* bit of a token that continues a word */
    ROW_WORDS_BREAK = 0x7FFF,    /* separates the name from the description */
    ROW_WORDS_MAX = 64           /* tokens of a row, with the break */
};

/* A zeroed struct has no words. */
struct row_words {
    const uint32_t *ends;   /* [rows] end of each row's tokens, ascending */
    const uint16_t *tokens; /* [count] */
    size_t rows, count;
};

/* Tokens of one row. */
struct row_tokens {
    const uint16_t *items; /* [len] */
    size_t len;
};

/* Returns the tokens of a row; empty for an unknown row or a damaged entry. */
static inline struct row_tokens wt__row_words(const struct row_words *index, uint32_t row)
{
    if (row >= index->rows)
        return (struct row_tokens){NULL, 0};
    size_t begin = row > 0 ? index->ends[row - 1] : 0, end = index->ends[row];
    if (begin > end || end > index->count || end - begin > ROW_WORDS_MAX)
        return (struct row_tokens){NULL, 0};
    return (struct row_tokens){index->tokens + begin, end - begin};
}

/* Fails with WT_ESTORE if an end is out of order or a row has too many tokens. */
int wt__row_words_check(const struct row_words *words, wt_error *err);

/* Words of the rows of a new snapshot. Zero-initialise. */
struct row_words_builder {
    uint32_t *ends;
    uint16_t *tokens;
    size_t rows, count, row_capacity, token_capacity;
};

/* Appends a row with tokens [len], at most ROW_WORDS_MAX. Returns 0 or WT_ENOMEM. */
int wt__row_words_add(struct row_words_builder *builder, struct row_tokens tokens, wt_error *err);
/* Returns a view of the rows, valid until the next change. */
struct row_words wt__row_words_view(const struct row_words_builder *builder);
void wt__row_words_dispose(struct row_words_builder *builder);

#endif
