/* Tests that the oracle is correct at rate 0, errs at the given rate, and answers the same question in the same way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "choose/ptr.h"
#include "choose/ptr_world.h"

enum { QUESTIONS = 1000, LISTED = 5 };

/* Requests "request 0", ... need tools a and b; x and y are wrong. */
static const struct ptr_label needed[] = {{0, {"first", 5}}, {1, {"second", 6}}};
static const struct ptr_label wrong[] = {{23, {"third", 5}}, {24, {"fourth", 6}}};
static const struct ptr_labels labels = {needed, wrong, 2, 2};

struct oracle_question {
    char words[32];
    struct ptr_request request;
    struct ptr_subject subject;
};

static void make_question(struct oracle_question *asked, int number, enum ptr_step step, const struct ptr_labels *known)
{
    snprintf(asked->words, sizeof asked->words, "request %d", number);
    asked->request = (struct ptr_request){.text = wt__str(asked->words), .labels = known};
    asked->subject = (struct ptr_subject){.step = step, .request = &asked->request};
}

/* Writes the answer as text, or "" if the question failed. */
static void answer_of(struct oracle *oracle, const struct ptr_subject *subject, char answer[256])
{
    const struct chat_question question = {.subject = subject};
    struct arena arena = {0};
    struct chat_answer got;
    wt_error err = {0};
    int rc = wt__chat_ask(&oracle->model, &question, &arena, &got, &err);
    snprintf(answer, 256, "%.*s", rc == 0 ? (int)got.text.len : 0, rc == 0 ? got.text.ptr : "");
    json_decref(got.json);
    wt__arena_dispose(&arena);
}

static void requirements_of(struct oracle *oracle, int number, char answer[256])
{
    struct oracle_question asked;
    make_question(&asked, number, PTR_REQUIRE, &labels);
    answer_of(oracle, &asked.subject, answer);
}

/* Returns the number in the answer for the requirement at `place`, or 0. */
static int match_of(struct oracle *oracle, int number, size_t place, struct ptr_tools listed)
{
    struct oracle_question asked;
    char answer[256];
    int tool = 0;
    make_question(&asked, number, PTR_MATCH, &labels);
    asked.subject.place = place;
    asked.subject.listed = listed;
    answer_of(oracle, &asked.subject, answer);
    if (strcmp(answer, "{\"tools\": []}") != 0)
        assert_int_equal(sscanf(answer, "{\"tools\": [%d]}", &tool), 1);
    return tool;
}

static struct oracle oracle_at(double error, uint64_t seed)
{
    struct oracle oracle;
    assert_int_equal(wt__oracle_init(&oracle, error, seed, NULL), 0);
    return oracle;
}

static void names_oracle_and_rate(void **state)
{
    (void)state;
    static const struct {
        double error;
        const char *name;
    } cases[] = {{0, "oracle, 0 % error"},
                 {.1, "oracle, 10 % error"},
                 {.125, "oracle, 12.5 % error"},
                 {1, "oracle, 100 % error"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct oracle oracle;
        assert_int_equal(wt__oracle_init(&oracle, cases[i].error, 1, NULL), 0);
        assert_string_equal(oracle.model.name, cases[i].name);
    }
}

static void rejects_invalid_rates(void **state)
{
    (void)state;
    static const struct {
        double error;
        const char *sentence;
    } cases[] = {
        {-.1, "oracle: error rate must be 0 to 1, not -0.1"},
        {1.5, "oracle: error rate must be 0 to 1, not 1.5"},
        {NAN, "oracle: error rate must be 0 to 1, not nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct oracle oracle;
        wt_error err = {0};
        assert_int_equal(wt__oracle_init(&oracle, cases[i].error, 1, &err), WT_EINVAL);
        assert_string_equal(err.message, cases[i].sentence);
    }
}

static void rejects_questions_without_labels(void **state)
{
    (void)state;
    struct oracle oracle;
    assert_int_equal(wt__oracle_init(&oracle, .1, 1, NULL), 0);
    struct oracle_question asked;
    make_question(&asked, 0, PTR_REQUIRE, NULL);
    const struct ptr_subject *const subjects[] = {NULL, &asked.subject};
    for (size_t i = 0; i < 2; i++) {
        const struct chat_question question = {.subject = subjects[i], .text = STR("what now?")};
        struct arena arena = {0};
        struct chat_answer answer;
        wt_error err = {0};
        assert_int_equal(wt__chat_ask(&oracle.model, &question, &arena, &answer, &err), WT_EINVAL);
        assert_string_equal(err.message, "oracle, 10 % error: the request has no labels");
        wt__arena_dispose(&arena);
    }
}

static void answers_correctly_without_errors(void **state)
{
    (void)state;
    static const uint32_t rows[] = {7, 1, 0, 23};
    struct oracle oracle = oracle_at(0, 1);
    char answer[256];
    for (int i = 0; i < QUESTIONS; i++) {
        requirements_of(&oracle, i, answer);
        assert_string_equal(answer, "{\"requirements\": [\"first\", \"second\"]}");
        assert_int_equal(match_of(&oracle, i, 0, (struct ptr_tools){rows, 4}), 3); /* a is third */
        assert_int_equal(match_of(&oracle, i, 1, (struct ptr_tools){rows, 4}), 2);
        assert_int_equal(match_of(&oracle, i, 0, (struct ptr_tools){rows, 2}), 0); /* not listed */
        assert_int_equal(match_of(&oracle, i, 0, (struct ptr_tools){0}), 0);
        assert_int_equal(match_of(&oracle, i, PTR_WHOLE, (struct ptr_tools){rows, 4}), 0);
    }
}

/* Fails unless counted / n is within four standard deviations of the rate. */
static void assert_rate(const char *what, size_t counted, size_t n, double rate)
{
    double share = (double)counted / (double)n, deviation = sqrt(rate * (1 - rate) / (double)n);
    if (fabs(share - rate) > 4 * deviation)
        fail_msg("%s: %g of %zu, wanted %g", what, share, n, rate);
}

static void requirements_err_at_given_rate(void **state)
{
    (void)state;
    static const double rates[] = {0, .05, .1, .2, .5, 1};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct oracle oracle = oracle_at(rates[i], 7);
        size_t dropped = 0, invented = 0, third = 0;
        for (int q = 0; q < QUESTIONS; q++) {
            char answer[256];
            requirements_of(&oracle, q, answer);
            dropped += !strstr(answer, "first");
            dropped += !strstr(answer, "second");
            for (const char *at = answer; (at = strstr(at, "third")); at++)
                invented++, third++;
            for (const char *at = answer; (at = strstr(at, "fourth")); at++)
                invented++;
        }
        assert_rate("omitted or invented requirements", dropped + invented, 2 * QUESTIONS, rates[i]);
        assert_rate("dropped", dropped, 2 * QUESTIONS, rates[i] / 2);
        if (invented > 0)
            assert_rate("the first wrong tool", third, invented, .5);
    }
}

/* Without wrong tools, every error omits a requirement. */
static void omits_requirements_without_wrong_tools(void **state)
{
    (void)state;
    static const struct ptr_labels only_needed = {needed, NULL, 2, 0};
    struct oracle oracle = oracle_at(.2, 7);
    size_t dropped = 0;
    for (int q = 0; q < QUESTIONS; q++) {
        struct oracle_question asked;
        char answer[256];
        make_question(&asked, q, PTR_REQUIRE, &only_needed);
        answer_of(&oracle, &asked.subject, answer);
        dropped += !strstr(answer, "first");
        dropped += !strstr(answer, "second");
    }
    assert_rate("dropped", dropped, 2 * QUESTIONS, .2);
}

static const struct ptr_labels one_needed = {needed, NULL, 1, 0};

/* Asks the oracle to match the requirement for tool a. Returns false if the oracle omitted that requirement. */
static bool ask_match(struct oracle *oracle, int number, struct ptr_tools listed, int *tool)
{
    struct oracle_question asked;
    char answer[256];
    make_question(&asked, number, PTR_REQUIRE, &one_needed);
    answer_of(oracle, &asked.subject, answer);
    bool named = strstr(answer, "first") != NULL;
    asked.subject = (struct ptr_subject){PTR_MATCH, &asked.request, 0, listed};
    answer_of(oracle, &asked.subject, answer);
    if (sscanf(answer, "{\"tools\": [%d]}", tool) != 1)
        *tool = 0;
    return named;
}

static void matches_err_at_given_rate(void **state)
{
    (void)state;
    static const uint32_t with_a[LISTED] = {5, 6, 0, 7, 8}, without_a[LISTED] = {5, 6, 9, 7, 8};
    static const double rates[] = {0, .05, .1, .2, .5};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct oracle oracle = oracle_at(rates[i], 7);
        size_t answers[2][LISTED + 1] = {{0}}, n = 0;
        for (int q = 0; n < QUESTIONS; q++) {
            int listed, missing;
            if (!ask_match(&oracle, q, (struct ptr_tools){with_a, LISTED}, &listed))
                continue;
            ask_match(&oracle, q, (struct ptr_tools){without_a, LISTED}, &missing);
            answers[0][listed]++;
            answers[1][missing]++;
            n++;
        }
        assert_rate("listed, and missed", n - answers[0][3], n, rates[i]);
        assert_rate("an unlisted tool matched", n - answers[1][0], n, rates[i]);
        /* All five wrong answers are equally likely. */
        for (int wrong_number = 0; wrong_number <= LISTED; wrong_number++)
            if (wrong_number != 3)
                assert_rate("one wrong answer", answers[0][wrong_number], n, rates[i] / LISTED);
    }
}

static void answers_are_independent_of_order(void **state)
{
    (void)state;
    struct oracle oracle = oracle_at(.3, 7), other = oracle_at(.3, 8);
    static char forwards[QUESTIONS][256];
    char answer[256];
    size_t differ = 0;
    for (int i = 0; i < QUESTIONS; i++)
        requirements_of(&oracle, i, forwards[i]);
    for (int i = QUESTIONS; i-- > 0;) {
        requirements_of(&oracle, i, answer);
        assert_string_equal(answer, forwards[i]);
        requirements_of(&other, i, answer);
        differ += strcmp(answer, forwards[i]) != 0;
    }
    assert_true(differ > QUESTIONS / 10); /* errors depend on the seed */
}

static void errors_remain_at_higher_rates(void **state)
{
    (void)state;
    struct oracle low = oracle_at(.1, 7), high = oracle_at(.2, 7), none = oracle_at(0, 7);
    size_t wrong_low = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        char right[256], at_low[256], at_high[256];
        requirements_of(&none, i, right);
        requirements_of(&low, i, at_low);
        requirements_of(&high, i, at_high);
        if (strcmp(at_low, right) != 0) {
            wrong_low++;
            assert_string_not_equal(at_high, right);
        }
    }
    assert_true(wrong_low > 0);
}

/* Runs all of PTR without errors. The set is the needed set if the views find the tools missing from the bundle. */
static void ptr_with_oracle_finds_needed_set(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct ptr_world world;
        const char *trace;
    } cases[] = {
        {"the bundle has all needed tools", {.bundle = "ba"}, "[ba] first=a second=b exact kept ab; set ab"},
        {"the bundle has tools that are not needed",
         {.bundle = "cbxa"},
         "[cbxa] first=a second=b over kept ab; set ab"},
        {"the bundle lacks a needed tool, and DSA finds it",
         {.bundle = "xa", .dsa = "second=b"},
         "[xa] first=a second=- partial kept a; second b|| b1; set ab"},
        {"no bundle: the views find both tools",
         {.bundle = "", .dsa = "first=ax second=b", .hqc = "first=a"},
         "[] first=- second=- partial kept ; first ax|a| a2; second b|| b1; set ab"},
        {"no view finds a needed tool: the set lacks it",
         {.bundle = "a", .dsa = "second=xb"},
         "[a] first=a second=- partial kept a; second xb|| x1; set ax"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptr_world world = cases[i].world;
        struct ptr_sources sources = world_sources(&world);
        struct oracle oracle = oracle_at(0, 1);
        struct ptr_request request = {.text = STR("request"), .labels = &labels};
        struct arena arena = {0};
        struct ptr_trace trace;
        int rc = wt__ptr_choose(NULL, &sources, &oracle.model, &request, &arena, &trace, NULL);
        assert_int_equal(rc, 0);
        char *line = trace_line(&trace);
        if (strcmp(line, cases[i].trace) != 0)
            fail_msg("%s: \"%s\"", cases[i].name, line);
        assert_int_equal(trace.cost.unusable, 0);
        assert_int_equal(trace.cost.requests, 0);
        free(line);
        wt__arena_dispose(&arena);
    }
}

/* If a request needs more tools than the maximum number of requirements, the excess requirements are only counted. */
static void cuts_excess_needed_tools(void **state)
{
    (void)state;
    struct ptr_label many[PTR_MOST_REQUIREMENTS + 3];
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        many[i] = (struct ptr_label){0, STR("first")};
    struct ptr_labels known = {.needed = many, .needed_count = sizeof many / sizeof *many};
    struct ptr_world world = {.bundle = "a"};
    struct ptr_sources sources = world_sources(&world);
    struct oracle oracle = oracle_at(0, 1);
    struct ptr_request request = {.text = STR("request"), .labels = &known};
    struct arena arena = {0};
    struct ptr_trace trace;
    assert_int_equal(wt__ptr_choose(NULL, &sources, &oracle.model, &request, &arena, &trace, NULL), 0);
    assert_int_equal(trace.requirement_count, PTR_MOST_REQUIREMENTS);
    assert_int_equal(trace.ignored, 3);
    wt__arena_dispose(&arena);
}

/* The questions of variants. */
static void oracle_answers_variants(void **state)
{
    (void)state;
    static const uint32_t rows[] = {1, 23};
    struct oracle oracle;
    struct oracle_question asked;
    char answer[256];
    size_t wrong_looks = 0;
    assert_int_equal(wt__oracle_init(&oracle, 0, 1, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        make_question(&asked, 0, PTR_PROTECT, &labels);
        asked.subject.listed = (struct ptr_tools){&rows[i], 1};
        answer_of(&oracle, &asked.subject, answer);
        assert_string_equal(answer, i == 0 ? "{\"needed\": true}" : "{\"needed\": false}");
    }
    make_question(&asked, 0, PTR_PROBLEMS, &labels);
    asked.subject.listed = (struct ptr_tools){rows, 2};
    answer_of(&oracle, &asked.subject, answer);
    assert_string_equal(answer, "{\"problems\": [\"first\"]}");
    assert_int_equal(wt__oracle_init(&oracle, .2, 1, NULL), 0);
    for (int number = 0; number < QUESTIONS; number++) {
        make_question(&asked, number, PTR_PROTECT, &labels);
        asked.subject.listed = (struct ptr_tools){rows, 1};
        answer_of(&oracle, &asked.subject, answer);
        wrong_looks += strcmp(answer, "{\"needed\": false}") == 0;
    }
    assert_in_range(wrong_looks, 160, 240);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_answers_variants),
        cmocka_unit_test(names_oracle_and_rate),
        cmocka_unit_test(rejects_invalid_rates),
        cmocka_unit_test(rejects_questions_without_labels),
        cmocka_unit_test(answers_correctly_without_errors),
        cmocka_unit_test(requirements_err_at_given_rate),
        cmocka_unit_test(omits_requirements_without_wrong_tools),
        cmocka_unit_test(matches_err_at_given_rate),
        cmocka_unit_test(answers_are_independent_of_order),
        cmocka_unit_test(errors_remain_at_higher_rates),
        cmocka_unit_test(ptr_with_oracle_finds_needed_set),
        cmocka_unit_test(cuts_excess_needed_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
