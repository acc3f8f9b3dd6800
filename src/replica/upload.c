/* upload.c: a file of changes grows, but servers cannot append to a file. It is therefore uploaded whole; PUT replaces
 * a file atomically, and its first bytes stay the same. */
#include "replica/upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/http_client.h"
#include "replica/manifest.h"
#include "replica/source.h"

/* A file on the server. */
struct uploaded_file {
    char name[PUBLICATION_NAME_BYTES_MAX + 1];
    uint64_t bytes;
};

struct upload {
    char *folder, *url, *bearer;
    struct http_session *session;
    struct publication_source *remote; /* to read the manifest of the server once */
    struct progress *progress;         /* of the current run */
    struct buffer manifest;            /* the uploaded manifest */
    struct uploaded_file *files;       /* [count] */
    size_t count, capacity;
    bool knows_remote;
};

int wt__upload_open(struct upload **out, const char *folder, const char *url, const char *token, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer bearer = {0};
    *out = NULL;
    struct upload *upload = wt__alloc_zeros(1, sizeof *upload);
    WT_CHECK_ALLOC(upload, err);
    if (token)
        wt__buffer_printf(&bearer, "Bearer %s", token);
    upload->folder = wt__copy_string(folder, strlen(folder));
    upload->url = wt__copy_string(url, strlen(url));
    upload->bearer = wt__buffer_take(&bearer);
    int rc = upload->folder && upload->url && upload->bearer ? 0 : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__source_open(&upload->remote, url, token, err);
    if (rc == 0)
        rc = wt__http_session_open(&upload->session, err);
    if (rc < 0)
        wt__upload_close(upload);
    else
        *out = upload;
    return rc;
}

void wt__upload_close(struct upload *upload)
{
    if (!upload)
        return;
    wt__http_session_close(upload->session);
    wt__source_close(upload->remote);
    wt__buffer_dispose(&upload->manifest);
    free(upload->files);
    free(upload->folder);
    free(upload->url);
    free(upload->bearer);
    free(upload);
}

/* Sends PUT or DELETE. */
static int send_upload(struct upload *upload, const char *method, const char *name, struct str body, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer url = {0};
    const struct http_header header = {"Authorization", upload->bearer};
    struct http_answer answer = {.status = 0};
    wt__buffer_printf(&url, "%s%s%s", upload->url, upload->url[strlen(upload->url) - 1] == '/' ? "" : "/", name);
    WT_CHECK_ALLOC(!url.failed, err);
    const struct http_post post = {.url = url.ptr,
                                   .method = method,
                                   .headers = &header,
                                   .header_count = 1,
                                   .body = body,
                                   .connect_ms = UPLOAD_CONNECT_MS,
                                   .total_ms = UPLOAD_TOTAL_MS,
                                   .stall_ms = UPLOAD_STALL_MS,
                                   .progress = upload->progress};
    int rc = wt__http_post(upload->session, &post, &answer, err);
    wt__buffer_dispose(&answer.body);
    if (rc == 0 && answer.status / 100 != 2)
        rc = wt__fail(err, WT_ENETWORK, "cannot %s %s: the server answered %d",
                      strcmp(method, "PUT") == 0 ? "write" : "delete", url.ptr, answer.status);
    return rc;
}

static struct uploaded_file *find_uploaded(struct upload *upload, const char *name)
{
    for (size_t i = 0; i < upload->count; i++)
        if (strcmp(upload->files[i].name, name) == 0)
            return &upload->files[i];
    return NULL;
}

static int note_uploaded(struct upload *upload, const struct published_file *file, wt_error *err)
{
    struct uploaded_file *known = find_uploaded(upload, file->name);
    if (!known) {
        if (wt__grow((void **)&upload->files, &upload->capacity, upload->count + 1, sizeof *upload->files) < 0)
            return wt__fail_nomem(err);
        known = &upload->files[upload->count++];
        snprintf(known->name, sizeof known->name, "%s", file->name);
    }
    known->bytes = file->bytes;
    return 0;
}

/* Calls act for each file of the publication. */
static int each_published_file(const struct publication *publication, struct upload *upload,
                               int (*act)(struct upload *upload, const struct published_file *file, wt_error *err),
                               wt_error *err)
{
    WT_TRY(act(upload, &publication->base, err));
    for (size_t i = 0; i < publication->change_count; i++)
        WT_TRY(act(upload, &publication->changes[i], err));
    for (size_t i = 0; i < publication->model_count; i++)
        WT_TRY(act(upload, &publication->models[i], err));
    return publication->policy.name ? act(upload, &publication->policy, err) : 0;
}

/* Reads the manifest on the server, to learn the files there. */
static int read_remote(struct upload *upload, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct publication publication;
    int rc = wt__source_read_changed(upload->remote, PUBLICATION_MANIFEST, PUBLICATION_MANIFEST_BYTES_MAX, &text,
                                     upload->progress, err);
    if (rc < 0 && rc != WT_ENOTFOUND)
        return rc;
    if (rc > 0 && wt__publication_read(&publication, &arena, wt__buffer_view(&text), NULL) == 0)
        WT_TRY(each_published_file(&publication, upload, note_uploaded, err));
    upload->knows_remote = true;
    return 0;
}

static int upload_file(struct upload *upload, const struct published_file *file, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__file_unmap) struct mapping content = {0};
    const struct uploaded_file *known = find_uploaded(upload, file->name);
    if (known && known->bytes == file->bytes)
        return 0;
    char *path = wt__path_join(&arena, upload->folder, file->name);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__file_map(&content, path, err));
    if (content.len < file->bytes)
        return wt__fail(err, WT_EFORMAT, "%s is truncated", path);
    WT_TRY(send_upload(upload, "PUT", file->name, (struct str){(const char *)content.ptr, (size_t)file->bytes}, err));
    return note_uploaded(upload, file, err);
}

/* Deletes the files removed by the publisher after the grace period. */
static void delete_removed(struct upload *upload)
{
    for (size_t i = upload->count; i-- > 0;) {
        WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
        const char *path = wt__path_join(&arena, upload->folder, upload->files[i].name);
        if (!path || wt__is_file(path) || send_upload(upload, "DELETE", upload->files[i].name, STR(""), NULL) < 0)
            continue;
        upload->files[i] = upload->files[--upload->count];
    }
}

int wt__upload_run(struct upload *upload, struct progress *progress, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_AUTO_FREE char *text = NULL;
    struct publication publication;
    size_t len = 0;
    upload->progress = progress;
    char *path = wt__path_join(&arena, upload->folder, PUBLICATION_MANIFEST);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__file_read(&text, &len, path, PUBLICATION_MANIFEST_BYTES_MAX, err));
    if (wt__str_equal((struct str){text, len}, wt__buffer_view(&upload->manifest)))
        return 0;
    if (!upload->knows_remote)
        WT_TRY(read_remote(upload, err));
    WT_TRY(wt__publication_read(&publication, &arena, (struct str){text, len}, err));
    WT_TRY(each_published_file(&publication, upload, upload_file, err));
    WT_TRY(send_upload(upload, "PUT", PUBLICATION_MANIFEST, (struct str){text, len}, err));
    wt__buffer_clear(&upload->manifest);
    wt__buffer_append(&upload->manifest, text, len);
    delete_removed(upload);
    return 0;
}
