#include "learn/loop.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "learn/checkpoint.h"
#include "learn/sampler.h"

struct loop {
    struct objective *objective;
    const struct loop_options *options;
    struct train_progress *progress;
    struct adamw adamw;
    struct loop_state state;
    size_t batch, accumulate;
    uint64_t measure_every; /* steps */
    struct sampler sampler;
    uint32_t *chosen; /* [batch] examples of the current batch */

    uint64_t first_step; /* step that this run began with */
    double run_ms;       /* start time of this run */
    double earlier;      /* seconds of earlier runs */
    double measure_ms;   /* spent on measurements in this run */
    uint64_t judgements;
    double saved_ms; /* time of the last checkpoint */
    double tokens;   /* read in this run */
    double loss;     /* mean loss of the last steps */
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

/* ---------------------------------------------------------------- one step */

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

/* Computes loss and gradients of one batch and adds the gradients to the parameters'. */
static int run_loop_batch(struct loop *loop, uint64_t number, struct rng *rng, double *loss, wt_error *err)
{
    struct objective *o = loop->objective;
    unsigned workers = loop->options->workers;
    struct reduction reduction = {o, workers};
    size_t tokens = 0;
    size_t count = wt__sampler_choose(&loop->sampler, number, loop->chosen);
    int rc = o->prepare(o->self, loop->chosen, count, rng, &tokens, err);
    if (rc < 0)
        return rc;
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
    wt__seed_stream(&rng, options->seed, STREAM_STEP, loop->state.step);
    for (size_t a = 0; a < loop->accumulate; a++) {
        int rc = run_loop_batch(loop, loop->state.step * loop->accumulate + a, &rng, &loss, err);
        if (rc < 0)
            return rc;
    }
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

/* ---------------------------------------------------------------- reports */

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
        double judgements = loop->objective->measure ? ceil((double)left / (double)loop->measure_every) : 0;
        double judging = loop->judgements ? loop->measure_ms / 1000 / (double)loop->judgements : 0;
        p->tokens_per_second = loop->tokens / seconds;
        p->seconds_left = seconds / (double)made * (double)left + judging * judgements;
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
    int rc = write_checkpoint(loop, err);
    if (rc < 0)
        return rc;
    return wt__fail(err, WT_ECANCELLED, "stopped after step %llu of %llu%s", (unsigned long long)loop->state.step,
                    (unsigned long long)loop->state.steps,
                    loop->options->checkpoint ? "; resume goes on from there" : "");
}

/* ---------------------------------------------------------------- measurements */

static int run_measurement(struct loop *loop, double *figure, wt_error *err)
{
    double began = wt__now_ms();
    int rc = loop->objective->measure(loop->objective->self, loop->progress, figure, err);
    loop->measure_ms += wt__now_ms() - began;
    loop->judgements++;
    return rc < 0 ? rc : wt__train_progress_measured(loop->progress, loop->state.step, *figure, err);
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

/* ---------------------------------------------------------------- training */

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
                    "training would take %.0f MB, and there are %.0f MB; a smaller batch (now %zu), more frozen layers "
                    "or fewer threads (now %u) take less",
                    ceil(bytes / 1e6), floor(most / 1e6), loop->batch, loop->options->workers);
}

/* Loads the initial state from the checkpoint, or creates the first one. */
static int begin_state(struct loop *loop, wt_error *err)
{
    const struct loop_options *options = loop->options;
    struct objective *o = loop->objective;
    int rc = check_memory(loop, err);
    if (rc == 0 && o->begin)
        rc = o->begin(o->self, err);
    if (rc == 0)
        rc = wt__adamw_open(&loop->adamw, o->parameters, o->parameter_count, &options->adamw, err);
    if (rc == 0)
        rc = o->part_count > 0
                 ? wt__sampler_open(&loop->sampler, options->seed, loop->batch, o->part_ends, o->part_count, err)
                 : wt__sampler_open(&loop->sampler, options->seed, loop->batch, &o->examples, 1, err);
    loop->chosen = wt__alloc_array(loop->batch, sizeof *loop->chosen);
    if (rc == 0 && !loop->chosen)
        rc = wt__fail_nomem(err);
    if (rc < 0)
        return rc;
    wt__gradients_clear(o->parameters, o->parameter_count);
    uint64_t steps = wt__loop_steps(options, o->examples);
    if (options->resume && options->checkpoint) {
        rc = wt__checkpoint_read(options->checkpoint, options->identity, &loop->state, &loop->adamw, &o->buffers, err);
        if (rc > 0 && loop->state.steps != steps)
            rc = wt__fail(err, WT_EFORMAT, "%s is the state of a training of %llu steps, not %llu", options->checkpoint,
                          (unsigned long long)loop->state.steps, (unsigned long long)steps);
    }
    if (rc == 0) {
        loop->state = (struct loop_state){.steps = steps, .before = NAN, .best = NAN};
        if (o->measure && o->revert)
            rc = run_measurement(loop, &loop->state.before, err);
        loop->state.best = loop->state.before;
    }
    return rc < 0 ? rc : 0;
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
