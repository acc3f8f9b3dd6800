/* ptr.c: PTR's stages (ptr.h), its questions, its multi-view re-ranking, and the oracle for evaluations. */
#include "choose/ptr.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/checksum.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "llm/plain_text.h"

/* Initialises an empty list with room for `most` tools. Returns the writable rows of the list, or NULL if out of
 * memory. */
static uint32_t *init_ptr_tools(struct arena *arena, size_t most, struct ptr_tools *out)
{
    uint32_t *rows = wt__arena_array(arena, uint32_t, most);
    *out = (struct ptr_tools){rows, 0};
    return rows;
}

/* Adds a row to a list that has room. memory: the writable rows, from init_ptr_tools. Returns false if the list already
 * has the row. */
static bool add_ptr_tool(struct ptr_tools *tools, uint32_t *memory, uint32_t row)
{
    for (size_t i = 0; i < tools->count; i++)
        if (memory[i] == row)
            return false;
    memory[tools->count++] = row;
    return true;
}

/* State of one run; all members are borrowed. */
struct ptr_run {
    const struct ptr_sources *sources;
    struct chat_model *model;
    const struct ptr_request *request;
    size_t k, requirements; /* options with defaults applied */
    unsigned ablate, variant;
    struct arena *arena;
    struct ptr_trace *trace;
};

/* ---------------------------------------------------------------- questions */

/* PTR's questions to the language model (appendix D of the paper), and the validation of its answers. The last two
 * belong to variants. With PTR_EXAMPLES, the names of the first two end in "-examples".
 *
 *   ptr-requirements   request -> {"requirements": [text, ...]}
 *   ptr-match          tools, one requirement -> {"tools": [number in the list, ...]}
 *   ptr-protect        tool, request -> {"needed": Boolean}
 *   ptr-problems       tools, request -> {"problems": [text, ...]}
 *
 * A requirement is a text with at least one word, which is sanitised and truncated. A match is a list of integers from
 * 1 to the number of listed tools. Other answers are rejected and counted. An answer with one invalid number is
 * rejected as a whole. If an answer has no usable requirement, the request itself becomes the only requirement. An
 * empty list means that the request has no requirements.
 *
 * The questions for matches are independent, so they are asked concurrently. */

static int put_ptr_question(const struct ptr_run *run, const struct prompt *prompt, const struct prompt_value *values,
                            size_t count, const struct ptr_subject *subject, struct chat_reply *reply)
{
    const struct chat_question question = {.subject = subject, .progress = run->request->progress};
    return wt__chat_put(reply, prompt, values, count, run->model, question);
}

/* Marks the last answer of the trace as rejected, for the given reason. */
static int reject_ptr_answer(const struct ptr_run *run, const char *reason, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    return wt__chat_reject(&trace->exchanges[trace->exchange_count - 1], &trace->cost, reason, run->arena, err);
}

/* Adds an exchange to the trace, and the cost of the exchange to the total. */
static int note_ptr_exchange(const struct ptr_run *run, const struct prompt *prompt, const struct chat_reply *reply,
                             wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    struct chat_exchange *exchange = &trace->exchanges[trace->exchange_count];
    int rc = wt__chat_keep(exchange, &trace->cost, prompt, reply, run->arena, err);
    trace->exchange_count += rc == 0;
    return rc;
}

static int read_requirements(const struct ptr_run *run, const json_t *list, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (trace->requirement_count == run->requirements) {
            trace->ignored = json_array_size(list) - i;
            break;
        }
        struct ptr_requirement *requirement = &trace->requirements[trace->requirement_count];
        requirement->place = i;
        const json_t *element = json_array_get(list, i);
        const struct str words = {json_string_value(element), json_string_length(element)};
        if (wt__plain_words(&requirement->text, words, PTR_MAX_REQUIREMENT_BYTES, run->arena) < 0)
            return wt__fail_nomem(err);
        if (requirement->text.len > 0)
            trace->requirement_count++;
    }
    return 0;
}

static int ask_requirements(const struct ptr_run *run, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    const struct ptr_subject subject = {.step = PTR_REQUIRE, .request = run->request};
    const struct prompt_value value = {.slot = "request", .text = run->request->text};
    struct chat_reply reply = {0};
    struct prompt prompt;
    trace->requirements = wt__arena_array(run->arena, struct ptr_requirement, run->requirements);
    trace->exchanges = wt__arena_array(run->arena, struct chat_exchange, 2 + run->requirements + PTR_MOST_LISTED);
    WT_CHECK_ALLOC(trace->requirements && trace->exchanges, err);
    WT_TRY(
        wt__prompt_open(&prompt, run->variant & PTR_EXAMPLES ? "ptr-requirements-examples" : "ptr-requirements", err));
    put_ptr_question(run, &prompt, &value, 1, &subject, &reply);
    int rc = note_ptr_exchange(run, &prompt, &reply, err);
    wt__prompt_dispose(&prompt);

    const json_t *list = wt__json_array(reply.got.json, "requirements");
    if (rc == 0)
        rc = read_requirements(run, list, err);
    if (rc == 0 && reply.got.json && trace->requirement_count == 0 && (!list || json_array_size(list) > 0))
        rc = reject_ptr_answer(run, "answer names no requirement", err);
    if (rc == 0 && trace->cost.unusable > 0) {
        trace->requirements[0] = (struct ptr_requirement){.text = run->request->text, .place = PTR_WHOLE};
        trace->requirement_count = 1;
    }
    wt__chat_reply_dispose(&reply);
    return rc;
}

/* Writes "name: description" of a tool. */
static int describe_ptr_tool(const struct ptr_run *run, uint32_t tool, struct str *out, wt_error *err)
{
    struct ptr_text text = {0};
    WT_TRY(run->sources->describe(run->sources->self, tool, run->arena, &text, err));
    *out = wt__prompt_tool(text.name, text.description, PTR_MAX_TOOL_BYTES, run->arena);
    WT_CHECK_ALLOC(out->ptr, err);
    return 0;
}

static int read_match(const struct ptr_run *run, const json_t *answer, struct ptr_requirement *requirement,
                      wt_error *err)
{
    const struct ptr_tools *bundle = &run->trace->bundle;
    const json_t *numbers = json_object_get(answer, "tools");
    uint32_t *rows = init_ptr_tools(run->arena, bundle->count, &requirement->tools);
    bool listed = json_is_array(numbers);
    requirement->asked = true;
    WT_CHECK_ALLOC(rows, err);
    for (size_t i = 0; listed && i < json_array_size(numbers); i++) {
        json_int_t number = json_integer_value(json_array_get(numbers, i)); /* 0 if not an integer */
        listed = number >= 1 && number <= (json_int_t)bundle->count;
        if (listed)
            add_ptr_tool(&requirement->tools, rows, bundle->rows[number - 1]);
    }
    if (listed || !answer)
        return 0;
    requirement->tools.count = 0;
    return reject_ptr_answer(run, "answer is not a list of numbers of listed tools", err);
}

/* The questions for matches of a run. */
struct ptr_matching {
    const struct ptr_run *run;
    struct prompt prompt;
    struct str *items;          /* the tools as listed in the prompt */
    struct chat_reply *replies; /* one per requirement */
};

static int match_requirement(void *context, size_t index, unsigned worker)
{
    struct ptr_matching *m = context;
    const struct ptr_trace *trace = m->run->trace;
    const struct ptr_requirement *requirement = &trace->requirements[index];
    const struct ptr_subject subject = {
        .step = PTR_MATCH, .request = m->run->request, .place = requirement->place, .listed = trace->bundle};
    const struct prompt_value values[] = {
        {.slot = "tools", .items = m->items, .item_count = trace->bundle.count},
        {.slot = "requirement", .text = requirement->text},
    };
    (void)worker;
    return put_ptr_question(m->run, &m->prompt, values, sizeof values / sizeof *values, &subject, &m->replies[index]);
}

/* Reads all answers in the order of the requirements. If a question failed, the costs of the other answers are still
 * added. */
static int read_matches(const struct ptr_matching *m, wt_error *err)
{
    struct ptr_trace *trace = m->run->trace;
    int rc = 0;
    for (size_t i = 0; i < trace->requirement_count; i++) {
        wt_error unused;
        const struct chat_reply *reply = &m->replies[i];
        int failed = reply->put ? note_ptr_exchange(m->run, &m->prompt, reply, rc == 0 ? err : &unused) : 0;
        if (reply->put && failed == 0)
            failed = read_match(m->run, reply->got.json, &trace->requirements[i], rc == 0 ? err : &unused);
        rc = rc < 0 ? rc : failed;
    }
    return rc;
}

static int ask_matches(const struct ptr_run *run, wt_error *err)
{
    const struct ptr_trace *trace = run->trace;
    struct ptr_matching m = {.run = run};
    if (trace->bundle.count == 0 || trace->requirement_count == 0)
        return 0;
    m.items = wt__arena_array(run->arena, struct str, trace->bundle.count);
    m.replies = wt__arena_array(run->arena, struct chat_reply, trace->requirement_count);
    WT_CHECK_ALLOC(m.items && m.replies, err);
    int rc = wt__prompt_open(&m.prompt, run->variant & PTR_EXAMPLES ? "ptr-match-examples" : "ptr-match", err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < trace->bundle.count; i++)
        rc = describe_ptr_tool(run, trace->bundle.rows[i], &m.items[i], err);
    if (rc == 0) {
        wt__pool_run(PTR_AT_ONCE, trace->requirement_count, match_requirement, &m);
        rc = read_matches(&m, err);
    }
    for (size_t i = 0; i < trace->requirement_count; i++)
        wt__chat_reply_dispose(&m.replies[i]);
    wt__prompt_dispose(&m.prompt);
    return rc;
}

/* ---------------------------------------------------------------- variants */

static bool has_ptr_tool(const struct ptr_tools *tools, uint32_t row)
{
    for (size_t i = 0; i < tools->count; i++)
        if (tools->rows[i] == row)
            return true;
    return false;
}

/* The second looks at the tools of the bundle that no requirement needs. */
struct ptr_protection {
    const struct ptr_run *run;
    struct prompt prompt;
    uint32_t *rows;    /* [count] */
    struct str *texts; /* [count] */
    struct chat_reply *replies;
    size_t count;
};

static int look_again(void *context, size_t index, unsigned worker)
{
    struct ptr_protection *p = context;
    const struct ptr_subject subject = {
        .step = PTR_PROTECT, .request = p->run->request, .listed = {&p->rows[index], 1}};
    const struct prompt_value values[] = {{.slot = "tool", .text = p->texts[index]},
                                          {.slot = "request", .text = p->run->request->text}};
    (void)worker;
    return put_ptr_question(p->run, &p->prompt, values, 2, &subject, &p->replies[index]);
}

/* Reads all answers in the order of the bundle. kept: the writable rows of the kept tools. An unusable answer protects
 * the tool. */
static int read_second_looks(const struct ptr_protection *p, uint32_t *kept, wt_error *err)
{
    struct ptr_trace *trace = p->run->trace;
    int rc = 0;
    for (size_t i = 0; i < p->count; i++) {
        wt_error unused;
        const struct chat_reply *reply = &p->replies[i];
        int failed = reply->put ? note_ptr_exchange(p->run, &p->prompt, reply, rc == 0 ? err : &unused) : 0;
        rc = rc < 0 ? rc : failed;
        if (!reply->put || failed < 0 || json_is_false(json_object_get(reply->got.json, "needed")))
            continue;
        trace->protected_count += add_ptr_tool(&trace->kept, kept, p->rows[i]);
    }
    return rc;
}

/* Asks about each tool of the bundle that is not kept. Adds those that are needed to the kept tools. */
static int protect_bundle(const struct ptr_run *run, uint32_t *kept, wt_error *err)
{
    const struct ptr_tools *bundle = &run->trace->bundle;
    struct ptr_protection p = {.run = run};
    p.rows = wt__arena_array(run->arena, uint32_t, bundle->count);
    p.texts = wt__arena_array(run->arena, struct str, bundle->count);
    p.replies = wt__arena_array(run->arena, struct chat_reply, bundle->count);
    WT_CHECK_ALLOC(p.rows && p.texts && p.replies, err);
    for (size_t i = 0; i < bundle->count; i++) {
        if (has_ptr_tool(&run->trace->kept, bundle->rows[i]))
            continue;
        WT_TRY(describe_ptr_tool(run, bundle->rows[i], &p.texts[p.count], err));
        p.rows[p.count++] = bundle->rows[i];
    }
    if (p.count == 0)
        return 0;
    WT_TRY(wt__prompt_open(&p.prompt, "ptr-protect", err));
    wt__pool_run(PTR_AT_ONCE, p.count, look_again, &p);
    int rc = read_second_looks(&p, kept, err);
    for (size_t i = 0; i < p.count; i++)
        wt__chat_reply_dispose(&p.replies[i]);
    wt__prompt_dispose(&p.prompt);
    return rc;
}

static int read_problems(const struct ptr_run *run, const json_t *list, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list) && count < run->requirements; i++) {
        const json_t *element = json_array_get(list, i);
        const struct str words = {json_string_value(element), json_string_length(element)};
        struct ptr_problem problem = {.solved = false};
        if (wt__plain_words(&problem.text, words, PTR_MAX_REQUIREMENT_BYTES, run->arena) < 0)
            return wt__fail_nomem(err);
        if (problem.text.len > 0)
            trace->problems[count++] = problem;
    }
    if (count == 0 && json_array_size(list) > 0)
        return reject_ptr_answer(run, "answer names no problem", err);
    trace->problem_count = count;
    return 0;
}

/* Replaces the problems by those that the model names. If its answer is unusable, the problems stay. */
static int ask_problems(const struct ptr_run *run, wt_error *err)
{
    const struct ptr_tools *kept = &run->trace->kept;
    const struct ptr_subject subject = {.step = PTR_PROBLEMS, .request = run->request, .listed = *kept};
    struct str *items = wt__arena_array(run->arena, struct str, kept->count);
    struct chat_reply reply = {0};
    struct prompt prompt;
    WT_CHECK_ALLOC(items, err);
    for (size_t i = 0; i < kept->count; i++)
        WT_TRY(describe_ptr_tool(run, kept->rows[i], &items[i], err));
    const struct prompt_value values[] = {{.slot = "tools", .items = items, .item_count = kept->count},
                                          {.slot = "request", .text = run->request->text}};
    WT_TRY(wt__prompt_open(&prompt, "ptr-problems", err));
    put_ptr_question(run, &prompt, values, 2, &subject, &reply);
    int rc = note_ptr_exchange(run, &prompt, &reply, err);
    const json_t *list = wt__json_array(reply.got.json, "problems");
    if (rc == 0 && list)
        rc = read_problems(run, list, err);
    wt__prompt_dispose(&prompt);
    wt__chat_reply_dispose(&reply);
    return rc;
}

/* ---------------------------------------------------------------- views */

/* PTR's third stage: multi-view re-ranking (Algorithm 1) for one unsolved problem.
 *
 *   DSA  direct semantic alignment     the K tools nearest to the problem's words
 *   HQC  historical query correlation  the tools of the K past requests nearest to these words
 *   CTE  contextual tool expansion     the K tools nearest to the first tool of DSA
 *
 * Each view gives one vote to each of its tools. The tool with the most votes wins. At a tie, the tool that comes first
 * in the order of the views and their lists wins. */

struct candidate_tool {
    uint32_t row;
    unsigned views; /* bitmap of the views that voted for the tool */
};

/* The tools of all views of a problem. */
struct ballot {
    struct candidate_tool *items; /* [len] in the order of their first occurrence */
    size_t len;
};

static size_t lesser_count(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Finds or adds the entry of `row`. Linear search is enough for a few hundred tools. */
static struct candidate_tool *find_candidate(struct ballot *ballot, uint32_t row)
{
    for (size_t i = 0; i < ballot->len; i++)
        if (ballot->items[i].row == row)
            return &ballot->items[i];
    ballot->items[ballot->len] = (struct candidate_tool){row, 0};
    return &ballot->items[ballot->len++];
}

static size_t count_ptr_tools(const struct ptr_tools *lists, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += lesser_count(lists[i].count, PTR_MOST_LISTED);
    return sum;
}

/* Counts the votes of one view. lists: [count] lists of the view's tools. *out: the tools of the view without
 * duplicates. */
static int count_view(struct ballot *ballot, enum ptr_view view, const struct ptr_tools *lists, size_t count,
                      struct arena *arena, struct ptr_tools *out, wt_error *err)
{
    uint32_t *rows = wt__arena_array(arena, uint32_t, count_ptr_tools(lists, count));
    WT_CHECK_ALLOC(rows, err);
    *out = (struct ptr_tools){rows, 0};
    for (size_t i = 0; i < count; i++) {
        size_t len = lesser_count(lists[i].count, PTR_MOST_LISTED);
        for (size_t j = 0; j < len; j++) {
            struct candidate_tool *candidate = find_candidate(ballot, lists[i].rows[j]);
            if (candidate->views & 1u << view)
                continue;
            candidate->views |= 1u << view;
            rows[out->count++] = candidate->row;
        }
    }
    return 0;
}

static void elect_tool(const struct ballot *ballot, struct ptr_problem *problem)
{
    for (size_t i = 0; i < ballot->len; i++) {
        unsigned votes = (unsigned)__builtin_popcount(ballot->items[i].views);
        if (votes > problem->votes) {
            problem->solved = true;
            problem->tool = ballot->items[i].row;
            problem->votes = votes;
        }
    }
}

/* The lists of the views. */
struct view_lists {
    struct ptr_tools dsa, cte;
    const struct ptr_tools *hqc; /* [hqc_count] tools of each past request */
    size_t hqc_count;
};

static int fetch_views(const struct ptr_run *run, struct str text, struct view_lists *lists, wt_error *err)
{
    const struct ptr_sources *sources = run->sources;
    WT_TRY(sources->tools(sources->self, text, run->k, run->arena, &lists->dsa, err));
    lists->dsa.count = lesser_count(lists->dsa.count, run->k);
    if (!(run->ablate & PTR_ABLATE_HQC)) {
        WT_TRY(sources->past(sources->self, text, run->k, run->arena, &lists->hqc, &lists->hqc_count, err));
        lists->hqc_count = lesser_count(lists->hqc_count, run->k);
    }
    if (!(run->ablate & PTR_ABLATE_CTE) && lists->dsa.count > 0) {
        WT_TRY(sources->similar(sources->self, lists->dsa.rows[0], run->k, run->arena, &lists->cte, err));
        lists->cte.count = lesser_count(lists->cte.count, run->k);
    }
    if (run->ablate & PTR_ABLATE_DSA)
        lists->dsa.count = 0;
    return 0;
}

static int rerank_by_views(const struct ptr_run *run, struct str text, struct ptr_problem *problem, wt_error *err)
{
    struct view_lists lists = {0};
    WT_TRY(fetch_views(run, text, &lists, err));
    size_t most = lists.dsa.count + lists.cte.count + count_ptr_tools(lists.hqc, lists.hqc_count);
    struct ballot ballot = {wt__arena_array(run->arena, struct candidate_tool, most), 0};
    WT_CHECK_ALLOC(ballot.items, err);
    WT_TRY(count_view(&ballot, PTR_DSA, &lists.dsa, 1, run->arena, &problem->views[PTR_DSA], err));
    WT_TRY(count_view(&ballot, PTR_HQC, lists.hqc, lists.hqc_count, run->arena, &problem->views[PTR_HQC], err));
    WT_TRY(count_view(&ballot, PTR_CTE, &lists.cte, 1, run->arena, &problem->views[PTR_CTE], err));
    elect_tool(&ballot, problem);
    return 0;
}

/* ---------------------------------------------------------------- stages */

/* Gets the bundle (section 2.1). */
static int acquire_bundle(const struct ptr_run *run, wt_error *err)
{
    struct ptr_tools found = {0};
    WT_TRY(run->sources->bundle(run->sources->self, run->request->text, run->arena, &found, err));
    uint32_t *rows = init_ptr_tools(run->arena, PTR_MOST_LISTED, &run->trace->bundle);
    WT_CHECK_ALLOC(rows, err);
    for (size_t i = 0; i < found.count && run->trace->bundle.count < PTR_MOST_LISTED; i++)
        add_ptr_tool(&run->trace->bundle, rows, found.rows[i]);
    return 0;
}

/* Derives the kept tools and the unsolved problems from the matches. */
static int assess_matches(const struct ptr_run *run, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    uint32_t *kept = init_ptr_tools(run->arena, trace->bundle.count, &trace->kept);
    trace->problems = wt__arena_array(run->arena, struct ptr_problem, run->requirements);
    WT_CHECK_ALLOC(kept && trace->problems, err);
    for (size_t i = 0; i < trace->requirement_count; i++) {
        const struct ptr_tools *tools = &trace->requirements[i].tools;
        for (size_t t = 0; t < tools->count; t++)
            add_ptr_tool(&trace->kept, kept, tools->rows[t]);
        if (tools->count == 0)
            trace->problems[trace->problem_count++].text = trace->requirements[i].text;
    }
    if (run->variant & PTR_PROTECT_BUNDLE)
        WT_TRY(protect_bundle(run, kept, err));
    trace->verdict = trace->problem_count > 0                  ? PTR_PARTIAL
                     : trace->kept.count < trace->bundle.count ? PTR_OVER
                                                               : PTR_EXACT;
    return trace->problem_count > 0 && run->variant & PTR_ASK_PROBLEMS ? ask_problems(run, err) : 0;
}

/* Finds a tool for each unsolved problem (section 2.3). */
static int solve_problems(const struct ptr_run *run, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    struct ptr_tools set;
    uint32_t *rows = init_ptr_tools(run->arena, trace->kept.count + trace->problem_count, &set);
    WT_CHECK_ALLOC(rows, err);
    for (size_t i = 0; i < trace->kept.count; i++)
        add_ptr_tool(&set, rows, trace->kept.rows[i]);
    for (size_t i = 0; i < trace->problem_count; i++) {
        struct ptr_problem *problem = &trace->problems[i];
        WT_TRY(rerank_by_views(run, problem->text, problem, err));
        if (problem->solved)
            problem->already = !add_ptr_tool(&set, rows, problem->tool);
    }
    trace->set = set;
    return 0;
}

static int check_ptr_options(const struct ptr_options *options, wt_error *err)
{
    if (options->k > PTR_MOST_K)
        return wt__fail(err, WT_EINVAL, "PTR: each view has at most %d tools, not %zu", PTR_MOST_K, options->k);
    if (options->requirements > PTR_MOST_REQUIREMENTS)
        return wt__fail(err, WT_EINVAL, "PTR: a request has at most %d requirements, not %zu", PTR_MOST_REQUIREMENTS,
                        options->requirements);
    if (options->ablate & ~(unsigned)PTR_ABLATE_ALL)
        return wt__fail(err, WT_EINVAL, "PTR: unknown stage or view to leave out (%#x)", options->ablate);
    if (options->variant & ~(unsigned)PTR_VARIANT_ALL)
        return wt__fail(err, WT_EINVAL, "PTR: unknown variant (%#x)", options->variant);
    return 0;
}

int wt__ptr_choose(const struct ptr_options *options, const struct ptr_sources *sources, struct chat_model *model,
                   const struct ptr_request *request, struct arena *arena, struct ptr_trace *out, wt_error *err)
{
    static const struct ptr_options defaults = {0};
    if (!options)
        options = &defaults;
    *out = (struct ptr_trace){0};
    WT_TRY(check_ptr_options(options, err));
    const struct ptr_run run = {
        .sources = sources,
        .model = model,
        .request = request,
        .k = options->k ? options->k : PTR_K,
        .requirements = options->requirements ? options->requirements : PTR_MOST_REQUIREMENTS,
        .ablate = options->ablate,
        .variant = options->variant,
        .arena = arena,
        .trace = out,
    };
    if (!(run.ablate & PTR_ABLATE_BUNDLE))
        WT_TRY(acquire_bundle(&run, err));
    WT_TRY(ask_requirements(&run, err)); /* section 2.2 */
    WT_TRY(ask_matches(&run, err));
    WT_TRY(assess_matches(&run, err));
    return solve_problems(&run, err);
}

const char *wt__ptr_verdict_name(enum ptr_verdict verdict)
{
    static const char *const names[] = {"exact", "over", "partial"};
    return names[verdict];
}

const char *wt__ptr_view_name(enum ptr_view view)
{
    static const char *const names[] = {"dsa", "hqc", "cte"};
    return names[view];
}

/* ---------------------------------------------------------------- oracle */

/* Seeds the random numbers of one decision, which is identified by the request, the step and the words. */
static void seed_oracle_decision(struct rng *rng, const struct oracle *oracle, const struct ptr_subject *subject,
                                 struct str words)
{
    struct str request = subject->request->text;
    uint64_t hash = wt__checksum(request.ptr, request.len, oracle->seed);
    wt__rng_seed(rng, wt__checksum(words.ptr, words.len, hash + (uint64_t)subject->step));
}

static bool oracle_errs(const struct oracle *oracle, struct rng *rng)
{
    return wt__rng_unit(rng) < oracle->error;
}

/* Writes the requirements or problems that the oracle answers, including errors, to list [2 * needed_count]. Returns
 * their number. */
static size_t name_requirements(const struct oracle *oracle, const struct ptr_subject *subject,
                                const struct ptr_label **list)
{
    const struct ptr_labels *labels = subject->request->labels;
    bool problems = subject->step == PTR_PROBLEMS;
    const struct ptr_subject naming = {.step = problems ? PTR_PROBLEMS : PTR_REQUIRE, .request = subject->request};
    size_t count = 0;
    for (size_t i = 0; i < labels->needed_count; i++) {
        struct rng rng;
        if (problems && has_ptr_tool(&subject->listed, labels->needed[i].tool))
            continue;
        seed_oracle_decision(&rng, oracle, &naming, labels->needed[i].need);
        bool wrong = oracle_errs(oracle, &rng);
        bool invents = labels->wrong_count > 0 && wt__rng_below(&rng, 2) == 1;
        if (!wrong || invents)
            list[count++] = &labels->needed[i];
        if (wrong && invents)
            list[count++] = &labels->wrong[wt__rng_below(&rng, labels->wrong_count)];
    }
    return count;
}

/* Returns the number of the tool in the list, from 1; 0 if it is not listed. */
static size_t requirement_number(struct ptr_tools listed, uint32_t tool)
{
    for (size_t i = 0; i < listed.count; i++)
        if (listed.rows[i] == tool)
            return i + 1;
    return 0;
}

/* Returns the number of the listed tool that the oracle matches with the label; 0 for none. */
static size_t match_oracle_label(const struct oracle *oracle, const struct ptr_subject *subject,
                                 const struct ptr_label *label)
{
    struct rng rng;
    seed_oracle_decision(&rng, oracle, subject, label->need);
    size_t right = requirement_number(subject->listed, label->tool);
    if (!oracle_errs(oracle, &rng) || subject->listed.count == 0)
        return right;
    size_t number = (size_t)wt__rng_below(&rng, subject->listed.count); /* uniform over all answers except `right` */
    return number + (number >= right);
}

static void write_protection(const struct oracle *oracle, const struct ptr_subject *subject, struct buffer *out)
{
    const struct ptr_labels *labels = subject->request->labels;
    uint32_t tool = subject->listed.rows[0];
    bool needed = false;
    struct rng rng;
    for (size_t i = 0; i < labels->needed_count; i++)
        needed |= labels->needed[i].tool == tool;
    seed_oracle_decision(&rng, oracle, subject, (struct str){(const char *)&tool, sizeof tool});
    wt__buffer_printf(out, "{\"needed\": %s}", needed != oracle_errs(oracle, &rng) ? "true" : "false");
}

static void write_ptr_answer(const struct oracle *oracle, const struct ptr_subject *subject,
                             const struct ptr_label **list, struct buffer *out)
{
    if (subject->step == PTR_PROTECT) {
        write_protection(oracle, subject, out);
        return;
    }
    size_t count = name_requirements(oracle, subject, list);
    if (subject->step != PTR_MATCH) {
        wt__buffer_text(out, subject->step == PTR_PROBLEMS ? "{\"problems\": [" : "{\"requirements\": [");
        for (size_t i = 0; i < count; i++) {
            wt__buffer_text(out, i ? ", " : "");
            wt__buffer_json(out, list[i]->need);
        }
        wt__buffer_text(out, "]}");
        return;
    }
    size_t number = subject->place < count ? match_oracle_label(oracle, subject, list[subject->place]) : 0;
    if (number > 0)
        wt__buffer_printf(out, "{\"tools\": [%zu]}", number);
    else
        wt__buffer_text(out, "{\"tools\": []}");
}

static int answer_ptr_question(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                               struct chat_answer *out, wt_error *err)
{
    const struct oracle *oracle = (const struct oracle *)model;
    const struct ptr_subject *subject = question->subject;
    if (!subject || !subject->request->labels)
        return wt__fail(err, WT_EINVAL, "%s: the request has no labels", model->name);
    const struct ptr_label **list =
        wt__arena_array(arena, const struct ptr_label *, 2 * subject->request->labels->needed_count);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (list)
        write_ptr_answer(oracle, subject, list, &text);
    out->text = (struct str){wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    if (!list || text.failed || !out->text.ptr)
        return wt__fail_nomem(err);
    return wt__json_parse(&out->json, out->text.ptr, out->text.len, err);
}

int wt__oracle_init(struct oracle *oracle, double error, uint64_t seed, wt_error *err)
{
    if (!(error >= 0 && error <= 1))
        return wt__fail(err, WT_EINVAL, "oracle: error rate must be 0 to 1, not %g", error);
    *oracle = (struct oracle){.model.ask = answer_ptr_question, .error = error, .seed = seed};
    snprintf(oracle->name, sizeof oracle->name, "oracle, %g %% error", 100 * error);
    oracle->model.name = oracle->name;
    return 0;
}
