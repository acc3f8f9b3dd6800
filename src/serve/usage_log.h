/* usage_log.h: records usages reported by many clients, and acknowledges them once they are on disk.
 *
 *   report (any thread) -> queue -> one transaction for the whole queue, at most one per second -> acknowledge each
 *                                                         \-> learn in the background, on a thread of its own
 *
 * A transaction costs several fsyncs, regardless of its size, so usages are written in groups. A reporter waits at most
 * about a second for its group, without holding a thread: a callback is called at the end. An acknowledged usage
 * survives any crash. A usage's key makes it safe to report the usage again if no response came (whichtool.h).
 *
 * All usages of a batch are recorded for the client of the batch, even if they name another client. Otherwise a client
 * could choose its name and evade the limits for each client. */
#ifndef WT_SERVE_USAGE_LOG_H
#define WT_SERVE_USAGE_LOG_H

#include <stdint.h>

#include "changes/recorded_use.h"

/* client name if the server has no keys */
#define USAGE_LOG_NO_KEY "local"

enum {
    USAGE_LOG_COMMIT_MS = 1000,            /* minimum time between transactions */
    USAGE_LOG_LEARN_MS = 10000,            /* minimum time between learning runs */
    USAGE_LOG_BATCH_USAGES_MAX = 1000,     /* maximum usages per batch */
    USAGE_LOG_BATCH_BYTES_MAX = 4 << 20,   /* maximum size of a batch */
    USAGE_LOG_BATCH_ID_BYTES_MAX = 100,    /* maximum length of a batch id; "ID/LINE" must fit into a usage key */
    USAGE_LOG_QUEUED_MAX = 10000,          /* maximum usages in the queue; further reports are refused */
    USAGE_LOG_QUEUED_BYTES_MAX = 64 << 20, /* maximum size of the queue */
    USAGE_LOG_CLIENT_A_MINUTE = 120,       /* refill rate of a client's token bucket, in usages a minute */
    USAGE_LOG_CLIENT_BURST = 1000,         /* size of a client's token bucket, in usages */
    USAGE_LOG_CLIENTS_MAX = 10000,         /* maximum number of token buckets */
    USAGE_LOG_SWEEP_MS = 1000,             /* minimum time between removals of full buckets */
};

/* Zero selects the defaults above. */
struct usage_log_options {
    unsigned commit_ms, learn_ms;
    unsigned client_a_minute, client_burst;
    bool no_learning; /* another process runs wt_learn_usage; always true on a replica */
};

struct usage_log;

/* Starts two threads. The engine must outlive the log. Errors: WT_EREADONLY if the engine is open for reading only,
 * WT_ENOMEM. */
int wt__usage_log_open(struct usage_log **out, wt_engine *engine, const struct usage_log_options *options,
                       wt_error *err);
/* Writes and acknowledges the queue, then stops the threads. Do not report during or after the call. NULL is a
 * no-op. */
void wt__usage_log_close(struct usage_log *log);

struct usage_batch {
    struct str client; /* authenticated client name, 1 to WT_MAX_CLIENT_BYTES bytes */
    /* At most USAGE_LOG_BATCH_ID_BYTES_MAX bytes, or "". A usage without a key gets the key "ID/N", where N counts the
     * non-blank lines from 1, so that reporting the batch again does not duplicate the usage. */
    struct str id;
    struct str lines; /* JSON Lines in the format of wt_add_usage; copied */
};

/* Callback for the result of a batch. Called once, on a thread of the log, so it must return quickly.
 *
 * If rc is 0, usages [count] has the results in the order of the non-blank lines. Each usage with code 0 is on disk. If
 * rc is not 0, the batch was not written and can be reported again. why: the error message if rc is not 0. */
typedef void (*usage_log_told)(void *context, int rc, const char *why, struct reported_usage *const *usages,
                               size_t count);

/* Queues a batch. Returns 0 if told will be called, possibly before this function returns. On error, told is not called
 * and the batch is dropped. Errors: WT_EBUSY (the queue is full or the client exceeds its rate; *retry_ms is the time
 * to wait), WT_ETOOLONG (too large for a batch, or for the client's bucket), WT_EINVAL (no client or no usage),
 * WT_EFORMAT (client or id is not valid text), WT_ENOMEM. */
int wt__usage_log_report(struct usage_log *log, const struct usage_batch *batch, usage_log_told told, void *context,
                         unsigned *retry_ms, wt_error *err);

/* Records a batch in the store of a tenant, on the calling thread, and then learns from it. The limits of clients are
 * those of wt__usage_log_report. Calls told before it returns 0. Errors: those of wt__usage_log_report, and of the
 * store; nothing was recorded then. */
int wt__usage_log_record(struct usage_log *log, wt_engine *tenant, const struct usage_batch *batch, usage_log_told told,
                         void *context, unsigned *retry_ms, wt_error *err);

/* Counters since the log was opened. */
struct usage_log_counts {
    uint64_t added, repeated, outcomes, missing; /* by enum usage_fate */
    uint64_t bad;                                /* invalid usages */
    uint64_t failed;                             /* could not be stored */
    uint64_t refused_full, refused_client;       /* refused because the queue was full, or by the client's rate limit */
    uint64_t commits, learned, failed_learnings; /* transactions; encoded requests; failed learning runs */
    size_t queued;                               /* usages in the queue now */
};
void wt__usage_log_count(struct usage_log *log, struct usage_log_counts *out);

#endif
