/* access.h: writes one access-log line per request, as text or JSON. The request body is included only if the caller
 * passes it. */
#ifndef WT_SERVE_ACCESS_H
#define WT_SERVE_ACCESS_H

#include "base/buffer.h"
#include "http/server.h"

struct access {
    const struct http_record *record;
    const char *principal; /* name of the key, "" if unknown */
    struct str asked;      /* request body, or empty */
    long long seconds;     /* Unix time in seconds */
};

void wt__access_text(struct buffer *out, const struct access *access);
void wt__access_json(struct buffer *out, const struct access *access);

#endif
