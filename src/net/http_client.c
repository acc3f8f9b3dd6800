/* http_client.c: see http_client.h. The transfer is libcurl's; ours is what to ask for, where to write, when to stop.
 */
#include "net/http_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/curl_library.h"

enum { LOW_SPEED = 1, RETRY_MS = 500, HTTP_PARTIAL = 206, HTTP_NOT_FOUND = 404, HTTP_GONE = 410, HTTP_RANGE = 416 };

struct transfer {
    const struct http_download *download;
    const struct curl_library *lib;
    CURL *curl;
    int fd;
    uint64_t have;  /* bytes in the file */
    uint64_t asked; /* the offset that was asked for */
    bool began;     /* the first byte of this attempt has come */
    bool cancelled;
    int rc; /* of writing */
    char reason[CURL_ERROR_SIZE];
    wt_error *err;
};

static bool is_this_machine(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0 || strcmp(host, "localhost") == 0;
}

/* What the first request may speak: libcurl takes the URL apart, so that nothing in it can look like another host. */
static int choose_protocols(const struct curl_library *lib, const char *url, long *protocols, wt_error *err)
{
    char *scheme = NULL, *host = NULL;
    CURLU *parts = lib->url();
    int rc = 0;
    *protocols = 0;
    if (!parts)
        return wt__fail_nomem(err);
    if (lib->url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
        lib->url_get(parts, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        lib->url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK)
        rc = wt__fail(err, WT_EINVAL, "\"%s\" is not a URL of a server", url);
    else if (strcmp(scheme, "https") == 0)
        *protocols = CURLPROTO_HTTPS;
    else if (strcmp(scheme, "http") == 0 && is_this_machine(host))
        *protocols = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    else
        rc = wt__fail(err, WT_EINVAL, "cannot fetch %s: only https:// is allowed", url);
    lib->free(scheme);
    lib->free(host);
    lib->url_cleanup(parts);
    return rc;
}

/* ---------------------------------------------------------------- what libcurl calls */

/* The first byte tells what the server made of the wish to continue: 206 goes on, anything else starts again. */
static int begin_body(struct transfer *transfer)
{
    long status = 0;
    transfer->lib->easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    transfer->began = true;
    if (transfer->asked == 0 || status == HTTP_PARTIAL)
        return 0;
    if (ftruncate(transfer->fd, 0) < 0 || lseek(transfer->fd, 0, SEEK_SET) < 0)
        return wt__fail_errno(transfer->err, "write", transfer->download->path);
    transfer->have = 0;
    return 0;
}

static size_t write_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t len = size * count; /* size is 1 */
    if (!transfer->began)
        transfer->rc = begin_body(transfer);
    if (transfer->rc == 0 &&
        (len > transfer->download->max_bytes || transfer->have > transfer->download->max_bytes - len))
        transfer->rc = wt__fail(transfer->err, WT_ETOOLONG, "%s has more than %llu bytes", transfer->download->url,
                                (unsigned long long)transfer->download->max_bytes);
    for (size_t done = 0; transfer->rc == 0 && done < len;) {
        ssize_t n = write(transfer->fd, bytes + done, len - done);
        if (n < 0 && errno != EINTR)
            transfer->rc = wt__fail_errno(transfer->err, "write", transfer->download->path);
        done += n > 0 ? (size_t)n : 0;
        transfer->have += n > 0 ? (uint64_t)n : 0;
    }
    if (transfer->rc == 0 && wt__progress_step(transfer->download->progress, len))
        transfer->cancelled = true;
    return transfer->rc == 0 && !transfer->cancelled ? len : 0;
}

static int look_for_a_stop(void *context, curl_off_t total, curl_off_t got, curl_off_t up_total, curl_off_t up)
{
    struct transfer *transfer = context;
    (void)total;
    (void)got;
    (void)up_total;
    (void)up;
    if (wt__progress_step(transfer->download->progress, 0))
        transfer->cancelled = true;
    return transfer->cancelled;
}

/* ---------------------------------------------------------------- one attempt */

static int set_options(struct transfer *transfer, long protocols)
{
    const struct curl_library *lib = transfer->lib;
    CURL *curl = transfer->curl;
    char range[32];
    snprintf(range, sizeof range, "%llu-", (unsigned long long)transfer->asked);
    const CURLcode results[] = {
        lib->easy_setopt(curl, CURLOPT_URL, transfer->download->url),
        lib->easy_setopt(curl, CURLOPT_PROTOCOLS, protocols),
        lib->easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, (long)CURLPROTO_HTTPS),
        lib->easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L),
        lib->easy_setopt(curl, CURLOPT_MAXREDIRS, (long)HTTP_REDIRECTS),
        lib->easy_setopt(curl, CURLOPT_FAILONERROR, 1L),
        lib->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L),
        lib->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CONNECT_MS),
        lib->easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)LOW_SPEED),
        lib->easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)HTTP_STALL_SECONDS),
        lib->easy_setopt(curl, CURLOPT_USERAGENT, "whichtool/" WT_VERSION),
        lib->easy_setopt(curl, CURLOPT_RANGE, transfer->asked ? range : NULL),
        lib->easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->reason),
        lib->easy_setopt(curl, CURLOPT_WRITEFUNCTION, write_body),
        lib->easy_setopt(curl, CURLOPT_WRITEDATA, transfer),
        lib->easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_a_stop),
        lib->easy_setopt(curl, CURLOPT_XFERINFODATA, transfer),
        lib->easy_setopt(curl, CURLOPT_NOPROGRESS, 0L),
    };
    return wt__curl_options(lib, results, sizeof results / sizeof *results, "fetch", transfer->download->url,
                            transfer->err);
}

static int fail_attempt(struct transfer *transfer, CURLcode code, long status)
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

static bool worth_another(CURLcode code, long status)
{
    bool refused = code == CURLE_HTTP_RETURNED_ERROR;
    return refused ? status == 408 || status == 429 || status >= 500 : wt__curl_may_pass(code);
}

/* 0: done; 1: failed in a way that may pass (the error is filled). */
static int attempt(struct transfer *transfer, long protocols)
{
    transfer->asked = transfer->have;
    transfer->began = false;
    transfer->reason[0] = '\0';
    transfer->lib->easy_reset(transfer->curl);
    int rc = set_options(transfer, protocols);
    if (rc < 0)
        return rc;
    long status = 0;
    CURLcode code = transfer->lib->easy_perform(transfer->curl);
    transfer->lib->easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK)
        return 0;
    if (code == CURLE_HTTP_RETURNED_ERROR && status == HTTP_RANGE && transfer->asked > 0) {
        /* Nothing lies after what we have: it is whole, or of another file. Start again and see. */
        transfer->have = 0;
        if (ftruncate(transfer->fd, 0) < 0 || lseek(transfer->fd, 0, SEEK_SET) < 0)
            return wt__fail_errno(transfer->err, "write", transfer->download->path);
        fail_attempt(transfer, code, status);
        return 1;
    }
    rc = fail_attempt(transfer, code, status);
    return transfer->rc == 0 && !transfer->cancelled && worth_another(code, status) ? 1 : rc;
}

static bool pause_or_stop(struct transfer *transfer, double ms)
{
    for (double until = wt__now_ms() + ms; wt__now_ms() < until;) {
        if (wt__progress_step(transfer->download->progress, 0))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 20000000L}, NULL);
    }
    return false;
}

static int fetch(struct transfer *transfer, long protocols)
{
    int rc = 1;
    for (int i = 0; rc == 1 && i < HTTP_ATTEMPTS; i++) {
        if (i > 0 && pause_or_stop(transfer, RETRY_MS << (i - 1)))
            return wt__fail_cancelled(transfer->err);
        rc = attempt(transfer, protocols);
    }
    if (rc == 1) /* the sentence of the last attempt stands */
        return WT_ENETWORK;
    if (rc == 0 && !transfer->began && transfer->asked > 0)
        return wt__fail(transfer->err, WT_ENETWORK, "cannot fetch %s: the server sent nothing",
                        transfer->download->url);
    if (rc == 0 && fsync(transfer->fd) < 0)
        return wt__fail_errno(transfer->err, "write", transfer->download->path);
    return rc;
}

int wt__http_download(const struct http_download *download, wt_error *err)
{
    wt_error scratch;
    struct transfer transfer = {.download = download, .err = err ? err : &scratch};
    long protocols = 0;
    int rc = wt__curl(&transfer.lib, err);
    if (rc == 0)
        rc = choose_protocols(transfer.lib, download->url, &protocols, err);
    if (rc < 0)
        return rc;
    transfer.fd = open(download->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (transfer.fd < 0)
        return wt__fail_errno(err, "write", download->path);
    off_t end = lseek(transfer.fd, 0, SEEK_END);
    transfer.have = end > 0 ? (uint64_t)end : 0;
    transfer.curl = transfer.lib->easy_init();
    rc = transfer.curl ? fetch(&transfer, protocols) : wt__fail_nomem(err);
    transfer.lib->easy_cleanup(transfer.curl);
    if (close(transfer.fd) < 0 && rc == 0)
        rc = wt__fail_errno(err, "write", download->path);
    return rc;
}
