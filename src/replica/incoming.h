/* incoming.h: fetches the files of a publication into the cache of a replica. */
#ifndef WT_REPLICA_INCOMING_H
#define WT_REPLICA_INCOMING_H

#include "base/sha256.h"
#include "replica/manifest.h"
#include "replica/source.h"

/* Part of a published file. */
struct incoming_part {
    const struct published_file *file;
    uint64_t from; /* first byte; the part ends at file->bytes */
    char *path;    /* fetched part in the cache; in the arena */
};

struct incoming_folder {
    struct publication_source *source;
    const char *folder; /* CACHE/incoming */
    struct progress *progress;
};

/* Fetches a part. Does not fetch bytes of an earlier attempt again. Sets part->path. */
int wt__incoming_fetch(const struct incoming_folder *incoming, struct incoming_part *part, struct arena *arena,
                       wt_error *err);

/* Visits the content of a fetched part in pieces, while it updates the digest of the bytes before. */
int wt__incoming_read(const struct incoming_part *part, struct sha256 *digest,
                      int (*take)(void *context, struct str bytes, wt_error *err), void *context, wt_error *err);
/* Compares the digest of the whole file with the manifest. Fails with WT_EFORMAT, and removes the fetched part, so that
 * the next attempt fetches it again. */
int wt__incoming_check(const struct incoming_part *part, const struct sha256 *digest, wt_error *err);

/* Fetches a small file and checks it. *out: its content, to be freed with free(). */
int wt__incoming_load(const struct incoming_folder *incoming, const struct published_file *file, char **out,
                      wt_error *err);

/* Removes all fetched parts. */
void wt__incoming_clear(const struct incoming_folder *incoming);

#endif
