/* Tests the encoder. A small model is compared with a naive forward pass in double precision. WT_BASE_MODEL is compared
 * with reference vectors if both are available. A vector must not depend on the other texts of a batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/encoder.h"
#include "encoder/golden.h"
#include "encoder/internal.h"
#include "encoder/model_dir.h"
#include "text/tokenizer.h"

/* ---------------------------------------------------------------- naive forward pass */

/* A model, and the hidden state of each token of one text. */
struct naive {
    struct safetensors weights;
    struct mapping map;
    double x[SMALL_POSITIONS][SMALL_HIDDEN];
};

/* Returns a copy of a tensor's numbers. The caller frees it. format: name of the tensor, with %d for the layer. */
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
    assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &text, 1, out, NULL), 0);
    wt__encoder_scratch_free(scratch);
}

/* cls: the model uses CLS pooling instead of mean pooling. */
static void compare_with_naive(const char *model, bool cls)
{
    struct encoder *encoder = open_encoder(model);
    struct buffer blob = {0};
    struct tokenizer tokenizer;

    assert_int_equal(wt__tokenizer_read(&blob, model, NULL), 0);
    assert_int_equal(wt__tokenizer_open(&tokenizer, blob.ptr, blob.len, NULL), 0);
    assert_int_equal(wt__encoder_dim(encoder), SMALL_HIDDEN);
    for (size_t i = 0; i < TEXTS; i++) {
        int32_t ids[SMALL_POSITIONS];
        double want[SMALL_HIDDEN];
        float have[SMALL_HIDDEN];

        size_t tokens = wt__tokenizer_encode(&tokenizer, wt__str(texts[i]), SMALL_POSITIONS, ids);
        naive_encode(model, ids, (int)tokens, cls, want);
        encode_one(encoder, wt__str(texts[i]), have);
        for (int h = 0; h < SMALL_HIDDEN; h++)
            if (fabs(have[h] - want[h]) > 1e-5)
                fail_msg("\"%s\" [%d] is %.8g, expected %.8g", texts[i], h, have[h], want[h]);
    }
    wt__buffer_dispose(&blob);
    wt__encoder_close(encoder);
}

static void vector_equals_naive_forward_pass(void **state)
{
    char folder[64], model[80];

    (void)state;
    make_model(folder, model);
    compare_with_naive(model, false);
    put_text(model, "1_Pooling/config.json", "{\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": false}");
    compare_with_naive(model, true);
    put_text(model, "1_Pooling/config.json", "{\"embedding_dimension\": 24, \"pooling_mode\": \"mean\"}");
    compare_with_naive(model, false);
    remove_model_folder(folder);
}

static void tensors_with_name_prefix_are_found(void **state)
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
    remove_model_folder(folder);
}

static int stop_at_once(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    return 1;
}

static void vector_does_not_depend_on_batch_or_threads(void **state)
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
        assert_int_equal(wt__encode_many(encoder, TEXT_REQUEST, all, COUNT, threads, many[0], NULL, NULL), 0);
        assert_memory_equal(many, one, sizeof(one));
    }
    assert_int_equal(wt__encode_many(encoder, TEXT_REQUEST, all, 0, 2, many[0], NULL, NULL), 0);

    struct progress progress;
    wt_error err = {0};
    wt__progress_init(&progress, stop_at_once, NULL);
    wt__progress_phase(&progress, "encoding", COUNT);
    assert_int_equal(wt__encode_many(encoder, TEXT_REQUEST, all, COUNT, 2, many[0], &progress, &err), WT_ECANCELLED);
    assert_int_equal(err.code, WT_ECANCELLED);
    wt__progress_dispose(&progress);
    wt__encoder_close(encoder);
    remove_model_folder(folder);
}

/* ---------------------------------------------------------------- reference data */

static double find_worst_vector(const float *have, const struct tensor *want, size_t row, size_t dim)
{
    double worst = 0;

    for (size_t d = 0; d < dim; d++)
        worst = fmax(worst, fabs((double)have[d] - float_at(want, row * dim + d)));
    return worst;
}

static void default_model_equals_reference(void **state)
{
    struct arena arena = {0};
    struct encoder_golden golden;
    char path[PATH_BYTES];
    double worst = 0;

    (void)state;
    char *model;
    assert_int_equal(wt__model_folder(&model, &arena, NULL, WT_BASE_MODEL, NULL), 0);
    bool there = wt__is_folder(model);
    if (!there)
        printf("skipped: no model " WT_BASE_MODEL "\n");
    if (!there || !open_golden(&golden, "golden/minilm/golden.safetensors")) {
        wt__arena_dispose(&arena);
        skip();
    }
    struct encoder *encoder = open_encoder(model);
    const struct tensor *want = tensor_of(&golden, "embeddings_256");

    assert_int_equal(wt__encoder_dim(encoder), 384);
    assert_int_equal(wt__encoder_max_tokens(encoder), 256);
    assert_true(shared_path(path, "golden/minilm/texts.jsonl"));
    struct str all = read_whole(path), rest = all, line;
    for (size_t i = 0; next_line(&rest, &line); i++) {
        json_t *object = parse_reference_json(line);
        float have[384];

        encode_one(encoder, text_of(object, "text"), have);
        worst = fmax(worst, find_worst_vector(have, want, i, 384));
        json_decref(object);
    }
    printf("largest difference from the reference: %.2g\n", worst);
    assert_true(worst <= 2e-6);
    free((void *)all.ptr);
    wt__encoder_close(encoder);
    close_golden(&golden);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_model_equals_reference), /* needs the original XDG_CACHE_HOME */
        cmocka_unit_test(vector_equals_naive_forward_pass),
        cmocka_unit_test(tensors_with_name_prefix_are_found),
        cmocka_unit_test(vector_does_not_depend_on_batch_or_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
