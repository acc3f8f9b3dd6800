#include "learn/tuning.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum {
    MOST_TOOLS = 48 /* per step, or 1.5 times its requests if that is more: tools dominate the cost of a step */
};

size_t wt__tuning_most_tools(const struct tuning *tuning)
{
    size_t most = tuning->batch + tuning->batch / 2;
    return most > MOST_TOOLS ? most : MOST_TOOLS;
}

int wt__tuning_tools(struct step_tools *out, const struct tuning *tuning, const uint32_t *examples, size_t count,
                     struct rng *rng, wt_error *err)
{
    const struct example_set *train = &tuning->training->examples.train;
    size_t all = 0, most = wt__tuning_most_tools(tuning);
    for (size_t i = 0; i < count; i++) {
        size_t first = train->starts[examples[i]], n = train->starts[examples[i] + 1] - first;
        if (wt__grow((void **)&out->rows, &out->capacity, all + n, sizeof *out->rows) < 0)
            return wt__fail_nomem(err);
        memcpy(out->rows + all, train->tools + first, n * sizeof *out->rows);
        all += n;
    }
    out->count = wt__sort_unique_u32(out->rows, all);
    if (out->count <= most)
        return 0;
    for (size_t i = 0; i < most; i++) {
        size_t other = i + (size_t)wt__rng_below(rng, out->count - i);
        uint32_t moved = out->rows[i];
        out->rows[i] = out->rows[other];
        out->rows[other] = moved;
    }
    out->count = wt__sort_unique_u32(out->rows, most);
    return 0;
}
