/* location.h: names of stores. A store is a file, or a schema in a PostgreSQL database, named by a URL:
 *
 *   postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?PARAMETER=VALUE&...]
 *
 * The scheme postgresql is the same. libpq parses the URL. `schema` is a parameter of whichtool (default "whichtool").
 * Passwords and other parameters never appear in messages and file names. */
#ifndef WT_STORE_LOCATION_H
#define WT_STORE_LOCATION_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

enum { STORE_SCHEMA_MAX = 63 }; /* maximum bytes of a schema's name, as in PostgreSQL */

/* True if the store is named by a URL of a database server. */
bool wt__is_store_url(const char *name);

/* Returns a name for messages: the path itself, or the URL without password and parameters. The caller frees *out.
 * Errors: WT_EINVAL (the URL is malformed; the message does not repeat it). */
int wt__store_shown(char **out, const char *name, wt_error *err);

/* Splits a URL into the schema and the URL for libpq, which has no schema. The caller frees *url. */
int wt__store_split_url(char **url, char schema[STORE_SCHEMA_MAX + 1], const char *name, wt_error *err);

/* Returns the name of the store of a tenant of this store, in the arena: folder/TENANT.wt, or for a URL the schema
 * SCHEMA_tenant_HASH of the same database. Errors: WT_EINVAL (the schema's name would be too long), WT_ENOMEM. */
int wt__store_of_tenant(char **out, struct arena *arena, const char *name, const char *folder, struct str tenant,
                        wt_error *err);

/* True if the URL contains a password. */
bool wt__has_store_password(const char *name);

/* Returns the path to which suffixes of derived files are added ("-index", for example), in the arena. For a file, the
 * path is the file itself. For a URL, it is in the cache folder if `cache`, else in the data folder. Its name is a hash
 * of host, port, database and schema. */
int wt__store_base(char **out, struct arena *arena, const char *name, bool cache, wt_error *err);

#endif
