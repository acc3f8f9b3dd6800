/* http_client.h: downloads a file over HTTPS and resumes an earlier attempt.
 *
 * Only https is allowed, also for redirects. Plain http is allowed only to this machine (127.0.0.1, [::1], localhost),
 * and after a redirect only from there. Content is untrusted: its size is limited here, and the caller must check its
 * hash. */
#ifndef WT_NET_HTTP_CLIENT_H
#define WT_NET_HTTP_CLIENT_H

#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"

enum {
    HTTP_CONNECT_MS = 10000,
    HTTP_STALL_SECONDS = 30, /* timeout of an attempt without any byte */
    HTTP_ATTEMPTS = 3,       /* each attempt resumes the previous one */
    HTTP_REDIRECTS = 5,
    HTTP_WANTED_MAX = 3,    /* maximum headers that a caller can request */
    HTTP_VALUE_BYTES = 128, /* maximum value with its NUL; longer values are ignored */
    HTTP_TOKEN_BYTES = 4096 /* maximum token with its NUL */
};

/* Status and headers from the URL's own server. With redirects inside that server, the first occurrence of a header
 * counts. Headers of other servers are ignored. */
struct http_response_info {
    int status;                                     /* status of the last answer; 0 without an answer */
    const char *names[HTTP_WANTED_MAX];             /* requested names; NULL for unused entries */
    char values[HTTP_WANTED_MAX][HTTP_VALUE_BYTES]; /* "" if missing */
};

struct http_download {
    const char *url;
    const char *path;          /* destination; existing content is taken as the start of the file */
    uint64_t max_bytes;        /* maximum size of the file */
    struct progress *progress; /* receives bytes in the running phase; may be NULL */
    const char *token; /* sent as "Authorization: Bearer" only to the URL's scheme, host and port; may be NULL */
    const char *phase; /* phase to start with the file's size; NULL to continue the running one */
    struct http_response_info *info; /* may be NULL */
};

/* Downloads the file. Returns 0 when it is complete and synced to disk. After a failure the received part stays in the
 * file. Errors: WT_ENETWORK, WT_ENOTFOUND (no such file on the server), WT_ETOOLONG, WT_EINVAL (URL or token),
 * WT_ECANCELLED, WT_EFULL, WT_EIO, WT_ENOMEM. */
int wt__http_download(const struct http_download *download, wt_error *err);

#endif
