/* train.c: wt_train: opens the catalogue, reads the examples, runs the lessons in order, and builds the report. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/pool.h"
#include "encoder/config.h"
#include "encoder/model_dir.h"
#include "changes/corpus.h"
#include "query/ptr_sources.h"
#include "changes/recorded_use.h"
#include "engine/sized_options.h"
#include "learn/dev_evaluator.h"
#include "learn/examples.h"
#include "learn/learn.h"
#include "learn/siblings.h"
#include "learn/trainers.h"
#include "nn/kernels/kernels.h"
#include "nn/matrix.h"
#include "recipe/trained.h"

/* The lessons in the order in which "all" runs them. The encoder comes first because the others use it. The columns are
 * those of struct lesson in its order. */
enum {
    ONE_SET = LESSON_NEEDS_MODEL | LESSON_NEEDS_ONE_SET,
    LAYERS = LESSON_NEEDS_MODEL | LESSON_NEEDS_LAYERS,
    WISH = LESSON_NEEDS_MODEL | LESSON_NEEDS_WISH
};
#define LESSON(name, about, figure, losses, needs, batch, rate, run)                                                   \
    {                                                                                                                  \
        {name, about}, figure, losses, needs, batch, rate, run                                                         \
    }
#define MEAN_RECALL "mean recall at 3, 5 and 7"
static const struct lesson lessons[] = {
    LESSON("encoder", "The dense encoder: fine-tuned on requests and the tools that they used",
           "recall@5 by description and use", "contrast triplet softmax bce likeness", LAYERS, 32, 0,
           wt__lesson_encoder),
    LESSON("dpr", "Dense retrieval over the tools' texts by the trained encoder, which it measures", "recall@5", "",
           ONE_SET, 1, 0, wt__lesson_dpr),
    LESSON("tool2vec", "An embedding of each tool from the requests that used it, interpolated with its description's",
           "recall@5", "", ONE_SET, 1, 0, wt__lesson_tool2vec),
    LESSON("mlc", "A multi-label classifier of requests, with a row for each tool", MEAN_RECALL,
           "contrast softmax bce kept", ONE_SET, MLC_BATCH, MLC_RATE, wt__lesson_mlc),
    LESSON("neighbours", "Past requests with the tools that they used, for nearest-neighbour retrieval", "recall@5", "",
           ONE_SET, 1, 0, wt__lesson_neighbours),
    LESSON("tool2vec+refiner", "A refiner, which reranks the best of tool2vec together with the request", MEAN_RECALL,
           "softmax bce", ONE_SET | LAYERS, REFINER_BATCH, REFINER_RATE, wt__lesson_refiner),
    LESSON("mlc+refiner", "A refiner, which reranks the best of mlc together with the request", MEAN_RECALL,
           "softmax bce", ONE_SET | LAYERS, REFINER_BATCH, REFINER_RATE, wt__lesson_refiner),
    LESSON("auto", "Model selection: which recipe, with which weights, is best on dev", "recall@5", "", ONE_SET, 1, 0,
           wt__lesson_auto),
    LESSON("set", "Set prediction: which of the hits a request needs, calibrated, and when no tool fits", "TRACC", "",
           ONE_SET, 1, 0, wt__lesson_set),
    LESSON("cross", "A cross-encoder, which reads a request and a tool together; not part of \"all\"",
           "recall@5 of the best 30, reranked", "softmax bce both", WISH, CROSS_BATCH, CROSS_RATE, wt__lesson_cross),
    LESSON("toolrerank", "ToolRerank: single- or multi-provider requests, and the parameters of its algorithms",
           "mean of recall and NDCG at 5", "", ONE_SET, 1, 0, wt__lesson_toolrerank),
};
enum { LESSONS = sizeof lessons / sizeof *lessons };

const wt_lesson *wt_lesson_at(size_t index)
{
    return index < LESSONS ? &lessons[index].public : NULL;
}

#define LOCK_FILE "training.lock"
#define ALL "all" /* name of all lessons except those that must be named (LESSON_NEEDS_WISH) */
enum { SEED = 1, THREADS_MAX = 256, BATCH_MAX = 1 << 16, ACCUMULATE_MAX = 1 << 16, CANDIDATES_MAX = 1024 };
static const double EPOCHS_MAX = 10000, RATE_MAX = 1, JOIN_MAX = .9;

/* Report and its memory. */
struct training_report {
    wt_train_report visible;     /* first, so that the public pointer equals the pointer to this struct */
    struct arena arena;          /* the training's arena, moved here at its end; owns the report's strings */
    wt_trained *items;           /* [LESSONS] results; the first visible.len are set */
    const wt_trained **pointers; /* [LESSONS] pointers to items */
};

void wt_train_report_free(wt_train_report *visible)
{
    struct training_report *report = (struct training_report *)visible;
    if (!report)
        return;
    wt__arena_dispose(&report->arena);
    free(report->items);
    free(report->pointers);
    free(report);
}

/* ---------------------------------------------------------------- options */

/* Returns the number of folders in data, one a line. */
static size_t count_folders(const char *data)
{
    struct str folder;
    size_t count = 0;
    while (data && wt__str_line(&data, &folder))
        count++;
    return count;
}

static int check_train_options(const char *name, const wt_train_options *o, wt_error *err)
{
    if (o->loss && strcmp(name, ALL) == 0)
        return wt__fail(err, WT_EINVAL, "each lesson has its own losses; name the lesson of the loss \"%s\"", o->loss);
    if (!(o->epochs >= 0 && o->epochs <= EPOCHS_MAX))
        return wt__fail(err, WT_EINVAL, "epochs must be above 0 and at most %.0f", EPOCHS_MAX);
    if (!(o->rate >= 0 && o->rate <= RATE_MAX))
        return wt__fail(err, WT_EINVAL, "the learning rate must be above 0 and at most %.0f", RATE_MAX);
    if (o->batch > BATCH_MAX)
        return wt__fail(err, WT_EINVAL, "a batch has at most %d requests", BATCH_MAX);
    if (o->accumulate > ACCUMULATE_MAX)
        return wt__fail(err, WT_EINVAL, "a step has at most %d batches", ACCUMULATE_MAX);
    if (o->candidates > CANDIDATES_MAX)
        return wt__fail(err, WT_EINVAL, "a refiner takes at most %d candidates", CANDIDATES_MAX);
    if (o->negatives > NEGATIVES_MAX)
        return wt__fail(err, WT_EINVAL, "a request has at most %d hard negatives", NEGATIVES_MAX);
    if (o->siblings > SIBLINGS_MOST)
        return wt__fail(err, WT_EINVAL, "a request has at most %d siblings", SIBLINGS_MOST);
    if (o->siblings > 0 && strcmp(name, TRAINED_ENCODER) != 0 && strcmp(name, ALL) != 0)
        return wt__fail(err, WT_EINVAL, "siblings work with \"encoder\", not with \"%s\"", name);
    if (o->layers > 0 && strcmp(name, TRAINED_ENCODER) != 0 && strcmp(name, "cross") != 0 && !strstr(name, "+refiner"))
        return wt__fail(err, WT_EINVAL, "layers work with \"encoder\", \"cross\" and refiners, not with \"%s\"", name);
    if (o->synthetic > SYNTHETIC_MAX)
        return wt__fail(err, WT_EINVAL, "synthetic requests must be at most %d", SYNTHETIC_MAX);
    if (!(o->join >= 0 && o->join <= JOIN_MAX))
        return wt__fail(err, WT_EINVAL, "the share of joined requests must be 0 to %.1f", JOIN_MAX);
    if (o->precision && strcmp(o->precision, "fp32") != 0 && strcmp(o->precision, "bf16") != 0)
        return wt__fail(err, WT_EINVAL, "the precision must be fp32 or bf16, not \"%s\"", o->precision);
    if (o->precision && strcmp(o->precision, "bf16") == 0 && !wt__amx_ready())
        return wt__fail(err, WT_EINVAL, "this processor has no matrix registers for bf16; omit the precision");
    if (o->threads > THREADS_MAX)
        return wt__fail(err, WT_EINVAL, "threads must be at most %d", THREADS_MAX);
    return 0;
}

/* True if the name selects the lesson. */
static bool is_wanted(const char *name, size_t i)
{
    bool all = strcmp(name, ALL) == 0 && !(lessons[i].needs & LESSON_NEEDS_WISH);
    return all || strcmp(name, lessons[i].public.name) == 0;
}

/* Parses the next line of most_of and advances *lines. A line is NAME=N, or N, which sets *name to an empty string.
 * Returns 1, 0 after the last line, or -1 if the line is invalid. */
static int parse_next_most(const char **lines, struct str *name, size_t *most)
{
    struct str line = {0};
    if (!*lines || !wt__str_line(lines, &line))
        return 0;
    const char *sign = memchr(line.ptr, '=', line.len), *digits = sign ? sign + 1 : line.ptr;
    char *end;
    *name = (struct str){line.ptr, sign ? (size_t)(sign - line.ptr) : 0};
    if (sign == line.ptr)
        return -1;
    unsigned long long number = strtoull(digits, &end, 10);
    *most = (size_t)number;
    return *digits >= '0' && *digits <= '9' && end == line.ptr + line.len && number > 0 && number <= WT_MAX_USAGES ? 1
                                                                                                                   : -1;
}

/* Returns the maximum number of training requests of a data set, 0 for no maximum. data: its folder; NULL for the
 * store's recorded use. */
static size_t find_most_requests(const wt_train_options *o, const char *data)
{
    const char *lines = o->most_of;
    struct str name, own = data ? wt__model_name(data) : (struct str){0};
    size_t all = o->most, most;
    while (parse_next_most(&lines, &name, &most) > 0) {
        if (name.len > 0 && wt__str_equal(name, own))
            return most;
        all = name.len > 0 ? all : most;
    }
    return all;
}

/* True if data lists a folder with this name as its last path component. */
static bool has_folder(struct training *training, const char *data, struct str name)
{
    struct str folder;
    while (data && wt__str_line(&data, &folder)) {
        const char *path = wt__arena_copy(&training->arena, folder);
        if (path && wt__str_equal(wt__model_name(path), name))
            return true;
    }
    return false;
}

/* Validates options->most_of: the syntax of each line, and that each name is a data set of the training. */
static int check_most(struct training *training, wt_error *err)
{
    const wt_train_options *o = training->options;
    const char *lines = o->most_of, *line = lines;
    struct str name;
    size_t most;
    int rc;
    for (; (rc = parse_next_most(&lines, &name, &most)) > 0; line = lines)
        if (name.len > 0 && !has_folder(training, o->data, name))
            return wt__fail(err, WT_EINVAL, "no data set is called \"%.*s\", which was limited to %zu requests",
                            (int)(name.len < 60 ? name.len : 60), name.ptr, most);
    if (rc == 0)
        return 0;
    line += *line == '\n';
    size_t len = strcspn(line, "\n");
    return wt__fail(err, WT_EINVAL, "a limit of requests must be N or NAME=N, N from 1 to %d, not \"%.*s\"",
                    WT_MAX_USAGES, (int)(len < 60 ? len : 60), line);
}

/* Rejects combinations of lessons and data. Lessons that need a single catalogue cannot use several data sets, joined
 * requests or synthetic requests, which add a catalogue without descriptions. A store cannot be combined with several
 * data sets. given: the store, or NULL. */
static int check_sets(const char *name, const wt_train_options *o, const wt_engine *given, wt_error *err)
{
    size_t count = count_folders(o->data);
    for (size_t i = 0; (o->synthetic > 0 || o->join > 0) && i < LESSONS; i++)
        if (is_wanted(name, i) && (lessons[i].needs & LESSON_NEEDS_ONE_SET))
            return wt__fail(err, WT_EINVAL, "%s requests work with \"encoder\" and \"cross\", not with \"%s\"",
                            o->synthetic > 0 ? "synthetic" : "joined", lessons[i].public.name);
    if (o->data && count == 0)
        return wt__fail(err, WT_EINVAL, "the list of data sets is empty");
    if (count <= 1)
        return 0;
    if (count > EXAMPLES_PARTS)
        return wt__fail(err, WT_EINVAL, "a training takes at most %d data sets", EXAMPLES_PARTS);
    if (given)
        return wt__fail(err, WT_EINVAL, "several data sets have catalogues of their own; omit the store");
    for (size_t i = 0; i < LESSONS; i++)
        if (is_wanted(name, i) && (lessons[i].needs & LESSON_NEEDS_ONE_SET))
            return wt__fail(err, WT_EINVAL, "\"%s\" takes one catalogue, not %zu data sets", lessons[i].public.name,
                            count);
    return 0;
}

static int check_training_name(const char *name, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
    for (size_t i = 0; i < LESSONS; i++) {
        if (name && is_wanted(name, i)) {
            wt__buffer_dispose(&names);
            return 0;
        }
        wt__buffer_printf(&names, "%s, ", lessons[i].public.name);
    }
    if (names.failed)
        return wt__fail_nomem(err);
    return wt__fail(err, WT_EINVAL, "unknown lesson \"%s\"; choose from: %s" ALL, name ? name : "", names.ptr);
}

/* Converts the names of fields of a tool to bits. names: NULL for the default fields, which sets *out to 0. */
static int read_fields(const char *lesson, const char *names, unsigned *out, wt_error *err)
{
    struct str unknown;
    *out = 0;
    if (!names)
        return 0;
    if (strcmp(lesson, TRAINED_ENCODER) != 0 && strcmp(lesson, TRAINED_CROSS) != 0)
        return wt__fail(err, WT_EINVAL, "fields can be chosen for \"encoder\" and \"cross\", not for \"%s\"", lesson);
    *out = wt__document_fields(names, &unknown);
    if (*names && !unknown.ptr)
        return 0;
    return wt__fail(err, WT_EINVAL,
                    "unknown field \"%.*s\"; choose from: category, provider, name, description, parameters",
                    (int)(unknown.len < 60 ? unknown.len : 60), unknown.ptr ? unknown.ptr : "");
}

/* ---------------------------------------------------------------- folders */

/* Locks the folder, because only one training at a time may write its models and checkpoints. */
static int lock_models_folder(struct training *training, wt_error *err)
{
    char *path = wt__path_join(&training->arena, training->out, LOCK_FILE);
    int rc = path ? wt__lock_file(&training->lock, path, 0, err) : wt__fail_nomem(err);
    if (rc == WT_EBUSY)
        return wt__fail(err, rc, "another training writes to %s; wait for it, or choose another folder", training->out);
    return rc;
}

/* Sets, creates and locks the folder of the models: the caller's, or by default BASE-models. */
static int set_models_folder(struct training *training, const char *base, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0};
    if (training->options->out)
        wt__buffer_text(&path, training->options->out);
    else
        wt__buffer_printf(&path, "%s-models", base);
    training->out = path.failed ? NULL : wt__arena_copy(&training->arena, wt__buffer_view(&path));
    WT_CHECK_ALLOC(training->out, err);
    WT_TRY(wt__make_folders(training->out, err));
    return lock_models_folder(training, err);
}

static int open_training_catalogue(struct training *training, const char *data, wt_engine **out, wt_error *err)
{
    const wt_train_options *o = training->options;
    struct corpus_options corpus = {.cache_dir = o->cache_dir,
                                    .model = o->model,
                                    .models_dir = o->models_dir,
                                    .progress = wt__train_progress_forward,
                                    .progress_context = &training->progress};
    return wt__corpus_open(out, data, &corpus, err);
}

/* Opens the catalogue of the given store or of the first data set, and sets the models' folder. The catalogues of
 * further data sets are opened when these are read (read_data_set). *own: engine opened here, to be closed by the
 * caller. */
static int open_train_catalogue(struct training *training, wt_engine *given, wt_engine **own, wt_error *err)
{
    const wt_train_options *o = training->options;
    training->engine = given;
    if (given && !o->out && !given->index_folder[0])
        return wt__fail(err, WT_EINVAL, "a store in memory has no folder for models; name one (--out)");
    if (given)
        return set_models_folder(training, given->base, err);
    if (!o->data || !o->out)
        return wt__fail(err, WT_EINVAL, "name %s",
                        o->data ? "a folder for the models (--out)" : "a store or a data set to learn from");
    struct str first;
    const char *data = o->data, *folder;
    wt__str_line(&data, &first);
    folder = wt__arena_copy(&training->arena, first);
    WT_CHECK_ALLOC(folder, err);
    WT_TRY(open_training_catalogue(training, folder, own, err));
    training->engine = *own;
    return set_models_folder(training, "", err);
}

/* ---------------------------------------------------------------- lessons */

/* Appends the notice on dropped examples, if any, to the lesson's own notice. */
static int add_lesson_notice(struct training *training, wt_trained *item, wt_error *err)
{
    const char *examples;
    WT_TRY(wt__examples_notice(&training->examples, &training->arena, &examples, err));
    if (!examples)
        return 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (item->notice)
        wt__buffer_printf(&text, "%s; ", item->notice);
    wt__buffer_text(&text, examples);
    item->notice = text.failed ? NULL : wt__arena_copy(&training->arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(item->notice, err);
    return 0;
}

/* Skips a lesson that needs layers to train, because the encoder is static. Sets item->notice to the reason. alone:
 * true if no other lesson was requested; then fails with the reason as the error. */
static int skip_lesson(struct training *training, const struct encoder *encoder, bool alone, wt_trained *item,
                       wt_error *err)
{
    wt_error why;
    int rc = wt__fail(&why, WT_EMODEL, "%s is a static encoder, which has no layers to train; begin with another model",
                      wt__encoder_name(encoder));
    if (alone && err)
        *err = why;
    if (alone)
        return rc;
    item->path = "";
    item->notice = wt__arena_copy(&training->arena, wt__str(why.message));
    return item->notice ? 0 : wt__fail_nomem(err);
}

static int run_lesson(struct training *training, const struct lesson *lesson, bool alone, wt_trained *item,
                      wt_error *err)
{
    const struct encoder *encoder = NULL;
    training->lesson = lesson;
    wt__train_progress_lesson(&training->progress, lesson->public.name);
    *item = (wt_trained){.lesson = lesson->public.name,
                         .figure = lesson->figure,
                         .path = wt__training_folder(training, lesson->public.name),
                         .before = NAN,
                         .after = NAN};
    WT_CHECK_ALLOC(item->path, err);
    if (lesson->needs & LESSON_NEEDS_MODEL)
        WT_TRY(wt__engine_encoder(training->engine, &encoder, err));
    if (lesson->needs & LESSON_NEEDS_LAYERS && wt__encoder_is_static(encoder))
        return skip_lesson(training, encoder, alone, item, err);
    WT_TRY(lesson->run(training, item, err));
    WT_TRY(wt__train_progress_move(&training->progress, item, err));
    return add_lesson_notice(training, item, err);
}

/* Training data while it is read, set by set. */
struct training_reading {
    struct training *training;
    struct examples_options options;
    struct examples *sets; /* [count] */
    size_t *most;          /* [count] maximum training requests of each set; 0 for all */
    wt_engine **engines;   /* [count] engine with the catalogue of each set */
    size_t count;          /* at most two for each data set: its own requests, and synthetic requests */
    bool capped;           /* true if any set has a maximum */
};

/* Appends the requests of a catalogue as one set, and the synthetic requests as another set if the options specify
 * any. Some synthetic requests are dev only if the catalogue has no other requests. data: folder of the data set; NULL
 * to read the store's recorded use. */
static int read_training_examples(struct training_reading *r, const char *data, wt_engine *engine, wt_error *err)
{
    struct training *training = r->training;
    struct train_progress *progress = &training->progress;
    struct examples_options options = r->options;
    options.data = data;
    size_t synthetic = training->options->synthetic, most = find_most_requests(training->options, data);
    r->most[r->count] = r->most[r->count + 1] = most;
    r->engines[r->count] = r->engines[r->count + 1] = engine;
    r->capped |= most > 0;
    int rc = wt__examples_read(&r->sets[r->count], engine, &options, progress, err);
    if (rc < 0 && (rc != WT_EEMPTY || synthetic == 0))
        return rc;
    r->count += rc == 0;
    if (synthetic == 0)
        return 0;
    options.synthetic = synthetic;
    options.no_dev = rc == 0;
    rc = wt__examples_read(&r->sets[r->count], engine, &options, progress, err);
    r->count += rc == 0;
    return rc;
}

/* Reads a data set. Uses the training's engine as the catalogue of the first data set, and opens a catalogue for each
 * further data set. */
static int read_data_set(struct training_reading *r, struct str folder, wt_error *err)
{
    struct training *training = r->training;
    wt_engine *engine = training->engine;
    const char *data = wt__arena_copy(&training->arena, folder);
    WT_CHECK_ALLOC(data, err);
    if (r->count > 0) {
        WT_TRY(open_training_catalogue(training, data, &engine, err));
        training->others[training->other_count++] = engine;
    }
    return read_training_examples(r, data, engine, err);
}

/* Returns the reading options. An encoder in training reads the requested fields; other lessons read the fields of
 * their base model. */
static struct examples_options make_reading_options(struct training *training, const char *lesson)
{
    struct examples_options options = {.seed = training->seed};
    struct training_base base;
    if (strcmp(lesson, TRAINED_ENCODER) == 0) {
        options.document_fields = training->fields;
    } else if (wt__training_base(training, &base, NULL) == 0) {
        options.document_fields = wt__document_fields(base.fields, NULL);
        options.fields = training->fields;
    }
    return options;
}

static void dispose_training_reading(struct training_reading *r)
{
    for (size_t s = 0; s < r->count; s++)
        wt__examples_dispose(&r->sets[s]);
    free(r->sets);
    free(r->most);
}

static int read_all_sets(struct training *training, const char *lesson, wt_error *err)
{
    WT_CLEANUP(dispose_training_reading)
    struct training_reading r = {.training = training,
                                 .options = make_reading_options(training, lesson),
                                 .sets = wt__alloc_zeros(2 * EXAMPLES_PARTS, sizeof *r.sets),
                                 .most = wt__alloc_zeros(2 * EXAMPLES_PARTS, sizeof *r.most),
                                 .engines = wt__arena_array(&training->arena, wt_engine *, 2 * EXAMPLES_PARTS)};
    training->engines = r.engines;
    struct str folder;
    const char *data = training->options->data;
    WT_CHECK_ALLOC(r.sets && r.most && r.engines, err);
    if (!data)
        WT_TRY(read_training_examples(&r, NULL, training->engine, err));
    while (data && wt__str_line(&data, &folder))
        WT_TRY(read_data_set(&r, folder, err));
    if (r.count == 1 && !r.capped) {
        training->examples = r.sets[0];
        r.count = 0;
    } else {
        WT_TRY(wt__examples_join(&training->examples, r.sets, r.most, r.count, training->seed, err));
    }
    return training->options->join > 0
               ? wt__examples_join_requests(&training->examples, training->options->join, training->seed, err)
               : 0;
}

static int run_lessons(struct training *training, const char *name, struct training_report *report, wt_error *err)
{
    WT_TRY(read_all_sets(training, name, err));
    for (size_t i = 0; i < LESSONS; i++)
        if (is_wanted(name, i)) {
            WT_TRY(run_lesson(training, &lessons[i], strcmp(name, ALL) != 0, &report->items[report->visible.len], err));
            report->visible.len++;
        }
    return 0;
}

/* Makes the engine load the trained models again, and prepares its index and bundles for the next query. Preparing the
 * bundles may fail without failing the training, except if cancelled or out of memory. */
static int adopt_models(wt_engine *engine, struct train_progress *progress, wt_error *err)
{
    struct progress update;
    wt__engine_forget_trained(engine);
    wt__progress_init(&update, wt__train_progress_forward, progress);
    int rc = wt__engine_update_trained(engine, &update, err);
    int prepared = rc == 0 ? wt__ptr_prepare(engine, &update, NULL) : 0;
    wt__progress_dispose(&update);
    if (rc == 0)
        wt__usage_mark_trained(engine, NULL);
    if (prepared == WT_ECANCELLED)
        return wt__fail_cancelled(err);
    return prepared == WT_ENOMEM ? wt__fail_nomem(err) : rc;
}

int wt_train(wt_engine *engine, const char *lesson, const wt_train_options *given, wt_train_report **out, wt_error *err)
{
    wt_train_options options;
    wt_engine *own = NULL;
    *out = NULL;
    unsigned fields;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    WT_TRY(check_training_name(lesson, err));
    WT_TRY(check_train_options(lesson, &options, err));
    WT_TRY(check_sets(lesson, &options, engine, err));
    if (engine && wt__store_replica_of(engine->store))
        return wt__engine_refuse_read_only(engine, "nothing can be trained", err);
    WT_TRY(read_fields(lesson, options.fields, &fields, err));
    struct training training = {
        .options = &options, .seed = options.seed ? options.seed : SEED, .fields = fields, .lock = -1};
    training.threads = options.threads ? options.threads : engine ? engine->threads : 0;
    training.threads = training.threads ? training.threads : wt__processor_count();
    training.reduced = (!options.precision || strcmp(options.precision, "bf16") == 0) && wt__amx_ready();
    training.memory = options.memory ? options.memory : wt__memory_available();
    wt__train_progress_init(&training.progress, options.progress, options.progress_context);
    training.progress.arena = &training.arena;
    int rc = check_most(&training, err);
    if (rc < 0) {
        wt__arena_dispose(&training.arena);
        return rc;
    }
    wt__blas_load(NULL); /* without BLAS the library's own kernels are used */
    struct training_report *report = calloc(1, sizeof *report);
    if (report)
        report->items = calloc(LESSONS, sizeof *report->items);
    if (report)
        report->pointers = calloc(LESSONS, sizeof *report->pointers);
    rc = report && report->items && report->pointers ? open_train_catalogue(&training, engine, &own, err)
                                                     : wt__fail_nomem(err);
    if (rc == 0)
        rc = run_lessons(&training, lesson, report, err);
    wt__evaluator_free(training.evaluator);
    if (rc == 0 && engine)
        rc = adopt_models(engine, &training.progress, err);
    wt__examples_dispose(&training.examples);
    for (size_t i = 0; i < training.other_count; i++)
        wt_close(training.others[i]);
    wt__train_progress_dispose(&training.progress);
    wt__unlock_file(training.lock);
    wt_close(own);
    if (report) {
        report->arena = training.arena;
        report->visible.items = report->pointers;
        for (size_t i = 0; i < report->visible.len; i++)
            report->pointers[i] = &report->items[i];
    } else {
        wt__arena_dispose(&training.arena);
    }
    if (report && (rc == 0 || report->visible.len > 0))
        *out = &report->visible;
    else if (report)
        wt_train_report_free(&report->visible);
    return rc;
}
