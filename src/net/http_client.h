/* http_client.h: HTTP requests: downloads, requests with one answer, and streams. */
#ifndef WT_NET_HTTP_CLIENT_H
#define WT_NET_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"

enum { HTTP_HEADER_BYTES_MAX = 4096 /* maximum bytes of a header's value */ };

/* A header of a request. */
struct http_header {
    const char *name, *value; /* omitted if value is NULL or empty */
};

/* Checks that the header can be sent. Fails with WT_EINVAL; the message does not contain the value. */
int wt__http_check_header(const struct http_header *header, wt_error *err);

/* Resolves an address that the server at base has named. The address may be absolute or relative to base. Its scheme,
 * host and port must be those of base, because requests to it contain data for that server only. If it has no user, it
 * gets the user and password of base. Free *out with free(). Errors: WT_EINVAL, WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__http_resolve(char **out, const char *base, struct str reference, wt_error *err);

/* Downloads a file over HTTPS and resumes an earlier attempt.
 *
 * Only https is allowed, except for plain http to this machine (127.0.0.1, [::1], localhost). A redirect to plain http
 * is followed only if the first URL was such an address. Content is untrusted: its size is limited here, and the caller
 * must check its hash. */

enum {
    HTTP_CONNECT_MS = 10000,
    HTTP_STALL_SECONDS = 30, /* timeout of an attempt without any byte */
    HTTP_ATTEMPTS = 3,       /* maximum attempts; each attempt resumes the previous attempt */
    HTTP_REDIRECTS = 5,
    HTTP_WANTED_MAX = 3,    /* maximum headers that a caller can request */
    HTTP_VALUE_BYTES = 128, /* maximum value with its NUL; longer values are ignored */
    HTTP_TOKEN_BYTES = 4096 /* maximum token with its NUL */
};

/* Status of a download, and headers from the URL's own server. If that server redirects to itself, the first occurrence
 * of a header counts. Headers of other servers are ignored. */
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
    const char *phase; /* progress phase to start at the first byte; NULL to stay in the running phase */
    struct http_response_info *info; /* may be NULL */
};

/* Downloads the file. Returns 0 when it is complete and synced to disk. After a failure the received part stays in the
 * file. Errors: WT_ENETWORK, WT_ENOTFOUND (no such file on the server), WT_ETOOLONG, WT_EINVAL (URL or token),
 * WT_ECANCELLED, WT_EFULL, WT_EIO, WT_ENOMEM. */
int wt__http_download(const struct http_download *download, wt_error *err);

/* Sends a JSON body to a server chosen by the user and returns the complete answer in memory.
 *
 * Redirects are not followed, because they would send the headers, including a key, to another server. Error messages
 * never contain header values. The answer is untrusted: its size is limited here, and the caller must validate it. */

enum {
    HTTP_ANSWER_BYTES_MAX = 4 << 20,
    HTTP_TYPE_BYTES = 64, /* stored bytes of Content-Type, with a NUL */
};

/* A connection that stays open between requests. One thread at a time. */
struct http_session;

int wt__http_session_open(struct http_session **out, wt_error *err);
void wt__http_session_close(struct http_session *session);

struct http_post {
    const char *url;    /* http or https */
    const char *method; /* NULL for POST; "PUT" or "DELETE" */
    const char *shown;  /* name of the server in errors, if the URL contains secrets; NULL for the URL */
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    unsigned connect_ms;       /* timeout for connecting */
    unsigned total_ms;         /* timeout for the complete answer */
    unsigned stall_ms;         /* timeout between bytes; begins at the first byte, which a model may delay */
    struct progress *progress; /* checked for cancellation about every second; may be NULL */
};

struct http_answer {
    int status;
    double retry_after_ms; /* from retry-after-ms, else Retry-After (seconds or date); -1 if neither is positive */
    int should_retry;      /* x-should-retry: 1 true, 0 false, -1 missing */
    char type[HTTP_TYPE_BYTES];
    struct buffer body; /* dispose of it even after an error */
    bool may_retry;     /* a retry may succeed after this error */
};

/* Sends the request. Returns 0 for any status. Errors: WT_ENETWORK, WT_ETOOLONG (answer), WT_EINVAL (a header that
 * is too long or contains a control character), WT_ECANCELLED, WT_ENOMEM. */
int wt__http_post(struct http_session *session, const struct http_post *post, struct http_answer *out, wt_error *err);

/* Fetches a file, or a part of it, if it has changed. Redirects are not followed. The content is untrusted: the caller
 * must check it. */
struct http_fetch {
    const char *url;   /* http or https */
    const char *token; /* sent as "Authorization: Bearer"; may be NULL */
    const char *etag,
        *modified;          /* values of an earlier answer, to get status 304 if the file is unchanged; may be NULL */
    uint64_t from, to;      /* bytes [from, to) of the file; to is the limit of its size if from is 0 */
    bool whole;             /* ask for the whole file without a range; more than `to` bytes are an error */
    unsigned connect_ms;    /* timeout for connecting */
    unsigned stall_seconds; /* timeout without any byte */
    struct progress *progress; /* checked for cancellation about every second; may be NULL */
    /* Takes the next bytes of the range, in order. Returns 0, or an error, which ends the transfer. */
    int (*take)(void *context, struct str bytes, wt_error *err);
    void *context;
};

struct http_fetched {
    int status;                                              /* 200, 206 or 304, or the status of an error */
    char etag[HTTP_VALUE_BYTES], modified[HTTP_VALUE_BYTES]; /* "" if missing */
    uint64_t received; /* bytes of bodies received, also those outside the range from servers without ranges */
};

/* Fetches. Returns 0 if the status is 304, or if all bytes of the range were taken. Errors: WT_ENOTFOUND (status 404 or
 * 410), WT_ENETWORK (any other status, or the file is shorter), WT_ETOOLONG (`whole`, and the file is longer),
 * WT_ECANCELLED, WT_EINVAL, WT_ENOMEM, those of `take`. */
int wt__http_fetch(struct http_session *session, const struct http_fetch *fetch, struct http_fetched *out,
                   wt_error *err);

/* Checks that url is an http or https address without user, password, query and fragment. Errors show this address, and
 * the caller appends a path to it. Errors: WT_EINVAL, WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__http_check_base(const char *url, wt_error *err);

/* Runs many concurrent HTTP transfers on one thread, and delivers their bodies piece by piece. This is meant for
 * long-lived answers. wt__http_post returns complete answers.
 *
 * Redirects are not followed, because they would send the headers, including a key, to another server. The caller gets
 * the target address. Error messages never contain header values. Answers are untrusted; the caller must limit them. */

enum {
    HTTP_LINGER_MS = 200,       /* time to end after on_piece returned false, so that the connection can be reused */
    HTTP_KEPT_BYTES = 512,      /* stored bytes of the requested header, with a NUL; longer values are ignored */
    HTTP_LOCATION_BYTES = 2048, /* stored bytes of Location, with a NUL; longer values are ignored */
};

struct http_loop;

/* The head of an answer. */
struct http_head {
    int status; /* 0 without an answer */
    char type[HTTP_TYPE_BYTES];
    char kept[HTTP_KEPT_BYTES];
    char location[HTTP_LOCATION_BYTES]; /* target of a redirect as sent by the server; "" if missing */
};

struct http_stream {
    const char *url;    /* http or https */
    const char *shown;  /* name of the server in errors; NULL for the URL */
    const char *method; /* "POST" with a body, "GET" or "DELETE" */
    const char *accept; /* NULL for application/json */
    const char *kept;   /* name of a header to store; NULL for no header */
    const struct http_header *headers;
    size_t header_count;
    struct str body;     /* must stay valid until the end */
    unsigned connect_ms; /* timeout for connecting */
    unsigned total_ms;   /* timeout for the complete answer; 0 for no limit */
    unsigned delay_ms;   /* delay before the start */
    /* Callbacks on the loop's thread; they may start and cancel transfers. on_head: the head is complete; may be
     * NULL. */
    void (*on_head)(void *context, const struct http_head *head);
    bool (*on_piece)(void *context, const struct http_head *head, struct str piece); /* return false to stop */
    /* Called once, after the other callbacks. rc: 0, or an error of wt__http_post with its reason in *why. sent: the
     * server may have received the request. */
    void (*on_end)(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent);
    void *context;
};

/* Opens a loop. Errors: WT_ENETWORK (no libcurl), WT_ENOMEM, WT_EIO (no thread). */
int wt__http_loop_open(struct http_loop **out, wt_error *err);
/* Cancels all transfers like wt__http_stream_cancel, and closes the loop. Ignores NULL. */
void wt__http_loop_close(struct http_loop *loop);

/* Starts a transfer and sets *ticket to its id. Copies stream, except the texts of body and kept, which must stay valid
 * until on_end. Any thread. Errors: WT_EINVAL (invalid header), WT_ENETWORK (libcurl rejects an option),
 * WT_ENOMEM. */
int wt__http_stream_begin(uint64_t *ticket, struct http_loop *loop, const struct http_stream *stream, wt_error *err);
/* Cancels a transfer; `on_end` receives WT_ECANCELLED, or 0 if on_piece has returned false. Any thread; does not block.
 * Ignores ended transfers. */
void wt__http_stream_cancel(struct http_loop *loop, uint64_t ticket);

#endif
