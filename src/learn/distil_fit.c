/* distil_fit.c: the static encoder in training, its texts, and the steps fit and contrast (distil.h). Both steps use
 * the loop of learn/loop.h; only the optimiser uses several threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "learn/distil.h"
#include "learn/loop.h"
#include "nn/loss.h"
#include "nn/layers.h"

/* ---------------------------------------------------------------- the static encoder */

static float *alloc_zeroed(size_t floats)
{
    float *block = wt__alloc_aligned(floats, sizeof *block);
    if (block)
        memset(block, 0, floats * sizeof *block);
    return block;
}

int wt__student_open(struct student *out, size_t tokens, size_t dim, size_t capacity, wt_error *err)
{
    *out = (struct student){.tokens = tokens, .dim = dim, .capacity = capacity};
    out->rows = alloc_zeroed(tokens * dim);
    out->texts = wt__alloc_array(capacity, sizeof *out->texts);
    out->sums = alloc_zeroed(capacity * dim);
    out->vectors = alloc_zeroed(capacity * dim);
    out->dvectors = alloc_zeroed(capacity * dim);
    out->parameter = (struct model_parameter){.name = "embeddings",
                                              .value = out->rows,
                                              .gradient = alloc_zeroed(tokens * dim),
                                              .count = tokens * dim,
                                              .row = dim,
                                              .touched = calloc(tokens, 1),
                                              .rate = 1};
    if (out->rows && out->texts && out->sums && out->vectors && out->dvectors && out->parameter.gradient &&
        out->parameter.touched)
        return 0;
    wt__student_dispose(out);
    return wt__fail_nomem(err);
}

void wt__student_dispose(struct student *student)
{
    free(student->rows);
    free(student->texts);
    free(student->sums);
    free(student->vectors);
    free(student->dvectors);
    free(student->parameter.gradient);
    free(student->parameter.touched);
    *student = (struct student){0};
}

void wt__student_begin(struct student *student)
{
    student->count = 0;
}

void wt__student_forward(struct student *student, const struct token_texts *texts, const uint32_t *which, size_t count)
{
    size_t dim = student->dim;
    for (size_t i = 0; i < count; i++) {
        size_t at = student->count++, first = texts->starts[which[i]];
        struct student_text text = {texts->ids + first, texts->starts[which[i] + 1] - first};
        float *sum = student->sums + at * dim;
        student->texts[at] = text;
        memset(sum, 0, dim * sizeof *sum);
        for (size_t t = 0; t < text.length; t++) {
            const float *row = student->rows + (size_t)text.ids[t] * dim;
            for (size_t d = 0; d < dim; d++)
                sum[d] += row[d];
        }
        memcpy(student->vectors + at * dim, sum, dim * sizeof *sum);
        wt__normalize(student->vectors + at * dim, dim);
    }
}

void wt__student_backward(struct student *student)
{
    size_t dim = student->dim;
    for (size_t i = 0; i < student->count; i++) {
        const struct student_text *text = &student->texts[i];
        float *dsum = student->dvectors + i * dim;
        wt__normalize_backward(student->sums + i * dim, dsum, dsum, dim);
        for (size_t t = 0; t < text->length; t++) {
            float *gradient = student->parameter.gradient + (size_t)text->ids[t] * dim;
            student->parameter.touched[text->ids[t]] = 1;
            for (size_t d = 0; d < dim; d++)
                gradient[d] += dsum[d];
        }
    }
}

/* ---------------------------------------------------------------- texts */

/* Sets *number to the number of a text. Adds the text if it is new. Returns false if out of memory. */
static bool number_distil_text(struct distil_texts *out, struct map *known, struct str text, uint32_t *number)
{
    bool added;
    const uint32_t *found = wt__map_insert(known, text, (uint32_t)out->count, &added);
    if (!found)
        return false;
    if (added)
        out->texts[out->count++] = text;
    *number = *found;
    return true;
}

static int gather_texts(struct distil_texts *out, wt_error *err)
{
    const struct examples *e = out->examples;
    WT_CLEANUP(wt__map_dispose) struct map known = {0};
    uint32_t number;
    out->texts = wt__alloc_array(e->tools * DOCUMENT_TEXTS + e->train.count, sizeof *out->texts);
    out->tool_text = wt__alloc_array(e->tools, sizeof *out->tool_text);
    out->request_text = wt__alloc_array(e->train.count, sizeof *out->request_text);
    bool whole = out->texts && out->tool_text && out->request_text;
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++)
        for (size_t row = 0; whole && row < e->tools; row++)
            whole = number_distil_text(out, &known, e->texts[t][row], t == 0 ? &out->tool_text[row] : &number);
    for (size_t i = 0; whole && i < e->train.count; i++)
        whole = number_distil_text(out, &known, e->train.texts[i], &out->request_text[i]);
    return whole ? 0 : wt__fail_nomem(err);
}

int wt__distil_tokens(struct token_texts *tokens, const struct tokenizer *tokenizer, const struct str *texts,
                      size_t count, size_t max_tokens, wt_error *err)
{
    size_t capacity = 0, begin = 0;
    *tokens = (struct token_texts){.starts = wt__alloc_array(count + 1, sizeof *tokens->starts)};
    WT_CHECK_ALLOC(tokens->starts, err);
    tokens->starts[0] = 0;
    for (size_t i = 0; i < count; i++) {
        if (wt__grow((void **)&tokens->ids, &capacity, begin + max_tokens, sizeof *tokens->ids) < 0)
            return wt__fail_nomem(err);
        int32_t *ids = tokens->ids + begin;
        size_t framed = wt__tokenizer_encode(tokenizer, texts[i], max_tokens, ids);
        for (size_t t = 1; t + 1 < framed; t++)
            if (ids[t] != tokenizer->special[TOKENIZER_UNK])
                tokens->ids[begin++] = ids[t];
        tokens->starts[++tokens->count] = begin;
    }
    return 0;
}

int wt__distil_texts_open(struct distil_texts *out, const struct examples *examples, const struct tokenizer *tokenizer,
                          size_t max_tokens, wt_error *err)
{
    *out = (struct distil_texts){.examples = examples};
    int rc = gather_texts(out, err);
    if (rc == 0)
        rc = wt__distil_tokens(&out->tokens, tokenizer, out->texts, out->count, max_tokens, err);
    if (rc == 0 && out->count == 0)
        rc = wt__fail(err, WT_EEMPTY, "%s has no text to learn from", examples->source);
    if (rc < 0)
        wt__distil_texts_dispose(out);
    return rc;
}

void wt__distil_texts_dispose(struct distil_texts *texts)
{
    free(texts->texts);
    free(texts->tool_text);
    free(texts->request_text);
    wt__token_texts_dispose(&texts->tokens);
    *texts = (struct distil_texts){0};
}

void wt__distil_frequencies(const struct distil_texts *texts, size_t token_count, float *frequency)
{
    size_t all = texts->tokens.starts[texts->count];
    memset(frequency, 0, token_count * sizeof *frequency);
    for (size_t i = 0; i < all; i++)
        frequency[texts->tokens.ids[i]]++;
    for (size_t t = 0; t < token_count; t++)
        frequency[t] /= all > 0 ? (float)all : 1;
}

/* ---------------------------------------------------------------- the steps */

const struct distil_settings wt__distil_defaults = {.smoothing = 1e-3,
                                                    .rate = 2e-3,
                                                    .batch = 512,
                                                    .likeness = 20,
                                                    .contrast_rate = 1e-3,
                                                    .contrast_batch = 256,
                                                    .contrast_scale = 20,
                                                    .contrast_share = .5};

/* Returns the number of epochs that process about `enough` texts, clamped to least .. most. count: texts per epoch. */
static double count_passes(size_t count, double enough, double least, double most)
{
    return fmin(fmax(round(enough / fmax((double)count, 1)), least), most);
}

double wt__distil_fit_epochs(size_t texts)
{
    return count_passes(texts, 750000, 5, 100);
}

double wt__distil_contrast_epochs(size_t requests)
{
    return count_passes(requests, 180000, 3, 10);
}

void wt__distil_weigh(struct student *student, const float *frequency, double smoothing)
{
    for (size_t t = 0; smoothing > 0 && t < student->tokens; t++)
        for (size_t d = 0; d < student->dim; d++)
            student->rows[t * student->dim + d] *= (float)(smoothing / (smoothing + frequency[t]));
}

struct fit_run {
    struct student *student;
    const struct distil_texts *texts;
    const struct distil_settings *settings;
    float *scores; /* [batch, batch] similarities of the step's texts */
    size_t count;  /* number of texts (fit) or requests (contrast) of the step */

    /* Fit only. */
    const float *teacher; /* [N, D] */
    float *wanted;        /* [batch, D] the teacher's vectors of the step's texts */

    /* Contrast only. One example of the training loop is a batch of requests of one data set. */
    struct source_batch *batches; /* [examples] */
    uint32_t *order;              /* [B] numbers of the requests, shuffled within each data set */
    uint32_t *requests, *tools;   /* [batch] requests of the step, and the row of one tool of each */
    uint32_t *which;              /* [batch] scratch: numbers of texts */
    uint8_t *pairs;               /* [batch, batch] of enum pair */
    float *gradients;             /* [batch, batch] of the scores */
};

/* Saves nothing, because the student's rows are the model. */
static int keep_rows(void *self, const struct loop_state *state, wt_error *err)
{
    (void)self;
    (void)state;
    (void)err;
    return 0;
}

static size_t count_student_tokens(const struct student *student)
{
    size_t tokens = 0;
    for (size_t i = 0; i < student->count; i++)
        tokens += student->texts[i].length;
    return tokens;
}

static int run_loop(struct fit_run *f, struct objective *objective, double epochs, double rate, size_t batch,
                    struct train_progress *progress, wt_error *err)
{
    const struct loop_options options = {.seed = f->settings->seed,
                                         .workers = f->settings->threads,
                                         .epochs = epochs,
                                         .batch = batch,
                                         .rate = rate,
                                         .warmup = .05,
                                         .schedule = SCHEDULE_COSINE,
                                         .adamw = {.9f, .999f, 1e-8f, 0, 0}};
    struct loop_result result;
    objective->self = f;
    objective->parameters = &f->student->parameter;
    objective->parameter_count = 1;
    objective->save = keep_rows;
    return wt__loop_run(objective, &options, progress, &result, err);
}

/* ---------------------------------------------------------------- fit */

static int prepare_fit(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens,
                       wt_error *err)
{
    struct fit_run *f = self;
    size_t dim = f->student->dim;
    (void)rng;
    (void)err;
    f->count = count;
    for (size_t i = 0; i < count; i++)
        memcpy(f->wanted + i * dim, f->teacher + examples[i] * dim, dim * sizeof *f->wanted);
    wt__student_begin(f->student);
    wt__student_forward(f->student, &f->texts->tokens, examples, count);
    *tokens += count_student_tokens(f->student);
    return 0;
}

static double compute_fit_loss(void *self)
{
    struct fit_run *f = self;
    float loss = wt__loss_distil(f->student->vectors, f->wanted, f->count, f->student->dim,
                                 (float)f->settings->likeness, f->scores, f->student->dvectors);
    wt__student_backward(f->student);
    return loss;
}

int wt__distil_fit(struct student *student, const struct distil_texts *texts, const float *teacher,
                   const struct distil_settings *settings, struct train_progress *progress, wt_error *err)
{
    size_t batch = settings->batch;
    struct fit_run f = {.student = student, .texts = texts, .settings = settings, .teacher = teacher};
    struct objective objective = {.examples = texts->count, .prepare = prepare_fit, .loss = compute_fit_loss};
    if (settings->epochs <= 0)
        return 0;
    f.scores = wt__alloc_aligned(batch * batch, sizeof *f.scores);
    f.wanted = wt__alloc_aligned(batch * student->dim, sizeof *f.wanted);
    int rc = f.scores && f.wanted ? run_loop(&f, &objective, settings->epochs, settings->rate, batch, progress, err)
                                  : wt__fail_nomem(err);
    free(f.scores);
    free(f.wanted);
    return rc;
}

/* ---------------------------------------------------------------- contrast */

struct source_batch {
    size_t first, count; /* range in fit_run.order */
};

static bool is_tool_of_request(const struct example_set *train, uint32_t request, uint32_t row)
{
    for (size_t l = train->starts[request]; l < train->starts[request + 1]; l++)
        if (train->tools[l] == row)
            return true;
    return false;
}

/* Sets f->pairs. The pair of a request and the tool that was drawn for it is positive. Pairs with another tool of the
 * request, or with a tool whose text equals that of the drawn tool, are ignored. All other pairs are negative. */
static void mark_pairs(struct fit_run *f)
{
    const struct example_set *train = &f->texts->examples->train;
    const uint32_t *text = f->texts->tool_text;
    for (size_t i = 0; i < f->count; i++)
        for (size_t j = 0; j < f->count; j++) {
            bool right =
                is_tool_of_request(train, f->requests[i], f->tools[j]) || text[f->tools[i]] == text[f->tools[j]];
            enum pair pair = i == j ? PAIR_POSITIVE : right ? PAIR_IGNORED : PAIR_NEGATIVE;
            f->pairs[i * f->count + j] = (uint8_t)pair;
        }
}

static int prepare_distil_contrast(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens,
                                   wt_error *err)
{
    struct fit_run *f = self;
    const struct example_set *train = &f->texts->examples->train;
    const struct source_batch *batch = &f->batches[examples[0]];
    (void)count; /* 1 */
    (void)err;
    f->count = batch->count;
    wt__student_begin(f->student);
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t request = f->order[batch->first + i];
        size_t first = train->starts[request], labels = train->starts[request + 1] - first;
        f->requests[i] = request;
        f->tools[i] = train->tools[first + wt__rng_below(rng, labels)];
        f->which[i] = f->texts->request_text[request];
    }
    wt__student_forward(f->student, &f->texts->tokens, f->which, f->count);
    for (size_t i = 0; i < f->count; i++)
        f->which[i] = f->texts->tool_text[f->tools[i]];
    wt__student_forward(f->student, &f->texts->tokens, f->which, f->count);
    mark_pairs(f);
    *tokens += count_student_tokens(f->student);
    return 0;
}

static double compute_contrast_loss(void *self)
{
    struct fit_run *f = self;
    struct student *student = f->student;
    size_t half = f->count * student->dim;
    const struct contrast contrast = {.rows = f->count,
                                      .columns = f->count,
                                      .width = student->dim,
                                      .queries = student->vectors,
                                      .documents = student->vectors + half,
                                      .pairs = f->pairs,
                                      .scale = (float)f->settings->contrast_scale,
                                      .scores = f->scores,
                                      .gradients = f->gradients};
    double loss = wt__loss_contrast_both(&contrast, student->dvectors, student->dvectors + half);
    wt__student_backward(student);
    return loss;
}

/* Shuffles the requests of each data set, and divides them into batches of nearly equal size. */
static int cut_batches(struct fit_run *f, size_t *count, wt_error *err)
{
    const struct examples *e = f->texts->examples;
    size_t most = f->settings->contrast_batch, begin = 0;
    struct rng rng;
    wt__rng_seed(&rng, f->settings->seed);
    *count = 0;
    f->order = wt__alloc_array(e->train.count, sizeof *f->order);
    f->batches = wt__alloc_array(e->train.count, sizeof *f->batches);
    WT_CHECK_ALLOC(f->order && f->batches, err);
    for (size_t p = 0; p < e->part_count; begin = e->parts[p++].train) {
        size_t requests = e->parts[p].train - begin, batches = (requests + most - 1) / most;
        wt__rng_draw(&rng, f->order + begin, requests, requests - (requests > 0));
        for (size_t i = 0; i < requests; i++)
            f->order[begin + i] += (uint32_t)begin;
        for (size_t b = 0; b < batches; b++) {
            size_t first = requests * b / batches, end = requests * (b + 1) / batches;
            f->batches[*count] = (struct source_batch){begin + first, end - first};
            *count += end - first > 1; /* a single request has no negatives */
        }
    }
    return 0;
}

static int begin_distil_contrast(struct fit_run *f, size_t *batches, wt_error *err)
{
    size_t batch = f->settings->contrast_batch;
    f->scores = wt__alloc_aligned(batch * batch, sizeof *f->scores);
    f->requests = wt__alloc_array(batch, sizeof *f->requests);
    f->tools = wt__alloc_array(batch, sizeof *f->tools);
    f->which = wt__alloc_array(batch, sizeof *f->which);
    f->pairs = wt__alloc_array(batch, batch);
    f->gradients = wt__alloc_aligned(batch * batch, sizeof *f->gradients);
    bool whole = f->scores && f->requests && f->tools && f->which && f->pairs && f->gradients;
    return whole ? cut_batches(f, batches, err) : wt__fail_nomem(err);
}

int wt__distil_contrast(struct student *student, const struct distil_texts *texts,
                        const struct distil_settings *settings, struct train_progress *progress, wt_error *err)
{
    struct fit_run f = {.student = student, .texts = texts, .settings = settings};
    struct objective objective = {.prepare = prepare_distil_contrast, .loss = compute_contrast_loss};
    size_t floats = student->parameter.count;
    if (settings->contrast_epochs <= 0 || texts->examples->train.count == 0)
        return 0;
    float *before = wt__alloc_aligned(floats, sizeof *before);
    int rc = before ? begin_distil_contrast(&f, &objective.examples, err) : wt__fail_nomem(err);
    if (rc == 0 && objective.examples > 0) {
        memcpy(before, student->rows, floats * sizeof *before);
        rc = run_loop(&f, &objective, settings->contrast_epochs, settings->contrast_rate, 1, progress, err);
        for (size_t i = 0; i < floats; i++)
            student->rows[i] = before[i] + (float)settings->contrast_share * (student->rows[i] - before[i]);
    }
    free(before);
    free(f.scores);
    free(f.order);
    free(f.batches);
    free(f.requests);
    free(f.tools);
    free(f.which);
    free(f.pairs);
    free(f.gradients);
    return rc;
}
