/* http_header.h: a header of a request. */
#ifndef WT_NET_HTTP_HEADER_H
#define WT_NET_HTTP_HEADER_H

#include <stdbool.h>

#include "base/error.h"

enum { HTTP_HEADER_BYTES_MAX = 4096 /* maximum bytes of a value */ };

struct http_header {
    const char *name, *value; /* omitted if value is NULL or empty */
};

/* Checks that the header can be sent. Fails with WT_EINVAL; the message does not contain the value. */
int wt__http_check_header(const struct http_header *header, wt_error *err);

#endif
