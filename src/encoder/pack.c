/* pack.c: reads configuration, vocabulary and weights, and lays them out as packed.h says. */
#include "encoder/pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "encoder/packed.h"
#include "nn/safetensors.h"

static const struct {
    const char *name;
    bool required;
} sources[] = {{"config.json", true},
               {"vocab.txt", true},
               {MODEL_WEIGHTS, true},
               {"modules.json", false},
               {"sentence_bert_config.json", false},
               {"tokenizer.json", false},
               {"tokenizer_config.json", false},
               {"1_Pooling/config.json", false}};
enum { SOURCES = sizeof(sources) / sizeof(sources[0]) };

/* What a packed model may be longer than twice its weights: vocabulary, panels that are not full, page ends. */
#define PACKED_SLACK ((uint64_t)64 << 20)

int wt__model_source_key(uint64_t *key, const char *folder, wt_error *err)
{
    uint64_t facts[SOURCES][4] = {{0}};
    struct arena arena = {0};
    int rc = wt__is_folder(folder) ? 0 : wt__fail(err, WT_EMODEL, "there is no model at %s", folder);

    for (size_t i = 0; rc == 0 && i < SOURCES; i++) {
        char *path = wt__path_join(&arena, folder, sources[i].name);
        struct stat s;

        if (!path)
            rc = wt__fail_nomem(err);
        else if (stat(path, &s) == 0) {
            facts[i][0] = (uint64_t)s.st_size;
            facts[i][1] = (uint64_t)s.st_ino;
            facts[i][2] = (uint64_t)s.st_mtim.tv_sec;
            facts[i][3] = (uint64_t)s.st_mtim.tv_nsec;
        } else if (sources[i].required)
            rc = wt__fail(err, WT_EMODEL, "%s: the model has no %s", folder, sources[i].name);
    }
    *key = wt__checksum(facts, sizeof(facts), PACKED_VERSION);
    wt__arena_dispose(&arena);
    return rc;
}

/* What packing works with: the sources, and the image that grows from them. */
struct packing {
    const char *folder;
    struct safetensors weights;
    const char *prefix; /* before every tensor's name: "", or "bert." in models with a head */
    struct packed_header header;
    unsigned char *image;
    float *matrix; /* one tensor on its way, large enough for any */
};

static int read_vocabulary(struct buffer *blob, const struct packing *p, wt_error *err)
{
    const struct model_config *c = &p->header.config;
    struct vocabulary_options options = {c->lower_case, c->strip_accents, c->split_cjk};
    struct arena arena = {0};
    char *path = wt__path_join(&arena, p->folder, "vocab.txt"), *text = NULL;
    size_t len;
    int rc = path ? wt__file_read(&text, &len, path, VOCABULARY_MAX_BYTES, err) : wt__fail_nomem(err);

    if (rc == 0)
        rc = wt__vocabulary_build(blob, (struct str){text, len}, &options, err);
    if (rc < 0 && rc != WT_ENOMEM && path)
        rc = wt__fail_context(err, rc, "%s", path);
    free(text);
    wt__arena_dispose(&arena);
    return rc;
}

/* The tensor of that name as fp32 to out, if it has the shape [rows, columns] ([rows] where columns is 0). */
static int read_tensor(struct packing *p, const char *name, size_t rows, size_t columns, float *out, wt_error *err)
{
    char full[160];
    snprintf(full, sizeof(full), "%s%s", p->prefix, name);
    const struct tensor *t = wt__safetensors_find(&p->weights, full);

    if (!t)
        return wt__fail(err, WT_EMODEL, "%s: %s has no tensor \"%s\"", p->folder, MODEL_WEIGHTS, full);
    if (t->rank != (columns ? 2 : 1) || t->shape[0] != rows || (columns && t->shape[1] != columns))
        return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" does not have the shape that config.json needs", p->folder,
                        full);
    p->header.parameters += t->count;
    return wt__tensor_floats(t, out, err);
}

static float *section(struct packing *p, enum packed_part part)
{
    return (float *)(void *)(p->image + p->header.sections[part].offset);
}

static int pack_embeddings(struct packing *p, wt_error *err)
{
    const struct model_config *c = &p->header.config;
    float *norm = section(p, PACKED_NORM);
    const struct {
        const char *name;
        size_t rows, columns;
        float *out;
    } tensors[] = {
        {"embeddings.word_embeddings.weight", c->vocabulary, c->hidden, section(p, PACKED_WORDS)},
        {"embeddings.position_embeddings.weight", c->positions, c->hidden, section(p, PACKED_POSITIONS)},
        {"embeddings.token_type_embeddings.weight", c->types, c->hidden, section(p, PACKED_TYPES)},
        {"embeddings.LayerNorm.weight", c->hidden, 0, norm},
        {"embeddings.LayerNorm.bias", c->hidden, 0, norm + c->hidden},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(tensors) / sizeof(tensors[0]); i++)
        rc = read_tensor(p, tensors[i].name, tensors[i].rows, tensors[i].columns, tensors[i].out, err);
    return rc;
}

/* The tensors of a layer: several of one part stand below each other in it. */
static const struct {
    enum layer_part part;
    const char *name;
} layer_tensors[] = {
    {LAYER_QKV, "attention.self.query.weight"},
    {LAYER_QKV, "attention.self.key.weight"},
    {LAYER_QKV, "attention.self.value.weight"},
    {LAYER_QKV_BIAS, "attention.self.query.bias"},
    {LAYER_QKV_BIAS, "attention.self.key.bias"},
    {LAYER_QKV_BIAS, "attention.self.value.bias"},
    {LAYER_OUT, "attention.output.dense.weight"},
    {LAYER_OUT_BIAS, "attention.output.dense.bias"},
    {LAYER_FIRST_GAIN, "attention.output.LayerNorm.weight"},
    {LAYER_FIRST_BIAS, "attention.output.LayerNorm.bias"},
    {LAYER_UP, "intermediate.dense.weight"},
    {LAYER_UP_BIAS, "intermediate.dense.bias"},
    {LAYER_DOWN, "output.dense.weight"},
    {LAYER_DOWN_BIAS, "output.dense.bias"},
    {LAYER_SECOND_GAIN, "output.LayerNorm.weight"},
    {LAYER_SECOND_BIAS, "output.LayerNorm.bias"},
};
enum { LAYER_TENSORS = sizeof(layer_tensors) / sizeof(layer_tensors[0]) };

static int pack_layer(struct packing *p, size_t layer, wt_error *err)
{
    const struct model_config *c = &p->header.config;
    size_t offsets[LAYER_PARTS + 1], same;
    char name[128];
    int rc = 0;

    wt__layer_offsets(c, offsets);
    float *base = section(p, PACKED_LAYERS) + layer * offsets[LAYER_PARTS];
    for (size_t i = 0; rc == 0 && i < LAYER_TENSORS; i += same) {
        enum layer_part part = layer_tensors[i].part;
        struct layer_shape shape = wt__layer_shape(c, part);

        for (same = 1; i + same < LAYER_TENSORS && layer_tensors[i + same].part == part;)
            same++;
        size_t rows = shape.rows / same, floats = rows * (shape.columns ? shape.columns : 1);
        for (size_t j = 0; rc == 0 && j < same; j++) {
            snprintf(name, sizeof(name), "encoder.layer.%zu.%s", layer, layer_tensors[i + j].name);
            float *out = shape.columns ? p->matrix : base + offsets[part];
            rc = read_tensor(p, name, rows, shape.columns, out + j * floats, err);
        }
        if (rc == 0 && shape.columns)
            wt__linear_pack(base + offsets[part], p->matrix, shape.columns, shape.rows, shape.columns);
    }
    return rc;
}

/* Makes room, and fills in all sections. */
static int pack_sections(struct packing *p, const struct buffer *vocabulary, size_t weights_len, wt_error *err)
{
    const struct model_config *c = &p->header.config;
    size_t widest = 3 * (size_t)c->hidden > c->intermediate ? 3 * (size_t)c->hidden : c->intermediate;
    int rc;

    p->header.sections[PACKED_VOCABULARY].size = vocabulary->len;
    rc = wt__packed_place(&p->header, err);
    if (rc < 0)
        return rc;
    /* Before memory is taken: config.json may promise more than the weights hold, even at two bytes a number. */
    if (p->header.file_size > PACKED_SLACK + 4 * (uint64_t)weights_len)
        return wt__fail(err, WT_EMODEL, "%s: %s is too short for what config.json says", p->folder, MODEL_WEIGHTS);
    p->image = wt__alloc_aligned((size_t)p->header.file_size, 1);
    p->matrix = wt__alloc_aligned(widest * c->hidden, sizeof(float));
    if (!p->image || !p->matrix)
        return wt__fail_nomem(err);
    memset(p->image, 0, (size_t)p->header.file_size);
    memcpy(p->image + p->header.sections[PACKED_VOCABULARY].offset, vocabulary->ptr, vocabulary->len);
    rc = pack_embeddings(p, err);
    for (size_t layer = 0; rc == 0 && layer < c->layers; layer++)
        rc = pack_layer(p, layer, err);
    return rc;
}

static int open_weights(struct packing *p, struct mapping *map, wt_error *err)
{
    struct arena arena = {0};
    char *path = wt__path_join(&arena, p->folder, MODEL_WEIGHTS);
    int rc = path ? wt__file_map(map, path, err) : wt__fail_nomem(err);

    if (rc == 0)
        rc = wt__safetensors_open(&p->weights, path, map->ptr, map->len, err);
    if (rc == 0) {
        wt__sha256(map->ptr, map->len, p->header.source_sha256);
        p->prefix = wt__safetensors_find(&p->weights, "bert.embeddings.word_embeddings.weight") ? "bert." : "";
    }
    wt__arena_dispose(&arena);
    return rc;
}

int wt__model_pack(unsigned char **image, size_t *len, const char *folder, wt_error *err)
{
    struct packing p = {.folder = folder};
    struct buffer vocabulary = {0};
    struct mapping map = {0};
    int rc;

    *image = NULL;
    *len = 0;
    /* The key first: should a file change from here on, the result is stale and not wrong. */
    rc = wt__model_source_key(&p.header.source_key, folder, err);
    if (rc == 0)
        rc = wt__model_config_read(&p.header.config, folder, err);
    if (rc == 0)
        rc = read_vocabulary(&vocabulary, &p, err);
    if (rc == 0)
        rc = open_weights(&p, &map, err);
    if (rc == 0)
        rc = pack_sections(&p, &vocabulary, map.len, err);
    if (rc == 0) {
        wt__packed_seal(&p.header, p.image);
        memcpy(p.image, &p.header, sizeof(p.header));
        *image = p.image;
        *len = (size_t)p.header.file_size;
        p.image = NULL;
    }
    free(p.image);
    free(p.matrix);
    wt__safetensors_dispose(&p.weights);
    wt__file_unmap(&map);
    wt__buffer_dispose(&vocabulary);
    return rc;
}
