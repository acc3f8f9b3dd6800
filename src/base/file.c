/* file.c: reads, maps, replaces, lists and locks files (file.h). A replacement that fails at any point leaves either
 * the old file or the complete new file. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/sort.h"

enum { FOLDER_DEPTH_MAX = 32, LOCK_POLL_MS = 20, TEMPORARY_TRIES = 16 };

#define UNFINISHED ".unfinished-" /* temporary file of PATH: PATH.unfinished-XXXXXX */
enum {
    RANDOM_LETTERS = 6,
    SWAPS_MAX = 1000, /* maximum swaps of a replacement; another program causes one swap per write */
};

/* ---------------------------------------------------------------- reading */

static int fail_not_a_file(const char *path, mode_t mode, wt_error *err)
{
    if (S_ISDIR(mode))
        return wt__fail(err, WT_EINVAL, "%s is a folder, not a file", path);
    return wt__fail(err, WT_EFORMAT,
                    "%s is a %s, not a file: pass it as standard input (-), or save it to a file first", path,
                    S_ISFIFO(mode)   ? "pipe"
                    : S_ISSOCK(mode) ? "socket"
                                     : "device");
}

/* Opens a regular file for reading. Rejects pipes and devices without blocking: a pipe without a writer would block
 * forever, and a device may be endless. */
static int open_regular_file(int *fd, struct stat *info, const char *path, wt_error *err)
{
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        return errno == ENXIO && stat(path, info) == 0 ? fail_not_a_file(path, info->st_mode, err)
                                                       : wt__fail_errno(err, "open", path);
    int rc = 0;
    if (fstat(*fd, info) < 0)
        rc = wt__fail_errno(err, "read", path);
    else if (!S_ISREG(info->st_mode))
        rc = fail_not_a_file(path, info->st_mode, err);
    if (rc < 0)
        close(*fd);
    return rc;
}

static int read_fully(int fd, char *bytes, size_t len, size_t *got)
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

static int read_open_file(int fd, uint64_t size, char **out, size_t *len, const char *path, size_t max, wt_error *err)
{
    if (size > max)
        return wt__fail(err, WT_ETOOLONG, "%s has %llu bytes; at most %zu are read", path, (unsigned long long)size,
                        max);
    WT_AUTO_FREE char *bytes = wt__alloc_array((size_t)size + 1, 1);
    WT_CHECK_ALLOC(bytes, err);
    if (read_fully(fd, bytes, (size_t)size, len) < 0)
        return wt__fail_errno(err, "read", path);
    bytes[*len] = '\0';
    *out = WT_TAKE(bytes);
    return 0;
}

int wt__file_read(char **out, size_t *len, const char *path, size_t max, wt_error *err)
{
    struct stat info;
    int fd;
    *out = NULL;
    *len = 0;
    WT_TRY(open_regular_file(&fd, &info, path, err));
    int rc = read_open_file(fd, (uint64_t)info.st_size, out, len, path, max, err);
    close(fd);
    return rc;
}

static atomic_bool map_copies;

void wt__file_map_copies(void)
{
    atomic_store(&map_copies, true);
}

ssize_t wt__file_read_at(int fd, void *out, size_t len, off_t from)
{
    size_t got = 0;
    while (got < len) {
        ssize_t n = pread(fd, (char *)out + got, len - got, from + (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

int wt__file_open(int *fd, uint64_t *size, const char *path, wt_error *err)
{
    struct stat info;
    WT_TRY(open_regular_file(fd, &info, path, err));
    *size = (uint64_t)info.st_size;
    (void)posix_fadvise(*fd, 0, 0, POSIX_FADV_RANDOM);
    return 0;
}

/* Copies `begin` bytes and the heads of the blocks into page-aligned memory, because packed files rely on that
 * alignment. */
static int copy_heads(struct mapping *out, int fd, const struct file_blocks *blocks, const char *path, wt_error *err)
{
    size_t size = blocks->begin + blocks->count * blocks->head;
    unsigned char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return wt__fail_nomem(err);
    *out = (struct mapping){pages, size};
    bool complete = wt__file_read_at(fd, pages, blocks->begin, 0) == (ssize_t)blocks->begin;
    for (size_t i = 0; complete && i < blocks->count; i++) {
        off_t from = (off_t)(blocks->begin + i * blocks->block);
        complete =
            wt__file_read_at(fd, pages + blocks->begin + i * blocks->head, blocks->head, from) == (ssize_t)blocks->head;
    }
    int rc = 0;
    if (!complete)
        rc = wt__fail(err, WT_EIO, "%s cannot be read, or was truncated while it was read", path);
    else if (mprotect(pages, size, PROT_READ) < 0)
        rc = wt__fail_errno(err, "protect", path);
    if (rc < 0)
        wt__file_unmap(out);
    return rc;
}

/* True if no other user except root can write the file. */
static bool is_own_file(const struct stat *info)
{
    return (info->st_uid == geteuid() || info->st_uid == 0) && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int map_pages(struct mapping *out, int fd, size_t size, const char *path, wt_error *err)
{
    void *ptr = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (ptr == MAP_FAILED)
        return wt__fail_errno(err, "map", path);
    *out = (struct mapping){ptr, size};
    return 0;
}

/* Starts to read the heads of the blocks. Reading ahead is turned off: it would also read what lies between them, and
 * the system would keep that in memory. */
static void fetch_heads(const struct mapping *mapping, int fd, const struct file_blocks *blocks)
{
    (void)madvise((void *)mapping->ptr, mapping->len, MADV_RANDOM);
    for (size_t i = 0; i < blocks->count; i++)
        (void)posix_fadvise(fd, (off_t)(blocks->begin + i * blocks->block), (off_t)blocks->head, POSIX_FADV_WILLNEED);
}

/* blocks: what a copy has; NULL for the whole file. *copied: true if *out is a copy. */
static int map_file(struct mapping *out, bool *copied, const char *path, const struct file_blocks *blocks, bool own,
                    wt_error *err)
{
    struct stat info;
    int fd, rc = 0;
    *out = (struct mapping){0};
    WT_TRY(open_regular_file(&fd, &info, path, err));
    struct file_blocks whole = {.begin = (size_t)info.st_size};
    *copied = atomic_load(&map_copies) && !(own && is_own_file(&info));
    if (info.st_size > 0)
        rc = *copied ? copy_heads(out, fd, blocks ? blocks : &whole, path, err)
                     : map_pages(out, fd, (size_t)info.st_size, path, err);
    if (rc == 0 && blocks && !*copied)
        fetch_heads(out, fd, blocks);
    close(fd);
    return rc;
}

int wt__file_map(struct mapping *out, const char *path, wt_error *err)
{
    bool copied;
    return map_file(out, &copied, path, NULL, false, err);
}

int wt__file_map_own(struct mapping *out, const char *path, wt_error *err)
{
    bool copied;
    return map_file(out, &copied, path, NULL, true, err);
}

int wt__file_map_heads(struct mapping *out, bool *heads, const char *path, const struct file_blocks *blocks,
                       wt_error *err)
{
    return map_file(out, heads, path, blocks, false, err);
}

void wt__file_unmap(struct mapping *mapping)
{
    if (mapping->ptr)
        munmap((void *)mapping->ptr, mapping->len);
    *mapping = (struct mapping){0};
}

/* ---------------------------------------------------------------- replacing
 *
 * A new version of PATH is written to PATH.unfinished-XXXXXX. Its writer holds a lock on that file until the rename. A
 * temporary file that can be locked was left by a dead process; the next writer of PATH removes it. */

static const char *find_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the parent folder: "a/b/c" gives "a/b", "c" gives ".". Returns NULL if out of memory. */
static char *copy_parent_folder(const char *path)
{
    const char *name = find_base_name(path);
    if (name == path)
        return wt__copy_string(".", 1);
    return name == path + 1 ? wt__copy_string("/", 1) : wt__copy_string(path, (size_t)(name - path) - 1);
}

static bool is_unfinished(struct str entry, struct str name)
{
    return entry.len == name.len + sizeof UNFINISHED - 1 + RANDOM_LETTERS && wt__str_starts(entry, name) &&
           memcmp(entry.ptr + name.len, UNFINISHED, sizeof UNFINISHED - 1) == 0;
}

/* Removes a temporary file if its writer no longer holds the lock. */
static void remove_abandoned(int folder, const char *entry)
{
    struct stat info;
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, entry, 0);
    close(fd);
}

/* Removes the temporary files that dead writers of path left. Errors are harmless and ignored. */
static void remove_all_abandoned(const char *path)
{
    WT_AUTO_FREE char *folder = copy_parent_folder(path);
    DIR *handle = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    while (handle && (entry = readdir(handle)))
        if (is_unfinished(wt__str(entry->d_name), wt__str(find_base_name(path))))
            remove_abandoned(dirfd(handle), entry->d_name);
    if (handle)
        closedir(handle);
}

/* Locks a new temporary file. Returns false if another writer removed it between creation and lock, or has locked it to
 * remove it. On file systems without locks, returns true; no temporary files are removed there. */
static bool lock_unfinished(int fd)
{
    struct stat info;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno != EWOULDBLOCK;
    return fstat(fd, &info) < 0 || info.st_nlink > 0;
}

/* Creates the file replace->temporary and chooses the last letters of its name. */
static int create_unfinished(struct replace *replace)
{
    char *letters = replace->temporary + strlen(replace->path) + sizeof UNFINISHED - 1;
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        memset(letters, 'X', RANDOM_LETTERS);
        int fd = mkostemp(replace->temporary, O_CLOEXEC);
        if (fd < 0 || lock_unfinished(fd))
            return fd;
        close(fd);
    }
    errno = EBUSY;
    return -1;
}

int wt__replace_begin(struct replace *out, const char *path, wt_error *err)
{
    *out = (struct replace){.fd = -1};
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return wt__fail(err, WT_EINVAL, "cannot write %s: not a regular file; name a file to write", path);
    size_t len = strlen(path);
    out->path = wt__copy_string(path, len);
    out->temporary = wt__alloc_array(len + sizeof UNFINISHED + RANDOM_LETTERS, 1);
    if (!out->path || !out->temporary) {
        wt__replace_abort(out);
        return wt__fail_nomem(err);
    }
    remove_all_abandoned(path);
    memcpy(out->temporary, path, len);
    memcpy(out->temporary + len, UNFINISHED "XXXXXX", sizeof UNFINISHED + RANDOM_LETTERS);
    out->fd = create_unfinished(out);
    if (out->fd < 0) {
        int rc = wt__fail_errno(err, "write", path);
        wt__replace_abort(out);
        return rc;
    }
    fchmod(out->fd, 0644); /* mkostemp gives 0600, but derived files are not secret; errors are harmless */
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

/* Makes the new name durable and frees the temporary name. */
static int finish_commit(struct replace *replace, wt_error *err)
{
    free(replace->temporary);
    replace->temporary = NULL;
    WT_AUTO_FREE char *folder = copy_parent_folder(replace->path);
    WT_CHECK_ALLOC(folder, err);
    return wt__sync_folder(folder, err);
}

int wt__replace_commit(struct replace *replace, wt_error *err)
{
    int rc = 0;
    if (fsync(replace->fd) < 0)
        rc = wt__fail_errno(err, "write", replace->path);
    else if (rename(replace->temporary, replace->path) < 0)
        rc = wt__fail_errno(err, "replace", replace->path);
    if (rc == 0)
        rc = finish_commit(replace, err);
    wt__replace_abort(replace);
    return rc;
}

/* Computes the SHA-256 of a file. */
static int hash_file(unsigned char digest[32], const char *path, wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    WT_TRY(wt__file_read(&text, &len, path, SIZE_MAX - 1, err));
    wt__sha256(text, len, digest);
    return 0;
}

/* Exchanges the temporary file and the file. Sets errno to EINVAL or ENOSYS if this is not supported. */
static int swap_files(const struct replace *replace)
{
#ifdef RENAME_EXCHANGE
    return renameat2(AT_FDCWD, replace->temporary, AT_FDCWD, replace->path, RENAME_EXCHANGE);
#else
    (void)replace;
    errno = ENOSYS;
    return -1;
#endif
}

static int fail_changed(const struct replace *replace, wt_error *err)
{
    return wt__fail(err, WT_EBUSY, "another program changed %s; try again", replace->path);
}

/* Reports that the text of the other program cannot be restored. Keeps the temporary file, which holds this text. */
static int leave_displaced(struct replace *replace, wt_error *err)
{
    int rc = wt__fail(err, WT_EIO, "another program changed %s, and its text cannot be restored; the text is in %s",
                      replace->path, replace->temporary);
    free(replace->temporary);
    replace->temporary = NULL;
    return rc;
}

/* Checks the content that a swap moved from the file to the temporary file. If the content is unexpected, another
 * program wrote the file just before the swap, so the two files are swapped back. That swap may in turn displace a
 * newer text of the other program, which is then swapped back. expected: hash that the temporary file should have now.
 * placed: hash of the content that the last swap put in place. */
static int settle_swap(struct replace *replace, unsigned char expected[32], unsigned char placed[32], wt_error *err)
{
    unsigned char found[32];
    for (int swaps = 0; swaps < SWAPS_MAX; swaps++) {
        int rc = hash_file(found, replace->temporary, err);
        if (rc == 0 && memcmp(found, expected, sizeof found) == 0)
            return swaps == 0 ? 0 : fail_changed(replace, err);
        if (swap_files(replace) < 0)
            return leave_displaced(replace, err);
        if (rc < 0)
            return rc;
        memcpy(expected, placed, sizeof found);
        memcpy(placed, found, sizeof found);
    }
    return leave_displaced(replace, err);
}

int wt__replace_commit_over(struct replace *replace, struct str old, struct str text, wt_error *err)
{
    unsigned char expected[32], placed[32], now[32];
    wt__sha256(old.ptr, old.len, expected);
    wt__sha256(text.ptr, text.len, placed);
    int rc = fsync(replace->fd) < 0 ? wt__fail_errno(err, "write", replace->path) : hash_file(now, replace->path, err);
    if (rc == 0 && memcmp(now, expected, sizeof now) != 0)
        rc = fail_changed(replace, err);
    if (rc == 0 && swap_files(replace) == 0) {
        rc = settle_swap(replace, expected, placed, err);
        if (rc == 0)
            unlink(replace->temporary);
    } else if (rc == 0) {
        rc = (errno == EINVAL || errno == ENOSYS) && rename(replace->temporary, replace->path) == 0
                 ? 0
                 : wt__fail_errno(err, "replace", replace->path);
    }
    if (rc == 0)
        rc = finish_commit(replace, err);
    wt__replace_abort(replace);
    return rc;
}

void wt__replace_abort(struct replace *replace)
{
    if (replace->temporary && replace->fd >= 0)
        unlink(replace->temporary);
    if (replace->fd >= 0)
        close(replace->fd);
    free(replace->temporary);
    free(replace->path);
    *replace = (struct replace){.fd = -1};
}

int wt__file_replace(const char *path, const void *bytes, size_t len, wt_error *err)
{
    WT_CLEANUP(wt__replace_abort) struct replace replace = {.fd = -1};
    WT_TRY(wt__replace_begin(&replace, path, err));
    WT_TRY(wt__replace_write(&replace, bytes, len, err));
    return wt__replace_commit(&replace, err);
}

/* ---------------------------------------------------------------- folders */

int wt__make_folders(const char *path, wt_error *err)
{
    WT_AUTO_FREE char *partial = wt__copy_string(path, strlen(path));
    WT_CHECK_ALLOC(partial, err);
    for (char *at = partial + (partial[0] == '/');; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char ended = *at;
        *at = '\0';
        if (partial[0] && mkdir(partial, 0777) < 0 && !wt__is_folder(partial))
            return errno == EEXIST || errno == ENOTDIR
                       ? wt__fail(err, WT_EIO, "cannot create folder %s: a file is in its place", partial)
                       : wt__fail_errno(err, "create folder", partial);
        if (!ended)
            return 0;
        *at = ended;
    }
}

int wt__sync_folder(const char *folder, wt_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return wt__fail_errno(err, "open", folder);
    /* Some file systems cannot sync a folder and fail with EINVAL. There the rename is as durable as possible. */
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

struct folder_listing {
    struct arena *arena;
    char **paths;
    size_t count, capacity, max;
    bool flat; /* skip subfolders */
};

static int walk_folder(struct folder_listing *listing, const char *folder, unsigned depth, wt_error *err);

static int list_entry(struct folder_listing *listing, const char *path, unsigned depth, wt_error *err)
{
    struct stat info;
    if (lstat(path, &info) < 0)
        return errno == ENOENT ? 0 : wt__fail_errno(err, "read", path);
    if (S_ISDIR(info.st_mode))
        return walk_folder(listing, path, depth + 1, err);
    bool broken = S_ISLNK(info.st_mode) && stat(path, &info) < 0; /* listed, so that the reader reports the error */
    if (!broken && !S_ISREG(info.st_mode))
        return 0;
    if (listing->count == listing->max)
        return wt__fail(err, WT_ETOOLONG, "more than %zu files in the folder", listing->max);
    if (wt__grow((void **)&listing->paths, &listing->capacity, listing->count + 1, sizeof *listing->paths) < 0)
        return wt__fail_nomem(err);
    listing->paths[listing->count++] = (char *)path;
    return 0;
}

static int walk_folder(struct folder_listing *listing, const char *folder, unsigned depth, wt_error *err)
{
    if (depth > 0 && listing->flat)
        return 0;
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

static int list_sorted(struct folder_listing *listing, const char *folder, char ***paths, size_t *count, wt_error *err)
{
    *paths = NULL;
    *count = 0;
    int rc = walk_folder(listing, folder, 0, err);
    WT_AUTO_FREE char **found = listing->paths;
    WT_TRY(rc);
    *paths = wt__arena_array(listing->arena, char *, listing->count);
    WT_CHECK_ALLOC(*paths, err);
    *count = listing->count;
    if (*count > 0)
        memcpy(*paths, found, *count * sizeof **paths);
    wt__sort_texts(*paths, *count);
    return 0;
}

int wt__list_files(struct arena *arena, const char *folder, size_t max_files, char ***paths, size_t *count,
                   wt_error *err)
{
    struct folder_listing listing = {.arena = arena, .max = max_files};
    return list_sorted(&listing, folder, paths, count, err);
}

int wt__list_own_files(struct arena *arena, const char *folder, size_t max_files, char ***paths, size_t *count,
                       wt_error *err)
{
    struct folder_listing listing = {.arena = arena, .max = max_files, .flat = true};
    return list_sorted(&listing, folder, paths, count, err);
}

/* Returns "whichtool" below an XDG base folder. Never falls back to the current folder: data stored there would be lost
 * when the program runs elsewhere. */
static int find_xdg_folder(char **out, struct arena *arena, const char *variable, const char *below_home, wt_error *err)
{
    const char *base = getenv(variable), *home = getenv("HOME");
    *out = NULL;
    if (!base || base[0] != '/') {
        if (!home || home[0] != '/')
            return wt__fail(err, WT_ENOTFOUND, "neither HOME nor %s is set to an absolute path: set HOME", variable);
        base = wt__path_join(arena, home, below_home);
    }
    *out = base ? wt__path_join(arena, base, "whichtool") : NULL;
    return *out ? 0 : wt__fail_nomem(err);
}

int wt__data_folder(char **out, struct arena *arena, wt_error *err)
{
    return find_xdg_folder(out, arena, "XDG_DATA_HOME", ".local/share", err);
}

int wt__cache_folder(char **out, struct arena *arena, wt_error *err)
{
    return find_xdg_folder(out, arena, "XDG_CACHE_HOME", ".cache", err);
}

int wt__config_folder(char **out, struct arena *arena, wt_error *err)
{
    return find_xdg_folder(out, arena, "XDG_CONFIG_HOME", ".config", err);
}

/* ---------------------------------------------------------------- locks */

static int lock_file_as(int *fd, const char *path, int kind, unsigned wait_ms, wt_error *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (*fd < 0)
        return wt__fail_errno(err, "open", path);
    double until = wt__now_ms() + wait_ms;
    while (flock(*fd, kind | LOCK_NB) < 0) {
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

int wt__lock_file(int *fd, const char *path, unsigned wait_ms, wt_error *err)
{
    return lock_file_as(fd, path, LOCK_EX, wait_ms, err);
}

int wt__share_file(int *fd, const char *path, unsigned wait_ms, wt_error *err)
{
    return lock_file_as(fd, path, LOCK_SH, wait_ms, err);
}

bool wt__is_shared(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool shared = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    wt__unlock_file(fd);
    return shared;
}

void wt__unlock_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

void wt__close_from(int first)
{
    struct rlimit most;
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, (unsigned)first, ~0u, 0u))
        return;
#endif
    if (!getrlimit(RLIMIT_NOFILE, &most))
        for (rlim_t fd = (rlim_t)first; fd < most.rlim_cur; fd++)
            close((int)fd);
}
