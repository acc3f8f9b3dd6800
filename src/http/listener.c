/* listener.c: the listening socket; see internal.h. Hosts must be numeric or `localhost`, because the addresses of
 * other names depend on the network. A wrong address could make the server reachable from outside. */
#include "http/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAITING_MAX = 1024, PORT_MAX = 65535, UNIX_MODE = 0600 };
enum { PROBE_AFTER_S = 60, PROBE_EVERY_S = 15, PROBES = 4 }; /* keep-alive probes for silent peers */

static const char unix_scheme[] = "unix:";

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

static int fail_listen(const char *listen, wt_error *err)
{
    if (errno == EADDRINUSE)
        return wt__fail(err, WT_EBUSY, "%s: address already in use", listen);
    return wt__fail_errno(err, "listen on", listen);
}

static int parse_port(const char *text)
{
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 5 || text[len] != '\0')
        return -1;
    int port = atoi(text);
    return port <= PORT_MAX ? port : -1;
}

/* Parses HOST:PORT. Returns the length of the address, or 0 if it is invalid. */
static socklen_t parse_address(union address *out, const char *listen)
{
    char host[INET6_ADDRSTRLEN];
    const char *colon = strrchr(listen, ':');
    int port = colon ? parse_port(colon + 1) : -1;
    size_t len = colon ? (size_t)(colon - listen) : 0;
    bool brackets = len > 2 && listen[0] == '[' && listen[len - 1] == ']';
    if (brackets) {
        listen++;
        len -= 2;
    }
    if (port < 0 || len >= sizeof host)
        return 0;
    memcpy(host, listen, len);
    host[len] = '\0';
    memset(out, 0, sizeof *out);
    if (brackets) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, host, &out->v6.sin6_addr) == 1 ? sizeof out->v6 : 0;
    }
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons((uint16_t)port);
    const char *number = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    return inet_pton(AF_INET, number, &out->v4.sin_addr) == 1 ? sizeof out->v4 : 0;
}

static void write_address(char *out, size_t size, const union address *address)
{
    char host[INET6_ADDRSTRLEN] = "";
    if (address->any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof host);
        snprintf(out, size, "[%s]:%u", host, ntohs(address->v6.sin6_port));
    } else if (address->any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof host);
        snprintf(out, size, "%s:%u", host, ntohs(address->v4.sin_port));
    } else {
        snprintf(out, size, "unix");
    }
}

static int fail_address(const char *listen_at, wt_error *err)
{
    return wt__fail(err, WT_EINVAL,
                    "\"%s\" is not a listen address; use HOST:PORT with a numeric host or localhost, "
                    "[IPV6]:PORT, or unix:PATH",
                    listen_at);
}

int wt__http_address_check(const char *listen_at, wt_error *err)
{
    union address address;
    bool is_path = strncmp(listen_at, unix_scheme, sizeof unix_scheme - 1) == 0;
    return is_path || parse_address(&address, listen_at) > 0 ? 0 : fail_address(listen_at, err);
}

static int listen_on_network(struct http_listener *out, const char *listen_at, wt_error *err)
{
    union address address;
    socklen_t len = parse_address(&address, listen_at);
    int on = 1;
    if (len == 0)
        return fail_address(listen_at, err);
    out->descriptor = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->descriptor < 0)
        return fail_listen(listen_at, err);
    setsockopt(out->descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.any.sa_family == AF_INET6)
        setsockopt(out->descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(out->descriptor, &address.any, len) < 0 || listen(out->descriptor, WAITING_MAX) < 0 ||
        getsockname(out->descriptor, &address.any, &len) < 0)
        return fail_listen(listen_at, err);
    write_address(out->address, sizeof out->address, &address);
    return 0;
}

/* Makes the path available: removes a socket file without a listener. Errors: WT_EBUSY if the path is in use. */
static int clear_path(const struct sockaddr_un *local, const char *listen, wt_error *err)
{
    struct stat info;
    if (lstat(local->sun_path, &info) < 0)
        return errno == ENOENT ? 0 : fail_listen(listen, err);
    if (!S_ISSOCK(info.st_mode))
        return wt__fail(err, WT_EBUSY, "%s: the path exists and is not a socket; name another path", listen);
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return fail_listen(listen, err);
    bool stale = connect(probe, (const struct sockaddr *)local, sizeof *local) < 0 && errno == ECONNREFUSED;
    close(probe);
    if (!stale)
        return wt__fail(err, WT_EBUSY, "%s: address already in use", listen);
    return unlink(local->sun_path) == 0 || errno == ENOENT ? 0 : fail_listen(listen, err);
}

static int listen_on_path(struct http_listener *out, const char *listen_at, wt_error *err)
{
    union address address = {.local = {.sun_family = AF_UNIX}};
    const char *path = listen_at + sizeof unix_scheme - 1;
    struct stat info;
    if (*path == '\0' || strlen(path) >= sizeof address.local.sun_path || strlen(listen_at) >= sizeof out->address)
        return wt__fail(err, WT_EINVAL, "\"%s\": a socket path must have 1 to %zu bytes", listen_at,
                        sizeof address.local.sun_path - 1);
    memcpy(address.local.sun_path, path, strlen(path) + 1);
    WT_TRY(clear_path(&address.local, listen_at, err));
    out->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->descriptor < 0)
        return fail_listen(listen_at, err);
    /* On Linux a socket file gets the mode of the socket, so other users can never connect. */
    if (fchmod(out->descriptor, UNIX_MODE) < 0 || bind(out->descriptor, &address.any, sizeof address.local) < 0)
        return fail_listen(listen_at, err);
    out->is_unix = true;
    snprintf(out->address, sizeof out->address, "%s", listen_at);
    if (chmod(path, UNIX_MODE) < 0 || lstat(path, &info) < 0 || listen(out->descriptor, WAITING_MAX) < 0)
        return fail_listen(listen_at, err);
    out->device = info.st_dev;
    out->inode = info.st_ino;
    return 0;
}

int wt__http_listen(struct http_listener *out, const char *listen, wt_error *err)
{
    *out = (struct http_listener){.descriptor = -1};
    int rc = strncmp(listen, unix_scheme, sizeof unix_scheme - 1) == 0 ? listen_on_path(out, listen, err)
                                                                       : listen_on_network(out, listen, err);
    if (rc < 0)
        wt__http_listener_close(out);
    return rc;
}

static void set_socket_options(int descriptor)
{
    static const struct {
        int level, option, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, PROBE_AFTER_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, PROBE_EVERY_S},
        {IPPROTO_TCP, TCP_KEEPCNT, PROBES},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(descriptor, options[i].level, options[i].option, &options[i].value, sizeof options[i].value);
}

int wt__http_accept(const struct http_listener *listener, char peer[HTTP_PEER_BYTES])
{
    union address address = {.any = {.sa_family = AF_UNIX}};
    socklen_t len = sizeof address;
    int descriptor = accept4(listener->descriptor, &address.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0)
        return -1;
    if (!listener->is_unix)
        set_socket_options(descriptor);
    write_address(peer, HTTP_PEER_BYTES, &address);
    return descriptor;
}

void wt__http_listener_close(struct http_listener *listener)
{
    struct stat info;
    const char *path = listener->address + sizeof unix_scheme - 1;
    if (listener->descriptor < 0)
        return;
    close(listener->descriptor);
    listener->descriptor = -1;
    if (listener->is_unix && lstat(path, &info) == 0 && info.st_dev == listener->device &&
        info.st_ino == listener->inode)
        unlink(path);
}
