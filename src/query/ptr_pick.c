/* ptr_pick.c: the selectors "ptr" and "bundle". "ptr" runs PTR (choose/ptr.h). "bundle" returns the bundle of past
 * requests nearest to the request. This file also writes the trace of PTR as JSON, with questions and answers
 * verbatim. */
#include "engine/experiment.h"
#include "query/ptr_sources.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/names.h"
#include "query/chat_trace.h"
#include "query/search.h"
#include "query/selector.h"

/* ---------------------------------------------------------------- trace */

struct trace_writer {
    struct ptr_engine_sources *engine_sources;
    struct arena *arena;
    struct buffer json;
    wt_error *err;
    int rc; /* first error; 0 if none */
};

static void trace_writer_dispose(struct trace_writer *w)
{
    wt__buffer_dispose(&w->json);
}

static void write_trace_key(struct trace_writer *w, const char *name)
{
    wt__buffer_printf(&w->json, "%s\"%s\":", w->json.ptr && w->json.ptr[w->json.len - 1] != '{' ? "," : "", name);
}

static void write_trace_tool(struct trace_writer *w, uint32_t row)
{
    const struct search *home = &w->engine_sources->home;
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    struct tool tool;
    if (w->rc == 0)
        w->rc = wt__index_tools(home->engine, home->index, &home->index->snapshot->keys[row].id, 1, w->arena, &tool,
                                w->err);
    if (w->rc < 0)
        return;
    wt__tool_id(&id, tool.provider, tool.name);
    w->json.failed |= id.failed;
    wt__buffer_json(&w->json, wt__buffer_view(&id));
}

static void write_trace_tools(struct trace_writer *w, const char *name, struct ptr_tools tools)
{
    write_trace_key(w, name);
    wt__buffer_char(&w->json, '[');
    for (size_t i = 0; i < tools.count; i++) {
        wt__buffer_text(&w->json, i ? "," : "");
        write_trace_tool(w, tools.rows[i]);
    }
    wt__buffer_char(&w->json, ']');
}

static void write_trace_text(struct trace_writer *w, const char *name, struct str text)
{
    write_trace_key(w, name);
    wt__buffer_json(&w->json, text);
}

static void write_trace_requirements(struct trace_writer *w, const struct ptr_trace *trace)
{
    write_trace_key(w, "requirements");
    wt__buffer_char(&w->json, '[');
    for (size_t i = 0; i < trace->requirement_count; i++) {
        const struct ptr_requirement *r = &trace->requirements[i];
        wt__buffer_text(&w->json, i ? ",{" : "{");
        write_trace_text(w, "text", r->text);
        write_trace_key(w, "asked");
        wt__buffer_text(&w->json, r->asked ? "true" : "false");
        write_trace_tools(w, "tools", r->tools);
        wt__buffer_char(&w->json, '}');
    }
    wt__buffer_char(&w->json, ']');
}

static void write_trace_problems(struct trace_writer *w, const struct ptr_trace *trace)
{
    write_trace_key(w, "problems");
    wt__buffer_char(&w->json, '[');
    for (size_t i = 0; i < trace->problem_count; i++) {
        const struct ptr_problem *p = &trace->problems[i];
        wt__buffer_text(&w->json, i ? ",{" : "{");
        write_trace_text(w, "text", p->text);
        for (enum ptr_view view = 0; view < PTR_VIEWS; view++)
            write_trace_tools(w, wt__ptr_view_name(view), p->views[view]);
        write_trace_key(w, "tool");
        if (p->solved)
            write_trace_tool(w, p->tool);
        else
            wt__buffer_text(&w->json, "null");
        write_trace_key(w, "votes");
        wt__buffer_printf(&w->json, "%u", p->votes);
        write_trace_key(w, "already");
        wt__buffer_text(&w->json, p->already ? "true}" : "false}");
    }
    wt__buffer_char(&w->json, ']');
}

/* Writes the trace as JSON text in the arena. */
static int write_ptr_trace(struct ptr_engine_sources *engine_sources, const struct ptr_trace *trace,
                           struct arena *arena, const char **out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena reading = {0};
    WT_CLEANUP(trace_writer_dispose)
    struct trace_writer w = {.engine_sources = engine_sources, .arena = &reading, .err = err};
    *out = NULL;
    wt__buffer_char(&w.json, '{');
    write_trace_tools(&w, "bundle", trace->bundle);
    write_trace_requirements(&w, trace);
    write_trace_key(&w, "ignored");
    wt__buffer_printf(&w.json, "%zu", trace->ignored);
    write_trace_text(&w, "verdict", wt__str(wt__ptr_verdict_name(trace->verdict)));
    write_trace_tools(&w, "kept", trace->kept);
    write_trace_key(&w, "protected");
    wt__buffer_printf(&w.json, "%zu", trace->protected_count);
    write_trace_problems(&w, trace);
    write_trace_tools(&w, "set", trace->set);
    write_trace_key(&w, "exchanges");
    wt__write_exchanges(&w.json, trace->exchanges, trace->exchange_count);
    write_trace_key(&w, "cost");
    wt__write_chat_cost(&w.json, &trace->cost);
    wt__buffer_char(&w.json, '}');
    WT_TRY(w.rc);
    *out = w.json.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&w.json));
    return *out ? 0 : wt__fail_nomem(err);
}

enum { WRONG_LABELS = 5 /* maximum near but wrong tools given to an oracle */ };

struct ptr_pick {
    struct ptr_engine_sources engine_sources;
    struct ptr_sources sources;
    struct ptr_options options;
    struct ptr_trace trace;
    struct selection *selection;
    const struct pick_evaluation *oracle; /* evaluation with an oracle; NULL without an oracle or for "bundle" */
};

/* ---------------------------------------------------------------- options */

/* Returns the bit of a part that can be left out, or 0 if the name is unknown. */
static unsigned find_ablation_bit(struct str name)
{
    if (wt__str_equal(name, STR("bundle")))
        return PTR_ABLATE_BUNDLE;
    for (enum ptr_view view = 0; view < PTR_VIEWS; view++)
        if (wt__str_equal(name, wt__str(wt__ptr_view_name(view))))
            return 1u << view;
    return 0;
}

/* Returns the bit of a variant, or 0 if the name is unknown. */
static unsigned find_variant_bit(struct str name)
{
    return wt__str_equal(name, STR("problems"))   ? PTR_ASK_PROBLEMS
           : wt__str_equal(name, STR("protect"))  ? PTR_PROTECT_BUNDLE
           : wt__str_equal(name, STR("examples")) ? PTR_EXAMPLES
                                                  : 0;
}

/* Adds the bits of the names in a comma-separated list to *out. what, known: start and end of the message for an
 * unknown name. */
static int read_ptr_names(const char *list, unsigned (*find_bit)(struct str name), const char *what, const char *known,
                          unsigned *out, wt_error *err)
{
    for (const char *at = list; at && *at;) {
        size_t len = strcspn(at, ",");
        unsigned bit = find_bit(wt__str_trim((struct str){at, len}));
        if (bit == 0)
            return wt__fail(err, WT_EINVAL, "%s \"%.*s\"; use %s", what, (int)(len < 80 ? len : 80), at, known);
        *out |= bit;
        at += len + (at[len] == ',');
    }
    return 0;
}

int wt__ptr_ablations(const char *list, unsigned *out, wt_error *err)
{
    return read_ptr_names(list, find_ablation_bit, "cannot ablate", "bundle, dsa, hqc or cte", out, err);
}

int wt__ptr_variants(const char *list, unsigned *out, wt_error *err)
{
    return read_ptr_names(list, find_variant_bit, "unknown variant of ptr", "problems, protect or examples", out, err);
}

static int read_ptr_options(struct ptr_pick *p, bool bundle, wt_error *err)
{
    const wt_pick_options *given = p->selection->options;
    if (given->complete > 0 || given->abstain > 0)
        return wt__fail(err, WT_EINVAL, "the recipe %s does not support complete and abstain; use the recipe set",
                        given->recipe);
    if (bundle && (given->experiment || given->k))
        return wt__fail(err, WT_EINVAL, "the recipe bundle does not support k and experiment; use the recipe ptr");
    if (given->k > PTR_MOST_K)
        return wt__fail(err, WT_EINVAL, "k must be at most %d for the recipe ptr, not %zu", PTR_MOST_K, given->k);
    p->options.k = given->k;
    const char *without, *variant;
    const struct experiment_setting settings[] = {{"without", &without}, {"variant", &variant}};
    WT_TRY(wt__experiment_read(given->experiment, settings, 2, p->selection->arena, err));
    WT_TRY(wt__ptr_variants(variant, &p->options.variant, err));
    return wt__ptr_ablations(without, &p->options.ablate, err);
}

/* ---------------------------------------------------------------- labels for an oracle */

static bool is_needed_row(const struct ptr_labels *labels, uint32_t row)
{
    for (size_t i = 0; i < labels->needed_count; i++)
        if (labels->needed[i].tool == row)
            return true;
    return false;
}

/* Makes a label from the tool's description, or its name if it has no description. */
static int label_ptr_row(struct ptr_pick *p, uint32_t row, struct ptr_label *out, wt_error *err)
{
    struct ptr_text text;
    WT_TRY(p->sources.describe(&p->engine_sources, row, p->selection->arena, &text, err));
    *out = (struct ptr_label){row, wt__str_trim(text.description).len > 0 ? text.description : text.name};
    return 0;
}

/* Labels the needed tools, and the tools nearest to the request that are not needed. */
static int label_request(struct ptr_pick *p, struct ptr_labels *labels, wt_error *err)
{
    const struct snapshot *snapshot = p->engine_sources.home.index->snapshot;
    struct ptr_label *needed = wt__arena_array(p->selection->arena, struct ptr_label, p->oracle->gold_count),
                     *wrong = wt__arena_array(p->selection->arena, struct ptr_label, WRONG_LABELS);
    struct ptr_tools near;
    *labels = (struct ptr_labels){.needed = needed, .wrong = wrong};
    WT_CHECK_ALLOC(needed && wrong, err);
    for (size_t i = 0; i < p->oracle->gold_count; i++) {
        size_t row = wt__snapshot_row(snapshot, p->oracle->gold[i]);
        if (row < snapshot->rows && !is_needed_row(labels, (uint32_t)row))
            WT_TRY(label_ptr_row(p, (uint32_t)row, &needed[labels->needed_count++], err));
    }
    WT_TRY(p->sources.tools(&p->engine_sources, p->engine_sources.home.request, WRONG_LABELS + labels->needed_count,
                            p->selection->arena, &near, err));
    for (size_t i = 0; i < near.count && labels->wrong_count < WRONG_LABELS; i++)
        if (!is_needed_row(labels, near.rows[i]))
            WT_TRY(label_ptr_row(p, near.rows[i], &wrong[labels->wrong_count++], err));
    return 0;
}

/* ---------------------------------------------------------------- the set */

static int choose_by_model(struct ptr_pick *p, wt_error *err)
{
    struct ptr_labels labels;
    struct progress *progress = p->engine_sources.home.progress;
    struct ptr_request request = {.text = p->engine_sources.home.request, .progress = progress};
    struct chat_model *model = p->oracle ? p->oracle->oracle : NULL;
    int rc = 0;
    if (model) {
        request.labels = &labels;
        rc = label_request(p, &labels, err);
    } else {
        rc = wt__engine_chat(p->engine_sources.home.engine, &model, err);
    }
    if (rc == 0 && wt__progress_phase(progress, "asking", 0))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        rc = wt__ptr_choose(&p->options, &p->sources, model, &request, p->selection->arena, &p->trace, err);
    p->selection->out->questions = p->trace.cost.questions;
    p->selection->out->prompt_tokens = p->trace.cost.prompt_tokens;
    p->selection->out->completion_tokens = p->trace.cost.completion_tokens;
    p->selection->out->model_ms = p->trace.cost.ms;
    return rc;
}

static int use_nearest_bundle(struct ptr_pick *p, wt_error *err)
{
    const struct trained *trained;
    wt_error why;
    if (p->engine_sources.past.count == 0)
        return wt__fail(err, WT_ERECIPE, "%s",
                        wt__engine_trained(p->engine_sources.home.engine, &trained, &why) < 0
                            ? why.message
                            : "the recipe bundle needs training; run `whichtool train neighbours`");
    int rc = p->sources.bundle(&p->engine_sources, p->engine_sources.home.request, p->selection->arena,
                               &p->trace.bundle, err);
    p->trace.kept = p->trace.set = p->trace.bundle;
    return rc;
}

/* Returns 1 for a tool of the bundle, else the share of the views that voted for it. */
static float score_set_tool(const struct ptr_pick *p, uint32_t tool)
{
    unsigned views = 0;
    for (enum ptr_view view = 0; view < PTR_VIEWS; view++)
        views += !(p->options.ablate & 1u << view);
    for (size_t i = 0; i < p->trace.problem_count; i++) {
        const struct ptr_problem *problem = &p->trace.problems[i];
        if (problem->solved && !problem->already && problem->tool == tool)
            return (float)problem->votes / (float)views;
    }
    return 1;
}

static int materialise_set(struct ptr_pick *p, wt_error *err)
{
    struct search *home = &p->engine_sources.home;
    struct ptr_tools set = p->trace.set;
    struct hit *hits = wt__arena_array(p->selection->arena, struct hit, set.count);
    uint32_t *which = wt__arena_array(p->selection->arena, uint32_t, set.count);
    WT_CHECK_ALLOC(hits && which, err);
    for (uint32_t i = 0; i < set.count; i++) {
        hits[i] = (struct hit){.row = set.rows[i], .score = score_set_tool(p, set.rows[i]), .probability = NAN};
        which[i] = i;
    }
    home->hits.items = hits;
    home->hits.len = set.count;
    WT_TRY(
        wt__materialise_hits(home, which, set.count, false, &p->selection->out->items, &p->selection->out->len, err));
    return wt__selection_report_budget(p->selection, &home->budget, err);
}

/* Adds notices about the oracle and the bundles. */
static int add_ptr_notices(struct ptr_pick *p, bool bundle, wt_error *err)
{
    struct notice *notice = &p->selection->notice;
    struct arena *arena = p->selection->arena;
    const struct bundles *bundles = p->engine_sources.bundles;
    struct buffer text = {0};
    if (p->oracle) {
        wt__buffer_printf(&text, "answered by an oracle that knows the judgements (%s), not by a language model",
                          p->oracle->oracle->name);
        WT_TRY(wt__take_notice(notice, WT_NOTICE_STAND_IN, &text, arena, err));
    }
    if (p->engine_sources.past.count == 0 && !(p->options.ablate & PTR_ABLATE_BUNDLE) && !bundle)
        WT_TRY(wt__add_notice(notice, WT_NOTICE_NO_RECORDED_USE,
                              "no sets of past use; record use, then run `whichtool train neighbours`", arena, err));
    if (!bundles || bundles->left_out == 0)
        return 0;
    wt__buffer_printf(&text, "the %zu least used sets of past use are ignored", bundles->left_out);
    return wt__take_notice(notice, WT_NOTICE_NO_RECORDED_USE, &text, arena, err);
}

static int run_ptr_pick(struct ptr_pick *p, bool bundle, wt_error *err)
{
    WT_TRY(read_ptr_options(p, bundle, err));
    WT_TRY(wt__ptr_sources_open(&p->engine_sources, err));
    p->sources = wt__ptr_sources(&p->engine_sources);
    p->selection->out->recipe = p->engine_sources.home.plan.ran;
    p->selection->notice = p->engine_sources.home.notice;
    p->selection->out->encoder = p->engine_sources.home.encoder;
    p->selection->out->encode_ms = p->engine_sources.home.hits.encode_ms;
    p->selection->times = p->engine_sources.home.times;
    WT_TRY(bundle ? use_nearest_bundle(p, err) : choose_by_model(p, err));
    WT_TRY(add_ptr_notices(p, bundle, err));
    if (p->selection->options->explain)
        WT_TRY(write_ptr_trace(&p->engine_sources, &p->trace, p->selection->arena, &p->selection->out->trace, err));
    return materialise_set(p, err);
}

static int pick_by_ptr(struct selection *selection, bool bundle, wt_error *err)
{
    const struct pick_evaluation *evaluation = selection->evaluation;
    struct ptr_pick p = {.selection = selection,
                         .oracle = !bundle && evaluation && evaluation->oracle ? evaluation : NULL};
    p.engine_sources.home = (struct search){.engine = selection->engine,
                                            .request = selection->request,
                                            .arena = selection->arena,
                                            .recipe = selection->options->base_retriever,
                                            .filter = selection->filter,
                                            .k = 1,
                                            .copies = evaluation ? COPIES_BY_ID : COPIES_SHARED,
                                            .as_typed = selection->options->as_typed != 0,
                                            .progress = selection->progress};
    int rc = wt__budget_begin(&p.engine_sources.home.budget, selection->options->max_tokens, selection->options->format,
                              err);
    if (rc == 0)
        rc = run_ptr_pick(&p, bundle, err);
    if (rc == WT_ESTORE && p.engine_sources.bundles) {
        wt__bundles_discard(selection->engine);
        wt__engine_discard_index(selection->engine, p.engine_sources.home.index);
    }
    wt__ptr_sources_close(&p.engine_sources);
    return rc;
}

/* Picks, and retries once with a new index if the index is damaged. Damage is noticed only when vectors are read. */
static int pick_with_retry(struct selection *selection, bool bundle, wt_error *err)
{
    const wt_picked nothing = *selection->out;
    int rc = pick_by_ptr(selection, bundle, err);
    if (rc != WT_ESTORE)
        return rc;
    *selection->out = nothing;
    return pick_by_ptr(selection, bundle, err);
}

static int select_ptr(struct selection *selection, wt_error *err)
{
    return pick_with_retry(selection, false, err);
}

static int select_bundle(struct selection *selection, wt_error *err)
{
    return pick_with_retry(selection, true, err);
}

const struct set_selector wt__selector_ptr = {.select = select_ptr}, wt__selector_bundle = {.select = select_bundle};
