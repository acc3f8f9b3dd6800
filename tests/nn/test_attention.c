/* Tests all kinds of attention against a reference in doubles: the output directly, and gradients by finite
 * differences. Cases include sequences longer than a block of rows, and positions other than 0 .. T - 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>

#include "gradient.h"
#include "nn/attention.h"

enum { HEADS = 2 };

/* Inputs and output of the reference, which computes all kinds of attention in doubles. A term is absent if its pointer
 * is NULL. */
struct twin {
    size_t t, width, hidden;
    double *qkv, *share;                   /* [T, 3 H], [T, H]; the tests' loss is the sum of share * out */
    double *bias;                          /* [count, A] */
    double *position_key, *position_query; /* [count, H] */
    const struct distances *distances;
    const int32_t *positions;
    double *out; /* [T, H] */
};

static double dot_doubles(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double score_in_doubles(const struct twin *w, size_t head, size_t i, size_t j)
{
    const double *q = w->qkv + i * 3 * w->hidden + head * w->width;
    const double *k = w->qkv + j * 3 * w->hidden + w->hidden + head * w->width;
    double parts = 1 + (w->position_key != NULL) + (w->position_query != NULL), sum = dot_doubles(q, k, w->width);
    size_t bucket = 0;

    if (w->distances)
        bucket = (size_t)w->distances->bucket[wt__distance_index(w->positions, i, j, w->distances->reach)];
    if (w->position_key)
        sum += dot_doubles(q, w->position_key + bucket * w->hidden + head * w->width, w->width);
    if (w->position_query)
        sum += dot_doubles(k, w->position_query + bucket * w->hidden + head * w->width, w->width);
    sum /= sqrt((double)w->width * parts);
    return w->bias ? sum + w->bias[bucket * HEADS + head] : sum;
}

static double attention_loss(void *context)
{
    struct twin *w = context;
    double *p = wt__alloc_array(w->t, sizeof(double));

    assert_non_null(p);
    for (size_t head = 0; head < HEADS; head++)
        for (size_t i = 0; i < w->t; i++) {
            double *out = w->out + i * w->hidden + head * w->width, sum = 0;

            for (size_t j = 0; j < w->t; j++)
                sum += p[j] = exp(score_in_doubles(w, head, i, j));
            for (size_t d = 0; d < w->width; d++) {
                out[d] = 0;
                for (size_t j = 0; j < w->t; j++)
                    out[d] += p[j] / sum * w->qkv[j * 3 * w->hidden + 2 * w->hidden + head * w->width + d];
            }
        }
    free(p);
    return dot_doubles(w->out, w->share, w->t * w->hidden);
}

/* The data of one case, in floats and in doubles. */
struct sequence {
    size_t t, width, hidden;
    float *qkv, *dout, *out, *dqkv, *scratch;
    struct twin twin;
};

static struct sequence create_sequence(size_t t, size_t width, size_t scratch)
{
    size_t hidden = HEADS * width;
    struct sequence s = {.t = t,
                         .width = width,
                         .hidden = hidden,
                         .qkv = random_floats(t * 3 * hidden, 1),
                         .dout = random_floats(t * hidden, 1),
                         .out = random_floats(t * hidden, 1),
                         .dqkv = random_floats(t * 3 * hidden, 1),
                         .scratch = random_floats(scratch, 1)};

    assert_true(scratch > 0);
    for (size_t i = 0; i < scratch; i++)
        s.scratch[i] = NAN;
    s.twin = (struct twin){.t = t,
                           .width = width,
                           .hidden = hidden,
                           .qkv = doubles_of(s.qkv, t * 3 * hidden),
                           .share = doubles_of(s.dout, t * hidden),
                           .out = doubles_of(s.out, t * hidden)};
    return s;
}

static void free_sequence(struct sequence *s)
{
    free(s->qkv), free(s->dout), free(s->out), free(s->dqkv), free(s->scratch);
    free(s->twin.qkv), free(s->twin.share), free(s->twin.out);
    free(s->twin.bias), free(s->twin.position_key), free(s->twin.position_query);
}

static int32_t *choose_positions(size_t t)
{
    int32_t *positions = wt__alloc_array(t + 1, sizeof(int32_t));

    assert_non_null(positions);
    for (size_t i = 0; i < t; i++)
        positions[i] = (int32_t)(i < 5 ? 2 * i : 200); /* The first five differ. All others are equal. */
    return positions;
}

static const struct {
    size_t t, width;
} shapes[] = {{1, 3}, {2, 16}, {7, 5}, {17, 8}, {33, 4}, {51, 3}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void plain_attention_matches_doubles(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        struct attention attention = {.heads = HEADS, .width = shapes[i].width};
        size_t forward = wt__attention_scratch(&attention, shapes[i].t);
        size_t backward = wt__attention_backward_scratch(&attention, shapes[i].t);
        struct sequence s = create_sequence(shapes[i].t, shapes[i].width, forward > backward ? forward : backward);

        wt__attention_forward(&attention, s.qkv, 3 * s.hidden, s.out, s.hidden, s.scratch, s.t);
        attention_loss(&s.twin);
        vectors_agree("out", s.out, s.twin.out, s.t * s.hidden, 1e-5);
        wt__attention_backward(&attention, s.qkv, 3 * s.hidden, s.dout, s.hidden, s.dqkv, 3 * s.hidden, NULL, s.scratch,
                               s.t);
        gradient_agrees("dqkv", attention_loss, &s.twin, s.twin.qkv, s.t * 3 * s.hidden, s.dqkv, 2e-5);
        free_sequence(&s);
    }
}

static void mpnet_attention_matches_doubles(void **state)
{
    int32_t bucket[2 * DISTANCE_MPNET_REACH + 1];
    struct distances distances;

    (void)state;
    wt__distances_mpnet(&distances, bucket);
    for (size_t i = 0; i < 2 * SHAPES; i++) {
        size_t t = shapes[i / 2].t, table = (size_t)distances.count * HEADS;
        int32_t *positions = i % 2 ? choose_positions(t) : NULL;
        float *bias = random_floats(table, 1), dbias[DISTANCE_MPNET_BUCKETS * HEADS] = {0};
        struct attention attention = {.heads = HEADS,
                                      .width = shapes[i / 2].width,
                                      .bias = bias,
                                      .distances = &distances,
                                      .positions = positions};
        size_t forward = wt__attention_scratch(&attention, t), backward = wt__attention_backward_scratch(&attention, t);
        struct sequence s = create_sequence(t, attention.width, forward > backward ? forward : backward);

        s.twin.bias = doubles_of(bias, table);
        s.twin.distances = &distances;
        s.twin.positions = positions;
        wt__attention_forward(&attention, s.qkv, 3 * s.hidden, s.out, s.hidden, s.scratch, t);
        attention_loss(&s.twin);
        vectors_agree("out", s.out, s.twin.out, t * s.hidden, 1e-5);
        wt__attention_backward(&attention, s.qkv, 3 * s.hidden, s.dout, s.hidden, s.dqkv, 3 * s.hidden, dbias,
                               s.scratch, t);
        gradient_agrees("dqkv", attention_loss, &s.twin, s.twin.qkv, t * 3 * s.hidden, s.dqkv, 2e-5);
        gradient_agrees("dbias", attention_loss, &s.twin, s.twin.bias, table, dbias, 5e-5);
        free_sequence(&s);
        free(bias), free(positions);
    }
}

static const struct {
    const char *name;
    bool c2p, p2c;
    int32_t buckets, max;
} kinds[] = {{"c2p and p2c, 8 buckets", true, true, 8, 32},
             {"c2p only, no buckets", true, false, -1, 6},
             {"p2c only, 4 buckets", false, true, 4, 9},
             {"neither part: plain attention", false, false, 4, 9}};

static void check_disentangled(size_t kind, size_t t, size_t width, const int32_t *positions)
{
    int32_t bucket[65];
    struct distances distances;

    wt__distances_deberta(&distances, bucket, kinds[kind].buckets, kinds[kind].max);
    size_t hidden = HEADS * width, table = (size_t)distances.count * hidden;
    float *key = random_floats(table, 1), *query = random_floats(table, 1), *dkey = random_floats(table, 0),
          *dquery = random_floats(table, 0);
    struct disentangled d = {.heads = HEADS,
                             .width = width,
                             .position_key = kinds[kind].c2p ? key : NULL,
                             .position_query = kinds[kind].p2c ? query : NULL,
                             .position_stride = hidden,
                             .distances = &distances,
                             .positions = positions};
    size_t forward = wt__disentangled_scratch(&d, t), backward = wt__disentangled_backward_scratch(&d, t);
    struct sequence s = create_sequence(t, width, forward > backward ? forward : backward);

    s.twin.position_key = kinds[kind].c2p ? doubles_of(key, table) : NULL;
    s.twin.position_query = kinds[kind].p2c ? doubles_of(query, table) : NULL;
    s.twin.distances = &distances;
    s.twin.positions = positions;
    wt__disentangled_forward(&d, s.qkv, 3 * hidden, s.out, hidden, s.scratch, t);
    attention_loss(&s.twin);
    vectors_agree(kinds[kind].name, s.out, s.twin.out, t * hidden, 1e-5);
    wt__disentangled_backward(&d, s.qkv, 3 * hidden, s.dout, hidden, s.dqkv, 3 * hidden, dkey, dquery, s.scratch, t);
    gradient_agrees(kinds[kind].name, attention_loss, &s.twin, s.twin.qkv, t * 3 * hidden, s.dqkv, 5e-5);
    if (kinds[kind].c2p)
        gradient_agrees("dPK", attention_loss, &s.twin, s.twin.position_key, table, dkey, 5e-5);
    if (kinds[kind].p2c)
        gradient_agrees("dPQ", attention_loss, &s.twin, s.twin.position_query, table, dquery, 5e-5);

    float *again = random_floats(t * 3 * hidden, 1); /* dqkv must be the same without dPK and dPQ */
    wt__disentangled_backward(&d, s.qkv, 3 * hidden, s.dout, hidden, again, 3 * hidden, NULL, NULL, s.scratch, t);
    assert_memory_equal(again, s.dqkv, t * 3 * hidden * sizeof(float));
    free_sequence(&s);
    free(key), free(query), free(dkey), free(dquery), free(again);
}

static void deberta_attention_matches_doubles(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
        for (size_t i = 0; i < SHAPES; i++) {
            int32_t *positions = choose_positions(shapes[i].t);

            check_disentangled(kind, shapes[i].t, shapes[i].width, NULL);
            check_disentangled(kind, shapes[i].t, shapes[i].width, positions);
            free(positions);
        }
}

static void rows_of_equal_position_are_interchangeable(void **state)
{
    enum { N = 9, WIDTH = 4, HIDDEN = HEADS * WIDTH };
    static const int32_t positions[N] = {0, 1, 2, 3, 4, 4, 4, 4, 4};
    int32_t bucket[65];
    struct distances distances;
    float *qkv = random_floats(N * 3 * HIDDEN, 1), *table = random_floats(16 * HIDDEN, 1), out[2][N * HIDDEN],
          row[3 * HIDDEN];

    (void)state;
    wt__distances_deberta(&distances, bucket, 8, 32);
    struct disentangled d = {.heads = HEADS,
                             .width = WIDTH,
                             .position_key = table,
                             .position_query = table,
                             .position_stride = HIDDEN,
                             .distances = &distances,
                             .positions = positions};
    float *scratch = random_floats(wt__disentangled_scratch(&d, N), 1);
    wt__disentangled_forward(&d, qkv, 3 * HIDDEN, out[0], HIDDEN, scratch, N);
    memcpy(row, qkv + 5 * 3 * HIDDEN, sizeof(row));
    memcpy(qkv + 5 * 3 * HIDDEN, qkv + 8 * 3 * HIDDEN, sizeof(row));
    memcpy(qkv + 8 * 3 * HIDDEN, row, sizeof(row));
    wt__disentangled_forward(&d, qkv, 3 * HIDDEN, out[1], HIDDEN, scratch, N);
    for (size_t i = 0; i < N; i++) {
        double *want = doubles_of(out[0] + (i == 5 ? 8 : i == 8 ? 5 : i) * HIDDEN, HIDDEN);

        vectors_agree("exchanged row", out[1] + i * HIDDEN, want, HIDDEN, 2e-6);
        free(want);
    }
    free(qkv), free(table), free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_attention_matches_doubles),
        cmocka_unit_test(mpnet_attention_matches_doubles),
        cmocka_unit_test(deberta_attention_matches_doubles),
        cmocka_unit_test(rows_of_equal_position_are_interchangeable),
    };

    wt__rng_seed(&rng, 4);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
