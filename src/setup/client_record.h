/* client_record.h: the record of changes to clients' files, from which undo restores them. It is a file next to
 * servers.json, and is written before the first client's file.
 *
 * Changes are a stack: the last one is undone first. A change has the hashes of the file before and after it, the path
 * of the backup, the removed servers as they were written, and the entry in their place. A change whose
 * file still has the content of `before` was never made. */
#ifndef WT_SETUP_CLIENT_RECORD_H
#define WT_SETUP_CLIENT_RECORD_H

#include "base/arena.h"
#include "base/json.h"

enum { CLIENT_RECORD_BYTES_MAX = 64 << 20, CLIENT_CHANGES_MAX = 4096 };

struct client_moved {
    const char *name, *as;  /* its names in the client's file and in ours */
    const char *text;       /* its JSON in the client's file */
    const char *definition; /* its JSON in ours */
};

struct client_change {
    const char *client, *file; /* file: links followed */
    const char *outer, *inner; /* members that lead to the servers; outer may be NULL */
    const char *backup;
    const char *before, *after; /* SHA-256 of the content */
    const char *entry;          /* name of the added entry; NULL if the file had it already */
    struct client_moved *moved;
    size_t moved_count;
};

struct client_record {
    bool made_servers; /* init created our file of servers */
    struct client_change *changes;
    size_t count;
};

/* Reads a record into the arena; a missing file is an empty record. Errors: WT_EFORMAT, WT_EIO, WT_ENOMEM. */
int wt__client_record_read(struct client_record *out, struct arena *arena, const char *path, wt_error *err);
int wt__client_record_write(const struct client_record *record, const char *path, wt_error *err);

#endif
