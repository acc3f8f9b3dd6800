/* rectools.c: wt_generate_rectools: generates requests for drawn sets of tools, the same number for each set size,
 * and verdicts on them (PTR, section 4 and appendix C).
 *
 *   draw     sets of each size, all different
 *   ask      one request after another for each set, so that the prompt can show the earlier ones; a near-duplicate of
 *            any earlier request is refused, and the model is asked again
 *   judge    each request with all tools of the set, and with one removed
 *   keep     the requests that qualify, or all
 *
 * Differences from the paper: no set has near-duplicate tools; a request that contains a tool's name or repeats its
 * prompt is refused; the data has splits. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "encoder/model_dir.h"
#include "engine/engine.h"
#include "engine/sized_options.h"
#include "generate/internal.h"
#include "generate/requests.h"

enum { USUAL_COMBINATIONS = 20, USUAL_REQUESTS = 5, USUAL_RETRIES = 5, TRIES = 200 };
static const double USUAL_DUPLICATE = 0.8, USUAL_TEMPERATURE = 0.8, USUAL_SHARE = 0.1, COSINE_OFF = 2;

struct tool_combination {
    size_t places[REQUEST_TOOLS_HELD]; /* [tool_count] places in the draw */
    struct str *lines;                 /* [tool_count] "name: description" */
    size_t tool_count;
    struct str requests[WT_MAX_COMBINATION_REQUESTS];
    size_t request_count;
};

struct rectools_run {
    struct generate_session session;
    wt_rectools_options options; /* defaults filled in */
    struct encoder *built_in;    /* encoder of the draw, and of duplicates if the engine has none */
    const struct encoder *encoder;
    struct tool_draw draw;
    struct distinct queries;
    struct request_set set;
    struct prompt request_prompt;
    struct repetition request_words;
    struct arena arena;
    struct tool_combination *combinations; /* [count] */
    size_t count, wanted;                  /* wanted: number of combinations that the options ask for */
    struct verdict_case *cases;            /* [case_count], in the order of the combinations */
    size_t *owners;                        /* [case_count] combination of each case */
    size_t case_count;
};

static int check_rectools_shares(wt_rectools_options *o, const wt_rectools_options *given, wt_error *err)
{
    WT_TRY(wt__generate_read_share(given->dev, USUAL_SHARE, 1, "the share of dev", &o->dev, err));
    WT_TRY(wt__generate_read_share(given->test, USUAL_SHARE, 1, "the share of test", &o->test, err));
    if (o->dev + o->test > 1)
        return wt__fail(err, WT_EINVAL, "dev and test are %g of the requests; together they can be at most 1",
                        o->dev + o->test);
    WT_TRY(wt__generate_read_share(given->duplicate, USUAL_DUPLICATE, COSINE_OFF, "the cosine of duplicates",
                                   &o->duplicate, err));
    WT_TRY(wt__generate_read_share(given->temperature, USUAL_TEMPERATURE, CHAT_TEMPERATURE_MAX, "the temperature",
                                   &o->temperature, err));
    if (given->duplicate < 0 || given->temperature < 0)
        return wt__fail(err, WT_EINVAL, "the cosine of duplicates and the temperature must not be negative");
    return 0;
}

static int check_rectools_options(wt_rectools_options *o, wt_error *err)
{
    const wt_rectools_options given = *o;
    WT_TRY(wt__generate_read_count(given.smallest, 1, 1, WT_MAX_COMBINATION_TOOLS, "tools of the smallest combination",
                                   &o->smallest, err));
    WT_TRY(wt__generate_read_count(given.largest, WT_MAX_COMBINATION_TOOLS, o->smallest, WT_MAX_COMBINATION_TOOLS,
                                   "tools of the largest combination", &o->largest, err));
    WT_TRY(wt__generate_read_count(given.combinations, USUAL_COMBINATIONS, 1, WT_MAX_COMBINATIONS,
                                   "combinations of a size", &o->combinations, err));
    WT_TRY(wt__generate_read_count(given.requests, USUAL_REQUESTS, 1, WT_MAX_COMBINATION_REQUESTS,
                                   "requests of a combination", &o->requests, err));
    WT_TRY(wt__generate_read_count(given.retries, USUAL_RETRIES, 1, WT_MAX_RETRIES, "retries of a request", &o->retries,
                                   err));
    WT_TRY(check_rectools_shares(o, &given, err));
    if (!o->out || !o->out[0])
        return wt__fail(err, WT_EINVAL, "name a folder for the data set");
    o->seed = o->seed ? o->seed : 1;
    return 0;
}

/* Draws a set of `size` tools from able [count] into places. order: memory for [count] numbers. Returns false if two of
 * the tools are near-duplicates. */
static bool draw_combination(const struct tool_draw *draw, struct rng *rng, const size_t *able, uint32_t *order,
                             size_t count, size_t size, size_t *places)
{
    wt__rng_draw(rng, order, count, size);
    for (size_t i = 0; i < size; i++)
        places[i] = able[order[i]];
    wt__sort_sizes(places, size); /* the same set gives the same key */
    for (size_t a = 0; a < size; a++)
        for (size_t b = a + 1; b < size; b++)
            if (wt__tool_draw_twins(draw, places[a], places[b]))
                return false;
    return true;
}

static int add_combination(struct rectools_run *r, const size_t *places, size_t size, wt_error *err)
{
    struct tool_combination *added = &r->combinations[r->count];
    *added = (struct tool_combination){.tool_count = size, .lines = wt__arena_array(&r->arena, struct str, size)};
    WT_CHECK_ALLOC(added->lines, err);
    for (size_t i = 0; i < size; i++) {
        const struct draw_tool *tool = &r->draw.tools[places[i]];
        added->places[i] = places[i];
        added->lines[i] = wt__prompt_tool(tool->name, tool->description, STAGE_LINE_BYTES, &r->arena);
        WT_CHECK_ALLOC(added->lines[i].ptr, err);
    }
    r->count++;
    return 0;
}

/* Draws as many different sets of one size as requested. Stops with fewer after TRIES draws for each requested set. */
static int draw_combinations_of_size(struct rectools_run *r, struct rng *rng, const size_t *able, uint32_t *order,
                                     size_t count, size_t size, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena keys = {0};
    WT_CLEANUP(wt__map_dispose) struct map known = {0};
    size_t places[REQUEST_TOOLS_HELD];
    const size_t end = r->count + r->options.combinations, tries = TRIES * r->options.combinations;
    for (size_t i = 0; size <= count && r->count < end && i < tries; i++) {
        if (!draw_combination(&r->draw, rng, able, order, count, size, places))
            continue;
        bool added = false;
        char *key = wt__arena_copy(&keys, (struct str){(const char *)places, size * sizeof *places});
        WT_CHECK_ALLOC(key && wt__map_insert(&known, (struct str){key, size * sizeof *places}, 0, &added), err);
        if (added)
            WT_TRY(add_combination(r, places, size, err));
    }
    return 0;
}

static int draw_combinations(struct rectools_run *r, wt_error *err)
{
    const wt_rectools_options *o = &r->options;
    struct rng rng;
    size_t count = 0, *able = wt__arena_array(&r->arena, size_t, r->draw.count);
    uint32_t *order = wt__arena_array(&r->arena, uint32_t, r->draw.count);
    r->wanted = (o->largest - o->smallest + 1) * o->combinations;
    r->combinations = wt__arena_array(&r->arena, struct tool_combination, r->wanted);
    WT_CHECK_ALLOC(able && order && r->combinations, err);
    for (size_t i = 0; i < r->draw.count; i++)
        if (r->draw.tools[i].is_able)
            able[count++] = i;
    wt__rng_seed(&rng, o->seed);
    for (size_t size = o->smallest; size <= o->largest; size++)
        WT_TRY(draw_combinations_of_size(r, &rng, able, order, count, size, err));
    if (r->count == 0)
        return wt__fail(err, WT_EEMPTY, "no set of %zu can be drawn from the %zu tools with a description", o->smallest,
                        count);
    return 0;
}

static int write_rectools_settings(struct rectools_run *r, wt_error *err)
{
    const wt_rectools_options *o = &r->options;
    struct buffer *out = &r->session.settings;
    char catalogue[65];
    wt__tool_draw_digest(&r->draw, catalogue);
    wt__buffer_printf(out,
                      "{\"kind\":\"rectools\",\"version\":1,\"smallest\":%zu,\"largest\":%zu,\"combinations\":%zu,"
                      "\"requests\":%zu,\"retries\":%zu,\"dev\":%.6g,\"test\":%.6g,\"duplicate\":%.6g,"
                      "\"temperature\":%.6g,\"seed\":%" PRIu64 ",\"model\":",
                      o->smallest, o->largest, o->combinations, o->requests, o->retries, o->dev, o->test, o->duplicate,
                      o->temperature, o->seed);
    wt__buffer_json(out, wt__str(r->session.model->name));
    wt__buffer_printf(out, ",\"encoder\":\"%s\",\"catalogue\":\"%s\"}", wt__encoder_hash(r->encoder), catalogue);
    return out->failed ? wt__fail_nomem(err) : 0;
}

static int open_rectools_parts(struct rectools_run *r, wt_error *err)
{
    const wt_rectools_options *o = &r->options;
    const struct draw_settings draw = {.within = WITHIN_ANY, .single = true};
    const struct split_settings split = {.seed = o->seed, .dev = o->dev, .test = o->test};
    struct rng unused;
    wt__rng_seed(&unused, o->seed);
    wt__request_set_open(&r->set, &split);
    WT_TRY(wt__encoder_open(&r->built_in, MODEL_BUILT_IN, err));
    WT_TRY(wt__generate_load_encoder(r->session.engine, &r->session.progress, &r->encoder, err));
    r->encoder = r->encoder ? r->encoder : r->built_in;
    WT_TRY(wt__tool_draw_open(&r->draw, r->session.engine, r->built_in, &draw, &unused, &r->session.progress, err));
    WT_TRY(wt__distinct_open(&r->queries, r->encoder, o->duplicate, err));
    WT_TRY(wt__prompt_open(&r->request_prompt, "generate-rectools", err));
    WT_TRY(wt__repetition_open(&r->request_words, wt__str(r->request_prompt.text), err));
    WT_TRY(draw_combinations(r, err));
    WT_TRY(write_rectools_settings(r, err));
    return wt__session_open(&r->session, o->out, o->temperature, o->seed, err);
}

/* Runs on several threads at once, each for a different combination. */
static int fill_rectools_request(void *context, size_t item, struct arena *arena, struct prompt_value *values,
                                 size_t *count, wt_error *err)
{
    const struct rectools_run *r = context;
    const struct tool_combination *own = &r->combinations[item % r->count];
    (void)arena;
    (void)err;
    values[(*count)++] = (struct prompt_value){.slot = "tools", .items = own->lines, .item_count = own->tool_count};
    values[(*count)++] =
        (struct prompt_value){.slot = "known", .items = own->requests, .item_count = own->request_count};
    return 0;
}

/* Validates a request and adds it to its combination. A request is compared with the prompt by words, and with earlier
 * requests by meaning, since requests for the same tools share words. */
static int accept_rectools_request(void *context, size_t item, const json_t *answer, struct stage_count *count,
                                   bool *done, wt_error *err)
{
    struct rectools_run *r = context;
    struct tool_combination *own = &r->combinations[item % r->count];
    const struct str said = wt__json_str(answer, "instruction");
    enum piece_fate fate = PIECE_REPEATS;
    struct str text = STR("");
    bool copied = false;
    WT_TRY(wt__repetition_check(&r->request_words, wt__str(r->request_prompt.text), STR(""), said, &copied, err));
    if (!copied)
        WT_TRY(wt__piece_read(&r->arena, PIECE_INSTRUCTION, said, &text, &fate, err));
    if (fate == PIECE_TAKEN && wt__tool_draw_has_name(&r->draw, own->places, own->tool_count, text))
        fate = PIECE_NAMES_TOOL;
    if (fate == PIECE_TAKEN)
        WT_TRY(wt__distinct_add(&r->queries, text, &fate, err));
    wt__stage_note(count, fate);
    *done = fate == PIECE_TAKEN;
    if (*done)
        own->requests[own->request_count++] = text;
    return 0;
}

static int ask_rectools(struct rectools_run *r, wt_error *err)
{
    struct stage_runner *runner = &r->session.runner;
    const size_t requests = r->options.requests;
    struct question_stage stage = {
        {STAGE_REQUESTS, NULL, "generate-rectools", r, fill_rectools_request, accept_rectools_request, NULL},
        .count = r->count,
        .round = STAGE_ROUND};
    stage.attempts = 1 + (unsigned)r->options.retries;
    stage.tolerates_duplicates = true; /* requests for the same tools resemble each other */
    runner->counts[STAGE_REQUESTS].wanted = r->count * requests;
    if (wt__progress_phase(&r->session.progress, "asking", r->count * requests))
        return wt__fail_cancelled(err);
    for (size_t turn = 0; turn < requests; turn++) {
        stage.begin = turn * r->count;
        WT_TRY(wt__stage_run(runner, &stage, err));
    }
    return 0;
}

static int judge_rectools_requests(struct rectools_run *r, wt_error *err)
{
    const size_t most = r->count * r->options.requests;
    r->cases = wt__arena_array(&r->arena, struct verdict_case, most);
    r->owners = wt__arena_array(&r->arena, size_t, most);
    WT_CHECK_ALLOC(r->cases && r->owners, err);
    for (size_t c = 0; c < r->count; c++)
        for (size_t i = 0; i < r->combinations[c].request_count; i++) {
            const struct tool_combination *own = &r->combinations[c];
            r->owners[r->case_count] = c;
            r->cases[r->case_count++] =
                (struct verdict_case){.request = own->requests[i], .tools = own->lines, .tool_count = own->tool_count};
        }
    return wt__verdicts_ask(&r->session.runner, r->cases, r->case_count, err);
}

static int keep_judged_request(struct rectools_run *r, size_t place, wt_error *err)
{
    const struct verdict_case *verdict = &r->cases[place];
    const struct tool_combination *own = &r->combinations[r->owners[place]];
    struct generated_request *added,
        request = {.text = verdict->request, .draft = STR(""), .explanation = STR(""), .tool_count = own->tool_count};
    WT_CLEANUP(wt__buffer_dispose) struct buffer more = {0};
    memcpy(request.tools, own->places, own->tool_count * sizeof *own->places);
    wt__buffer_printf(&more,
                      ", \"combination\": %zu, \"verdict\": \"%s\", \"one_removed\": {\"tool\": ", r->owners[place] + 1,
                      wt__verdict_name(verdict->first));
    wt__buffer_json(&more, wt__str(r->draw.tools[own->places[verdict->removed]].tool->id));
    wt__buffer_printf(&more, ", \"verdict\": \"%s\"}, \"qualified\": %s", wt__verdict_name(verdict->second),
                      wt__verdict_qualifies(verdict) ? "true" : "false");
    request.more = wt__buffer_view(&more);
    WT_CHECK_ALLOC(!more.failed, err);
    return wt__request_set_add(&r->set, &r->draw, &request, &added, err);
}

static int write_rectools_report(struct rectools_run *r, bool complete, wt_error *err)
{
    struct buffer out = {0};
    const struct request_set *set = &r->set;
    wt__session_begin_report(&r->session, complete, &out);
    wt__generate_write_json(&out, ",\"encoder\":", wt__str(wt__encoder_name(r->encoder)));
    wt__buffer_printf(&out,
                      ",\"tools\":%zu,\"left_out\":%zu,\"combinations\":%zu,\"combinations_wanted\":%zu,"
                      "\"kept\":\"%s\",\"requests\":%zu,\"train\":%zu,\"dev\":%zu,\"test\":%zu,",
                      r->draw.count, r->draw.left_out, r->count, r->wanted, r->options.keep_all ? "all" : "qualified",
                      set->count, set->splits[SPLIT_TRAIN], set->splits[SPLIT_DEV], set->splits[SPLIT_TEST]);
    wt__stages_report(&r->session.runner, &out);
    wt__buffer_char(&out, ',');
    wt__verdicts_report(r->cases, r->case_count, &out);
    wt__buffer_char(&out, '}');
    return wt__session_report(&r->session, &out, err);
}

/* Writes the notice on one line, and the verdicts as a table. */
static int write_rectools_texts(struct rectools_run *r, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0}, table = {0};
    const struct stage_count *count = r->session.runner.counts;
    if (r->count < r->wanted)
        wt__buffer_printf(&line, "only %zu of %zu combinations could be drawn from these tools", r->count, r->wanted);
    for (enum stage_id id = STAGE_REQUESTS; id < STAGES; id++)
        if (count[id].gave_up)
            wt__buffer_printf(&line, "%sthe stage %s ended early: %d answers in a row were unusable",
                              line.len ? "; " : "", wt__stage_name(id), STAGE_FRUITLESS_MAX);
    if (count[STAGE_REQUESTS].made < count[STAGE_REQUESTS].wanted)
        wt__buffer_printf(&line, "%s%zu of %zu requests were made", line.len ? "; " : "", count[STAGE_REQUESTS].made,
                          count[STAGE_REQUESTS].wanted);
    wt__verdicts_text(r->cases, r->case_count, r->session.model->name, &table);
    WT_TRY(wt__session_set_text(&r->session, &line, &r->session.result->visible.notice, err));
    return wt__session_set_text(&r->session, &table, &r->session.result->visible.summary, err);
}

static int finish_rectools(struct rectools_run *r, wt_error *err)
{
    wt_generated *visible = &r->session.result->visible;
    for (size_t i = 0; i < r->case_count; i++)
        if (r->options.keep_all || wt__verdict_qualifies(&r->cases[i]))
            WT_TRY(keep_judged_request(r, i, err));
    WT_TRY(wt__request_set_write(&r->set, &r->draw, &r->session.folder, err));
    WT_TRY(write_rectools_report(r, true, err));
    WT_TRY(write_rectools_texts(r, err));
    visible->tools = r->draw.count;
    visible->rows = r->set.count;
    visible->train = r->set.splits[SPLIT_TRAIN];
    visible->dev = r->set.splits[SPLIT_DEV];
    visible->test = r->set.splits[SPLIT_TEST];
    if (r->set.count == 0)
        return wt__fail(err, WT_EEMPTY,
                        "none of the %zu requests written by %s qualifies; see %s/report.json for the reasons%s",
                        r->case_count, r->session.model->name, r->options.out,
                        r->case_count > 0 ? ", or keep them with --keep-all" : "");
    return 0;
}

static int run_rectools(struct rectools_run *r, wt_error *err)
{
    WT_TRY(open_rectools_parts(r, err));
    int rc = ask_rectools(r, err);
    if (rc == 0)
        rc = judge_rectools_requests(r, err);
    if (rc == 0)
        return finish_rectools(r, err);
    wt_error unused;
    write_rectools_report(r, false, &unused); /* record the progress so far */
    return rc;
}

static void dispose_rectools(struct rectools_run *r)
{
    wt__request_set_dispose(&r->set);
    wt__distinct_dispose(&r->queries);
    wt__tool_draw_dispose(&r->draw);
    wt__prompt_dispose(&r->request_prompt);
    wt__repetition_dispose(&r->request_words);
    wt__arena_dispose(&r->arena);
    wt__encoder_close(r->built_in);
}

int wt__generate_rectools(wt_engine *engine, struct chat_model *model, const wt_rectools_options *given,
                          wt_generated **out, wt_error *err)
{
    struct rectools_run r = {0};
    *out = NULL;
    WT_TRY(wt__options_read(&r.options, sizeof r.options, given, err));
    WT_TRY(check_rectools_options(&r.options, err));
    if (!engine)
        return wt__fail(err, WT_EINVAL, "an engine is needed: requests are made for the tools of its store");
    int rc = wt__session_begin(&r.session, engine, model, r.options.progress, r.options.progress_context, err);
    if (rc == 0)
        rc = run_rectools(&r, err);
    rc = wt__session_end(&r.session, rc, out);
    dispose_rectools(&r);
    return rc;
}

int wt_generate_rectools(wt_engine *engine, const wt_rectools_options *options, wt_generated **out, wt_error *err)
{
    return wt__generate_rectools(engine, NULL, options, out, err);
}
