#include "generate/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"

enum { LOCK_WAIT_MS = 0, SETTINGS_BYTES_MAX = 64 << 10 };

static int check_folder_settings(struct generate_folder *folder, const char *settings, wt_error *err)
{
    char *known = NULL;
    size_t len = 0;
    static const char *const data[] = {"samples.jsonl", "queries.jsonl"};
    const char *path = wt__path_join(&folder->arena, folder->path, FOLDER_SETTINGS);
    if (!path)
        return wt__fail_nomem(err);
    if (!wt__is_file(path)) {
        for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
            const char *there = wt__path_join(&folder->arena, folder->path, data[i]);
            if (!there)
                return wt__fail_nomem(err);
            if (wt__is_file(there))
                return wt__fail(err, WT_EINVAL, "%s was not written by a run of this command; name another folder",
                                there);
        }
        return wt__file_replace(path, settings, strlen(settings), err);
    }
    int rc = wt__file_read(&known, &len, path, SETTINGS_BYTES_MAX, err);
    if (rc == 0 && !wt__str_equal(wt__str_trim((struct str){known, len}), wt__str_trim(wt__str(settings))))
        rc = wt__fail(err, WT_EINVAL,
                      "%s has a data set that was begun with other options, another model or another catalogue (%s); "
                      "name another folder, or use the same ones to continue",
                      folder->path, path);
    free(known);
    return rc;
}

int wt__folder_open(struct generate_folder *out, const char *path, const char *settings, struct chat_model *inner,
                    wt_error *err)
{
    *out = (struct generate_folder){.lock = -1};
    if (!path || !path[0])
        return wt__fail(err, WT_EINVAL, "name a folder for the data set");
    out->path = wt__arena_copy(&out->arena, wt__str(path));
    const char *lock = out->path ? wt__path_join(&out->arena, path, ".lock") : NULL,
               *answers = lock ? wt__path_join(&out->arena, path, FOLDER_ANSWERS) : NULL;
    int rc = answers ? wt__make_folders(path, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__lock_file(&out->lock, lock, LOCK_WAIT_MS, err);
    if (rc == WT_EBUSY)
        rc = wt__fail(err, WT_EBUSY, "another process is writing a data set in %s", path);
    if (rc == 0 && settings)
        rc = check_folder_settings(out, settings, err);
    if (rc == 0 && settings && inner)
        rc = wt__chat_record_open(&out->answers, answers, NULL, inner, err);
    if (out->answers)
        wt__chat_record_relax(out->answers);
    if (rc < 0)
        wt__folder_close(out);
    return rc;
}

void wt__folder_close(struct generate_folder *folder)
{
    wt__chat_record_close(folder->answers);
    if (folder->lock >= 0)
        wt__unlock_file(folder->lock);
    wt__arena_dispose(&folder->arena);
    *folder = (struct generate_folder){.lock = -1};
}

struct chat_model *wt__folder_model(const struct generate_folder *folder)
{
    return folder->answers ? wt__chat_record_model(folder->answers) : NULL;
}

int wt__folder_make_subfolder(struct generate_folder *folder, const char *name, wt_error *err)
{
    const char *path = wt__path_join(&folder->arena, folder->path, name);
    return path ? wt__make_folders(path, err) : wt__fail_nomem(err);
}

int wt__folder_write(struct generate_folder *folder, const char *name, const struct buffer *bytes, wt_error *err)
{
    const char *path = wt__path_join(&folder->arena, folder->path, name);
    if (!path || bytes->failed)
        return wt__fail_nomem(err);
    const struct str view = wt__buffer_view(bytes);
    return wt__file_replace(path, view.len ? view.ptr : "", view.len, err);
}

int wt__folder_remove(struct generate_folder *folder, const char *name, wt_error *err)
{
    const char *path = wt__path_join(&folder->arena, folder->path, name);
    if (!path)
        return wt__fail_nomem(err);
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR ? 0 : wt__fail_errno(err, "remove", path);
}

bool wt__folder_has(struct generate_folder *folder, const char *name)
{
    const char *path = wt__path_join(&folder->arena, folder->path, name);
    return path && wt__is_file(path);
}
