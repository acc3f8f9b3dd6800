/* listener.h: the socket that connections come to. */
#ifndef WT_HTTP_LISTENER_H
#define WT_HTTP_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "http/exchange_state.h"
#include "http/server.h"

struct http_listener {
    int descriptor;                   /* -1: none */
    char address[HTTP_ADDRESS_BYTES]; /* in words */
    bool is_unix;
    dev_t device; /* of a unix socket's file */
    ino_t inode;
};

/* Binds and listens; server.h has the form of addresses and the errors. */
int wt__http_listen(struct http_listener *out, const char *listen, wt_error *err);
/* A connection that waits, and who it is from; -1: none, errno says why. */
int wt__http_accept(const struct http_listener *listener, char peer[HTTP_PEER_BYTES]);
/* Takes the file of a unix socket away, unless it is another's by now. */
void wt__http_listener_close(struct http_listener *listener);

#endif
