#include "learn/dev_recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/topk.h"
#include "nn/matmul.h"
#include "nn/norm.h"

/* ---------------------------------------------------------------- what is looked at */

/* `most` numbers below count, drawn without repetition, ascending; all of them when there are no more. */
static uint32_t *draw(struct rng *rng, size_t count, size_t most, size_t *drawn)
{
    uint32_t *numbers = wt__alloc_array(count, sizeof *numbers);
    *drawn = count < most ? count : most;
    if (!numbers)
        return NULL;
    wt__rng_draw(rng, numbers, count, *drawn);
    wt__sort_u32(numbers, *drawn);
    return numbers;
}

/* The rows that dev requests need, and others drawn up to DEV_RECALL_TOOLS, with their places. */
static int choose_tools(struct dev_recall *dev_recall, struct rng *rng, wt_error *err)
{
    const struct examples *examples = dev_recall->examples;
    size_t all = examples->tools, needed = 0, left = 0;
    dev_recall->slots = wt__alloc_array(all, sizeof *dev_recall->slots);
    dev_recall->tools = wt__alloc_array(all, sizeof *dev_recall->tools);
    if (!dev_recall->slots || !dev_recall->tools)
        return wt__fail_nomem(err);
    memset(dev_recall->slots, 0xff, all * sizeof *dev_recall->slots); /* UINT32_MAX */
    for (size_t d = 0; d < dev_recall->dev_count; d++)
        for (size_t i = examples->dev.starts[dev_recall->dev[d]]; i < examples->dev.starts[dev_recall->dev[d] + 1]; i++)
            dev_recall->slots[examples->dev.tools[i]] = 0;
    for (size_t row = 0; row < all; row++)
        needed += dev_recall->slots[row] == 0;
    left = needed < DEV_RECALL_TOOLS ? DEV_RECALL_TOOLS - needed : 0;
    for (size_t row = 0, others = all - needed; row < all; row++) {
        bool wanted = dev_recall->slots[row] == 0;
        if (!wanted) { /* each of the others has the same chance */
            wanted = wt__rng_below(rng, others) < left;
            left -= wanted;
            others--;
        }
        if (wanted) {
            dev_recall->slots[row] = (uint32_t)dev_recall->tool_count;
            dev_recall->tools[dev_recall->tool_count++] = (uint32_t)row;
        }
    }
    return 0;
}

/* Tokens of the texts with these numbers. */
static int read_texts(struct token_texts *out, const struct trainable *model, const struct str *texts,
                      const uint32_t *which, size_t count, size_t max_tokens, unsigned threads, wt_error *err)
{
    struct str *chosen = wt__alloc_array(count, sizeof *chosen);
    if (!chosen)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        chosen[i] = texts[which[i]];
    int rc = wt__token_texts_read(out, model, chosen, count, max_tokens, threads, err);
    free(chosen);
    return rc;
}

int wt__dev_recall_open(struct dev_recall *out, const struct examples *examples, const struct trainable *model,
                        uint64_t seed, unsigned threads, wt_error *err)
{
    struct rng rng;
    wt__rng_seed(&rng, seed);
    *out = (struct dev_recall){.examples = examples};
    if (examples->dev.count == 0)
        return 0;
    out->dev = draw(&rng, examples->dev.count, DEV_RECALL_DEV, &out->dev_count);
    out->uses = draw(&rng, examples->train.count, DEV_RECALL_USES, &out->use_count);
    int rc = out->dev && out->uses ? choose_tools(out, &rng, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = read_texts(&out->dev_texts, model, examples->dev.texts, out->dev, out->dev_count, DEV_RECALL_REQUEST,
                        threads, err);
    if (rc == 0)
        rc = read_texts(&out->use_texts, model, examples->train.texts, out->uses, out->use_count, DEV_RECALL_REQUEST,
                        threads, err);
    for (unsigned t = 0; rc == 0 && t < DOCUMENT_TEXTS; t++)
        rc = read_texts(&out->tool_texts[t], model, examples->texts[t], out->tools, out->tool_count, DEV_RECALL_TOOL,
                        threads, err);
    if (rc < 0)
        wt__dev_recall_dispose(out);
    return rc;
}

void wt__dev_recall_dispose(struct dev_recall *dev_recall)
{
    free(dev_recall->dev);
    free(dev_recall->uses);
    free(dev_recall->tools);
    free(dev_recall->slots);
    wt__token_texts_dispose(&dev_recall->dev_texts);
    wt__token_texts_dispose(&dev_recall->use_texts);
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++)
        wt__token_texts_dispose(&dev_recall->tool_texts[t]);
    *dev_recall = (struct dev_recall){0};
}

/* ---------------------------------------------------------------- vectors */

/* The floats of a measurement: requests, tools, uses, and texts or sums of tools. */
struct figures {
    float *dev, *uses, *tools, *other;
};

size_t wt__dev_recall_bytes(const struct dev_recall *dev_recall, size_t hidden)
{
    return (dev_recall->dev_count + dev_recall->use_count + 2 * dev_recall->tool_count) * hidden * sizeof(float);
}

/* tools [M', D]: unit(weighted sum of the texts' vectors). */
static int describe(const struct dev_recall *dev_recall, struct training_batch *training_batch, struct figures *f,
                    struct train_progress *progress, wt_error *err)
{
    size_t floats = dev_recall->tool_count * training_batch->hidden;
    int rc = 0;
    memset(f->tools, 0, floats * sizeof *f->tools);
    for (unsigned t = 0; rc == 0 && t < DOCUMENT_TEXTS; t++) {
        rc = wt__batch_encode(training_batch, BATCH_UNIT, &dev_recall->tool_texts[t], NULL, dev_recall->tool_count,
                              f->other, progress, err);
        for (size_t i = 0; rc == 0 && i < floats; i++)
            f->tools[i] += wt__document_text_weights[t] * f->other[i];
    }
    for (size_t i = 0; rc == 0 && i < dev_recall->tool_count; i++)
        wt__normalize(f->tools + i * training_batch->hidden, training_batch->hidden);
    return rc;
}

/* tools += unit(sum of the vectors of the requests that used it). */
static void add_uses(const struct dev_recall *dev_recall, const struct figures *f, size_t hidden)
{
    const struct example_set *train = &dev_recall->examples->train;
    memset(f->other, 0, dev_recall->tool_count * hidden * sizeof *f->other);
    for (size_t u = 0; u < dev_recall->use_count; u++)
        for (size_t i = train->starts[dev_recall->uses[u]]; i < train->starts[dev_recall->uses[u] + 1]; i++) {
            uint32_t slot = dev_recall->slots[train->tools[i]];
            for (size_t d = 0; slot != UINT32_MAX && d < hidden; d++)
                f->other[slot * hidden + d] += f->uses[u * hidden + d];
        }
    for (size_t i = 0; i < dev_recall->tool_count; i++) {
        wt__normalize(f->other + i * hidden, hidden);
        for (size_t d = 0; d < hidden; d++)
            f->tools[i * hidden + d] += f->other[i * hidden + d];
    }
}

/* ---------------------------------------------------------------- recall */

struct recall_query {
    const uint32_t *gold; /* places among the tools; UINT32_MAX: not among them */
    size_t count;
};

static double recall_of(const float *scores, size_t tools, const struct recall_query *query, struct scored *best,
                        size_t k)
{
    struct topk top = {.items = best, .k = k};
    size_t found = 0;
    for (size_t i = 0; i < tools; i++)
        wt__topk_push(&top, (struct scored){scores[i], (uint32_t)i});
    for (size_t i = 0; i < top.len; i++)
        for (size_t g = 0; g < query->count; g++)
            found += top.items[i].row == query->gold[g];
    return query->count ? (double)found / (double)query->count : 0;
}

/* Mean recall@k of requests [count, D] over tools [tools, D] by inner product. */
static int mean_recall(const float *requests, const struct recall_query *queries, size_t count, const float *tools,
                       size_t tool_count, size_t dim, size_t k, double *out, wt_error *err)
{
    enum { BLOCK = 64 };
    float *scores = wt__alloc_aligned(BLOCK * tool_count, sizeof *scores);
    struct scored *best = wt__alloc_array(k, sizeof *best);
    double sum = 0;
    bool whole = scores && best;
    for (size_t first = 0; whole && first < count; first += BLOCK) {
        size_t n = count - first < BLOCK ? count - first : BLOCK;
        wt__matmul(&(struct matmul){.m = n,
                                    .n = tool_count,
                                    .k = dim,
                                    .a = requests + first * dim,
                                    .a_stride = dim,
                                    .b = tools,
                                    .b_stride = dim,
                                    .b_transposed = true,
                                    .c = scores,
                                    .c_stride = tool_count});
        for (size_t i = 0; i < n; i++)
            sum += recall_of(scores + i * tool_count, tool_count, &queries[first + i], best, k);
    }
    free(scores);
    free(best);
    *out = count ? sum / (double)count : NAN;
    return whole ? 0 : wt__fail_nomem(err);
}

/* The numbers [count], ascending, that lie below `limit`. */
static size_t below(const uint32_t *numbers, size_t count, size_t limit)
{
    while (count > 0 && numbers[count - 1] >= limit)
        count--;
    return count;
}

/* The recall of `count` dev requests from `first` on, over tools that begin at `base`. */
static int recall_of_part(const struct dev_recall *dev_recall, const struct figures *f, size_t hidden, size_t first,
                          size_t count, size_t base, size_t tools, double *recall, wt_error *err)
{
    const struct example_set *dev = &dev_recall->examples->dev;
    struct recall_query *queries = wt__alloc_array(count, sizeof *queries);
    uint32_t *gold = wt__alloc_array(dev->starts[dev->count], sizeof *gold);
    int rc = queries && gold ? 0 : wt__fail_nomem(err);
    for (size_t d = 0, next = 0; rc == 0 && d < count; d++) {
        uint32_t request = dev_recall->dev[first + d];
        queries[d] = (struct recall_query){.gold = gold + next};
        for (size_t i = dev->starts[request]; i < dev->starts[request + 1]; i++, next++) {
            gold[next] = dev_recall->slots[dev->tools[i]] - (uint32_t)base;
            queries[d].count++;
        }
    }
    if (rc == 0)
        rc = mean_recall(f->dev + first * hidden, queries, count, f->tools + base * hidden, tools, hidden,
                         DEV_RECALL_CUTOFF, recall, err);
    free(queries);
    free(gold);
    return rc;
}

static int recall_on_dev(const struct dev_recall *dev_recall, const struct figures *f, size_t hidden, double *figure,
                         wt_error *err)
{
    size_t first = 0, base = 0;
    double sum = 0;
    int rc = 0;
    for (size_t p = 0; rc == 0 && p < dev_recall->examples->part_count; p++) {
        const struct example_part *part = &dev_recall->examples->parts[p];
        size_t count = below(dev_recall->dev, dev_recall->dev_count, part->dev) - first;
        size_t tools = below(dev_recall->tools, dev_recall->tool_count, part->tools) - base;
        double recall = 0;
        if (count > 0)
            rc = recall_of_part(dev_recall, f, hidden, first, count, base, tools, &recall, err);
        sum += recall * (double)count;
        first += count;
        base += tools;
    }
    *figure = sum / (double)dev_recall->dev_count;
    return rc;
}

int wt__dev_recall_run(const struct dev_recall *dev_recall, struct training_batch *training_batch,
                       struct train_progress *progress, double *figure, wt_error *err)
{
    size_t hidden = training_batch->hidden;
    *figure = NAN;
    if (dev_recall->dev_count == 0)
        return 0;
    struct figures f = {.dev = wt__alloc_aligned(dev_recall->dev_count * hidden, sizeof(float)),
                        .uses = wt__alloc_aligned(dev_recall->use_count * hidden, sizeof(float)),
                        .tools = wt__alloc_aligned(dev_recall->tool_count * hidden, sizeof(float)),
                        .other = wt__alloc_aligned(dev_recall->tool_count * hidden, sizeof(float))};
    int rc = f.dev && f.uses && f.tools && f.other ? 0 : wt__fail_nomem(err);
    uint64_t texts = dev_recall->dev_count + dev_recall->use_count + DOCUMENT_TEXTS * dev_recall->tool_count;
    if (rc == 0 && progress && wt__train_progress_phase(progress, "measuring", texts))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        rc = describe(dev_recall, training_batch, &f, progress, err);
    if (rc == 0)
        rc = wt__batch_encode(training_batch, BATCH_UNIT, &dev_recall->use_texts, NULL, dev_recall->use_count, f.uses,
                              progress, err);
    if (rc == 0)
        rc = wt__batch_encode(training_batch, BATCH_UNIT, &dev_recall->dev_texts, NULL, dev_recall->dev_count, f.dev,
                              progress, err);
    if (rc == 0) {
        add_uses(dev_recall, &f, hidden);
        rc = recall_on_dev(dev_recall, &f, hidden, figure, err);
    }
    free(f.dev);
    free(f.uses);
    free(f.tools);
    free(f.other);
    return rc;
}
