/* loop.c: the training loop, its progress, and the order of its examples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "learn/loop.h"

/* ---------------------------------------------------------------- progress */

static const double INTERVAL_MS = 100;

void wt__train_progress_init(struct train_progress *progress, wt_train_progress_fn report, void *context)
{
    *progress = (struct train_progress){.report = report, .context = context, .interval_ms = INTERVAL_MS};
    wt__train_progress_lesson(progress, "");
}

void wt__train_progress_lesson(struct train_progress *progress, const char *lesson)
{
    progress->state = (wt_train_progress){
        .lesson = lesson, .phase = "", .loss = NAN, .tokens_per_second = NAN, .best = NAN, .seconds_left = NAN};
    progress->measurement_count = progress->set_count = 0;
}

void wt__train_progress_dispose(struct train_progress *progress)
{
    free(progress->measurements);
    free(progress->sets);
}

static int report_training(struct train_progress *progress)
{
    progress->last_ms = wt__now_ms();
    if (progress->report && progress->report(progress->context, &progress->state))
        progress->cancelled = true;
    return progress->cancelled;
}

int wt__train_progress_phase(struct train_progress *progress, const char *phase, uint64_t total)
{
    progress->state.phase = phase;
    progress->state.done = 0;
    progress->state.total = total;
    return report_training(progress);
}

int wt__train_progress_step(struct train_progress *progress, uint64_t done)
{
    progress->state.done = done;
    if (done == progress->state.total || wt__now_ms() - progress->last_ms >= progress->interval_ms)
        return report_training(progress);
    return progress->cancelled;
}

int wt__train_progress_forward(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct train_progress *progress = context;
    progress->state.phase = phase;
    progress->state.done = done;
    progress->state.total = total;
    return report_training(progress); /* the caller limits the rate */
}

int wt__train_progress_set(struct train_progress *progress, const char *set, double figure, wt_error *err)
{
    int rc =
        wt__grow((void **)&progress->sets, &progress->set_capacity, progress->set_count + 1, sizeof *progress->sets);
    WT_CHECK_ALLOC(rc == 0, err);
    progress->sets[progress->set_count++] = (wt_dev_figure){set, figure};
    return 0;
}

/* Records the figure of a measurement and reports it at once. */
static int record_measurement(struct train_progress *progress, uint64_t step, double figure, wt_error *err)
{
    size_t count = progress->set_count;
    progress->set_count = 0;
    if (!progress->arena)
        return 0;
    wt_measurement *made = wt__arena_array(progress->arena, wt_measurement, 1);
    wt_dev_figure *sets = wt__arena_array(progress->arena, wt_dev_figure, count);
    if (!made || !sets ||
        wt__grow((void **)&progress->measurements, &progress->measurement_capacity, progress->measurement_count + 1,
                 sizeof(wt_measurement *)) < 0)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        sets[i] =
            (wt_dev_figure){wt__arena_copy(progress->arena, wt__str(progress->sets[i].set)), progress->sets[i].value};
        if (!sets[i].set)
            return wt__fail_nomem(err);
    }
    *made = (wt_measurement){.step = step, .figure = figure, .len = count, .sets = sets};
    progress->measurements[progress->measurement_count++] = progress->state.measured = made;
    return report_training(progress) ? wt__fail_cancelled(err) : 0;
}

int wt__train_progress_move(struct train_progress *progress, wt_trained *out, wt_error *err)
{
    size_t count = progress->measurement_count;
    const wt_measurement **all =
        progress->arena ? wt__arena_array(progress->arena, const wt_measurement *, count) : NULL;
    if (count > 0 && !all)
        return wt__fail_nomem(err);
    if (count > 0)
        memcpy(all, progress->measurements, count * sizeof *all);
    out->measurements = all;
    out->measurement_count = count;
    return 0;
}

/* ---------------------------------------------------------------- sampler */

/* Purposes of random numbers. Each purpose has its own generators, all derived from one seed. */
enum stream { STREAM_ORDER = 1, STREAM_STEP = 2 };

/* Seeds the generator number `number` of a purpose. */
static void seed_stream(struct rng *rng, uint64_t seed, enum stream stream, uint64_t number)
{
    wt__rng_seed(rng, seed);
    uint64_t mixed = wt__rng_next(rng) ^ (number * 4 + stream);
    wt__rng_seed(rng, mixed);
}

int wt__sampler_open(struct sampler *out, uint64_t seed, size_t batch, const size_t *ends, size_t part_count,
                     wt_error *err)
{
    *out = (struct sampler){.seed = seed, .batch = batch, .part_count = part_count};
    out->parts = wt__alloc_array(part_count, sizeof *out->parts);
    out->order = wt__alloc_array(ends[part_count - 1], sizeof *out->order);
    if (!out->parts || !out->order) {
        wt__sampler_dispose(out);
        return wt__fail_nomem(err);
    }
    for (size_t p = 0, first = 0; p < part_count; first = ends[p++])
        out->parts[p] = (struct sampled_part){.first = first, .count = ends[p] - first, .epoch = UINT64_MAX};
    return 0;
}

void wt__sampler_dispose(struct sampler *sampler)
{
    free(sampler->parts);
    free(sampler->order);
    *sampler = (struct sampler){0};
}

/* Shuffles the examples of a part for an epoch, unless they already have the order of that epoch. */
static void shuffle_part(struct sampler *sampler, struct sampled_part *part, uint64_t epoch)
{
    struct rng rng;
    uint32_t *order = sampler->order + part->first;
    if (part->epoch == epoch)
        return;
    seed_stream(&rng, sampler->seed, STREAM_ORDER, (uint64_t)(part - sampler->parts) << 32 | epoch);
    for (size_t i = 0; i < part->count; i++)
        order[i] = (uint32_t)(part->first + i);
    for (size_t i = part->count; i > 1; i--) {
        size_t other = (size_t)wt__rng_below(&rng, i);
        uint32_t moved = order[i - 1];
        order[i - 1] = order[other];
        order[other] = moved;
    }
    part->epoch = epoch;
}

/* Returns the part of the next batch: the part with the highest quotient weight / (2 * batches + 1), the first one at a
 * tie. The weight of a part is the square root of its size. */
static struct sampled_part *choose_next_part(const struct sampler *sampler)
{
    struct sampled_part *best = sampler->parts;
    double most = -1;
    for (size_t p = 0; p < sampler->part_count; p++) {
        struct sampled_part *part = &sampler->parts[p];
        double quotient = sqrt((double)part->count) / (2 * (double)part->batches + 1);
        if (part->count > 0 && quotient > most) {
            most = quotient;
            best = part;
        }
    }
    return best;
}

size_t wt__sampler_choose(struct sampler *sampler, uint64_t batch, uint32_t *chosen)
{
    if (batch < sampler->next) {
        sampler->next = 0;
        for (size_t p = 0; p < sampler->part_count; p++)
            sampler->parts[p].batches = 0;
    }
    for (; sampler->next < batch; sampler->next++)
        choose_next_part(sampler)->batches++;
    struct sampled_part *part = choose_next_part(sampler);
    size_t count = sampler->batch < part->count ? sampler->batch : part->count;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = part->batches * count + i;
        shuffle_part(sampler, part, at / part->count);
        chosen[i] = sampler->order[part->first + at % part->count];
    }
    part->batches++;
    sampler->next++;
    return count;
}

/* ---------------------------------------------------------------- the loop */

struct loop {
    struct objective *objective;
    const struct loop_options *options;
    struct train_progress *progress;
    struct adamw adamw;
    struct loop_state state;
    size_t batch, accumulate;
    uint64_t measure_every; /* steps from one measurement to the next */
    struct sampler sampler;
    uint32_t *chosen; /* [batch] examples of the current batch */

    uint64_t first_step; /* step that this run began with */
    double run_ms;       /* start time of this run */
    double earlier;      /* duration of earlier runs in seconds */
    double measure_ms;   /* time spent on measurements in this run */
    uint64_t measured;   /* number of measurements in this run */
    double saved_ms;     /* time of the last checkpoint */
    double tokens;       /* number of tokens read in this run */
    double loss;         /* moving average of the loss of the last steps; NaN before the first step */
};

static size_t get_batch_size(const struct loop_options *options, size_t examples)
{
    return options->batch < examples ? options->batch : examples;
}

uint64_t wt__loop_steps(const struct loop_options *options, size_t examples)
{
    size_t accumulate = options->accumulate ? options->accumulate : 1;
    double steps =
        options->epochs * (double)examples / ((double)get_batch_size(options, examples) * (double)accumulate);
    return steps < 1 ? 1 : (uint64_t)steps;
}

static int run_forward(void *context, size_t index, unsigned thread)
{
    struct objective *objective = context;
    (void)thread;
    objective->forward(objective->self, (unsigned)index);
    return 0;
}

static int run_backward(void *context, size_t index, unsigned thread)
{
    struct objective *objective = context;
    (void)thread;
    objective->backward(objective->self, (unsigned)index);
    return 0;
}

struct reduction {
    struct objective *objective;
    unsigned parts;
};

static int run_reduce(void *context, size_t index, unsigned thread)
{
    struct reduction *reduction = context;
    (void)thread;
    reduction->objective->reduce(reduction->objective->self, (unsigned)index, reduction->parts);
    return 0;
}

static int fail_not_finite(const struct loop *loop, const char *what, wt_error *err)
{
    return wt__fail(err, WT_EMODEL,
                    "the %s of step %llu of %llu is not finite: training stopped, and the last good model is kept; try "
                    "a lower learning rate",
                    what, (unsigned long long)loop->state.step + 1, (unsigned long long)loop->state.steps);
}

/* Computes the loss and the gradients of one batch. Adds the loss to *loss, and the gradients to those of the
 * parameters. */
static int run_loop_batch(struct loop *loop, uint64_t number, struct rng *rng, double *loss, wt_error *err)
{
    struct objective *o = loop->objective;
    unsigned workers = loop->options->workers;
    struct reduction reduction = {o, workers};
    size_t tokens = 0;
    size_t count = wt__sampler_choose(&loop->sampler, number, loop->chosen);
    WT_TRY(o->prepare(o->self, loop->chosen, count, rng, &tokens, err));
    if (o->forward)
        wt__pool_run(workers, workers, run_forward, o);
    double batch_loss = o->loss(o->self);
    if (!isfinite(batch_loss))
        return fail_not_finite(loop, "loss", err);
    if (o->forward) {
        wt__pool_run(workers, workers, run_backward, o);
        wt__pool_run(workers, workers, run_reduce, &reduction);
    }
    loop->tokens += (double)tokens;
    *loss += batch_loss;
    return 0;
}

static int run_step(struct loop *loop, wt_error *err)
{
    const struct loop_options *options = loop->options;
    struct rng rng;
    double loss = 0;
    seed_stream(&rng, options->seed, STREAM_STEP, loop->state.step);
    for (size_t a = 0; a < loop->accumulate; a++)
        WT_TRY(run_loop_batch(loop, loop->state.step * loop->accumulate + a, &rng, &loss, err));
    loss /= (double)loop->accumulate;
    uint64_t warmup = (uint64_t)(options->warmup * (double)loop->state.steps);
    float rate = (float)options->rate * wt__schedule(options->schedule, loop->state.step, warmup, loop->state.steps);
    float norm = wt__adamw_step(&loop->adamw, rate, 1.0f / (float)loop->accumulate, options->workers);
    wt__gradients_clear(loop->objective->parameters, loop->objective->parameter_count);
    if (!isfinite(norm))
        return fail_not_finite(loop, "gradient", err);
    loop->state.step++;
    loop->loss = isnan(loop->loss) ? loss : .95 * loop->loss + .05 * loss;
    return 0;
}

static double seconds_since(double ms)
{
    return (wt__now_ms() - ms) / 1000;
}

static int report_step(struct loop *loop)
{
    wt_train_progress *p = &loop->progress->state;
    double seconds = seconds_since(loop->run_ms) - loop->measure_ms / 1000;
    uint64_t made = loop->state.step - loop->first_step, left = loop->state.steps - loop->state.step;
    loop->state.seconds = loop->earlier + seconds_since(loop->run_ms);
    p->phase = "training";
    p->total = loop->state.steps;
    p->loss = loop->loss;
    p->best = loop->state.best;
    if (made > 0 && seconds > 0) {
        double measurements = loop->objective->measure ? ceil((double)left / (double)loop->measure_every) : 0;
        double seconds_each = loop->measured ? loop->measure_ms / 1000 / (double)loop->measured : 0;
        p->tokens_per_second = loop->tokens / seconds;
        p->seconds_left = seconds / (double)made * (double)left + seconds_each * measurements;
    }
    return wt__train_progress_step(loop->progress, loop->state.step);
}

static int write_checkpoint(struct loop *loop, wt_error *err)
{
    if (!loop->options->checkpoint)
        return 0;
    loop->saved_ms = wt__now_ms();
    return wt__checkpoint_write(loop->options->checkpoint, loop->options->identity, &loop->state, &loop->adamw,
                                &loop->objective->buffers, err);
}

static int stop_loop(struct loop *loop, wt_error *err)
{
    WT_TRY(write_checkpoint(loop, err));
    return wt__fail(err, WT_ECANCELLED, "stopped after step %llu of %llu%s", (unsigned long long)loop->state.step,
                    (unsigned long long)loop->state.steps,
                    loop->options->checkpoint ? "; resume to continue from there" : "");
}

static int run_measurement(struct loop *loop, double *figure, wt_error *err)
{
    double began = wt__now_ms();
    int rc = loop->objective->measure(loop->objective->self, loop->progress, figure, err);
    loop->measure_ms += wt__now_ms() - began;
    loop->measured++;
    return rc < 0 ? rc : record_measurement(loop->progress, loop->state.step, *figure, err);
}

static bool is_measurement_due(const struct loop *loop)
{
    uint64_t s = loop->state.step;
    return s > loop->state.measured && (s == loop->state.steps || s % loop->measure_every == 0);
}

/* Measures the current model, and saves it if it is the best so far. */
static int measure_model(struct loop *loop, wt_error *err)
{
    struct loop_state *state = &loop->state;
    double figure = NAN;
    int rc = loop->objective->measure ? run_measurement(loop, &figure, err) : 0;
    if (rc == WT_ECANCELLED)
        return stop_loop(loop, err);
    if (rc < 0)
        return rc;
    state->measured = state->step;
    bool last = state->step == state->steps;
    bool better = isnan(figure) ? last : loop->options->keep_last || isnan(state->best) || figure > state->best;
    state->worse = better || isnan(figure) ? 0 : state->worse + 1;
    if (better) {
        state->best = figure;
        state->best_step = state->step;
        rc = loop->objective->save(loop->objective->self, state, err);
    }
    return rc < 0 ? rc : write_checkpoint(loop, err);
}

/* Recomputes the buffers after a measurement. The checkpoint of this step is already written, so a resumed training
 * recomputes the same buffers. */
static int renew_buffers(struct loop *loop, wt_error *err)
{
    const struct objective *o = loop->objective;
    if (!o->renew || loop->state.step == 0 || loop->state.step % loop->measure_every != 0)
        return 0;
    int rc = o->renew(o->self, loop->progress, err);
    return rc == WT_ECANCELLED ? stop_loop(loop, err) : rc;
}

static int check_memory(const struct loop *loop, wt_error *err)
{
    const struct objective *o = loop->objective;
    double bytes = (double)o->bytes, most = (double)loop->options->memory;
    for (size_t i = 0; i < o->parameter_count; i++)
        if (o->parameters[i].gradient && !o->parameters[i].frozen)
            bytes += 2.0 * sizeof(float) * (double)o->parameters[i].count;
    if (loop->options->memory == 0 || (bytes <= most && o->bytes != SIZE_MAX))
        return 0;
    return wt__fail(err, WT_ENOMEM,
                    "training would take %.0f MB, and there are %.0f MB; use a smaller batch (now %zu), more frozen "
                    "layers or fewer threads (now %u)",
                    ceil(bytes / 1e6), floor(most / 1e6), loop->batch, loop->options->workers);
}

/* Loads the state from the checkpoint if the training is resumed, else creates the initial state. */
static int begin_state(struct loop *loop, wt_error *err)
{
    const struct loop_options *options = loop->options;
    struct objective *o = loop->objective;
    WT_TRY(check_memory(loop, err));
    if (o->begin)
        WT_TRY(o->begin(o->self, err));
    WT_TRY(wt__adamw_open(&loop->adamw, o->parameters, o->parameter_count, &options->adamw, err));
    WT_TRY(wt__sampler_open(&loop->sampler, options->seed, loop->batch, o->part_count > 0 ? o->part_ends : &o->examples,
                            o->part_count > 0 ? o->part_count : 1, err));
    loop->chosen = wt__alloc_array(loop->batch, sizeof *loop->chosen);
    WT_CHECK_ALLOC(loop->chosen, err);
    wt__gradients_clear(o->parameters, o->parameter_count);
    uint64_t steps = wt__loop_steps(options, o->examples);
    if (options->resume && options->checkpoint) {
        int rc =
            wt__checkpoint_read(options->checkpoint, options->identity, &loop->state, &loop->adamw, &o->buffers, err);
        if (rc > 0 && loop->state.steps != steps)
            return wt__fail(err, WT_EFORMAT, "%s is the state of a training of %llu steps, not %llu",
                            options->checkpoint, (unsigned long long)loop->state.steps, (unsigned long long)steps);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    loop->state = (struct loop_state){.steps = steps, .before = NAN, .best = NAN};
    if (o->measure && o->revert)
        WT_TRY(run_measurement(loop, &loop->state.before, err));
    loop->state.best = loop->state.before;
    return 0;
}

static int run_steps(struct loop *loop, struct loop_result *out, wt_error *err)
{
    const struct loop_options *options = loop->options;
    double interval = options->checkpoint_seconds > 0 ? options->checkpoint_seconds : LOOP_CHECKPOINT;
    int rc = begin_state(loop, err);
    if (rc < 0)
        return rc;
    uint64_t per_epoch = (uint64_t)ceil((double)loop->state.steps / fmax(options->epochs, LOOP_MEASUREMENTS));
    loop->measure_every = per_epoch > 0 ? per_epoch : 1;
    loop->earlier = loop->state.seconds;
    loop->first_step = loop->state.step;
    loop->saved_ms = wt__now_ms();
    if (wt__train_progress_phase(loop->progress, "training", loop->state.steps))
        return stop_loop(loop, err);
    for (;;) {
        if (is_measurement_due(loop)) {
            rc = measure_model(loop, err);
            if (rc < 0)
                return rc;
        }
        out->stopped_early = options->patience > 0 && loop->state.worse >= options->patience;
        if (loop->state.step == loop->state.steps || out->stopped_early)
            break;
        rc = renew_buffers(loop, err);
        if (rc == 0)
            rc = run_step(loop, err);
        if (rc < 0)
            return rc;
        if (report_step(loop))
            return stop_loop(loop, err);
        if (seconds_since(loop->saved_ms) >= interval && (rc = write_checkpoint(loop, err)) < 0)
            return rc;
    }
    out->stopped_early &= loop->state.step < loop->state.steps;
    if (loop->state.best_step == 0 && loop->objective->revert)
        rc = loop->objective->revert(loop->objective->self, &loop->state, err);
    return rc;
}

int wt__loop_run(struct objective *objective, const struct loop_options *options, struct train_progress *progress,
                 struct loop_result *out, wt_error *err)
{
    struct loop loop = {.objective = objective,
                        .options = options,
                        .progress = progress,
                        .batch = get_batch_size(options, objective->examples),
                        .accumulate = options->accumulate ? options->accumulate : 1,
                        .run_ms = wt__now_ms(),
                        .loss = NAN};
    *out = (struct loop_result){.loss = NAN};
    int rc = run_steps(&loop, out, err);
    loop.state.seconds = loop.earlier + seconds_since(loop.run_ms);
    out->state = loop.state;
    out->epochs = (double)loop.state.step * (double)(loop.batch * loop.accumulate) / (double)objective->examples;
    out->loss = loop.loss;
    wt__adamw_dispose(&loop.adamw);
    wt__sampler_dispose(&loop.sampler);
    free(loop.chosen);
    if (rc == 0 && options->checkpoint)
        wt__checkpoint_remove(options->checkpoint);
    return rc;
}
