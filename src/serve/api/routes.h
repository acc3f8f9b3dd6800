#ifndef WT_SERVE_API_ROUTES_H
#define WT_SERVE_API_ROUTES_H

#include "serve/api/route.h"

/* The routes of our own API. */
extern const struct routes wt__api_routes;

/* The row for a request, among all tables: the first whose method and path fit. NULL: none; *path_known tells whether
 * another method has one. index: the row's place among all rows, how figures call it. */
const struct route *wt__route_of(const struct routes *tables, size_t table_count, const struct http_request *request,
                                 struct str *rest, size_t *index, bool *path_known);

/* "GET, POST": the methods of a path. */
void wt__route_methods(struct buffer *out, const struct routes *tables, size_t table_count, struct str path);

#endif
