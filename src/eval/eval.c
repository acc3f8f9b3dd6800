/* eval.c: wt_eval. What it measures is what a caller of wt_find would get.
 *
 *   data set -> queries and judgements (dataset)
 *   corpus -> a store that is kept (engine/corpus); for learned recipes one with recorded use, and models (learning)
 *   each recipe over the queries (measure) -> means, percentiles, TREC run
 *   each recipe against the first, paired by query (bootstrap)
 *
 * A tool that the corpus has and the importer refused, or that the judgements name and the corpus lacks, stays in the
 * gold set and counts as missed; the row's notice says how many. */
#include <math.h>
#include <stdlib.h>

#include "base/bootstrap.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/sort.h"
#include "choose/oracle.h"
#include "encoder/config.h"
#include "changes/corpus.h"
#include "engine/engine.h"
#include "engine/sized_options.h"
#include "query/ptr_sources.h"
#include "recipe/recipes.h"
#include "eval/learning.h"
#include "eval/measure.h"
#include "eval/metrics.h"
#include "eval/other_run.h"
#include "eval/page.h"
#include "eval/trec.h"

enum {
    MAX_RECIPES = 32,
    MAX_RESAMPLES = 1000000,
    DEFAULT_RESAMPLES = 10000,
    DEFAULT_SEED = 1,
    MAIN_CUTOFF = 5,   /* of the comparison, when it is among the cutoffs; else the last of them */
    COMPARED = 3,      /* recall, ndcg and complete at the main cutoff */
    LIST_PAGE = 10000, /* tools looked at in one go */
    MIN_LATENCY_K = 10
};

struct report {
    wt_eval_report visible;
    struct arena arena;
};

struct evaluation {
    wt_eval_options options;
    struct dense_weight dense_weight; /* that options ask for; zeros: what the encoder says */
    const char *split;
    uint64_t seed;
    size_t resamples;
    struct plan plan;
    struct oracle oracle; /* asked by the recipe ptr when options.oracle is set */
    const char *recipes[MAX_RECIPES];
    size_t recipe_count;
    const char *runs[WT_MAX_OTHER_RUNS]; /* files of other methods */
    size_t run_count;
    struct arena scratch;
    struct dataset dataset, out_of_domain; /* the latter: whose requests no tool fits */
    wt_engine *engine;
    wt_catalog_info info;
    size_t lost_tools;    /* relevant tools that the catalogue does not have */
    bool *multi_provider; /* [plan.queries] whether its relevant tools are of several providers */
    bool lexical_only;    /* every recipe was asked for, but there is no model */
    bool untrained;       /* the same, but there is nothing to learn from */
    bool learns;          /* a recipe needs training, and learning is filled in */
    struct learning learning;
    struct measurement *measured; /* [recipe_count + run_count] */
    struct progress progress;
    struct report *report;
    wt_error *err;
};

void wt_eval_report_free(wt_eval_report *report)
{
    if (!report)
        return;
    struct report *whole = (struct report *)report; /* visible is its first member */
    wt__arena_dispose(&whole->arena);
    free(whole);
}

/* ---------------------------------------------------------------- what to do */

static int plan_cutoffs(struct evaluation *e)
{
    static const size_t usual[] = {1, 3, 5, 7, 10};
    struct plan *plan = &e->plan;
    for (size_t i = 0; i < WT_MAX_CUTOFFS; i++) {
        size_t k = e->options.cutoffs[i];
        if (k > WT_MAX_K)
            return wt__fail(e->err, WT_EINVAL, "the cutoff %zu is over the limit of %d", k, WT_MAX_K);
        for (size_t j = 0; j < plan->cutoff_count; j++)
            if (plan->cutoffs[j] == k)
                k = 0;
        if (k)
            plan->cutoffs[plan->cutoff_count++] = k;
    }
    if (plan->cutoff_count == 0) {
        memcpy(plan->cutoffs, usual, sizeof usual);
        plan->cutoff_count = sizeof usual / sizeof *usual;
    }
    size_t deepest = 0;
    for (size_t i = 0; i < plan->cutoff_count; i++)
        deepest = plan->cutoffs[i] > deepest ? plan->cutoffs[i] : deepest;
    plan->depth = deepest > RUN_DEPTH ? deepest : RUN_DEPTH;
    plan->latency_k = deepest > MIN_LATENCY_K ? deepest : MIN_LATENCY_K;
    return 0;
}

static const wt_recipe *recipe_named(const char *name)
{
    const wt_recipe *recipe = NULL;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++)
        if (strcmp(recipe->name, name) == 0)
            return recipe;
    return NULL;
}

static bool is_automatic(const char *name)
{
    return strcmp(name, "auto") == 0;
}

static int add_recipe(struct evaluation *e, struct str name)
{
    char *copy = wt__arena_copy(&e->scratch, wt__str_trim(name));
    if (!copy)
        return wt__fail_nomem(e->err);
    if (!*copy)
        return wt__fail(e->err, WT_EINVAL, "a name is missing in the list of recipes \"%s\"", e->options.recipes);
    const wt_recipe *recipe = recipe_named(copy);
    if (!recipe && !is_automatic(copy))
        return wt__fail(e->err, WT_ERECIPE, "there is no recipe \"%s\"", copy);
    for (size_t i = 0; i < e->recipe_count; i++)
        if (strcmp(e->recipes[i], copy) == 0)
            return wt__fail(e->err, WT_EINVAL, "the recipe \"%s\" is asked for twice", copy);
    if (e->recipe_count == MAX_RECIPES)
        return wt__fail(e->err, WT_EINVAL, "more than %d recipes are asked for", MAX_RECIPES);
    e->recipes[e->recipe_count++] = copy;
    return 0;
}

static bool is_ptr(const char *name)
{
    return wt__recipe_selector(name) == SELECTOR_PTR;
}

/* Whether anything can answer the recipe ptr. */
static bool can_ask(const struct evaluation *e)
{
    return e->options.oracle || e->options.chat_model;
}

/* The list that was asked for, or nothing yet when it was every recipe that can run: that is known with the engine. */
static int plan_recipes(struct evaluation *e)
{
    const char *at = e->options.recipes;
    int rc = 0;
    while (rc == 0 && at) {
        const char *comma = strchr(at, ',');
        rc = add_recipe(e, (struct str){at, comma ? (size_t)(comma - at) : strlen(at)});
        at = comma ? comma + 1 : NULL;
    }
    return rc;
}

static int plan_other_runs(struct evaluation *e)
{
    const char *text = e->options.other_runs;
    struct str line;
    while (text && wt__str_line(&text, &line)) {
        if (e->run_count == WT_MAX_OTHER_RUNS)
            return wt__fail(e->err, WT_EINVAL, "more than %d runs of other methods are named", WT_MAX_OTHER_RUNS);
        if (!(e->runs[e->run_count++] = wt__arena_copy(&e->scratch, line)))
            return wt__fail_nomem(e->err);
    }
    return 0;
}

/* Whether one of the recipes needs training, or may use it. */
static bool wants_training(const struct evaluation *e)
{
    for (size_t i = 0; i < e->recipe_count; i++)
        if (wt__learning_helps(e->recipes[i]))
            return true;
    return e->recipe_count == 0;
}

/* Whether one of the recipes needs a model, or may use one. */
static bool wants_model(const struct evaluation *e)
{
    for (size_t i = 0; i < e->recipe_count; i++) {
        const wt_recipe *recipe = recipe_named(e->recipes[i]);
        if (!recipe || recipe->needs_model)
            return true;
    }
    return e->recipe_count == 0;
}

/* Fills in every recipe that can run, when none was named: also what needs training, where there is some to be had.
 * What takes long to train is measured where it is there already. */
static void complete_recipes(struct evaluation *e, bool model)
{
    const wt_recipe *recipe = NULL;
    if (e->recipe_count > 0)
        return;
    e->lexical_only = !model;
    e->untrained = model && !e->learns;
    for (size_t i = 0; (recipe = wt_recipe_at(i)) && e->recipe_count < MAX_RECIPES - 1; i++)
        if ((model || !recipe->needs_model) && (e->learns || !wt__learning_helps(recipe->name)) &&
            (e->options.trained || !wt__learning_takes_long(recipe->name)) && (can_ask(e) || !is_ptr(recipe->name)))
            e->recipes[e->recipe_count++] = recipe->name;
    if (e->learns)
        e->recipes[e->recipe_count++] = "auto";
}

/* ---------------------------------------------------------------- ptr */

static int plan_ptr(struct evaluation *e)
{
    const wt_eval_options *o = &e->options;
    const char *base_retriever = o->base_retriever;
    if (o->oracle && (o->chat_url || o->chat_model || o->record_path || o->replay_path))
        return wt__fail(e->err, WT_EINVAL, "either the oracle answers or a language model, not both");
    if (base_retriever && !recipe_named(base_retriever) && !is_automatic(base_retriever))
        return wt__fail(e->err, WT_ERECIPE, "there is no recipe \"%.80s\"", base_retriever);
    if (base_retriever && !is_automatic(base_retriever) && recipe_named(base_retriever)->picks)
        return wt__fail(e->err, WT_ERECIPE, "the recipe %s gives a set; the base retriever of ptr is one that ranks",
                        base_retriever);
    for (size_t i = 0; i < e->recipe_count; i++)
        if (is_ptr(e->recipes[i]) && !can_ask(e))
            return wt__fail(
                e->err, WT_EINVAL,
                "the recipe ptr asks a language model: say which with --chat-model NAME, or have a stand-in "
                "answer with --oracle RATE");
    unsigned ablate = 0;
    int rc = wt__ptr_ablations(o->ablate, &ablate, e->err);
    if (rc < 0)
        return rc; /* now, and not after a training */
    e->plan.ptr = (struct ptr_plan){.base_retriever = base_retriever,
                                    .ablate = o->ablate,
                                    .once = o->chat_model && !o->record_path && !o->replay_path};
    if (!o->oracle)
        return 0;
    e->plan.ptr.oracle = &e->oracle.model;
    return wt__oracle_init(&e->oracle, o->oracle_error, e->seed, e->err);
}

/* The language model that is asked where the oracle is not. */
static int set_chat(struct evaluation *e)
{
    wt_open_options chat;
    wt_open_options_init(&chat);
    chat.chat_url = e->options.chat_url;
    chat.chat_model = e->options.chat_model;
    chat.chat_key = e->options.chat_key;
    chat.record_path = e->options.record_path;
    chat.replay_path = e->options.replay_path;
    return wt__engine_set_chat(e->engine, &chat, e->err);
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* What the figures of ptr and bundle depend on, and what was asked for them. */
static void ptr_settings(const struct evaluation *e, const struct measurement *m, const char *recipe,
                         struct buffer *json)
{
    const wt_eval_options *o = &e->options;
    const char *file = o->replay_path ? o->replay_path : o->record_path;
    double queries = (double)e->plan.queries;
    wt__buffer_text(json, ",\"base_retriever\":");
    wt__buffer_json(json, wt__str(o->base_retriever ? o->base_retriever : "auto"));
    if (!is_ptr(recipe))
        return;
    wt__buffer_text(json, ",\"ablate\":");
    wt__buffer_json(json, wt__str(o->ablate ? o->ablate : ""));
    wt__buffer_text(json, ",\"answers\":");
    wt__buffer_json(json, wt__str(o->oracle ? e->oracle.name : o->chat_model ? o->chat_model : ""));
    if (o->oracle)
        wt__buffer_printf(json, ",\"oracle\":%g,\"oracle_words\":\"descriptions\"", o->oracle_error);
    if (file) {
        wt__buffer_printf(json, ",\"%s\":", o->replay_path ? "replayed" : "recorded");
        wt__buffer_json(json, wt__str(file));
    }
    wt__buffer_printf(json, ",\"questions\":%.3f,\"tokens\":%.1f", sum_of(m->questions, e->plan.queries) / queries,
                      sum_of(m->tokens, e->plan.queries) / queries);
}

/* The recipes to train for: those that are measured, and what they stand on. with: room for one more. */
static size_t recipes_to_train(const struct evaluation *e, const char **with)
{
    size_t count = e->recipe_count;
    bool base_retriever = false;
    memcpy(with, e->recipes, count * sizeof *with);
    for (size_t i = 0; i < e->recipe_count; i++)
        base_retriever |= wt__has_base_retriever(e->recipes[i]);
    if (base_retriever)
        with[count++] = e->options.base_retriever ? e->options.base_retriever : "auto";
    return count;
}

/* ---------------------------------------------------------------- the catalogue */

enum { NOT_THERE = 0 /* among the numbers of providers */ };

/* Gives each relevant tool of the measured queries that is there the number of its provider; one without a provider
 * counts as its own. */
static int number_providers(struct evaluation *e, struct map *wanted, struct map *providers)
{
    wt_list_options page;
    uint32_t nobody = UINT32_MAX;
    wt_list_options_init(&page);
    page.limit = LIST_PAGE;
    for (bool more = true; more; page.offset += LIST_PAGE) {
        wt_tools *tools = NULL;
        int rc = wt_list(e->engine, &page, &tools, e->err);
        if (rc < 0)
            return rc;
        rc = 0;
        for (size_t i = 0; rc == 0 && i < tools->len; i++) {
            const wt_tool *tool = tools->items[i];
            uint32_t *owner = wt__map_get(wanted, wt__str(tool->source_id));
            if (!owner || *owner != NOT_THERE)
                continue;
            char *name = wt__arena_copy(&e->scratch, wt__str(tool->provider));
            uint32_t *number =
                name ? wt__map_insert(providers, wt__str(name), (uint32_t)providers->len + 1, NULL) : NULL;
            if (!number)
                rc = wt__fail_nomem(e->err);
            else
                *owner = *name ? *number : nobody--;
        }
        more = tools->len == LIST_PAGE;
        wt_tools_free(tools);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Which queries need several providers, and how many different relevant tools the catalogue lacks. */
static void look_at_gold(struct evaluation *e, const struct map *wanted)
{
    for (size_t i = 0; i < wanted->capacity; i++)
        e->lost_tools += wanted->slots[i].used && wanted->slots[i].value == NOT_THERE;
    for (size_t q = 0; q < e->plan.queries; q++) {
        const struct query *query = &e->dataset.queries[q];
        uint32_t first = NOT_THERE;
        for (size_t j = 0; j < query->judgement_count; j++) {
            uint32_t owner = query->judgements[j].gain > 0 ? *wt__map_get(wanted, query->judgements[j].tool) : first;
            e->multi_provider[q] |= first != NOT_THERE && owner != NOT_THERE && owner != first;
            first = first == NOT_THERE ? owner : first;
        }
    }
}

static int read_gold(struct evaluation *e)
{
    struct map wanted = {0}, providers = {0};
    e->multi_provider = wt__arena_array(&e->scratch, bool, e->plan.queries);
    int rc = e->multi_provider ? 0 : wt__fail_nomem(e->err);
    for (size_t q = 0; q < e->plan.queries && rc == 0; q++)
        for (size_t j = 0; rc == 0 && j < e->dataset.queries[q].judgement_count; j++)
            if (e->dataset.queries[q].judgements[j].gain > 0 &&
                !wt__map_insert(&wanted, e->dataset.queries[q].judgements[j].tool, NOT_THERE, NULL))
                rc = wt__fail_nomem(e->err);
    if (rc == 0)
        rc = number_providers(e, &wanted, &providers);
    if (rc == 0)
        look_at_gold(e, &wanted);
    wt__map_dispose(&wanted);
    wt__map_dispose(&providers);
    return rc;
}

/* A recipe that was named and cannot do without training ("auto" can); NULL when there is none. */
static const char *named_learner(const struct evaluation *e)
{
    for (size_t i = 0; i < e->recipe_count; i++)
        if (!is_automatic(e->recipes[i]) && recipe_named(e->recipes[i])->needs_training)
            return e->recipes[i];
    return NULL;
}

/* The store of the corpus alone, or the one with recorded use where a recipe learns of that. */
static int open_store(struct evaluation *e, const char *dir, bool model)
{
    struct corpus_options corpus = {.cache_dir = e->options.cache_dir,
                                    .model = model ? e->options.model : "",
                                    .models_dir = e->options.models_dir,
                                    .progress = e->options.progress,
                                    .progress_context = e->options.progress_context};
    if (!e->learns)
        return wt__corpus_open(&e->engine, dir, &corpus, e->err);
    e->learning.options = e->options;
    e->learning.options.seed = e->seed;
    int rc = wt__learning_plan(&e->learning, dir, e->err);
    return rc < 0 ? rc : wt__learning_open(&e->learning, &e->engine);
}

/* A trained recipe that was not named and is not there after training is left out. */
static void drop_untrained(struct evaluation *e)
{
    const struct trained *trained = NULL;
    size_t kept = 0;
    wt__engine_trained(e->engine, &trained, NULL);
    for (size_t i = 0; i < e->recipe_count; i++) {
        const wt_recipe *recipe = recipe_named(e->recipes[i]);
        if (is_ptr(e->recipes[i]) || wt__learning_there(trained, e->recipes[i]) ||
            (recipe && !wt__learning_helps(recipe->name)))
            e->recipes[kept++] = e->recipes[i];
    }
    e->recipe_count = kept;
}

static int open_catalogue(struct evaluation *e, const char *dir)
{
    bool page = e->options.html_path != NULL, named = e->recipe_count > 0;
    bool model = wants_model(e) || page, none = e->options.model && !*e->options.model;
    bool possible = wt__learning_possible(dir) || e->options.trained;
    e->learns = (wants_training(e) || page) && model && !none && possible;
    if (!possible && named_learner(e))
        return wt__fail(e->err, WT_ERECIPE,
                        "the recipe %s needs training, and %s has no qrels/train.tsv to learn from; --trained FOLDER "
                        "measures models of other data",
                        named_learner(e), dir);
    int rc = open_store(e, dir, model);
    if (rc == 0)
        rc = set_chat(e);
    if (rc < 0)
        return rc;
    e->engine->dense_weight = e->dense_weight;
    model = model && wt_dimension(e->engine, NULL) > 0;
    if (!model && named_learner(e))
        return wt_dimension(e->engine, e->err);
    e->learns = e->learns && model;
    complete_recipes(e, model);
    if (model) {
        int64_t encoded = wt_embed_missing(e->engine, e->options.progress, e->options.progress_context, e->err);
        rc = encoded < 0 ? (int)encoded : 0;
    }
    const char *taught[MAX_RECIPES + 1];
    size_t taught_count = recipes_to_train(e, taught);
    if (rc == 0 && e->learns)
        rc = wt__learning_train(&e->learning, e->engine, taught, taught_count);
    if (rc == 0 && e->learns && !named)
        drop_untrained(e);
    if (rc == 0)
        rc = wt_info(e->engine, &e->info, e->err);
    return rc < 0 ? rc : read_gold(e);
}

/* ---------------------------------------------------------------- what comes out */

/* A copy in the report of what the buffer holds, which is emptied; NULL when memory is out. */
static char *keep(struct evaluation *e, struct buffer *buffer)
{
    char *copy = buffer->failed ? NULL : wt__arena_copy(&e->report->arena, wt__buffer_view(buffer));
    wt__buffer_dispose(buffer);
    return copy;
}

/* What meaning weighed in hybrid. */
static void hybrid_settings(const struct evaluation *e, const struct measurement *m, struct buffer *json)
{
    const struct recipe *hybrid = &wt__recipes[RECIPE_HYBRID];
    const struct encoder *encoder = NULL;
    if (strcmp(m->ran, hybrid->public.name) != 0 || wt__engine_encoder(e->engine, &encoder, NULL) < 0)
        return;
    const struct retriever ran = wt__untrained_retriever(e->engine, hybrid->retriever, encoder);
    const double usual = (double)ran.weights[SOURCE_DENSE], brief = (double)ran.brief;
    wt__buffer_printf(json, brief == usual ? ",\"dense_weight\":%g" : ",\"dense_weight\":[%g,%g]", usual, brief);
}

static int settings_of(struct evaluation *e, const struct measurement *m, const char *recipe, char **out)
{
    struct buffer json = {0};
    int rc = 0;
    const struct plan *plan = &e->plan;
    wt__buffer_text(&json, "{\"recipe\":");
    wt__buffer_json(&json, wt__str(recipe));
    wt__buffer_text(&json, ",\"ran\":");
    wt__buffer_json(&json, wt__str(m->ran));
    wt__buffer_text(&json, ",\"model\":");
    wt__buffer_json(&json, wt__str(e->info.model));
    wt__buffer_text(&json, ",\"version\":");
    wt__buffer_json(&json, wt__str(wt_version()));
    wt__buffer_text(&json, ",\"k\":[");
    for (size_t c = 0; c < plan->cutoff_count; c++)
        wt__buffer_printf(&json, "%s%zu", c ? "," : "", plan->cutoffs[c]);
    wt__buffer_printf(&json,
                      "],\"depth\":%zu,\"latency_k\":%zu,\"latency_queries\":%zu,\"bootstrap\":%zu,\"seed\":%llu",
                      plan->depth, plan->latency_k, m->timed, e->resamples, (unsigned long long)e->seed);
    hybrid_settings(e, m, &json);
    if (m->why) {
        wt__buffer_text(&json, ",\"why\":");
        wt__buffer_json(&json, wt__str(m->why));
    }
    if (plan->max_per_provider)
        wt__buffer_printf(&json, ",\"max_per_provider\":%zu", plan->max_per_provider);
    if (plan->copies)
        wt__buffer_text(&json, ",\"copies\":true");
    if (plan->as_typed)
        wt__buffer_text(&json, ",\"as_typed\":true");
    if (e->options.usages)
        wt__buffer_printf(&json, ",\"usages\":%zu", e->options.usages);
    if (wt__has_base_retriever(recipe))
        ptr_settings(e, m, recipe, &json);
    if (e->learns)
        rc = wt__learning_settings(&e->learning, e->engine, recipe, &json);
    wt__buffer_char(&json, '}');
    *out = keep(e, &json);
    return rc < 0 || *out ? rc : wt__fail_nomem(e->err);
}

/* What a reader of the row must know; *out stays NULL when there is nothing. */
static int notice_of(struct evaluation *e, const struct measurement *m, const char *recipe, const char **out)
{
    const struct trained *trained = NULL;
    struct buffer text = {0};
    if (m->notice)
        wt__buffer_printf(&text, "; %s", m->notice);
    if (e->lexical_only)
        wt__buffer_text(&text, "; there is no model, so only recipes that need none were measured");
    if (e->untrained)
        wt__buffer_text(&text, "; the set has no train split, so recipes that need training were left out");
    if (e->learns && e->learning.other_data)
        wt__engine_trained(e->engine, &trained, NULL);
    if (wt__trained_recipe(trained, recipe))
        wt__buffer_printf(&text, "; the models were trained on other data (%s), since the set has no train split",
                          e->learning.trained_on ? e->learning.trained_on : "which they do not name");
    if (e->learns && e->learning.seconds >= 1)
        wt__buffer_printf(&text, "; what needed training was trained first, in %.0f s, and is kept in %s",
                          e->learning.seconds, e->learning.models);
    if (e->lost_tools)
        wt__buffer_printf(&text, "; %zu relevant tools are not in the catalogue and count as missed", e->lost_tools);
    if (e->dataset.unknown_queries)
        wt__buffer_printf(&text, "; %zu judged queries are not in queries.jsonl", e->dataset.unknown_queries);
    if (e->dataset.barren_queries)
        wt__buffer_printf(&text, "; %zu queries have no relevant tool", e->dataset.barren_queries);
    *out = NULL;
    if (text.len == 0 && !text.failed)
        return 0;
    char *whole = keep(e, &text);
    if (!whole)
        return wt__fail_nomem(e->err);
    *out = whole + 2;
    return 0;
}

static char *metric_name(struct evaluation *e, size_t metric)
{
    static const char *const kinds[] = {"recall", "ndcg", "complete"};
    struct buffer name = {0};
    size_t cutoffs = e->plan.cutoff_count;
    if (metric == 3 * cutoffs)
        wt__buffer_text(&name, "mrr");
    else
        wt__buffer_printf(&name, "%s@%zu", kinds[metric / cutoffs], e->plan.cutoffs[metric % cutoffs]);
    return keep(e, &name);
}

/* How well the recipe told requests for one provider from those for several. */
static void judge_kinds(const struct evaluation *e, const struct measurement *m, wt_eval_row *row)
{
    double right = 0, squares = 0;
    for (size_t q = 0; q < e->plan.queries; q++) {
        double error = m->multi_provider_probability[q] - (e->multi_provider[q] ? 1 : 0);
        right += fabs(error) < 0.5;
        squares += error * error;
    }
    row->kind_brier = squares / (double)e->plan.queries; /* NaN where any of them is */
    row->kind_accuracy = isnan(squares) ? squares : right / (double)e->plan.queries;
}

static double time_of(const struct measurement *m, double percent)
{
    return m->timed > 0 ? wt__percentile(m->milliseconds, m->timed, percent) : NAN;
}

static int fill_row(struct evaluation *e, wt_eval_row *row, const struct measurement *m, const char *recipe)
{
    size_t metrics = wt__plan_metrics(&e->plan), picks = m->picks ? PICK_METRICS : 0;
    size_t all = metrics + picks + m->answerability_count;
    wt_metric *values = wt__arena_array(&e->report->arena, wt_metric, all);
    const void *shown = wt__arena_pointers(&e->report->arena, values, all, sizeof *values);
    char *set = wt__arena_copy(&e->report->arena, wt__str(e->dataset.name));
    char *split = wt__arena_copy(&e->report->arena, wt__str(e->split));
    char *name = wt__arena_copy(&e->report->arena, wt__str(recipe));
    char *settings = NULL;
    int rc = settings_of(e, m, recipe, &settings);
    if (rc < 0)
        return rc;
    if (!shown || !set || !split || !name || !settings)
        return wt__fail_nomem(e->err);
    for (size_t i = 0; i < metrics; i++) {
        double sum = 0;
        for (size_t q = 0; q < e->plan.queries; q++)
            sum += m->values[q * metrics + i];
        values[i] = (wt_metric){metric_name(e, i), sum / (double)e->plan.queries};
        if (!values[i].name)
            return wt__fail_nomem(e->err);
    }
    for (size_t i = 0; i < picks; i++) {
        double sum = 0;
        for (size_t q = 0; q < e->plan.queries; q++)
            sum += m->picks[q * PICK_METRICS + i];
        values[metrics + i] = (wt_metric){i < SET_METRICS ? wt__set_metrics[i].name : wt__pick_metrics[i - SET_METRICS],
                                          sum / (double)e->plan.queries};
    }
    for (size_t i = 0; i < m->answerability_count; i++)
        values[metrics + picks + i] = (wt_metric){wt__answerability_names[i], m->answerability[i]};
    *row = (wt_eval_row){.set = set,
                         .split = split,
                         .recipe = name,
                         .tools = e->info.tools,
                         .queries = e->plan.queries,
                         .metric_count = all,
                         .metrics = shown,
                         .p50_ms = time_of(m, 50),
                         .p95_ms = time_of(m, 95),
                         .p99_ms = time_of(m, 99),
                         .settings = settings};
    judge_kinds(e, m, row);
    return notice_of(e, m, row->recipe, &row->notice);
}

/* b against a at the main cutoff, COMPARED comparisons. */
static int compare(struct evaluation *e, const struct measurement *a, const struct measurement *b,
                   const wt_eval_row *row_a, const wt_eval_row *row_b, wt_eval_comparison *out)
{
    size_t metrics = wt__plan_metrics(&e->plan), cutoffs = e->plan.cutoff_count, main = cutoffs - 1;
    for (size_t c = 0; c < cutoffs; c++)
        if (e->plan.cutoffs[c] == MAIN_CUTOFF)
            main = c;
    double *differences = wt__alloc_array(e->plan.queries, sizeof *differences);
    int rc = differences ? 0 : wt__fail_nomem(e->err);
    for (size_t i = 0; rc == 0 && i < COMPARED; i++) {
        size_t metric = i * cutoffs + main;
        struct bootstrap result;
        for (size_t q = 0; q < e->plan.queries; q++)
            differences[q] = b->values[q * metrics + metric] - a->values[q * metrics + metric];
        rc = wt__bootstrap(differences, e->plan.queries, e->resamples, e->seed, &result, e->err);
        if (rc == 0)
            out[i] = (wt_eval_comparison){row_a->recipe,     row_b->recipe, row_a->metrics[metric]->name,
                                          result.difference, result.low,    result.high,
                                          result.p};
    }
    free(differences);
    return rc;
}

/* PATH, or with several recipes PATH with RECIPE before its extension. */
static char *run_path(struct evaluation *e, const char *recipe)
{
    const char *path = e->options.run_path;
    if (e->recipe_count == 1)
        return wt__arena_copy(&e->scratch, wt__str(path));
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t stem = dot && dot > base ? (size_t)(dot - path) : strlen(path);
    struct buffer name = {0};
    wt__buffer_printf(&name, "%.*s.%s%s", (int)stem, path, recipe, path + stem);
    char *copy = name.failed ? NULL : wt__arena_copy(&e->scratch, wt__buffer_view(&name));
    wt__buffer_dispose(&name);
    return copy;
}

static int measure_recipe(struct evaluation *e, const char *recipe, struct measurement *out)
{
    char *path = e->options.run_path ? run_path(e, recipe) : NULL;
    if (e->options.run_path && !path)
        return wt__fail_nomem(e->err);
    int rc = wt__measure(out, e->engine, &e->dataset, &e->plan, recipe, path, &e->progress, e->err);
    if (rc < 0 || strcmp(recipe, TRAINED_SET) != 0)
        return rc;
    return wt__measure_answerability(out->answerability, &out->answerability_count, e->engine, &e->dataset,
                                     e->plan.queries, e->options.out_of_domain ? &e->out_of_domain : NULL, &e->progress,
                                     e->err);
}

static int measure_recipes(struct evaluation *e)
{
    size_t count = e->recipe_count + e->run_count;
    wt_eval_row *rows = wt__arena_array(&e->report->arena, wt_eval_row, count);
    wt_eval_comparison *comparisons = wt__arena_array(&e->report->arena, wt_eval_comparison, count * COMPARED);
    e->measured = wt__arena_array(&e->scratch, struct measurement, count);
    size_t compared = count ? (count - 1) * COMPARED : 0;
    const void *row_pointers = wt__arena_pointers(&e->report->arena, rows, count, sizeof *rows);
    const void *pointers = wt__arena_pointers(&e->report->arena, comparisons, compared, sizeof *comparisons);
    if (!e->measured || !row_pointers || !pointers)
        return wt__fail_nomem(e->err);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const char *name = i < e->recipe_count ? e->recipes[i] : NULL;
        rc = name ? measure_recipe(e, name, &e->measured[i])
                  : wt__measure_other_run(&e->measured[i], e->engine, &e->dataset, &e->plan,
                                          e->runs[i - e->recipe_count], &name, e->err);
        if (rc == 0)
            rc = fill_row(e, &rows[i], &e->measured[i], name);
        if (rc == 0 && i > 0)
            rc = compare(e, &e->measured[0], &e->measured[i], &rows[0], &rows[i], comparisons + (i - 1) * COMPARED);
    }
    e->report->visible = (wt_eval_report){count, compared, row_pointers, pointers};
    return rc;
}

static int write_qrels(struct evaluation *e)
{
    struct buffer lines = {0};
    for (size_t q = 0; q < e->plan.queries; q++)
        for (size_t j = 0; j < e->dataset.queries[q].judgement_count; j++)
            wt__trec_qrels_line(&lines, e->dataset.queries[q].id, &e->dataset.queries[q].judgements[j]);
    int rc =
        lines.failed ? wt__fail_nomem(e->err) : wt__file_replace(e->options.qrels_path, lines.ptr, lines.len, e->err);
    wt__buffer_dispose(&lines);
    return rc;
}

static int write_page(struct evaluation *e)
{
    const struct page_source source = {.engine = e->engine,
                                       .dataset = &e->dataset,
                                       .plan = &e->plan,
                                       .report = &e->report->visible,
                                       .measured = e->measured,
                                       .seed = e->seed,
                                       .resamples = e->resamples};
    return wt__page_write(e->options.html_path, &source, &e->progress, e->err);
}

static int evaluate(struct evaluation *e, const char *dir)
{
    int rc = plan_cutoffs(e);
    if (rc == 0)
        rc = plan_recipes(e);
    if (rc == 0)
        rc = plan_other_runs(e);
    if (rc == 0)
        rc = plan_ptr(e);
    if (rc == 0)
        rc = wt__dataset_read(&e->dataset, dir, e->split, e->err);
    if (rc < 0)
        return rc;
    size_t max = e->options.max_queries;
    e->plan.max_per_provider = e->options.max_per_provider;
    e->plan.copies = e->options.copies != 0;
    e->plan.as_typed = e->options.as_typed != 0;
    e->plan.queries = max && max < e->dataset.len ? max : e->dataset.len;
    size_t timed = e->options.timed ? e->options.timed : LATENCY_SAMPLE;
    e->plan.timed = e->plan.queries < timed ? e->plan.queries : timed;
    for (size_t q = 0; q < e->plan.queries; q++)
        e->plan.relevant += wt__relevant(&e->dataset.queries[q]);
    if (e->options.out_of_domain)
        rc = wt__dataset_read(&e->out_of_domain, e->options.out_of_domain, e->split, e->err);
    if (rc == 0)
        rc = open_catalogue(e, dir);
    if (rc == 0)
        rc = measure_recipes(e);
    if (rc == 0 && e->options.qrels_path)
        rc = write_qrels(e);
    if (rc == 0 && e->options.html_path)
        rc = write_page(e);
    return rc;
}

int wt_eval(const char *dir, const wt_eval_options *options, wt_eval_report **out, wt_error *err)
{
    *out = NULL;
    struct evaluation e = {.err = err};
    wt_catalog_info_init(&e.info);
    int rc = wt__options_read(&e.options, sizeof e.options, options, err);
    if (rc < 0)
        return rc;
    e.split = e.options.split ? e.options.split : "test";
    e.seed = e.options.seed ? e.options.seed : DEFAULT_SEED;
    e.resamples = e.options.bootstrap ? e.options.bootstrap : DEFAULT_RESAMPLES;
    if (e.resamples > MAX_RESAMPLES)
        return wt__fail(err, WT_EINVAL, "%zu resamples are asked for; at most %d are drawn", e.resamples,
                        MAX_RESAMPLES);
    rc = wt__dense_weight_asked(&e.dense_weight, e.options.dense_weight, e.options.brief_weight, err);
    if (rc < 0)
        return rc;
    e.report = calloc(1, sizeof *e.report);
    if (!e.report)
        return wt__fail_nomem(err);
    wt__progress_init(&e.progress, e.options.progress, e.options.progress_context);
    rc = evaluate(&e, dir);
    wt__progress_dispose(&e.progress);
    for (size_t i = 0; e.measured && i < e.recipe_count + e.run_count; i++)
        wt__measurement_dispose(&e.measured[i]);
    wt__learning_dispose(&e.learning);
    wt_close(e.engine);
    wt__dataset_dispose(&e.dataset);
    wt__dataset_dispose(&e.out_of_domain);
    wt__arena_dispose(&e.scratch);
    if (rc < 0) {
        wt_eval_report_free(&e.report->visible);
        return rc;
    }
    *out = &e.report->visible;
    return 0;
}
