/* hit.c: the evidence entries of a hit. A file of its own, because every stage depends on it. */
#include <string.h>

#include "retrieve/retrieve.h"

struct stage_evidence *wt__hit_stage(struct hit *hit, const char *name)
{
    size_t at = 0;
    while (at < HIT_STAGES - 1 && hit->stages[at].name && strcmp(hit->stages[at].name, name) != 0)
        at++;
    hit->stages[at].name = name;
    return &hit->stages[at];
}
