/* keys.h: bearer keys and what each may do.
 *
 * A key is 256 random bits, so its SHA-256 needs neither salt nor stretching; the file holds nothing but names, scopes
 * and hashes. A key that comes in is hashed and compared with every row, each in the same time, so that an answer's
 * time tells neither how much of a key was right nor whose it is. Keys are never logged, only their names. */
#ifndef WT_SERVE_KEYS_H
#define WT_SERVE_KEYS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

enum scope {
    SCOPE_OPEN = 0,         /* no key is needed */
    SCOPE_FIND = 1 << 0,    /* find, pick, list, embed; write a call (POST /v1/call), which calls nothing */
    SCOPE_WRITE = 1 << 1,   /* import and remove tools */
    SCOPE_USAGE = 1 << 2,   /* record use */
    SCOPE_METRICS = 1 << 3, /* figures and status */
    SCOPE_ADMIN = 1 << 4,   /* all of these */
    SCOPE_CALL = 1 << 5,    /* have a server behind the gateway do something: call a tool, read a resource, ... */
};

enum {
    KEYS_MAX = 10000,
    KEY_NAME_BYTES_MAX = 64,
    KEY_BYTES_MAX = 256, /* of a key that comes in */
    KEYS_FILE_BYTES_MAX = 4 << 20,
};

/* "find,usage" as bits; 0 where a word is none, with *err. */
unsigned wt__scopes_read(struct str text, wt_error *err);
/* The word of one scope. */
const char *wt__scope_word(enum scope scope);

struct keys;

/* Reads the file: a key a line, NAME SCOPES SHA256, '#' begins a comment. Errors: WT_ENOTFOUND, WT_EFORMAT with the
 * line, WT_ETOOLONG, WT_ENOMEM. */
int wt__keys_open(struct keys **out, const char *path, wt_error *err);
void wt__keys_close(struct keys *keys); /* NULL is a no-op */
size_t wt__keys_count(const struct keys *keys);
/* Keys with the scope `find` that may not call: a file written before the scope `call` existed has such keys. */
size_t wt__keys_finding_only(const struct keys *keys);

struct key_found {
    const char *name; /* lives as long as the keys; NULL: no such key */
    unsigned scopes;
};
struct key_found wt__keys_find(const struct keys *keys, struct str key);

/* Whether who has these scopes may do what needs that one. */
bool wt__scope_allows(unsigned scopes, enum scope needed);

/* The key of "Bearer KEY"; empty where the field is not one. */
struct str wt__bearer_of(struct str authorization);

/* Makes a key, appends its row to the file (created with mode 0600), and gives the key: the only time that it is seen.
 * Errors: WT_EINVAL (the name is none, or is taken), those of wt__keys_open but WT_ENOTFOUND, WT_EREADONLY, WT_EIO. */
int wt__keys_add(const char *path, const char *name, unsigned scopes, char key[64], wt_error *err);

#endif
