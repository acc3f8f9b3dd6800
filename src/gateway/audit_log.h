/* audit_log.h: the gateway's audit log, a file of JSON Lines. Each call, read and prompt has a line with the decision.
 * An allowed one has a second line with its outcome. The policy of the recorded revision can repeat each decision.
 *
 * The lines form a hash chain (audit_chain.h), so that a changed, removed or added line shows. Before each line the log
 * compares the file with the last written state. If the file was moved, removed, replaced, cut or changed, writes fail
 * until it is whole again or was rotated. PATH.head (audit_head.h) lets the next start notice the same. Several
 * gateways may write one file. The log contains the SHA-256 of arguments instead of the arguments. Invisible characters
 * and terminal controls are escaped.
 *
 * The decision is written before the request is sent; if the write fails, the call is refused. So a gateway that is
 * killed during a call has left the line. The second line is written before the answer. Both are on disk within
 * AUDIT_SYNC_MS; if fdatasync fails, the next call is refused. */
#ifndef WT_GATEWAY_AUDIT_LOG_H
#define WT_GATEWAY_AUDIT_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "gateway/audit_chain.h"

enum {
    AUDIT_SYNC_MS = 1000,
    AUDIT_LINE_BYTES_MAX = 16 << 10, /* a longer line is written without the client's description of itself, and with
                                           shorter names */
    AUDIT_MARK_DIGITS = 16,          /* first digits of a line's link; the outcome line refers to them */
};

struct audit_log;

/* Opens or creates a log (mode 0600) and continues after its last line. Leaves the file unchanged on an error. Errors:
 * WT_EFORMAT (not an audit log, or it was moved, cut or changed since its head was written), WT_EINVAL (its lines have
 * an HMAC, and key is NULL), WT_EIO, WT_EREADONLY, WT_ENOMEM. */
int wt__audit_open(struct audit_log **out, const char *path, wt_error *err);
/* Opens a log with a key, which is copied; NULL for no key. Also returns WT_EINVAL if the log has lines without
 * HMAC. */
int wt__audit_open_keyed(struct audit_log **out, const char *path, const struct audit_key *key, wt_error *err);
void wt__audit_close(struct audit_log *log); /* NULL is a no-op */

struct audit_mark {
    char digits[AUDIT_MARK_DIGITS + 1];
};

enum audit_decision { AUDIT_ALLOWED, AUDIT_DENIED, AUDIT_UNKNOWN, AUDIT_WRONG_FACE, AUDIT_INVALID };

struct audit_line {
    const char *principal, *profile; /* profile: NULL for no profile */
    const json_t *client;            /* the client's description of itself, or NULL */
    const char *method;
    const char *server;     /* NULL if the name is unknown */
    const char *tool;       /* NULL if unknown, or for a resource or prompt */
    const char *own_name;   /* the server's own name of the tool; NULL if the same */
    struct str uri, prompt; /* the server's own name of a resource or prompt; "" if not applicable */
    struct str asked;       /* name in the client's request */
    const char *effect, *sha256, *revision;
    struct str arguments;     /* arguments sent to the server */
    struct str repaired_from; /* arguments as the client wrote them; "" if they were not repaired */
    const char *unchecked;    /* unchecked "part" or "all" of the input schema; NULL if all was checked */
    enum audit_decision decision;
    struct str trace; /* traceparent, or "" */
};

/* Outcome of an allowed request. */
struct audit_outcome {
    const char *outcome; /* "ok", "error", "failed", "asked", "cancelled" */
    size_t bytes;        /* length of the result */
    double ms;
};

/* Writes a line. Thread-safe. log: NULL to write no line. mark: identifies the line for wt__audit_write_outcome; may be
 * NULL. Errors: WT_EIO, WT_EFULL, ... (the file could not be written, and is unchanged), WT_EFORMAT (the file is not
 * the log any more, or is not whole). */
int wt__audit_write(struct audit_log *log, const struct audit_line *line, struct audit_mark *mark, wt_error *err);
int wt__audit_write_outcome(struct audit_log *log, const struct audit_mark *mark, const struct audit_outcome *ending,
                            wt_error *err);
/* Call it about once a second. Continues in the next file if the log was rotated, and notices a log that was moved.
 * Syncs written lines to disk and then writes the head, at most once in AUDIT_SYNC_MS. */
void wt__audit_sync(struct audit_log *log);
/* True if the last write failed; *why is the error. */
bool wt__audit_is_failing(struct audit_log *log, wt_error *why);

/* Starts a new file at the path. Its first line continues the old file's chain, with an HMAC if there is a key. *kept:
 * the old file's new name, PATH.YYYYMMDDTHHMMSSZ, freed by the caller. *number: number of the new file's first line.
 * Gateways that write the log continue in the new file. Errors: those of wt__audit_open_keyed, and WT_EINVAL if the log
 * has no lines. */
int wt__audit_rotate(char **kept, uint64_t *number, const char *path, const struct audit_key *key, wt_error *err);

/* Checks that each line of the text follows from the one before, starting with the first line, without a key. Errors:
 * those of wt__audit_check_line. */
int wt__audit_check(struct str text, wt_error *err);

#endif
