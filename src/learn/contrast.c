#include "learn/contrast.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "nn/loss.h"

static const float SCALE = 20; /* of the cosine */
enum { MOST_TOOLS = 48 /* in a batch; of more, some are drawn: they are what a step costs most for */ };

struct contrast_step {
    size_t requests;
    uint32_t *tools; /* [tool_count] rows, ascending */
    size_t tool_count, tool_capacity;
    uint32_t *asker; /* [pair_count] the request of each pair, by its place in the batch */
    uint8_t *pairs;  /* [pair_count, tool_count] of enum pair */
    size_t pair_count, asker_capacity, pairs_capacity;
    float *queries, *dqueries; /* [pair_count, H] */
    float *scores;             /* [pair_count, tool_count] */
};

static size_t most_pairs(const struct tuning *tuning)
{
    const struct example_set *train = &tuning->training->examples.train;
    size_t most = 0;
    for (size_t i = 0; i < train->count; i++) {
        size_t tools = train->starts[i + 1] - train->starts[i];
        most = tools > most ? tools : most;
    }
    return tuning->batch * (most < MOST_TOOLS ? most : MOST_TOOLS);
}

static size_t measure(const struct tuning *tuning, struct tower_limits *limits)
{
    size_t hidden = wt__trainable_config(tuning->model)->hidden;
    limits->texts = tuning->batch + MOST_TOOLS;
    limits->rows =
        wt__token_texts_longest(&tuning->requests, tuning->batch) + wt__token_texts_longest(&tuning->tools, MOST_TOOLS);
    return most_pairs(tuning) * (2 * hidden + 2 * MOST_TOOLS) * sizeof(float);
}

static int begin(struct tuning *tuning, wt_error *err)
{
    size_t pairs = most_pairs(tuning), hidden = tuning->tower.hidden;
    struct contrast_step *step = calloc(1, sizeof *step);
    tuning->own = step;
    if (!step)
        return wt__fail_nomem(err);
    step->asker = wt__alloc_array(pairs, sizeof *step->asker);
    step->pairs = wt__alloc_array(pairs, MOST_TOOLS);
    step->queries = wt__alloc_aligned(pairs * hidden, sizeof *step->queries);
    step->dqueries = wt__alloc_aligned(pairs * hidden, sizeof *step->dqueries);
    step->scores = wt__alloc_aligned(pairs * MOST_TOOLS, sizeof *step->scores);
    return step->asker && step->pairs && step->queries && step->dqueries && step->scores ? 0 : wt__fail_nomem(err);
}

static void end(struct tuning *tuning)
{
    struct contrast_step *step = tuning->own;
    if (!step)
        return;
    free(step->tools);
    free(step->asker);
    free(step->pairs);
    free(step->queries);
    free(step->dqueries);
    free(step->scores);
    free(step);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The tools of all the batch's requests, each once; of too many, MOST_TOOLS that are drawn. */
static int gather_tools(struct contrast_step *step, const struct example_set *train, const uint32_t *examples,
                        size_t count, struct rng *rng, wt_error *err)
{
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t first = train->starts[examples[i]], n = train->starts[examples[i] + 1] - first;
        if (wt__grow((void **)&step->tools, &step->tool_capacity, all + n, sizeof *step->tools) < 0)
            return wt__fail_nomem(err);
        memcpy(step->tools + all, train->tools + first, n * sizeof *step->tools);
        all += n;
    }
    qsort(step->tools, all, sizeof *step->tools, ascending);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || step->tools[kept - 1] != step->tools[i])
            step->tools[kept++] = step->tools[i];
    if (kept > MOST_TOOLS) {
        for (size_t i = 0; i < MOST_TOOLS; i++) {
            size_t other = i + (size_t)wt__rng_below(rng, kept - i);
            uint32_t moved = step->tools[i];
            step->tools[i] = step->tools[other];
            step->tools[other] = moved;
        }
        kept = MOST_TOOLS;
        qsort(step->tools, kept, sizeof *step->tools, ascending);
    }
    step->tool_count = kept;
    return 0;
}

/* Places of a request's tools among the batch's: gold [tool_count] becomes 1 there. */
static void mark_gold(const struct contrast_step *step, const uint32_t *tools, size_t count, uint8_t *gold)
{
    memset(gold, 0, step->tool_count);
    for (size_t i = 0, at = 0; i < count; i++) {
        while (at < step->tool_count && step->tools[at] < tools[i])
            at++;
        if (at < step->tool_count && step->tools[at] == tools[i])
            gold[at] = 1;
    }
}

/* A row for each pair: its tool is the positive, the request's other tools do not count. */
static void list_pairs(struct contrast_step *step, const struct example_set *train, const uint32_t *examples,
                       size_t count)
{
    uint8_t gold[MOST_TOOLS];
    step->pair_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t first = train->starts[examples[i]];
        mark_gold(step, train->tools + first, train->starts[examples[i] + 1] - first, gold);
        for (size_t t = 0; t < step->tool_count; t++) {
            if (!gold[t])
                continue;
            uint8_t *row = step->pairs + step->pair_count * step->tool_count;
            for (size_t c = 0; c < step->tool_count; c++)
                row[c] = c == t ? PAIR_POSITIVE : gold[c] ? PAIR_IGNORED : PAIR_NEGATIVE;
            step->asker[step->pair_count++] = (uint32_t)i;
        }
    }
}

static int prepare(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng, wt_error *err)
{
    const struct example_set *train = &tuning->training->examples.train;
    struct contrast_step *step = tuning->own;
    int rc = gather_tools(step, train, examples, count, rng, err);
    if (rc < 0)
        return rc;
    step->requests = count;
    list_pairs(step, train, examples, count);
    for (size_t i = 0; i < count; i++)
        wt__tuning_add(tuning, &tuning->requests, examples[i]);
    for (size_t t = 0; t < step->tool_count; t++)
        wt__tuning_add(tuning, &tuning->tools, step->tools[t]);
    return 0;
}

static double loss(struct tuning *tuning)
{
    struct contrast_step *step = tuning->own;
    size_t hidden = tuning->tower.hidden, tools_at = step->requests * hidden;
    for (size_t p = 0; p < step->pair_count; p++)
        memcpy(step->queries + p * hidden, tuning->tower.vectors + step->asker[p] * hidden,
               hidden * sizeof *step->queries);
    struct contrast contrast = {.rows = step->pair_count,
                                .columns = step->tool_count,
                                .width = hidden,
                                .queries = step->queries,
                                .documents = tuning->tower.vectors + tools_at,
                                .pairs = step->pairs,
                                .scale = SCALE,
                                .scores = step->scores};
    float result = wt__loss_contrast(&contrast, step->dqueries, tuning->tower.dvectors + tools_at);
    memset(tuning->tower.dvectors, 0, tools_at * sizeof *tuning->tower.dvectors);
    for (size_t p = 0; p < step->pair_count; p++)
        for (size_t d = 0; d < hidden; d++)
            tuning->tower.dvectors[step->asker[p] * hidden + d] += step->dqueries[p * hidden + d];
    return result;
}

const struct tuning_kind wt__contrast = {.name = "contrast",
                                         .output = TOWER_UNIT,
                                         .rate = 5e-5,
                                         .measure = measure,
                                         .begin = begin,
                                         .end = end,
                                         .prepare = prepare,
                                         .loss = loss};
