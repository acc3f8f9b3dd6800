/* listener.h: the listening socket. */
#ifndef WT_HTTP_LISTENER_H
#define WT_HTTP_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "http/exchange_state.h"
#include "http/server.h"

struct http_listener {
    int descriptor;                   /* -1 if not open */
    char address[HTTP_ADDRESS_BYTES]; /* address as text */
    bool is_unix;
    dev_t device; /* identity of a unix socket's file */
    ino_t inode;
};

/* Binds and listens. See server.h for the forms of addresses and the errors. */
int wt__http_listen(struct http_listener *out, const char *listen, wt_error *err);
/* Accepts a connection and writes its peer address. Returns -1 with errno if no connection can be accepted. */
int wt__http_accept(const struct http_listener *listener, char peer[HTTP_PEER_BYTES]);
/* Closes the socket and removes a unix socket's file, unless another process has replaced it. */
void wt__http_listener_close(struct http_listener *listener);

#endif
