/* distil.c: wt_distil: reads the texts, computes the teacher's vectors, runs the steps of learn/distil.h, and saves
 * the model. All vectors of the teacher are in memory at once, in the teacher's dimension and in the student's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/pool.h"
#include "encoder/config.h"
#include "encoder/encoder.h"
#include "encoder/model_dir.h"
#include "encoder/model_files.h"
#include "encoder/packed.h"
#include "encoder/token_table.h"
#include "changes/corpus.h"
#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/sized_options.h"
#include "learn/distil.h"
#include "nn/matrix.h"
#include "nn/layers.h"
#include "recipe/trained.h"

enum {
    SEED = 1,
    DIMENSION = 256,
    THREADS_MAX = 256,
    DEV_MOST = 2000 /* maximum number of measured requests */
};
static const double EPOCHS_MAX = 10000, SMOOTHING_MAX = 1;

/* Result and its memory. */
struct distil_result {
    wt_distilled visible; /* first, so that the public pointer equals the pointer to this struct */
    struct arena arena;   /* owns the strings of visible */
};

struct distil_run {
    wt_engine *engine;
    const wt_distil_options *options;
    struct distil_settings settings;
    struct arena *arena;         /* the result's memory */
    const char *without;         /* names of steps to leave out, separated by commas; NULL if none */
    struct train_progress steps; /* progress of the steps */
    struct progress progress;    /* progress of other work */
    const char *folder;          /* folder of the teacher */
    const struct encoder *teacher;
    const struct tokenizer *tokenizer;
    size_t width, dim; /* H, D: dimensions of the teacher's and of the student's vectors */
    struct examples examples;
    struct distil_texts texts;
    float *axes;   /* [D, H] principal axes; NULL if D is H, which needs no projection */
    float *wanted; /* [N, D] the teacher's vectors of the texts, projected to the axes */
    struct student student;
};

void wt_distilled_free(wt_distilled *visible)
{
    struct distil_result *result = (struct distil_result *)visible;
    if (!result)
        return;
    wt__arena_dispose(&result->arena);
    free(result);
}

/* ---------------------------------------------------------------- options */

/* Turns off each named step: sets the setting that controls the step to a value without effect. */
static int ablate_steps(struct distil_settings *s, const char *names, wt_error *err)
{
    for (const char *at = names; at && *at;) {
        struct str name = {at, strcspn(at, ",")};
        if (wt__str_equal(name, wt__str("weights")))
            s->smoothing = 0;
        else if (wt__str_equal(name, wt__str("fit")))
            s->epochs = 0;
        else if (wt__str_equal(name, wt__str("likeness")))
            s->likeness = 0;
        else if (wt__str_equal(name, wt__str("contrast")))
            s->contrast_epochs = 0;
        else if (wt__str_equal(name, wt__str("merge")))
            s->contrast_share = 1;
        else
            return wt__fail(err, WT_EINVAL,
                            "unknown step \"%.*s\" to leave out; choose from: weights, fit, likeness, contrast, merge",
                            (int)(name.len < 60 ? name.len : 60), name.ptr);
        at += name.len + (at[name.len] == ',');
    }
    return 0;
}

static int read_distil_options(struct distil_run *d, wt_error *err)
{
    const wt_distil_options *o = d->options;
    struct distil_settings *s = &d->settings;
    *s = wt__distil_defaults;
    if (!o->out || !*o->out)
        return wt__fail(err, WT_EINVAL, "name a folder for the model (--out)");
    if (!(o->epochs >= 0 && o->epochs <= EPOCHS_MAX) || !(o->contrast_epochs >= 0 && o->contrast_epochs <= EPOCHS_MAX))
        return wt__fail(err, WT_EINVAL, "epochs must be above 0 and at most %.0f", EPOCHS_MAX);
    if (!(o->smoothing >= 0 && o->smoothing <= SMOOTHING_MAX))
        return wt__fail(err, WT_EINVAL, "the smoothing of token weights must be above 0 and at most %.0f",
                        SMOOTHING_MAX);
    if (o->threads > THREADS_MAX)
        return wt__fail(err, WT_EINVAL, "threads must be at most %d", THREADS_MAX);
    s->seed = o->seed ? o->seed : SEED;
    s->threads = o->threads ? o->threads : d->engine ? d->engine->threads : 0;
    s->threads = s->threads ? s->threads : wt__processor_count();
    s->smoothing = o->smoothing > 0 ? o->smoothing : s->smoothing;
    const struct experiment_setting settings[] = {{"without", &d->without}};
    WT_TRY(wt__experiment_read(o->experiment, settings, 1, d->arena, err));
    return ablate_steps(s, d->without, err); /* report an unknown step before reading anything */
}

/* Sets the epochs. Their defaults depend on the amount of data, so the examples must have been read. */
static int set_epochs(struct distil_run *d, wt_error *err)
{
    const wt_distil_options *o = d->options;
    struct distil_settings *s = &d->settings;
    s->epochs = o->epochs > 0 ? o->epochs : wt__distil_fit_epochs(d->texts.count);
    s->contrast_epochs =
        o->contrast_epochs > 0 ? o->contrast_epochs : wt__distil_contrast_epochs(d->examples.train.count);
    return ablate_steps(s, d->without, err);
}

/* ---------------------------------------------------------------- texts */

static int open_distil_catalogue(struct distil_run *d, const char *data, wt_engine **out, wt_error *err)
{
    const wt_distil_options *o = d->options;
    const struct corpus_options corpus = {.cache_dir = o->cache_dir,
                                          .model = o->model,
                                          .models_dir = o->models_dir,
                                          .progress = o->progress,
                                          .progress_context = o->progress_context};
    return wt__corpus_open(out, data, &corpus, err);
}

/* Opens the teacher, which is the model of the first catalogue. */
static int open_distil_teacher(struct distil_run *d, wt_error *err)
{
    WT_TRY(wt__engine_encoder(d->engine, &d->teacher, err));
    const struct packed *packed = wt__encoder_packed(d->teacher);
    if (wt__encoder_is_static(d->teacher))
        return wt__fail(err, WT_EMODEL, "%s is a static encoder itself; name a transformer to distil",
                        wt__encoder_name(d->teacher));
    d->folder = d->engine->model_folder;
    d->tokenizer = &packed->tokenizer;
    d->width = wt__encoder_dim(d->teacher);
    d->dim = d->options->dimension ? d->options->dimension : DIMENSION;
    if (d->dim > d->width && d->options->dimension)
        return wt__fail(err, WT_EINVAL, "%s has vectors of %zu dimensions; it cannot be distilled to %zu",
                        wt__encoder_name(d->teacher), d->width, d->dim);
    d->dim = d->dim < d->width ? d->dim : d->width;
    return 0;
}

/* Reads the examples of one catalogue. data: a data set's folder; NULL for the store's recorded use. */
static int read_distil_examples(struct distil_run *d, const char *data, wt_engine *engine, struct examples *out,
                                wt_error *err)
{
    const struct examples_options options = {.data = data,
                                             .seed = d->settings.seed,
                                             .document_fields =
                                                 wt__document_fields(wt__encoder_fields(d->teacher), NULL),
                                             .requests_optional = true};
    return wt__examples_read(out, engine, &options, &d->steps, err);
}

/* Reads each data set with its own catalogue. The first catalogue stays open as *own, because it owns the teacher. */
static int read_distil_sets(struct distil_run *d, wt_engine **own, struct examples *sets, size_t *count, wt_error *err)
{
    struct str folder;
    const char *data = d->options->data;
    int rc = 0;
    while (rc == 0 && wt__str_line(&data, &folder)) {
        const char *path = wt__arena_copy(d->arena, folder);
        wt_engine *engine = NULL;
        if (*count == EXAMPLES_PARTS)
            return wt__fail(err, WT_EINVAL, "a training takes at most %d data sets", EXAMPLES_PARTS);
        rc = path ? open_distil_catalogue(d, path, &engine, err) : wt__fail_nomem(err);
        if (rc == 0 && !d->engine) {
            d->engine = *own = engine;
            rc = open_distil_teacher(d, err);
        }
        if (rc == 0)
            rc = read_distil_examples(d, path, engine, &sets[*count], err);
        *count += rc == 0;
        if (engine != *own)
            wt_close(engine);
    }
    return rc;
}

static int join_distil_sets(struct distil_run *d, wt_engine **own, struct examples *sets, size_t *count, wt_error *err)
{
    if (d->engine)
        WT_TRY(open_distil_teacher(d, err));
    if (d->options->data) {
        WT_TRY(read_distil_sets(d, own, sets, count, err));
    } else {
        WT_TRY(read_distil_examples(d, NULL, d->engine, &sets[0], err));
        ++*count;
    }
    if (*count == 0)
        return wt__fail(err, WT_EINVAL, "the list of data sets is empty");
    return wt__examples_join(&d->examples, sets, NULL, *count, d->settings.seed, err);
}

static int read_distil_texts(struct distil_run *d, wt_engine **own, wt_error *err)
{
    WT_AUTO_FREE struct examples *sets = wt__alloc_zeros(EXAMPLES_PARTS, sizeof *sets);
    size_t count = 0;
    WT_CHECK_ALLOC(sets, err);
    int rc = join_distil_sets(d, own, sets, &count, err);
    for (size_t s = 0; s < count; s++)
        wt__examples_dispose(&sets[s]);
    WT_TRY(rc);
    return wt__distil_texts_open(&d->texts, &d->examples, d->tokenizer, wt__encoder_max_tokens(d->teacher), err);
}

/* ---------------------------------------------------------------- teacher */

/* Projects vectors [count, H] to the axes: out [count, D]. */
static void project_vectors(const struct distil_run *d, const float *vectors, size_t count, float *out)
{
    if (d->axes)
        wt__multiply_dense(count, d->dim, d->width, vectors, false, d->axes, true, out);
    else
        memcpy(out, vectors, count * d->width * sizeof *out);
}

/* Computes the teacher's vectors of texts, projected to the axes and normalised: out [count, D]. axes_too: first
 * compute the axes from these texts. */
static int encode_with_teacher(struct distil_run *d, const struct str *texts, size_t count, bool axes_too, float *out,
                               wt_error *err)
{
    WT_AUTO_FREE float *vectors = wt__alloc_aligned(count * d->width, sizeof *vectors);
    WT_CHECK_ALLOC(vectors, err);
    if (wt__progress_phase(&d->progress, "asking the teacher", count))
        return wt__fail_cancelled(err);
    WT_TRY(wt__encode_many(d->teacher, TEXT_REQUEST, texts, count, d->settings.threads, vectors, &d->progress, err));
    if (axes_too)
        WT_TRY(wt__principal_axes(vectors, count, d->width, d->dim, d->axes, err));
    project_vectors(d, vectors, count, out);
    for (size_t i = 0; i < count; i++)
        wt__normalize(out + i * d->dim, d->dim);
    return 0;
}

/* Computes the initial rows of the student: step "begin" of learn/distil.h. */
static int begin_rows(struct distil_run *d, wt_error *err)
{
    size_t tokens = d->tokenizer->token_count;
    WT_AUTO_FREE float *vectors = wt__alloc_aligned(tokens * d->width, sizeof *vectors);
    WT_AUTO_FREE float *frequency = wt__alloc_array(tokens, sizeof *frequency);
    WT_CHECK_ALLOC(vectors && frequency, err);
    if (wt__progress_phase(&d->progress, "asking the teacher for tokens", tokens))
        return wt__fail_cancelled(err);
    WT_TRY(wt__token_vectors(d->teacher, d->settings.threads, vectors, &d->progress, err));
    wt__distil_frequencies(&d->texts, tokens, frequency);
    project_vectors(d, vectors, tokens, d->student.rows);
    wt__distil_weigh(&d->student, frequency, d->settings.smoothing);
    return 0;
}

/* ---------------------------------------------------------------- result */

/* Sets out->cosine to the mean cosine of the student's and the teacher's vectors over the dev requests. The cosine is
 * NaN without dev requests. */
static int measure_student(struct distil_run *d, wt_distilled *out, wt_error *err)
{
    const struct example_set *dev = &d->examples.dev;
    size_t count = dev->count < DEV_MOST ? dev->count : DEV_MOST;
    WT_CLEANUP(wt__token_texts_dispose) struct token_texts tokens = {0};
    WT_AUTO_FREE float *wanted = wt__alloc_aligned(count * d->dim, sizeof *wanted);
    double sum = 0;
    out->cosine = NAN;
    out->dev_requests = count;
    WT_CHECK_ALLOC(wanted, err);
    if (count == 0)
        return 0;
    WT_TRY(encode_with_teacher(d, dev->texts, count, false, wanted, err));
    WT_TRY(wt__distil_tokens(&tokens, d->tokenizer, dev->texts, count, wt__encoder_max_tokens(d->teacher), err));
    for (uint32_t i = 0; i < count; i++) {
        wt__student_begin(&d->student);
        wt__student_forward(&d->student, &tokens, &i, 1);
        for (size_t k = 0; k < d->dim; k++)
            sum += (double)d->student.vectors[k] * wanted[i * d->dim + k];
    }
    out->cosine = sum / (double)count;
    return 0;
}

/* Returns the last path component of each data set, or of the store if there are no data sets. NULL if out of memory.
 */
static json_t *name_data(const struct distil_run *d)
{
    json_t *names = json_array();
    const char *data = d->options->data ? d->options->data : d->engine->path;
    struct str folder;
    int failed = !names;
    while (!failed && wt__str_line(&data, &folder)) {
        char *path = wt__arena_copy(d->arena, folder);
        struct str name = path ? wt__model_name(path) : folder;
        failed = !path || json_array_append_new(names, wt__json_string(name)) < 0;
    }
    if (!failed)
        return names;
    json_decref(names);
    return NULL;
}

static json_t *describe_teacher(const struct distil_run *d)
{
    const struct distil_settings *s = &d->settings;
    const struct examples *e = &d->examples;
    json_t *about = json_pack(
        "{s:s, s:s, s:{s:o, s:s}, s:{s:s, s:o, s:I, s:I, s:I, s:I}, s:{s:I, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:I, "
        "s:f, s:f, s:I}}",
        "lesson", "distil", "version", wt_version(), "teacher", "name",
        wt__json_string(wt__str(wt__encoder_name(d->teacher))), "hash", wt__encoder_hash(d->teacher), "data", "sha256",
        e->hash, "sources", name_data(d), "tools", (json_int_t)e->tools, "requests", (json_int_t)e->train.count,
        "dev_requests", (json_int_t)e->dev.count, "texts", (json_int_t)d->texts.count, "options", "dimension",
        (json_int_t)d->dim, "smoothing", s->smoothing, "epochs", s->epochs, "rate", s->rate, "batch",
        (json_int_t)s->batch, "likeness", s->likeness, "contrast_epochs", s->contrast_epochs, "contrast_rate",
        s->contrast_rate, "contrast_batch", (json_int_t)s->contrast_batch, "contrast_scale", s->contrast_scale,
        "contrast_share", s->contrast_share, "seed", (json_int_t)s->seed);
    int failed = !about;
    if (about && *wt__encoder_fields(d->teacher)) /* the student reads the same fields of a tool as the teacher */
        failed |= json_object_set_new(
            about, "fields", wt__document_name_fields(wt__document_fields(wt__encoder_fields(d->teacher), NULL)));
    if (!failed)
        return about;
    json_decref(about);
    return NULL;
}

static int save_student(struct distil_run *d, wt_distilled *out, wt_error *err)
{
    json_auto_t *about = describe_teacher(d);
    WT_CHECK_ALLOC(about, err);
    WT_TRY(wt__model_refuse_replacing(d->options->out, err)); /* again, because another process may have written it */
    WT_TRY(wt__token_table_save(d->options->out, d->folder, d->student.rows, d->student.tokens, d->dim, about, err));
    const char *weights = wt__path_join(d->arena, d->options->out, TRAINED_WEIGHTS);
    out->path = wt__arena_copy(d->arena, wt__str(d->options->out));
    out->teacher = wt__arena_copy(d->arena, wt__str(wt__encoder_name(d->teacher)));
    if (!weights || !out->path || !out->teacher)
        return wt__fail_nomem(err);
    out->bytes = wt__file_size(weights);
    out->tokens = d->student.tokens;
    out->dimension = d->dim;
    out->texts = d->texts.count;
    out->requests = d->settings.contrast_epochs > 0 ? d->examples.train.count : 0;
    return wt__examples_notice(&d->examples, d->arena, &out->notice, err);
}

/* ---------------------------------------------------------------- distillation */

static int report_distilling(void *context, const wt_train_progress *p)
{
    const wt_distil_options *o = context;
    return o->progress ? o->progress(o->progress_context, p->phase, p->done, p->total) : 0;
}

static int make_table(struct distil_run *d, wt_error *err)
{
    const struct distil_settings *s = &d->settings;
    size_t room = s->batch > 2 * s->contrast_batch ? s->batch : 2 * s->contrast_batch;
    if (d->dim < d->width)
        d->axes = wt__alloc_aligned(d->dim * d->width, sizeof *d->axes);
    d->wanted = wt__alloc_aligned(d->texts.count * d->dim, sizeof *d->wanted);
    WT_CHECK_ALLOC(d->wanted && (d->axes || d->dim == d->width), err);
    WT_TRY(wt__student_open(&d->student, d->tokenizer->token_count, d->dim, room, err));
    WT_TRY(encode_with_teacher(d, d->texts.texts, d->texts.count, d->axes != NULL, d->wanted, err));
    WT_TRY(begin_rows(d, err));
    WT_TRY(wt__distil_fit(&d->student, &d->texts, d->wanted, s, &d->steps, err));
    return wt__distil_contrast(&d->student, &d->texts, s, &d->steps, err);
}

static int run_distilling(struct distil_run *d, wt_engine **own, wt_distilled *out, wt_error *err)
{
    double began = wt__now_ms();
    WT_TRY(wt__model_refuse_replacing(d->options->out, err));
    WT_TRY(read_distil_texts(d, own, err));
    WT_TRY(set_epochs(d, err));
    WT_TRY(make_table(d, err));
    WT_TRY(measure_student(d, out, err));
    WT_TRY(save_student(d, out, err));
    out->seconds = (wt__now_ms() - began) / 1000;
    return 0;
}

int wt_distil(wt_engine *engine, const wt_distil_options *given, wt_distilled **out, wt_error *err)
{
    wt_distil_options options;
    wt_engine *own = NULL;
    *out = NULL;
    struct distil_run d = {.engine = engine, .options = &options};
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    if (!engine && !options.data)
        return wt__fail(err, WT_EINVAL, "name a store or a data set to learn from");
    struct distil_result *result = calloc(1, sizeof *result);
    WT_CHECK_ALLOC(result, err);
    d.arena = &result->arena;
    int rc = read_distil_options(&d, err);
    if (rc < 0) {
        wt_distilled_free(&result->visible);
        return rc;
    }
    wt__train_progress_init(&d.steps, report_distilling, &options);
    wt__progress_init(&d.progress, options.progress, options.progress_context);
    wt__blas_load(NULL); /* without BLAS the library's own kernels are used */
    rc = run_distilling(&d, &own, &result->visible, err);
    wt__progress_dispose(&d.progress);
    wt__student_dispose(&d.student);
    wt__distil_texts_dispose(&d.texts);
    wt__examples_dispose(&d.examples);
    free(d.axes);
    free(d.wanted);
    wt_close(own);
    if (rc == 0)
        *out = &result->visible;
    else
        wt_distilled_free(&result->visible);
    return rc;
}
