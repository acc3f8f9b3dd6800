/* fine_tuning.c: the lesson "encoder": trains the encoder with one of the methods of tuning.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "learn/trainers.h"
#include "learn/tuning.h"

enum {
    ENOUGH = 60000, /* number of requests to process */
    MOST = 3,       /* maximum epochs; data sets of at least a thousand requests are best on dev after two or three */
    MOST_HEAD = 10, /* the same with a classifier, which has a label for each tool to learn */
    LEAST = 3000    /* minimum number of requests to process; sets of a few hundred are best after eight epochs */
};

/* The methods in the order of the lesson's losses (train.c). */
static const struct tuning_kind *const kinds[] = {&wt__contrast, &wt__triplet, &wt__classify_softmax, &wt__classify_bce,
                                                  &wt__likeness};

static int begin_tuning(void *self, wt_error *err)
{
    struct tuning *tuning = self;
    WT_TRY(wt__batch_open(&tuning->training_batch, tuning->model, tuning->kind->output, tuning->training->threads,
                          &tuning->limits, err));
    return tuning->kind->begin(tuning, err);
}

static int prepare_tuning(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens,
                          wt_error *err)
{
    struct tuning *tuning = self;
    wt__batch_begin(&tuning->training_batch);
    WT_TRY(tuning->kind->prepare(tuning, examples, count, rng, err));
    *tokens += wt__batch_share(&tuning->training_batch);
    return 0;
}

static void forward_tuning(void *self, unsigned worker)
{
    struct tuning *tuning = self;
    wt__batch_forward(&tuning->training_batch, worker);
}

static double tuning_loss(void *self)
{
    struct tuning *tuning = self;
    return tuning->kind->loss(tuning);
}

static void backward_tuning(void *self, unsigned worker)
{
    struct tuning *tuning = self;
    wt__batch_backward(&tuning->training_batch, worker);
}

static void reduce_tuning(void *self, unsigned part, unsigned parts)
{
    struct tuning *tuning = self;
    wt__batch_reduce(&tuning->training_batch, part, parts);
}

static int renew_tuning(void *self, struct train_progress *progress, wt_error *err)
{
    struct tuning *tuning = self;
    return tuning->kind->renew(tuning, progress, err);
}

static int measure_tuning(void *self, struct train_progress *progress, double *figure, wt_error *err)
{
    struct tuning *tuning = self;
    const float *head = tuning->dev == DEV_HEAD ? tuning->kind->head(tuning) : NULL;
    return wt__dev_recall_run(&tuning->dev_recall, &tuning->training_batch, head, progress, figure, err);
}

/* Saves the model, and the classifier's rows in head. If head is NULL, removes the head's file of an earlier training.
 */
static int save_model(const struct tuning *tuning, const struct trainable *model, const float *head,
                      const struct loop_state *state, wt_error *err)
{
    WT_CLEANUP(json_decrefp)
    json_t *members = wt__training_outcome(tuning->about, wt__dev_figures[tuning->dev], state);
    WT_CHECK_ALLOC(members, err);
    wt__train_progress_phase(&tuning->training->progress, "saving", 0);
    if (head)
        WT_TRY(wt__kept_head_write(tuning->out, head, tuning->training->examples.tools, tuning->training_batch.hidden,
                                   members, err));
    else
        WT_TRY(wt__kept_head_remove(tuning->out, err));
    return wt__trainable_save(model, tuning->base, tuning->out, members, err);
}

static int save_tuning(void *self, const struct loop_state *state, wt_error *err)
{
    struct tuning *tuning = self;
    return save_model(tuning, tuning->model, tuning->kind->head ? tuning->kind->head(tuning) : NULL, state, err);
}

/* Replaces the tuned weights by those of the model in folder, which must have the same base model. */
static int load_tuned_weights(struct tuning *tuning, const char *folder, wt_error *err)
{
    struct trainable *other = NULL;
    struct model_parameter *to, *from;
    size_t count, others;
    WT_TRY(wt__trainable_open(&other, folder, err));
    wt__trainable_parameters(tuning->model, &to, &count);
    wt__trainable_parameters(other, &from, &others);
    for (size_t i = 0; i < count && i < others; i++)
        if (from[i].count == to[i].count)
            memcpy(to[i].value, from[i].value, to[i].count * sizeof *to[i].value);
    wt__trainable_close(other);
    return 0;
}

/* Measures the model of an earlier training on dev. Does nothing with DEV_HEAD or without such a model. Sets
 * tuning->earlier to the figure if it exceeds `before`, the initial model's figure. Overwrites the tuned weights, which
 * are not needed after the last step. */
static int compare_earlier_model(struct tuning *tuning, double before, wt_error *err)
{
    struct training *training = tuning->training;
    struct training_base there;
    double figure;
    WT_TRY(wt__training_base(training, &there, err));
    if (tuning->dev == DEV_HEAD || strcmp(there.folder, tuning->base) == 0)
        return 0;
    WT_TRY(load_tuned_weights(tuning, there.folder, err));
    WT_TRY(measure_tuning(tuning, &training->progress, &figure, err));
    if (figure > before)
        tuning->earlier = figure;
    return 0;
}

/* Keeps the model of an earlier training if that is better than the initial model, else saves the initial model. */
static int revert_tuning(void *self, const struct loop_state *state, wt_error *err)
{
    struct tuning *tuning = self;
    const struct training *training = tuning->training;
    struct trainable *model = NULL;
    int rc = compare_earlier_model(tuning, state->before, err);
    if (rc < 0 || !isnan(tuning->earlier))
        return rc;
    rc = wt__trainable_open(&model, tuning->base, err);
    if (rc == 0)
        rc = wt__training_layers(training, model, err);
    if (rc == 0)
        rc = save_model(tuning, model, NULL, state, err);
    wt__trainable_close(model);
    return rc;
}

static int read_tuning_tokens(struct tuning *tuning, wt_error *err)
{
    const struct training *training = tuning->training;
    const struct examples *examples = &training->examples;
    unsigned threads = training->threads;
    const struct encoder *encoder;
    const struct dev_recall_options options = {
        .kind = tuning->dev, .most_tools = training->options->dev_tools, .seed = training->seed, .threads = threads};
    WT_TRY(wt__token_texts_read(&tuning->requests, tuning->model, TEXT_REQUEST, examples->train.texts,
                                examples->train.count, TUNING_REQUEST, threads, err));
    WT_TRY(wt__token_texts_read(&tuning->tools, tuning->model, TEXT_TOOL, examples->texts[0], examples->tools,
                                TUNING_TOOL, threads, err));
    WT_TRY(wt__engine_encoder(training->engine, &encoder, err));
    return wt__dev_recall_open(&tuning->dev_recall, examples, training->engines, encoder, tuning->model, &options, err);
}

/* Estimates the bytes that a training needs; SIZE_MAX on overflow. Also sets the limits of the training batch. */
static size_t measure_tuning_step(struct tuning *tuning)
{
    size_t own = tuning->kind->measure(tuning, &tuning->limits), longest = DEV_RECALL_REQUEST;
    size_t hidden = wt__trainable_config(tuning->model)->hidden;
    tuning->limits.longest = longest;
    tuning->limits.rows = tuning->limits.rows > longest ? tuning->limits.rows : longest;
    size_t training_batch = wt__batch_bytes(tuning->model, tuning->training->threads, &tuning->limits);
    return training_batch == SIZE_MAX ? SIZE_MAX
                                      : training_batch + own + wt__dev_recall_bytes(&tuning->dev_recall, hidden);
}

static int list_tuning_parameters(struct tuning *tuning, wt_error *err)
{
    struct objective *o = &tuning->objective;
    struct model_parameter *list;
    wt__trainable_parameters(tuning->model, &list, &o->parameter_count);
    o->parameters = wt__alloc_array(o->parameter_count + KIND_PARAMETERS, sizeof *o->parameters);
    WT_CHECK_ALLOC(o->parameters, err);
    memcpy(o->parameters, list, o->parameter_count * sizeof *list);
    return 0;
}

/* Sets the parts of the objective, because all requests of a batch must come from one catalogue. */
static int list_parts(struct tuning *tuning, wt_error *err)
{
    const struct examples *examples = &tuning->training->examples;
    size_t *ends = wt__arena_array(&tuning->training->arena, size_t, examples->part_count);
    WT_CHECK_ALLOC(ends, err);
    for (size_t p = 0; p < examples->part_count; p++)
        ends[p] = examples->parts[p].train;
    tuning->objective.part_ends = ends;
    tuning->objective.part_count = examples->part_count;
    return 0;
}

static int run_encoder_lesson(struct tuning *tuning, const struct loop_options *options, struct loop_result *result,
                              wt_error *err)
{
    struct training *training = tuning->training;
    bool measured = training->examples.dev.count > 0;
    tuning->objective = (struct objective){.self = tuning,
                                           .examples = training->examples.train.count,
                                           .begin = begin_tuning,
                                           .prepare = prepare_tuning,
                                           .forward = forward_tuning,
                                           .loss = tuning_loss,
                                           .backward = backward_tuning,
                                           .reduce = reduce_tuning,
                                           .renew = tuning->kind->renew ? renew_tuning : NULL,
                                           .measure = measured ? measure_tuning : NULL,
                                           .save = save_tuning,
                                           .revert = measured ? revert_tuning : NULL};
    WT_TRY(wt__trainable_open(&tuning->model, tuning->base, err));
    if (training->reduced)
        wt__trainable_allow_bfloat16(tuning->model);
    WT_TRY(wt__training_layers(training, tuning->model, err));
    WT_TRY(list_tuning_parameters(tuning, err));
    WT_TRY(list_parts(tuning, err));
    if (wt__train_progress_phase(&training->progress, "reading", 0))
        return wt__fail_cancelled(err);
    WT_TRY(read_tuning_tokens(tuning, err));
    tuning->objective.bytes = measure_tuning_step(tuning);
    return wt__loop_run(&tuning->objective, options, &training->progress, result, err);
}

static int choose_dev(const struct training *training, const struct tuning_kind *kind, enum dev_kind *out,
                      wt_error *err)
{
    const char *name = training->options->dev ? training->options->dev : wt__dev_kinds[DEV_USE];
    for (*out = 0; *out < DEV_KINDS; ++*out)
        if (strcmp(name, wt__dev_kinds[*out]) == 0)
            break;
    if (*out == DEV_KINDS)
        return wt__fail(err, WT_EINVAL, "the dev figure must be use, description, hybrid or head, not \"%s\"", name);
    if (*out == DEV_HEAD && !kind->head)
        return wt__fail(err, WT_EINVAL, "the loss \"%s\" has no head to measure; use softmax or bce", kind->name);
    return 0;
}

static void dispose_tuning(struct tuning *tuning)
{
    tuning->kind->end(tuning);
    wt__batch_dispose(&tuning->training_batch);
    wt__dev_recall_dispose(&tuning->dev_recall);
    wt__token_texts_dispose(&tuning->requests);
    wt__token_texts_dispose(&tuning->tools);
    wt__trainable_close(tuning->model);
    free(tuning->objective.parameters);
    json_decref(tuning->about);
}

int wt__lesson_encoder(struct training *training, wt_trained *out, wt_error *err)
{
    struct training_base base;
    struct loop_options options;
    struct loop_result result;
    int chosen = wt__training_loss(training, err);
    if (chosen < 0)
        return chosen;
    const struct tuning_kind *kind = kinds[chosen];
    WT_CLEANUP(dispose_tuning)
    struct tuning tuning = {.kind = kind, .training = training, .out = out->path, .earlier = NAN};
    WT_TRY(choose_dev(training, kind, &tuning.dev, err));
    out->figure = wt__dev_figures[tuning.dev];
    if (training->options->negatives > 0 && !kind->renew)
        return wt__fail(err, WT_EINVAL, "hard negatives need the loss \"%s\", not \"%s\"", kinds[0]->name, kind->name);
    if (training->options->siblings > 0 && kind != &wt__contrast)
        return wt__fail(err, WT_EINVAL, "siblings need the loss \"%s\", not \"%s\"", wt__contrast.name, kind->name);
    if (training->options->teacher && kind != &wt__likeness)
        return wt__fail(err, WT_EINVAL, "a teacher needs the loss \"%s\", not \"%s\"", wt__likeness.name, kind->name);
    if (!training->options->teacher && kind == &wt__likeness)
        return wt__fail(err, WT_EINVAL, "the loss needs a teacher (--teacher MODEL)");
    const struct lesson_plan plan = {.rate = kind->rate,
                                     .warmup = .1,
                                     .schedule = SCHEDULE_COSINE,
                                     .enough = ENOUGH,
                                     .most = kind->head ? MOST_HEAD : MOST,
                                     .least = LEAST};
    WT_TRY(wt__training_model(training, &base, err));
    WT_TRY(wt__training_plan(training, &plan, &base, &options, &tuning.about, err));
    tuning.base = base.folder;
    tuning.batch = options.batch;
    if (!wt__training_done(training, &options, out)) {
        WT_TRY(run_encoder_lesson(&tuning, &options, &result, err));
        wt__training_result(&result, out);
        if (!isnan(tuning.earlier)) {
            out->after = tuning.earlier;
            out->notice = "no step improved the model on dev, so the better model of an earlier training is kept";
        }
    }
    return 0;
}
