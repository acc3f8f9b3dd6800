/* source.h: reads a publication from a folder, or from a static file server. */
#ifndef WT_REPLICA_SOURCE_H
#define WT_REPLICA_SOURCE_H

#include "base/buffer.h"
#include "base/progress.h"

enum { SOURCE_CONNECT_MS = 5000, SOURCE_STALL_SECONDS = 10, SOURCE_TOKEN_BYTES_MAX = 4000 };

struct publication_source;

/* location: a folder, or an address that begins with http:// or https://, to which "/NAME" is appended. token: sent as
 * bearer token; may be NULL. Errors: WT_EINVAL (the address), WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__source_open(struct publication_source **out, const char *location, const char *token, wt_error *err);
void wt__source_close(struct publication_source *source); /* NULL is a no-op */

/* Reads a file of at most `max` bytes into the buffer if it has changed since the last call that returned 1. Returns 1,
 * or 0 if it is unchanged. Errors: WT_ENOTFOUND, WT_ENETWORK, WT_ETOOLONG, WT_EIO, WT_ECANCELLED. */
int wt__source_read_changed(struct publication_source *source, const char *name, size_t max, struct buffer *out,
                            struct progress *progress, wt_error *err);
/* Makes the next wt__source_read_changed read the file. */
void wt__source_forget(struct publication_source *source);

/* Takes the bytes [from, to) of a file, in order. Errors also: those of take. */
int wt__source_read(struct publication_source *source, const char *name, uint64_t from, uint64_t to,
                    int (*take)(void *context, struct str bytes, wt_error *err), void *context,
                    struct progress *progress, wt_error *err);

/* Returns the number of bytes read so far. */
uint64_t wt__source_bytes(const struct publication_source *source);

#endif
