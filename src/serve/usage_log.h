/* usage_log.h: usages that many clients report at once, on the disk before anybody is told so.
 *
 *   report (any thread) -> queue -> one transaction of all that wait, at most one a second -> each is told
 *                                                        \-> learned behind, by a thread of its own
 *
 * A store that takes a transaction takes some fsyncs for it, whether it brings one usage or a thousand, and readers
 * wait for the last of them; so usages are written in groups. Who reports waits for the group, a second at most: a
 * usage that was told to be accepted is there after any crash. No thread is held meanwhile: who reports gives a
 * function that is called when it is so. A usage's key makes it safe to report it again when no answer came
 * (whichtool.h).
 *
 * All usages of a batch are recorded as its client's, whatever they say: a client that could choose its name could
 * have as many names as it wants, and what one client can do is bounded (here, and by what a client counts). */
#ifndef WT_SERVE_USAGE_LOG_H
#define WT_SERVE_USAGE_LOG_H

#include <stdint.h>

#include "changes/recorded_use.h"

/* Who reports where nobody needs a key: all that comes from this machine is one client's. */
#define USAGE_LOG_NO_KEY "local"

enum {
    USAGE_LOG_COMMIT_MS = 1000,            /* from one transaction to the next */
    USAGE_LOG_LEARN_MS = 10000,            /* from one learning to the next */
    USAGE_LOG_BATCH_USAGES_MAX = 1000,     /* of one batch */
    USAGE_LOG_BATCH_BYTES_MAX = 4 << 20,   /* the same */
    USAGE_LOG_BATCH_ID_BYTES_MAX = 100,    /* so that ID/999 is a key */
    USAGE_LOG_QUEUED_MAX = 10000,          /* usages that wait; then reports are refused */
    USAGE_LOG_QUEUED_BYTES_MAX = 64 << 20, /* the same */
    USAGE_LOG_CLIENT_A_MINUTE = 120,       /* usages of one client, */
    USAGE_LOG_CLIENT_BURST = 1000,         /* beside so many that it has saved up */
    USAGE_LOG_CLIENTS_MAX = 10000,         /* that are remembered for that */
    USAGE_LOG_SWEEP_MS = 1000,             /* from one look for those to forget to the next */
};

/* Zeros: the defaults above. */
struct usage_log_options {
    unsigned commit_ms, learn_ms;
    unsigned client_a_minute, client_burst;
    bool no_learning; /* somebody else brings the store up to date (wt_learn_usage) */
};

struct usage_log;

/* engine: outlives it, and is not open for reading only (WT_EREADONLY). Starts two threads. */
int wt__usage_log_open(struct usage_log **out, wt_engine *engine, const struct usage_log_options *options,
                       wt_error *err);
/* Writes what waits, tells it, and ends. Nobody may report any more. NULL is a no-op. */
void wt__usage_log_close(struct usage_log *log);

struct usage_batch {
    struct str client; /* who reports, as the server knows it: 1 to WT_MAX_CLIENT_BYTES */
    struct str id;     /* of the batch, at most USAGE_LOG_BATCH_ID_BYTES_MAX: line 3 has the key "ID/3" when it has none
                          of its own, so that a batch that is reported again adds nothing; "": none */
    struct str lines;  /* JSON Lines, as wt_add_usage reads them; copied */
};

/* What became of a batch. rc 0: each usage that has code 0 is on the disk, [count] in the order of the lines that are
 * not blank. Else nothing is (why: the sentence), and it can be reported again. Called once, from a thread of the
 * log's, which it must not hold: answer and go. */
typedef void (*usage_log_told)(void *context, int rc, const char *why, struct reported_usage *const *usages,
                               size_t count);

/* Returns 0: told will be called, maybe before this returns. Else it will not, and nothing was taken: WT_EBUSY (too
 * many wait, or the client is over its cap; *retry_ms says when to come again), WT_ETOOLONG (of a batch, or of what one
 * client may bring at once), WT_EINVAL (no client, no usage), WT_EFORMAT (client or id are no text), WT_ENOMEM. */
int wt__usage_log_report(struct usage_log *log, const struct usage_batch *batch, usage_log_told told, void *context,
                         unsigned *retry_ms, wt_error *err);

/* Of usages since it was opened, for who watches the server. */
struct usage_log_counts {
    uint64_t added, repeated, outcomes, missing; /* by enum usage_fate */
    uint64_t bad;                                /* made no sense */
    uint64_t failed;                             /* the store could not take them */
    uint64_t refused_full, refused_client;       /* at the queue; at the cap of their client */
    uint64_t commits, learned, failed_learnings; /* transactions; requests that were encoded */
    size_t queued;                               /* now */
};
void wt__usage_log_count(struct usage_log *log, struct usage_log_counts *out);

#endif
