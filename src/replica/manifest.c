#include "replica/manifest.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/memory.h"

enum { SHA256_DIGITS = 64 };

/* ---------------------------------------------------------------- checking */

bool wt__published_name_fits(struct str name)
{
    if (name.len == 0 || name.len > PUBLICATION_NAME_BYTES_MAX || name.ptr[0] == '.' || name.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !wt__is_digit(c) && c != '-' && c != '.')
            return false;
    }
    return true;
}

/* True for a relative path of plain names. A name may not begin with a dot. */
static bool fits_model_path(struct str path)
{
    size_t depth = 1, begin = 0;
    if (path.len == 0 || path.len > PUBLICATION_PATH_BYTES_MAX)
        return false;
    for (size_t i = 0; i <= path.len; i++) {
        if (i == path.len || path.ptr[i] == '/') {
            if (i == begin || path.ptr[begin] == '.')
                return false;
            begin = i + 1;
            depth += i < path.len;
        } else if (!wt__is_letter(path.ptr[i]) && !wt__is_digit(path.ptr[i]) && !strchr("-_.+", path.ptr[i])) {
            return false;
        }
    }
    return depth <= PUBLICATION_PATH_DEPTH_MAX;
}

static bool is_hex(struct str text, size_t digits)
{
    for (size_t i = 0; i < text.len; i++)
        if (wt__hex_digit(text.ptr[i]) < 0 || (text.ptr[i] >= 'A' && text.ptr[i] <= 'F'))
            return false;
    return text.len == digits;
}

/* ---------------------------------------------------------------- reading */

struct manifest_reader {
    struct arena *arena;
    wt_error *err;
};

static int fail_member(const struct manifest_reader *r, const char *member)
{
    return wt__fail(r->err, WT_EFORMAT, "the manifest is malformed: \"%s\" is missing, invalid or too large", member);
}

static int read_manifest_count(const struct manifest_reader *r, const json_t *object, const char *key, uint64_t max,
                               uint64_t *out)
{
    int64_t value = wt__json_int(object, key, -1);
    *out = (uint64_t)value;
    return value >= 0 && (uint64_t)value <= max ? 0 : fail_member(r, key);
}

static int read_manifest_text(const struct manifest_reader *r, const json_t *object, const char *key, size_t max,
                              const char **out)
{
    struct str text = wt__json_str(object, key);
    if (text.len > max)
        return fail_member(r, key);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
            return fail_member(r, key);
    *out = wt__arena_copy(r->arena, text);
    WT_CHECK_ALLOC(*out, r->err);
    return 0;
}

static int read_hash(const struct manifest_reader *r, const json_t *object, const char *key, char out[65])
{
    struct str text = wt__json_str(object, key);
    if (!is_hex(text, SHA256_DIGITS))
        return fail_member(r, key);
    memcpy(out, text.ptr, SHA256_DIGITS);
    out[SHA256_DIGITS] = '\0';
    return 0;
}

/* Reads a file of at most `max` bytes. what: name of its member, for errors. */
static int read_file_entry(const struct manifest_reader *r, const json_t *object, const char *what, uint64_t max,
                           struct published_file *out)
{
    struct str name = wt__json_str(object, "name");
    if (!wt__published_name_fits(name))
        return fail_member(r, what);
    out->name = wt__arena_copy(r->arena, name);
    WT_CHECK_ALLOC(out->name, r->err);
    WT_TRY(read_manifest_count(r, object, "bytes", max, &out->bytes));
    return read_hash(r, object, "sha256", out->sha256);
}

static int read_base(const struct manifest_reader *r, const json_t *whole, struct publication *out)
{
    const json_t *base = wt__json_object(whole, "base");
    WT_TRY(read_file_entry(r, base, "base", PUBLICATION_BYTES_MAX, &out->base));
    WT_TRY(read_manifest_count(r, base, "segment", INT64_MAX - PUBLICATION_CHANGES_MAX, &out->base.segment));
    WT_TRY(read_manifest_count(r, base, "end_bytes", PUBLICATION_BYTES_MAX, &out->base_end));
    return read_hash(r, base, "end_sha256", out->base_end_sha256);
}

static int read_manifest_list(const struct manifest_reader *r, const json_t *whole, const char *key, size_t max,
                              json_t **list, size_t *count, struct published_file **files)
{
    *list = wt__json_array(whole, key);
    *count = json_array_size(*list);
    if (!*list || *count > max)
        return fail_member(r, key);
    *files = wt__arena_array(r->arena, struct published_file, *count);
    WT_CHECK_ALLOC(*files, r->err);
    return 0;
}

static int read_published_changes(const struct manifest_reader *r, const json_t *whole, struct publication *out)
{
    json_t *list;
    WT_TRY(read_manifest_list(r, whole, "changes", PUBLICATION_CHANGES_MAX, &list, &out->change_count, &out->changes));
    for (size_t i = 0; i < out->change_count; i++) {
        const json_t *item = json_array_get(list, i);
        struct published_file *file = &out->changes[i];
        WT_TRY(read_file_entry(r, item, "changes", PUBLICATION_BYTES_MAX, file));
        WT_TRY(read_manifest_count(r, item, "segment", INT64_MAX, &file->segment));
        if (i > 0 ? file->segment != file[-1].segment + 1 : file->segment > out->base.segment + 1)
            return fail_member(r, "changes");
    }
    /* Nothing may be missing between the base and the last change. */
    if (out->change_count > 0 && out->changes[out->change_count - 1].segment < out->base.segment)
        return fail_member(r, "changes");
    return 0;
}

static int read_models(const struct manifest_reader *r, const json_t *whole, struct publication *out)
{
    json_t *list;
    WT_TRY(read_manifest_list(r, whole, "models", PUBLICATION_MODELS_MAX, &list, &out->model_count, &out->models));
    for (size_t i = 0; i < out->model_count; i++) {
        const json_t *item = json_array_get(list, i);
        struct str path = wt__json_str(item, "path");
        WT_TRY(read_file_entry(r, item, "models", PUBLICATION_MODEL_BYTES_MAX, &out->models[i]));
        if (!fits_model_path(path))
            return fail_member(r, "models");
        out->models[i].path = wt__arena_copy(r->arena, path);
        WT_CHECK_ALLOC(out->models[i].path, r->err);
        for (size_t k = 0; k < i; k++)
            if (strcmp(out->models[k].path, out->models[i].path) == 0)
                return fail_member(r, "models");
    }
    return 0;
}

static int read_recipes(const struct manifest_reader *r, const json_t *whole, struct publication *out)
{
    const json_t *list = wt__json_array(whole, "trained");
    size_t count = json_array_size(list);
    if (count > PUBLICATION_MODELS_MAX)
        return fail_member(r, "trained");
    const char **names = wt__arena_array(r->arena, const char *, count);
    WT_CHECK_ALLOC(names, r->err);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        names[i] = name ? wt__arena_copy(r->arena, wt__str(name)) : "";
        WT_CHECK_ALLOC(names[i], r->err);
    }
    out->recipes = names;
    out->recipe_count = count;
    return 0;
}

static int read_publication(const struct manifest_reader *r, const json_t *whole, struct publication *out)
{
    uint64_t published;
    const json_t *encoder = wt__json_object(whole, "encoder"), *policy = wt__json_object(whole, "policy");
    WT_TRY(read_manifest_text(r, whole, "publication", REPLICA_ID_DIGITS, &out->id));
    if (!is_hex(wt__str(out->id), REPLICA_ID_DIGITS))
        return fail_member(r, "publication");
    WT_TRY(read_manifest_text(r, whole, "whichtool", PUBLICATION_NAME_BYTES_MAX, &out->whichtool));
    WT_TRY(read_manifest_text(r, whole, "writer", REPLICA_WRITER_BYTES_MAX, &out->writer));
    WT_TRY(read_manifest_count(r, whole, "generation", INT64_MAX, &out->generation));
    WT_TRY(read_manifest_count(r, whole, "tables", INT64_MAX, &out->tables));
    WT_TRY(read_manifest_count(r, whole, "published", INT64_MAX, &published));
    out->published = (int64_t)published;
    WT_TRY(read_manifest_text(r, encoder, "hash", SHA256_DIGITS, &out->encoder));
    WT_TRY(read_manifest_text(r, encoder, "name", REPLICA_MODEL_BYTES_MAX, &out->encoder_name));
    if (*out->encoder && !is_hex(wt__str(out->encoder), SHA256_DIGITS))
        return fail_member(r, "encoder");
    WT_TRY(read_base(r, whole, out));
    WT_TRY(read_published_changes(r, whole, out));
    WT_TRY(read_models(r, whole, out));
    if (policy)
        WT_TRY(read_file_entry(r, policy, "policy", PUBLICATION_POLICY_BYTES_MAX, &out->policy));
    return read_recipes(r, whole, out);
}

int wt__publication_read(struct publication *out, struct arena *arena, struct str text, wt_error *err)
{
    json_auto_t *whole = NULL;
    const struct manifest_reader reader = {arena, err};
    *out = (struct publication){.id = NULL};
    if (text.len > PUBLICATION_MANIFEST_BYTES_MAX)
        return wt__fail(err, WT_EFORMAT, "the manifest has %zu bytes; at most %d are allowed", text.len,
                        PUBLICATION_MANIFEST_BYTES_MAX);
    int rc = wt__json_parse(&whole, text.ptr, text.len, err);
    if (rc < 0)
        return rc == WT_ENOMEM ? rc : wt__fail_context(err, WT_EFORMAT, "the manifest is not JSON");
    int64_t format = wt__json_int(whole, "format", -1);
    if (format > PUBLICATION_FORMAT)
        return wt__fail(err, WT_ENEWER, "the publication has format %" PRId64 "; this whichtool reads format %d",
                        format, PUBLICATION_FORMAT);
    return format == PUBLICATION_FORMAT ? read_publication(&reader, whole, out) : fail_member(&reader, "format");
}

/* ---------------------------------------------------------------- writing */

static void put_manifest_member(struct buffer *out, const char *name, const char *text)
{
    wt__buffer_printf(out, ",\"%s\":", name);
    wt__buffer_json(out, wt__str(text));
}

/* Appends the members of a file without the closing brace. */
static void put_file(struct buffer *out, const struct published_file *file)
{
    wt__buffer_printf(out, "{\"name\":\"%s\"", file->name);
    if (file->path)
        put_manifest_member(out, "path", file->path);
    wt__buffer_printf(out, ",\"bytes\":%" PRIu64 ",\"sha256\":\"%s\"", file->bytes, file->sha256);
    if (!file->path && file->segment > 0)
        wt__buffer_printf(out, ",\"segment\":%" PRIu64, file->segment);
}

static void put_files(struct buffer *out, const char *name, const struct published_file *files, size_t count)
{
    wt__buffer_printf(out, ",\n\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, i == 0 ? "\n" : ",\n");
        put_file(out, &files[i]);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

void wt__publication_write(struct buffer *out, const struct publication *publication)
{
    wt__buffer_printf(out, "{\"format\":%d,\"publication\":\"%s\"", PUBLICATION_FORMAT, publication->id);
    put_manifest_member(out, "whichtool", publication->whichtool);
    put_manifest_member(out, "writer", publication->writer);
    wt__buffer_printf(out, ",\"generation\":%" PRIu64 ",\"tables\":%" PRIu64 ",\"published\":%" PRId64,
                      publication->generation, publication->tables, publication->published);
    wt__buffer_printf(out, ",\n\"encoder\":{\"hash\":\"%s\"", publication->encoder);
    put_manifest_member(out, "name", publication->encoder_name);
    wt__buffer_text(out, "},\n\"trained\":[");
    for (size_t i = 0; i < publication->recipe_count; i++) {
        wt__buffer_text(out, i == 0 ? "" : ",");
        wt__buffer_json(out, wt__str(publication->recipes[i]));
    }
    wt__buffer_text(out, "],\n\"base\":");
    put_file(out, &publication->base);
    wt__buffer_printf(out, "%s,\"end_bytes\":%" PRIu64 ",\"end_sha256\":\"%s\"}",
                      publication->base.segment == 0 ? ",\"segment\":0" : "", publication->base_end,
                      publication->base_end_sha256);
    put_files(out, "changes", publication->changes, publication->change_count);
    put_files(out, "models", publication->models, publication->model_count);
    if (publication->policy.name) {
        wt__buffer_text(out, ",\n\"policy\":");
        put_file(out, &publication->policy);
        wt__buffer_char(out, '}');
    }
    wt__buffer_text(out, "}\n");
}

void wt__publication_models_hash(const struct publication *publication, char out[65])
{
    struct sha256 sha;
    unsigned char digest[32];
    out[0] = '\0';
    if (publication->model_count == 0)
        return;
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < publication->model_count; i++) {
        const struct published_file *file = &publication->models[i];
        wt__sha256_update(&sha, file->path, strlen(file->path) + 1);
        wt__sha256_update(&sha, file->sha256, SHA256_DIGITS);
    }
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, out);
}
