/* Tests that the search of int8 vectors equals a scan of fp32 vectors, bit for bit, on easy and difficult data, and
 * that the search of signs misses hardly any vector. Also tests the reports of damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "index/vectors.h"

enum { SEED = 77 };

struct vectors_fixture {
    struct vectors vectors;
    unsigned char *chunks;
    uint32_t *row_of_slot, *slot_of_row;
    struct vectors_scratch scratch;
};

static double random_gaussian(struct rng *rng)
{
    double u = 1 - wt__rng_unit(rng), v = wt__rng_unit(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void normalise_vector(float *x, size_t dim)
{
    double sum = 0;
    for (size_t i = 0; i < dim; i++)
        sum += (double)x[i] * x[i];
    for (size_t i = 0; i < dim; i++)
        x[i] = (float)(x[i] / sqrt(sum));
}

typedef void (*make_vector)(struct rng *rng, uint32_t number, float *x, size_t dim);

static void make_random(struct rng *rng, uint32_t number, float *x, size_t dim)
{
    (void)number;
    for (size_t i = 0; i < dim; i++)
        x[i] = (float)random_gaussian(rng);
    normalise_vector(x, dim);
}

/* Vectors close to one of eight centres: many scores differ by less than the error of int8 values. */
static void make_clustered(struct rng *rng, uint32_t number, float *x, size_t dim)
{
    struct rng centre;
    wt__rng_seed(&centre, number % 8);
    make_random(&centre, 0, x, dim);
    for (size_t i = 0; i < dim; i++)
        x[i] += (float)(random_gaussian(rng) * 1e-3);
    normalise_vector(x, dim);
}

/* Only ten distinct vectors, so that many scores are equal. */
static void make_equal(struct rng *rng, uint32_t number, float *x, size_t dim)
{
    struct rng shared;
    (void)rng;
    wt__rng_seed(&shared, number / 7 % 10);
    make_random(&shared, 0, x, dim);
}

/* Copies of one vector that differ in the last bit of one component. */
static void make_nearly_equal(struct rng *rng, uint32_t number, float *x, size_t dim)
{
    struct rng shared;
    wt__rng_seed(&shared, 1);
    make_random(&shared, 0, x, dim);
    size_t at = wt__rng_below(rng, dim);
    x[at] = nextafterf(x[at], number % 2 ? 2.0F : -2.0F);
}

/* One large component determines the int8 scale. Lengths differ by orders of magnitude. Some vectors are zero. */
static void make_uneven(struct rng *rng, uint32_t number, float *x, size_t dim)
{
    double length = pow(10, (double)(number % 13) - 6);
    for (size_t i = 0; i < dim; i++)
        x[i] = number % 17 == 0 ? 0 : (float)(length * 1e-3 * random_gaussian(rng));
    x[number % dim] += number % 17 == 0 ? 0 : (float)length;
}

/* A fixed vector plus noise. The noise decreases with the number. So vectors with greater numbers usually have better
 * scores for queries close to the fixed vector. */
static void make_ascending(struct rng *rng, uint32_t number, float *x, size_t dim)
{
    struct rng shared;
    wt__rng_seed(&shared, 4242);
    make_random(&shared, 0, x, dim);
    for (size_t i = 0; i < dim; i++)
        x[i] += (float)(random_gaussian(rng) / (10 + (double)number));
    normalise_vector(x, dim);
}

/* Stores vectors in slots in descending order of rows. Every ninth slot is dead. Every eleventh row has no vector. */
static void store_vectors(struct vectors_fixture *f, make_vector make, uint32_t rows, size_t dim)
{
    struct rng rng;
    uint32_t slots = 0, chunk_count = (rows + rows / 8) / VECTOR_CHUNK + 1;
    float *x = calloc(dim, sizeof *x);
    *f = (struct vectors_fixture){.chunks = wt__alloc_aligned(chunk_count, wt__vectors_chunk_bytes(dim)),
                                  .row_of_slot = calloc((size_t)chunk_count * VECTOR_CHUNK, sizeof(uint32_t)),
                                  .slot_of_row = calloc(rows + 1, sizeof(uint32_t))};
    assert_true(x && f->chunks && f->row_of_slot && f->slot_of_row);
    memset(f->chunks, 0, chunk_count * wt__vectors_chunk_bytes(dim));
    wt__rng_seed(&rng, rows + dim);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t row = rows - 1 - i;
        f->slot_of_row[row] = VECTOR_NONE;
        if (row % 11 == 10)
            continue;
        if (slots % 9 == 8)
            f->row_of_slot[slots++] = VECTOR_NONE;
        f->row_of_slot[slots] = row;
        f->slot_of_row[row] = slots++;
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        unsigned char *chunk = f->chunks + slot / VECTOR_CHUNK * wt__vectors_chunk_bytes(dim);
        wt__rng_seed(&rng, SEED + slot);
        make(&rng, f->row_of_slot[slot] == VECTOR_NONE ? slot : f->row_of_slot[slot], x, dim);
        assert_int_equal(wt__vectors_put(chunk, dim, SEED, slot, x, NULL), 0);
    }
    f->vectors = (struct vectors){f->chunks, dim, slots, rows, SEED, f->row_of_slot, f->slot_of_row, false, NULL};
    free(x);
}

static void free_vectors(struct vectors_fixture *f)
{
    wt__vectors_scratch_dispose(&f->scratch);
    free(f->chunks);
    free(f->row_of_slot);
    free(f->slot_of_row);
}

static void compare_searches(struct vectors_fixture *f, const float *query, size_t k, const uint64_t *allowed)
{
    struct scored *quick = calloc(k + 1, sizeof *quick), *plain = calloc(k + 1, sizeof *plain);
    uint32_t *rows = calloc(k + 1, sizeof *rows);
    float *scores = calloc(k + 1, sizeof *scores);
    size_t a = 0, b = 0;
    assert_true(quick && plain && rows && scores);
    assert_int_equal(wt__vectors_search(&f->vectors, &f->scratch, query, 1, k, allowed, quick, &a, NULL), 0);
    assert_int_equal(wt__vectors_search_plain(&f->vectors, &f->scratch, query, k, allowed, plain, &b, NULL), 0);
    assert_int_equal(a, b);
    for (size_t i = 0; i < a; i++) {
        assert_int_equal(quick[i].row, plain[i].row);
        assert_memory_equal(&quick[i].score, &plain[i].score, sizeof(float));
        assert_true(i == 0 || wt__scored_better(quick[i - 1], quick[i]));
        assert_true(!allowed || allowed[quick[i].row / 64] >> quick[i].row % 64 & 1);
        rows[i] = quick[i].row;
    }
    assert_int_equal(wt__vectors_score_rows(&f->vectors, &f->scratch, query, 1, rows, a, &scores, NULL), 0);
    for (size_t i = 0; i < a; i++)
        assert_memory_equal(&quick[i].score, &scores[i], sizeof(float));
    free(quick);
    free(plain);
    free(rows);
    free(scores);
}

static void int8_search_equals_fp32_scan(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        make_vector make;
    } data[] = {
        {"random", make_random},
        {"clustered", make_clustered},
        {"ties", make_equal},
        {"uneven", make_uneven},
        {"differ in the last bit", make_nearly_equal},
        {"ascending", make_ascending},
    };
    static const uint32_t sizes[] = {0, 1, 9, 255, 300, 3000};
    static const size_t dims[] = {1, 3, 64, 100, 384}, wanted[] = {0, 1, 10, 4000};
    struct rng rng;
    wt__rng_seed(&rng, 5);
    for (size_t d = 0; d < sizeof data / sizeof *data; d++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (size_t n = 0; n < sizeof dims / sizeof *dims; n++) {
                struct vectors_fixture f;
                float query[384];
                uint64_t allowed[3000 / 64 + 1];
                store_vectors(&f, data[d].make, sizes[s], dims[n]);
                assert_int_equal(wt__vectors_verify(&f.vectors, NULL), 0);
                for (unsigned round = 0; round < 6; round++) {
                    (round % 2 ? make_random : data[d].make)(&rng, round, query, dims[n]);
                    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
                        allowed[i] = i % 7 ? 0 : wt__rng_next(&rng);
                    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
                        compare_searches(&f, query, wanted[w], round >= 4 ? allowed : NULL);
                }
                free_vectors(&f);
            }
        }
    }
}

/* Places of the k best that a search returned. */
struct place_count {
    size_t same, places;
};

/* Compares the search of signs with the exact search. Ranks may be missing, but the scores of all ranks are exact. */
static void compare_with_signs(struct vectors_fixture *f, const float *query, size_t k, const uint64_t *allowed,
                               struct place_count *agreement)
{
    struct scored *quick = calloc(k, sizeof *quick), *exact = calloc(k, sizeof *exact);
    size_t a, b;
    assert_true(quick && exact);
    f->vectors.reads_signs = true;
    assert_int_equal(wt__vectors_search(&f->vectors, &f->scratch, query, 1, k, allowed, quick, &a, NULL), 0);
    f->vectors.reads_signs = false;
    assert_int_equal(wt__vectors_search(&f->vectors, &f->scratch, query, 1, k, allowed, exact, &b, NULL), 0);
    assert_int_equal(a, b);
    for (size_t i = 0, at = 0; i < b; i++) {
        bool found = at < a && quick[at].row == exact[i].row;
        assert_true(!found || memcmp(&quick[at].score, &exact[i].score, sizeof(float)) == 0);
        assert_true(i == 0 || wt__scored_better(quick[i - 1], quick[i]));
        assert_true(!allowed || allowed[quick[i].row / 64] >> quick[i].row % 64 & 1);
        agreement->same += found;
        at += found;
    }
    agreement->places += b;
    free(quick);
    free(exact);
}

static void search_of_signs_misses_hardly_any_vector(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        make_vector make;
    } data[] = {
        {"random", make_random},
        {"clustered", make_clustered},
        {"ties", make_equal},
        {"uneven", make_uneven},
        {"differ in the last bit", make_nearly_equal},
        {"ascending", make_ascending},
    };
    static const size_t dims[] = {1, 3, 64, 100, 384, 960}, wanted[] = {1, 10, 100};
    enum { ROWS = 3000, QUERIES = 8 };
    struct rng rng;
    wt__rng_seed(&rng, 5);
    for (size_t d = 0; d < sizeof data / sizeof *data; d++)
        for (size_t n = 0; n < sizeof dims / sizeof *dims; n++) {
            struct place_count agreement = {0};
            struct vectors_fixture f;
            float query[960];
            uint64_t allowed[ROWS / 64 + 1];
            store_vectors(&f, data[d].make, ROWS, dims[n]);
            f.vectors.reads_signs = true;
            assert_int_equal(wt__vectors_verify(&f.vectors, NULL), 0);
            for (unsigned round = 0; round < QUERIES; round++) {
                (round % 2 ? make_random : data[d].make)(&rng, round, query, dims[n]);
                for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
                    allowed[i] = i % 7 ? 0 : wt__rng_next(&rng);
                for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
                    compare_with_signs(&f, query, wanted[w], round >= 6 ? allowed : NULL, &agreement);
            }
            if (agreement.same * 200 < agreement.places * 199)
                fail_msg("%s, %zu dimensions: %zu of %zu places", data[d].name, dims[n], agreement.same,
                         agreement.places);
            free_vectors(&f);
        }
}

static void batched_queries_match_single_queries(void **state)
{
    (void)state;
    enum { DIM = 100, ROWS = 2000, QUERIES = VECTOR_MAX_QUERIES };
    struct vectors_fixture f;
    struct rng rng;
    wt_error err;
    static float queries[(QUERIES + 1) * DIM];
    store_vectors(&f, make_clustered, ROWS, DIM);
    wt__rng_seed(&rng, 1);
    for (uint32_t i = 0; i < QUERIES; i++)
        (i % 2 ? make_random : make_clustered)(&rng, i, queries + i * DIM, DIM);
    for (size_t k = 1; k < 300; k = k * 3 + 1) {
        struct scored together[QUERIES * 300], alone[300];
        size_t counts[QUERIES], count;
        f.vectors.reads_signs = true;
        assert_int_equal(wt__vectors_search(&f.vectors, &f.scratch, queries, QUERIES, k, NULL, together, counts, NULL),
                         0);
        for (size_t i = 0; i < QUERIES; i++) {
            assert_int_equal(
                wt__vectors_search(&f.vectors, &f.scratch, queries + i * DIM, 1, k, NULL, alone, &count, NULL), 0);
            assert_int_equal(counts[i], count);
            assert_memory_equal(together + i * k, alone, count * sizeof *alone);
        }
        f.vectors.reads_signs = false;
        assert_int_equal(wt__vectors_search(&f.vectors, &f.scratch, queries, QUERIES, k, NULL, together, counts, NULL),
                         0);
        for (size_t i = 0; i < QUERIES; i++) {
            assert_int_equal(
                wt__vectors_search_plain(&f.vectors, &f.scratch, queries + i * DIM, k, NULL, alone, &count, NULL), 0);
            assert_int_equal(counts[i], count);
            assert_memory_equal(together + i * k, alone, count * sizeof *alone);
        }
    }
    struct scored hit[QUERIES + 1];
    size_t counts[QUERIES + 1];
    assert_int_equal(wt__vectors_search(&f.vectors, &f.scratch, queries, QUERIES + 1, 1, NULL, hit, counts, &err),
                     WT_EINVAL);
    assert_string_equal(err.message, "17 vectors in one search; at most 16 are allowed");
    assert_int_equal(wt__vectors_search(&f.vectors, &f.scratch, queries, 0, 1, NULL, hit, counts, &err), 0);
    free_vectors(&f);
}

static void scores_are_inner_products(void **state)
{
    (void)state;
    enum { DIM = 100, ROWS = 400 };
    struct vectors_fixture f;
    struct rng rng;
    float queries[2][DIM], score[2];
    float *const scores[] = {&score[0], &score[1]};
    store_vectors(&f, make_random, ROWS, DIM);
    wt__rng_seed(&rng, 1);
    for (size_t q = 0; q < 2; q++)
        make_random(&rng, 0, queries[q], DIM);
    for (uint32_t row = 0; row < ROWS; row++) {
        const float *vector = wt__vectors_of_row(&f.vectors, row, NULL);
        assert_int_equal(vector == NULL, row % 11 == 10);
        assert_int_equal(wt__vectors_score_rows(&f.vectors, &f.scratch, queries[0], 2, &row, 1, scores, NULL), 0);
        for (size_t q = 0; q < 2; q++) {
            double sum = 0;
            for (size_t i = 0; vector && i < DIM; i++)
                sum += (double)vector[i] * queries[q][i];
            assert_true(fabs(sum - score[q]) < 1e-6);
        }
    }
    uint32_t beyond = ROWS;
    assert_null(wt__vectors_of_row(&f.vectors, beyond, NULL));
    assert_int_equal(wt__vectors_score_rows(&f.vectors, &f.scratch, queries[0], 2, &beyond, 1, scores, NULL), 0);
    assert_true(score[0] == 0 && score[1] == 0);
    free_vectors(&f);
}

static void rejects_values_that_are_not_finite(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38F};
    enum { DIM = 64 };
    struct vectors_fixture f;
    wt_error err;
    float x[DIM] = {0};
    struct scored hit;
    size_t count;
    store_vectors(&f, make_random, 10, DIM);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        x[DIM - 1] = bad[i];
        assert_int_equal(wt__vectors_put(f.chunks, DIM, SEED, 0, x, &err), WT_EMODEL);
        assert_string_equal(err.message, "a vector is not finite");
        assert_int_equal(wt__vectors_search(&f.vectors, &f.scratch, x, 1, 1, NULL, &hit, &count, &err), WT_EINVAL);
        assert_string_equal(err.message, "the request's vector is not finite");
        assert_int_equal(count, 0);
    }
    free_vectors(&f);
}

static void reports_damaged_vectors(void **state)
{
    (void)state;
    enum { DIM = 100, ROWS = VECTOR_CHUNK + 88, SLOT = VECTOR_CHUNK + 5 };
    char told[40];
    struct vectors_fixture f;
    wt_error err;
    struct vector_part parts[VECTOR_PARTS];
    struct scored hits[ROWS];
    float query[DIM];
    struct rng rng;
    size_t count;
    snprintf(told, sizeof told, "vector %d is damaged", SLOT);
    store_vectors(&f, make_random, ROWS, DIM);
    wt__rng_seed(&rng, 1);
    make_random(&rng, 0, query, DIM);
    wt__vectors_layout(DIM, parts);
    f.vectors.reads_signs = true;
    for (size_t p = 0; p < VECTOR_PARTS; p++) {
        size_t at = parts[p].lanes > 1 ? 5 : 5 * parts[p].size; /* first byte of slot 5 of the second chunk */
        unsigned char *byte = f.chunks + wt__vectors_chunk_bytes(DIM) + parts[p].offset + at;
        *byte ^= 0x10;
        bool lazy = p >= VECTOR_PARTS - 2; /* the fp32 vector and its checksum are verified on reading */
        assert_int_equal(wt__vectors_verify(&f.vectors, &err), lazy ? 0 : WT_ESTORE);
        if (!lazy) {
            assert_string_equal(err.message, told);
        } else {
            assert_int_equal(wt__vectors_search(&f.vectors, &f.scratch, query, 1, ROWS, NULL, hits, &count, &err),
                             WT_ESTORE);
            assert_string_equal(err.message, told);
            assert_null(wt__vectors_of_row(&f.vectors, f.row_of_slot[SLOT], NULL));
        }
        *byte ^= 0x10;
    }
    f.vectors.seed++;
    assert_int_equal(wt__vectors_verify(&f.vectors, &err), WT_ESTORE);
    free_vectors(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(int8_search_equals_fp32_scan),
        cmocka_unit_test(search_of_signs_misses_hardly_any_vector),
        cmocka_unit_test(batched_queries_match_single_queries),
        cmocka_unit_test(scores_are_inner_products),
        cmocka_unit_test(rejects_values_that_are_not_finite),
        cmocka_unit_test(reports_damaged_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
