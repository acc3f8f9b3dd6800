/* Tests PTR on requests worked out by hand, in the notation of ptr_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "choose/ptr_world.h"
#include "rendezvous.h"

static const struct ptr_request request = {.text = {"request", 7}};

static void assert_trace(const char *name, const struct ptr_options *options, struct ptr_world *world,
                         const char *wanted)
{
    struct ptr_sources sources = world_sources(world);
    struct ptr_script script = ptr_script_of(world);
    struct arena arena = {0};
    struct ptr_trace trace;
    wt_error err = {0};
    int rc = wt__ptr_choose(options, &sources, &script.model, &request, &arena, &trace, &err);
    if (rc != 0)
        fail_msg("%s: %s", name, err.message);
    char *line = trace_line(&trace);
    if (strcmp(line, wanted) != 0)
        fail_msg("%s:\n  wanted \"%s\"\n  got    \"%s\"", name, wanted, line);
    free(line);
    wt__arena_dispose(&arena);
}

struct ptr_example {
    const char *name;
    struct ptr_world world;
    const char *trace;
};

static void assert_ptr_examples(const struct ptr_example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ptr_world world = examples[i].world;
        assert_trace(examples[i].name, NULL, &world, examples[i].trace);
    }
}
#define ASSERT_EXAMPLES(examples) assert_ptr_examples(examples, sizeof(examples) / sizeof *(examples))

static void keeps_tools_that_meet_requirements(void **state)
{
    (void)state;
    static const struct ptr_example examples[] = {
        {"exact: all requirements met, all tools used",
         {.bundle = "ab", .match = "p=a q=b"},
         "[ab] p=a q=b exact kept ab; set ab"},
        {"exact: one tool meets two requirements",
         {.bundle = "a", .match = "p=a q=a"},
         "[a] p=a q=a exact kept a; set a"},
        {"exact: two tools meet one requirement", {.bundle = "ab", .match = "p=ab"}, "[ab] p=ab exact kept ab; set ab"},
        {"over: a tool that meets two requirements is in the set once",
         {.bundle = "abc", .match = "p=ba q=a"},
         "[abc] p=ba q=a over kept ba; set ba"},
        /* Kept tools are in the order of the requirements. */
        {"over: an unused tool", {.bundle = "abc", .match = "p=c q=a"}, "[abc] p=c q=a over kept ca; set ca"},
        /* No tool meets q. All tools are used, but the verdict is not exact. */
        {"partial: every tool of the bundle is used",
         {.bundle = "a", .match = "p=a q=-", .dsa = "q=b"},
         "[a] p=a q=- partial kept a; q b|| b1; set ab"},
        {"partial: tools of the bundle are unused",
         {.bundle = "abc", .match = "p=- q=b", .dsa = "p=d"},
         "[abc] p=- q=b partial kept b; p d|| d1; set bd"},
        {"no tool of the bundle fits",
         {.bundle = "abc", .match = "p=-", .dsa = "p=a"},
         "[abc] p=- partial kept ; p a|| a1; set a"},
        {"no bundle: no requirement is met",
         {.bundle = "", .match = "p=a q=b", .dsa = "p=c q=d"},
         "[] p=- q=- partial kept ; p c|| c1; q d|| d1; set cd"},
        /* Nothing is required, so every tool of the bundle is superfluous. */
        {"no requirement", {.bundle = "ab", .match = ""}, "[ab] over kept ; set "},
        {"neither requirement nor bundle", {.bundle = "", .match = ""}, "[] exact kept ; set "},
        {"a tool that is in the bundle twice counts once",
         {.bundle = "aab", .match = "p=a q=b"},
         "[ab] p=a q=b exact kept ab; set ab"},
    };
    ASSERT_EXAMPLES(examples);
}

static void variants_change_the_method(void **state)
{
    (void)state;
    static const struct {
        unsigned variant;
        struct ptr_example example;
    } cases[] = {
        {PTR_ASK_PROBLEMS,
         {"the model's problems replace the unmet requirement",
          {.bundle = "a", .match = "p=a q=-", .problems = "r s", .dsa = "q=b r=c s=d"},
          "[a] p=a q=- partial kept a; r c|| c1; s d|| d1; set acd"}},
        {PTR_ASK_PROBLEMS,
         {"the model sees no problem",
          {.bundle = "a", .match = "p=a q=-", .problems = "", .dsa = "q=b"},
          "[a] p=a q=- partial kept a; set a"}},
        {PTR_ASK_PROBLEMS,
         {"problems without a word",
          {.bundle = "a", .match = "p=a q=-", .problems = "... -", .dsa = "q=b"},
          "[a] p=a q=- partial kept a; q b|| b1; set ab"}},
        {PTR_ASK_PROBLEMS,
         {"no unmet requirement: no question", {.bundle = "ab", .match = "p=ab"}, "[ab] p=ab exact kept ab; set ab"}},
        {PTR_PROTECT_BUNDLE,
         {"a tool that is needed at a second look",
          {.bundle = "abc", .match = "p=c", .needed = "b"},
          "[abc] p=c over kept cb; set cb"}},
        {PTR_PROTECT_BUNDLE,
         {"all tools of the bundle are needed",
          {.bundle = "abc", .match = "p=c", .needed = "ab"},
          "[abc] p=c exact kept cab; set cab"}},
        {PTR_PROTECT_BUNDLE | PTR_ASK_PROBLEMS,
         {"both",
          {.bundle = "ab", .match = "p=-", .needed = "b", .problems = "r", .dsa = "r=c"},
          "[ab] p=- partial kept b; r c|| c1; set bc"}},
        {PTR_EXAMPLES, {"examples", {.bundle = "ab", .match = "p=a"}, "[ab] p=a over kept a; set a"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ptr_options options = {.variant = cases[i].variant};
        struct ptr_world world = cases[i].example.world;
        assert_trace(cases[i].example.name, &options, &world, cases[i].example.trace);
    }
}

/* Runs Algorithm 1 for one problem p with an empty set. */
static void elects_tool_by_most_votes(void **state)
{
    (void)state;
    static const struct ptr_example examples[] = {
        /* b: DSA and CTE; c: all three; d: DSA and HQC. */
        {"the tool with the most votes",
         {.bundle = "", .match = "p=-", .dsa = "p=bcd", .hqc = "p=dc", .cte = "b=bc"},
         "[] p=- partial kept ; p bcd|dc|bc c3; set c"},
        /* b and c have three votes each. b wins because it came first, although c precedes it in the other views. */
        {"equal votes: the tool that came first",
         {.bundle = "", .match = "p=-", .dsa = "p=bc", .hqc = "p=cb", .cte = "b=cb"},
         "[] p=- partial kept ; p bc|cb|cb b3; set b"},
        /* Two past requests used y, and one used x. Each tool has one vote, and x came first. */
        {"a view has one vote per tool",
         {.bundle = "", .match = "p=-", .hqc = "p=x,y,y"},
         "[] p=- partial kept ; p |xy| x1; set x"},
        {"no tool of DSA: nothing to expand, past use decides",
         {.bundle = "", .match = "p=-", .hqc = "p=xy,yz", .broken = "cte", .code = WT_EMODEL},
         "[] p=- partial kept ; p |xyz| x1; set x"},
        /* b has DSA and CTE, x has HQC and CTE. Both have two votes, and b came first. */
        {"the best tool of DSA also has the vote of CTE",
         {.bundle = "", .match = "p=-", .dsa = "p=b", .hqc = "p=x", .cte = "b=bx"},
         "[] p=- partial kept ; p b|x|bx b2; set b"},
        {"no past use: DSA and CTE vote",
         {.bundle = "", .match = "p=-", .dsa = "p=bc", .cte = "b=bc"},
         "[] p=- partial kept ; p bc||bc b2; set b"},
        {"no view has a tool", {.bundle = "", .match = "p=-"}, "[] p=- partial kept ; p ||; set "},
        {"a tool that a source repeats has one vote",
         {.bundle = "", .match = "p=-", .dsa = "p=bbc", .hqc = "p=cc", .cte = "b=bbb"},
         "[] p=- partial kept ; p bc|c|b b2; set b"},
        /* DSA does not vote for h and i, its eighth and ninth tools. The eighth past request, which used i, is ignored.
         * CTE does not vote for o and p. So h has the votes of HQC and CTE, and wins. */
        {"each view has at most seven tools",
         {.bundle = "", .match = "p=-", .dsa = "p=abcdefghi", .hqc = "p=h,h,h,h,h,h,h,i", .cte = "a=hijklmnop"},
         "[] p=- partial kept ; p abcdefg|h|hijklmn h2; set h"},
    };
    ASSERT_EXAMPLES(examples);
}

static void chooses_each_tool_once(void **state)
{
    (void)state;
    static const struct ptr_example examples[] = {
        /* a wins, but is already in the set. The second-best tool b is not added instead. */
        {"a tool that was kept from the bundle",
         {.bundle = "a", .match = "p=a q=-", .dsa = "q=ab"},
         "[a] p=a q=- partial kept a; q ab|| a1!; set a"},
        {"a tool that was dropped from the bundle is added",
         {.bundle = "ab", .match = "p=a q=-", .dsa = "q=b"},
         "[ab] p=a q=- partial kept a; q b|| b1; set ab"},
        {"a tool that was elected for an earlier problem",
         {.bundle = "", .match = "p=- q=-", .dsa = "p=b q=bc"},
         "[] p=- q=- partial kept ; p b|| b1; q bc|| b1!; set b"},
        {"the same problem twice",
         {.bundle = "", .match = "p=- p=-", .dsa = "p=b"},
         "[] p=- p=- partial kept ; p b|| b1; p b|| b1!; set b"},
    };
    ASSERT_EXAMPLES(examples);
}

/* Tool a of the bundle meets q. The views of problem p are DSA bcd, HQC cx, and CTE bxc (the tools similar to b). The
 * highest numbers of votes for p are:
 *
 *   all views     c 3, b 2 and x 2
 *   K of 1        b 2, with the views DSA b, HQC cx, CTE b
 *   without DSA   c 2 and x 2; c comes first
 *   without HQC   b 2 and c 2; b comes first
 *   without CTE   c 2 */
static void leaves_out_stages_and_views(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct ptr_options options;
        const char *trace;
    } cases[] = {
        {"nothing left out", {0}, "[a] p=- q=a partial kept a; p bcd|cx|bxc c3; set ac"},
        {"the default K", {.k = PTR_K}, "[a] p=- q=a partial kept a; p bcd|cx|bxc c3; set ac"},
        {"K of 1", {.k = 1}, "[a] p=- q=a partial kept a; p b|cx|b b2; set ab"},
        {"without DSA", {.ablate = PTR_ABLATE_DSA}, "[a] p=- q=a partial kept a; p |cx|bxc c2; set ac"},
        {"without HQC", {.ablate = PTR_ABLATE_HQC}, "[a] p=- q=a partial kept a; p bcd||bxc b2; set ab"},
        {"without CTE", {.ablate = PTR_ABLATE_CTE}, "[a] p=- q=a partial kept a; p bcd|cx| c2; set ac"},
        {"DSA alone", {.ablate = PTR_ABLATE_HQC | PTR_ABLATE_CTE}, "[a] p=- q=a partial kept a; p bcd|| b1; set ab"},
        {"no view",
         {.ablate = PTR_ABLATE_DSA | PTR_ABLATE_HQC | PTR_ABLATE_CTE},
         "[a] p=- q=a partial kept a; p ||; set a"},
        {"without bundles",
         {.ablate = PTR_ABLATE_BUNDLE},
         "[] p=- q=- partial kept ; p bcd|cx|bxc c3; q e|| e1; set ce"},
        {"the first requirement only", {.requirements = 1}, "[a] p=- partial kept ; p bcd|cx|bxc c3; set c"},
    };
    struct ptr_world world = {.bundle = "a", .match = "p=- q=a", .dsa = "p=bcd q=e", .hqc = "p=cx", .cte = "b=bxc"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_trace(cases[i].name, &cases[i].options, &world, cases[i].trace);
}

static void rejects_options_beyond_limits(void **state)
{
    (void)state;
    static const struct {
        struct ptr_options options;
        const char *sentence;
    } cases[] = {
        {{.k = PTR_MOST_K + 1}, "PTR: each view has at most 32 tools, not 33"},
        {{.requirements = PTR_MOST_REQUIREMENTS + 1}, "PTR: a request has at most 16 requirements, not 17"},
        {{.ablate = PTR_ABLATE_ALL + 1}, "PTR: unknown stage or view to leave out (0x10)"},
    };
    struct ptr_world world = {.bundle = "a", .match = "p=a"};
    struct ptr_sources sources = world_sources(&world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptr_script script = ptr_script_of(&world);
        struct arena arena = {0};
        struct ptr_trace trace;
        wt_error err = {0};
        int rc = wt__ptr_choose(&cases[i].options, &sources, &script.model, &request, &arena, &trace, &err);
        assert_int_equal(rc, WT_EINVAL);
        assert_string_equal(err.message, cases[i].sentence);
        assert_int_equal(script.asked, 0);
        wt__arena_dispose(&arena);
    }
    struct ptr_options most = {.k = PTR_MOST_K, .requirements = PTR_MOST_REQUIREMENTS};
    assert_trace("at the limits", &most, &world, "[a] p=a exact kept a; set a");
}

/* Two requirements give three questions: one for requirements, then one each. */
static void fails_with_the_model(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int at, code;
        size_t requirements, answered;
        const char *sentence;
    } cases[] = {
        {"at the first question", 1, WT_ENETWORK, 0, 0, "ptr-requirements/2: the model failed"},
        {"in the middle", 2, WT_ENETWORK, 2, 1, "ptr-match/3: the model failed"},
        {"at the last question", 3, WT_ECANCELLED, 2, 2, "ptr-match/3: the model failed"},
        {"a replay that lacks a question", 2, WT_ENOTFOUND, 2, 1, "ptr-match/3: the model failed"},
    };
    struct ptr_world world = {.bundle = "ab", .match = "p=a q=b", .dsa = "p=c q=d"};
    struct ptr_sources sources = world_sources(&world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptr_script script = ptr_script_of(&world);
        struct arena arena = {0};
        struct ptr_trace trace;
        wt_error err = {0};
        script.fail_at = cases[i].at;
        script.code = cases[i].code;
        int rc = wt__ptr_choose(NULL, &sources, &script.model, &request, &arena, &trace, &err);
        if (rc != cases[i].code || strcmp(err.message, cases[i].sentence) != 0)
            fail_msg("%s: %d \"%s\"", cases[i].name, rc, err.message);
        assert_int_equal(trace.set.count, 0);
        assert_int_equal(trace.bundle.count, 2);
        assert_int_equal(trace.requirement_count, cases[i].requirements);
        assert_in_range(trace.cost.questions, cases[i].answered, 2); /* the other match may run concurrently */
        assert_int_equal(trace.exchange_count, trace.cost.questions);
        assert_int_equal(wt__ptr_choose(NULL, &sources, &script.model, &request, &arena, &trace, NULL), 0);
        wt__arena_dispose(&arena);
    }
}

/* An answer of the wrong form is not an error, but counts as unusable. */
static void rejects_answers_of_wrong_form(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int at;
        const char *trace;
    } cases[] = {
        {"to the first question: the request is the requirement", 1,
         "[ab] request=- partial kept ; request c|| c1; set c"},
        {"to a match: no tool meets the requirement", 2, "[ab] p=- q=b partial kept b; p d|| d1; set bd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptr_world world = {.bundle = "ab", .match = "p=a q=b", .dsa = "request=c p=d"};
        struct ptr_sources sources = world_sources(&world);
        struct ptr_script script = ptr_script_of(&world);
        struct arena arena = {0};
        struct ptr_trace trace;
        script.fail_at = cases[i].at;
        script.code = WT_EFORMAT;
        if (cases[i].at == 1)
            script.match_json = "{\"tools\": []}";
        assert_int_equal(wt__ptr_choose(NULL, &sources, &script.model, &request, &arena, &trace, NULL), 0);
        char *line = trace_line(&trace);
        if (strcmp(line, cases[i].trace) != 0)
            fail_msg("%s: \"%s\"", cases[i].name, line);
        assert_int_equal(trace.cost.unusable, 1);
        assert_string_equal(trace.exchanges[cases[i].at - 1].unusable, "the model failed");
        free(line);
        wt__arena_dispose(&arena);
    }
}

static void fails_with_a_source(void **state)
{
    (void)state;
    static const char *const sources_by_name[] = {"bundle", "dsa", "hqc", "cte", "describe"};
    for (size_t i = 0; i < sizeof sources_by_name / sizeof *sources_by_name; i++) {
        struct ptr_world world = {.bundle = "a", .match = "p=-", .dsa = "p=b", .hqc = "p=c", .cte = "b=b"};
        world.broken = sources_by_name[i];
        world.code = WT_EMODEL;
        struct ptr_sources sources = world_sources(&world);
        struct ptr_script script = ptr_script_of(&world);
        struct arena arena = {0};
        struct ptr_trace trace;
        wt_error err = {0};
        char sentence[64];
        snprintf(sentence, sizeof sentence, "the source \"%s\" is broken", sources_by_name[i]);
        assert_int_equal(wt__ptr_choose(NULL, &sources, &script.model, &request, &arena, &trace, &err), WT_EMODEL);
        assert_string_equal(err.message, sentence);
        assert_int_equal(trace.set.count, 0);
        wt__arena_dispose(&arena);
    }
}

static void cost_counts_every_question(void **state)
{
    (void)state;
    struct ptr_world world = {.bundle = "ab", .match = "p=a q=- r=b", .dsa = "q=c"};
    struct ptr_sources sources = world_sources(&world);
    struct ptr_script script = ptr_script_of(&world);
    struct arena arena = {0};
    struct ptr_trace trace;
    assert_int_equal(wt__ptr_choose(NULL, &sources, &script.model, &request, &arena, &trace, NULL), 0);
    assert_int_equal(script.asked, 4); /* one for requirements, one for each of three matches */
    assert_int_equal(trace.cost.questions, 4);
    assert_int_equal(trace.cost.requests, 4);
    assert_int_equal(trace.cost.prompt_tokens, 400);
    assert_int_equal(trace.cost.completion_tokens, 40);
    assert_true(trace.cost.ms == 8);
    assert_int_equal(trace.cost.unusable, 0);
    assert_int_equal(trace.exchange_count, 4);
    assert_string_equal(trace.exchanges[0].task, "ptr-requirements/2");
    assert_string_equal(trace.exchanges[2].task, "ptr-match/3");
    assert_string_equal(trace.exchanges[2].answer.ptr, "{\"tools\": []}");
    assert_non_null(strstr(trace.exchanges[0].question.ptr, "request"));
    assert_non_null(strstr(trace.exchanges[1].question.ptr, "\n2. b: does something\n"));
    wt__arena_dispose(&arena);

    /* Without a bundle there is one question and no match. */
    struct ptr_options options = {.ablate = PTR_ABLATE_BUNDLE};
    script = ptr_script_of(&world);
    assert_int_equal(wt__ptr_choose(&options, &sources, &script.model, &request, &arena, &trace, NULL), 0);
    assert_int_equal(script.asked, 1);
    wt__arena_dispose(&arena);
}

/* Answers the question for requirements at once. Answers questions for matches when all three are waiting. */
struct patient_model {
    struct ptr_script script;
    struct rendezvous rendezvous;
};

static int wait_for_all_questions(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                                  struct chat_answer *out, wt_error *err)
{
    if (((const struct ptr_subject *)question->subject)->step == PTR_MATCH)
        await_others(&((struct patient_model *)model)->rendezvous, 3);
    return script_ask(model, question, arena, out, err);
}

static void asks_matches_concurrently(void **state)
{
    (void)state;
    struct ptr_world world = {.bundle = "ab", .match = "p=a q=- r=b", .dsa = "q=c"};
    struct ptr_sources sources = world_sources(&world);
    struct patient_model patient = {.script = ptr_script_of(&world), .rendezvous = RENDEZVOUS_INIT};
    struct arena arena = {0};
    struct ptr_trace trace;
    wt_error err = {0};
    patient.script.model.ask = wait_for_all_questions;
    int rc = wt__ptr_choose(NULL, &sources, &patient.script.model, &request, &arena, &trace, &err);
    if (rc < 0)
        fail_msg("%s", err.message);
    char *line = trace_line(&trace);
    assert_string_equal(line, "[ab] p=a q=- r=b partial kept ab; q c|| c1; set abc");
    free(line);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_tools_that_meet_requirements),
        cmocka_unit_test(variants_change_the_method),
        cmocka_unit_test(elects_tool_by_most_votes),
        cmocka_unit_test(chooses_each_tool_once),
        cmocka_unit_test(leaves_out_stages_and_views),
        cmocka_unit_test(rejects_options_beyond_limits),
        cmocka_unit_test(fails_with_the_model),
        cmocka_unit_test(rejects_answers_of_wrong_form),
        cmocka_unit_test(fails_with_a_source),
        cmocka_unit_test(cost_counts_every_question),
        cmocka_unit_test(asks_matches_concurrently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
