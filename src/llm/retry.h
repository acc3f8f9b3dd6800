/* retry.h: whether a failed request is sent again, and when. */
#ifndef WT_LLM_RETRY_H
#define WT_LLM_RETRY_H

#include <stdbool.h>

#include "base/rng.h"

enum {
    RETRY_FIRST_MS = 500,        /* the first pause; each is twice the one before */
    RETRY_LONGEST_MS = 8000,     /* of our own choice */
    RETRY_ASKED_MS_MAX = 120000, /* longer than this a server need not ask us to wait: we give up */
};

/* Is the status one that may pass (408, 409, 429, 5xx)? should_retry, where the server says it (0 or 1), decides. */
bool wt__retry_status(int status, int should_retry);

/* ms to wait before another attempt, -1 to give up. pauses: how many there were; first_ms: as RETRY_FIRST_MS;
 * asked_ms: what the server asks for, -1 when it does not. Our own pauses are up to a quarter shorter, by rng, so that
 * many clients do not come back at once. */
double wt__retry_pause(unsigned pauses, double first_ms, double asked_ms, struct rng *rng);

#endif
