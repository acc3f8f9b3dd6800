/* Tests queries with trained models. The tests write the folders of the models without training. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "encoder/encoder.h"
#include "encoder/internal.h"
#include "encoder/tiny_model.h"
#include "engine/engine.h"
#include "engine/set_up.h"
#include "query/trained_folders.h"
#include "recipe/trained.h"
#include "rerank/cross.h"
#include "retrieve/document.h"

static void auto_without_training_is_hybrid(void **state)
{
    (void)state;
    wt_hits *automatic = find_in_new_engine("auto"), *hybrid = find_in_new_engine("hybrid");
    assert_string_equal(automatic->recipe, "hybrid");
    assert_null(automatic->why);
    same_hits(automatic, hybrid);
    wt_hits_free(automatic);
    wt_hits_free(hybrid);
}

static void auto_runs_choice_with_reason(void **state)
{
    (void)state;
    write_trained_config("auto", true,
                         "\"runs\": \"fuse(bm25, tool2vec)\", \"why\": \"it was best\", \"weights\": "
                         "{\"lexical\": 1, \"dense\": 2, \"tool2vec\": 1}");
    wt_hits *hits = find_in_new_engine(NULL);
    assert_string_equal(hits->recipe, "fuse(bm25, tool2vec)");
    assert_string_equal(hits->why, "it was best");
    assert_true(hits->len > 0);
    wt_hits_free(hits);
}

/* The config also has the weights of a recipe that lost on dev. The search must not use these weights. */
static void auto_with_choice_hybrid_is_hybrid(void **state)
{
    (void)state;
    write_trained_config("auto", true,
                         "\"runs\": \"hybrid\", \"why\": \"nothing bettered it\", \"weights\": "
                         "{\"lexical\": 0, \"dense\": 1, \"subquery\": 0, \"tool2vec\": 1}");
    wt_hits *automatic = find_in_new_engine(NULL), *hybrid = find_in_new_engine("hybrid");
    assert_string_equal(automatic->recipe, "hybrid");
    assert_string_equal(automatic->why, "nothing bettered it");
    same_hits(automatic, hybrid);
    wt_hits_free(automatic);
    wt_hits_free(hybrid);
}

static void recipe_of_other_encoder_is_rejected(void **state)
{
    (void)state;
    write_trained_config("tool2vec", false, "\"weights\": {\"dense\": 1, \"tool2vec\": 1}");
    wt_engine *engine = open_test_engine(&place, NULL);
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = "tool2vec";
    assert_call_refused(&place, wt_find(engine, "weather", 7, &options, &hits, &place.err), WT_ERECIPE,
                        "it was trained with another encoder; run `whichtool train tool2vec` to train it again");
    wt_close(engine);
}

/* A chooser is valid only with the training of auto that it was calibrated on. */
static void unfit_chooser_gives_notice(void **state)
{
    static const char automatic[] = "\"runs\": \"hybrid\", \"whichtool\": {\"identity\": \"one\"}";
    static const struct {
        bool automatic;
        /* set: members of the chooser's config. found: expected part of the notice of wt_find; NULL for no notice. */
        const char *set, *found;
    } rows[] = {
        {false, "\"auto\": \"one\"", "set is not used: auto, whose hits it uses, is missing"},
        {true, "\"auto\": \"two\"", NULL},
        {true, "\"auto\": \"one\", \"nonconformity\": []", NULL},
    };
    static const char request[] = "weather in a city";
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_picked *picked = NULL;
        if (rows[i].automatic)
            write_trained_config("auto", true, automatic);
        write_trained_config("set", true, rows[i].set);
        wt_hits *hits = find_in_new_engine(NULL);
        if (rows[i].found ? !hits->notice || !strstr(hits->notice, rows[i].found) : hits->notice != NULL)
            fail_msg("row %zu: notice \"%s\"", i, hits->notice ? hits->notice : "");
        wt_hits_free(hits);
        wt_engine *engine = open_test_engine(&place, NULL);
        assert_call_ok(&place, wt_pick(engine, request, strlen(request), NULL, &picked, &place.err));
        assert_non_null(strstr(picked->notice, "probabilities are not calibrated on this catalogue"));
        wt_picked_free(picked);
        wt_close(engine);
    }
}

static void damaged_training_falls_back_to_hybrid(void **state)
{
    (void)state;
    write_trained_config("auto", true, "\"weights\": [");
    wt_hits *hits = find_in_new_engine(NULL);
    assert_string_equal(hits->recipe, "hybrid");
    assert_non_null(strstr(hits->notice, "config.json"));
    wt_hits_free(hits);
}

/* ---------------------------------------------------------------- dpr and rerank-N */

static void dpr_searches_with_trained_encoder(void **state)
{
    (void)state;
    write_trained_config("dpr", true,
                         "\"weights\": {\"dense\": 1, \"subquery\": 1}"); /* the weights and encoder of dense */
    wt_hits *dpr = find_in_new_engine("dpr"), *dense = find_in_new_engine("dense");
    assert_string_equal(dpr->recipe, "dpr");
    same_hits(dpr, dense);
    wt_hits_free(dpr);
    wt_hits_free(dense);
}

/* ---------------------------------------------------------------- models of earlier versions */

static void old_members_are_renamed(void **state)
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

/* The request has two sub-queries, so the weight of sub-queries changes its scores. */
static void model_of_earlier_version_opens(void **state)
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
        write_trained_config(models[i].recipe, true, models[i].now);
        wt_hits *now = asked_for(models[i].recipe, request, 10);
        write_trained_config(models[i].recipe, true, models[i].old);
        wt_hits *old = asked_for(models[i].recipe, request, 10);
        assert_string_equal(old->recipe, models[i].recipe);
        same_hits(old, now);
        wt_hits_free(old);
        wt_hits_free(now);
    }
}

/* Computes the score of the cross-encoder for the request and the tool of a hit. */
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
    assert_call_ok(&place, wt__cross_score(cross, wt__str(request), &run, 1, NULL, &logit, &place.err));
    wt__buffer_dispose(&text);
    return logit;
}

static void check_reranked(const wt_hits *hits, const wt_hits *first, size_t n, unsigned fields, const char *request)
{
    struct cross *cross;
    assert_call_ok(&place, wt__cross_open(&cross, cross_folder(), NULL, &place.err));
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

/* Reranks the first ten hits of dpr. These hits must have the order of the cross-encoder. The later hits keep the order
 * of dpr. */
static void first_hits_of_dpr_are_reranked(void **state)
{
    static const char request[] = "book a table in the city";
    (void)state;
    add_many(60);
    write_trained_config("dpr", true, DPR);
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
    hits = asked_for("rerank-30", request, 20); /* reranks more hits than k */
    assert_int_equal(hits->len, 20);
    wt_hits_free(hits);
    hits = asked_for("rerank-50", request, 200); /* k exceeds the number of tools */
    wt_hits_free(first);
    first = asked_for("dpr", request, 200);
    check_reranked(hits, first, 50, DOCUMENT_USUAL, request);
    wt_hits_free(first);
    wt_hits_free(hits);
}

static void cross_encoder_reads_its_trained_fields(void **state)
{
    static const char request[] = "weather in a city";
    (void)state;
    write_trained_config("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS ", \"whichtool\": {\"fields\": [\"name\", \"category\", \"nonsense\", 3]}",
                     2);
    wt_hits *first = asked_for("dpr", request, 5), *hits = asked_for("rerank-10", request, 5);
    wt_hits_free(first);
    first = asked_for("rerank-30", request, 5); /* the same hits, since the store has only seven tools */
    same_hits(first, hits);
    check_reranked(hits, first, 10, 1u << FIELD_NAME | 1u << FIELD_CATEGORY, request);
    wt_hits_free(first);
    wt_hits_free(hits);
}

/* The cross-encoder is large. Other recipes neither wait for it nor fail because of it. */
static void cross_encoder_is_opened_only_when_needed(void **state)
{
    struct arena arena = {0};
    wt_hits *hits = NULL;
    wt_find_options options;
    (void)state;
    write_trained_config("dpr", true, DPR);
    wt_find_options_init(&options);
    options.recipe = "rerank-10";
    wt_engine *engine = open_test_engine(&place, NULL);
    assert_call_refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_ERECIPE,
                        "the recipe rerank-10 needs training; run `whichtool train dpr`, then `whichtool train cross`");
    wt_close(engine);
    write_trained_config("toolrerank", true, "\"across\": true, " CLASSIFIED(-9));
    tiny_model_write(cross_folder(), CROSS, 2);
    char *weights = wt__path_join(&arena, cross_folder(), "model.safetensors");
    assert_int_equal(remove(weights), 0);
    wt__arena_dispose(&arena);
    wt_hits_free(find_in_new_engine("dpr"));
    wt_hits_free(find_in_new_engine("hybrid"));
    wt_hits_free(find_in_new_engine("auto"));
    engine = open_test_engine(&place, NULL);
    for (int i = 0; i < 4; i++) {
        options.recipe = i < 2 ? "rerank-10" : "toolrerank";
        assert_call_refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_EMODEL,
                            "model.safetensors");
    }
    wt_close(engine);
}

static void refiner_is_opened_only_when_needed(void **state)
{
    static const char *const others[] = {"auto", "hybrid", "tool2vec"};
    wt_find_options options;
    wt_hits *hits = NULL;
    (void)state;
    write_trained_config("tool2vec", true,
                         "\"weights\": {\"dense\": 1, \"tool2vec\": 1}, \"whichtool\": {\"identity\": \"one\"}");
    write_trained_config("tool2vec+refiner", true,
                         "\"first\": \"one\", \"join\": 0, \"candidates\": 16"); /* no weights */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        hits = find_in_new_engine(others[i]);
        assert_null(hits->notice);
        wt_hits_free(hits);
    }
    wt_find_options_init(&options);
    options.recipe = "tool2vec+refiner";
    wt_engine *engine = open_test_engine(&place, NULL);
    hits = NULL;
    for (int i = 0; i < 2; i++)
        assert_call_refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_ERECIPE,
                            "the trained recipe tool2vec+refiner is not used: the refiner: ");
    wt_close(engine);
    write_trained_config("auto", true, "\"runs\": \"tool2vec+refiner\"");
    hits = find_in_new_engine(NULL);
    assert_string_equal(hits->recipe, "hybrid");
    assert_non_null(strstr(hits->notice, "run `whichtool train tool2vec+refiner` to train it again"));
    wt_hits_free(hits);
}

static int note_loading(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    *(int *)context += strcmp(phase, "loading the model") == 0;
    return 0;
}

static void runs_by(wt_engine *engine, const char *recipe)
{
    wt_find_options options;
    wt_find_options_init(&options);
    wt_hits *hits = find_with(&place, engine, "weather in a city", &options);
    assert_string_equal(hits->recipe, recipe);
    wt_hits_free(hits);
}

/* Changes the trained models while an engine is open, as training in another process does. */
static void reload_reads_new_training(void **state)
{
    static const struct {
        const char *members; /* members of auto's config; NULL to change nothing */
        int rc;              /* expected result of wt__engine_reload_trained */
        bool anew;           /* true if wt__engine_reload_trained opens new models */
        const char *runs;    /* recipe that auto runs after the reload */
    } rows[] = {
        {NULL, 0, false, "hybrid"},
        {"\"runs\": \"fuse(bm25, tool2vec)\", \"weights\": {\"lexical\": 1, \"tool2vec\": 1}", 0, true,
         "fuse(bm25, tool2vec)"},
        {NULL, 0, false, "fuse(bm25, tool2vec)"},
        {"nonsense", WT_EFORMAT, false, "fuse(bm25, tool2vec)"}, /* unreadable models change nothing */
        {NULL, 0, false, "fuse(bm25, tool2vec)"},
        {"\"runs\": \"fuse(bm25, dense)\", \"weights\": {\"lexical\": 1, \"dense\": 1}", 0, true, "fuse(bm25, dense)"},
    };
    (void)state;
    wt_engine *engine = open_test_engine(&place, NULL);
    bool anew = true;
    assert_call_ok(&place, wt__engine_reload_trained(engine, &anew, &place.err)); /* before the models are opened */
    assert_false(anew);
    runs_by(engine, "hybrid");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].members)
            write_trained_config("auto", true, rows[i].members);
        runs_by(engine, rows[i > 0 ? i - 1 : 0].runs);
        assert_int_equal(wt__engine_reload_trained(engine, &anew, &place.err), rows[i].rc);
        assert_int_equal(anew, rows[i].anew);
        runs_by(engine, rows[i].runs);
    }
    wt_close(engine);
}

/* If the index exists, recipes with a trained encoder do not load the engine's encoder. */
static void trained_encoder_replaces_engine_encoder(void **state)
{
    static const struct {
        const char *recipe;
        int loads; /* 1 if the engine's encoder is loaded, else 0 */
    } cases[] = {{"auto", 0}, {"dpr", 0}, {"hybrid", 1}};
    struct arena arena = {0};
    struct buffer models = {0};
    (void)state;
    wt__buffer_printf(&models, "%s-models", place.store);
    const char *own = wt__path_join(&arena, models.ptr, "encoder");
    tiny_model_write(own, TINY_BERT, 2);
    write_recipe_config(own, "dpr", true, DPR);
    write_recipe_config(own, "auto", true, "\"runs\": \"fuse(dense)\", \"weights\": {\"dense\": 1}");
    wt_hits_free(find_in_new_engine("auto"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int loads = 0;
        wt_find_options options;
        wt_find_options_init(&options);
        options.recipe = cases[i].recipe;
        options.progress = note_loading;
        options.progress_context = &loads;
        wt_engine *engine = open_test_engine(&place, NULL);
        wt_hits_free(find_with(&place, engine, "weather in a city", &options));
        wt_close(engine);
        if (!!loads != cases[i].loads)
            fail_msg("%s: the engine's encoder was loaded %d times", cases[i].recipe, loads);
    }
    wt__buffer_dispose(&models);
    wt__arena_dispose(&arena);
}

/* ---------------------------------------------------------------- cancellation */

struct stopping {
    const char *phase; /* phase to cancel in */
    int call;          /* number of the call in that phase to cancel at, from 1 */
    int calls;         /* number of calls in that phase so far */
};

/* Returns 1 at the call to cancel at. Otherwise sleeps, because progress is reported at most ten times a second. */
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
    remove_model_folder(place.index);
    remove(wt__path_join(&arena, place.model, MODEL_CACHE_NAME));
    remove(wt__path_join(&arena, cross_folder(), MODEL_CACHE_NAME));
    wt__arena_dispose(&arena);
}

/* A first query packs and loads models, builds the index and reads tools. After a cancellation the next query starts
 * again. */
static void first_query_can_be_cancelled_anywhere(void **state)
{
    enum { LAYERS = 2 }; /* packing the encoder reports one step per layer, before the steps of the reranker */
    static const struct {
        const char *phase;
        int call;
    } cases[] = {{"searching", 1},
                 {"loading the model", 1},
                 {"packing the model", 1},
                 {"packing the model", 2},
                 {"loading trained models", 1},
                 {"indexing", 1},
                 {"indexing", 2},
                 {"loading the reranker", 1},
                 {"packing the model", 2 + LAYERS},
                 {"reranking", 1},
                 {"reranking", 2}};
    wt_find_options options;
    (void)state;
    add_many(60);
    write_trained_config("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS, 2);
    wt_find_options_init(&options);
    options.recipe = "rerank-50";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stopping stopping = {.phase = cases[i].phase, .call = cases[i].call};
        wt_hits *hits = NULL;
        begin_anew();
        wt_engine *engine = open_test_engine(&place, NULL);
        options.progress = stop_at;
        options.progress_context = &stopping;
        assert_call_refused(&place, wt_find(engine, "song", 4, &options, &hits, &place.err), WT_ECANCELLED,
                            "stopped on request");
        assert_null(hits);
        assert_int_equal(stopping.calls, stopping.call);
        options.progress = NULL;
        hits = find_with(&place, engine, "song", &options);
        assert_int_equal(hits->len, 5);
        wt_hits_free(hits);
        wt_close(engine);
    }
}

static void pick_reports_progress_of_loading(void **state)
{
    static const char *const phases[] = {"loading the model", "loading trained models", "indexing"};
    wt_pick_options options;
    (void)state;
    write_trained_config("dpr", true, DPR);
    wt_pick_options_init(&options);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        struct stopping stopping = {.phase = phases[i], .call = 1};
        wt_picked *picked = NULL;
        begin_anew();
        wt_engine *engine = open_test_engine(&place, NULL);
        options.progress = stop_at;
        options.progress_context = &stopping;
        assert_call_refused(&place, wt_pick(engine, "song", 4, &options, &picked, &place.err), WT_ECANCELLED,
                            "stopped on request");
        assert_null(picked);
        options.progress = NULL;
        assert_call_ok(&place, wt_pick(engine, "song", 4, &options, &picked, &place.err));
        wt_picked_free(picked);
        wt_close(engine);
    }
}

/* The test holds the build lock, like a thread that builds the index. */
static void wait_for_index_can_be_cancelled(void **state)
{
    static const struct {
        const char *phase;
        int call, code;
        unsigned limit_ms;
        const char *says;
    } cases[] = {{"waiting", 1, WT_ECANCELLED, 0, "stopped on request"},
                 {"waiting", 2, WT_ECANCELLED, 0, "stopped on request"},
                 {"", 1, WT_ETIMEOUT, 20, "the time limit of 20 ms ran out"}};
    wt_engine *engine = open_test_engine(&place, NULL);
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
        assert_call_refused(&place, rc, cases[i].code, cases[i].says);
        assert_null(hits);
    }
    wt_close(engine);
}

/* ---------------------------------------------------------------- no encoder */

/* Trained models whose own encoder and base model are both missing. */
static const struct {
    const char *name, *recipe, *members;
} leftovers[] = {
    {"empty folder", NULL, NULL},
    {"dpr", "dpr", "\"weights\": {\"dense\": 1}"},
    {"tool2vec", "tool2vec", "\"weights\": {\"dense\": 1, \"tool2vec\": 1}"},
    {"mlc", "mlc", "\"weights\": {\"dense\": 1, \"mlc\": 1}, \"tools\": [\"weather/getForecast\"]"},
    {"past requests", "neighbours", "\"weights\": {\"neighbours\": 1}, \"tools\": [\"weather/getForecast\"]"},
    {"refiner", "tool2vec+refiner", "\"first\": \"one\", \"join\": 0, \"candidates\": 4"},
    {"choice of auto", "auto", "\"runs\": \"tool2vec\", \"weights\": {\"dense\": 1, \"tool2vec\": 1}"},
    {"chooser", "set", "\"auto\": \"\", \"nonconformity\": []"},
    {"rules of toolrerank", "toolrerank", "\"weights\": {\"dense\": 1}"},
    {"cross-encoder", "cross", "\"whichtool\": {\"identity\": \"one\"}"},
};
enum { LEFTOVERS = sizeof leftovers / sizeof *leftovers };

static void words_go_on(const char *name)
{
    static const char request[] = "weather in a city";
    wt_engine *engine = open_test_engine(&place, "/no/such/model");
    wt_find_options options;
    wt_find_options_init(&options);
    wt_hits *hits = find_with(&place, engine, request, &options);
    wt_picked *picked = NULL;
    if (strcmp(hits->recipe, "hybrid") != 0 || strcmp(hits->items[0]->tool->id, "weather/getForecast") != 0 ||
        !strstr(hits->notice, "is not installed"))
        fail_msg("%s: %s, %s", name, hits->recipe, hits->notice);
    wt_hits_free(hits);
    assert_call_ok(&place, wt_pick(engine, request, strlen(request), NULL, &picked, &place.err));
    if (picked->len == 0 || !strstr(picked->notice, "is not installed") || strstr(picked->notice, "train"))
        fail_msg("%s: a set of %zu tools, notice %s", name, picked->len, picked->notice);
    wt_picked_free(picked);
    for (size_t i = 0; i < LEFTOVERS; i++) {
        const wt_recipe *recipe;
        hits = NULL;
        options.recipe = leftovers[i].recipe;
        for (size_t r = 0; options.recipe && (recipe = wt_recipe_at(r)); r++)
            if (strcmp(recipe->name, options.recipe) == 0 && recipe->needs_model && !recipe->picks)
                assert_call_refused(&place, wt_find(engine, request, strlen(request), &options, &hits, &place.err),
                                    strcmp(options.recipe, "toolrerank") == 0 ? WT_EMODEL : WT_ERECIPE,
                                    "is not installed");
    }
    wt_close(engine);
}

static void search_without_encoder_uses_words(void **state)
{
    (void)state;
    struct buffer folder = {0};
    wt__buffer_printf(&folder, "%s-models", place.store);
    assert_call_ok(&place, wt__make_folders(folder.ptr, &place.err));
    for (size_t i = 0; i < LEFTOVERS; i++) {
        if (leftovers[i].recipe)
            write_trained_config(leftovers[i].recipe, true, leftovers[i].members);
        words_go_on(leftovers[i].name);
    }
    wt__buffer_dispose(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(auto_without_training_is_hybrid, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(auto_runs_choice_with_reason, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(auto_with_choice_hybrid_is_hybrid, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(recipe_of_other_encoder_is_rejected, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(unfit_chooser_gives_notice, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(damaged_training_falls_back_to_hybrid, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(search_without_encoder_uses_words, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(dpr_searches_with_trained_encoder, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(old_members_are_renamed, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(model_of_earlier_version_opens, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(first_hits_of_dpr_are_reranked, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(cross_encoder_reads_its_trained_fields, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(cross_encoder_is_opened_only_when_needed, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(refiner_is_opened_only_when_needed, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(reload_reads_new_training, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(trained_encoder_replaces_engine_encoder, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(first_query_can_be_cancelled_anywhere, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(pick_reports_progress_of_loading, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(wait_for_index_can_be_cancelled, set_up_handmade, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
