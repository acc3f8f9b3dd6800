/* client_files.h: moves the servers of clients' files behind whichtool, and back.
 *
 * Planning reads and changes nothing: for each file that is there it says which servers move, under which names, which
 * stay and why, or why the whole file is left. Applying does what was planned, in an order by which a crash at any
 * moment leaves each file old or new, and a way back:
 *
 *   1. a copy of each file beside it            3. the servers' own file (servers.json)
 *   2. the record of all changes (init.json)    4. the clients' files, one after the other
 *
 * The definitions that move are written by hand elsewhere, and are program code to whoever starts them: a file is
 * edited only if it is JSON that was understood, and only if what comes out is the same JSON but for what was planned.
 */
#ifndef WT_SETUP_CLIENT_FILES_H
#define WT_SETUP_CLIENT_FILES_H

#include "setup/client_record.h"
#include "setup/client_write.h"
#include "setup/clients.h"

enum { CLIENT_NAMES_MAX = 99 }; /* name, name-2, ... */

struct import_options {
    enum client_system system;
    const char *project;        /* the files of the project in this folder, in the place of the user's; or NULL */
    const char *const *clients; /* [client_count]; none: all */
    size_t client_count;
    const char *folder;  /* of our own files; absolute */
    const char *program; /* how clients are to start whichtool */
    const char *store;   /* which store it is to use, or NULL */
    bool no_environment; /* hand on none of the offered variables of this process */
};

struct import_server {
    const char *name;
    const char *as;      /* behind whichtool; NULL: it stays */
    const char *why;     /* it stays */
    bool shared;         /* as another client has it */
    const char *missing; /* its program, which was not found; NULL */
    struct client_moved moved;
};

struct import_file {
    const struct client_place *place;
    const char *path;
    const char *why;       /* it is left as it is: why; NULL */
    const char *note;      /* what else is to be told; NULL */
    const char *handed_on; /* names of the offered variables that its programs get, separated by ", "; NULL if none */
    struct import_server *servers;
    size_t count, moving;
    const char *entry;      /* by which name whichtool stands in it */
    const char *entry_text; /* as it is written; NULL: it stands there already */
    const char *backup;     /* copy of the text that is replaced; NULL before it is applied */
    bool has_new_backup;    /* the copy was made by this run */
    bool written;

    struct client_text text;
    struct str after;
};

struct import {
    const struct import_options *options; /* of the plan */
    struct import_file *files;            /* [count] that are there */
    size_t count, moving;
    const char *folder, *servers_path, *record_path;

    struct arena arena;
    json_t *servers;            /* of our file, as it is to be */
    struct client_text present; /* our file as it is; its path is NULL: there is none */
    struct str servers_after;
    struct client_record record;
    int lock;
};

/* Errors: WT_ENOTFOUND (no HOME), WT_EFORMAT (our own files are not understood), WT_ETOOLONG, WT_EBUSY, WT_EIO,
 * WT_ENOMEM. *out is disposed of by the caller, also on failure. */
int wt__client_import_plan(struct import *out, const struct import_options *options, wt_error *err);

/* A file that its client changes meanwhile is planned again, a few times, as long as the same servers move. A file that
 * cannot be written has its why, others are written; the first failure is returned. The options of the plan must still
 * be there. */
int wt__client_import_apply(struct import *import, wt_error *err);
void wt__client_import_dispose(struct import *import);

/* ---------------------------------------------------------------- back */

enum undo_state {
    UNDO_BYTES,  /* as it was, byte for byte */
    UNDO_EDITED, /* it was changed since: the entry is taken out and the servers are put back */
    UNDO_NEVER,  /* it is as it was */
    UNDO_GONE,   /* there is no such file any more */
    UNDO_LEFT    /* why says why nothing is done */
};

struct undo_file {
    const char *client, *path, *backup;
    enum undo_state state;
    const char *why;
    const char **back; /* [back_count] names of servers that are put back */
    size_t back_count;
    const char **kept; /* [kept_count] names that the file has again: they are not put back */
    size_t kept_count;
    bool written;

    struct client_text text;
    struct str after;
};

struct undo {
    struct undo_file *files; /* [count] */
    size_t count;
    const char *folder, *servers_path, *record_path;
    const char **left; /* [left_count] servers of our file that stay there, since they were changed since */
    size_t left_count;
    const char **added; /* [added_count] servers of our file that somebody wrote there: they stay */
    size_t added_count;

    struct arena arena;
    struct client_record record;
    bool *taken; /* [record.count] changes that are taken back */
    int lock;
};

/* The same, of what wt__client_import_apply did; options: folder, clients. */
int wt__client_undo_plan(struct undo *out, const struct import_options *options, wt_error *err);
int wt__client_undo_apply(struct undo *undo, wt_error *err);
void wt__client_undo_dispose(struct undo *undo);

#endif
