/* audit_log.h: the gateway's audit log, a file of JSON Lines. Each call, read and prompt has a line with the decision.
 * What was allowed has a second line with its outcome. The policy of the named revision can repeat each decision.
 *
 * The lines form a chain (audit_chain.h), so that a line that was changed, removed or added shows. Before each line the
 * log is compared with what was written last: if the file was moved, removed, replaced, cut or changed, nothing more is
 * written until it is whole again, or was rotated. PATH.head (audit_head.h) holds how far the log was on the disk, so
 * that the next start notices the same. Several gateways may write one file. Arguments are not written, their SHA-256
 * is. Characters that are invisible or control a terminal are escaped.
 *
 * The line of the decision is written before anything is sent. A call whose line cannot be written is refused, and a
 * gateway that is killed during a call has left the line. The second line is written before the answer. The disk has
 * both within AUDIT_SYNC_MS; if the disk fails to take them, the next call is refused, too. */
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
    AUDIT_LINE_BYTES_MAX = 16 << 10, /* a longer one is written without what the client says of itself, and with
                                           shorter names */
    AUDIT_MARK_DIGITS = 16,          /* of a line's chain, by which a later line names it */
};

struct audit_log;

/* Opens or creates a log (mode 0600) and goes on from its last line. The file is left as it is on an error. Errors:
 * WT_EFORMAT (not an audit log, or it was moved, cut or changed since its head was written), WT_EINVAL (its lines have
 * an HMAC, and key is NULL), WT_EIO, WT_EREADONLY, WT_ENOMEM. */
int wt__audit_open(struct audit_log **out, const char *path, wt_error *err);
/* The same with a key, which is copied; NULL for none. WT_EINVAL also if the log has lines and none has an HMAC. */
int wt__audit_open_keyed(struct audit_log **out, const char *path, const struct audit_key *key, wt_error *err);
void wt__audit_close(struct audit_log *log); /* NULL is a no-op */

struct audit_mark {
    char digits[AUDIT_MARK_DIGITS + 1];
};

enum audit_decision { AUDIT_ALLOWED, AUDIT_DENIED, AUDIT_UNKNOWN, AUDIT_WRONG_FACE, AUDIT_INVALID };

struct audit_line {
    const char *principal, *profile; /* profile: NULL: none */
    const json_t *client;            /* what it says of itself; NULL: nothing */
    const char *method;
    const char *server;     /* NULL: none has what was asked for */
    const char *tool;       /* NULL: none of that name, or something else was asked for: */
    const char *own_name;   /* of the tool, as its server has it; NULL: the same */
    struct str uri, prompt; /* of a resource, of a prompt, as its server knows it; "" for none */
    struct str asked;       /* the name that the client said */
    const char *effect, *sha256, *revision;
    struct str arguments;     /* as they are sent on */
    struct str repaired_from; /* as the client wrote them, if they were repaired; else "" */
    const char *unchecked;    /* "part" or "all" of the input schema was not checked; NULL if it was */
    enum audit_decision decision;
    struct str trace; /* traceparent; "" for none */
};

/* What came of what was allowed. */
struct audit_ending {
    const char *outcome; /* "ok", "error", "failed", "asked", "cancelled" */
    size_t bytes;        /* of the result */
    double ms;
};

/* Writes a line, from any thread. log: NULL to write nothing. mark: identifies the line for its second one; may be
 * NULL. Errors: WT_EIO, WT_EFULL, ... (the file could not be written, and is as it was), WT_EFORMAT (the file is not
 * the log any more, or is not whole). */
int wt__audit_write(struct audit_log *log, const struct audit_line *line, struct audit_mark *mark, wt_error *err);
int wt__audit_end(struct audit_log *log, const struct audit_mark *mark, const struct audit_ending *ending,
                  wt_error *err);
/* To be called every second or so. Goes on in the next file if the log was rotated, notices a log that was moved, and
 * puts what was written on the disk, and then its head, at most once in AUDIT_SYNC_MS. */
void wt__audit_sync(struct audit_log *log);
/* True if the last attempt to write failed; *why says how. */
bool wt__audit_is_failing(struct audit_log *log, wt_error *why);

/* Starts a new file at the path, whose first line continues the old file's chain, and has an HMAC if there is a key.
 * *kept: the old file's new name, PATH.YYYYMMDDTHHMMSSZ, which the caller frees. *number: of the first line of the new
 * file. Gateways that write the log go on in the new file. Errors: those of wt__audit_open_keyed, WT_EINVAL (the log
 * has no lines). */
int wt__audit_rotate(char **kept, uint64_t *number, const char *path, const struct audit_key *key, wt_error *err);

/* Checks that each line of the text follows from the one before, from the first one on, without a key. Errors: those of
 * wt__audit_follow. */
int wt__audit_check(struct str text, wt_error *err);

#endif
