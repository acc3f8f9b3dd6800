/* client_write.h: writes other programs' files. A file is replaced atomically, keeps its owner and permissions, and is
 * replaced only if it is unchanged since it was read. Links are followed, and stay links. */
#ifndef WT_SETUP_CLIENT_WRITE_H
#define WT_SETUP_CLIENT_WRITE_H

#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    CLIENT_BACKUPS_MAX = 1000,
    CLIENT_TRIES = 6,    /* for a file that its client keeps changing */
    CLIENT_PAUSE_MS = 5, /* before the second try; doubled before each further one */
};

struct client_text {
    const char *path; /* with links resolved */
    struct str text;
    struct stat info;
};

/* Reads a file and checks that it is writable. Returns 1, 0 with the reason in *why if it cannot be read or written, or
 * WT_ENOMEM. */
int wt__client_text_read(struct client_text *out, const char **why, struct arena *arena, const char *path,
                         wt_error *err);

/* Replaces the file if it is unchanged since it was read. Errors: WT_EBUSY (it was changed, and stays so),
 * ... */
int wt__client_text_write(const struct client_text *old, struct str text, wt_error *err);
/* Waits before another try. tries: number of tries so far, from 0. */
void wt__client_pause(int tries);

/* Copies the text to a new file: FILE.whichtool-backup, FILE.whichtool-backup-2, ... Reuses an earlier copy of the same
 * text. *out: path of the copy. *is_new: true if this call created it. */
int wt__client_backup(const char **out, bool *is_new, struct arena *arena, const struct client_text *text,
                      wt_error *err);

/* Writes a file of our own. Only its owner may read it. */
int wt__private_write(const char *path, struct str text, wt_error *err);

/* Returns the SHA-256 as 64 hexadecimal digits in the arena; NULL if out of memory. */
const char *wt__text_hash(struct arena *arena, struct str text);

#endif
