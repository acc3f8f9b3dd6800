/* packed.c: computes the layout of a packed model, checks a file before use, and creates the file from configuration,
 * tokenizer and weights.
 *
 * The file is in the model folder or in the cache folder. Reading and writing try the model folder first. For models
 * that came with the program, they try the cache folder first. If the cache folder is unknown, they try only the model
 * folder. */
#include "encoder/packed.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "encoder/internal.h"
#include "encoder/manifest.h"
#include "nn/layers.h"
#include "nn/safetensors.h"

_Static_assert(offsetof(struct packed_header, checksum) + 8 == sizeof(struct packed_header), "no padding at the end");
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

/* Checks a header. Its table of sections must be the one that its configuration requires. */
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
    if (!whole || h->bytes > 1)
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

/* Returns a section's floats. */
static const float *section_floats(const struct packed_header *h, enum packed_part part)
{
    return (const float *)(const void *)((const unsigned char *)h + h->sections[part].offset);
}

int wt__packed_open(struct packed *out, const void *bytes, size_t len, const char *path, wt_error *err)
{
    const struct packed_header *h = bytes;
    if (len < sizeof(*h))
        return wt__fail(err, WT_EMODEL, "%s: %zu bytes are too few for a packed model", path, len);
    WT_TRY(check_packed_header(h, len, path, err));
    for (int part = 0; part < PACKED_PARTS; part++)
        if (part == PACKED_TOKENIZER || h->sections[part].size < PACKED_CHECKED)
            WT_TRY(check_section(h, part, path, err));
    return wt__packed_bind(out, bytes, path, err);
}

int wt__packed_bind(struct packed *out, const void *bytes, const char *path, wt_error *err)
{
    const struct packed_header *h = bytes;
    const struct packed_section *tokenizer = &h->sections[PACKED_TOKENIZER];
    int rc = wt__tokenizer_open(&out->tokenizer, (const unsigned char *)bytes + tokenizer->offset,
                                (size_t)tokenizer->size, err);
    if (rc < 0)
        return wt__fail_context(err, rc, "%s", path);
    if (out->tokenizer.token_count > h->config.vocabulary)
        return wt__fail(err, WT_EMODEL, "%s: the tokenizer has %u tokens, but the embeddings have %u rows", path,
                        (unsigned)out->tokenizer.token_count, (unsigned)h->config.vocabulary);
    out->header = h;
    if (wt__model_is_static(&h->config)) {
        out->model.config = h->config;
        out->table = wt__token_table_bind(&h->config, section_floats(h, PACKED_WORDS), section_floats(h, PACKED_MODEL));
        return 0;
    }
    WT_TRY(wt__tokenizer_check_frame(&out->tokenizer, path, err));
    wt__weights_bind(&out->model, &h->config, LAYOUT_PACKED, section_floats(h, PACKED_WORDS),
                     section_floats(h, PACKED_MODEL), section_floats(h, PACKED_LAYERS),
                     h->bytes ? (const unsigned char *)bytes + h->sections[PACKED_BYTES].offset : NULL);
    return 0;
}

int wt__packed_verify(const struct packed *packed, const char *path, wt_error *err)
{
    for (int part = 0; part < PACKED_PARTS; part++)
        WT_TRY(check_section(packed->header, part, path, err));
    return 0;
}

/* ---------------------------------------------------------------- packing */

/* Files of a model folder except those of the tokenizer. The first REQUIRED files must exist. */
static const char *const others[] = {
    "config.json",           MODEL_WEIGHTS_FILE,    "modules.json", "sentence_bert_config.json",
    "1_Pooling/config.json", MODEL_SENTENCE_CONFIG, MODEL_RECORD};
enum { REQUIRED = 2, OTHERS = sizeof(others) / sizeof(others[0]), MOST_SOURCES = 32 };

/* Maximum size in bytes of the parts of a packed model that are not weights: tokenizer, partial panels, padding. */
#define PACKED_SLACK ((uint64_t)128 << 20)

static const char *source_file_at(size_t i)
{
    return i < OTHERS ? others[i] : wt__tokenizer_file_at(i - OTHERS);
}

int wt__model_source_key(uint64_t *key, const char *folder, wt_error *err)
{
    uint64_t facts[MOST_SOURCES][4] = {{0}};
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    if (!wt__is_folder(folder))
        return wt__fail(err, WT_EMODEL, "there is no model at %s", folder);
    for (size_t i = 0; i < MOST_SOURCES && source_file_at(i); i++) {
        char *path = wt__path_join(&arena, folder, source_file_at(i));
        struct stat s;
        WT_CHECK_ALLOC(path, err);
        if (stat(path, &s) == 0) {
            facts[i][0] = (uint64_t)s.st_size;
            facts[i][1] = (uint64_t)s.st_ino;
            facts[i][2] = (uint64_t)s.st_mtim.tv_sec;
            facts[i][3] = (uint64_t)s.st_mtim.tv_nsec;
        } else if (i < REQUIRED)
            return wt__fail(err, WT_EMODEL, "%s: the model has no %s", folder, source_file_at(i));
    }
    *key = wt__checksum(facts, sizeof(facts), PACKED_VERSION);
    return 0;
}

/* An int8 matrix of the source, collected from one or more tensors. */
struct matrix_bytes {
    int8_t *w;     /* [numbers of the largest matrix] */
    float *scales; /* [rows of the tallest matrix] */
};

/* The sources of a packed model, and its image under construction. */
struct packing {
    const char *folder;
    struct progress *progress;
    struct safetensors weights;
    struct packed_header header;
    struct weight_plan files, packed;
    unsigned char *image;
    float *model, *layer;       /* weights outside the layers, and of the current layer, in LAYOUT_FILES */
    float *relative;            /* DeBERTa's distance embeddings, normalised if the model does so; else NULL */
    struct matrix_bytes matrix; /* for the current layer, if the source is quantized */
};

static float *find_section(const struct packing *p, enum packed_part part)
{
    return (float *)(void *)(p->image + p->header.sections[part].offset);
}

/* True if a layer's tensor is a matrix of a linear layer. */
static bool is_matrix(const struct weight_tensor *t)
{
    return t->part == WEIGHT_QKV || t->part == WEIGHT_OUT || t->part == WEIGHT_UP || t->part == WEIGHT_DOWN;
}

/* Returns the number of rows of the tallest matrix of a layer. The largest matrix has c->hidden times as many
 * numbers. */
static size_t tallest_matrix(const struct model_config *c)
{
    return c->intermediate > 3 * (size_t)c->hidden ? c->intermediate : 3 * (size_t)c->hidden;
}

static unsigned char *find_layer_bytes(const struct packing *p, size_t layer)
{
    return (unsigned char *)find_section(p, PACKED_BYTES) + layer * p->packed.bytes;
}

/* True if all matrices of the layers are int8 with scales in the source. */
static bool has_int8_matrices(const struct packing *p)
{
    const struct model_config *c = &p->header.config;
    struct weight_walk walk = {.config = c, .prefix = wt__weights_prefix(&p->weights, c)};
    bool all = true;
    while (all && walk.prefix && wt__weight_next(&walk)) {
        const struct tensor *tensor = wt__safetensors_find(&p->weights, walk.tensor.name);
        all = !is_matrix(&walk.tensor) || (tensor && tensor->dtype == DTYPE_I8 && tensor->scale);
    }
    return all && walk.prefix;
}

/* Copies the bytes of a tensor into its matrix, and packs the matrix when it is complete. Query, key and value tensors
 * form one matrix. */
static void collect_int8_matrix(struct packing *p, const struct weight_tensor *t)
{
    const struct tensor *tensor = wt__safetensors_find(&p->weights, t->name);
    size_t before = t->offset / t->columns, rows = t->part == WEIGHT_QKV ? 3 * t->rows : t->rows;
    memcpy(p->matrix.w + t->offset, tensor->data, t->count);
    wt__tensor_scales(tensor, p->matrix.scales + before);
    if (before + t->rows == rows)
        wt__weights_pack_bytes(&p->header.config, t->part, p->matrix.w, p->matrix.scales,
                               find_layer_bytes(p, t->layer));
}

static int read_source_tensor(struct packing *p, const struct weight_tensor *t, wt_error *err)
{
    float *run = t->layer == WEIGHT_NO_LAYER ? p->model : p->layer;
    float *out = t->part == WEIGHT_WORDS ? find_section(p, PACKED_WORDS) : run + p->files.at[t->part] + t->offset;
    p->header.parameters += t->count;
    WT_TRY(wt__weight_read(&p->weights, t, p->folder, out, err));
    if (p->header.bytes && is_matrix(t))
        collect_int8_matrix(p, t);
    return 0;
}

/* Reads and packs the weights outside the layers, then layer by layer. bound: a model of one layer that uses p->model
 * and p->layer as its weights. */
static int pack_weights(struct packing *p, const struct transformer *bound, wt_error *err)
{
    const struct model_config *c = &p->header.config;
    struct weight_walk walk = {.config = c, .prefix = wt__weights_prefix(&p->weights, c)};
    bool more = wt__weight_next(&walk);
    for (; more && walk.tensor.layer == WEIGHT_NO_LAYER; more = wt__weight_next(&walk))
        WT_TRY(read_source_tensor(p, &walk.tensor, err));
    wt__weights_pack(c, WEIGHT_POSITIONS, WEIGHT_MODEL_PARTS, p->model, find_section(p, PACKED_MODEL));
    if (p->relative)
        wt__relative_forward(bound, p->relative);
    if (wt__progress_phase(p->progress, "packing the model", c->layers))
        return wt__fail_cancelled(err);
    for (size_t layer = 0; layer < c->layers; layer++) {
        float *base = find_section(p, PACKED_LAYERS) + layer * p->packed.layer;
        for (; more && walk.tensor.layer == layer; more = wt__weight_next(&walk))
            WT_TRY(read_source_tensor(p, &walk.tensor, err));
        wt__weights_pack(c, WEIGHT_MODEL_PARTS, WEIGHT_PARTS, p->layer, base);
        if (p->header.bytes)
            wt__weights_copy_vectors(c, base, find_layer_bytes(p, layer));
        if (p->relative)
            wt__distances_forward(bound, 0, p->relative, base + p->packed.at[WEIGHT_DISTANCES]);
        if (wt__progress_step(p->progress, 1))
            return wt__fail_cancelled(err);
    }
    return 0;
}

/* Allocates the image and fills all sections of a transformer. */
static int pack_sections(struct packing *p, const struct buffer *tokenizer, size_t weights_len, wt_error *err)
{
    const struct model_config *c = &p->header.config;
    size_t distances = c->relative == RELATIVE_DISENTANGLED ? 2 * (size_t)c->span * c->hidden : 0;
    wt__weight_plan(&p->files, c, LAYOUT_FILES);
    wt__weight_plan(&p->packed, c, LAYOUT_PACKED);
    p->header.sections[PACKED_TOKENIZER].size = tokenizer->len;
    p->header.bytes = has_int8_matrices(p);
    WT_TRY(wt__packed_place(&p->header, err));
    /* Check before allocating, since config.json may claim more weights than the file has. A byte of the file becomes
     * at most 6 bytes of the image. The tables of distances (`made`) are added, since they are computed. */
    uint64_t made = (uint64_t)distances * 2 * c->layers * sizeof(float);
    if (p->header.file_size > PACKED_SLACK + 6 * (uint64_t)weights_len + made || made / 16 > PACKED_SLACK + weights_len)
        return wt__fail(err, WT_EMODEL, "%s: %s is too short for what config.json says", p->folder, MODEL_WEIGHTS_FILE);
    WT_AUTO_FREE struct transformer *bound = wt__alloc_zeros(1, sizeof(*bound));
    p->image = wt__alloc_aligned((size_t)p->header.file_size, 1);
    p->model = wt__alloc_zeroed_panels(p->files.model);
    p->layer = wt__alloc_zeroed_panels(p->files.layer);
    p->relative = distances ? wt__alloc_zeroed_panels(distances) : NULL;
    p->matrix.w = p->header.bytes ? wt__alloc_array(tallest_matrix(c), c->hidden) : NULL;
    p->matrix.scales = p->header.bytes ? wt__alloc_array(tallest_matrix(c), sizeof(float)) : NULL;
    if (!bound || !p->image || !p->model || !p->layer || (distances && !p->relative) ||
        (p->header.bytes && (!p->matrix.w || !p->matrix.scales)))
        return wt__fail_nomem(err);
    memset(p->image, 0, (size_t)p->header.file_size);
    memcpy(p->image + p->header.sections[PACKED_TOKENIZER].offset, tokenizer->ptr, tokenizer->len);
    struct model_config one = *c;
    one.layers = 1;
    wt__weights_bind(bound, &one, LAYOUT_FILES, find_section(p, PACKED_WORDS), p->model, p->layer, NULL);
    return pack_weights(p, bound, err);
}

/* Packs a static encoder. The number of rows is read from its tensors. */
static int pack_table(struct packing *p, const struct buffer *tokenizer, wt_error *err)
{
    struct model_config *c = &p->header.config;
    WT_TRY(wt__token_table_shape(c, &p->weights, p->folder, err));
    p->header.sections[PACKED_TOKENIZER].size = tokenizer->len;
    WT_TRY(wt__packed_place(&p->header, err));
    p->header.parameters = (uint64_t)c->vocabulary * c->hidden;
    p->image = wt__alloc_aligned((size_t)p->header.file_size, 1);
    WT_CHECK_ALLOC(p->image, err);
    memset(p->image, 0, (size_t)p->header.file_size);
    memcpy(p->image + p->header.sections[PACKED_TOKENIZER].offset, tokenizer->ptr, tokenizer->len);
    return wt__token_table_read(c, &p->weights, p->folder, find_section(p, PACKED_WORDS), find_section(p, PACKED_MODEL),
                                err);
}

static int open_source_weights(struct packing *p, struct mapping *map, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *path = wt__path_join(&arena, p->folder, MODEL_WEIGHTS_FILE);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__file_map(map, path, err));
    WT_TRY(wt__safetensors_open(&p->weights, path, map->ptr, map->len, err));
    wt__sha256(map->ptr, map->len, p->header.source_sha256);
    return 0;
}

static void free_packing(struct packing *p)
{
    free(p->image);
    free(p->model);
    free(p->layer);
    free(p->relative);
    free(p->matrix.w);
    free(p->matrix.scales);
    wt__safetensors_dispose(&p->weights);
}

int wt__model_pack(unsigned char **image, size_t *len, const char *folder, struct progress *progress, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer tokenizer = {0};
    WT_CLEANUP(wt__file_unmap) struct mapping map = {0};
    WT_CLEANUP(free_packing) struct packing p = {.folder = folder, .progress = progress};
    *image = NULL;
    *len = 0;
    /* Compute the key before reading: if a file changes meanwhile, the key no longer matches and the model is packed
     * again. */
    WT_TRY(wt__model_source_key(&p.header.source_key, folder, err));
    WT_TRY(wt__model_config_read(&p.header.config, folder, err));
    WT_TRY(wt__tokenizer_read(&tokenizer, folder, err));
    WT_TRY(open_source_weights(&p, &map, err));
    if (wt__model_is_static(&p.header.config))
        WT_TRY(pack_table(&p, &tokenizer, err));
    else
        WT_TRY(pack_sections(&p, &tokenizer, map.len, err));
    wt__model_fields(folder, p.header.fields);
    WT_TRY(wt__model_prompts(&p.header.prompts, folder, err));
    wt__packed_seal(&p.header, p.image);
    memcpy(p.image, &p.header, sizeof(p.header));
    *image = WT_TAKE(p.image);
    *len = (size_t)p.header.file_size;
    return 0;
}

/* ---------------------------------------------------------------- finding or creating the file */

enum { PLACES = 2 };

/* Fills `places` with the paths to try, and returns their number or WT_ENOMEM. The cache folder holds models of many
 * folders, so the file name there starts with a hash of the folder's path. */
static int find_cache_paths(struct arena *arena, const char *folder, char *places[PLACES], wt_error *err)
{
    char resolved[PATH_MAX], name[64];
    const char *path = realpath(folder, resolved) ? resolved : folder;
    char *cache;
    int rc = wt__cache_folder(&cache, arena, err);
    snprintf(name, sizeof(name), "models/%016" PRIx64 "-%s", wt__checksum(path, strlen(path), 0), MODEL_CACHE_NAME);
    places[0] = wt__path_join(arena, folder, MODEL_CACHE_NAME);
    places[1] = cache ? wt__path_join(arena, cache, name) : NULL;
    if (rc == WT_ENOMEM || !places[0] || (cache && !places[1]))
        return wt__fail_nomem(err);
    if (cache && wt__program_has(folder)) { /* leave the installed files unchanged */
        char *beside = places[0];
        places[0] = places[1];
        places[1] = beside;
    }
    return cache ? PLACES : PLACES - 1;
}

/* Maps and opens a file. Fails if the key of its sources differs. whole: verify the checksums of all sections. */
static int map_packed_file(struct model_cache *cache, const char *path, uint64_t key, bool whole, wt_error *err)
{
    WT_TRY(wt__file_map_own(&cache->map, path, err));
    int rc = wt__packed_open(&cache->packed, cache->map.ptr, cache->map.len, path, err);
    if (rc == 0 && cache->packed.header->source_key != key)
        rc = wt__fail(err, WT_EMODEL, "%s: stale: the files of the model have changed", path);
    if (rc == 0 && whole)
        rc = wt__packed_verify(&cache->packed, path, err);
    if (rc < 0)
        wt__file_unmap(&cache->map);
    return rc;
}

void wt__model_cache_populate(const struct model_cache *cache)
{
    if (!cache->map.ptr)
        return;
    bool bytes = cache->packed.header->bytes && wt__bytes_ready();
    const struct packed_section *layers = &cache->packed.header->sections[bytes ? PACKED_BYTES : PACKED_LAYERS];
    void *start = (void *)(uintptr_t)(cache->map.ptr + layers->offset);
#ifdef MADV_POPULATE_READ
    if (madvise(start, (size_t)layers->size, MADV_POPULATE_READ) == 0)
        return;
#endif
    /* A failure is harmless: the pages are then faulted in one by one. */
    (void)madvise(start, (size_t)layers->size, MADV_WILLNEED);
}

static int write_packed_image(const char *path, const unsigned char *image, size_t len, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *folder = wt__arena_copy(&arena, wt__str(path));
    WT_CHECK_ALLOC(folder, err);
    *strrchr(folder, '/') = '\0';
    WT_TRY(wt__make_folders(folder, err));
    WT_TRY(wt__file_replace(path, image, len, err));
    (void)chmod(path, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH); /* so that servers map it, whatever the umask is */
    return 0;
}

/* Packs the model and writes the image to the first writable place. The written file is mapped, since a map needs no
 * private memory. If no place is writable, the image stays in memory and cache->unwritten says why. */
static int create_packed_model(struct model_cache *cache, const char *folder, char *const *places, int place_count,
                               struct progress *progress, wt_error *err)
{
    size_t len;
    WT_TRY(wt__model_pack(&cache->image, &len, folder, progress, err));
    uint64_t key = ((const struct packed_header *)(const void *)cache->image)->source_key;
    for (int i = 0; i < place_count; i++)
        if (write_packed_image(places[i], cache->image, len, &cache->unwritten) == 0 &&
            map_packed_file(cache, places[i], key, true, &cache->unwritten) == 0) {
            free(WT_TAKE(cache->image));
            return 0;
        }
    return wt__packed_open(&cache->packed, cache->image, len, folder, err);
}

int wt__model_cache_open(struct model_cache *out, const char *folder, bool whole, bool *made, struct progress *progress,
                         wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *places[PLACES];
    uint64_t key;
    out->map = (struct mapping){0};
    out->image = NULL;
    if (made)
        *made = false;
    int count = find_cache_paths(&arena, folder, places, err);
    if (count < 0)
        return count;
    WT_TRY(wt__model_source_key(&key, folder, err));
    for (int i = 0; i < count; i++)
        if (map_packed_file(out, places[i], key, whole, NULL) == 0)
            return 0;
    if (made)
        *made = true;
    int rc = create_packed_model(out, folder, places, count, progress, err);
    if (rc < 0)
        wt__model_cache_close(out);
    return rc;
}

void wt__model_cache_close(struct model_cache *cache)
{
    wt__file_unmap(&cache->map);
    free(WT_TAKE(cache->image));
}

bool wt__model_cache_current(const char *folder, struct packed_header *header)
{
    WT_AUTO_FREE struct model_cache *cache = wt__alloc_zeros(1, sizeof(*cache));
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *places[PLACES];
    uint64_t key;
    int count = cache ? find_cache_paths(&arena, folder, places, NULL) : 0;
    if (count <= 0 || wt__model_source_key(&key, folder, NULL) < 0)
        return false;
    for (int i = 0; i < count; i++)
        if (map_packed_file(cache, places[i], key, false, NULL) == 0) {
            if (header)
                *header = *cache->packed.header;
            wt__model_cache_close(cache);
            return true;
        }
    return false;
}
