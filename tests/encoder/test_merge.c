/* Tests the merging of models: the weighted mean, config.json, and the errors for models that cannot be merged. Numbers
 * that are equal in all models must stay exactly the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "encoder/encoder.h"
#include "encoder/internal.h"
#include "encoder/model_files.h"
#include "encoder/support.h"
#include "encoder/tiny_model.h"
#include "encoder/trainable.h"
#include "nn/safetensors.h"

static char folder[64], model[80], a[96], b[96], c[96], out[96];

static int set_up_merge(void **state)
{
    (void)state;
    tiny_model_make(folder, model, TINY_BERT, 1);
    snprintf(a, sizeof(a), "%s/a", folder);
    snprintf(b, sizeof(b), "%s/b", folder);
    snprintf(c, sizeof(c), "%s/c", folder);
    snprintf(out, sizeof(out), "%s/out", folder);
    tiny_model_write(a, TINY_BERT, 1);
    tiny_model_write(b, TINY_BERT ", \"whichtool\": {\"fields\": [\"name\"], \"seed\": 5}", 2);
    tiny_model_write(c, TINY_BERT ", \"whichtool\": {\"fields\": [\"description\"]}", 3);
    return 0;
}

static int tear_down_merge(void **state)
{
    (void)state;
    remove_model_folder(folder);
    return 0;
}

static json_t *read_merged_config(const char *of)
{
    char path[128], *text;
    size_t len;
    json_t *config;

    snprintf(path, sizeof(path), "%s/config.json", of);
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, NULL), 0);
    assert_int_equal(wt__json_parse(&config, text, len, NULL), 0);
    free(text);
    return config;
}

/* Sets *numbers to all numbers of a model's weights file, and returns their count. */
static size_t read_model_numbers(const char *of, float **numbers)
{
    char path[128];
    struct mapping map;
    struct safetensors file;
    size_t count = 0;

    snprintf(path, sizeof(path), "%s/model.safetensors", of);
    assert_int_equal(wt__file_map(&map, path, NULL), 0);
    assert_int_equal(wt__safetensors_open(&file, path, map.ptr, map.len, NULL), 0);
    for (size_t i = 0; i < file.count; i++)
        count += file.tensors[i].count;
    *numbers = malloc(count * sizeof(float));
    count = 0;
    for (size_t i = 0; i < file.count; i++) {
        assert_int_equal(wt__tensor_floats(&file.tensors[i], *numbers + count, NULL), 0);
        count += file.tensors[i].count;
    }
    wt__safetensors_dispose(&file);
    wt__file_unmap(&map);
    return count;
}

static void merging_computes_weighted_mean(void **state)
{
    static const struct {
        const char *parts[3];
        size_t count;
        bool given;
        double weights[3];
    } cases[] = {
        {{a, b}, 2, true, {.7, .3}},
        {{b, a}, 2, true, {.7, .3}},
        {{a, b}, 2, true, {0, 1}},
        {{a, b}, 2, true, {1, 0}},
        {{a, b}, 2, false, {.5, .5}},
        {{a, b, c}, 3, false, {1 / 3., 1 / 3., 1 / 3.}},
        {{a, b, c}, 3, true, {.2, .3, .5}},
        {{a, a}, 2, true, {.7, .3}}, /* this row and the next two reproduce the model to the last bit */
        {{a, a, a}, 3, false, {1 / 3., 1 / 3., 1 / 3.}},
        {{a, a, a}, 3, true, {.1, .2, .7}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        float *have, *of[3];
        struct encoder *encoder;
        wt_error err;

        if (wt__model_merge(cases[i].parts, cases[i].given ? cases[i].weights : NULL, cases[i].count, out, &err) < 0)
            fail_msg("case %zu: %s", i, err.message);
        size_t count = read_model_numbers(out, &have);
        bool same = true;
        for (size_t p = 0; p < cases[i].count; p++) {
            assert_int_equal(read_model_numbers(cases[i].parts[p], &of[p]), count);
            same = same && cases[i].parts[p] == cases[i].parts[0];
        }
        for (size_t n = 0; n < count; n++) {
            double sum = 0;
            for (size_t p = 0; p < cases[i].count; p++)
                sum += cases[i].weights[p] * (double)of[p][n];
            if (same ? memcmp(&have[n], &of[0][n], sizeof(float)) != 0 : have[n] != (float)sum)
                fail_msg("case %zu: number %zu is %.9g, not %.9g", i, n, (double)have[n], sum);
        }
        for (size_t p = 0; p < cases[i].count; p++)
            free(of[p]);
        free(have);
        assert_int_equal(wt__encoder_open(&encoder, out, NULL), 0);
        wt__encoder_close(encoder);
        remove_model_folder(out);
    }
}

static void merged_config_lists_models(void **state)
{
    const char *parts[] = {a, b, c};

    (void)state;
    assert_int_equal(wt__model_merge(parts, NULL, 3, out, NULL), 0);
    json_t *config = read_merged_config(out), *own = json_object_get(config, "whichtool"),
           *list = json_object_get(own, "merged");
    assert_int_equal(json_array_size(list), 3);
    assert_int_equal(json_object_size(own), 2);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};
        json_t *entry = json_array_get(list, i);

        assert_string_equal(json_string_value(json_object_get(entry, "name")), names[i]);
        assert_int_equal(json_string_length(json_object_get(entry, "sha256")), 64);
        assert_true(json_number_value(json_object_get(entry, "weight")) == 1 / 3.);
    }
    /* The first model that has fields determines them. */
    assert_string_equal(json_string_value(json_array_get(json_object_get(own, "fields"), 0)), "name");
    json_decref(config);
    remove_model_folder(out);
}

static void merging_rejects_unlike_models(void **state)
{
    char other[96], heads[96], words[96], less[96], none[96], garbage[96];
    wt_error err;

    (void)state;
    snprintf(other, sizeof(other), "%s/other", folder);
    snprintf(heads, sizeof(heads), "%s/heads", folder);
    snprintf(words, sizeof(words), "%s/words", folder);
    snprintf(less, sizeof(less), "%s/less", folder);
    snprintf(none, sizeof(none), "%s/none", folder);
    snprintf(garbage, sizeof(garbage), "%s/garbage", folder);
    tiny_model_write(other, TINY_MPNET, 1);
    tiny_model_write(heads, TINY_BERT ", \"num_attention_heads\": 4", 1);
    tiny_model_write(words, TINY_BERT, 1);
    put_text(words, "tokenizer_config.json", "{\"do_lower_case\": false}");
    tiny_model_write(less, TINY_BERT, 1);
    float number = 1;
    char path[128];
    snprintf(path, sizeof(path), "%s/model.safetensors", less);
    struct tensor_source one = {"embeddings.word_embeddings.weight", &number, 2, {1, 1}};
    assert_int_equal(wt__safetensors_write(path, &one, 1, NULL, NULL), 0);
    tiny_model_write(garbage, TINY_BERT, 1);
    put_text(garbage, "model.safetensors", "garbage");

    const struct {
        const char *parts[2];
        size_t count;
        bool given;
        double weights[2];
        int code;
        const char *says;
    } cases[] = {
        {{a, other}, 2, false, {0}, WT_EMODEL, "architectures or dimensions differ"},
        {{a, heads}, 2, false, {0}, WT_EMODEL, "architectures or dimensions differ"},
        {{a, words}, 2, false, {0}, WT_EMODEL, "tokenizers differ"},
        {{a, less}, 2, false, {0}, WT_EMODEL, "tensors that the other lacks"},
        {{a, garbage}, 2, false, {0}, WT_EMODEL, "the file has only"},
        {{garbage, a}, 2, false, {0}, WT_EMODEL, "the file has only"},
        {{a, none}, 2, false, {0}, WT_EMODEL, "cannot open"},
        {{a, b}, 1, false, {0}, WT_EINVAL, "name 2 to 64"},
        {{a, b}, 0, false, {0}, WT_EINVAL, "name 2 to 64"},
        {{a, b}, 65, false, {0}, WT_EINVAL, "name 2 to 64"},
        {{a, b}, 2, true, {.5, .6}, WT_EINVAL, "add up to 1.1"},
        {{a, b}, 2, true, {-.5, 1.5}, WT_EINVAL, "is not between 0 and 1"},
        {{a, b}, 2, true, {NAN, 1}, WT_EINVAL, "is not between 0 and 1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc = wt__model_merge(cases[i].parts, cases[i].given ? cases[i].weights : NULL, cases[i].count, out, &err);
        if (rc != cases[i].code || !strstr(err.message, cases[i].says))
            fail_msg("case %zu: %d \"%s\"", i, rc, err.message);
        assert_false(wt__is_folder(out));
    }
    const char *parts[] = {a, b};
    assert_int_equal(wt__model_merge(parts, NULL, 2, a, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "there is a model in"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_computes_weighted_mean),
        cmocka_unit_test(merged_config_lists_models),
        cmocka_unit_test(merging_rejects_unlike_models),
    };

    return cmocka_run_group_tests(tests, set_up_merge, tear_down_merge);
}
