/* audit_log.h: a line for each call that passed and each that was refused, so that every decision can be told, and made
 * again by the policy of that revision.
 *
 * JSON Lines. Each line ends with "chain": the SHA-256 of the line before's chain and of the line itself up to there.
 * So a line that is changed, taken out or put in shows, but for lines cut off at the end. Several gateways may write
 * one file. Arguments are not written, their SHA-256 is. A line is written before its call is answered; the disk has it
 * within AUDIT_SYNC_MS. */
#ifndef WT_GATEWAY_AUDIT_LOG_H
#define WT_GATEWAY_AUDIT_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

enum {
    AUDIT_SYNC_MS = 1000,
    AUDIT_LINE_BYTES_MAX = 16 << 10, /* a longer one is written without what the client says of itself, and with
                                           shorter names */
};

struct audit_log;

/* Goes on where the file ends, which is made with mode 0600. Errors: WT_EFORMAT (its last line is none of ours:
 * it is left as it is), WT_EIO, WT_EREADONLY, WT_ENOMEM. */
int wt__audit_open(struct audit_log **out, const char *path, wt_error *err);
void wt__audit_close(struct audit_log *log); /* NULL is a no-op */

enum audit_decision { AUDIT_ALLOWED, AUDIT_DENIED, AUDIT_UNKNOWN, AUDIT_WRONG_FACE, AUDIT_INVALID };

struct audit_line {
    const char *principal, *profile; /* profile: NULL: none */
    struct str client;               /* what it says of itself, an object as JSON; "" for none */
    const char *method;
    const char *server, *tool; /* NULL: none of that name */
    struct str asked;          /* the name that the client said */
    const char *effect, *sha256, *revision;
    struct str arguments;
    enum audit_decision decision;
    const char *outcome; /* "ok", "error", "failed", "asked", "cancelled"; NULL where nothing was called */
    size_t bytes;        /* of the result */
    double ms;
    struct str trace; /* traceparent; "" for none */
};

/* log: NULL: nowhere. From any thread. False: it could not be written. */
bool wt__audit_write(struct audit_log *log, const struct audit_line *line);
/* Makes what was written last. */
void wt__audit_sync(struct audit_log *log);

/* Whether each line of the text follows from the one before. Returns 0, or WT_EFORMAT with the number of the first that
 * does not. */
int wt__audit_check(struct str text, wt_error *err);

#endif
