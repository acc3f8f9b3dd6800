/* http_address.h: an address that another one leads to. */
#ifndef WT_NET_HTTP_ADDRESS_H
#define WT_NET_HTTP_ADDRESS_H

#include "base/error.h"
#include "base/str.h"

/* The address that a server at base names, as a string to free: absolute, or relative to base. It has to be of the same
 * scheme, host and port, for what is sent there is meant for that server alone. The user of base is kept. WT_EINVAL,
 * WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__http_resolve(char **out, const char *base, struct str reference, wt_error *err);

#endif
