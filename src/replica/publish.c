/* publish.c: a publisher of a folder.
 *
 *   read transaction: compare all rows with the published rows -> append the changes (or write a base) -> sync
 *   -> copy new models and the policy -> replace the manifest -> remove files replaced long ago
 *
 * Until the manifest is replaced, readers see the earlier publication, whose bytes never change. A killed publisher may
 * leave unlisted files and bytes; the next publisher of the folder removes them. */
#include "replica/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "replica/manifest.h"
#include "replica/published_rows.h"

#define PUBLISH_LOCK ".publish-lock"

enum {
    FOLDER_FILES_MAX = 10000,
    NAME_ROOM = PUBLICATION_NAME_BYTES_MAX + 1,
    MANIFEST_SIZES = 61 /* different sizes of successive manifests with equal content */
};

/* A published file missing in the newest manifest. */
struct retired_file {
    char name[NAME_ROOM];
    double since_ms;
};

struct changes_file {
    struct published_file file;
    char name[NAME_ROOM];
    double closed_ms; /* time when a base took its place; 0 while it is in use */
};

/* The files of the publication, as read from the folder. After a failure, the publisher clears the struct and reads the
 * folder again. */
struct published_state {
    bool is_loaded;
    char id[REPLICA_ID_DIGITS + 1];
    char base_name[NAME_ROOM];
    struct published_file base;
    uint64_t base_end;
    char base_end_sha256[65];
    struct changes_file *changes; /* [change_count] */
    size_t change_count, change_capacity;
    struct sha256 digest; /* digest of the last file of changes */
    struct published_rows rows;
    struct arena arena;            /* texts of the models and the policy */
    struct published_file *models; /* [model_count] */
    size_t model_count;
    struct published_file policy;
    uint64_t stamp; /* wt__trained_stamp of the models */
    bool has_models;
    int64_t mark; /* wt__store_change_mark of the rows */
    bool has_mark;
    bool has_manifest; /* this publisher has written the manifest */
};

struct publisher {
    wt_engine *engine;
    struct publish_options options;
    char *folder, *writer, *policy;
    int lock;
    struct store *reader;
    unsigned manifests; /* number of the next manifest; starts at the time */
    uint64_t missing;   /* tools without a vector when they were last counted */
    double missing_ms;  /* time when their number last changed */
    struct published_state state;
    struct retired_file *retired; /* [retired_count] */
    size_t retired_count, retired_capacity;
};

static char *publisher_path(const struct publisher *p, struct arena *arena, const char *name)
{
    return wt__path_join(arena, p->folder, name);
}

static void state_dispose(struct published_state *state)
{
    wt__published_rows_dispose(&state->rows);
    wt__arena_dispose(&state->arena);
    free(state->changes);
    *state = (struct published_state){.is_loaded = false};
}

/* ---------------------------------------------------------------- the earlier publication */

static int add_changes_file(struct published_state *state, const struct published_file *file, wt_error *err)
{
    if (wt__grow((void **)&state->changes, &state->change_capacity, state->change_count + 1, sizeof *state->changes) <
        0)
        return wt__fail_nomem(err);
    struct changes_file *added = &state->changes[state->change_count++];
    *added = (struct changes_file){.file = *file};
    snprintf(added->name, sizeof added->name, "%s", file->name);
    return 0;
}

/* Reads the rows of a published file, and checks its digest. digest: receives the digest for appending; may be NULL. */
static int load_published_file(struct publisher *p, const struct published_file *file, struct sha256 *digest,
                               wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__file_unmap) struct mapping content = {0};
    struct sha256 sha, copy;
    unsigned char bytes[32];
    char hex[65];
    char *path = publisher_path(p, &arena, file->name);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__file_map(&content, path, err));
    if (content.len < file->bytes)
        return wt__fail(err, WT_EFORMAT, "%s is truncated", path);
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, content.ptr, file->bytes);
    copy = sha;
    wt__sha256_end(&copy, bytes);
    wt__sha256_hex(bytes, hex);
    if (strcmp(hex, file->sha256) != 0)
        return wt__fail(err, WT_EFORMAT, "%s differs from the manifest", path);
    if (digest)
        *digest = sha;
    return wt__published_rows_load(&p->state.rows, (struct str){(const char *)content.ptr, file->bytes}, err);
}

/* Takes over a publication. Keeps files of changes before the base for their readers, without reading them. */
static int load_publication(struct publisher *p, const struct publication *earlier, wt_error *err)
{
    struct published_state *state = &p->state;
    snprintf(state->id, sizeof state->id, "%s", earlier->id);
    state->base = earlier->base;
    snprintf(state->base_name, sizeof state->base_name, "%s", earlier->base.name);
    state->base_end = earlier->base_end;
    memcpy(state->base_end_sha256, earlier->base_end_sha256, sizeof state->base_end_sha256);
    WT_TRY(load_published_file(p, &earlier->base, NULL, err));
    for (size_t i = 0; i < earlier->change_count; i++) {
        const struct published_file *file = &earlier->changes[i];
        WT_TRY(add_changes_file(state, file, err));
        if (file->segment > earlier->base.segment)
            WT_TRY(load_published_file(p, file, &state->digest, err));
        else
            state->changes[i].closed_ms = wt__now_ms();
    }
    state->is_loaded = true;
    return 0;
}

static int read_earlier_manifest(struct publisher *p, struct publication *out, struct arena *arena, wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    int version = 0;
    char *path = publisher_path(p, arena, PUBLICATION_MANIFEST);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__file_read(&text, &len, path, PUBLICATION_MANIFEST_BYTES_MAX, err));
    WT_TRY(wt__publication_read(out, arena, (struct str){text, len}, err));
    WT_TRY(wt__store_version(p->reader, &version, err));
    return out->tables == (uint64_t)version ? 0 : wt__fail(err, WT_EFORMAT, "published by another version");
}

/* Reads the publication of the folder. Starts a new one if the folder is empty or its publication cannot be
 * continued. */
static int load_state(struct publisher *p, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct publication earlier;
    state_dispose(&p->state);
    WT_TRY(wt__published_rows_init(&p->state.rows, err));
    int rc = read_earlier_manifest(p, &earlier, &arena, err);
    if (rc == 0)
        rc = load_publication(p, &earlier, err);
    if (rc == 0 || rc == WT_ENOMEM)
        return rc;
    state_dispose(&p->state);
    WT_TRY(wt__published_rows_init(&p->state.rows, err));
    return wt__random_digits(p->state.id, REPLICA_ID_DIGITS) ? 0 : wt__fail(err, WT_EIO, "cannot get random numbers");
}

/* ---------------------------------------------------------------- writing files */

static void finish_digest(const struct sha256 *sha, char hex[65])
{
    struct sha256 copy = *sha;
    unsigned char digest[32];
    wt__sha256_end(&copy, digest);
    wt__sha256_hex(digest, hex);
}

static int write_whole(int fd, struct str bytes, const char *path, wt_error *err)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return wt__fail_errno(err, "write", path);
        bytes = (struct str){bytes.ptr + n, bytes.len - (size_t)n};
    }
    return 0;
}

/* Appends bytes to an open file at `at`, and removes the rest of a killed publisher. */
static int append_at(int fd, uint64_t at, const struct str *parts, size_t count, const char *path, wt_error *err)
{
    if (ftruncate(fd, (off_t)at) < 0 || lseek(fd, (off_t)at, SEEK_SET) < 0)
        return wt__fail_errno(err, "write", path);
    for (size_t i = 0; i < count; i++)
        WT_TRY(write_whole(fd, parts[i], path, err));
    return fsync(fd) == 0 ? 0 : wt__fail_errno(err, "write", path);
}

/* Writes a new name PREFIX-SEGMENT-RANDOM.rows. */
static int name_rows_file(char out[NAME_ROOM], const char *prefix, uint64_t segment, wt_error *err)
{
    char digits[9];
    if (!wt__random_digits(digits, sizeof digits - 1))
        return wt__fail(err, WT_EIO, "cannot get random numbers");
    snprintf(out, NAME_ROOM, "%s-%" PRIu64 "-%s.rows", prefix, segment, digits);
    return 0;
}

/* Returns the open file of changes, or makes one. */
static int open_changes_file(struct publisher *p, struct changes_file **out, wt_error *err)
{
    struct published_state *state = &p->state;
    struct published_file fresh = {.segment = state->base.segment + 1};
    char name[NAME_ROOM];
    if (state->change_count > 0 && state->changes[state->change_count - 1].file.segment > state->base.segment) {
        *out = &state->changes[state->change_count - 1];
        return 0;
    }
    WT_TRY(name_rows_file(name, "changes", fresh.segment, err));
    fresh.name = name;
    wt__sha256_begin(&state->digest);
    WT_TRY(add_changes_file(state, &fresh, err));
    *out = &state->changes[state->change_count - 1];
    return 0;
}

static int append_changes(struct publisher *p, const struct row_changes *changes, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct published_state *state = &p->state;
    struct changes_file *file;
    WT_TRY(open_changes_file(p, &file, err));
    char *path = publisher_path(p, &arena, file->name);
    WT_CHECK_ALLOC(path, err);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return wt__fail_errno(err, "write", path);
    const struct str parts[] = {wt__buffer_view(&changes->deletions), wt__buffer_view(&changes->puts)};
    int rc = append_at(fd, file->file.bytes, parts, 2, path, err);
    if (close(fd) < 0 && rc == 0)
        rc = wt__fail_errno(err, "write", path);
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        wt__sha256_update(&state->digest, parts[i].ptr, parts[i].len);
        file->file.bytes += parts[i].len;
    }
    finish_digest(&state->digest, file->file.sha256);
    return rc;
}

/* A base being written. */
struct base_writing {
    struct replace file;
    struct sha256 sha;
    struct buffer records;
    struct published_rows *rows; /* notes the rows */
    struct row_changes ignored;
    uint64_t bytes, count;
    wt_error *err;
};

static int flush_base(struct base_writing *w)
{
    struct str records = wt__buffer_view(&w->records);
    WT_CHECK_ALLOC(!w->records.failed, w->err);
    WT_TRY(wt__replace_write(&w->file, records.ptr, records.len, w->err));
    wt__sha256_update(&w->sha, records.ptr, records.len);
    w->bytes += records.len;
    wt__buffer_clear(&w->records);
    return 0;
}

static int put_base_row(void *context, const struct store_row *row)
{
    enum { FLUSH_BYTES = 1 << 20 };
    struct base_writing *w = context;
    WT_TRY(wt__published_rows_compare(w->rows, row, &w->ignored, w->err));
    wt__buffer_clear(&w->ignored.deletions);
    wt__buffer_clear(&w->ignored.puts);
    wt__row_record(&w->records, ROW_PUT, row->table, row->values);
    w->count++;
    return w->records.len >= FLUSH_BYTES ? flush_base(w) : 0;
}

/* Lists the base `written` in the place of the earlier base and of all changes. equal: the earlier base with all
 * changes has the same rows, so that readers of the changes need not read the base. */
static void set_base(struct published_state *state, const struct published_file *written, bool equal)
{
    const struct changes_file *last = state->change_count > 0 ? &state->changes[state->change_count - 1] : NULL;
    state->base = *written;
    state->base_end = last && equal ? last->file.bytes : 0;
    memset(state->base_end_sha256, '0', sizeof state->base_end_sha256 - 1);
    state->base_end_sha256[64] = '\0';
    if (last && equal)
        memcpy(state->base_end_sha256, last->file.sha256, sizeof last->file.sha256);
    for (size_t i = 0; i < state->change_count; i++)
        if (state->changes[i].closed_ms == 0)
            state->changes[i].closed_ms = wt__now_ms();
    if (!equal)
        state->change_count = 0;
}

/* Writes all rows as a new base. Call it within the read transaction. equal: see set_base. */
static int write_base(struct publisher *p, bool equal, struct publish_report *report, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct published_state *state = &p->state;
    struct base_writing w = {.file = {.fd = -1}, .rows = &state->rows, .err = err};
    uint64_t last =
        state->change_count > 0 ? state->changes[state->change_count - 1].file.segment : state->base.segment;
    struct published_file written = {.name = state->base_name, .segment = last + !equal};
    wt__published_rows_dispose(&state->rows);
    WT_TRY(wt__published_rows_init(&state->rows, err));
    WT_TRY(name_rows_file(state->base_name, "base", written.segment, err));
    char *path = publisher_path(p, &arena, state->base_name);
    WT_CHECK_ALLOC(path, err);
    wt__sha256_begin(&w.sha);
    int rc = wt__replace_begin(&w.file, path, err);
    if (rc == 0)
        rc = wt__store_each_row(p->reader, put_base_row, &w, err);
    if (rc == 0)
        rc = flush_base(&w);
    if (rc == 0)
        rc = wt__replace_commit(&w.file, err);
    wt__replace_abort(&w.file);
    wt__buffer_dispose(&w.records);
    wt__row_changes_dispose(&w.ignored);
    WT_TRY(rc);
    written.bytes = w.bytes;
    finish_digest(&w.sha, written.sha256);
    set_base(state, &written, equal);
    report->whole = true;
    report->put = w.count;
    report->bytes += w.bytes;
    return 0;
}

/* ---------------------------------------------------------------- rows */

struct comparison {
    struct published_rows *rows;
    struct row_changes changes;
    wt_error *err;
};

static int compare_published_row(void *context, const struct store_row *row)
{
    struct comparison *comparison = context;
    WT_TRY(wt__published_rows_compare(comparison->rows, row, &comparison->changes, comparison->err));
    return comparison->changes.puts.len > PUBLISH_CHANGES_MEMORY ? 1 : 0;
}

static bool wants_base(const struct published_state *state)
{
    uint64_t bytes = 0, least = state->base.bytes > PUBLISH_COMPACT_LEAST ? state->base.bytes : PUBLISH_COMPACT_LEAST;
    for (size_t i = 0; i < state->change_count; i++)
        if (state->changes[i].closed_ms == 0)
            bytes += state->changes[i].file.bytes;
    return bytes > least || state->change_count >= PUBLICATION_CHANGES_MAX - 1;
}

/* Publishes the rows within a read transaction. */
static int publish_rows(struct publisher *p, struct publish_report *report, wt_error *err)
{
    struct published_state *state = &p->state;
    struct comparison comparison = {.rows = &state->rows, .err = err};
    if (!state->is_loaded)
        return write_base(p, false, report, err);
    wt__published_rows_begin(&state->rows);
    int rc = wt__store_each_row(p->reader, compare_published_row, &comparison, err);
    bool too_many = rc > 0;
    if (rc == 0)
        rc = wt__published_rows_end(&state->rows, &comparison.changes, err);
    struct row_changes *changes = &comparison.changes;
    uint64_t bytes = changes->deletions.len + changes->puts.len;
    if (rc == 0 && bytes > 0)
        rc = append_changes(p, changes, err);
    report->put = changes->put;
    report->deleted = changes->deleted;
    report->bytes += bytes;
    wt__row_changes_dispose(changes);
    if (rc >= 0 && (too_many || wants_base(state)))
        rc = write_base(p, !too_many, report, err);
    report->changed |= bytes > 0 || report->whole;
    return rc;
}

/* ---------------------------------------------------------------- models and policy */

/* Copies a file into the folder as file-SHA256. Does nothing if the folder has it. */
static int publish_copy(struct publisher *p, const char *source, size_t max, struct published_file *out,
                        struct publish_report *report, wt_error *err)
{
    WT_AUTO_FREE char *content = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
    unsigned char digest[32];
    size_t len = 0;
    WT_TRY(wt__file_read(&content, &len, source, max, err));
    wt__sha256(content, len, digest);
    wt__sha256_hex(digest, out->sha256);
    wt__buffer_printf(&name, "file-%s", out->sha256);
    WT_CHECK_ALLOC(!name.failed, err);
    out->name = wt__arena_copy(&p->state.arena, wt__buffer_view(&name));
    char *path = out->name ? publisher_path(p, &p->state.arena, out->name) : NULL;
    WT_CHECK_ALLOC(path, err);
    out->bytes = len;
    if (wt__is_file(path) && wt__file_size(path) == len)
        return 0;
    report->bytes += len;
    report->changed = true;
    return wt__file_replace(path, content, len, err);
}

/* True for the files read by queries. The folder of trained models also has caches and states of training. */
static bool is_model_file(const char *path)
{
    static const char *const endings[] = {".json", ".safetensors", ".txt", ".model"};
    const char *name = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (name && dot < name) || strstr(name ? name : path, "checkpoint"))
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* Copies the models of the folder. */
static int copy_models(struct publisher *p, const char *folder, struct publish_report *report, wt_error *err)
{
    struct published_state *state = &p->state;
    char **paths = NULL;
    size_t count = 0, len = strlen(folder);
    if (wt__is_folder(folder))
        WT_TRY(wt__list_files(&state->arena, folder, PUBLICATION_MODELS_MAX, &paths, &count, err));
    state->models = wt__arena_array(&state->arena, struct published_file, count);
    WT_CHECK_ALLOC(state->models, err);
    for (size_t i = 0; i < count; i++) {
        if (!is_model_file(paths[i]))
            continue;
        struct published_file *file = &state->models[state->model_count++];
        file->path = paths[i] + len + (paths[i][len] == '/');
        WT_TRY(publish_copy(p, paths[i], PUBLICATION_MODEL_BYTES_MAX, file, report, err));
    }
    return 0;
}

/* Computes a stamp of the models and the policy. */
static int stamp_models(const struct publisher *p, uint64_t *out, wt_error *err)
{
    struct stat s;
    *out = 0;
    if (p->engine->trained_folder[0])
        WT_TRY(wt__trained_stamp(out, p->engine->trained_folder, err));
    if (p->policy && stat(p->policy, &s) == 0) {
        const uint64_t facts[] = {(uint64_t)s.st_ino, (uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec,
                                  (uint64_t)s.st_mtim.tv_nsec};
        *out = wt__checksum(facts, sizeof facts, *out);
    }
    return 0;
}

static int publish_models(struct publisher *p, struct publish_report *report, wt_error *err)
{
    struct published_state *state = &p->state;
    uint64_t stamp;
    WT_TRY(stamp_models(p, &stamp, err));
    if (state->has_models && stamp == state->stamp)
        return 0;
    wt__arena_dispose(&state->arena);
    state->model_count = 0;
    state->policy.name = NULL;
    WT_TRY(copy_models(p, p->engine->trained_folder, report, err));
    if (p->policy)
        WT_TRY(publish_copy(p, p->policy, PUBLICATION_POLICY_BYTES_MAX, &state->policy, report, err));
    report->changed |= state->has_models;
    state->stamp = stamp;
    state->has_models = true;
    return 0;
}

/* Lists the trained parts: the first folders in the paths of the models. */
static int list_trained_parts(struct publisher *p, struct publication *out, struct arena *arena, wt_error *err)
{
    const struct published_state *state = &p->state;
    const char **names = wt__arena_array(arena, const char *, state->model_count);
    WT_CHECK_ALLOC(names, err);
    for (size_t i = 0; i < state->model_count; i++) {
        struct str path = wt__str(state->models[i].path);
        const char *slash = strchr(path.ptr, '/');
        struct str part = {path.ptr, slash ? (size_t)(slash - path.ptr) : path.len};
        if (out->recipe_count > 0 && wt__str_equal(wt__str(names[out->recipe_count - 1]), part))
            continue;
        names[out->recipe_count] = wt__arena_copy(arena, part);
        WT_CHECK_ALLOC(names[out->recipe_count++], err);
    }
    out->recipes = names;
    return 0;
}

/* ---------------------------------------------------------------- manifest */

/* Drops files of changes replaced by a base for longer than the grace period. */
static void drop_closed_changes(struct publisher *p)
{
    struct published_state *state = &p->state;
    size_t gone = 0;
    while (gone < state->change_count && state->changes[gone].closed_ms > 0 &&
           wt__now_ms() - state->changes[gone].closed_ms > p->options.grace_ms)
        gone++;
    if (gone == 0)
        return;
    state->change_count -= gone;
    memmove(state->changes, state->changes + gone, state->change_count * sizeof *state->changes);
}

static int write_manifest(struct publisher *p, uint64_t generation, struct publish_report *report, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct published_state *state = &p->state;
    const struct encoder *encoder = NULL;
    int version = 0;
    if (wt__engine_encoder(p->engine, &encoder, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    WT_TRY(wt__store_version(p->reader, &version, err));
    struct publication publication = {.id = state->id,
                                      .whichtool = WT_VERSION,
                                      .writer = p->writer,
                                      .generation = generation,
                                      .tables = (uint64_t)version,
                                      .published = (int64_t)time(NULL),
                                      .encoder = encoder ? wt__encoder_hash(encoder) : "",
                                      .encoder_name = encoder ? p->engine->model_name : "",
                                      .base = state->base,
                                      .base_end = state->base_end,
                                      .models = state->models,
                                      .model_count = state->model_count,
                                      .policy = state->policy};
    publication.base.name = state->base_name;
    memcpy(publication.base_end_sha256, state->base_end_sha256, sizeof state->base_end_sha256);
    publication.changes = wt__arena_array(&arena, struct published_file, state->change_count);
    char *path = publisher_path(p, &arena, PUBLICATION_MANIFEST);
    WT_CHECK_ALLOC(publication.changes && path, err);
    for (size_t i = 0; i < state->change_count; i++) {
        publication.changes[i] = state->changes[i].file;
        publication.changes[i].name = state->changes[i].name;
    }
    publication.change_count = state->change_count;
    WT_TRY(list_trained_parts(p, &publication, &arena, err));
    wt__publication_write(&text, &publication);
    /* nginx makes an ETag from the second and the size. Two manifests of one second therefore need different sizes. */
    for (unsigned i = p->manifests++ % MANIFEST_SIZES; i > 0; i--)
        wt__buffer_char(&text, ' ');
    WT_CHECK_ALLOC(!text.failed, err);
    report->bytes += text.len;
    WT_TRY(wt__sync_folder(p->folder, err));
    return wt__file_replace(path, text.ptr, text.len, err);
}

/* ---------------------------------------------------------------- replaced files */

static bool is_listed_file(const struct published_state *state, const char *name)
{
    if (strcmp(name, state->base_name) == 0 || (state->policy.name && strcmp(name, state->policy.name) == 0))
        return true;
    for (size_t i = 0; i < state->change_count; i++)
        if (strcmp(name, state->changes[i].name) == 0)
            return true;
    for (size_t i = 0; i < state->model_count; i++)
        if (strcmp(name, state->models[i].name) == 0)
            return true;
    return false;
}

static bool is_publication_file(struct str name)
{
    return wt__published_name_fits(name) &&
           (wt__str_starts(name, STR("base-")) || wt__str_starts(name, STR("changes-")) ||
            wt__str_starts(name, STR("file-")));
}

/* Removes a file after the grace period. The period starts when this publisher first finds the file unlisted. */
static void retire_file(struct publisher *p, const char *name, const char *path)
{
    for (size_t i = 0; i < p->retired_count; i++) {
        if (strcmp(p->retired[i].name, name) != 0)
            continue;
        if (wt__now_ms() - p->retired[i].since_ms > p->options.grace_ms) {
            unlink(path);
            p->retired[i] = p->retired[--p->retired_count];
        }
        return;
    }
    if (wt__grow((void **)&p->retired, &p->retired_capacity, p->retired_count + 1, sizeof *p->retired) < 0)
        return; /* the next publication finds the file again */
    struct retired_file *added = &p->retired[p->retired_count++];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->since_ms = wt__now_ms();
}

static void retire_files(struct publisher *p)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char **paths;
    size_t count;
    if (wt__list_own_files(&arena, p->folder, FOLDER_FILES_MAX, &paths, &count, NULL) < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(paths[i], '/'), *name = slash ? slash + 1 : paths[i];
        if (is_publication_file(wt__str(name)) && !is_listed_file(&p->state, name))
            retire_file(p, name, paths[i]);
    }
}

/* ---------------------------------------------------------------- publishing */

/* Returns 1 if an import is computing vectors, else 0 or an error. */
static int is_import_running(struct publisher *p, wt_error *err)
{
    const struct encoder *encoder = NULL;
    uint64_t tools, providers, there;
    if (p->options.vectors_wait_ms == 0 || wt__engine_encoder(p->engine, &encoder, NULL) < 0)
        return 0;
    const struct vector_set set = wt__engine_vectors(encoder, p->engine);
    WT_TRY(wt__store_count(p->reader, &tools, &providers, err));
    WT_TRY(wt__store_count_vectors(p->reader, &set, &there, err));
    uint64_t missing = tools > there ? tools - there : 0;
    if (missing != p->missing)
        p->missing_ms = wt__now_ms();
    p->missing = missing;
    return missing > 0 && wt__now_ms() - p->missing_ms < p->options.vectors_wait_ms;
}

/* Publishes within a read transaction. *generation: generation of the published rows. Returns 1 without publishing
 * while an import runs. */
static int publish_snapshot(struct publisher *p, uint64_t *generation, struct publish_report *report, wt_error *err)
{
    struct published_state *state = &p->state;
    int64_t mark = 0;
    WT_TRY(wt__store_change_mark(p->reader, &mark, err));
    WT_TRY(wt__store_generation(p->reader, generation, err));
    WT_TRY(is_import_running(p, err));
    if (!state->has_mark || mark != state->mark)
        WT_TRY(publish_rows(p, report, err));
    state->mark = mark;
    state->has_mark = true;
    return publish_models(p, report, err);
}

static int try_publish(struct publisher *p, struct publish_report *report, wt_error *err)
{
    if (!p->state.is_loaded)
        WT_TRY(load_state(p, err));
    WT_TRY(wt__store_read_begin(p->reader, err));
    int rc = publish_snapshot(p, &report->generation, report, err);
    wt__store_read_end(p->reader);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    report->changed |= !p->state.has_manifest;
    if (report->changed) {
        drop_closed_changes(p);
        WT_TRY(write_manifest(p, report->generation, report, err));
    }
    p->state.is_loaded = p->state.has_manifest = true;
    retire_files(p);
    return 0;
}

int wt__publisher_publish(struct publisher *publisher, struct publish_report *out, wt_error *err)
{
    *out = (struct publish_report){.changed = false};
    int rc = try_publish(publisher, out, err);
    if (rc < 0)
        state_dispose(&publisher->state); /* it may be ahead of the folder */
    return rc;
}

/* ---------------------------------------------------------------- opening and closing */

static int lock_publication(struct publisher *p, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *path = publisher_path(p, &arena, PUBLISH_LOCK);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__make_folders(p->folder, err));
    int rc = wt__lock_file(&p->lock, path, PUBLISH_LOCK_WAIT_MS, err);
    return rc == WT_EBUSY ? wt__fail(err, WT_EBUSY, "another process publishes to %s", p->folder) : rc;
}

static int open_publisher(struct publisher *p, wt_error *err)
{
    const char *writer = wt__store_replica_of(p->engine->store);
    if (writer)
        return wt__fail(err, WT_EINVAL, "%s is a replica; publish the writer's store%s%s", p->engine->path,
                        *writer ? " at " : "", writer);
    WT_TRY(wt__store_open_reader(&p->reader, p->engine->store, err));
    return lock_publication(p, err);
}

int wt__publisher_open(struct publisher **out, wt_engine *engine, const struct publish_options *options, wt_error *err)
{
    *out = NULL;
    if (options->writer && strlen(options->writer) > REPLICA_WRITER_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the address of the writer has more than %d bytes", REPLICA_WRITER_BYTES_MAX);
    struct publisher *p = wt__alloc_zeros(1, sizeof *p);
    WT_CHECK_ALLOC(p, err);
    p->engine = engine;
    p->lock = -1;
    p->manifests = (unsigned)time(NULL) % MANIFEST_SIZES;
    p->options = *options;
    p->options.grace_ms = options->grace_ms ? options->grace_ms : PUBLISH_GRACE_MS;
    const char *writer = options->writer ? options->writer : "";
    p->folder = wt__copy_string(options->folder, strlen(options->folder));
    p->writer = wt__copy_string(writer, strlen(writer));
    p->policy = options->policy ? wt__copy_string(options->policy, strlen(options->policy)) : NULL;
    bool whole = p->folder && p->writer && (p->policy || !options->policy);
    int rc = whole ? open_publisher(p, err) : wt__fail_nomem(err);
    if (rc < 0)
        wt__publisher_close(p);
    else
        *out = p;
    return rc;
}

void wt__publisher_close(struct publisher *publisher)
{
    if (!publisher)
        return;
    state_dispose(&publisher->state);
    wt__store_close(publisher->reader);
    if (publisher->lock >= 0)
        wt__unlock_file(publisher->lock);
    free(publisher->retired);
    free(publisher->folder);
    free(publisher->writer);
    free(publisher->policy);
    free(publisher);
}
