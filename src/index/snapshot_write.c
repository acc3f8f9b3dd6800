/* snapshot_write.c: builds a snapshot in a folder or in memory.
 *
 * A set of vectors is either appended to the old file or written to a new file. Appending keeps the slots of rows with
 * old vectors and adds slots for the other rows. The slots of removed or changed tools become dead. A new file has
 * slots in row order, and old vectors are copied into it. A new file is created if no old file exists, or if more than
 * a quarter of all slots would be dead after appending. In memory, a set is always new.
 *
 * A crash always leaves a valid snapshot, because the operations in a folder have this order, under the lock:
 *   1. write and sync vectors, beyond the count in the old snapshot or in new files
 *   2. rename the new snapshot file over the old one
 *   3. remove vector files that the new snapshot file does not name */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "index/internal.h"

enum {
    DEAD_ONE_IN = 4,  /* a new file is written if more than one in this many slots would be dead */
    FILES_MAX = 10000 /* maximum files of a folder that are listed */
};

/* A set being written. */
struct set_plan {
    const struct vector_source *source;
    const struct vectors *old; /* the set in the old snapshot, or NULL */
    uint64_t number;           /* number of the vector file */
    uint32_t *row_of_slot, *slot_of_row;
    uint32_t slots;     /* slots written so far */
    uint32_t *new_rows; /* [new_count] rows that get new slots, in this order */
    uint32_t new_count;
    int fd;                /* vector file; -1 in memory, or if nothing is appended */
    unsigned char *memory; /* chunks in memory; NULL in a folder */
    size_t memory_len;
};

struct snapshot_job {
    const struct snapshot_content *content;
    const char *folder;         /* NULL in memory */
    const struct snapshot *old; /* the previous snapshot, or NULL */
    uint32_t *old_row;          /* [rows] row of the unchanged tool in `old`, or VECTOR_NONE */
    struct set_plan plans[SNAPSHOT_MAX_SETS];
};

static int check_content(const struct snapshot_content *content, wt_error *err)
{
    struct lexical lexical;
    if (content->rows > WT_MAX_TOOLS)
        return wt__fail(err, WT_ETOOLONG, "more than %d tools", WT_MAX_TOOLS);
    if (content->source_count > SNAPSHOT_MAX_SETS)
        return wt__fail(err, WT_EINVAL, "more than %d kinds of vectors", SNAPSHOT_MAX_SETS);
    WT_TRY(wt__lexical_view(&lexical, content->lexical, content->lexical_len, err));
    if (lexical.rows != content->rows)
        return wt__fail(err, WT_EINVAL, "%u rows of terms for %zu tools", lexical.rows, content->rows);
    for (size_t i = 0; i < content->source_count; i++) {
        const struct vector_source *source = &content->sources[i];
        if (source->dim == 0 || source->dim > VECTOR_MAX_DIM || strlen(source->model) >= SNAPSHOT_MODEL_BYTES ||
            strlen(source->kind) >= SNAPSHOT_NAME_BYTES)
            return wt__fail(err, WT_EINVAL, "vectors \"%s\" of dimension %zu are not supported", source->kind,
                            source->dim);
    }
    return 0;
}

struct row_by_id {
    int64_t id;
    uint32_t row;
};

static int compare_by_id(const void *a, const void *b)
{
    int64_t first = ((const struct row_by_id *)a)->id, second = ((const struct row_by_id *)b)->id;
    return (first > second) - (first < second);
}

/* Fills job->old_row. A tool with an unchanged generation gets its row in the old snapshot. */
static int match_rows(struct snapshot_job *job, wt_error *err)
{
    const struct snapshot_content *content = job->content;
    uint32_t old_rows = job->old ? job->old->rows : 0;
    WT_AUTO_FREE struct row_by_id *order = wt__alloc_array(old_rows, sizeof *order);
    job->old_row = wt__alloc_array(content->rows, sizeof *job->old_row);
    WT_CHECK_ALLOC(order && job->old_row, err);
    for (uint32_t row = 0; row < old_rows; row++)
        order[row] = (struct row_by_id){job->old->keys[row].id, row};
    qsort(order, old_rows, sizeof *order, compare_by_id);
    for (size_t row = 0; row < content->rows; row++) {
        struct row_by_id key = {.id = content->keys[row].id};
        const struct row_by_id *found = old_rows ? bsearch(&key, order, old_rows, sizeof key, compare_by_id) : NULL;
        bool same = found && job->old->keys[found->row].generation == content->keys[row].generation;
        job->old_row[row] = same ? found->row : VECTOR_NONE;
    }
    return 0;
}

/* --- Planning a set --- */

static bool has_vector(const struct set_plan *plan, uint32_t row)
{
    return !plan->source->has || plan->source->has[row];
}

/* Returns the slot of the row's vector in the old snapshot, or VECTOR_NONE if the old snapshot has no such vector. */
static uint32_t find_old_slot(const struct snapshot_job *job, const struct set_plan *plan, uint32_t row)
{
    uint32_t from = plan->old ? job->old_row[row] : VECTOR_NONE;
    uint32_t slot = from == VECTOR_NONE ? VECTOR_NONE : plan->old->slot_of_row[from];
    return plan->old && slot < plan->old->slots ? slot : VECTOR_NONE;
}

/* Keeps the slots of rows with old vectors and adds the other rows to new_rows. Returns false if too many slots would
 * be dead, so that a new file is better. */
static bool plan_append(struct snapshot_job *job, struct set_plan *plan)
{
    uint32_t rows = (uint32_t)job->content->rows, kept = 0;
    plan->slots = plan->old->slots;
    for (uint32_t slot = 0; slot < plan->slots; slot++)
        plan->row_of_slot[slot] = VECTOR_NONE;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t slot = has_vector(plan, row) ? find_old_slot(job, plan, row) : VECTOR_NONE;
        plan->slot_of_row[row] = slot;
        if (!has_vector(plan, row))
            continue;
        if (slot == VECTOR_NONE) {
            plan->new_rows[plan->new_count++] = row;
        } else {
            plan->row_of_slot[slot] = row;
            kept++;
        }
    }
    uint32_t dead = plan->slots - kept, total = plan->slots + plan->new_count;
    return dead <= total / DEAD_ONE_IN;
}

static void plan_new_file(struct snapshot_job *job, struct set_plan *plan)
{
    plan->slots = plan->new_count = 0;
    for (uint32_t row = 0; row < job->content->rows; row++) {
        plan->slot_of_row[row] = VECTOR_NONE;
        if (has_vector(plan, row))
            plan->new_rows[plan->new_count++] = row;
    }
}

static char *plan_path(const struct snapshot_job *job, const struct set_plan *plan)
{
    char name[VECTORS_NAME_BYTES];
    wt__vectors_file_name(name, plan->source->model, plan->source->kind, plan->number);
    return wt__snapshot_path(job->folder, name);
}

static int write_at(int fd, const void *bytes, size_t len, uint64_t offset, const char *path, wt_error *err)
{
    for (const char *at = bytes; len > 0;) {
        ssize_t n = pwrite(fd, at, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return wt__fail_errno(err, "write", path);
        at += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

/* Opens the vector file for appending, or creates it with its header if fresh. Extends the file to hold all slots. */
static int open_vectors_file(struct snapshot_job *job, struct set_plan *plan, bool fresh, wt_error *err)
{
    size_t dim = plan->source->dim;
    struct vectors_header header = {.number = plan->number, .dim = dim};
    header.mark = (struct file_mark){.byte_order = SNAPSHOT_BYTE_ORDER, .version = SNAPSHOT_VERSION};
    memcpy(header.mark.magic, VECTORS_MAGIC, sizeof header.mark.magic);
    header.mark.sum = wt__header_sum(&header, sizeof header);
    WT_AUTO_FREE char *path = plan_path(job, plan);
    WT_CHECK_ALLOC(path, err);
    plan->fd = open(path, O_RDWR | O_CLOEXEC | (fresh ? O_CREAT | O_EXCL : 0), 0644);
    if (plan->fd < 0)
        return wt__fail_errno(err, "write", path);
    if (fresh)
        WT_TRY(write_at(plan->fd, &header, sizeof header, 0, path, err));
    uint64_t len = VECTORS_HEADER_BYTES + wt__vectors_bytes(dim, plan->slots + plan->new_count);
    struct stat info;
    if (fstat(plan->fd, &info) < 0 || ((uint64_t)info.st_size < len && ftruncate(plan->fd, (off_t)len) < 0))
        return wt__fail_errno(err, "write", path);
    return 0;
}

/* Decides between appending and a new file, and opens the file or allocates the memory. */
static int plan_set(struct snapshot_job *job, struct set_plan *plan, const struct vector_source *source, wt_error *err)
{
    size_t rows = job->content->rows;
    plan->source = source;
    plan->old = job->old ? wt__snapshot_vectors(job->old, source->model, source->kind) : NULL;
    if (plan->old && plan->old->dim != source->dim)
        plan->old = NULL;
    size_t most = rows + (plan->old ? plan->old->slots : 0);
    plan->row_of_slot = wt__alloc_array(most, sizeof(uint32_t));
    plan->slot_of_row = wt__alloc_array(rows, sizeof(uint32_t));
    plan->new_rows = wt__alloc_array(rows, sizeof(uint32_t));
    WT_CHECK_ALLOC(plan->row_of_slot && plan->slot_of_row && plan->new_rows, err);
    if (job->folder && plan->old && plan_append(job, plan)) {
        plan->number = plan->old->seed;
        return plan->new_count ? open_vectors_file(job, plan, false, err) : 0;
    }
    plan_new_file(job, plan);
    if (!wt__random_bytes(&plan->number, sizeof plan->number))
        return wt__fail(err, WT_EIO, "cannot get a random number for a new file");
    if (job->folder)
        return open_vectors_file(job, plan, true, err);
    plan->memory_len = wt__vectors_bytes(source->dim, plan->new_count);
    plan->memory = wt__alloc_aligned(plan->memory_len, 1);
    WT_CHECK_ALLOC(plan->memory, err);
    memset(plan->memory, 0, plan->memory_len);
    return 0;
}

/* --- Filling a set --- */

/* Copies len bytes at `offset` of `chunk` to the chunk at `base` of the file or of the memory. path: NULL in memory. */
static int store_bytes(struct set_plan *plan, const unsigned char *chunk, uint64_t base, size_t offset, size_t len,
                       const char *path, wt_error *err)
{
    if (path)
        return write_at(plan->fd, chunk + offset, len, VECTORS_HEADER_BYTES + base + offset, path, err);
    memcpy(plan->memory + base + offset, chunk + offset, len);
    return 0;
}

/* Copies an array of slots [at, at + count), which are in one block of interleaved slots. A whole block is one run of
 * bytes. Otherwise each byte of a slot has a run with this byte of the other slots, because the bytes between may
 * belong to slots that other processes read. */
static int store_block(struct set_plan *plan, const unsigned char *chunk, uint64_t base, const struct vector_part *part,
                       size_t at, size_t count, const char *path, wt_error *err)
{
    size_t first = part->offset + at / part->lanes * part->lanes * part->size;
    if (count == part->lanes)
        return store_bytes(plan, chunk, base, first, count * part->size, path, err);
    for (size_t b = 0; b < part->size; b++)
        WT_TRY(store_bytes(plan, chunk, base, first + b * part->lanes + at % part->lanes, count, path, err));
    return 0;
}

/* Copies slots [first, first + count), which are in one chunk, from `chunk` to the file or to memory. */
static int store_slots(struct snapshot_job *job, struct set_plan *plan, const unsigned char *chunk, uint32_t first,
                       uint32_t count, wt_error *err)
{
    size_t dim = plan->source->dim, begin = first % VECTOR_CHUNK, end = begin + count;
    uint64_t base = (uint64_t)(first / VECTOR_CHUNK) * wt__vectors_chunk_bytes(dim);
    struct vector_part parts[VECTOR_PARTS];
    assert(end <= VECTOR_CHUNK);
    wt__vectors_layout(dim, parts);
    WT_AUTO_FREE char *path = plan->memory ? NULL : plan_path(job, plan);
    WT_CHECK_ALLOC(plan->memory || path, err);
    for (size_t i = 0; i < VECTOR_PARTS; i++) {
        const struct vector_part *part = &parts[i];
        if (part->lanes == 1)
            WT_TRY(store_bytes(plan, chunk, base, part->offset + begin * part->size, count * part->size, path, err));
        for (size_t at = begin, now; part->lanes > 1 && at < end; at += now) {
            size_t left = part->lanes - at % part->lanes;
            now = end - at < left ? end - at : left;
            WT_TRY(store_block(plan, chunk, base, part, at, now, path, err));
        }
    }
    return 0;
}

/* Returns the row's vector in the old snapshot, or NULL. storage: as in wt__vectors_of_row. */
static const float *find_kept_vector(const struct snapshot_job *job, const struct set_plan *plan, uint32_t row,
                                     float *storage)
{
    bool kept = find_old_slot(job, plan, row) != VECTOR_NONE;
    return kept ? wt__vectors_of_row(plan->old, job->old_row[row], storage) : NULL;
}

/* A batch of rows that get slots together. */
struct vector_batch {
    uint32_t asked[SNAPSHOT_BATCH], place[SNAPSHOT_BATCH]; /* rows to fetch, and their positions in the batch */
    float *vectors;                                        /* [SNAPSHOT_BATCH, dim] */
    float *storage;                                        /* for a vector of the old snapshot */
    unsigned char *chunk;                                  /* scratch for one chunk of slots */
};

/* Fills batch->vectors for the rows. One call fetches the missing vectors to the front of the array. Then, from the
 * last row to the first, each vector is moved or copied to its position. A fetched vector never moves towards the
 * front, so no vector is overwritten before it has moved. */
static int collect_vectors(struct snapshot_job *job, struct set_plan *plan, struct vector_batch *batch,
                           const uint32_t *rows, uint32_t count, wt_error *err)
{
    size_t dim = plan->source->dim, bytes = dim * sizeof(float);
    uint32_t missing = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (find_kept_vector(job, plan, rows[i], batch->storage))
            continue;
        batch->place[missing] = i;
        batch->asked[missing++] = rows[i];
    }
    if (missing)
        WT_TRY(plan->source->fetch(plan->source->context, batch->asked, missing, batch->vectors, err));
    for (uint32_t i = count; i-- > 0;) {
        bool fetched = missing > 0 && batch->place[missing - 1] == i;
        const float *from =
            fetched ? batch->vectors + --missing * dim : find_kept_vector(job, plan, rows[i], batch->storage);
        if (!from)
            return wt__fail(err, WT_ESTORE, "a vector was damaged while it was read");
        memmove(batch->vectors + i * dim, from, bytes);
    }
    return 0;
}

/* Stores the vectors of the batch in the next slots, chunk by chunk, and assigns these slots to the rows. */
static int append_rows(struct snapshot_job *job, struct set_plan *plan, struct vector_batch *batch,
                       const uint32_t *rows, uint32_t count, wt_error *err)
{
    size_t dim = plan->source->dim;
    for (uint32_t done = 0, now; done < count; done += now) {
        uint32_t first = plan->slots, left = VECTOR_CHUNK - first % VECTOR_CHUNK;
        now = count - done < left ? count - done : left;
        for (uint32_t i = 0; i < now; i++)
            WT_TRY(wt__vectors_put(batch->chunk, dim, plan->number, first + i, batch->vectors + (done + i) * dim, err));
        WT_TRY(store_slots(job, plan, batch->chunk, first, now, err));
        for (uint32_t i = 0; i < now; i++) {
            plan->row_of_slot[first + i] = rows[done + i];
            plan->slot_of_row[rows[done + i]] = first + i;
        }
        plan->slots += now;
    }
    return 0;
}

/* Appends the new rows, a batch at a time. */
static int append_new_rows(struct snapshot_job *job, struct set_plan *plan, wt_error *err)
{
    size_t dim = plan->source->dim;
    WT_AUTO_FREE struct vector_batch *batch = wt__alloc_zeros(1, sizeof *batch);
    WT_AUTO_FREE float *vectors = wt__alloc_aligned(SNAPSHOT_BATCH * dim, sizeof *vectors);
    WT_AUTO_FREE float *storage = wt__alloc_array(wt__vectors_padded(dim), sizeof *storage);
    WT_AUTO_FREE unsigned char *chunk = wt__alloc_aligned(wt__vectors_chunk_bytes(dim), 1);
    WT_CHECK_ALLOC(batch && vectors && storage && chunk, err);
    batch->vectors = vectors;
    batch->storage = storage;
    batch->chunk = chunk;
    for (uint32_t done = 0; done < plan->new_count; done += SNAPSHOT_BATCH) {
        uint32_t left = plan->new_count - done, count = left < SNAPSHOT_BATCH ? left : SNAPSHOT_BATCH;
        WT_TRY(collect_vectors(job, plan, batch, plan->new_rows + done, count, err));
        WT_TRY(append_rows(job, plan, batch, plan->new_rows + done, count, err));
    }
    return 0;
}

static int fill_vector_set(struct snapshot_job *job, struct set_plan *plan, wt_error *err)
{
    int rc = append_new_rows(job, plan, err);
    /* Sync after a failure, too, because the vectors fetched before it may be kept. */
    if (plan->fd >= 0 && fsync(plan->fd) < 0 && rc == 0)
        rc = wt__fail_errno(err, "write", job->folder);
    return rc;
}

/* --- The snapshot file --- */

enum { SECTIONS = 6 + 2 * SNAPSHOT_MAX_SETS };

/* Content of the snapshot file. Sections are in the order of their offsets. */
struct snapshot_image {
    struct snapshot_header header;
    const void *bytes[SECTIONS];
    struct snapshot_section *sections[SECTIONS]; /* pointers into header */
    size_t count;
    uint64_t len;
};

static void add_section(struct snapshot_image *image, struct snapshot_section *section, const void *bytes, uint64_t len)
{
    assert(image->count < SECTIONS);
    uint64_t offset = (image->len + SNAPSHOT_ALIGN - 1) / SNAPSHOT_ALIGN * SNAPSHOT_ALIGN;
    *section = (struct snapshot_section){offset, len, wt__checksum(bytes, len, offset)};
    image->bytes[image->count] = bytes;
    image->sections[image->count++] = section;
    image->len = offset + len;
}

static void compose_image(struct snapshot_image *image, const struct snapshot_job *job, uint64_t generation)
{
    const struct snapshot_content *content = job->content;
    struct snapshot_header *header = &image->header;
    memset(image, 0, sizeof *image);
    memcpy(header->mark.magic, SNAPSHOT_MAGIC, sizeof header->mark.magic);
    header->mark.byte_order = SNAPSHOT_BYTE_ORDER;
    header->mark.version = SNAPSHOT_VERSION;
    header->generation = generation;
    header->settings = content->settings;
    header->rows = (uint32_t)content->rows;
    header->set_count = (uint32_t)content->source_count;
    header->name_words = content->names.words;
    image->len = sizeof *header;
    add_section(image, &header->keys, content->keys, content->rows * sizeof *content->keys);
    add_section(image, &header->lexical, content->lexical, content->lexical_len);
    add_section(image, &header->names, content->names.entries, content->names.count * sizeof *content->names.entries);
    add_section(image, &header->copies, content->copies.rows, content->copies.count * sizeof *content->copies.rows);
    add_section(image, &header->word_ends, content->words.ends, content->words.rows * sizeof *content->words.ends);
    add_section(image, &header->word_tokens, content->words.tokens,
                content->words.count * sizeof *content->words.tokens);
    for (size_t i = 0; i < content->source_count; i++) {
        const struct set_plan *plan = &job->plans[i];
        struct snapshot_set_header *set = &header->sets[i];
        memcpy(set->model, plan->source->model, strlen(plan->source->model));
        memcpy(set->kind, plan->source->kind, strlen(plan->source->kind));
        set->dim = (uint32_t)plan->source->dim;
        set->slots = plan->slots;
        set->former = plan->source->former;
        set->number = plan->number;
        add_section(image, &set->row_of_slot, plan->row_of_slot, plan->slots * sizeof(uint32_t));
        add_section(image, &set->slot_of_row, plan->slot_of_row, content->rows * sizeof(uint32_t));
    }
    header->mark.sum = wt__header_sum(header, sizeof *header);
}

static int write_image(const struct snapshot_job *job, const struct snapshot_image *image, wt_error *err)
{
    static const char zeros[SNAPSHOT_ALIGN] = {0};
    uint64_t at = sizeof image->header;
    WT_AUTO_FREE char *path = wt__snapshot_path(job->folder, SNAPSHOT_FILE);
    WT_CLEANUP(wt__replace_abort) struct replace replace = {.fd = -1};
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__replace_begin(&replace, path, err));
    WT_TRY(wt__replace_write(&replace, &image->header, sizeof image->header, err));
    for (size_t i = 0; i < image->count; i++) {
        const struct snapshot_section *section = image->sections[i];
        assert(section->offset >= at && section->offset - at < sizeof zeros); /* only padding between sections */
        WT_TRY(wt__replace_write(&replace, zeros, section->offset - at, err));
        WT_TRY(wt__replace_write(&replace, image->bytes[i], section->len, err));
        at = section->offset + section->len;
    }
    return wt__replace_commit(&replace, err);
}

static unsigned char *copy_image(const struct snapshot_image *image)
{
    unsigned char *copy = wt__alloc_aligned(image->len, 1);
    if (!copy)
        return NULL;
    memset(copy, 0, image->len);
    memcpy(copy, &image->header, sizeof image->header);
    for (size_t i = 0; i < image->count; i++)
        if (image->sections[i]->len > 0)
            memcpy(copy + image->sections[i]->offset, image->bytes[i], image->sections[i]->len);
    return copy;
}

/* Removes the folder's vector files that the new snapshot does not name. Does not enter subfolders, because they belong
 * to other snapshots. Ignores errors: a file left behind is harmless. */
static void remove_unused_files(const struct snapshot_job *job)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char **paths = NULL, name[VECTORS_NAME_BYTES];
    size_t count = 0;
    wt__list_own_files(&arena, job->folder, FILES_MAX, &paths, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        struct str file = wt__str(strrchr(paths[i], '/') + 1);
        bool stray = wt__str_starts(file, STR("vectors-"));
        for (size_t set = 0; stray && set < job->content->source_count; set++) {
            const struct set_plan *plan = &job->plans[set];
            wt__vectors_file_name(name, plan->source->model, plan->source->kind, plan->number);
            stray = !wt__str_equal(file, wt__str(name));
        }
        if (stray)
            unlink(paths[i]);
    }
}

/* --- Writing --- */

static void begin_job(struct snapshot_job *job, const struct snapshot_content *content, const char *folder,
                      const struct snapshot *old)
{
    *job = (struct snapshot_job){.content = content, .folder = folder, .old = old};
    for (size_t i = 0; i < SNAPSHOT_MAX_SETS; i++)
        job->plans[i].fd = -1;
}

static void end_job(struct snapshot_job *job)
{
    for (size_t i = 0; i < SNAPSHOT_MAX_SETS; i++) {
        struct set_plan *plan = &job->plans[i];
        free(plan->row_of_slot);
        free(plan->slot_of_row);
        free(plan->new_rows);
        free(plan->memory);
        if (plan->fd >= 0)
            close(plan->fd);
    }
    free(job->old_row);
}

/* Plans and fills every set. Sets *worth_keeping to true if filling fails and every set with an old file is appended to
 * that file. The caller can then keep the vectors added so far, in a snapshot that still has all old vectors. */
static int write_vector_sets(struct snapshot_job *job, bool *worth_keeping, wt_error *err)
{
    bool given_up = false;
    *worth_keeping = false;
    WT_TRY(check_content(job->content, err));
    WT_TRY(match_rows(job, err));
    for (size_t i = 0; i < job->content->source_count; i++) {
        WT_TRY(plan_set(job, &job->plans[i], &job->content->sources[i], err));
        given_up |= job->plans[i].old && job->plans[i].number != job->plans[i].old->seed;
    }
    *worth_keeping = !given_up;
    for (size_t i = 0; i < job->content->source_count; i++)
        WT_TRY(fill_vector_set(job, &job->plans[i], err));
    *worth_keeping = false;
    return 0;
}

/* True if the set has a vector for exactly those rows for which the source has one. */
static bool is_complete(const struct vectors *vectors, const struct vector_source *source)
{
    for (uint32_t row = 0; vectors && row < vectors->rows; row++)
        if ((vectors->slot_of_row[row] != VECTOR_NONE) != (!source->has || source->has[row]))
            return false;
    return vectors != NULL;
}

/* True if the old snapshot has the generation, the settings and all vectors of this content. Another process may have
 * written it while this one waited for the lock. */
static bool is_already_written(const struct snapshot_job *job)
{
    const struct snapshot_content *content = job->content;
    if (!job->old || job->old->generation != content->generation || job->old->settings != content->settings ||
        job->old->rows != content->rows || job->old->set_count != content->source_count)
        return false;
    for (size_t i = 0; i < content->source_count; i++) {
        const struct vector_source *source = &content->sources[i];
        if (!is_complete(wt__snapshot_vectors(job->old, source->model, source->kind), source))
            return false;
    }
    return true;
}

static int write_under_lock(struct snapshot **out, struct snapshot_job *job, wt_error *err)
{
    struct snapshot_image image;
    bool worth_keeping;
    int rc = write_vector_sets(job, &worth_keeping, err);
    if (worth_keeping) {
        compose_image(&image, job, SNAPSHOT_NO_GENERATION);
        write_image(job, &image, NULL);
    }
    WT_TRY(rc);
    compose_image(&image, job, job->content->generation);
    WT_TRY(write_image(job, &image, err));
    remove_unused_files(job);
    return wt__snapshot_load(out, job->folder, err);
}

static int lock_folder(int *fd, const char *folder, unsigned wait_ms, wt_error *err)
{
    WT_TRY(wt__make_folders(folder, err));
    WT_AUTO_FREE char *path = wt__snapshot_path(folder, SNAPSHOT_LOCK);
    WT_CHECK_ALLOC(path, err);
    return wt__lock_file(fd, path, wait_ms, err);
}

int wt__snapshot_write(struct snapshot **out, const char *folder, const struct snapshot_content *content,
                       unsigned wait_ms, wt_error *err)
{
    struct snapshot_job job;
    struct snapshot *old = NULL;
    int lock = -1;
    *out = NULL;
    WT_TRY(lock_folder(&lock, folder, wait_ms, err));
    int rc = wt__snapshot_load(&old, folder, err);
    begin_job(&job, content, folder, old);
    if (rc == 0 && is_already_written(&job))
        *out = WT_TAKE(old);
    else if (rc != WT_ENOMEM)
        rc = write_under_lock(out, &job, err);
    end_job(&job);
    wt__snapshot_free(old);
    wt__unlock_file(lock);
    return rc;
}

/* Creates a snapshot in memory from the filled sets. The snapshot owns its own copy of the image, and takes ownership
 * of the memory of the sets. */
static int adopt_memory(struct snapshot **out, struct snapshot_job *job, wt_error *err)
{
    struct snapshot_image image;
    compose_image(&image, job, job->content->generation);
    unsigned char *copy = copy_image(&image);
    WT_CHECK_ALLOC(copy, err);
    struct mapping mapping = {copy, image.len};
    int rc = wt__snapshot_parse(out, mapping, err);
    if (rc < 0) {
        free(copy);
        return rc;
    }
    (*out)->memory->owned = true;
    (*out)->memory->image = mapping;
    for (size_t i = 0; rc == 0 && i < (*out)->set_count; i++) {
        struct set_plan *plan = &job->plans[i];
        (*out)->memory->sets[i] = (struct mapping){plan->memory, plan->memory_len};
        rc = wt__snapshot_attach(*out, i, plan->memory, plan->memory_len, err);
        plan->memory = NULL;
    }
    if (rc < 0) {
        wt__snapshot_free(*out);
        *out = NULL;
    }
    return rc;
}

int wt__snapshot_build(struct snapshot **out, const struct snapshot *previous, const struct snapshot_content *content,
                       wt_error *err)
{
    struct snapshot_job job;
    bool worth_keeping;
    *out = NULL;
    begin_job(&job, content, NULL, previous);
    int rc = write_vector_sets(&job, &worth_keeping, err);
    if (rc == 0)
        rc = adopt_memory(out, &job, err);
    end_job(&job);
    return rc;
}

int wt__snapshot_make(struct snapshot **out, const char *folder, unsigned wait_ms, const struct snapshot *previous,
                      const struct snapshot_content *content, wt_error *err)
{
    if (folder[0] && wt__snapshot_write(out, folder, content, wait_ms, NULL) == 0)
        return 0;
    return wt__snapshot_build(out, previous, content, err);
}

int wt__snapshot_discard(const char *folder, unsigned wait_ms, wt_error *err)
{
    int lock = -1;
    WT_AUTO_FREE char *path = wt__snapshot_path(folder, SNAPSHOT_FILE);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(lock_folder(&lock, folder, wait_ms, err));
    int rc = unlink(path) < 0 && errno != ENOENT ? wt__fail_errno(err, "remove", path) : 0;
    wt__unlock_file(lock);
    return rc;
}
