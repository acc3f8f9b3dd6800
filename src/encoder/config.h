/* config.h: what a model directory says of its model, in the layout of the Hugging Face hub and sentence-transformers.
 *
 *   config.json                architecture and dimensions, and whether a classifier stands above the layers
 *   modules.json               the chain of sentence-transformers: encoder, pooling, normalisation; may be absent
 *   1_Pooling/config.json      mean or CLS; absent: mean
 *   sentence_bert_config.json  most tokens a text may have; may be absent
 *   tokenizer_config.json      the same, where the former says nothing
 *   prompts                    encoder/prompts.h
 *
 * An architecture is a row of a table; in all else the models differ by the numbers below. What this library cannot
 * run exactly is refused with a sentence that says what it lacks. */
#ifndef WT_ENCODER_CONFIG_H
#define WT_ENCODER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Limits; a model beyond one is WT_EMODEL. */
enum {
    MODEL_MAX_LAYERS = 128,
    MODEL_MAX_HIDDEN = 8192,
    MODEL_MAX_INTERMEDIATE = 65536,
    MODEL_MAX_VOCABULARY = 1 << 20,
    MODEL_MAX_POSITIONS = 8192,
    MODEL_MAX_TYPES = 16,
    MODEL_MAX_SPAN = 4096,
    MODEL_MAX_CONVOLUTION = 15,
    MODEL_STATIC_TOKENS = 512, /* read of one text by a static encoder, as the model2vec package does */
    MODEL_MAX_JSON = 64 << 20  /* bytes of one JSON file */
};

enum architecture {
    ARCHITECTURE_BERT,
    ARCHITECTURE_ROBERTA,
    ARCHITECTURE_XLM_ROBERTA,
    ARCHITECTURE_DISTILBERT,
    ARCHITECTURE_MPNET,
    ARCHITECTURE_DEBERTA,
    ARCHITECTURE_MODEL2VEC, /* no transformer: encoder/token_table.h */
    ARCHITECTURES
};

/* What is supported: the rows that documentation, tests and the command show. */
struct architecture_row {
    const char *model_type; /* as config.json names it */
    const char *summary;    /* what of it runs */
};

/* The i-th of ARCHITECTURES rows; NULL beyond. */
const struct architecture_row *wt__architecture_at(size_t i);

enum pooling { POOLING_MEAN, POOLING_CLS, POOLINGS };

/* What attention knows of distances. */
enum model_relative {
    RELATIVE_NONE,
    RELATIVE_BIAS,         /* MPNet: a number a bucket and head is added to the scores */
    RELATIVE_DISENTANGLED, /* DeBERTa: distances have keys and queries of their own */
    RELATIVES
};

/* Fixed-size fields, since it is stored as it is in the packed model. */
struct model_config {
    uint32_t architecture; /* enum architecture */
    uint32_t layers, hidden, heads, intermediate;
    uint32_t embedding;                    /* E: width of the three embeddings; hidden unless a projection follows */
    uint32_t vocabulary, positions, types; /* rows of the three embeddings; the latter two may be 0 */
    uint32_t first_position; /* the row of a text's first token; where above 0, the row before it is for padding */
    uint32_t activation;     /* enum activation of nn/, of the feed-forward parts */
    uint32_t max_tokens;     /* of one text with [CLS] and [SEP] */
    uint32_t pooling;        /* enum pooling */
    uint32_t relative;       /* enum model_relative; what follows is DeBERTa's alone */
    uint32_t span;           /* S: distances -S .. S - 1 have a row */
    uint32_t buckets;        /* distances beyond half of it share rows by their logarithm; 0: none do */
    uint32_t max_distance;   /* the base of those logarithms */
    uint32_t content_to_position, position_to_content; /* which of the two terms there are */
    uint32_t own_distances;                            /* distances have weights of their own for keys and queries */
    uint32_t normed_distances;                         /* distances are normalised first */
    uint32_t convolution;                              /* its width, odd, or 0 */
    uint32_t convolution_activation;
    uint32_t labels;          /* numbers that the head gives, 0 where there is none; only a head of one is read */
    uint32_t head_activation; /* enum activation, behind the dense layer of a head, that there is or would be */
    float epsilon;            /* of every layer normalisation */
    uint32_t byte_rows;       /* of a static encoder: its rows are bytes with a scale each. It has dimensions, rows and
                                 most tokens, and nothing else of the above */
};

static inline bool wt__model_is_static(const struct model_config *config)
{
    return config->architecture == ARCHITECTURE_MODEL2VEC;
}

/* The JSON object (or array) of folder/name. *out stays NULL when the file is absent and may be. Errors: as below. */
struct json_t;
int wt__model_json(struct json_t **out, const char *folder, const char *name, bool required, wt_error *err);

/* Errors: WT_EMODEL (a file is missing, malformed or asks for what is not supported), WT_ENOMEM. */
int wt__model_config_read(struct model_config *out, const char *folder, wt_error *err);

/* "whichtool": {"fields": ["provider", "name"]} of config.json as "provider,name": what of a tool the model read when
 * it was trained. "" where it does not say, or is not to be read. */
enum { MODEL_FIELDS = 128 /* bytes; names beyond are left out */ };
void wt__model_fields(const char *folder, char out[MODEL_FIELDS]);

/* What this library knows of a model beside its files: of one that was pulled by its name on the hub
 * (encoder/hub_record.h), or as somebody wrote it: {"prompts": ..., "dense_weight": ...}. */
#define MODEL_RECORD "whichtool.json"

/* "whichtool": {"dense_weight": 1.2} or {"dense_weight": [0.6, 1.8]} of config.json, else of MODEL_RECORD: what meaning
 * by this model weighs in hybrid, beside words, which weigh 1: in all requests, or in long and in brief ones. What is
 * not above 0 and at most WT_MAX_DENSE_WEIGHT is as if it were not there: MODEL_DENSE_WEIGHT, which was fitted to
 * models that never saw a tool. */
#define MODEL_DENSE_WEIGHT 0.6f
struct dense_weight {
    float usual, brief;
};
struct dense_weight wt__model_dense_weight(const char *folder);
bool wt__dense_weight_valid(struct dense_weight weight);

/* What a caller's options ask for: brief 0 is as usual, both 0 ask for nothing, which is zeros. Errors: WT_EINVAL. */
int wt__dense_weight_asked(struct dense_weight *out, double usual, double brief, wt_error *err);

/* Whether the dimensions are inside the limits and fit together. */
int wt__model_config_check(const struct model_config *config, const char *what, wt_error *err);

#endif
