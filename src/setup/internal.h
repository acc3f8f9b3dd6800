/* internal.h: functions that init and undo share. */
#ifndef WT_SETUP_INTERNAL_H
#define WT_SETUP_INTERNAL_H

#include "mcp/server.h"
#include "setup/client_files.h"

/* ---------------------------------------------------------------- our folder */

/* Sets the paths of servers.json and init.json in the folder. */
int wt__client_own_paths(const char *folder, struct arena *arena, const char **servers, const char **record,
                         wt_error *err);
/* Locks the folder against other processes. */
int wt__client_lock(int *fd, const char *folder, struct arena *arena, wt_error *err);
/* Removes the lock file, and the folder if it is empty. The caller holds the lock. */
void wt__client_remove_lock(const char *folder, struct arena *arena);
/* True if the options include the client. */
bool wt__client_is_chosen(const struct client_import_options *options, const char *client);

/* ---------------------------------------------------------------- servers
 *
 * A moved server must work without the help of its client, and must not gain abilities that the client denies. A server
 * therefore stays with its client if the client asks the user for input, reads a file of variables, signs in, or leaves
 * out some tools. A server with an unknown member stays, too. */

enum { CLIENT_VARIABLES_MAX = 64 };

struct client_server {
    const char *why;                             /* why it stays, in the arena; NULL if it can move */
    json_t *definition;                          /* definition for our file, owned by the caller; NULL if it stays */
    const char *variables[CLIENT_VARIABLES_MAX]; /* names of the environment variables that it uses */
    size_t variable_count;
};

/* Checks if a server can move. entry: the server in the client's file. server: the same entry, as parsed by
 * mcp/config.h. Returns 0 or WT_ENOMEM. */
int wt__client_check_server(struct client_server *out, struct arena *arena, const struct client_place *place,
                            const struct mcp_server *server, const json_t *entry, wt_error *err);

/* True if the entry starts whichtool with this file of servers. */
bool wt__client_entry_is_ours(const json_t *entry, const char *servers_path);

/* ---------------------------------------------------------------- files
 *
 * A file is replaced atomically, and only if it is unchanged since it was read. It keeps its owner and permissions.
 * Symbolic links are followed, and stay links. */

enum {
    CLIENT_BACKUPS_MAX = 1000, /* maximum backups of one file */
    CLIENT_TRIES = 6,          /* maximum retries to write a file that its client keeps changing */
    CLIENT_PAUSE_MS = 5,       /* pause before the first retry; doubled before each further retry */
};

/* Reads a file and checks that it is writable. Returns 1 on success. Returns 0 and sets *why to the reason if the file
 * cannot be read or written. Returns WT_ENOMEM if out of memory. */
int wt__client_text_read(struct client_text *out, const char **why, struct arena *arena, const char *path,
                         wt_error *err);

/* Replaces the file if it is unchanged since it was read. Errors: WT_EBUSY (the file was changed, and is not replaced)
 * and those of base/file.h. */
int wt__client_text_write(const struct client_text *old, struct str text, wt_error *err);
/* Waits before a retry. tries: number of retries so far. */
void wt__client_pause(int tries);

/* Copies the text to a new file: FILE.whichtool-backup, FILE.whichtool-backup-2, ... Reuses an earlier copy of the same
 * text. *out: path of the copy. *is_new: true if this call created it. */
int wt__client_backup(const char **out, bool *is_new, struct arena *arena, const struct client_text *text,
                      wt_error *err);

/* Writes a file of our own. Only its owner may read it. */
int wt__private_write(const char *path, struct str text, wt_error *err);

/* ---------------------------------------------------------------- record */

/* Reads a record into the arena; a missing file is an empty record. Errors: WT_EFORMAT, WT_EIO, WT_ENOMEM. */
int wt__client_record_read(struct client_record *out, struct arena *arena, const char *path, wt_error *err);
int wt__client_record_write(const struct client_record *record, const char *path, wt_error *err);

#endif
