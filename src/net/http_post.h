/* http_post.h: sends a JSON body to a server chosen by the user and returns the complete answer in memory.
 *
 * Redirects are not followed, because they would send the headers, including a key, to another server. Error messages
 * never contain header values. The answer is untrusted: its size is limited here, and the caller must validate it. */
#ifndef WT_NET_HTTP_POST_H
#define WT_NET_HTTP_POST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"
#include "net/http_header.h"

enum {
    HTTP_ANSWER_BYTES_MAX = 4 << 20,
    HTTP_TYPE_BYTES = 64, /* stored bytes of Content-Type, with a NUL */
};

/* A connection that stays open between requests. One thread at a time. */
struct http_session;

int wt__http_session_open(struct http_session **out, wt_error *err);
void wt__http_session_close(struct http_session *session);

struct http_post {
    const char *url;   /* http or https */
    const char *shown; /* name of the server in errors, if the URL contains secrets; NULL for the URL */
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    unsigned connect_ms;       /* timeout for connecting */
    unsigned total_ms;         /* timeout for the complete answer */
    unsigned stall_ms;         /* timeout between bytes after the first one, which a model may delay */
    struct progress *progress; /* checked for cancellation about every second; may be NULL */
};

struct http_answer {
    int status;
    double retry_after_ms; /* from retry-after-ms, else Retry-After (seconds or date); -1 if both are missing */
    int should_retry;      /* x-should-retry: 1 true, 0 false, -1 missing */
    char type[HTTP_TYPE_BYTES];
    struct buffer body; /* dispose of it even after an error */
    bool may_retry;     /* a retry may succeed after this error */
};

/* Sends the request. Returns 0 for any status. Errors: WT_ENETWORK, WT_ETOOLONG (answer), WT_EINVAL (URL, or a header
 * that is too long or contains a control character), WT_ECANCELLED, WT_ENOMEM. */
int wt__http_post(struct http_session *session, const struct http_post *post, struct http_answer *out, wt_error *err);

/* Checks that url is an http or https address to which a path can be appended. It must not have a user or password,
 * because it appears in errors, nor a query or fragment. Errors: WT_EINVAL, WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__http_check_base(const char *url, wt_error *err);

#endif
