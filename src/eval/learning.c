/* learning.c: the protocol: learn on train, choose on dev, look at the measured split only when all of that is settled.
 *
 * Models of our own are known to be of this data by the name of their folder, and "finished" lists the lessons that
 * ended: a folder with a model may be that of a training that was killed half-way. Models of somebody else's are known
 * by the hash of the data that each of them carries. For a set that has nothing to learn from, models of other data are
 * what is measured; the report says of which. */
#include "eval/learning.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "catalog/dataset.h"
#include "encoder/model_dir.h"
#include "recipe/old_members.h"
#include "recipe/recipes.h"
#include "changes/corpus.h"
#include "engine/engine.h"
#include "changes/recorded_use.h"
#include "eval/portion.h"

#define EDITION "whichtool learned store 1 " WT_VERSION "\n"
#define AUTOMATIC "auto"
#define FINISHED "finished"
enum { CONFIG_MAX = 64 << 20, FINISHED_MAX = 4096 };

static bool is_file(const char *folder, const char *name)
{
    struct arena arena = {0};
    const char *path = wt__path_join(&arena, folder, name);
    bool there = path && wt__is_file(path);
    wt__arena_dispose(&arena);
    return there;
}

bool wt__learning_possible(const char *dir)
{
    return is_file(dir, "qrels/train.tsv");
}

void wt__learning_dispose(struct learning *learning)
{
    wt__arena_dispose(&learning->arena);
}

/* ---------------------------------------------------------------- what is learned from */

static void hash_number(struct sha256 *sha, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    wt__sha256_update(sha, bytes, sizeof bytes);
}

static void hash_str(struct sha256 *sha, struct str s)
{
    hash_number(sha, s.len);
    wt__sha256_update(sha, s.ptr, s.len);
}

/* taken NULL: all of it. */
static void hash_split(struct sha256 *sha, const struct dataset *split, const bool *taken)
{
    for (size_t q = 0; q < split->len; q++) {
        const struct query *query = &split->queries[q];
        if (taken && !taken[q])
            continue;
        hash_str(sha, query->text);
        hash_number(sha, query->judgement_count);
        for (size_t j = 0; j < query->judgement_count; j++) {
            hash_str(sha, query->judgements[j].tool);
            hash_number(sha, (uint64_t)(query->judgements[j].gain > 0));
        }
    }
    hash_number(sha, UINT64_MAX);
}

static int hash_corpus(struct sha256 *sha, struct learning *learning)
{
    struct mapping corpus = {0};
    const char *path = wt__path_join(&learning->arena, learning->dir, "corpus.jsonl");
    int rc = path ? wt__file_map(&corpus, path, learning->err) : wt__fail_nomem(learning->err);
    if (rc == 0)
        hash_str(sha, (struct str){(const char *)corpus.ptr, corpus.len});
    wt__file_unmap(&corpus);
    return rc;
}

/* KEY, and from it the paths. */
static int settle_paths(struct learning *learning, struct sha256 *sha)
{
    struct arena *arena = &learning->arena;
    const char *cache = learning->options.cache_dir;
    unsigned char digest[32];
    char key[65];
    struct buffer name = {0};
    wt__sha256_end(sha, digest);
    wt__sha256_hex(digest, key);
    int rc = cache ? 0 : wt__corpus_cache_folder(&cache, arena, learning->err);
    if (rc < 0)
        return rc;
    wt__buffer_printf(&name, "%s.wt", key);
    learning->store = !name.failed ? wt__path_join(arena, cache, name.ptr) : NULL;
    wt__buffer_text(&name, "-models");
    learning->models = !name.failed ? wt__path_join(arena, cache, name.ptr) : NULL;
    wt__buffer_clear(&name);
    wt__buffer_printf(&name, "%s.wt-data", key);
    learning->data = !name.failed ? wt__path_join(arena, cache, name.ptr) : NULL;
    wt__buffer_dispose(&name);
    if (!learning->store || !learning->models || !learning->data)
        return wt__fail_nomem(learning->err);
    if (learning->options.trained)
        learning->models = learning->options.trained;
    return 0;
}

static int settle(struct learning *learning, const struct dataset *train, const struct dataset *dev, const bool *taken)
{
    const wt_eval_options *options = &learning->options;
    struct sha256 sha;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, EDITION, sizeof EDITION - 1);
    hash_str(&sha, wt__str(wt__model_choose(options->model, options->models_dir)));
    hash_number(&sha, options->seed);
    if (options->dense_weight > 0) { /* what auto is compared with */
        wt__sha256_update(&sha, &options->dense_weight, sizeof options->dense_weight);
        wt__sha256_update(&sha, &options->brief_weight, sizeof options->brief_weight);
    }
    hash_split(&sha, train, taken);
    if (dev)
        hash_split(&sha, dev, NULL);
    int rc = hash_corpus(&sha, learning);
    if (rc == 0)
        rc = settle_paths(learning, &sha);
    if (rc == 0 && learning->requests < train->len)
        return wt__portion_write(learning->data, learning->dir, train, taken, dev, learning->err);
    learning->data = learning->dir;
    return rc;
}

int wt__learning_plan(struct learning *learning, const char *dir, wt_error *err)
{
    struct dataset train = {0}, dev = {0};
    learning->dir = dir;
    learning->err = err;
    learning->other_data = !wt__learning_possible(dir);
    if (learning->other_data)
        return settle(learning, &train, NULL, NULL);
    int rc = wt__dataset_read(&train, dir, "train", err);
    if (rc < 0)
        return rc;
    bool with_dev = is_file(dir, "qrels/dev.tsv"), *taken = wt__alloc_array(train.len, sizeof *taken);
    int64_t count = taken ? wt__portion_draw(&train, learning->options.usages, learning->options.seed, taken, err)
                          : wt__fail_nomem(err);
    learning->requests = count < 0 ? 0 : (size_t)count;
    rc = count < 0 ? (int)count : 0;
    if (rc == 0 && with_dev)
        rc = wt__dataset_read(&dev, dir, "dev", err);
    if (rc == 0)
        rc = settle(learning, &train, with_dev ? &dev : NULL, taken);
    free(taken);
    wt__dataset_dispose(&train);
    wt__dataset_dispose(&dev);
    return rc;
}

/* ---------------------------------------------------------------- the store */

static int record_usages(struct learning *learning, wt_engine *engine)
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

int wt__learning_open(struct learning *learning, wt_engine **out)
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
        rc = record_usages(learning, *out);
    if (rc < 0) {
        wt_close(*out);
        *out = NULL;
    }
    return rc;
}

/* ---------------------------------------------------------------- which lessons */

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Whether a recipe is made by the lesson. The base retriever of ptr is told apart. */
static bool uses_lesson(const char *name, const char *lesson)
{
    const struct recipe *recipe = is(name, AUTOMATIC) ? &wt__recipes[RECIPE_AUTO] : wt__recipe_named(name);
    return is(lesson, TRAINED_ENCODER) || (recipe && wt__recipe_uses(recipe, lesson));
}

bool wt__learning_takes_long(const char *name)
{
    return uses_lesson(name, TRAINED_CROSS);
}

bool wt__learning_helps(const char *name)
{
    const wt_recipe *recipe;
    const wt_lesson *lesson;
    if (wt__recipe_selector(name) == SELECTOR_PTR) /* as "auto", "set" and "toolrerank", it also runs without */
        return true;
    for (size_t i = 0; (lesson = wt_lesson_at(i)); i++)
        if (strcmp(lesson->name, name) == 0)
            return true;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++)
        if (strcmp(recipe->name, name) == 0)
            return recipe->needs_training != 0;
    return false;
}

/* The folder that says what a recipe was trained on. */
static const char *trained_part(const char *name)
{
    const struct recipe *recipe = wt__recipe_named(name);
    return recipe && recipe->told_by ? recipe->told_by : name;
}

bool wt__learning_there(const struct trained *trained, const char *recipe)
{
    const char *part = trained_part(recipe);
    return is(part, TRAINED_SET) ? trained && trained->chooser : wt__trained_recipe(trained, part) != NULL;
}

static bool wanted(const char *lesson, const char *const *recipes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wt__learning_helps(recipes[i]) && uses_lesson(recipes[i], lesson))
            return true;
    return false;
}

/* ---------------------------------------------------------------- training */

/* Tells a wt_progress_fn of a training. */
struct teller {
    struct learning *learning;
    const char *lesson, *phase, *label; /* label: both as one, for as long as they stay */
};

static int tell(void *context, const wt_train_progress *progress)
{
    struct teller *teller = context;
    const wt_eval_options *options = &teller->learning->options;
    if (!teller->phase || strcmp(teller->lesson, progress->lesson) != 0 ||
        strcmp(teller->phase, progress->phase) != 0) {
        struct buffer text = {0};
        wt__buffer_printf(&text, "%s: %s", progress->lesson, progress->phase);
        teller->lesson = progress->lesson;
        teller->phase = progress->phase;
        teller->label = text.failed ? NULL : wt__arena_copy(&teller->learning->arena, wt__buffer_view(&text));
        wt__buffer_dispose(&text);
    }
    const char *label = teller->label ? teller->label : progress->phase;
    return options->progress(options->progress_context, label, progress->done, progress->total);
}

/* Whether the text, lines of names, has the name. */
static bool has_line(struct str text, const char *name)
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

static int train_lesson(struct learning *learning, wt_engine *engine, const char *lesson)
{
    const wt_eval_options *options = &learning->options;
    struct teller teller = {.learning = learning};
    wt_train_options train;
    wt_train_report *report = NULL;
    wt_train_options_init(&train);
    train.data = learning->data;
    train.out = learning->models;
    train.seed = options->seed;
    train.resume = 1;
    train.progress = options->progress ? tell : NULL;
    train.progress_context = &teller;
    double begun = wt__now_ms();
    int rc = wt_train(engine, lesson, &train, &report, learning->err);
    learning->seconds += (wt__now_ms() - begun) / 1000;
    wt_train_report_free(report);
    wt__engine_forget_trained(engine);
    return rc;
}

static int train_missing(struct learning *learning, wt_engine *engine, const char *const *recipes, size_t count)
{
    struct buffer finished = {0};
    const wt_lesson *lesson;
    char *before = NULL, *path = wt__path_join(&learning->arena, learning->models, FINISHED);
    size_t len;
    int rc = path ? 0 : wt__fail_nomem(learning->err);
    if (rc == 0 && wt__is_file(path))
        rc = wt__file_read(&before, &len, path, FINISHED_MAX, learning->err);
    if (before)
        wt__buffer_append(&finished, before, len);
    free(before);
    for (size_t i = 0; rc == 0 && (lesson = wt_lesson_at(i)); i++) {
        if (!wanted(lesson->name, recipes, count) || has_line(wt__buffer_view(&finished), lesson->name))
            continue;
        rc = train_lesson(learning, engine, lesson->name);
        wt__buffer_printf(&finished, "%s\n", lesson->name);
        if (rc == 0)
            rc = finished.failed ? wt__fail_nomem(learning->err)
                                 : wt__file_replace(path, finished.ptr, finished.len, learning->err);
    }
    wt__buffer_dispose(&finished);
    return rc;
}

/* ---------------------------------------------------------------- models of somebody else's */

/* models/NAME/config.json; *out is NULL when there is none. */
static int read_config(struct learning *learning, const char *name, json_t **out)
{
    char *folder = wt__path_join(&learning->arena, learning->models, name), *text = NULL;
    char *path = folder ? wt__path_join(&learning->arena, folder, TRAINED_CONFIG) : NULL;
    size_t len;
    *out = NULL;
    if (!path)
        return wt__fail_nomem(learning->err);
    if (!wt__is_file(path))
        return 0;
    int rc = wt__file_read(&text, &len, path, CONFIG_MAX, learning->err);
    if (rc == 0) {
        rc = wt__json_parse(out, text, len, learning->err);
        if (rc < 0)
            rc = wt__fail_context(learning->err, rc == WT_ENOMEM ? rc : WT_EMODEL, "%s", path);
        else if (!wt__rename_members(*out))
            rc = wt__fail_nomem(learning->err);
    }
    free(text);
    return rc;
}

/* What a model remembers of its training: a member of its own in the config.json of an encoder, whose other members
 * are the model's. */
static const json_t *memory_of(const json_t *config)
{
    const json_t *about = wt__json_object(config, "whichtool");
    return about ? about : config;
}

static int check_data(struct learning *learning, wt_engine *engine, const char *name, const json_t *config)
{
    const json_t *about = memory_of(config);
    char hash[65];
    int64_t seed = wt__json_int(about, "seed", 1);
    int rc = wt_training_data(engine, learning->data, seed > 0 ? (uint64_t)seed : 1, hash, learning->err);
    if (rc == 0 && !wt__str_equal(wt__json_str(wt__json_object(about, "data"), "sha256"), wt__str(hash)))
        rc = wt__fail(learning->err, WT_EFORMAT,
                      "%s/%s was not trained on the train split of %s; `whichtool train all --data %s --out FOLDER` "
                      "makes one that was",
                      learning->models, name, learning->data, learning->data);
    return rc;
}

/* Remembers what a model was trained on, as it says itself. */
static int note_data(struct learning *learning, const json_t *config)
{
    struct str source = wt__json_str(wt__json_object(memory_of(config), "data"), "source");
    if (learning->trained_on || source.len == 0)
        return 0;
    learning->trained_on = wt__arena_copy(&learning->arena, source);
    return learning->trained_on ? 0 : wt__fail_nomem(learning->err);
}

/* Every model that the recipes use is of this data. One that is not there is missed when its recipe runs. */
static int check_models(struct learning *learning, wt_engine *engine, const char *const *recipes, size_t count)
{
    const wt_lesson *lesson;
    int rc = wt__is_folder(learning->models)
                 ? 0
                 : wt__fail(learning->err, WT_ENOTFOUND, "there is no folder %s", learning->models);
    for (size_t i = 0; rc == 0 && (lesson = wt_lesson_at(i)); i++) {
        json_t *config = NULL;
        if (!wanted(lesson->name, recipes, count))
            continue;
        rc = read_config(learning, lesson->name, &config);
        if (rc == 0 && config)
            rc =
                learning->other_data ? note_data(learning, config) : check_data(learning, engine, lesson->name, config);
        json_decref(config);
    }
    return rc;
}

/* ---------------------------------------------------------------- all of it */

/* Tools and usages as the trained encoder reads them. */
static int bring_up_to_date(struct learning *learning, wt_engine *engine)
{
    struct progress progress;
    wt__progress_init(&progress, learning->options.progress, learning->options.progress_context);
    int rc = wt__engine_update_trained(engine, &progress, learning->err);
    wt__progress_dispose(&progress);
    return rc;
}

int wt__learning_train(struct learning *learning, wt_engine *engine, const char *const *recipes, size_t count)
{
    int rc = learning->options.trained ? check_models(learning, engine, recipes, count)
                                       : train_missing(learning, engine, recipes, count);
    return rc < 0 ? rc : bring_up_to_date(learning, engine);
}

/* Members of either object, as far as they are there. */
static bool add_members(json_t *out, const json_t *from)
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

int wt__learning_settings(struct learning *learning, wt_engine *engine, const char *recipe, struct buffer *out)
{
    const struct trained *trained;
    json_t *config = NULL;
    int rc = wt__engine_trained(engine, &trained, learning->err);
    if (rc < 0 || !wt__learning_there(trained, recipe))
        return rc;
    rc = read_config(learning, trained_part(recipe), &config);
    json_t *about = json_pack("{s:s, s:s, s:I}", "folder", learning->models, "key", trained->key, "requests",
                              (json_int_t)learning->requests);
    if (about && learning->other_data && learning->trained_on &&
        json_object_set_new(about, "trained_on", json_string(learning->trained_on)) < 0)
        rc = wt__fail_nomem(learning->err);
    if (rc == 0 && (!about || !add_members(about, memory_of(config)) || !add_members(about, config)))
        rc = wt__fail_nomem(learning->err);
    if (rc == 0) {
        wt__buffer_text(out, ",\"trained\":");
        rc = wt__json_write(out, about) < 0 ? wt__fail_nomem(learning->err) : 0;
    }
    json_decref(about);
    json_decref(config);
    return rc;
}
