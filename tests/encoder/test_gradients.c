/* Compares the gradients of several losses, and ten optimiser steps, with the reference implementation. Tests whose
 * reference data is missing are skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/golden.h"
#include "encoder/trainable.h"
#include "encoder/transformer.h"
#include "nn/loss.h"
#include "nn/layers.h"

/* A model with one batch (r) and one worker. Each test sets the loss. */
struct reference_run {
    struct encoder_golden golden;
    struct trainable *t;
    struct tape *tape;
    struct gradients *g;
    struct ragged r;
    size_t hidden;
    double loss;
};

static bool open_reference_run(struct reference_run *run, const char *model, const char *kind,
                               const struct tape_limits *limits)
{
    char name[128], path[PATH_BYTES];
    wt_error err = {0};

    *run = (struct reference_run){.loss = 0};
    snprintf(name, sizeof(name), "golden/grads/%s.%s.safetensors", model, kind);
    if (!open_golden(&run->golden, name))
        return false;
    snprintf(name, sizeof(name), "golden/encoders/%s/config.json", model);
    assert_true(shared_path(path, name));
    *strrchr(path, '/') = '\0';
    if (wt__trainable_open(&run->t, path, &err) < 0 || wt__tape_new(&run->tape, run->t, limits, &err) < 0 ||
        wt__gradients_new(&run->g, run->t, true, limits->rows, &err) < 0)
        fail_msg("%s", err.message);
    run->hidden = wt__trainable_config(run->t)->hidden;
    return true;
}

static void close_reference_run(struct reference_run *run)
{
    wt__gradients_free(run->g);
    wt__tape_free(run->tape);
    wt__trainable_close(run->t);
    close_golden(&run->golden);
}

static double compute_norm(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

/* Compares a gradient with the reference. The tolerance is 1e-4 of the norm of the gradient. If the gradient is zero up
 * to rounding, the tolerance is 1e-6 of `all`, the norm of all gradients. */
static void compare_gradient(const char *kind, const char *name, const float *have, const struct tensor *want,
                             double all)
{
    double off = 0, length = 0;

    for (size_t i = 0; i < want->count; i++) {
        double w = float_at(want, i);
        off += (have[i] - w) * (have[i] - w);
        length += w * w;
    }
    double base = sqrt(length) < 1e-7 * all ? all * 1e-2 : sqrt(length);
    if (!(sqrt(off) <= 1e-4 * base))
        fail_msg("%s: gradient of %s is off by %g of %g", kind, name, sqrt(off), base);
}

static void check_gradients(struct reference_run *run, const char *kind)
{
    struct model_parameter *list;
    size_t count, compared = 0;
    double all = 0;

    wt__trainable_backward(run->t, &run->r.batch, run->tape, run->g);
    wt__trainable_parameters(run->t, &list, &count);
    for (size_t i = 0; i < run->golden.file.count; i++) {
        const struct tensor *t = &run->golden.file.tensors[i];
        for (size_t j = 0; strncmp(t->name, "grad.", 5) == 0 && j < t->count; j++)
            all += (double)float_at(t, j) * float_at(t, j);
    }
    double want = float_at(tensor_of(&run->golden, "out.loss"), 0);
    if (!(fabs(run->loss - want) <= 1e-5 * want))
        fail_msg("%s: loss %.8g instead of %.8g", kind, run->loss, want);
    for (size_t i = 0; i < count; i++) {
        char name[160];

        snprintf(name, sizeof(name), "grad.%s", list[i].name);
        const struct tensor *t = tensor_of(&run->golden, name);
        assert_int_equal(t->count, list[i].count);
        compare_gradient(kind, list[i].name, list[i].gradient, t, sqrt(all));
        compared++;
    }
    assert_true(compared >= 21);
}

static void add_reference_batch(struct reference_run *run, const char *ids, const char *mask)
{
    add_padded(&run->r, tensor_of(&run->golden, ids), tensor_of(&run->golden, mask), NULL);
}

/* ---------------------------------------------------------------- labels of a text */

enum { LABELS = 7 };

/* Computes the logits [texts, LABELS] from the first row of each text. */
static void label_head_forward(const struct reference_run *run, const float *w, const float *b, float *logits)
{
    for (size_t s = 0; s < run->r.batch.count; s++)
        for (size_t c = 0; c < LABELS; c++) {
            const float *x = run->tape->last + run->r.starts[s] * run->tape->stride;
            double sum = b[c];

            for (size_t h = 0; h < run->hidden; h++)
                sum += (double)w[c * run->hidden + h] * x[h];
            logits[s * LABELS + c] = (float)sum;
        }
}

static void label_head_backward(struct reference_run *run, const float *w, const float *dlogits, float *dw, float *db)
{
    for (size_t s = 0; s < run->r.batch.count; s++)
        for (size_t c = 0; c < LABELS; c++) {
            size_t at = run->r.starts[s] * run->tape->stride;
            float d = dlogits[s * LABELS + c];

            db[c] += d;
            for (size_t h = 0; h < run->hidden; h++) {
                dw[c * run->hidden + h] += d * run->tape->last[at + h];
                run->tape->dlast[at + h] += d * w[c * run->hidden + h];
            }
        }
}

/* A linear layer from the first row of a text to its labels, with its gradients. The labels of text s are
 * label[start[s]] to label[start[s + 1] - 1]. */
struct label_head {
    float *w, *b;
    float dw[LABELS * 64], db[LABELS];
    int32_t label[32];
    size_t start[8];
};

static void open_label_head(struct label_head *head, const struct reference_run *run)
{
    const struct tensor *gold = tensor_of(&run->golden, "in.gold");

    *head = (struct label_head){.w = floats_of(&run->golden, "in.head.weight"),
                                .b = floats_of(&run->golden, "in.head.bias")};
    for (size_t s = 0; s < gold->shape[0]; s++) {
        head->start[s + 1] = head->start[s];
        for (size_t c = 0; c < LABELS; c++)
            if (float_at(gold, s * LABELS + c) > 0)
                head->label[head->start[s + 1]++] = (int32_t)c;
    }
}

static void run_label_head(struct reference_run *run, struct label_head *head, bool softmax)
{
    float logits[8 * LABELS];
    struct label_rows labels = {head->start, head->label};
    size_t rows = run->r.batch.count;

    wt__trainable_forward(run->t, &run->r.batch, run->tape);
    label_head_forward(run, head->w, head->b, logits);
    run->loss = softmax ? wt__loss_multilabel_softmax(logits, &labels, rows, LABELS, logits)
                        : wt__loss_multilabel_bce(logits, &labels, rows, LABELS, logits);
    label_head_backward(run, head->w, logits, head->dw, head->db);
}

static void gradients_of_multilabel_loss_equal_reference(void **state)
{
    static const char *const kinds[] = {"multilabel_softmax", "multilabel_bce"}, *const names[] = {"bert",
                                                                                                   "deberta_v3"};
    const struct tape_limits limits = {.rows = 160, .longest = 44};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        static struct reference_run run;
        static struct label_head head;

        if (!open_reference_run(&run, names[i / 2], kinds[i % 2], &limits))
            skip();
        add_reference_batch(&run, "in.input_ids", "in.attention_mask");
        open_label_head(&head, &run);
        run_label_head(&run, &head, i % 2 == 0);
        check_gradients(&run, kinds[i % 2]);
        compare_gradient(kinds[i % 2], "head", head.dw, tensor_of(&run.golden, "grad.head.weight"), 1);
        free(head.w);
        free(head.b);
        close_reference_run(&run);
    }
}

/* ---------------------------------------------------------------- pooled texts */

static void pool_batch(const struct reference_run *run, float *out)
{
    for (size_t s = 0; s < run->r.batch.count; s++)
        wt__pool_forward(wt__trainable_config(run->t), run->tape->last + run->r.starts[s] * run->tape->stride,
                         run->tape->stride, run->r.starts[s + 1] - run->r.starts[s], out + s * run->hidden);
}

static void pool_batch_backward(const struct reference_run *run, const float *dout)
{
    for (size_t s = 0; s < run->r.batch.count; s++)
        wt__pool_backward(wt__trainable_config(run->t), dout + s * run->hidden,
                          run->tape->dlast + run->r.starts[s] * run->tape->stride, run->tape->stride,
                          run->r.starts[s + 1] - run->r.starts[s]);
}

static void gradients_of_contrastive_loss_equal_reference(void **state)
{
    static const char *const names[] = {"bert", "deberta_v3"};
    const struct tape_limits limits = {.rows = 200, .longest = 44};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static struct reference_run run;
        static float pooled[8 * 64], unit[8 * 64], d[8 * 64], scores[16];

        if (!open_reference_run(&run, names[i], "infonce", &limits))
            skip();
        add_reference_batch(&run, "in.query_ids", "in.query_mask");
        add_reference_batch(&run, "in.doc_ids", "in.doc_mask");
        wt__trainable_forward(run.t, &run.r.batch, run.tape);
        pool_batch(&run, pooled);
        memcpy(unit, pooled, sizeof(unit));
        for (size_t s = 0; s < 8; s++)
            wt__normalize(unit + s * 64, 64);
        struct contrast contrast = {4, 4, 64, unit, unit + 4 * 64, NULL, 20, scores, NULL};
        run.loss = wt__loss_contrast(&contrast, d, d + 4 * 64);
        for (size_t s = 0; s < 8; s++)
            wt__normalize_backward(pooled + s * 64, d + s * 64, d + s * 64, 64);
        pool_batch_backward(&run, d);
        check_gradients(&run, "infonce");
        close_reference_run(&run);
    }
}

static void gradients_of_triplet_loss_equal_reference(void **state)
{
    static const char *const names[] = {"bert", "deberta_v3"};
    const struct tape_limits limits = {.rows = 300, .longest = 44};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static struct reference_run run;
        static float pooled[12 * 64], d[12 * 64];

        if (!open_reference_run(&run, names[i], "triplet", &limits))
            skip();
        add_reference_batch(&run, "in.anchor_ids", "in.anchor_mask");
        add_reference_batch(&run, "in.positive_ids", "in.positive_mask");
        add_reference_batch(&run, "in.negative_ids", "in.negative_mask");
        wt__trainable_forward(run.t, &run.r.batch, run.tape);
        pool_batch(&run, pooled);
        run.loss = wt__loss_triplet(pooled, pooled + 4 * 64, pooled + 8 * 64, 4, 64, 1, d, d + 4 * 64, d + 8 * 64);
        pool_batch_backward(&run, d);
        check_gradients(&run, "triplet");
        close_reference_run(&run);
    }
}

/* ---------------------------------------------------------------- external rows */

enum { CANDIDATES = 6, WIDE = 48 };

/* Appends a sequence for each request: the tokens of its text, then an external row (-1) for each candidate. The
 * positions of the candidates follow the padded text, as in the reference. */
static void add_reference_candidates(struct reference_run *run, const struct tensor *candidates)
{
    const struct tensor *ids = tensor_of(&run->golden, "in.input_ids");
    const struct tensor *mask = tensor_of(&run->golden, "in.attention_mask");
    struct ragged *r = &run->r;

    for (size_t b = 0; b < ids->shape[0]; b++) {
        size_t n = r->starts[b], width = ids->shape[1];

        for (size_t i = 0; i < width; i++)
            if (int_at(mask, b * width + i)) {
                r->positions[n] = (int32_t)i;
                r->ids[n++] = int_at(ids, b * width + i);
            }
        for (size_t i = 0; i < CANDIDATES; i++)
            if (int_at(candidates, b * CANDIDATES + i)) {
                r->positions[n] = (int32_t)(width + i);
                r->ids[n++] = -1;
            }
        r->starts[++r->batch.count] = n;
    }
    r->batch.starts = r->starts;
    r->batch.ids = r->ids;
    r->batch.positions = r->positions;
}

/* Returns the mean binary cross-entropy, and replaces the logits by their gradients. */
static double cross_entropy(float *logits, const float *gold, size_t count)
{
    double loss = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        double x = logits[i];
        loss += (log(1 + exp(x)) - x * gold[i]) / n;
        logits[i] = (float)((1 / (1 + exp(-x)) - gold[i]) / n);
    }
    return loss;
}

static void gradients_with_external_rows_equal_reference(void **state)
{
    static const char *const kinds[] = {"refiner", "refiner_masked"};
    const struct tape_limits limits = {.rows = 100, .longest = 39, .external = 18};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        static struct reference_run run;
        float external[18 * 64], logits[18], gold[18], dw[64 * WIDE] = {0}, dscore[64] = {0};
        size_t count = 0, from[18];

        if (!open_reference_run(&run, "deberta_v3", kinds[i], &limits))
            skip();
        const struct tensor *real = tensor_of(&run.golden, "in.candidate_mask");
        const struct tensor *wide = tensor_of(&run.golden, "in.external"), *want = tensor_of(&run.golden, "in.gold");
        float *w = floats_of(&run.golden, "in.proj.weight"), *b = floats_of(&run.golden, "in.proj.bias");
        float *score = floats_of(&run.golden, "in.score.weight"), *bias = floats_of(&run.golden, "in.score.bias");

        add_reference_candidates(&run, real);
        for (size_t c = 0; c < 18; c++) {
            if (!int_at(real, c))
                continue;
            for (size_t h = 0; h < 64; h++) {
                double sum = b[h];
                for (size_t k = 0; k < WIDE; k++)
                    sum += (double)w[h * WIDE + k] * float_at(wide, c * WIDE + k);
                external[count * 64 + h] = (float)sum;
            }
            gold[count] = float_at(want, c);
            from[count++] = c;
        }
        run.r.batch.external = external;
        wt__trainable_forward(run.t, &run.r.batch, run.tape);
        for (size_t n = 0, e = 0; n < run.r.starts[3]; n++)
            if (run.r.ids[n] < 0) {
                logits[e] = bias[0];
                for (size_t h = 0; h < 64; h++)
                    logits[e] += score[h] * run.tape->last[n * run.tape->stride + h];
                e++;
            }
        run.loss = cross_entropy(logits, gold, count);
        for (size_t n = 0, e = 0; n < run.r.starts[3]; n++)
            if (run.r.ids[n] < 0) {
                for (size_t h = 0; h < 64; h++) {
                    dscore[h] += logits[e] * run.tape->last[n * run.tape->stride + h];
                    run.tape->dlast[n * run.tape->stride + h] += logits[e] * score[h];
                }
                e++;
            }
        check_gradients(&run, kinds[i]);
        for (size_t e = 0; e < count; e++)
            for (size_t h = 0; h < 64; h++)
                for (size_t k = 0; k < WIDE; k++)
                    dw[h * WIDE + k] +=
                        run.tape->dexternal[e * run.tape->stride + h] * float_at(wide, from[e] * WIDE + k);
        compare_gradient(kinds[i], "score", dscore, tensor_of(&run.golden, "grad.score.weight"), 1);
        compare_gradient(kinds[i], "proj", dw, tensor_of(&run.golden, "grad.proj.weight"), 1);
        free(w), free(b), free(score), free(bias);
        close_reference_run(&run);
    }
}

/* ---------------------------------------------------------------- ten steps */

static void check_updated_weights(const json_t *weights, const struct model_parameter *p)
{
    const json_t *want = json_object_get(weights, p->name), *index = json_object_get(want, "index");

    if (!want || strstr(p->name, "attention.self.key.bias"))
        return; /* the gradient is zero except for rounding errors, which Adam amplifies */
    double length = json_number_value(json_object_get(want, "l2"));
    if (!(fabs(compute_norm(p->value, p->count) - length) <= 1e-5 * length))
        fail_msg("%s: length %.8g instead of %.8g", p->name, compute_norm(p->value, p->count), length);
    for (size_t i = 0; i < json_array_size(index); i++) {
        size_t at = (size_t)json_integer_value(json_array_get(index, i));
        double value = json_number_value(json_array_get(json_object_get(want, "value"), i));

        if (!(fabs(p->value[at] - value) <= 5e-5))
            fail_msg("%s[%zu] is %.8g instead of %.8g", p->name, at, p->value[at], value);
    }
}

static void ten_adamw_steps_equal_reference(void **state)
{
    static struct reference_run run;
    static struct label_head head;
    const struct tape_limits limits = {.rows = 160, .longest = 44};
    struct model_parameter list[64], *own;
    struct adamw adamw;
    char path[PATH_BYTES];
    size_t count;

    (void)state;
    if (!shared_path(path, "golden/grads/bert.adamw.json") ||
        !open_reference_run(&run, "bert", "multilabel_softmax", &limits))
        skip();
    struct str text = read_whole(path);
    json_t *root = parse_reference_json(text), *steps = json_object_get(root, "steps");

    add_reference_batch(&run, "in.input_ids", "in.attention_mask");
    open_label_head(&head, &run);
    wt__trainable_parameters(run.t, &own, &count);
    assert_true(count <= 62);
    memcpy(list, own, count * sizeof(list[0]));
    list[count++] = (struct model_parameter){
        .name = "head.weight", .value = head.w, .gradient = head.dw, .count = LABELS * 64, .rate = 1};
    list[count++] =
        (struct model_parameter){.name = "head.bias", .value = head.b, .gradient = head.db, .count = LABELS, .rate = 1};
    for (size_t i = 0; i < count; i++)
        list[i].decays = true; /* as in the reference run */
    struct adamw_options options = ADAMW_DEFAULTS;
    assert_int_equal(wt__adamw_open(&adamw, list, count, &options, NULL), 0);
    for (size_t step = 0; step <= json_array_size(steps); step++) {
        const json_t *row = json_array_get(steps, step);
        double want = json_number_value(json_object_get(row ? row : root, row ? "loss" : "loss_after_10_steps"));

        run_label_head(&run, &head, true);
        if (!(fabs(run.loss - want) <= 2e-5 * fabs(want)))
            fail_msg("step %zu: loss %.8g instead of %.8g", step, run.loss, want);
        if (!row)
            break;
        wt__trainable_backward(run.t, &run.r.batch, run.tape, run.g);
        float rate = 1e-3f * wt__schedule(SCHEDULE_COSINE, step, 3, 10);
        assert_true(fabs(rate - json_number_value(json_object_get(row, "lr"))) < 1e-9);
        double norm = wt__adamw_step(&adamw, rate, 1, 1);
        double norm_want = json_number_value(json_object_get(row, "grad_norm_before_clip"));
        if (!(fabs(norm - norm_want) <= 1e-4 * norm_want))
            fail_msg("step %zu: norm %.8g instead of %.8g", step, norm, norm_want);
        wt__gradients_clear(list, count);
    }
    for (size_t i = 0; i < count; i++)
        check_updated_weights(json_object_get(root, "weights"), &list[i]);
    wt__adamw_dispose(&adamw);
    json_decref(root);
    free((void *)text.ptr);
    free(head.w);
    free(head.b);
    close_reference_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_multilabel_loss_equal_reference),
        cmocka_unit_test(gradients_of_contrastive_loss_equal_reference),
        cmocka_unit_test(gradients_of_triplet_loss_equal_reference),
        cmocka_unit_test(gradients_with_external_rows_equal_reference),
        cmocka_unit_test(ten_adamw_steps_equal_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
