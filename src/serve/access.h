/* access.h: a line a request, for people or as JSON. What was asked for is in it only when that was wanted. */
#ifndef WT_SERVE_ACCESS_H
#define WT_SERVE_ACCESS_H

#include "base/buffer.h"
#include "http/server.h"

struct access {
    const struct http_record *record;
    const char *principal; /* "" where there is none */
    struct str asked;      /* the request's body, or empty */
    long long seconds;     /* since 1970 */
};

void wt__access_text(struct buffer *out, const struct access *access);
void wt__access_json(struct buffer *out, const struct access *access);

#endif
