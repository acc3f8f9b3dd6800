/* trained.c: reads the folder of trained models. A part of the folder may not match the current encoder, because the
 * part was trained with another encoder. Such a part is ignored with a notice, because a search with it would silently
 * give wrong results. */
#include "recipe/trained.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "retrieve/document.h"

static const struct {
    const char *within; /* enclosing member of the config; NULL for the config itself */
    const char *old, *now;
} old_members[] = {
    {"hierarchy", "alike", "tau_m"},   {"hierarchy", "sure", "tau_s"}, {"weights", "part", "subquery"},
    {NULL, "blend", "interpolation"},  {NULL, "fit", "answerability"}, {NULL, "fit_constant", "answerability_constant"},
    {NULL, "levels", "nonconformity"}, {NULL, "none", "no_answer"},
};

/* Values in "hierarchy"."rules". */
static const struct {
    const char *old, *now;
} old_rules[] = {
    {"concentrate", "algorithm1"},
    {"spread", "algorithm2"},
};

static bool rename_rules(json_t *kinds)
{
    const char *kind;
    json_t *rule;
    bool failed = false;
    json_object_foreach(kinds, kind, rule)
    {
        for (size_t i = 0; i < sizeof old_rules / sizeof *old_rules; i++)
            if (json_is_string(rule) && strcmp(json_string_value(rule), old_rules[i].old) == 0) {
                failed |= json_string_set(rule, old_rules[i].now) < 0;
                break;
            }
    }
    return !failed;
}

bool wt__rename_members(json_t *config)
{
    bool failed = false;
    for (size_t i = 0; i < sizeof old_members / sizeof *old_members; i++) {
        json_t *object = old_members[i].within ? wt__json_object(config, old_members[i].within) : config;
        json_t *value = json_object_get(object, old_members[i].old);
        if (!value)
            continue;
        if (!json_object_get(object, old_members[i].now))
            failed |= json_object_set(object, old_members[i].now, value) < 0;
        json_object_del(object, old_members[i].old);
    }
    return !failed && rename_rules(wt__json_object(wt__json_object(config, "hierarchy"), "rules"));
}

enum { MAX_CONFIG = 64 << 20, TRAINED_FILES_MAX = 10000 };

struct trained_reading {
    struct trained *trained;
    const char *folder;
    struct sha256 key;
    wt_error *err;
};

char *wt__trained_unused(const char *recipe, const char *why, struct arena *arena)
{
    struct buffer text = {0};
    wt__buffer_printf(&text, "the trained recipe %s is not used: %s; run `whichtool train %s` to train it again",
                      recipe, why, recipe);
    char *notice = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return notice;
}

static int set_notice(struct trained *trained, const char *recipe, const char *why)
{
    if (!trained->notice)
        trained->notice = wt__trained_unused(recipe, why, &trained->arena);
    return trained->notice ? 0 : WT_ENOMEM;
}

/* Reads FOLDER/RECIPE/config.json. *out is NULL if the file does not exist. vectors: true if the vectors of tools
 * depend on the file. */
static int read_recipe_config(struct trained_reading *reading, const char *recipe, bool vectors, json_t **out)
{
    struct arena *arena = &reading->trained->arena;
    char *folder = wt__path_join(arena, reading->folder, recipe), *text = NULL;
    char *path = folder ? wt__path_join(arena, folder, TRAINED_CONFIG) : NULL;
    size_t len;
    *out = NULL;
    WT_CHECK_ALLOC(path, reading->err);
    if (!wt__is_file(path))
        return 0;
    int rc = wt__file_read(&text, &len, path, MAX_CONFIG, reading->err);
    if (rc == 0) {
        if (vectors)
            wt__sha256_update(&reading->key, text, len);
        rc = wt__json_parse(out, text, len, reading->err);
        if (rc < 0)
            wt__fail_context(reading->err, rc, "%s", path);
        else if (!json_is_object(*out))
            rc = wt__fail(reading->err, WT_EMODEL, "%s: not a JSON object", path);
        else if (!wt__rename_members(*out))
            rc = wt__fail_nomem(reading->err);
    }
    free(text);
    if (rc < 0) {
        json_decref(*out);
        *out = NULL;
    }
    return rc;
}

static void read_recipe_weights(const struct trained *trained, struct trained_recipe *recipe, const json_t *config)
{
    const json_t *object = wt__json_object(config, "weights");
    recipe->retriever = wt__retriever_read(object);
    recipe->tool2vec = wt__config_weight(object, "tool2vec", 0);
    recipe->mlc = wt__config_weight(object, "mlc", 0);
    /* Share a set of vectors with another recipe if the vectors differ only in length, which does not matter. */
    recipe->kind = recipe->mlc == 0 ? "tool2vec" : recipe->tool2vec == 0 ? "mlc" : "auto";
    recipe->model = trained->key;
    if (recipe->mlc == 0 && recipe->tool2vec == 0) {
        recipe->kind = wt__document_kind;
        recipe->model = wt__encoder_hash(trained->encoder);
    }
}

/* Sets *out to true if the recipe's config names the current encoder. Otherwise sets *out to false and adds a
 * notice. */
static int fits_encoder(struct trained_reading *reading, const char *name, const json_t *config, bool *out)
{
    struct trained *trained = reading->trained;
    struct str hash = wt__json_str(wt__json_object(config, "encoder"), "hash");
    *out = wt__str_equal(hash, wt__str(wt__encoder_hash(trained->encoder)));
    if (*out)
        return 0;
    return set_notice(trained, name, "it was trained with another encoder") < 0 ? wt__fail_nomem(reading->err) : 0;
}

/* Disables the recipe with a notice. Other recipes stay usable. */
static int leave_out_recipe(struct trained_reading *reading, struct trained_recipe *recipe, const char *why)
{
    recipe->there = false;
    return set_notice(reading->trained, recipe->name, why) < 0 ? wt__fail_nomem(reading->err) : 0;
}

/* Reads the name of the recipe that auto chose. If that recipe is a refiner or toolrerank, copies its weights and its
 * reranker to auto. */
static int read_auto_choice(struct trained_reading *reading, struct trained_recipe *recipe, const json_t *config)
{
    struct trained *trained = reading->trained;
    struct str runs = wt__json_str(config, "runs");
    if (runs.len == 0)
        return 0;
    recipe->runs = wt__arena_copy(&trained->arena, runs);
    recipe->why = wt__arena_copy(&trained->arena, wt__json_str(config, "why"));
    WT_CHECK_ALLOC(recipe->runs && recipe->why, reading->err);
    for (size_t i = 0; i < RECIPES; i++) {
        const struct trained_recipe *other = &trained->recipes[i];
        if (wt__recipes[i].model != MODEL_RERANKER || strcmp(recipe->runs, wt__recipes[i].public.name) != 0)
            continue;
        if (!other->there)
            return leave_out_recipe(reading, recipe, "the recipe that it chose is missing");
        recipe->retriever = other->retriever;
        recipe->tool2vec = other->tool2vec;
        recipe->mlc = other->mlc;
        recipe->model = other->model;
        recipe->kind = other->kind;
        recipe->reranker = other->reranker;
    }
    return 0;
}

/* Returns FOLDER/RECIPE/model.safetensors in the arena, or NULL if out of memory. */
static char *weights_path(struct trained_reading *reading, const char *recipe)
{
    struct arena *arena = &reading->trained->arena;
    char *folder = wt__path_join(arena, reading->folder, recipe);
    return folder ? wt__path_join(arena, folder, TRAINED_WEIGHTS) : NULL;
}

/* Reads a recipe that reranks the hits of another recipe. A recipe without weights in its config uses the weights of
 * the other recipe. */
static int read_reranker(struct trained_reading *reading, size_t id, const char *path, const json_t *config)
{
    struct trained *trained = reading->trained;
    struct trained_recipe *recipe = &trained->recipes[id];
    const struct trained_recipe *first = &trained->recipes[wt__recipes[id].first];
    const struct rerank_folder folder = {.weights = path,
                                         .config = config,
                                         .encoder = trained->encoder,
                                         .arena = &trained->arena,
                                         .first = first->name,
                                         .first_identity = first->identity};
    bool votes = wt__json_bool(config, "votes", false);
    wt_error why;
    int rc = 0;
    if (!wt__json_object(config, "weights"))
        recipe->retriever = first->retriever;
    recipe->retriever.also = votes ? 1u << SOURCE_NEIGHBOURS : 0;
    recipe->reranker = (struct reranker){.kind = wt__recipes[id].reranker, .cross = trained->cross};
    if (!first->there)
        rc = wt__fail(&why, WT_EMODEL, "%s, whose hits it reranks, is missing", first->name);
    else if (votes && !trained->recipes[RECIPE_NEIGHBOURS].there)
        rc = wt__fail(&why, WT_EMODEL, "the past requests that it needs are missing (neighbours)");
    else
        rc = recipe->reranker.kind->open(&recipe->reranker, &folder, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(reading->err);
    return rc < 0 ? leave_out_recipe(reading, recipe, why.message) : 0;
}

/* Reads the content of a recipe's folder besides the weights in its config. */
static int read_model(struct trained_reading *reading, size_t id, const json_t *config)
{
    struct trained *trained = reading->trained;
    struct trained_recipe *recipe = &trained->recipes[id];
    char *path = weights_path(reading, recipe->name);
    WT_CHECK_ALLOC(path, reading->err);
    switch (wt__recipes[id].model) {
    case MODEL_NONE:
    case MODEL_WEIGHTS:
        return 0;
    case MODEL_TOOL2VEC:
        trained->tool2vec = wt__tool2vec_read(config);
        return 0;
    case MODEL_MLC:
        return wt__mlc_open(&trained->mlc, path, config, wt__encoder_dim(trained->encoder), &trained->arena,
                            &reading->key, reading->err);
    case MODEL_PAST:
        return wt__past_requests_open(&trained->past, path, config, trained->encoder, reading->err);
    case MODEL_RERANKER:
        return read_reranker(reading, id, path, config);
    case MODEL_CHOICE:
        return read_auto_choice(reading, recipe, config);
    }
    return 0;
}

static int read_recipe(struct trained_reading *reading, size_t id)
{
    struct trained *trained = reading->trained;
    struct trained_recipe *recipe = &trained->recipes[id];
    const char *name = wt__recipes[id].public.name;
    json_t *config;
    *recipe = (struct trained_recipe){.name = name, .runs = name, .why = "", .model = "", .kind = ""};
    if (wt__recipes[id].model == MODEL_NONE)
        return 0;
    int rc = read_recipe_config(reading, name, wt__recipes[id].model != MODEL_RERANKER, &config);
    if (rc < 0 || !config)
        return rc;
    rc = fits_encoder(reading, name, config, &recipe->there);
    if (rc == 0 && recipe->there) {
        read_recipe_weights(trained, recipe, config);
        recipe->identity =
            wt__arena_copy(&trained->arena, wt__json_str(wt__json_object(config, "whichtool"), "identity"));
        rc = recipe->identity ? read_model(reading, id, config) : wt__fail_nomem(reading->err);
    }
    json_decref(config);
    return rc;
}

static int note_cross(struct trained_reading *reading)
{
    struct trained *trained = reading->trained;
    json_t *config;
    int rc = read_recipe_config(reading, TRAINED_CROSS, false, &config);
    if (rc < 0 || !config)
        return rc;
    char *folder = wt__path_join(&trained->arena, reading->folder, TRAINED_CROSS);
    char *identity = wt__arena_copy(&trained->arena, wt__json_str(wt__json_object(config, "whichtool"), "identity"));
    if (!folder || !identity || !(trained->cross = wt__cross_encoder_new(folder, identity)))
        rc = wt__fail_nomem(reading->err);
    json_decref(config);
    return rc;
}

/* Sets up the recipes rerank-N, which rerank the hits of another recipe with the cross-encoder. */
static void derive_reranks(struct trained *trained)
{
    for (size_t i = 0; i < RECIPES; i++) {
        struct trained_recipe *recipe = &trained->recipes[i];
        if (wt__recipes[i].reads == 0)
            continue;
        *recipe = trained->recipes[wt__recipes[i].first];
        recipe->name = recipe->runs = wt__recipes[i].public.name;
        recipe->there = recipe->there && trained->cross;
        recipe->reranker =
            (struct reranker){.kind = wt__recipes[i].reranker, .cross = trained->cross, .reads = wt__recipes[i].reads};
    }
}

/* Reads the chooser. It is valid only with the training of auto that it was calibrated on. */
static int read_chooser(struct trained_reading *reading)
{
    struct trained *trained = reading->trained;
    const struct trained_recipe *found_by = &trained->recipes[RECIPE_AUTO];
    json_t *config;
    wt_error why;
    int rc = read_recipe_config(reading, TRAINED_SET, false, &config);
    if (rc < 0 || !config)
        return rc;
    struct chooser *chooser = wt__arena_array(&trained->arena, struct chooser, 1);
    if (!chooser)
        rc = wt__fail_nomem(&why);
    else if (!found_by->there || !wt__str_equal(wt__json_str(config, "auto"), wt__str(found_by->identity)))
        rc = wt__fail(&why, WT_EMODEL, "auto, whose hits it uses, %s",
                      found_by->there ? "has been retrained" : "is missing");
    else
        rc = wt__chooser_read(chooser, config, &trained->arena, &why);
    json_decref(config);
    if (rc == 0)
        trained->chooser = chooser;
    else if (rc == WT_EMODEL)
        rc = set_notice(trained, TRAINED_SET, why.message);
    return rc < 0 ? wt__fail_nomem(reading->err) : 0;
}

bool wt__trained_brings_encoder(const char *folder)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const char *own = wt__path_join(&arena, folder, TRAINED_ENCODER);
    return own && wt__is_folder(own);
}

int wt__trained_stamp(uint64_t *out, const char *folder, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char **paths;
    size_t count = 0;
    *out = 0;
    if (!wt__is_folder(folder))
        return 0;
    WT_TRY(wt__list_files(&arena, folder, TRAINED_FILES_MAX, &paths, &count, err));
    for (size_t i = 0; i < count; i++) {
        struct stat s;
        const char *slash = strrchr(paths[i], '/'), *name = slash ? slash + 1 : paths[i];
        if (strcmp(name, TRAINED_CONFIG) != 0 && strcmp(name, TRAINED_WEIGHTS) != 0)
            continue; /* skip caches, and the states of a running training */
        if (stat(paths[i], &s) < 0)
            continue; /* the file is being replaced, so the stamp will change */
        const uint64_t facts[] = {(uint64_t)s.st_ino, (uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec,
                                  (uint64_t)s.st_mtim.tv_nsec};
        *out = wt__checksum(paths[i], strlen(paths[i]), *out);
        *out = wt__checksum(facts, sizeof facts, *out);
    }
    return 0;
}

/* Sets trained->encoder to the encoder of the folder, or else to base. Returns 1, or 0 if neither exists. */
static int open_trained_encoder(struct trained_reading *reading, const struct encoder *base, struct progress *progress)
{
    struct trained *trained = reading->trained;
    char *folder = wt__path_join(&trained->arena, reading->folder, TRAINED_ENCODER);
    WT_CHECK_ALLOC(folder, reading->err);
    if (wt__is_folder(folder))
        WT_TRY(wt__encoder_load(&trained->own, folder, progress, reading->err));
    trained->encoder = trained->own ? trained->own : base;
    if (trained->encoder) {
        wt__sha256_update(&reading->key, wt__encoder_hash(trained->encoder), 64);
        wt__sha256_update(&reading->key, wt__document_kind, strlen(wt__document_kind));
    }
    return trained->encoder != NULL;
}

int wt__trained_open(struct trained **out, const char *folder, const struct encoder *base, struct progress *progress,
                     wt_error *err)
{
    struct trained_reading reading = {.folder = folder, .err = err};
    unsigned char digest[32];
    *out = NULL;
    if (!wt__is_folder(folder))
        return 0;
    reading.trained = calloc(1, sizeof *reading.trained);
    WT_CHECK_ALLOC(reading.trained, err);
    wt__sha256_begin(&reading.key);
    reading.trained->tool2vec = (struct tool2vec){1, 1, 0};
    int rc = open_trained_encoder(&reading, base, progress);
    if (rc <= 0) {
        wt__trained_close(reading.trained);
        return rc;
    }
    rc = note_cross(&reading);
    for (size_t i = 0; rc == 0 && i < RECIPES; i++)
        rc = read_recipe(&reading, i);
    if (rc == 0)
        rc = read_chooser(&reading);
    if (rc < 0) {
        wt__trained_close(reading.trained);
        return rc;
    }
    derive_reranks(reading.trained);
    wt__sha256_end(&reading.key, digest);
    wt__sha256_hex(digest, reading.trained->key);
    *out = reading.trained;
    return 0;
}

void wt__trained_close(struct trained *trained)
{
    if (!trained)
        return;
    for (size_t i = 0; i < RECIPES; i++) /* auto may share the model of another recipe */
        if (wt__recipes[i].model == MODEL_RERANKER && trained->recipes[i].reranker.kind)
            trained->recipes[i].reranker.kind->close(trained->recipes[i].reranker.model);
    wt__cross_encoder_free(trained->cross);
    wt__encoder_close(trained->own);
    wt__mlc_dispose(&trained->mlc);
    wt__past_requests_dispose(&trained->past);
    wt__arena_dispose(&trained->arena);
    free(trained);
}

const struct trained_recipe *wt__trained_recipe(const struct trained *trained, const char *name)
{
    for (size_t i = 0; trained && i < RECIPES; i++)
        if (trained->recipes[i].there && strcmp(trained->recipes[i].name, name) == 0)
            return &trained->recipes[i];
    return NULL;
}

void wt__trained_vector(const struct trained *trained, const struct trained_recipe *recipe, const float *document,
                        const float *sum, uint32_t uses, int64_t mlc_row, float *out)
{
    size_t dim = wt__encoder_dim(trained->encoder);
    wt__tool2vec(&trained->tool2vec, dim, document, sum, uses, out);
    if (recipe->mlc == 0)
        return;
    for (size_t d = 0; d < dim; d++)
        out[d] = wt__mlc_mix(recipe->tool2vec, out[d], recipe->mlc, wt__mlc_value(&trained->mlc, mlc_row, d, out[d]));
}
