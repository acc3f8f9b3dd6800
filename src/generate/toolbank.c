/* toolbank.c: wt_generate_toolbank: runs batches until every tool has enough usages or the items run out, then
 * writes the folder (Tool2Vec, section 3 and appendix C; toolbank.h lists the parts).
 *
 * Differences from the paper: tools with too few usages are drawn first and named in the prompt; near-duplicate
 * requests and requests with a tool's name are refused; a set of tools is never in two splits; the model must pass a
 * trial. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "encoder/model_dir.h"
#include "engine/engine.h"
#include "engine/sized_options.h"
#include "generate/internal.h"
#include "generate/toolbank.h"

enum { USUAL_USAGES = 5, USUAL_EXAMPLES = 5, USUAL_TRIAL = 50, ITEMS_LEAST = 100 };
static const double USUAL_SHARE = 0.1, USUAL_TEMPERATURE = 0.9, USUAL_TRIAL_LIMIT = 0.2, TRIAL_ASTRAY = 0.5,
                    COSINE_OFF = 2, UNANSWERABLE_MOST = 0.5;

/* ---------------------------------------------------------------- options */

/* Sets *out to the index of a name in names [count]; to 0 if none is given. */
static int find_option_name(const char *given, const char *const *names, size_t count, const char *what, size_t *out,
                            wt_error *err)
{
    for (*out = 0; *out < count; (*out)++)
        if (!given || strcmp(given, names[*out]) == 0)
            return 0;
    return wt__fail(err, WT_EINVAL, "%s must be %s or %s, not \"%s\"", what, names[0], names[count - 1], given);
}

static int check_toolbank_shares(wt_toolbank_options *o, const wt_toolbank_options *given, wt_error *err)
{
    WT_TRY(wt__generate_read_share(given->unanswerable, 0, UNANSWERABLE_MOST, "the share of unanswerable requests",
                                   &o->unanswerable, err));
    WT_TRY(wt__generate_read_share(given->dev, USUAL_SHARE, 1, "the share of dev", &o->dev, err));
    WT_TRY(wt__generate_read_share(given->test, USUAL_SHARE, 1, "the share of test", &o->test, err));
    if (o->dev + o->test >= 1)
        return wt__fail(err, WT_EINVAL, "dev and test are %g of the requests; nothing is left to train on",
                        o->dev + o->test);
    WT_TRY(wt__generate_read_share(given->trial_limit, USUAL_TRIAL_LIMIT, 1, "the limit of a trial", &o->trial_limit,
                                   err));
    WT_TRY(wt__generate_read_share(given->duplicate, GENERATE_DUPLICATE, COSINE_OFF, "the cosine of duplicates",
                                   &o->duplicate, err));
    WT_TRY(wt__generate_read_share(given->temperature, USUAL_TEMPERATURE, CHAT_TEMPERATURE_MAX, "the temperature",
                                   &o->temperature, err));
    if (given->duplicate < 0 || given->temperature < 0)
        return wt__fail(err, WT_EINVAL, "the cosine of duplicates and the temperature must not be negative");
    return 0;
}

static int check_toolbank_counts(wt_toolbank_options *o, const wt_toolbank_options *given, wt_error *err)
{
    WT_TRY(wt__generate_read_count(given->examples, USUAL_EXAMPLES, 1, EXAMPLES_SHOWN_MAX, "examples of a prompt",
                                   &o->examples, err));
    WT_TRY(wt__generate_read_count(given->trial, USUAL_TRIAL, 1, WT_MAX_TRIAL, "answers of the trial", &o->trial, err));
    WT_TRY(wt__generate_read_count(given->usages, given->items ? 0 : USUAL_USAGES, 0, WT_MAX_GENERATED_USAGES,
                                   "usages of a tool", &o->usages, err));
    WT_TRY(wt__generate_read_count(given->items, 0, 0, WT_MAX_GENERATED_REQUESTS, "items", &o->items, err));
    return wt__generate_read_count(given->round_trip, 0, 0, WT_MAX_K, "hits of the round trip", &o->round_trip, err);
}

static int check_toolbank_options(struct toolbank *t, struct draw_settings *draw, wt_error *err)
{
    static const char *const draws[] = {"random", "near"}, *const withins[] = {"any", "provider", "category"};
    static const enum draw_within kinds[] = {WITHIN_ANY, WITHIN_PROVIDER, WITHIN_CATEGORY};
    wt_toolbank_options *o = &t->options;
    const wt_toolbank_options given = *o;
    size_t near = 0, within = 0;
    WT_TRY(check_toolbank_counts(o, &given, err));
    WT_TRY(check_toolbank_shares(o, &given, err));
    WT_TRY(find_option_name(given.draw, draws, 2, "the draw", &near, err));
    WT_TRY(find_option_name(given.within, withins, 3, "within", &within, err));
    if (!o->out || !o->out[0])
        return wt__fail(err, WT_EINVAL, "name a folder for the data set");
    if (o->like && o->one_tool)
        return wt__fail(err, WT_EINVAL, "the prompt for one tool shows no examples: leave out either like or one_tool");
    o->seed = o->seed ? o->seed : 1;
    *draw = (struct draw_settings){.within = kinds[within],
                                   .near = near == 1,
                                   .single = o->one_tool != 0,
                                   .usages = o->usages,
                                   .take_out = o->unanswerable};
    return 0;
}

/* ---------------------------------------------------------------- before the first question */

static int index_draw_places(struct toolbank *t, wt_error *err)
{
    for (size_t i = 0; i < t->draw.count; i++) {
        const struct draw_tool *tool = &t->draw.tools[i];
        WT_CHECK_ALLOC(wt__map_insert(&t->places, wt__str(tool->tool->id), (uint32_t)i, NULL), err);
        t->has_unanswerable_tools |= tool->is_out && tool->is_able;
    }
    return 0;
}

/* Chooses the recipe for the round trip and the trial, and runs it once, so that a broken recipe is found before the
 * model is asked. *hash: hash of the engine's encoder, or "". */
static int choose_search_recipe(struct toolbank *t, const char **hash, wt_error *err)
{
    const struct encoder *encoder = NULL;
    wt_find_options options;
    wt_hits *hits = NULL;
    WT_TRY(wt__generate_load_encoder(t->session.engine, &t->session.progress, &encoder, err));
    *hash = encoder ? wt__encoder_hash(encoder) : "";
    if (!t->options.recipe)
        t->options.recipe = encoder ? "hybrid" : "bm25";
    wt_find_options_init(&options);
    options.recipe = t->options.recipe;
    int rc = wt_find(t->session.engine, "a request", strlen("a request"), &options, &hits, err);
    wt_hits_free(hits);
    return rc;
}

/* Writes the options of the data set on one line: a run continues only with the same line. The line omits the
 * limit of the trial, which only decides whether the run continues. */
static int write_toolbank_settings(struct toolbank *t, const char *catalogue, const char *search, wt_error *err)
{
    const wt_toolbank_options *o = &t->options;
    struct buffer *out = &t->session.settings;
    wt__buffer_printf(
        out,
        "{\"kind\":\"toolbank\",\"version\":1,\"items\":%zu,\"usages\":%zu,\"examples\":%zu,"
        "\"draw\":\"%s\",\"within\":\"%s\",\"one_tool\":%s,\"polish\":%s,\"unanswerable\":%.6g,"
        "\"dev\":%.6g,\"test\":%.6g,\"duplicate\":%.6g,\"temperature\":%.6g,\"trial\":%zu,\"seed\":%" PRIu64
        ",\"round_trip\":%zu",
        o->items, o->usages, o->examples, t->draw.settings.near ? "near" : "random",
        wt__within_name(t->draw.settings.within), o->one_tool ? "true" : "false", o->no_polish ? "false" : "true",
        o->unanswerable, o->dev, o->test, o->duplicate, o->temperature, o->trial, o->seed, o->round_trip);
    if (o->round_trip > 0) {
        wt__generate_write_json(out, ",\"recipe\":", wt__str(o->recipe));
        wt__buffer_printf(out, ",\"recipe_encoder\":\"%s\"", search);
    }
    if (o->like) {
        char digest[65];
        wt__request_examples_digest(&t->examples, digest);
        wt__buffer_printf(out, ",\"like\":\"%s\"", digest);
    }
    wt__generate_write_json(out, ",\"model\":", wt__str(t->session.model->name));
    wt__buffer_printf(out, ",\"encoder\":\"%s\",\"catalogue\":\"%s\"}", wt__encoder_hash(t->encoder), catalogue);
    return out->failed ? wt__fail_nomem(err) : 0;
}

static int open_toolbank_parts(struct toolbank *t, const struct draw_settings *draw, wt_error *err)
{
    wt_toolbank_options *o = &t->options;
    const struct split_settings split = {.seed = o->seed, .dev = o->dev, .test = o->test};
    char catalogue[65];
    const char *search = "";
    wt__rng_seed(&t->rng, o->seed);
    wt__request_set_open(&t->set, &split);
    o->no_polish |= o->one_tool;
    WT_TRY(wt__encoder_open(&t->encoder, MODEL_BUILT_IN, err));
    if (o->like)
        WT_TRY(wt__request_examples_read(&t->examples, o->like, o->seed, err));
    else
        wt__request_examples_open(&t->examples, o->seed);
    WT_TRY(wt__tool_draw_open(&t->draw, t->session.engine, t->encoder, draw, &t->rng, &t->session.progress, err));
    WT_TRY(wt__distinct_open(&t->queries, t->encoder, o->duplicate, err));
    WT_TRY(wt__prompt_open(&t->request_prompt, wt__toolbank_prompt(t), err));
    WT_TRY(wt__prompt_open(&t->polish_prompt, "generate-polish", err));
    WT_TRY(wt__repetition_open(&t->request_words, wt__str(t->request_prompt.text), err));
    WT_TRY(wt__repetition_open(&t->polish_words, wt__str(t->polish_prompt.text), err));
    WT_TRY(index_draw_places(t, err));
    WT_TRY(choose_search_recipe(t, &search, err));
    if (o->items == 0) {
        const size_t wanted = t->draw.able_count * o->usages, most = WT_MAX_GENERATED_REQUESTS;
        o->items = wanted < ITEMS_LEAST ? ITEMS_LEAST : wanted < most ? wanted : most;
    }
    o->trial = o->trial < o->items ? o->trial : o->items;
    wt__tool_draw_digest(&t->draw, catalogue);
    WT_TRY(write_toolbank_settings(t, catalogue, search, err));
    return wt__session_open(&t->session, o->out, o->temperature, o->seed, err);
}

/* ---------------------------------------------------------------- batches */

/* Refuses a model whose first answers are too bad. A share of up to TRIAL_ASTRAY of its requests may lead to none of
 * their tools: people use their own words, and a search does not find everything. */
static int judge_trial(struct toolbank *t, wt_error *err)
{
    const struct stage_count *count = &t->session.runner.counts[STAGE_REQUESTS];
    struct toolbank_trial *trial = &t->trial;
    const double limit = t->options.trial_limit, answers = (double)count->questions;
    trial->is_judged = true;
    trial->answers = count->questions;
    trial->repeating = count->refused[PIECE_REPEATS];
    trial->broken = count->unusable;
    trial->unknown = count->refused[PIECE_UNKNOWN];
    trial->is_refused = (double)trial->repeating > limit * answers || (double)trial->broken > limit * answers ||
                        (double)trial->unknown > limit * answers ||
                        (double)trial->astray_requests > (limit > TRIAL_ASTRAY ? limit : TRIAL_ASTRAY) * answers;
    if (!trial->is_refused)
        return 0;
    return wt__fail(err, WT_EMODEL,
                    "%s is not good enough: of %" PRIu64 " trial answers, %" PRIu64 " repeat the prompt, %" PRIu64
                    " break the schema and %" PRIu64 " name tools that were not offered (limit %.0f %% each), "
                    "and %" PRIu64 " lead to none of their tools (limit half). Use a larger model%s; --trial 0 "
                    "continues with this one",
                    t->session.model->name, trial->answers, trial->repeating, trial->broken, trial->unknown,
                    100 * limit, trial->astray_requests,
                    t->options.one_tool ? ""
                                        : ", or --one-tool in another folder, since its prompt has no example to copy");
}

/* Updates the progress line; called between batches, while no thread reads it. */
static void name_toolbank_phase(struct toolbank *t)
{
    snprintf(t->phase, sizeof t->phase, "asking (%zu requests, %" PRIu64 " tokens)", t->set.count,
             t->session.runner.cost.prompt_tokens + t->session.runner.cost.completion_tokens);
}

/* Asks, judges, polishes and commits the batch of items t->asked .. t->asked + count - 1. */
static int process_toolbank_batch(struct toolbank *t, size_t count, wt_error *err)
{
    WT_TRY(wt__toolbank_ask(t, t->asked, count, err));
    if (!t->trial.is_judged) {
        WT_TRY(wt__toolbank_count_astray(t, &t->trial.astray_requests, err));
        if (t->asked + count >= t->options.trial || t->session.runner.counts[STAGE_REQUESTS].gave_up)
            WT_TRY(judge_trial(t, err));
    }
    if (!t->options.no_polish)
        WT_TRY(wt__toolbank_polish(t, t->asked, count, err));
    return wt__toolbank_commit(t, count, err);
}

static int run_batches(struct toolbank *t, wt_error *err)
{
    const size_t questions = t->options.no_polish ? 1 : 2;
    name_toolbank_phase(t);
    if (wt__progress_phase(&t->session.progress, t->phase, t->options.items * questions))
        return wt__fail_cancelled(err);
    while (t->asked < t->options.items && !t->session.runner.counts[STAGE_REQUESTS].gave_up &&
           (t->options.usages == 0 || wt__tool_draw_count_short(&t->draw) > 0)) {
        const size_t end = t->asked < t->options.trial ? t->options.trial : t->options.items, left = end - t->asked,
                     count = left < TOOLBANK_BATCH ? left : TOOLBANK_BATCH;
        int rc = process_toolbank_batch(t, count, err);
        t->asked += count;
        name_toolbank_phase(t);
        WT_TRY(rc);
    }
    return t->trial.is_judged ? 0 : judge_trial(t, err);
}

/* ---------------------------------------------------------------- report.json */

/* Results of the paper's own run (Tool2Vec, section 3 and appendix C.4). */
static const char paper[] =
    "{\"from\":\"Tool2Vec, ToolBank\",\"sets\":["
    "{\"set\":\"NumpyBank\",\"tools\":511,\"requests\":20000,\"combinations\":19530},"
    "{\"set\":\"PandasBank\",\"tools\":1655,\"requests\":70000,\"combinations\":69550},"
    "{\"set\":\"AWSBank\",\"tools\":1002,\"requests\":73000,\"combinations\":70816}],"
    "\"requests_are\":\"rounded\",\"drawn\":10,\"picked\":\"2 to 5\",\"examples\":\"5; 3 in the released script\","
    "\"temperature\":0.9,\"writer\":\"Llama-3-70B-Instruct\"}";

/* Counts requests by their number of tools and by what the tools have in common. */
static void write_request_kinds(const struct toolbank *t, struct buffer *out)
{
    size_t sizes[REQUEST_TOOLS_MAX + 1] = {0}, kinds[WITHINS] = {0}, tools = 0;
    const char *comma = "";
    for (size_t i = 0; i < t->set.count; i++) {
        const struct generated_request *request = &t->set.requests[i];
        sizes[request->tool_count]++;
        tools += request->tool_count;
        kinds[wt__tool_draw_within(&t->draw, request->tools, request->tool_count)]++;
    }
    wt__buffer_text(out, "\"sizes\":{");
    for (size_t size = 1; size <= REQUEST_TOOLS_MAX; size++) {
        if (sizes[size] == 0)
            continue;
        wt__buffer_printf(out, "%s\"%zu\":%zu", comma, size, sizes[size]);
        comma = ",";
    }
    wt__buffer_printf(out, "},\"mean_tools\":%.2f,\"within\":{",
                      (double)tools / (double)(t->set.count ? t->set.count : 1));
    for (enum draw_within within = 0; within < WITHINS; within++)
        wt__buffer_printf(out, "%s\"%s\":%zu", within ? "," : "", wt__within_name(within), kinds[within]);
    wt__buffer_char(out, '}');
}

/* Writes how similar the tools of a request are: the mean cosine over all pairs of all requests. */
static void write_coherence(const struct toolbank *t, struct buffer *out)
{
    double sum = 0;
    size_t pairs = 0;
    for (size_t i = 0; i < t->set.count; i++) {
        const struct generated_request *request = &t->set.requests[i];
        for (size_t a = 0; a < request->tool_count; a++)
            for (size_t b = a + 1; b < request->tool_count; b++, pairs++)
                sum += wt__tool_draw_cosine(&t->draw, request->tools[a], request->tools[b]);
    }
    wt__buffer_printf(out, ",\"mean_cosine_of_pairs\":%.3f", pairs ? sum / (double)pairs : 0);
}

/* Writes the distribution of train requests over the able tools of the corpus. */
static void write_usage_counts(const struct toolbank *t, struct buffer *out)
{
    size_t count = 0;
    WT_AUTO_FREE size_t *used = wt__alloc_array(t->draw.count + 1, sizeof *used);
    if (!used) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < t->draw.count; i++)
        if (t->draw.tools[i].is_able && !t->draw.tools[i].is_out)
            used[count++] = t->draw.tools[i].used;
    wt__sort_sizes(used, count);
    wt__buffer_printf(out, ",\"usages\":{\"wanted\":%zu,\"least\":%zu,\"median\":%zu,\"most\":%zu,\"tools_short\":%zu}",
                      t->options.usages, count ? used[0] : 0, count ? used[count / 2] : 0, count ? used[count - 1] : 0,
                      wt__tool_draw_count_short(&t->draw));
}

static void write_trial(const struct toolbank *t, struct buffer *out)
{
    const struct toolbank_trial *trial = &t->trial;
    wt__buffer_printf(out,
                      ",\"trial\":{\"answers\":%" PRIu64 ",\"repeat_the_prompt\":%" PRIu64
                      ",\"break_the_schema\":%" PRIu64 ",\"name_unknown_tools\":%" PRIu64
                      ",\"lead_to_none_of_their_tools\":%" PRIu64 ",\"refused\":%s}",
                      trial->answers, trial->repeating, trial->broken, trial->unknown, trial->astray_requests,
                      trial->is_refused ? "true" : "false");
}

static int write_toolbank_report(struct toolbank *t, bool complete, wt_error *err)
{
    struct buffer out = {0};
    const struct request_set *set = &t->set;
    wt__session_begin_report(&t->session, complete, &out);
    wt__buffer_printf(&out,
                      ",\"tools\":%zu,\"able\":%zu,\"left_out\":%zu,\"taken_out\":%zu,\"asked\":%zu,\"requests\":%zu",
                      t->draw.count - t->draw.taken_out, t->draw.able_count, t->draw.left_out, t->draw.taken_out,
                      t->asked, set->count);
    wt__buffer_printf(&out, ",\"train\":%zu,\"dev\":%zu,\"test\":%zu,\"unanswerable\":%zu", set->splits[SPLIT_TRAIN],
                      set->splits[SPLIT_DEV], set->splits[SPLIT_TEST], set->unanswerable);
    wt__buffer_printf(&out, ",\"combinations\":%zu,\"combinations_share\":%.4f,\"combinations_in_two_splits\":%zu,",
                      set->combinations.len, (double)set->combinations.len / (double)(set->count ? set->count : 1),
                      set->in_two_splits);
    write_request_kinds(t, &out);
    write_coherence(t, &out);
    write_usage_counts(t, &out);
    wt__buffer_printf(&out, ",\"polish\":{\"good\":%zu,\"rewritten\":%zu}", t->good, t->rewritten);
    write_trial(t, &out);
    wt__buffer_char(&out, ',');
    wt__stages_report(&t->session.runner, &out);
    wt__buffer_printf(&out, ",\"paper\":%s}", paper);
    return wt__session_report(&t->session, &out, err);
}

/* ---------------------------------------------------------------- results */

/* Writes the notice on one line. */
static int write_toolbank_notice(struct toolbank *t, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    const size_t few = wt__tool_draw_count_short(&t->draw);
    if (t->session.runner.counts[STAGE_REQUESTS].gave_up)
        wt__buffer_printf(&line, "the run ended early: %d answers in a row were unusable", STAGE_FRUITLESS_MAX);
    if (few > 0)
        wt__buffer_printf(&line, "%s%zu of %zu tools have fewer than %zu requests to train on", line.len ? "; " : "",
                          few, t->draw.able_count, t->options.usages);
    if (t->draw.able_count + t->draw.taken_out < t->draw.count)
        wt__buffer_printf(&line, "%s%zu tools have no requests: they lack a description or a tool to go with",
                          line.len ? "; " : "", t->draw.count - t->draw.able_count - t->draw.taken_out);
    return wt__session_set_text(&t->session, &line, &t->session.result->visible.notice, err);
}

static int finish_toolbank(struct toolbank *t, wt_error *err)
{
    wt_generated *visible = &t->session.result->visible;
    if (t->set.count > 0)
        WT_TRY(wt__request_set_write(&t->set, &t->draw, &t->session.folder, err));
    WT_TRY(write_toolbank_report(t, true, err));
    WT_TRY(write_toolbank_notice(t, err));
    visible->tools = t->draw.count - t->draw.taken_out;
    visible->rows = t->set.count;
    visible->train = t->set.splits[SPLIT_TRAIN];
    visible->dev = t->set.splits[SPLIT_DEV];
    visible->test = t->set.splits[SPLIT_TEST];
    visible->unanswerable = t->set.unanswerable;
    if (t->set.count == 0)
        return wt__fail(err, WT_EEMPTY,
                        "no request came from %" PRIu64 " questions to %s; see %s/report.json for the reasons",
                        t->session.runner.cost.questions, t->session.model->name, t->options.out);
    return 0;
}

static int run_toolbank(struct toolbank *t, const struct draw_settings *draw, wt_error *err)
{
    WT_TRY(open_toolbank_parts(t, draw, err));
    int rc = run_batches(t, err);
    if (rc == 0)
        return finish_toolbank(t, err);
    wt_error unused;
    write_toolbank_report(t, false, &unused); /* record the progress so far */
    return rc;
}

static void free_toolbank(struct toolbank **variable)
{
    struct toolbank *t = *variable;
    if (!t)
        return;
    wt__request_set_dispose(&t->set);
    wt__request_examples_dispose(&t->examples);
    wt__distinct_dispose(&t->queries);
    wt__tool_draw_dispose(&t->draw);
    wt__map_dispose(&t->places);
    wt__prompt_dispose(&t->request_prompt);
    wt__prompt_dispose(&t->polish_prompt);
    wt__repetition_dispose(&t->request_words);
    wt__repetition_dispose(&t->polish_words);
    wt__arena_dispose(&t->batch);
    wt__encoder_close(t->encoder);
    free(t);
}

int wt__generate_toolbank(wt_engine *engine, struct chat_model *model, const wt_toolbank_options *given,
                          wt_generated **out, wt_error *err)
{
    struct draw_settings draw;
    WT_CLEANUP(free_toolbank) struct toolbank *t = wt__alloc_zeros(1, sizeof *t);
    *out = NULL;
    WT_CHECK_ALLOC(t, err);
    WT_TRY(wt__options_read(&t->options, sizeof t->options, given, err));
    WT_TRY(check_toolbank_options(t, &draw, err));
    if (!engine)
        return wt__fail(err, WT_EINVAL, "an engine is needed: requests are made for the tools of its store");
    int rc = wt__session_begin(&t->session, engine, model, t->options.progress, t->options.progress_context, err);
    if (rc == 0)
        rc = run_toolbank(t, &draw, err);
    return wt__session_end(&t->session, rc, out);
}

int wt_generate_toolbank(wt_engine *engine, const wt_toolbank_options *options, wt_generated **out, wt_error *err)
{
    return wt__generate_toolbank(engine, NULL, options, out, err);
}
