/* Tests every architecture against hidden states and pooled vectors of the reference implementation. Skipped if the
 * reference data is not available. Hidden states are computed from both layouts of the weights: packed, and as in the
 * model files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "encoder/encoder.h"
#include "encoder/golden.h"
#include "encoder/internal.h"
#include "encoder/model_files.h"
#include "encoder/packed.h"
#include "encoder/transformer.h"

#define TOLERANCE 1e-5

/* tokenizer: model whose folder has the tokenizer's files; NULL if the model has its own. type: model_type to write to
 * config.json; NULL to keep the existing one. XLM-RoBERTa is tested with the data of RoBERTa, because only their
 * tokenizers differ. */
static const struct {
    const char *name, *tokenizer, *type;
} models[] = {{"bert", NULL, NULL},
              {"distilbert", NULL, NULL},
              {"roberta", NULL, NULL},
              {"roberta", NULL, "xlm-roberta"},
              {"mpnet", NULL, NULL},
              {"deberta_v3", NULL, NULL},
              {"deberta_v2_embproj", "deberta_v3", NULL},
              {"deberta_v2_misc", "deberta_v3", NULL}};
enum { MODELS = sizeof(models) / sizeof(models[0]) };

/* Creates a model folder from the reference data. Returns false if the data is not available. */
static bool create_golden_model(size_t i, char folder[64], char model[80])
{
    char path[PATH_BYTES], name[128], other[128];

    snprintf(name, sizeof(name), "golden/encoders/%s/config.json", models[i].name);
    if (!shared_path(path, name))
        return false;
    snprintf(folder, 64, "/tmp/whichtool-encoder-XXXXXX");
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(model, 80, "%s/model", folder);
    if (models[i].tokenizer) {
        snprintf(other, sizeof(other), "golden/encoders/%s", models[i].tokenizer);
        copy_golden(model, other);
    }
    *strrchr(name, '/') = '\0';
    copy_golden(model, name);
    if (models[i].type) {
        json_t *config = NULL;
        struct buffer text = {0};
        assert_int_equal(wt__model_config_open(&config, model, NULL), 0);
        assert_int_equal(json_object_set_new(config, "model_type", json_string(models[i].type)), 0);
        assert_int_equal(wt__json_write(&text, config), 0);
        put_text(model, "config.json", text.ptr);
        wt__buffer_dispose(&text);
        json_decref(config);
    }
    return true;
}

/* Compares the hidden states of all layers. Does nothing if the reference has no tensors of this kind. kind: prefix of
 * the tensors' names. kept: each layer has its own buffers. */
static void check_states(const struct encoder_golden *golden, const char *model, const char *kind,
                         const struct transformer *m, bool kept)
{
    static struct ragged r;
    char name[64];

    snprintf(name, sizeof(name), "%s.input_ids", kind);
    const struct tensor *ids = wt__safetensors_find(&golden->file, name);
    if (!ids)
        return;
    r = (struct ragged){.starts = {0}};
    snprintf(name, sizeof(name), "%s.attention_mask", kind);
    const struct tensor *mask = tensor_of(golden, name);
    snprintf(name, sizeof(name), "%s.token_type_ids", kind);
    add_padded(&r, ids, mask, wt__safetensors_find(&golden->file, name));

    struct activations a;
    struct activation_limits limits = {.rows = r.starts[r.batch.count], .longest = ids->shape[1]};
    size_t floats = wt__activations_place(&a, m, &limits, kept, NULL);
    float *memory = aligned_alloc(64, floats * sizeof(float));
    assert_non_null(memory);
    memset(memory, 0xff, floats * sizeof(float)); /* NaN, to detect reads of unwritten buffers */
    assert_int_equal(wt__activations_place(&a, m, &limits, kept, memory), floats);
    wt__embedding_forward(m, &r.batch, &a);
    for (size_t layer = 0; layer <= m->config.layers; layer++) {
        snprintf(name, sizeof(name), layer < m->config.layers ? "%s.hidden_%zu" : "%s.last_hidden_state", kind, layer);
        const struct tensor *want = wt__safetensors_find(&golden->file, name);
        double worst = want ? worst_state(a.x, a.stride, &r.batch, want) : 0;

        if (!(worst <= TOLERANCE))
            fail_msg("%s, %s: %s is off by %g", model, kept ? "trainable" : "packed", name, worst);
        if (layer < m->config.layers)
            wt__layer_forward(m, layer, &r.batch, &a);
    }
    free(memory);
}

static void hidden_states_equal_reference(void **state)
{
    static const char *const kinds[] = {"rand", "rand_notypes", "long"};
    static struct packed packed;

    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        char folder[64], model[80], name[128];
        struct trainable *t;
        struct encoder_golden golden;
        unsigned char *image;
        wt_error err = {0};
        size_t len;

        if (!create_golden_model(i, folder, model))
            skip();
        snprintf(name, sizeof(name), "golden/encoders/%s/golden.safetensors", models[i].name);
        assert_true(open_golden(&golden, name));
        if (wt__model_pack(&image, &len, model, NULL, &err) < 0 ||
            wt__packed_open(&packed, image, len, model, &err) < 0 || wt__trainable_open(&t, model, &err) < 0)
            fail_msg("%s: %s", models[i].name, err.message);
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            check_states(&golden, models[i].name, kinds[k], &packed.model, false);
            check_states(&golden, models[i].name, kinds[k], &t->model, true);
        }
        wt__trainable_close(t);
        free(image);
        close_golden(&golden);
        remove_model_folder(folder);
    }
}

static struct encoder *open_golden_encoder(const char *model)
{
    struct encoder *encoder;
    wt_error err = {0};

    if (wt__encoder_open(&encoder, model, &err) != 0)
        fail_msg("%s", err.message);
    return encoder;
}

/* Scales the unit vector `have` to the length of the reference row. Returns the largest difference from the row. */
static double find_worst_row(const float *have, const struct tensor *want, size_t row, size_t dim)
{
    double worst = 0, length = 0;

    for (size_t d = 0; d < dim; d++)
        length += (double)float_at(want, row * dim + d) * float_at(want, row * dim + d);
    for (size_t d = 0; d < dim; d++) {
        double off = fabs(have[d] * sqrt(length) - float_at(want, row * dim + d));
        worst = off <= worst ? worst : off; /* keeps NaN */
    }
    return worst;
}

static void check_texts(const struct encoder_golden *golden, const char *model, const char *name, const json_t *texts)
{
    static const char *const pools[][2] = {{"mean", "text.mean_normalized"}, {"cls", "text.cls"}};

    for (size_t p = 0; p < 2; p++) {
        struct encoder_scratch *scratch;
        char pooling[64];

        snprintf(pooling, sizeof(pooling), "{\"pooling_mode\": \"%s\"}", pools[p][0]);
        put_text(model, "1_Pooling/config.json", pooling);
        struct encoder *encoder = open_golden_encoder(model);
        const struct tensor *want = tensor_of(golden, pools[p][1]);

        assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, NULL), 0);
        for (size_t i = 0; i < json_array_size(texts); i++) {
            const json_t *item = json_array_get(texts, i);
            struct str text = {json_string_value(item), json_string_length(item)};
            float have[64];

            assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &text, 1, have, NULL), 0);
            if (!(find_worst_row(have, want, i, 64) <= TOLERANCE))
                fail_msg("%s: %s of text %zu is off by %g", name, pools[p][0], i, find_worst_row(have, want, i, 64));
        }
        wt__encoder_scratch_free(scratch);
        wt__encoder_close(encoder);
    }
}

static void pooled_texts_equal_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        char folder[64], model[80], name[128], path[PATH_BYTES];
        struct encoder_golden golden;

        if (!create_golden_model(i, folder, model))
            skip();
        snprintf(name, sizeof(name), "golden/encoders/%s/golden.safetensors", models[i].name);
        assert_true(open_golden(&golden, name));
        snprintf(name, sizeof(name), "golden/encoders/%s/golden_texts.json", models[i].name);
        assert_true(shared_path(path, name));
        struct str text = read_whole(path);
        json_t *root = parse_reference_json(text);

        put_text(model, "sentence_bert_config.json", "{\"max_seq_length\": 96}");
        check_texts(&golden, model, models[i].name, json_object_get(root, "texts"));
        json_decref(root);
        free((void *)text.ptr);
        close_golden(&golden);
        remove_model_folder(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_states_equal_reference),
        cmocka_unit_test(pooled_texts_equal_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
