/* config.h: the configuration of a model folder, in the layout of the Hugging Face hub and sentence-transformers.
 *
 *   config.json                architecture, dimensions, and the classifier head if the model has one
 *   modules.json               the modules of sentence-transformers: encoder, pooling, normalisation; optional
 *   1_Pooling/config.json      mean or CLS pooling; mean if missing
 *   sentence_bert_config.json  maximum number of tokens; optional
 *   tokenizer_config.json      maximum number of tokens, if the file above has none
 *   config_sentence_transformers.json
 *                              {"prompts": {"query": "...", "document" or "passage" or "corpus": "..."},
 *                              "default_prompt_name": used for roles without a named prompt}
 *   whichtool.json             {"prompts": {"query": "...", "document": "..."}}, used if the file above has no prompts
 *
 * A model that this library cannot run exactly is rejected with a message that names the unsupported feature. */
#ifndef WT_ENCODER_CONFIG_H
#define WT_ENCODER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Limits. A model above one of the MAX values fails with WT_EMODEL. */
enum {
    MODEL_MAX_LAYERS = 128,
    MODEL_MAX_HIDDEN = 8192,
    MODEL_MAX_INTERMEDIATE = 65536,
    MODEL_MAX_VOCABULARY = 1 << 20,
    MODEL_MAX_POSITIONS = 8192,
    MODEL_MAX_TYPES = 16,
    MODEL_MAX_SPAN = 4096,
    MODEL_STATIC_TOKENS = 512, /* maximum tokens of a text for a static encoder, as in the model2vec package */
    MODEL_MAX_JSON = 64 << 20  /* maximum size of a JSON file in bytes */
};

enum architecture {
    ARCHITECTURE_BERT,
    ARCHITECTURE_ROBERTA,
    ARCHITECTURE_XLM_ROBERTA,
    ARCHITECTURE_DISTILBERT,
    ARCHITECTURE_MPNET,
    ARCHITECTURE_DEBERTA,
    ARCHITECTURE_MODEL2VEC, /* static encoder without layers: encoder/token_table.h */
    ARCHITECTURES
};

/* A supported architecture, as shown by the documentation, tests and the command. */
struct architecture_row {
    const char *model_type; /* value in config.json */
    const char *summary;    /* supported features */
};

/* Returns row i, or NULL if i >= ARCHITECTURES. */
const struct architecture_row *wt__architecture_at(size_t i);

enum pooling { POOLING_MEAN, POOLING_CLS, POOLINGS };

/* How attention uses the distance between tokens. */
enum model_relative {
    RELATIVE_NONE,
    RELATIVE_BIAS,         /* MPNet: adds a bias per bucket and head to the scores */
    RELATIVE_DISENTANGLED, /* DeBERTa: distances have their own keys and queries */
    RELATIVES
};

/* The packed model stores this struct as it is, so all fields have a fixed size. A static encoder uses only hidden,
 * vocabulary, max_tokens and byte_rows. */
struct model_config {
    uint32_t architecture; /* enum architecture */
    uint32_t layers, hidden, heads, intermediate;
    uint32_t embedding; /* E: width of the three embedding tables; a projection follows unless it equals hidden */
    uint32_t vocabulary, positions, types; /* rows of the three embedding tables; positions and types may be 0 */
    uint32_t first_position; /* row of a text's first token; if above 0, the row before it is for padding */
    uint32_t activation;     /* enum activation of nn/, of the feed-forward layers */
    uint32_t max_tokens;     /* maximum tokens of a text, including [CLS] and [SEP] */
    uint32_t pooling;        /* enum pooling */
    uint32_t relative; /* enum model_relative; the fields from span to convolution_activation are for DeBERTa only */
    uint32_t span;     /* S: the table has rows for distances -S .. S - 1 */
    uint32_t buckets;  /* distances above buckets / 2 share rows on a logarithmic scale; 0 for one row per distance */
    uint32_t max_distance;                             /* maximum distance; longer distances count as this distance */
    uint32_t content_to_position, position_to_content; /* terms of the attention score */
    uint32_t own_distances;                            /* distances have separate weights for keys and queries */
    uint32_t normed_distances;                         /* distances are normalised first */
    uint32_t convolution;                              /* kernel width: odd, or 0 for no convolution */
    uint32_t convolution_activation;
    uint32_t labels;          /* outputs of the head, 0 without a head; only a head with one output is read */
    uint32_t head_activation; /* enum activation after the head's dense layer; set even without a head */
    float epsilon;            /* for all layer normalisations */
    uint32_t byte_rows;       /* 1 if the rows of a static encoder are bytes with a scale each */
};

static inline bool wt__model_is_static(const struct model_config *config)
{
    return config->architecture == ARCHITECTURE_MODEL2VEC;
}

struct json_t;
/* Parses the JSON object or array in folder/name. Sets *out to NULL if the file is missing, which is an error only if
 * `required`. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__model_json(struct json_t **out, const char *folder, const char *name, bool required, wt_error *err);

/* Reads and checks the configuration of a model folder. Errors: WT_EMODEL (a file is missing, malformed or needs an
 * unsupported feature), WT_ENOMEM. */
int wt__model_config_read(struct model_config *out, const char *folder, wt_error *err);

/* Reads the tool fields on which the model was trained: "whichtool": {"fields": ["provider", "name"]} of config.json
 * gives "provider,name". Returns "" if the file cannot be read or has no such member. */
enum { MODEL_FIELDS = 128 /* bytes; names that do not fit are omitted */ };
void wt__model_fields(const char *folder, char out[MODEL_FIELDS]);

/* File with further settings of a model: {"prompts": ...}. A pull from the hub writes it (encoder/manifest.h), or the
 * user does. */
#define MODEL_RECORD "whichtool.json"

/* Returns the name of the member of config.json that has the number of layers. */
const char *wt__model_layers_member(const struct model_config *config);

/* Checks that the dimensions are within the limits and fit together. `what` names the model in messages. */
int wt__model_config_check(const struct model_config *config, const char *what, wt_error *err);

#define MODEL_SENTENCE_CONFIG "config_sentence_transformers.json"

/* The use of a text. */
enum text_role {
    TEXT_REQUEST,
    TEXT_TOOL,
    TEXT_ROLES,
    TEXT_PLAIN = TEXT_ROLES /* without a prompt */
};

enum { MODEL_PROMPT = 512 /* maximum size in bytes including the NUL; longer prompts are rejected */ };

/* The prompt of each role; "" if it has none. The packed model stores this struct as it is, so it has a fixed size. */
struct model_prompts {
    char of[TEXT_ROLES][MODEL_PROMPT];
};

/* Reads the prompts of a folder. Errors: WT_EMODEL (malformed or too long), WT_ENOMEM. */
int wt__model_prompts(struct model_prompts *out, const char *folder, wt_error *err);

bool wt__prompts_exist(const struct model_prompts *prompts);

/* Prefixes the texts with the role's prompt; the results are allocated in the arena. Returns `texts` itself if the role
 * has no prompt, and NULL if out of memory. */
const struct str *wt__prompts_apply(const struct model_prompts *prompts, enum text_role role, const struct str *texts,
                                    size_t count, struct arena *arena);

#endif
