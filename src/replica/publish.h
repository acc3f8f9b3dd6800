/* publish.h: writes the generations of a store to a folder, from which replicas read them (manifest.h).
 *
 * Each publication reads all rows in one read transaction, compares them with the published rows by hash, and appends
 * the differences. The manifest is replaced last, so a publication is atomic. When the changes have more bytes than the
 * base, the publisher writes a new base. Replaced files stay for a grace period, for readers of the earlier
 * manifest. */
#ifndef WT_REPLICA_PUBLISH_H
#define WT_REPLICA_PUBLISH_H

#include "engine/engine.h"

enum {
    PUBLISH_GRACE_MS = 10 * 60 * 1000,  /* default time to keep replaced files */
    PUBLISH_POLL_MS = 200,              /* default interval of looking for changes of the store */
    PUBLISH_COMPACT_LEAST = 1 << 20,    /* minimum bytes of changes before a new base */
    PUBLISH_CHANGES_MEMORY = 256 << 20, /* maximum bytes of one set of changes; more make a new base */
    PUBLISH_VECTORS_WAIT_MS = 5000,     /* see publish_options.vectors_wait_ms */
    PUBLISH_LOCK_WAIT_MS = 5000,        /* time to wait for another publisher of the folder */
};

struct publish_options {
    const char *folder;
    const char *writer; /* address of the writer's server, for replicas; NULL for "" */
    const char *policy; /* path of the gateway's policy; may be NULL */
    unsigned grace_ms;  /* 0 for PUBLISH_GRACE_MS */
    /* An import commits its tools first, and computes their vectors then. While the number of missing vectors changes
     * at least this often, nothing is published, so that replicas never search new tools by words only. 0 to publish
     * at once. */
    unsigned vectors_wait_ms;
};

struct publish_report {
    bool changed;                 /* something was published */
    bool whole;                   /* a new base was written */
    uint64_t generation;          /* published generation */
    uint64_t put, deleted, bytes; /* rows and bytes written by this publication */
};

struct publisher;

/* Locks the folder, created if missing, and reads its earlier publication. If the earlier publication is
 * damaged or of another version, the next publication starts again. The engine must outlive the publisher. Errors:
 * WT_EBUSY (another process publishes there), WT_EINVAL (the store is private, or is itself a replica), WT_EIO, ... */
int wt__publisher_open(struct publisher **out, wt_engine *engine, const struct publish_options *options, wt_error *err);
/* Publishes the current generation, if the store or the models have changed since the last publication. After an error,
 * the earlier publication stays, and the next call starts from the files of the folder. */
int wt__publisher_publish(struct publisher *publisher, struct publish_report *out, wt_error *err);
void wt__publisher_close(struct publisher *publisher); /* NULL is a no-op */

#endif
