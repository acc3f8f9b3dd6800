/* bench_http_echo.c: the HTTP server with trivial handlers, for bench/serving.py.
 *
 *   bench_http_echo [LISTEN [WORKERS]]      prints its address, and exits at the end of standard input
 *
 *   POST /echo      returns the body       GET /stream    one piece, then silence until the client closes
 *   GET  /bytes/N   N bytes                GET /slow/MS   204 after MS milliseconds */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "http/server.h"

enum { BYTES_MAX = 64 << 20 };

static bool has_number(struct str path, struct str prefix, size_t *out)
{
    char digits[16];
    if (!wt__str_starts(path, prefix) || path.len - prefix.len >= sizeof digits)
        return false;
    memcpy(digits, path.ptr + prefix.len, path.len - prefix.len);
    digits[path.len - prefix.len] = '\0';
    *out = strtoul(digits, NULL, 10);
    return true;
}

static void send_bytes(struct http_exchange *exchange, size_t count)
{
    char *bytes = count <= BYTES_MAX ? calloc(1, count + 1) : NULL;
    if (bytes)
        wt__http_answer(exchange, 200, "application/octet-stream", NULL, 0, (struct str){bytes, count});
    free(bytes);
}

static void let_go(void *exchange)
{
    wt__http_release(exchange);
}

static void answer_echo(void *context, struct http_exchange *exchange)
{
    (void)context;
    const struct http_request *request = wt__http_request(exchange);
    size_t number;
    if (wt__str_equal(request->path, STR("/stream"))) {
        wt__http_stream(exchange, 200, "text/event-stream", NULL, 0);
        wt__http_send(exchange, STR("data: {}\n\n"));
        wt__http_keep(exchange);
        wt__http_on_gone(exchange, let_go, exchange);
    } else if (has_number(request->path, STR("/bytes/"), &number)) {
        send_bytes(exchange, number);
    } else if (has_number(request->path, STR("/slow/"), &number)) {
        poll(NULL, 0, (int)number);
        wt__http_answer(exchange, 204, NULL, NULL, 0, STR(""));
    } else {
        wt__http_answer(exchange, 200, "application/json", NULL, 0, request->body);
    }
}

static void *wait_for_end(void *server)
{
    while (getchar() != EOF)
        ;
    wt__http_server_stop(server);
    return NULL;
}

int main(int argc, char **argv)
{
    struct http_server_options options = {.listen = argc > 1 ? argv[1] : "127.0.0.1:0",
                                          .workers = argc > 2 ? (unsigned)atoi(argv[2]) : 0,
                                          .stop_ms = 100,
                                          .handler = {.answer = answer_echo}};
    struct http_server *server;
    struct rlimit files;
    pthread_t waiter;
    wt_error err = {0};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (wt__http_server_open(&server, &options, &err) < 0) {
        fprintf(stderr, "bench_http_echo: %s\n", err.message);
        return 1;
    }
    printf("%s\n", wt__http_server_address(server));
    fflush(stdout);
    if (pthread_create(&waiter, NULL, wait_for_end, server) != 0)
        return 1;
    int rc = wt__http_server_run(server, &err);
    pthread_join(waiter, NULL);
    wt__http_server_close(server);
    return rc < 0;
}
