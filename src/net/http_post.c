/* http_post.c: sends POST requests and collects whole answers; see http_client.h. libcurl transfers the data. This file
 * limits the size of the answer and the pause between two reads of its body. The pause is limited only after the first
 * byte. libcurl's own limit for slow transfers would include the wait for the first byte, so it is not used. */
#include "net/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum { RETRY_DIGITS = 9 }; /* maximum number of digits read from retry-after-ms */

struct post_exchange {
    const struct http_post *post;
    const struct curl_library *lib;
    CURL *curl;
    struct curl_slist *headers;
    struct http_answer *out;
    double last_byte_ms; /* when body bytes last arrived; 0 if none have */
    bool cancelled, stalled;
    int rc; /* 0, or the error of take_body */
    char reason[CURL_ERROR_SIZE];
    wt_error *err;
};

int wt__http_session_open(struct http_session **out, wt_error *err)
{
    *out = NULL;
    const struct curl_library *lib;
    WT_TRY(wt__curl(&lib, err));
    struct http_session *session = malloc(sizeof *session);
    CURL *curl = session ? lib->easy_init() : NULL;
    if (!curl) {
        free(session);
        return wt__fail_nomem(err);
    }
    *session = (struct http_session){.lib = lib, .curl = curl};
    *out = session;
    return 0;
}

void wt__http_session_close(struct http_session *session)
{
    if (!session)
        return;
    session->lib->easy_cleanup(session->curl);
    free(session);
}

static const char *shown_url(const struct http_post *post)
{
    return post->shown ? post->shown : post->url;
}

static int check_base_parts(const struct curl_library *lib, CURLU *parts, const char *url, wt_error *err)
{
    static const CURLUPart unwanted[] = {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT};
    char *scheme = NULL;
    CURLUcode code = lib->url_set(parts, CURLUPART_URL, url, 0);
    if (code == CURLUE_OK)
        code = lib->url_get(parts, CURLUPART_SCHEME, &scheme, 0);
    bool is_http = code == CURLUE_OK && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    lib->free(scheme);
    if (code == CURLUE_OUT_OF_MEMORY)
        return wt__fail_nomem(err);
    if (!is_http)
        return wt__fail(err, WT_EINVAL, "the server's address must be a URL that begins with https:// or http://");
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++) {
        char *text = NULL;
        CURLUcode found = lib->url_get(parts, unwanted[i], &text, 0);
        lib->free(text);
        if (found == CURLUE_OK)
            return wt__fail(
                err, WT_EINVAL,
                "the server's address must not contain a user, password, \"?\" or \"#\"; pass the key separately");
    }
    return 0;
}

int wt__http_check_base(const char *url, wt_error *err)
{
    const struct curl_library *lib;
    WT_TRY(wt__curl(&lib, err));
    CURLU *parts = lib->url();
    WT_CHECK_ALLOC(parts, err);
    int rc = check_base_parts(lib, parts, url, err);
    lib->url_cleanup(parts);
    return rc;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct post_exchange *exchange = context;
    size_t len = size * count; /* size is 1 */
    struct buffer *body = &exchange->out->body;
    exchange->last_byte_ms = wt__now_ms();
    if (len > HTTP_ANSWER_BYTES_MAX - body->len) {
        exchange->rc = wt__fail(exchange->err, WT_ETOOLONG, "%s answers with more than %d bytes",
                                shown_url(exchange->post), (int)HTTP_ANSWER_BYTES_MAX);
        return 0;
    }
    wt__buffer_append(body, bytes, len);
    if (body->failed)
        exchange->rc = wt__fail_nomem(exchange->err);
    return exchange->rc == 0 ? len : 0;
}

/* Returns the number at the start of the value, or -1 if the value does not start with a digit. */
static double leading_number(struct str value)
{
    double number = 0;
    size_t digits = 0;
    while (digits < value.len && digits < RETRY_DIGITS && wt__is_digit(value.ptr[digits]))
        number = number * 10 + (value.ptr[digits++] - '0');
    return digits ? number : -1;
}

static size_t take_post_header(char *bytes, size_t size, size_t count, void *context)
{
    struct http_answer *out = ((struct post_exchange *)context)->out;
    struct str line = {bytes, size * count}, value;
    if (wt__str_starts(line, STR("HTTP/"))) { /* drop the headers of an interim answer, such as "100 Continue" */
        out->retry_after_ms = out->should_retry = -1;
        out->type[0] = '\0';
    } else if (wt__http_field_value(line, "retry-after-ms", &value)) {
        out->retry_after_ms = leading_number(value);
    } else if (wt__http_field_value(line, "x-should-retry", &value)) {
        out->should_retry = wt__str_equal(value, STR("true")) ? 1 : wt__str_equal(value, STR("false")) ? 0 : -1;
    } else if (wt__http_field_value(line, "content-type", &value)) {
        wt__http_copy_field(out->type, sizeof out->type, value);
    }
    return line.len;
}

static int check_post_cancelled(void *context, curl_off_t total, curl_off_t got, curl_off_t up_total, curl_off_t up)
{
    struct post_exchange *exchange = context;
    (void)total, (void)got, (void)up_total, (void)up;
    if (wt__progress_step(exchange->post->progress, 0))
        exchange->cancelled = true;
    if (exchange->last_byte_ms > 0 && wt__now_ms() - exchange->last_byte_ms > exchange->post->stall_ms)
        exchange->stalled = true;
    return exchange->cancelled || exchange->stalled;
}

static int set_post_options(struct post_exchange *exchange)
{
    const struct curl_library *lib = exchange->lib;
    const struct http_post *post = exchange->post;
    CURL *curl = exchange->curl;
    const CURLcode results[] = {
        lib->easy_setopt(curl, CURLOPT_URL, post->url),
        wt__curl_trust(lib, curl),
        lib->easy_setopt(curl, CURLOPT_PROXY, wt__curl_proxy(lib, post->url)),
        lib->easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)),
        lib->easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L),
        lib->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L),
        lib->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)post->connect_ms),
        lib->easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)post->total_ms),
        lib->easy_setopt(curl, CURLOPT_USERAGENT, "whichtool/" WT_VERSION),
        lib->easy_setopt(curl, CURLOPT_HTTPHEADER, exchange->headers),
        lib->easy_setopt(curl, CURLOPT_POST, 1L),
        lib->easy_setopt(curl, CURLOPT_CUSTOMREQUEST, post->method),
        lib->easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.len),
        lib->easy_setopt(curl, CURLOPT_POSTFIELDS, post->body.len ? post->body.ptr : ""),
        lib->easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->reason),
        lib->easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body),
        lib->easy_setopt(curl, CURLOPT_WRITEDATA, exchange),
        lib->easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_post_header),
        lib->easy_setopt(curl, CURLOPT_HEADERDATA, exchange),
        lib->easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_post_cancelled),
        lib->easy_setopt(curl, CURLOPT_XFERINFODATA, exchange),
        lib->easy_setopt(curl, CURLOPT_NOPROGRESS, 0L),
    };
    return wt__curl_options(lib, results, sizeof results / sizeof *results, "ask", shown_url(post), exchange->err);
}

static int fail_exchange(struct post_exchange *exchange, CURLcode code)
{
    const char *url = shown_url(exchange->post);
    exchange->out->may_retry = exchange->stalled || wt__curl_is_temporary(code);
    if (exchange->rc < 0)
        return exchange->rc;
    if (exchange->cancelled)
        return wt__fail_cancelled(exchange->err);
    if (code == CURLE_OUT_OF_MEMORY) /* libcurl also reports header lines of over 100 KB this way */
        return wt__fail(exchange->err, WT_ENOMEM, "cannot ask %s: out of memory, or a header of it is too long", url);
    if (exchange->stalled)
        return wt__fail(exchange->err, WT_ENETWORK, "%s stopped in the middle of its answer", url);
    return wt__fail(exchange->err, WT_ENETWORK, "cannot ask %s: %s", url,
                    exchange->reason[0] ? exchange->reason : exchange->lib->easy_strerror(code));
}

static int perform_post(struct post_exchange *exchange)
{
    CURLcode code = exchange->lib->easy_perform(exchange->curl);
    long status = 0;
    curl_off_t seconds = 0;
    if (code != CURLE_OK)
        return fail_exchange(exchange, code);
    exchange->lib->easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
    exchange->out->status = (int)status;
    if (exchange->out->retry_after_ms < 0 &&
        exchange->lib->easy_getinfo(exchange->curl, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0)
        exchange->out->retry_after_ms = (double)seconds * 1000;
    return 0;
}

int wt__http_post(struct http_session *session, const struct http_post *post, struct http_answer *out, wt_error *err)
{
    wt_error scratch;
    struct post_exchange exchange = {
        .post = post, .lib = session->lib, .curl = session->curl, .out = out, .err = err ? err : &scratch};
    *out = (struct http_answer){.retry_after_ms = -1, .should_retry = -1};
    session->lib->easy_reset(session->curl);
    int rc = wt__http_fields(&exchange.headers, session->lib, NULL, post->headers, post->header_count, exchange.err);
    if (rc == 0)
        rc = set_post_options(&exchange);
    if (rc == 0)
        rc = perform_post(&exchange);
    /* The handle must not keep pointers to this stack frame. */
    session->lib->easy_reset(session->curl);
    session->lib->slist_free_all(exchange.headers);
    return rc;
}
