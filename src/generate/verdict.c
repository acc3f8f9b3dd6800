#include "generate/verdict.h"

#include "base/rng.h"

static const uint64_t REMOVED_SALT = 0x9e3779b97f4a7c15u;

/* Table 3, and the text's figures for sets of two and three tools; GPT-4o wrote and judged the requests. */
static const char paper[] =
    "{\"from\":\"PTR, table 3\",\"exact_solving_test\":{\"ToolLens\":0.0634,\"MetaTool\":0.551,\"RecTools\":0.613},"
    "\"rectools_of_two_tools\":0.76,\"rectools_of_three_tools\":0.89,\"model\":\"GPT-4o; GPT-4 in appendix C.2\"}";

struct verdict_questions {
    struct verdict_case *cases;
    bool second;
};

const char *wt__verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICTS] = {"none", "exact", "over", "partial"};
    return names[verdict];
}

/* ---------------------------------------------------------------- questions */

static int fill_verdict(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                        wt_error *err)
{
    const struct verdict_questions *verdicts = context;
    const struct verdict_case *verdict = &verdicts->cases[item];
    struct str *tools = wt__arena_array(arena, struct str, verdict->tool_count + 1);
    size_t shown = 0;
    if (!tools)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < verdict->tool_count; i++)
        if (!verdicts->second || i != verdict->removed)
            tools[shown++] = verdict->tools[i];
    if (shown == 0) /* the only tool was removed */
        tools[shown++] = STR("(no tool)");
    values[(*count)++] = (struct prompt_value){.slot = "request", .text = verdict->request};
    values[(*count)++] = (struct prompt_value){.slot = "tools", .items = tools, .item_count = shown};
    return 0;
}

static int accept_verdict(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                          wt_error *err)
{
    const struct verdict_questions *verdicts = context;
    struct verdict_case *verdict = &verdicts->cases[item];
    const struct str said = wt__json_str(answer, "verdict");
    enum verdict *out = verdicts->second ? &verdict->second : &verdict->first;
    (void)err;
    for (enum verdict v = VERDICT_EXACT; v < VERDICTS; v++)
        if (wt__str_equal(said, wt__str(wt__verdict_name(v))))
            *out = v;
    wt__stage_note(count, *out == VERDICT_NONE ? PIECE_NO_WORD : PIECE_TAKEN);
    *done = true;
    return 0;
}

int wt__verdicts_ask(struct stage_runner *asker, struct verdict_case *cases, size_t count, wt_error *err)
{
    struct verdict_questions verdicts = {.cases = cases};
    const double temperature = asker->temperature;
    int rc = 0;
    for (size_t i = 0; i < count; i++) {
        struct rng rng;
        wt__rng_seed(&rng, asker->seed ^ (i + 1) * REMOVED_SALT);
        cases[i].removed = (size_t)wt__rng_below(&rng, cases[i].tool_count);
        cases[i].first = cases[i].second = VERDICT_NONE;
    }
    asker->temperature = 0;
    for (int second = 0; rc == 0 && second < 2; second++) {
        const struct question_stage stage = {
            .id = second ? STAGE_ONE_REMOVED : STAGE_VERDICTS,
            .phase = second ? "asking again without a tool" : "asking for verdicts",
            .prompt = "generate-verdict",
            .count = count,
            .round = STAGE_ROUND,
            .attempts = 1, /* at temperature 0 a repeated question gets the same answer */
            .context = &verdicts,
            .fill = fill_verdict,
            .accept = accept_verdict,
        };
        verdicts.second = second;
        asker->counts[stage.id].wanted += count;
        rc = wt__stage_run(asker, &stage, err);
    }
    asker->temperature = temperature;
    return rc;
}

/* ---------------------------------------------------------------- results */

struct verdict_tally {
    size_t requests, qualified, first[VERDICTS], second[VERDICTS];
};

static void count_verdict(struct verdict_tally *tally, const struct verdict_case *verdict)
{
    tally->requests++;
    tally->qualified += wt__verdict_qualifies(verdict);
    tally->first[verdict->first]++;
    tally->second[verdict->second]++;
}

/* Counts verdicts: tallies[0] over all cases, tallies[n] over those with n tools. */
static void count_verdicts(const struct verdict_case *cases, size_t count,
                           struct verdict_tally tallies[VERDICT_TOOLS_MAX + 1])
{
    memset(tallies, 0, (VERDICT_TOOLS_MAX + 1) * sizeof *tallies);
    for (size_t i = 0; i < count; i++) {
        count_verdict(&tallies[0], &cases[i]);
        count_verdict(&tallies[cases[i].tool_count], &cases[i]);
    }
}

static double get_tally_share(const struct verdict_tally *tally, size_t part)
{
    return (double)part / (double)(tally->requests ? tally->requests : 1);
}

static void write_verdict_tally(const struct verdict_tally *tally, struct buffer *out)
{
    wt__buffer_printf(out, "\"requests\":%zu", tally->requests);
    for (int second = 0; second < 2; second++) {
        const size_t *counts = second ? tally->second : tally->first;
        wt__buffer_printf(out, ",\"%s\":{", second ? "one_removed" : "first");
        for (enum verdict v = 0; v < VERDICTS; v++)
            wt__buffer_printf(out, "%s\"%s\":%zu", v ? "," : "", wt__verdict_name(v), counts[v]);
        wt__buffer_char(out, '}');
    }
    wt__buffer_printf(out, ",\"qualified\":%zu,\"exact_share\":%.4f,\"qualified_share\":%.4f", tally->qualified,
                      get_tally_share(tally, tally->first[VERDICT_EXACT]), get_tally_share(tally, tally->qualified));
}

void wt__verdicts_report(const struct verdict_case *cases, size_t count, struct buffer *out)
{
    struct verdict_tally tallies[VERDICT_TOOLS_MAX + 1];
    const char *comma = "";
    count_verdicts(cases, count, tallies);
    wt__buffer_text(out, "\"verdicts\":{");
    write_verdict_tally(&tallies[0], out);
    wt__buffer_text(out, ",\"by_tools\":{");
    for (size_t n = 1; n <= VERDICT_TOOLS_MAX; n++) {
        if (tallies[n].requests == 0)
            continue;
        wt__buffer_printf(out, "%s\"%zu\":{", comma, n);
        write_verdict_tally(&tallies[n], out);
        wt__buffer_char(out, '}');
        comma = ",";
    }
    wt__buffer_printf(out, "}},\"paper\":%s", paper);
}

static void write_verdict_row(const struct verdict_tally *tally, const char *name, struct buffer *out)
{
    wt__buffer_printf(out, "\n%-8s %8zu %7.1f %% %7.1f %% %7.1f %% %7zu %10.1f %%", name, tally->requests,
                      100 * get_tally_share(tally, tally->first[VERDICT_EXACT]),
                      100 * get_tally_share(tally, tally->first[VERDICT_OVER]),
                      100 * get_tally_share(tally, tally->first[VERDICT_PARTIAL]), tally->first[VERDICT_NONE],
                      100 * get_tally_share(tally, tally->qualified));
}

void wt__verdicts_text(const struct verdict_case *cases, size_t count, const char *model, struct buffer *out)
{
    struct verdict_tally tallies[VERDICT_TOOLS_MAX + 1];
    char name[16];
    count_verdicts(cases, count, tallies);
    wt__buffer_printf(out, "Verdicts of %s:\n%-8s %8s %9s %9s %9s %7s %12s", model, "tools", "requests", "exact",
                      "over", "partial", "none", "qualified");
    for (size_t n = 1; n <= VERDICT_TOOLS_MAX; n++) {
        snprintf(name, sizeof name, "%zu", n);
        if (tallies[n].requests > 0)
            write_verdict_row(&tallies[n], name, out);
    }
    write_verdict_row(&tallies[0], "all", out);
    wt__buffer_text(out, "\nPTR's table 3, by GPT-4o: ToolLens 6.3 %, MetaTool 55.1 %, RecTools 61.3 %");
}
