#include "replica/incoming.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

enum { PIECE_BYTES = 1 << 20, INCOMING_FILES_MAX = 10000 };

struct part_writing {
    int fd;
    const char *path;
};

static int write_piece(void *context, struct str bytes, wt_error *err)
{
    const struct part_writing *writing = context;
    while (bytes.len > 0) {
        ssize_t n = write(writing->fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return wt__fail_errno(err, "write", writing->path);
        bytes = (struct str){bytes.ptr + n, bytes.len - (size_t)n};
    }
    return 0;
}

int wt__incoming_fetch(const struct incoming_folder *incoming, struct incoming_part *part, struct arena *arena,
                       wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0};
    wt__buffer_printf(&path, "%s/%s.%" PRIu64, incoming->folder, part->file->name, part->from);
    part->path = path.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&path));
    WT_CHECK_ALLOC(part->path, err);
    struct part_writing writing = {open(part->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), part->path};
    if (writing.fd < 0)
        return wt__fail_errno(err, "write", part->path);
    off_t there = lseek(writing.fd, 0, SEEK_END);
    uint64_t has = there > 0 ? (uint64_t)there : 0, wanted = part->file->bytes - part->from;
    int rc = 0;
    if (has < wanted)
        rc = wt__source_read(incoming->source, part->file->name, part->from + has, part->file->bytes, write_piece,
                             &writing, incoming->progress, err);
    if (close(writing.fd) < 0 && rc == 0)
        rc = wt__fail_errno(err, "write", part->path);
    return rc;
}

int wt__incoming_read(const struct incoming_part *part, struct sha256 *digest,
                      int (*take)(void *context, struct str bytes, wt_error *err), void *context, wt_error *err)
{
    WT_AUTO_FREE char *piece = wt__alloc_array(PIECE_BYTES, 1);
    uint64_t left = part->file->bytes - part->from;
    int rc = 0, fd;
    WT_CHECK_ALLOC(piece, err);
    fd = open(part->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return wt__fail_errno(err, "read", part->path);
    while (rc == 0 && left > 0) {
        ssize_t n = read(fd, piece, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            rc = n < 0 ? wt__fail_errno(err, "read", part->path)
                       : wt__fail(err, WT_EFORMAT, "%s is truncated", part->path);
            break;
        }
        wt__sha256_update(digest, piece, (size_t)n);
        left -= (uint64_t)n;
        rc = take(context, (struct str){piece, (size_t)n}, err);
    }
    close(fd);
    return rc;
}

static int compare_digest(const struct published_file *file, const struct sha256 *digest, wt_error *err)
{
    struct sha256 copy = *digest;
    unsigned char bytes[32];
    char hex[65];
    wt__sha256_end(&copy, bytes);
    wt__sha256_hex(bytes, hex);
    return strcmp(hex, file->sha256) == 0
               ? 0
               : wt__fail(err, WT_EFORMAT, "the content of %s is not that of the manifest", file->name);
}

int wt__incoming_check(const struct incoming_part *part, const struct sha256 *digest, wt_error *err)
{
    int rc = compare_digest(part->file, digest, err);
    if (rc < 0)
        unlink(part->path);
    return rc;
}

static int append_piece(void *context, struct str bytes, wt_error *err)
{
    struct buffer *out = context;
    wt__buffer_str(out, bytes);
    return out->failed ? wt__fail_nomem(err) : 0;
}

int wt__incoming_load(const struct incoming_folder *incoming, const struct published_file *file, char **out,
                      wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer content = {0};
    struct sha256 digest;
    *out = NULL;
    WT_TRY(
        wt__source_read(incoming->source, file->name, 0, file->bytes, append_piece, &content, incoming->progress, err));
    wt__sha256_begin(&digest);
    wt__sha256_update(&digest, content.ptr, content.len);
    WT_TRY(compare_digest(file, &digest, err));
    *out = wt__buffer_take(&content);
    WT_CHECK_ALLOC(*out, err);
    return 0;
}

void wt__incoming_clear(const struct incoming_folder *incoming)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char **paths;
    size_t count;
    if (wt__list_own_files(&arena, incoming->folder, INCOMING_FILES_MAX, &paths, &count, NULL) < 0)
        return;
    for (size_t i = 0; i < count; i++)
        unlink(paths[i]);
}
