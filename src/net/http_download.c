/* http_download.c: downloads; see http_client.h. libcurl transfers the data. This file handles resuming, writing,
 * cancellation and redirects. Each address of a redirect is checked before a request is sent there. */
#include "net/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/str.h"

enum { LOW_SPEED = 1, RETRY_MS = 500, HTTP_PARTIAL = 206, HTTP_NOT_FOUND = 404, HTTP_GONE = 410, HTTP_RANGE = 416 };

struct download_state {
    const struct http_download *download;
    const struct curl_library *lib;
    CURL *curl;
    int fd;
    uint64_t file_bytes;              /* bytes in the file */
    uint64_t requested_from;          /* offset requested */
    struct http_response_info *info;  /* headers to record for this request; NULL if not wanted */
    char *url;                        /* address of this request; the target after a redirect */
    long protocols;                   /* allowed protocol, CURLPROTO_HTTPS or CURLPROTO_HTTP */
    bool is_plain_http;               /* the first address was plain http on this machine */
    bool is_same_origin;              /* same scheme, host and port as the first address */
    struct curl_slist *authorization; /* header line; NULL without a token */
    bool has_begun;                   /* the first byte of this attempt has arrived */
    bool cancelled;
    int rc; /* error of write_body, or 0 */
    char reason[CURL_ERROR_SIZE];
    wt_error *err;
};

static bool is_this_machine(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0 || strcmp(host, "localhost") == 0;
}

/* Reads the origin of a URL as "scheme://host:port"; the caller frees it. libcurl parses the URL, so that the host is
 * the one that libcurl will connect to. *origin is NULL if the URL has no host. *protocols: CURLPROTO_HTTPS or
 * CURLPROTO_HTTP; 0 if the URL is not allowed. */
static int read_origin(const struct curl_library *lib, const char *url, char **origin, long *protocols, wt_error *err)
{
    char *scheme = NULL, *host = NULL, *port = NULL;
    CURLU *parts = lib->url();
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    *origin = NULL;
    *protocols = 0;
    WT_CHECK_ALLOC(parts, err);
    if (lib->url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        lib->url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        lib->url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
        bool known = lib->url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
        wt__buffer_printf(&text, "%s://%s:%s", scheme, host, known ? port : "");
        *protocols = strcmp(scheme, "https") == 0                           ? CURLPROTO_HTTPS
                     : strcmp(scheme, "http") == 0 && is_this_machine(host) ? CURLPROTO_HTTP
                                                                            : 0;
        *origin = text.failed ? NULL : wt__copy_string(text.ptr, text.len);
    }
    int rc = host && !*origin ? wt__fail_nomem(err) : 0;
    lib->free(scheme);
    lib->free(host);
    lib->free(port);
    lib->url_cleanup(parts);
    return rc;
}

/* Checks and sets the address of the next request: the download's URL, or the target of a redirect. */
static int set_target(struct download_state *transfer, const char *url, bool redirected)
{
    const char *first = transfer->download->url;
    WT_AUTO_FREE char *origin = NULL, *own = NULL;
    long protocols = 0, unused;
    WT_TRY(read_origin(transfer->lib, url, &origin, &protocols, transfer->err));
    if (redirected)
        WT_TRY(read_origin(transfer->lib, first, &own, &unused, transfer->err));
    bool sound = origin && protocols && !(redirected && protocols == CURLPROTO_HTTP && !transfer->is_plain_http);
    if (!sound && redirected)
        return wt__fail(transfer->err, WT_ENETWORK,
                        "cannot fetch %s: the server redirects to an address that is not https://", first);
    if (!origin)
        return wt__fail(transfer->err, WT_EINVAL, "\"%s\" is not a URL of a server", url);
    if (!sound)
        return wt__fail(transfer->err, WT_EINVAL, "cannot fetch %s: only https:// is allowed", url);
    char *copy = wt__copy_string(url, strlen(url));
    WT_CHECK_ALLOC(copy, transfer->err);
    free(transfer->url);
    transfer->url = copy;
    transfer->protocols = protocols;
    transfer->is_same_origin = !redirected || strcmp(origin, own) == 0;
    transfer->is_plain_http = redirected ? transfer->is_plain_http : protocols == CURLPROTO_HTTP;
    return 0;
}

static int make_authorization(struct download_state *transfer)
{
    const char *token = transfer->download->token;
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    if (!token || !*token)
        return 0;
    bool clean = strlen(token) < HTTP_TOKEN_BYTES;
    for (const char *c = token; clean && *c; c++)
        clean = *c > ' ' && *c < 0x7f;
    if (!clean) /* do not print the token */
        return wt__fail(transfer->err, WT_EINVAL, "the token is too long or contains an invalid character");
    wt__buffer_printf(&line, "Authorization: Bearer %s", token);
    transfer->authorization = line.failed ? NULL : transfer->lib->slist_append(NULL, line.ptr);
    return transfer->authorization ? 0 : wt__fail_nomem(transfer->err);
}

static long response_status(const struct download_state *transfer)
{
    long status = 0;
    transfer->lib->easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static bool is_redirect(long status)
{
    return status >= 300 && status < 400;
}

static size_t record_header(char *bytes, size_t size, size_t count, void *context)
{
    const struct download_state *transfer = context;
    struct http_response_info *info = transfer->info;
    size_t len = size * count; /* size is 1 */
    for (size_t i = 0; info && i < HTTP_WANTED_MAX; i++) {
        size_t name = info->names[i] ? strlen(info->names[i]) : len;
        if (name >= len || bytes[name] != ':' || strncasecmp(bytes, info->names[i], name) != 0)
            continue;
        struct str value = wt__str_trim((struct str){bytes + name + 1, len - name - 1});
        if (value.len < HTTP_VALUE_BYTES && !info->values[i][0]) {
            memcpy(info->values[i], value.ptr, value.len);
            info->values[i][value.len] = '\0';
        }
    }
    return len;
}

/* Starts the progress phase with the total size, if the server sent it. */
static void begin_phase(struct download_state *transfer)
{
    const struct http_download *download = transfer->download;
    curl_off_t len = -1;
    transfer->lib->easy_getinfo(transfer->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &len);
    uint64_t total = len > 0 ? transfer->file_bytes + (uint64_t)len : 0;
    if (wt__progress_phase(download->progress, download->phase, total) ||
        wt__progress_step(download->progress, transfer->file_bytes))
        transfer->cancelled = true;
}

/* Handles the first byte of a body. Status 206 continues the file. Any other status starts the file again. */
static int begin_body(struct download_state *transfer)
{
    long status = response_status(transfer);
    transfer->has_begun = true;
    if (transfer->requested_from > 0 && status != HTTP_PARTIAL) {
        transfer->file_bytes = 0;
        if (ftruncate(transfer->fd, 0) < 0 || lseek(transfer->fd, 0, SEEK_SET) < 0)
            return wt__fail_errno(transfer->err, "write", transfer->download->path);
    }
    if (transfer->download->phase)
        begin_phase(transfer);
    return 0;
}

static size_t write_body(char *bytes, size_t size, size_t count, void *context)
{
    struct download_state *transfer = context;
    size_t len = size * count; /* size is 1 */
    if (is_redirect(response_status(transfer)))
        return len; /* ignore the body of a redirect */
    if (!transfer->has_begun)
        transfer->rc = begin_body(transfer);
    if (transfer->rc == 0 &&
        (len > transfer->download->max_bytes || transfer->file_bytes > transfer->download->max_bytes - len))
        transfer->rc = wt__fail(transfer->err, WT_ETOOLONG, "%s has more than %llu bytes", transfer->download->url,
                                (unsigned long long)transfer->download->max_bytes);
    for (size_t done = 0; transfer->rc == 0 && done < len;) {
        ssize_t n = write(transfer->fd, bytes + done, len - done);
        if (n < 0 && errno != EINTR)
            transfer->rc = wt__fail_errno(transfer->err, "write", transfer->download->path);
        done += n > 0 ? (size_t)n : 0;
        transfer->file_bytes += n > 0 ? (uint64_t)n : 0;
    }
    if (transfer->rc == 0 && wt__progress_step(transfer->download->progress, len))
        transfer->cancelled = true;
    return transfer->rc == 0 && !transfer->cancelled ? len : 0;
}

static int check_download_cancelled(void *context, curl_off_t total, curl_off_t got, curl_off_t up_total, curl_off_t up)
{
    struct download_state *transfer = context;
    (void)total, (void)got, (void)up_total, (void)up;
    if (wt__progress_step(transfer->download->progress, 0))
        transfer->cancelled = true;
    return transfer->cancelled;
}

static int set_download_options(struct download_state *transfer)
{
    const struct curl_library *lib = transfer->lib;
    CURL *curl = transfer->curl;
    char range[32];
    snprintf(range, sizeof range, "%llu-", (unsigned long long)transfer->requested_from);
    const CURLcode results[] = {
        lib->easy_setopt(curl, CURLOPT_URL, transfer->url),
        wt__curl_trust(lib, curl),
        lib->easy_setopt(curl, CURLOPT_PROXY, wt__curl_proxy(lib, transfer->url)),
        lib->easy_setopt(curl, CURLOPT_PROTOCOLS, transfer->protocols),
        lib->easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L),
        lib->easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->is_same_origin ? transfer->authorization : NULL),
        lib->easy_setopt(curl, CURLOPT_FAILONERROR, 1L),
        lib->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L),
        lib->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CONNECT_MS),
        lib->easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)LOW_SPEED),
        lib->easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)HTTP_STALL_SECONDS),
        lib->easy_setopt(curl, CURLOPT_USERAGENT, "whichtool/" WT_VERSION),
        lib->easy_setopt(curl, CURLOPT_RANGE, transfer->requested_from ? range : NULL),
        lib->easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->reason),
        lib->easy_setopt(curl, CURLOPT_WRITEFUNCTION, write_body),
        lib->easy_setopt(curl, CURLOPT_WRITEDATA, transfer),
        lib->easy_setopt(curl, CURLOPT_HEADERFUNCTION, record_header),
        lib->easy_setopt(curl, CURLOPT_HEADERDATA, transfer),
        lib->easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_download_cancelled),
        lib->easy_setopt(curl, CURLOPT_XFERINFODATA, transfer),
        lib->easy_setopt(curl, CURLOPT_NOPROGRESS, 0L),
    };
    return wt__curl_options(lib, results, sizeof results / sizeof *results, "fetch", transfer->download->url,
                            transfer->err);
}

static int fail_attempt(struct download_state *transfer, CURLcode code, long status)
{
    const char *url = transfer->download->url;
    if (transfer->rc < 0)
        return transfer->rc;
    if (transfer->cancelled)
        return wt__fail_cancelled(transfer->err);
    if (code == CURLE_OUT_OF_MEMORY)
        return wt__fail_nomem(transfer->err);
    if (code == CURLE_HTTP_RETURNED_ERROR)
        return wt__fail(transfer->err, status == HTTP_NOT_FOUND || status == HTTP_GONE ? WT_ENOTFOUND : WT_ENETWORK,
                        "cannot fetch %s: the server answered %ld", url, status);
    return wt__fail(transfer->err, WT_ENETWORK, "cannot fetch %s: %s", url,
                    transfer->reason[0] ? transfer->reason : transfer->lib->easy_strerror(code));
}

static bool is_temporary(CURLcode code, long status)
{
    bool refused = code == CURLE_HTTP_RETURNED_ERROR;
    return refused ? status == 408 || status == 429 || status >= 500 : wt__curl_is_temporary(code);
}

enum { MAY_RETRY = 1, REDIRECTED = 2 };

/* Sends one request. Returns 0 if done, MAY_RETRY for a temporary failure (*err is set), REDIRECTED after a
 * redirect, or an error. */
static int send_download_request(struct download_state *transfer)
{
    const char *location = NULL;
    transfer->requested_from = transfer->file_bytes;
    transfer->has_begun = false;
    transfer->reason[0] = '\0';
    transfer->lib->easy_reset(transfer->curl);
    WT_TRY(set_download_options(transfer));
    CURLcode code = transfer->lib->easy_perform(transfer->curl);
    long status = response_status(transfer);
    if (transfer->download->info)
        transfer->download->info->status = (int)status;
    if (code == CURLE_OK && is_redirect(status)) {
        transfer->lib->easy_getinfo(transfer->curl, CURLINFO_REDIRECT_URL, &location);
        if (!location)
            return wt__fail(transfer->err, WT_ENETWORK, "cannot fetch %s: the server answered %ld without an address",
                            transfer->download->url, status);
        WT_TRY(set_target(transfer, location, true));
        return REDIRECTED;
    }
    if (code == CURLE_OK)
        return 0;
    if (code == CURLE_HTTP_RETURNED_ERROR && status == HTTP_RANGE && transfer->requested_from > 0) {
        /* No data follows the bytes in the file: it is complete or differs. Start again. */
        transfer->file_bytes = 0;
        if (ftruncate(transfer->fd, 0) < 0 || lseek(transfer->fd, 0, SEEK_SET) < 0)
            return wt__fail_errno(transfer->err, "write", transfer->download->path);
        fail_attempt(transfer, code, status);
        return MAY_RETRY;
    }
    int rc = fail_attempt(transfer, code, status);
    return transfer->rc == 0 && !transfer->cancelled && is_temporary(code, status) ? MAY_RETRY : rc;
}

static int try_download(struct download_state *transfer)
{
    transfer->info = transfer->download->info;
    for (size_t i = 0; transfer->info && i < HTTP_WANTED_MAX; i++)
        transfer->info->values[i][0] = '\0';
    WT_TRY(set_target(transfer, transfer->download->url, false));
    for (int hops = 0; hops <= HTTP_REDIRECTS; hops++) {
        int rc = send_download_request(transfer);
        if (rc != REDIRECTED)
            return rc;
        if (!transfer->is_same_origin)
            transfer->info = NULL;
    }
    return wt__fail(transfer->err, WT_ENETWORK, "cannot fetch %s: the server redirects more than %d times",
                    transfer->download->url, HTTP_REDIRECTS);
}

static bool pause_or_stop(struct download_state *transfer, double ms)
{
    for (double until = wt__now_ms() + ms; wt__now_ms() < until;) {
        if (wt__progress_step(transfer->download->progress, 0))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 20000000L}, NULL);
    }
    return false;
}

static int download_with_retries(struct download_state *transfer)
{
    int rc = MAY_RETRY;
    for (int i = 0; rc == MAY_RETRY && i < HTTP_ATTEMPTS; i++) {
        if (i > 0 && pause_or_stop(transfer, RETRY_MS << (i - 1)))
            return wt__fail_cancelled(transfer->err);
        rc = try_download(transfer);
    }
    if (rc == MAY_RETRY) /* keep the message of the last attempt */
        return WT_ENETWORK;
    if (rc == 0 && !transfer->has_begun && transfer->requested_from > 0)
        return wt__fail(transfer->err, WT_ENETWORK, "cannot fetch %s: the server sent nothing",
                        transfer->download->url);
    if (rc == 0 && fsync(transfer->fd) < 0)
        return wt__fail_errno(transfer->err, "write", transfer->download->path);
    return rc;
}

static int open_destination(struct download_state *transfer)
{
    const char *path = transfer->download->path;
    transfer->curl = transfer->lib->easy_init();
    WT_CHECK_ALLOC(transfer->curl, transfer->err);
    transfer->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (transfer->fd < 0)
        return wt__fail_errno(transfer->err, "write", path);
    off_t end = lseek(transfer->fd, 0, SEEK_END);
    transfer->file_bytes = end > 0 ? (uint64_t)end : 0;
    return 0;
}

static int run_download(struct download_state *transfer)
{
    WT_TRY(wt__curl(&transfer->lib, transfer->err));
    WT_TRY(set_target(transfer, transfer->download->url, false)); /* check the URL before the file is created */
    WT_TRY(make_authorization(transfer));
    WT_TRY(open_destination(transfer));
    int rc = download_with_retries(transfer);
    if (close(transfer->fd) < 0 && rc == 0)
        rc = wt__fail_errno(transfer->err, "write", transfer->download->path);
    return rc;
}

int wt__http_download(const struct http_download *download, wt_error *err)
{
    wt_error scratch;
    struct download_state transfer = {.download = download, .err = err ? err : &scratch};
    int rc = run_download(&transfer);
    if (transfer.lib) {
        transfer.lib->easy_cleanup(transfer.curl);
        transfer.lib->slist_free_all(transfer.authorization);
    }
    free(transfer.url);
    return rc;
}
