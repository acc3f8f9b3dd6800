/* Tests the prompts of models: how they are read from files, how texts are encoded with them, and that they change the
 * hash of the encoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/config.h"
#include "encoder/encoder.h"
#include "encoder/model_files.h"
#include "encoder/support.h"
#include "encoder/trainable.h"

/* sentence, record: texts of MODEL_SENTENCE_CONFIG and MODEL_RECORD, or NULL if the file is missing. request, tool: the
 * prompts that are read. says: part of the error message, or NULL for success. */
static const struct {
    const char *name, *sentence, *record, *request, *tool, *says;
} rows[] = {
    {"no file", NULL, NULL, "", "", NULL},
    {"no prompts", "{\"similarity_fn_name\": \"cosine\"}", NULL, "", "", NULL},
    {"empty prompts", "{\"prompts\": {\"query\": \"\", \"document\": \"\"}}", NULL, "", "", NULL},
    {"query and passage", "{\"prompts\": {\"query\": \"q: \", \"passage\": \"p: \"}}", NULL, "q: ", "p: ", NULL},
    {"document before passage", "{\"prompts\": {\"passage\": \"p: \", \"document\": \"d: \"}}", NULL, "", "d: ", NULL},
    {"only a corpus prompt", "{\"prompts\": {\"corpus\": \"c: \"}}", NULL, "", "c: ", NULL},
    {"only a query prompt", "{\"prompts\": {\"query\": \"q: \"}, \"default_prompt_name\": null}", NULL, "q: ", "",
     NULL},
    {"a default prompt for both roles", "{\"prompts\": {\"s2s\": \"same: \"}, \"default_prompt_name\": \"s2s\"}", NULL,
     "same: ", "same: ", NULL},
    {"a default prompt for tools only",
     "{\"prompts\": {\"query\": \"q: \", \"x\": \"y\"}, \"default_prompt_name\": \"x\"}", NULL, "q: ", "y", NULL},
    {"a default prompt that does not exist", "{\"prompts\": {\"a\": \"b\"}, \"default_prompt_name\": \"x\"}", NULL, "",
     "", NULL},
    {"prompts of the record", NULL, "{\"prompts\": {\"query\": \"q: \", \"document\": \"d: \"}}", "q: ", "d: ", NULL},
    {"prompts of the record if the model has none", "{\"prompts\": {}}", "{\"prompts\": {\"query\": \"q: \"}}",
     "q: ", "", NULL},
    {"the model's prompts override a record", "{\"prompts\": {\"query\": \"own: \"}}",
     "{\"prompts\": {\"query\": \"q: \"}}", "own: ", "", NULL},
    {"prompts that are not an object", "{\"prompts\": [1]}", NULL, "", "", NULL},
    {"a prompt that is a number", "{\"prompts\": {\"query\": 7}}", NULL, NULL, NULL,
     "has a prompt that is not a string"},
    {"a malformed file", "{\"prompts\"", NULL, NULL, NULL, "config_sentence_transformers.json"},
    {"a malformed record", NULL, "{", NULL, NULL, "whichtool.json"},
};

static void prompts_are_read_like_sentence_transformers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char folder[64], model[80];
        struct model_prompts prompts;
        wt_error err = {0};

        make_model(folder, model);
        if (rows[i].sentence)
            put_text(model, MODEL_SENTENCE_CONFIG, rows[i].sentence);
        if (rows[i].record)
            put_text(model, MODEL_RECORD, rows[i].record);
        int rc = wt__model_prompts(&prompts, model, &err);
        if (rows[i].says ? rc != WT_EMODEL || !strstr(err.message, rows[i].says)
                         : rc != 0 || strcmp(prompts.of[TEXT_REQUEST], rows[i].request) != 0 ||
                               strcmp(prompts.of[TEXT_TOOL], rows[i].tool) != 0)
            fail_msg("%s: %d \"%s\", \"%s\" and \"%s\"", rows[i].name, rc, err.message, prompts.of[0], prompts.of[1]);
        remove_model_folder(folder);
    }
}

static void long_prompts_are_rejected(void **state)
{
    char folder[64], model[80], text[MODEL_PROMPT + 64];
    struct model_prompts prompts;
    wt_error err;

    (void)state;
    make_model(folder, model);
    for (int over = 0; over < 2; over++) {
        snprintf(text, sizeof(text), "{\"prompts\": {\"query\": \"%*s\"}}", MODEL_PROMPT - 1 + over, "x");
        put_text(model, MODEL_SENTENCE_CONFIG, text);
        assert_int_equal(wt__model_prompts(&prompts, model, &err), over ? WT_EMODEL : 0);
    }
    assert_non_null(strstr(err.message, "has a prompt of 512 bytes; at most 511 are supported"));
    put_text(model, "1_Pooling/config.json", "{\"pooling_mode\": \"mean\", \"include_prompt\": false}");
    put_text(model, MODEL_SENTENCE_CONFIG, "{}");
    struct encoder *encoder;
    assert_int_equal(wt__encoder_open(&encoder, model, &err), WT_EMODEL);
    assert_non_null(strstr(err.message, "1_Pooling/config.json excludes prompts from the pooling"));
    remove_model_folder(folder);
}

/* Encodes a text with a model that has these prompts. out: [SMALL_HIDDEN] the vector. hash: [65] the encoder's hash. */
static void encode_with_prompts(const char *model, const char *prompts, enum text_role role, const char *text,
                                float *out, char *hash)
{
    struct encoder_scratch *scratch;
    struct encoder *encoder;
    struct str one = wt__str(text);
    wt_error err;

    put_text(model, MODEL_SENTENCE_CONFIG, prompts);
    if (wt__encoder_open(&encoder, model, &err) < 0 || wt__encoder_scratch_new(&scratch, encoder, &err) < 0)
        fail_msg("%s", err.message);
    memcpy(hash, wt__encoder_hash(encoder), 65);
    for (int i = 0; i < 2; i++) /* the second call must not add the prompt twice */
        assert_int_equal(wt__encode(encoder, scratch, role, &one, 1, out, &err), 0);
    float many[SMALL_HIDDEN];
    assert_int_equal(wt__encode_many(encoder, role, &one, 1, 2, many, NULL, &err), 0);
    assert_memory_equal(many, out, sizeof(many));
    wt__encoder_scratch_free(scratch);
    wt__encoder_close(encoder);
}

static void text_is_encoded_with_prompt_of_its_role(void **state)
{
    static const char two[] = "{\"prompts\": {\"query\": \"a b \", \"document\": \"c \"}}";
    static const struct {
        enum text_role role;
        const char *whole;
    } cases[] = {{TEXT_REQUEST, "a b d e"}, {TEXT_TOOL, "c d e"}, {TEXT_PLAIN, "d e"}};
    char folder[64], model[80], plain[65], prompted[65], other[65];
    float want[SMALL_HIDDEN], have[SMALL_HIDDEN];

    (void)state;
    make_model(folder, model);
    for (size_t i = 0; i < 3; i++) {
        encode_with_prompts(model, "{}", TEXT_REQUEST, cases[i].whole, want, plain);
        encode_with_prompts(model, two, cases[i].role, "d e", have, prompted);
        assert_memory_equal(have, want, sizeof(want));
        assert_string_not_equal(prompted, plain);
    }
    /* The hash also changes if text moves from one prompt to the other, or if the roles swap their prompts. */
    encode_with_prompts(model, "{\"prompts\": {\"query\": \"a b c \", \"document\": \"\"}}", TEXT_PLAIN, "d", have,
                        other);
    assert_string_not_equal(other, prompted);
    encode_with_prompts(model, "{\"prompts\": {\"query\": \"c \", \"document\": \"a b \"}}", TEXT_PLAIN, "d", have,
                        other);
    assert_string_not_equal(other, prompted);
    encode_with_prompts(model, two, TEXT_PLAIN, "d", have, other);
    assert_string_equal(other, prompted);
    remove_model_folder(folder);
}

static void trained_model_keeps_prompts(void **state)
{
    char folder[64], model[80], out[96];
    struct model_prompts prompts;
    struct trainable *trainable;
    wt_error err;

    (void)state;
    make_model(folder, model);
    put_text(model, MODEL_RECORD, "{\"files\": [], \"prompts\": {\"query\": \"a \"}}");
    assert_int_equal(wt__trainable_open(&trainable, model, &err), 0);
    assert_string_equal(wt__trainable_prompts(trainable)->of[TEXT_REQUEST], "a ");
    snprintf(out, sizeof(out), "%s/out", folder);
    assert_int_equal(wt__trainable_save(trainable, model, out, NULL, &err), 0);
    wt__trainable_close(trainable);
    assert_int_equal(wt__model_prompts(&prompts, out, &err), 0);
    assert_string_equal(prompts.of[TEXT_REQUEST], "a ");
    remove_model_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_are_read_like_sentence_transformers),
        cmocka_unit_test(long_prompts_are_rejected),
        cmocka_unit_test(text_is_encoded_with_prompt_of_its_role),
        cmocka_unit_test(trained_model_keeps_prompts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
