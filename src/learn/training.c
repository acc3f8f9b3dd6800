/* training.c: code that the lessons share: folders, options, and the description of a training in its model.
 *
 * The config.json of a trained model has a member "whichtool". It contains the description of the training (data, base
 * and options), the figures, and "identity". The identity is the SHA-256 of the description as JSON text, without the
 * path of the data. Equal identities mean that the trainings are equal. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "encoder/model_dir.h"
#include "encoder/trainable.h"
#include "learn/learn.h"

enum {
    PROC_FILE_MAX = 1 << 13, /* maximum bytes read of a file in /proc or /sys, which reports no size */
    CONFIG_MAX = 1 << 20     /* maximum bytes of a config.json */
};

/* Reads the number after the first `key` in a file. The key "" reads the number at the beginning of the file. Returns
 * false if the file, the key or the number is missing (memory.max may contain the word "max"). */
static bool read_number_after(const char *path, const char *key, uint64_t *number)
{
    char text[PROC_FILE_MAX + 1], *end = NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    text[fread(text, 1, PROC_FILE_MAX, file)] = '\0';
    fclose(file);
    const char *at = strstr(text, key);
    if (!at)
        return false;
    at += strlen(key);
    *number = strtoull(at, &end, 10);
    return end != at;
}

uint64_t wt__memory_available(void)
{
    uint64_t kilobytes, most, used, available = 0;
    if (read_number_after("/proc/meminfo", "MemAvailable:", &kilobytes))
        available = kilobytes << 10;
    if (read_number_after("/sys/fs/cgroup/memory.max", "", &most) &&
        read_number_after("/sys/fs/cgroup/memory.current", "", &used)) {
        uint64_t left = most > used ? most - used : 0;
        available = available == 0 || left < available ? left : available;
    }
    return available;
}

/* ---------------------------------------------------------------- folders and bases */

static void describe_base(struct training_base *out, const char *folder, const struct encoder *encoder)
{
    out->folder = folder;
    snprintf(out->hash, sizeof out->hash, "%s", wt__encoder_hash(encoder));
    snprintf(out->fields, sizeof out->fields, "%s", wt__encoder_fields(encoder));
}

char *wt__training_folder(struct training *training, const char *name)
{
    return wt__path_join(&training->arena, training->out, name);
}

int wt__training_model(struct training *training, struct training_base *out, wt_error *err)
{
    const struct encoder *encoder;
    WT_TRY(wt__engine_encoder(training->engine, &encoder, err));
    describe_base(out, training->engine->model_folder, encoder);
    return 0;
}

/* Returns member "whichtool" of a model's config.json, or NULL. Release it with json_decref. */
static json_t *read_model_about(const char *folder)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_AUTO_FREE char *text = NULL;
    size_t len;
    json_auto_t *config = NULL;
    const char *path = wt__path_join(&arena, folder, "config.json");
    if (!path || wt__file_read(&text, &len, path, CONFIG_MAX, NULL) < 0 || wt__json_parse(&config, text, len, NULL) < 0)
        return NULL;
    return json_incref(wt__json_object(config, "whichtool"));
}

int wt__training_base(struct training *training, struct training_base *out, wt_error *err)
{
    WT_TRY(wt__training_model(training, out, err));
    const char *trained = wt__training_folder(training, "encoder");
    WT_CHECK_ALLOC(trained, err);
    json_auto_t *about = read_model_about(trained);
    if (!wt__str_equal(wt__json_str(wt__json_object(about, "base"), "hash"), wt__str(out->hash)))
        return 0;
    struct encoder *encoder;
    WT_TRY(wt__encoder_open(&encoder, trained, err));
    describe_base(out, trained, encoder);
    wt__encoder_close(encoder);
    return 0;
}

int wt__training_run(const struct training *training, size_t count, pool_work work, void *context,
                     const wt_error *errors, wt_error *err)
{
    int rc = wt__pool_run(training->threads, count, work, context);
    for (unsigned w = 0; rc < 0 && err && w < training->threads; w++)
        if (errors[w].code)
            *err = errors[w];
    return rc;
}

/* ---------------------------------------------------------------- options */

int wt__training_loss(const struct training *training, wt_error *err)
{
    const char *wanted = training->options->loss, *at = training->lesson->losses;
    if (!wanted)
        return 0;
    for (int place = 0; *at; place++) {
        size_t len = strcspn(at, " ");
        if (len == strlen(wanted) && memcmp(at, wanted, len) == 0)
            return place;
        at += len + (at[len] == ' ');
    }
    if (!*training->lesson->losses)
        return wt__fail(err, WT_EINVAL, "the lesson \"%s\" has a single loss; \"%s\" cannot be chosen",
                        training->lesson->public.name, wanted);
    return wt__fail(err, WT_EINVAL, "the lesson \"%s\" has no loss \"%s\"; it has: %s", training->lesson->public.name,
                    wanted, training->lesson->losses);
}

int wt__training_layers(const struct training *training, struct trainable *model, wt_error *err)
{
    size_t layers = wt__trainable_config(model)->layers, frozen = training->options->freeze;
    size_t kept = training->options->layers;
    if (kept > layers)
        return wt__fail(err, WT_EINVAL, "cannot keep %zu layers; the model has %zu", kept, layers);
    if (frozen > (kept > 0 ? kept : layers))
        return wt__fail(err, WT_EINVAL, "cannot freeze %zu layers; the model has %zu", frozen,
                        kept > 0 ? kept : layers);
    if (kept > 0)
        wt__trainable_cut(model, kept);
    if (frozen > 0)
        wt__trainable_freeze(model, frozen);
    return 0;
}

static double compute_epochs(const struct training *training, const struct lesson_plan *plan)
{
    if (training->options->epochs > 0)
        return training->options->epochs;
    double requests = (double)training->examples.train.count;
    if (plan->enough == 0)
        return plan->most;
    if (requests > plan->enough)
        return plan->enough / requests;
    double most = fmax(plan->most, fmin(round(plan->least / requests), LEAST_EPOCHS));
    return fmin(round(plan->enough / requests), most);
}

/* True if both paths lead to the same folder. */
static bool same_folder(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static json_t *describe_options(const struct training *training, const struct training_base *base,
                                const struct loop_options *loop)
{
    const struct examples *e = &training->examples;
    const wt_train_options *options = training->options;
    struct str name = wt__model_name(base->folder);
    const char *loss = options->loss ? options->loss : "";
    json_t *about = json_pack(
        "{s:s, s:s, s:{s:s, s:s, s:I, s:I, s:I}, s:{s:o, s:s}, s:{s:f, s:I, s:I, s:f, s:I, s:s, s:I, s:s}, s:I, s:I}",
        "lesson", training->lesson->public.name, "version", wt_version(), "data", "sha256", e->hash, "source",
        e->source, "tools", (json_int_t)e->tools, "requests", (json_int_t)e->train.count, "dev_requests",
        (json_int_t)e->dev.count, "base", "name", wt__json_string(name), "hash", base->hash, "options", "epochs",
        loop->epochs, "batch", (json_int_t)loop->batch, "accumulate", (json_int_t)loop->accumulate, "rate", loop->rate,
        "freeze", (json_int_t)options->freeze, "loss", loss, "candidates", (json_int_t)options->candidates, "precision",
        training->reduced ? "bf16" : "fp32", "seed", (json_int_t)training->seed, "threads",
        (json_int_t)training->threads);
    if (!about)
        return NULL;
    /* Write these options only if they are set, so that the identity of trainings without them does not change. */
    json_t *given = json_object_get(about, "options");
    int failed = 0;
    if (options->negatives > 0)
        failed |= json_object_set_new(given, "negatives", json_integer((json_int_t)options->negatives));
    if (options->siblings > 0)
        failed |= json_object_set_new(given, "siblings", json_integer((json_int_t)options->siblings));
    if (options->layers > 0)
        failed |= json_object_set_new(given, "layers", json_integer((json_int_t)options->layers));
    if (options->synthetic > 0)
        failed |= json_object_set_new(given, "synthetic", json_integer((json_int_t)options->synthetic));
    if (options->dev)
        failed |= json_object_set_new(given, "dev", json_string(options->dev));
    if (options->dev_tools > 0)
        failed |= json_object_set_new(given, "dev_tools", json_integer((json_int_t)options->dev_tools));
    if (options->teacher)
        failed |= json_object_set_new(given, "teacher", wt__json_string(wt__model_name(options->teacher)));
    if (options->keep_last)
        failed |= json_object_set_new(given, "keep", json_string("last"));
    if (training->fields)
        failed |= json_object_set_new(about, "fields", wt__document_name_fields(training->fields));
    if (!failed)
        return about;
    json_decref(about);
    return NULL;
}

/* Returns the training's identity: the hash of `about` as text, without the path of its data. NULL if out of memory. */
static char *hash_identity(struct arena *arena, const json_t *about)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    unsigned char digest[32];
    char hex[65];
    json_auto_t *bare = json_deep_copy(about);
    if (!bare)
        return NULL;
    json_object_del(json_object_get(bare, "data"), "source");
    if (wt__json_write(&text, bare) < 0 || text.failed)
        return NULL;
    wt__sha256(text.ptr, text.len, digest);
    wt__sha256_hex(digest, hex);
    return wt__arena_copy(arena, wt__str(hex));
}

static char *checkpoint_path(struct training *training, const char *name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer file = {0};
    wt__buffer_printf(&file, "%s.state", name);
    return file.failed ? NULL : wt__path_join(&training->arena, training->out, file.ptr);
}

int wt__training_plan(struct training *training, const struct lesson_plan *plan, const struct training_base *base,
                      struct loop_options *out, json_t **about, wt_error *err)
{
    const wt_train_options *options = training->options;
    const char *name = plan->name ? plan->name : training->lesson->public.name;
    char *folder = wt__training_folder(training, name);
    double row_rate = plan->rate > 0 ? plan->rate : training->lesson->rate;
    *about = NULL;
    *out = (struct loop_options){.seed = training->seed,
                                 .workers = training->threads,
                                 .memory = training->memory,
                                 .epochs = compute_epochs(training, plan),
                                 .batch = options->batch ? options->batch : training->lesson->batch,
                                 .accumulate = options->accumulate ? options->accumulate : 1,
                                 .rate = options->rate > 0 ? options->rate : row_rate,
                                 .warmup = plan->warmup,
                                 .schedule = plan->schedule,
                                 .adamw = ADAMW_DEFAULTS,
                                 .keep_last = options->keep_last != 0,
                                 .patience = PATIENCE,
                                 .resume = options->resume != 0,
                                 .checkpoint = checkpoint_path(training, name)};
    if (out->batch > training->examples.train.count)
        out->batch = training->examples.train.count;
    WT_CHECK_ALLOC(folder && out->checkpoint, err);
    if (same_folder(folder, base->folder))
        return wt__fail(err, WT_EINVAL,
                        "the training would replace its own initial model in %s; name another folder with --out, or "
                        "another model to start from",
                        folder);
    *about = describe_options(training, base, out);
    out->identity = *about ? hash_identity(&training->arena, *about) : NULL;
    if (!out->identity) {
        json_decref(*about);
        *about = NULL;
        return wt__fail_nomem(err);
    }
    return json_object_set_new(*about, "identity", json_string(out->identity)) < 0 ? wt__fail_nomem(err) : 0;
}

/* ---------------------------------------------------------------- outcome */

/* Returns a JSON number, or null if the value is unknown. */
static json_t *number_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

json_t *wt__training_outcome(const json_t *about, const char *figure, const struct loop_state *state)
{
    json_t *all = json_deep_copy(about), *dev = json_object();
    bool failed = !all || !dev || json_object_set_new(dev, "figure", json_string(figure)) < 0 ||
                  json_object_set_new(dev, "before", number_or_null(state->before)) < 0 ||
                  json_object_set_new(dev, "after", number_or_null(state->best)) < 0 ||
                  json_object_set_new(all, "step", json_integer((json_int_t)state->best_step)) < 0 ||
                  json_object_set_new(all, "steps", json_integer((json_int_t)state->steps)) < 0 ||
                  json_object_set(all, "dev", dev) < 0;
    json_decref(dev);
    if (!failed)
        return all;
    json_decref(all);
    return NULL;
}

bool wt__training_done(const struct training *training, const struct loop_options *options, wt_trained *out)
{
    if (!options->resume || wt__is_file(options->checkpoint))
        return false;
    json_auto_t *about = read_model_about(out->path);
    if (!wt__str_equal(wt__json_str(about, "identity"), wt__str(options->identity)))
        return false;
    const json_t *dev = wt__json_object(about, "dev");
    out->before = wt__json_real(dev, "before", NAN);
    out->after = wt__json_real(dev, "after", NAN);
    out->steps = (uint64_t)wt__json_int(about, "step", 0);
    out->epochs = (double)out->steps * (double)options->batch * (double)options->accumulate /
                  (double)training->examples.train.count;
    out->notice = "this training had already ended; its model is unchanged";
    return true;
}

void wt__training_result(const struct loop_result *result, wt_trained *out)
{
    out->before = result->state.before;
    out->after = result->state.best;
    out->steps = result->state.step;
    out->epochs = result->epochs;
    out->seconds = result->state.seconds;
    out->stopped_early = result->stopped_early;
    if (!isnan(result->state.before) && result->state.best_step == 0)
        out->notice = "no step improved the model on dev, so the initial model is kept";
}
