/* client_record.h: what was changed in clients' files, so that it can be put back: a file of our own beside the
 * servers, which is written before the first of those files is.
 *
 * Changes are a stack: the last one is taken back first. A change says which bytes the file had before, kept as a copy
 * beside it, and which afterwards, both by their hash; which servers were taken out, as they were written there; and by
 * which entry they were replaced. A change whose file still has the bytes of before was never made. */
#ifndef WT_SETUP_CLIENT_RECORD_H
#define WT_SETUP_CLIENT_RECORD_H

#include "base/arena.h"
#include "base/json.h"

enum { CLIENT_RECORD_BYTES_MAX = 64 << 20, CLIENT_CHANGES_MAX = 4096 };

struct client_moved {
    const char *name, *as;  /* in the client's file, and in ours */
    const char *text;       /* as the client's file had it */
    const char *definition; /* as ours got it, JSON */
};

struct client_change {
    const char *client, *file; /* file: links followed */
    const char *outer, *inner; /* members that lead to the servers; outer may be NULL */
    const char *backup;
    const char *before, *after; /* SHA-256 */
    const char *entry;          /* NULL: it was there already */
    struct client_moved *moved;
    size_t moved_count;
};

struct client_record {
    bool made_servers; /* there was no file of servers before */
    struct client_change *changes;
    size_t count;
};

/* What there is at path; no file is an empty record. All of it is the arena's. Errors: WT_EFORMAT, WT_EIO, WT_ENOMEM.
 */
int wt__client_record_read(struct client_record *out, struct arena *arena, const char *path, wt_error *err);
int wt__client_record_write(const struct client_record *record, const char *path, wt_error *err);

#endif
