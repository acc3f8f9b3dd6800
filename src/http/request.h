/* request.h: one HTTP/1.1 request as whoever answers it sees it (RFC 9112). What is doubtful about a request never
 * comes this far: the reader refuses it, so that no proxy and we ever disagree about where a request ends. */
#ifndef WT_HTTP_REQUEST_H
#define WT_HTTP_REQUEST_H

#include <stdbool.h>

#include "base/str.h"

enum {
    HTTP_TARGET_BYTES_MAX = 8 << 10, /* of the request line */
    HTTP_HEAD_BYTES_MAX = 16 << 10,  /* of the request line and all fields */
    HTTP_FIELDS_MAX = 64,
};

struct http_field {
    struct str name, value; /* the value without blanks around it */
};

/* Views of bytes that the exchange owns, for as long as it lives. */
struct http_request {
    struct str method; /* a token, in the case it came in */
    struct str path;   /* of the target, before '?', as it was sent: percent-encoding is not undone */
    struct str query;  /* of the target, behind '?'; empty when there is none */
    struct http_field fields[HTTP_FIELDS_MAX];
    size_t field_count;
    struct str body; /* whole, without the chunks it may have come in */
    bool keep_alive; /* the connection stays for another request */
};

/* The value of the field; names differ in no letter's case. Empty when there is none. Where a field came several times,
 * the reader has refused what may come but once, and this is the first. */
struct str wt__http_field(const struct http_request *request, const char *name);
/* The same field with its name; NULL when there is none, which is another thing than an empty one. */
const struct http_field *wt__http_find_field(const struct http_request *request, const char *name);

#endif
