/* packed.c: the layout of a packed model, and the checks that make it safe to use. */
#include "encoder/packed.h"

#include "base/checksum.h"

enum { FLOATS_A_LINE = 16 };

_Static_assert(offsetof(struct packed_header, checksum) + 8 == sizeof(struct packed_header), "no hole at the end");
_Static_assert(sizeof(struct packed_header) <= PACKED_PAGE, "the first page holds the header");

struct layer_shape wt__layer_shape(const struct model_config *c, enum layer_part part)
{
    switch (part) {
    case LAYER_QKV:
        return (struct layer_shape){3 * (size_t)c->hidden, c->hidden};
    case LAYER_QKV_BIAS:
        return (struct layer_shape){3 * (size_t)c->hidden, 0};
    case LAYER_OUT:
        return (struct layer_shape){c->hidden, c->hidden};
    case LAYER_UP:
        return (struct layer_shape){c->intermediate, c->hidden};
    case LAYER_UP_BIAS:
        return (struct layer_shape){c->intermediate, 0};
    case LAYER_DOWN:
        return (struct layer_shape){c->hidden, c->intermediate};
    default:
        return (struct layer_shape){c->hidden, 0};
    }
}

void wt__layer_offsets(const struct model_config *config, size_t offsets[LAYER_PARTS + 1])
{
    offsets[0] = 0;
    for (int part = 0; part < LAYER_PARTS; part++) {
        struct layer_shape shape = wt__layer_shape(config, (enum layer_part)part);
        size_t floats = shape.columns ? wt__linear_packed_size(shape.rows, shape.columns) : shape.rows;

        offsets[part + 1] = offsets[part] + (floats + FLOATS_A_LINE - 1) / FLOATS_A_LINE * FLOATS_A_LINE;
    }
}

/* What the configuration makes of each section; 0 for the vocabulary, whose blob has its own size. */
static uint64_t section_size(const struct model_config *c, enum packed_part part)
{
    size_t offsets[LAYER_PARTS + 1];
    uint64_t row = (uint64_t)c->hidden * sizeof(float);

    switch (part) {
    case PACKED_WORDS:
        return c->vocabulary * row;
    case PACKED_POSITIONS:
        return c->positions * row;
    case PACKED_TYPES:
        return c->types * row;
    case PACKED_NORM:
        return 2 * row;
    case PACKED_LAYERS:
        wt__layer_offsets(c, offsets);
        return (uint64_t)offsets[LAYER_PARTS] * sizeof(float) * c->layers;
    default:
        return 0;
    }
}

int wt__packed_place(struct packed_header *header, wt_error *err)
{
    uint64_t at = PACKED_PAGE;

    for (int part = 0; part < PACKED_PARTS; part++) {
        struct packed_section *section = &header->sections[part];

        if (part != PACKED_VOCABULARY)
            section->size = section_size(&header->config, (enum packed_part)part);
        section->offset = at;
        /* The kernels may read up to a panel behind a section: the next page begins later than that. */
        at += (section->size + WT_PANEL * sizeof(float) + PACKED_PAGE - 1) / PACKED_PAGE * PACKED_PAGE;
    }
    if (at > SIZE_MAX / 2)
        return wt__fail(err, WT_EMODEL, "the model is too large for this machine");
    header->file_size = at;
    return 0;
}

void wt__packed_seal(struct packed_header *header, const unsigned char *image)
{
    memcpy(header->magic, PACKED_MAGIC, sizeof(header->magic));
    header->version = PACKED_VERSION;
    header->endian = PACKED_ENDIAN;
    for (int part = 0; part < PACKED_PARTS; part++) {
        struct packed_section *section = &header->sections[part];
        section->checksum = wt__checksum(image + section->offset, section->size, (uint64_t)part);
    }
    header->checksum = wt__checksum(header, offsetof(struct packed_header, checksum), PACKED_VERSION);
}

/* A header is right when placing its sections anew gives the same table. */
static int check_header(const struct packed_header *h, size_t len, const char *path, wt_error *err)
{
    struct packed_header expected = *h;

    if (memcmp(h->magic, PACKED_MAGIC, sizeof(h->magic)) != 0 || h->endian != PACKED_ENDIAN)
        return wt__fail(err, WT_EMODEL, "%s: not a packed model of this machine", path);
    if (h->version != PACKED_VERSION)
        return wt__fail(err, WT_EMODEL, "%s: packed by another version of this library", path);
    if (h->checksum != wt__checksum(h, offsetof(struct packed_header, checksum), PACKED_VERSION))
        return wt__fail(err, WT_EMODEL, "%s: the header is damaged", path);
    if (wt__model_config_check(&h->config, path, err) < 0)
        return WT_EMODEL;
    if (h->sections[PACKED_VOCABULARY].size > len || wt__packed_place(&expected, err) < 0 ||
        expected.file_size != h->file_size || memcmp(expected.sections, h->sections, sizeof(h->sections)) != 0)
        return wt__fail(err, WT_EMODEL, "%s: the table of sections does not fit the configuration", path);
    if (h->file_size != len)
        return wt__fail(err, WT_EMODEL, "%s: %zu bytes instead of %llu", path, len, (unsigned long long)h->file_size);
    return 0;
}

static int check_section(const struct packed_header *h, int part, const char *path, wt_error *err)
{
    const struct packed_section *section = &h->sections[part];

    if (wt__checksum((const unsigned char *)h + section->offset, section->size, (uint64_t)part) != section->checksum)
        return wt__fail(err, WT_EMODEL, "%s: section %d is damaged", path, part);
    return 0;
}

static const float *section_floats(const struct packed_header *h, enum packed_part part)
{
    return (const float *)(const void *)((const unsigned char *)h + h->sections[part].offset);
}

static void bind_layer(struct bert_layer *l, const struct model_config *c, const float *w)
{
    size_t at[LAYER_PARTS + 1], hidden = c->hidden;

    wt__layer_offsets(c, at);
    l->qkv = (struct linear){hidden, 3 * hidden, w + at[LAYER_QKV], w + at[LAYER_QKV_BIAS]};
    l->out = (struct linear){hidden, hidden, w + at[LAYER_OUT], w + at[LAYER_OUT_BIAS]};
    l->first = (struct layer_norm){hidden, w + at[LAYER_FIRST_GAIN], w + at[LAYER_FIRST_BIAS], c->epsilon};
    l->up = (struct linear){hidden, c->intermediate, w + at[LAYER_UP], w + at[LAYER_UP_BIAS]};
    l->down = (struct linear){c->intermediate, hidden, w + at[LAYER_DOWN], w + at[LAYER_DOWN_BIAS]};
    l->second = (struct layer_norm){hidden, w + at[LAYER_SECOND_GAIN], w + at[LAYER_SECOND_BIAS], c->epsilon};
}

static void bind(struct bert *bert, const struct packed_header *h)
{
    const struct model_config *c = &h->config;
    const float *norm = section_floats(h, PACKED_NORM), *layers = section_floats(h, PACKED_LAYERS);
    size_t offsets[LAYER_PARTS + 1];

    wt__layer_offsets(c, offsets);
    bert->config = *c;
    bert->words = section_floats(h, PACKED_WORDS);
    bert->positions = section_floats(h, PACKED_POSITIONS);
    bert->types = section_floats(h, PACKED_TYPES);
    bert->norm = (struct layer_norm){c->hidden, norm, norm + c->hidden, c->epsilon};
    for (size_t i = 0; i < c->layers; i++)
        bind_layer(&bert->layers[i], c, layers + i * offsets[LAYER_PARTS]);
}

int wt__packed_open(struct packed *out, const void *bytes, size_t len, const char *path, wt_error *err)
{
    const struct packed_header *h = bytes;
    int rc;

    if (len < sizeof(*h))
        return wt__fail(err, WT_EMODEL, "%s: %zu bytes are too few for a packed model", path, len);
    rc = check_header(h, len, path, err);
    for (int part = 0; rc == 0 && part < PACKED_PARTS; part++)
        if (h->sections[part].size < PACKED_CHECKED)
            rc = check_section(h, part, path, err);
    if (rc < 0)
        return rc;

    const struct packed_section *vocabulary = &h->sections[PACKED_VOCABULARY];
    rc = wt__vocabulary_open(&out->vocabulary, (const unsigned char *)bytes + vocabulary->offset,
                             (size_t)vocabulary->size, err);
    if (rc < 0)
        return wt__fail_context(err, rc, "%s", path);
    if (out->vocabulary.token_count > h->config.vocabulary)
        return wt__fail(err, WT_EMODEL, "%s: %u tokens, but embeddings of %u", path,
                        (unsigned)out->vocabulary.token_count, (unsigned)h->config.vocabulary);
    out->header = h;
    bind(&out->bert, h);
    return 0;
}

int wt__packed_verify(const struct packed *packed, const char *path, wt_error *err)
{
    int rc = 0;

    for (int part = 0; rc == 0 && part < PACKED_PARTS; part++)
        rc = check_section(packed->header, part, path, err);
    return rc;
}
