/* follow.h: a replica: a store in a cache folder that follows a publication (manifest.h).
 *
 *   CACHE/store.wt            rows of one generation, and its state. Changed in one transaction per publication
 *   CACHE/store.wt-index/     derived, as for every store
 *   CACHE/store.wt-models     link to models-HASH/, a folder with the trained models of one publication
 *   CACHE/incoming/           bytes fetched and not applied yet; a killed replica continues there
 *   CACHE/policy.json         policy of the gateway, if one is published
 *   CACHE/usage/              segments of reported usage, waiting for the writer (usage_spool.h)
 *   CACHE/lock                held by the following process. Other processes with the same cache read the store
 *
 * A publication is fetched, verified and applied as a whole. If anything is wrong with it, it is refused, and the
 * replica stays at its generation. Searches use the old index until the new one is complete. */
#ifndef WT_REPLICA_FOLLOW_H
#define WT_REPLICA_FOLLOW_H

#include "engine/engine.h"
#include "store/rows.h"

enum {
    FOLLOW_POLL_MS = 250,         /* default interval of looking for a new manifest */
    FOLLOW_RETRY_MAX_MS = 30000,  /* maximum wait before a refused publication is tried again */
    FOLLOW_START_WAIT_MS = 60000, /* time to wait while another process fills the cache */
};

struct follow_options {
    const char *location; /* folder or address of the publication */
    const char *cache;    /* cache folder; NULL for a folder below the user's cache folder */
    const char *token;    /* bearer token for an address; may be NULL */
    unsigned poll_ms;     /* 0 for FOLLOW_POLL_MS */
    /* Receives a line about an error, or about the end of errors. Any thread; may be NULL. */
    void (*say)(void *context, const char *line);
    void *say_context;
    struct progress *progress; /* cancels wt__follower_open; may be NULL */
};

struct follower;

/* Opens the cache. Fetches the publication if the cache is empty; otherwise tries once, and uses the cache if that
 * fails. Errors: those of the publication if the cache is empty; WT_EBUSY, WT_EIO, WT_EREADONLY, WT_ENOMEM. */
int wt__follower_open(struct follower **out, const struct follow_options *options, wt_error *err);
/* Starts to follow on a thread, for this engine, which was opened on wt__follower_store. Fails with WT_EMODEL if the
 * engine's encoder is not the publisher's. The engine must outlive the follower. */
int wt__follower_start(struct follower *follower, wt_engine *engine, wt_error *err);
/* Checks the engine's encoder as wt__follower_start does, without following. */
int wt__follower_check_encoder(const struct follower *follower, wt_engine *engine, wt_error *err);
void wt__follower_close(struct follower *follower); /* NULL is a no-op */

/* Return paths, valid as long as the follower. The policy's path is NULL if no policy is published. */
const char *wt__follower_store(const struct follower *follower);
const char *wt__follower_cache(const struct follower *follower);
const char *wt__follower_policy(const struct follower *follower);

struct follower_info {
    char writer[REPLICA_WRITER_BYTES_MAX + 1];
    uint64_t generation;
    uint64_t applied, refused; /* publications applied and refused since the start */
    uint64_t bytes;            /* bytes read from the publication since the start */
    double checked_ms;         /* time since the publication was last read without an error; -1 if never */
    bool follows;              /* false while another process follows with the same cache */
    char error[sizeof((wt_error *)0)->message]; /* why the last attempt failed; "" if it did not */
};
void wt__follower_info(struct follower *follower, struct follower_info *out);

#endif
