/* audit_chain.h: the hash chain of an audit log, with or without a key.
 *
 * A line is `{"time":"...","seq":N,...,"chain":"DIGITS"}`. DIGITS is the SHA-256 of the previous line's digits followed
 * by this line up to its link. With a key the last member is "hmac" instead, and DIGITS is the HMAC-SHA256 of the same
 * bytes. Lines of earlier versions lack "seq". The first line of a rotated file has the link of the line before as its
 * third member, "continues". */
#ifndef WT_GATEWAY_AUDIT_CHAIN_H
#define WT_GATEWAY_AUDIT_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/hmac.h"

enum {
    AUDIT_LINK_DIGITS = 64,
    AUDIT_LINK_END = AUDIT_LINK_DIGITS + 2, /* bytes from the first digit of a link to the end of its line */
    AUDIT_KEY_BYTES_MIN = 32,               /* a shorter key could be guessed */
    AUDIT_KEY_BYTES_MAX = 4096,
};

struct audit_key {
    struct hmac begun;
};

/* Reads a key from a regular file that only its owner can access. Trailing white space is not part of the key. Errors:
 * WT_EINVAL (others can access the file, or wrong length), WT_ENOTFOUND, WT_EIO, ... */
int wt__audit_key_read(struct audit_key *out, const char *path, wt_error *err);
void wt__audit_key_forget(struct audit_key *key); /* overwrites the key in memory */

/* State after a line; all zero before the first one. */
struct audit_chain {
    char link[AUDIT_LINK_DIGITS + 1];
    uint64_t number; /* number of the last line */
    bool is_keyed;   /* the last line has an HMAC */
    bool has_number; /* the last line has "seq" */
};

/* Completes a line that has its first members and no closing brace: adds its number, link and newline, and advances the
 * chain. key: NULL for no key. */
void wt__audit_link(struct audit_chain *chain, const struct audit_key *key, struct buffer *line);

/* Checks that the line, without its newline, follows from the chain, and advances the chain. An all-zero chain also
 * accepts the first line of a rotated file. After lines without an HMAC, lines with one must begin with the first line
 * of a rotated file. Errors, with the number of the line: WT_EFORMAT (not an audit line, or it does not follow),
 * WT_EINVAL (the line has an HMAC, and key is NULL). */
int wt__audit_check_line(struct audit_chain *chain, const struct audit_key *key, struct str line, wt_error *err);

/* Returns the link in "continues", or an empty string. */
struct str wt__audit_continues(struct str line);

/* Appends the HMAC of text in hexadecimal digits. */
void wt__audit_put_hmac(struct buffer *out, const struct audit_key *key, struct str text);

#endif
