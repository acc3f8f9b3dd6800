/* config.c: reads the configuration files of a model folder (config.h) into struct model_config, and checks that the
 * library can run the model. */
#include "encoder/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "nn/layers.h"
#include "nn/attention.h"

enum { HAS_TYPES = 1, TWO_TYPES = 2 /* default of type_vocab_size */, PADDING_FIRST = 4, FIXED_EPSILON = 8 };

/* Members of config.json whose names depend on the architecture, and their usual names. */
enum { NAME_LAYERS, NAME_HIDDEN, NAME_HEADS, NAME_INTERMEDIATE, NAME_ACTIVATION, NAMES };
static const char *const usual_names[NAMES] = {"num_hidden_layers", "hidden_size", "num_attention_heads",
                                               "intermediate_size", "hidden_act"};

static const struct architecture_row architectures[ARCHITECTURES] = {
    [ARCHITECTURE_BERT] = {"bert", "absolute positions, token types; WordPiece"},
    [ARCHITECTURE_ROBERTA] = {"roberta", "absolute positions after a padding row; byte-level BPE"},
    [ARCHITECTURE_XLM_ROBERTA] = {"xlm-roberta", "RoBERTa with the vocabulary of many languages; unigram"},
    [ARCHITECTURE_DISTILBERT] = {"distilbert", "absolute positions, learned or stored sinusoids; WordPiece"},
    [ARCHITECTURE_MPNET] = {"mpnet", "absolute positions and a bias for 32 distances; WordPiece"},
    [ARCHITECTURE_DEBERTA] = {"deberta-v2", "DeBERTa v2 and v3: disentangled attention with or without buckets,"
                                            " shared or own keys, convolution, narrower embeddings; unigram"},
    [ARCHITECTURE_MODEL2VEC] = {"model2vec", "a static encoder: the sum of a vector per token; any tokenizer"},
};

/* Names and defaults of config.json for one architecture. */
static const struct dialect {
    const char *head;  /* activation of a classifier's dense layer */
    double epsilon;    /* default of layer_norm_eps, or its only value with FIXED_EPSILON */
    unsigned features; /* HAS_TYPES: token types; PADDING_FIRST: positions start after the padding row */
    enum model_relative relative;
    const char *names[NAMES]; /* NULL for the usual names */
} dialects[ARCHITECTURES] = {
    [ARCHITECTURE_BERT] = {"tanh", 1e-12, HAS_TYPES | TWO_TYPES, RELATIVE_NONE, {NULL}},
    [ARCHITECTURE_ROBERTA] = {"tanh", 1e-12, HAS_TYPES | TWO_TYPES | PADDING_FIRST, RELATIVE_NONE, {NULL}},
    [ARCHITECTURE_XLM_ROBERTA] = {"tanh", 1e-12, HAS_TYPES | TWO_TYPES | PADDING_FIRST, RELATIVE_NONE, {NULL}},
    [ARCHITECTURE_DISTILBERT] =
        {"relu", 1e-12, FIXED_EPSILON, RELATIVE_NONE, {"n_layers", "dim", "n_heads", "hidden_dim", "activation"}},
    [ARCHITECTURE_MPNET] = {"tanh", 1e-12, PADDING_FIRST, RELATIVE_BIAS, {NULL}},
    [ARCHITECTURE_DEBERTA] = {"gelu", 1e-7, HAS_TYPES, RELATIVE_DISENTANGLED, {NULL}},
    [ARCHITECTURE_MODEL2VEC] = {NULL, 0, 0, RELATIVE_NONE, {[NAME_HIDDEN] = "hidden_dim"}},
};

static const char *find_member_name(const struct model_config *c, int name)
{
    return dialects[c->architecture].names[name] ? dialects[c->architecture].names[name] : usual_names[name];
}

const char *wt__model_layers_member(const struct model_config *config)
{
    return find_member_name(config, NAME_LAYERS);
}

const struct architecture_row *wt__architecture_at(size_t i)
{
    return i < ARCHITECTURES ? &architectures[i] : NULL;
}

/* Frequently requested architectures that are not supported, and the feature that this library lacks. */
static const struct {
    const char *model_type, *lacks;
} missing[] = {
    {"albert", "layers that share their weights"},
    {"deberta", "the attention of DeBERTa v1; v2 and v3 are supported"},
    {"electra", "its embedding projection"},
    {"modernbert", "rotary positions and gated feed-forward parts"},
    {"nomic_bert", "rotary positions and gated feed-forward parts"},
    {"t5", "its encoder's normalisation before the layers"},
};

static int refuse_architecture(struct str type, const char *folder, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer known = {.max = 1024};
    const char *lacks = NULL, *separator = "";
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        wt__buffer_printf(&known, "%s%s", separator, architectures[i].model_type);
        separator = i + 2 == ARCHITECTURES ? " and " : ", ";
    }
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
        if (wt__str_equal(type, wt__str(missing[i].model_type)))
            lacks = missing[i].lacks;
    return wt__fail(err, WT_EMODEL, "%s: model_type \"%.*s\" is not supported%s%s; supported: %s", folder,
                    (int)(type.len < 60 ? type.len : 60), type.ptr, lacks ? ": it needs " : "", lacks ? lacks : "",
                    known.failed ? "others" : known.ptr);
}

/* Works like wt__model_json, but returns the error codes of wt__file_read and wt__json_parse, and may set *out on
 * error. */
static int parse_model_file(json_t **out, const char *folder, const char *name, bool required, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_AUTO_FREE char *text = NULL;
    char *path = wt__path_join(&arena, folder, name);
    size_t len;
    WT_CHECK_ALLOC(path, err);
    if (!required && !wt__is_file(path))
        return 0;
    WT_TRY(wt__file_read(&text, &len, path, MODEL_MAX_JSON, err));
    int rc = wt__json_parse(out, text, len, err);
    if (rc < 0)
        return wt__fail_context(err, rc, "%s", path);
    if (!json_is_object(*out) && !json_is_array(*out))
        return wt__fail(err, WT_EMODEL, "%s: not a JSON object or array", path);
    return 0;
}

int wt__model_json(json_t **out, const char *folder, const char *name, bool required, wt_error *err)
{
    *out = NULL;
    int rc = parse_model_file(out, folder, name, required, err);
    if (rc == 0)
        return 0;
    json_decref(WT_TAKE(*out));
    rc = rc == WT_ENOMEM ? rc : WT_EMODEL;
    if (err)
        err->code = rc;
    return rc;
}

/* Returns an integer member, or `fallback` if it is missing or not an integer. Returns UINT32_MAX if the value does not
 * fit: wt__model_config_check rejects UINT32_MAX, because it exceeds every limit. */
static uint32_t read_uint32(const json_t *object, const char *key, uint32_t fallback)
{
    int64_t value = wt__json_int(object, key, fallback);
    return value < 0 || value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Reads the name of an activation function. If the member is missing, `fallback` is used. Sets *out to 0 on error. */
static int read_activation(uint32_t *out, const json_t *config, const char *key, const char *fallback,
                           const char *folder, wt_error *err)
{
    struct str name = wt__json_str(config, key);
    int number = json_object_get(config, key) ? -1 : wt__activation_named(fallback);
    char copy[64];
    if (name.len > 0 && name.len < sizeof(copy)) {
        snprintf(copy, sizeof(copy), "%.*s", (int)name.len, name.ptr);
        number = wt__activation_named(copy);
    }
    *out = number > 0 ? (uint32_t)number : 0;
    return number > 0 ? 0
                      : wt__fail(err, WT_EMODEL, "%s: %s \"%.*s\" is not supported", folder, key,
                                 (int)(name.len < 60 ? name.len : 60), name.len ? name.ptr : "");
}

/* Checks that a number has the only supported value, or is missing. */
static int require_number(const json_t *config, const char *key, uint32_t only, const char *folder, wt_error *err)
{
    if (read_uint32(config, key, only) == only)
        return 0;
    return wt__fail(err, WT_EMODEL, "%s: %s must be %u: other values are not supported", folder, key, (unsigned)only);
}

/* True if pos_att_type has the term: "c2p|p2c" in files of the hub, a list of words in newer files. */
static bool has_attention_term(const json_t *config, const char *term)
{
    const json_t *value = json_object_get(config, "pos_att_type");
    for (size_t i = 0; i < json_array_size(value); i++)
        if (wt__str_equal(wt__str(json_string_value(json_array_get(value, i))), wt__str(term)))
            return true;
    return json_is_string(value) && strstr(json_string_value(value), term);
}

static int read_deberta(struct model_config *c, const json_t *config, const char *folder, wt_error *err)
{
    const json_t *norm = json_object_get(config, "norm_rel_ebd");
    int64_t buckets = wt__json_int(config, "position_buckets", -1), most;
    c->embedding = read_uint32(config, "embedding_size", c->hidden);
    most = wt__json_int(config, "max_relative_positions", -1);
    c->max_distance = most > 0 ? read_uint32(config, "max_relative_positions", 0) : c->positions;
    c->buckets = buckets > 0 ? read_uint32(config, "position_buckets", 0) : 0;
    c->span = c->buckets ? c->buckets : c->max_distance;
    c->content_to_position = has_attention_term(config, "c2p");
    c->position_to_content = has_attention_term(config, "p2c");
    c->own_distances = !wt__json_bool(config, "share_att_key", false);
    c->normed_distances = json_is_string(norm) && strstr(json_string_value(norm), "layer_norm");
    c->convolution = read_uint32(config, "conv_kernel_size", 0);
    if (!wt__json_bool(config, "position_biased_input", true))
        c->positions = 0;
    if (!wt__json_bool(config, "relative_attention", false))
        return wt__fail(err, WT_EMODEL, "%s: DeBERTa without relative_attention is not supported", folder);
    WT_TRY(require_number(config, "conv_groups", 1, folder, err));
    if (c->heads > 0)
        WT_TRY(require_number(config, "attention_head_size", c->hidden / c->heads, folder, err));
    return c->convolution ? read_activation(&c->convolution_activation, config, "conv_act", "tanh", folder, err) : 0;
}

static int read_dimensions(struct model_config *c, const json_t *config, const char *folder, wt_error *err)
{
    const struct dialect *d = &dialects[c->architecture];
    const uint32_t default_types = d->features & TWO_TYPES ? 2 : 0;
    c->layers = read_uint32(config, find_member_name(c, NAME_LAYERS), 0);
    c->hidden = c->embedding = read_uint32(config, find_member_name(c, NAME_HIDDEN), 0);
    c->heads = read_uint32(config, find_member_name(c, NAME_HEADS), 0);
    c->intermediate = read_uint32(config, find_member_name(c, NAME_INTERMEDIATE), 0);
    c->vocabulary = read_uint32(config, "vocab_size", 0);
    c->positions = read_uint32(config, "max_position_embeddings", 0);
    c->max_tokens = c->positions;
    c->types = d->features & HAS_TYPES ? read_uint32(config, "type_vocab_size", default_types) : 0;
    c->epsilon = (float)d->epsilon;
    if (!(d->features & FIXED_EPSILON))
        c->epsilon = (float)wt__json_real(config, "layer_norm_eps", d->epsilon);
    c->relative = d->relative;
    if (d->features & PADDING_FIRST) {
        uint32_t pad = read_uint32(config, "pad_token_id", 1);
        c->first_position = pad < MODEL_MAX_POSITIONS ? pad + 1 : UINT32_MAX;
        c->max_tokens = c->positions > c->first_position ? c->positions - c->first_position : 0;
    }
    WT_TRY(read_activation(&c->activation, config, find_member_name(c, NAME_ACTIVATION), "gelu", folder, err));
    if (c->relative == RELATIVE_BIAS)
        return require_number(config, "relative_attention_num_buckets", DISTANCE_MPNET_BUCKETS, folder, err);
    return c->relative == RELATIVE_DISENTANGLED ? read_deberta(c, config, folder, err) : 0;
}

/* Reads the head of a ...ForSequenceClassification model. The default is two labels. */
static int read_classifier_head(struct model_config *c, const json_t *config, const char *folder, wt_error *err)
{
    const struct str classifier = STR("ForSequenceClassification");
    const json_t *names = json_object_get(config, "architectures"), *labels = json_object_get(config, "id2label");
    const char *name = json_string_value(json_array_get(names, 0));
    size_t len = name ? strlen(name) : 0;
    if (len >= classifier.len && memcmp(name + len - classifier.len, classifier.ptr, classifier.len) == 0)
        c->labels = json_is_object(labels) ? (uint32_t)json_object_size(labels) : read_uint32(config, "num_labels", 2);
    /* Training may add a head to a model without one, so the activation is read in any case. Only a head with one
     * output is used, so an unsupported activation is an error only for such a head. */
    int rc =
        read_activation(&c->head_activation, config, c->architecture == ARCHITECTURE_DEBERTA ? "pooler_hidden_act" : "",
                        dialects[c->architecture].head, folder, c->labels == 1 ? err : NULL);
    return c->labels == 1 ? rc : 0;
}

static int read_architecture(struct model_config *c, const char *folder, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *config = NULL;
    WT_TRY(wt__model_json(&config, folder, "config.json", true, err));
    struct str type = wt__json_str(config, "model_type"), position = wt__json_str(config, "position_embedding_type");
    while (c->architecture < ARCHITECTURES && !wt__str_equal(type, wt__str(architectures[c->architecture].model_type)))
        c->architecture++;
    if (type.len == 0)
        return wt__fail(err, WT_EMODEL, "%s: config.json names no model_type", folder);
    if (c->architecture == ARCHITECTURES)
        return refuse_architecture(type, folder, err);
    if (position.len > 0 && !wt__str_equal(position, STR("absolute")))
        return wt__fail(err, WT_EMODEL, "%s: position_embedding_type \"%.*s\" is not supported, only \"absolute\"",
                        folder, (int)(position.len < 60 ? position.len : 60), position.ptr);
    if (wt__json_bool(config, "is_decoder", false) || wt__json_bool(config, "add_cross_attention", false))
        return wt__fail(err, WT_EMODEL, "%s: decoders are not supported", folder);
    if (wt__model_is_static(c)) {
        c->hidden = read_uint32(config, find_member_name(c, NAME_HIDDEN), 0);
        c->max_tokens = MODEL_STATIC_TOKENS;
        return 0;
    }
    WT_TRY(read_dimensions(c, config, folder, err));
    return read_classifier_head(c, config, folder, err);
}

/* Writes the name of the pooling module's file, relative to the folder. Fails if modules.json has modules other than
 * encoder, pooling and normalisation. */
static int find_pooling(char pooling[256], const char *folder, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *modules = NULL;
    WT_TRY(wt__model_json(&modules, folder, "modules.json", false, err));
    snprintf(pooling, 256, "1_Pooling/config.json");
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        struct str type = wt__json_str(module, "type"), path = wt__json_str(module, "path"), kind = type;
        for (size_t at = 0; at < type.len; at++)
            if (type.ptr[at] == '.')
                kind = (struct str){type.ptr + at + 1, type.len - at - 1};
        if (wt__str_equal(kind, STR("Pooling")) && path.len > 0 && path.len < 200 && !memchr(path.ptr, '.', path.len))
            snprintf(pooling, 256, "%.*s/config.json", (int)path.len, path.ptr);
        else if (!wt__str_equal(kind, STR("Transformer")) && !wt__str_equal(kind, STR("Normalize")))
            return wt__fail(err, WT_EMODEL, "%s: module \"%.*s\" of modules.json is not supported", folder,
                            (int)(kind.len < 60 ? kind.len : 60), kind.len ? kind.ptr : "");
    }
    return 0;
}

/* Accepts both {"pooling_mode": "mean"} and {"pooling_mode_mean_tokens": true, ...}. */
static int read_pooling(struct model_config *c, const char *folder, wt_error *err)
{
    static const char *const other[] = {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                                        "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"};
    WT_CLEANUP(json_decrefp) json_t *config = NULL;
    char name[256];
    c->pooling = POOLING_MEAN;
    WT_TRY(find_pooling(name, folder, err));
    WT_TRY(wt__model_json(&config, folder, name, false, err));
    if (!config)
        return 0;
    struct str mode = wt__json_str(config, "pooling_mode");
    bool cls = wt__str_equal(mode, STR("cls")) || wt__json_bool(config, "pooling_mode_cls_token", false);
    bool mean = wt__str_equal(mode, STR("mean")) || wt__json_bool(config, "pooling_mode_mean_tokens", false);
    bool unknown = mode.len > 0 && !cls && !mean;
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        unknown = unknown || wt__json_bool(config, other[i], false);
    if (unknown || cls == mean)
        return wt__fail(err, WT_EMODEL, "%s: %s asks for an unsupported pooling; supported: mean, cls", folder, name);
    c->pooling = cls ? POOLING_CLS : POOLING_MEAN;
    if (!wt__json_bool(config, "include_prompt", true))
        return wt__fail(err, WT_EMODEL, "%s: %s excludes prompts from the pooling, which is not supported", folder,
                        name);
    return 0;
}

/* Reads the maximum number of tokens. A limit above the table of positions is ignored. Models without such a table may
 * have a configured limit above the length on which they were trained. */
static int read_max_tokens(struct model_config *c, const char *folder, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *sentence = NULL;
    WT_CLEANUP(json_decrefp) json_t *tokenizer = NULL;
    WT_TRY(wt__model_json(&sentence, folder, "sentence_bert_config.json", false, err));
    WT_TRY(wt__model_json(&tokenizer, folder, "tokenizer_config.json", false, err));
    uint32_t most = c->positions ? c->max_tokens : MODEL_MAX_POSITIONS;
    uint32_t limit = read_uint32(tokenizer, "model_max_length", c->max_tokens);
    if (json_object_get(sentence, "max_seq_length") && !json_is_null(json_object_get(sentence, "max_seq_length")))
        limit = read_uint32(sentence, "max_seq_length", limit);
    c->max_tokens = limit <= most ? limit : c->max_tokens;
    return 0;
}

/* Checks the fields that only DeBERTa uses. */
static int check_distances(const struct model_config *c, const char *what, wt_error *err)
{
    if (c->relative != RELATIVE_DISENTANGLED)
        return c->span == 0 && c->convolution == 0 && c->embedding == c->hidden
                   ? 0
                   : wt__fail(err, WT_EMODEL, "%s: only DeBERTa has distances, a convolution or narrow embeddings",
                              what);
    if (c->span == 0 || c->span > MODEL_MAX_SPAN || c->max_distance == 0 || c->max_distance > MODEL_MAX_POSITIONS ||
        c->buckets > c->max_distance || c->span != (c->buckets ? c->buckets : c->max_distance))
        return wt__fail(err, WT_EMODEL,
                        "%s: position_buckets may be at most max_relative_positions, and distances at most %d and %d",
                        what, (int)MODEL_MAX_SPAN, (int)MODEL_MAX_POSITIONS);
    if (!c->content_to_position && !c->position_to_content)
        return wt__fail(err, WT_EMODEL, "%s: pos_att_type needs c2p or p2c", what);
    if (c->convolution > 0 && (c->convolution % 2 == 0 || c->convolution > CONVOLUTION_MAX_TAPS ||
                               c->convolution_activation == 0 || c->convolution_activation > ACTIVATION_SILU))
        return wt__fail(err, WT_EMODEL, "%s: conv_kernel_size must be odd and at most %d", what,
                        (int)CONVOLUTION_MAX_TAPS);
    return 0;
}

/* Checks a static encoder. The number of its rows is checked later, when its weights are loaded. */
static int check_static(const struct model_config *c, const char *what, wt_error *err)
{
    const struct model_config expected = {.architecture = c->architecture,
                                          .hidden = c->hidden,
                                          .vocabulary = c->vocabulary,
                                          .max_tokens = MODEL_STATIC_TOKENS,
                                          .byte_rows = c->byte_rows != 0};
    if (c->hidden < 1 || c->hidden > MODEL_MAX_HIDDEN)
        return wt__fail(err, WT_EMODEL, "%s: hidden_dim must be between 1 and %d", what, (int)MODEL_MAX_HIDDEN);
    if (c->vocabulary > MODEL_MAX_VOCABULARY || memcmp(c, &expected, sizeof expected) != 0)
        return wt__fail(err, WT_EMODEL, "%s: not the configuration of a static encoder", what);
    return 0;
}

int wt__model_config_check(const struct model_config *c, const char *what, wt_error *err)
{
    if (wt__model_is_static(c))
        return check_static(c, what, err);
    const struct {
        const char *name;
        uint32_t value, least, most;
    } rows[] = {{"num_hidden_layers", c->layers, 1, MODEL_MAX_LAYERS},
                {"hidden_size", c->hidden, 1, MODEL_MAX_HIDDEN},
                {"embedding_size", c->embedding, 1, MODEL_MAX_HIDDEN},
                {"num_attention_heads", c->heads, 1, c->hidden},
                {"intermediate_size", c->intermediate, 1, MODEL_MAX_INTERMEDIATE},
                {"vocab_size", c->vocabulary, 1, MODEL_MAX_VOCABULARY},
                {"max_position_embeddings", c->positions, c->relative != RELATIVE_DISENTANGLED, MODEL_MAX_POSITIONS},
                {"type_vocab_size", c->types, c->architecture < ARCHITECTURE_DISTILBERT, MODEL_MAX_TYPES},
                {"pad_token_id", c->first_position, 0, MODEL_MAX_POSITIONS},
                {"the maximum number of tokens", c->max_tokens, 1,
                 c->positions ? c->positions - c->first_position : MODEL_MAX_POSITIONS}};
    if (c->architecture >= ARCHITECTURES || c->relative != (uint32_t)dialects[c->architecture].relative)
        return wt__fail(err, WT_EMODEL, "%s: unknown architecture", what);
    if (c->positions > 0 && c->first_position >= c->positions)
        return wt__fail(err, WT_EMODEL, "%s: max_position_embeddings leaves no position after the padding row", what);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return wt__fail(err, WT_EMODEL, "%s: %s must be between %u and %u", what, rows[i].name,
                            (unsigned)rows[i].least, (unsigned)rows[i].most);
    if (c->hidden % c->heads != 0)
        return wt__fail(err, WT_EMODEL, "%s: hidden_size %u does not divide into %u heads", what, (unsigned)c->hidden,
                        (unsigned)c->heads);
    if (c->max_tokens < 2)
        return wt__fail(err, WT_EMODEL, "%s: a text needs room for 2 tokens", what);
    if (!(c->epsilon > 0 && c->epsilon < 1))
        return wt__fail(err, WT_EMODEL, "%s: layer_norm_eps must lie between 0 and 1", what);
    if (c->pooling >= POOLINGS)
        return wt__fail(err, WT_EMODEL, "%s: unknown pooling", what);
    if (c->activation == 0 || c->activation > ACTIVATION_SILU)
        return wt__fail(err, WT_EMODEL, "%s: unknown activation", what);
    if (c->labels == 1 && (c->head_activation == 0 || c->head_activation > ACTIVATION_SILU))
        return wt__fail(err, WT_EMODEL, "%s: unknown activation of the head", what);
    return check_distances(c, what, err);
}

int wt__model_config_read(struct model_config *out, const char *folder, wt_error *err)
{
    *out = (struct model_config){0};
    WT_TRY(read_architecture(out, folder, err));
    if (!wt__model_is_static(out)) {
        WT_TRY(read_pooling(out, folder, err));
        WT_TRY(read_max_tokens(out, folder, err));
    }
    return wt__model_config_check(out, folder, err);
}

void wt__model_fields(const char *folder, char out[MODEL_FIELDS])
{
    WT_CLEANUP(json_decrefp) json_t *config = NULL;
    size_t used = 0;
    out[0] = '\0';
    if (wt__model_json(&config, folder, "config.json", true, NULL) < 0)
        return;
    const json_t *list = wt__json_array(wt__json_object(config, "whichtool"), "fields");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *name = json_array_get(list, i);
        if (json_is_string(name) && used + json_string_length(name) + 2 <= MODEL_FIELDS)
            used += (size_t)snprintf(out + used, MODEL_FIELDS - used, "%s%s", used ? "," : "", json_string_value(name));
    }
}

/* Names of the prompts of a role, the preferred one first. */
enum { PROMPT_NAMES = 3 };
static const char *const prompt_names[TEXT_ROLES][PROMPT_NAMES] = {{"query"}, {"document", "passage", "corpus"}};

/* Returns the prompt of a role, else the default prompt, else NULL. */
static const json_t *find_prompt(const json_t *config, enum text_role role)
{
    const json_t *prompts = wt__json_object(config, "prompts");
    const json_t *usual = json_object_get(config, "default_prompt_name"), *found = NULL;
    for (size_t i = 0; i < PROMPT_NAMES && prompt_names[role][i] && !found; i++)
        found = json_object_get(prompts, prompt_names[role][i]);
    if (!found && json_is_string(usual))
        found = json_object_get(prompts, json_string_value(usual));
    return found;
}

static int read_prompts(struct model_prompts *out, const char *folder, const char *file, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *config = NULL;
    WT_TRY(wt__model_json(&config, folder, file, false, err));
    for (int role = 0; role < TEXT_ROLES; role++) {
        const json_t *prompt = find_prompt(config, (enum text_role)role);
        size_t len = json_string_length(prompt);
        if (prompt && !json_is_null(prompt) && !json_is_string(prompt))
            return wt__fail(err, WT_EMODEL, "%s: %s has a prompt that is not a string", folder, file);
        if (len >= MODEL_PROMPT)
            return wt__fail(err, WT_EMODEL, "%s: %s has a prompt of %zu bytes; at most %d are supported", folder, file,
                            len, MODEL_PROMPT - 1);
        if (len > 0) /* contains no NUL, which the JSON parser rejects */
            memcpy(out->of[role], json_string_value(prompt), len);
    }
    return 0;
}

bool wt__prompts_exist(const struct model_prompts *prompts)
{
    return prompts->of[TEXT_REQUEST][0] || prompts->of[TEXT_TOOL][0];
}

int wt__model_prompts(struct model_prompts *out, const char *folder, wt_error *err)
{
    *out = (struct model_prompts){.of = {{0}}};
    WT_TRY(read_prompts(out, folder, MODEL_SENTENCE_CONFIG, err));
    return wt__prompts_exist(out) ? 0 : read_prompts(out, folder, MODEL_RECORD, err);
}

const struct str *wt__prompts_apply(const struct model_prompts *prompts, enum text_role role, const struct str *texts,
                                    size_t count, struct arena *arena)
{
    struct str prompt = role < TEXT_ROLES ? wt__str(prompts->of[role]) : (struct str){0};
    if (prompt.len == 0)
        return texts;
    struct str *all = wt__arena_array(arena, struct str, count);
    for (size_t i = 0; all && i < count; i++) {
        char *bytes = wt__arena_alloc(arena, prompt.len + texts[i].len + 1, 1);
        if (!bytes)
            return NULL;
        memcpy(bytes, prompt.ptr, prompt.len);
        if (texts[i].len > 0)
            memcpy(bytes + prompt.len, texts[i].ptr, texts[i].len);
        all[i] = (struct str){bytes, prompt.len + texts[i].len};
    }
    return all;
}
