/* snapshot.c: opens a snapshot. The snapshot file is read first. It names the vector files. If a vector file is
 * missing, a writer has just replaced it, so the snapshot file is read again.
 *
 * Order of checks: length, magic, byte order, version, checksum of the header, then offset and checksum of each
 * section. A section is read only after its checks. */
#include "index/snapshot.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "index/internal.h"

enum { OPEN_TRIES = 8 };

char *wt__snapshot_path(const char *folder, const char *name)
{
    size_t len = strlen(folder) + 1 + strlen(name) + 1;
    char *path = wt__alloc_array(len, 1);
    if (path)
        snprintf(path, len, "%s/%s", folder, name);
    return path;
}

void wt__vectors_file_name(char name[VECTORS_NAME_BYTES], const char *model, const char *kind, uint64_t number)
{
    snprintf(name, VECTORS_NAME_BYTES, "vectors-%.12s-%s-%016" PRIx64, model, kind, number);
}

static int check_mark(const struct file_mark *mark, const char *magic, uint64_t sum, wt_error *err)
{
    if (memcmp(mark->magic, magic, sizeof mark->magic) != 0)
        return wt__fail(err, WT_ESTORE, "not an index file");
    if (mark->byte_order != SNAPSHOT_BYTE_ORDER)
        return wt__fail(err, WT_ESTORE, "written on a machine with another byte order");
    if (mark->version > SNAPSHOT_VERSION)
        return wt__fail(err, WT_ENEWER, "version %u, written by a newer whichtool (this one reads %d)", mark->version,
                        SNAPSHOT_VERSION);
    if (mark->version != SNAPSHOT_VERSION)
        return wt__fail(err, WT_ESTORE, "version %u is no longer supported", mark->version);
    if (mark->sum != sum)
        return wt__fail(err, WT_ESTORE, "damaged: the header's checksum is wrong");
    return 0;
}

/* Verifies a section and returns its bytes. Returns NULL and sets err if the section is invalid. len: required length
 * of the section. name: plural noun for messages. */
static const void *verify_section(struct mapping image, const struct snapshot_section *section, uint64_t len,
                                  const char *name, wt_error *err)
{
    if (section->offset % SNAPSHOT_ALIGN != 0 || section->offset > image.len || section->len != len ||
        section->len > image.len - section->offset)
        wt__fail(err, WT_ESTORE, "damaged: %s do not fit the file", name);
    else if (wt__checksum(image.ptr + section->offset, section->len, section->offset) != section->sum)
        wt__fail(err, WT_ESTORE, "damaged: the checksum of %s is wrong", name);
    else
        return image.ptr + section->offset;
    return NULL;
}

/* True for a NUL-terminated name of letters, digits and '_'. */
static bool is_set_name(const char *name, size_t size)
{
    size_t len = 0;
    while (len < size && (isalnum((unsigned char)name[len]) || name[len] == '_'))
        len++;
    return len > 0 && len < size && name[len] == '\0';
}

static int parse_set(struct snapshot_set *set, const struct snapshot_set_header *header, struct mapping image,
                     uint32_t rows, wt_error *err)
{
    if (!is_set_name(header->model, sizeof header->model) || !is_set_name(header->kind, sizeof header->kind) ||
        header->dim == 0 || header->dim > VECTOR_MAX_DIM || header->slots > 2 * (uint32_t)WT_MAX_TOOLS)
        return wt__fail(err, WT_ESTORE, "damaged: the header of a set of vectors is invalid");
    set->model = header->model;
    set->kind = header->kind;
    set->former = header->former;
    set->vectors = (struct vectors){.dim = header->dim,
                                    .slots = header->slots,
                                    .rows = rows,
                                    .seed = header->number,
                                    .reads_signs = header->slots >= SIGNS_LEAST};
    set->vectors.row_of_slot =
        verify_section(image, &header->row_of_slot, header->slots * sizeof(uint32_t), "rows of vectors", err);
    if (!set->vectors.row_of_slot)
        return WT_ESTORE;
    set->vectors.slot_of_row =
        verify_section(image, &header->slot_of_row, rows * sizeof(uint32_t), "slots of rows", err);
    return set->vectors.slot_of_row ? 0 : WT_ESTORE;
}

static int parse_names(struct name_index *names, const struct snapshot_header *header, struct mapping image,
                       wt_error *err)
{
    const struct snapshot_section *section = &header->names;
    if (section->len % sizeof *names->entries != 0)
        return wt__fail(err, WT_ESTORE, "damaged: names are truncated");
    names->entries = verify_section(image, section, section->len, "names", err);
    names->count = section->len / sizeof *names->entries;
    names->words = header->name_words;
    if (!names->entries)
        return WT_ESTORE;
    return wt__names_mark(names) < 0 ? wt__fail_nomem(err) : 0;
}

static int parse_copies(struct copy_groups *copies, const struct snapshot_header *header, struct mapping image,
                        wt_error *err)
{
    const struct snapshot_section *section = &header->copies;
    if (section->len % sizeof *copies->rows != 0)
        return wt__fail(err, WT_ESTORE, "damaged: copies are truncated");
    copies->rows = verify_section(image, section, section->len, "copies", err);
    copies->count = section->len / sizeof *copies->rows;
    return copies->rows ? 0 : WT_ESTORE;
}

static int parse_words(struct row_words *words, const struct snapshot_header *header, struct mapping image,
                       wt_error *err)
{
    const struct snapshot_section *ends = &header->word_ends, *tokens = &header->word_tokens;
    size_t rows = ends->len / sizeof *words->ends;
    if (ends->len % sizeof *words->ends != 0 || tokens->len % sizeof *words->tokens != 0 ||
        (rows > 0 && rows != header->rows))
        return wt__fail(err, WT_ESTORE, "damaged: words are truncated");
    words->ends = verify_section(image, ends, ends->len, "words", err);
    words->tokens = words->ends ? verify_section(image, tokens, tokens->len, "words", err) : NULL;
    words->rows = rows;
    words->count = tokens->len / sizeof *words->tokens;
    return words->tokens ? 0 : WT_ESTORE;
}

static int parse_image(struct snapshot *snapshot, struct mapping image, wt_error *err)
{
    const struct snapshot_header *header = (const void *)image.ptr;
    if (image.len < sizeof *header)
        return wt__fail(err, WT_ESTORE, "damaged: truncated to %zu bytes", image.len);
    WT_TRY(check_mark(&header->mark, SNAPSHOT_MAGIC, wt__header_sum(header, sizeof *header), err));
    if (header->rows > WT_MAX_TOOLS || header->set_count > SNAPSHOT_MAX_SETS)
        return wt__fail(err, WT_ESTORE, "damaged: %u tools with %u sets of vectors", header->rows, header->set_count);
    snapshot->generation = header->generation;
    snapshot->settings = header->settings;
    snapshot->rows = header->rows;
    snapshot->keys = verify_section(image, &header->keys, header->rows * sizeof *snapshot->keys, "keys", err);
    if (!snapshot->keys)
        return WT_ESTORE;
    const void *lexical = verify_section(image, &header->lexical, header->lexical.len, "terms", err);
    if (!lexical)
        return WT_ESTORE;
    WT_TRY(wt__lexical_view(&snapshot->lexical, lexical, header->lexical.len, err));
    if (snapshot->lexical.rows != header->rows)
        return wt__fail(err, WT_ESTORE, "damaged: %u rows of terms for %u tools", snapshot->lexical.rows, header->rows);
    WT_TRY(parse_names(&snapshot->names, header, image, err));
    WT_TRY(parse_copies(&snapshot->copies, header, image, err));
    WT_TRY(parse_words(&snapshot->words, header, image, err));
    for (size_t i = 0; i < header->set_count; i++) {
        WT_TRY(parse_set(&snapshot->sets[i], &header->sets[i], image, header->rows, err));
        snapshot->set_count = i + 1;
    }
    return 0;
}

static void free_snapshot(struct snapshot **snapshot)
{
    wt__snapshot_free(*snapshot);
}

int wt__snapshot_parse(struct snapshot **out, struct mapping image, wt_error *err)
{
    WT_CLEANUP(free_snapshot) struct snapshot *snapshot = wt__alloc_zeros(1, sizeof *snapshot);
    *out = NULL;
    WT_CHECK_ALLOC(snapshot, err);
    snapshot->memory = calloc(1, sizeof *snapshot->memory);
    WT_CHECK_ALLOC(snapshot->memory, err);
    WT_TRY(parse_image(snapshot, image, err));
    *out = WT_TAKE(snapshot);
    return 0;
}

int wt__snapshot_attach(struct snapshot *snapshot, size_t set, const unsigned char *chunks, size_t len, wt_error *err)
{
    struct vectors *vectors = &snapshot->sets[set].vectors;
    size_t chunk = vectors->file && vectors->file->heads_only ? wt__vectors_head_bytes(vectors->dim)
                                                              : wt__vectors_chunk_bytes(vectors->dim);
    if (len < wt__vectors_chunks(vectors->slots) * chunk)
        return wt__fail(err, WT_ESTORE, "damaged: truncated to %zu bytes of vectors", len);
    vectors->chunks = chunks;
    return wt__vectors_verify(vectors, err);
}

static void release_mapping(struct mapping *mapping, bool owned)
{
    if (owned)
        free((void *)mapping->ptr);
    else
        wt__file_unmap(mapping);
}

void wt__snapshot_free(struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    if (snapshot->memory) {
        release_mapping(&snapshot->memory->image, snapshot->memory->owned);
        for (size_t i = 0; i < SNAPSHOT_MAX_SETS; i++) {
            release_mapping(&snapshot->memory->sets[i], snapshot->memory->owned);
            if (snapshot->memory->files[i].begin > 0)
                close(snapshot->memory->files[i].fd);
        }
        free(snapshot->memory->shared_slots);
        free(snapshot->memory);
    }
    free(snapshot->names.marks);
    free(snapshot);
}

static int verify_vector_file(struct snapshot *snapshot, size_t set, const struct mapping *file, wt_error *err)
{
    const struct vectors *vectors = &snapshot->sets[set].vectors;
    const struct vectors_header *header = (const void *)file->ptr;
    if (file->len < VECTORS_HEADER_BYTES)
        return wt__fail(err, WT_ESTORE, "damaged: truncated to %zu bytes", file->len);
    WT_TRY(check_mark(&header->mark, VECTORS_MAGIC, wt__header_sum(header, sizeof *header), err));
    if (header->number != vectors->seed || header->dim != vectors->dim)
        return wt__fail(err, WT_ESTORE, "not the vector file of this snapshot");
    return wt__snapshot_attach(snapshot, set, file->ptr + VECTORS_HEADER_BYTES, file->len - VECTORS_HEADER_BYTES, err);
}

/* Maps a file of which only the searched parts should be in memory, and leaves it open for the fp32 vectors. */
static int map_large_file(struct snapshot *snapshot, size_t set, const char *path, wt_error *err)
{
    struct vectors *vectors = &snapshot->sets[set].vectors;
    struct vector_file *file = &snapshot->memory->files[set];
    struct file_blocks blocks = {VECTORS_HEADER_BYTES, wt__vectors_chunk_bytes(vectors->dim),
                                 wt__vectors_head_bytes(vectors->dim), wt__vectors_chunks(vectors->slots)};
    uint64_t size;
    WT_TRY(wt__file_open(&file->fd, &size, path, err));
    file->begin = VECTORS_HEADER_BYTES; /* from here on, freeing the snapshot closes fd */
    vectors->file = file;
    if (size < blocks.begin + (uint64_t)blocks.count * blocks.block)
        return wt__fail(err, WT_ESTORE, "%s: damaged: truncated to %llu bytes", path, (unsigned long long)size);
    return wt__file_map_heads(&snapshot->memory->sets[set], &file->heads_only, path, &blocks, err);
}

static int attach_file(struct snapshot *snapshot, size_t set, const char *path, wt_error *err)
{
    struct mapping *file = &snapshot->memory->sets[set];
    if (snapshot->sets[set].vectors.reads_signs)
        WT_TRY(map_large_file(snapshot, set, path, err));
    else
        WT_TRY(wt__file_map(file, path, err));
    int rc = verify_vector_file(snapshot, set, file, err);
    return rc < 0 ? wt__fail_context(err, rc, "%s", path) : 0;
}

/* Maps and parses the snapshot file, without its vectors. */
static int load_snapshot_file(struct snapshot **out, const char *folder, wt_error *err)
{
    struct mapping image = {0};
    WT_AUTO_FREE char *path = wt__snapshot_path(folder, SNAPSHOT_FILE);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__file_map(&image, path, err));
    int rc = wt__snapshot_parse(out, image, err);
    if (rc < 0) {
        wt__file_unmap(&image);
        return wt__fail_context(err, rc, "%s", path);
    }
    (*out)->memory->image = image;
    return 0;
}

/* Tries to open the snapshot once. Sets *moved to true if a vector file that the snapshot file names is missing. */
static int try_load(struct snapshot **out, const char *folder, bool *moved, wt_error *err)
{
    WT_CLEANUP(free_snapshot) struct snapshot *snapshot = NULL;
    *moved = false;
    WT_TRY(load_snapshot_file(&snapshot, folder, err));
    for (size_t i = 0; i < snapshot->set_count; i++) {
        char name[VECTORS_NAME_BYTES];
        const struct snapshot_set *set = &snapshot->sets[i];
        wt__vectors_file_name(name, set->model, set->kind, set->vectors.seed);
        WT_AUTO_FREE char *path = wt__snapshot_path(folder, name);
        WT_CHECK_ALLOC(path, err);
        int rc = attach_file(snapshot, i, path, err);
        *moved = rc == WT_ENOTFOUND;
        WT_TRY(rc);
    }
    *out = WT_TAKE(snapshot);
    return 0;
}

int wt__snapshot_load(struct snapshot **out, const char *folder, wt_error *err)
{
    int rc = 0;
    bool moved = true;
    *out = NULL;
    for (int i = 0; moved && i < OPEN_TRIES; i++)
        rc = try_load(out, folder, &moved, err);
    return moved ? wt__fail_context(err, WT_ESTORE, "damaged: a file is missing") : rc;
}

int wt__snapshot_open(struct snapshot **out, const char *folder, uint64_t generation, uint64_t settings, wt_error *err)
{
    WT_TRY(wt__snapshot_load(out, folder, err));
    uint64_t found = (*out)->generation;
    if (found == generation && (*out)->settings == settings)
        return 0;
    wt__snapshot_free(*out);
    *out = NULL;
    if (found != generation)
        return wt__fail(err, WT_ESTORE, "%s: stale: created at change %" PRIu64 " of the store, which is at %" PRIu64,
                        folder, found, generation);
    return wt__fail(err, WT_ESTORE, "%s: stale: created with other settings", folder);
}

int wt__snapshot_share_vectors(struct snapshot *snapshot, const struct snapshot *of, const char *kind,
                               const uint32_t *rows, wt_error *err)
{
    uint32_t *slots = wt__alloc_array((size_t)snapshot->rows * of->set_count, sizeof *slots);
    WT_CHECK_ALLOC(slots, err);
    snapshot->memory->shared_slots = slots;
    for (size_t i = 0; i < of->set_count; i++) {
        if (strcmp(of->sets[i].kind, kind) != 0)
            continue;
        struct snapshot_set *set = &snapshot->sets[snapshot->set_count++];
        *set = of->sets[i];
        set->vectors.rows = snapshot->rows;
        set->vectors.row_of_slot = NULL;
        set->vectors.slot_of_row = slots;
        for (uint32_t row = 0; row < snapshot->rows; row++)
            *slots++ = rows[row] < of->rows ? of->sets[i].vectors.slot_of_row[rows[row]] : VECTOR_NONE;
    }
    return 0;
}

const struct vectors *wt__snapshot_vectors(const struct snapshot *snapshot, const char *model, const char *kind)
{
    for (size_t i = 0; i < snapshot->set_count; i++)
        if (strcmp(snapshot->sets[i].model, model) == 0 && strcmp(snapshot->sets[i].kind, kind) == 0)
            return &snapshot->sets[i].vectors;
    return NULL;
}

static int compare_row_keys(const void *a, const void *b)
{
    int64_t x = ((const struct snapshot_key *)a)->id, y = ((const struct snapshot_key *)b)->id;
    return (x > y) - (x < y);
}

/* Uses binary search: rows are in ascending order of ids. */
size_t wt__snapshot_row(const struct snapshot *snapshot, int64_t id)
{
    struct snapshot_key key = {.id = id};
    const struct snapshot_key *found = bsearch(&key, snapshot->keys, snapshot->rows, sizeof key, compare_row_keys);
    return found ? (size_t)(found - snapshot->keys) : snapshot->rows;
}

struct hashed_row {
    uint64_t hash;
    uint32_t row;
};

static int compare_hashed_rows(const void *a, const void *b)
{
    const struct hashed_row *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : (x->row > y->row) - (x->row < y->row);
}

bool wt__are_copies(const struct snapshot_key *a, const struct snapshot_key *b)
{
    return a->provider != b->provider || (a->method_twin && b->method_twin);
}

/* True if the first of the rows with this hash is a copy of another one. */
static bool has_copies(const struct snapshot_key *keys, const struct hashed_row *run, size_t len)
{
    for (size_t i = 1; i < len; i++)
        if (wt__are_copies(&keys[run[0].row], &keys[run[i].row]))
            return true;
    return false;
}

int wt__copy_groups_build(uint32_t **grouped, size_t *count, struct snapshot_key *keys, const uint64_t *hashes,
                          size_t rows, wt_error *err)
{
    size_t hashed = 0;
    *count = 0;
    *grouped = wt__alloc_array(rows, sizeof **grouped);
    WT_AUTO_FREE struct hashed_row *order = wt__alloc_array(rows, sizeof *order);
    WT_CHECK_ALLOC(order && *grouped, err);
    for (uint32_t row = 0; row < rows; row++) {
        keys[row].group = 0;
        if (hashes[row])
            order[hashed++] = (struct hashed_row){hashes[row], row};
    }
    if (hashed > 1)
        qsort(order, hashed, sizeof *order, compare_hashed_rows);
    for (size_t begin = 0, end; begin < hashed; begin = end) {
        for (end = begin + 1; end < hashed && order[end].hash == order[begin].hash;)
            end++;
        uint32_t group = (uint32_t)*count + 1;
        bool copies = has_copies(keys, order + begin, end - begin);
        for (size_t i = begin; copies && i < end; i++) {
            keys[order[i].row].group = group;
            (*grouped)[(*count)++] = order[i].row;
        }
    }
    return 0;
}

const uint32_t *wt__copy_group(const struct snapshot *snapshot, uint32_t row, size_t *count)
{
    const struct copy_groups *copies = &snapshot->copies;
    uint32_t group = row < snapshot->rows ? snapshot->keys[row].group : 0;
    *count = 0;
    if (group == 0 || group > copies->count)
        return NULL;
    const uint32_t *rows = copies->rows + group - 1;
    size_t left = copies->count - (group - 1);
    while (*count < left && *count < COPY_GROUP_READ && rows[*count] < snapshot->rows &&
           snapshot->keys[rows[*count]].group == group)
        (*count)++;
    return rows;
}

int wt__copy_groups_check(const struct snapshot *snapshot, wt_error *err)
{
    const struct copy_groups *copies = &snapshot->copies;
    size_t grouped = 0;
    uint32_t group = 0;
    for (uint32_t row = 0; row < snapshot->rows; row++)
        grouped += snapshot->keys[row].group > 0;
    bool sound = grouped == copies->count;
    for (size_t i = 0; sound && i < copies->count; i++) {
        uint32_t own = copies->rows[i] < snapshot->rows ? snapshot->keys[copies->rows[i]].group : 0;
        bool begins = own == i + 1;
        group = begins ? own : group;
        sound = own > 0 && own == group && (begins || copies->rows[i - 1] < copies->rows[i]);
    }
    return sound ? 0 : wt__fail(err, WT_ESTORE, "damaged: copies and their groups do not agree");
}

int wt__snapshot_validate(const struct snapshot *snapshot, wt_error *err)
{
    for (uint32_t row = 1; row < snapshot->rows; row++)
        if (snapshot->keys[row - 1].id >= snapshot->keys[row].id)
            return wt__fail(err, WT_ESTORE, "damaged: the tools of rows %u and %u are not in order", row - 1, row);
    WT_TRY(wt__lexical_check(&snapshot->lexical, err));
    WT_TRY(wt__names_check(&snapshot->names, snapshot->rows, err));
    WT_TRY(wt__copy_groups_check(snapshot, err));
    WT_TRY(wt__row_words_check(&snapshot->words, err));
    for (size_t i = 0; i < snapshot->set_count; i++) {
        const struct snapshot_set *set = &snapshot->sets[i];
        int rc = wt__vectors_check(&set->vectors, err);
        if (rc < 0)
            return wt__fail_context(err, rc, "vectors of kind %s, model %.12s", set->kind, set->model);
    }
    return 0;
}

int wt__snapshot_check(const char *folder, wt_error *err)
{
    WT_CLEANUP(free_snapshot) struct snapshot *snapshot = NULL;
    WT_TRY(wt__snapshot_load(&snapshot, folder, err));
    int rc = wt__snapshot_validate(snapshot, err);
    return rc < 0 ? wt__fail_context(err, rc, "%s", folder) : 0;
}
