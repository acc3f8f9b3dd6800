#ifndef WT_SERVE_API_ROUTES_H
#define WT_SERVE_API_ROUTES_H

#include "serve/api/route.h"

/* Our own routes. */
extern const struct routes wt__api_routes;

/* Returns the first row with a matching method and path, or NULL. *path_known is true if the path exists with any
 * method. *index is the row's number across all tables, as used for metrics. */
const struct route *wt__route_find(const struct routes *tables, size_t table_count, const struct http_request *request,
                                   struct str *rest, size_t *index, bool *path_known);

/* Appends the methods of a path, such as "GET, POST". */
void wt__route_methods(struct buffer *out, const struct routes *tables, size_t table_count, struct str path);

#endif
