/* Tests the reading of model folders: settings, unknown members, unsupported models with their messages, and the names
 * of models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encoder/config.h"
#include "encoder/encoder.h"
#include "encoder/model_dir.h"
#include "encoder/support.h"

#define CONFIG(head)                                                                                                   \
    "{" head "\"hidden_size\": 24, \"num_attention_heads\": 2, \"intermediate_size\": 40, \"num_hidden_layers\": 2,"   \
    " \"max_position_embeddings\": 32, \"vocab_size\": 20, \"type_vocab_size\": 2}"

#define DEBERTA(more) CONFIG("\"model_type\": \"deberta-v2\", \"relative_attention\": true, " more)

/* The vocabulary has [CLS] and [SEP], but the tokenizer does not add them to texts. */
#define FRAMELESS                                                                                                      \
    "{\"normalizer\": {\"type\": \"BertNormalizer\"}, \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"},"            \
    " \"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\","                                                  \
    " \"vocab\": {\"[UNK]\": 0, \"[CLS]\": 1, \"[SEP]\": 2}}}"

/* Each row replaces one file of a valid model folder by `text`, or deletes the file if text is NULL. message: part of
 * the error message of opening the folder. */
static const struct {
    const char *name, *file, *text, *message;
} bad[] = {
    {"config.json is missing", "config.json", NULL, "the model has no config.json"},
    {"vocab.txt is missing", "vocab.txt", NULL, "the model has no tokenizer"},
    {"model.safetensors is missing", "model.safetensors", NULL, "the model has no model.safetensors"},
    {"config.json is empty", "config.json", "", "config.json"},
    {"config.json is an array", "config.json", "[]", "names no model_type"},
    {"config.json is a number", "config.json", "7", "not a JSON object or array"},
    {"config.json has no model_type", "config.json", "{}", "names no model_type"},
    {"model_type is unknown", "config.json", "{\"model_type\": \"gpt2\"}",
     "model_type \"gpt2\" is not supported; supported: bert, roberta, xlm-roberta, distilbert, mpnet, deberta-v2 "
     "and model2vec"},
    {"model_type is known and not supported", "config.json", "{\"model_type\": \"modernbert\"}",
     "model_type \"modernbert\" is not supported: it needs rotary positions"},
    {"hidden_act is not supported", "config.json", CONFIG("\"model_type\": \"bert\", \"hidden_act\": \"quick_gelu\","),
     "hidden_act \"quick_gelu\" is not supported"},
    {"hidden_act is a number", "config.json", CONFIG("\"model_type\": \"bert\", \"hidden_act\": 7,"),
     "hidden_act \"\" is not supported"},
    {"MPNet has another number of buckets", "config.json",
     CONFIG("\"model_type\": \"mpnet\", \"relative_attention_num_buckets\": 64,"),
     "relative_attention_num_buckets must be 32"},
    {"the padding row is behind the last position", "config.json",
     CONFIG("\"model_type\": \"mpnet\", \"pad_token_id\": 40,"), "leaves no position after the padding row"},
    {"DeBERTa has no relative attention", "config.json", CONFIG("\"model_type\": \"deberta-v2\","),
     "DeBERTa without relative_attention is not supported"},
    {"DeBERTa has no pos_att_type", "config.json", DEBERTA(""), "pos_att_type needs c2p or p2c"},
    {"the head size is not hidden_size / heads", "config.json",
     DEBERTA("\"pos_att_type\": \"c2p\", \"attention_head_size\": 24,"), "attention_head_size must be 12"},
    {"the convolution has two groups", "config.json",
     DEBERTA("\"pos_att_type\": \"c2p\", \"conv_kernel_size\": 3, \"conv_groups\": 2,"), "conv_groups must be 1"},
    {"the kernel of the convolution is even", "config.json",
     DEBERTA("\"pos_att_type\": \"c2p\", \"conv_kernel_size\": 4,"), "conv_kernel_size must be odd and at most 15"},
    {"the activation of the convolution is not supported", "config.json",
     DEBERTA("\"pos_att_type\": [\"p2c\"], \"conv_kernel_size\": 3, \"conv_act\": \"sine\","),
     "conv_act \"sine\" is not supported"},
    {"there are more buckets than distances", "config.json",
     DEBERTA("\"pos_att_type\": [\"p2c\"], \"position_buckets\": 99, \"max_relative_positions\": 50,"),
     "position_buckets may be at most max_relative_positions"},
    {"position_embedding_type is relative", "config.json",
     CONFIG("\"model_type\": \"bert\", \"position_embedding_type\": \"relative_key\","),
     "position_embedding_type \"relative_key\" is not supported"},
    {"the model is a decoder", "config.json", CONFIG("\"model_type\": \"bert\", \"is_decoder\": true,"), "decoders"},
    {"hidden_size is not a multiple of the heads", "config.json",
     "{\"model_type\": \"bert\", \"hidden_size\": 24, \"num_attention_heads\": 5, \"intermediate_size\": 40,"
     " \"num_hidden_layers\": 2, \"max_position_embeddings\": 32, \"vocab_size\": 20, \"type_vocab_size\": 2}",
     "24 does not divide into 5 heads"},
    {"the number of layers is missing", "config.json", "{\"model_type\": \"bert\"}",
     "num_hidden_layers must be between 1 and 128"},
    {"the number of layers is above the limit", "config.json", "{\"model_type\": \"bert\", \"num_hidden_layers\": 129}",
     "num_hidden_layers must be between 1 and 128"},
    {"the number of layers is negative", "config.json", "{\"model_type\": \"bert\", \"num_hidden_layers\": -1}",
     "num_hidden_layers"},
    {"the dimensions need more weights than the file has", "config.json",
     "{\"model_type\": \"bert\", \"hidden_size\": 8192, \"num_attention_heads\": 2, \"intermediate_size\": 65536,"
     " \"num_hidden_layers\": 128, \"max_position_embeddings\": 8192, \"vocab_size\": 1000000, \"type_vocab_size\": 2}",
     "too short for what config.json says"},
    {"a tensor has another shape than config.json says", "config.json",
     "{\"model_type\": \"bert\", \"hidden_size\": 24, \"num_attention_heads\": 2, \"intermediate_size\": 41,"
     " \"num_hidden_layers\": 2, \"max_position_embeddings\": 32, \"vocab_size\": 20, \"type_vocab_size\": 2}",
     "\"encoder.layer.0.intermediate.dense.weight\" does not have the shape"},
    {"config.json has one layer more than the weights", "config.json",
     "{\"model_type\": \"bert\", \"hidden_size\": 24, \"num_attention_heads\": 2, \"intermediate_size\": 40,"
     " \"num_hidden_layers\": 3, \"max_position_embeddings\": 32, \"vocab_size\": 20, \"type_vocab_size\": 2}",
     "has no tensor \"encoder.layer.2."},
    {"the vocabulary has more tokens than there are embeddings", "vocab.txt",
     "[PAD]\n[UNK]\n[CLS]\n[SEP]\n1\n2\n3\n4\n5\n6\n7\n8\n9\na\nb\nc\nd\ne\nf\ng\nh\n",
     "21 tokens, but the embeddings have 20 rows"},
    {"the vocabulary has no [CLS]", "vocab.txt", "[PAD]\n[UNK]\n[SEP]\n",
     "does not define the begin and end tokens of a text"},
    {"the vocabulary has no [SEP]", "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n",
     "does not define the begin and end tokens of a text"},
    {"the vocabulary has no [UNK]", "vocab.txt", "[PAD]\n[SEP]\n[CLS]\n", "has no [UNK]"},
    {"model.safetensors is a text", "model.safetensors", "0123456789", "model.safetensors"},
    {"the pooling is not supported", "1_Pooling/config.json", "{\"pooling_mode\": \"max\"}", "an unsupported pooling"},
    {"the pooling has two modes", "1_Pooling/config.json",
     "{\"pooling_mode_mean_tokens\": true, \"pooling_mode_max_tokens\": true}", "an unsupported pooling"},
    {"the pooling has no mode", "1_Pooling/config.json", "{}", "an unsupported pooling"},
    {"modules.json has a dense module", "modules.json", "[{\"type\": \"sentence_transformers.models.Dense\"}]",
     "module \"Dense\" of modules.json is not supported"},
    {"the tokenizer does not add [CLS] and [SEP]", "tokenizer.json", FRAMELESS,
     "does not define the begin and end tokens of a text"},
    {"tokenizer.json has a duplicate key", "tokenizer.json", "{\"model\": {}, \"model\": {}}", "tokenizer.json"},
};

static void opening_rejects_unsupported_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char folder[64], model[80], path[128];
        struct encoder *encoder;
        wt_error err = {0};

        make_model(folder, model);
        if (bad[i].text) {
            put_text(model, bad[i].file, bad[i].text);
        } else {
            snprintf(path, sizeof(path), "%s/%s", model, bad[i].file);
            assert_int_equal(unlink(path), 0);
        }
        int rc = wt__encoder_open(&encoder, model, &err);
        if (rc != WT_EMODEL || err.code != WT_EMODEL || encoder || !strstr(err.message, bad[i].message))
            fail_msg("%s: %d \"%s\"", bad[i].name, rc, err.message);
        remove_model_folder(folder);
    }
}

static void opening_reports_missing_folder(void **state)
{
    struct encoder *encoder;
    wt_error err = {0};

    (void)state;
    assert_int_equal(wt__encoder_open(&encoder, "/nowhere/at-all", &err), WT_EMODEL);
    assert_string_equal(err.message, "there is no model at /nowhere/at-all");
}

static void config_is_read_from_all_files(void **state)
{
    char folder[64], model[80];
    struct model_config c;

    (void)state;
    make_model(folder, model);
    assert_int_equal(wt__model_config_read(&c, model, NULL), 0);
    assert_true(c.hidden == 24 && c.heads == 2 && c.layers == 2 && c.intermediate == 40 && c.vocabulary == 20);
    assert_true(c.max_tokens == 32 && c.pooling == POOLING_MEAN);

    put_text(
        model, "tokenizer_config.json",
        "{\"do_lower_case\": false, \"strip_accents\": null, \"model_max_length\": 1000000000000000019884624838656}");
    assert_int_equal(wt__model_config_read(&c, model, NULL), 0);
    assert_true(c.max_tokens == 32);

    put_text(model, "sentence_bert_config.json", "{\"max_seq_length\": 12}");
    put_text(
        model, "tokenizer.json",
        "{\"model\": {\"type\": \"WordPiece\"}, \"normalizer\": {\"type\": \"BertNormalizer\", \"lowercase\": true,"
        " \"strip_accents\": false, \"handle_chinese_chars\": false}}");
    put_text(model, "modules.json",
             "[{\"type\": \"a.Transformer\", \"path\": \"\"}, {\"type\": \"a.Pooling\", \"path\":"
             " \"2_Pool\"}, {\"type\": \"a.Normalize\", \"path\": \"3\"}]");
    put_text(model, "2_Pool/config.json", "{\"pooling_mode\": \"cls\"}");
    assert_int_equal(wt__model_config_read(&c, model, NULL), 0);
    assert_true(c.max_tokens == 12 && c.pooling == POOLING_CLS);
    remove_model_folder(folder);
}

/* Models of earlier versions have the member dense_weight, which no version reads any more. */
static void unknown_members_are_ignored(void **state)
{
    static const char *const members[] = {"{\"dense_weight\": 1.25}", "{\"dense_weight\": [0.5, 2]}",
                                          "{\"dense_weight\": \"1\", \"other\": {}}", "7"};
    char folder[64], model[80], text[1024];
    struct encoder *encoder;
    wt_error err;

    (void)state;
    make_model(folder, model);
    put_text(model, MODEL_RECORD, "{\"dense_weight\": 10}");
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        snprintf(text, sizeof(text), CONFIG("\"model_type\": \"bert\", \"whichtool\": %s, "), members[i]);
        put_text(model, "config.json", text);
        if (wt__encoder_open(&encoder, model, &err) < 0)
            fail_msg("%s: %s", members[i], err.message);
        wt__encoder_close(encoder);
    }
    remove_model_folder(folder);
}

/* docs/encoder.md has a table row for each architecture. */
static void documentation_lists_supported_architectures(void **state)
{
    const char *source = getenv("WT_TEST_SOURCE");
    char path[4096], row[512], *text;
    size_t len, count = 0;

    (void)state;
    snprintf(path, sizeof(path), "%s/docs/encoder.md", source ? source : ".");
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, NULL), 0);
    for (const struct architecture_row *a; (a = wt__architecture_at(count)); count++) {
        snprintf(row, sizeof(row), "| `%s` | %s |", a->model_type, a->summary);
        if (!strstr(text, row))
            fail_msg("docs/encoder.md has no row \"%s\"", row);
    }
    assert_int_equal(count, ARCHITECTURES);
    free(text);
}

static void finds_models_by_name(void **state)
{
    struct arena arena = {0};
    char folder[64], model[80], **names;
    struct model_info info;
    size_t count;

    (void)state;
    make_model(folder, model);
    put_text(folder, "half/config.json", "{}");
    put_text(folder, "file", "");
    assert_int_equal(wt__model_names(&arena, folder, &names, &count, NULL), 0);
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "small");
    assert_int_equal(wt__model_names(&arena, "/nowhere/at-all", &names, &count, NULL), 0);
    assert_int_equal(count, 0);

    static const struct {
        const char *variable, *value, *models_dir, *name, *folder; /* folder is NULL for WT_ENOTFOUND */
    } places[] = {
        {"WHICHTOOL_MODELS", "/m", NULL, "x", "/m/x"},  {"WHICHTOOL_MODELS", "/m", "/n/", "x", "/n/x"},
        {"WHICHTOOL_MODELS", "/m", "/n", "./x", "./x"}, {"XDG_DATA_HOME", "/d", NULL, "x", "/d/whichtool/models/x"},
        {"XDG_DATA_HOME", "", NULL, "x", NULL},         {"XDG_DATA_HOME", "", NULL, "./x", "./x"},
    };
    unsetenv("HOME");
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char *place;
        wt_error err;
        setenv(places[i].variable, places[i].value, 1);
        int rc = wt__model_folder(&place, &arena, places[i].models_dir, places[i].name, &err);
        assert_int_equal(rc, places[i].folder ? 0 : WT_ENOTFOUND);
        if (rc == 0)
            assert_string_equal(place, places[i].folder);
        else
            assert_non_null(strstr(err.message, "no models folder is known: neither HOME nor XDG_DATA_HOME is set"));
        unsetenv(places[i].variable);
    }

    static const char *const paths[][2] = {{"/a/b", "b"}, {"/a/b//", "b"}, {"b", "b"}, {"/", "/"}, {"", ""}};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_true(wt__str_equal(wt__model_name(paths[i][0]), wt__str(paths[i][1])));

    assert_int_equal(wt__model_info_read(&info, model, NULL), 0);
    assert_true(!info.packed && info.dimension == 24 && info.layers == 2 && info.heads == 2 && info.max_tokens == 32);
    assert_string_equal(info.architecture, "bert");
    assert_int_equal(info.parameters,
                     20 * 24 + 32 * 24 + 2 * 24 + 2 * 24 + 2 * (4 * (24 * 24 + 24) + 4 * 24 + 2 * 960 + 64));
    assert_int_equal(wt__encoder_pack(model, NULL, NULL), 0);
    assert_int_equal(wt__model_info_read(&info, model, NULL), 0);
    assert_true(info.packed);
    remove_model_folder(folder);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_rejects_unsupported_models),
        cmocka_unit_test(opening_reports_missing_folder),
        cmocka_unit_test(config_is_read_from_all_files),
        cmocka_unit_test(unknown_members_are_ignored),
        cmocka_unit_test(documentation_lists_supported_architectures),
        cmocka_unit_test(finds_models_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
