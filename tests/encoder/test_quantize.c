/* Tests quantized models of each architecture. The quantized numbers must be near the original numbers, and numbers out
 * of the range of the precision must be rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "encoder/encoder.h"
#include "encoder/model_files.h"
#include "encoder/support.h"
#include "encoder/tiny_model.h"
#include "encoder/trainable.h"

static char folder[64], model[80], out[96], again[96];

static int set_up_quantize(void **state)
{
    (void)state;
    tiny_model_make(folder, model, TINY_BERT ", \"whichtool\": {\"seed\": 5}", 1);
    snprintf(out, sizeof(out), "%s/out", folder);
    snprintf(again, sizeof(again), "%s/again", folder);
    return 0;
}

static int tear_down_quantize(void **state)
{
    (void)state;
    remove_model_folder(folder);
    return 0;
}

static void open_quantized_file(struct safetensors *file, struct mapping *map, const char *of)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/model.safetensors", of);
    assert_int_equal(wt__file_map(map, path, NULL), 0);
    assert_int_equal(wt__safetensors_open(file, path, map->ptr, map->len, NULL), 0);
}

static void close_quantized_file(struct safetensors *file, struct mapping *map)
{
    wt__safetensors_dispose(file);
    wt__file_unmap(map);
}

/* Checks the error of a quantized row. A number in half precision is off by at most half a step. An int8 row has at
 * most the squared error of a row whose scale is its largest number / 127. */
static void check_row(const char *name, const float *x, const float *y, size_t width, enum precision precision)
{
    float most = 0;
    double off = 0, plain = 0;

    for (size_t i = 0; i < width; i++)
        most = fmaxf(most, fabsf(x[i]));
    for (size_t i = 0; i < width; i++) {
        double scale = (double)fmaxf(most / 127, FLT_MIN), rounded = rint((double)x[i] / scale) * scale;
        off += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        plain += ((double)x[i] - rounded) * ((double)x[i] - rounded);
        if (precision == PRECISION_FP16 && fabsf(x[i] - y[i]) > .5001f * fmaxf(fabsf(x[i]) * 0x1p-10f, 0x1p-24f))
            fail_msg("%s: %.9g is %.9g", name, (double)x[i], (double)y[i]);
    }
    if (precision == PRECISION_INT8 && off > plain * 1.0001 + (double)FLT_MIN * FLT_MIN * 1e6 + 1e-12 * most * most)
        fail_msg("%s: a row is off by %g, not by %g at most", name, off, plain);
}

static void check_numbers(const char *from, const char *to, enum precision precision)
{
    struct safetensors a, b;
    struct mapping of_a, of_b;

    open_quantized_file(&a, &of_a, from);
    open_quantized_file(&b, &of_b, to);
    for (size_t t = 0; t < a.count; t++) {
        const struct tensor *want = &a.tensors[t], *have = wt__safetensors_find(&b, want->name);
        float *x = malloc(want->count * sizeof(float)), *y = malloc(want->count * sizeof(float));
        size_t width = want->count / want->shape[0];

        assert_non_null(have);
        assert_int_equal(have->dtype, want->rank < 2 ? DTYPE_F32 : precision == PRECISION_FP16 ? DTYPE_F16 : DTYPE_I8);
        assert_int_equal(wt__tensor_floats(want, x, NULL), 0);
        assert_int_equal(wt__tensor_floats(have, y, NULL), 0);
        for (size_t row = 0; row < want->shape[0] && want->rank > 1; row++)
            check_row(want->name, x + row * width, y + row * width, width, precision);
        if (want->rank < 2)
            assert_memory_equal(x, y, want->count * sizeof(float));
        free(x);
        free(y);
    }
    close_quantized_file(&a, &of_a);
    close_quantized_file(&b, &of_b);
}

static void quantized_numbers_are_near_original(void **state)
{
    static const char *const models[] = {TINY_BERT, TINY_ROBERTA, TINY_DISTILBERT, TINY_MPNET, TINY_DEBERTA_V2};

    (void)state;
    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++)
        for (int precision = 0; precision < PRECISIONS; precision++) {
            char source[96];
            struct encoder *encoder;
            struct trainable *trainable;
            struct safetensors file;
            struct mapping map;
            wt_error err;

            snprintf(source, sizeof(source), "%s/source", folder);
            tiny_model_write(source, models[m], 7);
            if (wt__model_quantize(source, (enum precision)precision, out, &err) < 0)
                fail_msg("model %zu: %s", m, err.message);
            check_numbers(source, out, (enum precision)precision);
            assert_int_equal(wt__encoder_open(&encoder, out, NULL), 0);
            wt__encoder_close(encoder);
            /* Training can start from a quantized model, and saves fp32 numbers without scales. */
            assert_int_equal(wt__trainable_open(&trainable, out, NULL), 0);
            assert_int_equal(wt__trainable_save(trainable, out, again, NULL, NULL), 0);
            open_quantized_file(&file, &map, again);
            for (size_t t = 0; t < file.count; t++)
                assert_true(file.tensors[t].dtype == DTYPE_F32 && !strstr(file.tensors[t].name, ".scale"));
            close_quantized_file(&file, &map);
            wt__trainable_close(trainable);
            remove_model_folder(source);
            remove_model_folder(out);
            remove_model_folder(again);
        }
}

/* The largest number of a quantized row is 127 times the scale of the row. Quantizing again therefore finds the same
 * scale, and the bytes stay the same. */
static void quantizing_again_changes_nothing(void **state)
{
    struct safetensors a, b;
    struct mapping of_a, of_b;

    (void)state;
    assert_int_equal(wt__model_quantize(model, PRECISION_INT8, out, NULL), 0);
    assert_int_equal(wt__model_quantize(out, PRECISION_INT8, again, NULL), 0);
    open_quantized_file(&a, &of_a, out);
    open_quantized_file(&b, &of_b, again);
    for (size_t t = 0; t < a.count; t++)
        if (a.tensors[t].dtype == DTYPE_I8)
            assert_memory_equal(a.tensors[t].data, wt__safetensors_find(&b, a.tensors[t].name)->data,
                                a.tensors[t].bytes);
    close_quantized_file(&a, &of_a);
    close_quantized_file(&b, &of_b);
    remove_model_folder(out);
    remove_model_folder(again);
}

static void quantized_config_names_source(void **state)
{
    char path[128], *text;
    size_t len;
    json_t *config;

    (void)state;
    assert_int_equal(wt__model_quantize(model, PRECISION_INT8, out, NULL), 0);
    snprintf(path, sizeof(path), "%s/config.json", out);
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, NULL), 0);
    assert_int_equal(wt__json_parse(&config, text, len, NULL), 0);
    free(text);
    const json_t *own = wt__json_object(config, "whichtool"), *about = wt__json_object(own, "quantized");
    assert_int_equal(wt__json_int(own, "seed", 0), 5);
    assert_true(wt__str_equal(wt__json_str(about, "precision"), STR("int8")));
    assert_true(wt__str_equal(wt__json_str(about, "name"), STR("tiny")));
    assert_int_equal(wt__json_str(about, "sha256").len, 64);
    json_decref(config);
    remove_model_folder(out);
}

static void numbers_out_of_range_are_rejected(void **state)
{
    static const struct {
        float number;
        enum precision precision;
        const char *says; /* NULL if accepted */
    } cases[] = {
        {NAN, PRECISION_INT8, "which does not fit int8"},
        {INFINITY, PRECISION_INT8, "which does not fit int8"},
        {-INFINITY, PRECISION_FP16, "which does not fit fp16"},
        {65505, PRECISION_FP16, "holds 65505, which does not fit fp16"},
        {-65504, PRECISION_FP16, NULL},
        {3e38f, PRECISION_INT8, NULL},
        {1e-42f, PRECISION_INT8, NULL},
        {1e-42f, PRECISION_FP16, NULL},
        {0, PRECISION_INT8, NULL},
        {-0x1p-24f, PRECISION_FP16, NULL},
        {0x1.ffcp-15f, PRECISION_FP16, NULL},
        {0x1.ffep-1f, PRECISION_FP16, NULL},
    };
    char path[128], broken[96];
    wt_error err;

    (void)state;
    snprintf(broken, sizeof(broken), "%s/broken", folder);
    tiny_model_write(broken, TINY_BERT, 1);
    snprintf(path, sizeof(path), "%s/model.safetensors", broken);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const float numbers[4] = {cases[i].number, 0, 0, 0};
        const struct tensor_source one = {"embeddings.word_embeddings.weight", numbers, 2, {2, 2}};

        assert_int_equal(wt__safetensors_write(path, &one, 1, NULL, NULL), 0);
        int rc = wt__model_quantize(broken, cases[i].precision, out, &err);
        if (cases[i].says ? rc != WT_EMODEL || !strstr(err.message, cases[i].says) : rc != 0)
            fail_msg("case %zu: %d \"%s\"", i, rc, err.message);
        if (rc == 0) {
            check_numbers(broken, out, cases[i].precision);
            remove_model_folder(out);
        }
        assert_false(wt__is_folder(out));
    }
    put_text(broken, "model.safetensors", "garbage");
    assert_int_equal(wt__model_quantize(broken, PRECISION_INT8, out, &err), WT_EMODEL);
    assert_int_equal(wt__model_quantize(folder, PRECISION_INT8, out, &err), WT_EMODEL);
    assert_int_equal(wt__model_quantize(model, PRECISION_INT8, model, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "there is a model in"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantized_numbers_are_near_original),
        cmocka_unit_test(quantizing_again_changes_nothing),
        cmocka_unit_test(quantized_config_names_source),
        cmocka_unit_test(numbers_out_of_range_are_rejected),
    };

    return cmocka_run_group_tests(tests, set_up_quantize, tear_down_quantize);
}
