/* Tests the oracle. With error rates of 0, all its answers are correct. Otherwise, the results of selection and
 * generation match the closed form of call_oracle.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "call/call_oracle.h"
#include "call/call_world.h"
#include "call/language_model.h"

#ifdef __SANITIZE_ADDRESS__
enum { REQUESTS = 400 }; /* slow; the build without a sanitizer checks the shares more precisely */
#else
enum { REQUESTS = 2000 };
#endif
enum { CANDIDATES = 5, ARGUMENTS = 3 };

static void open_oracle(struct call_oracle *oracle, struct call_oracle_options options)
{
    wt_error err;
    if (init_call_oracle(oracle, &options, &err) < 0)
        fail_msg("%s", err.message);
}

static void oracle_name_has_its_rates(void **state)
{
    (void)state;
    static const struct {
        struct call_oracle_options options;
        const char *name;
    } cases[] = {
        {{0}, "call oracle, 0 % error"},
        {{.1, .1, .1, .1, .1, false, 0, 1}, "call oracle, 10 % error"},
        {{.1, .2, .3, 0, .125, false, 0, 1}, "call oracle, 10, 20, 30, 0, 12.5 % error"},
        {{.1, .1, .1, .1, .1, true, .5, 1}, "call oracle, 10 % error, the nearest, repeated 50 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call_oracle oracle;
        assert_int_equal(init_call_oracle(&oracle, &cases[i].options, NULL), 0);
        assert_string_equal(oracle.model.name, cases[i].name);
    }
}

static void invalid_rate_is_rejected(void **state)
{
    (void)state;
    static const struct {
        struct call_oracle_options options;
        const char *sentence;
    } cases[] = {
        {{.pick = -.1}, "call oracle: a rate must be from 0 to 1, not -0.1"},
        {{.choice = 1.5}, "call oracle: a rate must be from 0 to 1, not 1.5"},
        {{.nearest = true, .repeat = 2}, "call oracle: a rate must be from 0 to 1, not 2"},
        {{.repeat = .5}, "call oracle: repeat requires nearest"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call_oracle oracle;
        wt_error err = {0};
        assert_int_equal(init_call_oracle(&oracle, &cases[i].options, &err), WT_EINVAL);
        assert_string_equal(err.message, cases[i].sentence);
    }
}

/* --- a catalogue of labelled requests ------------------------------------------------------------------------ */

static const struct selection_candidate candidates[] = {
    {{"a", 1}, STR("does a"), STR(""), STR("")}, {{"b", 1}, STR("does b"), STR(""), STR("")},
    {{"c", 1}, STR("does c"), STR(""), STR("")}, {{"d", 1}, STR("does d"), STR(""), STR("")},
    {{"e", 1}, STR("does e"), STR(""), STR("")},
};

/* Labels of three arguments, each with another kind of error. place: a wrong value. max_price: left out. min_price: a
 * value although the argument is absent. */
static json_t *schema, *right_arguments, *wrong_arguments;

static int set_up_call_oracle(void **state)
{
    (void)state;
    schema = json_pack("{s:{s:{s:s}, s:{s:s}, s:{s:s}}}", "properties", "place", "type", "string", "max_price", "type",
                       "integer", "min_price", "type", "integer");
    right_arguments = json_pack("{s:s, s:i}", "place", "Rome", "max_price", 500);
    wrong_arguments = json_pack("{s:s, s:i}", "place", "Room", "min_price", 500);
    return schema && right_arguments && wrong_arguments ? 0 : -1;
}

static int tear_down_call_oracle(void **state)
{
    (void)state;
    json_decref(schema);
    json_decref(right_arguments);
    json_decref(wrong_arguments);
    return 0;
}

static bool is_selection_correct(struct call_oracle *oracle, const struct selection_options *options, int number,
                                 size_t count, struct selection_trace *trace, struct arena *arena)
{
    size_t tool = (size_t)number % count;
    char words[32];
    snprintf(words, sizeof words, "request %d", number);
    const struct call_labels labels = {.tool = tool, .nearest = (tool + 1) % count};
    const struct call_request request = {.text = wt__str(words), .labels = &labels};
    assert_int_equal(wt__select_tool(options, candidates, count, &oracle->model, &request, arena, trace, NULL), 0);
    assert_int_equal(trace->cost.unusable, 0);
    return trace->chosen == tool;
}

static bool is_generation_correct(struct call_oracle *oracle, const struct generation_options *options, int number)
{
    char words[32];
    snprintf(words, sizeof words, "request %d", number);
    const struct call_labels labels = {.arguments = right_arguments, .wrong = wrong_arguments};
    const struct call_request request = {.text = wt__str(words), .labels = &labels};
    const struct generation_tool tool = {STR("book"), STR(""), schema, NULL, 0};
    struct generation_trace trace;
    struct arena arena = {0};
    assert_int_equal(wt__generate_arguments(options, &tool, &oracle->model, &request, &arena, &trace, NULL), 0);
    assert_int_equal(trace.cost.unusable, 0);
    bool right = json_equal(trace.arguments, right_arguments);
    wt__generation_dispose(&trace);
    wt__arena_dispose(&arena);
    return right;
}

static void oracle_requires_labels(void **state)
{
    (void)state;
    struct call_oracle oracle;
    open_oracle(&oracle, set_oracle_rates(0, 1));
    const struct call_request request = {.text = STR("request")};
    struct arena arena = {0};
    struct selection_trace trace;
    wt_error err = {0};
    assert_int_equal(wt__select_tool(NULL, candidates, 3, &oracle.model, &request, &arena, &trace, &err), WT_EINVAL);
    assert_string_equal(err.message, "call-pick/2: call oracle, 0 % error: the request has no labels");
    wt__arena_dispose(&arena);
}

static void oracle_without_error_is_correct(void **state)
{
    (void)state;
    struct call_oracle oracle;
    open_oracle(&oracle, set_oracle_rates(0, 1));
    struct arena arena = {0};
    struct selection_trace trace;
    for (int i = 0; i < 50; i++) {
        for (enum selection_method method = 0; method < SELECTION_METHODS; method++) {
            const struct selection_options options = {.method = method};
            for (size_t count = 1; count <= CANDIDATES; count++)
                assert_true(is_selection_correct(&oracle, &options, i, count, &trace, &arena));
        }
        for (enum generation_source second = 0; second < GENERATION_SOURCES; second++) {
            const struct generation_options options = {.second = second, .other = &oracle.model};
            assert_true(is_generation_correct(&oracle, &options, i));
        }
        wt__arena_reset(&arena);
    }
    /* If the correct tool is not a candidate, the oracle picks null. */
    static const struct call_labels labels = {.tool = CALL_NO_CANDIDATE, .nearest = 1};
    const struct call_request request = {.text = STR("request"), .labels = &labels};
    assert_int_equal(wt__select_tool(NULL, candidates, 3, &oracle.model, &request, &arena, &trace, NULL), 0);
    assert_int_equal(trace.end, SELECTION_NONE);
    wt__arena_dispose(&arena);
}

/* --- closed form --------------------------------------------------------------------------------------------- */

/* The formulas of call_oracle.h. */
static double compute_rate_after_right(const struct call_oracle_options *o, double rate)
{
    return (1 - o->repeat) * rate;
}

static double compute_rate_after_wrong(const struct call_oracle_options *o, double rate)
{
    return o->repeat + (1 - o->repeat) * rate;
}

static double compute_agreement(double answer, double decision)
{
    return (1 - answer) * (1 - decision) + answer * decision;
}

static double compute_expected_selection(const struct call_oracle_options *o, enum selection_method method,
                                         size_t count)
{
    double a = o->pick, k = (double)count, m = o->nearest ? 1 : 1 - 1 / k, missed = count == 2 ? 0 : a;
    double right = 1 - a, wrong = a * m * (1 - missed);
    double f = compute_rate_after_right(o, a), g = compute_rate_after_wrong(o, a);
    switch (method) {
    case SELECTION_DIRECT:
        return right * (1 - compute_rate_after_right(o, o->decision)) +
               wrong * (1 - compute_rate_after_wrong(o, o->decision));
    case SELECTION_VERIFIED:
    case SELECTION_CONDITIONED:
        return right * compute_agreement(compute_rate_after_right(o, o->answer), o->decision) +
               wrong * compute_agreement(compute_rate_after_wrong(o, o->answer), o->decision);
    case SELECTION_CONSISTENT:
        return o->nearest ? right * (1 - f * f) + a * (1 - g) * (1 - g)
                          : pow(right, 3) + 3 * right * right * a + right * a * a * (1 - 1 / k);
    default:
        return right;
    }
}

static double compute_expected_argument(const struct call_oracle_options *o, bool verified)
{
    double p = o->prediction;
    return !verified ? 1 - p
                     : (1 - p) * (1 - compute_rate_after_right(o, p)) +
                           (1 - p) * compute_rate_after_right(o, p) * (1 - compute_rate_after_right(o, o->choice)) +
                           p * (1 - compute_rate_after_wrong(o, p)) * (1 - compute_rate_after_wrong(o, o->choice));
}

/* Checks that counted / n is within four standard deviations of the expected share. */
static void assert_share(const char *what, const struct call_oracle *oracle, size_t counted, size_t n, double expected)
{
    double share = (double)counted / (double)n, deviation = sqrt(expected * (1 - expected) / (double)n);
    if (fabs(share - expected) > 4 * deviation + 1e-9)
        fail_msg("%s of %s: %g of %zu, expected %g", what, oracle->name, share, n, expected);
}

struct setting {
    double error, repeat;
    bool nearest;
};

static const struct setting settings[] = {
    {0, 0, false}, {.1, 0, false}, {.2, 0, false}, {.1, 0, true}, {.1, .5, true},
    {.1, 1, true}, {.2, 0, true},  {.2, .5, true}, {.2, 1, true}, {0, 1, true},
};

static void open_with_setting(struct call_oracle *oracle, const struct setting *setting)
{
    struct call_oracle_options options = set_oracle_rates(setting->error, 7);
    options.nearest = setting->nearest;
    options.repeat = setting->repeat;
    open_oracle(oracle, options);
}

static void selection_matches_closed_form(void **state)
{
    (void)state;
    static const enum selection_method methods[] = {SELECTION_ONCE, SELECTION_DIRECT, SELECTION_VERIFIED,
                                                    SELECTION_CONSISTENT};
    struct arena arena = {0};
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        struct call_oracle oracle;
        open_with_setting(&oracle, &settings[s]);
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            const struct selection_options options = {.method = methods[m]};
            size_t count = s % 2 ? 2 : CANDIDATES, right = 0, n = settings[s].error > 0 ? REQUESTS : REQUESTS / 10;
            for (size_t i = 0; i < n; i++) {
                struct selection_trace trace;
                right += is_selection_correct(&oracle, &options, (int)i, count, &trace, &arena);
                wt__arena_reset(&arena);
            }
            double expected = compute_expected_selection(&oracle.options, methods[m], count);
            assert_share(method_labels[methods[m]], &oracle, right, n, expected);
        }
    }
    wt__arena_dispose(&arena);
}

/* Each row sets a single rate, except one row with three different rates. */
static void each_step_has_its_own_rate(void **state)
{
    (void)state;
    static const struct call_oracle_options rows[] = {
        {.pick = .3, .seed = 3},
        {.answer = .3, .seed = 3},
        {.decision = .3, .seed = 3},
        {.pick = .3, .answer = .2, .decision = .1, .nearest = true, .repeat = .5, .seed = 3},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct call_oracle oracle;
        open_oracle(&oracle, rows[i]);
        size_t right = 0;
        for (int j = 0; j < REQUESTS; j++) {
            struct selection_trace trace;
            right += is_selection_correct(&oracle, NULL, j, CANDIDATES, &trace, &arena);
            wt__arena_reset(&arena);
        }
        assert_share("verified", &oracle, right, REQUESTS,
                     compute_expected_selection(&rows[i], SELECTION_VERIFIED, CANDIDATES));
    }
    static const struct call_oracle_options of_arguments[] = {{.prediction = .3, .seed = 3}, {.choice = .3, .seed = 3}};
    for (size_t i = 0; i < sizeof of_arguments / sizeof *of_arguments; i++) {
        struct call_oracle oracle;
        open_oracle(&oracle, of_arguments[i]);
        size_t right = 0;
        for (int j = 0; j < REQUESTS; j++)
            right += is_generation_correct(&oracle, NULL, j);
        assert_share("arguments", &oracle, right, REQUESTS,
                     pow(compute_expected_argument(&of_arguments[i], true), ARGUMENTS));
    }
    wt__arena_dispose(&arena);
}

static void call_matches_closed_form(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t s = 1; s < sizeof settings / sizeof *settings; s++) {
        struct call_oracle oracle;
        open_with_setting(&oracle, &settings[s]);
        for (int verified = 0; verified < 2; verified++) {
            const struct selection_options selection = {.method = verified ? SELECTION_VERIFIED : SELECTION_ONCE};
            const struct generation_options generation = {.second = verified ? GENERATION_REACT : GENERATION_ALONE};
            size_t right = 0;
            for (int i = 0; i < REQUESTS; i++) {
                struct selection_trace trace;
                right += is_selection_correct(&oracle, &selection, i, CANDIDATES, &trace, &arena) &&
                         is_generation_correct(&oracle, &generation, i);
                wt__arena_reset(&arena);
            }
            double expected = compute_expected_selection(&oracle.options, selection.method, CANDIDATES) *
                              pow(compute_expected_argument(&oracle.options, verified), ARGUMENTS);
            assert_share(verified ? "whole calls, verified" : "whole calls", &oracle, right, REQUESTS, expected);
        }
    }
    wt__arena_dispose(&arena);
}

/* --- invariants --------------------------------------------------------------------------------------------------- */

static void answer_is_independent_of_order(void **state)
{
    (void)state;
    struct call_oracle oracle, other;
    open_oracle(&oracle, set_oracle_rates(.3, 7));
    open_oracle(&other, set_oracle_rates(.3, 8));
    static size_t forwards[REQUESTS];
    struct arena arena = {0};
    struct selection_trace trace;
    size_t differ = 0;
    for (int i = 0; i < REQUESTS / 4; i++) {
        is_selection_correct(&oracle, NULL, i, CANDIDATES, &trace, &arena);
        forwards[i] = trace.chosen;
    }
    for (int i = REQUESTS / 4; i-- > 0;) {
        is_selection_correct(&oracle, NULL, i, CANDIDATES, &trace, &arena);
        assert_int_equal(trace.chosen, forwards[i]);
        is_selection_correct(&other, NULL, i, CANDIDATES, &trace, &arena);
        differ += trace.chosen != forwards[i];
        wt__arena_reset(&arena);
    }
    assert_true(differ > REQUESTS / 40);
    wt__arena_dispose(&arena);
}

static void errors_remain_at_higher_rates(void **state)
{
    (void)state;
    struct call_oracle low, high;
    open_oracle(&low, set_oracle_rates(.1, 7));
    open_oracle(&high, set_oracle_rates(.2, 7));
    static const struct selection_options once = {.method = SELECTION_ONCE};
    struct arena arena = {0};
    struct selection_trace trace;
    size_t wrong = 0;
    for (int i = 0; i < REQUESTS / 4; i++) {
        bool at_low = is_selection_correct(&low, &once, i, CANDIDATES, &trace, &arena);
        wrong += !at_low;
        assert_true(at_low || !is_selection_correct(&high, &once, i, CANDIDATES, &trace, &arena));
        wt__arena_reset(&arena);
    }
    assert_true(wrong > 0);
    wt__arena_dispose(&arena);
}

static void wrong_tool_is_nearest_if_requested(void **state)
{
    (void)state;
    static const struct selection_options once = {.method = SELECTION_ONCE};
    struct call_oracle oracle;
    open_oracle(&oracle, (struct call_oracle_options){.pick = 1, .nearest = true, .seed = 7});
    struct arena arena = {0};
    struct selection_trace trace;
    for (int i = 0; i < 100; i++) {
        assert_false(is_selection_correct(&oracle, &once, i, CANDIDATES, &trace, &arena));
        assert_int_equal(trace.chosen, (size_t)(i + 1) % CANDIDATES);
        wt__arena_reset(&arena);
    }
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_name_has_its_rates),     cmocka_unit_test(invalid_rate_is_rejected),
        cmocka_unit_test(oracle_requires_labels),        cmocka_unit_test(oracle_without_error_is_correct),
        cmocka_unit_test(selection_matches_closed_form), cmocka_unit_test(each_step_has_its_own_rate),
        cmocka_unit_test(call_matches_closed_form),      cmocka_unit_test(answer_is_independent_of_order),
        cmocka_unit_test(errors_remain_at_higher_rates), cmocka_unit_test(wrong_tool_is_nearest_if_requested),
    };
    return cmocka_run_group_tests(tests, set_up_call_oracle, tear_down_call_oracle);
}
