/* soft_words.c: cosines of the words of a request and of tools. See soft_words.h. The vector of a word is the sum of
 * the vectors of its tokens. Candidates share words, so each different word is compared once. */
#include "retrieve/soft_words.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "nn/kernels/kernels.h"
#include "retrieve/words.h"
#include "text/tokenizer.h"

enum {
    WORD_TOKENS = 16, /* tokens of a word that are read */
    WORD_BYTES = 64   /* bytes of a word that are read */
};

/* fmaxf is a call, because it must handle NaN. */
static float larger(float a, float b)
{
    return a > b ? a : b;
}

/* ---------------------------------------------------------------- different words */

/* A word of a candidate: its tokens in the index. */
struct token_word {
    const uint16_t *items;
    uint32_t len, hash;
};

/* Hash table of the different words of all candidates. */
struct word_table {
    struct token_word *words; /* [count] */
    uint32_t *slots;          /* [mask + 1] number of a word + 1; 0 if empty */
    size_t mask, count;
};

static int open_word_table(struct word_table *out, size_t words_max, struct arena *arena, wt_error *err)
{
    size_t slots = 64;
    while (slots < 2 * words_max)
        slots *= 2;
    *out = (struct word_table){.words = wt__arena_array(arena, struct token_word, words_max),
                               .slots = wt__arena_array(arena, uint32_t, slots),
                               .mask = slots - 1};
    WT_CHECK_ALLOC(out->words && out->slots, err);
    return 0;
}

/* Returns the number of a word, which is added if it is new. */
static uint32_t number_word(struct word_table *table, const uint16_t *items, uint32_t len)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ items[i]) * UINT32_C(2654435761);
    size_t slot = hash >> 8 & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const struct token_word *word = &table->words[table->slots[slot] - 1];
        if (word->hash == hash && word->len == len && memcmp(word->items, items, len * sizeof *items) == 0)
            return table->slots[slot] - 1;
    }
    table->words[table->count] = (struct token_word){items, len, hash};
    table->slots[slot] = (uint32_t)++table->count;
    return (uint32_t)table->count - 1;
}

/* Appends the number of each word of a row. */
static void number_row(struct word_table *table, struct row_tokens tokens, uint32_t *numbers, uint32_t *total,
                       uint32_t *name_end)
{
    *name_end = *total;
    for (size_t i = 0; i < tokens.len;) {
        size_t begin = i++;
        if (tokens.items[begin] == ROW_WORDS_BREAK) {
            *name_end = *total;
            continue;
        }
        while (i < tokens.len && tokens.items[i] & ROW_WORDS_CONTINUE)
            i++;
        numbers[(*total)++] = number_word(table, tokens.items + begin, (uint32_t)(i - begin));
    }
}

/* ---------------------------------------------------------------- vectors and rarity */

/* Writes the vector of a word, the sum of those of its tokens. Zeros if the encoder knows none of its tokens. */
static void embed_tokens(const struct packed *encoder, const int32_t *ids, size_t count, float *out)
{
    wt__token_table_sum(&encoder->table, ids, count, encoder->tokenizer.special[TOKENIZER_UNK], out);
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

static void embed_candidate_word(const struct packed *encoder, const struct token_word *word, float *out)
{
    int32_t ids[WORD_TOKENS];
    size_t len = word->len < WORD_TOKENS ? word->len : WORD_TOKENS;
    for (size_t i = 0; i < len; i++)
        ids[i] = word->items[i] & ~ROW_WORDS_CONTINUE;
    embed_tokens(encoder, ids, len, out);
}

static float length_of_vector(const float *vector, size_t dim)
{
    return sqrtf(wt__kernels()->dot_f32(vector, vector, dim));
}

static float inverse(float x)
{
    return x > 0 ? 1 / x : 0;
}

/* Computes the cosines [n] of word w. inverse_lengths: [n] of the request's words. */
static void compare_word(const struct soft_words *soft, const float *inverse_lengths, size_t w, float *cosines)
{
    const float *vector = soft->vectors + w * soft->dim;
    float scale = inverse(length_of_vector(vector, soft->dim));
    wt__kernels()->dots_f32(vector, soft->requested, soft->word_count, soft->dim, cosines);
    for (size_t i = 0; i < soft->word_count; i++)
        cosines[i] *= scale * inverse_lengths[i];
}

/* Returns the place of the candidate's first word in `numbers`. */
static size_t words_begin(const struct soft_words *soft, size_t c)
{
    return c > 0 ? soft->ends[c - 1] : 0;
}

/* Sets the lengths of each candidate's sums of vectors. sum: [dim] scratch. */
static void measure_sums(const struct soft_words *soft, float *sum, float *name_lengths, float *lengths)
{
    size_t dim = soft->dim;
    for (size_t c = 0, at = 0; c < soft->count; c++) {
        memset(sum, 0, dim * sizeof *sum);
        for (; at < soft->ends[c]; at++) {
            const float *vector = soft->vectors + soft->numbers[at] * dim;
            if (at == soft->name_ends[c])
                name_lengths[c] = length_of_vector(sum, dim);
            for (size_t d = 0; d < dim; d++)
                sum[d] += vector[d];
        }
        lengths[c] = length_of_vector(sum, dim);
        if (soft->name_ends[c] == soft->ends[c])
            name_lengths[c] = lengths[c];
    }
}

/* Returns the rarity of a word that `having` of `all` candidates have. */
static float rarity_of(size_t having, size_t all)
{
    return logf((float)(all + 1) / (float)having) / logf((float)(all + 1));
}

/* Adds the candidates order[begin .. end - 1] to the counts of their words. stamps: [W] last candidate of a word, + 1;
 * so that a word that a candidate repeats counts once. */
static void count_soft_candidates(const struct soft_words *soft, const uint32_t *order, size_t begin, size_t end,
                                  uint32_t *stamps, uint32_t *counts)
{
    for (size_t i = begin; i < end; i++)
        for (size_t c = order[i], at = words_begin(soft, c); at < soft->ends[c]; at++) {
            uint32_t w = soft->numbers[at];
            counts[w] += stamps[w] != c + 1;
            stamps[w] = (uint32_t)c + 1;
        }
}

/* Sets the rarity of words among all candidates, [W], and among those of each provider, [total]. */
static int set_rarity(const struct soft_words *soft, const struct candidate_providers *providers, float *rarity,
                      float *own_rarity, struct arena *arena, wt_error *err)
{
    uint32_t *stamps = wt__arena_array(arena, uint32_t, soft->distinct);
    uint32_t *counts = wt__arena_array(arena, uint32_t, soft->distinct);
    WT_CHECK_ALLOC(stamps && counts, err);
    count_soft_candidates(soft, providers->order, 0, soft->count, stamps, counts);
    for (size_t w = 0; w < soft->distinct; w++)
        rarity[w] = rarity_of(counts[w], soft->count);
    memset(counts, 0, soft->distinct * sizeof *counts);
    memset(stamps, 0, soft->distinct * sizeof *stamps);
    for (size_t p = 0, begin = 0; p < providers->count; begin = providers->ends[p++]) {
        size_t end = providers->ends[p];
        count_soft_candidates(soft, providers->order, begin, end, stamps, counts);
        for (size_t i = begin; i < end; i++)
            for (size_t c = providers->order[i], at = words_begin(soft, c); at < soft->ends[c]; at++)
                own_rarity[at] = rarity_of(counts[soft->numbers[at]], end - begin);
        for (size_t i = begin; i < end; i++)
            for (size_t c = providers->order[i], at = words_begin(soft, c); at < soft->ends[c]; at++)
                counts[soft->numbers[at]] = 0;
    }
    return 0;
}

int wt__soft_words_compare(struct soft_words *out, const struct packed *encoder, const struct soft_word *words,
                           size_t word_count, const struct row_words *index, const uint32_t *rows, size_t count,
                           const struct candidate_providers *providers, struct arena *arena, wt_error *err)
{
    size_t dim = encoder->table.dim, most = 0, n = word_count;
    struct word_table table;
    for (size_t c = 0; c < count; c++)
        most += wt__row_words(index, rows[c]).len;
    WT_TRY(open_word_table(&table, most, arena, err));
    uint32_t *ends = wt__arena_array(arena, uint32_t, count), *name_ends = wt__arena_array(arena, uint32_t, count);
    uint32_t *numbers = wt__arena_array(arena, uint32_t, most), total = 0;
    WT_CHECK_ALLOC(ends && name_ends && numbers, err);
    for (size_t c = 0; c < count; c++) {
        number_row(&table, wt__row_words(index, rows[c]), numbers, &total, &name_ends[c]);
        ends[c] = total;
    }
    float *requested = wt__arena_array(arena, float, n *dim), *inverse_lengths = wt__arena_array(arena, float, n);
    float *cosines = wt__arena_array(arena, float, table.count *n), *sum = wt__arena_array(arena, float, dim);
    float *vectors = wt__arena_alloc(arena, (table.count * dim + 1) * sizeof *vectors, 64);
    float *rarity = wt__arena_array(arena, float, table.count), *own_rarity = wt__arena_array(arena, float, total);
    float *name_lengths = wt__arena_array(arena, float, count), *lengths = wt__arena_array(arena, float, count);
    float *best = wt__arena_array(arena, float, table.count), *dots = wt__arena_array(arena, float, table.count);
    WT_CHECK_ALLOC(requested && inverse_lengths && cosines && sum && vectors && rarity && own_rarity && name_lengths &&
                       lengths && best && dots,
                   err);
    *out = (struct soft_words){.word_count = n,
                               .count = count,
                               .dim = dim,
                               .words = words,
                               .requested = requested,
                               .distinct = table.count,
                               .cosines = cosines,
                               .vectors = vectors,
                               .rarity = rarity,
                               .sum = sum,
                               .best = best,
                               .dots = dots,
                               .numbers = numbers,
                               .own_rarity = own_rarity,
                               .ends = ends,
                               .name_ends = name_ends,
                               .name_lengths = name_lengths,
                               .lengths = lengths};
    for (size_t i = 0; i < n; i++) {
        embed_word(encoder, words[i].text, requested + i * dim);
        inverse_lengths[i] = inverse(length_of_vector(requested + i * dim, dim));
    }
    for (size_t w = 0; w < table.count; w++) {
        embed_candidate_word(encoder, &table.words[w], vectors + w * dim);
        compare_word(out, inverse_lengths, w, cosines + w * n);
    }
    measure_sums(out, sum, name_lengths, lengths);
    return set_rarity(out, providers, rarity, own_rarity, arena, err);
}

/* ---------------------------------------------------------------- matches */

/* Sets the best cosine of each word with a word of the text, and the dot product of its vector with the sum of theirs.
 * Returns the length of this sum. sum: [dim] scratch. */
static float compare_text(const struct soft_words *soft, size_t from, size_t to, float *sum)
{
    size_t n = soft->word_count, dim = soft->dim;
    memset(sum, 0, dim * sizeof *sum);
    for (size_t i = from; i < to; i++)
        for (size_t d = 0; d < dim; d++)
            sum[d] += soft->requested[i * dim + d];
    wt__kernels()->dots_f32(sum, soft->vectors, soft->distinct, dim, soft->dots);
    for (size_t w = 0; w < soft->distinct; w++) {
        soft->best[w] = -1;
        for (size_t i = from; i < to; i++)
            soft->best[w] = larger(soft->best[w], soft->cosines[w * n + i]);
    }
    return length_of_vector(sum, dim);
}

/* Sums over the words of one part of a candidate. */
struct part_sums {
    float best[SOFT_WORDS_MAX]; /* best cosine of each word of the text */
    float cosines, least, dots;
    float rarity, own_rarity, rare, own; /* rare, own: of rarity times best cosine */
    size_t count;
};

/* Computes the sums over the words numbers[begin .. end - 1] for the words from .. to - 1 of the request. */
static void sum_part(const struct soft_words *soft, size_t begin, size_t end, size_t from, size_t to,
                     struct part_sums *out)
{
    *out = (struct part_sums){.least = 1, .count = end - begin};
    for (size_t at = begin; at < end; at++) {
        uint32_t w = soft->numbers[at];
        const float *cosines = soft->cosines + w * soft->word_count;
        float best = soft->best[w], rarity = soft->rarity[w], own = soft->own_rarity[at];
        for (size_t i = from; i < to; i++)
            out->best[i] = larger(out->best[i], cosines[i]);
        out->cosines += best;
        out->least = best < out->least ? best : out->least;
        out->dots += soft->dots[w];
        out->rarity += rarity;
        out->own_rarity += own;
        out->rare += rarity * best;
        out->own += own * best;
    }
}

/* Sets the means over the words of the text. */
static void match_text_words(const struct soft_words *soft, size_t from, size_t to, const struct part_sums *name,
                             const struct part_sums *sentence, struct soft_match *out)
{
    float all = 0;
    for (size_t i = from; i < to; i++) {
        float idf = soft->words[i].idf, any = larger(name->best[i], sentence->best[i]);
        all += idf;
        out->name += idf * name->best[i];
        out->sentence += idf * sentence->best[i];
        out->any += idf * any;
        out->cubed += idf * any * any * any;
        out->hits += any > SOFT_HIT ? idf : 0;
    }
    float scale = inverse(all);
    out->name *= scale;
    out->sentence *= scale;
    out->any *= scale;
    out->cubed *= scale;
    out->hits *= scale;
}

/* Returns the match of candidate c. length: that of the sum of the vectors of the text's words. */
static struct soft_match match_candidate(const struct soft_words *soft, size_t c, size_t from, size_t to, float length)
{
    struct part_sums name, sentence;
    sum_part(soft, words_begin(soft, c), soft->name_ends[c], from, to, &name);
    sum_part(soft, soft->name_ends[c], soft->ends[c], from, to, &sentence);
    if (from == to || name.count + sentence.count == 0)
        return (struct soft_match){0};
    struct soft_match out = {
        .name_mean = name.count > 0 ? name.cosines / (float)name.count : 0,
        .name_min = name.count > 0 ? name.least : 0,
        .sentence_mean = sentence.count > 0 ? sentence.cosines / (float)sentence.count : 0,
        .rare_name = name.rare * inverse(name.rarity),
        .rare_sentence = sentence.rare * inverse(sentence.rarity),
        .own_name = name.own * inverse(name.own_rarity),
        .own_sentence = sentence.own * inverse(sentence.own_rarity),
        .rare_name_excess = name.rare - name.rarity,
        .rare_sentence_excess = sentence.rare - sentence.rarity,
        .own_name_excess = name.own - name.own_rarity,
        .own_sentence_excess = sentence.own - sentence.own_rarity,
        .name_cosine = name.dots * inverse(length * soft->name_lengths[c]),
        .cosine = (name.dots + sentence.dots) * inverse(length * soft->lengths[c]),
    };
    match_text_words(soft, from, to, &name, &sentence, &out);
    return out;
}

void wt__soft_match(const struct soft_words *soft, struct str text, struct soft_match *matches)
{
    size_t from = 0, to = soft->word_count;
    while (from < to && soft->words[from].text.ptr < text.ptr)
        from++;
    while (to > from && soft->words[to - 1].text.ptr >= text.ptr + text.len)
        to--;
    float length = compare_text(soft, from, to, soft->sum);
    for (size_t c = 0; c < soft->count; c++)
        matches[c] = match_candidate(soft, c, from, to, length);
}

void wt__soft_match_raise(struct soft_match *best, const struct soft_match *match)
{
    float *to = (float *)best;
    const float *from = (const float *)match;
    for (size_t i = 0; i < sizeof *best / sizeof *to; i++)
        to[i] = larger(to[i], from[i]);
}
