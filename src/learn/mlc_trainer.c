/* mlc_trainer.c: the lesson "mlc": trains a multi-label classifier of requests. Its head has one row per tool, and
 * reads the request's vector. The encoder is fixed, so the vectors are computed once. With the loss "kept", the lesson
 * does not train. It uses a head that the lesson "encoder" trained together with the encoder (--loss softmax or bce).
 * The paper also trains both together.
 *
 * The head differs from the paper's head. It reads the pooled vector instead of the first token's state. Its rows start
 * as Tool2Vec's vectors, so that unused tools have rows too. It has no bias, so its rows are tool vectors that an index
 * can search.
 *
 * The loss of a request depends on the name:
 *
 *   contrast   mean of the gold tools' negative log-softmax over all tools
 *   softmax    sum of the gold tools' negative log-softmax over all tools, as in the authors' code
 *   bce        binary cross-entropy over all tools, as in the paper's text */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "encoder/model_files.h"
#include "learn/loop.h"
#include "learn/trainers.h"
#include "nn/loss.h"
#include "nn/safetensors.h"
#include "retrieve/trained_vectors.h"

/* ---------------------------------------------------------------- head of a classifier */

static const char file_name[] = "head.safetensors";

/* Returns the metadata that ties a head to its training: identity and step. NULL if out of memory. outcome: as from
 * wt__training_outcome. */
static json_t *make_head_label(const json_t *outcome)
{
    char step[24];
    snprintf(step, sizeof step, "%" PRId64, wt__json_int(outcome, "step", -1));
    return json_pack("{s:o, s:s}", "training", wt__json_string(wt__json_str(outcome, "identity")), "step", step);
}

int wt__kept_head_write(const char *folder, const float *rows, size_t tools, size_t dim, const json_t *outcome,
                        wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const struct tensor_source head = {.name = MLC_HEAD, .data = rows, .rank = 2, .shape = {tools, dim}};
    WT_CLEANUP(json_decrefp) json_t *label = make_head_label(outcome);
    char *path = wt__path_join(&arena, folder, file_name);
    WT_CHECK_ALLOC(path && label, err);
    WT_TRY(wt__make_folders(folder, err));
    return wt__safetensors_write(path, &head, 1, label, err);
}

int wt__kept_head_remove(const char *folder, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *path = wt__path_join(&arena, folder, file_name);
    WT_CHECK_ALLOC(path, err);
    if (unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
        return wt__fail_errno(err, "remove", path);
    return 0;
}

/* Checks that the head was trained together with the encoder in `folder`, and on the same examples. data: SHA-256 of
 * the examples. */
static int check_label(const struct safetensors *file, const char *folder, const char *data, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *config = NULL;
    WT_TRY(wt__model_config_open(&config, folder, err));
    const json_t *outcome = wt__json_object(config, "whichtool");
    WT_CLEANUP(json_decrefp) json_t *label = make_head_label(outcome);
    WT_CHECK_ALLOC(label, err);
    if (!wt__str_equal(wt__json_str(wt__json_object(outcome, "data"), "sha256"), wt__str(data)))
        return wt__fail(err, WT_EMODEL, "%s was trained on other data, so its head has other tools", folder);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "step" : "training";
        if (!wt__str_equal(wt__json_str(label, name), wt__json_str(file->metadata, name)))
            return wt__fail(err, WT_EMODEL, "%s/%s was not trained together with the encoder in that folder", folder,
                            file_name);
    }
    return 0;
}

static int copy_head_rows(const struct safetensors *file, const char *path, float *rows, size_t tools, size_t dim,
                          wt_error *err)
{
    const struct tensor *head = wt__safetensors_find(file, MLC_HEAD);
    if (!head || head->rank != 2 || head->shape[0] != tools || head->shape[1] != dim)
        return wt__fail(err, WT_EMODEL, "%s: needs a tensor " MLC_HEAD " of %zu rows and %zu columns", path, tools,
                        dim);
    WT_TRY(wt__tensor_floats(head, rows, err));
    for (size_t i = 0; i < tools * dim; i++)
        if (!isfinite(rows[i]))
            return wt__fail(err, WT_EMODEL, "%s: row %zu has a number that is not finite", path, i / dim);
    return 0;
}

/* Reads the head into rows [tools, dim]. data: SHA-256 of the examples with these tools. Errors: WT_EMODEL (missing,
 * malformed, or of another encoder or other data), WT_ENOMEM, WT_EIO. */
static int read_kept_head(const char *folder, float *rows, size_t tools, size_t dim, const char *data, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__file_unmap) struct mapping map = {0};
    WT_CLEANUP(wt__safetensors_dispose) struct safetensors file = {0};
    char *path = wt__path_join(&arena, folder, file_name);
    WT_CHECK_ALLOC(path, err);
    if (!wt__is_file(path))
        return wt__fail(err, WT_EMODEL,
                        "%s has no head; `train encoder --loss softmax` or `bce` trains one together with the encoder",
                        folder);
    WT_TRY(wt__file_map(&map, path, err));
    WT_TRY(wt__safetensors_open(&file, path, map.ptr, map.len, err));
    WT_TRY(check_label(&file, folder, data, err));
    return copy_head_rows(&file, path, rows, tools, dim, err);
}

/* ---------------------------------------------------------------- the lesson */

static const float SCALE = 20; /* factor of the inner product, the same as in the encoder's training */

enum { CONTRAST, SOFTMAX, BCE, KEPT };

/* M: number of tools. D: dimension of the vectors. */
struct mlc_training {
    struct training *training;
    struct dev_evaluator *evaluator;
    const char *out;       /* folder of the model; NULL to store its rows in `kept` instead */
    float *kept;           /* [M, D] */
    const uint32_t *which; /* numbers of the training requests; NULL for all */
    json_t *about;
    int loss;
    float subquery; /* weight of a sub-query relative to the whole request, from the last measurement */
    struct model_parameter parameters[2]; /* head [M, D] and, only with bce, shifts [M] */
    float *start;                         /* [M, D] rows before the first step */
    size_t count, capacity;               /* current and maximum number of requests of a batch */
    float *queries;                       /* [capacity, D] their vectors */
    float *dqueries;                      /* [capacity, D] gradients of queries, which are not used */
    float *logits;                        /* [capacity, M]; the loss replaces them by their gradients */
    size_t *label_starts;                 /* [capacity + 1] start of each request's labels */
    int32_t *labels;                      /* rows of the batch's gold tools */
    uint8_t *pairs;                       /* [capacity, M] of enum pair */
};

static int prepare_mlc(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens,
                       wt_error *err)
{
    struct mlc_training *mlc = self;
    const struct example_set *train = &mlc->training->examples.train;
    size_t dim = mlc->evaluator->dim, labels = 0;
    (void)rng;
    (void)err;
    mlc->count = count;
    *tokens = count;
    for (size_t b = 0; b < count; b++) {
        uint32_t request = mlc->which ? mlc->which[examples[b]] : examples[b];
        memcpy(mlc->queries + b * dim, mlc->evaluator->requests + request * dim, dim * sizeof(float));
        mlc->label_starts[b] = labels;
        for (size_t i = train->starts[request]; i < train->starts[request + 1]; i++)
            mlc->labels[labels++] = (int32_t)train->tools[i];
    }
    mlc->label_starts[count] = labels;
    return 0;
}

static double compute_mlc_contrast(struct mlc_training *mlc)
{
    size_t tools = mlc->evaluator->tools;
    memset(mlc->pairs, PAIR_NEGATIVE, mlc->count * tools);
    for (size_t b = 0; b < mlc->count; b++)
        for (size_t i = mlc->label_starts[b]; i < mlc->label_starts[b + 1]; i++)
            mlc->pairs[b * tools + (size_t)mlc->labels[i]] = PAIR_POSITIVE;
    const struct contrast contrast = {.rows = mlc->count,
                                      .columns = tools,
                                      .width = mlc->evaluator->dim,
                                      .queries = mlc->queries,
                                      .documents = mlc->parameters[0].value,
                                      .pairs = mlc->pairs,
                                      .scale = SCALE,
                                      .scores = mlc->logits};
    return wt__loss_contrast(&contrast, mlc->dqueries, mlc->parameters[0].gradient);
}

/* Computes the loss "softmax" or "bce". */
static double compute_multilabel_loss(struct mlc_training *mlc)
{
    const struct label_rows gold = {mlc->label_starts, mlc->labels};
    bool bce = mlc->loss == BCE;
    const struct multilabel head = {.rows = mlc->count,
                                    .labels = mlc->evaluator->tools,
                                    .width = mlc->evaluator->dim,
                                    .vectors = mlc->queries,
                                    .head = mlc->parameters[0].value,
                                    .scale = SCALE,
                                    .shifts = mlc->parameters[1].value,
                                    .loss = bce ? wt__loss_multilabel_bce : wt__loss_multilabel_softmax,
                                    .logits = mlc->logits};
    return wt__loss_multilabel(&head, &gold, NULL, mlc->parameters[0].gradient, mlc->parameters[1].gradient);
}

static double mlc_loss(void *self)
{
    struct mlc_training *mlc = self;
    return mlc->loss == CONTRAST ? compute_mlc_contrast(mlc) : compute_multilabel_loss(mlc);
}

static int measure_head(struct mlc_training *mlc, struct dev_outcome *out, wt_error *err)
{
    WT_CLEANUP(wt__tool_vectors_dispose) struct tool_vectors searched = {0};
    WT_TRY(wt__tool_vectors_open(&searched, mlc->parameters[0].value, mlc->evaluator->tools, mlc->evaluator->dim, err));
    return wt__evaluator_measure_subqueries(mlc->evaluator, &searched, &mlc->subquery, out, err);
}

static int measure_mlc(void *self, struct train_progress *progress, double *figure, wt_error *err)
{
    struct mlc_training *mlc = self;
    struct dev_outcome outcome = {0};
    (void)progress;
    WT_TRY(measure_head(mlc, &outcome, err));
    *figure = outcome.figure;
    return 0;
}

static int write_mlc_config(struct mlc_training *mlc, const struct loop_state *state, wt_error *err)
{
    json_auto_t *names = json_array();
    WT_CHECK_ALLOC(names, err);
    WT_TRY(wt__evaluator_tool_names(mlc->evaluator, names, err));
    return wt__evaluator_save(mlc->evaluator, mlc->out, mlc->about, state,
                              json_pack("{s:{s:f, s:f, s:f}, s:O}", "weights", "dense", 1.0, "mlc", 1.0, "subquery",
                                        (double)mlc->subquery, "tools", names),
                              err);
}

static int save_head(void *self, const struct loop_state *state, wt_error *err)
{
    struct mlc_training *mlc = self;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    if (!mlc->out) {
        memcpy(mlc->kept, mlc->parameters[0].value, mlc->parameters[0].count * sizeof(float));
        return 0;
    }
    const struct tensor_source head = {.name = MLC_HEAD,
                                       .data = mlc->parameters[0].value,
                                       .rank = 2,
                                       .shape = {mlc->evaluator->tools, mlc->evaluator->dim}};
    char *path = wt__path_join(&arena, mlc->out, TRAINED_WEIGHTS);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__make_folders(mlc->out, err));
    WT_TRY(wt__safetensors_write(path, &head, 1, NULL, err));
    return write_mlc_config(mlc, state, err);
}

/* Saves the initial rows, because training did not improve them. */
static int revert_head(void *self, const struct loop_state *state, wt_error *err)
{
    struct mlc_training *mlc = self;
    struct dev_outcome outcome = {0};
    memcpy(mlc->parameters[0].value, mlc->start, mlc->parameters[0].count * sizeof(float));
    if (mlc->out)
        WT_TRY(measure_head(mlc, &outcome, err)); /* sets mlc->subquery */
    return save_head(self, state, err);
}

static size_t count_most_labels(const struct example_set *train, size_t batch)
{
    size_t most = 0;
    for (size_t b = 0; b < train->count; b++)
        most = train->starts[b + 1] - train->starts[b] > most ? train->starts[b + 1] - train->starts[b] : most;
    return most * batch;
}

static size_t count_head_bytes(const struct mlc_training *mlc, size_t batch)
{
    size_t tools = mlc->evaluator->tools, dim = mlc->evaluator->dim;
    return (3 * tools * dim + 2 * batch * dim + batch * tools) * sizeof(float) + batch * tools;
}

static int begin_head(void *self, wt_error *err)
{
    struct mlc_training *mlc = self;
    size_t tools = mlc->evaluator->tools, dim = mlc->evaluator->dim, batch = mlc->capacity;
    mlc->queries = wt__alloc_array(batch * dim, sizeof(float));
    mlc->dqueries = wt__alloc_array(batch * dim, sizeof(float));
    mlc->logits = wt__alloc_array(batch * tools, sizeof(float));
    mlc->pairs = wt__alloc_array(batch, tools);
    mlc->label_starts = wt__alloc_array(batch + 1, sizeof(size_t));
    mlc->labels = wt__alloc_array(count_most_labels(&mlc->training->examples.train, batch), sizeof(int32_t));
    bool whole = mlc->queries && mlc->dqueries && mlc->logits && mlc->pairs && mlc->label_starts && mlc->labels;
    return whole ? 0 : wt__fail_nomem(err);
}

static void dispose_mlc(struct mlc_training *mlc)
{
    for (size_t i = 0; i < 2; i++) {
        free(mlc->parameters[i].value);
        free(mlc->parameters[i].gradient);
    }
    free(mlc->start);
    free(mlc->queries);
    free(mlc->dqueries);
    free(mlc->logits);
    free(mlc->pairs);
    free(mlc->label_starts);
    free(mlc->labels);
    json_decref(mlc->about);
}

static int make_head(struct mlc_training *mlc, wt_error *err)
{
    size_t tools = mlc->evaluator->tools, count = tools * mlc->evaluator->dim;
    mlc->parameters[0] = (struct model_parameter){.name = MLC_HEAD,
                                                  .value = wt__alloc_array(count, sizeof(float)),
                                                  .gradient = wt__alloc_zeros(count + 1, sizeof(float)),
                                                  .count = count,
                                                  .rate = 1};
    mlc->start = wt__alloc_array(count, sizeof(float));
    if (mlc->loss == BCE) {
        mlc->parameters[1] = (struct model_parameter){.name = "shifts",
                                                      .value = wt__alloc_array(tools, sizeof(float)),
                                                      .gradient = wt__alloc_zeros(tools, sizeof(float)),
                                                      .count = tools,
                                                      .rate = 1};
        WT_CHECK_ALLOC(mlc->parameters[1].value && mlc->parameters[1].gradient, err);
        for (size_t i = 0; i < tools; i++)
            mlc->parameters[1].value[i] = MLC_START_SHIFT;
    }
    return mlc->parameters[0].value && mlc->parameters[0].gradient && mlc->start ? 0 : wt__fail_nomem(err);
}

/* Sets the initial rows to the tools' vectors by tool2vec. */
static int initialise_mlc_head(struct mlc_training *mlc, wt_error *err)
{
    struct tool2vec tool2vec;
    WT_TRY(make_head(mlc, err));
    WT_TRY(wt__evaluator_tool2vec_weights(mlc->evaluator, &tool2vec, err));
    wt__evaluator_tool2vec(mlc->evaluator, &tool2vec, mlc->start);
    return 0;
}

/* Trains the head. requests: number of training requests. */
static int train_head(struct mlc_training *mlc, size_t requests, struct loop_options *options,
                      struct loop_result *result, wt_error *err)
{
    options->batch *= options->accumulate ? options->accumulate : 1; /* one large batch gives the same step */
    options->batch = options->batch < requests ? options->batch : requests;
    options->accumulate = 1;
    struct objective objective = {.self = mlc,
                                  .parameters = mlc->parameters,
                                  .parameter_count = mlc->loss == BCE ? 2 : 1,
                                  .examples = requests,
                                  .bytes = count_head_bytes(mlc, options->batch),
                                  .begin = begin_head,
                                  .prepare = prepare_mlc,
                                  .loss = mlc_loss,
                                  .measure = mlc->evaluator->dev_count ? measure_mlc : NULL,
                                  .save = save_head,
                                  .revert = revert_head};
    mlc->capacity = options->batch;
    options->workers = 1; /* a step is short; measure_mlc searches with threads of its own */
    options->adamw.clip = 0;
    memcpy(mlc->parameters[0].value, mlc->start, mlc->parameters[0].count * sizeof(float));
    return wt__loop_run(&objective, options, &mlc->training->progress, result, err);
}

/* Saves the head that was trained together with the encoder, unchanged. */
static int use_kept_head(struct mlc_training *mlc, wt_trained *out, wt_error *err)
{
    struct dev_evaluator *evaluator = mlc->evaluator;
    struct dev_outcome outcome = {.figure = NAN};
    WT_TRY(make_head(mlc, err));
    WT_TRY(read_kept_head(evaluator->base.folder, mlc->parameters[0].value, evaluator->tools, evaluator->dim,
                          mlc->training->examples.hash, err));
    if (evaluator->dev_count > 0)
        WT_TRY(measure_head(mlc, &outcome, err));
    out->after = outcome.figure;
    const struct loop_state state = {.before = out->before, .best = out->after};
    return save_head(mlc, &state, err);
}

static const struct lesson_plan plan = {.warmup = .1, .schedule = SCHEDULE_COSINE, .enough = 200000, .most = 12};

int wt__lesson_mlc(struct training *training, wt_trained *out, wt_error *err)
{
    WT_CLEANUP(dispose_mlc) struct mlc_training mlc = {.training = training, .out = out->path, .subquery = 1};
    struct loop_options options;
    struct loop_result result;
    mlc.loss = wt__training_loss(training, err);
    if (mlc.loss < 0)
        return mlc.loss;
    WT_TRY(wt__evaluator_open(&mlc.evaluator, training, err));
    WT_TRY(wt__training_plan(training, &plan, &mlc.evaluator->base, &options, &mlc.about, err));
    if (mlc.loss == KEPT)
        return use_kept_head(&mlc, out, err);
    if (wt__training_done(training, &options, out))
        return 0;
    WT_TRY(initialise_mlc_head(&mlc, err));
    WT_TRY(train_head(&mlc, training->examples.train.count, &options, &result, err));
    wt__training_result(&result, out);
    return 0;
}

/* Returns the name of the loss with which the model in this folder was trained; empty for the default. */
static struct str read_loss_name(const json_t *config)
{
    return wt__json_str(wt__json_object(wt__json_object(config, "whichtool"), "options"), "loss");
}

/* Sets *loss to that of the trained recipe mlc; if it kept its head, to that of the encoder it was trained with.
 * CONTRAST without the recipe. */
static int read_trained_loss(const struct dev_evaluator *evaluator, int *loss, wt_error *err)
{
    static const char *const names[] = {[SOFTMAX] = "softmax", [BCE] = "bce"};
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(json_decrefp) json_t *config = NULL, *encoder = NULL;
    const char *folder = wt__path_join(&arena, evaluator->training->out, "mlc");
    WT_CHECK_ALLOC(folder, err);
    *loss = CONTRAST;
    if (!wt__is_folder(folder))
        return 0;
    WT_TRY(wt__model_config_open(&config, folder, err));
    struct str name = read_loss_name(config);
    if (wt__str_equal(name, wt__str("kept"))) {
        WT_TRY(wt__model_config_open(&encoder, evaluator->base.folder, err));
        name = read_loss_name(encoder);
    }
    for (int i = SOFTMAX; i <= BCE; i++)
        if (wt__str_equal(name, wt__str(names[i])))
            *loss = i;
    return 0;
}

int wt__mlc_fit(struct dev_evaluator *evaluator, const uint32_t *which, size_t count, float *rows, wt_error *err)
{
    struct training *training = evaluator->training;
    WT_CLEANUP(dispose_mlc)
    struct mlc_training mlc = {.training = training, .evaluator = evaluator, .kept = rows, .which = which};
    struct loop_options options = {.seed = training->seed,
                                   .memory = training->memory,
                                   .epochs = fmax(fmin(round(plan.enough / (double)(count + 1)), plan.most), 1),
                                   .batch = count < MLC_BATCH ? count : MLC_BATCH,
                                   .rate = MLC_RATE,
                                   .warmup = plan.warmup,
                                   .schedule = plan.schedule,
                                   .adamw = ADAMW_DEFAULTS,
                                   .patience = PATIENCE};
    struct loop_result result;
    if (count == 0)
        return 0;
    WT_TRY(read_trained_loss(evaluator, &mlc.loss, err));
    WT_TRY(make_head(&mlc, err));
    memcpy(mlc.start, rows, mlc.parameters[0].count * sizeof(float));
    return train_head(&mlc, count, &options, &result, err);
}

int wt__mlc_vectors(struct dev_evaluator *evaluator, const float *tools, float *vectors, bool *there, wt_error *err)
{
    struct trained *trained;
    size_t dim = evaluator->dim;
    memcpy(vectors, tools, evaluator->tools * dim * sizeof(float));
    *there = false;
    int rc = wt__trained_open(&trained, evaluator->training->out, evaluator->encoder, NULL, err);
    if (rc < 0 || !wt__trained_recipe(trained, "mlc")) {
        wt__trained_close(trained);
        return rc;
    }
    *there = true;
    json_auto_t *names = json_array();
    rc = names ? wt__evaluator_tool_names(evaluator, names, err) : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < evaluator->tools; i++) {
        const json_t *name = json_array_get(names, i);
        int64_t row = wt__mlc_row(&trained->mlc, (struct str){json_string_value(name), json_string_length(name)});
        for (size_t d = 0; d < dim; d++)
            vectors[i * dim + d] = wt__mlc_value(&trained->mlc, row, d, tools[i * dim + d]);
    }
    wt__trained_close(trained);
    return rc;
}
