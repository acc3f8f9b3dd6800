/* http_fields.h: header lines of libcurl transfers: builds those of a request, reads those of an answer. */
#ifndef WT_NET_HTTP_FIELDS_H
#define WT_NET_HTTP_FIELDS_H

#include "net/curl_library.h"
#include "net/http_post.h"

/* Builds all header lines of a request. Free them with slist_free_all, even after a failure. accept: NULL for
 * application/json. Errors: WT_EINVAL (invalid header), WT_ENOMEM. */
int wt__http_fields(struct curl_slist **out, const struct curl_library *lib, const char *accept,
                    const struct http_header *headers, size_t count, wt_error *err);

/* Returns the value if the line is a header with this name, else false. */
bool wt__http_field_value(struct str line, const char *name, struct str *value);
/* Copies a value with a NUL, truncated to room. */
void wt__http_copy_field(char *out, size_t room, struct str value);

#endif
