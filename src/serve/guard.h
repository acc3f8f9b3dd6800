/* guard.h: which requests come from where they may: by their Host and Origin.
 *
 * A page of any site can send requests to a server of the machine that shows it, and by a name whose address it changes
 * (DNS rebinding) read the answers, too. So Host must be a name of this server: a loopback name, the address it listens
 * at, or one that was configured; else 421. Programs send no Origin, and may; a browser's must be the server's own or
 * configured; else 403. No answer allows every origin. */
#ifndef WT_SERVE_GUARD_H
#define WT_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct guard {
    const char *listen;       /* "HOST:PORT", "unix:PATH" */
    const char *const *hosts; /* [host_count] without ports */
    size_t host_count;
    const char *const *origins; /* [origin_count] as browsers send them: "https://app.example.com" */
    size_t origin_count;
};

/* The host of "HOST:PORT" or "[::1]:PORT". */
struct str wt__host_of(struct str authority);
/* localhost, 127.0.0.0/8, ::1; unix sockets count, too. */
bool wt__is_loopback(struct str host);
/* Whether what is listened at can be reached from this machine alone. */
bool wt__listens_on_loopback(const char *listen);

bool wt__guard_host(const struct guard *guard, struct str host);
enum origin { ORIGIN_NONE, ORIGIN_OWN, ORIGIN_CONFIGURED, ORIGIN_FOREIGN };
/* host: the field Host. */
enum origin wt__guard_origin(const struct guard *guard, struct str origin, struct str host);

#endif
