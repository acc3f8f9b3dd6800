/* internal.h: structs and functions that only encoder/ uses.
 *
 * The weights of a model consist of parts: matrices and vectors. A part may consist of several tensors of a file, one
 * below the other. For example, query, key and value form one part, so that one product computes all three. There are
 * two layouts:
 *
 *   LAYOUT_FILES   row-major matrices, as in the files; for training
 *   LAYOUT_PACKED  linear layers in the panels of the kernels, and the keys and queries of DeBERTa's distances
 *                  precomputed; for mapping and inference
 *
 * Memory has three runs of floats: the word embeddings, the other parts of the model, and the layers one after the
 * other. Each part starts on a cache line. If all matrices of the layers are I8 in the file, LAYOUT_PACKED has a fourth
 * run, of bytes. For each layer it holds the matrices in the panels of nn/layers.h and a copy of the layer's vectors.
 * Thus int8 products do not touch the third run.
 *
 * The packed model lies in the model folder or in the cache folder (packed.c). If neither can be written, the image
 * stays in memory. A stale or damaged file is replaced by one rename; processes that map the old file keep it. */
#ifndef WT_ENCODER_INTERNAL_H
#define WT_ENCODER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/progress.h"
#include "encoder/manifest.h"
#include "encoder/packed.h"
#include "encoder/trainable.h"
#include "encoder/transformer.h"
#include "text/tokenizer.h"

enum weight_part {
    /* outside the layers */
    WEIGHT_POSITIONS,
    WEIGHT_TYPES,
    WEIGHT_PROJECTION,
    WEIGHT_GAIN,
    WEIGHT_BIAS,
    WEIGHT_RELATIVE,
    WEIGHT_RELATIVE_GAIN,
    WEIGHT_RELATIVE_BIAS,
    WEIGHT_CONVOLUTION,
    WEIGHT_CONVOLUTION_BIAS,
    WEIGHT_CONVOLUTION_NORM_GAIN,
    WEIGHT_CONVOLUTION_NORM_BIAS,
    WEIGHT_POOLER, /* head of one output */
    WEIGHT_POOLER_BIAS,
    WEIGHT_SCORE,
    WEIGHT_SCORE_BIAS,
    WEIGHT_MODEL_PARTS,
    /* parts of each layer */
    WEIGHT_QKV = WEIGHT_MODEL_PARTS,
    WEIGHT_QKV_BIAS,
    WEIGHT_DISTANCE_KEY,
    WEIGHT_DISTANCE_KEY_BIAS,
    WEIGHT_DISTANCE_QUERY,
    WEIGHT_DISTANCE_QUERY_BIAS,
    WEIGHT_DISTANCES, /* computed when packing */
    WEIGHT_OUT,
    WEIGHT_OUT_BIAS,
    WEIGHT_FIRST_GAIN,
    WEIGHT_FIRST_BIAS,
    WEIGHT_UP,
    WEIGHT_UP_BIAS,
    WEIGHT_DOWN,
    WEIGHT_DOWN_BIAS,
    WEIGHT_SECOND_GAIN,
    WEIGHT_SECOND_BIAS,
    WEIGHT_PARTS,
    /* the run of word embeddings */
    WEIGHT_WORDS = WEIGHT_PARTS
};

enum weight_layout { LAYOUT_FILES, LAYOUT_PACKED };

/* Offsets of the parts in floats, from the start of the model's run or of their layer. */
struct weight_plan {
    size_t at[WEIGHT_PARTS];
    size_t words, model, layer;    /* floats of each run; `layer` of one layer */
    size_t bytes_at[WEIGHT_PARTS]; /* LAYOUT_PACKED: byte offsets of a layer's parts in the run of bytes */
    size_t bytes;                  /* bytes of a layer in that run */
};

void wt__weight_plan(struct weight_plan *out, const struct model_config *config, enum weight_layout layout);

/* Allocates zeroed floats on a cache line, with WT_PANEL readable floats after them. NULL if out of memory. */
float *wt__alloc_zeroed_panels(size_t floats);

/* Points a transformer at its weights. The runs must be 64-byte aligned and followed by WT_PANEL readable floats.
 * bytes: the run of bytes, or NULL. */
void wt__weights_bind(struct transformer *out, const struct model_config *config, enum weight_layout layout,
                      const float *words, const float *model, const float *layers, const unsigned char *bytes);

/* Packs the parts first .. end-1 of a run from LAYOUT_FILES, except for computed parts. */
void wt__weights_pack(const struct model_config *config, enum weight_part first, enum weight_part end,
                      const float *from, float *to);

/* Packs an int8 matrix [O, I] with a scale per row into its panels. layer: start of the layer in the run of bytes. */
void wt__weights_pack_bytes(const struct model_config *config, enum weight_part part, const int8_t *w,
                            const float *scales, unsigned char *layer);

/* Copies a layer's vectors from LAYOUT_PACKED to the run of bytes. */
void wt__weights_copy_vectors(const struct model_config *config, const float *from, unsigned char *to);

#define WEIGHT_NO_LAYER SIZE_MAX

/* A tensor of a file. */
struct weight_tensor {
    char name[160];
    enum weight_part part;
    size_t layer;               /* index, or WEIGHT_NO_LAYER */
    size_t offset;              /* in floats from the start of the part, row-major */
    size_t rows, columns, taps; /* see struct weight_shape */
    size_t count;               /* number of elements */
};

/* Iterates over the tensors that a model with this configuration needs: the model's tensors with the word embeddings
 * first, then those of each layer. */
struct weight_walk {
    const struct model_config *config;
    const char *prefix; /* name prefix of the file, see wt__weights_prefix; a classifier's tensors have no prefix */
    size_t below;       /* layers of the file below the first layer of this model */
    size_t row, layer;
    struct weight_tensor tensor;
};

bool wt__weight_next(struct weight_walk *walk);

struct safetensors;
/* Returns the prefix of tensor names in a file: "", or "bert." and so on in models with a head. NULL if the file has no
 * word embeddings under a known name. */
const char *wt__weights_prefix(const struct safetensors *file, const struct model_config *config);
/* Returns the prefix in models with a head. */
const char *wt__weights_head_prefix(const struct model_config *config);

/* Reads a tensor of the right shape into out [count], a convolution in the order of nn/layers.h. folder is for
 * messages. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__weight_read(const struct safetensors *file, const struct weight_tensor *tensor, const char *folder, float *out,
                    wt_error *err);

#define MODEL_WEIGHTS_FILE "model.safetensors"

/* Hashes the sizes, inodes and times of the files from which a model is packed, so that the key changes with every
 * replaced or written file. Cheap enough to compute on every start. Errors: WT_EMODEL (config or weights are missing).
 */
int wt__model_source_key(uint64_t *key, const char *folder, wt_error *err);

/* Packs a model. *image has len bytes, is 64-byte aligned, and is freed with free(). `progress` (may be NULL) advances
 * per layer. Errors: WT_EMODEL, WT_ENOMEM, WT_ECANCELLED. */
int wt__model_pack(unsigned char **image, size_t *len, const char *folder, struct progress *progress, wt_error *err);

#define MODEL_CACHE_NAME "packed-f32.wtm"

struct model_cache {
    struct packed packed;
    struct mapping map;   /* mapped file, empty if the image is in memory */
    unsigned char *image; /* image in memory, NULL if the model is mapped */
    wt_error unwritten;   /* why the image could not be written */
};

/* Opens the packed model of a folder, or creates it. `whole` also verifies every checksum of an existing file. *made
 * (may be NULL) is set to true if the model was created. `progress` (may be NULL) is updated during creation. `out`
 * must not move. Errors: WT_EMODEL, WT_ENOMEM, WT_ECANCELLED. */
int wt__model_cache_open(struct model_cache *out, const char *folder, bool whole, bool *made, struct progress *progress,
                         wt_error *err);
/* Loads the pages of the layers with one system call instead of a fault per few pages. Call it before the first forward
 * pass, not on opening: reading the header of a model does not need its layers. */
void wt__model_cache_populate(const struct model_cache *cache);
void wt__model_cache_close(struct model_cache *cache);

/* True if the folder has a current packed model. Then copies its header to *header, unless NULL. */
bool wt__model_cache_current(const char *folder, struct packed_header *header);

/* Returns the name of the i-th tokenizer file, or NULL after the last. */
const char *wt__tokenizer_file_at(size_t i);

/* Appends the blob that wt__tokenizer_open reads. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__tokenizer_read(struct buffer *blob, const char *folder, wt_error *err);

/* Checks that the tokenizer defines the begin and end tokens of a text, as transformers need. folder is for messages.
 * Errors: WT_EMODEL. */
int wt__tokenizer_check_frame(const struct tokenizer *tokenizer, const char *folder, wt_error *err);

struct trainable {
    struct transformer model;
    struct weight_plan plan;
    float *weights, *gradients; /* words, model, layers */
    void *memory[2];            /* allocations of weights and gradients */
    uint8_t *touched;           /* [V] 1 for each row of the word embeddings with a gradient */
    struct model_parameter *parameters;
    struct weight_tensor *tensors; /* [whole] tensors of the parameters */
    size_t count;                  /* number of parameters */
    size_t whole;                  /* the same, with the parameters of removed layers, which come last */
    size_t below;                  /* layers of the files that are below the first layer here */
    bool upper;                    /* true if only upper layers were opened */
    bool scorer;                   /* true with a head */
    uint64_t seed;                 /* for initialising a head */
    bool embeddings;               /* true if the embeddings are trained */
    size_t first_layer;
    struct buffer blob;
    struct tokenizer tokenizer;
    struct model_prompts prompts;
    struct arena arena;
};

/* A pull in progress (pull.h). err is not NULL. */
struct pull {
    struct arena arena;
    struct manifest manifest;
    const char *models;                   /* parent folder of the model */
    const char *target, *staging, *files; /* set by wt__pull_set_paths */
    const char *record;                   /* content of MODEL_RECORD for the model folder, NULL for none */
    struct progress *progress;
    wt_error *err;
};

/* Joins "a/b" in the arena. Returns NULL if a is NULL or out of memory. */
char *wt__pull_join(struct pull *pull, const char *a, const char *b);
int wt__pull_make_parent(struct pull *pull, const char *path);
int wt__pull_hash(struct pull *pull, const char *path, char hex[65]);
int wt__pull_sync(struct pull *pull, const char *path);
void wt__pull_remove_tree(const char *path);

/* Sets the folder of the model manifest.name and its staging folders. */
int wt__pull_set_paths(struct pull *pull);
int wt__pull_lock(struct pull *pull, int *lock);
/* Installs the collected files as the model. Returns 1. */
int wt__pull_install(struct pull *pull);
/* Returns 0 if all files are present and correct, or 1 after fetching the others. */
int wt__pull_by_manifest(struct pull *pull);

/* Returns $HF_ENDPOINT, or the hub's address if it is not set. */
const char *wt__hub_endpoint(void);
/* Returns $HF_TOKEN, or NULL if it is not set. */
const char *wt__hub_token(void);
/* True if $HF_HUB_OFFLINE forbids the network. */
bool wt__hub_is_offline(void);
/* Appends the URL of a file at a revision. */
void wt__hub_url(struct buffer *out, const char *repo, const char *revision, const char *file);

#endif
