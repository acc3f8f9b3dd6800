/* upload.h: copies a publication from a local folder to a server with PUT, such as an object store behind a signing
 * proxy, or nginx with dav_methods. */
#ifndef WT_REPLICA_UPLOAD_H
#define WT_REPLICA_UPLOAD_H

#include "base/progress.h"

enum {
    UPLOAD_CONNECT_MS = 5000,
    UPLOAD_TOTAL_MS = 10 * 60 * 1000, /* timeout of one file */
    UPLOAD_STALL_MS = 30000,
};

struct upload;

/* folder: written by a publisher. url: address of the publication. token: sent as bearer token; may be NULL. Errors:
 * WT_EINVAL, WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__upload_open(struct upload **out, const char *folder, const char *url, const char *token, wt_error *err);
/* Uploads the files missing on the server, then the manifest, and deletes files removed by the publisher. Does
 * nothing if the manifest is unchanged. Errors: WT_ENETWORK, those of reading the folder. */
int wt__upload_run(struct upload *upload, struct progress *progress, wt_error *err);
void wt__upload_close(struct upload *upload); /* NULL is a no-op */

#endif
