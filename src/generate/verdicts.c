/* verdicts.c: wt_generate_verdicts: RecTools verdicts on an existing data set (PTR, table 3), on one split or on
 * some of its requests, drawn by seed. The data set is not changed; the answers go to a folder of their own, by
 * request id. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "catalog/dataset.h"
#include "engine/sized_options.h"
#include "generate/rectools.h"
#include "generate/report.h"
#include "generate/session.h"
#include "generate/text_lines.h"
#include "generate/verdict.h"
#include "llm/prompt.h"

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
            wt__prompt_tool(tool->title.len ? tool->title : tool->id, tool->text, VERDICT_LINE_BYTES, &run->arena);
        if (!lines[(*count)++].ptr)
            return wt__fail_nomem(err);
    }
    return 0;
}

static int add_verdict_case(struct verdicts_run *run, const struct query *query, wt_error *err)
{
    struct str lines[VERDICT_TOOLS_MAX];
    size_t count;
    int rc = read_query_tools(run, query, lines, &count, err);
    if (rc < 0 || count == 0)
        return rc;
    struct str *kept = wt__arena_array(&run->arena, struct str, count);
    if (!kept)
        return wt__fail_nomem(err);
    memcpy(kept, lines, count * sizeof *kept);
    run->ids[run->count] = query->id;
    run->cases[run->count++] = (struct verdict_case){.request = query->text, .tools = kept, .tool_count = count};
    return 0;
}

/* Reads the queries in random order, until there are enough. */
static int read_verdict_cases(struct verdicts_run *run, wt_error *err)
{
    const size_t len = run->data.len, most = run->options.limit && run->options.limit < len ? run->options.limit : len;
    uint32_t *order = wt__alloc_array(len + 1, sizeof *order);
    struct rng rng;
    run->cases = wt__arena_array(&run->arena, struct verdict_case, most + 1);
    run->ids = wt__arena_array(&run->arena, struct str, most + 1);
    int rc = order && run->cases && run->ids ? 0 : wt__fail_nomem(err);
    wt__rng_seed(&rng, run->options.seed);
    if (rc == 0)
        wt__rng_draw(&rng, order, len, len > 0 ? len - 1 : 0);
    for (size_t i = 0; rc == 0 && i < len && run->count < most; i++)
        rc = add_verdict_case(run, &run->data.queries[order[i]], err);
    free(order);
    if (rc == 0 && run->count == 0)
        rc = wt__fail(err, WT_EEMPTY, "%s has no request in the split %s with at most %d tools, all in its corpus",
                      run->options.data, run->options.split, VERDICT_TOOLS_MAX);
    return rc;
}

static void hash_text_line(struct sha256 *sha, struct str line)
{
    wt__sha256_update(sha, line.ptr, line.len);
    wt__sha256_update(sha, "\n", 1);
}

/* Writes the options on one line. It identifies the data by its texts, not by its path. */
static int write_verdicts_settings(struct verdicts_run *run, wt_error *err)
{
    struct sha256 sha;
    unsigned char digest[32];
    char hex[65];
    struct buffer *out = &run->session.settings;
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < run->count; i++) {
        hash_text_line(&sha, run->cases[i].request);
        for (size_t t = 0; t < run->cases[i].tool_count; t++)
            hash_text_line(&sha, run->cases[i].tools[t]);
    }
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, hex);
    wt__buffer_text(out, "{\"kind\":\"verdicts\",\"version\":1,\"data\":");
    wt__buffer_json(out, wt__str(run->data.name));
    wt__buffer_text(out, ",\"split\":");
    wt__buffer_json(out, wt__str(run->options.split));
    wt__buffer_printf(out, ",\"limit\":%zu,\"seed\":%" PRIu64 ",\"texts\":\"%s\",\"model\":", run->options.limit,
                      run->options.seed, hex);
    wt__buffer_json(out, wt__str(run->session.model->name));
    wt__buffer_char(out, '}');
    return out->failed ? wt__fail_nomem(err) : 0;
}

static int write_verdict_lines(struct verdicts_run *run, wt_error *err)
{
    struct buffer out = {0};
    for (size_t i = 0; i < run->count; i++) {
        const struct verdict_case *verdict = &run->cases[i];
        wt__buffer_text(&out, "{\"_id\": ");
        wt__buffer_json(&out, run->ids[i]);
        wt__buffer_printf(&out,
                          ", \"tools\": %zu, \"verdict\": \"%s\", \"removed\": %zu, \"one_removed\": \"%s\", "
                          "\"qualified\": %s}\n",
                          verdict->tool_count, wt__verdict_name(verdict->first), verdict->removed + 1,
                          wt__verdict_name(verdict->second), wt__verdict_qualifies(verdict) ? "true" : "false");
    }
    int rc = wt__folder_write(&run->session.folder, "verdicts.jsonl", &out, err);
    wt__buffer_dispose(&out);
    return rc;
}

static int write_verdicts_report(struct verdicts_run *run, bool complete, wt_error *err)
{
    struct buffer out = {0};
    wt__buffer_printf(&out, "{\"settings\":%s,\"complete\":%s,\"model\":", run->session.settings.ptr,
                      complete ? "true" : "false");
    wt__buffer_json(&out, wt__str(run->session.model->name));
    wt__buffer_printf(&out, ",\"queries\":%zu,\"too_many_tools\":%zu,\"unknown_tools\":%zu,", run->data.len,
                      run->too_many, run->unknown);
    wt__stages_report(&run->session.asker, &out);
    wt__buffer_char(&out, ',');
    wt__verdicts_report(run->cases, run->count, &out);
    wt__buffer_char(&out, '}');
    return wt__session_report(&run->session, &out, err);
}

static int finish_verdicts(struct verdicts_run *run, wt_error *err)
{
    wt_generated *visible = &run->session.result->visible;
    struct buffer line = {0}, table = {0};
    size_t answered = 0;
    for (size_t i = 0; i < run->count; i++)
        answered += run->cases[i].first != VERDICT_NONE;
    int rc = write_verdict_lines(run, err);
    if (rc == 0)
        rc = write_verdicts_report(run, true, err);
    if (answered < run->count)
        wt__buffer_printf(&line, "%zu of %zu requests have no verdict: the answer was unusable", run->count - answered,
                          run->count);
    if (run->too_many + run->unknown > 0)
        wt__buffer_printf(
            &line, "%s%zu requests were left out with more than %d tools, and %zu with a tool missing from the corpus",
            line.len ? "; " : "", run->too_many, VERDICT_TOOLS_MAX, run->unknown);
    wt__verdicts_text(run->cases, run->count, run->session.model->name, &table);
    if (rc == 0)
        rc = wt__session_set_text(&run->session, &line, &visible->notice, err);
    if (rc == 0)
        rc = wt__session_set_text(&run->session, &table, &visible->summary, err);
    wt__buffer_dispose(&line);
    wt__buffer_dispose(&table);
    visible->tools = run->corpus.count;
    visible->rows = run->count;
    if (rc == 0 && answered == 0)
        rc = wt__fail(err, WT_EEMPTY,
                      "no verdict came from %" PRIu64 " questions to %s; see %s/report.json for the reasons",
                      run->session.asker.cost.questions, run->session.model->name, run->options.out);
    return rc;
}

static int run_verdicts(struct verdicts_run *run, wt_error *err)
{
    int rc = wt__dataset_read(&run->data, run->options.data, run->options.split, err);
    if (rc == 0)
        rc = wt__text_lines_read(&run->corpus, run->options.data, "corpus.jsonl", err);
    if (rc == 0)
        rc = read_verdict_cases(run, err);
    if (rc == 0)
        rc = write_verdicts_settings(run, err);
    if (rc == 0)
        rc = wt__session_open(&run->session, run->options.out, 0, run->options.seed, err);
    if (rc < 0)
        return rc;
    rc = wt__verdicts_ask(&run->session.asker, run->cases, run->count, err);
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
    int rc = wt__options_read(&run.options, sizeof run.options, given, err);
    if (rc == 0)
        rc = check_verdicts_options(&run.options, err);
    if (rc < 0)
        return rc;
    rc = wt__session_begin(&run.session, engine, model, run.options.progress, run.options.progress_context, err);
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
