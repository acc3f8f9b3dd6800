/* test_trained_toolrerank.c: tests queries with ToolRerank (src/rerank/toolrerank.h). The tests write the rules and the
 * cross-encoder without training. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "encoder/tiny_model.h"
#include "engine/set_up.h"
#include "query/trained_folders.h"
#include "rerank/toolrerank.h"

static void toolrerank_without_training_is_hybrid(void **state)
{
    static const char *const requests[] = {"book a table in the city and find a song", "storm", "a b c d"};
    (void)state;
    add_many(120);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        for (size_t most = 0; most < 4; most += 3) {
            wt_hits *ours = find_capped_in_new_engine("toolrerank", requests[i], 80, most);
            wt_hits *hybrid = find_capped_in_new_engine("hybrid", requests[i], 80, most);
            assert_string_equal(ours->recipe, "toolrerank");
            assert_true(isnan(ours->multi_provider_probability) && isnan(hybrid->multi_provider_probability));
            same_hits(ours, hybrid);
            wt_hits_free(ours);
            wt_hits_free(hybrid);
        }
}

/* With the weights and the encoder of hybrid, and without rules, toolrerank has the hits of hybrid and not those of
 * dpr. */
static void config_weighs_first_stage(void **state)
{
    static const char request[] = "book a table in the city and find a song";
    (void)state;
    add_many(100);
    write_trained_config("dpr", true, DPR);
    write_trained_config("toolrerank", true,
                         "\"weights\": {\"scorer\": 0.62, \"lexical\": 0.19, \"dense\": 0.19, \"subquery\": 1}, "
                         "\"hierarchy\": {\"truncate\": false}");
    wt_hits *ours = find_capped_in_new_engine("toolrerank", request, 40, 0),
            *hybrid = find_capped_in_new_engine("hybrid", request, 40, 0);
    wt_hits *dpr = find_capped_in_new_engine("dpr", request, 40, 0);
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

/* A reranker may add tools of a provider, but only tools that the filter allows. */
static void reranker_does_not_restore_excluded_tools(void **state)
{
    static const char request[] = "book a table in the city";
    const char *const excluded[] = {"*a", "*/tool_?c*"};
    (void)state;
    add_many(100);
    write_trained_config("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS, 2);
    write_trained_config(
        "toolrerank", true,
        "\"across\": true, \"hierarchy\": {\"seen_depth\": 1, \"unseen_depth\": 20, \"tau_s\": 1}, " CLASSIFIED(-9));
    wt_engine *engine = open_test_engine(&place, NULL);
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

/* All tools of the first hit's provider come first, by score. The tools of other providers follow. */
static void tools_of_first_provider_come_first(void **state)
{
    static const char request[] = "book a table in the city";
    (void)state;
    add_many(100); /* four more providers, in addition to the seven tools */
    write_trained_config("dpr", true, DPR);
    tiny_model_write(cross_folder(), CROSS, 2);
    write_trained_config(
        "toolrerank", true,
        "\"across\": true, \"hierarchy\": {\"seen_depth\": 1, \"unseen_depth\": 20, \"tau_s\": 1}, " CLASSIFIED(-9));
    wt_hits *hits = find_capped_in_new_engine("toolrerank", request, 60, 0);
    assert_string_equal(hits->recipe, "toolrerank");
    assert_true(hits->multi_provider_probability < 0.001);
    assert_int_equal(hits->len, 60);
    const char *provider = hits->items[0]->tool->provider;
    size_t first = 0, of_provider = 0;
    wt_list_options list;
    wt_list_options_init(&list);
    list.provider = provider;
    wt_tools *tools = NULL;
    wt_engine *engine = open_test_engine(&place, NULL);
    assert_call_ok(&place, wt_list(engine, &list, &tools, &place.err));
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
    hits = find_capped_in_new_engine("toolrerank", request, 60, 2);
    for (size_t i = 0; i < hits->len; i++) {
        size_t same = 0;
        for (size_t j = 0; j < i; j++)
            same += strcmp(hits->items[j]->tool->provider, hits->items[i]->tool->provider) == 0;
        assert_true(same < 2);
    }
    wt_hits_free(hits);
}

/* One tool of each group of similar tools comes first. Without a cross-encoder the order is that of the first stage. */
static void several_providers_alternate(void **state)
{
    static const char request[] = "book a table in the city";
    (void)state;
    add_many(100);
    write_trained_config("dpr", true, DPR);
    write_trained_config("toolrerank", true, "\"hierarchy\": {\"tau_m\": 1, \"group_most\": 1}, " CLASSIFIED(9));
    wt_hits *hits = find_capped_in_new_engine("toolrerank", request, 60, 0),
            *dpr = find_capped_in_new_engine("dpr", request, 60, 0);
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

static void seen_counts_by_provider_or_tool(void **state)
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
        struct rerank_rules rules;
        json_t *config = json_loads(cases[c].members, 0, NULL);
        assert_call_ok(&place, wt__rules_read(&rules, config, &arena, &place.err));
        for (size_t i = 0; i < 4; i++)
            assert_true(wt__rules_seen(&rules, &tools[i], &id) == wanted[i]);
        wt__map_dispose(&rules.seen);
        json_decref(config);
        wt__buffer_dispose(&id);
        wt__arena_dispose(&arena);
    }
}

static void rules_are_read_from_config(void **state)
{
    struct rerank_rules rules = {.settings = {.seen_depth = 7,
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
    assert_call_ok(&place, wt__rules_read(&read, config, &arena, &place.err));
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

static void invalid_rules_give_notice(void **state)
{
    static const struct {
        const char *members, *says;
    } cases[] = {
        {"\"hierarchy\": {\"seen_depth\": 257}", "hierarchy: seen_depth is 257; it must be 1 to 256"},
        {"\"hierarchy\": {\"tau_s\": 1.5}", "hierarchy: tau_s is 1.5; it must be 0 to 1"},
        {"\"hierarchy\": {\"prior\": -1}", "hierarchy: prior is -1; it must be 0 to 100"},
        {"\"hierarchy\": {\"rules\": {\"single\": \"scatter\"}}", "the rule for single requests must be"},
        {"\"classifier\": {\"weights\": [1, 2]}",
         "classifier: no weight, because another version trained it; train toolrerank again"},
        {"\"classifier\": {\"weight\": 1e200}", "classifier: a number is not finite"},
        {"\"seen\": [3]", "seen must be a list of strings"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_hits *hits = NULL;
        wt_find_options options;
        wt_find_options_init(&options);
        write_trained_config("dpr", true, DPR);
        write_trained_config("toolrerank", true, cases[c].members);
        wt_engine *engine = open_test_engine(&place, NULL);
        options.recipe = "toolrerank";
        assert_call_ok(&place, wt_find(engine, "song", 4, &options, &hits, &place.err));
        assert_non_null(strstr(hits->notice, cases[c].says));
        wt_hits_free(hits);
        options.recipe = "dpr"; /* other recipes are unaffected */
        assert_call_ok(&place, wt_find(engine, "song", 4, &options, &hits, &place.err));
        assert_string_equal(hits->recipe, "dpr");
        wt_hits_free(hits);
        wt_close(engine);
    }
}

/* The first stage uses only words, without vectors and encoder. */
static void rules_work_without_vectors(void **state)
{
    (void)state;
    write_trained_config("dpr", true, "\"weights\": {\"lexical\": 1}");
    write_trained_config("toolrerank", true, CLASSIFIED(-9));
    wt_hits *hits = find_in_new_engine("toolrerank");
    assert_string_equal(hits->recipe, "toolrerank");
    assert_null(hits->notice);
    wt_hits_free(hits);
}

/* Thresholds apply to the scores of one cross-encoder only. */
static void rules_of_other_cross_encoder_are_ignored(void **state)
{
    (void)state;
    write_trained_config("dpr", true, DPR);
    write_trained_config("toolrerank", true, "\"across\": true, \"cross\": \"one\", " CLASSIFIED(-9));
    tiny_model_write(cross_folder(), CROSS ", \"whichtool\": {\"identity\": \"two\"}", 2);
    wt_hits *hits = find_in_new_engine("toolrerank"), *hybrid = find_in_new_engine("hybrid");
    assert_non_null(strstr(hits->notice, "the cross-encoder has been retrained"));
    same_hits(hits, hybrid);
    wt_hits_free(hits);
    wt_hits_free(hybrid);
    tiny_model_write(cross_folder(), CROSS ", \"whichtool\": {\"identity\": \"one\"}", 2);
    hits = find_in_new_engine("toolrerank");
    assert_null(hits->notice);
    assert_non_null(stage_of(hits->items[0], "cross"));
    wt_hits_free(hits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(toolrerank_without_training_is_hybrid, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(config_weighs_first_stage, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(reranker_does_not_restore_excluded_tools, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(tools_of_first_provider_come_first, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(several_providers_alternate, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(seen_counts_by_provider_or_tool, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(rules_are_read_from_config, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(invalid_rules_give_notice, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(rules_work_without_vectors, set_up_handmade, tear_down_place),
        cmocka_unit_test_setup_teardown(rules_of_other_cross_encoder_are_ignored, set_up_handmade, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
