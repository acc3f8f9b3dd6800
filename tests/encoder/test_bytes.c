/* Tests models with int8 matrices: the vectors are near those of the same model with fp32 products, and do not depend
 * on the other texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "encoder/encoder.h"
#include "encoder/internal.h"
#include "encoder/model_files.h"
#include "encoder/packed.h"
#include "encoder/support.h"
#include "encoder/tiny_model.h"
#include "encoder/transformer.h"
#include "nn/kernels/kernels.h"
#include "nn/layers.h"

enum { MOST_TOKENS = 64, MOST_DIM = 384 };
static const double LEAST_COSINE = .999, LEAST_COSINE_7BITS = .995; /* with codes of 8 and of 7 bits */

static const char *const texts[] = {
    "play music",
    "find the price of the stock",
    "translate a book in paris and convert the money",
    "remind me every Monday at nine to water the plants, and turn the heating down when nobody is at home",
    "GET /v1/orders/{id}: returns one order with its lines; 404 where there is none",
    "a",
    "",
    "\xc3\xa9t\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87 \xff\xfe 0x7f!?",
};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static char folder[64], model[80], quantized[96];

static int set_up_int8_models(void **state)
{
    (void)state;
    tiny_model_make(folder, model, TINY_BERT, 1);
    snprintf(quantized, sizeof(quantized), "%s/quantized", folder);
    return 0;
}

static int tear_down_int8_models(void **state)
{
    (void)state;
    remove_model_folder(folder);
    return 0;
}

/* Packs and opens the model in the folder `of`. The caller frees the result, which `packed` points into. */
static unsigned char *pack_int8_model(struct packed *packed, const char *of)
{
    unsigned char *image;
    wt_error err = {0};
    size_t len;

    if (wt__model_pack(&image, &len, of, NULL, &err) < 0 || wt__packed_open(packed, image, len, of, &err) < 0)
        fail_msg("%s: %s", of, err.message);
    return image;
}

/* Encodes one text, with int8 or fp32 products. */
static void encode_int8(const struct packed *packed, const char *text, bool bytes, float *out)
{
    const struct transformer *m = &packed->model;
    struct activation_limits limits = {.rows = MOST_TOKENS, .longest = MOST_TOKENS, .bytes = bytes};
    int32_t ids[MOST_TOKENS];
    size_t starts[2] = {0, wt__tokenizer_encode(&packed->tokenizer, wt__str(text), MOST_TOKENS, ids)};
    struct token_batch batch = {.count = 1, .starts = starts, .ids = ids};
    struct activations a;
    size_t floats = wt__activations_place(&a, m, &limits, false, NULL);
    float *memory = wt__alloc_aligned(floats, sizeof(float));

    assert_non_null(memory);
    assert_true(m->config.hidden <= MOST_DIM);
    wt__activations_place(&a, m, &limits, false, memory);
    wt__transformer_forward(m, &batch, &a);
    wt__pool_forward(&m->config, a.x, a.stride, starts[1], out);
    wt__normalize(out, m->config.hidden);
    free(memory);
}

/* Compares int8 and fp32 products of the model in the folder `of`. */
static void check_texts_are_near(const char *of)
{
    static struct packed packed;
    unsigned char *image = pack_int8_model(&packed, of);
    size_t dim = packed.model.config.hidden;

    assert_int_equal(packed.header->bytes, 1);
    for (size_t i = 0; i < TEXTS; i++) {
        float have[MOST_DIM], want[MOST_DIM];
        double cosine = 0;

        encode_int8(&packed, texts[i], true, have);
        encode_int8(&packed, texts[i], false, want);
        for (size_t d = 0; d < dim; d++)
            cosine += (double)have[d] * want[d];
        if (!(cosine >= (wt__kernels()->most_code == WT_CODE_7BITS ? LEAST_COSINE_7BITS : LEAST_COSINE)))
            fail_msg("%s: \"%s\": %.6f", of, texts[i], cosine);
        assert_memory_not_equal(have, want, dim * sizeof(float)); /* int8 products were used */
    }
    free(image);
}

static void int8_is_near_fp32_for_each_architecture(void **state)
{
    static const char *const models[] = {TINY_BERT, TINY_ROBERTA, TINY_DISTILBERT, TINY_MPNET, TINY_DEBERTA_V2};

    (void)state;
    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
        tiny_model_write(model, models[m], 3);
        assert_int_equal(wt__model_quantize(model, PRECISION_INT8, quantized, NULL), 0);
        check_texts_are_near(quantized);
        remove_model_folder(quantized);
    }
}

static void included_model_is_near_fp32(void **state)
{
    const char *source = getenv("WT_TEST_SOURCE");
    char included[512];

    (void)state;
    snprintf(included, sizeof(included), "%s/models/whichtool-minilm-v2", source ? source : ".");
    if (!wt__is_folder(included)) {
        print_message("skipped: no %s\n", included);
        skip();
    }
    check_texts_are_near(included);
}

static void only_int8_models_have_int8_sections(void **state)
{
    static struct packed packed;

    (void)state;
    unsigned char *image = pack_int8_model(&packed, model);
    assert_int_equal(packed.header->bytes, 0);
    assert_null(packed.model.layers[0].qkv.bytes);
    free(image);
    assert_int_equal(wt__model_quantize(model, PRECISION_FP16, quantized, NULL), 0);
    image = pack_int8_model(&packed, quantized);
    assert_int_equal(packed.header->bytes, 0);
    free(image);
}

static void vectors_do_not_depend_on_other_texts(void **state)
{
    struct encoder_scratch *scratch;
    struct encoder *encoder;
    struct str all[TEXTS];

    (void)state;
    assert_int_equal(wt__model_quantize(model, PRECISION_INT8, quantized, NULL), 0);
    assert_int_equal(wt__encoder_open(&encoder, quantized, NULL), 0);
    assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, NULL), 0);
    size_t dim = wt__encoder_dim(encoder);
    float together[TEXTS * MOST_DIM], alone[MOST_DIM];
    for (size_t i = 0; i < TEXTS; i++)
        all[i] = wt__str(texts[i]);
    for (unsigned threads = 1; threads < 4; threads++) {
        assert_int_equal(wt__encode_many(encoder, TEXT_TOOL, all, TEXTS, threads, together, NULL, NULL), 0);
        for (size_t i = 0; i < TEXTS; i++) {
            assert_int_equal(wt__encode(encoder, scratch, TEXT_TOOL, &all[i], 1, alone, NULL), 0);
            assert_memory_equal(alone, together + i * dim, dim * sizeof(float));
        }
    }
    wt__encoder_scratch_free(scratch);
    wt__encoder_close(encoder);
}

static void verify_detects_damaged_int8(void **state)
{
    static struct packed packed;
    wt_error err;

    (void)state;
    assert_int_equal(wt__model_quantize(model, PRECISION_INT8, quantized, NULL), 0);
    unsigned char *image = pack_int8_model(&packed, quantized);
    assert_int_equal(wt__packed_verify(&packed, "p", NULL), 0);
    image[packed.header->sections[PACKED_BYTES].offset + 100] ^= 4;
    assert_int_equal(wt__packed_verify(&packed, "p", &err), WT_EMODEL);
    assert_string_equal(err.message, "p: section 4 is damaged");
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(int8_is_near_fp32_for_each_architecture, set_up_int8_models,
                                        tear_down_int8_models),
        cmocka_unit_test_setup_teardown(included_model_is_near_fp32, set_up_int8_models, tear_down_int8_models),
        cmocka_unit_test_setup_teardown(only_int8_models_have_int8_sections, set_up_int8_models, tear_down_int8_models),
        cmocka_unit_test_setup_teardown(vectors_do_not_depend_on_other_texts, set_up_int8_models,
                                        tear_down_int8_models),
        cmocka_unit_test_setup_teardown(verify_detects_damaged_int8, set_up_int8_models, tear_down_int8_models),
    };

    if (!wt__bytes_ready()) {
        printf("skipped: the kernels of this processor have no int8 products\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
