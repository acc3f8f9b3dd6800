/* http_stream.c: runs many concurrent transfers on one thread; see http_client.h. It uses libcurl's multi interface.
 * Once a transfer is in the list, only the loop's thread uses its libcurl handle. Other threads add transfers to the
 * list, mark transfers as cancelled, and wake the loop. */
#include "net/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

enum { POLL_MS = 60000, STATUS_FINAL = 200 /* lower statuses are interim */ };

struct stream_transfer {
    struct stream_transfer *next;
    struct http_loop *loop;
    uint64_t ticket;
    CURL *curl;
    struct curl_slist *lines;
    char *shown;
    const char *kept; /* name of the header to copy to head.kept; NULL for none */
    void (*on_head)(void *context, const struct http_head *head);
    bool (*on_piece)(void *context, const struct http_head *head, struct str piece);
    void (*on_end)(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent);
    void *context;
    struct http_head head;
    double due_ms;  /* start time; 0 once started */
    double stop_ms; /* time when the transfer is ended by force; 0 for never */
    bool enough;    /* on_piece returned false: ignore further pieces */
    bool cancelled; /* protected by the loop's lock */
    char reason[CURL_ERROR_SIZE];
};

struct http_loop {
    const struct curl_library *lib;
    CURLM *multi;
    pthread_t thread;
    pthread_mutex_t lock;
    struct stream_transfer *transfers; /* protected by the lock; only the thread removes transfers */
    uint64_t last_ticket;
    bool closing;
};

static size_t take_stream_header(char *bytes, size_t size, size_t count, void *context)
{
    struct stream_transfer *transfer = context;
    struct http_head *head = &transfer->head;
    struct str line = {bytes, size * count}, value;
    long status = 0;
    if (wt__str_starts(line, STR("HTTP/"))) /* drop the headers of an interim answer, such as "100 Continue" */
        head->type[0] = head->kept[0] = head->location[0] = '\0';
    else if (wt__http_field_value(line, "content-type", &value))
        wt__http_copy_field(head->type, sizeof head->type, value);
    else if (wt__http_field_value(line, "location", &value) && value.len < sizeof head->location)
        wt__http_copy_field(head->location, sizeof head->location, value);
    else if (transfer->kept && wt__http_field_value(line, transfer->kept, &value) && value.len < sizeof head->kept)
        wt__http_copy_field(head->kept, sizeof head->kept, value);
    transfer->loop->lib->easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    head->status = (int)status;
    if (transfer->on_head && status >= STATUS_FINAL && wt__str_trim(line).len == 0)
        transfer->on_head(transfer->context, head);
    return line.len;
}

static size_t take_stream_piece(char *bytes, size_t size, size_t count, void *context)
{
    struct stream_transfer *transfer = context;
    struct str piece = {bytes, size * count};
    if (transfer->enough || transfer->on_piece(transfer->context, &transfer->head, piece))
        return piece.len;
    transfer->enough = true;
    transfer->stop_ms = wt__now_ms() + HTTP_LINGER_MS;
    return piece.len;
}

static void free_transfer(struct stream_transfer *transfer)
{
    const struct curl_library *lib = transfer->loop->lib;
    if (transfer->curl)
        lib->easy_cleanup(transfer->curl);
    lib->slist_free_all(transfer->lines);
    free(transfer->shown);
    free(transfer);
}

static int set_stream_options(struct stream_transfer *transfer, const struct http_stream *stream, wt_error *err)
{
    const struct curl_library *lib = transfer->loop->lib;
    CURL *curl = transfer->curl;
    bool posts = strcmp(stream->method, "POST") == 0;
    const CURLcode results[] = {
        lib->easy_setopt(curl, CURLOPT_URL, stream->url),
        wt__curl_trust(lib, curl),
        lib->easy_setopt(curl, CURLOPT_PROXY, wt__curl_proxy(lib, stream->url)),
        lib->easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)),
        lib->easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L),
        lib->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L),
        lib->easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L),
        lib->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)stream->connect_ms),
        lib->easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)stream->total_ms),
        lib->easy_setopt(curl, CURLOPT_USERAGENT, "whichtool/" WT_VERSION),
        lib->easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->lines),
        lib->easy_setopt(curl, posts ? CURLOPT_POST : CURLOPT_HTTPGET, 1L),
        lib->easy_setopt(curl, CURLOPT_CUSTOMREQUEST, posts ? NULL : stream->method),
        posts ? lib->easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)stream->body.len) : CURLE_OK,
        posts ? lib->easy_setopt(curl, CURLOPT_POSTFIELDS, stream->body.len ? stream->body.ptr : "") : CURLE_OK,
        lib->easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->reason),
        lib->easy_setopt(curl, CURLOPT_PRIVATE, transfer),
        lib->easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_stream_piece),
        lib->easy_setopt(curl, CURLOPT_WRITEDATA, transfer),
        lib->easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_stream_header),
        lib->easy_setopt(curl, CURLOPT_HEADERDATA, transfer),
    };
    return wt__curl_options(lib, results, sizeof results / sizeof *results, "ask", transfer->shown, err);
}

/* Fills a transfer according to stream. On an error the caller frees it. */
static int fill_transfer(struct stream_transfer *transfer, const struct http_stream *stream, wt_error *err)
{
    const char *shown = stream->shown ? stream->shown : stream->url;
    struct http_loop *loop = transfer->loop;
    transfer->curl = loop->lib->easy_init();
    transfer->shown = wt__copy_string(shown, strlen(shown));
    transfer->kept = stream->kept;
    transfer->on_head = stream->on_head;
    transfer->on_piece = stream->on_piece;
    transfer->on_end = stream->on_end;
    transfer->context = stream->context;
    transfer->due_ms = wt__now_ms() + stream->delay_ms;
    if (!transfer->curl || !transfer->shown)
        return wt__fail_nomem(err);
    WT_TRY(wt__http_fields(&transfer->lines, loop->lib, stream->accept, stream->headers, stream->header_count, err));
    return set_stream_options(transfer, stream, err);
}

int wt__http_stream_begin(uint64_t *ticket, struct http_loop *loop, const struct http_stream *stream, wt_error *err)
{
    struct stream_transfer *transfer = wt__alloc_zeros(1, sizeof *transfer);
    WT_CHECK_ALLOC(transfer, err);
    transfer->loop = loop;
    int rc = fill_transfer(transfer, stream, err);
    if (rc < 0) {
        free_transfer(transfer);
        return rc;
    }
    pthread_mutex_lock(&loop->lock);
    *ticket = transfer->ticket = ++loop->last_ticket;
    transfer->next = loop->transfers;
    loop->transfers = transfer;
    pthread_mutex_unlock(&loop->lock);
    loop->lib->multi_wakeup(loop->multi);
    return 0;
}

void wt__http_stream_cancel(struct http_loop *loop, uint64_t ticket)
{
    pthread_mutex_lock(&loop->lock);
    for (struct stream_transfer *transfer = loop->transfers; transfer; transfer = transfer->next)
        transfer->cancelled |= transfer->ticket == ticket;
    pthread_mutex_unlock(&loop->lock);
    loop->lib->multi_wakeup(loop->multi);
}

/* Removes a transfer from the list, notifies its caller, and frees it. */
static void finish_transfer(struct stream_transfer *transfer, CURLcode code, bool cancelled)
{
    struct http_loop *loop = transfer->loop;
    const struct curl_library *lib = loop->lib;
    struct stream_transfer **at = &loop->transfers;
    long request_bytes = 0;
    wt_error why = {0};
    int rc = 0;
    pthread_mutex_lock(&loop->lock);
    while (*at != transfer)
        at = &(*at)->next;
    *at = transfer->next;
    pthread_mutex_unlock(&loop->lock);
    if (transfer->due_ms == 0)
        lib->multi_remove_handle(loop->multi, transfer->curl);
    lib->easy_getinfo(transfer->curl, CURLINFO_REQUEST_SIZE, &request_bytes);
    if (cancelled && !transfer->enough)
        rc = wt__fail_cancelled(&why);
    else if (code == CURLE_OUT_OF_MEMORY)
        rc = wt__fail(&why, WT_ENOMEM, "cannot ask %s: out of memory, or a header of it is too long", transfer->shown);
    else if (code != CURLE_OK && !transfer->enough)
        rc = wt__fail(&why, WT_ENETWORK, "cannot ask %s: %s", transfer->shown,
                      transfer->reason[0] ? transfer->reason : lib->easy_strerror(code));
    transfer->on_end(transfer->context, &transfer->head, rc, &why, request_bytes > 0);
    free_transfer(transfer);
}

/* Returns a transfer that must be started or ended now, or NULL. *cancelled: the returned transfer must be ended. After
 * NULL, *wait_ms is the time until a transfer is due, about POLL_MS at most. */
static struct stream_transfer *next_due(struct http_loop *loop, bool *cancelled, int *wait_ms)
{
    double now = wt__now_ms(), first = now + POLL_MS;
    struct stream_transfer *due = NULL;
    pthread_mutex_lock(&loop->lock);
    for (struct stream_transfer *transfer = loop->transfers; transfer && !due; transfer = transfer->next) {
        double at = transfer->stop_ms > 0 ? transfer->stop_ms : transfer->due_ms;
        *cancelled = transfer->cancelled || loop->closing || (transfer->stop_ms > 0 && at <= now);
        if (*cancelled || (at > 0 && at <= now))
            due = transfer;
        else if (at > 0 && at < first)
            first = at;
    }
    pthread_mutex_unlock(&loop->lock);
    *wait_ms = (int)(first - now) + 1;
    return due;
}

static void read_results(struct http_loop *loop)
{
    const struct curl_library *lib = loop->lib;
    CURLMsg *message;
    int left;
    while ((message = lib->multi_info_read(loop->multi, &left)) != NULL) {
        struct stream_transfer *transfer = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result; /* copied, because the handle is freed below */
        lib->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        finish_transfer(transfer, code, false);
    }
}

/* True if the loop must end: it is closing and has no transfers. */
static bool is_loop_closing(struct http_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    bool closing = loop->closing && !loop->transfers;
    pthread_mutex_unlock(&loop->lock);
    return closing;
}

static void *run_http_loop(void *context)
{
    struct http_loop *loop = context;
    const struct curl_library *lib = loop->lib;
    while (!is_loop_closing(loop)) {
        struct stream_transfer *transfer;
        bool cancelled;
        int running, wait_ms;
        while ((transfer = next_due(loop, &cancelled, &wait_ms)) != NULL) {
            if (cancelled) {
                finish_transfer(transfer, CURLE_OK, true);
                continue;
            }
            transfer->due_ms = 0;
            if (lib->multi_add_handle(loop->multi, transfer->curl) != CURLM_OK)
                finish_transfer(transfer, CURLE_OUT_OF_MEMORY, false);
        }
        lib->multi_perform(loop->multi, &running);
        read_results(loop);
        if (next_due(loop, &cancelled, &wait_ms) == NULL && !is_loop_closing(loop))
            lib->multi_poll(loop->multi, NULL, 0, wait_ms, NULL);
    }
    return NULL;
}

int wt__http_loop_open(struct http_loop **out, wt_error *err)
{
    const struct curl_library *lib;
    int rc = 0;
    *out = NULL;
    WT_TRY(wt__curl(&lib, err));
    struct http_loop *loop = calloc(1, sizeof *loop);
    WT_CHECK_ALLOC(loop, err);
    loop->lib = lib;
    loop->multi = lib->multi_init();
    pthread_mutex_init(&loop->lock, NULL);
    if (!loop->multi)
        rc = wt__fail_nomem(err);
    else if (pthread_create(&loop->thread, NULL, run_http_loop, loop) != 0)
        rc = wt__fail(err, WT_EIO, "cannot start a thread");
    if (rc == 0) {
        *out = loop;
        return 0;
    }
    if (loop->multi)
        lib->multi_cleanup(loop->multi);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
    return rc;
}

void wt__http_loop_close(struct http_loop *loop)
{
    if (!loop)
        return;
    pthread_mutex_lock(&loop->lock);
    loop->closing = true;
    pthread_mutex_unlock(&loop->lock);
    loop->lib->multi_wakeup(loop->multi);
    pthread_join(loop->thread, NULL);
    loop->lib->multi_cleanup(loop->multi);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}
