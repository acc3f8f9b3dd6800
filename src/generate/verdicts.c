/* verdicts.c: asks a language model for verdicts on requests (requests.h), for wt_generate_rectools and
 * wt_generate_verdicts.
 *
 * wt_generate_verdicts judges one split of an existing data set, or some of its requests, drawn by seed. It does not
 * change the data set. It writes the verdicts to a folder of their own, by request id. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "catalog/dataset.h"
#include "engine/sized_options.h"
#include "generate/internal.h"
#include "generate/requests.h"
#include "llm/prompt.h"

static const uint64_t REMOVED_SALT = 0x9e3779b97f4a7c15u;

/* Results of PTR: table 3, and the figures in its text for sets of two and three tools. GPT-4o wrote and judged the
 * requests. */
static const char paper[] =
    "{\"from\":\"PTR, table 3\",\"exact_solving_test\":{\"ToolLens\":0.0634,\"MetaTool\":0.551,\"RecTools\":0.613},"
    "\"rectools_of_two_tools\":0.76,\"rectools_of_three_tools\":0.89,\"model\":\"GPT-4o; GPT-4 in appendix C.2\"}";

struct verdict_questions {
    struct verdict_case *cases;
    bool second; /* true for the questions with one tool removed */
};

const char *wt__verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICTS] = {"none", "exact", "over", "partial"};
    return names[verdict];
}

static int fill_verdict(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                        wt_error *err)
{
    const struct verdict_questions *verdicts = context;
    const struct verdict_case *verdict = &verdicts->cases[item];
    struct str *tools = wt__arena_array(arena, struct str, verdict->tool_count + 1);
    size_t shown = 0;
    WT_CHECK_ALLOC(tools, err);
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

int wt__verdicts_ask(struct stage_runner *runner, struct verdict_case *cases, size_t count, wt_error *err)
{
    const double temperature = runner->temperature;
    int rc = 0;
    for (size_t i = 0; i < count; i++) {
        struct rng rng;
        wt__rng_seed(&rng, runner->seed ^ (i + 1) * REMOVED_SALT);
        cases[i].removed = (size_t)wt__rng_below(&rng, cases[i].tool_count);
        cases[i].first = cases[i].second = VERDICT_NONE;
    }
    runner->temperature = 0;
    for (int second = 0; rc == 0 && second < 2; second++) {
        struct verdict_questions verdicts = {cases, second};
        const enum stage_id id = second ? STAGE_ONE_REMOVED : STAGE_VERDICTS;
        const char *phase = second ? "asking again without a tool" : "asking for verdicts";
        struct question_stage stage = {{id, phase, "generate-verdict", &verdicts, fill_verdict, accept_verdict, NULL},
                                       .count = count,
                                       .round = STAGE_ROUND};
        stage.attempts = 1; /* at temperature 0 a repeated question gets the same answer */
        runner->counts[stage.id].wanted += count;
        rc = wt__stage_run(runner, &stage, err);
    }
    runner->temperature = temperature;
    return rc;
}

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

struct verdicts_run {
    struct generate_session session;
    wt_verdicts_options options; /* defaults filled in */
    struct dataset data;
    struct text_lines corpus;
    struct arena arena;
    struct verdict_case *cases; /* [count] */
    struct str *ids;            /* [count] query id of each case */
    size_t count;
    size_t too_many, unknown; /* requests left out: with more than VERDICT_TOOLS_MAX tools, or with a tool missing
                               * from the corpus */
};

/* Reads the lines of a query's tools. *count is 0 if the query cannot be asked about. */
static int read_query_tools(struct verdicts_run *run, const struct query *query, struct str *lines, size_t *count,
                            wt_error *err)
{
    *count = 0;
    for (size_t i = 0; i < query->judgement_count; i++) {
        if (query->judgements[i].gain <= 0)
            continue;
        const uint32_t *place = wt__map_get(&run->corpus.places, query->judgements[i].tool);
        if (!place || *count == VERDICT_TOOLS_MAX) {
            run->unknown += !place;
            run->too_many += place != NULL;
            *count = 0;
            return 0;
        }
        const struct text_line *tool = &run->corpus.items[*place];
        lines[*count] =
            wt__prompt_tool(tool->title.len ? tool->title : tool->id, tool->text, STAGE_LINE_BYTES, &run->arena);
        if (!lines[(*count)++].ptr)
            return wt__fail_nomem(err);
    }
    return 0;
}

static int add_verdict_case(struct verdicts_run *run, const struct query *query, wt_error *err)
{
    struct str lines[VERDICT_TOOLS_MAX];
    size_t count;
    WT_TRY(read_query_tools(run, query, lines, &count, err));
    if (count == 0)
        return 0;
    struct str *kept = wt__arena_array(&run->arena, struct str, count);
    WT_CHECK_ALLOC(kept, err);
    memcpy(kept, lines, count * sizeof *kept);
    run->ids[run->count] = query->id;
    run->cases[run->count++] = (struct verdict_case){.request = query->text, .tools = kept, .tool_count = count};
    return 0;
}

/* Reads the queries in random order, until there are enough. */
static int read_verdict_cases(struct verdicts_run *run, wt_error *err)
{
    const size_t len = run->data.len, most = run->options.limit && run->options.limit < len ? run->options.limit : len;
    WT_AUTO_FREE uint32_t *order = wt__alloc_array(len + 1, sizeof *order);
    struct rng rng;
    run->cases = wt__arena_array(&run->arena, struct verdict_case, most + 1);
    run->ids = wt__arena_array(&run->arena, struct str, most + 1);
    WT_CHECK_ALLOC(order && run->cases && run->ids, err);
    wt__rng_seed(&rng, run->options.seed);
    wt__rng_draw(&rng, order, len, len > 0 ? len - 1 : 0);
    for (size_t i = 0; i < len && run->count < most; i++)
        WT_TRY(add_verdict_case(run, &run->data.queries[order[i]], err));
    if (run->count == 0)
        return wt__fail(err, WT_EEMPTY, "%s has no request in the split %s with at most %d tools, all in its corpus",
                        run->options.data, run->options.split, VERDICT_TOOLS_MAX);
    return 0;
}

/* Hashes the line with a line feed. */
static void hash_text_line(struct sha256 *sha, struct str line)
{
    wt__sha256_update(sha, line.ptr, line.len);
    wt__sha256_update(sha, "\n", 1);
}

/* Writes the options on one line. The line identifies the data by its texts, not by its path. */
static int write_verdicts_settings(struct verdicts_run *run, wt_error *err)
{
    struct sha256 sha;
    char hex[65];
    struct buffer *out = &run->session.settings;
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < run->count; i++) {
        hash_text_line(&sha, run->cases[i].request);
        for (size_t t = 0; t < run->cases[i].tool_count; t++)
            hash_text_line(&sha, run->cases[i].tools[t]);
    }
    wt__generate_end_digest(&sha, hex);
    wt__generate_write_json(out, "{\"kind\":\"verdicts\",\"version\":1,\"data\":", wt__str(run->data.name));
    wt__generate_write_json(out, ",\"split\":", wt__str(run->options.split));
    wt__buffer_printf(out, ",\"limit\":%zu,\"seed\":%" PRIu64 ",\"texts\":\"%s\",\"model\":", run->options.limit,
                      run->options.seed, hex);
    wt__buffer_json(out, wt__str(run->session.model->name));
    wt__buffer_char(out, '}');
    return out->failed ? wt__fail_nomem(err) : 0;
}

static int write_verdict_lines(struct verdicts_run *run, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    for (size_t i = 0; i < run->count; i++) {
        const struct verdict_case *verdict = &run->cases[i];
        wt__generate_write_json(&out, "{\"_id\": ", run->ids[i]);
        wt__buffer_printf(&out,
                          ", \"tools\": %zu, \"verdict\": \"%s\", \"removed\": %zu, \"one_removed\": \"%s\", "
                          "\"qualified\": %s}\n",
                          verdict->tool_count, wt__verdict_name(verdict->first), verdict->removed + 1,
                          wt__verdict_name(verdict->second), wt__verdict_qualifies(verdict) ? "true" : "false");
    }
    return wt__folder_write(&run->session.folder, "verdicts.jsonl", &out, err);
}

static int write_verdicts_report(struct verdicts_run *run, bool complete, wt_error *err)
{
    struct buffer out = {0};
    wt__session_begin_report(&run->session, complete, &out);
    wt__buffer_printf(&out, ",\"queries\":%zu,\"too_many_tools\":%zu,\"unknown_tools\":%zu,", run->data.len,
                      run->too_many, run->unknown);
    wt__stages_report(&run->session.runner, &out);
    wt__buffer_char(&out, ',');
    wt__verdicts_report(run->cases, run->count, &out);
    wt__buffer_char(&out, '}');
    return wt__session_report(&run->session, &out, err);
}

static int finish_verdicts(struct verdicts_run *run, wt_error *err)
{
    wt_generated *visible = &run->session.result->visible;
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0}, table = {0};
    size_t answered = 0;
    for (size_t i = 0; i < run->count; i++)
        answered += run->cases[i].first != VERDICT_NONE;
    WT_TRY(write_verdict_lines(run, err));
    WT_TRY(write_verdicts_report(run, true, err));
    if (answered < run->count)
        wt__buffer_printf(&line, "%zu of %zu requests have no verdict: the answer was unusable", run->count - answered,
                          run->count);
    if (run->too_many + run->unknown > 0)
        wt__buffer_printf(
            &line, "%s%zu requests were left out with more than %d tools, and %zu with a tool missing from the corpus",
            line.len ? "; " : "", run->too_many, VERDICT_TOOLS_MAX, run->unknown);
    wt__verdicts_text(run->cases, run->count, run->session.model->name, &table);
    WT_TRY(wt__session_set_text(&run->session, &line, &visible->notice, err));
    WT_TRY(wt__session_set_text(&run->session, &table, &visible->summary, err));
    visible->tools = run->corpus.count;
    visible->rows = run->count;
    if (answered == 0)
        return wt__fail(err, WT_EEMPTY,
                        "no verdict came from %" PRIu64 " questions to %s; see %s/report.json for the reasons",
                        run->session.runner.cost.questions, run->session.model->name, run->options.out);
    return 0;
}

static int run_verdicts(struct verdicts_run *run, wt_error *err)
{
    WT_TRY(wt__dataset_read(&run->data, run->options.data, run->options.split, err));
    WT_TRY(wt__text_lines_read(&run->corpus, run->options.data, "corpus.jsonl", err));
    WT_TRY(read_verdict_cases(run, err));
    WT_TRY(write_verdicts_settings(run, err));
    WT_TRY(wt__session_open(&run->session, run->options.out, 0, run->options.seed, err));
    int rc = wt__verdicts_ask(&run->session.runner, run->cases, run->count, err);
    if (rc == 0)
        return finish_verdicts(run, err);
    wt_error unused;
    write_verdicts_report(run, false, &unused); /* record the progress so far */
    return rc;
}

static int check_verdicts_options(wt_verdicts_options *o, wt_error *err)
{
    if (!o->data || !o->data[0])
        return wt__fail(err, WT_EINVAL, "name the folder of a data set");
    if (!o->out || !o->out[0])
        return wt__fail(err, WT_EINVAL, "name a folder for the verdicts");
    if (o->limit > WT_MAX_GENERATED_REQUESTS)
        return wt__fail(err, WT_EINVAL, "the number of requests must be at most %d, not %zu", WT_MAX_GENERATED_REQUESTS,
                        o->limit);
    o->split = o->split ? o->split : "test";
    o->seed = o->seed ? o->seed : 1;
    return 0;
}

int wt__generate_verdicts(wt_engine *engine, struct chat_model *model, const wt_verdicts_options *given,
                          wt_generated **out, wt_error *err)
{
    struct verdicts_run run = {0};
    *out = NULL;
    WT_TRY(wt__options_read(&run.options, sizeof run.options, given, err));
    WT_TRY(check_verdicts_options(&run.options, err));
    int rc = wt__session_begin(&run.session, engine, model, run.options.progress, run.options.progress_context, err);
    if (rc == 0)
        rc = run_verdicts(&run, err);
    rc = wt__session_end(&run.session, rc, out);
    wt__dataset_dispose(&run.data);
    wt__text_lines_dispose(&run.corpus);
    wt__arena_dispose(&run.arena);
    return rc;
}

int wt_generate_verdicts(wt_engine *engine, const wt_verdicts_options *options, wt_generated **out, wt_error *err)
{
    return wt__generate_verdicts(engine, NULL, options, out, err);
}
