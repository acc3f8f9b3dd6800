/* row_words.c: checks, and builds the words of rows. See row_words.h. */
#include "index/row_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int wt__row_words_check(const struct row_words *words, wt_error *err)
{
    for (size_t row = 0; row < words->rows; row++) {
        size_t begin = row > 0 ? words->ends[row - 1] : 0, end = words->ends[row];
        if (begin > end || end > words->count || end - begin > ROW_WORDS_MAX)
            return wt__fail(err, WT_ESTORE, "damaged: the words of row %zu are out of order", row);
    }
    return 0;
}

int wt__row_words_add(struct row_words_builder *builder, struct row_tokens tokens, wt_error *err)
{
    if (wt__grow((void **)&builder->ends, &builder->row_capacity, builder->rows + 1, sizeof *builder->ends) < 0 ||
        wt__grow((void **)&builder->tokens, &builder->token_capacity, builder->count + tokens.len,
                 sizeof *builder->tokens) < 0)
        return wt__fail_nomem(err);
    if (tokens.len > 0)
        memcpy(builder->tokens + builder->count, tokens.items, tokens.len * sizeof *tokens.items);
    builder->count += tokens.len;
    builder->ends[builder->rows++] = (uint32_t)builder->count;
    return 0;
}

struct row_words wt__row_words_view(const struct row_words_builder *builder)
{
    return (struct row_words){builder->ends, builder->tokens, builder->rows, builder->count};
}

void wt__row_words_dispose(struct row_words_builder *builder)
{
    free(builder->ends);
    free(builder->tokens);
    *builder = (struct row_words_builder){.rows = 0};
}
