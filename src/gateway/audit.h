/* audit.h: the gateway's audit log: its hash chain and key, the log itself, and replays of its decisions. */
#ifndef WT_GATEWAY_AUDIT_H
#define WT_GATEWAY_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/json.h"
#include "gateway/policy.h"

/* The hash chain of an audit log, with or without a key.
 *
 * A line is `{"time":"...","seq":N,...,"chain":"DIGITS"}`. DIGITS is the SHA-256 of the previous line's digits followed
 * by this line up to its link. With a key the last member is "hmac" instead, and DIGITS is the HMAC-SHA256 of the same
 * bytes. Lines of earlier versions lack "seq". A rotation starts a new file. Its first line has the link of the old
 * file's last line as its third member, "continues". */

enum {
    AUDIT_LINK_DIGITS = 64,
    AUDIT_LINK_END = AUDIT_LINK_DIGITS + 2, /* bytes from the first digit of a link to the newline */
    AUDIT_KEY_BYTES_MIN = 32,               /* a shorter key could be guessed */
    AUDIT_KEY_BYTES_MAX = 4096,
};

struct audit_key {
    struct hmac begun; /* HMAC state after the key, copied for each line */
};

/* Reads a key from a regular file that only its owner can access. Trailing white space is not part of the key. Errors:
 * WT_EINVAL (not a regular file, others can access it, or wrong length of the key), WT_ENOTFOUND, WT_EIO, ... */
int wt__audit_key_read(struct audit_key *out, const char *path, wt_error *err);
void wt__audit_key_forget(struct audit_key *key); /* overwrites the key in memory */

/* State after a line; all zero before the first one. */
struct audit_chain {
    char link[AUDIT_LINK_DIGITS + 1];
    uint64_t number; /* number of the last line */
    bool is_keyed;   /* the last line has an HMAC */
    bool has_number; /* the last line has "seq" */
};

/* Completes a line whose closing brace is missing: adds its number, its link, the brace and a newline. Advances the
 * chain. key: NULL for no key. */
void wt__audit_link(struct audit_chain *chain, const struct audit_key *key, struct buffer *line);

/* Checks that the line, without its newline, follows the chain, and advances the chain. An all-zero chain also accepts
 * the first line of a rotated file. After lines without an HMAC, lines with one may begin only at the first line
 * of a rotated file. Errors, with the number of the line: WT_EFORMAT (not an audit line, or it does not follow),
 * WT_EINVAL (the line has an HMAC, and key is NULL). */
int wt__audit_check_line(struct audit_chain *chain, const struct audit_key *key, struct str line, wt_error *err);

/* Returns the link in the member "continues" of a line; empty if the line has no such member. */
struct str wt__audit_continues(struct str line);

/* PATH.head, a small file next to an audit log. It holds the length of the log on disk and the number and link of the
 * last line there. So the next start notices if the log was cut, emptied or removed since. The head is written after
 * the log is on disk, so it is never ahead of the log after a power failure. Replacing both files with older copies is
 * not noticed (docs/threats.md). */

#define AUDIT_HEAD_SUFFIX ".head"

struct audit_head {
    uint64_t bytes; /* length of the log */
    struct audit_chain chain;
};

/* Reads the head of the log at path, and checks its HMAC with the key. Returns 1, 0 if the file does not exist, or
 * WT_EFORMAT, WT_EINVAL (it has an HMAC, and key is NULL), WT_EIO, ... */
int wt__audit_head_read(struct audit_head *out, const char *path, const struct audit_key *key, wt_error *err);

/* Replaces the head atomically, unless the head on disk has the same number or a later one. */
int wt__audit_head_write(const char *path, uint64_t bytes, const struct audit_chain *chain, const struct audit_key *key,
                         wt_error *err);

/* The gateway's audit log, a file of JSON Lines. Each call, read and prompt has a line with the decision.
 * An allowed request has a second line with its outcome. The policy of the recorded revision can repeat each decision.
 *
 * The lines form a hash chain, so that a changed, removed or added line shows. Before each write, the log checks the
 * path of the file and the position of the last line. If either has changed, writes fail until the file is whole again
 * or was rotated. PATH.head lets the next start notice such changes. Several gateways may write one file.
 * The log contains the SHA-256 of arguments instead of the arguments. Invisible characters and terminal controls are
 * escaped.
 *
 * The decision is written before the request is sent. If the write fails, the call is refused. So the line exists even
 * if the gateway is killed during the call. The second line is written before the answer. Lines are synced to disk at
 * most once in AUDIT_SYNC_MS. If fdatasync fails, calls are refused until a sync succeeds. */

enum {
    AUDIT_SYNC_MS = 1000,
    AUDIT_LINE_BYTES_MAX = 16 << 10, /* a longer line is written without the client's description of itself, and with
                                           shorter names */
    AUDIT_MARK_DIGITS = 16,          /* first digits of a line's link; the outcome line refers to them */
};

struct audit_log;

/* Opens or creates a log (mode 0600) and continues after its last line. Removes an incomplete last line. key: copied;
 * NULL for no key. Errors: WT_EFORMAT (not an audit log, or it was moved, cut or changed since its head was written),
 * WT_EINVAL (its lines have an HMAC and key is NULL, or the reverse), WT_EIO, WT_EREADONLY, WT_ENOMEM. */
int wt__audit_open(struct audit_log **out, const char *path, const struct audit_key *key, wt_error *err);
void wt__audit_close(struct audit_log *log); /* NULL is a no-op */

struct audit_mark {
    char digits[AUDIT_MARK_DIGITS + 1];
};

enum audit_decision { AUDIT_ALLOWED, AUDIT_DENIED, AUDIT_UNKNOWN, AUDIT_WRONG_FACE, AUDIT_INVALID };

struct audit_line {
    const char *principal, *profile; /* profile: NULL for no profile */
    const char *tenant;              /* tenant of the client; NULL or "" without one */
    const json_t *client;            /* the client's description of itself, or NULL */
    const char *method;
    const char *server;       /* NULL if the name is unknown */
    const char *tool;         /* NULL if unknown, or for a resource or prompt */
    const char *own_name;     /* the server's own name of the tool; NULL if the same */
    struct str uri, prompt;   /* the server's own name of a resource or prompt; "" if not applicable */
    struct str asked;         /* name in the client's request */
    const char *effect;       /* word of wt__effect_word; NULL if the tool is unknown, or for a resource or prompt */
    const char *sha256;       /* hash of the approved definition, or NULL */
    const char *revision;     /* see wt__policy_revision */
    struct str arguments;     /* arguments sent to the server, or those of a refused call */
    struct str repaired_from; /* arguments as the client wrote them; "" if they were not repaired */
    const char *unchecked;    /* unchecked "part" or "all" of the input schema; NULL if all was checked */
    enum audit_decision decision;
    struct str trace; /* traceparent, or "" */
};

/* Outcome of an allowed request. */
struct audit_outcome {
    const char *outcome; /* "ok", "error", "failed", "asked", "cancelled" */
    size_t bytes;        /* length of the result */
    double ms;           /* time from the decision to the answer */
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
/* True if writing, syncing or following the file failed and no line was written since; *why is the error. */
bool wt__audit_is_failing(struct audit_log *log, wt_error *why);

/* Rotates the log: starts a new file at the path. Its first line continues the old file's chain, with an HMAC if there
 * is a key. *kept: the old file's new name, PATH.YYYYMMDDTHHMMSSZ, freed by the caller. *number: number of the new
 * file's first line. Gateways that write the log continue in the new file. With a key, the old file's lines may lack an
 * HMAC. Errors: those of wt__audit_open, WT_ENOTFOUND, and WT_EINVAL if the log has no lines. */
int wt__audit_rotate(char **kept, uint64_t *number, const char *path, const struct audit_key *key, wt_error *err);

/* Checks audit logs and repeats their decisions with the same policy. */

enum { AUDIT_BYTES_MAX = 1 << 30 /* maximum length of a file */ };

/* All zero before the first file. */
struct audit_replay {
    size_t files, lines;
    size_t allowed, denied; /* lines with this decision */
    size_t ended;           /* lines with an outcome; allowed requests without one are running or were killed */
    size_t replayed;        /* decisions of the policy's revision, repeated */
    size_t other_revisions; /* decisions of another revision */
    size_t differing;       /* repeated decisions with another result */
    size_t first_differing; /* line number, counted over all files */
    size_t keyed;           /* lines with an HMAC */
    bool is_continued;      /* the first line continues an earlier file */
    struct audit_chain chain;
};

/* Checks the links of the lines of one file and repeats its decisions. text: content of the file. Call it with the
 * files of a rotated log one after the other, the oldest first. key: NULL for no key. policy: NULL for no policy.
 * Errors, with the line: those of wt__audit_check_line, and WT_EFORMAT for a line that is not JSON. */
int wt__audit_replay(struct audit_replay *replay, struct str text, const struct audit_key *key,
                     const struct policy *policy, wt_error *err);

#endif
