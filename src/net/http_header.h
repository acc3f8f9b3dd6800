/* http_header.h: a header that is sent. */
#ifndef WT_NET_HTTP_HEADER_H
#define WT_NET_HTTP_HEADER_H

#include <stdbool.h>

#include "base/error.h"

enum { HTTP_HEADER_BYTES_MAX = 4096 /* of a value */ };

struct http_header {
    const char *name, *value; /* value NULL or empty: left out */
};

/* Can the header be sent? WT_EINVAL when not; the sentence does not hold its value. */
int wt__http_check_header(const struct http_header *header, wt_error *err);

#endif
