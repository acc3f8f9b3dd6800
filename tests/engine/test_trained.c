/* What training left, as a query uses it: hand-made folders, so that nothing is trained here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "base/file.h"
#include "encoder/cache.h"
#include "encoder/encoder.h"
#include "encoder/tiny_model.h"
#include "engine/engine.h"
#include "engine/set_up.h"
#include "recipe/old_members.h"
#include "recipe/trained.h"
#include "rerank/rules.h"
#include "rerank/cross.h"
#include "retrieve/document.h"

/* STORE-models/RECIPE/config.json, of that model's encoder or of another one. */
static void leave_by(const char *model, const char *recipe, bool fits, const char *members)
{
    struct arena arena = {0};
    struct encoder *encoder = NULL;
    struct buffer folder = {0}, config = {0};
    sound(&place, wt__encoder_open(&encoder, model, &place.err));
    wt__buffer_printf(&folder, "%s-models/%s", place.store, recipe);
    wt__buffer_printf(&config, "{\"encoder\": {\"hash\": \"%s\"}, %s}", fits ? wt__encoder_hash(encoder) : "other",
                      members);
    sound(&place, wt__make_folders(folder.ptr, &place.err));
    sound(&place,
          wt__file_replace(wt__path_join(&arena, folder.ptr, "config.json"), config.ptr, config.len, &place.err));
    wt__encoder_close(encoder);
    wt__buffer_dispose(&folder);
    wt__buffer_dispose(&config);
    wt__arena_dispose(&arena);
}

static void leave(const char *recipe, bool fits, const char *members)
{
    leave_by(place.model, recipe, fits, members);
}

/* Hits of a new engine, as a new process would have them. */
static wt_hits *asked(const char *recipe)
{
    wt_engine *engine = open_store(&place, NULL);
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = 1;
    wt_hits *hits = find_with(&place, engine, "weather in a city", &options);
    wt_close(engine);
    return hits;
}

static void same_hits(const wt_hits *a, const wt_hits *b)
{
    assert_int_equal(a->len, b->len);
    for (size_t i = 0; i < a->len; i++) {
        assert_string_equal(a->items[i]->tool->id, b->items[i]->tool->id);
        assert_true(a->items[i]->score == b->items[i]->score);
    }
}

static void without_training_auto_is_hybrid(void **state)
{
    (void)state;
    wt_hits *automatic = asked("auto"), *hybrid = asked("hybrid");
    assert_string_equal(automatic->recipe, "hybrid");
    assert_null(automatic->why);
    same_hits(automatic, hybrid);
    wt_hits_free(automatic);
    wt_hits_free(hybrid);
}

static void auto_runs_what_was_chosen_and_says_why(void **state)
{
    (void)state;
    leave("auto", true,
          "\"runs\": \"fuse(bm25, tool2vec)\", \"why\": \"it was best\", \"weights\": "
          "{\"lexical\": 1, \"dense\": 2, \"tool2vec\": 1}");
    wt_hits *hits = asked(NULL);
    assert_string_equal(hits->recipe, "fuse(bm25, tool2vec)");
    assert_string_equal(hits->why, "it was best");
    assert_true(hits->len > 0);
    wt_hits_free(hits);
}

/* The weights that lost on dev stand beside the name of what won: they must not run. */
static void auto_that_chose_hybrid_is_hybrid(void **state)
{
    (void)state;
    leave("auto", true,
          "\"runs\": \"hybrid\", \"why\": \"nothing bettered it\", \"weights\": "
          "{\"lexical\": 0, \"dense\": 1, \"subquery\": 0, \"tool2vec\": 1}");
    wt_hits *automatic = asked(NULL), *hybrid = asked("hybrid");
    assert_string_equal(automatic->recipe, "hybrid");
    assert_string_equal(automatic->why, "nothing bettered it");
    same_hits(automatic, hybrid);
    wt_hits_free(automatic);
    wt_hits_free(hybrid);
}

static void a_recipe_of_another_encoder_is_told(void **state)
{
    (void)state;
    leave("tool2vec", false, "\"weights\": {\"dense\": 1, \"tool2vec\": 1}");
    wt_engine *engine = open_store(&place, NULL);
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "tool2vec";
    refused(&place, wt_find(engine, "weather", 7, &options, &hits, &place.err), WT_ERECIPE,
            "its encoder was trained again since; `whichtool train tool2vec` makes it anew");
    wt_close(engine);
}

/* The chooser of sets belongs to the hits of one training of auto. */
static void a_chooser_that_does_not_fit_is_told(void **state)
{
    static const char automatic[] = "\"runs\": \"hybrid\", \"whichtool\": {\"identity\": \"one\"}";
    static const struct {
        bool automatic;
        const char *set, *found; /* found: what who finds is told; NULL: nothing, since auto is what it was */
    } rows[] = {
        {false, "\"auto\": \"one\"", "set is not used: auto, whose hits it chooses from, is missing"},
        {true, "\"auto\": \"two\"", NULL},
        {true, "\"auto\": \"one\", \"nonconformity\": []", NULL},
    };
    static const char request[] = "weather in a city";
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_picked *picked = NULL;
        if (rows[i].automatic)
            leave("auto", true, automatic);
        leave("set", true, rows[i].set);
        wt_hits *hits = asked(NULL);
        if (rows[i].found ? !hits->notice || !strstr(hits->notice, rows[i].found) : hits->notice != NULL)
            fail_msg("row %zu: \"%s\" is told", i, hits->notice ? hits->notice : "");
        wt_hits_free(hits);
        wt_engine *engine = open_store(&place, NULL);
        sound(&place, wt_pick(engine, request, strlen(request), NULL, &picked, &place.err));
        assert_non_null(strstr(picked->notice, "the chances are not calibrated on this catalogue but on others"));
        wt_picked_free(picked);
        wt_close(engine);
    }
}

static void a_damaged_training_keeps_nobody_from_hybrid(void **state)
{
    (void)state;
    leave("auto", true, "\"weights\": [");
    wt_hits *hits = asked(NULL);
    assert_string_equal(hits->recipe, "hybrid");
    assert_non_null(strstr(hits->notice, "config.json"));
    wt_hits_free(hits);
}

/* ---------------------------------------------------------------- dpr and rerank-N */

#define DPR "\"weights\": {\"dense\": 1, \"subquery\": 0}"
#define CROSS TINY_BERT TINY_LABELS(1)
/* Members of toolrerank/config.json: a classifier that says the same of every request. */
#define CLASSIFIED(constant) "\"classifier\": {\"weight\": 0, \"constant\": " #constant "}"

static const char *cross_folder(void)
{
    static char folder[256];
    snprintf(folder, sizeof folder, "%s-models/cross", place.store);
    return folder;
}

static void add_many(size_t count)
{
    struct buffer jsonl = {0};
    wt_engine *engine = open_store(&place, NULL);
    synthetic_tools(&jsonl, 5, count, 4);
    add(&place, engine, jsonl.ptr);
    wt_close(engine);
    wt__buffer_dispose(&jsonl);
}

static wt_hits *asked_for(const char *recipe, const char *request, size_t k)
{
    wt_engine *engine = open_store(&place, NULL);
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.explain = 1;
    options.k = k;
    wt_hits *hits = find_with(&place, engine, request, &options);
    wt_close(engine);
    return hits;
}

static void dpr_is_the_trained_encoder_over_texts(void **state)
{
    (void)state;
    leave("dpr", true, "\"weights\": {\"dense\": 1, \"subquery\": 1}"); /* as dense, and by the same encoder */
    wt_hits *dpr = asked("dpr"), *dense = asked("dense");
    assert_string_equal(dpr->recipe, "dpr");
    same_hits(dpr, dense);
    wt_hits_free(dpr);
    wt_hits_free(dense);
}

/* ---------------------------------------------------------------- models of earlier versions */

static void old_members_have_their_new_names(void **state)
{
    static const struct {
        const char *old, *now;
    } cases[] = {
        {"{}", "{}"},
        {"{\"weights\": {\"dense\": 1, \"part\": 0.5}}", "{\"weights\": {\"dense\": 1, \"subquery\": 0.5}}"},
        {"{\"weights\": {\"part\": 0.5, \"subquery\": 2}}", "{\"weights\": {\"subquery\": 2}}"},
        {"{\"weights\": 7, \"hierarchy\": []}", "{\"weights\": 7, \"hierarchy\": []}"},
        {"{\"part\": 1}", "{\"part\": 1}"},
        {"{\"blend\": {\"shrink\": 2}}", "{\"interpolation\": {\"shrink\": 2}}"},
        {"{\"hierarchy\": {\"sure\": 0.5, \"alike\": 0.25, \"rules\": {\"unknown\": \"none\", \"single\": "
         "\"concentrate\", \"multi\": \"spread\"}}}",
         "{\"hierarchy\": {\"tau_s\": 0.5, \"tau_m\": 0.25, \"rules\": {\"unknown\": \"none\", \"single\": "
         "\"algorithm1\", \"multi\": \"algorithm2\"}}}"},
        {"{\"hierarchy\": {\"rules\": {\"single\": 1}}}", "{\"hierarchy\": {\"rules\": {\"single\": 1}}}"},
        {"{\"fit\": [1], \"fit_constant\": 2, \"levels\": [3], \"none\": [4], \"unused\": [5]}",
         "{\"answerability\": [1], \"answerability_constant\": 2, \"nonconformity\": [3], \"no_answer\": [4], "
         "\"unused\": [5]}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *config = json_loads(cases[i].old, 0, NULL), *wanted = json_loads(cases[i].now, 0, NULL);
        assert_true(wt__rename_members(config));
        if (!json_equal(config, wanted))
            fail_msg("%s", cases[i].old);
        json_decref(config);
        json_decref(wanted);
    }
}

/* A request of two sub-queries, whose weight tells. */
static void an_old_model_opens(void **state)
{
    static const struct {
        const char *recipe, *old, *now;
    } models[] = {
        {"dpr", "\"weights\": {\"dense\": 1, \"part\": 0}", "\"weights\": {\"dense\": 1, \"subquery\": 0}"},
        {"tool2vec",
         "\"weights\": {\"lexical\": 1, \"dense\": 1, \"tool2vec\": 1, \"part\": 0.5}, \"blend\": {\"usage\": 0}",
         "\"weights\": {\"lexical\": 1, \"dense\": 1, \"tool2vec\": 1, \"subquery\": 0.5}, \"interpolation\": "
         "{\"usage\": 0}"},
    };
    const char *request = "find the weather of the day in a city, then book a cheap room in a hotel";
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        leave(models[i].recipe, true, models[i].now);
        wt_hits *now = asked_for(models[i].recipe, request, 10);
        leave(models[i].recipe, true, models[i].old);
        wt_hits *old = asked_for(models[i].recipe, request, 10);
        assert_string_equal(old->recipe, models[i].recipe);
        same_hits(old, now);
        wt_hits_free(old);
        wt_hits_free(now);
    }
}

/* What the cross-encoder itself says of the request and a hit's tool, whose text is in place. */
static float logit_of(struct cross *cross, const char *request, const wt_tool *tool, unsigned fields)
{
    struct tool read = {.provider = wt__str(tool->provider),
                        .name = wt__str(tool->name),
                        .title = wt__str(tool->title),
                        .description = wt__str(tool->description),
                        .category = wt__str(tool->category)};
    struct buffer text = {0};
    int32_t ids[CROSS_TOKENS];
    float logit = 0;
    wt__document_fields_text(&read, fields, &text);
    struct token_run run = wt__cross_tokens(cross, wt__buffer_view(&text), ids);
    sound(&place, wt__cross_score(cross, wt__str(request), &run, 1, NULL, &logit, &place.err));
    wt__buffer_dispose(&text);
    return logit;
}

static const wt_stage_score *stage_of(const wt_hit *hit, const char *name)
{
    for (size_t s = 0; s < hit->stage_count; s++)
        if (strcmp(hit->stages[s]->stage, name) == 0)
            return hit->stages[s];
    return NULL;
}

static void check_reranked(const wt_hits *hits, const wt_hits *first, size_t n, unsigned fields, const char *request)
{
    struct cross *cross;
    sound(&place, wt__cross_open(&cross, cross_folder(), &place.err));
    assert_int_equal(hits->len, first->len);
    for (size_t i = 0; i < hits->len; i++) {
        const wt_hit *hit = hits->items[i];
        const wt_stage_score *stage = stage_of(hit, "cross"),
                             *before = i ? stage_of(hits->items[i - 1], "cross") : NULL;
        double sum = 0;
        assert_non_null(stage);
        for (size_t s = 0; s < hit->stage_count; s++)
            sum += hit->stages[s]->share;
        assert_true(sum - hit->score < 1e-5 && hit->score - sum < 1e-5);
        assert_true(i == 0 || hit->score <= hits->items[i - 1]->score);
        if (i >= n) {
            assert_int_equal(stage->rank, 0);
            assert_string_equal(hit->tool->id, first->items[i]->tool->id);
            continue;
        }
        assert_int_equal(stage->rank, i + 1);
        assert_true(!before || stage->score <= before->score);
        float logit = logit_of(cross, request, hit->tool, fields);
        assert_true(logit == (float)stage->score && wt__cross_probability(logit) == (float)hit->score);
    }
    wt__cross_close(cross);
}

/* Ten of sixty, with twenty asked for: the cross-encoder's order, then dpr's. */
static void reranked_are_the_first_ones_of_dpr(void **state)
{
    static const char request[] = "book a table in the city";
    (void)state;
    add_many(60);
    leave("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS, 2);
    wt_hits *first = asked_for("dpr", request, 20), *hits = asked_for("rerank-10", request, 20);
    assert_string_equal(hits->recipe, "rerank-10");
    check_reranked(hits, first, 10, DOCUMENT_USUAL, request);
    for (size_t i = 0; i < 10; i++) {
        size_t at = 0;
        while (at < 10 && strcmp(hits->items[i]->tool->id, first->items[at]->tool->id) != 0)
            at++;
        assert_true(at < 10);
    }
    wt_hits_free(hits);
    hits = asked_for("rerank-30", request, 20); /* more than is asked for */
    assert_int_equal(hits->len, 20);
    wt_hits_free(hits);
    hits = asked_for("rerank-50", request, 200); /* more than there are behind it */
    wt_hits_free(first);
    first = asked_for("dpr", request, 200);
    check_reranked(hits, first, 50, DOCUMENT_USUAL, request);
    wt_hits_free(first);
    wt_hits_free(hits);
}

static void a_cross_encoder_reads_the_fields_it_was_trained_on(void **state)
{
    static const char request[] = "weather in a city";
    (void)state;
    leave("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS ", \"whichtool\": {\"fields\": [\"name\", \"category\", \"nonsense\", 3]}",
                     2);
    wt_hits *first = asked_for("dpr", request, 5), *hits = asked_for("rerank-10", request, 5);
    wt_hits_free(first);
    first = asked_for("rerank-30", request, 5); /* seven tools: the same */
    same_hits(first, hits);
    check_reranked(hits, first, 10, 1u << FIELD_NAME | 1u << FIELD_CATEGORY, request);
    wt_hits_free(first);
    wt_hits_free(hits);
}

/* It is large: who has no use for it does not wait for it, nor stumble over it. */
static void only_who_needs_the_cross_encoder_opens_it(void **state)
{
    struct arena arena = {0};
    wt_hits *hits = NULL;
    wt_find_options options;
    (void)state;
    leave("dpr", true, DPR);
    wt_find_options_init(&options);
    options.recipe = "rerank-10";
    wt_engine *engine = open_store(&place, NULL);
    refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_ERECIPE,
            "the recipe rerank-10 needs training; run `whichtool train dpr`, then `whichtool train cross`");
    wt_close(engine);
    leave("toolrerank", true, "\"across\": true, " CLASSIFIED(-9));
    tiny_model_write(cross_folder(), CROSS, 2);
    char *weights = wt__path_join(&arena, cross_folder(), "model.safetensors");
    assert_int_equal(remove(weights), 0);
    wt__arena_dispose(&arena);
    wt_hits_free(asked("dpr"));
    wt_hits_free(asked("hybrid"));
    wt_hits_free(asked("auto"));
    engine = open_store(&place, NULL);
    for (int i = 0; i < 4; i++) {
        options.recipe = i < 2 ? "rerank-10" : "toolrerank";
        refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_EMODEL, "model.safetensors");
    }
    wt_close(engine);
}

static void only_who_runs_a_refiner_reads_it(void **state)
{
    static const char *const others[] = {"auto", "hybrid", "tool2vec"};
    wt_find_options options;
    wt_hits *hits = NULL;
    (void)state;
    leave("tool2vec", true, "\"weights\": {\"dense\": 1, \"tool2vec\": 1}, \"whichtool\": {\"identity\": \"one\"}");
    leave("tool2vec+refiner", true, "\"first\": \"one\", \"join\": 0, \"candidates\": 16"); /* without weights */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        hits = asked(others[i]);
        assert_null(hits->notice);
        wt_hits_free(hits);
    }
    wt_find_options_init(&options);
    options.recipe = "tool2vec+refiner";
    wt_engine *engine = open_store(&place, NULL);
    hits = NULL;
    for (int i = 0; i < 2; i++)
        refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_ERECIPE,
                "the trained recipe tool2vec+refiner is not used: the refiner: ");
    wt_close(engine);
    leave("auto", true, "\"runs\": \"tool2vec+refiner\"");
    hits = asked(NULL);
    assert_string_equal(hits->recipe, "hybrid");
    assert_non_null(strstr(hits->notice, "`whichtool train tool2vec+refiner` makes it anew"));
    wt_hits_free(hits);
}

static int note_loading(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    *(int *)context += strcmp(phase, "loading the model") == 0;
    return 0;
}

/* Once the index is there, the engine's encoder is for who runs a recipe that stands on it. */
static void runs_by(wt_engine *engine, const char *recipe)
{
    wt_find_options options;
    wt_find_options_init(&options);
    wt_hits *hits = find_with(&place, engine, "weather in a city", &options);
    assert_string_equal(hits->recipe, recipe);
    wt_hits_free(hits);
}

/* As another process leaves it, beside an engine that answers. */
static void what_was_trained_since_is_read_when_that_is_asked_for(void **state)
{
    static const struct {
        const char *members; /* of auto's config; NULL: all stays as it is */
        int rc;
        bool anew;
        const char *runs;
    } rows[] = {
        {NULL, 0, false, "hybrid"},
        {"\"runs\": \"fuse(bm25, tool2vec)\", \"weights\": {\"lexical\": 1, \"tool2vec\": 1}", 0, true,
         "fuse(bm25, tool2vec)"},
        {NULL, 0, false, "fuse(bm25, tool2vec)"},
        {"nonsense", WT_EFORMAT, false, "fuse(bm25, tool2vec)"}, /* what cannot be read changes nothing */
        {NULL, 0, false, "fuse(bm25, tool2vec)"},
        {"\"runs\": \"fuse(bm25, dense)\", \"weights\": {\"lexical\": 1, \"dense\": 1}", 0, true, "fuse(bm25, dense)"},
    };
    (void)state;
    wt_engine *engine = open_store(&place, NULL);
    bool anew = true;
    sound(&place, wt__engine_reload_trained(engine, &anew, &place.err)); /* nobody has asked for it yet */
    assert_false(anew);
    runs_by(engine, "hybrid");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].members)
            leave("auto", true, rows[i].members);
        runs_by(engine, rows[i > 0 ? i - 1 : 0].runs);
        assert_int_equal(wt__engine_reload_trained(engine, &anew, &place.err), rows[i].rc);
        assert_int_equal(anew, rows[i].anew);
        runs_by(engine, rows[i].runs);
    }
    wt_close(engine);
}

static void a_trained_encoder_stands_alone(void **state)
{
    static const struct {
        const char *recipe;
        int loads;
    } cases[] = {{"auto", 0}, {"dpr", 0}, {"hybrid", 1}};
    struct arena arena = {0};
    struct buffer models = {0};
    (void)state;
    wt__buffer_printf(&models, "%s-models", place.store);
    const char *own = wt__path_join(&arena, models.ptr, "encoder");
    tiny_model_write(own, TINY_BERT, 2);
    leave_by(own, "dpr", true, DPR);
    leave_by(own, "auto", true, "\"runs\": \"fuse(dense)\", \"weights\": {\"dense\": 1}");
    wt_hits_free(asked("auto"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int loads = 0;
        wt_find_options options;
        wt_find_options_init(&options);
        options.recipe = cases[i].recipe;
        options.progress = note_loading;
        options.progress_context = &loads;
        wt_engine *engine = open_store(&place, NULL);
        wt_hits_free(find_with(&place, engine, "weather in a city", &options));
        wt_close(engine);
        if (!!loads != cases[i].loads)
            fail_msg("%s: %d models loaded beside training's", cases[i].recipe, loads);
    }
    wt__buffer_dispose(&models);
    wt__arena_dispose(&arena);
}

/* ---------------------------------------------------------------- stopping */

struct stopping {
    const char *phase;
    int call; /* of that phase, from 1, at which it is stopped */
    int calls;
};

/* Waits so long that the next step is told as well. */
static int stop_at(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct stopping *stopping = context;
    (void)done, (void)total;
    if (strcmp(phase, stopping->phase) != 0)
        return 0;
    if (++stopping->calls == stopping->call)
        return 1;
    usleep(110000);
    return 0;
}

static void begin_anew(void)
{
    struct arena arena = {0};
    remove_folder(place.index);
    remove(wt__path_join(&arena, place.model, MODEL_CACHE_NAME));
    remove(wt__path_join(&arena, cross_folder(), MODEL_CACHE_NAME));
    wt__arena_dispose(&arena);
}

/* A first query packs and loads models, makes the index and reads tools; what was stopped is begun again by the next
 * one. */
static void whatever_a_query_waits_for_can_be_stopped(void **state)
{
    enum { LAYERS = 2 }; /* of the first model: the second one's packing is told after those */
    static const struct {
        const char *phase;
        int call;
    } cases[] = {{"searching", 1},
                 {"loading the model", 1},
                 {"packing the model", 1},
                 {"packing the model", 2},
                 {"loading what was trained", 1},
                 {"indexing", 1},
                 {"indexing", 2},
                 {"loading the reranker", 1},
                 {"packing the model", 2 + LAYERS},
                 {"reranking", 1},
                 {"reranking", 2}};
    wt_find_options options;
    (void)state;
    add_many(60);
    leave("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS, 2);
    wt_find_options_init(&options);
    options.recipe = "rerank-50";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stopping stopping = {.phase = cases[i].phase, .call = cases[i].call};
        wt_hits *hits = NULL;
        begin_anew();
        wt_engine *engine = open_store(&place, NULL);
        options.progress = stop_at;
        options.progress_context = &stopping;
        refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_ECANCELLED, "stopped on request");
        assert_null(hits);
        assert_int_equal(stopping.calls, stopping.call);
        options.progress = NULL;
        hits = find_with(&place, engine, "song", &options);
        assert_int_equal(hits->len, 5);
        wt_hits_free(hits);
        wt_close(engine);
    }
}

static void picking_hears_while_it_loads(void **state)
{
    static const char *const phases[] = {"loading the model", "loading what was trained", "indexing"};
    wt_pick_options options;
    (void)state;
    leave("dpr", true, DPR);
    wt_pick_options_init(&options);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        struct stopping stopping = {.phase = phases[i], .call = 1};
        wt_picked *picked = NULL;
        begin_anew();
        wt_engine *engine = open_store(&place, NULL);
        options.progress = stop_at;
        options.progress_context = &stopping;
        refused(&place, wt_pick(engine, "song", 4, &options, &picked, &place.err), WT_ECANCELLED, "stopped on request");
        assert_null(picked);
        options.progress = NULL;
        sound(&place, wt_pick(engine, "song", 4, &options, &picked, &place.err));
        wt_picked_free(picked);
        wt_close(engine);
    }
}

/* Another thread makes the index for as long as the test likes. */
static void who_waits_for_an_index_can_be_stopped(void **state)
{
    static const struct {
        const char *phase;
        int call, code;
        unsigned limit_ms;
        const char *says;
    } cases[] = {{"waiting", 1, WT_ECANCELLED, 0, "stopped on request"},
                 {"waiting", 2, WT_ECANCELLED, 0, "stopped on request"},
                 {"", 1, WT_ETIMEOUT, 20, "the time limit of 20 ms ran out"}};
    wt_engine *engine = open_store(&place, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stopping stopping = {.phase = cases[i].phase, .call = cases[i].call};
        wt_find_options options;
        wt_hits *hits = NULL;
        wt_find_options_init(&options);
        options.recipe = "bm25";
        options.progress = stop_at;
        options.progress_context = &stopping;
        options.time_limit_ms = cases[i].limit_ms;
        pthread_mutex_lock(&engine->build_lock);
        int rc = wt_find(engine, "song", 4, &options, &hits, &place.err);
        pthread_mutex_unlock(&engine->build_lock);
        refused(&place, rc, cases[i].code, cases[i].says);
        assert_null(hits);
    }
    wt_close(engine);
}

/* ---------------------------------------------------------------- toolrerank */

static wt_hits *asked_capped(const char *recipe, const char *request, size_t k, size_t most)
{
    wt_engine *engine = open_store(&place, NULL);
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

static void without_training_toolrerank_is_hybrid(void **state)
{
    static const char *const requests[] = {"book a table in the city and find a song", "storm", "a b c d"};
    (void)state;
    add_many(120);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        for (size_t most = 0; most < 4; most += 3) {
            wt_hits *ours = asked_capped("toolrerank", requests[i], 80, most);
            wt_hits *hybrid = asked_capped("hybrid", requests[i], 80, most);
            assert_string_equal(ours->recipe, "toolrerank");
            assert_true(isnan(ours->multi_provider_probability) && isnan(hybrid->multi_provider_probability));
            same_hits(ours, hybrid);
            wt_hits_free(ours);
            wt_hits_free(hybrid);
        }
}

/* With the weights of hybrid, its encoder and no rule it is hybrid; dpr's own are others. */
static void the_first_stage_is_as_the_config_weighs_it(void **state)
{
    static const char request[] = "book a table in the city and find a song";
    (void)state;
    add_many(100);
    leave("dpr", true, DPR);
    leave("toolrerank", true,
          "\"weights\": {\"lexical\": 1, \"dense\": 0.6, \"subquery\": 1}, \"hierarchy\": {\"truncate\": false}");
    wt_hits *ours = asked_capped("toolrerank", request, 40, 0), *hybrid = asked_capped("hybrid", request, 40, 0);
    wt_hits *dpr = asked_capped("dpr", request, 40, 0);
    bool same = ours->len == dpr->len;
    assert_int_equal(ours->len, hybrid->len);
    for (size_t i = 0; i < ours->len; i++) {
        assert_string_equal(ours->items[i]->tool->id, hybrid->items[i]->tool->id);
        same = same && strcmp(ours->items[i]->tool->id, dpr->items[i]->tool->id) == 0;
    }
    assert_false(same);
    wt_hits_free(ours);
    wt_hits_free(hybrid);
    wt_hits_free(dpr);
}

/* A reranker that brings in tools of a provider brings in none that may not be found. */
static void what_is_left_out_is_not_brought_back(void **state)
{
    static const char request[] = "book a table in the city";
    const char *const excluded[] = {"*a", "*/tool_?c*"};
    (void)state;
    add_many(100);
    leave("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS, 2);
    leave("toolrerank", true,
          "\"across\": true, \"hierarchy\": {\"seen_depth\": 1, \"unseen_depth\": 20, \"tau_s\": 1}, " CLASSIFIED(-9));
    wt_engine *engine = open_store(&place, NULL);
    wt_find_options options;
    wt_filter filter;
    wt_filter_init(&filter);
    wt_find_options_init(&options);
    filter.excluded = excluded;
    filter.excluded_count = 2;
    options.recipe = "toolrerank";
    options.k = 60;
    for (size_t round = 0; round < 2; round++) {
        size_t left_out = 0;
        wt_hits *hits = find_with(&place, engine, request, &options);
        assert_int_equal(hits->len, 60);
        for (size_t i = 0; i < hits->len; i++) {
            const char *name = hits->items[i]->tool->name;
            left_out += name[strlen(name) - 1] == 'a' || (strncmp(name, "tool_", 5) == 0 && name[6] == 'c');
        }
        assert_true((left_out > 0) == (round == 0));
        wt_hits_free(hits);
        options.filter = &filter;
    }
    wt_close(engine);
}

/* The tools of the first hit's provider come first, all of them, as their scores order them; then the others. */
static void one_provider_comes_first_and_whole(void **state)
{
    static const char request[] = "book a table in the city";
    (void)state;
    add_many(100); /* of four providers, beside the seven */
    leave("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS, 2);
    leave("toolrerank", true,
          "\"across\": true, \"hierarchy\": {\"seen_depth\": 1, \"unseen_depth\": 20, \"tau_s\": 1}, " CLASSIFIED(-9));
    wt_hits *hits = asked_capped("toolrerank", request, 60, 0);
    assert_string_equal(hits->recipe, "toolrerank");
    assert_true(hits->multi_provider_probability < 0.001);
    assert_int_equal(hits->len, 60);
    const char *provider = hits->items[0]->tool->provider;
    size_t first = 0, of_provider = 0;
    wt_list_options list;
    wt_list_options_init(&list);
    list.provider = provider;
    wt_tools *tools = NULL;
    wt_engine *engine = open_store(&place, NULL);
    sound(&place, wt_list(engine, &list, &tools, &place.err));
    of_provider = tools->len;
    wt_tools_free(tools);
    wt_close(engine);
    while (first < hits->len && strcmp(hits->items[first]->tool->provider, provider) == 0)
        first++;
    assert_true(of_provider > 10);
    assert_true(first >= of_provider);
    for (size_t i = 0; i < hits->len; i++) {
        const wt_stage_score *rule = stage_of(hits->items[i], "hierarchy");
        double sum = 0;
        for (size_t s = 0; s < hits->items[i]->stage_count; s++)
            sum += hits->items[i]->stages[s]->share;
        assert_true(rule && (rule->score > 0) == (i < first));
        assert_true(sum - hits->items[i]->score < 1e-5 && hits->items[i]->score - sum < 1e-5);
        assert_true(i == 0 || hits->items[i]->score <= hits->items[i - 1]->score);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(hits->items[i]->tool->id, hits->items[j]->tool->id);
    }
    wt_hits_free(hits);
    hits = asked_capped("toolrerank", request, 60, 2);
    for (size_t i = 0; i < hits->len; i++) {
        size_t same = 0;
        for (size_t j = 0; j < i; j++)
            same += strcmp(hits->items[j]->tool->provider, hits->items[i]->tool->provider) == 0;
        assert_true(same < 2);
    }
    wt_hits_free(hits);
}

/* One of each group of look-alikes comes first; without a cross-encoder the first stage's order is theirs too. */
static void several_providers_take_turns(void **state)
{
    static const char request[] = "book a table in the city";
    (void)state;
    add_many(100);
    leave("dpr", true, DPR);
    leave("toolrerank", true, "\"hierarchy\": {\"tau_m\": 1, \"group_most\": 1}, " CLASSIFIED(9));
    wt_hits *hits = asked_capped("toolrerank", request, 60, 0), *dpr = asked_capped("dpr", request, 60, 0);
    size_t first = 0;
    assert_int_equal(hits->len, 60);
    assert_true(hits->multi_provider_probability > 0.999);
    assert_string_equal(hits->items[0]->tool->id, dpr->items[0]->tool->id);
    while (stage_of(hits->items[first], "hierarchy")->score > 0)
        first++;
    assert_true(first >= 4 && first <= HANDMADE_PROVIDERS + 4);
    for (size_t i = 0; i < first; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(hits->items[i]->tool->provider, hits->items[j]->tool->provider);
    wt_hits_free(hits);
    wt_hits_free(dpr);
}

static void seen_is_by_provider_or_by_tool(void **state)
{
    static const struct {
        const char *members;
        bool forecast, alerts, calculator, hotel;
    } cases[] = {
        {"{\"seen_by\": \"provider\", \"seen\": [\"weather\", \"calculator\"]}", true, true, true, false},
        {"{\"seen_by\": \"tool\", \"seen\": [\"weather/getForecast\", \"travel\"]}", true, false, false, false},
        {"{}", false, false, false, false},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct tool tools[] = {{.provider = STR("weather"), .name = STR("getForecast")},
                                     {.provider = STR("weather"), .name = STR("storm_alerts")},
                                     {.name = STR("calculator")},
                                     {.provider = STR("travel"), .name = STR("bookHotel")}};
        const bool wanted[] = {cases[c].forecast, cases[c].alerts, cases[c].calculator, cases[c].hotel};
        struct arena arena = {0};
        struct buffer id = {0};
        struct rules rules;
        json_t *config = json_loads(cases[c].members, 0, NULL);
        sound(&place, wt__rules_read(&rules, config, &arena, &place.err));
        for (size_t i = 0; i < 4; i++)
            assert_true(wt__rules_seen(&rules, &tools[i], &id) == wanted[i]);
        wt__map_dispose(&rules.seen);
        json_decref(config);
        wt__buffer_dispose(&id);
        wt__arena_dispose(&arena);
    }
}

static void rules_are_read_as_they_were_written(void **state)
{
    struct rules rules = {.settings = {.seen_depth = 7,
                                       .unseen_depth = 33,
                                       .tau_s = 0.5f,
                                       .tau_m = -0.25f,
                                       .group_most = 2,
                                       .prior = 4.5f,
                                       .cover = 12.5f,
                                       .truncate = true,
                                       .expand_seen = true,
                                       .rule = {HIERARCHY_ALGORITHM2, HIERARCHY_NONE, HIERARCHY_ALGORITHM1}},
                          .classifier = {-2, 0.75f, 0.125f},
                          .across = true},
                 read;
    struct arena arena = {0};
    (void)state;
    json_t *config = wt__rules_write(&rules, json_pack("[s]", "weather/getForecast"));
    assert_non_null(config);
    sound(&place, wt__rules_read(&read, config, &arena, &place.err));
    assert_int_equal(read.seen.len, 1);
    assert_true(read.across && !read.by_provider);
    assert_memory_equal(&read.classifier, &rules.classifier, sizeof read.classifier);
    assert_memory_equal(&read.settings.rule, &rules.settings.rule, sizeof read.settings.rule);
    assert_true(read.settings.seen_depth == 7 && read.settings.unseen_depth == 33 && read.settings.group_most == 2 &&
                read.settings.tau_s == 0.5f && read.settings.tau_m == -0.25f && read.settings.prior == 4.5f &&
                read.settings.cover == 12.5f && read.settings.truncate && read.settings.expand_seen &&
                !read.settings.expand_unseen);
    wt__map_dispose(&read.seen);
    json_decref(config);
    wt__arena_dispose(&arena);
}

static void rules_that_make_no_sense_are_told(void **state)
{
    static const struct {
        const char *members, *says;
    } cases[] = {
        {"\"hierarchy\": {\"seen_depth\": 257}", "hierarchy: seen_depth is 0; it is 1 to 256"},
        {"\"hierarchy\": {\"tau_s\": 1.5}", "hierarchy: tau_s is 1.5; it is 0 to 1"},
        {"\"hierarchy\": {\"prior\": -1}", "hierarchy: prior is -1; it is 0 to 100"},
        {"\"hierarchy\": {\"rules\": {\"single\": \"scatter\"}}", "the rule for single requests is not one of"},
        {"\"classifier\": {\"weights\": [1, 2]}",
         "classifier: no weight, as another version left it; train toolrerank again"},
        {"\"classifier\": {\"weight\": 1e200}", "classifier: a number is not finite"},
        {"\"seen\": [3]", "seen holds what is no string"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_hits *hits = NULL;
        wt_find_options options;
        wt_find_options_init(&options);
        leave("dpr", true, DPR);
        leave("toolrerank", true, cases[c].members);
        wt_engine *engine = open_store(&place, NULL);
        options.recipe = "toolrerank";
        sound(&place, wt_find(engine, "song", 4, &options, &hits, &place.err));
        assert_non_null(strstr(hits->notice, cases[c].says));
        wt_hits_free(hits);
        options.recipe = "dpr"; /* no other recipe suffers */
        sound(&place, wt_find(engine, "song", 4, &options, &hits, &place.err));
        assert_string_equal(hits->recipe, "dpr");
        wt_hits_free(hits);
        wt_close(engine);
    }
}

/* Rules over words alone: nothing has a vector, nor an encoder. */
static void rules_need_no_meaning(void **state)
{
    (void)state;
    leave("dpr", true, "\"weights\": {\"lexical\": 1}");
    leave("toolrerank", true, CLASSIFIED(-9));
    wt_hits *hits = asked("toolrerank");
    assert_string_equal(hits->recipe, "toolrerank");
    assert_null(hits->notice);
    wt_hits_free(hits);
}

/* Thresholds are of one cross-encoder's scores. */
static void rules_of_another_cross_encoder_are_left_out(void **state)
{
    (void)state;
    leave("dpr", true, DPR);
    leave("toolrerank", true, "\"across\": true, \"cross\": \"one\", " CLASSIFIED(-9));
    tiny_model_write(cross_folder(), CROSS ", \"whichtool\": {\"identity\": \"two\"}", 2);
    wt_hits *hits = asked("toolrerank"), *hybrid = asked("hybrid");
    assert_non_null(strstr(hits->notice, "the cross-encoder was trained again since"));
    same_hits(hits, hybrid);
    wt_hits_free(hits);
    wt_hits_free(hybrid);
    tiny_model_write(cross_folder(), CROSS ", \"whichtool\": {\"identity\": \"one\"}", 2);
    hits = asked("toolrerank");
    assert_null(hits->notice);
    assert_non_null(stage_of(hits->items[0], "cross"));
    wt_hits_free(hits);
}

/* ---------------------------------------------------------------- without any encoder */

/* What may be left of a training whose encoder is gone, with the model that it began with. */
static const struct {
    const char *name, *recipe, *members;
} leftovers[] = {
    {"an empty folder", NULL, NULL},
    {"dpr", "dpr", "\"weights\": {\"dense\": 1}"},
    {"vectors of use", "tool2vec", "\"weights\": {\"dense\": 1, \"tool2vec\": 1}"},
    {"a classifier", "mlc", "\"weights\": {\"dense\": 1, \"mlc\": 1}, \"tools\": [\"weather/getForecast\"]"},
    {"past requests", "neighbours", "\"weights\": {\"neighbours\": 1}, \"tools\": [\"weather/getForecast\"]"},
    {"a refiner", "tool2vec+refiner", "\"first\": \"one\", \"join\": 0, \"candidates\": 4"},
    {"a choice", "auto", "\"runs\": \"tool2vec\", \"weights\": {\"dense\": 1, \"tool2vec\": 1}"},
    {"a chooser", "set", "\"auto\": \"\", \"nonconformity\": []"},
    {"rules", "toolrerank", "\"weights\": {\"dense\": 1}"},
    {"a cross-encoder", "cross", "\"whichtool\": {\"identity\": \"one\"}"},
};
enum { LEFTOVERS = sizeof leftovers / sizeof *leftovers };

static void words_go_on(const char *name)
{
    static const char request[] = "weather in a city";
    wt_engine *engine = open_store(&place, "/no/such/model");
    wt_find_options options;
    wt_find_options_init(&options);
    wt_hits *hits = find_with(&place, engine, request, &options);
    wt_picked *picked = NULL;
    if (strcmp(hits->recipe, "bm25") != 0 || strcmp(hits->items[0]->tool->id, "weather/getForecast") != 0 ||
        !strstr(hits->notice, "is not installed"))
        fail_msg("%s: %s, %s", name, hits->recipe, hits->notice);
    wt_hits_free(hits);
    sound(&place, wt_pick(engine, request, strlen(request), NULL, &picked, &place.err));
    if (picked->len == 0 || !strstr(picked->notice, "is not installed") || strstr(picked->notice, "train"))
        fail_msg("%s: a set of %zu, %s", name, picked->len, picked->notice);
    wt_picked_free(picked);
    for (size_t i = 0; i < LEFTOVERS; i++) {
        const wt_recipe *recipe;
        hits = NULL;
        options.recipe = leftovers[i].recipe;
        for (size_t r = 0; options.recipe && (recipe = wt_recipe_at(r)); r++)
            if (strcmp(recipe->name, options.recipe) == 0 && recipe->needs_model && !recipe->picks)
                refused(&place, wt_find(engine, request, strlen(request), &options, &hits, &place.err),
                        strcmp(options.recipe, "toolrerank") == 0 ? WT_EMODEL : WT_ERECIPE, "is not installed");
    }
    wt_close(engine);
}

static void without_an_encoder_words_go_on(void **state)
{
    (void)state;
    struct buffer folder = {0};
    wt__buffer_printf(&folder, "%s-models", place.store);
    sound(&place, wt__make_folders(folder.ptr, &place.err));
    for (size_t i = 0; i < LEFTOVERS; i++) {
        if (leftovers[i].recipe)
            leave(leftovers[i].recipe, true, leftovers[i].members);
        words_go_on(leftovers[i].name);
    }
    wt__buffer_dispose(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_training_auto_is_hybrid, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(auto_runs_what_was_chosen_and_says_why, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(auto_that_chose_hybrid_is_hybrid, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(a_recipe_of_another_encoder_is_told, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(a_chooser_that_does_not_fit_is_told, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(a_damaged_training_keeps_nobody_from_hybrid, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(without_an_encoder_words_go_on, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(dpr_is_the_trained_encoder_over_texts, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(old_members_have_their_new_names, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(an_old_model_opens, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(reranked_are_the_first_ones_of_dpr, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(a_cross_encoder_reads_the_fields_it_was_trained_on, set_up_handmade,
                                        tear_down_place),
        cmocka_unit_test_setup_teardown(only_who_needs_the_cross_encoder_opens_it, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(only_who_runs_a_refiner_reads_it, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(what_was_trained_since_is_read_when_that_is_asked_for, set_up_handmade,
                                        tear_down_place),
        cmocka_unit_test_setup_teardown(a_trained_encoder_stands_alone, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(whatever_a_query_waits_for_can_be_stopped, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(picking_hears_while_it_loads, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(who_waits_for_an_index_can_be_stopped, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(without_training_toolrerank_is_hybrid, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(the_first_stage_is_as_the_config_weighs_it, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(what_is_left_out_is_not_brought_back, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(one_provider_comes_first_and_whole, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(several_providers_take_turns, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(seen_is_by_provider_or_by_tool, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(rules_are_read_as_they_were_written, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(rules_that_make_no_sense_are_told, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(rules_need_no_meaning, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(rules_of_another_cross_encoder_are_left_out, set_up_handmade, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
