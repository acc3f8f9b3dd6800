/* guard.h: checks Host and Origin.
 *
 * A web page can send requests to servers on the visitor's machine, and by DNS rebinding can read the responses too. So
 * Host must name this server: a loopback name, the address it listens on, or a configured name; otherwise the status is
 * 421. Origin must be absent (programs send none), the server's own, or configured; otherwise the status is 403. No
 * response allows every origin. */
#ifndef WT_SERVE_GUARD_H
#define WT_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct guard {
    const char *listen;       /* "HOST:PORT", "unix:PATH" */
    const char *const *hosts; /* [host_count], without ports */
    size_t host_count;
    const char *const *origins; /* [origin_count], such as "https://app.example.com" */
    size_t origin_count;
};

/* Returns the host of "HOST:PORT" or "[::1]:PORT". */
struct str wt__authority_host(struct str authority);
/* True for localhost, 127.0.0.0/8 and ::1. */
bool wt__is_loopback(struct str host);
/* True if only this machine can reach the address. Unix sockets qualify. */
bool wt__is_loopback_address(const char *listen);

bool wt__guard_host(const struct guard *guard, struct str host);
enum origin { ORIGIN_NONE, ORIGIN_OWN, ORIGIN_CONFIGURED, ORIGIN_FOREIGN };
/* host: value of the Host field. */
enum origin wt__guard_origin(const struct guard *guard, struct str origin, struct str host);

#endif
