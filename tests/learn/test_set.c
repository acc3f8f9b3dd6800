/* Tests the numbers of `train set` on 600 generated requests of three kinds:
 *
 *   three in five   contain the word of one tool, and need that tool
 *   one in five     contains the words of two tools, and needs both
 *   one in five     contains a word that two tools share, and needs one of them, drawn at random */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <time.h>

#include "base/json.h"
#include "choose/chooser.h"
#include "learn/examples.h"
#include "learn/support.h"

enum { USAGES = 600, ASKED = 200, SEED = 1, CERTAIN = 6 /* tools with a word of their own */ };

static const char *const own_words[CERTAIN] = {"amber", "birch", "copper", "dune", "ember", "fjord"};

/* A generated request, and the tools that it needs. */
struct drawn_request {
    char text[64];
    size_t tools[2], count;
    bool coin; /* its word fits two tools, one of which was drawn at random */
};

static struct drawn_request draw_request(struct rng *rng, size_t number)
{
    struct drawn_request out = {.count = 1};
    size_t kind = wt__rng_below(rng, 5), first = wt__rng_below(rng, CERTAIN);
    size_t second = (first + 1 + wt__rng_below(rng, CERTAIN - 1)) % CERTAIN;
    out.tools[0] = first;
    if (kind == 0) {
        out.coin = true;
        out.tools[0] = CERTAIN + wt__rng_below(rng, 2);
        snprintf(out.text, sizeof out.text, "garnet n%zu", number);
    } else if (kind == 1) {
        out.tools[out.count++] = second;
        snprintf(out.text, sizeof out.text, "%s and %s n%zu", own_words[first], own_words[second], number);
    } else {
        snprintf(out.text, sizeof out.text, "%s n%zu", own_words[first], number);
    }
    return out;
}

static struct learn_place place;
static wt_engine *engine; /* with the trained models */
static struct arena arena;
static struct chooser chooser;
static struct examples examples; /* read by training */
static double figure;            /* figure of the last lesson, on dev */
static bool beyond;              /* true if a phase reported progress beyond its total */

static void record_world(void)
{
    struct buffer tools = {0}, usages = {0};
    struct rng rng;
    wt__rng_seed(&rng, 7);
    for (size_t t = 0; t < CERTAIN; t++)
        wt__buffer_printf(&tools, "{\"name\": \"tool_%zu\", \"description\": \"%s\"}\n", t, own_words[t]);
    for (size_t t = CERTAIN; t < CERTAIN + 2; t++)
        wt__buffer_printf(&tools, "{\"name\": \"tool_%zu\", \"description\": \"garnet\"}\n", t);
    for (size_t i = 0; i < USAGES; i++) {
        struct drawn_request drawn = draw_request(&rng, i);
        wt__buffer_printf(&usages, "{\"request\": \"%s\", \"tools\": [\"tool_%zu\"", drawn.text, drawn.tools[0]);
        if (drawn.count > 1)
            wt__buffer_printf(&usages, ", \"tool_%zu\"", drawn.tools[1]);
        wt__buffer_text(&usages, "]}\n");
    }
    import_tool_lines(&place, engine, tools.ptr);
    import_usages(&place, engine, usages.ptr);
    wt__buffer_dispose(&tools);
    wt__buffer_dispose(&usages);
}

/* Sets *context to true if a phase reports progress beyond its total. Sleeps at the total: progress is reported at most
 * ten times a second, so a later report of the same phase would otherwise be lost. */
static int stays_within(void *context, const wt_train_progress *progress)
{
    bool *passed = context;
    *passed |= progress->total > 0 && progress->done > progress->total;
    if (progress->total > 0 && progress->done == progress->total)
        nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
    return 0;
}

static int make_world(void **state)
{
    (void)state;
    char path[120];
    char *bytes;
    size_t len;
    json_t *config;
    make_learn_place(&place);
    engine = open_place_store(&place);
    record_world();
    wt_train_options options;
    wt_train_options_init(&options);
    options.threads = 2;
    options.seed = SEED;
    options.progress = stays_within;
    options.progress_context = &beyond;
    for (const char *lesson = "tool2vec\0neighbours\0auto\0set\0"; *lesson; lesson += strlen(lesson) + 1) {
        wt_train_report *report;
        assert_train_ok(&place, wt_train(engine, lesson, &options, &report, &place.err));
        figure = report->items[0]->after;
        wt_train_report_free(report);
    }
    snprintf(path, sizeof path, "%s/set/config.json", place.out);
    assert_train_ok(&place, wt__file_read(&bytes, &len, path, 1 << 20, &place.err));
    assert_train_ok(&place, wt__json_parse(&config, bytes, len, &place.err));
    assert_train_ok(&place, wt__chooser_read(&chooser, config, &arena, &place.err));
    assert_train_ok(&place,
                    wt__examples_read(&examples, engine, &(struct examples_options){.seed = SEED}, NULL, &place.err));
    json_decref(config);
    free(bytes);
    return 0;
}

static int remove_world(void **state)
{
    (void)state;
    wt__examples_dispose(&examples);
    wt__arena_dispose(&arena);
    wt_close(engine);
    remove_model_folder(place.folder);
    return 0;
}

static wt_picked *pick_set(const char *text, double complete, double abstain)
{
    wt_picked *picked = NULL;
    wt_pick_options options;
    wt_pick_options_init(&options);
    options.complete = complete;
    options.abstain = abstain;
    assert_train_ok(&place, wt_pick(engine, text, strlen(text), &options, &picked, &place.err));
    return picked;
}

static bool needs_hit(const struct drawn_request *drawn, const wt_hit *hit)
{
    for (size_t i = 0; i < drawn->count; i++)
        if (hit->tool->name[strlen("tool_")] == (char)('0' + drawn->tools[i]))
            return true;
    return false;
}

/* ---------------------------------------------------------------- counts */

/* A size's factor is the share of training requests divided by the mean share that the tool weights give, which is
 * between 0 and 1. */
static void sizes_compare_training_requests_with_tools(void **state)
{
    (void)state;
    double counts[CHOOSE_SIZES] = {0};
    for (size_t i = 0; i < examples.train.count; i++)
        counts[examples.train.starts[i + 1] - examples.train.starts[i] - 1]++;
    assert_true(counts[0] > 3 * counts[1] && counts[1] > 60);
    for (size_t n = 0; n < CHOOSE_SIZES; n++) {
        double share = (counts[n] + .5) / ((double)examples.train.count + .5 * CHOOSE_SIZES) + .01,
               mean = share / exp((double)chooser.sizes[n]);
        if (!(mean > .00999 && mean < 1.01) || (n > 5 && mean > .011))
            fail_msg("%zu tools: %g of the requests, but the tools say %g", n + 1, share, mean);
    }
}

/* The threshold for probability P is the ceil((n + 1) P)-th smallest of n values (Vovk et al. 2005). The test counts
 * the values below it. */
static void thresholds_are_quantiles_of_dev(void **state)
{
    (void)state;
    assert_true(examples.dev.count > USAGES / 20);
    assert_int_equal(chooser.nonconformity.count, examples.dev.count);
    assert_int_equal(chooser.unused.count, 0); /* every tool is in several requests */
    assert_int_equal(chooser.no_answer.count, examples.dev.count);
    for (int percent = 50; percent < 100; percent += 5) {
        struct conformal_thresholds thresholds;
        bool known = wt__conformal_thresholds(&chooser, percent / 100., &thresholds);
        size_t rank = ((examples.dev.count + 1) * (size_t)percent + 99) / 100, below = 0, upto = 0;
        if (!known) { /* too few requests, or the quantile is a request whose tools were not found */
            assert_true(rank > examples.dev.count || chooser.nonconformity.values[rank - 1] >= CHOOSE_NEVER);
            continue;
        }
        for (size_t i = 0; i < chooser.nonconformity.count; i++) {
            below += chooser.nonconformity.values[i] < thresholds.used;
            upto += chooser.nonconformity.values[i] <= thresholds.used;
        }
        if (below >= rank || upto < rank)
            fail_msg("%d %%: %zu of %zu lie below %g, %zu at or below", percent, below, chooser.nonconformity.count,
                     (double)thresholds.used, upto);
    }
}

static void progress_does_not_exceed_its_total(void **state)
{
    (void)state;
    assert_false(beyond);
}

/* One request in five cannot be answered with certainty, so the figure may be below 1. */
static void figure_is_mean_tracc_on_dev(void **state)
{
    (void)state;
    if (!(figure > .75 && figure <= 1))
        fail_msg("the figure is %g", figure);
}

/* ---------------------------------------------------------------- probabilities */

static void probabilities_match_frequencies(void **state)
{
    (void)state;
    /* For the picked tools: sum of their probabilities, number of needed tools among them, and their number. Index 1 is
     * for requests whose tool was drawn at random. */
    double said[2] = {0}, came[2] = {0}, count[2] = {0};
    size_t certain = 0, exact = 0;
    struct rng rng;
    wt__rng_seed(&rng, 8);
    for (size_t i = 0; i < ASKED; i++) {
        struct drawn_request drawn = draw_request(&rng, USAGES + i);
        wt_picked *picked = pick_set(drawn.text, 0, -1);
        assert_true(picked->len > 0);
        for (size_t t = 0; t < picked->len; t++) {
            said[drawn.coin] += picked->items[t]->score;
            came[drawn.coin] += needs_hit(&drawn, picked->items[t]);
            count[drawn.coin]++;
        }
        certain += !drawn.coin;
        exact += !drawn.coin && picked->len == drawn.count;
        wt_picked_free(picked);
    }
    assert_true(said[0] / count[0] > .9 && came[0] == count[0]);
    assert_true((double)exact > .9 * (double)certain);
    assert_true(count[1] > 20);
    assert_true(said[1] / count[1] < said[0] / count[0] - .1);
    double all = count[0] + count[1];
    if (fabs((said[0] + said[1]) / all - (came[0] + came[1]) / all) > .1)
        fail_msg("the mean probability is %g, and the frequency is %g", (said[0] + said[1]) / all,
                 (came[0] + came[1]) / all);
}

/* Returns three standard errors of the difference between a share of ASKED requests and a share of the dev requests. */
static double chance_of(double probability)
{
    return 3 * sqrt(probability * (1 - probability) * (1. / ASKED + 1. / (double)examples.dev.count));
}

static void complete_sets_meet_their_probability(void **state)
{
    (void)state;
    static const double promises[] = {.6, .8, .9};
    double before = 0;
    for (size_t p = 0; p < sizeof promises / sizeof *promises; p++) {
        double complete = 0, size = 0;
        struct rng rng;
        wt__rng_seed(&rng, 9);
        for (size_t i = 0; i < ASKED; i++) {
            struct drawn_request drawn = draw_request(&rng, 2 * USAGES + i);
            wt_picked *picked = pick_set(drawn.text, promises[p], -1);
            size_t found = 0;
            for (size_t t = 0; t < picked->len; t++)
                found += needs_hit(&drawn, picked->items[t]);
            complete += found == drawn.count;
            size += (double)picked->len;
            wt_picked_free(picked);
        }
        if (complete / ASKED < promises[p] - chance_of(promises[p]) || size < before || size / ASKED > 4)
            fail_msg("promised %g: %g are complete, with %g tools each", promises[p], complete / ASKED, size / ASKED);
        before = size;
    }
}

static void empty_set_rate_is_as_requested(void **state)
{
    (void)state;
    static const char *const strange[] = {"zebra quokka", "violin sonata", "glacier", "what is love"};
    double alarms = 0, most = 0;
    struct rng rng;
    wt__rng_seed(&rng, 10);
    for (size_t i = 0; i < ASKED; i++) {
        struct drawn_request drawn = draw_request(&rng, 3 * USAGES + i);
        wt_picked *picked = pick_set(drawn.text, 0, .1);
        alarms += picked->len == 0;
        most = fmax(most, picked->no_answer_probability);
        wt_picked_free(picked);
    }
    assert_true(alarms / ASKED < .1 + chance_of(.1));
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) { /* these requests have no tool in the catalogue */
        wt_picked *picked = pick_set(strange[i], .6, .1);
        if (picked->len > 0 || picked->no_answer_probability <= most)
            fail_msg("%s: %zu tools; no_answer_probability %g, for requests of the catalogue at most %g", strange[i],
                     picked->len, picked->no_answer_probability, most);
        wt_picked_free(picked);
    }
}

static void unfamiliar_requests_use_untrained_chooser(void **state)
{
    (void)state;
    wt_picked *like = pick_set("amber n7", 0, 0), *unlike = pick_set("gem", 0, 0);
    assert_null(like->notice);
    assert_non_null(strstr(unlike->notice, "shorter than those used for training"));
    assert_string_equal(unlike->recipe, "hybrid");
    wt_picked_free(like);
    wt_picked_free(unlike);
}

/* At first the chooser does not rank tool_3 first for the request. After the use of tool_3 and tool_5 was recorded for
 * the request, the chooser picks exactly these two. */
static void new_usage_comes_first(void **state)
{
    static const char request[] = "amber and then amber once more";
    static const char *const used[] = {"tool_3", "tool_5"};
    (void)state;
    wt_picked *picked = pick_set(request, 0, 0);
    assert_true(picked->len > 0 && strcmp(picked->items[0]->tool->name, used[0]) != 0);
    wt_picked_free(picked);
    assert_train_ok(&place, wt_record_usage(engine, request, strlen(request), used, 2, NULL, &place.err));
    picked = pick_set("Amber, and then amber once more!", 0, 0);
    assert_int_equal(picked->len, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(strcmp(picked->items[i]->tool->name, used[0]) == 0 ||
                    strcmp(picked->items[i]->tool->name, used[1]) == 0);
    wt_picked_free(picked);
    picked = pick_set(request, 0.6, 0);
    assert_true(picked->complete == 0.6);
    wt_picked_free(picked);
}

/* Replaces the calibration values: 80 of 100 dev requests need few tools, and 20 need all tools. */
static void put_thresholds(void)
{
    struct buffer text = {0};
    char path[120], *bytes;
    size_t len;
    json_t *config, *nonconformity = json_array();
    snprintf(path, sizeof path, "%s/set/config.json", place.out);
    assert_train_ok(&place, wt__file_read(&bytes, &len, path, 1 << 20, &place.err));
    assert_train_ok(&place, wt__json_parse(&config, bytes, len, &place.err));
    for (size_t i = 0; i < 100; i++)
        json_array_append_new(nonconformity, json_real(i < 80 ? 0.5 : 3));
    json_object_set_new(config, "nonconformity", nonconformity);
    json_object_set_new(config, "unused", json_array());
    assert_int_equal(wt__json_write(&text, config), 0);
    put_text(place.out, "set/config.json", text.ptr);
    wt__buffer_dispose(&text);
    json_decref(config);
    free(bytes);
}

/* Runs last, because it changes the store and the trained models. */
static void limits_tools_of_complete_sets(void **state)
{
    enum { MORE = WT_MAX_COMPLETE + 20 };
    struct buffer tools = {0};
    wt_pick_options options;
    wt_picked *picked;
    (void)state;
    for (size_t t = 0; t < MORE; t++)
        wt__buffer_printf(&tools, "{\"name\": \"more_%zu\", \"description\": \"amber\"}\n", t);
    put_thresholds();
    wt_close(engine);
    engine = open_place_store(&place);
    import_tool_lines(&place, engine, tools.ptr);
    wt__buffer_dispose(&tools);
    wt_pick_options_init(&options);
    options.abstain = -1;
    options.complete = 0.95;
    assert_train_refused(&place, wt_pick(engine, "amber", 5, &options, &picked, &place.err), WT_ERECIPE,
                         "for this request; at most 64 are allowed; 0.79 can be promised; or ");
    options.complete = 0.995;
    assert_train_refused(&place, wt_pick(engine, "amber", 5, &options, &picked, &place.err), WT_ERECIPE,
                         "training cannot promise that probability");
    options.complete = 0.79;
    assert_train_ok(&place, wt_pick(engine, "amber", 5, &options, &picked, &place.err));
    assert_in_range(picked->len, 1, WT_MAX_COMPLETE);
    assert_float_equal(picked->complete, 0.79, 0);
    assert_non_null(strstr(picked->notice, "for 79 % of requests, measured on 100 held-out requests"));
    wt_picked_free(picked);
    options.complete = 0.95;
    options.max_tokens = 1000000;
    assert_train_ok(&place, wt_pick(engine, "amber", 5, &options, &picked, &place.err));
    assert_int_equal(picked->len, WT_MAX_COMPLETE);
    assert_true(isnan(picked->complete) && isnan(picked->tracc));
    assert_non_null(strstr(picked->notice, "at most 64 are allowed"));
    wt_picked_free(picked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_compare_training_requests_with_tools),
        cmocka_unit_test(thresholds_are_quantiles_of_dev),
        cmocka_unit_test(figure_is_mean_tracc_on_dev),
        cmocka_unit_test(progress_does_not_exceed_its_total),
        cmocka_unit_test(probabilities_match_frequencies),
        cmocka_unit_test(complete_sets_meet_their_probability),
        cmocka_unit_test(empty_set_rate_is_as_requested),
        cmocka_unit_test(unfamiliar_requests_use_untrained_chooser),
        cmocka_unit_test(new_usage_comes_first),
        cmocka_unit_test(limits_tools_of_complete_sets),
    };
    return cmocka_run_group_tests(tests, make_world, remove_world);
}
