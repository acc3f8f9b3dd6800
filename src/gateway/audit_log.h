/* audit_log.h: a line for each call, read or prompt that was decided of, so that every decision can be told, and made
 * again by the policy of that revision; and a second line, of what came of it, for each that was allowed.
 *
 * JSON Lines. Each line ends with "chain": the SHA-256 of the line before's chain and of the line itself up to there.
 * So a line that is changed, taken out or put in shows, but for lines cut off at the end. Several gateways may write
 * one file. Arguments are not written, their SHA-256 is.
 *
 * The line of the decision is written before anything is sent: what cannot be written down is not done, and a gateway
 * that is killed in the middle of a call leaves its line. The second line is written before the answer. The disk has
 * both within AUDIT_SYNC_MS; a disk that fails to have them stops the next one, too. */
#ifndef WT_GATEWAY_AUDIT_LOG_H
#define WT_GATEWAY_AUDIT_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

enum {
    AUDIT_SYNC_MS = 1000,
    AUDIT_LINE_BYTES_MAX = 16 << 10, /* a longer one is written without what the client says of itself, and with
                                           shorter names */
    AUDIT_MARK_DIGITS = 16,          /* of a line's chain, by which a later line names it */
};

struct audit_log;

/* Goes on where the file ends, which is made with mode 0600. Errors: WT_EFORMAT (its last line is none of ours:
 * it is left as it is), WT_EIO, WT_EREADONLY, WT_ENOMEM. */
int wt__audit_open(struct audit_log **out, const char *path, wt_error *err);
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
    struct str arguments;
    enum audit_decision decision;
    struct str trace; /* traceparent; "" for none */
};

/* What came of what was allowed. */
struct audit_ending {
    const char *outcome; /* "ok", "error", "failed", "asked", "cancelled" */
    size_t bytes;        /* of the result */
    double ms;
};

/* From any thread; log: NULL: nowhere. mark: of the line, for its second one; may be NULL. Errors: WT_EIO, WT_EFULL,
 * ...: the file could not be written, and is as it was. */
int wt__audit_write(struct audit_log *log, const struct audit_line *line, struct audit_mark *mark, wt_error *err);
int wt__audit_end(struct audit_log *log, const struct audit_mark *mark, const struct audit_ending *ending,
                  wt_error *err);
/* Makes what was written last. */
void wt__audit_sync(struct audit_log *log);
/* Whether the file could not be written when that was tried last; then why says so. */
bool wt__audit_is_failing(struct audit_log *log, wt_error *why);

/* Whether each line of the text follows from the one before. Returns 0, or WT_EFORMAT with the number of the first that
 * does not. */
int wt__audit_check(struct str text, wt_error *err);

#endif
