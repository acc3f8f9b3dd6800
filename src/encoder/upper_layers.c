/* upper_layers.c: packs the weights when reading them; this takes a few milliseconds for a few layers. */
#include "encoder/upper_layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "encoder/weights.h"

/* State while reading: runs in LAYOUT_FILES of the model and the current layer, and the packed runs. */
struct upper_layer_reader {
    const struct model_config *config;
    const struct safetensors *file;
    const char *folder;
    struct weight_plan files, packed;
    float *model, *layer, *relative; /* relative: DeBERTa's distances as the layers use them */
    float *packed_model, *packed_layers;
    struct transformer bound; /* a one-layer model over the two runs */
};

static bool is_relative_part(enum weight_part part)
{
    return part == WEIGHT_RELATIVE || part == WEIGHT_RELATIVE_GAIN || part == WEIGHT_RELATIVE_BIAS;
}

static int read_upper_weights(struct upper_layer_reader *r, size_t first, wt_error *err)
{
    struct weight_walk walk = {.config = r->config, .below = first};
    bool more = wt__weight_next(&walk);
    int rc = 0;

    for (; rc == 0 && more && walk.tensor.layer == WEIGHT_NO_LAYER; more = wt__weight_next(&walk)) {
        const struct weight_tensor *t = &walk.tensor;
        if (is_relative_part(t->part))
            rc = wt__weight_read(r->file, t, r->folder, r->model + r->files.at[t->part] + t->offset, err);
    }
    if (rc < 0)
        return rc;
    wt__weights_pack(r->config, WEIGHT_POSITIONS, WEIGHT_MODEL_PARTS, r->model, r->packed_model);
    if (r->relative)
        wt__relative_forward(&r->bound, r->relative);
    for (size_t layer = 0; rc == 0 && layer < r->config->layers; layer++) {
        float *to = r->packed_layers + layer * r->packed.layer;

        for (; rc == 0 && more && walk.tensor.layer == layer; more = wt__weight_next(&walk)) {
            const struct weight_tensor *t = &walk.tensor;
            rc = wt__weight_read(r->file, t, r->folder, r->layer + r->files.at[t->part] + t->offset, err);
        }
        wt__weights_pack(r->config, WEIGHT_MODEL_PARTS, WEIGHT_PARTS, r->layer, to);
        if (r->relative)
            wt__distances_forward(&r->bound, 0, r->relative, to + r->packed.at[WEIGHT_DISTANCES]);
    }
    return rc;
}

static float *alloc_zeroed_panels(size_t floats)
{
    float *block = wt__alloc_aligned(floats + WT_PANEL, sizeof *block);

    if (block)
        memset(block, 0, (floats + WT_PANEL) * sizeof *block);
    return block;
}

/* Allocates the runs and reads the weights; the packed runs stay in out->memory. */
static int open_upper_weights(struct upper_layers *out, struct upper_layer_reader *r, size_t first, wt_error *err)
{
    const struct model_config *c = r->config;
    size_t distances = c->relative == RELATIVE_DISENTANGLED ? 2 * (size_t)c->span * c->hidden : 0;
    struct model_config one = *c;
    int rc;

    wt__weight_plan(&r->files, c, LAYOUT_FILES);
    wt__weight_plan(&r->packed, c, LAYOUT_PACKED);
    out->memory = alloc_zeroed_panels(r->packed.model + c->layers * r->packed.layer);
    r->model = alloc_zeroed_panels(r->files.model);
    r->layer = alloc_zeroed_panels(r->files.layer);
    r->relative = distances ? alloc_zeroed_panels(distances) : NULL;
    if (!out->memory || !r->model || !r->layer || (distances && !r->relative)) {
        rc = wt__fail_nomem(err);
    } else {
        one.layers = 1;
        r->packed_model = out->memory;
        r->packed_layers = out->memory + r->packed.model;
        wt__weights_bind(&r->bound, &one, LAYOUT_FILES, NULL, r->model, r->layer, NULL);
        rc = read_upper_weights(r, first, err);
        wt__weights_bind(&out->model, c, LAYOUT_PACKED, NULL, r->packed_model, r->packed_layers, NULL);
    }
    free(r->model);
    free(r->layer);
    free(r->relative);
    return rc;
}

int wt__upper_layers_open(struct upper_layers *out, const struct model_config *whole, size_t first,
                          const struct safetensors *file, const char *folder, wt_error *err)
{
    memset(out, 0, sizeof *out);
    if (first >= whole->layers || (first == 0 && whole->convolution > 0))
        return wt__fail(err, WT_EMODEL, "%s: cannot use the layers from %zu on; the encoder has %u%s", folder, first,
                        (unsigned)whole->layers, whole->convolution > 0 ? ", the first with a convolution" : "");
    struct model_config config = *whole;
    struct upper_layer_reader *r = calloc(1, sizeof *r);
    if (!r)
        return wt__fail_nomem(err);
    config.layers -= (uint32_t)first;
    config.convolution = 0;
    *r = (struct upper_layer_reader){.config = &config, .file = file, .folder = folder};
    int rc = open_upper_weights(out, r, first, err);
    free(r);
    if (rc < 0)
        wt__upper_layers_close(out);
    return rc;
}

void wt__upper_layers_close(struct upper_layers *upper)
{
    free(upper->memory);
    upper->memory = NULL;
}

void wt__upper_layers_forward(const struct upper_layers *upper, const struct token_batch *batch, struct activations *a)
{
    for (size_t layer = 0; layer < upper->model.config.layers; layer++)
        wt__layer_forward(&upper->model, layer, batch, a);
}
