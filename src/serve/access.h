/* access.h: decides if a request may be served. Checks Host, Origin, the bearer key and its scopes.
 *
 * A web page can send requests to servers on the visitor's machine. With DNS rebinding, it can also read the responses.
 * Two checks prevent this:
 * - Host must name this server; else the status is 421.
 * - Origin must be absent, the server's own origin or a configured origin; else the status is 403. Programs other than
 *   browsers omit Origin.
 *
 * A key has 256 random bits, so its SHA-256 needs no salt. The key file contains only names, scopes and hashes, and the
 * tenant of each key that belongs to one. A lookup finds the hashes that share the first eight bytes with the received
 * one, and compares them in constant time. Response times can only tell the beginning of a hash, from which no key can
 * be computed. Keys are never logged. */
#ifndef WT_SERVE_ACCESS_H
#define WT_SERVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

/* Hosts and origins that requests may name. Loopback hosts are always allowed. */
struct guard {
    const char *listen;       /* address that the server listens on: "HOST:PORT" or "unix:PATH" */
    const char *const *hosts; /* [host_count], without ports */
    size_t host_count;
    const char *const *origins; /* [origin_count], such as "https://app.example.com" */
    size_t origin_count;
};

/* True if only this machine can reach the address. Unix sockets qualify. */
bool wt__is_loopback_address(const char *listen);

/* True if the value of a Host field is a loopback name, the host of the listen address, or a configured host. */
bool wt__guard_host(const struct guard *guard, struct str host);
enum origin { ORIGIN_NONE, ORIGIN_OWN, ORIGIN_CONFIGURED, ORIGIN_FOREIGN };
/* Classifies the value of an Origin field. host: value of the Host field. */
enum origin wt__guard_origin(const struct guard *guard, struct str origin, struct str host);

enum scope {
    SCOPE_OPEN = 0,         /* no key required */
    SCOPE_FIND = 1 << 0,    /* find, pick, list, embed, rerank; write a call (POST /v1/call) without executing it */
    SCOPE_WRITE = 1 << 1,   /* import and remove tools */
    SCOPE_USAGE = 1 << 2,   /* record usages */
    SCOPE_METRICS = 1 << 3, /* metrics and status */
    SCOPE_ADMIN = 1 << 4,   /* everything */
    SCOPE_CALL = 1 << 5,    /* use servers behind the gateway: call a tool, read a resource, ... */
};

enum {
    KEYS_MAX = 200000,
    KEY_NAME_BYTES_MAX = 64,
    KEY_BYTES_MAX = 256, /* maximum length of a received key */
    KEYS_FILE_BYTES_MAX = 64 << 20,
};

/* Parses a list such as "find,usage". Returns the scopes as bits, or 0 with *err set. */
unsigned wt__scopes_parse(struct str text, wt_error *err);
/* Returns the name of one scope. */
const char *wt__scope_name(enum scope scope);

struct keys;

/* Reads the key file. Each line is NAME SCOPES SHA256, or NAME SCOPES SHA256 tenant=TENANT; '#' begins a comment. A
 * key of a tenant can only have the scopes find, call, write and usage. Errors: WT_ENOTFOUND, WT_EFORMAT with the
 * line, WT_ETOOLONG, WT_EIO, WT_ENOMEM. */
int wt__keys_open(struct keys **out, const char *path, wt_error *err);
void wt__keys_close(struct keys *keys); /* NULL is a no-op */
size_t wt__keys_count(const struct keys *keys);
/* Returns the number of keys with the scope `find` but not `call`. Files written before the scope `call` existed have
 * such keys. */
size_t wt__keys_count_find_only(const struct keys *keys);
/* Returns the number of keys that belong to a tenant. */
size_t wt__keys_count_of_tenants(const struct keys *keys);

struct key_found {
    const char *name; /* NULL if the key is unknown; valid as long as the keys */
    unsigned scopes;
    const char *tenant; /* tenant of the key; NULL without one; valid as long as the keys */
};
/* Looks up a key as received. */
struct key_found wt__keys_find(const struct keys *keys, struct str key);

/* True if `scopes` grants `needed`; admin grants everything. */
bool wt__scope_allows(unsigned scopes, enum scope needed);

/* Returns KEY of an Authorization value "Bearer KEY", or an empty string for other values. */
struct str wt__bearer_key(struct str authorization);

/* Creates a key and appends its row to the file, which is created with mode 0600. tenant: NULL for none. Stores the
 * key in `key`; the key cannot be recovered later. Errors: WT_EINVAL (the name is invalid or taken), WT_EREADONLY,
 * WT_EIO, and those of wt__keys_open except WT_ENOTFOUND. */
int wt__keys_add(const char *path, const char *name, unsigned scopes, const char *tenant, char key[64], wt_error *err);

#endif
