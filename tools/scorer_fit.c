/* scorer_fit.c: trains a network of the learned scorer (retrieve/scorer.h).
 *
 *   scorer_fit OUT VARIANT [--epochs N] [--hidden N] [--networks N] [--seed N] [--weight KIND=N]...
 *              [--without FEATURE]... --train LISTS... --dev LISTS... [--sets LISTS...]
 *
 * OUT is a safetensors file with the tensors VARIANT.mean, ... Networks of other variants in OUT are kept. A candidate
 * has a score and log odds for each text of the request; the greatest ones count. The loss of a list is the
 * cross-entropy of the softmax over the scores, plus the binary cross-entropy of the log odds. Afterwards, a logistic
 * function of the hidden units is fitted to whether a list has a needed tool. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "bench/support.h"
#include "learn/logistic.h"
#include "nn/adamw.h"
#include "nn/layers.h"
#include "nn/matrix.h"
#include "nn/safetensors.h"
#include "retrieve/compose.h"
#include "retrieve/scorer.h"
#include "tools/scorer_lists.h"

enum { FILES_MAX = 32, KINDS_MAX = 16, WITHOUT_MAX = 128, BATCH = 48, DEV_SHOWN = 5 };

static const float LEARNING_RATE = 3e-3f, WARMUP = .3f;
static const float ODDS_SHARE = .125f; /* weight of the loss of the log odds, summed over the candidates of a list */

struct list {
    const struct list_header *header;
    const uint8_t *labels; /* [N] */
    const float *inputs;   /* [texts][N][inputs] */
};

struct lists {
    struct list *items;
    size_t len, capacity;
};

struct fit {
    const char *out, *variant;
    size_t inputs, hidden, epochs, networks; /* hidden: units of one network */
    uint64_t seed;
    const char *train[FILES_MAX], *dev[FILES_MAX], *sets[FILES_MAX];
    size_t train_count, dev_count, sets_count;
    struct {
        char name[16];
        unsigned times;
    } kinds[KINDS_MAX];
    size_t kind_count;
    const char *without[WITHOUT_MAX];
    size_t without_count;
    struct lists train_lists, dev_lists, sets_lists[FILES_MAX];
    float *sum[4];       /* the averaged networks as one: weight1 [inputs, networks * hidden], ... */
    float *mean, *scale; /* [inputs] */
    float *fits;         /* [hidden + 2] as in struct scorer */
    float percentiles[SCORER_PERCENTILES];
    bool *sibling;                        /* [inputs] depends on the provider */
    struct model_parameter parameters[4]; /* weight1 [inputs, hidden], bias1, weight2 [hidden, outputs], bias2 */
};

/* Inputs and outputs of a batch of lists. M: texts times candidates of all of its lists. */
struct batch {
    const struct list *lists[BATCH];
    size_t count, rows, capacity; /* rows: M */
    float *x, *pre, *hidden, *out, *dout, *dhidden, *keep;
};

static void *allocate(size_t count, size_t size)
{
    void *out = calloc(count ? count : 1, size);
    if (!out)
        exit_with_message("out of memory");
    return out;
}

/* ---------------------------------------------------------------- lists */

static unsigned kind_times(const struct fit *fit, const char *kind)
{
    for (size_t i = 0; i < fit->kind_count; i++)
        if (strcmp(fit->kinds[i].name, kind) == 0)
            return fit->kinds[i].times;
    return 1;
}

/* True if no candidate is needed. */
static bool is_unserved(const struct list *list)
{
    static const char *const kinds[] = {"apart", "gone", "none"};
    return wt__str_among(wt__str(list->header->kind), kinds, sizeof kinds / sizeof *kinds);
}

static bool has_needed(const struct list *list)
{
    return memchr(list->labels, 1, list->header->count) != NULL;
}

/* Maps a file of lists and appends them. A list for training that lost its needed tools is skipped. */
static void read_lists(const struct fit *fit, const char *path, bool training, struct lists *out)
{
    struct mapping map;
    wt_error err;
    if (wt__file_map(&map, path, &err) < 0)
        exit_with_wt_error(&err);
    const struct lists_header *header = (const void *)map.ptr;
    if (map.len < sizeof *header || memcmp(header->magic, LISTS_MAGIC, sizeof LISTS_MAGIC) != 0 ||
        header->key != wt__scorer_key(&wt__scorer_table) || header->inputs != fit->inputs)
        exit_with_message("a file of lists is damaged, or made for other features");
    const unsigned char *at = (const unsigned char *)map.ptr + sizeof *header;
    for (uint32_t i = 0; i < header->lists; i++) {
        struct list list = {.header = (const void *)at};
        list.labels = at + sizeof *list.header;
        list.inputs = (const void *)(list.labels + (list.header->count + 3) / 4 * 4);
        at = (const unsigned char *)(list.inputs + (size_t)list.header->texts * list.header->count * fit->inputs);
        unsigned times = training ? kind_times(fit, list.header->kind) : 1;
        if (training && !is_unserved(&list) && !has_needed(&list))
            continue;
        for (unsigned n = 0; n < times; n++) {
            if (out->len == out->capacity) {
                out->capacity = out->capacity * 2 + 1024;
                out->items = realloc(out->items, out->capacity * sizeof *out->items);
                if (!out->items)
                    exit_with_message("out of memory");
            }
            out->items[out->len++] = list;
        }
    }
}

/* Exits if an argument of --without is not a feature. */
static void check_left_out(const struct fit *fit)
{
    for (size_t i = 0; i < fit->without_count; i++) {
        size_t f = 0;
        while (f < wt__scorer_table.count && strcmp(wt__scorer_table.features[f].name, fit->without[i]) != 0)
            f++;
        if (f == wt__scorer_table.count)
            exit_with_message("--without needs a feature of src/retrieve/scorer_features.c");
    }
}

static bool is_left_out(const struct fit *fit, const char *feature)
{
    for (size_t i = 0; i < fit->without_count; i++)
        if (strcmp(fit->without[i], feature) == 0)
            return true;
    return false;
}

/* Sets mean and scale of each input from the training lists. A feature left out has scale 0. */
static void standardise(struct fit *fit)
{
    double *sums = allocate(2 * fit->inputs, sizeof *sums), rows = 0;
    for (size_t l = 0; l < fit->train_lists.len; l += 4) {
        const struct list *list = &fit->train_lists.items[l];
        size_t count = (size_t)list->header->texts * list->header->count;
        for (size_t r = 0; r < count; r++)
            for (size_t i = 0; i < fit->inputs; i++) {
                double x = list->inputs[r * fit->inputs + i];
                sums[i] += x;
                sums[fit->inputs + i] += x * x;
            }
        rows += (double)count;
    }
    for (size_t i = 0; i < fit->inputs; i++) {
        const struct scorer_feature *feature = wt__scorer_input(&wt__scorer_table, i);
        double mean = sums[i] / rows, variance = sums[fit->inputs + i] / rows - mean * mean;
        fit->mean[i] = (float)mean;
        fit->scale[i] = variance > 1e-9 && !is_left_out(fit, feature->name) ? (float)(1 / sqrt(variance)) : 0;
        fit->sibling[i] = feature->properties & FEATURE_SIBLING;
    }
    free(sums);
}

/* ---------------------------------------------------------------- network */

static void open_network(struct fit *fit, struct rng *rng)
{
    static const char *const names[] = {"weight1", "bias1", "weight2", "bias2"};
    const size_t counts[] = {fit->inputs * fit->hidden, fit->hidden, fit->hidden * SCORER_OUTPUTS, SCORER_OUTPUTS};
    for (size_t p = 0; p < 4; p++) {
        size_t fan_in = p < 2 ? fit->inputs : fit->hidden;
        struct model_parameter *parameter = &fit->parameters[p];
        *parameter = (struct model_parameter){.name = names[p],
                                              .value = allocate(counts[p], sizeof(float)),
                                              .gradient = allocate(counts[p], sizeof(float)),
                                              .count = counts[p],
                                              .decays = p % 2 == 0,
                                              .rate = 1};
        for (size_t i = 0; i < counts[p]; i++)
            parameter->value[i] = (float)((2 * wt__rng_unit(rng) - 1) / sqrt((double)fan_in));
    }
}

static void reserve_batch(const struct fit *fit, struct batch *batch)
{
    if (batch->rows <= batch->capacity)
        return;
    batch->capacity = batch->rows * 2;
    float **arrays[] = {&batch->x,    &batch->pre, &batch->hidden, &batch->dhidden,
                        &batch->keep, &batch->out, &batch->dout};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        size_t width = a == 0 ? fit->inputs : a < 5 ? fit->hidden : SCORER_OUTPUTS;
        free(*arrays[a]);
        *arrays[a] = allocate(batch->capacity * width, sizeof(float));
    }
}

/* Fills x with the standardised inputs. rng: draws the lists whose provider is hidden; NULL to hide none. */
static void fill_batch(const struct fit *fit, struct batch *batch, struct rng *rng)
{
    batch->rows = 0;
    for (size_t l = 0; l < batch->count; l++)
        batch->rows += (size_t)batch->lists[l]->header->texts * batch->lists[l]->header->count;
    reserve_batch(fit, batch);
    float *x = batch->x;
    for (size_t l = 0; l < batch->count; l++) {
        const struct list *list = batch->lists[l];
        const float *from = list->inputs;
        bool hidden = rng && wt__rng_unit(rng) < .5;
        for (size_t r = (size_t)list->header->texts * list->header->count; r > 0; r--)
            for (size_t i = 0; i < fit->inputs; i++) {
                float z = (*from++ - fit->mean[i]) * fit->scale[i];
                *x++ = hidden && fit->sibling[i] ? 0 : fminf(fmaxf(z, -SCORER_CLIP), SCORER_CLIP);
            }
    }
}

/* Computes out [M, outputs]. rng: draws the hidden units that are dropped; NULL to drop none. */
static void run_forward(const struct fit *fit, struct batch *batch, struct rng *rng)
{
    size_t m = batch->rows, h = fit->hidden;
    wt__multiply_dense(m, h, fit->inputs, batch->x, false, fit->parameters[0].value, false, batch->pre);
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; i < h; i++)
            batch->pre[r * h + i] += fit->parameters[1].value[i];
    wt__activation_forward(ACTIVATION_GELU, batch->pre, batch->hidden, m * h);
    for (size_t i = 0; rng && i < m * h; i += 64) {
        uint64_t bits = wt__rng_next(rng) & wt__rng_next(rng) & wt__rng_next(rng); /* one unit in eight is dropped */
        for (size_t j = 0; j < 64 && i + j < m * h; j++) {
            batch->keep[i + j] = bits >> j & 1 ? 0 : 8.0f / 7;
            batch->hidden[i + j] *= batch->keep[i + j];
        }
    }
    wt__multiply_dense(m, SCORER_OUTPUTS, h, batch->hidden, false, fit->parameters[2].value, false, batch->out);
    for (size_t r = 0; r < m; r++)
        for (size_t o = 0; o < SCORER_OUTPUTS; o++)
            batch->out[r * SCORER_OUTPUTS + o] += fit->parameters[3].value[o];
}

static void run_backward(const struct fit *fit, struct batch *batch)
{
    size_t m = batch->rows, h = fit->hidden;
    const struct model_parameter *p = fit->parameters;
    wt__multiply_dense(h, SCORER_OUTPUTS, m, batch->hidden, true, batch->dout, false, p[2].gradient);
    wt__multiply_dense(m, h, SCORER_OUTPUTS, batch->dout, false, p[2].value, true, batch->dhidden);
    for (size_t i = 0; i < m * h; i++)
        batch->dhidden[i] *= batch->keep[i];
    wt__activation_backward(ACTIVATION_GELU, batch->pre, batch->dhidden, batch->dhidden, m * h);
    wt__multiply_dense(fit->inputs, h, m, batch->x, true, batch->dhidden, false, p[0].gradient);
    memset(p[1].gradient, 0, p[1].count * sizeof(float));
    memset(p[3].gradient, 0, p[3].count * sizeof(float));
    for (size_t r = 0; r < m; r++) {
        for (size_t i = 0; i < h; i++)
            p[1].gradient[i] += batch->dhidden[r * h + i];
        for (size_t o = 0; o < SCORER_OUTPUTS; o++)
            p[3].gradient[o] += batch->dout[r * SCORER_OUTPUTS + o];
    }
}

/* ---------------------------------------------------------------- loss */

/* Returns the text in which candidate c has its greatest output o. out: [texts][N][outputs] of the list. */
static size_t find_best_text(const struct list *list, const float *out, size_t c, size_t o)
{
    size_t best = 0, n = list->header->count;
    for (size_t t = 1; t < list->header->texts; t++)
        if (out[(t * n + c) * SCORER_OUTPUTS + o] > out[(best * n + c) * SCORER_OUTPUTS + o])
            best = t;
    return best;
}

/* Adds the gradients of a list to dout, which is zeroed, and returns its loss. */
static double add_loss(const struct list *list, const float *out, float *dout, float share)
{
    size_t n = list->header->count, needed = 0, *texts = allocate(n, sizeof *texts);
    double sum = 0, most = -INFINITY, loss = 0;
    for (size_t c = 0; c < n; c++) {
        texts[c] = find_best_text(list, out, c, SCORER_SCORE);
        most = fmax(most, (double)out[(texts[c] * n + c) * SCORER_OUTPUTS]);
        needed += list->labels[c];
    }
    for (size_t c = 0; c < n; c++)
        sum += exp((double)out[(texts[c] * n + c) * SCORER_OUTPUTS] - most);
    for (size_t c = 0; needed > 0 && c < n; c++) {
        size_t at = (texts[c] * n + c) * SCORER_OUTPUTS + SCORER_SCORE;
        double score = (double)out[at] - most, wanted = (double)list->labels[c] / (double)needed;
        loss -= wanted * (score - log(sum));
        dout[at] += share * (float)(exp(score) / sum - wanted);
    }
    for (size_t c = 0; c < n; c++) {
        size_t t = find_best_text(list, out, c, SCORER_LOG_ODDS), at = (t * n + c) * SCORER_OUTPUTS + SCORER_LOG_ODDS;
        double odds = (double)out[at], probability = 1 / (1 + exp(-odds));
        loss += (double)ODDS_SHARE * (log1p(exp(-fabs(odds))) + fmax(odds, 0) - odds * list->labels[c]);
        dout[at] += share * ODDS_SHARE * (float)(probability - list->labels[c]);
    }
    free(texts);
    return loss;
}

static double train_batch(struct fit *fit, struct batch *batch, struct rng *rng)
{
    double loss = 0;
    fill_batch(fit, batch, rng);
    run_forward(fit, batch, rng);
    memset(batch->dout, 0, batch->rows * SCORER_OUTPUTS * sizeof *batch->dout);
    for (size_t l = 0, at = 0; l < batch->count; l++) {
        const struct list *list = batch->lists[l];
        loss += add_loss(list, batch->out + at, batch->dout + at, 1 / (float)batch->count);
        at += (size_t)list->header->texts * list->header->count * SCORER_OUTPUTS;
    }
    run_backward(fit, batch);
    return loss / (double)batch->count;
}

/* ---------------------------------------------------------------- dev */

struct dev_sums {
    char kind[16];
    double count, first, five; /* first: requests whose first tool is needed; five: sum of the recall at five */
};

/* Ranks the candidates of a list as a search does. out: [texts][N][outputs]. Returns the number of chosen ones. */
static size_t rank_list(const struct list *list, const float *out, struct chosen_candidate *chosen)
{
    static struct arena arena;
    size_t n = list->header->count, count = 0;
    float best[TEXTS_MAX], most = -INFINITY;
    wt_error err;
    wt__arena_reset(&arena);
    uint32_t *numbers = wt__arena_array(&arena, uint32_t, n);
    struct evidence evidence = {
        .texts = list->header->texts, .candidates = n, .rows = numbers, .provider = numbers, .subquery_weight = 1};
    for (size_t c = 0; c < n; c++)
        numbers[c] = (uint32_t)c;
    for (size_t t = 0; t < evidence.texts; t++) {
        best[t] = -INFINITY;
        for (size_t c = 0; c < n; c++)
            best[t] = fmaxf(best[t], out[(t * n + c) * SCORER_OUTPUTS + SCORER_SCORE]);
        most = fmaxf(most, best[t]);
    }
    for (size_t t = 0; t < evidence.texts; t++) {
        evidence.value[t] = wt__arena_array(&arena, float, n);
        for (size_t c = 0; c < n; c++)
            evidence.value[t][c] = wt__scorer_value(out[(t * n + c) * SCORER_OUTPUTS + SCORER_SCORE], best[t], most);
    }
    if (wt__compose(&evidence, n < DEV_SHOWN ? n : DEV_SHOWN, 0, &arena, chosen, &count, &err) < 0)
        exit_with_wt_error(&err);
    return count;
}

static void add_dev_list(struct dev_sums *sums, const struct list *list, const float *out)
{
    struct chosen_candidate chosen[DEV_SHOWN];
    size_t found = 0, shown = rank_list(list, out, chosen), needed = list->header->needed;
    for (size_t i = 0; i < shown; i++)
        found += list->labels[chosen[i].candidate];
    sums->count++;
    sums->first += shown > 0 && list->labels[chosen[0].candidate];
    sums->five += fmin(1, (double)found / (double)needed);
}

/* Returns the sums of a kind, or adds them. The first are those of all kinds. */
static struct dev_sums *find_dev_sums(struct dev_sums *sums, size_t *kinds, const char *kind)
{
    size_t k = 1;
    while (k < *kinds && strcmp(sums[k].kind, kind) != 0)
        k++;
    if (k == *kinds && k < KINDS_MAX)
        snprintf(sums[(*kinds)++].kind, sizeof sums->kind, "%s", kind);
    return &sums[k < KINDS_MAX ? k : 0];
}

static void print_dev(const struct fit *fit, struct batch *batch, const struct lists *lists)
{
    struct dev_sums sums[KINDS_MAX] = {{.kind = "all"}};
    size_t kinds = 1;
    for (size_t l = 0; l < lists->len; l++) {
        const struct list *list = &lists->items[l];
        if (is_unserved(list))
            continue;
        batch->lists[0] = list;
        batch->count = 1;
        fill_batch(fit, batch, NULL);
        run_forward(fit, batch, NULL);
        if (strcmp(list->header->kind, "small") != 0) /* these requests are counted already */
            add_dev_list(&sums[0], list, batch->out);
        add_dev_list(find_dev_sums(sums, &kinds, list->header->kind), list, batch->out);
    }
    for (size_t k = 0; k < kinds; k++)
        printf("%s %.1f/%.1f%s", sums[k].kind, 100 * sums[k].first / sums[k].count, 100 * sums[k].five / sums[k].count,
               k + 1 < kinds ? "  " : "\n");
    fflush(stdout);
}

/* Returns the greatest log odds of a candidate. */
static float find_best_odds(const struct list *list, const float *out)
{
    float best = -INFINITY;
    for (size_t i = 0; i < (size_t)list->header->texts * list->header->count; i++)
        best = fmaxf(best, out[i * SCORER_OUTPUTS + SCORER_LOG_ODDS]);
    return best;
}

/* Writes the inputs of the function for "any tool fits": the pooled hidden units of the whole request, and the greatest
 * log odds. */
static void read_pooled(const struct fit *fit, struct batch *batch, const struct list *list, float *out)
{
    batch->lists[0] = list;
    batch->count = 1;
    fill_batch(fit, batch, NULL);
    run_forward(fit, batch, NULL);
    wt__scorer_pool(batch->hidden, list->header->count, fit->hidden, out);
    out[fit->hidden] = find_best_odds(list, batch->out);
}

/* Fits the probability that any tool fits. Each list counts once, whatever its weight. */
static void fit_pooled(struct fit *fit, struct batch *batch)
{
    size_t len = fit->train_lists.len, width = fit->hidden + 1, count = 0;
    float *values = allocate(len * width, sizeof *values);
    uint8_t *answers = allocate(len, 1);
    for (size_t l = 0; l < len; l++) {
        const struct list *list = &fit->train_lists.items[l];
        if (l > 0 && list->header == list[-1].header)
            continue;
        read_pooled(fit, batch, list, values + count * width);
        answers[count++] = !is_unserved(list);
    }
    const struct logistic_samples samples = {.count = count, .features = width, .values = values, .answers = answers};
    fit->fits = allocate(width + 1, sizeof *fit->fits);
    wt__logistic_fit(&samples, 1e-4, fit->fits, &fit->fits[width]);
    free(values);
    free(answers);
}

/* Sets the percentiles. Prints how many requests without a needed tool get no tool, if a tenth of the others get
 * none. */
static void measure_fits(struct fit *fit, struct batch *batch, const struct lists *lists)
{
    enum { SERVED, GONE, NONE, APART, GROUPS };
    const struct scorer scorer = {.hidden = fit->hidden, .fits = fit->fits};
    float *fits[GROUPS], *pooled = allocate(fit->hidden + 1, sizeof *pooled), bound;
    size_t counts[GROUPS] = {0}, empty[GROUPS] = {0};
    for (size_t g = 0; g < GROUPS; g++)
        fits[g] = allocate(lists->len, sizeof(float));
    for (size_t l = 0; l < lists->len; l++) {
        const struct list *list = &lists->items[l];
        const char *kind = list->header->kind;
        size_t g = !is_unserved(list)          ? SERVED
                   : strcmp(kind, "gone") == 0 ? GONE
                   : strcmp(kind, "none") == 0 ? NONE
                                               : APART;
        read_pooled(fit, batch, list, pooled);
        fits[g][counts[g]++] = wt__scorer_fits(&scorer, pooled, pooled[fit->hidden]);
    }
    qsort(fits[SERVED], counts[SERVED], sizeof(float), compare_floats);
    for (size_t p = 0; p < SCORER_PERCENTILES && counts[SERVED] > 0; p++)
        fit->percentiles[p] = fits[SERVED][(p + 1) * (counts[SERVED] - 1) / SCORER_PERCENTILES];
    bound = fit->percentiles[SCORER_PERCENTILES / 10 - 1];
    for (size_t g = 0; g < GROUPS; g++) {
        for (size_t i = 0; i < counts[g]; i++)
            empty[g] += fits[g][i] < bound;
        free(fits[g]);
    }
    free(pooled);
    printf("empty below %.3f: gone %.1f %%, none %.1f %%, apart %.1f %%\n", (double)bound,
           100.0 * (double)empty[GONE] / (double)counts[GONE], 100.0 * (double)empty[NONE] / (double)counts[NONE],
           100.0 * (double)empty[APART] / (double)counts[APART]);
}

/* Prints the mean over the files of --sets of the recall at five. */
static void print_sets(const struct fit *fit, struct batch *batch)
{
    double sum = 0;
    for (size_t i = 0; i < fit->sets_count; i++) {
        struct dev_sums sums = {.count = 0};
        for (size_t l = 0; l < fit->sets_lists[i].len; l++) {
            batch->lists[0] = &fit->sets_lists[i].items[l];
            batch->count = 1;
            if (is_unserved(batch->lists[0]) || strcmp(batch->lists[0]->header->kind, "joined") == 0)
                continue;
            fill_batch(fit, batch, NULL);
            run_forward(fit, batch, NULL);
            add_dev_list(&sums, batch->lists[0], batch->out);
        }
        printf("%.1f ", 100 * sums.five / sums.count);
        sum += 100 * sums.five / sums.count;
    }
    printf("sets %.2f\n", sum / (double)fit->sets_count);
}

/* ---------------------------------------------------------------- training */

static void train_network(struct fit *fit, uint64_t seed)
{
    struct rng rng;
    struct batch batch = {.count = 0};
    struct adamw adamw;
    wt_error err;
    size_t len = fit->train_lists.len, steps = (len + BATCH - 1) / BATCH, all = steps * fit->epochs;
    uint32_t *order = allocate(len, sizeof *order);
    wt__rng_seed(&rng, seed);
    open_network(fit, &rng);
    if (wt__adamw_open(&adamw, fit->parameters, 4, &ADAMW_DEFAULTS, &err) < 0)
        exit_with_wt_error(&err);
    for (size_t epoch = 0; epoch < fit->epochs; epoch++) {
        double loss = 0;
        for (size_t i = 0; i < len; i++)
            order[i] = (uint32_t)i;
        for (size_t i = len; i > 1; i--) {
            size_t j = wt__rng_below(&rng, i);
            uint32_t last = order[i - 1];
            order[i - 1] = order[j];
            order[j] = last;
        }
        for (size_t step = 0; step < steps; step++) {
            batch.count = 0;
            for (size_t i = step * BATCH; i < len && batch.count < BATCH; i++)
                batch.lists[batch.count++] = &fit->train_lists.items[order[i]];
            loss += train_batch(fit, &batch, &rng);
            uint64_t at = epoch * steps + step;
            float rate = LEARNING_RATE * wt__schedule(SCHEDULE_COSINE, at, (uint64_t)(WARMUP * (float)all), all);
            wt__adamw_step(&adamw, rate, 1, 1);
        }
        printf("epoch %zu: loss %.4f; dev ", epoch + 1, loss / (double)steps);
        print_dev(fit, &batch, &fit->dev_lists);
    }
    wt__adamw_dispose(&adamw);
    free(order);
}

/* Appends the trained network to the sum of networks. Together they are one network with more hidden units. */
static void add_network(struct fit *fit, size_t number)
{
    size_t h = fit->hidden, all = h * fit->networks;
    float share = 1 / (float)fit->networks;
    for (size_t i = 0; i < fit->inputs; i++)
        memcpy(fit->sum[0] + i * all + number * h, fit->parameters[0].value + i * h, h * sizeof(float));
    memcpy(fit->sum[1] + number * h, fit->parameters[1].value, h * sizeof(float));
    for (size_t i = 0; i < h * SCORER_OUTPUTS; i++)
        fit->sum[2][number * h * SCORER_OUTPUTS + i] = share * fit->parameters[2].value[i];
    for (size_t o = 0; o < SCORER_OUTPUTS; o++)
        fit->sum[3][o] += share * fit->parameters[3].value[o];
}

/* Makes the sum of networks the network of the fit. */
static void use_sum(struct fit *fit)
{
    fit->hidden *= fit->networks;
    for (size_t p = 0; p < 4; p++) {
        free(fit->parameters[p].value);
        fit->parameters[p].value = fit->sum[p];
    }
}

static void train_networks(struct fit *fit)
{
    struct batch batch = {.count = 0};
    size_t all = fit->hidden * fit->networks;
    const size_t counts[] = {fit->inputs * all, all, all * SCORER_OUTPUTS, SCORER_OUTPUTS};
    for (size_t p = 0; p < 4; p++)
        fit->sum[p] = allocate(counts[p], sizeof(float));
    for (size_t n = 0; n < fit->networks; n++) {
        train_network(fit, fit->seed + n);
        add_network(fit, n);
    }
    use_sum(fit);
    fit_pooled(fit, &batch);
    printf("all: ");
    print_dev(fit, &batch, &fit->dev_lists);
    if (fit->dev_lists.len > 0)
        measure_fits(fit, &batch, &fit->dev_lists);
    if (fit->sets_count > 0)
        print_sets(fit, &batch);
}

/* Writes the network beside the other networks of the file. */
static void write_network(const struct fit *fit)
{
    static const char *const parts[] = {"mean", "scale", "weight1", "bias1", "weight2", "bias2", "fits", "percentiles"};
    enum { PARTS = 8, TENSORS_MAX = PARTS * SCORER_VARIANTS_MAX };
    struct tensor_source tensors[TENSORS_MAX];
    static char names[PARTS][64];
    struct safetensors old = {.count = 0};
    char *bytes = NULL, key[32];
    size_t len, count = 0, h = fit->hidden;
    wt_error err;
    float *weight2 = allocate(h * SCORER_STRIDE, sizeof *weight2), bias2[SCORER_STRIDE] = {0};
    for (size_t i = 0; i < h; i++)
        memcpy(weight2 + i * SCORER_STRIDE, fit->parameters[2].value + i * SCORER_OUTPUTS,
               SCORER_OUTPUTS * sizeof(float));
    memcpy(bias2, fit->parameters[3].value, SCORER_OUTPUTS * sizeof(float));
    const void *data[PARTS] = {fit->mean, fit->scale, fit->parameters[0].value, fit->parameters[1].value, weight2,
                               bias2,     fit->fits,  fit->percentiles};
    const size_t shapes[PARTS][2] = {{fit->inputs},      {fit->inputs},   {fit->inputs, h}, {h},
                                     {h, SCORER_STRIDE}, {SCORER_STRIDE}, {h + 2},          {SCORER_PERCENTILES}};
    snprintf(key, sizeof key, "%llx", (unsigned long long)wt__scorer_key(&wt__scorer_table));
    for (size_t p = 0; p < PARTS; p++) {
        snprintf(names[p], sizeof names[p], "%s.%s", fit->variant, parts[p]);
        tensors[count] = (struct tensor_source){names[p], data[p], shapes[p][1] ? 2 : 1, {shapes[p][0], shapes[p][1]}};
        count++;
    }
    if (wt__file_read(&bytes, &len, fit->out, SAFETENSORS_MAX_HEADER, &err) == 0 &&
        wt__safetensors_open(&old, fit->out, bytes, len, &err) == 0) {
        const char *made_for = json_string_value(json_object_get(old.metadata, "key"));
        for (size_t i = 0; made_for && strcmp(made_for, key) == 0 && i < old.count && count < TENSORS_MAX; i++) {
            const struct tensor *tensor = &old.tensors[i];
            size_t stem = strlen(fit->variant);
            if (strncmp(tensor->name, fit->variant, stem) == 0 && tensor->name[stem] == '.')
                continue;
            tensors[count] = (struct tensor_source){.name = tensor->name, .data = tensor->data, .rank = tensor->rank};
            memcpy(tensors[count++].shape, tensor->shape, sizeof tensor->shape);
        }
    }
    json_auto_t *metadata = json_pack("{s:s}", "key", key);
    if (wt__safetensors_write(fit->out, tensors, count, metadata, &err) < 0)
        exit_with_wt_error(&err);
    wt__safetensors_dispose(&old);
    free(bytes);
    free(weight2);
}

/* ---------------------------------------------------------------- command line */

static void add_kind(struct fit *fit, const char *argument)
{
    const char *equal = strchr(argument, '=');
    if (!equal || fit->kind_count == KINDS_MAX)
        exit_with_message("--weight needs KIND=N");
    snprintf(fit->kinds[fit->kind_count].name, sizeof fit->kinds->name, "%.*s", (int)(equal - argument), argument);
    fit->kinds[fit->kind_count++].times = (unsigned)strtoul(equal + 1, NULL, 10);
}

static void read_arguments(struct fit *fit, int argc, char **argv)
{
    const char **files = NULL;
    size_t *count = NULL;
    if (argc < 3)
        exit_with_message("usage: scorer_fit OUT VARIANT [OPTION]... --train LISTS... --dev LISTS...");
    fit->out = argv[1];
    fit->variant = argv[2];
    for (int i = 3; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool takes = true;
        if (strcmp(argv[i], "--train") == 0) {
            files = fit->train;
            count = &fit->train_count;
            takes = false;
        } else if (strcmp(argv[i], "--dev") == 0) {
            files = fit->dev;
            count = &fit->dev_count;
            takes = false;
        } else if (strcmp(argv[i], "--sets") == 0) {
            files = fit->sets;
            count = &fit->sets_count;
            takes = false;
        } else if (strcmp(argv[i], "--epochs") == 0)
            fit->epochs = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--hidden") == 0)
            fit->hidden = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--networks") == 0)
            fit->networks = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            fit->seed = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--weight") == 0)
            add_kind(fit, value);
        else if (strcmp(argv[i], "--without") == 0 && fit->without_count < WITHOUT_MAX)
            fit->without[fit->without_count++] = value;
        else if (count && *count < FILES_MAX) {
            files[(*count)++] = argv[i];
            takes = false;
        } else
            exit_with_message("unknown argument, or too many files");
        i += takes;
    }
    if (fit->train_count == 0 || fit->hidden == 0 || fit->networks == 0 || fit->hidden % SCORER_STRIDE != 0 ||
        fit->hidden * fit->networks >= LOGISTIC_MOST)
        exit_with_message("--train needs files; --hidden takes a multiple of 16, and --networks times --hidden must be "
                          "below 80");
}

int main(int argc, char **argv)
{
    static struct fit fit = {.hidden = 32, .epochs = 4, .networks = 4, .seed = 1};
    fit.inputs = wt__scorer_inputs(&wt__scorer_table);
    read_arguments(&fit, argc, argv);
    check_left_out(&fit);
    fit.mean = allocate(fit.inputs, sizeof *fit.mean);
    fit.scale = allocate(fit.inputs, sizeof *fit.scale);
    fit.sibling = allocate(fit.inputs, sizeof *fit.sibling);
    for (size_t i = 0; i < fit.train_count; i++)
        read_lists(&fit, fit.train[i], true, &fit.train_lists);
    for (size_t i = 0; i < fit.dev_count; i++)
        read_lists(&fit, fit.dev[i], false, &fit.dev_lists);
    for (size_t i = 0; i < fit.sets_count; i++)
        read_lists(&fit, fit.sets[i], false, &fit.sets_lists[i]);
    printf("%s: %zu lists for training, %zu for dev\n", fit.variant, fit.train_lists.len, fit.dev_lists.len);
    standardise(&fit);
    train_networks(&fit);
    write_network(&fit);
    return 0;
}
