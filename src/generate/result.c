#include "generate/result.h"

#include <stdlib.h>

void wt_generated_free(wt_generated *generated)
{
    struct generated *result = (struct generated *)generated;
    if (!result)
        return;
    wt__arena_dispose(&result->arena);
    free(result);
}

void wt__generated_set_cost(struct generated *result, const struct stage_runner *asker)
{
    result->visible.questions = asker->cost.questions;
    result->visible.requests = asker->cost.requests;
    result->visible.prompt_tokens = asker->cost.prompt_tokens;
    result->visible.completion_tokens = asker->cost.completion_tokens;
    result->visible.model_ms = asker->cost.ms;
}

int wt__generate_read_share(double given, double usual, double most, const char *name, double *out, wt_error *err)
{
    *out = given < 0 ? 0 : given > 0 ? given : usual;
    if (given <= most) /* false for NaN, too */
        return 0;
    return wt__fail(err, WT_EINVAL, "%s must be at most %g, not %g", name, most, given);
}

int wt__generate_read_count(size_t given, size_t usual, size_t least, size_t most, const char *name, size_t *out,
                            wt_error *err)
{
    *out = given ? given : usual;
    if (*out >= least && *out <= most)
        return 0;
    return wt__fail(err, WT_EINVAL, "the number of %s must be %zu to %zu, not %zu", name, least, most, given);
}
