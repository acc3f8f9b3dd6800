/* connection.h: one client's connection, on the loop. */
#ifndef WT_HTTP_CONNECTION_H
#define WT_HTTP_CONNECTION_H

#include "http/loop.h"

/* Serves the descriptor, which becomes the connection's; at the limit an idle connection makes room, or it is closed.
 */
void wt__connection_open(struct http_loop *loop, int descriptor, const char *peer);
/* What handlers have said since: for when the mailbox can be read. */
void wt__connections_hear(struct http_loop *loop);
/* The time of a wait is up; for waits.h, with the loop as the context. */
void wt__connection_expire(void *context, struct wait *wait, enum http_wait kind);
/* Closes the connection that is idle longest, or that takes longest for its head; false when there is none. */
bool wt__connections_make_room(struct http_loop *loop);
/* The server is to stop: connections without a request are closed. */
void wt__connections_stop(struct http_loop *loop);
/* Closes all; who still answers learns that the client is gone. */
void wt__connections_end(struct http_loop *loop);

#endif
