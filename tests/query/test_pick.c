/* Tests wt_pick on a store without training: sets, errors and notices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "engine/set_up.h"

static wt_picked *pick_request(wt_engine *engine, const char *request, const wt_pick_options *options)
{
    wt_picked *picked = NULL;
    assert_call_ok(&place, wt_pick(engine, request, strlen(request), options, &picked, &place.err));
    return picked;
}

static wt_pick_options any(void)
{
    wt_pick_options options;
    wt_pick_options_init(&options);
    options.abstain = -1;
    return options;
}

static wt_hits *find_untrained(wt_engine *engine, const char *recipe, size_t k, double abstain)
{
    static const char request[] = "find a song by its title, then reserve a hotel room in a city";
    wt_find_options options;
    wt_find_options_init(&options);
    options.recipe = recipe;
    options.k = k;
    options.abstain = abstain;
    return find_with(&place, engine, request, &options);
}

/* The probability of a hit must not depend on k, nor exceed the probability that any tool fits. */
static void hit_has_probability(void **state)
{
    static const char *const recipes[] = {"bm25", "dense", "hybrid"};
    (void)state;
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
        wt_hits *few = find_untrained(semantic, recipes[r], 1, 0),
                *many = find_untrained(semantic, recipes[r], HANDMADE, 0);
        for (size_t i = 0; i < many->len; i++)
            assert_true(many->items[i]->probability > 0 && many->items[i]->probability < 1);
        assert_true(few->items[0]->probability == many->items[0]->probability);
        wt_hits_free(few);
        wt_hits_free(many);
    }
    wt_hits *hits = find_untrained(semantic, NULL, HANDMADE, 0), *sure = find_untrained(semantic, NULL, HANDMADE, 1e-9);
    assert_int_equal(hits->len, sure->len);
    for (size_t i = 0; i < hits->len; i++)
        assert_float_equal(sure->items[i]->probability,
                           fmin(hits->items[i]->probability, 1 - sure->no_answer_probability), 1e-6);
    wt_hits_free(hits);
    wt_hits_free(sure);
}

static void picked_set_is_likeliest_first(void **state)
{
    const wt_pick_options options = any();
    (void)state;
    /* The words differ from the descriptions, because a request that equals a description names its tool. */
    wt_picked *picked = pick_request(semantic, "find some song by its title, then reserve a nice hotel room", &options);
    assert_in_range(picked->len, 1, HANDMADE);
    for (size_t i = 0; i < picked->len; i++) {
        assert_true(picked->items[i]->score > 0 && picked->items[i]->score <= 1);
        assert_true(i == 0 || picked->items[i]->score <= picked->items[i - 1]->score);
        assert_float_equal(picked->items[i]->probability,
                           fmin(picked->items[i]->score, 1 - picked->no_answer_probability), 1e-6);
        assert_non_null(picked->items[i]->tool->definition);
    }
    assert_true(picked->no_answer_probability > 0);
    assert_true(picked->tracc > 0 && picked->tracc <= 1);
    assert_true(picked->complete > 0 && picked->complete <= 1);
    assert_string_equal(picked->recipe, "hybrid");
    assert_non_null(strstr(picked->notice, "not calibrated on this catalogue"));
    wt_picked_free(picked);
}

static void pick_works_without_encoder(void **state)
{
    (void)state;
    wt_picked *picked = pick_request(lexical, "reserve a hotel room", NULL);
    assert_int_equal(picked->len, 1);
    assert_string_equal(picked->items[0]->tool->id, "travel/bookHotel");
    assert_true(picked->no_answer_probability > 0 && picked->no_answer_probability < 1);
    assert_string_equal(picked->recipe, "hybrid");
    wt_picked_free(picked);
    picked = pick_request(lexical, "xyzzy", NULL);
    assert_int_equal(picked->len, 0);
    assert_float_equal(picked->no_answer_probability, 1, 0);
    assert_true(isnan(picked->tracc));
    wt_picked_free(picked);
}

/* The notice appears only if another need got a tool. */
static void unmet_need_is_reported(void **state)
{
    static const struct {
        const char *request, *says; /* NULL without the notice */
    } rows[] = {{"reserve a hotel room, then find strong coffee", "no tool found for \"find strong coffee\""},
                {"reserve a hotel room", NULL},
                {"xyzzy, then plugh", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_picked *picked = pick_request(lexical, rows[i].request, NULL);
        if (!strstr(picked->notice, rows[i].says ? rows[i].says : "no tool found for") != !rows[i].says)
            fail_msg("%s: %s", rows[i].request, picked->notice);
        wt_picked_free(picked);
    }
}

static void misspelt_words_are_corrected_by_pick(void **state)
{
    (void)state;
    wt_pick_options as_typed = any();
    as_typed.as_typed = 1;
    wt_picked *picked = pick_request(lexical, "resreve a hotle room", NULL);
    assert_string_equal(picked->read_as, "reserve a hotel room");
    assert_int_equal(picked->len, 1);
    assert_string_equal(picked->items[0]->tool->id, "travel/bookHotel");
    assert_int_equal(picked->unknown_count, 0);
    wt_picked_free(picked);
    picked = pick_request(lexical, "resreve a hotle", &as_typed);
    assert_null(picked->read_as);
    assert_int_equal(picked->len, 0);
    assert_int_equal(picked->unknown_count, 2);
    assert_string_equal(picked->unknown_words[1], "hotle");
    wt_picked_free(picked);
}

/* One request has hits, and one request has no fitting tool. */
static void promise_requires_training(void **state)
{
    static const char *const requests[] = {"reserve a hotel room", "xyzzy plugh"};
    wt_picked *picked;
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        wt_pick_options options = any();
        options.complete = 0.9;
        options.abstain = i == 0 ? -1 : 0.5;
        assert_call_refused(
            &place, wt_pick(semantic, requests[i], strlen(requests[i]), &options, &picked, &place.err), WT_ERECIPE,
            "is unknown without training; record use, then run `whichtool train all`; or use the first hits of find, "
            "or a budget of tokens (max_tokens)");
        assert_null(picked);
    }
}

/* With a budget, the set has the first hits that fit, and makes no promise. */
static void budget_replaces_promise(void **state)
{
    static const struct {
        const char *provider;
        size_t tokens, most;
    } rows[] = {{NULL, 60, HANDMADE - 2},
                {NULL, 100000, HANDMADE - 1}, /* the small model takes the second "search" for a near-copy */
                {"music", 100000, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_pick_options options = any();
        options.complete = 0.9;
        options.provider = rows[i].provider;
        options.max_tokens = rows[i].tokens;
        wt_picked *picked = pick_request(semantic, "reserve a hotel room", &options);
        assert_in_range(picked->len, 1, rows[i].most);
        assert_true(picked->tokens <= rows[i].tokens);
        assert_true(isnan(picked->complete) && isnan(picked->tracc));
        for (size_t t = 1; t < picked->len; t++)
            assert_true(picked->items[t]->score >= 0.01f);
        assert_non_null(strstr(picked->notice, "is unknown without training"));
        wt_picked_free(picked);
    }
}

static void request_of_names_needs_no_promise(void **state)
{
    wt_pick_options options = any();
    (void)state;
    options.complete = 0.9;
    wt_picked *picked = pick_request(semantic, "travel/bookHotel", &options);
    assert_int_equal(picked->len, 1);
    assert_true(picked->complete >= 0.9);
    wt_picked_free(picked);
}

/* At a share of .99, wt_pick and wt_find abstain from nearly all requests. */
static void high_abstain_share_gives_empty_set(void **state)
{
    wt_pick_options options = any();
    wt_find_options find;
    (void)state;
    options.abstain = 0.99;
    wt_picked *picked = pick_request(lexical, "something in a city", &options);
    assert_int_equal(picked->len, 0);
    wt_find_options_init(&find);
    find.abstain = 0.99;
    wt_hits *hits = find_with(&place, lexical, "something in a city", &find);
    assert_int_equal(hits->len, 0);
    assert_float_equal(hits->no_answer_probability, picked->no_answer_probability, 1e-9);
    wt_hits_free(hits);
    wt_picked_free(picked);
    hits = find_with(&place, lexical, "something in a city", NULL);
    assert_true(hits->len > 0 && isnan(hits->no_answer_probability));
    wt_hits_free(hits);
}

/* If 99 equal requests used a tool, the next equal request probably needs the tool too. */
static void recorded_use_prevents_abstaining(void **state)
{
    static const char request[] = "please water every lonely orchid";
    const char *tool = "calculator";
    (void)state;
    wt_picked *before = pick_request(semantic, request, NULL);
    for (int i = 0; i < 99; i++)
        assert_call_ok(&place, wt_record_usage(semantic, request, strlen(request), &tool, 1, NULL, &place.err));
    wt_picked *after = pick_request(semantic, request, NULL);
    assert_true(before->no_answer_probability > 0.011);
    assert_true(after->no_answer_probability < 0.011);
    assert_string_equal(after->items[0]->tool->id, "calculator");
    wt_picked_free(after);
    wt_pick_options options; /* exclude the used tool; its use must not count for other tools */
    wt_filter filter;
    wt_pick_options_init(&options);
    wt_filter_init(&filter);
    filter.excluded = &tool;
    filter.excluded_count = 1;
    options.filter = &filter;
    after = pick_request(semantic, request, &options);
    assert_true(after->no_answer_probability > 0.011);
    wt_picked_free(before);
    wt_picked_free(after);
}

static void invalid_pick_options_are_refused(void **state)
{
    static const struct {
        double complete, abstain;
        const char *says;
    } rows[] = {{1, 0, "below 1, not 1"},
                {-0.5, 0, "below 1, not -0.5"},
                {(double)NAN, 0, "below 1, not nan"},
                {0, 1, "below 1, not 1"},
                {0, (double)NAN, "below 1, not nan"}};
    wt_find_options find;
    wt_hits *hits;
    wt_picked *picked;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_pick_options options = any();
        options.complete = rows[i].complete;
        options.abstain = rows[i].abstain;
        assert_call_refused(&place, wt_pick(lexical, "song", 4, &options, &picked, &place.err), WT_EINVAL,
                            rows[i].says);
        assert_null(picked);
    }
    assert_call_refused(&place, wt_pick(lexical, "", 0, NULL, &picked, &place.err), WT_EINVAL, "the request is empty");
    wt_find_options_init(&find);
    find.abstain = 1;
    assert_call_refused(&place, wt_find(lexical, "song", 4, &find, &hits, &place.err), WT_EINVAL, "below 1, not 1");
    find.abstain = 0.05;
    find.recipe = "bm25";
    assert_call_refused(&place, wt_find(lexical, "song", 4, &find, &hits, &place.err), WT_EINVAL, "not bm25");
}

/* Passes options of a caller whose struct ends after `complete`. */
static void older_pick_options_are_not_read_past_their_end(void **state)
{
    wt_pick_options options = any();
    (void)state;
    options.size = offsetof(wt_pick_options, abstain);
    options.abstain = 7;
    wt_picked *picked = pick_request(lexical, "reserve a hotel room", &options);
    assert_int_equal(picked->len, 1);
    wt_picked_free(picked);
    wt_picked_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hit_has_probability),
        cmocka_unit_test(picked_set_is_likeliest_first),
        cmocka_unit_test(pick_works_without_encoder),
        cmocka_unit_test(unmet_need_is_reported),
        cmocka_unit_test(misspelt_words_are_corrected_by_pick),
        cmocka_unit_test(promise_requires_training),
        cmocka_unit_test(budget_replaces_promise),
        cmocka_unit_test(request_of_names_needs_no_promise),
        cmocka_unit_test(high_abstain_share_gives_empty_set),
        cmocka_unit_test(invalid_pick_options_are_refused),
        cmocka_unit_test(older_pick_options_are_not_read_past_their_end),
        cmocka_unit_test(recorded_use_prevents_abstaining),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
