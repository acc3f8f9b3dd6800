/* request.h: one HTTP/1.1 request (RFC 9112) for handlers. The reader rejects ambiguous requests, so that this server
 * and a proxy never disagree about the end of a request. */
#ifndef WT_HTTP_REQUEST_H
#define WT_HTTP_REQUEST_H

#include <stdbool.h>

#include "base/str.h"

enum {
    HTTP_TARGET_BYTES_MAX = 8 << 10, /* maximum bytes of the request line */
    HTTP_HEAD_BYTES_MAX = 16 << 10,  /* maximum bytes of the request line and all fields */
    HTTP_FIELDS_MAX = 64,
};

struct http_field {
    struct str name, value; /* value without surrounding blanks */
};

/* Views of bytes owned by the exchange. */
struct http_request {
    struct str method; /* token, case preserved */
    struct str path;   /* target before '?', percent-encoded as received */
    struct str query;  /* target after '?'; may be empty */
    struct http_field fields[HTTP_FIELDS_MAX];
    size_t field_count;
    struct str body; /* complete and decoded */
    bool keep_alive; /* the connection stays open for another request */
};

/* Returns the value of a field, ignoring the case of its name; empty if it is missing. Of duplicates, which the reader
 * allows only in multi-valued fields, the first is returned. */
struct str wt__http_field(const struct http_request *request, const char *name);
/* Returns the field, or NULL if it is missing, which differs from an empty one. */
const struct http_field *wt__http_find_field(const struct http_request *request, const char *name);

#endif
