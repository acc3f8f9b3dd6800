/* tiny_model.h: model folders with random numbers, small enough to train in a test: H = 16, two layers, and a WordPiece
 * vocabulary of a few words and all letters. The same seed gives the same numbers. */
#ifndef WT_TESTS_ENCODER_TINY_MODEL_H
#define WT_TESTS_ENCODER_TINY_MODEL_H

#include "base/json.h"
#include "encoder/config.h"
#include "encoder/internal.h"
#include "encoder/support.h"
#include "nn/safetensors.h"

/* Members of config.json for each architecture and its variants. */
#define TINY_BERT "\"model_type\": \"bert\", \"type_vocab_size\": 2"
#define TINY_ROBERTA "\"model_type\": \"roberta\", \"type_vocab_size\": 1, \"pad_token_id\": 1"
#define TINY_XLM_ROBERTA "\"model_type\": \"xlm-roberta\", \"type_vocab_size\": 1, \"pad_token_id\": 1"
#define TINY_DISTILBERT                                                                                                \
    "\"model_type\": \"distilbert\", \"dim\": 16, \"n_layers\": 2, \"n_heads\": 2, \"hidden_dim\": 24"
#define TINY_MPNET "\"model_type\": \"mpnet\", \"pad_token_id\": 1"
#define TINY_DEBERTA                                                                                                   \
    "\"model_type\": \"deberta-v2\", \"relative_attention\": true, \"position_buckets\": 8,"                           \
    " \"max_relative_positions\": -1, \"norm_rel_ebd\": \"layer_norm\", \"share_att_key\": true,"                      \
    " \"pos_att_type\": \"p2c|c2p\", \"position_biased_input\": false, \"type_vocab_size\": 0"
#define TINY_DEBERTA_V2                                                                                                \
    "\"model_type\": \"deberta-v2\", \"relative_attention\": true, \"max_relative_positions\": 6,"                     \
    " \"norm_rel_ebd\": \"none\", \"share_att_key\": false, \"pos_att_type\": [\"c2p\", \"p2c\"],"                     \
    " \"position_biased_input\": true, \"type_vocab_size\": 2, \"embedding_size\": 12, \"conv_kernel_size\": 3,"       \
    " \"conv_act\": \"tanh\""

/* Further members: a classifier head with this number of labels. Only a head with one label gets tensors. */
#define TINY_LABELS(labels) ", \"architectures\": [\"TinyForSequenceClassification\"], \"num_labels\": " #labels

static const char *const tiny_words[] = {"[PAD]", "[UNK]", "[CLS]",   "[SEP]", "[MASK]",    "the",   "a",       "book",
                                         "table", "train", "weather", "in",    "london",    "paris", "send",    "mail",
                                         "to",    "play",  "music",   "stock", "price",     "of",    "convert", "money",
                                         "find",  "hotel", "flight",  "news",  "translate", "text",  "."};
enum { TINY_WORDS = sizeof(tiny_words) / sizeof(tiny_words[0]), TINY_VOCABULARY = TINY_WORDS + 2 * 26 };

/* Prints the error and ends the test program. */
static inline void tiny_die(const wt_error *err)
{
    printf("%s\n", err->message);
    abort();
}

/* Returns a random number for a tensor: near 1 for the gain of a normalisation, else near 0. */
static inline float tiny_number(struct rng *rng, const struct weight_tensor *t)
{
    float unit = (float)(wt__rng_unit(rng) - 0.5);

    if (strstr(t->name, "ayer") && strstr(t->name, "orm.weight"))
        return 1 + unit / 2;
    return t->columns ? unit : unit / 2;
}

/* Writes config.json. Later members of `more` override earlier ones and the defaults of tiny models. */
static inline void tiny_config_write(const char *folder, const char *more)
{
    struct buffer text = {0};

    wt__buffer_printf(&text, "{%s}", more);
    json_t *config = json_loads(text.ptr, 0, NULL);
    json_t *common = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:f}", "hidden_size", 16, "num_attention_heads", 2,
                               "intermediate_size", 24, "num_hidden_layers", 2, "max_position_embeddings", 64,
                               "vocab_size", (int)TINY_VOCABULARY, "hidden_act", "gelu", "layer_norm_eps", 1e-7);
    wt__buffer_clear(&text);
    if (!config || json_object_update_missing(config, common) != 0 || wt__json_write(&text, config) < 0)
        abort();
    put_text(folder, "config.json", text.ptr);
    json_decref(common);
    json_decref(config);
    wt__buffer_dispose(&text);
}

/* Writes random weights for the folder's config.json. prefix: start of the tensor names, such as "" or "bert.". */
static inline void tiny_weights_write(const char *folder, const char *prefix, uint64_t seed)
{
    struct model_config config;
    struct arena arena = {0};
    wt_error err = {0};
    struct rng rng;
    size_t count = 0;

    if (wt__model_config_read(&config, folder, &err) < 0)
        tiny_die(&err);

    struct tensor_source *tensors = wt__arena_array(&arena, struct tensor_source, 256);
    struct weight_walk walk = {.config = &config, .prefix = prefix};
    char *path = wt__path_join(&arena, folder, "model.safetensors");
    wt__rng_seed(&rng, seed);
    while (wt__weight_next(&walk)) {
        const struct weight_tensor *t = &walk.tensor;
        float *data = wt__arena_array(&arena, float, t->count);

        for (size_t i = 0; i < t->count; i++)
            data[i] = tiny_number(&rng, t);
        tensors[count] = (struct tensor_source){wt__arena_copy(&arena, wt__str(t->name)),
                                                data,
                                                t->columns ? t->part == WEIGHT_CONVOLUTION ? 3 : 2 : 1,
                                                {t->rows, t->columns, t->taps}};
        count++;
    }
    if (wt__safetensors_write(path, tensors, count, NULL, &err) < 0)
        tiny_die(&err);
    wt__arena_dispose(&arena);
}

/* Writes a model with random weights from the seed. more: members of config.json, such as TINY_BERT. */
static inline void tiny_model_write(const char *folder, const char *more, uint64_t seed)
{
    struct buffer text = {0};

    tiny_config_write(folder, more);
    for (size_t i = 0; i < TINY_WORDS; i++)
        wt__buffer_printf(&text, "%s\n", tiny_words[i]);
    for (int i = 0; i < 26; i++)
        wt__buffer_printf(&text, "%c\n##%c\n", i == 0 ? '?' : 'a' + i, 'a' + i);
    put_text(folder, "vocab.txt", text.ptr);
    wt__buffer_dispose(&text);
    tiny_weights_write(folder, "", seed);
}

/* Creates a temporary folder, makes it the cache folder, and writes a tiny model to folder/tiny. Sets both paths. */
static inline void tiny_model_make(char folder[64], char model[80], const char *more, uint64_t seed)
{
    snprintf(folder, 64, "/tmp/whichtool-tiny-XXXXXX");
    if (!mkdtemp(folder))
        abort();
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(model, 80, "%s/tiny", folder);
    tiny_model_write(model, more, seed);
}

#endif
