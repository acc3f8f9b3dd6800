/* served.h: a server on its own thread, and a client with plain sockets. The client waits without a time limit. */
#ifndef WT_TESTS_HTTP_SERVED_H
#define WT_TESTS_HTTP_SERVED_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buffer.h"
#include "http/server.h"

struct server_under_test {
    struct http_server *server;
    pthread_t thread;
    int rc;
};

static inline void *run_server(void *argument)
{
    struct server_under_test *served = argument;
    served->rc = wt__http_server_run(served->server, NULL);
    return NULL;
}

static inline void start_server(struct server_under_test *served, struct http_server_options options)
{
    wt_error err = {0};
    if (!options.listen)
        options.listen = "127.0.0.1:0";
    if (wt__http_server_open(&served->server, &options, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(pthread_create(&served->thread, NULL, run_server, served), 0);
}

/* Waits for the server to end. */
static inline void join_server(struct server_under_test *served)
{
    pthread_join(served->thread, NULL);
    assert_int_equal(served->rc, 0);
}

static inline void stop_server(struct server_under_test *served)
{
    wt__http_server_stop(served->server);
    join_server(served);
    wt__http_server_close(served->server);
}

/* Returns a connected socket, or -1 if the server is not listening. */
static inline int try_to_connect(const struct http_server *server)
{
    const char *address = wt__http_server_address(server);
    const char *port = strrchr(address, ':') + 1;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    } to = {.any = {.sa_family = AF_INET}};
    socklen_t len = sizeof to.v4;
    if (strncmp(address, "unix:", 5) == 0) {
        to.local.sun_family = AF_UNIX;
        snprintf(to.local.sun_path, sizeof to.local.sun_path, "%s", address + 5);
        len = sizeof to.local;
    } else if (address[0] == '[') {
        to.v6 = (struct sockaddr_in6){
            .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(port)), .sin6_addr = in6addr_loopback};
        len = sizeof to.v6;
    } else {
        to.v4.sin_port = htons((uint16_t)atoi(port));
        to.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    int client = socket(to.any.sa_family, SOCK_STREAM, 0);
    if (client >= 0 && connect(client, &to.any, len) < 0) {
        close(client);
        client = -1;
    }
    return client;
}

static inline int connect_to(const struct http_server *server)
{
    int client = try_to_connect(server);
    if (client < 0)
        fail_msg("connect: errno %d", errno);
    return client;
}

/* Sends all bytes. Returns false if the server has closed the connection. */
static inline bool send_bytes(int client, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t sent = send(client, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (sent < 0)
            return false;
        bytes = (struct str){bytes.ptr + sent, bytes.len - (size_t)sent};
    }
    return true;
}

static inline void send_text(int client, const char *text)
{
    assert_true(send_bytes(client, wt__str(text)));
}

/* Reads once. Returns false at the end of the stream. */
static inline bool receive_some(int client, struct buffer *in)
{
    char bytes[16 << 10];
    ssize_t got = recv(client, bytes, sizeof bytes, 0);
    if (got > 0)
        wt__buffer_append(in, bytes, (size_t)got);
    return got > 0;
}

/* Reads until the text has arrived. Fails at the end of the stream. */
static inline void receive_until(int client, struct buffer *in, const char *text)
{
    while (!in->ptr || !memmem(in->ptr, in->len, text, strlen(text)))
        if (!receive_some(client, in))
            fail_msg("the connection ended before \"%s\": %s", text, in->ptr ? in->ptr : "no bytes");
}

static inline void receive_to_end(int client, struct buffer *in)
{
    while (receive_some(client, in))
        ;
}

/* Reads one answer with Content-Length or without a body, and moves it from *in to *answer. Returns the start of the
 * body in *answer. */
static inline const char *receive_answer(int client, struct buffer *in, struct buffer *answer)
{
    receive_until(client, in, "\r\n\r\n");
    const char *body = strstr(in->ptr, "\r\n\r\n") + 4;
    size_t head = (size_t)(body - in->ptr);
    const char *length = strstr(in->ptr, "Content-Length: ");
    size_t whole = head + (length && length < body ? strtoul(length + 16, NULL, 10) : 0);
    while (in->len < whole)
        assert_true(receive_some(client, in));
    wt__buffer_clear(answer);
    wt__buffer_append(answer, in->ptr, whole);
    memmove(in->ptr, in->ptr + whole, in->len - whole);
    wt__buffer_cut(in, in->len - whole);
    return answer->ptr + head;
}

#endif
