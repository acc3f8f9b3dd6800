/* learning.c: trains models before an evaluation: fits them on the split train and selects the best on dev. The
 * measured split is not used for training.
 *
 * The folder of models that were trained here is named after a hash of all inputs. The file "finished" in the folder
 * lists the completed lessons, since a killed training may leave an incomplete model. A model in options.trained is
 * rejected if its config.json has another hash of the training data. For a data set without a train split, models of
 * other data are measured, and the report names that data. */
#include "eval/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "catalog/dataset.h"
#include "encoder/model_dir.h"
#include "changes/corpus.h"
#include "engine/engine.h"
#include "changes/recorded_use.h"
#include "recipe/trained.h"
#include "recipe/recipes.h"

#define EDITION "whichtool learned store 1 " WT_VERSION "\n"
#define AUTOMATIC "auto"
#define FINISHED "finished"
enum { CONFIG_MAX = 64 << 20, FINISHED_MAX = 4096 };

void wt__learning_dispose(struct eval_learning *learning)
{
    wt__arena_dispose(&learning->arena);
}

/* ---------------------------------------------------------------- training data */

static void hash_u64(struct sha256 *sha, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    wt__sha256_update(sha, bytes, sizeof bytes);
}

static void hash_str(struct sha256 *sha, struct str s)
{
    hash_u64(sha, s.len);
    wt__sha256_update(sha, s.ptr, s.len);
}

/* Hashes the taken requests; all of them if taken is NULL. */
static void hash_split(struct sha256 *sha, const struct dataset *split, const bool *taken)
{
    for (size_t q = 0; q < split->len; q++) {
        const struct query *query = &split->queries[q];
        if (taken && !taken[q])
            continue;
        hash_str(sha, query->text);
        hash_u64(sha, query->judgement_count);
        for (size_t j = 0; j < query->judgement_count; j++) {
            hash_str(sha, query->judgements[j].tool);
            hash_u64(sha, (uint64_t)(query->judgements[j].gain > 0));
        }
    }
    hash_u64(sha, UINT64_MAX);
}

static int hash_corpus(struct sha256 *sha, struct eval_learning *learning)
{
    WT_CLEANUP(wt__file_unmap) struct mapping corpus = {0};
    const char *path = wt__path_join(&learning->arena, learning->dir, "corpus.jsonl");
    WT_CHECK_ALLOC(path, learning->err);
    WT_TRY(wt__file_map(&corpus, path, learning->err));
    hash_str(sha, (struct str){(const char *)corpus.ptr, corpus.len});
    return 0;
}

/* Computes KEY and the paths. */
static int make_paths(struct eval_learning *learning, struct sha256 *sha)
{
    struct arena *arena = &learning->arena;
    const char *cache = learning->options.cache_dir;
    unsigned char digest[32];
    char key[65], name[96];
    wt__sha256_end(sha, digest);
    wt__sha256_hex(digest, key);
    if (!cache)
        WT_TRY(wt__corpus_cache_folder(&cache, arena, learning->err));
    snprintf(name, sizeof name, "%s.wt", key);
    learning->store = wt__path_join(arena, cache, name);
    snprintf(name, sizeof name, "%s.wt-models", key);
    learning->models = wt__path_join(arena, cache, name);
    snprintf(name, sizeof name, "%s.wt-data", key);
    learning->data = wt__path_join(arena, cache, name);
    WT_CHECK_ALLOC(learning->store && learning->models && learning->data, learning->err);
    if (learning->options.trained)
        learning->models = learning->options.trained;
    return 0;
}

static int plan_paths(struct eval_learning *learning, const struct dataset *train, const struct dataset *dev,
                      const bool *taken)
{
    const wt_eval_options *options = &learning->options;
    struct sha256 sha;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, EDITION, sizeof EDITION - 1);
    hash_str(&sha, wt__str(wt__model_choose(options->model, options->models_dir)));
    hash_u64(&sha, options->seed);
    hash_split(&sha, train, taken);
    if (dev)
        hash_split(&sha, dev, NULL);
    WT_TRY(hash_corpus(&sha, learning));
    WT_TRY(make_paths(learning, &sha));
    if (learning->requests < train->len)
        return wt__portion_write(learning->data, learning->dir, train, taken, dev, learning->err);
    learning->data = learning->dir;
    return 0;
}

int wt__learning_plan(struct eval_learning *learning, const char *dir, wt_error *err)
{
    WT_CLEANUP(wt__dataset_dispose) struct dataset train = {0};
    WT_CLEANUP(wt__dataset_dispose) struct dataset dev = {0};
    learning->dir = dir;
    learning->err = err;
    learning->other_data = !wt__dataset_has_split(dir, "train");
    if (learning->other_data)
        return plan_paths(learning, &train, NULL, NULL);
    WT_TRY(wt__dataset_read(&train, dir, "train", err));
    bool with_dev = wt__dataset_has_split(dir, "dev");
    WT_AUTO_FREE bool *taken = wt__alloc_array(train.len, sizeof *taken);
    WT_CHECK_ALLOC(taken, err);
    int64_t count = wt__portion_draw(&train, learning->options.usages, learning->options.seed, taken, err);
    if (count < 0)
        return (int)count;
    learning->requests = (size_t)count;
    if (with_dev)
        WT_TRY(wt__dataset_read(&dev, dir, "dev", err));
    return plan_paths(learning, &train, with_dev ? &dev : NULL, taken);
}

static int record_train_split(struct eval_learning *learning, wt_engine *engine)
{
    wt_add_usage_options add;
    wt_usage_report *report = NULL;
    wt_add_usage_options_init(&add);
    add.split = "train";
    add.no_vectors = 1;
    add.progress = learning->options.progress;
    add.progress_context = learning->options.progress_context;
    int rc = wt_add_usage_path(engine, learning->data, &add, &report, learning->err);
    wt_usage_report_free(report);
    return rc < 0 ? rc : 0;
}

int wt__learning_open(struct eval_learning *learning, wt_engine **out)
{
    wt_open_options open;
    wt_usage_info usages;
    wt_open_options_init(&open);
    open.model = learning->options.model;
    open.models_dir = learning->options.models_dir;
    open.trained = learning->models;
    int rc = wt_open(out, learning->store, &open, learning->err);
    if (rc < 0)
        return rc;
    wt_usage_info_init(&usages);
    const struct corpus_options import = {.progress = learning->options.progress,
                                          .progress_context = learning->options.progress_context};
    rc = wt__corpus_import(*out, learning->dir, &import, learning->err);
    if (rc == 0)
        rc = wt_get_usage_info(*out, &usages, learning->err);
    if (rc == 0 && usages.usages == 0 && !learning->other_data)
        rc = record_train_split(learning, *out);
    if (rc < 0) {
        wt_close(*out);
        *out = NULL;
    }
    return rc;
}

/* ---------------------------------------------------------------- lessons */

static bool is_lesson_named(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* True if the recipe uses the model of the lesson. Every recipe counts as using the trained encoder. The base retriever
 * of ptr is not considered. */
static bool uses_lesson(const char *name, const char *lesson)
{
    const struct recipe *recipe = is_lesson_named(name, AUTOMATIC) ? &wt__recipes[RECIPE_AUTO] : wt__recipe_named(name);
    return is_lesson_named(lesson, TRAINED_ENCODER) || (recipe && wt__recipe_uses(recipe, lesson));
}

bool wt__recipe_trains_slowly(const char *name)
{
    return uses_lesson(name, TRAINED_CROSS);
}

bool wt__recipe_uses_training(const char *name)
{
    const wt_recipe *recipe;
    const wt_lesson *lesson;
    if (wt__recipe_selector(name) == SELECTOR_PTR) /* is no lesson and runs without training, but is better with it */
        return true;
    for (size_t i = 0; (lesson = wt_lesson_at(i)); i++)
        if (strcmp(lesson->name, name) == 0)
            return true;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++)
        if (strcmp(recipe->name, name) == 0)
            return recipe->needs_training != 0;
    return false;
}

/* Returns the name of the folder whose config.json describes the training of a recipe. */
static const char *training_folder(const char *name)
{
    const struct recipe *recipe = wt__recipe_named(name);
    return recipe && recipe->told_by ? recipe->told_by : name;
}

bool wt__recipe_is_trained(const struct trained *trained, const char *recipe)
{
    const char *part = training_folder(recipe);
    return is_lesson_named(part, TRAINED_SET) ? trained && trained->chooser : wt__trained_recipe(trained, part) != NULL;
}

static bool is_lesson_wanted(const char *lesson, const char *const *recipes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wt__recipe_uses_training(recipes[i]) && uses_lesson(recipes[i], lesson))
            return true;
    return false;
}

/* ---------------------------------------------------------------- training */

/* Passes the progress of a training on to a wt_progress_fn. */
struct training_progress {
    struct eval_learning *learning;
    const char *lesson, *phase, *label; /* label: "LESSON: PHASE" of the current lesson and phase */
};

static int relay_training(void *context, const wt_train_progress *progress)
{
    struct training_progress *relay = context;
    const wt_eval_options *options = &relay->learning->options;
    if (!relay->phase || strcmp(relay->lesson, progress->lesson) != 0 || strcmp(relay->phase, progress->phase) != 0) {
        struct buffer text = {0};
        wt__buffer_printf(&text, "%s: %s", progress->lesson, progress->phase);
        relay->lesson = progress->lesson;
        relay->phase = progress->phase;
        relay->label = text.failed ? NULL : wt__arena_copy(&relay->learning->arena, wt__buffer_view(&text));
        wt__buffer_dispose(&text);
    }
    const char *label = relay->label ? relay->label : progress->phase;
    return options->progress(options->progress_context, label, progress->done, progress->total);
}

/* True if one line of the text equals the name. */
static bool has_lesson_line(struct str text, const char *name)
{
    size_t len = strlen(name);
    for (size_t at = 0; at + len <= text.len;) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        size_t line = end ? (size_t)(end - text.ptr) - at : text.len - at;
        if (line == len && memcmp(text.ptr + at, name, len) == 0)
            return true;
        at += line + 1;
    }
    return false;
}

static int train_missing_lesson(struct eval_learning *learning, wt_engine *engine, const char *lesson)
{
    const wt_eval_options *options = &learning->options;
    struct training_progress relay = {.learning = learning};
    wt_train_options train;
    wt_train_report *report = NULL;
    wt_train_options_init(&train);
    train.data = learning->data;
    train.out = learning->models;
    train.seed = options->seed;
    train.resume = 1;
    train.progress = options->progress ? relay_training : NULL;
    train.progress_context = &relay;
    double begun = wt__now_ms();
    int rc = wt_train(engine, lesson, &train, &report, learning->err);
    learning->seconds += (wt__now_ms() - begun) / 1000;
    wt_train_report_free(report);
    wt__engine_forget_trained(engine);
    return rc;
}

static int train_missing(struct eval_learning *learning, wt_engine *engine, const char *const *recipes, size_t count)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer finished = {0};
    WT_AUTO_FREE char *before = NULL;
    const wt_lesson *lesson;
    char *path = wt__path_join(&learning->arena, learning->models, FINISHED);
    size_t len;
    WT_CHECK_ALLOC(path, learning->err);
    if (wt__is_file(path)) {
        WT_TRY(wt__file_read(&before, &len, path, FINISHED_MAX, learning->err));
        wt__buffer_append(&finished, before, len);
    }
    for (size_t i = 0; (lesson = wt_lesson_at(i)); i++) {
        if (!is_lesson_wanted(lesson->name, recipes, count) ||
            has_lesson_line(wt__buffer_view(&finished), lesson->name))
            continue;
        WT_TRY(train_missing_lesson(learning, engine, lesson->name));
        wt__buffer_printf(&finished, "%s\n", lesson->name);
        WT_CHECK_ALLOC(!finished.failed, learning->err);
        WT_TRY(wt__file_replace(path, finished.ptr, finished.len, learning->err));
    }
    return 0;
}

/* ---------------------------------------------------------------- models of the caller */

/* Reads models/NAME/config.json. Sets *out to NULL if the file does not exist. */
static int read_model_config(struct eval_learning *learning, const char *name, json_t **out)
{
    char *folder = wt__path_join(&learning->arena, learning->models, name);
    char *path = folder ? wt__path_join(&learning->arena, folder, TRAINED_CONFIG) : NULL;
    WT_AUTO_FREE char *text = NULL;
    size_t len;
    *out = NULL;
    WT_CHECK_ALLOC(path, learning->err);
    if (!wt__is_file(path))
        return 0;
    WT_TRY(wt__file_read(&text, &len, path, CONFIG_MAX, learning->err));
    int rc = wt__json_parse(out, text, len, learning->err);
    if (rc < 0)
        return wt__fail_context(learning->err, rc == WT_ENOMEM ? rc : WT_EMODEL, "%s", path);
    WT_CHECK_ALLOC(wt__rename_members(*out), learning->err);
    return 0;
}

/* Returns the description of the training. In the config.json of an encoder it is the member "whichtool", since the
 * other members describe the model. */
static const json_t *training_section(const json_t *config)
{
    const json_t *about = wt__json_object(config, "whichtool");
    return about ? about : config;
}

static int check_training_data(struct eval_learning *learning, wt_engine *engine, const char *name,
                               const json_t *config)
{
    const json_t *about = training_section(config);
    char hash[65];
    int64_t seed = wt__json_int(about, "seed", 1);
    WT_TRY(wt_training_data(engine, learning->data, seed > 0 ? (uint64_t)seed : 1, hash, learning->err));
    if (wt__str_equal(wt__json_str(wt__json_object(about, "data"), "sha256"), wt__str(hash)))
        return 0;
    return wt__fail(learning->err, WT_EFORMAT,
                    "%s/%s was not trained on the train split of %s; train one with `whichtool train all --data %s "
                    "--out FOLDER`",
                    learning->models, name, learning->data, learning->data);
}

/* Stores the name of the training data, from the first model that has one. */
static int note_training_data(struct eval_learning *learning, const json_t *config)
{
    struct str source = wt__json_str(wt__json_object(training_section(config), "data"), "source");
    if (learning->trained_on || source.len == 0)
        return 0;
    learning->trained_on = wt__arena_copy(&learning->arena, source);
    WT_CHECK_ALLOC(learning->trained_on, learning->err);
    return 0;
}

/* Checks that all models of the recipes were trained on this data. Without a train split, only reads the name of their
 * data. A missing model is reported when its recipe runs. */
static int check_models(struct eval_learning *learning, wt_engine *engine, const char *const *recipes, size_t count)
{
    const wt_lesson *lesson;
    int rc = 0;
    if (!wt__is_folder(learning->models))
        return wt__fail(learning->err, WT_ENOTFOUND, "cannot open %s: no such folder", learning->models);
    for (size_t i = 0; rc == 0 && (lesson = wt_lesson_at(i)); i++) {
        json_t *config = NULL;
        if (!is_lesson_wanted(lesson->name, recipes, count))
            continue;
        rc = read_model_config(learning, lesson->name, &config);
        if (rc == 0 && config)
            rc = learning->other_data ? note_training_data(learning, config)
                                      : check_training_data(learning, engine, lesson->name, config);
        json_decref(config);
    }
    return rc;
}

/* ---------------------------------------------------------------- entry points */

/* Computes the vectors of tools and usages with the trained encoder. */
static int update_trained_vectors(struct eval_learning *learning, wt_engine *engine)
{
    struct progress progress;
    wt__progress_init(&progress, learning->options.progress, learning->options.progress_context);
    int rc = wt__engine_update_trained(engine, &progress, learning->err);
    wt__progress_dispose(&progress);
    return rc;
}

int wt__learning_train(struct eval_learning *learning, wt_engine *engine, const char *const *recipes, size_t count)
{
    WT_TRY(learning->options.trained ? check_models(learning, engine, recipes, count)
                                     : train_missing(learning, engine, recipes, count));
    return update_trained_vectors(learning, engine);
}

/* Copies the listed members that exist. */
static bool copy_training_members(json_t *out, const json_t *from)
{
    static const char *const names[] = {"data", "seed", "dev",        "weights", "interpolation",
                                        "runs", "why",  "likelihood", "past",    "size"};
    bool failed = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *member = json_object_get(from, names[i]);
        failed |= member && json_object_set(out, names[i], member) < 0;
    }
    return !failed;
}

int wt__learning_settings(struct eval_learning *learning, wt_engine *engine, const char *recipe, struct buffer *out)
{
    const struct trained *trained;
    json_t *config = NULL;
    int rc = wt__engine_trained(engine, &trained, learning->err);
    if (rc < 0 || !wt__recipe_is_trained(trained, recipe))
        return rc;
    rc = read_model_config(learning, training_folder(recipe), &config);
    json_t *about = json_pack("{s:s, s:s, s:I}", "folder", learning->models, "key", trained->key, "requests",
                              (json_int_t)learning->requests);
    if (about && learning->other_data && learning->trained_on &&
        json_object_set_new(about, "trained_on", json_string(learning->trained_on)) < 0)
        rc = wt__fail_nomem(learning->err);
    if (rc == 0 &&
        (!about || !copy_training_members(about, training_section(config)) || !copy_training_members(about, config)))
        rc = wt__fail_nomem(learning->err);
    if (rc == 0) {
        wt__buffer_text(out, ",\"trained\":");
        rc = wt__json_write(out, about) < 0 ? wt__fail_nomem(learning->err) : 0;
    }
    json_decref(about);
    json_decref(config);
    return rc;
}
