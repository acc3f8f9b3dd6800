/* config.c: each file of the directory is read into its part of struct model_config, then the whole is checked. */
#include "encoder/config.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"

/* The JSON object of folder/name. *out stays NULL when the file is absent and may be. */
static int read_object(json_t **out, const char *folder, const char *name, bool required, wt_error *err)
{
    struct arena arena = {0};
    char *path = wt__path_join(&arena, folder, name), *text = NULL;
    size_t len;
    int rc = 0;

    *out = NULL;
    if (!path)
        rc = wt__fail_nomem(err);
    else if (!required && !wt__is_file(path))
        rc = 0;
    else if ((rc = wt__file_read(&text, &len, path, MODEL_MAX_JSON, err)) == 0) {
        rc = wt__json_parse(out, text, len, err);
        if (rc < 0)
            wt__fail_context(err, rc, "%s", path);
        else if (!json_is_object(*out) && !json_is_array(*out))
            rc = wt__fail(err, WT_EMODEL, "%s: not a JSON object", path);
    }
    if (rc < 0) {
        json_decref(*out);
        *out = NULL;
        rc = rc == WT_ENOMEM ? rc : WT_EMODEL;
        if (err)
            err->code = rc;
    }
    free(text);
    wt__arena_dispose(&arena);
    return rc;
}

static uint32_t whole(const json_t *object, const char *key, uint32_t fallback)
{
    int64_t value = wt__json_int(object, key, fallback);

    return value < 0 || value > UINT32_MAX ? UINT32_MAX : (uint32_t)value; /* beyond every limit: refused later */
}

/* A member that must be one of the given words (or absent, where the first is meant). */
static int demand(const json_t *config, const char *key, const char *const *allowed, const char *folder, wt_error *err)
{
    struct str value = wt__json_str(config, key);

    if (!json_object_get(config, key))
        return 0;
    for (size_t i = 0; allowed[i]; i++)
        if (wt__str_equal(value, wt__str(allowed[i])))
            return 0;
    return wt__fail(err, WT_EMODEL, "%s: %s \"%.*s\" is not supported, only \"%s\"", folder, key,
                    (int)(value.len < 60 ? value.len : 60), value.len ? value.ptr : "", allowed[0]);
}

static int read_architecture(struct model_config *c, const char *folder, wt_error *err)
{
    static const char *const types[] = {"bert", NULL}, *const activations[] = {"gelu", "gelu_python", NULL},
                             *const positions[] = {"absolute", NULL};
    json_t *config;
    int rc = read_object(&config, folder, "config.json", true, err);

    if (rc < 0)
        return rc;
    if (wt__json_str(config, "model_type").len == 0)
        rc = wt__fail(err, WT_EMODEL, "%s: config.json names no model_type", folder);
    if (rc == 0)
        rc = demand(config, "model_type", types, folder, err);
    if (rc == 0)
        rc = demand(config, "hidden_act", activations, folder, err);
    if (rc == 0)
        rc = demand(config, "position_embedding_type", positions, folder, err);
    if (rc == 0 && (wt__json_bool(config, "is_decoder", false) || wt__json_bool(config, "add_cross_attention", false)))
        rc = wt__fail(err, WT_EMODEL, "%s: decoders are not supported", folder);
    c->layers = whole(config, "num_hidden_layers", 0);
    c->hidden = whole(config, "hidden_size", 0);
    c->heads = whole(config, "num_attention_heads", 0);
    c->intermediate = whole(config, "intermediate_size", 0);
    c->vocabulary = whole(config, "vocab_size", 0);
    c->positions = whole(config, "max_position_embeddings", 0);
    c->types = whole(config, "type_vocab_size", 0);
    c->epsilon = (float)wt__json_real(config, "layer_norm_eps", 1e-12);
    json_decref(config);
    return rc;
}

/* The folder of the pooling module; a module that is neither encoder, pooling nor normalisation cannot be run. */
static int find_pooling(char pooling[256], const char *folder, wt_error *err)
{
    json_t *modules;
    int rc = read_object(&modules, folder, "modules.json", false, err);

    snprintf(pooling, 256, "1_Pooling/config.json");
    for (size_t i = 0; rc == 0 && i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        struct str type = wt__json_str(module, "type"), path = wt__json_str(module, "path"), kind = type;

        for (size_t at = 0; at < type.len; at++)
            if (type.ptr[at] == '.')
                kind = (struct str){type.ptr + at + 1, type.len - at - 1};
        if (wt__str_equal(kind, STR("Pooling")) && path.len > 0 && path.len < 200 && !memchr(path.ptr, '.', path.len))
            snprintf(pooling, 256, "%.*s/config.json", (int)path.len, path.ptr);
        else if (!wt__str_equal(kind, STR("Transformer")) && !wt__str_equal(kind, STR("Normalize")))
            rc = wt__fail(err, WT_EMODEL, "%s: module \"%.*s\" of modules.json is not supported", folder,
                          (int)(kind.len < 60 ? kind.len : 60), kind.len ? kind.ptr : "");
    }
    json_decref(modules);
    return rc;
}

/* Both spellings: {"pooling_mode": "mean"} and {"pooling_mode_mean_tokens": true, ...}. */
static int read_pooling(struct model_config *c, const char *folder, wt_error *err)
{
    char name[256];
    json_t *config = NULL;
    int rc = find_pooling(name, folder, err);

    c->pooling = POOLING_MEAN;
    if (rc == 0)
        rc = read_object(&config, folder, name, false, err);
    if (rc < 0 || !config)
        return rc;

    static const char *const other[] = {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                                        "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"};
    struct str mode = wt__json_str(config, "pooling_mode");
    bool cls = wt__str_equal(mode, STR("cls")) || wt__json_bool(config, "pooling_mode_cls_token", false);
    bool mean = wt__str_equal(mode, STR("mean")) || wt__json_bool(config, "pooling_mode_mean_tokens", false);
    bool unknown = mode.len > 0 && !cls && !mean;
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        unknown = unknown || wt__json_bool(config, other[i], false);
    if (unknown || cls == mean)
        rc =
            wt__fail(err, WT_EMODEL, "%s: %s asks for a pooling that is not supported, only mean or cls", folder, name);
    c->pooling = cls ? POOLING_CLS : POOLING_MEAN;
    json_decref(config);
    return rc;
}

static int read_max_tokens(struct model_config *c, const char *folder, wt_error *err)
{
    json_t *sentence = NULL, *tokenizer = NULL;
    int rc = read_object(&sentence, folder, "sentence_bert_config.json", false, err);

    if (rc == 0)
        rc = read_object(&tokenizer, folder, "tokenizer_config.json", false, err);
    uint32_t limit = whole(tokenizer, "model_max_length", c->positions);
    if (json_object_get(sentence, "max_seq_length") && !json_is_null(json_object_get(sentence, "max_seq_length")))
        limit = whole(sentence, "max_seq_length", limit);
    c->max_tokens = limit < c->positions ? limit : c->positions;

    /* Used unless tokenizer.json says otherwise. */
    c->lower_case = wt__json_bool(tokenizer, "do_lower_case", true);
    c->strip_accents = wt__json_bool(tokenizer, "strip_accents", c->lower_case);
    c->split_cjk = wt__json_bool(tokenizer, "tokenize_chinese_chars", true);
    json_decref(sentence);
    json_decref(tokenizer);
    return rc;
}

static int read_tokenizer(struct model_config *c, const char *folder, wt_error *err)
{
    static const char *const models[] = {"WordPiece", NULL}, *const normalizers[] = {"BertNormalizer", NULL};
    json_t *tokenizer;
    int rc = read_object(&tokenizer, folder, "tokenizer.json", false, err);

    if (rc < 0 || !tokenizer)
        return rc;
    const json_t *normalizer = wt__json_object(tokenizer, "normalizer");
    rc = demand(wt__json_object(tokenizer, "model"), "type", models, folder, err);
    if (rc == 0 && normalizer)
        rc = demand(normalizer, "type", normalizers, folder, err);
    if (normalizer) {
        c->lower_case = wt__json_bool(normalizer, "lowercase", true);
        c->strip_accents = wt__json_bool(normalizer, "strip_accents", c->lower_case);
        c->split_cjk = wt__json_bool(normalizer, "handle_chinese_chars", true);
    }
    json_decref(tokenizer);
    return rc;
}

int wt__model_config_check(const struct model_config *c, const char *what, wt_error *err)
{
    const struct {
        const char *name;
        uint32_t value, most;
    } rows[] = {{"num_hidden_layers", c->layers, MODEL_MAX_LAYERS},
                {"hidden_size", c->hidden, MODEL_MAX_HIDDEN},
                {"num_attention_heads", c->heads, c->hidden},
                {"intermediate_size", c->intermediate, MODEL_MAX_INTERMEDIATE},
                {"vocab_size", c->vocabulary, MODEL_MAX_VOCABULARY},
                {"max_position_embeddings", c->positions, MODEL_MAX_POSITIONS},
                {"type_vocab_size", c->types, MODEL_MAX_TYPES},
                {"the most tokens", c->max_tokens, c->positions}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].value == 0 || rows[i].value > rows[i].most)
            return wt__fail(err, WT_EMODEL, "%s: %s must be between 1 and %u", what, rows[i].name,
                            (unsigned)rows[i].most);
    if (c->hidden % c->heads != 0)
        return wt__fail(err, WT_EMODEL, "%s: hidden_size %u does not divide into %u heads", what, (unsigned)c->hidden,
                        (unsigned)c->heads);
    if (c->max_tokens < 2)
        return wt__fail(err, WT_EMODEL, "%s: a text needs room for 2 tokens", what);
    if (!(c->epsilon > 0 && c->epsilon < 1))
        return wt__fail(err, WT_EMODEL, "%s: layer_norm_eps must lie between 0 and 1", what);
    if (c->pooling != POOLING_MEAN && c->pooling != POOLING_CLS)
        return wt__fail(err, WT_EMODEL, "%s: unknown pooling", what);
    return 0;
}

int wt__model_config_read(struct model_config *out, const char *folder, wt_error *err)
{
    int rc;

    *out = (struct model_config){0};
    rc = read_architecture(out, folder, err);
    if (rc == 0)
        rc = read_pooling(out, folder, err);
    if (rc == 0)
        rc = read_max_tokens(out, folder, err);
    if (rc == 0)
        rc = read_tokenizer(out, folder, err);
    if (rc == 0)
        rc = wt__model_config_check(out, folder, err);
    return rc;
}
