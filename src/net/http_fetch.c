/* http_fetch.c: fetches a file or a range of it with a condition; see http_client.h. A server without ranges sends the
 * whole file; the bytes before the range are then skipped, and the transfer ends behind the range. */
#include "net/internal.h"

#include <stdio.h>
#include <string.h>

enum {
    STATUS_OK = 200,
    STATUS_PARTIAL = 206,
    STATUS_UNCHANGED = 304,
    STATUS_MISSING = 404,
    STATUS_GONE = 410,
    FETCH_SLOW = 1, /* bytes a second that count as a stall */
    FETCH_HEADERS = 3
};

struct fetch_state {
    const struct http_fetch *fetch;
    const struct curl_library *lib;
    CURL *curl;
    struct curl_slist *headers;
    struct http_fetched *out;
    uint64_t at; /* position of the next byte of the body in the file */
    bool begun;  /* the first byte of the body came */
    bool done;   /* all bytes of the range were taken */
    bool cancelled;
    int rc;
    char reason[CURL_ERROR_SIZE];
    wt_error *err;
};

static long fetch_status(const struct fetch_state *f)
{
    long status = 0;
    f->lib->easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Passes on the part of the bytes that is in the range. */
static int take_range(struct fetch_state *f, struct str bytes)
{
    const struct http_fetch *fetch = f->fetch;
    uint64_t end = f->at + bytes.len;
    if (fetch->whole && end > fetch->to)
        return wt__fail(f->err, WT_ETOOLONG, "%s has more than %llu bytes", fetch->url, (unsigned long long)fetch->to);
    size_t skipped = f->at < fetch->from ? (size_t)(fetch->from - f->at) : 0;
    size_t extra = end > fetch->to ? (size_t)(end - fetch->to) : 0;
    f->at = end;
    if (skipped < bytes.len && extra < bytes.len && skipped + extra < bytes.len)
        WT_TRY(fetch->take(fetch->context, (struct str){bytes.ptr + skipped, bytes.len - skipped - extra}, f->err));
    f->done = !fetch->whole && end >= fetch->to;
    return 0;
}

static size_t take_fetched(char *bytes, size_t size, size_t count, void *context)
{
    struct fetch_state *f = context;
    size_t len = size * count; /* size is 1 */
    long status = fetch_status(f);
    if (status != STATUS_OK && status != STATUS_PARTIAL)
        return len; /* the page of an error */
    if (!f->begun)
        f->at = status == STATUS_PARTIAL ? f->fetch->from : 0;
    f->begun = true;
    f->out->received += len;
    f->rc = take_range(f, (struct str){bytes, len});
    return f->rc == 0 && !f->done ? len : 0;
}

static size_t take_fetch_header(char *bytes, size_t size, size_t count, void *context)
{
    struct fetch_state *f = context;
    struct str line = {bytes, size * count}, value;
    if (wt__http_field_value(line, "etag", &value) && value.len < sizeof f->out->etag)
        wt__http_copy_field(f->out->etag, sizeof f->out->etag, value);
    else if (wt__http_field_value(line, "last-modified", &value) && value.len < sizeof f->out->modified)
        wt__http_copy_field(f->out->modified, sizeof f->out->modified, value);
    return line.len;
}

static int check_fetch_cancelled(void *context, curl_off_t total, curl_off_t got, curl_off_t up_total, curl_off_t up)
{
    struct fetch_state *f = context;
    (void)total, (void)got, (void)up_total, (void)up;
    f->cancelled = f->cancelled || wt__progress_step(f->fetch->progress, 0);
    return f->cancelled;
}

static int set_fetch_options(struct fetch_state *f)
{
    const struct curl_library *lib = f->lib;
    const struct http_fetch *fetch = f->fetch;
    CURL *curl = f->curl;
    char range[48];
    snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)fetch->from,
             (unsigned long long)(fetch->to > 0 ? fetch->to - 1 : 0));
    const CURLcode results[] = {
        lib->easy_setopt(curl, CURLOPT_URL, fetch->url),
        lib->easy_setopt(curl, CURLOPT_PROXY, wt__curl_proxy(lib, fetch->url)),
        lib->easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)),
        lib->easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L),
        lib->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L),
        lib->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)fetch->connect_ms),
        lib->easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)FETCH_SLOW),
        lib->easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)fetch->stall_seconds),
        lib->easy_setopt(curl, CURLOPT_USERAGENT, "whichtool/" WT_VERSION),
        lib->easy_setopt(curl, CURLOPT_HTTPHEADER, f->headers),
        lib->easy_setopt(curl, CURLOPT_RANGE, fetch->whole ? NULL : range),
        lib->easy_setopt(curl, CURLOPT_ERRORBUFFER, f->reason),
        lib->easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_fetched),
        lib->easy_setopt(curl, CURLOPT_WRITEDATA, f),
        lib->easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_fetch_header),
        lib->easy_setopt(curl, CURLOPT_HEADERDATA, f),
        lib->easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_fetch_cancelled),
        lib->easy_setopt(curl, CURLOPT_XFERINFODATA, f),
        lib->easy_setopt(curl, CURLOPT_NOPROGRESS, 0L),
    };
    return wt__curl_options(lib, results, sizeof results / sizeof *results, "fetch", fetch->url, f->err);
}

static int end_fetch(struct fetch_state *f, CURLcode code)
{
    const char *url = f->fetch->url;
    long status = f->out->status = (int)fetch_status(f);
    if (f->rc < 0)
        return f->rc;
    if (f->done && (status == STATUS_OK || status == STATUS_PARTIAL))
        return 0;
    if (f->cancelled)
        return wt__fail_cancelled(f->err);
    if (code == CURLE_OUT_OF_MEMORY)
        return wt__fail_nomem(f->err);
    if (code != CURLE_OK)
        return wt__fail(f->err, WT_ENETWORK, "cannot fetch %s: %s", url,
                        f->reason[0] ? f->reason : f->lib->easy_strerror(code));
    if (status == STATUS_UNCHANGED || (f->fetch->whole && status == STATUS_OK))
        return 0;
    if (status == STATUS_OK || status == STATUS_PARTIAL)
        return wt__fail(f->err, WT_ENETWORK, "cannot fetch %s: it ends at byte %llu", url, (unsigned long long)f->at);
    return wt__fail(f->err, status == STATUS_MISSING || status == STATUS_GONE ? WT_ENOTFOUND : WT_ENETWORK,
                    "cannot fetch %s: the server answered %ld", url, status);
}

int wt__http_fetch(struct http_session *session, const struct http_fetch *fetch, struct http_fetched *out,
                   wt_error *err)
{
    wt_error scratch;
    struct fetch_state f = {
        .fetch = fetch, .lib = session->lib, .curl = session->curl, .out = out, .err = err ? err : &scratch};
    char bearer[HTTP_TOKEN_BYTES + 8] = "";
    *out = (struct http_fetched){.status = 0};
    if (fetch->token)
        snprintf(bearer, sizeof bearer, "Bearer %s", fetch->token);
    const struct http_header headers[FETCH_HEADERS] = {
        {"If-None-Match", fetch->etag}, {"If-Modified-Since", fetch->modified}, {"Authorization", bearer}};
    if (!fetch->whole && fetch->from >= fetch->to)
        return 0;
    session->lib->easy_reset(session->curl);
    int rc = wt__http_fields(&f.headers, session->lib, "*/*", headers, FETCH_HEADERS, f.err);
    if (rc == 0)
        rc = set_fetch_options(&f);
    if (rc == 0)
        rc = end_fetch(&f, session->lib->easy_perform(session->curl));
    session->lib->easy_reset(session->curl); /* the handle must not keep pointers to this stack frame */
    session->lib->slist_free_all(f.headers);
    return rc;
}
