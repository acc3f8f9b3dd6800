/* usage_spool.h: usage reported to a replica, on its way to the writer.
 *
 *   report -> CACHE/usage/TIME-ID.jsonl (synced, then acknowledged) -> POST WRITER/v1/usage/segments?id=ID -> removed
 *
 * A segment is delivered at least once. The writer applies it once, because it stores the id in the same transaction.
 * A line of a segment is {"client": ..., "key": ..., "time": ..., "usage": the reported line}. */
#ifndef WT_REPLICA_USAGE_SPOOL_H
#define WT_REPLICA_USAGE_SPOOL_H

#include "changes/recorded_use.h"

enum {
    SPOOL_BYTES_MAX = 256 << 20, /* maximum bytes of waiting segments; further reports fail with WT_EFULL */
    SPOOL_POLL_MS = 1000,        /* interval of looking for segments */
    SPOOL_RETRY_MAX_MS = 60000,  /* maximum wait after a failed delivery */
    SPOOL_TOTAL_MS = 30000,      /* timeout of one delivery */
};

struct usage_spool_options {
    const char *cache;  /* the spool is the folder `usage` below it */
    const char *writer; /* address of the writer; "" to keep the segments for `usage import-segments` */
    const char *key;    /* key of the writer's server; may be NULL */
    /* Receives a line about an error, or about the end of errors. Any thread; may be NULL. */
    void (*say)(void *context, const char *line);
    void *say_context;
};

struct usage_spool;

/* Opens the spool, and starts to deliver. From now on wt__record_reported_usages on this engine writes segments. The
 * engine must outlive the spool. Errors: WT_ENOMEM, WT_EIO. */
int wt__usage_spool_open(struct usage_spool **out, wt_engine *engine, const struct usage_spool_options *options,
                         wt_error *err);
/* Ends a running delivery, and leaves waiting segments for the next start. NULL is a no-op. */
void wt__usage_spool_close(struct usage_spool *spool);

struct usage_spool_counts {
    uint64_t written, delivered, refused; /* segments since the start */
    size_t waiting;                       /* segments waiting for delivery */
};
void wt__usage_spool_count(struct usage_spool *spool, struct usage_spool_counts *out);

#endif
