/* ptr.c: see ptr.h. Runs the stages in order. The questions are in ptr_ask.c, the third stage in ptr_views.c. */
#include "choose/ptr.h"

#include "choose/ptr_inside.h"

/* Gets the bundle (section 2.1). */
static int acquire_bundle(const struct ptr_run *run, wt_error *err)
{
    struct ptr_tools found = {0};
    int rc = run->sources->bundle(run->sources->self, run->request->text, run->arena, &found, err);
    if (rc < 0)
        return rc;
    uint32_t *rows = wt__ptr_empty_tools(run->arena, PTR_MOST_LISTED, &run->trace->bundle);
    if (!rows)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < found.count && run->trace->bundle.count < PTR_MOST_LISTED; i++)
        wt__ptr_add_tool(&run->trace->bundle, rows, found.rows[i]);
    return 0;
}

static enum ptr_verdict verdict_of(const struct ptr_trace *trace)
{
    if (trace->problem_count > 0)
        return PTR_PARTIAL;
    return trace->kept.count < trace->bundle.count ? PTR_OVER : PTR_EXACT;
}

/* Derives the kept tools and the unmet requirements from the matches. */
static int assess_matches(const struct ptr_run *run, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    uint32_t *kept = wt__ptr_empty_tools(run->arena, trace->bundle.count, &trace->kept);
    trace->problems = wt__arena_array(run->arena, struct ptr_problem, trace->requirement_count);
    if (!kept || !trace->problems)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < trace->requirement_count; i++) {
        const struct ptr_tools *tools = &trace->requirements[i].tools;
        for (size_t t = 0; t < tools->count; t++)
            wt__ptr_add_tool(&trace->kept, kept, tools->rows[t]);
        if (tools->count == 0)
            trace->problems[trace->problem_count++].requirement = i;
    }
    trace->verdict = verdict_of(trace);
    return 0;
}

/* Matches requirements and bundle (section 2.2). */
static int map_coverage(const struct ptr_run *run, wt_error *err)
{
    int rc = wt__ptr_ask_requirements(run, err);
    if (rc == 0)
        rc = wt__ptr_ask_matches(run, err);
    return rc < 0 ? rc : assess_matches(run, err);
}

/* Finds a tool for each unsolved problem (section 2.3). */
static int solve_problems(const struct ptr_run *run, wt_error *err)
{
    struct ptr_trace *trace = run->trace;
    struct ptr_tools set;
    uint32_t *rows = wt__ptr_empty_tools(run->arena, trace->kept.count + trace->problem_count, &set);
    if (!rows)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < trace->kept.count; i++)
        wt__ptr_add_tool(&set, rows, trace->kept.rows[i]);
    for (size_t i = 0; i < trace->problem_count; i++) {
        struct ptr_problem *problem = &trace->problems[i];
        int rc = wt__ptr_rerank(run, trace->requirements[problem->requirement].text, problem, err);
        if (rc < 0)
            return rc;
        if (problem->solved)
            problem->already = !wt__ptr_add_tool(&set, rows, problem->tool);
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
    return 0;
}

int wt__ptr_choose(const struct ptr_options *options, const struct ptr_sources *sources, struct chat_model *model,
                   const struct ptr_request *request, struct arena *arena, struct ptr_trace *out, wt_error *err)
{
    static const struct ptr_options defaults = {0};
    if (!options)
        options = &defaults;
    *out = (struct ptr_trace){0};
    int rc = check_ptr_options(options, err);
    if (rc < 0)
        return rc;

    const struct ptr_run run = {
        .sources = sources,
        .model = model,
        .request = request,
        .k = options->k ? options->k : PTR_K,
        .requirements = options->requirements ? options->requirements : PTR_MOST_REQUIREMENTS,
        .ablate = options->ablate,
        .arena = arena,
        .trace = out,
    };
    if (!(run.ablate & PTR_ABLATE_BUNDLE))
        rc = acquire_bundle(&run, err);
    if (rc == 0)
        rc = map_coverage(&run, err);
    if (rc == 0)
        rc = solve_problems(&run, err);
    return rc;
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
