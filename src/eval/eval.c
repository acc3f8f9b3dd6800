/* eval.c: wt_eval. It measures the results that a caller of wt_find or wt_pick would get.
 *
 *   data set -> queries and judgements (dataset)
 *   corpus -> cached store (changes/corpus); for learned recipes, a store with recorded use and models (learning)
 *   each recipe over the queries (measure) -> means, percentiles, TREC run
 *   each recipe against the first, paired by query (bootstrap)
 *
 * A relevant tool is missing in the catalogue if the corpus lacks it or the importer rejected it. A missing tool stays
 * relevant, so every recipe misses it. The row's notice has the number of missing tools. */
#include <math.h>
#include <stdlib.h>

#include "base/bootstrap.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/sort.h"
#include "choose/ptr.h"
#include "encoder/config.h"
#include "changes/corpus.h"
#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/sized_options.h"
#include "query/ptr_sources.h"
#include "recipe/recipes.h"
#include "eval/internal.h"
#include "eval/report.h"

enum {
    MAX_RECIPES = 32,
    MAX_RESAMPLES = 1000000,
    DEFAULT_RESAMPLES = 10000,
    DEFAULT_SEED = 1,
    APART = 4,         /* figures of picked sets, for seen and unseen sets of tools */
    COMPARED = 3,      /* recall, ndcg and complete at the main cutoff */
    LIST_PAGE = 10000, /* tools per wt_list */
    MIN_LATENCY_K = 10
};

struct owned_report {
    wt_eval_report visible;
    struct arena arena;
};

struct eval_run {
    wt_eval_options options;
    const char *split;
    uint64_t seed;
    size_t resamples;
    struct eval_plan plan;
    const char *without, *variant, *oracle_rate; /* settings of options.experiment, in `scratch`; NULL if absent */
    struct oracle oracle;                        /* answers the questions of the recipe ptr if oracle_rate is set */
    const char *recipes[MAX_RECIPES];
    size_t recipe_count;
    const char *runs[WT_MAX_OTHER_RUNS]; /* paths of TREC runs of other programs */
    size_t run_count;
    struct arena scratch;
    struct dataset dataset, out_of_domain; /* out_of_domain: requests that no tool can answer */
    wt_engine *engine;
    wt_catalog_info info;
    size_t lost_tools;    /* relevant tools missing in the catalogue */
    bool *multi_provider; /* [plan.queries] true if the relevant tools belong to several providers */
    bool *unseen;         /* [plan.queries] true if no training request needs the same set of tools; NULL without
                             training requests */
    size_t unseen_count;
    bool lexical_only; /* the caller named no recipe, and no model is in use */
    bool untrained;    /* the caller named no recipe, and there is a model but no training data */
    bool learns;       /* a recipe or the page uses trained models; `learning` is set */
    struct eval_learning learning;
    struct measurement *measured; /* [recipe_count + run_count] */
    struct progress progress;
    struct owned_report *report;
    wt_error *err;
};

void wt_eval_report_free(wt_eval_report *report)
{
    if (!report)
        return;
    struct owned_report *whole = (struct owned_report *)report; /* visible is its first member */
    wt__arena_dispose(&whole->arena);
    free(whole);
}

/* ---------------------------------------------------------------- planning */

static int plan_cutoffs(struct eval_run *e)
{
    static const size_t usual[] = {1, 3, 5, 7, 10};
    struct eval_plan *plan = &e->plan;
    for (size_t i = 0; i < WT_MAX_CUTOFFS; i++) {
        size_t k = e->options.cutoffs[i];
        if (k > WT_MAX_K)
            return wt__fail(e->err, WT_EINVAL, "cutoff %zu is over the limit of %d", k, WT_MAX_K);
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

static const wt_recipe *find_public_recipe(const char *name)
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

static int add_recipe(struct eval_run *e, struct str name)
{
    char *copy = wt__arena_copy(&e->scratch, wt__str_trim(name));
    WT_CHECK_ALLOC(copy, e->err);
    if (!*copy)
        return wt__fail(e->err, WT_EINVAL, "list of recipes \"%s\" has an empty name", e->options.recipes);
    const wt_recipe *recipe = find_public_recipe(copy);
    if (!recipe && !is_automatic(copy))
        return wt__fail(e->err, WT_ERECIPE, "there is no recipe \"%s\"", copy);
    for (size_t i = 0; i < e->recipe_count; i++)
        if (strcmp(e->recipes[i], copy) == 0)
            return wt__fail(e->err, WT_EINVAL, "recipe \"%s\" is listed twice", copy);
    if (e->recipe_count == MAX_RECIPES)
        return wt__fail(e->err, WT_EINVAL, "too many recipes; the limit is %d", MAX_RECIPES);
    e->recipes[e->recipe_count++] = copy;
    return 0;
}

static bool is_ptr(const char *name)
{
    return wt__recipe_selector(name) == SELECTOR_PTR;
}

/* True if an oracle or a language model can answer the questions of the recipe ptr. */
static bool has_ptr_answers(const struct eval_run *e)
{
    return e->oracle_rate || e->options.chat_model;
}

/* Parses the list of recipes. If the list is NULL, complete_recipes adds every recipe that can run once the engine is
 * open. */
static int plan_recipes(struct eval_run *e)
{
    const char *at = e->options.recipes;
    while (at) {
        const char *comma = strchr(at, ',');
        WT_TRY(add_recipe(e, (struct str){at, comma ? (size_t)(comma - at) : strlen(at)}));
        at = comma ? comma + 1 : NULL;
    }
    return 0;
}

static int plan_other_runs(struct eval_run *e)
{
    const char *text = e->options.other_runs;
    struct str line;
    while (text && wt__str_line(&text, &line)) {
        if (e->run_count == WT_MAX_OTHER_RUNS)
            return wt__fail(e->err, WT_EINVAL, "too many runs of other methods; the limit is %d", WT_MAX_OTHER_RUNS);
        if (!(e->runs[e->run_count++] = wt__arena_copy(&e->scratch, line)))
            return wt__fail_nomem(e->err);
    }
    return 0;
}

/* True if one of the recipes needs or can use training, or if the caller named no recipe. */
static bool uses_training(const struct eval_run *e)
{
    for (size_t i = 0; i < e->recipe_count; i++)
        if (wt__recipe_uses_training(e->recipes[i]))
            return true;
    return e->recipe_count == 0;
}

/* True if one of the recipes needs or can use a model, or if the caller named no recipe. */
static bool uses_model(const struct eval_run *e)
{
    for (size_t i = 0; i < e->recipe_count; i++) {
        const wt_recipe *recipe = find_public_recipe(e->recipes[i]);
        if (!recipe || recipe->needs_model)
            return true;
    }
    return e->recipe_count == 0;
}

/* If the caller named no recipe, fills in every recipe that can run. Recipes with training are included if training is
 * possible. Recipes that train slowly are included only if the caller has models (options.trained). Joint is left out:
 * a search takes 60 ms. */
static void complete_recipes(struct eval_run *e, bool model)
{
    const wt_recipe *recipe = NULL;
    if (e->recipe_count > 0)
        return;
    e->lexical_only = !model;
    e->untrained = model && !e->learns;
    for (size_t i = 0; (recipe = wt_recipe_at(i)) && e->recipe_count < MAX_RECIPES - 1; i++)
        if ((model || !recipe->needs_model) && (e->learns || !wt__recipe_uses_training(recipe->name)) &&
            (e->options.trained || !wt__recipe_trains_slowly(recipe->name)) &&
            wt__recipe_named(recipe->name) != &wt__recipes[RECIPE_JOINT] &&
            (has_ptr_answers(e) || !is_ptr(recipe->name)))
            e->recipes[e->recipe_count++] = recipe->name;
    if (e->learns)
        e->recipes[e->recipe_count++] = "auto";
}

/* ---------------------------------------------------------------- ptr */

static int read_experiment(struct eval_run *e)
{
    const struct experiment_setting settings[] = {
        {"without", &e->without}, {"variant", &e->variant}, {"oracle", &e->oracle_rate}};
    char *end;
    WT_TRY(wt__experiment_read(e->options.experiment, settings, 3, &e->scratch, e->err));
    double rate = e->oracle_rate ? strtod(e->oracle_rate, &end) : 0;
    if (e->oracle_rate && (end == e->oracle_rate || *end || !(rate >= 0 && rate <= 1)))
        return wt__fail(e->err, WT_EINVAL, "experiment: oracle is an error rate from 0 to 1, not \"%.40s\"",
                        e->oracle_rate);
    return 0;
}

static int plan_ptr(struct eval_run *e)
{
    const wt_eval_options *o = &e->options;
    const char *base_retriever = o->base_retriever;
    if (e->oracle_rate && (o->chat_url || o->chat_model || o->record_path || o->replay_path))
        return wt__fail(e->err, WT_EINVAL, "use --oracle or a language model, not both");
    if (base_retriever && !find_public_recipe(base_retriever) && !is_automatic(base_retriever))
        return wt__fail(e->err, WT_ERECIPE, "there is no recipe \"%.80s\"", base_retriever);
    if (base_retriever && !is_automatic(base_retriever) && find_public_recipe(base_retriever)->picks)
        return wt__fail(e->err, WT_ERECIPE, "recipe %s picks a set; the base retriever of ptr must rank",
                        base_retriever);
    for (size_t i = 0; i < e->recipe_count; i++)
        if (is_ptr(e->recipes[i]) && !has_ptr_answers(e))
            return wt__fail(e->err, WT_EINVAL,
                            "recipe ptr needs a language model: name one with --chat-model NAME, or simulate one with "
                            "--oracle RATE");
    unsigned ablate = 0, variant = 0;
    WT_TRY(wt__ptr_ablations(e->without, &ablate, e->err)); /* Validate the options now, before hours of training. */
    WT_TRY(wt__ptr_variants(e->variant, &variant, e->err));
    WT_CLEANUP(wt__buffer_dispose) struct buffer experiment = {0};
    if (e->without)
        wt__buffer_printf(&experiment, "without=%s", e->without);
    if (e->variant)
        wt__buffer_printf(&experiment, "%svariant=%s", e->without ? "; " : "", e->variant);
    const char *copy = experiment.failed ? NULL : wt__arena_copy(&e->scratch, wt__buffer_view(&experiment));
    WT_CHECK_ALLOC(copy, e->err);
    e->plan.ptr = (struct ptr_plan){.base_retriever = base_retriever,
                                    .experiment = e->without || e->variant ? copy : NULL,
                                    .once = o->chat_model && !o->record_path && !o->replay_path};
    if (!e->oracle_rate)
        return 0;
    e->plan.ptr.oracle = &e->oracle.model;
    return wt__oracle_init(&e->oracle, strtod(e->oracle_rate, NULL), e->seed, e->err);
}

/* Gives the engine the language model of the options. */
static int set_eval_chat(struct eval_run *e)
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

static double sum_values(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Appends the settings of ptr and bundle, and for ptr the mean number of questions and tokens per query. */
static void write_ptr_settings(const struct eval_run *e, const struct measurement *m, const char *recipe,
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
    wt__buffer_json(json, wt__str(e->without ? e->without : ""));
    if (e->variant) {
        wt__buffer_text(json, ",\"variant\":");
        wt__buffer_json(json, wt__str(e->variant));
    }
    wt__buffer_text(json, ",\"answers\":");
    wt__buffer_json(json, wt__str(e->oracle_rate ? e->oracle.name : o->chat_model ? o->chat_model : ""));
    if (e->oracle_rate)
        wt__buffer_printf(json, ",\"oracle\":%g,\"oracle_words\":\"descriptions\"", strtod(e->oracle_rate, NULL));
    if (file) {
        wt__buffer_printf(json, ",\"%s\":", o->replay_path ? "replayed" : "recorded");
        wt__buffer_json(json, wt__str(file));
    }
    wt__buffer_printf(json, ",\"questions\":%.3f,\"tokens\":%.1f", sum_values(m->questions, e->plan.queries) / queries,
                      sum_values(m->tokens, e->plan.queries) / queries);
}

/* Sets `with` [recipe_count + 1] to the recipes to train for: the measured recipes and their base retriever. Returns
 * their number. */
static size_t collect_recipes_to_train(const struct eval_run *e, const char **with)
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

enum { MISSING_TOOL = 0 /* provider number of a tool that is missing in the catalogue */ };

static void dispose_listed_tools(wt_tools **tools)
{
    wt_tools_free(*tools);
}

/* Sets the provider number of each relevant tool in the catalogue. wanted: source id -> provider number. A tool without
 * a provider gets a number of its own. */
static int number_listed_providers(struct eval_run *e, struct map *wanted, struct map *providers)
{
    wt_list_options page;
    uint32_t own_number = UINT32_MAX;
    wt_list_options_init(&page);
    page.limit = LIST_PAGE;
    for (bool more = true; more; page.offset += LIST_PAGE) {
        WT_CLEANUP(dispose_listed_tools) wt_tools *tools = NULL;
        int rc = wt_list(e->engine, &page, &tools, e->err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < tools->len; i++) {
            const wt_tool *tool = tools->items[i];
            uint32_t *owner = wt__map_get(wanted, wt__str(tool->source_id));
            if (!owner || *owner != MISSING_TOOL)
                continue;
            char *name = wt__arena_copy(&e->scratch, wt__str(tool->provider));
            WT_CHECK_ALLOC(name, e->err);
            uint32_t *number = wt__map_insert(providers, wt__str(name), (uint32_t)providers->len + 1, NULL);
            WT_CHECK_ALLOC(number, e->err);
            *owner = *name ? *number : own_number--;
        }
        more = tools->len == LIST_PAGE;
    }
    return 0;
}

/* Finds the queries whose relevant tools belong to several providers. Counts the distinct relevant tools that are
 * missing in the catalogue. */
static void inspect_gold(struct eval_run *e, const struct map *wanted)
{
    for (size_t i = 0; i < wanted->capacity; i++)
        e->lost_tools += wanted->slots[i].used && wanted->slots[i].value == MISSING_TOOL;
    for (size_t q = 0; q < e->plan.queries; q++) {
        const struct query *query = &e->dataset.queries[q];
        uint32_t first = MISSING_TOOL;
        for (size_t j = 0; j < query->judgement_count; j++) {
            uint32_t owner = query->judgements[j].gain > 0 ? *wt__map_get(wanted, query->judgements[j].tool) : first;
            e->multi_provider[q] |= first != MISSING_TOOL && owner != MISSING_TOOL && owner != first;
            first = first == MISSING_TOOL ? owner : first;
        }
    }
}

static bool picks_sets(const struct eval_run *e)
{
    for (size_t i = 0; i < e->recipe_count; i++) {
        const wt_recipe *recipe = find_public_recipe(e->recipes[i]);
        if (recipe && recipe->picks)
            return true;
    }
    return false;
}

/* Finds the queries whose set of tools no training request needs. Does nothing if no recipe picks sets, or if the
 * training requests are missing, or measured. */
static int mark_unseen(struct eval_run *e, const char *dir)
{
    WT_CLEANUP(wt__dataset_dispose) struct dataset train = {0};
    if (!picks_sets(e) || !wt__dataset_has_split(dir, "train") || strcmp(e->split, "train") == 0)
        return 0;
    e->unseen = wt__arena_array(&e->scratch, bool, e->plan.queries);
    WT_CHECK_ALLOC(e->unseen, e->err);
    WT_TRY(wt__dataset_read(&train, dir, "train", e->err));
    WT_TRY(wt__mark_unseen_sets(&e->dataset, e->plan.queries, &train, e->unseen, e->err));
    for (size_t q = 0; q < e->plan.queries; q++)
        e->unseen_count += e->unseen[q];
    return 0;
}

static int read_gold(struct eval_run *e)
{
    WT_CLEANUP(wt__map_dispose) struct map wanted = {0};
    WT_CLEANUP(wt__map_dispose) struct map providers = {0};
    e->multi_provider = wt__arena_array(&e->scratch, bool, e->plan.queries);
    WT_CHECK_ALLOC(e->multi_provider, e->err);
    for (size_t q = 0; q < e->plan.queries; q++)
        for (size_t j = 0; j < e->dataset.queries[q].judgement_count; j++)
            if (e->dataset.queries[q].judgements[j].gain > 0)
                WT_CHECK_ALLOC(wt__map_insert(&wanted, e->dataset.queries[q].judgements[j].tool, MISSING_TOOL, NULL),
                               e->err);
    WT_TRY(number_listed_providers(e, &wanted, &providers));
    inspect_gold(e, &wanted);
    return 0;
}

/* Returns the first named recipe that cannot run without training ("auto" can), or NULL. */
static const char *find_named_learner(const struct eval_run *e)
{
    for (size_t i = 0; i < e->recipe_count; i++)
        if (!is_automatic(e->recipes[i]) && find_public_recipe(e->recipes[i])->needs_training)
            return e->recipes[i];
    return NULL;
}

/* Opens the store of the corpus, or the store with recorded use if a recipe or the page uses trained models. */
static int open_eval_store(struct eval_run *e, const char *dir, bool model)
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
    WT_TRY(wt__learning_plan(&e->learning, dir, e->err));
    return wt__learning_open(&e->learning, &e->engine);
}

/* After training, drops the recipes that use a trained model but have none. Keeps ptr. Not called if the caller named
 * recipes. */
static void drop_untrained(struct eval_run *e)
{
    const struct trained *trained = NULL;
    size_t kept = 0;
    wt__engine_trained(e->engine, &trained, NULL);
    for (size_t i = 0; i < e->recipe_count; i++) {
        const wt_recipe *recipe = find_public_recipe(e->recipes[i]);
        if (is_ptr(e->recipes[i]) || wt__recipe_is_trained(trained, e->recipes[i]) ||
            (recipe && !wt__recipe_uses_training(recipe->name)))
            e->recipes[kept++] = e->recipes[i];
    }
    e->recipe_count = kept;
}

static int open_eval_catalogue(struct eval_run *e, const char *dir)
{
    bool page = e->options.html_path != NULL, named = e->recipe_count > 0;
    bool model = uses_model(e) || page, none = e->options.model && !*e->options.model;
    bool possible = wt__dataset_has_split(dir, "train") || e->options.trained;
    e->learns = (uses_training(e) || page) && model && !none && possible;
    if (!possible && find_named_learner(e))
        return wt__fail(e->err, WT_ERECIPE,
                        "recipe %s needs training, but %s has no qrels/train.tsv; use --trained FOLDER to measure "
                        "models of other data",
                        find_named_learner(e), dir);
    WT_TRY(open_eval_store(e, dir, model));
    WT_TRY(set_eval_chat(e));
    model = model && wt_dimension(e->engine, NULL) > 0;
    if (!model && find_named_learner(e))
        return wt_dimension(e->engine, e->err);
    e->learns = e->learns && model;
    complete_recipes(e, model);
    if (model) {
        int64_t encoded = wt_embed_missing(e->engine, e->options.progress, e->options.progress_context, e->err);
        if (encoded < 0)
            return (int)encoded;
    }
    const char *taught[MAX_RECIPES + 1];
    size_t taught_count = collect_recipes_to_train(e, taught);
    if (e->learns)
        WT_TRY(wt__learning_train(&e->learning, e->engine, taught, taught_count));
    if (e->learns && !named)
        drop_untrained(e);
    WT_TRY(wt_info(e->engine, &e->info, e->err));
    WT_TRY(mark_unseen(e, dir));
    return read_gold(e);
}

/* ---------------------------------------------------------------- the report */

/* Copies the buffer's content into the report and empties the buffer. Returns NULL if out of memory. */
static char *keep_in_report(struct eval_run *e, struct buffer *buffer)
{
    char *copy = buffer->failed ? NULL : wt__arena_copy(&e->report->arena, wt__buffer_view(buffer));
    wt__buffer_dispose(buffer);
    return copy;
}

static int write_row_settings(struct eval_run *e, const struct measurement *m, const char *recipe, char **out)
{
    struct buffer json = {0};
    int rc = 0;
    const struct eval_plan *plan = &e->plan;
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
    if (e->options.split_by)
        wt__buffer_text(&json, ",\"split_by\":\"set\"");
    if (e->options.usages)
        wt__buffer_printf(&json, ",\"usages\":%zu", e->options.usages);
    if (wt__has_base_retriever(recipe))
        write_ptr_settings(e, m, recipe, &json);
    if (e->learns)
        rc = wt__learning_settings(&e->learning, e->engine, recipe, &json);
    wt__buffer_char(&json, '}');
    *out = keep_in_report(e, &json);
    return rc < 0 || *out ? rc : wt__fail_nomem(e->err);
}

/* Sets *out to the notice of a row, or to NULL. */
static int write_row_notice(struct eval_run *e, const struct measurement *m, const char *recipe, const char **out)
{
    const struct trained *trained = NULL;
    struct buffer text = {0};
    if (m->notice)
        wt__buffer_printf(&text, "; %s", m->notice);
    if (e->lexical_only)
        wt__buffer_text(&text, "; no model is in use, so only recipes without a model were measured");
    if (e->untrained)
        wt__buffer_text(&text, "; the set has no train split, so recipes that need training were left out");
    if (e->learns && e->learning.other_data)
        wt__engine_trained(e->engine, &trained, NULL);
    if (wt__trained_recipe(trained, recipe))
        wt__buffer_printf(&text, "; the models were trained on other data (%s), since the set has no train split",
                          e->learning.trained_on ? e->learning.trained_on : "name unknown");
    if (e->learns && e->learning.seconds >= 1)
        wt__buffer_printf(&text, "; missing models were trained first, in %.0f s, and are kept in %s",
                          e->learning.seconds, e->learning.models);
    if (e->lost_tools)
        wt__buffer_printf(&text, "; %zu relevant tools are not in the catalogue and count as missed", e->lost_tools);
    if (m->picks && e->unseen)
        wt__buffer_printf(&text, "; %zu of %zu requests need the same set of tools as a training request",
                          e->plan.queries - e->unseen_count, e->plan.queries);
    if (e->dataset.unknown_queries)
        wt__buffer_printf(&text, "; %zu judged queries are not in queries.jsonl", e->dataset.unknown_queries);
    if (e->dataset.barren_queries)
        wt__buffer_printf(&text, "; %zu queries have no relevant tool", e->dataset.barren_queries);
    *out = NULL;
    if (text.len == 0 && !text.failed)
        return 0;
    char *whole = keep_in_report(e, &text);
    WT_CHECK_ALLOC(whole, e->err);
    *out = whole + 2;
    return 0;
}

static char *make_metric_name(struct eval_run *e, size_t metric)
{
    static const char *const kinds[] = {"recall", "ndcg", "complete"};
    struct buffer name = {0};
    size_t cutoffs = e->plan.cutoff_count;
    if (metric == 3 * cutoffs)
        wt__buffer_text(&name, "mrr");
    else
        wt__buffer_printf(&name, "%s@%zu", kinds[metric / cutoffs], e->plan.cutoffs[metric % cutoffs]);
    return keep_in_report(e, &name);
}

/* Judges how well the recipe separates requests for one provider from requests for several. */
static void judge_kinds(const struct eval_run *e, const struct measurement *m, wt_eval_row *row)
{
    double right = 0, squares = 0;
    for (size_t q = 0; q < e->plan.queries; q++) {
        double error = m->multi_provider_probability[q] - (e->multi_provider[q] ? 1 : 0);
        right += fabs(error) < 0.5;
        squares += error * error;
    }
    row->kind_brier = squares / (double)e->plan.queries; /* NaN if the recipe gives no probability for a query */
    row->kind_accuracy = isnan(squares) ? squares : right / (double)e->plan.queries;
}

/* Writes the mean TRACC and share of exact sets of the queries with a seen set of tools, and of the others. */
static void average_apart(const struct eval_run *e, const struct measurement *m, wt_metric *out)
{
    static const char *const names[2][APART / 2] = {{"tracc_seen", "exact_seen"}, {"tracc_unseen", "exact_unseen"}};
    for (size_t unseen = 0; unseen < 2; unseen++) {
        size_t count = unseen ? e->unseen_count : e->plan.queries - e->unseen_count;
        for (size_t i = 0; i < APART / 2; i++) {
            double sum = 0;
            for (size_t q = 0; q < e->plan.queries; q++)
                sum += e->unseen[q] == unseen ? m->picks[q * PICK_METRICS + i] : 0;
            out[unseen * (APART / 2) + i] = (wt_metric){names[unseen][i], sum / (double)count};
        }
    }
}

static double latency_percentile(const struct measurement *m, double percent)
{
    return m->timed > 0 ? wt__percentile(m->milliseconds, m->timed, percent) : NAN;
}

static int fill_row(struct eval_run *e, wt_eval_row *row, const struct measurement *m, const char *recipe)
{
    size_t metrics = wt__metric_count(&e->plan), picks = m->picks ? PICK_METRICS : 0;
    bool both = m->picks && e->unseen_count > 0 && e->unseen_count < e->plan.queries;
    size_t apart = both ? APART : 0, all = metrics + picks + apart + m->answerability_count;
    wt_metric *values = wt__arena_array(&e->report->arena, wt_metric, all);
    const void *shown = wt__arena_pointers(&e->report->arena, values, all, sizeof *values);
    char *set = wt__arena_copy(&e->report->arena, wt__str(e->dataset.name));
    char *split = wt__arena_copy(&e->report->arena, wt__str(e->split));
    char *name = wt__arena_copy(&e->report->arena, wt__str(recipe));
    char *settings = NULL;
    int rc = write_row_settings(e, m, recipe, &settings);
    if (rc < 0)
        return rc;
    WT_CHECK_ALLOC(shown && set && split && name && settings, e->err);
    for (size_t i = 0; i < metrics; i++) {
        double sum = 0;
        for (size_t q = 0; q < e->plan.queries; q++)
            sum += m->values[q * metrics + i];
        values[i] = (wt_metric){make_metric_name(e, i), sum / (double)e->plan.queries};
        WT_CHECK_ALLOC(values[i].name, e->err);
    }
    for (size_t i = 0; i < picks; i++) {
        double sum = 0;
        for (size_t q = 0; q < e->plan.queries; q++)
            sum += m->picks[q * PICK_METRICS + i];
        values[metrics + i] = (wt_metric){i < SET_METRICS ? wt__set_metrics[i].name : wt__pick_metrics[i - SET_METRICS],
                                          sum / (double)e->plan.queries};
    }
    if (both)
        average_apart(e, m, values + metrics + picks);
    for (size_t i = 0; i < m->answerability_count; i++)
        values[metrics + picks + apart + i] = (wt_metric){wt__answerability_names[i], m->answerability[i]};
    *row = (wt_eval_row){.set = set,
                         .split = split,
                         .recipe = name,
                         .tools = e->info.tools,
                         .queries = e->plan.queries,
                         .metric_count = all,
                         .metrics = shown,
                         .p50_ms = latency_percentile(m, 50),
                         .p95_ms = latency_percentile(m, 95),
                         .p99_ms = latency_percentile(m, 99),
                         .settings = settings};
    judge_kinds(e, m, row);
    return write_row_notice(e, m, row->recipe, &row->notice);
}

/* Compares b with a at the main cutoff. out: [COMPARED]. */
static int compare_measurements(struct eval_run *e, const struct measurement *a, const struct measurement *b,
                                const wt_eval_row *row_a, const wt_eval_row *row_b, wt_eval_comparison *out)
{
    size_t metrics = wt__metric_count(&e->plan), cutoffs = e->plan.cutoff_count;
    WT_AUTO_FREE double *differences = wt__alloc_array(e->plan.queries, sizeof *differences);
    WT_CHECK_ALLOC(differences, e->err);
    for (size_t i = 0; i < COMPARED; i++) {
        size_t metric = i * cutoffs + wt__main_cutoff(&e->plan);
        struct bootstrap result;
        for (size_t q = 0; q < e->plan.queries; q++)
            differences[q] = b->values[q * metrics + metric] - a->values[q * metrics + metric];
        WT_TRY(wt__bootstrap(differences, e->plan.queries, e->resamples, e->seed, &result, e->err));
        out[i] = (wt_eval_comparison){row_a->recipe,     row_b->recipe, row_a->metrics[metric]->name,
                                      result.difference, result.low,    result.high,
                                      result.p};
    }
    return 0;
}

/* Returns the path of a recipe's TREC run, or NULL if out of memory. The path is options.run_path. With several
 * recipes, the recipe's name is inserted before the extension. */
static char *make_run_path(struct eval_run *e, const char *recipe)
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

static int measure_one_recipe(struct eval_run *e, const char *recipe, struct measurement *out)
{
    char *path = e->options.run_path ? make_run_path(e, recipe) : NULL;
    if (e->options.run_path)
        WT_CHECK_ALLOC(path, e->err);
    WT_TRY(wt__measure(out, e->engine, &e->dataset, &e->plan, recipe, path, &e->progress, e->err));
    if (strcmp(recipe, TRAINED_SET) != 0)
        return 0;
    return wt__measure_answerability(out->answerability, &out->answerability_count, e->engine, &e->dataset,
                                     e->plan.queries, e->options.out_of_domain ? &e->out_of_domain : NULL, &e->progress,
                                     e->err);
}

static int measure_recipes(struct eval_run *e)
{
    size_t count = e->recipe_count + e->run_count;
    wt_eval_row *rows = wt__arena_array(&e->report->arena, wt_eval_row, count);
    wt_eval_comparison *comparisons = wt__arena_array(&e->report->arena, wt_eval_comparison, count * COMPARED);
    e->measured = wt__arena_array(&e->scratch, struct measurement, count);
    size_t compared = count ? (count - 1) * COMPARED : 0;
    const void *row_pointers = wt__arena_pointers(&e->report->arena, rows, count, sizeof *rows);
    const void *pointers = wt__arena_pointers(&e->report->arena, comparisons, compared, sizeof *comparisons);
    WT_CHECK_ALLOC(e->measured && row_pointers && pointers, e->err);
    for (size_t i = 0; i < count; i++) {
        const char *name = i < e->recipe_count ? e->recipes[i] : NULL;
        WT_TRY(name ? measure_one_recipe(e, name, &e->measured[i])
                    : wt__measure_other_run(&e->measured[i], e->engine, &e->dataset, &e->plan,
                                            e->runs[i - e->recipe_count], &name, e->err));
        WT_TRY(fill_row(e, &rows[i], &e->measured[i], name));
        if (i > 0)
            WT_TRY(compare_measurements(e, &e->measured[0], &e->measured[i], &rows[0], &rows[i],
                                        comparisons + (i - 1) * COMPARED));
    }
    e->report->visible = (wt_eval_report){count, compared, row_pointers, pointers};
    return 0;
}

static int write_qrels(struct eval_run *e)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer lines = {0};
    for (size_t q = 0; q < e->plan.queries; q++)
        for (size_t j = 0; j < e->dataset.queries[q].judgement_count; j++)
            wt__trec_qrels_line(&lines, e->dataset.queries[q].id, &e->dataset.queries[q].judgements[j]);
    WT_CHECK_ALLOC(!lines.failed, e->err);
    return wt__file_replace(e->options.qrels_path, lines.ptr, lines.len, e->err);
}

static int write_page(struct eval_run *e)
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

static int run_evaluation(struct eval_run *e, const char *dir)
{
    WT_TRY(plan_cutoffs(e));
    WT_TRY(read_experiment(e));
    WT_TRY(plan_recipes(e));
    WT_TRY(plan_other_runs(e));
    WT_TRY(plan_ptr(e));
    if (e->options.split_by && strcmp(e->options.split_by, "set") != 0)
        return wt__fail(e->err, WT_EINVAL, "requests can be split by set, not by \"%s\"", e->options.split_by);
    if (e->options.split_by)
        WT_TRY(wt__divide_by_set(dir, e->options.cache_dir, &e->scratch, &dir, e->err));
    WT_TRY(wt__dataset_read(&e->dataset, dir, e->split, e->err));
    size_t max = e->options.max_queries;
    e->plan.max_per_provider = e->options.max_per_provider;
    e->plan.copies = e->options.copies != 0;
    e->plan.as_typed = e->options.as_typed != 0;
    e->plan.queries = max && max < e->dataset.len ? max : e->dataset.len;
    size_t timed = e->options.timed ? e->options.timed : LATENCY_SAMPLE;
    e->plan.timed = e->plan.queries < timed ? e->plan.queries : timed;
    for (size_t q = 0; q < e->plan.queries; q++)
        e->plan.relevant += wt__count_relevant(&e->dataset.queries[q]);
    if (e->options.out_of_domain)
        WT_TRY(wt__dataset_read(&e->out_of_domain, e->options.out_of_domain, e->split, e->err));
    WT_TRY(open_eval_catalogue(e, dir));
    WT_TRY(measure_recipes(e));
    if (e->options.qrels_path)
        WT_TRY(write_qrels(e));
    return e->options.html_path ? write_page(e) : 0;
}

int wt_eval(const char *dir, const wt_eval_options *options, wt_eval_report **out, wt_error *err)
{
    *out = NULL;
    struct eval_run e = {.err = err};
    wt_catalog_info_init(&e.info);
    int rc = wt__options_read(&e.options, sizeof e.options, options, err);
    if (rc < 0)
        return rc;
    e.split = e.options.split ? e.options.split : "test";
    e.seed = e.options.seed ? e.options.seed : DEFAULT_SEED;
    e.resamples = e.options.bootstrap ? e.options.bootstrap : DEFAULT_RESAMPLES;
    if (e.resamples > MAX_RESAMPLES)
        return wt__fail(err, WT_EINVAL, "%zu bootstrap resamples are over the limit of %d", e.resamples, MAX_RESAMPLES);
    e.report = calloc(1, sizeof *e.report);
    WT_CHECK_ALLOC(e.report, err);
    wt__progress_init(&e.progress, e.options.progress, e.options.progress_context);
    rc = run_evaluation(&e, dir);
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
