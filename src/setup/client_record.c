/* client_record.c: see client_record.h. */
#include "setup/client_record.h"

#include <sys/stat.h>

#include "base/file.h"
#include "setup/client_write.h"

enum { RECORD_VERSION = 1 };

/* ---------------------------------------------------------------- reading */

struct record_reading {
    struct arena *arena;
    bool failed, wrong; /* out of memory; a member is missing */
};

/* Returns an optional string in the arena, or NULL. */
static const char *read_optional_text(struct record_reading *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return NULL;
    const char *out = wt__arena_copy(r->arena, (struct str){json_string_value(value), json_string_length(value)});
    r->failed |= !out;
    return out;
}

/* Returns a required string in the arena. */
static const char *read_required_text(struct record_reading *r, const json_t *object, const char *key)
{
    const char *out = read_optional_text(r, object, key);
    r->wrong |= !out && !r->failed;
    return out;
}

static void read_change(struct record_reading *r, struct client_change *out, const json_t *from)
{
    const json_t *moved = wt__json_array(from, "moved");
    *out = (struct client_change){.client = read_required_text(r, from, "client"),
                                  .file = read_required_text(r, from, "file"),
                                  .outer = read_optional_text(r, from, "outer"),
                                  .inner = read_required_text(r, from, "inner"),
                                  .backup = read_required_text(r, from, "backup"),
                                  .before = read_required_text(r, from, "before"),
                                  .after = read_required_text(r, from, "after"),
                                  .entry = read_optional_text(r, from, "entry"),
                                  .moved_count = json_array_size(moved)};
    out->moved = wt__arena_array(r->arena, struct client_moved, out->moved_count + 1);
    r->failed |= !out->moved;
    for (size_t i = 0; out->moved && i < out->moved_count; i++) {
        const json_t *item = json_array_get(moved, i);
        out->moved[i] = (struct client_moved){.name = read_required_text(r, item, "name"),
                                              .as = read_required_text(r, item, "as"),
                                              .text = read_required_text(r, item, "text"),
                                              .definition = read_required_text(r, item, "definition")};
    }
}

static int read_changes(struct client_record *out, struct record_reading *r, const json_t *root, wt_error *err)
{
    const json_t *changes = wt__json_array(root, "changes");
    out->made_servers = wt__json_bool(root, "made_servers", false);
    size_t count = json_array_size(changes);
    r->wrong |= !changes || wt__json_int(root, "version", 0) != RECORD_VERSION || count > CLIENT_CHANGES_MAX;
    out->changes = r->wrong ? NULL : wt__arena_array(r->arena, struct client_change, count + 1);
    r->failed |= !r->wrong && !out->changes;
    for (size_t i = 0; out->changes && i < count; i++)
        read_change(r, &out->changes[i], json_array_get(changes, i));
    out->count = count;
    if (r->failed)
        return wt__fail_nomem(err);
    return r->wrong ? wt__fail(err, WT_EFORMAT, "it has another format than this version writes") : 0;
}

int wt__client_record_read(struct client_record *out, struct arena *arena, const char *path, wt_error *err)
{
    struct record_reading r = {.arena = arena};
    struct stat info;
    char *bytes = NULL;
    size_t len = 0;
    json_t *root = NULL;
    *out = (struct client_record){0};
    if (lstat(path, &info) != 0)
        return 0;
    int rc = wt__file_read(&bytes, &len, path, CLIENT_RECORD_BYTES_MAX, err);
    if (rc < 0)
        return rc;
    rc = wt__json_parse(&root, bytes, len, err);
    if (rc == 0)
        rc = read_changes(out, &r, root, err);
    if (rc < 0 && rc != WT_ENOMEM)
        rc = wt__fail_context(err, rc,
                              "cannot read %s, the record of changes to clients' files; their backups are next to them "
                              "as *.whichtool-backup",
                              path);
    json_decref(root);
    free(bytes);
    return rc;
}

/* ---------------------------------------------------------------- writing */

static void put_text(struct buffer *out, const char *before, const char *key, const char *value)
{
    wt__buffer_printf(out, "%s\"%s\": ", before, key);
    if (value)
        wt__buffer_json(out, wt__str(value));
    else
        wt__buffer_text(out, "null");
}

static void put_change(struct buffer *out, const struct client_change *change)
{
    put_text(out, "\n  {", "client", change->client);
    put_text(out, ", ", "file", change->file);
    put_text(out, ",\n   ", "outer", change->outer);
    put_text(out, ", ", "inner", change->inner);
    put_text(out, ", ", "entry", change->entry);
    put_text(out, ",\n   ", "backup", change->backup);
    put_text(out, ",\n   ", "before", change->before);
    put_text(out, ",\n   ", "after", change->after);
    wt__buffer_text(out, ",\n   \"moved\": [");
    for (size_t i = 0; i < change->moved_count; i++) {
        const struct client_moved *moved = &change->moved[i];
        put_text(out, i ? ",\n    {" : "\n    {", "name", moved->name);
        put_text(out, ", ", "as", moved->as);
        put_text(out, ",\n     ", "text", moved->text);
        put_text(out, ",\n     ", "definition", moved->definition);
        wt__buffer_char(out, '}');
    }
    wt__buffer_text(out, "]}");
}

int wt__client_record_write(const struct client_record *record, const char *path, wt_error *err)
{
    struct buffer out = {0};
    wt__buffer_printf(&out, "{\"version\": %d, \"made_servers\": %s, \"changes\": [", RECORD_VERSION,
                      record->made_servers ? "true" : "false");
    for (size_t i = 0; i < record->count; i++) {
        wt__buffer_text(&out, i ? "," : "");
        put_change(&out, &record->changes[i]);
    }
    wt__buffer_text(&out, "]}\n");
    int rc = out.failed ? wt__fail_nomem(err) : wt__private_write(path, wt__buffer_view(&out), err);
    wt__buffer_dispose(&out);
    return rc;
}
