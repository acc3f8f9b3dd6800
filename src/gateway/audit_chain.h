/* audit_chain.h: how the lines of an audit log follow from each other, with a key or without one.
 *
 * A line begins with its time and its number and ends with its link: `{"time":"...","seq":N,...,"chain":"DIGITS"}`.
 * DIGITS is the SHA-256 of the link of the line before and of the line up to its link. With a key the last member is
 * "hmac", and DIGITS is the HMAC-SHA256 of the same bytes. Lines of earlier versions have no "seq". The first line of a
 * file that was rotated names the link that it goes on from as its third member, "continues". */
#ifndef WT_GATEWAY_AUDIT_CHAIN_H
#define WT_GATEWAY_AUDIT_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/hmac.h"

enum {
    AUDIT_LINK_DIGITS = 64,
    AUDIT_LINK_END = AUDIT_LINK_DIGITS + 2, /* bytes from the first digit of a link to the end of its line's text */
    AUDIT_KEY_BYTES_MIN = 32,               /* a shorter key could be guessed */
    AUDIT_KEY_BYTES_MAX = 4096,
};

struct audit_key {
    struct hmac begun;
};

/* Reads a key from a regular file that its owner alone can access; white space at its end is not part of the key.
 * Errors: WT_EINVAL (others can access the file, or the key is too short or too long), WT_ENOTFOUND, WT_EIO, ... */
int wt__audit_key_read(struct audit_key *out, const char *path, wt_error *err);
void wt__audit_key_forget(struct audit_key *key); /* overwrites the key in memory */

/* State after a line; all zero before the first one. */
struct audit_chain {
    char link[AUDIT_LINK_DIGITS + 1];
    uint64_t number; /* of the last line */
    bool is_keyed;   /* the last line has an HMAC */
    bool has_number; /* the last line has "seq" */
};

/* Gives a line that has its first members, and no end, its number, link and newline, and moves the chain on. key: NULL
 * for none. */
void wt__audit_link(struct audit_chain *chain, const struct audit_key *key, struct buffer *line);

/* Checks that the line (without its newline) follows from the chain, and moves the chain on. A chain that is all zero
 * takes the first line of a rotated file as well. Lines with an HMAC follow lines without one only from the first line
 * of a rotated file on. Errors, which name the line's number: WT_EFORMAT (the line is not one of an audit log, or does
 * not follow), WT_EINVAL (the line has an HMAC, and key is NULL). */
int wt__audit_follow(struct audit_chain *chain, const struct audit_key *key, struct str line, wt_error *err);

/* The link that a line names in "continues"; empty if it has none. */
struct str wt__audit_continues(struct str line);

/* Appends the HMAC of text in digits. */
void wt__audit_seal(struct buffer *out, const struct audit_key *key, struct str text);

#endif
