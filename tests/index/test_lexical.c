/* Compares stored impacts and damping with their formulas, and the fast search with the plain one. Also tests a builder
 * that continues another one, limits, and damaged bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/catalogue.h"

struct lexical_fixture {
    void *block;
    struct lexical index;
    struct lexical_query query;
};

static void build_fixture_index(struct lexical_fixture *f, uint64_t seed, uint32_t rows)
{
    size_t len = 0;
    wt_error err;
    *f = (struct lexical_fixture){.block = make_block(seed, rows, &len)};
    assert_non_null(f->block);
    assert_int_equal(wt__lexical_view(&f->index, f->block, len, &err), 0);
    assert_int_equal(f->index.rows, rows);
}

static void close_index(struct lexical_fixture *f)
{
    wt__lexical_query_dispose(&f->query);
    free(f->block);
}

static void prepare_fixture_query(struct lexical_fixture *f, const struct lexical_term *terms, size_t count)
{
    assert_int_equal(wt__lexical_prepare(&f->query, &f->index, terms, count, NULL), 0);
}

/* Computes the BM25F score of a term in a row from the terms of all rows, in doubles. */
static double reference_score(uint64_t seed, uint32_t rows, uint32_t row, struct str term)
{
    struct row_text text;
    double sum[FIELDS] = {0}, filled[FIELDS] = {0}, tf[FIELDS] = {0}, length[FIELDS] = {0}, df = 0;
    for (uint32_t r = 0; r < rows; r++) {
        size_t in_row = 0;
        make_row(&text, seed, r);
        for (size_t f = 0; f < FIELDS; f++) {
            size_t in_field = 0;
            for (size_t i = 0; i < text.fields[f].count; i++)
                in_field += wt__str_equal(text.terms[f][i], term);
            sum[f] += (double)text.fields[f].count;
            filled[f] += text.fields[f].count > 0;
            in_row += in_field;
            if (r == row) {
                tf[f] = (double)in_field;
                length[f] = (double)text.fields[f].count;
            }
        }
        df += in_row > 0;
    }
    double mixed = 0;
    for (size_t f = 0; f < FIELDS; f++) {
        const struct lexical_field *field = &test_settings.fields[f];
        if (tf[f] > 0)
            mixed += field->weight * tf[f] / (1 - field->b + field->b * length[f] / (sum[f] / filled[f]));
    }
    double idf = log(1 + (rows - df + 0.5) / (df + 0.5));
    return idf * mixed * (test_settings.k1 + 1) / (test_settings.k1 + mixed);
}

static void impacts_match_the_formula(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    struct lexical_fixture f;
    build_fixture_index(&f, 7, ROWS);
    for (unsigned w = 0; w < 40; w++) {
        struct str word = wt__str(words[w * w]);
        const struct lexical_term term = {word, 1};
        prepare_fixture_query(&f, &term, 1);
        for (uint32_t row = 0; row < ROWS; row += 7) {
            float score = -1, share = -1;
            wt__lexical_score_rows(&f.index, &f.query, &row, 1, &score);
            wt__lexical_explain(&f.query, 0, 1, row, &share);
            assert_true(fabs(score - reference_score(7, ROWS, row, word)) < 2e-4);
            assert_true(score == share);
        }
    }
    close_index(&f);
}

struct reference_stuffing {
    double sum, length;   /* sum and Euclidean length of the impacts of a row, from reference_score */
    double named, thrice; /* named: words in the first field and another one; thrice: words in three or more fields */
};

static bool field_has_term(const struct lexical_text *field, struct str term, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wt__str_equal(field->terms[i], term))
            return true;
    return false;
}

/* schema_share: share that words of the last field alone count in sum and length. */
static void reference_row(uint64_t seed, uint32_t rows, uint32_t row, double schema_share,
                          struct reference_stuffing *out)
{
    struct row_text text;
    double squares = 0;
    make_row(&text, seed, row);
    *out = (struct reference_stuffing){0};
    for (size_t f = 0; f < FIELDS; f++)
        for (size_t i = 0; i < text.fields[f].count; i++) {
            struct str term = text.terms[f][i];
            size_t fields = 0;
            bool first = !field_has_term(&text.fields[f], term, i);
            for (size_t g = 0; g < FIELDS; g++) {
                bool has = field_has_term(&text.fields[g], term, text.fields[g].count);
                first &= g >= f || !has;
                fields += has;
            }
            if (!first)
                continue;
            double impact = reference_score(seed, rows, row, term) * (f == FIELDS - 1 ? schema_share : 1);
            out->sum += impact;
            squares += impact * impact;
            out->named += f == 0 && fields >= 2;
            out->thrice += fields >= 3;
        }
    out->length = sqrt(squares);
}

static double damped_by(double own, double most, double mean, double least, double power)
{
    double bound = fmax(most * mean, least);
    return most > 0 && own > bound ? pow(bound / own, power) : 1;
}

/* Damps the rows as the formulas do, with this schema_share for the last field. */
static void compare_damping(float schema_share)
{
    enum { ROWS = 60, SEED = 1 };
    static const struct {
        float most_sum, most_length, most_named, most_thrice, least, power;
    } cases[] = {{0, 0, 0, 0, 0, 3},       {1.5F, 0, 0, 0, 0, 2}, {0, 1.2F, 0, 0, 0, 1},
                 {1.5F, 1.2F, 0, 0, 0, 6}, {0, 0, 1, 0, 0, 2},    {0, 0, 1, 0, 1.5F, 2},
                 {0, 0, 0, .5F, 0, 1},     {1, 1, 1, 1, 1, 3},    {1e-5F, 1e-5F, 1e-5F, 1e-5F, 0, 9}};
    struct reference_stuffing own[ROWS], mean = {0};
    for (uint32_t row = 0; row < ROWS; row++) {
        reference_row(SEED, ROWS, row, schema_share, &own[row]);
        mean.sum += own[row].sum / ROWS;
        mean.length += own[row].length / ROWS;
        mean.named += own[row].named / ROWS;
        mean.thrice += own[row].thrice / ROWS;
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct lexical_settings settings = test_settings;
        struct lexical index;
        wt_error err;
        size_t len = 0, damped = 0;
        double power = cases[c].power;
        settings.most_sum = cases[c].most_sum;
        settings.most_length = cases[c].most_length;
        settings.most_named = cases[c].most_named;
        settings.most_thrice = cases[c].most_thrice;
        settings.repeated_least = cases[c].least;
        settings.damping_power = cases[c].power;
        settings.schema_share = schema_share;
        settings.fields[FIELDS - 1].schema = true;
        unsigned char *block = make_block_by(&settings, SEED, ROWS, &len);
        assert_non_null(block);
        assert_int_equal(wt__lexical_view(&index, block, len, &err), 0);
        for (uint32_t row = 0; row < ROWS; row++) {
            double expected = damped_by(own[row].sum, cases[c].most_sum, mean.sum, 0, power) *
                              damped_by(own[row].length, cases[c].most_length, mean.length, 0, power) *
                              damped_by(own[row].named, cases[c].most_named, mean.named, cases[c].least, power) *
                              damped_by(own[row].thrice, cases[c].most_thrice, mean.thrice, cases[c].least, power);
            expected = expected < 1e-6 ? 1e-6 : expected;
            damped += expected < 1;
            assert_float_equal(wt__lexical_damping(&index, row), expected, 1e-5 * expected);
        }
        if (c == 0 ? damped > 0 : damped == 0)
            fail_msg("case %zu damps %zu rows", c, damped);
        static const float hostile[] = {0, -1, 2, NAN, INFINITY};
        for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
            ((float *)(uintptr_t)index.damping)[i] = hostile[i];
            assert_true(wt__lexical_damping(&index, (uint32_t)i) == 1);
        }
        assert_true(wt__lexical_damping(&index, ROWS) == 1);
        free(block);
    }
}

static void damps_rows_with_many_words(void **state)
{
    (void)state;
    compare_damping(1);
    compare_damping(0.25f);
    compare_damping(0);
}

static void assert_same_hits(const struct scored *a, size_t a_len, const struct scored *b, size_t b_len)
{
    assert_int_equal(a_len, b_len);
    for (size_t i = 0; i < a_len; i++) {
        assert_int_equal(a[i].row, b[i].row);
        assert_true(a[i].score == b[i].score);
        assert_true(i == 0 || wt__scored_better(a[i - 1], a[i]));
    }
}

static void fast_search_equals_plain_search(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 31, 64, 127, 4097, 16383, 16384, 16385, 40000};
    static const size_t wanted[] = {1, 10, 100, 1000, 50000};
    struct rng rng;
    wt__rng_seed(&rng, 11);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct lexical_fixture f;
        build_fixture_index(&f, 100 + s, sizes[s]);
        uint32_t *sums = calloc(sizes[s], sizeof *sums);
        uint64_t *allowed = calloc(sizes[s] / 64 + 1, sizeof *allowed);
        struct scored *quick = calloc(50000, sizeof *quick), *plain = calloc(50000, sizeof *plain);
        float *scores = calloc(50000, sizeof *scores);
        uint32_t *rows = calloc(50000, sizeof *rows);
        assert_true(sums && allowed && quick && plain && scores && rows);
        for (unsigned round = 0; round < 30; round++) {
            struct lexical_term terms[24];
            size_t count = 1 + wt__rng_below(&rng, 24);
            for (size_t i = 0; i < count; i++)
                terms[i] = (struct lexical_term){zipf_word(&rng), (float)(0.25 * (double)wt__rng_below(&rng, 9))};
            for (uint32_t word = 0; word <= sizes[s] / 64; word++)
                allowed[word] = word % 5 == 3 ? 0 : wt__rng_next(&rng) & wt__rng_next(&rng);
            prepare_fixture_query(&f, terms, count);
            for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
                const uint64_t *filter = round % 2 ? allowed : NULL;
                size_t a = wt__lexical_search(&f.index, &f.query, wanted[w], filter, quick);
                size_t b = wt__lexical_search_plain(&f.index, &f.query, wanted[w], filter, sums, plain);
                assert_same_hits(quick, a, plain, b);
                for (uint32_t row = 0; row < sizes[s]; row++)
                    rows[row] = row;
                wt__lexical_score_rows(&f.index, &f.query, rows, sizes[s], scores);
                for (uint32_t row = 0; row < sizes[s]; row++)
                    assert_true(scores[row] == (float)sums[row] * f.query.unit);
            }
        }
        free(sums);
        free(allowed);
        free(quick);
        free(plain);
        free(scores);
        free(rows);
        close_index(&f);
    }
}

static void equal_scores_are_in_row_order(void **state)
{
    (void)state;
    enum { ROWS = 9000, K = 5 };
    struct lexical_builder *builder = NULL;
    struct str terms[] = {STR("send"), STR("mail")};
    struct lexical_text fields[FIELDS] = {{terms, 2}, {NULL, 0}, {NULL, 0}};
    assert_int_equal(wt__lexical_builder_new(&builder, &test_settings, NULL), 0);
    for (int row = 0; row < ROWS; row++)
        assert_int_equal(wt__lexical_builder_add(builder, fields, NULL), 0);
    void *block = NULL;
    size_t len = 0;
    assert_int_equal(wt__lexical_builder_finish(builder, &block, &len, NULL), 0);
    wt__lexical_builder_free(builder);
    struct lexical index;
    struct lexical_query query = {0};
    struct scored hits[K];
    assert_int_equal(wt__lexical_view(&index, block, len, NULL), 0);
    const struct lexical_term request[] = {{STR("mail"), 1}, {STR("send"), 1}};
    assert_int_equal(wt__lexical_prepare(&query, &index, request, 2, NULL), 0);
    assert_int_equal(wt__lexical_search(&index, &query, K, NULL, hits), K);
    for (uint32_t i = 0; i < K; i++)
        assert_int_equal(hits[i].row, i);
    assert_int_equal(wt__lexical_df(&index, STR("mail")), ROWS);
    assert_int_equal(wt__lexical_df(&index, STR("post")), 0);
    wt__lexical_query_dispose(&query);
    free(block);
}

static void terms_without_match_or_valid_weight_find_no_rows(void **state)
{
    (void)state;
    const struct lexical_term known = {wt__str(words[0]), 1};
    const struct {
        const char *name;
        struct lexical_term term;
        size_t count;
    } cases[] = {
        {"no terms", known, 0},
        {"a term of no tool", {STR("zebra"), 1}, 1},
        {"empty term", {{NULL, 0}, 1}, 1},
        {"weight 0", {known.text, 0}, 1},
        {"negative weight", {known.text, -1}, 1},
        {"weight NaN", {known.text, NAN}, 1},
        {"infinite weight", {known.text, INFINITY}, 1},
    };
    struct lexical_fixture f;
    struct scored hit;
    float score = 1;
    uint32_t row = 0;
    build_fixture_index(&f, 1, 100);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        prepare_fixture_query(&f, &cases[i].term, cases[i].count);
        if (wt__lexical_search(&f.index, &f.query, 1, NULL, &hit) != 0)
            fail_msg("%s: found a row", cases[i].name);
        wt__lexical_score_rows(&f.index, &f.query, &row, 1, &score);
        assert_true(score == 0);
    }
    prepare_fixture_query(&f, &known, 1);
    assert_int_equal(wt__lexical_search(&f.index, &f.query, 0, NULL, &hit), 0);
    row = 100;
    wt__lexical_score_rows(&f.index, &f.query, &row, 1, &score);
    assert_true(score == 0);
    close_index(&f);

    build_fixture_index(&f, 1, 0);
    prepare_fixture_query(&f, &known, 1);
    assert_int_equal(wt__lexical_search(&f.index, &f.query, 1, NULL, &hit), 0);
    close_index(&f);
}

static void terms_are_numbered_in_order(void **state)
{
    (void)state;
    struct lexical_fixture f;
    build_fixture_index(&f, 3, 500);
    assert_true(f.index.terms > 2);
    assert_int_equal(wt__lexical_lower_bound(&f.index, STR("")), 0);
    assert_int_equal(wt__lexical_lower_bound(&f.index, STR("\xFF")), f.index.terms);
    for (uint32_t i = 0; i < f.index.terms; i++) {
        struct str term = wt__lexical_term(&f.index, i);
        char longer[64];
        assert_true(term.len > 0 && term.len < sizeof longer);
        memcpy(longer, term.ptr, term.len);
        longer[term.len] = '\0';
        assert_true(wt__lexical_df(&f.index, term) > 0);
        assert_int_equal(wt__lexical_lower_bound(&f.index, term), i);
        assert_int_equal(wt__lexical_lower_bound(&f.index, (struct str){longer, term.len + 1}), i + 1);
    }
    close_index(&f);
}

static void adds_weights_of_repeated_terms(void **state)
{
    (void)state;
    struct lexical_fixture f;
    struct str a = wt__str(words[1]), b = wt__str(words[5]);
    const struct lexical_term twice[] = {{a, 1}, {b, 0.5F}, {a, 2}}, once[] = {{b, 0.5F}, {a, 3}};
    struct scored first[10], second[10];
    float shares[3], score;
    build_fixture_index(&f, 3, 5000);
    prepare_fixture_query(&f, twice, 3);
    size_t first_len = wt__lexical_search(&f.index, &f.query, 10, NULL, first);
    wt__lexical_explain(&f.query, 0, 3, first[0].row, shares);
    wt__lexical_score_rows(&f.index, &f.query, &first[0].row, 1, &score);
    assert_true(shares[2] == 0);
    assert_true(fabsf(shares[0] + shares[1] - score) < 1e-5F);
    prepare_fixture_query(&f, once, 2);
    size_t second_len = wt__lexical_search(&f.index, &f.query, 10, NULL, second);
    assert_same_hits(first, first_len, second, second_len);
    close_index(&f);
}

/* In each round, some rows are removed and some change. A builder that copies the unchanged rows makes the same block
 * as a builder that gets all rows. */
static void postings_know_the_fields_of_their_term(void **state)
{
    (void)state;
    enum { ROWS = 300, SEED = 7 };
    struct lexical_fixture f;
    uint32_t rows[ROWS];
    uint8_t masks[ROWS];
    build_fixture_index(&f, SEED, ROWS);
    for (uint32_t row = 0; row < ROWS; row++)
        rows[row] = row;
    for (unsigned w = 0; w < 40; w++) {
        const struct lexical_term terms[] = {{STR("unknown-word"), 1}, {wt__str(words[w * w]), 1}};
        prepare_fixture_query(&f, terms, 2);
        wt__lexical_match_fields(&f.query, 0, rows, ROWS, masks);
        assert_int_equal(masks[0] | masks[ROWS - 1], 0);
        wt__lexical_match_fields(&f.query, 1, rows, ROWS, masks);
        for (uint32_t row = 0; row < ROWS; row++) {
            struct row_text text;
            unsigned expected = 0;
            make_row(&text, SEED, row);
            for (unsigned field = 0; field < FIELDS; field++) {
                struct lexical_text *in = &text.fields[field];
                expected |= (unsigned)field_has_term(in, terms[1].text, in->count) << field;
            }
            assert_int_equal(masks[row], expected);
        }
    }
    close_index(&f);
}

static void rows_know_the_distinct_terms_of_their_fields(void **state)
{
    (void)state;
    enum { ROWS = 300, SEED = 7 };
    struct lexical_fixture f;
    build_fixture_index(&f, SEED, ROWS);
    for (uint32_t row = 0; row < ROWS; row++) {
        struct row_text text;
        make_row(&text, SEED, row);
        for (size_t field = 0; field < FIELDS; field++) {
            unsigned distinct = 0;
            for (size_t i = 0; i < text.fields[field].count; i++)
                distinct += !field_has_term(&text.fields[field], text.terms[field][i], i);
            assert_int_equal(wt__lexical_field_terms(&f.index, row, field), distinct < 255 ? distinct : 255);
        }
    }
    assert_int_equal(wt__lexical_field_terms(&f.index, ROWS, 0), 0);
    assert_int_equal(wt__lexical_field_terms(&f.index, 0, FIELDS), 0);
    close_index(&f);
}

static void continued_builder_makes_the_same_block(void **state)
{
    enum { BEFORE = 400, ROUNDS = 3 };
    (void)state;
    struct lexical_builder *before = NULL, *anew, *follower;
    struct row_text text;
    uint64_t seeds[BEFORE];
    uint32_t of[BEFORE], rows = 0;
    void *block;
    size_t len;
    assert_int_equal(wt__lexical_builder_new(&before, &test_settings, NULL), 0);
    for (; rows < BEFORE; rows++) {
        seeds[rows] = 11;
        of[rows] = rows;
        make_row(&text, 11, rows);
        assert_int_equal(wt__lexical_builder_add(before, text.fields, NULL), 0);
    }
    assert_int_equal(wt__lexical_builder_finish(before, &block, &len, NULL), 0);
    free(block);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint32_t kept = 0;
        void *blocks[2];
        size_t lens[2];
        assert_int_equal(wt__lexical_builder_new(&anew, &test_settings, NULL), 0);
        assert_int_equal(wt__lexical_builder_follow(&follower, before, NULL), 0);
        for (uint32_t row = 0; row < rows; row++) {
            bool goes = (row + round) % 9 == 0, changes = (row + round) % 40 == 1;
            if (goes)
                continue;
            seeds[kept] = changes ? 100 + round : seeds[row];
            of[kept] = of[row];
            make_row(&text, seeds[kept], of[kept]);
            assert_int_equal(wt__lexical_builder_add(anew, text.fields, NULL), 0);
            assert_int_equal(changes ? wt__lexical_builder_add(follower, text.fields, NULL)
                                     : wt__lexical_builder_copy(follower, before, row, NULL),
                             0);
            kept++;
        }
        assert_int_equal(wt__lexical_builder_finish(anew, &blocks[0], &lens[0], NULL), 0);
        assert_int_equal(wt__lexical_builder_finish(follower, &blocks[1], &lens[1], NULL), 0);
        assert_int_equal(lens[0], lens[1]);
        assert_memory_equal(blocks[0], blocks[1], lens[0]);
        free(blocks[0]);
        free(blocks[1]);
        wt__lexical_builder_free(anew);
        wt__lexical_builder_free(before);
        before = follower;
        rows = kept;
    }
    wt__lexical_builder_free(before);
}

static void reports_exceeded_limits(void **state)
{
    (void)state;
    struct lexical_fixture f;
    wt_error err;
    static struct lexical_term many[LEXICAL_MAX_QUERY_TERMS + 1];
    build_fixture_index(&f, 3, 10);
    assert_int_equal(wt__lexical_prepare(&f.query, &f.index, many, LEXICAL_MAX_QUERY_TERMS + 1, &err), WT_ETOOLONG);
    assert_string_equal(err.message, "the request has 32769 terms; at most 32768 are allowed");
    assert_int_equal(wt__lexical_prepare(&f.query, &f.index, many, LEXICAL_MAX_QUERY_TERMS, &err), 0);
    close_index(&f);

    struct lexical_builder *builder = NULL;
    struct lexical_settings wrong = test_settings;
    wrong.fields[1].b = 2;
    assert_int_equal(wt__lexical_builder_new(&builder, &wrong, &err), WT_EINVAL);
    assert_null(builder);
    assert_string_equal(err.message, "BM25 settings out of range");
    wrong = test_settings;
    wrong.most_sum = -1;
    assert_int_equal(wt__lexical_builder_new(&builder, &wrong, &err), WT_EINVAL);
    wrong = test_settings;
    wrong.schema_share = 1.5f;
    assert_int_equal(wt__lexical_builder_new(&builder, &wrong, &err), WT_EINVAL);
    wrong = test_settings;
    wrong.damping_power = 10;
    assert_int_equal(wt__lexical_builder_new(&builder, &wrong, &err), WT_EINVAL);
}

/* A truncated block is rejected. A search of a block with a changed byte returns only rows that exist. */
static void damaged_index_bytes_are_harmless(void **state)
{
    (void)state;
    enum { ROWS = 400, K = 20 };
    size_t len = 0;
    unsigned char *block = make_block(5, ROWS, &len);
    assert_non_null(block);
    struct lexical index;
    struct lexical_query query = {0};
    struct scored hits[K];
    wt_error err;
    for (size_t cut = 0; cut < len; cut += cut < 64 ? 1 : 97)
        assert_int_equal(wt__lexical_view(&index, block, cut, &err), WT_ESTORE);
    const struct lexical_term request[] = {{wt__str(words[0]), 1}, {wt__str(words[1]), 1}, {wt__str(words[40]), 1}};
    for (size_t at = 0; at < len; at += at < 4096 ? 1 : 13) {
        unsigned char was = block[at];
        block[at] = (unsigned char)~was;
        if (wt__lexical_view(&index, block, len, &err) == 0) {
            float scores[K];
            assert_int_equal(wt__lexical_prepare(&query, &index, request, 3, NULL), 0);
            size_t found = wt__lexical_search(&index, &query, K, NULL, hits);
            for (size_t i = 0; i < found; i++) {
                assert_true(hits[i].row < index.rows);
                wt__lexical_score_rows(&index, &query, &hits[i].row, 1, scores);
            }
        }
        block[at] = was;
    }
    wt__lexical_query_dispose(&query);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impacts_match_the_formula),
        cmocka_unit_test(damps_rows_with_many_words),
        cmocka_unit_test(fast_search_equals_plain_search),
        cmocka_unit_test(equal_scores_are_in_row_order),
        cmocka_unit_test(terms_without_match_or_valid_weight_find_no_rows),
        cmocka_unit_test(terms_are_numbered_in_order),
        cmocka_unit_test(adds_weights_of_repeated_terms),
        cmocka_unit_test(postings_know_the_fields_of_their_term),
        cmocka_unit_test(rows_know_the_distinct_terms_of_their_fields),
        cmocka_unit_test(continued_builder_makes_the_same_block),
        cmocka_unit_test(reports_exceeded_limits),
        cmocka_unit_test(damaged_index_bytes_are_harmless),
    };
    make_words();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
