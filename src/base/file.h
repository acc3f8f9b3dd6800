/* file.h: reads, maps and atomically replaces files; lists and creates folders. Other processes never see a partial
 * file: write a temporary file, fsync it, rename it, fsync the folder. */
#ifndef WT_BASE_FILE_H
#define WT_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Reads a whole file of at most max bytes (else WT_ETOOLONG) and appends a NUL. Free *out with free(). Reading and
 * mapping never block: a folder fails with WT_EINVAL; a pipe, socket or device with WT_EFORMAT. */
int wt__file_read(char **out, size_t *len, const char *path, size_t max, wt_error *err);

/* A read-only mapping of a whole file. An empty file has ptr NULL and len 0. */
struct mapping {
    const unsigned char *ptr;
    size_t len;
};
int wt__file_map(struct mapping *out, const char *path, wt_error *err);
/* Makes wt__file_map read files into memory from now on. Truncating a mapped file raises SIGBUS at the next access,
 * which would end a server (docs/decisions/0020-servers-copy-files.md). */
void wt__file_map_copies(void);
/* Works like wt__file_map, but maps a file that only this user and root can write also after wt__file_map_copies, so
 * that all processes share its memory. For files that whichtool writes, and replaces by renaming only. */
int wt__file_map_own(struct mapping *out, const char *path, wt_error *err);
/* Works like wt__file_map for a file of `begin` bytes and then `count` blocks of `block` bytes, of which mainly the
 * first `head` bytes of each block will be read. These are read from the disk at once, and nothing else ahead. After
 * wt__file_map_copies, the copy has only these bytes, and *heads is true. */
struct file_blocks {
    size_t begin, block, head, count;
};
int wt__file_map_heads(struct mapping *out, bool *heads, const char *path, const struct file_blocks *blocks,
                       wt_error *err);
void wt__file_unmap(struct mapping *mapping);

/* Opens a regular file for wt__file_read_at at random places. Unlike a mapping, this needs no memory, and truncating
 * the file raises no signal. Close *fd with close(). */
int wt__file_open(int *fd, uint64_t *size, const char *path, wt_error *err);
/* Reads len bytes, or fewer at the end of the file. Returns their number, or -1 with errno. */
ssize_t wt__file_read_at(int fd, void *out, size_t len, off_t from);

/* A file replacement: begin, write, commit. The old content stays until the commit. wt__replace_abort removes the
 * temporary file. If the process dies first, the next wt__replace_begin of the same path removes it. */
struct replace {
    int fd;                 /* temporary file; -1 if it is not open */
    char *path, *temporary; /* paths of the file and of the temporary file */
};
int wt__replace_begin(struct replace *out, const char *path, wt_error *err);
int wt__replace_write(struct replace *replace, const void *bytes, size_t len, wt_error *err);
int wt__replace_commit(struct replace *replace, wt_error *err);
/* Works like wt__replace_commit, but only if the file still holds `old`. text is the new content as written. If the
 * file system can exchange two files atomically, a concurrent write by another program is never lost. Otherwise a write
 * between the comparison and the rename can be lost. Errors: also WT_EBUSY if another program changed the file. */
int wt__replace_commit_over(struct replace *replace, struct str old, struct str text, wt_error *err);
void wt__replace_abort(struct replace *replace); /* no-op after commit, or on a zeroed struct with fd -1 */
int wt__file_replace(const char *path, const void *bytes, size_t len, wt_error *err); /* all three steps at once */

/* Creates a folder and its parents. Existing folders are not an error. */
int wt__make_folders(const char *path, wt_error *err);
/* Makes renames and unlinks inside folder durable. */
int wt__sync_folder(const char *folder, wt_error *err);

bool wt__is_folder(const char *path);
bool wt__is_file(const char *path);
uint64_t wt__file_size(const char *path); /* 0 if the path is not a regular file */

/* Returns "a/b" in the arena; a may end in '/'. Returns NULL if out of memory. */
char *wt__path_join(struct arena *arena, const char *a, const char *b);

/* Lists regular files, links to regular files, and dangling links below folder, sorted by path. Skips hidden entries
 * and links to folders. Fails with WT_ETOOLONG if there are more than max_files files, or if folders are nested too
 * deep. The arena owns the paths. */
int wt__list_files(struct arena *arena, const char *folder, size_t max_files, char ***paths, size_t *count,
                   wt_error *err);
/* Works like wt__list_files, without the files of subfolders. */
int wt__list_own_files(struct arena *arena, const char *folder, size_t max_files, char ***paths, size_t *count,
                       wt_error *err);

/* Return the folders for data, caches and configuration: $XDG_DATA_HOME/whichtool and so on, else below $HOME. A
 * relative path counts as unset, as the XDG base directory specification requires. *out lives in the arena; NULL on
 * error. Errors: WT_ENOTFOUND if no variable is set (the message names the one to set), WT_ENOMEM. */
int wt__data_folder(char **out, struct arena *arena, wt_error *err);
int wt__cache_folder(char **out, struct arena *arena, wt_error *err);
int wt__config_folder(char **out, struct arena *arena, wt_error *err);

/* Takes an exclusive lock on the lock file at path; waits up to wait_ms. Release it with wt__unlock_file(*fd). */
int wt__lock_file(int *fd, const char *path, unsigned wait_ms, wt_error *err);
/* Takes a shared lock, which excludes wt__lock_file. Until *fd is closed or the process ends, wt__is_shared returns
 * true. */
int wt__share_file(int *fd, const char *path, unsigned wait_ms, wt_error *err);
/* True if any process holds a lock on the file. False if the file does not exist or cannot be read. */
bool wt__is_shared(const char *path);
void wt__unlock_file(int fd);

/* Closes all descriptors from `first` up, in a forked child. It exists because closefrom needs glibc 2.34, and is
 * async-signal-safe. */
void wt__close_from(int first);

#endif
