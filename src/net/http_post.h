/* http_post.h: a JSON body sent to a server of the user's own choice, and what the server says, whole in memory.
 *
 * Redirects are not followed: they would carry the headers, and with them a key, to somewhere else. No sentence of an
 * error holds a header's value. What comes is not trusted: it is bounded here, and is the caller's to read. */
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
    HTTP_TYPE_BYTES = 64, /* kept of the answer's Content-Type, with a NUL */
};

/* One connection, kept open between requests. For one thread at a time. */
struct http_session;

int wt__http_session_open(struct http_session **out, wt_error *err);
void wt__http_session_close(struct http_session *session);

struct http_post {
    const char *url;   /* http or https */
    const char *shown; /* how errors name the server, for a URL that holds secrets; NULL: the URL */
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    unsigned connect_ms;       /* until the connection stands */
    unsigned total_ms;         /* until the last byte */
    unsigned stall_ms;         /* without a byte, once the first has come: before it, a model may think */
    struct progress *progress; /* heard for a wish to stop, within about a second; may be NULL */
};

struct http_answer {
    int status;
    double retry_after_ms; /* of retry-after-ms, else Retry-After, in seconds or as a date; -1: neither */
    int should_retry;      /* x-should-retry: 1 true, 0 false, -1 absent */
    char type[HTTP_TYPE_BYTES];
    struct buffer body; /* dispose it, also after an error */
    bool may_pass;      /* after an error: another attempt may do better */
};

/* Returns 0 with whatever status the server gave. Errors: WT_ENETWORK, WT_ETOOLONG (the answer), WT_EINVAL (the URL,
 * or a header that is too long or holds a control character), WT_ECANCELLED, WT_ENOMEM. */
int wt__http_post(struct http_session *session, const struct http_post *post, struct http_answer *out, wt_error *err);

/* Is url the http or https address of a server, to which a path can be added? Neither a user nor a password may be in
 * it (it is shown in errors), nor a query or a fragment. WT_EINVAL, WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__http_check_base(const char *url, wt_error *err);

#endif
