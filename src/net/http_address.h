/* http_address.h: resolves addresses named by a server. */
#ifndef WT_NET_HTTP_ADDRESS_H
#define WT_NET_HTTP_ADDRESS_H

#include "base/error.h"
#include "base/str.h"

/* Resolves an address, absolute or relative to base, that the server at base has named. It must have the same scheme,
 * host and port, because requests to it contain data for that server only. Keeps the user of base. Free *out with
 * free(). Errors: WT_EINVAL, WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__http_resolve(char **out, const char *base, struct str reference, wt_error *err);

#endif
