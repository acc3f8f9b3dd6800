/* Tests PCA on known principal directions. Tests that t-SNE separates two clusters, is deterministic, handles
 * degenerate input and can be cancelled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "eval/report.h"

enum { COUNT = 120, DIM = 10 };

static void pca_finds_the_longest_directions(void **state)
{
    (void)state;
    float points[COUNT * DIM];
    double out[2 * COUNT];
    struct rng rng;
    wt__rng_seed(&rng, 3);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t d = 0; d < DIM; d++) /* largest variance in dimension 4, then in 7; the mean is not 0 */
            points[i * DIM + d] = (float)(5 + (wt__rng_unit(&rng) - .5) * (d == 4 ? 20 : d == 7 ? 6 : .1));
    assert_int_equal(wt__pca(out, points, COUNT, DIM, 1, NULL), 0);
    double middle[2] = {0}, sign[2] = {out[0] * (points[4] - 5) > 0 ? 1 : -1, out[1] * (points[7] - 5) > 0 ? 1 : -1};
    for (size_t i = 0; i < COUNT; i++) {
        middle[0] += points[i * DIM + 4] / (double)COUNT;
        middle[1] += points[i * DIM + 7] / (double)COUNT;
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(fabs(sign[0] * out[2 * i] - (points[i * DIM + 4] - middle[0])) < .8);
        assert_true(fabs(sign[1] * out[2 * i + 1] - (points[i * DIM + 7] - middle[1])) < .8);
    }
}

/* Draws points alternately from two clusters around opposite corners of a cube. */
static void draw_clusters(float *points, size_t count)
{
    struct rng rng;
    wt__rng_seed(&rng, 9);
    for (size_t i = 0; i < count * DIM; i++)
        points[i] = (float)(wt__rng_unit(&rng) - .5) + (i / DIM % 2 ? 2.f : -2.f);
}

static void clusters_stay_separate(void **state)
{
    (void)state;
    float points[COUNT * DIM];
    double out[2 * COUNT], again[2 * COUNT];
    draw_clusters(points, COUNT);
    assert_int_equal(wt__tsne(out, points, COUNT, DIM, 1, NULL, NULL), 0);
    assert_int_equal(wt__tsne(again, points, COUNT, DIM, 1, NULL, NULL), 0);
    assert_memory_equal(out, again, sizeof out);
    for (size_t i = 0; i < COUNT; i++) {
        size_t nearest = i ? 0 : 1;
        assert_true(isfinite(out[2 * i]) && isfinite(out[2 * i + 1]));
        for (size_t j = 0; j < COUNT; j++)
            if (j != i && hypot(out[2 * i] - out[2 * j], out[2 * i + 1] - out[2 * j + 1]) <
                              hypot(out[2 * i] - out[2 * nearest], out[2 * i + 1] - out[2 * nearest + 1]))
                nearest = j;
        assert_int_equal(nearest % 2, i % 2);
    }
}

static void degenerate_input_gives_finite_results(void **state)
{
    (void)state;
    float points[COUNT * DIM];
    double out[2 * COUNT];
    draw_clusters(points, COUNT);
    for (size_t count = 0; count < 9; count++) {
        assert_int_equal(wt__tsne(out, points, count, DIM, 1, NULL, NULL), 0);
        for (size_t i = 0; i < 2 * count; i++)
            assert_true(isfinite(out[i]));
    }
    memset(points, 0, sizeof points); /* all points equal */
    assert_int_equal(wt__tsne(out, points, COUNT, DIM, 1, NULL, NULL), 0);
    for (size_t i = 0; i < 2 * COUNT; i++)
        assert_true(isfinite(out[i]));
}

static int cancel_after_a_step(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)total;
    return done > 0;
}

static void tsne_can_be_cancelled(void **state)
{
    (void)state;
    float points[COUNT * DIM];
    double out[2 * COUNT];
    struct progress progress;
    draw_clusters(points, COUNT);
    wt__progress_init(&progress, cancel_after_a_step, NULL);
    assert_int_equal(wt__tsne(out, points, COUNT, DIM, 1, &progress, NULL), WT_ECANCELLED);
    wt__progress_dispose(&progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pca_finds_the_longest_directions),
        cmocka_unit_test(clusters_stay_separate),
        cmocka_unit_test(degenerate_input_gives_finite_results),
        cmocka_unit_test(tsne_can_be_cancelled),
    };
    return cmocka_run_group_tests_name("eval/project", tests, NULL, NULL);
}
