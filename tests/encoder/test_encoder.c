/* The encoder against a naive forward pass in doubles on a small model, against the reference implementation's hidden
 * states and embeddings where its data lies beside the project, and against itself in other company. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "encoder/cache.h"
#include "encoder/encoder.h"
#include "encoder/model_dir.h"
#include "encoder/support.h"
#include "nn/safetensors.h"
#include "text/support.h"
#include "text/wordpiece.h"

/* ---------------------------------------------------------------- naive forward pass */

struct naive {
    struct safetensors weights;
    struct mapping map;
    double x[SMALL_POSITIONS][SMALL_HIDDEN];
};

static const float *weight(const struct naive *n, const char *format, int layer)
{
    char name[128];

    snprintf(name, sizeof(name), format, layer);
    const struct tensor *t = wt__safetensors_find(&n->weights, name);
    assert_non_null(t);
    float *out = malloc(t->count * sizeof(float));
    assert_non_null(out);
    assert_int_equal(wt__tensor_floats(t, out, NULL), 0);
    return out;
}

static void naive_norm(const struct naive *n, const char *gain_name, const char *bias_name, int layer, double *x)
{
    const float *gain = weight(n, gain_name, layer), *bias = weight(n, bias_name, layer);
    double mean = 0, variance = 0;

    for (int h = 0; h < SMALL_HIDDEN; h++)
        mean += x[h] / SMALL_HIDDEN;
    for (int h = 0; h < SMALL_HIDDEN; h++)
        variance += (x[h] - mean) * (x[h] - mean) / SMALL_HIDDEN;
    for (int h = 0; h < SMALL_HIDDEN; h++)
        x[h] = (x[h] - mean) / sqrt(variance + 1e-12) * gain[h] + bias[h];
    free((void *)gain), free((void *)bias);
}

static void naive_linear(const struct naive *n, const char *part, int layer, const double *x, size_t in, double *y,
                         size_t out)
{
    char w_name[128], b_name[128];

    snprintf(w_name, sizeof(w_name), "encoder.layer.%%d.%s.weight", part);
    snprintf(b_name, sizeof(b_name), "encoder.layer.%%d.%s.bias", part);
    const float *w = weight(n, w_name, layer), *b = weight(n, b_name, layer);
    for (size_t o = 0; o < out; o++) {
        y[o] = b[o];
        for (size_t i = 0; i < in; i++)
            y[o] += w[o * in + i] * x[i];
    }
    free((void *)w), free((void *)b);
}

static void naive_layer(struct naive *n, int layer, int tokens)
{
    enum { H = SMALL_HIDDEN, A = SMALL_HEADS, D = H / A, I = SMALL_INTERMEDIATE };
    double q[SMALL_POSITIONS][H], k[SMALL_POSITIONS][H], v[SMALL_POSITIONS][H], wide[I], y[H];

    for (int t = 0; t < tokens; t++) {
        naive_linear(n, "attention.self.query", layer, n->x[t], H, q[t], H);
        naive_linear(n, "attention.self.key", layer, n->x[t], H, k[t], H);
        naive_linear(n, "attention.self.value", layer, n->x[t], H, v[t], H);
    }
    for (int t = 0; t < tokens; t++) {
        double mixed[H] = {0};

        for (int a = 0; a < A; a++) {
            double score[SMALL_POSITIONS], sum = 0;

            for (int s = 0; s < tokens; s++) {
                score[s] = 0;
                for (int d = a * D; d < (a + 1) * D; d++)
                    score[s] += q[t][d] * k[s][d] / sqrt(D);
                sum += score[s] = exp(score[s]);
            }
            for (int s = 0; s < tokens; s++)
                for (int d = a * D; d < (a + 1) * D; d++)
                    mixed[d] += score[s] / sum * v[s][d];
        }
        naive_linear(n, "attention.output.dense", layer, mixed, H, y, H);
        for (int h = 0; h < H; h++)
            n->x[t][h] += y[h];
        naive_norm(n, "encoder.layer.%d.attention.output.LayerNorm.weight",
                   "encoder.layer.%d.attention.output.LayerNorm.bias", layer, n->x[t]);
        naive_linear(n, "intermediate.dense", layer, n->x[t], H, wide, I);
        for (int i = 0; i < I; i++)
            wide[i] = wide[i] / 2 * (1 + erf(wide[i] * sqrt(0.5)));
        naive_linear(n, "output.dense", layer, wide, I, y, H);
        for (int h = 0; h < H; h++)
            n->x[t][h] += y[h];
        naive_norm(n, "encoder.layer.%d.output.LayerNorm.weight", "encoder.layer.%d.output.LayerNorm.bias", layer,
                   n->x[t]);
    }
}

static void naive_encode(const char *model, const int32_t *ids, int tokens, bool cls, double out[SMALL_HIDDEN])
{
    static struct naive n;
    char path[128];
    double length = 0;

    snprintf(path, sizeof(path), "%s/model.safetensors", model);
    assert_int_equal(wt__file_map(&n.map, path, NULL), 0);
    assert_int_equal(wt__safetensors_open(&n.weights, path, n.map.ptr, n.map.len, NULL), 0);
    const float *words = weight(&n, "embeddings.word_embeddings.weight", 0);
    const float *positions = weight(&n, "embeddings.position_embeddings.weight", 0);
    const float *types = weight(&n, "embeddings.token_type_embeddings.weight", 0);
    for (int t = 0; t < tokens; t++) {
        for (int h = 0; h < SMALL_HIDDEN; h++)
            n.x[t][h] = words[ids[t] * SMALL_HIDDEN + h] + positions[t * SMALL_HIDDEN + h] + types[h];
        naive_norm(&n, "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias", 0, n.x[t]);
    }
    free((void *)words), free((void *)positions), free((void *)types);
    for (int layer = 0; layer < SMALL_LAYERS; layer++)
        naive_layer(&n, layer, tokens);
    for (int h = 0; h < SMALL_HIDDEN; h++) {
        out[h] = 0;
        for (int t = 0; t < (cls ? 1 : tokens); t++)
            out[h] += n.x[t][h];
        length += out[h] * out[h];
    }
    for (int h = 0; h < SMALL_HIDDEN; h++)
        out[h] /= sqrt(length);
    wt__safetensors_dispose(&n.weights);
    wt__file_unmap(&n.map);
}

/* ---------------------------------------------------------------- small model */

static const char *const texts[] = {"find a table for two",
                                    "",
                                    "book the tables, the books.",
                                    "a b c d ?",
                                    "\xff\xfe nonsense",
                                    "the the the the the the the the the the the the the the the "
                                    "the the the the the the the the the the the the the the the",
                                    "d"};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static struct encoder *open_encoder(const char *folder)
{
    struct encoder *encoder;
    wt_error err = {0};

    if (wt__encoder_open(&encoder, folder, &err) != 0)
        fail_msg("%s", err.message);
    return encoder;
}

static void encode_one(const struct encoder *encoder, struct str text, float *out)
{
    struct encoder_scratch *scratch;

    assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, NULL), 0);
    assert_int_equal(wt__encode(encoder, scratch, &text, 1, out, NULL), 0);
    wt__encoder_scratch_free(scratch);
}

static void compare_with_naive(const char *model, bool cls)
{
    struct encoder *encoder = open_encoder(model);
    struct buffer blob = {0};
    struct vocabulary vocabulary;
    struct vocabulary_options options = VOCABULARY_UNCASED;

    assert_int_equal(wt__vocabulary_build(&blob, wt__str(small_vocabulary), &options, NULL), 0);
    assert_int_equal(wt__vocabulary_open(&vocabulary, blob.ptr, blob.len, NULL), 0);
    assert_int_equal(wt__encoder_dim(encoder), SMALL_HIDDEN);
    for (size_t i = 0; i < TEXTS; i++) {
        int32_t ids[SMALL_POSITIONS];
        double want[SMALL_HIDDEN];
        float have[SMALL_HIDDEN];

        size_t tokens = wt__wordpiece_encode(&vocabulary, wt__str(texts[i]), SMALL_POSITIONS, ids);
        naive_encode(model, ids, (int)tokens, cls, want);
        encode_one(encoder, wt__str(texts[i]), have);
        for (int h = 0; h < SMALL_HIDDEN; h++)
            if (fabs(have[h] - want[h]) > 1e-5)
                fail_msg("\"%s\" [%d] is %.8g, expected %.8g", texts[i], h, have[h], want[h]);
    }
    wt__buffer_dispose(&blob);
    wt__encoder_close(encoder);
}

static void a_small_model_equals_a_naive_one(void **state)
{
    char folder[64], model[80];

    (void)state;
    make_model(folder, model);
    compare_with_naive(model, false);
    put_text(model, "1_Pooling/config.json", "{\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": false}");
    compare_with_naive(model, true);
    put_text(model, "1_Pooling/config.json", "{\"embedding_dimension\": 24, \"pooling_mode\": \"mean\"}");
    compare_with_naive(model, false);
    remove_folder(folder);
}

static void names_with_a_prefix_are_found(void **state)
{
    char folder[64], model[80];
    float plain[SMALL_HIDDEN], prefixed[SMALL_HIDDEN];

    (void)state;
    make_model(folder, model);
    struct encoder *encoder = open_encoder(model);
    encode_one(encoder, STR("book a table"), plain);
    wt__encoder_close(encoder);
    put_weights(model, "bert.", 1);
    encoder = open_encoder(model);
    encode_one(encoder, STR("book a table"), prefixed);
    assert_memory_equal(plain, prefixed, sizeof(plain));
    assert_string_equal(wt__encoder_name(encoder), "small");
    assert_int_equal(strlen(wt__encoder_hash(encoder)), 64);
    wt__encoder_close(encoder);
    remove_folder(folder);
}

static int stop_at_once(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    return 1;
}

static void company_and_threads_change_nothing(void **state)
{
    enum { COUNT = 600 };
    static float one[COUNT][SMALL_HIDDEN], many[COUNT][SMALL_HIDDEN];
    char folder[64], model[80];
    struct str all[COUNT];

    (void)state;
    make_model(folder, model);
    struct encoder *encoder = open_encoder(model);
    for (size_t i = 0; i < COUNT; i++) {
        all[i] = wt__str(texts[i * 5 % TEXTS]);
        all[i].len -= all[i].len > 3 ? i % 3 : 0;
        encode_one(encoder, all[i], one[i]);
    }
    for (unsigned threads = 0; threads <= 5; threads++) {
        memset(many, 0, sizeof(many));
        assert_int_equal(wt__encode_many(encoder, all, COUNT, threads, many[0], NULL, NULL), 0);
        assert_memory_equal(many, one, sizeof(one));
    }
    assert_int_equal(wt__encode_many(encoder, all, 0, 2, many[0], NULL, NULL), 0);

    struct progress progress;
    wt_error err = {0};
    wt__progress_init(&progress, stop_at_once, NULL);
    wt__progress_phase(&progress, "encoding", COUNT);
    assert_int_equal(wt__encode_many(encoder, all, COUNT, 2, many[0], &progress, &err), WT_ECANCELLED);
    assert_int_equal(err.code, WT_ECANCELLED);
    wt__progress_dispose(&progress);
    wt__encoder_close(encoder);
    remove_folder(folder);
}

/* ---------------------------------------------------------------- reference data */

struct golden {
    struct safetensors file;
    struct mapping map;
};

static bool open_golden(struct golden *golden, const char *name)
{
    char path[PATH_BYTES];
    wt_error err = {0};

    if (!shared_path(path, name))
        return false;
    assert_int_equal(wt__file_map(&golden->map, path, &err), 0);
    assert_int_equal(wt__safetensors_open(&golden->file, path, golden->map.ptr, golden->map.len, &err), 0);
    return true;
}

static void close_golden(struct golden *golden)
{
    wt__safetensors_dispose(&golden->file);
    wt__file_unmap(&golden->map);
}

static const struct tensor *tensor_of(const struct golden *golden, const char *name)
{
    const struct tensor *t = wt__safetensors_find(&golden->file, name);

    if (!t)
        fail_msg("no tensor %s", name);
    return t;
}

static int32_t int_at(const struct tensor *t, size_t i)
{
    int32_t v;

    memcpy(&v, t->data + 4 * i, 4);
    return v;
}

static float float_at(const struct tensor *t, size_t i)
{
    float v;

    memcpy(&v, t->data + 4 * i, 4);
    return v;
}

/* scratch->x against the valid positions of one of the reference's [B, T, H]. */
static double worst_state(const struct bert_scratch *s, const struct bert_batch *batch, const struct tensor *want)
{
    double worst = 0;

    for (size_t b = 0; b < batch->count; b++)
        for (size_t t = batch->starts[b]; t < batch->starts[b + 1]; t++)
            for (size_t h = 0; h < want->shape[2]; h++) {
                size_t at = (b * want->shape[1] + t - batch->starts[b]) * want->shape[2] + h;
                worst = fmax(worst, fabs((double)s->x[t * s->stride + h] - float_at(want, at)));
            }
    return worst;
}

static void check_states(const struct golden *golden, const char *kind, const struct bert *bert)
{
    char name[64];
    snprintf(name, sizeof(name), "%s.input_ids", kind);
    const struct tensor *ids = tensor_of(golden, name);
    snprintf(name, sizeof(name), "%s.attention_mask", kind);
    const struct tensor *mask = tensor_of(golden, name);
    snprintf(name, sizeof(name), "%s.token_type_ids", kind);
    const struct tensor *types = wt__safetensors_find(&golden->file, name);
    int32_t flat[4 * 100], flat_types[4 * 100];
    size_t starts[5] = {0};
    struct bert_batch batch = {.starts = starts, .ids = flat, .types = types ? flat_types : NULL};

    for (size_t i = 0; i < ids->count; i++) {
        size_t b = i / ids->shape[1];

        if (b == batch.count)
            starts[++batch.count] = starts[b];
        if (int_at(mask, i)) {
            flat[starts[b + 1]] = int_at(ids, i);
            flat_types[starts[b + 1]++] = types ? int_at(types, i) : 0;
        }
    }
    struct arena arena = {0};
    struct bert_scratch scratch;
    assert_int_equal(wt__bert_scratch_init(&scratch, bert, starts[batch.count], &arena, NULL), 0);
    wt__bert_embed_forward(bert, &batch, &scratch);
    for (size_t layer = 0; layer <= bert->config.layers; layer++) {
        snprintf(name, sizeof(name), layer < bert->config.layers ? "%s.hidden_%zu" : "%s.last_hidden_state", kind,
                 layer);
        const struct tensor *want = wt__safetensors_find(&golden->file, name);

        if (want && worst_state(&scratch, &batch, want) > 1e-5)
            fail_msg("%s is off by %g", name, worst_state(&scratch, &batch, want));
        if (layer < bert->config.layers)
            wt__bert_layer_forward(bert, layer, &batch, &scratch);
    }
    wt__arena_dispose(&arena);
}

static void hidden_states_equal_the_reference(void **state)
{
    static struct model_cache cache;
    struct golden golden;
    char path[PATH_BYTES];
    wt_error err = {0};

    (void)state;
    if (!open_golden(&golden, "golden/encoders/bert/golden.safetensors"))
        return;
    assert_true(shared_path(path, "golden/encoders/bert/config.json"));
    *strrchr(path, '/') = '\0';
    if (wt__model_cache_open(&cache, path, false, NULL, &err) != 0)
        fail_msg("%s", err.message);
    check_states(&golden, "rand", &cache.packed.bert);
    check_states(&golden, "rand_notypes", &cache.packed.bert);
    wt__model_cache_close(&cache);
    close_golden(&golden);
}

static double worst_row(const float *have, const struct tensor *want, size_t row, size_t dim)
{
    double worst = 0;

    for (size_t d = 0; d < dim; d++)
        worst = fmax(worst, fabs((double)have[d] - float_at(want, row * dim + d)));
    return worst;
}

static void pooled_texts_equal_the_reference(void **state)
{
    static const char *const pools[][2] = {{"mean", "text.mean_normalized"}, {"cls", "text.cls"}};
    struct golden golden;
    char folder[64], model[80], path[PATH_BYTES];

    (void)state;
    if (!open_golden(&golden, "golden/encoders/bert/golden.safetensors"))
        return;
    make_model(folder, model);
    static const char *const files[] = {"config.json",           "vocab.txt",
                                        "tokenizer.json",        "model.safetensors",
                                        "tokenizer_config.json", "golden_texts.json"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "golden/encoders/bert/%s", files[i]);
        assert_true(shared_path(path, name));
        struct str bytes = read_whole(path);
        put_file(model, files[i], bytes.ptr, bytes.len);
        free((void *)bytes.ptr);
    }
    put_text(model, "sentence_bert_config.json", "{\"max_seq_length\": 96}");
    struct str text = read_whole(path);
    json_t *root = parse(text), *list = json_object_get(root, "texts");
    for (size_t p = 0; p < 2; p++) {
        char pooling[64];
        snprintf(pooling, sizeof(pooling), "{\"pooling_mode\": \"%s\"}", pools[p][0]);
        put_text(model, "1_Pooling/config.json", pooling);
        struct encoder *encoder = open_encoder(model);
        const struct tensor *want = tensor_of(&golden, pools[p][1]);

        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *item = json_array_get(list, i);
            float have[64], length = 0;

            encode_one(encoder, (struct str){json_string_value(item), json_string_length(item)}, have);
            for (size_t d = 0; p == 1 && d < 64; d++)
                length += float_at(want, i * 64 + d) * float_at(want, i * 64 + d);
            for (size_t d = 0; d < 64; d++)
                have[d] *= p == 1 ? sqrtf(length) : 1;
            if (worst_row(have, want, i, 64) > 1e-5)
                fail_msg("%s of text %zu is off by %g", pools[p][0], i, worst_row(have, want, i, 64));
        }
        wt__encoder_close(encoder);
    }
    json_decref(root);
    free((void *)text.ptr);
    remove_folder(folder);
    close_golden(&golden);
}

static void the_default_model_equals_the_reference(void **state)
{
    struct arena arena = {0};
    struct golden golden;
    char path[PATH_BYTES];
    double worst = 0;

    (void)state;
    char *model = wt__model_folder(&arena, NULL, WT_DEFAULT_MODEL);
    if (!wt__is_folder(model)) {
        printf("skipped: no model " WT_DEFAULT_MODEL "\n");
    } else if (open_golden(&golden, "golden/minilm/golden.safetensors")) {
        struct encoder *encoder = open_encoder(model);
        const struct tensor *want = tensor_of(&golden, "embeddings_256");

        assert_int_equal(wt__encoder_dim(encoder), 384);
        assert_int_equal(wt__encoder_max_tokens(encoder), 256);
        assert_true(shared_path(path, "golden/minilm/texts.jsonl"));
        struct str all = read_whole(path), rest = all, line;
        for (size_t i = 0; next_line(&rest, &line); i++) {
            json_t *object = parse(line);
            float have[384];

            encode_one(encoder, text_of(object, "text"), have);
            worst = fmax(worst, worst_row(have, want, i, 384));
            json_decref(object);
        }
        printf("largest difference from the reference: %.2g\n", worst);
        assert_true(worst <= 2e-6);
        free((void *)all.ptr);
        wt__encoder_close(encoder);
        close_golden(&golden);
    }
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_model_equals_the_reference), /* before XDG_CACHE_HOME is changed */
        cmocka_unit_test(a_small_model_equals_a_naive_one),       cmocka_unit_test(names_with_a_prefix_are_found),
        cmocka_unit_test(company_and_threads_change_nothing),     cmocka_unit_test(hidden_states_equal_the_reference),
        cmocka_unit_test(pooled_texts_equal_the_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
