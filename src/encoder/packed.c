/* packed.c: computes the layout of a packed model, and checks a file before use. */
#include "encoder/packed.h"

#include "base/checksum.h"
#include "encoder/model_tokenizer.h"
#include "encoder/weights.h"

_Static_assert(offsetof(struct packed_header, checksum) + 8 == sizeof(struct packed_header), "no hole at the end");
_Static_assert(sizeof(struct packed_header) <= PACKED_PAGE, "the first page holds the header");

static void set_section_sizes(struct packed_header *header)
{
    const struct model_config *config = &header->config;
    struct weight_plan plan;

    if (wt__model_is_static(config)) {
        header->sections[PACKED_WORDS].size = wt__token_table_row_bytes(config);
        header->sections[PACKED_MODEL].size = wt__token_table_scale_bytes(config);
        header->sections[PACKED_LAYERS].size = header->sections[PACKED_BYTES].size = 0;
        return;
    }
    wt__weight_plan(&plan, config, LAYOUT_PACKED);
    header->sections[PACKED_WORDS].size = plan.words * sizeof(float);
    header->sections[PACKED_MODEL].size = plan.model * sizeof(float);
    header->sections[PACKED_LAYERS].size = plan.layer * sizeof(float) * config->layers;
    header->sections[PACKED_BYTES].size = header->bytes ? plan.bytes * config->layers : 0;
}

int wt__packed_place(struct packed_header *header, wt_error *err)
{
    uint64_t at = PACKED_PAGE;

    set_section_sizes(header);
    for (int part = 0; part < PACKED_PARTS; part++) {
        struct packed_section *section = &header->sections[part];

        section->offset = at;
        /* Leave a gap, since the kernels may read up to one panel past a section. */
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

/* A header is valid if its configuration gives the same table of sections. */
static int check_packed_header(const struct packed_header *h, size_t len, const char *path, wt_error *err)
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
    bool whole = memchr(h->fields, '\0', sizeof(h->fields));
    for (int role = 0; role < TEXT_ROLES; role++)
        whole = whole && memchr(h->prompts.of[role], '\0', MODEL_PROMPT);
    if (!whole || !wt__dense_weight_valid(h->dense_weight) || h->bytes > 1)
        return wt__fail(err, WT_EMODEL, "%s: the settings of the model are damaged", path);
    if (h->sections[PACKED_TOKENIZER].size > len || wt__packed_place(&expected, err) < 0 ||
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

int wt__packed_open(struct packed *out, const void *bytes, size_t len, const char *path, wt_error *err)
{
    const struct packed_header *h = bytes;
    int rc;

    if (len < sizeof(*h))
        return wt__fail(err, WT_EMODEL, "%s: %zu bytes are too few for a packed model", path, len);
    rc = check_packed_header(h, len, path, err);
    for (int part = 0; rc == 0 && part < PACKED_PARTS; part++)
        if (part == PACKED_TOKENIZER || h->sections[part].size < PACKED_CHECKED)
            rc = check_section(h, part, path, err);
    return rc < 0 ? rc : wt__packed_bind(out, bytes, path, err);
}

int wt__packed_bind(struct packed *out, const void *bytes, const char *path, wt_error *err)
{
    const struct packed_header *h = bytes;
    const struct packed_section *tokenizer = &h->sections[PACKED_TOKENIZER];
    int rc;

    rc = wt__tokenizer_open(&out->tokenizer, (const unsigned char *)bytes + tokenizer->offset, (size_t)tokenizer->size,
                            err);
    if (rc < 0)
        return wt__fail_context(err, rc, "%s", path);
    if (out->tokenizer.token_count > h->config.vocabulary)
        return wt__fail(err, WT_EMODEL, "%s: %u tokens, but embeddings of %u", path,
                        (unsigned)out->tokenizer.token_count, (unsigned)h->config.vocabulary);
    out->header = h;
    if (wt__model_is_static(&h->config)) {
        out->model.config = h->config;
        out->table = wt__token_table_bind(&h->config, section_floats(h, PACKED_WORDS), section_floats(h, PACKED_MODEL));
        return 0;
    }
    rc = wt__tokenizer_check_frame(&out->tokenizer, path, err);
    if (rc < 0)
        return rc;
    wt__weights_bind(&out->model, &h->config, LAYOUT_PACKED, section_floats(h, PACKED_WORDS),
                     section_floats(h, PACKED_MODEL), section_floats(h, PACKED_LAYERS),
                     h->bytes ? (const unsigned char *)bytes + h->sections[PACKED_BYTES].offset : NULL);
    return 0;
}

int wt__packed_verify(const struct packed *packed, const char *path, wt_error *err)
{
    int rc = 0;

    for (int part = 0; rc == 0 && part < PACKED_PARTS; part++)
        rc = check_section(packed->header, part, path, err);
    return rc;
}
