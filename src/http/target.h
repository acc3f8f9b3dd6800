/* target.h: a request's target (RFC 9112, section 3.2) and host (RFC 9110, section 7.2). */
#ifndef WT_HTTP_TARGET_H
#define WT_HTTP_TARGET_H

#include "http/refusal.h"
#include "http/request.h"

/* True for HOST[:PORT] with a name, an IPv4 address, or an IPv6 address in brackets. */
bool wt__http_is_host(struct str host);

/* Sets the path and query of a request; its method must be set. *authority: host in the target; may be empty. */
enum http_refusal wt__http_read_target(struct http_request *request, struct str target, struct str *authority);

#endif
