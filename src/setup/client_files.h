/* client_files.h: moves the servers in MCP clients' files to whichtool's own file servers.json, and moves them back.
 *
 * After the move, the client's file has one entry in place of the servers. The entry starts whichtool with
 * servers.json, and whichtool starts the moved servers.
 *
 * Planning only reads. The plan lists the servers of each existing file. A moving server has its new name. Any other
 * server has the reason why it stays. A skipped file has a reason, too.
 *
 * Applying writes in this order:
 *
 *   1. a backup next to each file               3. our file of servers (servers.json)
 *   2. the record of all changes (init.json)    4. the clients' files, one after the other
 *
 * After a crash, each file has either its old or its new content, and undo still works.
 *
 * The definition of a server is code that clients run. A file is therefore edited only if it is valid JSON, and only if
 * the new text differs from the old text by the planned changes alone. */
#ifndef WT_SETUP_CLIENT_FILES_H
#define WT_SETUP_CLIENT_FILES_H

#include <sys/stat.h>

#include "base/json.h"
#include "base/str.h"
#include "setup/clients.h"

enum { CLIENT_NAMES_MAX = 99 }; /* maximum number of names that are tried: name, name-2, ... */

/* A file that belongs to another program. */
struct client_text {
    const char *path; /* with links resolved */
    struct str text;
    struct stat info;
};

/* ---------------------------------------------------------------- record of changes
 *
 * Undo restores the files from the record, beginning with the last change. The record is a file next to servers.json.
 * It is written before the clients' files, so it may list a change that was never made. In this case the file still has
 * the hash `before`. */

enum { CLIENT_RECORD_BYTES_MAX = 64 << 20, CLIENT_CHANGES_MAX = 4096 };

struct client_moved {
    const char *name, *as;  /* names of the server in the client's file and in our file */
    const char *text;       /* JSON of the server in the client's file */
    const char *definition; /* JSON of the server in our file */
};

struct client_change {
    const char *client, *file;  /* file: path with links resolved */
    const char *outer, *inner;  /* the servers are in outer.inner, or in inner if outer is NULL */
    const char *backup;         /* path of the backup */
    const char *before, *after; /* SHA-256 of the file's content before and after the change */
    const char *entry;          /* name of the added entry; NULL if the file had it already */
    struct client_moved *moved; /* [moved_count] servers that the change removed from the file */
    size_t moved_count;
};

struct client_record {
    bool made_servers; /* init created our file of servers */
    struct client_change *changes;
    size_t count;
};

/* ---------------------------------------------------------------- import */

struct client_import_options {
    enum client_system system;
    const char *project;        /* folder of a project, to edit its files instead of the user's; or NULL */
    const char *const *clients; /* [client_count] names of clients; all clients if the count is 0 */
    size_t client_count;
    const char *folder;  /* folder of our own files, absolute */
    const char *program; /* command of whichtool for the clients' files */
    const char *store;   /* store to pass to the program, or NULL */
    bool no_environment; /* do not add this process's variables for Docker and the network to the servers */
};

struct client_import_server {
    const char *name;
    const char *as;      /* name of the server in our file; NULL if it stays */
    const char *why;     /* why it stays; NULL if it moves */
    bool shared;         /* servers.json has the same definition already */
    const char *missing; /* the server's program if it cannot be found, else NULL */
    struct client_moved moved;
};

struct client_import_file {
    const struct client_place *place;
    const char *path;
    const char *why;                      /* why the file is skipped, or NULL */
    const char *note;                     /* further information for the user, or NULL */
    const char *handed_on;                /* names of the variables added to servers, separated by ", "; NULL if none */
    struct client_import_server *servers; /* [count] */
    size_t count, moving;                 /* moving: number of servers that move */
    const char *entry;                    /* name of whichtool's entry */
    const char *entry_text;               /* JSON of the entry; NULL if the file has it already */
    const char *backup;                   /* path of the backup; NULL before applying */
    bool has_new_backup;                  /* this run created the backup */
    bool written;

    struct client_text text; /* current content */
    struct str after;        /* planned content */
};

struct client_import {
    const struct client_import_options *options; /* options of the plan */
    struct client_import_file *files;            /* [count] existing files */
    size_t count, moving;                        /* moving: number of moving servers in all files */
    const char *folder, *servers_path, *record_path;

    struct arena arena;
    json_t *servers;            /* planned content of our file */
    struct client_text present; /* current content of our file; its path is NULL if the file does not exist */
    struct str servers_after;
    struct client_record record;
    int lock; /* descriptor of the lock file, or -1 */
};

/* Plans the move. The options must outlive *out. The caller disposes of *out, also after an error. Errors: WT_ENOTFOUND
 * (no HOME), WT_EFORMAT (our own files are invalid), WT_ETOOLONG, WT_EBUSY, WT_EIO, WT_ENOMEM. */
int wt__client_import_plan(struct client_import *out, const struct client_import_options *options, wt_error *err);

/* Applies the plan. If a client changes its file meanwhile, the file is planned and written again, up to CLIENT_TRIES
 * times. The new plan must move the same servers. If a file cannot be written, its `why` is set and the next files are
 * still written. Returns 0 or the first error. */
int wt__client_import_apply(struct client_import *import, wt_error *err);
void wt__client_import_dispose(struct client_import *import);

/* ---------------------------------------------------------------- undo */

enum client_undo_state {
    UNDO_BYTES,  /* restored byte for byte */
    UNDO_EDITED, /* the file or its backup was changed: the entry is removed and the servers are put back */
    UNDO_NEVER,  /* the file already has its old content */
    UNDO_GONE,   /* the file does not exist any more */
    UNDO_LEFT    /* the file is skipped; `why` has the reason */
};

struct client_undo_file {
    const char *client, *path, *backup;
    enum client_undo_state state;
    const char *why;   /* why the file is skipped, or NULL */
    const char **back; /* [back_count] names of servers to put back */
    size_t back_count;
    const char **kept; /* [kept_count] names of servers that are not put back, because the file has such a server */
    size_t kept_count;
    bool written;

    struct client_text text;
    struct str after;
};

struct client_undo {
    struct client_undo_file *files; /* [count] */
    size_t count;
    const char *folder, *servers_path, *record_path;
    const char **left; /* [left_count] servers kept in our file because they were changed since init */
    size_t left_count;
    const char **added; /* [added_count] servers kept in our file because init did not move them */
    size_t added_count;

    struct arena arena;
    struct client_record record;
    bool *taken; /* [record.count] true if the options select the change */
    int lock;
};

/* Plans the reverse of wt__client_import_apply. Uses only `folder` and `clients` of the options. The caller disposes of
 * *out, also after an error. */
int wt__client_undo_plan(struct client_undo *out, const struct client_import_options *options, wt_error *err);
int wt__client_undo_apply(struct client_undo *undo, wt_error *err);
void wt__client_undo_dispose(struct client_undo *undo);

/* Returns the SHA-256 as 64 hexadecimal digits in the arena; NULL if out of memory. */
const char *wt__text_hash(struct arena *arena, struct str text);

#endif
