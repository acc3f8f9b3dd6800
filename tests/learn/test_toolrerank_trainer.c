/* Tests the lessons "dpr", "cross" and "toolrerank" on a model of two layers, and queries with the trained models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/json.h"
#include "learn/trainers.h"
#include "learn/support.h"

enum { USAGES = 160 };

static wt_engine *open_filled_toolrerank_trainer(struct learn_place *place)
{
    wt_engine *engine = open_place_store(place);
    import_place_tools(place, engine);
    import_synthetic_usages(place, engine, USAGES);
    return engine;
}

static double train_toolrerank_lesson(struct learn_place *place, wt_engine *engine, const char *lesson, size_t epochs)
{
    wt_train_report *report = NULL;
    wt_train_options options;
    wt_train_options_init(&options);
    options.threads = 2;
    options.epochs = (double)epochs;
    options.rate = epochs ? 3e-3 : 0;
    assert_train_ok(place, wt_train(engine, lesson, &options, &report, &place->err));
    assert_int_equal(report->len, 1);
    double after = report->items[0]->after;
    wt_train_report_free(report);
    return after;
}

static wt_hits *find_recipe_hits(struct learn_place *place, wt_engine *engine, const char *recipe)
{
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.k = PLACE_TOOLS;
    assert_train_ok(place, wt_find(engine, "hotel news price", 16, &options, &hits, &place->err));
    return hits;
}

static void dpr_uses_trained_encoder(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_toolrerank_trainer(place);
    double plain = train_toolrerank_lesson(place, engine, "dpr", 0); /* without a trained encoder */
    wt_hits *before = find_recipe_hits(place, engine, "dpr");
    train_toolrerank_lesson(place, engine, "encoder", 6);
    double trained = train_toolrerank_lesson(place, engine, "dpr", 0);
    wt_hits *after = find_recipe_hits(place, engine, "dpr");
    if (!(trained > plain))
        fail_msg("dev recall %.3f, and after training %.3f", plain, trained);
    assert_int_equal(before->len, PLACE_TOOLS);
    assert_int_equal(after->len, PLACE_TOOLS);
    bool same = true;
    for (size_t i = 0; i < PLACE_TOOLS; i++)
        same = same && after->items[i]->score == before->items[i]->score;
    assert_false(same);
    wt_hits_free(before);
    wt_hits_free(after);
    wt_close(engine);
}

static void rerank_recipes_run_with_cross_encoder(void **state)
{
    static const char *const recipes[] = {"rerank-10", "rerank-30", "rerank-50"};
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_toolrerank_trainer(place);
    train_toolrerank_lesson(place, engine, "dpr", 0);
    train_toolrerank_lesson(place, engine, "cross", 1);
    wt_close(engine);
    engine = open_place_store(place);
    for (size_t i = 0; i < 3; i++) {
        wt_hits *hits = find_recipe_hits(place, engine, recipes[i]);
        assert_string_equal(hits->recipe, recipes[i]);
        assert_int_equal(hits->len, PLACE_TOOLS);
        wt_hits_free(hits);
    }
    wt_close(engine);
}

/* Trains the encoder to read only `fields` (NULL for the default). Returns the difference between the scores of two
 * tools that have the same name, but different providers and descriptions. */
static double distance_of_twins(struct learn_place *place, const char *fields)
{
    wt_train_report *report = NULL;
    wt_train_options options;
    wt_hits *hits = NULL;
    wt_find_options asked;
    double scores[2] = {NAN, NAN};
    wt_engine *engine = open_place_store(place);
    wt_train_options_init(&options);
    options.fields = fields;
    options.threads = 1;
    options.epochs = 8;
    options.rate = 3e-3;
    assert_train_ok(place, wt_train(engine, "encoder", &options, &report, &place->err));
    assert_true(report->items[0]->after > report->items[0]->before); /* otherwise the encoder is unchanged */
    wt_train_report_free(report);
    train_toolrerank_lesson(place, engine, "dpr", 0);
    wt_close(engine);
    engine = open_place_store(place);
    wt_find_options_init(&asked);
    asked.recipe = "dpr";
    asked.k = PLACE_TOOLS + 2;
    asked.copies = 1;
    assert_train_ok(place, wt_find(engine, "hotel news", 10, &asked, &hits, &place->err));
    for (size_t i = 0; i < hits->len; i++)
        for (size_t p = 0; p < 2; p++)
            if (strcmp(hits->items[i]->tool->id, p ? "music/find" : "weather/find") == 0)
                scores[p] = (double)hits->items[i]->score;
    wt_hits_free(hits);
    wt_close(engine);
    return fabs(scores[0] - scores[1]);
}

/* Two tools have the same name. An encoder trained to read only names gives both the same vector. */
static void encoder_reads_given_fields(void **state)
{
    struct learn_place *place = *state;
    wt_engine *engine = open_filled_toolrerank_trainer(place);
    import_tool_lines(place, engine,
                      "{\"provider\": \"weather\", \"name\": \"find\", \"description\": \"stock price of\"}\n"
                      "{\"provider\": \"music\", \"name\": \"find\", \"description\": \"train in london\"}\n");
    wt_close(engine);
    assert_true(distance_of_twins(place, "name") < 1e-6);
    assert_true(distance_of_twins(place, "provider,name") > 1e-4);
    assert_true(distance_of_twins(place, NULL) > 1e-4);
}

/* ---------------------------------------------------------------- toolrerank */

/* Opens a store with three providers of three tools, and a tool without a provider. singles: number of requests for
 * tools of one provider. several: number of requests that also need a tool of another provider. */
static wt_engine *open_providers(struct learn_place *place, size_t singles, size_t several)
{
    static const char *const words[3][3] = {
        {"weather", "stock", "news"}, {"train", "flight", "hotel"}, {"music", "mail", "text"}};
    wt_engine *engine = open_place_store(place);
    struct buffer jsonl = {0};
    for (size_t p = 0; p < 3; p++)
        for (size_t t = 0; t < 3; t++)
            wt__buffer_printf(&jsonl, "{\"provider\": \"p%zu\", \"name\": \"tool%c\", \"description\": \"%s\"}\n", p,
                              (int)('a' + p * 3 + t), words[p][t]);
    wt__buffer_text(&jsonl, "{\"name\": \"alone\", \"description\": \"translate\"}\n");
    import_tool_lines(place, engine, jsonl.ptr);
    wt__buffer_clear(&jsonl);
    for (size_t i = 0; i < singles + several; i++) {
        size_t p = i % 3, q = i < singles ? p : (p + 1) % 3, a = i / 3 % 3, b = (a + 1 + i / 9 % 2) % 3;
        size_t c = (a + 1) % 3;
        wt__buffer_printf(&jsonl,
                          "{\"request\": \"%s %s %s in number %zu. %s %s %s to %s. %s %s %s\", "
                          "\"tools\": [\"p%zu/tool%c\", \"p%zu/tool%c\", \"p%zu/tool%c\"]}\n",
                          words[p][a], words[p][a], words[p][a], i, words[p][c], words[p][c], words[p][c],
                          i % 2 ? "london" : "paris", words[q][b], words[q][b], words[q][b], p, (int)('a' + p * 3 + a),
                          p, (int)('a' + p * 3 + c), q, (int)('a' + q * 3 + b));
    }
    import_usages(place, engine, jsonl.ptr);
    wt__buffer_dispose(&jsonl);
    return engine;
}

static json_t *read_toolrerank_config(const struct learn_place *place)
{
    char path[160], *text = NULL;
    size_t len;
    json_t *config = NULL;
    snprintf(path, sizeof path, "%s/toolrerank/config.json", place->out);
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, NULL), 0);
    assert_int_equal(wt__json_parse(&config, text, len, NULL), 0);
    free(text);
    return config;
}

/* Trains toolrerank again with another engine, and checks that the trained values are the same. */
static void train_again_is_the_same(struct learn_place *place, const json_t *before)
{
    wt_engine *engine = open_place_store(place);
    train_toolrerank_lesson(place, engine, "toolrerank", 0);
    wt_close(engine);
    json_t *after = read_toolrerank_config(place);
    for (size_t i = 0; i < 3; i++) {
        static const char *const members[] = {"hierarchy", "classifier", "seen"};
        assert_true(json_equal(json_object_get(before, members[i]), json_object_get(after, members[i])));
    }
    json_decref(after);
}

static void toolrerank_trains_and_finds_tools(void **state)
{
    static const struct {
        size_t singles, several;
        bool cross, synthetic;
    } cases[] = {{60, 60, false, false}, {0, 90, true, true}, {90, 0, false, true}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct learn_place place;
        make_learn_place(&place);
        wt_engine *engine = open_providers(&place, cases[c].singles, cases[c].several);
        train_toolrerank_lesson(&place, engine, "dpr", 0);
        if (cases[c].cross)
            train_toolrerank_lesson(&place, engine, "cross", 1);
        double after = train_toolrerank_lesson(&place, engine, "toolrerank", 0);
        assert_true(after > 0 && after <= 1);
        wt_hits *hits = find_recipe_hits(&place, engine, "toolrerank");
        assert_string_equal(hits->recipe, "toolrerank");
        assert_null(hits->notice);
        assert_true(hits->len == PLACE_TOOLS);
        wt_hits_free(hits);
        json_t *config = read_toolrerank_config(&place);
        const json_t *requests = wt__json_object(config, "requests");
        assert_true(wt__json_bool(config, "across", !cases[c].cross) == cases[c].cross);
        assert_int_equal(json_array_size(wt__json_array(config, "seen")), 3);
        assert_int_equal(wt__json_int(requests, "synthetic", 0) > 0, cases[c].synthetic);
        assert_int_equal(wt__json_int(requests, "dev_synthetic", 0) > 0, cases[c].singles == 0);
        assert_true(wt__json_int(requests, "single", 0) > 0 && wt__json_int(requests, "multi", 0) > 0);
        assert_non_null(wt__json_object(config, "whichtool"));
        wt_close(engine);
        train_again_is_the_same(&place, config);
        json_decref(config);
        remove_model_folder(place.folder);
    }
}

/* Row 3 p + t of the store is tool t of provider p, and row 9 is the tool without a provider. The test uses no
 * encoder. */
static void cuts_requests_down_by_words(void **state)
{
    enum { TOOLS = 10 };
    static const struct {
        const char *request;
        uint32_t tools[4];
        size_t count;
        const char *cut; /* sub-queries of the provider with most tools; "" if the request is not cut */
    } cases[] = {
        {"Weather in Paris today. Flight London Rome please! Stock price Apple",
         {0, 1, 4},
         3,
         "Weather in Paris today. Stock price Apple"},
        {"Weather in Paris today. Flight London Rome please! Birthday party Saturday",
         {0, 1, 4},
         3,
         "Weather in Paris today"},
        {"Weather in Paris today. News about Apple shares. Stock price Apple", {0, 1, 2, 4}, 4, ""},
        {"Birthday party Saturday. Flight London Rome please", {0, 1, 4}, 3, ""},
        {"Weather in Paris today. Flight London Rome please", {0, 4}, 2, ""},
        {"Weather in Paris today. Translate these three sentences", {0, 9}, 2, ""},
        {"Weather", {0, 1, 4}, 3, ""},
    };
    struct learn_place *place = *state;
    wt_engine *engine = open_providers(place, 0, 3);
    uint32_t providers[TOOLS];
    struct workspace *workspace;
    struct dev_evaluator evaluator = {.tools = TOOLS, .workspaces = &workspace};
    struct first_ranking ranking = {
        .evaluator = &evaluator, .providers = providers, .no_provider = HIERARCHY_NO_PROVIDER};
    assert_train_ok(place, wt__engine_index(engine, NULL, NULL, NULL, &evaluator.index, &place->err));
    assert_train_ok(place, wt__workspace_open(&workspace, &place->err));
    for (size_t row = 0; row < TOOLS; row++)
        providers[row] = row < 9 ? evaluator.index->snapshot->keys[row].provider : HIERARCHY_NO_PROVIDER;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer out = {0};
        uint32_t provider;
        assert_train_ok(place, wt__kind_cut_down(&ranking, wt__str(cases[i].request), cases[i].tools, cases[i].count, 0,
                                                 &out, &provider, &place->err));
        if (!wt__str_equal(wt__buffer_view(&out), wt__str(cases[i].cut)))
            fail_msg("%s: cut to \"%.*s\"", cases[i].request, (int)out.len, out.ptr);
        wt__buffer_dispose(&out);
    }
    wt__workspace_close(workspace);
    wt__index_release(evaluator.index);
    wt_close(engine);
}

/* One request in ten is for several providers, and has a higher value in `lacks` on average. The fitted weight must be
 * positive, and more than 90 % of the requests must be classified correctly. */
static void fits_weights_of_kinds(void **state)
{
    enum { N = 400 };
    static float lacks[N];
    static uint8_t several[N];
    struct request_classifier c;
    struct rng rng;
    size_t right = 0;
    (void)state;
    wt__rng_seed(&rng, 4);
    for (size_t i = 0; i < N; i++) {
        several[i] = i % 10 == 0; /* the fit gives both kinds the same total weight */
        lacks[i] = (float)wt__rng_unit(&rng) + (several[i] ? 0.9f : 0);
    }
    wt__kind_weigh(lacks, several, N, &c);
    for (size_t i = 0; i < N; i++)
        right += (wt__request_probability(&c, lacks[i]) > 0.5f) == several[i];
    assert_true(right > N * 9 / 10);
    assert_true(c.weight > 0 && c.constant < 0 && c.margin == 0);
    memset(several, 0, sizeof several);
    wt__kind_weigh(lacks, several, N, &c);
    assert_int_equal(wt__request_kind(&c, lacks[0]), REQUEST_UNKNOWN);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, place_set_up, place_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(dpr_uses_trained_encoder),
        ROW(encoder_reads_given_fields),
        ROW(rerank_recipes_run_with_cross_encoder),
        cmocka_unit_test(toolrerank_trains_and_finds_tools),
        ROW(cuts_requests_down_by_words),
        cmocka_unit_test(fits_weights_of_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
