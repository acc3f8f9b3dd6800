/* Tests the training loop with a minimal model: WIDTH numbers that approach a target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "encoder/support.h"
#include "learn/loop.h"
#include "nn/safetensors.h"

enum { WIDTH = 8, EXAMPLES = 10, WORKERS = 2 };

/* The model. In example e, value[i] has the target sin(e + i). The noise makes each step depend on random numbers. */
struct line {
    float value[WIDTH], gradient[WIDTH];
    float shares[WORKERS][WIDTH]; /* each worker's part of the gradient */
    struct model_parameter parameter;
    uint32_t chosen[EXAMPLES]; /* examples of the current batch */
    size_t count;              /* number of chosen examples */
    float noise;
    unsigned seen[EXAMPLES]; /* number of uses of each example */
    int infinite_at;         /* step with an infinite loss, counted from 0; -1 for none */
    int steps;
    double figures[64];               /* result of each measurement, in order; NaN to compute it from the values */
    size_t measured, saved, reverted; /* numbers of calls */
    float kept[WIDTH];                /* last saved model */
    bool cancel_measure;
};

static int prepare_line(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens,
                        wt_error *err)
{
    struct line *line = self;
    (void)err;
    memcpy(line->chosen, examples, count * sizeof *examples);
    for (size_t i = 0; i < count; i++)
        line->seen[examples[i]]++;
    line->count = count;
    line->noise = (float)wt__rng_unit(rng);
    *tokens = count;
    return 0;
}

static void forward_line(void *self, unsigned worker)
{
    struct line *line = self;
    memset(line->shares[worker], 0, sizeof line->shares[worker]);
    for (size_t b = worker; b < line->count; b += WORKERS)
        for (size_t i = 0; i < WIDTH; i++)
            line->shares[worker][i] +=
                line->value[i] - sinf((float)line->chosen[b] + (float)i) + .1f * (line->noise - .5f);
}

static double line_loss(void *self)
{
    struct line *line = self;
    double sum = 0;
    if (line->steps++ == line->infinite_at)
        return INFINITY;
    for (unsigned w = 0; w < WORKERS; w++)
        for (size_t i = 0; i < WIDTH; i++)
            sum += line->shares[w][i] * line->shares[w][i];
    return sum;
}

static void backward_line(void *self, unsigned worker)
{
    (void)self, (void)worker;
}

static void reduce_line(void *self, unsigned part, unsigned parts)
{
    struct line *line = self;
    for (size_t i = part; i < WIDTH; i += parts)
        for (unsigned w = 0; w < WORKERS; w++)
            line->gradient[i] += line->shares[w][i];
}

static int measure_line(void *self, struct train_progress *progress, double *figure, wt_error *err)
{
    struct line *line = self;
    double distance = 0;
    (void)progress;
    if (line->cancel_measure)
        return wt__fail(err, WT_ECANCELLED, "stopped on request");
    for (size_t i = 0; i < WIDTH; i++)
        distance += fabs((double)line->value[i] - .05 * (double)i);
    *figure = isnan(line->figures[line->measured]) ? 1 / (1 + distance) : line->figures[line->measured];
    line->measured++;
    return 0;
}

static int save_line(void *self, const struct loop_state *state, wt_error *err)
{
    struct line *line = self;
    (void)state, (void)err;
    memcpy(line->kept, line->value, sizeof line->kept);
    line->saved++;
    return 0;
}

static int revert_line(void *self, const struct loop_state *state, wt_error *err)
{
    struct line *line = self;
    (void)state, (void)err;
    line->reverted++;
    return 0;
}

static struct objective objective_of(struct line *line)
{
    *line = (struct line){.infinite_at = -1};
    for (size_t i = 0; i < 64; i++)
        line->figures[i] = NAN;
    line->parameter = (struct model_parameter){
        .name = "line", .value = line->value, .gradient = line->gradient, .count = WIDTH, .decays = true, .rate = 1};
    return (struct objective){.self = line,
                              .parameters = &line->parameter,
                              .parameter_count = 1,
                              .examples = EXAMPLES,
                              .bytes = sizeof *line,
                              .prepare = prepare_line,
                              .forward = forward_line,
                              .loss = line_loss,
                              .backward = backward_line,
                              .reduce = reduce_line,
                              .measure = measure_line,
                              .save = save_line,
                              .revert = revert_line};
}

static struct loop_options options_of_loop(const char *checkpoint)
{
    return (struct loop_options){.seed = 7,
                                 .workers = WORKERS,
                                 .epochs = 8,
                                 .batch = 4,
                                 .rate = .05,
                                 .warmup = .1,
                                 .schedule = SCHEDULE_COSINE,
                                 .adamw = ADAMW_DEFAULTS,
                                 .checkpoint = checkpoint,
                                 .identity = "a line"};
}

/* The step at which a training is stopped, and how. */
struct loop_stopper {
    uint64_t at; /* number of completed steps */
    bool kill;   /* exit at once, like a process killed by SIGKILL, instead of a regular stop */
};

static int stop_line_at(void *context, const wt_train_progress *progress)
{
    const struct loop_stopper *stopper = context;
    if (strcmp(progress->phase, "training") != 0 || progress->done < stopper->at)
        return 0;
    if (stopper->kill)
        _exit(9);
    return 1;
}

static int run_line(struct objective *objective, const struct loop_options *options, struct loop_stopper *stopper,
                    struct loop_result *result, wt_error *err)
{
    struct train_progress progress;
    wt__train_progress_init(&progress, stopper ? stop_line_at : NULL, stopper);
    progress.interval_ms = 0; /* report every step */
    return wt__loop_run(objective, options, &progress, result, err);
}

static void assert_loop_ok(int rc, const wt_error *err)
{
    if (rc < 0)
        fail_msg("%s: %s", wt_code_name(rc), err->message);
}

static void assert_loop_fails(int rc, const wt_error *err, int code, const char *text)
{
    if (rc != code || !strstr(err->message, text))
        fail_msg("wanted %s with \"%s\", got %s: %s", wt_code_name(code), text, wt_code_name(rc), err->message);
}

/* ---------------------------------------------------------------- steps and results */

static void epoch_has_each_example_once(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    (void)state;
    options.epochs = 4;
    options.batch = 5;
    assert_loop_ok(run_line(&objective, &options, NULL, &result, &err), &err);
    assert_int_equal(result.state.step, 8);
    assert_true(fabs(result.epochs - 4) < 1e-9);
    for (size_t i = 0; i < EXAMPLES; i++)
        assert_int_equal(line.seen[i], 4);
    assert_true(isfinite(result.loss));
}

static void counts_steps(void **state)
{
    static const struct {
        double epochs;
        size_t batch, accumulate, examples;
        uint64_t steps;
    } rows[] = {{2, 4, 1, 10, 5},   {1, 4, 0, 10, 2}, {.5, 4, 1, 10, 1},
                {.01, 4, 1, 10, 1}, {4, 4, 2, 10, 5}, {3, 64, 1, 10, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loop_options options = {
            .epochs = rows[i].epochs, .batch = rows[i].batch, .accumulate = rows[i].accumulate};
        assert_int_equal(wt__loop_steps(&options, rows[i].examples), rows[i].steps);
    }
}

static void keeps_best_model(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    static const double figures[] = {.1, .2, .5, .4, .3, .2, .1, .1, .1};
    (void)state;
    memcpy(line.figures, figures, sizeof figures);
    assert_loop_ok(run_line(&objective, &options, NULL, &result, &err), &err);
    assert_int_equal(line.saved, 2);
    assert_true(result.state.before == .1 && result.state.best == .5);
    assert_false(result.stopped_early);
    assert_int_equal(result.state.step, 20);
    assert_memory_not_equal(line.kept, line.value, sizeof line.kept);
    assert_int_equal(line.reverted, 0);
}

static void keeps_last_model_if_asked(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    static const double figures[] = {.1, .2, .5, .4, .3, .2, .1, .1, .05};
    (void)state;
    memcpy(line.figures, figures, sizeof figures);
    options.keep_last = true;
    options.patience = 1;
    assert_loop_ok(run_line(&objective, &options, NULL, &result, &err), &err);
    assert_false(result.stopped_early);
    assert_memory_equal(line.kept, line.value, sizeof line.kept);
    assert_true(result.state.best == line.figures[line.measured - 1]);
    assert_int_equal(line.reverted, 0);
}

static void stops_without_improvement(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    static const double figures[] = {.1, .2, .2, .1, .9};
    (void)state;
    memcpy(line.figures, figures, sizeof figures);
    options.patience = 2;
    assert_loop_ok(run_line(&objective, &options, NULL, &result, &err), &err);
    assert_true(result.stopped_early);
    assert_int_equal(line.measured, 4);
    assert_true(result.state.step < result.state.steps);
    assert_true(result.state.best == .2);
}

static void reverts_useless_training(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    (void)state;
    line.figures[0] = 2; /* the best figure of all */
    assert_loop_ok(run_line(&objective, &options, NULL, &result, &err), &err);
    assert_int_equal(line.saved, 0);
    assert_int_equal(line.reverted, 1);
    assert_int_equal(result.state.best_step, 0);
}

static void keeps_last_model_without_figure(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    (void)state;
    objective.measure = NULL;
    objective.revert = NULL;
    options.patience = 1;
    assert_loop_ok(run_line(&objective, &options, NULL, &result, &err), &err);
    assert_int_equal(line.saved, 1);
    assert_memory_equal(line.kept, line.value, sizeof line.kept);
    assert_true(isnan(result.state.before) && isnan(result.state.best));
}

static void accumulated_batches_make_one_step(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    (void)state;
    options.accumulate = 5;
    options.batch = 2;
    options.epochs = 3;
    assert_loop_ok(run_line(&objective, &options, NULL, &result, &err), &err);
    assert_int_equal(result.state.step, 3);
    for (size_t i = 0; i < EXAMPLES; i++)
        assert_int_equal(line.seen[i], 3);
}

/* ---------------------------------------------------------------- failures */

static void stops_at_infinite_loss(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    (void)state;
    line.infinite_at = 6;
    assert_loop_fails(run_line(&objective, &options, NULL, &result, &err), &err, WT_EMODEL,
                      "the loss of step 7 of 20 is not finite: training stopped, and the last good model is kept");
    assert_int_equal(result.state.step, 6);
}

static double flat_loss(void *self)
{
    (void)self;
    return 1;
}

static void infinite_gradients_change_nothing(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    (void)state;
    objective.loss = flat_loss;
    line.figures[0] = 0;
    line.value[3] = INFINITY;
    line.gradient[2] = NAN; /* left from an earlier use; the loop must clear it before the first step */
    assert_loop_fails(run_line(&objective, &options, NULL, &result, &err), &err, WT_EMODEL,
                      "the gradient of step 1 of 20 is not finite");
    assert_int_equal(result.state.step, 0);
    for (size_t i = 0; i < WIDTH; i++)
        assert_true(i == 3 || line.value[i] == 0);
}

static void rejects_excessive_memory_with_numbers(void **state)
{
    struct line line;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(NULL);
    struct loop_result result;
    wt_error err;
    (void)state;
    objective.bytes = (size_t)3000 << 20;
    options.memory = (uint64_t)100 << 20;
    assert_loop_fails(run_line(&objective, &options, NULL, &result, &err), &err, WT_ENOMEM,
                      "training would take 3146 MB, and there are 104 MB; use a smaller batch (now 4)");
    assert_int_equal(line.steps, 0);
    objective.bytes = SIZE_MAX;
    assert_loop_fails(run_line(&objective, &options, NULL, &result, &err), &err, WT_ENOMEM, "and there are 104 MB");
}

/* ---------------------------------------------------------------- stopping and resuming */

struct loop_place {
    char folder[64], checkpoint[80];
};

static int set_up_loop(void **state)
{
    struct loop_place *place = calloc(1, sizeof *place);
    snprintf(place->folder, sizeof place->folder, "/tmp/whichtool-loop-XXXXXX");
    if (!place || !mkdtemp(place->folder))
        return -1;
    snprintf(place->checkpoint, sizeof place->checkpoint, "%s/line.state", place->folder);
    *state = place;
    return 0;
}

static int tear_down_loop(void **state)
{
    struct loop_place *place = *state;
    remove_model_folder(place->folder);
    free(place);
    return 0;
}

/* Reads a state with the member names of an earlier version. */
static void reads_states_of_earlier_versions(void **state)
{
    struct loop_place *place = *state;
    float value[2] = {0}, gradient[2], values[3] = {0};
    const float kept[2] = {1, 2}, numbers[3] = {3, 4, 5};
    struct model_parameter parameter = {.name = "line", .value = value, .gradient = gradient, .count = 2, .rate = 1};
    const struct adamw_options options = ADAMW_DEFAULTS;
    const struct train_buffers buffers = {values, 3};
    const struct tensor_source tensors[] = {{.name = "value/line", .data = kept, .rank = 1, .shape = {2}},
                                            {.name = "first/line", .data = kept, .rank = 1, .shape = {2}},
                                            {.name = "second/line", .data = kept, .rank = 1, .shape = {2}},
                                            {.name = "carried", .data = numbers, .rank = 1, .shape = {3}}};
    struct adamw adamw;
    struct loop_state read;
    json_t *metadata = json_pack(
        "{s:s}", "training",
        "{\"edition\":1,\"identity\":\"a line\",\"step\":3,\"steps\":9,\"best_step\":1,\"judged\":2,\"worse\":0,"
        "\"optimiser_step\":1,\"before\":\"nan\",\"best\":\"0x1p-1\",\"seconds\":\"0x0p+0\"}");
    assert_int_equal(wt__safetensors_write(place->checkpoint, tensors, 4, metadata, NULL), 0);
    assert_int_equal(wt__adamw_open(&adamw, &parameter, 1, &options, NULL), 0);
    assert_int_equal(wt__checkpoint_read(place->checkpoint, "a line", &read, &adamw, &buffers, NULL), 1);
    assert_int_equal(read.measured, 2);
    assert_memory_equal(value, kept, sizeof value);
    assert_memory_equal(values, numbers, sizeof values);
    wt__adamw_dispose(&adamw);
    json_decref(metadata);
}

static void run_through(const char *checkpoint, struct line *line, struct loop_result *result)
{
    struct objective objective = objective_of(line);
    struct loop_options options = options_of_loop(checkpoint);
    wt_error err;
    assert_loop_ok(run_line(&objective, &options, NULL, result, &err), &err);
}

static void resume_line(const struct loop_place *place, struct line *line, struct loop_result *result)
{
    struct objective objective = objective_of(line);
    struct loop_options options = options_of_loop(place->checkpoint);
    wt_error err;
    options.resume = true;
    assert_loop_ok(run_line(&objective, &options, NULL, result, &err), &err);
    assert_false(wt__is_file(place->checkpoint));
}

static void stopped_training_resumes_to_identical_bits(void **state)
{
    const struct loop_place *place = *state;
    struct line whole, line;
    struct loop_result all, result;
    wt_error err;
    run_through(NULL, &whole, &all);
    for (uint64_t at = 1; at <= 20; at++) {
        struct loop_stopper stopper = {.at = at};
        struct objective objective = objective_of(&line);
        struct loop_options options = options_of_loop(place->checkpoint);
        assert_loop_fails(run_line(&objective, &options, &stopper, &result, &err), &err, WT_ECANCELLED,
                          "; resume to continue from there");
        assert_int_equal(result.state.step, at);
        resume_line(place, &line, &result);
        assert_memory_equal(line.value, whole.value, sizeof line.value);
        assert_true(result.state.best == all.state.best && result.state.before == all.state.before);
        assert_int_equal(result.state.best_step, all.state.best_step);
        assert_true(result.epochs == all.epochs);
    }
}

static void killed_training_resumes_to_identical_bits(void **state)
{
    const struct loop_place *place = *state;
    struct line whole, line;
    struct loop_result all, result;
    run_through(NULL, &whole, &all);
    for (uint64_t at = 2; at <= 20; at += 3) {
        pid_t child = fork();
        if (child == 0) {
            struct loop_stopper stopper = {.at = at, .kill = true};
            struct objective objective = objective_of(&line);
            struct loop_options options = options_of_loop(place->checkpoint);
            /* Write a state after each step, or only after each measurement. */
            options.checkpoint_seconds = at % 2 ? 1e-9 : 1e9;
            run_line(&objective, &options, &stopper, &result, NULL);
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), 9);
        resume_line(place, &line, &result);
        assert_memory_equal(line.value, whole.value, sizeof line.value);
        assert_true(result.state.best == all.state.best);
    }
}

static void repeats_measurement_after_stop(void **state)
{
    const struct loop_place *place = *state;
    struct line whole, line;
    struct loop_result all, result;
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(place->checkpoint);
    wt_error err;
    run_through(NULL, &whole, &all);
    line.figures[0] = 0;
    objective.revert = NULL; /* omits the measurement before the first step */
    line.cancel_measure = true;
    assert_loop_fails(run_line(&objective, &options, NULL, &result, &err), &err, WT_ECANCELLED, "resume to continue");
    assert_true(result.state.measured < result.state.step);
    resume_line(place, &line, &result);
    assert_memory_equal(line.value, whole.value, sizeof line.value);
    assert_int_equal(result.state.measured, all.state.measured);
}

static void resuming_without_state_starts_over(void **state)
{
    const struct loop_place *place = *state;
    struct line whole, line;
    struct loop_result all, result;
    run_through(NULL, &whole, &all);
    resume_line(place, &line, &result);
    assert_memory_equal(line.value, whole.value, sizeof line.value);
}

static void stop_in_the_middle(const struct loop_place *place)
{
    struct line line;
    struct loop_result result;
    struct loop_stopper stopper = {.at = 9};
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(place->checkpoint);
    assert_int_equal(run_line(&objective, &options, &stopper, &result, NULL), WT_ECANCELLED);
}

static void rejects_states_of_other_trainings(void **state)
{
    const struct loop_place *place = *state;
    struct line line;
    struct loop_result result;
    wt_error err;
    stop_in_the_middle(place);
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(place->checkpoint);
    options.resume = true;
    options.identity = "another line";
    assert_loop_fails(run_line(&objective, &options, NULL, &result, &err), &err, WT_EFORMAT,
                      "line.state is the state of a training with other data, options or model: usages may");
    options.identity = "a line";
    options.epochs = 9;
    assert_loop_fails(run_line(&objective, &options, NULL, &result, &err), &err, WT_EFORMAT,
                      "of a training of 20 steps, not 22");
    assert_true(wt__is_file(place->checkpoint));
}

static void rejects_damaged_states(void **state)
{
    const struct loop_place *place = *state;
    char *bytes = NULL;
    size_t len;
    wt_error err;
    stop_in_the_middle(place);
    assert_int_equal(wt__file_read(&bytes, &len, place->checkpoint, 1 << 20, NULL), 0);
    for (size_t cut = 0; cut < len; cut += 37) {
        struct line line;
        struct loop_result result;
        struct objective objective = objective_of(&line);
        struct loop_options options = options_of_loop(place->checkpoint);
        options.resume = true;
        assert_int_equal(wt__file_replace(place->checkpoint, bytes, cut, NULL), 0);
        assert_loop_fails(run_line(&objective, &options, NULL, &result, &err), &err, WT_EFORMAT,
                          "is not a training state that this version can resume; delete it");
    }
    free(bytes);
}

static void reports_unwritable_states(void **state)
{
    const struct loop_place *place = *state;
    struct line line;
    struct loop_result result;
    wt_error err;
    char path[128];
    snprintf(path, sizeof path, "%s/missing/line.state", place->folder);
    struct objective objective = objective_of(&line);
    struct loop_options options = options_of_loop(path);
    int rc = run_line(&objective, &options, NULL, &result, &err);
    assert_true(rc < 0 && rc != WT_ECANCELLED);
    assert_non_null(strstr(err.message, "missing/line.state"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epoch_has_each_example_once),
        cmocka_unit_test(counts_steps),
        cmocka_unit_test(keeps_best_model),
        cmocka_unit_test(keeps_last_model_if_asked),
        cmocka_unit_test(stops_without_improvement),
        cmocka_unit_test(reverts_useless_training),
        cmocka_unit_test(keeps_last_model_without_figure),
        cmocka_unit_test(accumulated_batches_make_one_step),
        cmocka_unit_test(stops_at_infinite_loss),
        cmocka_unit_test(infinite_gradients_change_nothing),
        cmocka_unit_test(rejects_excessive_memory_with_numbers),
        cmocka_unit_test_setup_teardown(reads_states_of_earlier_versions, set_up_loop, tear_down_loop),
        cmocka_unit_test_setup_teardown(stopped_training_resumes_to_identical_bits, set_up_loop, tear_down_loop),
        cmocka_unit_test_setup_teardown(killed_training_resumes_to_identical_bits, set_up_loop, tear_down_loop),
        cmocka_unit_test_setup_teardown(repeats_measurement_after_stop, set_up_loop, tear_down_loop),
        cmocka_unit_test_setup_teardown(resuming_without_state_starts_over, set_up_loop, tear_down_loop),
        cmocka_unit_test_setup_teardown(rejects_states_of_other_trainings, set_up_loop, tear_down_loop),
        cmocka_unit_test_setup_teardown(rejects_damaged_states, set_up_loop, tear_down_loop),
        cmocka_unit_test_setup_teardown(reports_unwritable_states, set_up_loop, tear_down_loop),
    };
    return cmocka_run_group_tests_name("learn/loop", tests, NULL, NULL);
}
