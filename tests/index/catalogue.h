/* catalogue.h: generates tools for the index tests. Words are drawn by Zipf's law from a small vocabulary, so that
 * there are common and rare terms and equal scores. */
#ifndef WT_TESTS_INDEX_CATALOGUE_H
#define WT_TESTS_INDEX_CATALOGUE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "index/lexical.h"

enum { WORDS = 3000, FIELDS = 3, FIELD_TERMS_MAX = 24 };

static char words[WORDS][8];

/* Creates the words. The index of a word is its rank in frequency: word 0 is the most common. */
static inline void make_words(void)
{
    for (unsigned i = 0; i < WORDS; i++)
        snprintf(words[i], sizeof words[i], "w%u", i);
}

static inline struct str zipf_word(struct rng *rng)
{
    unsigned rank = (unsigned)exp(wt__rng_unit(rng) * log(WORDS)) - 1;
    return wt__str(words[rank % WORDS]);
}

static const struct lexical_settings test_settings = {
    .k1 = 1.2F, .field_count = FIELDS, .fields = {{2.0F, 0.5F, true}, {1.0F, 0.0F, false}, {1.0F, 0.75F, false}}};

struct row_text {
    struct str terms[FIELDS][FIELD_TERMS_MAX];
    struct lexical_text fields[FIELDS];
};

/* Creates row `row` of the catalogue with this seed. Every 50th row has no terms. */
static inline void make_row(struct row_text *text, uint64_t seed, uint32_t row)
{
    static const size_t most[FIELDS] = {4, 2, FIELD_TERMS_MAX};
    struct rng rng;
    wt__rng_seed(&rng, seed * 1000003 + row);
    for (size_t f = 0; f < FIELDS; f++) {
        size_t count = row % 50 == 49 ? 0 : wt__rng_below(&rng, most[f] + 1);
        for (size_t i = 0; i < count; i++)
            text->terms[f][i] = zipf_word(&rng);
        text->fields[f] = (struct lexical_text){text->terms[f], count};
    }
}

/* Returns the finished block of rows 0 .. rows-1, to be freed with free(); NULL on failure. */
static inline void *make_block_by(const struct lexical_settings *settings, uint64_t seed, uint32_t rows, size_t *len)
{
    struct lexical_builder *builder = NULL;
    struct row_text text;
    void *block = NULL;
    int rc = wt__lexical_builder_new(&builder, settings, NULL);
    for (uint32_t row = 0; rc == 0 && row < rows; row++) {
        make_row(&text, seed, row);
        rc = wt__lexical_builder_add(builder, text.fields, NULL);
    }
    if (rc == 0)
        wt__lexical_builder_finish(builder, &block, len, NULL);
    wt__lexical_builder_free(builder);
    return block;
}

static inline void *make_block(uint64_t seed, uint32_t rows, size_t *len)
{
    return make_block_by(&test_settings, seed, rows, len);
}

#endif
