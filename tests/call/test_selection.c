/* Tests the choice of a tool by a language model: the steps of the verification, unusable answers, and the methods of
 * the paper (call/language_model.h). call_world.h defines the notation of answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "call/call_world.h"
#include "call/language_model.h"
#include "llm/record.h"

static const struct selection_candidate candidates[] = {
    {{"a", 1}, STR("the weather of now"), STR("is it cold?"), STR("city (string)")},
    {{"b", 1}, STR("the weather to come"), {NULL, 0}, {NULL, 0}},
    {{"c", 1}, STR("the quality of the air"), STR("may I breathe?"), {NULL, 0}},
    {{"c", 1}, STR("the quality of the air"), {NULL, 0}, {NULL, 0}}, /* same definition */
};

static const struct call_request request = {.text = {"request", 7}};

/* Writes a trace as a line: the letters of the first and the second choice, the contrastive question and its answer,
 * the end, the letter of the chosen tool, and the costs. '*' marks a question from the store. */
static void write_selection_line(const struct selection_trace *trace, char out[256])
{
    char words[96] = "";
    if (trace->question.len > 0)
        snprintf(words, sizeof words, " %s%.*s/%.*s", trace->stored ? "*" : "", (int)trace->question.len,
                 trace->question.ptr, (int)trace->answer.len, trace->answer.ptr);
    snprintf(out, 256, "%c%c%s %s %c, %zu asked, %zu unusable", letter_of(trace->first), letter_of(trace->second),
             words, wt__selection_end_name(trace->end), letter_of(trace->chosen), trace->cost.questions,
             trace->cost.unusable);
}

struct selection_case {
    const char *name;
    struct selection_options options;
    size_t count;     /* number of candidates */
    const char *says; /* answers of the model (call_world.h) */
    const char *line; /* expected trace, as write_selection_line writes it */
};

static void check_selection_cases(const struct selection_case *examples, size_t count)
{
    int failures = 0;
    for (size_t i = 0; i < count; i++) {
        struct scripted_model world = world_of(examples[i].says);
        struct arena arena = {0};
        struct selection_trace trace;
        wt_error err = {0};
        char line[256];
        int rc = wt__select_tool(&examples[i].options, candidates, examples[i].count, &world.model, &request, &arena,
                                 &trace, &err);
        write_selection_line(&trace, line);
        if (rc != 0 || strcmp(line, examples[i].line) != 0 || trace.exchange_count != trace.cost.questions) {
            print_error("%s: %d %s\n  wanted \"%s\"\n  got    \"%s\"\n", examples[i].name, rc, err.message,
                        examples[i].line, line);
            failures++;
        }
        wt__arena_dispose(&arena);
    }
    assert_int_equal(failures, 0);
}
#define ASSERT_EXAMPLES(examples) check_selection_cases(examples, sizeof(examples) / sizeof *(examples))

static void choice_is_verified(void **state)
{
    (void)state;
    static const struct selection_case examples[] = {
        {"confirmed",
         {0},
         3,
         "pick=1|again=1|contrast=now or later?|answer=now|decide=1",
         "ab now or later?/now confirmed a, 5 asked, 0 unusable"},
        {"corrected",
         {0},
         3,
         "pick=1|again=1|contrast=now or later?|answer=later|decide=2",
         "ab now or later?/later corrected b, 5 asked, 0 unusable"},
        {"the second choice lists the other candidates in order",
         {0},
         3,
         "pick=2|again=2|contrast=q|answer=r|decide=1",
         "bc q/r confirmed b, 5 asked, 0 unusable"},
        {"the decision lists tools in the order of the candidates",
         {0},
         3,
         "pick=3|again=1|contrast=q|answer=r|decide=1",
         "ca q/r corrected a, 5 asked, 0 unusable"},
        {"no tool fits: no verification", {0}, 3, "pick=null", "-- none -, 1 asked, 0 unusable"},
        {"two candidates: the one not picked is the second choice",
         {0},
         2,
         "pick=2|contrast=q|answer=r|decide=1",
         "ba q/r corrected a, 4 asked, 0 unusable"},
        {"one candidate", {0}, 1, "pick=1", "a- picked a, 1 asked, 0 unusable"},
        {"one candidate that does not fit", {0}, 1, "pick=null", "-- none -, 1 asked, 0 unusable"},
        {"no candidate: no question", {0}, 0, "", "-- none -, 0 asked, 0 unusable"},
        {"equal definitions: no contrastive question", {0}, 4, "pick=3|again=3", "cd picked c, 2 asked, 0 unusable"},
    };
    ASSERT_EXAMPLES(examples);
}

/* Answers in the layout of ToolVerifier's data. */
static void calltool_names_a_listed_tool(void **state)
{
    (void)state;
    static const struct selection_case examples[] = {
        {"a thought and a name",
         {.method = SELECTION_ONCE},
         3,
         "pick=!Thought: b, not a.\nAct: CALLTOOL[\"b\"]\n",
         "b- picked b, 1 asked, 0 unusable"},
        {"a name alone",
         {.method = SELECTION_ONCE},
         3,
         "pick=!Act: CALLTOOL[\"c\"]",
         "c- picked c, 1 asked, 0 unusable"},
        {"the second choice",
         {.method = SELECTION_DIRECT},
         3,
         "pick=1|again=!Act: CALLTOOL[\"c\"]|decide=!Thought: \nAct: CALLTOOL[\"c\"]",
         "ac corrected c, 3 asked, 0 unusable"},
        {"an unlisted name",
         {.method = SELECTION_ONCE},
         3,
         "pick=!Act: CALLTOOL[\"d\"]",
         "-- unsaid -, 1 asked, 1 unusable"},
        {"the beginning of a name",
         {.method = SELECTION_ONCE},
         3,
         "pick=!Act: CALLTOOL[\"\"]",
         "-- unsaid -, 1 asked, 1 unusable"},
        {"a name of two tools",
         {.method = SELECTION_ONCE},
         4,
         "pick=!Act: CALLTOOL[\"c\"]",
         "-- unsaid -, 1 asked, 1 unusable"},
        {"text after the call",
         {.method = SELECTION_ONCE},
         3,
         "pick=!Act: CALLTOOL[\"b\"] or so",
         "-- unsaid -, 1 asked, 1 unusable"},
        {"text before the call",
         {.method = SELECTION_ONCE},
         3,
         "pick=!I think\nAct: CALLTOOL[\"b\"]",
         "-- unsaid -, 1 asked, 1 unusable"},
        {"two lines before the call",
         {.method = SELECTION_ONCE},
         3,
         "pick=!Thought: b\nso\nAct: CALLTOOL[\"b\"]",
         "-- unsaid -, 1 asked, 1 unusable"},
        {"a name without quotes",
         {.method = SELECTION_ONCE},
         3,
         "pick=!Act: CALLTOOL[b]",
         "-- unsaid -, 1 asked, 1 unusable"},
        {"a thought alone", {.method = SELECTION_ONCE}, 3, "pick=!Thought: b", "-- unsaid -, 1 asked, 1 unusable"},
        {"an unclosed call", {.method = SELECTION_ONCE}, 3, "pick=!Act: CALLTOOL[", "-- unsaid -, 1 asked, 1 unusable"},
    };
    ASSERT_EXAMPLES(examples);
}

static void unusable_answer_keeps_pick(void **state)
{
    (void)state;
    static const struct selection_case examples[] = {
        {"pick: unusable", {0}, 3, "pick=#", "-- unsaid -, 1 asked, 1 unusable"},
        {"pick: number out of range", {0}, 3, "pick=4", "-- unsaid -, 1 asked, 1 unusable"},
        {"pick: a number as a string", {0}, 3, "pick=\"1\"", "-- unsaid -, 1 asked, 1 unusable"},
        {"pick: a number whose lower 32 bits are 1", {0}, 3, "pick=4294967297", "-- unsaid -, 1 asked, 1 unusable"},
        {"pick: not an integer", {0}, 3, "pick=1.0", "-- unsaid -, 1 asked, 1 unusable"},
        {"pick: zero", {0}, 3, "pick=0", "-- unsaid -, 1 asked, 1 unusable"},
        {"pick: wrong member", {0}, 3, "pick=!{\"tools\": 1}", "-- unsaid -, 1 asked, 1 unusable"},
        {"pick: not an object", {0}, 3, "pick=![1]", "-- unsaid -, 1 asked, 1 unusable"},
        {"again: unusable", {0}, 3, "pick=1|again=#", "a- picked a, 2 asked, 1 unusable"},
        {"again: number out of range", {0}, 3, "pick=1|again=3", "a- picked a, 2 asked, 1 unusable"},
        {"again: null is not allowed", {0}, 3, "pick=1|again=null", "a- picked a, 2 asked, 1 unusable"},
        {"contrast: unusable", {0}, 3, "pick=1|again=1|contrast=#", "ab picked a, 3 asked, 1 unusable"},
        {"contrast: no words", {0}, 3, "pick=1|again=1|contrast=...", "ab picked a, 3 asked, 1 unusable"},
        {"contrast: not a string",
         {0},
         3,
         "pick=1|again=1|contrast=!{\"question\": 7}",
         "ab picked a, 3 asked, 1 unusable"},
        {"answer: unusable", {0}, 3, "pick=1|again=1|contrast=q|answer=#", "ab q/ picked a, 4 asked, 1 unusable"},
        {"answer: no words", {0}, 3, "pick=1|again=1|contrast=q|answer=?!", "ab q/ picked a, 4 asked, 1 unusable"},
        {"decision: unusable",
         {0},
         3,
         "pick=1|again=1|contrast=q|answer=r|decide=#",
         "ab q/r picked a, 5 asked, 1 unusable"},
        {"decision: number out of range",
         {0},
         3,
         "pick=1|again=1|contrast=q|answer=r|decide=3",
         "ab q/r picked a, 5 asked, 1 unusable"},
        {"decision: null is not allowed",
         {0},
         3,
         "pick=1|again=1|contrast=q|answer=r|decide=null",
         "ab q/r picked a, 5 asked, 1 unusable"},
    };
    ASSERT_EXAMPLES(examples);
}

static void methods_of_the_paper_select(void **state)
{
    (void)state;
    static const struct selection_case examples[] = {
        {"once", {.method = SELECTION_ONCE}, 3, "pick=2", "b- picked b, 1 asked, 0 unusable"},
        {"a single step", {.method = SELECTION_SINGLE_STEP}, 3, "pick=2", "b- picked b, 1 asked, 0 unusable"},
        {"once: no tool", {.method = SELECTION_ONCE}, 3, "pick=null", "-- none -, 1 asked, 0 unusable"},
        {"one shot", {.method = SELECTION_ONE_SHOT}, 3, "pick=2", "b- picked b, 1 asked, 0 unusable"},
        {"direct", {.method = SELECTION_DIRECT}, 3, "pick=1|again=1|decide=2", "ab corrected b, 3 asked, 0 unusable"},
        {"conditioned",
         {.method = SELECTION_CONDITIONED},
         3,
         "pick=1|again=1|contrast=q|answer=r|decide=2",
         "ab q/r corrected b, 5 asked, 0 unusable"},
        {"a majority", {.method = SELECTION_CONSISTENT}, 3, "pick=1|pick=2|pick=2", "b- picked b, 3 asked, 0 unusable"},
        {"all votes differ: the first vote wins",
         {.method = SELECTION_CONSISTENT},
         3,
         "pick=3|pick=2|pick=1",
         "c- picked c, 3 asked, 0 unusable"},
        {"equal votes: the tool voted for first wins",
         {.method = SELECTION_CONSISTENT, .sampling = {.samples = 5}},
         3,
         "pick=3|pick=2|pick=1|pick=1|pick=2",
         "b- picked b, 5 asked, 0 unusable"},
        {"null is a vote",
         {.method = SELECTION_CONSISTENT},
         3,
         "pick=1|pick=null|pick=null",
         "-- none -, 3 asked, 0 unusable"},
        {"unusable answers are not votes",
         {.method = SELECTION_CONSISTENT},
         3,
         "pick=#|pick=9|pick=2",
         "b- picked b, 3 asked, 2 unusable"},
        {"all samples unusable", {.method = SELECTION_CONSISTENT}, 3, "pick=#", "-- unsaid -, 3 asked, 3 unusable"},
        {"a single sample",
         {.method = SELECTION_CONSISTENT, .sampling = {.samples = 1}},
         3,
         "pick=2",
         "b- picked b, 1 asked, 0 unusable"},
    };
    ASSERT_EXAMPLES(examples);
}

/* The verifier gets the questions after the picks. */
static void verifier_is_another_model(void **state)
{
    (void)state;
    struct scripted_model world = world_of("pick=1|again=1"), other = world_of("contrast=q|answer=r|decide=2");
    const struct selection_options options = {.verifier = &other.model};
    struct arena arena = {0};
    struct selection_trace trace;
    wt_error err;
    assert_int_equal(wt__select_tool(&options, candidates, 3, &world.model, &request, &arena, &trace, &err), 0);
    assert_int_equal(trace.end, SELECTION_CORRECTED);
    assert_int_equal(world.all, 2);
    assert_int_equal(other.all, 3);
    wt__arena_dispose(&arena);
}

static void selection_methods_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"verified",    "once",       "one-shot",   "direct",
                                        "conditioned", "consistent", "single-step"};
    enum selection_method method;
    for (enum selection_method m = 0; m < SELECTION_METHODS; m++) {
        assert_true(wt__selection_method_named(wt__str(names[m]), &method));
        assert_int_equal(method, m);
    }
    assert_false(wt__selection_method_named(STR("twice"), &method));
    assert_false(wt__selection_method_named(STR(""), &method));
}

static void invalid_selection_options_are_rejected(void **state)
{
    (void)state;
    static const struct {
        struct selection_options options;
        const char *sentence;
    } cases[] = {
        {{.method = SELECTION_METHODS}, "selection: unknown method 7"},
        {{.sampling.samples = 33}, "selection: samples must be at most 32, not 33"},
        {{.sampling.temperature = -1}, "selection: temperature must be from 0 to 2, not -1"},
        {{.sampling.temperature = 2.5}, "selection: temperature must be from 0 to 2, not 2.5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scripted_model world = world_of("pick=1");
        struct arena arena = {0};
        struct selection_trace trace;
        wt_error err = {0};
        assert_int_equal(
            wt__select_tool(&cases[i].options, candidates, 3, &world.model, &request, &arena, &trace, &err), WT_EINVAL);
        assert_string_equal(err.message, cases[i].sentence);
        assert_int_equal(world.all, 0);
    }
}

/* Only samples have a temperature. Each sample has its own seed. */
static void samples_have_their_own_seeds(void **state)
{
    (void)state;
    static const struct selection_options options = {
        .method = SELECTION_CONSISTENT, .sampling.samples = 3, .sampling.temperature = 1.5};
    static const struct selection_options usual = {.method = SELECTION_CONSISTENT, .sampling.samples = 3};
    struct scripted_model world = world_of("pick=1|again=1|contrast=q|answer=r|decide=1");
    struct arena arena = {0};
    struct selection_trace trace;
    unsigned seen = 0;
    assert_int_equal(wt__select_tool(&options, candidates, 3, &world.model, &request, &arena, &trace, NULL), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(world.temperature[i] == 1.5);
        seen |= 1u << world.seeds[i];
    }
    assert_int_equal(seen, 2 | 4 | 8);
    assert_int_equal(wt__select_tool(&usual, candidates, 3, &world.model, &request, &arena, &trace, NULL), 0);
    assert_true(world.temperature[3] == .7);
    assert_int_equal(wt__select_tool(NULL, candidates, 3, &world.model, &request, &arena, &trace, NULL), 0);
    for (unsigned i = 6; i < world.all; i++)
        assert_true(world.temperature[i] == 0 && world.seeds[i] == 0);
    wt__arena_dispose(&arena);
}

/* Each step has its own slots, and no others. */
static void each_selection_step_has_its_slots(void **state)
{
    (void)state;
    static const struct selection_options conditioned = {.method = SELECTION_CONDITIONED},
                                          one_shot = {.method = SELECTION_ONE_SHOT};
    struct scripted_model world = world_of("pick=1|again=1|contrast=now or later?|answer=it says later|decide=1");
    struct arena arena = {0};
    struct selection_trace trace;
    assert_int_equal(wt__select_tool(NULL, candidates, 3, &world.model, &request, &arena, &trace, NULL), 0);
    static const char *const tasks[] = {"call-pick/2", "call-choose/2", "call-contrast/1", "call-answer/1",
                                        "call-choose/2"};
    for (size_t i = 0; i < 5; i++) {
        const char *question = trace.exchanges[i].question.ptr;
        assert_string_equal(trace.exchanges[i].task, tasks[i]);
        assert_int_equal(strstr(question, "\nrequest\n") != NULL, i != 2);                  /* absent in the contrast */
        assert_int_equal(strstr(question, "the weather of now") != NULL, i != 1 && i != 3); /* a was picked */
        assert_int_equal(strstr(question, "the weather to come") != NULL, i != 3);
        assert_int_equal(strstr(question, "the quality of the air") != NULL, i < 2);
        assert_int_equal(strstr(question, "now or later?") != NULL, i == 3);
        assert_int_equal(strstr(question, "<<<request\nrequest\nit says later\n>>>request") != NULL, i == 4);
        assert_null(strstr(question, "is it cold?"));
    }
    assert_int_equal(wt__select_tool(&conditioned, candidates, 3, &world.model, &request, &arena, &trace, NULL), 0);
    assert_string_equal(trace.exchanges[2].task, "call-contrast-conditioned/1");
    assert_non_null(strstr(trace.exchanges[2].question.ptr, "\nrequest\n"));
    assert_int_equal(wt__select_tool(&one_shot, candidates, 3, &world.model, &request, &arena, &trace, NULL), 0);
    assert_non_null(
        strstr(trace.exchanges[0].question.ptr, "<<<demonstrations\n1. is it cold?\n2. -\n3. may I breathe?\n>>>"));
    wt__arena_dispose(&arena);
}

/* --- the store ----------------------------------------------------------------------------------------------- */

struct kept {
    struct contrast_key keys[8];
    char questions[8][64];
    size_t count, gets;
    int fail_get, fail_put;
};

static int get_kept_contrast(void *self, const struct contrast_key *key, struct arena *arena, struct str *question,
                             wt_error *err)
{
    struct kept *kept = self;
    (void)arena;
    kept->gets++;
    if (kept->fail_get)
        return wt__fail(err, kept->fail_get, "the store cannot be read");
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->keys[i].definitions, key->definitions) == 0 && strcmp(kept->keys[i].model, key->model) == 0 &&
            strcmp(kept->keys[i].task, key->task) == 0)
            *question = wt__str(kept->questions[i]);
    return 0;
}

static int put_kept_contrast(void *self, const struct contrast_key *key, struct str question, wt_error *err)
{
    struct kept *kept = self;
    if (kept->fail_put)
        return wt__fail(err, kept->fail_put, "the store cannot be written");
    kept->keys[kept->count] = *key;
    kept->keys[kept->count].model = "world";
    kept->keys[kept->count].task = "call-contrast/1";
    snprintf(kept->questions[kept->count++], 64, "%.*s", (int)question.len, question.ptr);
    return 0;
}

static void select_with_store(struct kept *kept, enum selection_method method, struct chat_model *model,
                              const struct call_request *asked, char line[256])
{
    const struct contrast_store store = {kept, get_kept_contrast, put_kept_contrast};
    const struct selection_options options = {.method = method, .store = &store};
    struct arena arena = {0};
    struct selection_trace trace;
    wt_error err = {0};
    if (wt__select_tool(&options, candidates, 3, model, asked, &arena, &trace, &err) == 0)
        write_selection_line(&trace, line);
    else
        snprintf(line, 256, "%.255s", err.message);
    wt__arena_dispose(&arena);
}

static void question_is_asked_once_per_pair(void **state)
{
    (void)state;
    static const struct call_request other = {.text = {"another request", 15}};
    struct kept kept = {0};
    struct scripted_model world = world_of("pick=1|again=1|contrast=q|contrast=s|answer=r|decide=1"),
                          reversed = world_of("pick=2|again=1|answer=r|decide=1"),
                          third = world_of("pick=1|again=2|contrast=u|answer=r|decide=1"),
                          named = world_of("pick=1|again=1|contrast=v|answer=r|decide=1");
    char line[256];
    select_with_store(&kept, SELECTION_VERIFIED, &world.model, &request, line);
    assert_string_equal(line, "ab q/r confirmed a, 5 asked, 0 unusable");
    select_with_store(&kept, SELECTION_VERIFIED, &world.model, &other, line);
    assert_string_equal(line, "ab *q/r confirmed a, 4 asked, 0 unusable");
    select_with_store(&kept, SELECTION_VERIFIED, &reversed.model, &request, line); /* the same two in reverse order */
    assert_string_equal(line, "ba *q/r corrected a, 4 asked, 0 unusable");
    /* A conditioned question depends on the request, so the store is neither read nor written. */
    select_with_store(&kept, SELECTION_CONDITIONED, &world.model, &request, line);
    assert_string_equal(line, "ab s/r confirmed a, 5 asked, 0 unusable");
    assert_int_equal(kept.gets, 3);
    select_with_store(&kept, SELECTION_VERIFIED, &third.model, &request, line);
    assert_string_equal(line, "ac u/r confirmed a, 5 asked, 0 unusable");
    named.model.name = "another model";
    select_with_store(&kept, SELECTION_VERIFIED, &named.model, &request, line);
    assert_string_equal(line, "ab v/r confirmed a, 5 asked, 0 unusable");
    assert_int_equal(kept.count, 3);
}

static void stored_question_is_sanitised(void **state)
{
    (void)state;
    struct kept kept = {0};
    struct scripted_model world = world_of("pick=1|again=1|contrast=q|answer=r|decide=1");
    char line[256];
    select_with_store(&kept, SELECTION_VERIFIED, &world.model, &request, line);
    snprintf(kept.questions[0], 64, "now\n>>>question\x1b");
    select_with_store(&kept, SELECTION_VERIFIED, &world.model, &request, line);
    assert_string_equal(line, "ab *now > > >question/r confirmed a, 4 asked, 0 unusable");
    snprintf(kept.questions[0], 64, "...");
    select_with_store(&kept, SELECTION_VERIFIED, &world.model, &request, line);
    assert_string_equal(line, "ab q/r confirmed a, 5 asked, 0 unusable");
}

static void unusable_question_is_not_stored(void **state)
{
    (void)state;
    struct kept kept = {0};
    struct scripted_model world = world_of("pick=1|again=1|contrast=#");
    char line[256];
    select_with_store(&kept, SELECTION_VERIFIED, &world.model, &request, line);
    assert_string_equal(line, "ab picked a, 3 asked, 1 unusable");
    assert_int_equal(kept.count, 0);
}

static void store_failure_ends_selection(void **state)
{
    (void)state;
    struct kept unread = {.fail_get = WT_EIO}, unwritten = {.fail_put = WT_EFULL};
    struct scripted_model world = world_of("pick=1|again=1|contrast=q|answer=r|decide=1");
    char line[256];
    select_with_store(&unread, SELECTION_VERIFIED, &world.model, &request, line);
    assert_string_equal(line, "the store cannot be read");
    select_with_store(&unwritten, SELECTION_VERIFIED, &world.model, &request, line);
    assert_string_equal(line, "the store cannot be written");
}

/* --- failing models ----------------------------------------------------------------------------------------------- */

static void model_failure_ends_selection(void **state)
{
    (void)state;
    static const struct {
        const char *says, *sentence;
        size_t answered;
    } cases[] = {
        {"pick=%", "call-pick/2: the model is unavailable", 0},
        {"pick=1|again=%", "call-choose/2: the model is unavailable", 1},
        {"pick=1|again=1|contrast=%", "call-contrast/1: the model is unavailable", 2},
        {"pick=1|again=1|contrast=q|answer=%", "call-answer/1: the model is unavailable", 3},
        {"pick=1|again=1|contrast=q|answer=r|decide=%", "call-choose/2: the model is unavailable", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scripted_model world = world_of(cases[i].says);
        struct arena arena = {0};
        struct selection_trace trace;
        wt_error err = {0};
        assert_int_equal(wt__select_tool(NULL, candidates, 3, &world.model, &request, &arena, &trace, &err),
                         WT_ENETWORK);
        assert_string_equal(err.message, cases[i].sentence);
        assert_int_equal(trace.chosen, CALL_NO_CANDIDATE);
        assert_int_equal(trace.end, SELECTION_UNSAID);
        assert_int_equal(trace.cost.questions, cases[i].answered);
        assert_int_equal(trace.exchange_count, cases[i].answered);
        wt__arena_dispose(&arena);
    }
}

static void selection_is_cancellable(void **state)
{
    (void)state;
    for (unsigned answered = 0; answered < 5; answered++) {
        struct scripted_model world = world_of("pick=1|again=1|contrast=q|answer=r|decide=1");
        struct arena arena = {0};
        struct selection_trace trace;
        struct progress progress;
        wt_error err = {0};
        wt__progress_init(&progress, NULL, NULL);
        progress.cancelled = answered == 0;
        world.stop_after = answered;
        const struct call_request stopped = {.text = {"request", 7}, .progress = &progress};
        int rc = wt__select_tool(NULL, candidates, 3, &world.model, &stopped, &arena, &trace, &err);
        assert_int_equal(rc, WT_ECANCELLED);
        assert_int_equal(trace.chosen, CALL_NO_CANDIDATE);
        assert_int_equal(trace.exchange_count, answered);
        wt__progress_dispose(&progress);
        wt__arena_dispose(&arena);
    }
}

/* --- limits -------------------------------------------------------------------------------------------------- */

static void excess_candidates_are_ignored(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    static struct selection_candidate many[MANY];
    static char megabyte[1 << 20];
    memset(megabyte, 'm', sizeof megabyte);
    for (size_t i = 0; i < MANY; i++)
        many[i] = (struct selection_candidate){{megabyte, sizeof megabyte - i},
                                               {megabyte, sizeof megabyte},
                                               {megabyte, sizeof megabyte},
                                               {megabyte, 1000}};
    for (enum selection_method method = 0; method < SELECTION_METHODS; method++) {
        const struct selection_options options = {.method = method};
        const struct call_request long_request = {.text = {megabyte, sizeof megabyte}};
        struct scripted_model world = world_of("pick=128|again=127|contrast=q|answer=r|decide=2");
        struct arena arena = {0};
        struct selection_trace trace;
        wt_error err = {0};
        if (wt__select_tool(&options, many, MANY, &world.model, &long_request, &arena, &trace, &err) != 0)
            fail_msg("%s", err.message);
        assert_int_equal(trace.first, SELECTION_MOST_CANDIDATES - 1);
        for (size_t i = 0; i < trace.exchange_count; i++)
            assert_true(trace.exchanges[i].question.len < 160 * 1024);
        if (method == SELECTION_VERIFIED) /* the request is cut, the answer is not */
            assert_non_null(strstr(trace.exchanges[4].question.ptr, "m [...]\nr\n>>>request"));
        wt__arena_dispose(&arena);
    }
}

/* --- recorded ------------------------------------------------------------------------------------------------ */

static void recorded_selection_gives_same_trace(void **state)
{
    (void)state;
    char folder[] = "/tmp/wt-selection-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/answers.jsonl", folder);
    for (enum selection_method method = 0; method < SELECTION_METHODS; method++) {
        const struct selection_options options = {.method = method};
        char lines[2][256];
        for (int replayed = 0; replayed < 2; replayed++) {
            struct scripted_model world =
                world_of(method == SELECTION_SINGLE_STEP ? "pick=!{\"tool\": 2, \"arguments\": {\"city\": \"Oslo\"}}"
                                                         : "pick=1|pick=2|pick=2|again=1|contrast=q|answer=r|decide=2");
            struct chat_record *record;
            struct arena arena = {0};
            struct selection_trace trace;
            assert_int_equal(wt__chat_record_open(&record, path, "world", replayed ? NULL : &world.model, NULL), 0);
            assert_int_equal(
                wt__select_tool(&options, candidates, 3, wt__chat_record_model(record), &request, &arena, &trace, NULL),
                0);
            write_selection_line(&trace, lines[replayed]);
            if (replayed)
                assert_int_equal(trace.cost.requests, 0);
            if (method == SELECTION_SINGLE_STEP)
                assert_string_equal(trace.arguments.ptr, "{\"city\":\"Oslo\"}");
            wt__chat_record_close(record);
            wt__arena_dispose(&arena);
        }
        assert_string_equal(lines[1], lines[0]);
    }
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choice_is_verified),
        cmocka_unit_test(calltool_names_a_listed_tool),
        cmocka_unit_test(unusable_answer_keeps_pick),
        cmocka_unit_test(methods_of_the_paper_select),
        cmocka_unit_test(verifier_is_another_model),
        cmocka_unit_test(selection_methods_have_names),
        cmocka_unit_test(invalid_selection_options_are_rejected),
        cmocka_unit_test(samples_have_their_own_seeds),
        cmocka_unit_test(each_selection_step_has_its_slots),
        cmocka_unit_test(question_is_asked_once_per_pair),
        cmocka_unit_test(stored_question_is_sanitised),
        cmocka_unit_test(unusable_question_is_not_stored),
        cmocka_unit_test(store_failure_ends_selection),
        cmocka_unit_test(model_failure_ends_selection),
        cmocka_unit_test(selection_is_cancellable),
        cmocka_unit_test(excess_candidates_are_ignored),
        cmocka_unit_test(recorded_selection_gives_same_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
