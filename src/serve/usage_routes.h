/* usage_routes.h: POST /v1/usage of the HTTP API. Usages and outcomes are written in groups (usage_log.h). No worker
 * waits for the disk: the exchange is kept, and answered once its group is written. */
#ifndef WT_SERVE_USAGE_ROUTES_H
#define WT_SERVE_USAGE_ROUTES_H

#include "serve/api/api.h"

struct usage_routes;

/* The engine must outlive the routes. policed: responses must not reveal which tools exist. If the store is open for
 * reading only, the route reports that. Errors: those of wt__usage_log_open. */
int wt__usage_routes_open(struct usage_routes **out, wt_engine *engine, bool policed, wt_error *err);
/* Valid as long as usage. */
const struct routes *wt__usage_routes(const struct usage_routes *usage);
/* Writes and acknowledges pending reports. Call it after the server has stopped. NULL is a no-op. */
void wt__usage_routes_close(struct usage_routes *usage);

#endif
