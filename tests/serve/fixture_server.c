/* The fixture of the conformance suite as a server, for bench/conformance.py and for testing clients:
 *
 *   fixture_server ADDRESS    HTTP at /mcp; prints its address, and stops when standard input ends
 *   fixture_server            standard input and output */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "fixture.h"
#include "http/server.h"
#include "serve/mcp/transport.h"

static struct http_server *server;
static struct mcp_http *http;

static void answer_fixture_request(void *context, struct http_exchange *exchange)
{
    (void)context;
    if (wt__str_equal(wt__http_request(exchange)->path, STR("/mcp")))
        wt__mcp_http_answer(http, exchange, &(struct mcp_asker){.principal = "", .may_call = true});
    else
        wt__http_answer(exchange, 404, NULL, NULL, 0, STR(""));
}

static size_t limit_fixture_body(void *context, const struct http_request *head)
{
    (void)context;
    (void)head;
    return MCP_MESSAGE_BYTES_MAX;
}

/* True for HOST or HOST:PORT of this machine. */
static bool is_local_host(struct str host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    const char *colon = host.len > 0 && host.ptr[0] != '[' ? memchr(host.ptr, ':', host.len) : NULL;
    const char *bracket = host.len > 0 && host.ptr[0] == '[' ? memchr(host.ptr, ']', host.len) : NULL;
    if (colon)
        host.len = (size_t)(colon - host.ptr);
    else if (bracket)
        host.len = (size_t)(bracket - host.ptr) + 1;
    return wt__str_among(host, names, 3);
}

static int refuse_foreign_host(void *context, const struct http_request *head)
{
    struct str origin = wt__http_field(head, "Origin"), scheme = STR("http://");
    (void)context;
    if (origin.len > 0 && (!wt__str_starts(origin, scheme) ||
                           !is_local_host((struct str){origin.ptr + scheme.len, origin.len - scheme.len})))
        return 403;
    return is_local_host(wt__http_field(head, "Host")) ? 0 : 403;
}

/* Stops the server when standard input ends. */
static void *wait_for_stdin_end(void *context)
{
    char byte;
    (void)context;
    while (read(0, &byte, 1) > 0)
        ;
    wt__mcp_service_stop(fixture_service);
    wt__http_server_stop(server);
    return NULL;
}

static int serve_http(struct mcp_service *service, const char *address, wt_error *err)
{
    struct http_server_options options = {
        .listen = address,
        .workers = 4,
        .handler = {.answer = answer_fixture_request, .body_max = limit_fixture_body, .refuse = refuse_foreign_host}};
    pthread_t watcher;
    int rc = wt__mcp_http_open(&http, service, err);
    if (rc == 0)
        rc = wt__http_server_open(&server, &options, err);
    if (rc == 0 && pthread_create(&watcher, NULL, wait_for_stdin_end, NULL) != 0)
        rc = wt__fail(err, WT_EIO, "cannot start a thread");
    if (rc == 0) {
        printf("%s\n", wt__http_server_address(server));
        fflush(stdout);
        rc = wt__http_server_run(server, err);
        pthread_join(watcher, NULL);
    }
    wt__mcp_http_close(http);
    wt__http_server_close(server);
    return rc;
}

int main(int argc, char **argv)
{
    struct mcp_service *service;
    wt_error err;
    signal(SIGPIPE, SIG_IGN);
    int rc = fixture_open(&service, NULL, &err);
    if (rc == 0) {
        rc = argc > 1 ? serve_http(service, argv[1], &err) : wt__mcp_stdio_run(service, 0, 1, -1, 0, &err);
        fixture_close(service);
    }
    if (rc < 0)
        fprintf(stderr, "fixture_server: %s\n", err.message);
    return rc < 0;
}
