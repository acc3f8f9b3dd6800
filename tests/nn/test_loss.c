/* Tests losses against implementations in doubles, and gradients against finite differences. Some tests compare with
 * values and gradients of the reference implementation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "gradient.h"
#include "nn/layers.h"
#include "nn/loss.h"

static void check_near(const char *what, double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance * fmax(1, fabs(want))))
        fail_msg("%s is %.9g, expected %.9g", what, have, want);
}

enum { B = 4, C = 6, D = 5 };

struct contrast_twin {
    double *queries, *documents, scale;
    const uint8_t *pairs;
    size_t rows, columns;
};

static double contrast_loss(void *context)
{
    const struct contrast_twin *c = context;
    double loss = 0, counted = 0;

    for (size_t b = 0; b < c->rows; b++) {
        double score[C], sum = 0, row = 0, positives = 0;

        for (size_t i = 0; i < c->columns; i++) {
            score[i] = 0;
            for (size_t d = 0; d < D; d++)
                score[i] += c->scale * c->queries[b * D + d] * c->documents[i * D + d];
            if (c->pairs[b * c->columns + i] != PAIR_IGNORED)
                sum += exp(score[i]);
        }
        for (size_t i = 0; i < c->columns; i++)
            if (c->pairs[b * c->columns + i] == PAIR_POSITIVE) {
                row += log(sum) - score[i];
                positives++;
            }
        loss += positives > 0 ? row / positives : 0;
        counted += positives > 0;
    }
    return loss / counted;
}

static void contrast_handles_masks_and_several_positives(void **state)
{
    static const uint8_t pairs[B * C] = {1, 0, 0, 0, 2, 0,  /* one positive, one ignored pair */
                                         0, 1, 1, 0, 0, 1,  /* three positives */
                                         2, 0, 0, 2, 0, 0,  /* no positive: the row is skipped */
                                         2, 2, 2, 1, 2, 2}; /* no negative: the loss is 0 */
    float *queries = random_floats(B * D, 1), *documents = random_floats(C * D, 1), dq[B * D], dd[C * D], scores[B * C];
    struct contrast contrast = {B, C, D, queries, documents, pairs, 3, scores, NULL};
    struct contrast_twin twin = {doubles_of(queries, B * D), doubles_of(documents, C * D), 3, pairs, B, C};

    (void)state;
    check_near("loss", wt__loss_contrast(&contrast, dq, dd), contrast_loss(&twin), 1e-6);
    gradient_agrees("dqueries", contrast_loss, &twin, twin.queries, B * D, dq, 1e-5);
    gradient_agrees("ddocuments", contrast_loss, &twin, twin.documents, C * D, dd, 1e-5);

    contrast.rows = 0;
    assert_true(wt__loss_contrast(&contrast, dq, dd) == 0);
    for (size_t i = 0; i < C * D; i++)
        assert_true(dd[i] == 0);
    free(queries), free(documents), free(twin.queries), free(twin.documents);
}

/* Returns the loss of the positive in row b and column i against the negatives of row b. turned: exchanges rows and
 * columns, so b is a column and i a row. */
static double pair_loss(const struct contrast_twin *c, bool turned, size_t b, size_t i)
{
    size_t count = turned ? c->rows : c->columns;
    double sum = 0, own = 0;

    for (size_t other = 0; other < count; other++) {
        size_t row = turned ? other : b, column = turned ? b : other;
        double score = 0;

        for (size_t d = 0; d < D; d++)
            score += c->scale * c->queries[row * D + d] * c->documents[column * D + d];
        if (other == i)
            own = score;
        if (other == i || c->pairs[row * c->columns + column] == PAIR_NEGATIVE)
            sum += exp(score);
    }
    return log(sum) - own;
}

static double both_loss(void *context)
{
    const struct contrast_twin *c = context;
    double loss = 0, counted = 0;

    for (size_t b = 0; b < c->rows; b++)
        for (size_t i = 0; i < c->columns; i++)
            if (c->pairs[b * c->columns + i] == PAIR_POSITIVE) {
                loss += pair_loss(c, false, b, i) + pair_loss(c, true, i, b);
                counted += 2;
            }
    return loss / counted;
}

static void contrast_in_both_directions_matches_doubles(void **state)
{
    static const uint8_t pairs[B * C] = {1, 0, 0, 0, 2, 0,  /* column 4 has no negative */
                                         0, 1, 1, 0, 2, 1,  /* three positives */
                                         2, 0, 1, 2, 2, 0,  /* column 2 has two positives */
                                         2, 2, 2, 1, 1, 2}; /* row 3 has no negative, its column 3 has some */
    float *queries = random_floats(B * D, 1), *documents = random_floats(C * D, 1), dq[B * D], dd[C * D], scores[B * C],
          gradients[B * C];
    struct contrast contrast = {B, C, D, queries, documents, pairs, 3, scores, gradients};
    struct contrast_twin twin = {doubles_of(queries, B * D), doubles_of(documents, C * D), 3, pairs, B, C};

    (void)state;
    check_near("loss", wt__loss_contrast_both(&contrast, dq, dd), both_loss(&twin), 1e-6);
    gradient_agrees("dqueries", both_loss, &twin, twin.queries, B * D, dq, 1e-5);
    gradient_agrees("ddocuments", both_loss, &twin, twin.documents, C * D, dd, 1e-5);

    contrast.rows = 0;
    assert_true(wt__loss_contrast_both(&contrast, dq, dd) == 0);
    for (size_t i = 0; i < C * D; i++)
        assert_true(dd[i] == 0);
    free(queries), free(documents), free(twin.queries), free(twin.documents);
}

static void contrast_matches_reference(void **state)
{
    static const char *const files[] = {"grads/bert.infonce.safetensors", "grads/deberta_v3.infonce.safetensors"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct golden_file golden;
        size_t count;

        if (!golden_open(&golden, files[i]))
            skip();
        float *queries = golden_floats(&golden, "out.query_emb", &count);
        float *documents = golden_floats(&golden, "out.doc_emb", NULL),
              *loss = golden_floats(&golden, "out.loss", NULL);
        float *dq = random_floats(count, 1), *dd = random_floats(count, 1), scores[16];
        struct contrast contrast = {.rows = 4,
                                    .columns = 4,
                                    .width = count / 4,
                                    .queries = queries,
                                    .documents = documents,
                                    .scale = 20,
                                    .scores = scores};

        check_near(files[i], wt__loss_contrast(&contrast, dq, dd), loss[0], 1e-5);
        free(queries), free(documents), free(loss), free(dq), free(dd);
        golden_close(&golden);
    }
}

struct triplet_twin {
    double *a, *p, *n; /* [B, D] */
    double margin;
};

static double triplet_loss(void *context)
{
    const struct triplet_twin *t = context;
    double loss = 0;

    for (size_t b = 0; b < B; b++) {
        double near_sum = 0, far_sum = 0;

        for (size_t i = b * D; i < (b + 1) * D; i++) {
            near_sum += pow(t->a[i] - t->p[i] + 1e-6, 2);
            far_sum += pow(t->a[i] - t->n[i] + 1e-6, 2);
        }
        loss += fmax(0, sqrt(near_sum) - sqrt(far_sum) + t->margin) / B;
    }
    return loss;
}

static void triplet_loss_matches_doubles(void **state)
{
    float *a = random_floats(B * D, 1), *p = random_floats(B * D, 1), *n = random_floats(B * D, 1), da[B * D],
          dp[B * D], dn[B * D];

    (void)state;
    memcpy(p + D, a + D, D * sizeof(float)); /* Row 1 is far from its negative: its loss is 0. */
    for (size_t i = D; i < 2 * D; i++)
        n[i] = 9;
    struct triplet_twin twin = {doubles_of(a, B * D), doubles_of(p, B * D), doubles_of(n, B * D), 1};
    check_near("loss", wt__loss_triplet(a, p, n, B, D, 1, da, dp, dn), triplet_loss(&twin), 1e-6);
    gradient_agrees("danchor", triplet_loss, &twin, twin.a, B * D, da, 1e-5);
    gradient_agrees("dpositive", triplet_loss, &twin, twin.p, B * D, dp, 1e-5);
    gradient_agrees("dnegative", triplet_loss, &twin, twin.n, B * D, dn, 1e-5);
    assert_true(wt__loss_triplet(a, p, n, 0, D, 1, da, dp, dn) == 0);
    free(a), free(p), free(n), free(twin.a), free(twin.p), free(twin.n);
}

static void triplet_loss_matches_reference(void **state)
{
    static const char *const files[] = {"grads/bert.triplet.safetensors", "grads/deberta_v3.triplet.safetensors"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct golden_file golden;
        size_t count;

        if (!golden_open(&golden, files[i]))
            skip();
        float *a = golden_floats(&golden, "out.anchor_emb", &count),
              *p = golden_floats(&golden, "out.positive_emb", NULL);
        float *n = golden_floats(&golden, "out.negative_emb", NULL), *loss = golden_floats(&golden, "out.loss", NULL);
        float *d = random_floats(3 * count, 1);

        check_near(files[i], wt__loss_triplet(a, p, n, 4, count / 4, 1, d, d + count, d + 2 * count), loss[0], 1e-5);
        for (size_t j = count / 4; j < count / 2; j++) /* The loss of row 1 is 0. */
            assert_true(d[j] == 0 && d[count + j] == 0 && d[2 * count + j] == 0);
        free(a), free(p), free(n), free(loss), free(d);
        golden_close(&golden);
    }
}

static const size_t starts[B + 1] = {0, 1, 4, 4, 6}; /* row 2 has no label */
static const int32_t numbers[] = {2, 0, 3, 5, 1, 4};
static const struct label_rows gold = {starts, numbers};

static double softmax_loss(void *context)
{
    const double *logits = context;
    double loss = 0;

    for (size_t b = 0; b < B; b++) {
        double sum = 0;

        for (size_t i = 0; i < C; i++)
            sum += exp(logits[b * C + i]);
        for (size_t i = starts[b]; i < starts[b + 1]; i++)
            loss += (log(sum) - logits[b * C + (size_t)numbers[i]]) / B;
    }
    return loss;
}

static double bce_loss(void *context)
{
    const double *logits = context;
    double loss = 0;

    for (size_t b = 0; b < B; b++)
        for (size_t i = 0; i < C; i++) {
            double sign = -1;

            for (size_t l = starts[b]; l < starts[b + 1]; l++)
                sign = numbers[l] == (int32_t)i ? 1 : sign;
            loss += log(1 + exp(-sign * logits[b * C + i])) / (B * C);
        }
    return loss;
}

static void multilabel_losses_match_doubles(void **state)
{
    float *logits = random_floats(B * C, 3), d[B * C];
    double *twin = doubles_of(logits, B * C);

    (void)state;
    check_near("softmax", wt__loss_multilabel_softmax(logits, &gold, B, C, d), softmax_loss(twin), 1e-6);
    gradient_agrees("softmax", softmax_loss, twin, twin, B * C, d, 1e-5);
    check_near("bce", wt__loss_multilabel_bce(logits, &gold, B, C, d), bce_loss(twin), 1e-6);
    gradient_agrees("bce", bce_loss, twin, twin, B * C, d, 1e-5);
    wt__loss_multilabel_bce(logits, &gold, B, C, logits); /* in place */
    assert_memory_equal(logits, d, sizeof(d));
    assert_true(wt__loss_multilabel_softmax(logits, &gold, 0, C, d) == 0);
    assert_true(wt__loss_multilabel_bce(logits, &gold, 0, C, d) == 0);

    float far[2] = {-1e30f, 1e30f}, dfar[2]; /* The loss must be finite for extreme logits. */
    static const size_t one[2] = {0, 1};
    static const int32_t second = 1;
    assert_true(wt__loss_multilabel_softmax(far, &(struct label_rows){one, &second}, 1, 2, dfar) == 0);
    assert_true(wt__loss_multilabel_bce(far, &(struct label_rows){one, &second}, 1, 2, dfar) == 0);
    free(logits), free(twin);
}

struct head_twin {
    double *vectors, *head, *shifts;
};

static double head_loss(void *context)
{
    const struct head_twin *twin = context;
    double logits[B * C] = {0};

    for (size_t b = 0; b < B; b++)
        for (size_t c = 0; c < C; c++) {
            for (size_t d = 0; d < D; d++)
                logits[b * C + c] += 3 * twin->vectors[b * D + d] * twin->head[c * D + d];
            logits[b * C + c] -= 3 * twin->shifts[c];
        }
    return bce_loss(logits);
}

static void multilabel_head_matches_doubles(void **state)
{
    float *vectors = random_floats(B * D, 1), *head = random_floats(C * D, 1), logits[B * C], dv[B * D], dh[C * D],
          twice[C * D], *shifts = random_floats(C, 1), ds[C] = {0};
    struct head_twin twin = {doubles_of(vectors, B * D), doubles_of(head, C * D), doubles_of(shifts, C)};
    const struct multilabel m = {B, C, D, vectors, head, 3, shifts, wt__loss_multilabel_bce, logits};

    (void)state;
    memset(dh, 0, sizeof dh);
    check_near("loss", wt__loss_multilabel(&m, &gold, dv, dh, ds), head_loss(&twin), 1e-6);
    gradient_agrees("dvectors", head_loss, &twin, twin.vectors, B * D, dv, 1e-5);
    gradient_agrees("dhead", head_loss, &twin, twin.head, C * D, dh, 1e-5);
    gradient_agrees("dshifts", head_loss, &twin, twin.shifts, C, ds, 1e-5);
    memcpy(twice, dh, sizeof dh);
    wt__loss_multilabel(&m, &gold, NULL, twice, NULL); /* A second batch adds its gradient. */
    for (size_t i = 0; i < C * D; i++)
        check_near("dhead twice", twice[i], 2.0 * dh[i], 1e-6);
    free(vectors), free(head), free(shifts), free(twin.vectors), free(twin.head), free(twin.shifts);
}

/* The reference files have the gradient of the head's bias. It is the sum over rows of the gradients of the logits. */
static void multilabel_losses_match_reference(void **state)
{
    static const char *const files[] = {
        "grads/bert.multilabel_softmax.safetensors", "grads/deberta_v3.multilabel_softmax.safetensors",
        "grads/bert.multilabel_bce.safetensors", "grads/deberta_v3.multilabel_bce.safetensors"};
    static const size_t start[] = {0, 1, 3, 6, 8};
    static const int32_t label[] = {0, 1, 4, 2, 3, 6, 5, 0};
    const struct label_rows labels = {start, label};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct golden_file golden;

        if (!golden_open(&golden, files[i]))
            skip();
        float *logits = golden_floats(&golden, "out.logits", NULL), *loss = golden_floats(&golden, "out.loss", NULL);
        float *bias = golden_floats(&golden, "grad.head.bias", NULL), sum[7] = {0};
        double *want = doubles_of(bias, 7);

        check_near(files[i],
                   (i < 2 ? wt__loss_multilabel_softmax : wt__loss_multilabel_bce)(logits, &labels, 4, 7, logits),
                   loss[0], 1e-5);
        for (int j = 0; j < 28; j++)
            sum[j % 7] += logits[j];
        vectors_agree(files[i], sum, want, 7, 1e-4);
        free(logits), free(loss), free(bias), free(want);
        golden_close(&golden);
    }
}

struct distil_twin {
    double *vectors, *teacher; /* [B, D] */
    double likeness;
};

static double dot_teacher_rows(const double *rows, size_t a, size_t b)
{
    double sum = 0;

    for (size_t d = 0; d < D; d++)
        sum += rows[a * D + d] * rows[b * D + d];
    return sum;
}

static double distil_loss(void *context)
{
    const struct distil_twin *t = context;
    double apart = 0, unlike = 0;

    for (size_t i = 0; i < B * D; i++)
        apart += pow(t->vectors[i] - t->teacher[i], 2);
    for (size_t a = 0; a < B; a++)
        for (size_t b = 0; b < B; b++)
            unlike += pow(dot_teacher_rows(t->vectors, a, b) - dot_teacher_rows(t->teacher, a, b), 2);
    return apart / B + t->likeness * unlike / (B * B);
}

static void distillation_loss_matches_doubles(void **state)
{
    float *vectors = random_floats(B * D, 1), *teacher = random_floats(B * D, 1), dvectors[B * D], scratch[B * B];

    (void)state;
    for (int likeness = 0; likeness <= 7; likeness += 7) {
        struct distil_twin twin = {doubles_of(vectors, B * D), doubles_of(teacher, B * D), likeness};

        check_near("loss", wt__loss_distil(vectors, teacher, B, D, (float)likeness, scratch, dvectors),
                   distil_loss(&twin), 1e-5);
        gradient_agrees("dvectors", distil_loss, &twin, twin.vectors, B * D, dvectors, 1e-5);
        free(twin.vectors), free(twin.teacher);
    }
    assert_true(wt__loss_distil(teacher, teacher, B, D, 7, scratch, dvectors) < 1e-6);
    assert_true(wt__loss_distil(vectors, teacher, 0, D, 7, scratch, dvectors) == 0);
    free(vectors), free(teacher);
}

struct likeness_twin {
    double *vectors, *teacher; /* [B, D] */
    double scale;
};

static double log_softmax_of(const double *rows, size_t a, size_t b, double scale)
{
    double sum = 0;

    for (size_t c = 0; c < B; c++)
        sum += c == a ? 0 : exp(scale * dot_teacher_rows(rows, a, c));
    return scale * dot_teacher_rows(rows, a, b) - log(sum);
}

static double likeness_loss(void *context)
{
    const struct likeness_twin *t = context;
    double loss = 0;

    for (size_t a = 0; a < B; a++)
        for (size_t b = 0; b < B; b++) {
            double wanted = log_softmax_of(t->teacher, a, b, t->scale);

            loss += a == b ? 0 : exp(wanted) * (wanted - log_softmax_of(t->vectors, a, b, t->scale));
        }
    return loss / B;
}

static void similarity_loss_matches_doubles(void **state)
{
    float *vectors = random_floats(B * D, 1), *teacher = random_floats(B * D, 1), dvectors[B * D], scratch[2 * B * B];
    struct likeness_twin twin = {doubles_of(vectors, B * D), doubles_of(teacher, B * D), 3};
    struct likeness likeness = {B, D, D, vectors, teacher, 3, scratch};

    (void)state;
    check_near("loss", wt__loss_likeness(&likeness, dvectors), likeness_loss(&twin), 1e-5);
    gradient_agrees("dvectors", likeness_loss, &twin, twin.vectors, B * D, dvectors, 1e-5);
    likeness.teacher = vectors;
    check_near("same vectors", wt__loss_likeness(&likeness, dvectors), 0, 1e-6);
    likeness.rows = 1;
    assert_true(wt__loss_likeness(&likeness, dvectors) == 0 && dvectors[0] == 0);
    free(vectors), free(teacher), free(twin.vectors), free(twin.teacher);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contrast_handles_masks_and_several_positives),
        cmocka_unit_test(contrast_in_both_directions_matches_doubles),
        cmocka_unit_test(contrast_matches_reference),
        cmocka_unit_test(triplet_loss_matches_doubles),
        cmocka_unit_test(triplet_loss_matches_reference),
        cmocka_unit_test(multilabel_losses_match_doubles),
        cmocka_unit_test(multilabel_head_matches_doubles),
        cmocka_unit_test(multilabel_losses_match_reference),
        cmocka_unit_test(distillation_loss_matches_doubles),
        cmocka_unit_test(similarity_loss_matches_doubles),
    };

    wt__rng_seed(&rng, 5);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
