/* usage_routes.h: POST /v1/usage of the HTTP API. Usages and outcomes are written in groups (usage_log.h). No worker
 * waits for the disk: the exchange is kept, and answered once its group is written. */
#ifndef WT_SERVE_USAGE_ROUTES_H
#define WT_SERVE_USAGE_ROUTES_H

#include "serve/api/api.h"

struct usage_routes;

/* Opens the route. The engine must outlive the route. policed: true if responses must not reveal which tools exist. If
 * the store is open for reading only, the route answers with an error. Errors: those of wt__usage_log_open except
 * WT_EREADONLY. */
int wt__usage_routes_open(struct usage_routes **out, wt_engine *engine, bool policed, wt_error *err);
/* Returns the table for api_options.more, valid until wt__usage_routes_close. */
const struct routes *wt__usage_routes(const struct usage_routes *usage);
/* Writes and acknowledges pending reports. Call it after the server has stopped. NULL is a no-op. */
void wt__usage_routes_close(struct usage_routes *usage);

#endif
