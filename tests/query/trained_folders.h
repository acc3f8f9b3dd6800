/* trained_folders.h: writes folders of trained models without training, and runs queries with them. */
#ifndef WT_TESTS_QUERY_TRAINED_FOLDERS_H
#define WT_TESTS_QUERY_TRAINED_FOLDERS_H

#include "base/file.h"
#include "encoder/encoder.h"
#include "encoder/tiny_model.h"
#include "engine/set_up.h"

/* Writes STORE-models/RECIPE/config.json. model: folder of an encoder. fits: true to name that encoder in the config,
 * false to name another encoder. members: the other members of the config. */
static inline void write_recipe_config(const char *model, const char *recipe, bool fits, const char *members)
{
    struct arena arena = {0};
    struct encoder *encoder = NULL;
    struct buffer folder = {0}, config = {0};
    assert_call_ok(&place, wt__encoder_open(&encoder, model, &place.err));
    wt__buffer_printf(&folder, "%s-models/%s", place.store, recipe);
    wt__buffer_printf(&config, "{\"encoder\": {\"hash\": \"%s\"}, %s}", fits ? wt__encoder_hash(encoder) : "other",
                      members);
    assert_call_ok(&place, wt__make_folders(folder.ptr, &place.err));
    assert_call_ok(
        &place, wt__file_replace(wt__path_join(&arena, folder.ptr, "config.json"), config.ptr, config.len, &place.err));
    wt__encoder_close(encoder);
    wt__buffer_dispose(&folder);
    wt__buffer_dispose(&config);
    wt__arena_dispose(&arena);
}

static inline void write_trained_config(const char *recipe, bool fits, const char *members)
{
    write_recipe_config(place.model, recipe, fits, members);
}

/* Finds with a new engine, which opens the trained models again, as a new process would. */
static inline wt_hits *find_in_new_engine(const char *recipe)
{
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = 1;
    wt_hits *hits = find_with(&place, engine, "weather in a city", &options);
    wt_close(engine);
    return hits;
}

static inline void same_hits(const wt_hits *a, const wt_hits *b)
{
    assert_int_equal(a->len, b->len);
    for (size_t i = 0; i < a->len; i++) {
        assert_string_equal(a->items[i]->tool->id, b->items[i]->tool->id);
        assert_true(a->items[i]->score == b->items[i]->score);
    }
}

#define CROSS TINY_BERT TINY_LABELS(1)
/* Member of toolrerank/config.json: a classifier whose result is constant. */
#define CLASSIFIED(constant) "\"classifier\": {\"weight\": 0, \"constant\": " #constant "}"

static inline const char *cross_folder(void)
{
    static char folder[256];
    snprintf(folder, sizeof folder, "%s-models/cross", place.store);
    return folder;
}

static inline void add_many(size_t count)
{
    struct buffer jsonl = {0};
    wt_engine *engine = open_test_engine(&place, NULL);
    synthetic_tools(&jsonl, 5, count, 4);
    add(&place, engine, jsonl.ptr);
    wt_close(engine);
    wt__buffer_dispose(&jsonl);
}

/* Finds with a new engine. most: maximum hits per provider; 0 for no limit. */
static inline wt_hits *find_capped_in_new_engine(const char *recipe, const char *request, size_t k, size_t most)
{
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = 1;
    options.k = k;
    options.max_per_provider = most;
    wt_hits *hits = find_with(&place, engine, request, &options);
    wt_close(engine);
    return hits;
}

static inline wt_hits *asked_for(const char *recipe, const char *request, size_t k)
{
    return find_capped_in_new_engine(recipe, request, k, 0);
}

#define DPR "\"weights\": {\"dense\": 1, \"subquery\": 0}"

static inline const wt_stage_score *stage_of(const wt_hit *hit, const char *name)
{
    for (size_t s = 0; s < hit->stage_count; s++)
        if (strcmp(hit->stages[s]->stage, name) == 0)
            return hit->stages[s];
    return NULL;
}

#endif
