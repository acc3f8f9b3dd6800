/* client_write.h: writing other programs' files. A file is replaced in one step, by one of the same owner and
 * permissions, and only while it still holds what was read; links are followed, so that a link stays one. */
#ifndef WT_SETUP_CLIENT_WRITE_H
#define WT_SETUP_CLIENT_WRITE_H

#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    CLIENT_BACKUPS_MAX = 1000,
    CLIENT_TRIES = 6,    /* for a file that its client changes again and again */
    CLIENT_PAUSE_MS = 5, /* before the second try; twice as long before each that follows */
};

struct client_text {
    const char *path; /* of the file itself, links followed */
    struct str text;
    struct stat info;
};

/* Reads a file and says whether it may be written. Returns 1, or 0 with *why it cannot be read or may not be written,
 * or WT_ENOMEM. */
int wt__client_text_read(struct client_text *out, const char **why, struct arena *arena, const char *path,
                         wt_error *err);

/* Replaces the file if it still holds what was read. Errors: WT_EBUSY (it does not, and stays as it is), ... */
int wt__client_text_write(const struct client_text *old, struct str text, wt_error *err);
/* Waits before another try. tries: number of tries so far, from 0. */
void wt__client_pause(int tries);

/* Copies the text to a name that no file had: FILE.whichtool-backup, FILE.whichtool-backup-2, ... An earlier copy of
 * the same bytes is used again. *out: its path. *is_new: the copy was made now. */
int wt__client_backup(const char **out, bool *is_new, struct arena *arena, const struct client_text *text,
                      wt_error *err);

/* A file of our own, which its owner alone reads. */
int wt__private_write(const char *path, struct str text, wt_error *err);

/* The SHA-256 as 64 digits in the arena; NULL when memory is out. */
const char *wt__text_hash(struct arena *arena, struct str text);

#endif
