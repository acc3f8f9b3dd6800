/* http_server.h: a local test server on its own thread. It answers GET requests according to a table. */
#ifndef WT_TESTS_NET_HTTP_SERVER_H
#define WT_TESTS_NET_HTTP_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum served_how {
    SERVED_WELL,
    SERVED_WITHOUT_RANGES,
    SERVED_CUT,    /* each answer ends after `cut` bytes of its body */
    SERVED_MOVED,  /* redirect to `location` */
    SERVED_BROKEN, /* status 500 */
    SERVED_STATUS, /* `location` is the rest of the status line: "401 Unauthorized" */
};

struct served_file {
    const char *path;
    enum served_how how;
    const char *body;
    size_t len;           /* length of `body` */
    size_t cut;           /* see SERVED_CUT */
    const char *location; /* see SERVED_MOVED and SERVED_STATUS */
    int requests;         /* number of requests so far */
    const char *headers;  /* additional lines, each with "\r\n"; may be NULL */
    char token[64];       /* Authorization of the last request; "" if missing */
};

struct file_server {
    int fd;
    int port;
    pthread_t thread;
    struct served_file *rows;
    size_t count;
};

static void send_file(int fd, struct served_file *row, size_t from, bool ranged)
{
    char head[512];
    if (!row || row->how == SERVED_BROKEN) {
        dprintf(fd, "HTTP/1.1 %s\r\nContent-Length: 5\r\nConnection: close\r\n\r\noops\n",
                row ? "500 Broken" : "404 Not Found");
        return;
    }
    const char *more = row->headers ? row->headers : "";
    if (row->how == SERVED_STATUS) {
        dprintf(fd, "HTTP/1.1 %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n", row->location, more);
        return;
    }
    if (row->how == SERVED_MOVED) {
        dprintf(fd, "HTTP/1.1 302 Found\r\nLocation: %s\r\n%sContent-Length: 7\r\nConnection: close\r\n\r\nit went",
                row->location, more);
        return;
    }
    if (row->how == SERVED_WITHOUT_RANGES)
        ranged = false;
    if (ranged && from >= row->len) {
        dprintf(fd, "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    }
    if (!ranged)
        from = 0;
    size_t len = row->len - from, sent = row->how == SERVED_CUT && len > row->cut ? row->cut : len;
    int head_len = snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\nConnection: close\r\n",
                            ranged ? "206 Partial Content" : "200 OK", more, len);
    if (ranged)
        head_len += snprintf(head + head_len, sizeof head - (size_t)head_len, "Content-Range: bytes %zu-%zu/%zu\r\n",
                             from, row->len - 1, row->len);
    dprintf(fd, "%.*s\r\n", head_len, head);
    for (size_t done = 0; done < sent;) {
        ssize_t n = send(fd, row->body + from + done, sent - done, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
}

static void serve_file_request(struct file_server *server, int fd)
{
    char request[4096];
    size_t len = 0;
    while (len < sizeof request - 1) {
        ssize_t n = read(fd, request + len, sizeof request - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
        request[len] = '\0';
        if (strstr(request, "\r\n\r\n"))
            break;
    }
    request[len] = '\0';
    const char *range = strstr(request, "Range: bytes=");
    struct served_file *row = NULL;
    for (size_t i = 0; i < server->count; i++) {
        size_t path_len = strlen(server->rows[i].path);
        if (strncmp(request, "GET ", 4) == 0 && strncmp(request + 4, server->rows[i].path, path_len) == 0 &&
            request[4 + path_len] == ' ')
            row = &server->rows[i];
    }
    const char *token = strstr(request, "\r\nAuthorization: ");
    if (row) {
        row->requests++;
        row->token[0] = '\0';
        if (token)
            snprintf(row->token, sizeof row->token, "%.*s", (int)strcspn(token + 17, "\r"), token + 17);
    }
    send_file(fd, row, range ? strtoull(range + 13, NULL, 10) : 0, range != NULL);
    shutdown(fd, SHUT_WR);
    while (read(fd, request, sizeof request) > 0)
        ;
    close(fd);
}

static void *run_file_server(void *context)
{
    struct file_server *server = context;
    for (;;) {
        int fd = accept(server->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        serve_file_request(server, fd);
    }
}

static inline int file_server_start(struct file_server *server, struct served_file *rows, size_t count)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    *server = (struct file_server){.rows = rows, .count = count};
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->fd < 0 || bind(server->fd, (struct sockaddr *)&address, len) < 0 || listen(server->fd, 8) < 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &len) < 0)
        return -1;
    server->port = ntohs(address.sin_port);
    return pthread_create(&server->thread, NULL, run_file_server, server) == 0 ? 0 : -1;
}

static inline void file_server_stop(struct file_server *server)
{
    shutdown(server->fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->fd);
}

#endif
