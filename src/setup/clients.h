/* clients.h: where the clients of MCP keep which servers they start, as a table: adding a client is a row.
 *
 * The places are those that the clients' own documentation names, for Linux and macOS. A place is below the home, below
 * the folder of configurations ($XDG_CONFIG_HOME, else ~/.config; on macOS ~/Library/Application Support), or below the
 * folder of a project; a variable may name another folder, as the client itself reads it. */
#ifndef WT_SETUP_CLIENTS_H
#define WT_SETUP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum client_scope { CLIENT_OF_USER, CLIENT_OF_PROJECT };
enum client_system { CLIENT_LINUX, CLIENT_MACOS };

/* What a client puts into the texts of a server for a variable of its own environment. */
enum client_variables {
    VARIABLES_NONE,   /* nothing: ${NAME} is what it says */
    VARIABLES_BRACES, /* ${NAME}, ${NAME:-default} */
    VARIABLES_ENV,    /* ${env:NAME} */
    VARIABLES_DOLLAR  /* ${NAME}, and $NAME too */
};

struct client_place {
    const char *client;          /* what --client names */
    const char *title;           /* as its users know it */
    const char *file, *mac_file; /* "~/...", "CONFIG/...", or of a project; mac_file NULL: the same */
    const char *variable;        /* names the folder of the file in the place of ~, where it is set; or NULL */
    const char *outer,
        *inner; /* members that lead to the servers; outer NULL: at the root; inner NULL: it is no JSON */
    const char *extra, *value; /* a member that each server has; or NULL */
    enum client_scope scope;
    enum client_variables variables;
};

/* All rows, in the order in which they are told. */
const struct client_place *wt__client_places(size_t *count);
bool wt__client_known(const char *client);

/* The system that this is. */
enum client_system wt__client_system(void);

/* The file of a place, absolute, in the arena. project: the folder of CLIENT_OF_PROJECT. Errors: WT_ENOTFOUND (HOME is
 * not set), WT_ENOMEM. */
int wt__client_file(const char **out, struct arena *arena, const struct client_place *place, enum client_system system,
                    const char *project, wt_error *err);

#endif
