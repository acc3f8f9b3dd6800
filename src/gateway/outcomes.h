/* outcomes.h: records calls after a search as usage to learn from (serve/usage_log.h). Tools that a search returned and
 * that the client then calls are the tools its request needed. Only enabled by the operator, since requests are stored.
 *
 * The calls after one search are one usage. It is written when the client searches again or has called no tool for
 * OUTCOME_IDLE_MS. Its outcome is "failed" if every call failed. Clients with the same key count as one client, here
 * and for the limits of the usage log. */
#ifndef WT_GATEWAY_OUTCOMES_H
#define WT_GATEWAY_OUTCOMES_H

#include <stdbool.h>

#include "base/str.h"
#include "whichtool.h"

enum {
    OUTCOME_IDLE_MS = 60000,
    OUTCOME_CLIENTS_MAX = 1000,       /* clients with a remembered search; the least recently active is dropped */
    OUTCOME_FOUND_MAX = 50,           /* maximum number of remembered tools of a search */
    OUTCOME_REQUEST_BYTES_MAX = 4096, /* longer requests are ignored */
};

struct outcomes;

/* Opens the recorder. The engine must outlive it. Errors: those of wt__usage_log_open. */
int wt__outcomes_open(struct outcomes **out, wt_engine *engine, wt_error *err);
/* Writes pending usages and frees the recorder. NULL is a no-op. */
void wt__outcomes_close(struct outcomes *outcomes);

/* Records a search, or a call after it. Thread-safe. outcomes: NULL is a no-op. */
void wt__outcomes_record_search(struct outcomes *outcomes, const char *principal, struct str request,
                                const wt_hits *hits);
void wt__outcomes_record_call(struct outcomes *outcomes, const char *principal, const char *id, bool worked);
/* Writes usages of idle clients. Call it about once a second. */
void wt__outcomes_sweep(struct outcomes *outcomes);

#endif
