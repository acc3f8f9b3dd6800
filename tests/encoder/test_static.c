/* Tests static encoders. Their vectors must equal the vectors computed with numpy (make_static_golden.py), malformed
 * and truncated files must be rejected, and the built-in model must open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/json.h"
#include "encoder/encoder.h"
#include "encoder/internal.h"
#include "encoder/model_dir.h"
#include "encoder/packed.h"
#include "encoder/support.h"
#include "encoder/trainable.h"

static const char *const kinds[] = {"bytes", "floats"};
enum { KINDS = sizeof kinds / sizeof *kinds, DIM = 12 };

static char folder[64], model[80];

static int set_up_static(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/whichtool-static-XXXXXX");
    if (!mkdtemp(folder))
        abort();
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(model, sizeof model, "%s/model", folder);
    return 0;
}

static int tear_down_static(void **state)
{
    (void)state;
    remove_model_folder(folder);
    return 0;
}

/* Reads a file of tests/golden/static; NULL if it does not exist. */
static char *read_golden_file(const char *kind, const char *name, size_t *len)
{
    const char *source = getenv("WT_TEST_SOURCE");
    char path[512], *text = NULL;

    snprintf(path, sizeof path, "%s/tests/golden/static/%s%s%s", source ? source : ".", kind, *kind ? "/" : "", name);
    return wt__file_read(&text, len, path, 1 << 20, NULL) == 0 ? text : NULL;
}

/* Replaces `model` by a copy of the golden model, without a packed file. */
static void copy_static_model(const char *kind)
{
    static const char *const names[] = {"config.json", "model.safetensors", "vocab.txt", "tokenizer.json"};

    if (wt__is_folder(model))
        remove_model_folder(model);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len;
        char *text = read_golden_file(kind, names[i], &len);

        if (text)
            put_file(model, names[i], text, len);
        free(text);
    }
}

static struct encoder *open_static_model(const char *path)
{
    struct encoder *encoder;
    wt_error err = {0};

    if (wt__encoder_open(&encoder, path, &err) != 0)
        fail_msg("%s", err.message);
    return encoder;
}

static void vectors_equal_numpy(void **state)
{
    json_t *golden = NULL;
    size_t len;
    char *text = read_golden_file("", "vectors.json", &len);

    (void)state;
    assert_non_null(text);
    assert_int_equal(wt__json_parse(&golden, text, len, NULL), 0);
    for (size_t k = 0; k < KINDS; k++) {
        const json_t *rows = json_object_get(golden, kinds[k]);
        struct encoder_scratch *scratch;

        copy_static_model(kinds[k]);
        struct encoder *encoder = open_static_model(model);
        assert_true(wt__encoder_is_static(encoder));
        assert_int_equal(wt__encoder_dim(encoder), DIM);
        assert_int_equal(wt__encoder_max_tokens(encoder), MODEL_STATIC_TOKENS);
        assert_string_equal(wt__encoder_fields(encoder), k == 0 ? "provider,name" : "");
        assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, NULL), 0);
        assert_true(json_array_size(rows) >= 7);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const json_t *vector = wt__json_array(json_array_get(rows, i), "vector");
            struct str one = wt__json_str(json_array_get(rows, i), "text");
            float out[DIM];

            assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &one, 1, out, NULL), 0);
            for (size_t d = 0; d < DIM; d++)
                if (fabs((double)out[d] - json_number_value(json_array_get(vector, d))) > 1e-6)
                    fail_msg("%s: \"%.*s\": %zu is %g", kinds[k], (int)one.len, one.ptr, d, (double)out[d]);
        }
        wt__encoder_scratch_free(scratch);
        wt__encoder_close(encoder);
    }
    json_decref(golden);
    free(text);
}

/* Encodes texts together on several threads, and one by one. Tokens beyond the maximum number are ignored. */
static void vector_does_not_depend_on_neighbours(void **state)
{
    enum { TEXTS = 900, LONG = 4000 };
    static char beyond[LONG], cut[2 * MODEL_STATIC_TOKENS];
    struct str *texts = calloc(TEXTS, sizeof *texts);
    float *many = malloc(TEXTS * DIM * sizeof *many), one[DIM];
    struct encoder_scratch *scratch;

    (void)state;
    assert_true(texts && many);
    for (size_t i = 0; i < LONG; i++)
        beyond[i] = i % 2 ? ' ' : 'a';
    memcpy(cut, beyond, sizeof cut);
    static const char *const words[] = {"the weather", "a train to the city", "rain", "books", "\xff\xfe", "7 tables"};
    for (size_t i = 0; i < TEXTS; i++)
        texts[i] = wt__str(words[i % 6]);
    texts[7] = (struct str){beyond, LONG};
    texts[8] = (struct str){cut, sizeof cut};
    copy_static_model("bytes");
    struct encoder *encoder = open_static_model(model);
    assert_int_equal(wt__encode_many(encoder, TEXT_REQUEST, texts, TEXTS, 3, many, NULL, NULL), 0);
    assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, NULL), 0);
    for (size_t i = 0; i < TEXTS; i++) {
        assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &texts[i], 1, one, NULL), 0);
        assert_memory_equal(one, many + i * DIM, sizeof one);
    }
    assert_memory_equal(many + 7 * DIM, many + 8 * DIM, sizeof one);
    wt__encoder_scratch_free(scratch);
    wt__encoder_close(encoder);
    free(texts);
    free(many);
}

/* ---------------------------------------------------------------- malformed models */

/* A tensor to write. */
struct written {
    const char *name, *type;
    size_t rows, columns; /* columns is 0 for a vector */
};

/* Writes model.safetensors with up to three tensors. The elements of I8 and F32 tensors are 1, all others 0. odd: the
 * last number of each F32 tensor is infinite. */
static void write_static_tensors(const struct written *tensors, bool odd)
{
    struct buffer header = {0}, data = {0}, file = {0};

    for (size_t i = 0; i < 3 && tensors[i].name; i++) {
        const struct written *t = &tensors[i];
        size_t count = t->rows * (t->columns ? t->columns : 1), begin = data.len;

        for (size_t n = 0; n < count; n++) {
            float number = odd && n == count - 1 ? INFINITY : 1;
            if (strcmp(t->type, "I8") == 0)
                wt__buffer_char(&data, 1);
            else if (strcmp(t->type, "F32") == 0)
                wt__buffer_append(&data, &number, sizeof number);
            else
                wt__buffer_append(&data, "\0\0\0\0\0\0\0\0", strcmp(t->type, "F16") == 0 ? 2 : 8);
        }
        wt__buffer_printf(&header, "%s\"%s\": {\"dtype\": \"%s\", \"shape\": [%zu", header.len ? ", " : "{", t->name,
                          t->type, t->rows);
        if (t->columns)
            wt__buffer_printf(&header, ", %zu", t->columns);
        wt__buffer_printf(&header, "], \"data_offsets\": [%zu, %zu]}", begin, data.len);
    }
    wt__buffer_text(&header, "}");
    for (int i = 0; i < 8; i++)
        wt__buffer_char(&file, (char)(header.len >> 8 * i));
    wt__buffer_append(&file, header.ptr, header.len);
    wt__buffer_append(&file, data.ptr, data.len);
    put_file(model, "model.safetensors", file.ptr, file.len);
    wt__buffer_dispose(&file);
    wt__buffer_dispose(&header);
    wt__buffer_dispose(&data);
}

/* Opens the model and expects an error with this message, or success if `message` is NULL. */
static void check_opening(const char *name, const char *message)
{
    struct encoder *encoder;
    wt_error err = {0};
    int rc = wt__encoder_open(&encoder, model, &err);

    if (message ? rc != WT_EMODEL || err.code != rc || encoder || !strstr(err.message, message) : rc != 0)
        fail_msg("%s: %d \"%s\"", name, rc, err.message);
    wt__encoder_close(encoder);
}

static void weights_of_wrong_shape_are_rejected(void **state)
{
    static const struct {
        const char *name;
        struct written tensors[3];
        bool odd;
        const char *message;
    } rows[] = {
        {"half precision", {{"embeddings", "F16", 18, DIM}}, false, NULL},
        {"more rows than tokens", {{"embeddings", "F32", 99, DIM}}, false, NULL},
        {"token weights", {{"embeddings", "F32", 18, DIM}, {"weights", "F64", 18, 0}}, false, NULL},
        {"no embeddings", {{"rows", "F32", 18, DIM}}, false, "has no tensor \"embeddings\""},
        {"one-dimensional embeddings", {{"embeddings", "F32", 18 * DIM, 0}}, false, "needs 1 to 1048576 rows of 12"},
        {"rows of another width", {{"embeddings", "F32", 18, DIM + 1}}, false, "needs 1 to 1048576 rows of 12"},
        {"no rows", {{"embeddings", "F32", 0, DIM}}, false, "needs 1 to 1048576 rows of 12"},
        {"fewer rows than tokens",
         {{"embeddings", "F32", 17, DIM}},
         false,
         "18 tokens, but the embeddings have 17 rows"},
        {"integer rows", {{"embeddings", "I64", 18, DIM}}, false, "holds no floating-point numbers"},
        {"bytes without scales", {{"embeddings", "I8", 18, DIM}}, false, "requires \"embeddings.scale\""},
        {"scales without bytes",
         {{"embeddings", "F32", 18, DIM}, {"embeddings.scale", "F32", 18, 0}},
         false,
         "requires \"embeddings.scale\""},
        {"too few scales",
         {{"embeddings", "I8", 18, DIM}, {"embeddings.scale", "F32", 16, 0}},
         false,
         "\"embeddings.scale\" needs one number for each"},
        {"scales of rank two",
         {{"embeddings", "I8", 18, DIM}, {"embeddings.scale", "F32", 18, 1}},
         false,
         "\"embeddings.scale\" needs one number for each"},
        {"integer scales",
         {{"embeddings", "I8", 18, DIM}, {"embeddings.scale", "I64", 18, 0}},
         false,
         "holds no floating-point numbers"},
        {"too many weights",
         {{"embeddings", "F32", 18, DIM}, {"weights", "F32", 19, 0}},
         false,
         "\"weights\" needs one number for each"},
        {"rows shared by tokens", {{"embeddings", "F32", 18, DIM}, {"mapping", "I64", 18, 0}}, false, "\"mapping\""},
        {"a row that is not finite", {{"embeddings", "F32", 18, DIM}}, true, "not finite"},
        {"a scale that is not finite",
         {{"embeddings", "I8", 18, DIM}, {"embeddings.scale", "F32", 18, 0}},
         true,
         "not finite"},
        {"a weight that is not finite",
         {{"embeddings", "F32", 18, DIM}, {"weights", "F32", 18, 0}},
         true,
         "not finite"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        copy_static_model("bytes");
        write_static_tensors(rows[i].tensors, rows[i].odd);
        check_opening(rows[i].name, rows[i].message);
    }
}

static void width_out_of_range_is_rejected(void **state)
{
    static const struct {
        const char *name, *config, *message;
    } rows[] = {
        {"no hidden_dim", "{\"model_type\": \"model2vec\"}", "hidden_dim must be between 1 and 8192"},
        {"a negative hidden_dim", "{\"model_type\": \"model2vec\", \"hidden_dim\": -1}", "hidden_dim must be between"},
        {"a hidden_dim above the limit", "{\"model_type\": \"model2vec\", \"hidden_dim\": 8193}",
         "hidden_dim must be between"},
        {"a hidden_dim that is not a number", "{\"model_type\": \"model2vec\", \"hidden_dim\": \"12\"}",
         "hidden_dim must be between"},
        {"a hidden_dim that the rows do not have", "{\"model_type\": \"model2vec\", \"hidden_dim\": 24}", "rows of 24"},
        {"truncated config.json", "{\"model_type\": \"model2vec\", \"hidden_dim\": 1", "config.json"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        copy_static_model("bytes");
        put_text(model, "config.json", rows[i].config);
        check_opening(rows[i].name, rows[i].message);
    }
}

static void truncated_weights_are_rejected(void **state)
{
    size_t len;
    char *text = read_golden_file("bytes", "model.safetensors", &len);

    (void)state;
    assert_non_null(text);
    for (size_t cut = 0; cut < len; cut += cut < 16 ? 1 : 13) {
        copy_static_model("bytes");
        put_file(model, "model.safetensors", text, cut);
        check_opening("cut", "");
    }
    free(text);
}

static void static_encoder_cannot_be_trained(void **state)
{
    struct trainable *trainable;
    wt_error err = {0};

    (void)state;
    copy_static_model("bytes");
    assert_int_equal(wt__trainable_open(&trainable, model, &err), WT_EMODEL);
    assert_non_null(strstr(err.message, "is a static encoder, which has no layers to train"));
    assert_int_equal(wt__trainable_open(&trainable, MODEL_BUILT_IN, &err), WT_EMODEL);
    assert_non_null(strstr(err.message, "is a static encoder, which has no layers to train"));
}

/* ---------------------------------------------------------------- packed and built-in models */

static void packed_static_model_is_reused(void **state)
{
    char hash[65];
    bool made;

    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        copy_static_model(kinds[k]);
        assert_false(wt__encoder_peek(model, hash));
        assert_int_equal(wt__encoder_pack(model, &made, NULL), 0);
        assert_true(made);
        assert_int_equal(wt__encoder_pack(model, &made, NULL), 0);
        assert_false(made);
        struct encoder *encoder = open_static_model(model);
        assert_true(wt__encoder_peek(model, hash));
        assert_string_equal(hash, wt__encoder_hash(encoder));
        wt__encoder_close(encoder);
    }
}

static void built_in_model_can_be_opened(void **state)
{
    struct encoder_scratch *scratch;
    struct encoder *encoder = open_static_model(MODEL_BUILT_IN);
    struct arena arena = {0};
    struct model_info info;
    char hash[65], *path;
    bool made = true;

    (void)state;
    assert_string_equal(wt__encoder_name(encoder), WT_BUILT_IN_MODEL);
    assert_true(wt__encoder_is_static(encoder) && wt__encoder_peek(MODEL_BUILT_IN, hash));
    assert_string_equal(hash, wt__encoder_hash(encoder));
    assert_int_equal(wt__encoder_pack(MODEL_BUILT_IN, &made, NULL), 0);
    assert_false(made);
    assert_int_equal((uintptr_t)wt__built_in_model % 4096, 0);
    assert_true(wt__built_in_model_len < 9 << 20);
    struct packed *packed = malloc(sizeof *packed); /* checked here, since wt__packed_bind trusts it */
    assert_int_equal(wt__packed_open(packed, wt__built_in_model, wt__built_in_model_len, "it", NULL), 0);
    assert_int_equal(wt__packed_verify(packed, "it", NULL), 0);
    free(packed);
    assert_int_equal(wt__model_info_read(&info, MODEL_BUILT_IN, NULL), 0);
    assert_int_equal(info.dimension, wt__encoder_dim(encoder));
    /* The built-in model is used only if no complete model folder of its name exists. */
    assert_int_equal(wt__model_folder(&path, &arena, folder, WT_BUILT_IN_MODEL, NULL), 0);
    assert_string_equal(path, MODEL_BUILT_IN);
    put_text(folder, WT_BUILT_IN_MODEL "/config.json", "{}");
    assert_int_equal(wt__model_folder(&path, &arena, folder, WT_BUILT_IN_MODEL, NULL), 0);
    assert_string_equal(path, MODEL_BUILT_IN); /* incomplete copies are ignored */
    put_text(folder, WT_BUILT_IN_MODEL "/model.safetensors", "");
    assert_int_equal(wt__model_folder(&path, &arena, folder, WT_BUILT_IN_MODEL, NULL), 0);
    assert_false(wt__model_is_built_in(path));
    float *out = malloc(2 * wt__encoder_dim(encoder) * sizeof *out);
    struct str texts[] = {STR("play some music"), STR("")};
    assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, NULL), 0);
    assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, texts, 2, out, NULL), 0);
    double length = 0;
    for (size_t d = 0; d < wt__encoder_dim(encoder); d++) {
        length += (double)out[d] * (double)out[d];
        assert_float_equal(out[wt__encoder_dim(encoder) + d], 0, 0);
    }
    assert_true(fabs(length - 1) < 1e-5);
    free(out);
    wt__encoder_scratch_free(scratch);
    wt__encoder_close(encoder);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_equal_numpy),
        cmocka_unit_test(vector_does_not_depend_on_neighbours),
        cmocka_unit_test(weights_of_wrong_shape_are_rejected),
        cmocka_unit_test(width_out_of_range_is_rejected),
        cmocka_unit_test(truncated_weights_are_rejected),
        cmocka_unit_test(static_encoder_cannot_be_trained),
        cmocka_unit_test(packed_static_model_is_reused),
        cmocka_unit_test(built_in_model_can_be_opened),
    };
    return cmocka_run_group_tests(tests, set_up_static, tear_down_static);
}
