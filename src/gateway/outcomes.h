/* outcomes.h: what became of what was found, as use that is learned from (serve/usage_log.h): tools that a client calls
 * after a search of its own, and that this search named, are what its request needed. Only where the operator wants it,
 * since requests are kept then.
 *
 * A search's calls are one usage: it is written when the client searches for something else, or has called nothing for
 * OUTCOME_IDLE_MS. It failed when every call of it did. Clients with one key are one client here, as they are to the
 * log, whose bounds of what one client may tell hold. */
#ifndef WT_GATEWAY_OUTCOMES_H
#define WT_GATEWAY_OUTCOMES_H

#include <stdbool.h>

#include "base/str.h"
#include "whichtool.h"

enum {
    OUTCOME_IDLE_MS = 60000,
    OUTCOME_CLIENTS_MAX = 1000,       /* whose last search is remembered; the one heard of longest ago goes */
    OUTCOME_FOUND_MAX = 50,           /* tools of a search */
    OUTCOME_REQUEST_BYTES_MAX = 4096, /* a longer request is not learned from */
};

struct outcomes;

/* The engine lives longer. Errors: those of wt__usage_log_open. */
int wt__outcomes_open(struct outcomes **out, wt_engine *engine, wt_error *err);
/* Writes what is not written yet. NULL is a no-op. */
void wt__outcomes_close(struct outcomes *outcomes);

/* From any thread; outcomes: NULL is a no-op. */
void wt__outcomes_found(struct outcomes *outcomes, const char *principal, struct str request, const wt_hits *hits);
void wt__outcomes_called(struct outcomes *outcomes, const char *principal, const char *id, bool worked);
/* Every second or so. */
void wt__outcomes_sweep(struct outcomes *outcomes);

#endif
