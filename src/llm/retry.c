/* retry.c: see retry.h. */
#include "llm/retry.h"

bool wt__retry_status(int status, int should_retry)
{
    if (should_retry >= 0)
        return should_retry > 0;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

double wt__retry_pause(unsigned pauses, double first_ms, double asked_ms, struct rng *rng)
{
    if (asked_ms >= 0)
        return asked_ms <= RETRY_ASKED_MS_MAX ? asked_ms : -1;
    double ms = first_ms;
    for (unsigned i = 0; i < pauses && ms < RETRY_LONGEST_MS; i++)
        ms *= 2;
    if (ms > RETRY_LONGEST_MS)
        ms = RETRY_LONGEST_MS;
    return ms * (1 - 0.25 * wt__rng_unit(rng));
}
