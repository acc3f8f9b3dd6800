/* retry.h: decides if and when a failed request is retried. */
#ifndef WT_LLM_RETRY_H
#define WT_LLM_RETRY_H

#include <stdbool.h>

#include "base/rng.h"

enum {
    RETRY_FIRST_MS = 500,        /* first pause; doubled each time */
    RETRY_LONGEST_MS = 8000,     /* longest pause unless the server requests one */
    RETRY_ASKED_MS_MAX = 120000, /* longest requested pause; give up if longer */
};

/* True if a request with this status may be retried (408, 409, 429, 5xx). should_retry: the server's own decision, 0 or
 * 1, which has priority; -1 if unset. */
bool wt__retry_status(int status, int should_retry);

/* Returns the pause before another attempt in ms; -1 to give up. pauses: number of pauses so far. first_ms: length
 * of the first. asked_ms: pause requested by the server; -1 if unset. Our own pauses are randomly shortened by up to
 * a quarter, so that clients do not retry at the same time. */
double wt__retry_pause(unsigned pauses, double first_ms, double asked_ms, struct rng *rng);

#endif
