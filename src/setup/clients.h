/* clients.h: a table of the files in which MCP clients keep their servers. A new client is a new row.
 *
 * The paths are from the clients' documentation, for Linux and macOS. A path is below the home folder, below the
 * configuration folder ($XDG_CONFIG_HOME, else ~/.config; on macOS ~/Library/Application Support), or below the folder
 * of a project. Some clients have an environment variable with another folder for the file. */
#ifndef WT_SETUP_CLIENTS_H
#define WT_SETUP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum client_scope { CLIENT_OF_USER, CLIENT_OF_PROJECT };
enum client_system { CLIENT_LINUX, CLIENT_MACOS };

/* Syntax in which a client replaces variables of its environment. */
enum client_variables {
    VARIABLES_NONE,   /* replaces no variables */
    VARIABLES_BRACES, /* ${NAME}, ${NAME:-default} */
    VARIABLES_ENV,    /* ${env:NAME} */
    VARIABLES_DOLLAR  /* ${NAME} and $NAME */
};

struct client_place {
    const char *client;          /* name for --client */
    const char *title;           /* name shown to users */
    const char *file, *mac_file; /* "~/...", "CONFIG/...", or below the project; mac_file NULL if it equals file */
    const char *variable;        /* variable that overrides the folder of the file, or NULL */
    const char *outer, *inner;   /* the servers are in outer.inner; outer: NULL at the root; inner: NULL if not JSON */
    const char *extra, *value;   /* name and value of a member that each entry needs, or NULL */
    enum client_scope scope;
    enum client_variables variables;
};

/* Returns all rows, in display order. */
const struct client_place *wt__client_places(size_t *count);
bool wt__client_is_known(const char *client);

/* Returns the current system. */
enum client_system wt__client_system(void);

/* Sets *out to the absolute path of a place, in the arena. project: folder for CLIENT_OF_PROJECT. Errors: WT_ENOTFOUND
 * (HOME is not an absolute path), WT_ENOMEM. */
int wt__client_file(const char **out, struct arena *arena, const struct client_place *place, enum client_system system,
                    const char *project, wt_error *err);

#endif
