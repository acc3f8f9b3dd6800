/* soft_words.c: cosines of the words of a request and of tools. See soft_words.h. The vector of a word is the sum of
 * the vectors of its tokens. Most words have one token. Their cosines are kept, because candidates share words. */
#include "retrieve/soft_words.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "nn/kernels/kernels.h"
#include "retrieve/words.h"
#include "text/tokenizer.h"

enum {
    WORD_TOKENS = 16,     /* tokens of a word that are read */
    WORD_BYTES = 64,      /* bytes of a word that are read */
    CACHE_SLOTS = 1 << 12 /* single-token words whose cosines are kept; a power of two */
};

/* fmaxf is a call, because it must handle NaN. */
static float larger(float a, float b)
{
    return a > b ? a : b;
}

struct soft_search {
    const struct packed *encoder;
    size_t dim, n;
    const float *requested; /* [n, dim] unit vectors of the request's n words */
    float *word;            /* [dim] scratch */
    uint16_t *cached;       /* [CACHE_SLOTS] token + 1 of each slot; 0 if empty */
    const float **columns;  /* [CACHE_SLOTS] cosines [n] */
    struct arena *arena;
};

/* Writes the unit vector of a word, or zeros if the encoder knows none of its tokens. */
static void embed_tokens(const struct packed *encoder, const int32_t *ids, size_t count, float *out)
{
    size_t dim = encoder->table.dim;
    wt__token_table_sum(&encoder->table, ids, count, encoder->tokenizer.special[TOKENIZER_UNK], out);
    float square = wt__kernels()->dot_f32(out, out, dim), scale = square > 0 ? 1 / sqrtf(square) : 0;
    for (size_t d = 0; d < dim; d++)
        out[d] *= scale;
}

static void embed_word(const struct packed *encoder, struct str word, float *out)
{
    char lower[WORD_BYTES];
    int32_t ids[WORD_TOKENS];
    size_t len = word.len < sizeof lower ? word.len : sizeof lower;
    for (size_t i = 0; i < len; i++)
        lower[i] = wt__lower_ascii(word.ptr[i]);
    embed_tokens(encoder, ids, wt__tokenizer_pieces(&encoder->tokenizer, (struct str){lower, len}, WORD_TOKENS, ids),
                 out);
}

/* Returns the cosines [n] of a candidate's word with the request's words; NULL if out of memory. */
static const float *compare_word(struct soft_search *search, const int32_t *ids, size_t count)
{
    size_t slot = (size_t)ids[0] * 40503u & (CACHE_SLOTS - 1);
    if (count == 1 && search->cached[slot] == ids[0] + 1)
        return search->columns[slot];
    float *column = wt__arena_array(search->arena, float, search->n);
    if (!column)
        return NULL;
    embed_tokens(search->encoder, ids, count, search->word);
    wt__kernels()->dots_f32(search->word, search->requested, search->n, search->dim, column);
    if (count == 1) {
        search->cached[slot] = (uint16_t)(ids[0] + 1);
        search->columns[slot] = column;
    }
    return column;
}

/* Appends the cosines of each word of a row. Returns -1 if out of memory. */
static int compare_row(struct soft_search *search, struct row_tokens tokens, const float **cosines, uint32_t *total,
                       uint32_t *name_end)
{
    *name_end = *total;
    for (size_t i = 0; i < tokens.len;) {
        int32_t ids[WORD_TOKENS];
        size_t count = 0;
        if (tokens.items[i] == ROW_WORDS_BREAK) {
            *name_end = *total;
            i++;
            continue;
        }
        do {
            if (count < WORD_TOKENS)
                ids[count++] = tokens.items[i] & ~ROW_WORDS_CONTINUE;
            i++;
        } while (i < tokens.len && tokens.items[i] & ROW_WORDS_CONTINUE);
        const float *column = compare_word(search, ids, count);
        if (!column)
            return -1;
        cosines[(*total)++] = column;
    }
    return 0;
}

int wt__soft_words_compare(struct soft_words *out, const struct packed *encoder, const struct soft_word *words,
                           size_t word_count, const struct row_words *index, const uint32_t *rows, size_t count,
                           struct arena *arena, wt_error *err)
{
    size_t dim = encoder->table.dim, most = 0;
    for (size_t c = 0; c < count; c++)
        most += wt__row_words(index, rows[c]).len;
    float *requested = wt__arena_array(arena, float, word_count *dim);
    uint32_t *ends = wt__arena_array(arena, uint32_t, count), *name_ends = wt__arena_array(arena, uint32_t, count);
    const float **cosines = wt__arena_array(arena, const float *, most);
    struct soft_search search = {.encoder = encoder,
                                 .dim = dim,
                                 .n = word_count,
                                 .requested = requested,
                                 .word = wt__arena_array(arena, float, dim),
                                 .cached = wt__arena_array(arena, uint16_t, CACHE_SLOTS),
                                 .columns = wt__arena_array(arena, const float *, CACHE_SLOTS),
                                 .arena = arena};
    WT_CHECK_ALLOC(requested && ends && name_ends && cosines && search.word && search.cached && search.columns, err);
    for (size_t i = 0; i < word_count; i++)
        embed_word(encoder, words[i].text, requested + i * dim);
    uint32_t total = 0;
    for (size_t c = 0; c < count; c++) {
        if (compare_row(&search, wt__row_words(index, rows[c]), cosines, &total, &name_ends[c]) < 0)
            return wt__fail_nomem(err);
        ends[c] = total;
    }
    *out = (struct soft_words){word_count, words, cosines, ends, name_ends};
    return 0;
}

/* Best cosines of one candidate with the words of a text. */
struct best_cosines {
    float name[SOFT_WORDS_MAX], sentence[SOFT_WORDS_MAX]; /* of each word of the text */
};

struct soft_match wt__soft_match(const struct soft_words *soft, struct str text, size_t c)
{
    struct soft_match out = {.name_min = 1};
    struct best_cosines best = {{0}, {0}};
    size_t from = 0, to = soft->word_count, begin = c > 0 ? soft->ends[c - 1] : 0, middle = soft->name_ends[c],
           end = soft->ends[c];
    while (from < to && soft->words[from].text.ptr < text.ptr)
        from++;
    while (to > from && soft->words[to - 1].text.ptr >= text.ptr + text.len)
        to--;
    if (from == to || begin == end)
        return (struct soft_match){0};
    for (size_t w = begin; w < end; w++) {
        const float *cosines = soft->cosines[w];
        float *of_part = w < middle ? best.name : best.sentence, most = -1;
        for (size_t i = from; i < to; i++) {
            most = larger(most, cosines[i]);
            of_part[i] = larger(of_part[i], cosines[i]);
        }
        if (w < middle) {
            out.name_mean += most;
            out.name_min = most < out.name_min ? most : out.name_min;
        } else
            out.sentence_mean += most;
    }
    float all = 0;
    for (size_t i = from; i < to; i++) {
        float idf = soft->words[i].idf, any = larger(best.name[i], best.sentence[i]);
        all += idf;
        out.name += idf * best.name[i];
        out.sentence += idf * best.sentence[i];
        out.any += idf * any;
        out.cubed += idf * any * any * any;
        out.hits += any > SOFT_HIT ? idf : 0;
    }
    float scale = all > 0 ? 1 / all : 0;
    out.name *= scale;
    out.sentence *= scale;
    out.any *= scale;
    out.cubed *= scale;
    out.hits *= scale;
    out.name_mean /= (float)(middle > begin ? middle - begin : 1);
    out.name_min = middle > begin ? out.name_min : 0;
    out.sentence_mean /= (float)(end > middle ? end - middle : 1);
    return out;
}

void wt__soft_match_raise(struct soft_match *best, const struct soft_match *match)
{
    best->name = larger(best->name, match->name);
    best->sentence = larger(best->sentence, match->sentence);
    best->any = larger(best->any, match->any);
    best->cubed = larger(best->cubed, match->cubed);
    best->hits = larger(best->hits, match->hits);
    best->name_mean = larger(best->name_mean, match->name_mean);
    best->name_min = larger(best->name_min, match->name_min);
    best->sentence_mean = larger(best->sentence_mean, match->sentence_mean);
}
