#include "replica/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "net/http_client.h"

enum {
    READ_BYTES = 1 << 16,
    SETTLED_MS = 2500 /* after this time, a Last-Modified of whole seconds identifies one content */
};

struct publication_source {
    char *location, *token;
    struct http_session *session;                            /* NULL for a folder */
    char etag[HTTP_VALUE_BYTES], modified[HTTP_VALUE_BYTES]; /* values of the last answer; "" before */
    double modified_ms;                                      /* time when `modified` was first seen */
    bool is_settled;  /* the content of `modified` was read when it could not change any more */
    struct stat seen; /* state of the last file read in a folder; zeroed before */
    uint64_t bytes;
};

static bool is_http_address(const char *location)
{
    return strncmp(location, "http://", 7) == 0 || strncmp(location, "https://", 8) == 0;
}

int wt__source_open(struct publication_source **out, const char *location, const char *token, wt_error *err)
{
    *out = NULL;
    size_t len = strlen(location);
    while (len > 1 && location[len - 1] == '/')
        len--;
    if (is_http_address(location))
        WT_TRY(wt__http_check_base(location, err));
    if (token && strlen(token) > SOURCE_TOKEN_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the token has more than %d bytes", SOURCE_TOKEN_BYTES_MAX);
    struct publication_source *source = calloc(1, sizeof *source);
    WT_CHECK_ALLOC(source, err);
    source->location = wt__copy_string(location, len);
    source->token = token ? wt__copy_string(token, strlen(token)) : NULL;
    int rc = source->location && (source->token || !token) ? 0 : wt__fail_nomem(err);
    if (rc == 0 && is_http_address(location))
        rc = wt__http_session_open(&source->session, err);
    if (rc < 0)
        wt__source_close(source);
    else
        *out = source;
    return rc;
}

void wt__source_close(struct publication_source *source)
{
    if (!source)
        return;
    wt__http_session_close(source->session);
    free(source->location);
    free(source->token);
    free(source);
}

uint64_t wt__source_bytes(const struct publication_source *source)
{
    return source->bytes;
}

void wt__source_forget(struct publication_source *source)
{
    source->etag[0] = source->modified[0] = '\0';
    source->is_settled = false;
    source->seen = (struct stat){0};
}

static char *file_location(const struct publication_source *source, struct buffer *text, const char *name)
{
    wt__buffer_printf(text, "%s/%s", source->location, name);
    return text->failed ? NULL : text->ptr;
}

/* ---------------------------------------------------------------- folders */

/* Takes the bytes [from, to) of an open file. If whole, to is a maximum. */
static int read_published_file(struct publication_source *source, int fd, const char *path, uint64_t from, uint64_t to,
                               bool whole, int (*take)(void *context, struct str bytes, wt_error *err), void *context,
                               struct progress *progress, wt_error *err)
{
    char block[READ_BYTES];
    while (from < to || whole) {
        size_t most = to - from < sizeof block ? (size_t)(to - from) + whole : sizeof block;
        ssize_t n = pread(fd, block, most < sizeof block ? most : sizeof block, (off_t)from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return wt__fail_errno(err, "read", path);
        if (n == 0)
            return whole ? 0 : wt__fail(err, WT_ENETWORK, "%s ends at byte %llu", path, (unsigned long long)from);
        source->bytes += (uint64_t)n;
        from += (uint64_t)n;
        if (from > to)
            return wt__fail(err, WT_ETOOLONG, "%s has more than %llu bytes", path, (unsigned long long)to);
        WT_TRY(take(context, (struct str){block, (size_t)n}, err));
        if (wt__progress_step(progress, 0))
            return wt__fail_cancelled(err);
    }
    return 0;
}

/* Opens a regular file without blocking. */
static int open_published_file(int *fd, const char *path, struct stat *info, wt_error *err)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return wt__fail_errno(err, "read", path);
    if (fstat(*fd, info) == 0 && S_ISREG(info->st_mode))
        return 0;
    close(*fd);
    return wt__fail(err, WT_EFORMAT, "%s is not a regular file", path);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* ---------------------------------------------------------------- reading */

static int append_bytes(void *context, struct str bytes, wt_error *err)
{
    struct buffer *out = context;
    wt__buffer_str(out, bytes);
    return out->failed ? wt__fail_nomem(err) : 0;
}

static int read_changed_path(struct publication_source *source, const char *path, size_t max, struct buffer *out,
                             struct progress *progress, wt_error *err)
{
    struct stat info;
    int fd;
    WT_TRY(open_published_file(&fd, path, &info, err));
    bool same = is_same_file(&info, &source->seen);
    int rc = same ? 0 : read_published_file(source, fd, path, 0, max, true, append_bytes, out, progress, err);
    close(fd);
    if (rc < 0 || same)
        return rc;
    source->seen = info;
    return 1;
}

/* Keeps the values for the next condition. A file may change twice within the second of its Last-Modified, so this
 * header is used only after a later read of the file. */
static void note_answer(struct publication_source *source, const struct http_fetched *fetched)
{
    double now = wt__now_ms();
    if (strcmp(source->modified, fetched->modified) != 0)
        source->modified_ms = now;
    source->is_settled = now - source->modified_ms > SETTLED_MS;
    memcpy(source->etag, fetched->etag, sizeof source->etag);
    memcpy(source->modified, fetched->modified, sizeof source->modified);
}

static int read_changed_url(struct publication_source *source, const char *url, size_t max, struct buffer *out,
                            struct progress *progress, wt_error *err)
{
    const struct http_fetch fetch = {.url = url,
                                     .token = source->token,
                                     .etag = source->etag,
                                     .modified = source->etag[0] || !source->is_settled ? NULL : source->modified,
                                     .to = max,
                                     .whole = true,
                                     .connect_ms = SOURCE_CONNECT_MS,
                                     .stall_seconds = SOURCE_STALL_SECONDS,
                                     .progress = progress,
                                     .take = append_bytes,
                                     .context = out};
    struct http_fetched fetched;
    int rc = wt__http_fetch(source->session, &fetch, &fetched, err);
    source->bytes += fetched.received;
    if (rc < 0 || fetched.status == 304)
        return rc;
    note_answer(source, &fetched);
    return 1;
}

int wt__source_read_changed(struct publication_source *source, const char *name, size_t max, struct buffer *out,
                            struct progress *progress, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    const char *location = file_location(source, &text, name);
    WT_CHECK_ALLOC(location, err);
    wt__buffer_clear(out);
    return source->session ? read_changed_url(source, location, max, out, progress, err)
                           : read_changed_path(source, location, max, out, progress, err);
}

int wt__source_read(struct publication_source *source, const char *name, uint64_t from, uint64_t to,
                    int (*take)(void *context, struct str bytes, wt_error *err), void *context,
                    struct progress *progress, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    const char *location = file_location(source, &text, name);
    struct http_fetched fetched;
    struct stat info;
    int fd;
    WT_CHECK_ALLOC(location, err);
    if (source->session) {
        const struct http_fetch fetch = {.url = location,
                                         .token = source->token,
                                         .from = from,
                                         .to = to,
                                         .connect_ms = SOURCE_CONNECT_MS,
                                         .stall_seconds = SOURCE_STALL_SECONDS,
                                         .progress = progress,
                                         .take = take,
                                         .context = context};
        int rc = wt__http_fetch(source->session, &fetch, &fetched, err);
        source->bytes += fetched.received;
        return rc;
    }
    WT_TRY(open_published_file(&fd, location, &info, err));
    int rc = read_published_file(source, fd, location, from, to, false, take, context, progress, err);
    close(fd);
    return rc;
}
