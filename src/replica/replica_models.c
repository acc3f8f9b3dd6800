#include "replica/replica_models.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { TREE_DEPTH = 8, LINK_BYTES = 128 };

#define MODELS_PREFIX "models-"
#define UNFINISHED ".unfinished"

static int remove_model_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_model_entry, TREE_DEPTH, FTW_DEPTH | FTW_PHYS);
}

static char *print_path(struct arena *arena, const char *cache, const char *a, const char *b)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0};
    wt__buffer_printf(&path, "%s/%s%s", cache, a, b);
    return path.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&path));
}

/* Reads the file if its content is the published one. Returns NULL if not. */
static char *read_same_file(const char *path, const struct published_file *file)
{
    WT_AUTO_FREE char *content = NULL;
    unsigned char digest[32];
    char hex[65];
    size_t len = 0;
    if (wt__file_size(path) != file->bytes || wt__file_read(&content, &len, path, (size_t)file->bytes, NULL) < 0)
        return NULL;
    wt__sha256(content, len, digest);
    wt__sha256_hex(digest, hex);
    return strcmp(hex, file->sha256) == 0 ? WT_TAKE(content) : NULL;
}

static int write_model(const char *current, const char *folder, const struct incoming_folder *incoming,
                       const struct published_file *file, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *from = wt__path_join(&arena, current, file->path), *to = wt__path_join(&arena, folder, file->path);
    char *parent = to ? wt__arena_copy(&arena, (struct str){to, (size_t)(strrchr(to, '/') - to)}) : NULL;
    WT_CHECK_ALLOC(from && parent, err);
    WT_TRY(wt__make_folders(parent, err));
    WT_AUTO_FREE char *content = read_same_file(to, file);
    if (content)
        return 0;
    content = read_same_file(from, file);
    if (!content)
        WT_TRY(wt__incoming_load(incoming, file, &content, err));
    return wt__file_replace(to, content, (size_t)file->bytes, err);
}

int wt__replica_models_write(const char *cache, const struct incoming_folder *incoming,
                             const struct publication *publication, const char *hash, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    if (!*hash)
        return 0;
    char *name = print_path(&arena, cache, MODELS_PREFIX, hash),
         *current = print_path(&arena, cache, REPLICA_MODELS, "");
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_printf(&text, "%s%s", name ? name : "", UNFINISHED);
    char *unfinished = text.failed ? NULL : wt__arena_copy(&arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(name && current && unfinished, err);
    if (wt__is_folder(name))
        return 0;
    for (size_t i = 0; i < publication->model_count; i++)
        WT_TRY(write_model(current, unfinished, incoming, &publication->models[i], err));
    WT_TRY(wt__sync_folder(unfinished, err));
    if (rename(unfinished, name) < 0)
        return wt__fail_errno(err, "write", name);
    return wt__sync_folder(cache, err);
}

/* Removes the folders of models with other names. */
static void remove_other_models(const char *cache, const char *kept)
{
    DIR *folder = opendir(cache);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
        if (strncmp(entry->d_name, MODELS_PREFIX, strlen(MODELS_PREFIX)) != 0 || strcmp(entry->d_name, kept) == 0)
            continue;
        char *path = print_path(&arena, cache, entry->d_name, "");
        if (path)
            remove_tree(path);
    }
    if (folder)
        closedir(folder);
}

int wt__replica_models_select(const char *cache, const char *hash, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char now[LINK_BYTES] = "", wanted[LINK_BYTES] = "";
    char *link = print_path(&arena, cache, REPLICA_MODELS, ""),
         *fresh = print_path(&arena, cache, REPLICA_MODELS, ".new");
    WT_CHECK_ALLOC(link && fresh, err);
    ssize_t len = readlink(link, now, sizeof now - 1);
    now[len > 0 ? len : 0] = '\0';
    if (*hash)
        snprintf(wanted, sizeof wanted, "%s%s", MODELS_PREFIX, hash);
    if (strcmp(now, wanted) != 0) {
        unlink(fresh);
        if (*hash ? symlink(wanted, fresh) < 0 || rename(fresh, link) < 0 : unlink(link) < 0 && errno != ENOENT)
            return wt__fail_errno(err, "write", link);
        WT_TRY(wt__sync_folder(cache, err));
    }
    remove_other_models(cache, wanted);
    return 0;
}
