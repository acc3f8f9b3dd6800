/* client_storage.c: locks our folder, and reads and writes clients' files, backups and the record of changes. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json_edit.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "setup/internal.h"

#define BACKUP ".whichtool-backup"
#define LOCK_NAME "init.lock"
enum { RECORD_VERSION = 1, LOCK_WAIT_MS = 2000 };

/* ---------------------------------------------------------------- our folder */

int wt__client_own_paths(const char *folder, struct arena *arena, const char **servers, const char **record,
                         wt_error *err)
{
    *servers = wt__path_join(arena, folder, "servers.json");
    *record = wt__path_join(arena, folder, "init.json");
    return *servers && *record ? 0 : wt__fail_nomem(err);
}

/* If the previous holder removed the file during the wait, locks the new file: a lock on the removed file does not
 * exclude other processes. */
int wt__client_lock(int *fd, const char *folder, struct arena *arena, wt_error *err)
{
    const char *path = wt__path_join(arena, folder, LOCK_NAME);
    struct stat info;
    int rc = path ? wt__lock_file(fd, path, LOCK_WAIT_MS, err) : wt__fail_nomem(err);
    while (rc == 0 && fstat(*fd, &info) == 0 && info.st_nlink == 0) {
        wt__unlock_file(*fd);
        rc = wt__lock_file(fd, path, LOCK_WAIT_MS, err);
    }
    return rc;
}

void wt__client_remove_lock(const char *folder, struct arena *arena)
{
    const char *path = wt__path_join(arena, folder, LOCK_NAME);
    if (path && unlink(path) == 0)
        rmdir(folder);
}

bool wt__client_is_chosen(const struct client_import_options *options, const char *client)
{
    for (size_t i = 0; i < options->client_count; i++)
        if (strcmp(options->clients[i], client) == 0)
            return true;
    return options->client_count == 0;
}

const char *wt__text_hash(struct arena *arena, struct str text)
{
    unsigned char digest[32];
    char hex[65];
    wt__sha256(text.ptr, text.len, digest);
    wt__sha256_hex(digest, hex);
    return wt__arena_copy(arena, wt__str(hex));
}

/* ---------------------------------------------------------------- reading */

/* Reads a file into the arena. */
static int read_client_text(struct str *out, struct arena *arena, const char *path, wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    WT_TRY(wt__file_read(&text, &len, path, JSON_EDIT_BYTES_MAX, err));
    *out = (struct str){wt__arena_copy(arena, (struct str){text, len}), len};
    return out->ptr ? 0 : wt__fail_nomem(err);
}

static const char *find_folder(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? "/" : wt__arena_copy(arena, (struct str){path, (size_t)(slash - path)});
}

/* Returns why a file cannot be written, or NULL. Respects a read-only file even for root. */
static const char *find_write_obstacle(struct arena *arena, const struct client_text *text)
{
    const char *folder = find_folder(arena, text->path);
    if ((text->info.st_mode & 0222) == 0 || access(text->path, W_OK) != 0)
        return "it is read-only";
    if (!folder || access(folder, W_OK | X_OK) != 0)
        return "its folder is read-only";
    if (text->info.st_nlink > 1)
        return "it has several hard links, and only one of them would be replaced";
    if (text->info.st_uid != geteuid() && geteuid() != 0)
        return "it belongs to another user";
    return NULL;
}

int wt__client_text_read(struct client_text *out, const char **why, struct arena *arena, const char *path,
                         wt_error *err)
{
    wt_error read_error;
    *out = (struct client_text){0};
    *why = NULL;
    WT_AUTO_FREE char *real = realpath(path, NULL);
    if (!real) {
        *why = errno == ENOENT ? "it is a broken link" : "it cannot be opened";
        return errno == ENOMEM ? wt__fail_nomem(err) : 0;
    }
    out->path = wt__arena_copy(arena, wt__str(real));
    WT_CHECK_ALLOC(out->path, err);
    int rc = read_client_text(&out->text, arena, out->path, &read_error);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0) {
        *why = wt__arena_copy(arena, wt__str(read_error.message));
        return *why ? 0 : wt__fail_nomem(err);
    }
    *why = stat(out->path, &out->info) != 0 ? "it cannot be read" : find_write_obstacle(arena, out);
    return !*why;
}

/* ---------------------------------------------------------------- writing */

/* Writes a file under a temporary name. Sets the mode and owner of `like` before the first byte is written, so that
 * other users can never read a secret. */
static int write_like(struct replace *out, const char *path, const struct stat *like, struct str text, wt_error *err)
{
    int rc = wt__replace_begin(out, path, err);
    if (rc < 0)
        return rc;
    struct stat now;
    if (fstat(out->fd, &now) != 0)
        rc = wt__fail_errno(err, "write", path);
    else if ((now.st_uid != like->st_uid || now.st_gid != like->st_gid) &&
             fchown(out->fd, like->st_uid, like->st_gid) != 0)
        rc = wt__fail_errno(err, "keep the owner of", path);
    else if (fchmod(out->fd, like->st_mode & 07777) != 0)
        rc = wt__fail_errno(err, "keep the permissions of", path);
    return rc < 0 ? rc : wt__replace_write(out, text.ptr, text.len, err);
}

int wt__client_text_write(const struct client_text *old, struct str text, wt_error *err)
{
    struct replace replace;
    int rc = write_like(&replace, old->path, &old->info, text, err);
    if (rc == 0)
        rc = wt__replace_commit_over(&replace, old->text, text, err);
    wt__replace_abort(&replace);
    return rc != WT_EBUSY
               ? rc
               : wt__fail(err, rc, "%s was changed by its client meanwhile: close the client and try again", old->path);
}

void wt__client_pause(int tries)
{
    nanosleep(&(struct timespec){.tv_nsec = CLIENT_PAUSE_MS * 1000000L << tries}, NULL);
}

int wt__client_backup(const char **out, bool *is_new, struct arena *arena, const struct client_text *text,
                      wt_error *err)
{
    *is_new = false;
    for (size_t number = 1; number <= CLIENT_BACKUPS_MAX; number++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0};
        struct stat info;
        struct str there = {"", 0};
        wt__buffer_printf(&path, "%s" BACKUP, text->path);
        if (number > 1)
            wt__buffer_printf(&path, "-%zu", number);
        *out = path.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&path));
        if (!*out)
            return wt__fail_nomem(err);
        if (lstat(*out, &info) == 0) {
            if (S_ISREG(info.st_mode) && info.st_size == (off_t)text->text.len &&
                read_client_text(&there, arena, *out, NULL) == 0 && wt__str_equal(there, text->text))
                return 0;
            continue;
        }
        struct replace replace;
        int rc = write_like(&replace, *out, &text->info, text->text, err);
        if (rc == 0)
            rc = wt__replace_commit(&replace, err);
        wt__replace_abort(&replace);
        *is_new = rc == 0;
        return rc;
    }
    return wt__fail(err, WT_ETOOLONG, "%s has more than %d backups: remove some of %s" BACKUP "-*", text->path,
                    CLIENT_BACKUPS_MAX, text->path);
}

int wt__private_write(const char *path, struct str text, wt_error *err)
{
    struct stat like = {.st_mode = 0600, .st_uid = geteuid(), .st_gid = getegid()}, there;
    if (stat(path, &there) == 0) {
        like.st_uid = there.st_uid;
        like.st_gid = there.st_gid;
    }
    struct replace replace;
    int rc = write_like(&replace, path, &like, text, err);
    if (rc == 0)
        rc = wt__replace_commit(&replace, err);
    wt__replace_abort(&replace);
    return rc;
}

/* ---------------------------------------------------------------- reading the record */

struct record_reading {
    struct arena *arena;
    bool failed, wrong; /* failed: out of memory. wrong: invalid or of another version */
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

static int read_client_changes(struct client_record *out, struct record_reading *r, const json_t *root, wt_error *err)
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
    WT_AUTO_FREE char *bytes = NULL;
    WT_CLEANUP(json_decrefp) json_t *root = NULL;
    size_t len = 0;
    *out = (struct client_record){0};
    if (lstat(path, &info) != 0)
        return 0;
    WT_TRY(wt__file_read(&bytes, &len, path, CLIENT_RECORD_BYTES_MAX, err));
    int rc = wt__json_parse(&root, bytes, len, err);
    if (rc == 0)
        rc = read_client_changes(out, &r, root, err);
    if (rc < 0 && rc != WT_ENOMEM)
        rc = wt__fail_context(err, rc,
                              "cannot read %s, the record of changes to clients' files; their backups are next to them "
                              "as *.whichtool-backup",
                              path);
    return rc;
}

/* ---------------------------------------------------------------- writing the record */

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
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    wt__buffer_printf(&out, "{\"version\": %d, \"made_servers\": %s, \"changes\": [", RECORD_VERSION,
                      record->made_servers ? "true" : "false");
    for (size_t i = 0; i < record->count; i++) {
        wt__buffer_text(&out, i ? "," : "");
        put_change(&out, &record->changes[i]);
    }
    wt__buffer_text(&out, "]}\n");
    return out.failed ? wt__fail_nomem(err) : wt__private_write(path, wt__buffer_view(&out), err);
}
