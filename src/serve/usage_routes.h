/* usage_routes.h: POST /v1/usage of the HTTP API: what requests used, and how it ended, written in groups
 * (usage_log.h). No worker waits for the disk: the exchange is kept, and answered when its group is there. */
#ifndef WT_SERVE_USAGE_ROUTES_H
#define WT_SERVE_USAGE_ROUTES_H

#include "serve/api/route.h"

struct usage_routes;

/* The engine lives longer. policed: answers tell nothing of which tools there are. A store that is open for reading
 * only answers that it is. Errors: those of wt__usage_log_open. */
int wt__usage_routes_open(struct usage_routes **out, wt_engine *engine, bool policed, wt_error *err);
/* Live as long as usage. */
const struct routes *wt__usage_routes(const struct usage_routes *usage);
/* When the server runs no more: what was reported is written, and told. NULL is a no-op. */
void wt__usage_routes_close(struct usage_routes *usage);

#endif
