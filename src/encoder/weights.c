/* weights.c: defines the names of tensors and the layout of weights (internal.h). Reads and packs weights, and opens
 * the upper layers of a model. */
#include "encoder/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "encoder/transformer.h"
#include "nn/layers.h"
#include "nn/safetensors.h"

_Static_assert(sizeof(size_t) >= 8, "limits of config.h multiply to less than 64 bits, not 32");

enum { FLOATS_A_LINE = 16 };

/* Sets of architectures, with one bit per architecture. */
enum {
    BERT = 1 << ARCHITECTURE_BERT,
    ROBERTA = 1 << ARCHITECTURE_ROBERTA | 1 << ARCHITECTURE_XLM_ROBERTA,
    DISTILBERT = 1 << ARCHITECTURE_DISTILBERT,
    MPNET = 1 << ARCHITECTURE_MPNET,
    DEBERTA = 1 << ARCHITECTURE_DEBERTA,
    BERT_LIKE = BERT | ROBERTA,
    NOT_DISTILBERT = BERT | ROBERTA | MPNET | DEBERTA,
    ALL = NOT_DISTILBERT | DISTILBERT
};

/* Rows of the table of tensors. MATRIX: a matrix and its bias. NORM: the gain and bias of a normalisation. QKV: the
 * matrices of query, key and value, or their biases. */
#define MATRIX(part, architectures, name)                                                                              \
    {WEIGHT_##part, architectures, name ".weight"},                                                                    \
    {                                                                                                                  \
        WEIGHT_##part##_BIAS, architectures, name ".bias"                                                              \
    }
#define NORM(part, architectures, name)                                                                                \
    {WEIGHT_##part##GAIN, architectures, name ".weight"},                                                              \
    {                                                                                                                  \
        WEIGHT_##part##BIAS, architectures, name ".bias"                                                               \
    }
#define QKV(part, architectures, query, key, value, end)                                                               \
    {WEIGHT_##part, architectures, query end}, {WEIGHT_##part, architectures, key end},                                \
    {                                                                                                                  \
        WEIGHT_##part, architectures, value end                                                                        \
    }

/* Tensors of all architectures. Tensors of the same part are in the order in which they are stacked. */
static const struct {
    enum weight_part part;
    unsigned architectures;
    const char *name; /* without the layer's prefix for tensors of a layer */
} rows[] = {
    {WEIGHT_WORDS, ALL, "embeddings.word_embeddings.weight"},
    {WEIGHT_POSITIONS, ALL, "embeddings.position_embeddings.weight"},
    {WEIGHT_TYPES, BERT_LIKE | DEBERTA, "embeddings.token_type_embeddings.weight"},
    {WEIGHT_PROJECTION, DEBERTA, "embeddings.embed_proj.weight"},
    NORM(, ALL, "embeddings.LayerNorm"),
    {WEIGHT_RELATIVE, MPNET, "encoder.relative_attention_bias.weight"},
    {WEIGHT_RELATIVE, DEBERTA, "encoder.rel_embeddings.weight"},
    NORM(RELATIVE_, DEBERTA, "encoder.LayerNorm"),
    MATRIX(CONVOLUTION, DEBERTA, "encoder.conv.conv"),
    NORM(CONVOLUTION_NORM_, DEBERTA, "encoder.conv.LayerNorm"),
    MATRIX(POOLER, BERT | DEBERTA, "pooler.dense"),
    MATRIX(POOLER, ROBERTA | MPNET, "classifier.dense"),
    MATRIX(POOLER, DISTILBERT, "pre_classifier"),
    MATRIX(SCORE, BERT | DISTILBERT | DEBERTA, "classifier"),
    MATRIX(SCORE, ROBERTA | MPNET, "classifier.out_proj"),
    /* tensors of a layer */
    QKV(QKV, BERT_LIKE, "attention.self.query", "attention.self.key", "attention.self.value", ".weight"),
    QKV(QKV, DISTILBERT, "attention.q_lin", "attention.k_lin", "attention.v_lin", ".weight"),
    QKV(QKV, MPNET, "attention.attn.q", "attention.attn.k", "attention.attn.v", ".weight"),
    QKV(QKV, DEBERTA, "attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj", ".weight"),
    QKV(QKV_BIAS, BERT_LIKE, "attention.self.query", "attention.self.key", "attention.self.value", ".bias"),
    QKV(QKV_BIAS, DISTILBERT, "attention.q_lin", "attention.k_lin", "attention.v_lin", ".bias"),
    QKV(QKV_BIAS, MPNET, "attention.attn.q", "attention.attn.k", "attention.attn.v", ".bias"),
    QKV(QKV_BIAS, DEBERTA, "attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj",
        ".bias"),
    MATRIX(DISTANCE_KEY, DEBERTA, "attention.self.pos_key_proj"),
    MATRIX(DISTANCE_QUERY, DEBERTA, "attention.self.pos_query_proj"),
    MATRIX(OUT, BERT_LIKE | DEBERTA, "attention.output.dense"),
    MATRIX(OUT, DISTILBERT, "attention.out_lin"),
    MATRIX(OUT, MPNET, "attention.attn.o"),
    NORM(FIRST_, BERT_LIKE | DEBERTA, "attention.output.LayerNorm"),
    NORM(FIRST_, DISTILBERT, "sa_layer_norm"),
    NORM(FIRST_, MPNET, "attention.LayerNorm"),
    MATRIX(UP, NOT_DISTILBERT, "intermediate.dense"),
    MATRIX(UP, DISTILBERT, "ffn.lin1"),
    MATRIX(DOWN, NOT_DISTILBERT, "output.dense"),
    MATRIX(DOWN, DISTILBERT, "ffn.lin2"),
    NORM(SECOND_, NOT_DISTILBERT, "output.LayerNorm"),
    NORM(SECOND_, DISTILBERT, "output_layer_norm"),
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const char *const prefixes[ARCHITECTURES] = {
    [ARCHITECTURE_BERT] = "bert.",
    [ARCHITECTURE_ROBERTA] = "roberta.",
    [ARCHITECTURE_XLM_ROBERTA] = "roberta.", /* files of XLM-RoBERTa use the prefix of RoBERTa */
    [ARCHITECTURE_DISTILBERT] = "distilbert.",
    [ARCHITECTURE_MPNET] = "mpnet.",
    [ARCHITECTURE_DEBERTA] = "deberta.",
};

/* ---------------------------------------------------------------- shapes and places */

struct weight_shape {
    size_t rows;    /* 0 if the model lacks the part */
    size_t columns; /* 0 for a vector of `rows` */
    size_t taps;    /* kernel width of a convolution, else 1 */
    bool linear;    /* stored in panels when packed */
};

static struct weight_shape matrix_shape(size_t out, size_t in)
{
    return (struct weight_shape){.rows = out, .columns = in, .taps = 1, .linear = true};
}

static struct weight_shape table_shape(size_t count, size_t width)
{
    return (struct weight_shape){.rows = count, .columns = width, .taps = 1};
}

static struct weight_shape find_part_shape(const struct model_config *c, enum weight_layout layout,
                                           enum weight_part part)
{
    const struct weight_shape none = {0}, vector = table_shape(c->hidden, 0);
    bool deberta = c->relative == RELATIVE_DISENTANGLED, packed = layout == LAYOUT_PACKED;
    bool own = deberta && !packed && c->own_distances, normed = deberta && !packed && c->normed_distances;
    switch (part) {
    case WEIGHT_WORDS:
        return table_shape(c->vocabulary, c->embedding);
    case WEIGHT_POSITIONS:
        return c->positions ? table_shape(c->positions, c->embedding) : none;
    case WEIGHT_TYPES:
        return c->types ? table_shape(c->types, c->embedding) : none;
    case WEIGHT_PROJECTION:
        return c->embedding != c->hidden ? matrix_shape(c->hidden, c->embedding) : none;
    case WEIGHT_RELATIVE:
        if (c->relative == RELATIVE_BIAS)
            return table_shape(DISTANCE_MPNET_BUCKETS, c->heads);
        return deberta && !packed ? table_shape(2 * (size_t)c->span, c->hidden) : none;
    case WEIGHT_RELATIVE_GAIN:
    case WEIGHT_RELATIVE_BIAS:
        return normed ? vector : none;
    case WEIGHT_CONVOLUTION: {
        struct weight_shape shape = matrix_shape(c->hidden, c->hidden);
        shape.taps = c->convolution;
        return c->convolution ? shape : none;
    }
    case WEIGHT_CONVOLUTION_BIAS:
    case WEIGHT_CONVOLUTION_NORM_GAIN:
    case WEIGHT_CONVOLUTION_NORM_BIAS:
        return c->convolution ? vector : none;
    case WEIGHT_POOLER:
        return c->labels == 1 ? matrix_shape(c->hidden, c->hidden) : none;
    case WEIGHT_POOLER_BIAS:
        return c->labels == 1 ? vector : none;
    case WEIGHT_SCORE:
        return c->labels == 1 ? matrix_shape(1, c->hidden) : none;
    case WEIGHT_SCORE_BIAS:
        return c->labels == 1 ? table_shape(1, 0) : none;
    case WEIGHT_QKV:
        return matrix_shape(3 * (size_t)c->hidden, c->hidden);
    case WEIGHT_QKV_BIAS:
        return table_shape(3 * (size_t)c->hidden, 0);
    case WEIGHT_DISTANCE_KEY:
        return own && c->content_to_position ? matrix_shape(c->hidden, c->hidden) : none;
    case WEIGHT_DISTANCE_KEY_BIAS:
        return own && c->content_to_position ? vector : none;
    case WEIGHT_DISTANCE_QUERY:
        return own && c->position_to_content ? matrix_shape(c->hidden, c->hidden) : none;
    case WEIGHT_DISTANCE_QUERY_BIAS:
        return own && c->position_to_content ? vector : none;
    case WEIGHT_DISTANCES:
        return deberta && packed ? table_shape(2 * (size_t)c->span, 2 * (size_t)c->hidden) : none;
    case WEIGHT_OUT:
        return matrix_shape(c->hidden, c->hidden);
    case WEIGHT_UP:
        return matrix_shape(c->intermediate, c->hidden);
    case WEIGHT_UP_BIAS:
        return table_shape(c->intermediate, 0);
    case WEIGHT_DOWN:
        return matrix_shape(c->hidden, c->intermediate);
    default:
        return vector;
    }
}

static size_t count_part_floats(const struct weight_shape *shape, enum weight_layout layout)
{
    size_t columns = shape->columns ? shape->columns : 1;
    size_t floats =
        layout == LAYOUT_PACKED && shape->linear ? wt__matrix_packed_size(shape->rows, columns) : shape->rows * columns;
    floats *= shape->taps;
    return (floats + FLOATS_A_LINE - 1) / FLOATS_A_LINE * FLOATS_A_LINE;
}

/* Returns the size of a part in the run of bytes, which holds the int8 matrices and copies of the vectors of layers.
 * Returns 0 for other parts. */
static size_t count_part_bytes(const struct weight_shape *shape, enum weight_part part)
{
    if (part < WEIGHT_MODEL_PARTS || part >= WEIGHT_PARTS)
        return 0;
    if (shape->linear)
        return wt__linear_bytes_size(shape->rows, shape->columns);
    return shape->columns == 0 ? count_part_floats(shape, LAYOUT_PACKED) * sizeof(float) : 0;
}

void wt__weight_plan(struct weight_plan *out, const struct model_config *config, enum weight_layout layout)
{
    *out = (struct weight_plan){0};
    for (int part = 0; part <= WEIGHT_WORDS; part++) {
        struct weight_shape shape = find_part_shape(config, layout, (enum weight_part)part);
        size_t *run = part == WEIGHT_WORDS ? &out->words : part < WEIGHT_MODEL_PARTS ? &out->model : &out->layer;
        if (part < WEIGHT_PARTS)
            out->at[part] = *run;
        *run += count_part_floats(&shape, layout);
        if (layout == LAYOUT_PACKED && part < WEIGHT_PARTS) {
            out->bytes_at[part] = out->bytes;
            out->bytes += count_part_bytes(&shape, (enum weight_part)part);
        }
    }
}

/* ---------------------------------------------------------------- binding */

/* Arguments for binding the parts of a run. */
struct part_binding {
    const struct model_config *config;
    enum weight_layout layout;
    const struct weight_plan *plan;
    const float *run;
    const unsigned char *bytes; /* the layer's bytes, or NULL */
};

static const float *find_part(const struct part_binding *b, enum weight_part part)
{
    struct weight_shape shape = find_part_shape(b->config, b->layout, part);
    if (b->bytes && shape.columns == 0 && count_part_bytes(&shape, part) > 0)
        return (const float *)(const void *)(b->bytes + b->plan->bytes_at[part]);
    return shape.rows ? b->run + b->plan->at[part] : NULL;
}

static struct linear bind_linear(const struct part_binding *b, enum weight_part weight, enum weight_part bias)
{
    struct weight_shape shape = find_part_shape(b->config, b->layout, weight);
    return (struct linear){.in = shape.columns,
                           .out = shape.rows,
                           .weight = find_part(b, weight),
                           .bias = bias == WEIGHT_PARTS ? NULL : find_part(b, bias),
                           .bytes = b->bytes ? b->bytes + b->plan->bytes_at[weight] : NULL,
                           .row_major = b->layout == LAYOUT_FILES};
}

static struct layer_norm bind_norm(const struct part_binding *b, enum weight_part gain, enum weight_part bias)
{
    return (struct layer_norm){b->config->hidden, find_part(b, gain), find_part(b, bias), b->config->epsilon};
}

static void bind_layer(struct transformer_layer *l, const struct part_binding *b)
{
    const struct model_config *c = b->config;
    *l = (struct transformer_layer){
        .qkv = bind_linear(b, WEIGHT_QKV, WEIGHT_QKV_BIAS),
        .out = bind_linear(b, WEIGHT_OUT, WEIGHT_OUT_BIAS),
        .first = bind_norm(b, WEIGHT_FIRST_GAIN, WEIGHT_FIRST_BIAS),
        .up = bind_linear(b, WEIGHT_UP, WEIGHT_UP_BIAS),
        .down = bind_linear(b, WEIGHT_DOWN, WEIGHT_DOWN_BIAS),
        .second = bind_norm(b, WEIGHT_SECOND_GAIN, WEIGHT_SECOND_BIAS),
        .distance_key = bind_linear(b, WEIGHT_DISTANCE_KEY, WEIGHT_DISTANCE_KEY_BIAS),
        .distance_query = bind_linear(b, WEIGHT_DISTANCE_QUERY, WEIGHT_DISTANCE_QUERY_BIAS),
        .distances = find_part(b, WEIGHT_DISTANCES),
    };
    if (b->layout == LAYOUT_FILES && c->relative == RELATIVE_DISENTANGLED && !c->own_distances) {
        struct linear query = {.in = c->hidden,
                               .out = c->hidden,
                               .weight = l->qkv.weight,
                               .bias = l->qkv.bias,
                               .row_major = true},
                      key = query;
        key.weight += (size_t)c->hidden * c->hidden;
        key.bias += c->hidden;
        if (c->content_to_position)
            l->distance_key = key;
        if (c->position_to_content)
            l->distance_query = query;
    }
}

void wt__weights_bind(struct transformer *out, const struct model_config *c, enum weight_layout layout,
                      const float *words, const float *model, const float *layers, const unsigned char *bytes)
{
    struct weight_plan plan;
    struct part_binding b = {c, layout, &plan, model, NULL};
    wt__weight_plan(&plan, c, layout);
    out->config = *c;
    out->words = words;
    out->positions = find_part(&b, WEIGHT_POSITIONS);
    out->types = find_part(&b, WEIGHT_TYPES);
    out->projection = bind_linear(&b, WEIGHT_PROJECTION, WEIGHT_PARTS);
    out->norm = bind_norm(&b, WEIGHT_GAIN, WEIGHT_BIAS);
    out->relative = find_part(&b, WEIGHT_RELATIVE);
    out->relative_norm = bind_norm(&b, WEIGHT_RELATIVE_GAIN, WEIGHT_RELATIVE_BIAS);
    out->convolution = (struct convolution){.taps = c->convolution,
                                            .in = c->hidden,
                                            .out = c->hidden,
                                            .weight = find_part(&b, WEIGHT_CONVOLUTION),
                                            .bias = find_part(&b, WEIGHT_CONVOLUTION_BIAS),
                                            .row_major = layout == LAYOUT_FILES};
    out->convolution_norm = bind_norm(&b, WEIGHT_CONVOLUTION_NORM_GAIN, WEIGHT_CONVOLUTION_NORM_BIAS);
    out->pooler = bind_linear(&b, WEIGHT_POOLER, WEIGHT_POOLER_BIAS);
    out->score = bind_linear(&b, WEIGHT_SCORE, WEIGHT_SCORE_BIAS);
    for (size_t i = 0; i < c->layers; i++) {
        b.run = layers + i * plan.layer;
        b.bytes = bytes ? bytes + i * plan.bytes : NULL;
        bind_layer(&out->layers[i], &b);
    }
}

void wt__weights_pack(const struct model_config *config, enum weight_part first, enum weight_part end,
                      const float *from, float *to)
{
    struct weight_plan files, packed;
    wt__weight_plan(&files, config, LAYOUT_FILES);
    wt__weight_plan(&packed, config, LAYOUT_PACKED);
    for (int part = (int)first; part < (int)end; part++) {
        struct weight_shape have = find_part_shape(config, LAYOUT_FILES, (enum weight_part)part);
        struct weight_shape want = find_part_shape(config, LAYOUT_PACKED, (enum weight_part)part);
        const float *source = from + files.at[part];
        float *target = to + packed.at[part];
        if (have.rows == 0 || want.rows == 0)
            continue;
        if (want.linear)
            for (size_t tap = 0; tap < want.taps; tap++)
                wt__matrix_pack(target + tap * wt__matrix_packed_size(want.rows, want.columns),
                                source + tap * want.rows * want.columns, want.columns, want.rows, want.columns);
        else
            memcpy(target, source, have.rows * (have.columns ? have.columns : 1) * sizeof(float));
    }
}

void wt__weights_pack_bytes(const struct model_config *config, enum weight_part part, const int8_t *w,
                            const float *scales, unsigned char *layer)
{
    struct weight_shape shape = find_part_shape(config, LAYOUT_PACKED, part);
    struct weight_plan plan;
    wt__weight_plan(&plan, config, LAYOUT_PACKED);
    wt__linear_bytes_pack(layer + plan.bytes_at[part], w, scales, shape.rows, shape.columns);
}

void wt__weights_copy_vectors(const struct model_config *config, const float *from, unsigned char *to)
{
    struct weight_plan plan;
    wt__weight_plan(&plan, config, LAYOUT_PACKED);
    for (int part = WEIGHT_MODEL_PARTS; part < WEIGHT_PARTS; part++) {
        struct weight_shape shape = find_part_shape(config, LAYOUT_PACKED, (enum weight_part)part);
        if (shape.columns == 0)
            memcpy(to + plan.bytes_at[part], from + plan.at[part], count_part_bytes(&shape, (enum weight_part)part));
    }
}

/* ---------------------------------------------------------------- tensors of files */

/* Sets a tensor's part, layer, shape and offset in the part. The tensors of a part have the same size and are stacked
 * in the order of the table, for example query, key, value. */
static void place_tensor(struct weight_tensor *t, const struct model_config *c, size_t row, size_t layer)
{
    struct weight_shape shape = find_part_shape(c, LAYOUT_FILES, rows[row].part);
    unsigned bit = 1u << c->architecture;
    size_t all = 0, before = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].part == rows[row].part && (rows[i].architectures & bit)) {
            all++;
            before += i < row;
        }
    t->part = rows[row].part;
    t->layer = layer;
    t->rows = shape.rows / all;
    t->columns = shape.columns;
    t->taps = shape.taps;
    t->count = t->rows * (t->columns ? t->columns : 1) * t->taps;
    t->offset = before * t->count;
}

/* True for tensors of the head that have no prefix. BERT's pooler has the prefix, as it belongs to the model. */
static bool lacks_prefix(const struct model_config *c, enum weight_part part)
{
    bool pooler = part == WEIGHT_POOLER || part == WEIGHT_POOLER_BIAS;
    return part == WEIGHT_SCORE || part == WEIGHT_SCORE_BIAS || (pooler && c->architecture != ARCHITECTURE_BERT);
}

bool wt__weight_next(struct weight_walk *walk)
{
    const struct model_config *c = walk->config;
    unsigned bit = 1u << c->architecture;
    size_t first_of_layer = 0;
    while (rows[first_of_layer].part == WEIGHT_WORDS || rows[first_of_layer].part < WEIGHT_MODEL_PARTS)
        first_of_layer++;
    for (;; walk->row++) {
        if (walk->row == ROWS) {
            walk->layer++;
            walk->row = first_of_layer;
        }
        if (walk->layer >= c->layers)
            return false;
        if ((rows[walk->row].architectures & bit) && find_part_shape(c, LAYOUT_FILES, rows[walk->row].part).rows > 0)
            break;
    }
    struct weight_tensor *t = &walk->tensor;
    const char *prefix = walk->prefix && !lacks_prefix(c, rows[walk->row].part) ? walk->prefix : "";
    place_tensor(t, c, walk->row, walk->row < first_of_layer ? WEIGHT_NO_LAYER : walk->layer);
    if (walk->row < first_of_layer)
        snprintf(t->name, sizeof(t->name), "%s%s", prefix, rows[walk->row].name);
    else
        snprintf(t->name, sizeof(t->name), "%s%s.layer.%zu.%s", prefix,
                 c->architecture == ARCHITECTURE_DISTILBERT ? "transformer" : "encoder", walk->below + walk->layer,
                 rows[walk->row].name);
    walk->row++;
    return true;
}

const char *wt__weights_prefix(const struct safetensors *file, const struct model_config *config)
{
    const char *const candidates[] = {"", prefixes[config->architecture]};
    for (size_t i = 0; i < 2; i++) {
        struct weight_walk walk = {.config = config, .prefix = candidates[i]};
        if (wt__weight_next(&walk) && wt__safetensors_find(file, walk.tensor.name))
            return candidates[i];
    }
    return NULL;
}

const char *wt__weights_head_prefix(const struct model_config *config)
{
    return prefixes[config->architecture];
}

static bool has_shape(const struct tensor *have, const struct weight_tensor *want)
{
    size_t rank = want->taps > 1 || want->part == WEIGHT_CONVOLUTION ? 3 : want->columns ? 2 : 1;
    return have->rank == rank && have->shape[0] == want->rows && (rank < 2 || have->shape[1] == want->columns) &&
           (rank < 3 || have->shape[2] == want->taps);
}

int wt__weight_read(const struct safetensors *file, const struct weight_tensor *tensor, const char *folder, float *out,
                    wt_error *err)
{
    const struct tensor *t = wt__safetensors_find(file, tensor->name);
    if (!t)
        return wt__fail(err, WT_EMODEL, "%s: " MODEL_WEIGHTS_FILE " has no tensor \"%s\"", folder, tensor->name);
    if (!has_shape(t, tensor))
        return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" does not have the shape that config.json needs", folder,
                        tensor->name);
    if (tensor->part != WEIGHT_CONVOLUTION)
        return wt__tensor_floats(t, out, err);
    WT_AUTO_FREE float *copy = wt__alloc_array(tensor->count, sizeof(float));
    WT_CHECK_ALLOC(copy, err);
    WT_TRY(wt__tensor_floats(t, copy, err));
    wt__convolution_arrange(out, copy, tensor->taps, tensor->rows, tensor->columns);
    return 0;
}

/* ---------------------------------------------------------------- upper layers */

/* State while the upper layers are read and packed. */
struct upper_layer_reader {
    const struct model_config *config;
    const struct safetensors *file;
    const char *folder;
    struct weight_plan files, packed;
    /* Run of the model and one layer at a time, both in LAYOUT_FILES. relative: DeBERTa's distance embeddings,
     * normalised if the model does so, or NULL for other models. */
    float *model, *layer, *relative;
    float *packed_model, *packed_layers; /* runs in LAYOUT_PACKED */
    struct transformer bound;            /* a model of one layer that uses `model` and `layer` */
};

/* Reads and packs the weights of relative positions and the layers. first: index of the first layer to read. */
static int read_upper_weights(struct upper_layer_reader *r, size_t first, wt_error *err)
{
    struct weight_walk walk = {.config = r->config, .below = first};
    bool more = wt__weight_next(&walk);
    for (; more && walk.tensor.layer == WEIGHT_NO_LAYER; more = wt__weight_next(&walk)) {
        const struct weight_tensor *t = &walk.tensor;
        if (t->part == WEIGHT_RELATIVE || t->part == WEIGHT_RELATIVE_GAIN || t->part == WEIGHT_RELATIVE_BIAS)
            WT_TRY(wt__weight_read(r->file, t, r->folder, r->model + r->files.at[t->part] + t->offset, err));
    }
    wt__weights_pack(r->config, WEIGHT_POSITIONS, WEIGHT_MODEL_PARTS, r->model, r->packed_model);
    if (r->relative)
        wt__relative_forward(&r->bound, r->relative);
    for (size_t layer = 0; layer < r->config->layers; layer++) {
        float *to = r->packed_layers + layer * r->packed.layer;
        for (; more && walk.tensor.layer == layer; more = wt__weight_next(&walk)) {
            const struct weight_tensor *t = &walk.tensor;
            WT_TRY(wt__weight_read(r->file, t, r->folder, r->layer + r->files.at[t->part] + t->offset, err));
        }
        wt__weights_pack(r->config, WEIGHT_MODEL_PARTS, WEIGHT_PARTS, r->layer, to);
        if (r->relative)
            wt__distances_forward(&r->bound, 0, r->relative, to + r->packed.at[WEIGHT_DISTANCES]);
    }
    return 0;
}

float *wt__alloc_zeroed_panels(size_t floats)
{
    float *block = wt__alloc_aligned(floats + WT_PANEL, sizeof *block);
    if (block)
        memset(block, 0, (floats + WT_PANEL) * sizeof *block);
    return block;
}

static void free_upper_layer_reader(struct upper_layer_reader **reader)
{
    if (!*reader)
        return;
    free((*reader)->model);
    free((*reader)->layer);
    free((*reader)->relative);
    free(*reader);
}

/* Allocates the runs and reads the weights. The packed runs are in out->memory. */
static int open_upper_weights(struct upper_layers *out, struct upper_layer_reader *r, size_t first, wt_error *err)
{
    const struct model_config *c = r->config;
    size_t distances = c->relative == RELATIVE_DISENTANGLED ? 2 * (size_t)c->span * c->hidden : 0;
    struct model_config one = *c;
    wt__weight_plan(&r->files, c, LAYOUT_FILES);
    wt__weight_plan(&r->packed, c, LAYOUT_PACKED);
    out->memory = wt__alloc_zeroed_panels(r->packed.model + c->layers * r->packed.layer);
    r->model = wt__alloc_zeroed_panels(r->files.model);
    r->layer = wt__alloc_zeroed_panels(r->files.layer);
    r->relative = distances ? wt__alloc_zeroed_panels(distances) : NULL;
    WT_CHECK_ALLOC(out->memory && r->model && r->layer && (!distances || r->relative), err);
    one.layers = 1;
    r->packed_model = out->memory;
    r->packed_layers = out->memory + r->packed.model;
    wt__weights_bind(&r->bound, &one, LAYOUT_FILES, NULL, r->model, r->layer, NULL);
    wt__weights_bind(&out->model, c, LAYOUT_PACKED, NULL, r->packed_model, r->packed_layers, NULL);
    return read_upper_weights(r, first, err);
}

int wt__upper_layers_open(struct upper_layers *out, const struct model_config *whole, size_t first,
                          const struct safetensors *file, const char *folder, wt_error *err)
{
    memset(out, 0, sizeof *out);
    if (first >= whole->layers || (first == 0 && whole->convolution > 0))
        return wt__fail(err, WT_EMODEL, "%s: cannot use the layers from %zu on; the encoder has %u%s", folder, first,
                        (unsigned)whole->layers, whole->convolution > 0 ? ", the first with a convolution" : "");
    struct model_config config = *whole;
    WT_CLEANUP(free_upper_layer_reader) struct upper_layer_reader *r = wt__alloc_zeros(1, sizeof *r);
    WT_CHECK_ALLOC(r, err);
    config.layers -= (uint32_t)first;
    config.convolution = 0;
    *r = (struct upper_layer_reader){.config = &config, .file = file, .folder = folder};
    int rc = open_upper_weights(out, r, first, err);
    if (rc < 0)
        wt__upper_layers_close(out);
    return rc;
}

void wt__upper_layers_close(struct upper_layers *upper)
{
    free(WT_TAKE(upper->memory));
}

void wt__upper_layers_forward(const struct upper_layers *upper, const struct token_batch *batch, struct activations *a)
{
    for (size_t layer = 0; layer < upper->model.config.layers; layer++)
        wt__layer_forward(&upper->model, layer, batch, a);
}
