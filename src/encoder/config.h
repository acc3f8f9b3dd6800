/* config.h: what a model directory says of its model, in the layout of the Hugging Face hub and sentence-transformers.
 *
 *   config.json                architecture and dimensions
 *   modules.json               the chain of sentence-transformers: encoder, pooling, normalisation; may be absent
 *   1_Pooling/config.json      mean or CLS; absent: mean
 *   sentence_bert_config.json  most tokens a text may have; may be absent
 *   tokenizer.json             settings of the text normaliser; absent: those of tokenizer_config.json
 *
 * What this library cannot run exactly is refused with a sentence that says what it lacks. */
#ifndef WT_ENCODER_CONFIG_H
#define WT_ENCODER_CONFIG_H

#include <stdint.h>

#include "base/error.h"
#include "text/vocabulary.h"

/* Limits; a model beyond one is WT_EMODEL. */
enum {
    MODEL_MAX_LAYERS = 128,
    MODEL_MAX_HIDDEN = 8192,
    MODEL_MAX_INTERMEDIATE = 65536,
    MODEL_MAX_VOCABULARY = 1 << 20,
    MODEL_MAX_POSITIONS = 8192,
    MODEL_MAX_TYPES = 16,
    MODEL_MAX_JSON = 64 << 20 /* bytes of one JSON file */
};

enum pooling { POOLING_MEAN, POOLING_CLS };

/* Fixed-size fields, since it is stored as it is in the packed model. */
struct model_config {
    uint32_t layers, hidden, heads, intermediate;
    uint32_t vocabulary, positions, types; /* rows of the three embeddings */
    uint32_t max_tokens;                   /* of one text with [CLS] and [SEP]; at most positions */
    uint32_t pooling;                      /* enum pooling */
    uint32_t lower_case, strip_accents, split_cjk;
    float epsilon; /* of every layer normalisation */
};

/* Errors: WT_EMODEL (a file is missing, malformed or asks for what is not supported), WT_ENOMEM. */
int wt__model_config_read(struct model_config *out, const char *folder, wt_error *err);

/* Whether the dimensions are inside the limits and fit together. */
int wt__model_config_check(const struct model_config *config, const char *what, wt_error *err);

#endif
