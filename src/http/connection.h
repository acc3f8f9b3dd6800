/* connection.h: one client's connection on the loop. */
#ifndef WT_HTTP_CONNECTION_H
#define WT_HTTP_CONNECTION_H

#include "http/loop.h"

/* Serves the descriptor and takes ownership of it. At the limit an idle connection is closed for it, or the new one. */
void wt__connection_open(struct server_loop *loop, int descriptor, const char *peer);
/* Handles all new output of handlers. Call when the mailbox is readable. */
void wt__connections_take_output(struct server_loop *loop);
/* Handles the timeout of a wait. Callback of waits.h; context: the loop. */
void wt__connection_expire(void *context, struct wait *wait, enum http_wait kind);
/* Closes the longest idle connection, or the one that has waited longest for its head. Returns false if none exists. */
bool wt__connections_close_idle(struct server_loop *loop);
/* Begins the shutdown: closes connections without a request. */
void wt__connections_stop(struct server_loop *loop);
/* Closes all connections. Handlers that still answer are notified that their client is gone. */
void wt__connections_close_all(struct server_loop *loop);

#endif
