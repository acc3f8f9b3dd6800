/* dev_recall.c: measures an encoder in training by the recall of dev requests (tuning.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/sort.h"
#include "learn/dev_evaluator.h"
#include "learn/tuning.h"
#include "nn/layers.h"
#include "retrieve/compose.h"

const char *const wt__dev_kinds[DEV_KINDS] = {
    [DEV_USE] = "use", [DEV_DESCRIPTION] = "description", [DEV_HYBRID] = "hybrid", [DEV_HEAD] = "head"};
const char *const wt__dev_figures[DEV_KINDS] = {[DEV_USE] = "recall@5 by description and use",
                                                [DEV_DESCRIPTION] = "recall@5 by description",
                                                [DEV_HYBRID] = "recall@5 of hybrid",
                                                [DEV_HEAD] = "recall@5 by the head"};

/* ---------------------------------------------------------------- selection */

/* Draws at most `most` of the numbers first .. end - 1 without repetition, and returns them in ascending order. *drawn:
 * size of the array. The caller frees the array. NULL if out of memory. */
static uint32_t *draw_numbers(struct rng *rng, size_t first, size_t end, size_t most, size_t *drawn)
{
    size_t count = end - first;
    uint32_t *numbers = wt__alloc_array(count, sizeof *numbers);
    *drawn = count < most ? count : most;
    if (!numbers)
        return NULL;
    wt__rng_draw(rng, numbers, count, *drawn);
    wt__sort_u32(numbers, *drawn);
    for (size_t i = 0; i < *drawn; i++)
        numbers[i] += (uint32_t)first;
    return numbers;
}

/* Chooses the tools to search: all tools that dev requests need, and random other tools until there are `most`. If most
 * is 0, chooses all tools. */
static int choose_set_tools(struct dev_set *set, const struct example_set *dev, size_t most, struct rng *rng,
                            wt_error *err)
{
    size_t needed = 0, left, words = (set->rows + 63) / 64;
    WT_AUTO_FREE bool *wanted = wt__alloc_zeros(set->rows + 1, sizeof *wanted);
    set->tools = wt__alloc_array(set->rows, sizeof *set->tools);
    if (most > 0 && most < set->rows)
        set->allowed = calloc(words + 1, sizeof *set->allowed);
    if (!wanted || !set->tools || (most > 0 && most < set->rows && !set->allowed))
        return wt__fail_nomem(err);
    for (size_t d = 0; d < set->dev_count; d++)
        for (size_t i = dev->starts[set->dev[d]]; i < dev->starts[set->dev[d] + 1]; i++)
            wanted[dev->tools[i] - set->first] = true;
    for (size_t row = 0; row < set->rows; row++)
        needed += wanted[row];
    left = !set->allowed ? set->rows : needed < most ? most - needed : 0;
    for (size_t row = 0, others = set->rows - needed; row < set->rows; row++) {
        if (!wanted[row] && set->allowed) { /* every other row is equally likely to be chosen */
            wanted[row] = wt__rng_below(rng, others--) < left;
            left -= wanted[row];
        }
        if (!wanted[row] && set->allowed)
            continue;
        set->tools[set->tool_count++] = (uint32_t)row;
        if (set->allowed)
            set->allowed[row / 64] |= (uint64_t)1 << row % 64;
    }
    return 0;
}

/* Marks in set->by_use the dev requests whose tools were all used by the training requests first .. end - 1. Returns
 * the number of marked requests, or SIZE_MAX if out of memory. */
static size_t mark_used_requests(struct dev_set *set, const struct examples *examples, size_t first, size_t end)
{
    const struct example_set *train = &examples->train, *dev = &examples->dev;
    WT_AUTO_FREE bool *used = wt__alloc_zeros(set->rows + 1, sizeof *used);
    size_t count = 0;
    if (!used)
        return SIZE_MAX;
    for (size_t l = train->starts[first]; l < train->starts[end]; l++)
        used[train->tools[l] - set->first] = true;
    for (size_t d = 0; d < set->dev_count; d++) {
        set->by_use[d] = true;
        for (size_t i = dev->starts[set->dev[d]]; i < dev->starts[set->dev[d] + 1]; i++)
            set->by_use[d] &= used[dev->tools[i] - set->first];
        count += set->by_use[d];
    }
    return count;
}

/* Tokenises the texts first + which[i]. */
static int read_numbered_texts(struct token_texts *out, const struct trainable *model, enum text_role role,
                               const struct str *texts, size_t first, const uint32_t *which, size_t count,
                               size_t max_tokens, unsigned threads, wt_error *err)
{
    WT_AUTO_FREE struct str *chosen = wt__alloc_array(count, sizeof *chosen);
    WT_CHECK_ALLOC(chosen, err);
    for (size_t i = 0; i < count; i++)
        chosen[i] = texts[first + which[i]];
    return wt__token_texts_read(out, model, role, chosen, count, max_tokens, threads, err);
}

/* Tokenises the texts of each dev request that the retrieval encodes: the request and its sub-queries. */
static int read_dev_requests(struct dev_set *set, const struct trainable *model, const struct example_set *dev,
                             unsigned threads, wt_error *err)
{
    WT_AUTO_FREE struct str *texts = wt__alloc_array(set->dev_count * TEXTS_MAX, sizeof *texts);
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    size_t count = 0;
    WT_CHECK_ALLOC(texts, err);
    for (size_t d = 0; d < set->dev_count; d++) {
        struct retrieve_texts split;
        WT_TRY(wt__retrieve_texts(dev->texts[set->dev[d]], &arena, &split, err));
        set->texts[d] = count;
        memcpy(texts + count, split.texts, split.count * sizeof *texts);
        count += split.count;
    }
    set->texts[set->dev_count] = count;
    return wt__token_texts_read(&set->dev_texts, model, TEXT_REQUEST, texts, count, DEV_RECALL_REQUEST, threads, err);
}

/* Draws the training requests whose vectors add_uses adds to the vectors of their tools. Leaves out joined requests.
 * Draws no requests if `kind` is not DEV_USE, or if mark_used_requests marks no dev request. */
static int choose_uses(struct dev_set *set, const struct examples *examples, size_t part, enum dev_kind kind,
                       struct rng *rng, wt_error *err)
{
    size_t first = part ? examples->parts[part - 1].train : 0;
    size_t end = examples->parts[part].train - examples->parts[part].joined;
    size_t known = kind == DEV_USE ? mark_used_requests(set, examples, first, end) : 0;
    if (known != SIZE_MAX)
        set->uses = draw_numbers(rng, first, end, known > 0 ? DEV_RECALL_USES : 0, &set->use_count);
    return set->uses ? 0 : wt__fail_nomem(err);
}

static int open_dev_set(struct dev_set *set, const struct dev_recall *recall, size_t part, wt_engine *engine,
                        const struct trainable *model, struct rng *rng, wt_error *err)
{
    const struct examples *examples = recall->examples;
    const struct example_part *own = &examples->parts[part];
    unsigned threads = recall->options.threads;
    set->name = own->name;
    set->first = part ? own[-1].tools : 0;
    set->rows = own->tools - set->first;
    set->dev = draw_numbers(rng, part ? own[-1].dev : 0, own->dev, DEV_RECALL_DEV, &set->dev_count);
    set->by_use = calloc(set->dev_count, sizeof *set->by_use);
    set->texts = wt__alloc_array(set->dev_count + 1, sizeof *set->texts);
    WT_CHECK_ALLOC(set->dev && set->by_use && set->texts, err);
    WT_TRY(wt__engine_index(engine, NULL, NULL, NULL, &set->index, err));
    if (set->index->snapshot->rows != set->rows)
        return wt__fail(err, WT_EBUSY, "the catalogue changed during the training; start again");
    WT_TRY(choose_uses(set, examples, part, recall->options.kind, rng, err));
    WT_TRY(choose_set_tools(set, &examples->dev, recall->options.most_tools, rng, err));
    WT_TRY(read_dev_requests(set, model, &examples->dev, threads, err));
    WT_TRY(read_numbered_texts(&set->use_texts, model, TEXT_REQUEST, examples->train.texts, 0, set->uses,
                               set->use_count, DEV_RECALL_REQUEST, threads, err));
    for (unsigned t = 0; t < DOCUMENT_TEXTS && recall->options.kind != DEV_HEAD; t++)
        WT_TRY(read_numbered_texts(&set->tool_texts[t], model, TEXT_TOOL, examples->texts[t], set->first, set->tools,
                                   set->tool_count, DEV_RECALL_TOOL, threads, err));
    return 0;
}

int wt__dev_recall_open(struct dev_recall *out, const struct examples *examples, wt_engine *const *engines,
                        const struct encoder *encoder, const struct trainable *model,
                        const struct dev_recall_options *options, wt_error *err)
{
    struct rng rng;
    wt__rng_seed(&rng, options->seed);
    *out = (struct dev_recall){.examples = examples, .encoder = encoder, .options = *options};
    out->sets = calloc(examples->part_count, sizeof *out->sets);
    out->workspaces = calloc(options->threads, sizeof(struct workspace *));
    int rc = out->sets && out->workspaces ? 0 : wt__fail_nomem(err);
    for (unsigned w = 0; rc == 0 && w < options->threads; w++)
        rc = wt__workspace_open(&out->workspaces[w], err);
    for (size_t p = 0; rc == 0 && p < examples->part_count; p++)
        if (examples->parts[p].dev > (p ? examples->parts[p - 1].dev : 0))
            rc = open_dev_set(&out->sets[out->count++], out, p, engines[p], model, &rng, err);
    if (rc < 0)
        wt__dev_recall_dispose(out);
    return rc;
}

void wt__dev_recall_dispose(struct dev_recall *dev_recall)
{
    for (size_t s = 0; s < dev_recall->count; s++) {
        struct dev_set *set = &dev_recall->sets[s];
        wt__index_release(set->index);
        free(set->dev);
        free(set->uses);
        free(set->by_use);
        free(set->texts);
        free(set->tools);
        free(set->allowed);
        wt__token_texts_dispose(&set->dev_texts);
        wt__token_texts_dispose(&set->use_texts);
        for (unsigned t = 0; t < DOCUMENT_TEXTS; t++)
            wt__token_texts_dispose(&set->tool_texts[t]);
    }
    for (unsigned w = 0; dev_recall->workspaces && w < dev_recall->options.threads; w++)
        wt__workspace_close(dev_recall->workspaces[w]);
    free(dev_recall->workspaces);
    free(dev_recall->sets);
    *dev_recall = (struct dev_recall){0};
}

/* ---------------------------------------------------------------- vectors */

/* Vectors of a measurement of one set. */
struct recall_vectors {
    float *dev;   /* [texts of the requests, D] */
    float *uses;  /* [use_count, D] */
    float *tools; /* [rows, D]; zeros for rows outside the selection */
    float *other; /* [rows, D] scratch of describe_set_tools and add_uses */
};

size_t wt__dev_recall_bytes(const struct dev_recall *dev_recall, size_t hidden)
{
    size_t most = 0;
    for (size_t s = 0; s < dev_recall->count; s++) {
        const struct dev_set *set = &dev_recall->sets[s];
        size_t chunks = 2 * ((set->rows + VECTOR_CHUNK - 1) / VECTOR_CHUNK) * wt__vectors_chunk_bytes(hidden);
        size_t floats = (set->texts[set->dev_count] + set->use_count + 2 * set->rows) * hidden;
        size_t bytes = chunks + floats * sizeof(float);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Sets the vector of each chosen tool to the normalised weighted sum of the vectors of its texts. */
static int describe_set_tools(const struct dev_set *set, struct training_batch *training_batch,
                              struct recall_vectors *f, struct train_progress *progress, wt_error *err)
{
    size_t hidden = training_batch->hidden;
    memset(f->tools, 0, set->rows * hidden * sizeof *f->tools);
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++) {
        WT_TRY(wt__batch_encode(training_batch, BATCH_UNIT, &set->tool_texts[t], NULL, set->tool_count, f->other,
                                progress, err));
        for (size_t i = 0; i < set->tool_count; i++)
            for (size_t d = 0; d < hidden; d++)
                f->tools[set->tools[i] * hidden + d] += wt__document_text_weights[t] * f->other[i * hidden + d];
    }
    for (size_t i = 0; i < set->tool_count; i++)
        wt__normalize(f->tools + set->tools[i] * hidden, hidden);
    return 0;
}

/* Adds the normalised sum of the vectors of each tool's requests to the vector of the tool. */
static void add_uses(const struct dev_set *set, const struct example_set *train, const struct recall_vectors *f,
                     size_t hidden)
{
    memset(f->other, 0, set->rows * hidden * sizeof *f->other);
    for (size_t u = 0; u < set->use_count; u++)
        for (size_t i = train->starts[set->uses[u]]; i < train->starts[set->uses[u] + 1]; i++)
            for (size_t d = 0; d < hidden; d++)
                f->other[(train->tools[i] - set->first) * hidden + d] += f->uses[u * hidden + d];
    for (size_t row = 0; row < set->rows; row++) {
        wt__normalize(f->other + row * hidden, hidden);
        for (size_t d = 0; d < hidden; d++)
            f->tools[row * hidden + d] += f->other[row * hidden + d];
    }
}

/* ---------------------------------------------------------------- recall */

/* Measurement of a set's dev requests on several threads. */
struct recall_search {
    const struct dev_recall *recall;
    const struct dev_set *set;
    const float *dev; /* [texts of the requests, D] */
    size_t hidden;
    struct tool_vectors described; /* vectors of the tools' texts */
    struct tool_vectors used;      /* vectors of texts and requests; zeroed if no requests were drawn */
    double *each;                  /* [dev_count] recall of each request */
    wt_error *errors;              /* [threads] */
};

static int search_dev_request(void *context, size_t index, unsigned worker)
{
    const struct recall_search *a = context;
    const struct dev_set *set = a->set;
    const struct example_set *dev = &a->recall->examples->dev;
    size_t number = set->dev[index], found = 0;
    const struct tool_vectors *vectors = set->by_use[index] && a->used.chunks ? &a->used : &a->described;
    const struct view view = {
        .snapshot = set->index->snapshot, .encoder = a->recall->encoder, .vectors = &vectors->view};
    const struct retrieve_request request = {.text = dev->texts[number],
                                             .k = DEV_RECALL_CUTOFF,
                                             .allowed = set->allowed,
                                             .copies = COPIES_ALL, /* the label may be any tool of a group of copies */
                                             .encoded = a->dev + set->texts[index] * a->hidden};
    struct hit_list hits;
    WT_TRY(wt__retrieve(a->recall->options.kind == DEV_HYBRID ? &wt__hybrid : &wt__dense, &view, &request,
                        a->recall->workspaces[worker], &hits, &a->errors[worker]));
    for (size_t i = 0; i < hits.len; i++)
        for (size_t g = dev->starts[number]; g < dev->starts[number + 1]; g++)
            found += dev->tools[g] == set->first + hits.items[i].row;
    a->each[index] = (double)found / (double)(dev->starts[number + 1] - dev->starts[number]);
    return 0;
}

static int search_all_requests(struct recall_search *a, double *figure, wt_error *err)
{
    size_t count = a->set->dev_count;
    unsigned threads = a->recall->options.threads;
    WT_AUTO_FREE double *each = a->each = wt__alloc_array(count, sizeof *each);
    WT_AUTO_FREE wt_error *errors = a->errors = wt__alloc_zeros(threads, sizeof *errors);
    WT_CHECK_ALLOC(each && errors, err);
    int rc = wt__pool_run(threads, count, search_dev_request, a);
    for (unsigned w = 0; rc < 0 && w < threads; w++)
        if (errors[w].code && err)
            *err = errors[w];
    double sum = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        sum += each[i];
    *figure = sum / (double)count;
    return rc;
}

static void dispose_recall_search(struct recall_search *search)
{
    wt__tool_vectors_dispose(&search->described);
    wt__tool_vectors_dispose(&search->used);
}

static int measure_set(const struct dev_recall *dev_recall, const struct dev_set *set, struct training_batch *batch,
                       const float *head, struct recall_vectors *f, struct train_progress *progress, double *figure,
                       wt_error *err)
{
    size_t hidden = batch->hidden;
    WT_CLEANUP(dispose_recall_search)
    struct recall_search a = {.recall = dev_recall, .set = set, .dev = f->dev, .hidden = hidden};
    if (head)
        memcpy(f->tools, head + set->first * hidden, set->rows * hidden * sizeof *f->tools);
    else
        WT_TRY(describe_set_tools(set, batch, f, progress, err));
    WT_TRY(wt__batch_encode(batch, BATCH_UNIT, &set->dev_texts, NULL, set->dev_texts.count, f->dev, progress, err));
    WT_TRY(wt__tool_vectors_open(&a.described, f->tools, set->rows, hidden, err));
    if (set->use_count > 0) {
        WT_TRY(wt__batch_encode(batch, BATCH_UNIT, &set->use_texts, NULL, set->use_count, f->uses, progress, err));
        add_uses(set, &dev_recall->examples->train, f, hidden);
        WT_TRY(wt__tool_vectors_open(&a.used, f->tools, set->rows, hidden, err));
    }
    return search_all_requests(&a, figure, err);
}

static int measure_one_set(const struct dev_recall *dev_recall, const struct dev_set *set, struct training_batch *batch,
                           const float *head, struct train_progress *progress, double *figure, wt_error *err)
{
    size_t hidden = batch->hidden;
    struct recall_vectors f = {.dev = wt__alloc_aligned(set->dev_texts.count * hidden, sizeof(float)),
                               .uses = wt__alloc_aligned(set->use_count * hidden, sizeof(float)),
                               .tools = wt__alloc_aligned(set->rows * hidden, sizeof(float)),
                               .other = wt__alloc_aligned(set->rows * hidden, sizeof(float))};
    int rc = f.dev && f.uses && f.tools && f.other
                 ? measure_set(dev_recall, set, batch, head, &f, progress, figure, err)
                 : wt__fail_nomem(err);
    free(f.dev);
    free(f.uses);
    free(f.tools);
    free(f.other);
    return rc;
}

int wt__dev_recall_run(const struct dev_recall *dev_recall, struct training_batch *training_batch, const float *head,
                       struct train_progress *progress, double *figure, wt_error *err)
{
    uint64_t texts = 0;
    double sum = 0;
    *figure = NAN;
    if (dev_recall->count == 0)
        return 0;
    for (size_t s = 0; s < dev_recall->count; s++) {
        const struct dev_set *set = &dev_recall->sets[s];
        texts += set->dev_texts.count + set->use_count + (head ? 0 : DOCUMENT_TEXTS * set->tool_count);
    }
    if (wt__train_progress_phase(progress, "measuring", texts))
        return wt__fail_cancelled(err);
    for (size_t s = 0; s < dev_recall->count; s++) {
        double of_set = 0;
        WT_TRY(measure_one_set(dev_recall, &dev_recall->sets[s], training_batch, head, progress, &of_set, err));
        WT_TRY(wt__train_progress_set(progress, dev_recall->sets[s].name, of_set, err));
        sum += of_set;
    }
    *figure = sum / (double)dev_recall->count;
    return 0;
}
