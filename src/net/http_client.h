/* http_client.h: one file fetched over HTTPS, continued where an earlier attempt ended.
 *
 * Only https, also after a redirect; plain http only to this machine itself (127.0.0.1, [::1], localhost), and after a
 * redirect only from there. What comes is not trusted: it is bounded here, and its hash is the caller's to check. */
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
    HTTP_TOLD = 3,          /* headers that a caller may ask for */
    HTTP_TOLD_BYTES = 128,  /* of one's value with the NUL; a longer one is as if it were not there */
    HTTP_TOKEN_BYTES = 4096 /* of a token with the NUL */
};

/* What the URL's own server answered: the first to say it, where that sent on within itself. No other server is heard.
 */
struct http_told {
    int status;                              /* of the last answer of all; 0: there was none */
    const char *names[HTTP_TOLD];            /* the caller's wish; NULL: none */
    char values[HTTP_TOLD][HTTP_TOLD_BYTES]; /* "" where the server did not say */
};

struct http_download {
    const char *url;
    const char *path;          /* the file that is written; what it holds already is taken for the beginning */
    uint64_t max_bytes;        /* of the whole file */
    struct progress *progress; /* bytes are added to the running phase; may be NULL */
    const char *token;      /* sent as "Authorization: Bearer", to the URL's scheme, host and port alone; NULL: none */
    const char *phase;      /* begun with the file's size when it comes; NULL: the running one goes on */
    struct http_told *told; /* may be NULL */
};

/* Returns 0 when the server says that the file is whole; it is on the disk then. What came before a failure stays in
 * the file. Errors: WT_ENETWORK, WT_ENOTFOUND (the server has no such file), WT_ETOOLONG, WT_EINVAL (the URL, the
 * token), WT_ECANCELLED, WT_EFULL, WT_EIO, WT_ENOMEM. */
int wt__http_download(const struct http_download *download, wt_error *err);

#endif
