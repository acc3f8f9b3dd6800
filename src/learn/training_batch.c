/* training_batch.c: see training_batch.h. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "encoder/transformer.h"
#include "learn/training_batch.h"
#include "nn/layers.h"

/* One worker's share of the step. */
struct batch_worker {
    struct tape *tape;
    struct token_batch batch; /* view of the arrays below */
    size_t *starts;           /* [S + 1] */
    int32_t *ids, *positions; /* [rows] */
    int32_t *types;           /* [rows] */
    float *external;          /* [external, H] */
    uint32_t *members;        /* [S] numbers of the worker's texts */
    float *gradient;          /* [H] scratch: gradient of one pooled vector */
    size_t rows, externals;   /* number of rows, and of external rows */
    size_t most_rows;         /* capacity of the tape in rows */
};

/* ---------------------------------------------------------------- texts */

struct block_reading {
    const struct trainable *model;
    const struct str *texts;
    struct token_texts *out;
    size_t max_tokens, count;
    int32_t *block;  /* tokens of the block's texts, max_tokens per text */
    size_t first;    /* text of the block's first row */
    size_t *lengths; /* number of tokens of each text of the block */
};

static int read_text_block(void *context, size_t index, unsigned worker)
{
    struct block_reading *r = context;
    (void)worker;
    r->lengths[index] =
        wt__trainable_tokenize(r->model, r->texts[r->first + index], r->max_tokens, r->block + index * r->max_tokens);
    return 0;
}

int wt__token_texts_read(struct token_texts *out, const struct trainable *model, enum text_role role,
                         const struct str *texts, size_t count, size_t max_tokens, unsigned threads, wt_error *err)
{
    enum { BLOCK = 4096 };
    size_t most = wt__trainable_config(model)->max_tokens, capacity = 0;
    WT_CLEANUP(wt__arena_dispose) struct arena prompted = {0};
    struct block_reading r = {.model = model,
                              .texts = wt__prompts_apply(wt__trainable_prompts(model), role, texts, count, &prompted),
                              .out = out,
                              .max_tokens = max_tokens < most ? max_tokens : most};
    *out = (struct token_texts){.starts = wt__alloc_array(count + 1, sizeof *out->starts)};
    r.block = wt__alloc_array(BLOCK * r.max_tokens, sizeof *r.block);
    r.lengths = wt__alloc_array(BLOCK, sizeof *r.lengths);
    bool whole = r.texts && out->starts && r.block && r.lengths;
    if (whole)
        out->starts[0] = 0;
    for (; whole && r.first < count; r.first += BLOCK) {
        size_t n = count - r.first < BLOCK ? count - r.first : BLOCK;
        wt__pool_run(threads, n, read_text_block, &r);
        for (size_t i = 0; whole && i < n; i++) {
            size_t begin = out->starts[out->count];
            whole = wt__grow((void **)&out->ids, &capacity, begin + r.lengths[i], sizeof *out->ids) == 0;
            if (whole) {
                memcpy(out->ids + begin, r.block + i * r.max_tokens, r.lengths[i] * sizeof *out->ids);
                out->starts[++out->count] = begin + r.lengths[i];
            }
        }
    }
    free(r.block);
    free(r.lengths);
    if (whole)
        return 0;
    wt__token_texts_dispose(out);
    return wt__fail_nomem(err);
}

void wt__token_texts_dispose(struct token_texts *texts)
{
    free(texts->starts);
    free(texts->ids);
    *texts = (struct token_texts){0};
}

size_t wt__token_texts_longest(const struct token_texts *texts, size_t count)
{
    enum { MOST = MODEL_MAX_POSITIONS };
    size_t *of_length = calloc(MOST + 1, sizeof *of_length), sum = 0;
    if (!of_length) /* an upper bound is enough */
        return count * MOST;
    for (size_t i = 0; i < texts->count; i++) {
        size_t length = texts->starts[i + 1] - texts->starts[i];
        of_length[length < MOST ? length : MOST]++;
    }
    for (size_t length = MOST; length > 0 && count > 0; length--) {
        size_t taken = of_length[length] < count ? of_length[length] : count;
        sum += taken * length;
        count -= taken;
    }
    free(of_length);
    return sum;
}

/* ---------------------------------------------------------------- memory */

/* Returns the limits of one worker: an even share of the rows plus the longest text, because each text goes to the
 * worker with the fewest rows. */
static struct tape_limits share_limits(const struct batch_limits *limits, unsigned workers)
{
    size_t rows = limits->rows / workers + limits->longest;
    return (struct tape_limits){
        .rows = rows < limits->rows ? rows : limits->rows, .longest = limits->longest, .external = limits->external};
}

size_t wt__batch_bytes(const struct trainable *model, unsigned workers, const struct batch_limits *limits)
{
    struct tape_limits share = share_limits(limits, workers);
    size_t hidden = wt__trainable_config(model)->hidden, tape = wt__tape_bytes(model, &share), sum = 0;
    if (tape == SIZE_MAX)
        return SIZE_MAX;
    for (unsigned w = 0; w < workers; w++) {
        size_t gradients = wt__gradients_bytes(model, w == 0, limits->rows);
        if (gradients > SIZE_MAX - sum || tape > SIZE_MAX - sum - gradients)
            return SIZE_MAX;
        sum += gradients + tape + limits->external * hidden * sizeof(float);
    }
    return sum + 3 * limits->texts * hidden * sizeof(float);
}

static int open_batch_worker(struct training_batch *training_batch, unsigned w, wt_error *err)
{
    struct batch_worker *work = &training_batch->work[w];
    struct tape_limits share = share_limits(&training_batch->limits, training_batch->workers);
    WT_TRY(wt__tape_new(&work->tape, training_batch->model, &share, err));
    WT_TRY(wt__gradients_new(&training_batch->gradients[w], training_batch->model, w == 0, share.rows, err));
    work->most_rows = share.rows;
    work->starts = wt__alloc_array(training_batch->limits.texts + 1, sizeof *work->starts);
    work->members = wt__alloc_array(training_batch->limits.texts, sizeof *work->members);
    work->ids = wt__alloc_array(share.rows, sizeof *work->ids);
    work->positions = wt__alloc_array(share.rows, sizeof *work->positions);
    work->types = wt__alloc_array(share.rows, sizeof *work->types);
    work->external =
        wt__alloc_aligned(training_batch->limits.external * training_batch->hidden, sizeof *work->external);
    work->gradient = wt__alloc_aligned(training_batch->hidden, sizeof *work->gradient);
    return work->starts && work->members && work->ids && work->positions && work->types && work->external &&
                   work->gradient
               ? 0
               : wt__fail_nomem(err);
}

int wt__batch_open(struct training_batch *out, struct trainable *model, enum batch_output output, unsigned workers,
                   const struct batch_limits *limits, wt_error *err)
{
    size_t hidden = wt__trainable_config(model)->hidden;
    *out = (struct training_batch){
        .model = model, .output = output, .workers = workers, .hidden = hidden, .limits = *limits};
    out->work = calloc(workers, sizeof *out->work);
    out->gradients = calloc(workers, sizeof *out->gradients);
    out->texts = wt__alloc_array(limits->texts, sizeof *out->texts);
    out->order = wt__alloc_array(limits->texts, sizeof *out->order);
    size_t floats = output == BATCH_ROWS ? 0 : limits->texts * hidden;
    out->pooled = wt__alloc_aligned(floats, sizeof *out->pooled);
    out->vectors = wt__alloc_aligned(floats, sizeof *out->vectors);
    out->dvectors = wt__alloc_aligned(floats, sizeof *out->dvectors);
    bool whole =
        out->work && out->gradients && out->texts && out->order && out->pooled && out->vectors && out->dvectors;
    int rc = whole ? 0 : wt__fail_nomem(err);
    for (unsigned w = 0; rc == 0 && w < workers; w++)
        rc = open_batch_worker(out, w, err);
    if (rc < 0)
        wt__batch_dispose(out);
    return rc;
}

void wt__batch_dispose(struct training_batch *training_batch)
{
    for (unsigned w = 0; w < training_batch->workers; w++) {
        if (training_batch->work) {
            struct batch_worker *work = &training_batch->work[w];
            wt__tape_free(work->tape);
            free(work->starts);
            free(work->members);
            free(work->ids);
            free(work->positions);
            free(work->types);
            free(work->external);
            free(work->gradient);
        }
        if (training_batch->gradients)
            wt__gradients_free(training_batch->gradients[w]);
    }
    free(training_batch->work);
    free(training_batch->gradients);
    free(training_batch->texts);
    free(training_batch->order);
    free(training_batch->pooled);
    free(training_batch->vectors);
    free(training_batch->dvectors);
    *training_batch = (struct training_batch){0};
}

/* ---------------------------------------------------------------- a step */

void wt__batch_begin(struct training_batch *training_batch)
{
    training_batch->count = 0;
    for (unsigned w = 0; w < training_batch->workers; w++) {
        struct batch_worker *work = &training_batch->work[w];
        work->rows = work->externals = 0;
        work->batch = (struct token_batch){.starts = work->starts, .ids = work->ids};
        work->starts[0] = 0;
    }
}

size_t wt__batch_add_mixed(struct training_batch *training_batch, const int32_t *ids, const int32_t *positions,
                           size_t length, size_t external)
{
    training_batch->texts[training_batch->count] =
        (struct batch_text){.ids = ids, .positions = positions, .length = length, .external = external};
    return training_batch->count++;
}

size_t wt__batch_add(struct training_batch *training_batch, const int32_t *ids, size_t length)
{
    return wt__batch_add_mixed(training_batch, ids, NULL, length, 0);
}

size_t wt__batch_add_pair(struct training_batch *training_batch, const int32_t *ids, const int32_t *types,
                          size_t length)
{
    size_t number = wt__batch_add(training_batch, ids, length);
    training_batch->texts[number].types = types;
    return number;
}

/* Appends a text to a worker's batch. If the text has positions, types or external rows, the batch has them from then
 * on. */
static void place_batch_text(struct training_batch *training_batch, struct batch_worker *work, uint32_t number)
{
    struct batch_text *text = &training_batch->texts[number];
    text->first = work->rows;
    text->first_external = work->externals;
    memcpy(work->ids + work->rows, text->ids, text->length * sizeof *text->ids);
    for (size_t i = 0; i < text->length; i++)
        work->positions[work->rows + i] = text->positions ? text->positions[i] : (int32_t)i;
    for (size_t i = 0; i < text->length; i++)
        work->types[work->rows + i] = text->types ? text->types[i] : 0;
    if (text->positions)
        work->batch.positions = work->positions;
    if (text->types)
        work->batch.types = work->types;
    if (text->external)
        work->batch.external = work->external;
    work->rows += text->length;
    work->externals += text->external;
    work->members[work->batch.count++] = number;
    work->starts[work->batch.count] = work->rows;
}

/* Sets order [count] to the numbers of the texts by decreasing length. Texts of equal length keep their order. */
static void sort_longest_first(const struct batch_text *texts, uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && texts[order[at - 1]].length < texts[i].length; at--)
            order[at] = order[at - 1];
        order[at] = (uint32_t)i;
    }
}

size_t wt__batch_share(struct training_batch *training_batch)
{
    size_t tokens = 0;
    sort_longest_first(training_batch->texts, training_batch->order, training_batch->count);
    for (size_t i = 0; i < training_batch->count; i++) {
        unsigned emptiest = 0;
        for (unsigned w = 1; w < training_batch->workers; w++)
            if (training_batch->work[w].rows < training_batch->work[emptiest].rows)
                emptiest = w;
        training_batch->texts[training_batch->order[i]].worker = emptiest;
        place_batch_text(training_batch, &training_batch->work[emptiest], training_batch->order[i]);
        tokens += training_batch->texts[i].length;
    }
    return tokens;
}

/* Computes the pooled and the final vectors of a worker's texts. */
static void pool_vectors(const struct training_batch *training_batch, const struct batch_worker *work)
{
    const struct model_config *config = wt__trainable_config(training_batch->model);
    size_t hidden = training_batch->hidden, stride = work->tape->stride;
    for (size_t i = 0; i < work->batch.count; i++) {
        float *pooled = training_batch->pooled + work->members[i] * hidden,
              *vector = training_batch->vectors + work->members[i] * hidden;
        const float *rows = work->tape->last + work->starts[i] * stride;
        wt__pool_forward(config, rows, stride, work->starts[i + 1] - work->starts[i], pooled);
        memcpy(vector, pooled, hidden * sizeof *vector);
        if (training_batch->output == BATCH_UNIT)
            wt__normalize(vector, hidden);
    }
}

void wt__batch_forward(struct training_batch *training_batch, unsigned worker)
{
    struct batch_worker *work = &training_batch->work[worker];
    if (work->batch.count == 0)
        return;
    wt__trainable_forward(training_batch->model, &work->batch, work->tape);
    if (training_batch->output != BATCH_ROWS)
        pool_vectors(training_batch, work);
}

void wt__batch_backward(struct training_batch *training_batch, unsigned worker)
{
    const struct model_config *config = wt__trainable_config(training_batch->model);
    struct batch_worker *work = &training_batch->work[worker];
    size_t hidden = training_batch->hidden, stride = work->tape->stride;
    if (work->batch.count == 0)
        return;
    for (size_t i = 0; training_batch->output != BATCH_ROWS && i < work->batch.count; i++) {
        const float *dvector = training_batch->dvectors + work->members[i] * hidden;
        if (training_batch->output == BATCH_UNIT) {
            wt__normalize_backward(training_batch->pooled + work->members[i] * hidden, dvector, work->gradient, hidden);
            dvector = work->gradient;
        }
        wt__pool_backward(config, dvector, work->tape->dlast + work->starts[i] * stride, stride,
                          work->starts[i + 1] - work->starts[i]);
    }
    wt__trainable_backward(training_batch->model, &work->batch, work->tape, training_batch->gradients[worker]);
}

void wt__batch_reduce(struct training_batch *training_batch, unsigned part, unsigned parts)
{
    wt__gradients_reduce(training_batch->model, training_batch->gradients, training_batch->workers, part, parts);
}

float *wt__batch_external(struct training_batch *training_batch, size_t text)
{
    const struct batch_text *t = &training_batch->texts[text];
    return training_batch->work[t->worker].external + t->first_external * training_batch->hidden;
}

const float *wt__batch_dexternal(const struct training_batch *training_batch, size_t text, size_t *stride)
{
    const struct batch_text *t = &training_batch->texts[text];
    const struct tape *tape = training_batch->work[t->worker].tape;
    *stride = tape->stride;
    return tape->dexternal + t->first_external * tape->stride;
}

void wt__batch_rows(const struct training_batch *training_batch, size_t text, const float **last, float **dlast,
                    size_t *stride)
{
    const struct batch_text *t = &training_batch->texts[text];
    const struct tape *tape = training_batch->work[t->worker].tape;
    *stride = tape->stride;
    *last = tape->last + t->first * tape->stride;
    *dlast = tape->dlast + t->first * tape->stride;
}

/* ---------------------------------------------------------------- encoding */

struct text_encoding {
    struct training_batch *training_batch;
    enum batch_output output;
    const struct token_texts *texts;
    const uint32_t *which;
    size_t *cuts; /* [pieces + 1] start of each piece */
    float *out;   /* [count, H] */
};

/* Encodes one piece of the texts on a worker's tape. The result does not depend on the worker. */
static int encode_piece(void *context, size_t index, unsigned worker)
{
    struct text_encoding *e = context;
    struct training_batch *training_batch = e->training_batch;
    struct batch_worker *work = &training_batch->work[worker];
    const struct model_config *config = wt__trainable_config(training_batch->model);
    size_t begin = e->cuts[index], end = e->cuts[index + 1];
    work->rows = 0;
    work->batch = (struct token_batch){.starts = work->starts, .ids = work->ids, .count = end - begin};
    for (size_t i = begin; i < end; i++) {
        size_t number = e->which ? e->which[i] : i, first = e->texts->starts[number];
        size_t length = e->texts->starts[number + 1] - first;
        work->starts[i - begin] = work->rows;
        memcpy(work->ids + work->rows, e->texts->ids + first, length * sizeof *work->ids);
        work->rows += length;
    }
    work->starts[end - begin] = work->rows;
    wt__trainable_forward(training_batch->model, &work->batch, work->tape);
    for (size_t i = begin; i < end; i++) {
        float *vector = e->out + i * training_batch->hidden;
        size_t first = work->starts[i - begin];
        wt__pool_forward(config, work->tape->last + first * work->tape->stride, work->tape->stride,
                         work->starts[i - begin + 1] - first, vector);
        if (e->output != BATCH_POOLED)
            wt__normalize(vector, training_batch->hidden);
    }
    return 0;
}

/* Divides the texts into pieces that fit a tape and are small enough to be distributed. Returns the number of pieces.
 */
static size_t cut_pieces(const struct text_encoding *e, size_t count)
{
    enum { PIECE_ROWS = 1024, PIECE_TEXTS = 64 };
    const struct training_batch *training_batch = e->training_batch;
    size_t most = training_batch->work[0].most_rows < PIECE_ROWS ? training_batch->work[0].most_rows : PIECE_ROWS;
    size_t texts = training_batch->limits.texts < PIECE_TEXTS ? training_batch->limits.texts : PIECE_TEXTS, pieces = 0,
           rows = 0;
    e->cuts[0] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t number = e->which ? e->which[i] : i;
        size_t length = e->texts->starts[number + 1] - e->texts->starts[number];
        if (i > e->cuts[pieces] && (rows + length > most || i - e->cuts[pieces] == texts)) {
            e->cuts[++pieces] = i;
            rows = 0;
        }
        rows += length;
    }
    e->cuts[++pieces] = count;
    return pieces;
}

int wt__batch_encode(struct training_batch *training_batch, enum batch_output output, const struct token_texts *texts,
                     const uint32_t *which, size_t count, float *out, struct train_progress *progress, wt_error *err)
{
    enum { AT_ONCE = 16 }; /* pieces per worker between two reports */
    struct text_encoding e = {
        .training_batch = training_batch, .output = output, .texts = texts, .which = which, .out = out};
    if (count == 0)
        return 0;
    WT_AUTO_FREE size_t *cuts = wt__alloc_array(count + 1, sizeof *cuts);
    e.cuts = cuts;
    WT_CHECK_ALLOC(cuts, err);
    size_t pieces = cut_pieces(&e, count), step = AT_ONCE * (size_t)training_batch->workers;
    for (size_t first = 0; first < pieces; first += step) {
        size_t n = pieces - first < step ? pieces - first : step;
        e.cuts = cuts + first; /* encode_piece numbers the pieces from the first of this round */
        wt__pool_run(training_batch->workers, n, encode_piece, &e);
        if (progress && wt__train_progress_step(progress, progress->state.done + cuts[first + n] - cuts[first]))
            return wt__fail_cancelled(err);
    }
    return 0;
}
