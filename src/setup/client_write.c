/* client_write.c: see client_write.h. */
#include "setup/client_write.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json_edit.h"
#include "base/sha256.h"

#define BACKUP ".whichtool-backup"

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
static int read_text(struct str *out, struct arena *arena, const char *path, wt_error *err)
{
    char *text = NULL;
    size_t len = 0;
    int rc = wt__file_read(&text, &len, path, JSON_EDIT_BYTES_MAX, err);
    if (rc == 0) {
        *out = (struct str){wt__arena_copy(arena, (struct str){text, len}), len};
        rc = out->ptr ? 0 : wt__fail_nomem(err);
    }
    free(text);
    return rc;
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
    char *real = realpath(path, NULL);
    if (!real) {
        *why = errno == ENOENT ? "it is a broken link" : "it cannot be opened";
        return errno == ENOMEM ? wt__fail_nomem(err) : 0;
    }
    out->path = wt__arena_copy(arena, wt__str(real));
    free(real);
    if (!out->path)
        return wt__fail_nomem(err);
    int rc = read_text(&out->text, arena, out->path, &read_error);
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

/* Writes a file under a temporary name. Sets mode and owner before the first byte, so that others can never read a
 * secret. */
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
        struct buffer path = {0};
        struct stat info;
        struct str there = {"", 0};
        wt__buffer_printf(&path, "%s" BACKUP, text->path);
        if (number > 1)
            wt__buffer_printf(&path, "-%zu", number);
        *out = path.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&path));
        wt__buffer_dispose(&path);
        if (!*out)
            return wt__fail_nomem(err);
        if (lstat(*out, &info) == 0) {
            if (S_ISREG(info.st_mode) && info.st_size == (off_t)text->text.len &&
                read_text(&there, arena, *out, NULL) == 0 && wt__str_equal(there, text->text))
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
