/* file.h: files read whole, mapped, replaced in one step, and folders. No partial file is ever seen by another
 * process: write beside, fsync, rename, fsync the folder. */
#ifndef WT_BASE_FILE_H
#define WT_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* The whole file, at most max bytes (WT_ETOOLONG beyond), with a NUL after it. *out ends with free(). Reading and
 * mapping never wait: what is no file is refused (WT_EINVAL a folder, WT_EFORMAT a pipe, socket or device). */
int wt__file_read(char **out, size_t *len, const char *path, size_t max, wt_error *err);

/* A read-only map of a whole file. An empty file maps to ptr NULL, len 0. */
struct mapping {
    const unsigned char *ptr;
    size_t len;
};
int wt__file_map(struct mapping *out, const char *path, wt_error *err);
/* From now on wt__file_map reads files into memory instead. A mapped file that somebody cuts short ends the process by
 * SIGBUS when it is next read; a server must not end for that (docs/decisions/0020-servers-copy-files.md). */
void wt__file_map_copies(void);
void wt__file_unmap(struct mapping *mapping);

/* Replacing a file: begin, write, commit. Until commit the old content stays; without a commit, wt__replace_abort
 * removes what was written, and where a process died before either, the next wt__replace_begin of the same path. */
struct replace {
    int fd;
    char *path, *temporary;
};
int wt__replace_begin(struct replace *out, const char *path, wt_error *err);
int wt__replace_write(struct replace *replace, const void *bytes, size_t len, wt_error *err);
int wt__replace_commit(struct replace *replace, wt_error *err);
/* Like wt__replace_commit, but only if the file still holds `old`; text is what was written. Where the file system can
 * swap two files in one step, what another program writes at any moment stays in place. Else a moment is left between
 * the comparison and the rename. Errors: also WT_EBUSY (the file holds something else). */
int wt__replace_commit_over(struct replace *replace, struct str old, struct str text, wt_error *err);
void wt__replace_abort(struct replace *replace); /* a no-op after commit, or on an all-zero struct with fd -1 */
int wt__file_replace(const char *path, const void *bytes, size_t len, wt_error *err); /* all of it in one call */

/* Creates a folder and its parents; existing ones are fine. */
int wt__make_folders(const char *path, wt_error *err);
/* Makes a rename or unlink inside folder last. */
int wt__sync_folder(const char *folder, wt_error *err);

bool wt__is_folder(const char *path);
bool wt__is_file(const char *path);
uint64_t wt__file_size(const char *path); /* 0 when there is none */

/* "a/b" in the arena; a may end in '/'. NULL when memory is out. */
char *wt__path_join(struct arena *arena, const char *a, const char *b);

/* Regular files below folder, and links to nothing, sorted by path, hidden ones and links to folders left out; at most
 * max_files (WT_ETOOLONG beyond). paths live in the arena. */
int wt__list_files(struct arena *arena, const char *folder, size_t max_files, char ***paths, size_t *count,
                   wt_error *err);
/* The same, but no files of the folders in it. */
int wt__list_own_files(struct arena *arena, const char *folder, size_t max_files, char ***paths, size_t *count,
                       wt_error *err);

/* Where data, caches and configuration live: $XDG_DATA_HOME/whichtool and so on, else below $HOME. As the XDG base
 * directory specification wants, a path that is not absolute counts as not set. *out in the arena, else NULL.
 * Errors: WT_ENOTFOUND (nothing is set: the sentence says what to set), WT_ENOMEM. */
int wt__data_folder(char **out, struct arena *arena, wt_error *err);
int wt__cache_folder(char **out, struct arena *arena, wt_error *err);
int wt__config_folder(char **out, struct arena *arena, wt_error *err);

/* One process at a time: waits up to wait_ms for the lock file at path. *fd is closed by wt__unlock_file. */
int wt__lock_file(int *fd, const char *path, unsigned wait_ms, wt_error *err);
/* Many at a time, and none that wt__lock_file has: says to wt__is_shared that somebody is there, for as long as *fd is
 * open or the process lives. */
int wt__share_file(int *fd, const char *path, unsigned wait_ms, wt_error *err);
/* Whether anybody holds the lock file. Where there is none, or it cannot be read, nobody does. */
bool wt__is_shared(const char *path);
void wt__unlock_file(int fd);

#endif
