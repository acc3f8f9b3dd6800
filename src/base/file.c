/* file.c: see file.h. Every path through here either leaves the old file or the whole new one. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

enum { FOLDER_DEPTH_MAX = 32, LOCK_POLL_MS = 20 };

static int read_all(int fd, char *bytes, size_t len, size_t *got)
{
    *got = 0;
    while (*got < len) {
        ssize_t n = read(fd, bytes + *got, len - *got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return 0;
}

static int read_open_file(int fd, char **out, size_t *len, const char *path, size_t max, wt_error *err)
{
    struct stat info;
    if (fstat(fd, &info) < 0)
        return wt__fail_errno(err, "read", path);
    if (S_ISDIR(info.st_mode))
        return wt__fail(err, WT_EUSAGE, "%s is a folder, not a file", path);
    if ((uint64_t)info.st_size > max)
        return wt__fail(err, WT_ETOOLONG, "%s has %lld bytes; at most %zu are read", path, (long long)info.st_size,
                        max);
    char *bytes = wt__alloc_array((size_t)info.st_size + 1, 1);
    if (!bytes)
        return wt__fail_nomem(err);
    if (read_all(fd, bytes, (size_t)info.st_size, len) < 0) {
        int rc = wt__fail_errno(err, "read", path);
        free(bytes);
        return rc;
    }
    bytes[*len] = '\0';
    *out = bytes;
    return 0;
}

int wt__file_read(char **out, size_t *len, const char *path, size_t max, wt_error *err)
{
    *out = NULL;
    *len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return wt__fail_errno(err, "open", path);
    int rc = read_open_file(fd, out, len, path, max, err);
    close(fd);
    return rc;
}

int wt__file_map(struct mapping *out, const char *path, wt_error *err)
{
    *out = (struct mapping){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return wt__fail_errno(err, "open", path);
    struct stat info;
    int rc = 0;
    if (fstat(fd, &info) < 0) {
        rc = wt__fail_errno(err, "map", path);
    } else if (!S_ISREG(info.st_mode)) {
        rc = wt__fail(err, WT_EIO, "%s is not a regular file", path);
    } else if (info.st_size > 0) {
        void *ptr = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (ptr == MAP_FAILED)
            rc = wt__fail_errno(err, "map", path);
        else
            *out = (struct mapping){ptr, (size_t)info.st_size};
    }
    close(fd);
    return rc;
}

void wt__file_unmap(struct mapping *mapping)
{
    if (mapping->ptr)
        munmap((void *)mapping->ptr, mapping->len);
    *mapping = (struct mapping){0};
}

int wt__replace_begin(struct replace *out, const char *path, wt_error *err)
{
    *out = (struct replace){.fd = -1};
    size_t len = strlen(path);
    out->path = wt__copy_string(path, len);
    out->temporary = wt__alloc_array(len + sizeof ".XXXXXX", 1);
    if (!out->path || !out->temporary) {
        wt__replace_abort(out);
        return wt__fail_nomem(err);
    }
    memcpy(out->temporary, path, len);
    memcpy(out->temporary + len, ".XXXXXX", sizeof ".XXXXXX");
    out->fd = mkostemp(out->temporary, O_CLOEXEC);
    if (out->fd < 0) {
        int rc = wt__fail_errno(err, "write", path);
        wt__replace_abort(out);
        return rc;
    }
    fchmod(out->fd, 0644); /* mkostemp gives 0600; derived files are no secret, and a refusal costs nothing */
    return 0;
}

int wt__replace_write(struct replace *replace, const void *bytes, size_t len, wt_error *err)
{
    for (const char *at = bytes; len > 0;) {
        ssize_t n = write(replace->fd, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return wt__fail_errno(err, "write", replace->path);
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* "a/b/c" -> "a/b", "c" -> "."; NULL when memory is out. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return wt__copy_string(".", 1);
    return slash == path ? wt__copy_string("/", 1) : wt__copy_string(path, (size_t)(slash - path));
}

int wt__replace_commit(struct replace *replace, wt_error *err)
{
    int rc = 0;
    if (fsync(replace->fd) < 0)
        rc = wt__fail_errno(err, "write", replace->path);
    if (close(replace->fd) < 0 && rc == 0)
        rc = wt__fail_errno(err, "write", replace->path);
    replace->fd = -1;
    if (rc == 0 && rename(replace->temporary, replace->path) < 0)
        rc = wt__fail_errno(err, "replace", replace->path);
    if (rc == 0) {
        free(replace->temporary);
        replace->temporary = NULL;
        char *folder = folder_of(replace->path);
        rc = folder ? wt__sync_folder(folder, err) : wt__fail_nomem(err);
        free(folder);
    }
    wt__replace_abort(replace);
    return rc;
}

void wt__replace_abort(struct replace *replace)
{
    if (replace->fd >= 0)
        close(replace->fd);
    if (replace->temporary && replace->temporary[0])
        unlink(replace->temporary);
    free(replace->temporary);
    free(replace->path);
    *replace = (struct replace){.fd = -1};
}

int wt__file_replace(const char *path, const void *bytes, size_t len, wt_error *err)
{
    struct replace replace;
    int rc = wt__replace_begin(&replace, path, err);
    if (rc == 0)
        rc = wt__replace_write(&replace, bytes, len, err);
    if (rc == 0)
        rc = wt__replace_commit(&replace, err);
    wt__replace_abort(&replace);
    return rc;
}

int wt__make_folders(const char *path, wt_error *err)
{
    char *partial = wt__copy_string(path, strlen(path));
    if (!partial)
        return wt__fail_nomem(err);
    int rc = 0;
    for (char *at = partial + (partial[0] == '/'); rc == 0; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char ended = *at;
        *at = '\0';
        if (partial[0] && mkdir(partial, 0777) < 0 && !wt__is_folder(partial))
            rc = errno == EEXIST || errno == ENOTDIR
                     ? wt__fail(err, WT_EIO, "cannot create folder %s: a file is in its place", partial)
                     : wt__fail_errno(err, "create folder", partial);
        *at = ended;
        if (!ended)
            break;
    }
    free(partial);
    return rc;
}

int wt__sync_folder(const char *folder, wt_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return wt__fail_errno(err, "open", folder);
    /* Some file systems cannot sync a folder and say EINVAL: then rename is as durable as it gets there. */
    int rc = fsync(fd) < 0 && errno != EINVAL ? wt__fail_errno(err, "write", folder) : 0;
    close(fd);
    return rc;
}

bool wt__is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool wt__is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

uint64_t wt__file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
}

char *wt__path_join(struct arena *arena, const char *a, const char *b)
{
    size_t first = strlen(a), second = strlen(b);
    bool slash = first > 0 && a[first - 1] != '/';
    char *joined = wt__arena_alloc(arena, first + slash + second + 1, 1);
    if (!joined)
        return NULL;
    memcpy(joined, a, first);
    if (slash)
        joined[first] = '/';
    memcpy(joined + first + slash, b, second + 1);
    return joined;
}

struct listing {
    struct arena *arena;
    char **paths;
    size_t count, capacity, max;
};

static int list_folder(struct listing *listing, const char *folder, unsigned depth, wt_error *err);

static int list_entry(struct listing *listing, const char *path, unsigned depth, wt_error *err)
{
    struct stat info;
    if (lstat(path, &info) < 0)
        return errno == ENOENT ? 0 : wt__fail_errno(err, "read", path);
    if (S_ISDIR(info.st_mode))
        return list_folder(listing, path, depth + 1, err);
    if (!S_ISREG(info.st_mode) && !(S_ISLNK(info.st_mode) && wt__is_file(path)))
        return 0;
    if (listing->count == listing->max)
        return wt__fail(err, WT_ETOOLONG, "more than %zu files in the folder", listing->max);
    if (wt__grow((void **)&listing->paths, &listing->capacity, listing->count + 1, sizeof *listing->paths) < 0)
        return wt__fail_nomem(err);
    listing->paths[listing->count++] = (char *)path;
    return 0;
}

static int list_folder(struct listing *listing, const char *folder, unsigned depth, wt_error *err)
{
    if (depth > FOLDER_DEPTH_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s: folders are nested deeper than %d", folder, FOLDER_DEPTH_MAX);
    DIR *handle = opendir(folder);
    if (!handle)
        return wt__fail_errno(err, "open", folder);
    int rc = 0;
    while (rc == 0) {
        struct dirent *entry = readdir(handle);
        if (!entry)
            break;
        if (entry->d_name[0] == '.')
            continue;
        char *path = wt__path_join(listing->arena, folder, entry->d_name);
        rc = path ? list_entry(listing, path, depth, err) : wt__fail_nomem(err);
    }
    closedir(handle);
    return rc;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int wt__list_files(struct arena *arena, const char *folder, size_t max_files, char ***paths, size_t *count,
                   wt_error *err)
{
    struct listing listing = {.arena = arena, .max = max_files};
    *paths = NULL;
    *count = 0;
    int rc = list_folder(&listing, folder, 0, err);
    if (rc == 0) {
        *paths = wt__arena_array(arena, char *, listing.count);
        if (!*paths) {
            rc = wt__fail_nomem(err);
        } else if (listing.count) {
            memcpy(*paths, listing.paths, listing.count * sizeof **paths);
            qsort(*paths, listing.count, sizeof **paths, compare_paths);
            *count = listing.count;
        }
    }
    free(listing.paths);
    return rc;
}

static char *xdg_folder(struct arena *arena, const char *variable, const char *below_home)
{
    const char *base = getenv(variable);
    if (base && base[0] == '/')
        return wt__path_join(arena, base, "whichtool");
    const char *home = getenv("HOME");
    char *folder = wt__path_join(arena, home && home[0] ? home : ".", below_home);
    return folder ? wt__path_join(arena, folder, "whichtool") : NULL;
}

char *wt__data_folder(struct arena *arena)
{
    return xdg_folder(arena, "XDG_DATA_HOME", ".local/share");
}

char *wt__cache_folder(struct arena *arena)
{
    return xdg_folder(arena, "XDG_CACHE_HOME", ".cache");
}

int wt__lock_file(int *fd, const char *path, unsigned wait_ms, wt_error *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (*fd < 0)
        return wt__fail_errno(err, "open", path);
    double until = wt__now_ms() + wait_ms;
    while (flock(*fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EINTR && (errno != EWOULDBLOCK || wt__now_ms() >= until)) {
            int rc = errno == EWOULDBLOCK
                         ? wt__fail(err, WT_EBUSY, "another process holds %s for longer than %u ms", path, wait_ms)
                         : wt__fail_errno(err, "lock", path);
            wt__unlock_file(*fd);
            *fd = -1;
            return rc;
        }
        nanosleep(&(struct timespec){.tv_nsec = LOCK_POLL_MS * 1000000L}, NULL);
    }
    return 0;
}

void wt__unlock_file(int fd)
{
    if (fd >= 0)
        close(fd);
}
