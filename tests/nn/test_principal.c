/* Tests principal axes of vectors with known directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "nn/matrix.h"

enum { COUNT = 400, WIDTH = 12 };

static double dot_vectors(const float *a, const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < WIDTH; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* Draws COUNT vectors that vary in the first `directions` coordinates. Each coordinate has half the range of the
 * previous one. Then reflects the vectors, so that no principal axis is parallel to a coordinate. reflection: receives
 * the unit normal of the mirror. */
static void draw_vectors(float *vectors, size_t directions, float reflection[WIDTH])
{
    struct rng rng;
    wt__rng_seed(&rng, 4);
    for (size_t i = 0; i < WIDTH; i++)
        reflection[i] = (float)(i + 1) / 25.5f;
    float length = (float)sqrt(dot_vectors(reflection, reflection));
    for (size_t i = 0; i < WIDTH; i++)
        reflection[i] /= length;
    for (size_t v = 0; v < COUNT; v++) {
        float *vector = vectors + v * WIDTH;
        for (size_t i = 0; i < WIDTH; i++)
            vector[i] = i < directions ? (float)((wt__rng_unit(&rng) - .5) * pow(.5, (double)i)) : 0;
        float along = (float)(2 * dot_vectors(vector, reflection));
        for (size_t i = 0; i < WIDTH; i++)
            vector[i] -= along * reflection[i];
    }
}

static void check_orthonormal(const float *axes, size_t keep)
{
    for (size_t a = 0; a < keep; a++)
        for (size_t b = 0; b <= a; b++)
            assert_true(fabs(dot_vectors(axes + a * WIDTH, axes + b * WIDTH) - (a == b)) < 1e-5);
}

static void finds_directions_of_largest_moment(void **state)
{
    float *vectors = calloc(COUNT * WIDTH, sizeof *vectors), reflection[WIDTH], axes[4 * WIDTH];
    (void)state;
    draw_vectors(vectors, WIDTH, reflection);
    assert_int_equal(wt__principal_axes(vectors, COUNT, WIDTH, 4, axes, NULL), 0);
    check_orthonormal(axes, 4);
    for (size_t a = 0; a < 4; a++) { /* Axis a is close to the reflected coordinate a. */
        float want[WIDTH];
        for (size_t i = 0; i < WIDTH; i++)
            want[i] = (i == a) - 2 * reflection[a] * reflection[i];
        assert_true(fabs(dot_vectors(axes + a * WIDTH, want)) > .99);
    }
    free(vectors);
}

static void handles_fewer_directions_than_axes(void **state)
{
    float *vectors = calloc(COUNT * WIDTH, sizeof *vectors), reflection[WIDTH], axes[WIDTH * WIDTH];
    static const size_t directions[] = {0, 1, 3, WIDTH};
    (void)state;
    for (size_t d = 0; d < sizeof directions / sizeof *directions; d++) {
        draw_vectors(vectors, directions[d], reflection);
        assert_int_equal(wt__principal_axes(vectors, COUNT, WIDTH, WIDTH, axes, NULL), 0);
        check_orthonormal(axes, WIDTH);
        for (size_t v = 0; v < COUNT; v++) { /* The axes span the vectors. */
            double left = dot_vectors(vectors + v * WIDTH, vectors + v * WIDTH);
            for (size_t a = 0; a < directions[d]; a++)
                left -= pow(dot_vectors(vectors + v * WIDTH, axes + a * WIDTH), 2);
            assert_true(fabs(left) < 1e-5);
        }
    }
    assert_int_equal(wt__principal_axes(vectors, 0, WIDTH, 2, axes, NULL), 0);
    check_orthonormal(axes, 2);
    free(vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_directions_of_largest_moment),
        cmocka_unit_test(handles_fewer_directions_than_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
