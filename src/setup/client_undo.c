/* client_undo.c: the undo part of client_files.h.
 *
 * Changes are undone from the last to the first. If a file still has the content that init wrote and its backup is
 * unchanged, undo restores the backup. Otherwise undo edits the file: it removes whichtool's entry and puts back the
 * servers that init moved, with their original text.
 *
 * Undo writes the clients' files first, then our file of servers, the backups and the record. The record comes last, so
 * that it still lists the remaining work after a crash. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_edit.h"
#include "base/memory.h"
#include "setup/internal.h"

/* ---------------------------------------------------------------- one file */

static struct client_undo_file *find_undo_file(struct client_undo *undo, const struct client_change *change)
{
    for (size_t i = 0; i < undo->count; i++)
        if (strcmp(undo->files[i].path, change->file) == 0)
            return &undo->files[i];
    return NULL;
}

/* Reads the current content of the file. Sets the state to UNDO_NEVER, UNDO_GONE or UNDO_LEFT. */
static int open_file(struct client_undo *undo, struct client_undo_file *file, const struct client_change *change,
                     wt_error *err)
{
    struct stat info;
    *file = (struct client_undo_file){.client = change->client, .path = change->file, .state = UNDO_NEVER};
    file->back = wt__arena_array(&undo->arena, const char *, 1);
    file->kept = wt__arena_array(&undo->arena, const char *, 1);
    if (!file->back || !file->kept)
        return wt__fail_nomem(err);
    if (lstat(file->path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        file->state = UNDO_GONE;
        return 0;
    }
    int rc = wt__client_text_read(&file->text, &file->why, &undo->arena, file->path, err);
    if (rc == 0)
        file->state = UNDO_LEFT;
    file->after = file->text.text;
    return rc < 0 ? rc : 0;
}

static int skip_undo_file(struct client_undo *undo, struct client_undo_file *file, const char *why, wt_error *err)
{
    file->state = UNDO_LEFT;
    file->why = wt__arena_copy(&undo->arena, wt__str(why));
    return file->why ? 0 : wt__fail_nomem(err);
}

/* Appends a name to a list in the arena. */
static int add_server_name(struct arena *arena, const char ***names, size_t *count, const char *name, wt_error *err)
{
    const char **next = wt__arena_array(arena, const char *, *count + 1);
    WT_CHECK_ALLOC(next, err);
    if (*count > 0)
        memcpy(next, *names, *count * sizeof *next);
    next[(*count)++] = name;
    *names = next;
    return 0;
}

/* ---------------------------------------------------------------- one change */

/* Reads the backup and checks its hash. Returns 1; 0 if the backup is missing or was changed; or WT_ENOMEM. */
static int read_backup(struct client_undo *undo, const struct client_change *change, struct str *out, wt_error *err)
{
    WT_AUTO_FREE char *bytes = NULL;
    size_t len = 0;
    int rc = wt__file_read(&bytes, &len, change->backup, JSON_EDIT_BYTES_MAX, NULL);
    if (rc < 0)
        return rc == WT_ENOMEM ? wt__fail_nomem(err) : 0;
    *out = (struct str){wt__arena_copy(&undo->arena, (struct str){bytes, len}), len};
    const char *hash = out->ptr ? wt__text_hash(&undo->arena, *out) : NULL;
    return hash ? strcmp(hash, change->before) == 0 : wt__fail_nomem(err);
}

struct undo_edit {
    struct client_undo *undo;
    struct client_undo_file *file;
    const struct client_change *change;
    struct json_members members;
    json_t *root, *servers;
    struct json_new_member *added;
    size_t added_count;
    bool *drop;
};

/* Marks whichtool's entry for removal from the text, and removes it from the tree. The tree is compared with the edited
 * text later. */
static void drop_entry(struct undo_edit *e)
{
    for (size_t i = 0; e->change->entry && i < e->members.count; i++) {
        const char *name = e->members.members[i].name;
        if (!wt__client_entry_is_ours(json_object_get(e->servers, name), e->undo->servers_path))
            continue;
        e->drop[i] = true;
        json_object_del(e->servers, name);
        return;
    }
}

static int put_back(struct undo_edit *e, const struct client_moved *moved, wt_error *err)
{
    struct arena *arena = &e->undo->arena;
    WT_CLEANUP(json_decrefp) json_t *value = NULL;
    if (json_object_get(e->servers, moved->name))
        return add_server_name(arena, &e->file->kept, &e->file->kept_count, moved->name, err);
    WT_TRY(wt__json_parse_relaxed(&value, wt__str(moved->text), err));
    if (json_object_set(e->servers, moved->name, value) < 0)
        return wt__fail_nomem(err);
    e->added[e->added_count++] = (struct json_new_member){moved->name, wt__str(moved->text)};
    return add_server_name(arena, &e->file->back, &e->file->back_count, moved->name, err);
}

static int write_edited(struct undo_edit *e, wt_error *err)
{
    struct arena *arena = &e->undo->arena;
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    WT_CLEANUP(json_decrefp) json_t *have = NULL;
    wt__json_edit(&out, &e->members, e->drop, e->added, e->added_count);
    struct str after = {out.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&out)), out.len};
    WT_CHECK_ALLOC(after.ptr, err);
    int rc = wt__json_parse_relaxed(&have, after, NULL);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0 || !json_equal(have, e->root))
        return skip_undo_file(e->undo, e->file, "it cannot be edited without changing other parts of it", err);
    e->file->after = after;
    return 0;
}

static int edit_undone_file(struct undo_edit *e, wt_error *err)
{
    const struct client_change *change = e->change;
    const char *both[] = {change->outer, change->inner, NULL};
    struct arena *arena = &e->undo->arena;
    wt_error why;
    int rc = wt__json_members(&e->members, arena, e->file->after, change->outer ? both : both + 1, &why);
    if (rc > 0 && wt__json_parse_relaxed(&e->root, e->file->after, &why) < 0)
        rc = WT_ENOMEM;
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0)
        return skip_undo_file(e->undo, e->file, why.message, err);
    const json_t *outer = change->outer ? wt__json_object(e->root, change->outer) : e->root;
    e->servers = wt__json_object(outer, change->inner);
    if (rc == 0 || !e->servers)
        return skip_undo_file(e->undo, e->file, "it has no list of servers any more", err);
    e->drop = wt__arena_array(arena, bool, e->members.count + 1);
    e->added = wt__arena_array(arena, struct json_new_member, change->moved_count + 1);
    if (!e->drop || !e->added)
        return wt__fail_nomem(err);
    drop_entry(e);
    for (size_t i = 0; i < change->moved_count; i++)
        WT_TRY(put_back(e, &change->moved[i], err));
    return write_edited(e, err);
}

static int undo_change(struct client_undo *undo, struct client_undo_file *file, const struct client_change *change,
                       wt_error *err)
{
    struct str before;
    const char *hash = wt__text_hash(&undo->arena, file->after);
    file->backup = change->backup;
    WT_CHECK_ALLOC(hash, err);
    if (strcmp(hash, change->before) == 0)
        return 0;
    int rc = strcmp(hash, change->after) == 0 ? read_backup(undo, change, &before, err) : 0;
    if (rc < 0)
        return rc;
    if (rc > 0) {
        file->after = before;
        for (size_t i = 0; i < change->moved_count; i++)
            WT_TRY(add_server_name(&undo->arena, &file->back, &file->back_count, change->moved[i].name, err));
        if (file->state == UNDO_NEVER)
            file->state = UNDO_BYTES;
        return 0;
    }
    struct undo_edit e = {.undo = undo, .file = file, .change = change};
    file->state = UNDO_EDITED;
    rc = edit_undone_file(&e, err);
    json_decref(e.root);
    return rc;
}

int wt__client_undo_plan(struct client_undo *out, const struct client_import_options *options, wt_error *err)
{
    *out = (struct client_undo){.folder = options->folder, .lock = -1};
    WT_TRY(wt__client_own_paths(options->folder, &out->arena, &out->servers_path, &out->record_path, err));
    if (wt__is_folder(options->folder))
        WT_TRY(wt__client_lock(&out->lock, options->folder, &out->arena, err));
    WT_TRY(wt__client_record_read(&out->record, &out->arena, out->record_path, err));
    out->files = wt__arena_array(&out->arena, struct client_undo_file, out->record.count + 1);
    out->taken = wt__arena_array(&out->arena, bool, out->record.count + 1);
    if (!out->files || !out->taken)
        return wt__fail_nomem(err);
    int rc = 0;
    for (size_t i = out->record.count; rc == 0 && i-- > 0;) {
        const struct client_change *change = &out->record.changes[i];
        if (!wt__client_is_chosen(options, change->client))
            continue;
        struct client_undo_file *file = find_undo_file(out, change);
        if (!file) {
            file = &out->files[out->count++];
            rc = open_file(out, file, change, err);
        }
        out->taken[i] = true;
        if (rc == 0 && file->state != UNDO_GONE && file->state != UNDO_LEFT)
            rc = undo_change(out, file, change, err);
        file->backup = change->backup;
    }
    return rc;
}

void wt__client_undo_dispose(struct client_undo *undo)
{
    wt__unlock_file(undo->lock);
    wt__arena_dispose(&undo->arena);
    *undo = (struct client_undo){.lock = -1};
}

/* ---------------------------------------------------------------- our file of servers */

static bool is_undone(const struct client_undo *undo, size_t index)
{
    const struct client_change *change = &undo->record.changes[index];
    for (size_t i = 0; undo->taken[index] && i < undo->count; i++)
        if (strcmp(undo->files[i].path, change->file) == 0)
            return undo->files[i].state != UNDO_LEFT;
    return false;
}

/* True if a remaining change still needs the server. */
static bool is_needed(const struct client_undo *undo, const char *name)
{
    for (size_t i = 0; i < undo->record.count; i++)
        for (size_t k = 0; !is_undone(undo, i) && k < undo->record.changes[i].moved_count; k++)
            if (strcmp(undo->record.changes[i].moved[k].as, name) == 0)
                return true;
    return false;
}

/* Marks in `drop` the servers to remove from our file: init moved them, they are unchanged since, and no remaining
 * change needs them. Adds to undo->left the servers that were changed since. */
static int mark_moved(struct client_undo *undo, const struct json_members *members, bool *drop, wt_error *err)
{
    for (size_t i = 0; i < undo->record.count; i++) {
        const struct client_change *change = &undo->record.changes[i];
        for (size_t k = 0; is_undone(undo, i) && k < change->moved_count; k++) {
            const struct json_member *member = wt__json_member_named(members, change->moved[k].as);
            WT_CLEANUP(json_decrefp) json_t *there = NULL;
            WT_CLEANUP(json_decrefp) json_t *was = NULL;
            if (!member || drop[member - members->members] || is_needed(undo, member->name))
                continue;
            WT_TRY(wt__json_parse_relaxed(&there, member->text, err));
            WT_TRY(wt__json_parse(&was, change->moved[k].definition, strlen(change->moved[k].definition), err));
            if (json_equal(there, was))
                drop[member - members->members] = true;
            else
                WT_TRY(add_server_name(&undo->arena, &undo->left, &undo->left_count, member->name, err));
        }
    }
    return 0;
}

/* Adds to undo->added the servers of our file that init did not move. */
static int mark_added(struct client_undo *undo, const struct json_members *members, wt_error *err)
{
    for (size_t m = 0; m < members->count; m++) {
        bool moved = false;
        for (size_t i = 0; i < undo->record.count; i++)
            for (size_t k = 0; k < undo->record.changes[i].moved_count; k++)
                moved |= strcmp(undo->record.changes[i].moved[k].as, members->members[m].name) == 0;
        if (!moved)
            WT_TRY(add_server_name(&undo->arena, &undo->added, &undo->added_count, members->members[m].name, err));
    }
    return 0;
}

static int remove_file(const char *path, wt_error *err)
{
    return unlink(path) != 0 && errno != ENOENT ? wt__fail_errno(err, "remove", path) : 0;
}

static int remove_our_servers(struct client_undo *undo, wt_error *err)
{
    static const char *const path[] = {"mcpServers", NULL};
    struct client_text text;
    struct json_members members;
    const char *why = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    size_t kept = 0;
    if (access(undo->servers_path, F_OK) != 0)
        return 0;
    int rc = wt__client_text_read(&text, &why, &undo->arena, undo->servers_path, err);
    if (rc > 0)
        rc = wt__json_members(&members, &undo->arena, text.text, path, err);
    if (rc == WT_ENOMEM)
        return rc;
    if (rc <= 0)
        return wt__fail(err, WT_EFORMAT, "%s was changed and is invalid now: its servers stay", undo->servers_path);
    bool *drop = wt__arena_array(&undo->arena, bool, members.count + 1);
    WT_CHECK_ALLOC(drop, err);
    WT_TRY(mark_moved(undo, &members, drop, err));
    WT_TRY(mark_added(undo, &members, err));
    for (size_t i = 0; i < members.count; i++)
        kept += !drop[i];
    if (kept == 0 && undo->record.made_servers)
        return remove_file(undo->servers_path, err);
    if (kept == members.count)
        return 0;
    wt__json_edit(&out, &members, drop, NULL, 0);
    return out.failed ? wt__fail_nomem(err) : wt__client_text_write(&text, wt__buffer_view(&out), err);
}

/* ---------------------------------------------------------------- apply */

/* Removes the backup of a file that has its old content again. The backup of an edited file stays. */
static int remove_backup(const struct client_undo *undo, const struct client_change *change, wt_error *err)
{
    for (size_t i = 0; i < undo->count; i++) {
        const struct client_undo_file *file = &undo->files[i];
        if (strcmp(file->path, change->file) == 0 && (file->state == UNDO_BYTES || file->state == UNDO_NEVER))
            return remove_file(change->backup, err);
    }
    return 0;
}

static int finish_undo(struct client_undo *undo, wt_error *err)
{
    struct client_record left = {.made_servers = undo->record.made_servers};
    int rc = remove_our_servers(undo, err);
    for (int tries = 0; rc == WT_EBUSY && tries < CLIENT_TRIES; tries++) { /* another program is editing our file */
        wt__client_pause(tries);
        undo->left_count = undo->added_count = 0;
        rc = remove_our_servers(undo, err);
    }
    WT_TRY(rc);
    left.changes = wt__arena_array(&undo->arena, struct client_change, undo->record.count + 1);
    WT_CHECK_ALLOC(left.changes, err);
    for (size_t i = 0; i < undo->record.count; i++) {
        if (is_undone(undo, i))
            WT_TRY(remove_backup(undo, &undo->record.changes[i], err));
        else
            left.changes[left.count++] = undo->record.changes[i];
    }
    if (left.count > 0)
        return wt__client_record_write(&left, undo->record_path, err);
    WT_TRY(remove_file(undo->record_path, err));
    wt__client_remove_lock(undo->folder, &undo->arena);
    return 0;
}

/* Plans a file again after its client changed it. */
static int plan_undo_again(struct client_undo *undo, struct client_undo_file *file, wt_error *err)
{
    const char *path = file->path;
    bool is_open = false;
    int rc = 0;
    for (size_t i = undo->record.count; rc == 0 && i-- > 0;) {
        const struct client_change *change = &undo->record.changes[i];
        if (!undo->taken[i] || strcmp(change->file, path) != 0)
            continue;
        if (!is_open)
            rc = open_file(undo, file, change, err);
        is_open = true;
        if (rc == 0 && file->state != UNDO_GONE && file->state != UNDO_LEFT)
            rc = undo_change(undo, file, change, err);
        file->backup = change->backup;
    }
    return rc;
}

/* Writes a file. A text that was edited since init is backed up first, since no other copy of it exists. */
static int replace_edited(struct client_undo *undo, struct client_undo_file *file, wt_error *err)
{
    const char *copy;
    bool is_new = false;
    if (wt__str_equal(file->after, file->text.text))
        return 0;
    int rc = file->state == UNDO_EDITED ? wt__client_backup(&copy, &is_new, &undo->arena, &file->text, err) : 0;
    if (rc == 0)
        rc = wt__client_text_write(&file->text, file->after, err);
    if (rc == WT_EBUSY && is_new)
        unlink(copy); /* the file was not replaced, so it needs no backup */
    return rc;
}

/* Writes a file and tries again while its client changes it, as init does. */
static int write_undone_file(struct client_undo *undo, struct client_undo_file *file, wt_error *err)
{
    int rc = replace_edited(undo, file, err);
    for (int tries = 0; rc == WT_EBUSY && tries < CLIENT_TRIES; tries++) {
        wt__client_pause(tries);
        int again = plan_undo_again(undo, file, err);
        if (again < 0)
            return again;
        if (file->state == UNDO_BYTES || file->state == UNDO_EDITED)
            rc = replace_edited(undo, file, err);
        else if (file->state != UNDO_LEFT)
            return 0;
    }
    return file->state == UNDO_LEFT ? 0 : rc;
}

int wt__client_undo_apply(struct client_undo *undo, wt_error *err)
{
    int rc = 0;
    wt_error why;
    for (size_t i = 0; i < undo->count; i++) {
        struct client_undo_file *file = &undo->files[i];
        if (file->state != UNDO_BYTES && file->state != UNDO_EDITED)
            continue;
        int written = write_undone_file(undo, file, &why);
        file->written = written == 0 && (file->state == UNDO_BYTES || file->state == UNDO_EDITED);
        if (written == 0)
            continue;
        if (skip_undo_file(undo, file, why.message, err) < 0)
            return WT_ENOMEM;
        if (rc == 0)
            rc = wt__fail(err, written, "%s", why.message);
    }
    int finished = finish_undo(undo, rc < 0 ? NULL : err);
    return rc < 0 ? rc : finished;
}
