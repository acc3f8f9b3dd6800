/* script_server.h: a test server that answers HTTP requests according to a script, one step per request. A step can
 * simulate an error of the server. The server stores the requests. Connections stay open unless a step closes them. */
#ifndef WT_TESTS_NET_SCRIPT_SERVER_H
#define WT_TESTS_NET_SCRIPT_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SCRIPT_STEPS = 32, SCRIPT_REQUESTS = 64, SCRIPT_REQUEST_BYTES = 2 << 20, SCRIPT_CONNECTIONS = 64 };
enum { SCRIPT_NEVER_MS = 900000 }; /* a delay longer than any test; ends when the peer disconnects */

struct script_step {
    int status;          /* 0 closes the connection without an answer */
    const char *headers; /* additional headers, each with "\r\n" */
    const char *body;
    const char *type;  /* NULL for application/json */
    size_t filler;     /* number of blanks before the body */
    size_t cut;        /* close the connection after this many bytes of the body; 0 for all */
    size_t stall;      /* stop after this many bytes of the body but stay open; 0 for all */
    unsigned delay_ms; /* delay before the first byte */
    bool no_length;    /* the body ends with the connection */
    const char *raw;   /* if not NULL: send only these bytes, then close the connection */
    size_t raw_len;
    /* After the answer, sends each `body` in order, once a request that contains its `when` has arrived. */
    struct {
        const char *when, *body;
    } more[3];
    /* If not NULL, the step answers the requests that contain this text, outside the order of the script. If a later
     * step has the same text, the step answers only one request. */
    const char *on;
};

struct script_server {
    int fd, port;
    pthread_t thread;
    pthread_mutex_t lock;                   /* protects the following fields */
    struct script_step steps[SCRIPT_STEPS]; /* [step_count] copies, because a connection may outlive the test case */
    size_t step_count, next;                /* the last step without `on` answers all later requests */
    bool used[SCRIPT_STEPS];                /* true for steps with `on` that have answered a request */
    char *requests[SCRIPT_REQUESTS];        /* head and body of each request */
    size_t request_count;
    unsigned under_way, most_under_way; /* requests waiting for their answer */
    pthread_t threads[SCRIPT_CONNECTIONS];
    int fds[SCRIPT_CONNECTIONS];
    size_t connection_count;
};

struct script_connection {
    struct script_server *server;
    int fd;
};

/* Waits for `ms` milliseconds, or until the peer disconnects. */
static void script_wait(int fd, unsigned ms)
{
    poll(&(struct pollfd){.fd = fd, .events = POLLRDHUP}, 1, (int)ms);
}

static bool script_send(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Reads one request, head and body, as a string to free. Returns NULL if the peer has disconnected. */
static char *script_read(int fd)
{
    char *request = malloc(SCRIPT_REQUEST_BYTES + 1);
    size_t len = 0, want = 0;
    while (request && (want == 0 || len < want) && len < SCRIPT_REQUEST_BYTES) {
        ssize_t n = read(fd, request + len, (want ? want : SCRIPT_REQUEST_BYTES) - len);
        if (n <= 0)
            break;
        len += (size_t)n;
        request[len] = '\0';
        char *end = want ? NULL : strstr(request, "\r\n\r\n");
        const char *length = end ? strcasestr(request, "\r\nContent-Length:") : NULL;
        if (end)
            want = (size_t)(end + 4 - request) + (length ? strtoull(length + 17, NULL, 10) : 0);
    }
    if (want == 0 || len < want) {
        free(request);
        return NULL;
    }
    return request;
}

/* Waits until a request that contains `what` has arrived. Returns false if the peer disconnects first. */
static bool script_has_come(struct script_server *server, int fd, const char *what)
{
    for (;;) {
        bool come = false;
        pthread_mutex_lock(&server->lock);
        for (size_t i = 0; i < server->request_count; i++)
            come = come || strstr(server->requests[i], what);
        pthread_mutex_unlock(&server->lock);
        if (come || poll(&(struct pollfd){.fd = fd, .events = POLLRDHUP}, 1, 1) > 0)
            return come;
    }
}

static void script_go_on(struct script_server *server, int fd, const struct script_step *step)
{
    for (size_t i = 0; i < 3 && step->more[i].when; i++)
        if (!script_has_come(server, fd, step->more[i].when) ||
            !script_send(fd, step->more[i].body, strlen(step->more[i].body)))
            return;
}

/* Sends an answer. Returns true if the connection stays open. */
static bool script_answer(int fd, const struct script_step *step)
{
    char head[1024], blanks[4096];
    size_t body_len = step->body ? strlen(step->body) : 0, len = step->filler + body_len;
    size_t most = step->cut ? step->cut : step->stall ? step->stall : len;
    if (step->raw)
        return script_send(fd, step->raw, step->raw_len) && false;
    if (step->status == 0)
        return false;
    int n = snprintf(head, sizeof head, "HTTP/1.1 %d Scripted\r\nContent-Type: %s\r\n%s", step->status,
                     step->type ? step->type : "application/json", step->headers ? step->headers : "");
    if (step->no_length)
        n += snprintf(head + n, sizeof head - (size_t)n, "Connection: close\r\n\r\n");
    else
        n += snprintf(head + n, sizeof head - (size_t)n, "Content-Length: %zu\r\n\r\n", len);
    bool sent = script_send(fd, head, (size_t)n);
    memset(blanks, ' ', sizeof blanks);
    for (size_t done = 0; sent && done < step->filler && done < most;) {
        size_t piece = step->filler - done < sizeof blanks ? step->filler - done : sizeof blanks;
        sent = script_send(fd, blanks, piece);
        done += piece;
    }
    if (sent && most > step->filler)
        sent = script_send(fd, step->body, most - step->filler);
    if (sent && step->stall)
        while (read(fd, blanks, sizeof blanks) > 0)
            ;
    return sent && !step->cut && !step->stall && !step->no_length;
}

/* Returns the step for a request. Requires the lock. */
static struct script_step script_next(struct script_server *server, const char *request)
{
    const struct script_step *steps = server->steps, *found = NULL;
    for (size_t i = 0; i < server->step_count; i++) {
        if (!steps[i].on || !strstr(request, steps[i].on) || (found && strcmp(found->on, steps[i].on) != 0))
            continue;
        found = &steps[i];
        if (!server->used[i]) {
            server->used[i] = true;
            return steps[i];
        }
    }
    if (found)
        return *found;
    while (server->next + 1 < server->step_count && steps[server->next].on)
        server->next++;
    struct script_step step = steps[server->next];
    size_t later = server->next + 1;
    while (later < server->step_count && steps[later].on)
        later++;
    server->next = later < server->step_count ? later : server->next;
    return step;
}

static void *script_serve_connection(void *context)
{
    struct script_connection *connection = context;
    struct script_server *server = connection->server;
    int fd = connection->fd;
    bool open = true;
    free(connection);
    for (char *request; open && (request = script_read(fd)) != NULL;) {
        pthread_mutex_lock(&server->lock);
        struct script_step step = script_next(server, request);
        if (server->request_count < SCRIPT_REQUESTS)
            server->requests[server->request_count++] = request;
        else
            free(request);
        if (++server->under_way > server->most_under_way)
            server->most_under_way = server->under_way;
        pthread_mutex_unlock(&server->lock);
        script_wait(fd, step.delay_ms);
        pthread_mutex_lock(&server->lock);
        server->under_way--;
        pthread_mutex_unlock(&server->lock);
        open = script_answer(fd, &step);
        script_go_on(server, fd, &step);
    }
    shutdown(fd, SHUT_RDWR);
    return NULL;
}

static void *script_serve(void *context)
{
    struct script_server *server = context;
    for (;;) {
        int fd = accept(server->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        struct script_connection *connection = malloc(sizeof *connection);
        pthread_mutex_lock(&server->lock);
        size_t i = server->connection_count;
        if (connection && i < SCRIPT_CONNECTIONS) {
            *connection = (struct script_connection){server, fd};
            if (pthread_create(&server->threads[i], NULL, script_serve_connection, connection) == 0) {
                server->fds[server->connection_count++] = fd;
                connection = NULL;
                fd = -1;
            }
        }
        pthread_mutex_unlock(&server->lock);
        free(connection);
        if (fd >= 0)
            close(fd);
    }
}

static inline int script_server_start(struct script_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    *server = (struct script_server){.port = 0};
    pthread_mutex_init(&server->lock, NULL);
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->fd < 0 || bind(server->fd, (struct sockaddr *)&address, len) < 0 || listen(server->fd, 64) < 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &len) < 0)
        return -1;
    server->port = ntohs(address.sin_port);
    return pthread_create(&server->thread, NULL, script_serve, server) == 0 ? 0 : -1;
}

/* Closes all connections. */
static inline void script_server_hang_up(struct script_server *server)
{
    for (;;) {
        pthread_mutex_lock(&server->lock);
        size_t left = server->connection_count;
        pthread_t thread = server->threads[left ? left - 1 : 0];
        int fd = server->fds[left ? left - 1 : 0];
        server->connection_count -= left > 0;
        pthread_mutex_unlock(&server->lock);
        if (left == 0)
            return;
        shutdown(fd, SHUT_RDWR);
        pthread_join(thread, NULL);
        close(fd);
    }
}

/* Sets a new script and forgets all requests. No client may be active. */
static inline void script_server_play(struct script_server *server, const struct script_step *steps, size_t count)
{
    script_server_hang_up(server);
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->request_count; i++)
        free(server->requests[i]);
    server->request_count = server->next = 0;
    memset(server->used, 0, sizeof server->used);
    server->under_way = server->most_under_way = 0;
    if (count > SCRIPT_STEPS)
        abort();
    if (count > 0)
        memcpy(server->steps, steps, count * sizeof *steps);
    server->step_count = count;
    pthread_mutex_unlock(&server->lock);
}

static inline void script_server_stop(struct script_server *server)
{
    shutdown(server->fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->fd);
    script_server_play(server, NULL, 0);
    pthread_mutex_destroy(&server->lock);
}

#endif
