/* http_fields.h: the header lines of a transfer by libcurl: what is sent, and what is read of an answer. */
#ifndef WT_NET_HTTP_FIELDS_H
#define WT_NET_HTTP_FIELDS_H

#include "net/curl_library.h"
#include "net/http_post.h"

/* All lines of a request, to free with slist_free_all also after a failure. accept NULL: application/json. WT_EINVAL (a
 * header that cannot be sent), WT_ENOMEM. */
int wt__http_fields(struct curl_slist **out, const struct curl_library *lib, const char *accept,
                    const struct http_header *headers, size_t count, wt_error *err);

/* The header's value when the line is of that header. */
bool wt__http_field_value(struct str line, const char *name, struct str *value);
/* A value and its NUL, cut where it has to be. */
void wt__http_field_keep(char *out, size_t room, struct str value);

#endif
