/* http_client.h: one file fetched over HTTPS, continued where an earlier attempt ended.
 *
 * Only https, also after a redirect; plain http only to this machine itself (127.0.0.1, [::1], localhost). What comes
 * is not trusted: it is bounded here, and its hash is the caller's to check. */
#ifndef WT_NET_HTTP_CLIENT_H
#define WT_NET_HTTP_CLIENT_H

#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"

enum {
    HTTP_CONNECT_MS = 10000,
    HTTP_STALL_SECONDS = 30, /* without a byte: the attempt has failed */
    HTTP_ATTEMPTS = 3,       /* each goes on where the one before ended */
    HTTP_REDIRECTS = 5,
};

struct http_download {
    const char *url;
    const char *path;          /* the file that is written; what it holds already is taken for the beginning */
    uint64_t max_bytes;        /* of the whole file */
    struct progress *progress; /* bytes are added to the running phase; may be NULL */
};

/* Returns 0 when the server says that the file is whole; it is on the disk then. What came before a failure stays in
 * the file. Errors: WT_ENETWORK, WT_ENOTFOUND (the server has no such file), WT_ETOOLONG, WT_EINVAL (the URL),
 * WT_ECANCELLED, WT_EFULL, WT_EIO, WT_ENOMEM. */
int wt__http_download(const struct http_download *download, wt_error *err);

#endif
