/* toolrerank_trainer.c: the lesson "toolrerank" (sections 3 and 4.1 of ToolRerank). It fits the classifier of requests,
 * lists the providers seen in training, and tunes the settings of the rules by grid search on dev. The search runs the
 * same pipeline as a query.
 *
 * The first stage is dpr, as in the paper, or a combination of dpr and words if that is better on dev.
 *
 * A setting is a rule for one kind of requests, with its parameters. Each setting is applied to each dev request as if
 * the request were of that kind, and the resulting figure is stored. The best settings for a margin of the classifier
 * then follow from sums of figures. The cross-encoder reads each pair of request and tool once.
 *
 * Algorithm 1 of the paper needs requests for a single provider. If these are scarce in dev, such requests are cut out
 * of the other dev requests (request_kind.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/sort.h"
#include "learn/trainers.h"
#include "rerank/toolrerank.h"
#include "rerank/cross.h"

/* Values in order of preference, the paper's value first. At equal figures the earlier value wins. */
static const struct dev_balance {
    float lexical, dense;
} balances[] = {{0, 1}, {1, 4}, {1, 2.5f}, {1, 1.5f}, {1, 1}, {1, 0.6f}};
static const float subqueries[] = {0, 0.5f, 1};
static const struct depths {
    uint32_t seen, unseen;
} depths[] = {{10, 50}, {10, 30}, {10, 10}, {30, 50}, {30, 30}, {50, 50}};
static const float tau_s_values[] = {0.85f, 0.9f, 0.8f, 0.75f, 0.7f, 0.65f, 0.6f};
static const float tau_m_values[] = {0.7f, 0.65f, 0.75f, 0.6f, 0.8f, 0.85f, 0.9f};
static const uint32_t mosts[] = {3, 2, 4};
static const float priors[] = {0, 2, 4, 8, 16};
static const float covers[] = {0, 10, 20, 40};
static const float margins[] = {0.1f, 0, 0.2f, 0.3f, 0.4f};

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum {
    PRIORS = COUNT(priors),
    LOOKS = COUNT(depths) * PRIORS, /* pairs of depths and prior, which apply to both kinds of requests */
    SINGLES = COUNT(tau_s_values) * COUNT(covers),
    MULTIS = COUNT(tau_m_values) * COUNT(mosts),
    POINTS = SINGLES + MULTIS + 1, /* settings per look: those for a single provider, those for several, and no rule */
    DEEPEST = 50,                  /* maximum depth of the first stage */
    CUTOFF = 5                     /* of recall and NDCG */
};

/* A dev request, or a request cut out of it. */
struct dev_question {
    struct str text;
    uint32_t *gold; /* [gold_count] rows of its tools; gold_count is 0 if no request could be cut out */
    size_t gold_count;
    char *cut;                       /* memory of text; NULL for an original dev request */
    struct candidate first[DEEPEST]; /* [count] candidates of the first stage */
    size_t count;
    float probability;           /* probability that it needs several providers */
    float before;                /* figure of the first stage */
    float points[LOOKS][POINTS]; /* figure of each setting (get_point_settings) */
    struct pair_score {
        uint32_t row;
        float probability;
    } * read; /* [len] scores of the cross-encoder */
    size_t len, capacity;
};

struct rule_search {
    struct first_ranking ranking;
    struct training *training;
    struct trained *trained;
    struct cross *cross; /* NULL if there is no cross-encoder; the first stage's scores are used then */
    struct arena arena;
    struct tool *tools;    /* [M] */
    bool *seen;            /* [M] true if training used a tool of the tool's provider */
    uint64_t *by_provider; /* [M] provider << 32 | row, ascending */
    struct kind_fit fit;
    struct rerank_rules rules;
    struct dev_question *asked; /* [asked_count]: Q dev requests, then those cut out of them */
    size_t asked_count;
    wt_error *errors;    /* [threads] */
    double before, best; /* mean figures of the first stage, and of the best settings; NaN without dev requests */
};

/* ---------------------------------------------------------------- catalogue */

static int read_catalogue_tools(struct rule_search *s, wt_error *err)
{
    struct dev_evaluator *evaluator = s->ranking.evaluator;
    const struct snapshot_key *keys = evaluator->index->snapshot->keys;
    wt_engine *engine = s->training->engine;
    size_t tools = evaluator->tools;
    s->tools = wt__arena_array(&s->arena, struct tool, tools);
    s->seen = wt__arena_array(&s->arena, bool, tools);
    s->by_provider = wt__arena_array(&s->arena, uint64_t, tools);
    s->ranking.providers = wt__arena_array(&s->arena, uint32_t, tools);
    s->ranking.no_provider = HIERARCHY_NO_PROVIDER;
    if (!s->tools || !s->seen || !s->by_provider || !s->ranking.providers)
        return wt__fail_nomem(err);
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_get(engine->store, s->training->examples.ids, tools, &s->arena, s->tools, err);
    pthread_mutex_unlock(&engine->store_lock);
    for (uint32_t row = 0; rc >= 0 && row < tools; row++) {
        bool none = s->tools[row].provider.len == 0;
        s->ranking.providers[row] = none ? HIERARCHY_NO_PROVIDER : keys[row].provider;
        s->by_provider[row] = (uint64_t)s->ranking.providers[row] << 32 | row;
        if (none)
            s->ranking.no_provider = keys[row].provider;
    }
    wt__sort_u64(s->by_provider, tools);
    return rc < 0 ? rc : 0;
}

/* Marks all tools of each provider that training used, and appends the provider's name to names. A tool without a
 * provider counts as its own provider, with the tool's name. */
static int list_seen(struct rule_search *s, json_t *names, wt_error *err)
{
    const struct example_set *train = &s->training->examples.train;
    for (size_t i = 0; i < train->starts[train->count]; i++)
        s->seen[train->tools[i]] = true;
    for (size_t i = 0, end; i < s->ranking.evaluator->tools; i = end) {
        uint32_t row = (uint32_t)s->by_provider[i], provider = s->ranking.providers[row];
        bool alone = provider == HIERARCHY_NO_PROVIDER, seen = s->seen[row];
        for (end = i + 1; !alone && end < s->ranking.evaluator->tools && s->by_provider[end] >> 32 == provider; end++)
            seen |= s->seen[(uint32_t)s->by_provider[end]];
        if (!seen)
            continue;
        struct str name = alone ? s->tools[row].name : s->tools[row].provider;
        if (json_array_append_new(names, json_stringn(name.ptr, name.len)) < 0)
            return wt__fail_nomem(err);
        for (size_t at = i; at < end; at++)
            s->seen[(uint32_t)s->by_provider[at]] = true;
    }
    return 0;
}

static int choose_first_stage(struct rule_search *s, wt_error *err)
{
    enum { CHOICES = COUNT(balances) * COUNT(subqueries) };
    struct retriever retrievers[CHOICES];
    struct dev_outcome unused;
    size_t chosen = 0;
    for (size_t i = 0; i < CHOICES; i++) {
        const struct dev_balance *balance = &balances[i / COUNT(subqueries)];
        retrievers[i] =
            (struct retriever){.weights = {[SOURCE_BM25] = balance->lexical, [SOURCE_DENSE] = balance->dense},
                               .subquery = subqueries[i % COUNT(subqueries)]};
    }
    if (s->ranking.evaluator->dev_count > 0)
        WT_TRY(wt__evaluator_choose(s->ranking.evaluator, retrievers, CHOICES, &s->ranking.documents, &chosen, &unused,
                                    err));
    s->ranking.retriever = retrievers[chosen];
    return 0;
}

/* ---------------------------------------------------------------- one dev request */

/* State of the pipeline's callbacks. */
struct pipeline_context {
    const struct rule_search *search;
    struct dev_question *asked;
};

static const struct pair_score *find_cross_score(const struct dev_question *asked, uint32_t row)
{
    for (size_t i = 0; i < asked->len; i++)
        if (asked->read[i].row == row)
            return &asked->read[i];
    return NULL;
}

static struct candidate make_tool_candidate(const struct rule_search *s, uint32_t row, float score)
{
    return (struct candidate){.row = row,
                              .provider = s->ranking.providers[row],
                              .seen = s->seen[row],
                              .score = score,
                              .vector = s->ranking.evaluator->documents + row * s->ranking.evaluator->dim};
}

/* Scores the tools of rows [count] that have no score yet. */
static int read_pairs(const struct pipeline_context *a, const uint32_t *rows, size_t count, wt_error *err)
{
    const struct rule_search *s = a->search;
    struct dev_question *asked = a->asked;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct tool *tools = wt__arena_array(&arena, struct tool, count);
    float *logits = wt__arena_array(&arena, float, count);
    WT_CHECK_ALLOC(tools && logits, err);
    for (size_t i = 0; i < count; i++)
        tools[i] = s->tools[rows[i]];
    WT_TRY(wt__cross_encoder_score(s->cross, s->trained->cross->fields, asked->text, tools, count, NULL, &arena, logits,
                                   err));
    if (wt__grow((void **)&asked->read, &asked->capacity, asked->len + count, sizeof *asked->read) < 0)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        asked->read[asked->len++] = (struct pair_score){rows[i], wt__cross_probability(logits[i])};
    return 0;
}

static int score_by_cross(void *context, struct candidate *candidates, size_t count, wt_error *err)
{
    struct pipeline_context *a = context;
    uint32_t unread[HIERARCHY_MAX_CANDIDATES];
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!find_cross_score(a->asked, candidates[i].row))
            unread[n++] = candidates[i].row;
    WT_TRY(n ? read_pairs(a, unread, n, err) : 0);
    for (size_t i = 0; i < count; i++)
        candidates[i].score = find_cross_score(a->asked, candidates[i].row)->probability;
    return 0;
}

static int list_provider_tools(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err)
{
    const struct rule_search *s = ((struct pipeline_context *)context)->search;
    size_t n = 0;
    (void)err;
    size_t tools = s->ranking.evaluator->tools;
    for (size_t at = wt__lower_bound_u64(s->by_provider, tools, (uint64_t)provider << 32); at < tools && n < most;
         at++, n++) {
        uint32_t row = (uint32_t)s->by_provider[at];
        if (s->ranking.providers[row] != provider)
            break;
        out[n] = make_tool_candidate(s, row, 0);
    }
    return (int)n;
}

/* Returns the mean of recall and NDCG at CUTOFF for candidates in this order. */
static float measure_candidates(const struct dev_question *asked, const struct candidate *candidates, size_t count)
{
    size_t found = 0;
    double gain = 0, ideal = 0;
    for (size_t i = 0; i < count && i < CUTOFF; i++)
        for (size_t g = 0; g < asked->gold_count; g++)
            if (asked->gold[g] == candidates[i].row) {
                found++;
                gain += 1 / log2((double)i + 2);
            }
    for (size_t i = 0; i < asked->gold_count && i < CUTOFF; i++)
        ideal += 1 / log2((double)i + 2);
    return ideal > 0 ? (float)(((double)found / (double)asked->gold_count + gain / ideal) / 2) : 0;
}

/* Returns the settings of a point: 0 .. SINGLES - 1 for a single provider, then those for several, then no rule. */
static struct hierarchy_settings get_point_settings(size_t look, size_t point)
{
    struct hierarchy_settings settings = wt__hierarchy_paper;
    settings.seen_depth = depths[look / PRIORS].seen;
    settings.unseen_depth = depths[look / PRIORS].unseen;
    settings.prior = priors[look % PRIORS];
    settings.rule[REQUEST_SINGLE] = point < SINGLES ? HIERARCHY_ALGORITHM1 : HIERARCHY_NONE;
    settings.rule[REQUEST_MULTI] = point >= SINGLES && point < SINGLES + MULTIS ? HIERARCHY_ALGORITHM2 : HIERARCHY_NONE;
    if (point < SINGLES) {
        settings.tau_s = tau_s_values[point / COUNT(covers)];
        settings.cover = covers[point % COUNT(covers)];
    }
    if (settings.rule[REQUEST_MULTI] == HIERARCHY_ALGORITHM2) {
        settings.tau_m = tau_m_values[(point - SINGLES) / COUNT(mosts)];
        settings.group_most = mosts[(point - SINGLES) % COUNT(mosts)];
    }
    return settings;
}

static int try_points(struct pipeline_context *a, wt_error *err)
{
    const struct rule_search *s = a->search;
    const struct toolrerank_source source = {a, s->ranking.evaluator->dim, s->cross ? score_by_cross : NULL,
                                             list_provider_tools};
    struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
    for (size_t look = 0; look < LOOKS; look += s->cross ? 1 : PRIORS) /* a prior only corrects cross-encoder scores */
        for (size_t point = 0; point < POINTS; point++) {
            const struct hierarchy_settings settings = get_point_settings(look, point);
            size_t count = a->asked->count, first;
            memcpy(candidates, a->asked->first, count * sizeof *candidates);
            WT_TRY(wt__toolrerank(&settings, point < SINGLES ? REQUEST_SINGLE : REQUEST_MULTI, &source, candidates,
                                  &count, &first, err));
            a->asked->points[look][point] = measure_candidates(a->asked, candidates, count);
        }
    return 0;
}

/* Reads dev request `index`. If index >= Q, cuts a request for one provider out of dev request index - Q. */
static int read_dev_request(struct rule_search *s, size_t index, unsigned worker, wt_error *err)
{
    const struct example_set *set = &s->training->examples.dev;
    struct dev_question *asked = &s->asked[index];
    size_t queries = s->ranking.evaluator->dev_count, dev = s->ranking.evaluator->dev[index % queries];
    size_t first = set->starts[dev], count = set->starts[dev + 1] - first;
    struct buffer text = {0};
    uint32_t provider = HIERARCHY_NO_PROVIDER;
    asked->text = set->texts[dev];
    asked->gold = wt__alloc_array(count, sizeof *asked->gold);
    WT_CHECK_ALLOC(asked->gold, err);
    if (index >= queries) {
        int rc = wt__kind_cut_down(&s->ranking, asked->text, set->tools + first, count, worker, &text, &provider, err);
        asked->text = wt__buffer_view(&text);
        asked->cut = text.ptr;
        WT_TRY(rc);
    }
    for (size_t i = 0; i < count; i++)
        if (index < queries || (text.len > 0 && s->ranking.providers[set->tools[first + i]] == provider))
            asked->gold[asked->gold_count++] = set->tools[first + i];
    return 0;
}

/* Ranks a request by the first stage, classifies the request, and measures every setting. */
static int search_hierarchy(void *context, size_t index, unsigned worker)
{
    struct rule_search *s = context;
    struct dev_question *asked = &s->asked[index];
    struct pipeline_context asking = {s, asked};
    struct request_texts texts;
    struct hit_list hits;
    wt_error *err = &s->errors[worker];
    WT_TRY(read_dev_request(s, index, worker, err));
    if (asked->gold_count == 0)
        return 0;
    WT_TRY(wt__kind_rank(&s->ranking, asked->text, DEEPEST, worker, &hits, &texts, err));
    asked->count = hits.len;
    for (size_t i = 0; i < hits.len; i++)
        asked->first[i] = make_tool_candidate(s, hits.items[i].row,
                                              hits.items[0].score > 0 ? hits.items[i].score / hits.items[0].score : 0);
    float lack = wt__request_lack(&texts, asked->first, asked->count);
    asked->probability = wt__request_probability(&s->fit.classifier, lack);
    asked->before = measure_candidates(asked, asked->first, asked->count);
    WT_TRY(try_points(&asking, err));
    return worker == 0 && wt__train_progress_step(&s->training->progress, index + 1) ? wt__fail_cancelled(err) : 0;
}

/* ---------------------------------------------------------------- best settings */

static enum request_kind kind_under_margin(const struct dev_question *asked, float margin)
{
    float beyond = asked->probability - 0.5f;
    return !(fabsf(beyond) > margin) ? REQUEST_UNKNOWN : beyond > 0 ? REQUEST_MULTI : REQUEST_SINGLE;
}

/* Returns the point with the greatest sum among begin .. end - 1 and the point without a rule; the first at a tie. */
static size_t find_best_point(const double *sums, size_t begin, size_t end)
{
    size_t best = begin;
    for (size_t point = begin; point < end; point++)
        if (sums[point] > sums[best] + 1e-9)
            best = point;
    return sums[POINTS - 1] > sums[best] + 1e-9 ? POINTS - 1 : best;
}

/* Finds the best rule for each kind of requests, if the classifier has this margin. Returns the sum of their figures.
 * *settings: the best rules and their parameters. */
static double try_margin(const struct rule_search *s, size_t look, float margin, struct hierarchy_settings *settings)
{
    double sums[REQUEST_KINDS][POINTS] = {{0}};
    for (size_t q = 0; q < s->asked_count; q++)
        for (size_t point = 0; point < POINTS; point++)
            sums[kind_under_margin(&s->asked[q], margin)][point] += (double)s->asked[q].points[look][point];
    size_t single = find_best_point(sums[REQUEST_SINGLE], 0, SINGLES);
    size_t several = find_best_point(sums[REQUEST_MULTI], SINGLES, SINGLES + MULTIS);
    const struct hierarchy_settings of_several = get_point_settings(look, several);
    *settings = get_point_settings(look, single);
    settings->tau_m = of_several.tau_m;
    settings->group_most = of_several.group_most;
    settings->rule[REQUEST_MULTI] = of_several.rule[REQUEST_MULTI];
    return sums[REQUEST_SINGLE][single] + sums[REQUEST_MULTI][several] + sums[REQUEST_UNKNOWN][POINTS - 1];
}

static void choose_settings(struct rule_search *s)
{
    size_t count = 0;
    for (size_t q = 0; q < s->asked_count; q++)
        count += s->asked[q].gold_count > 0;
    s->rules.settings = wt__hierarchy_paper;
    s->rules.classifier = s->fit.classifier;
    s->rules.classifier.margin = margins[0];
    s->best = s->before = NAN;
    for (size_t look = 0; count > 0 && look < LOOKS; look++)
        for (size_t m = 0; m < COUNT(margins); m++) {
            struct hierarchy_settings settings;
            double figure = try_margin(s, look, margins[m], &settings) / (double)count;
            if (figure <= s->best + 1e-9)
                continue;
            s->best = figure;
            s->rules.settings = settings;
            s->rules.classifier.margin = margins[m];
        }
    for (size_t q = 0; q < s->asked_count; q++)
        s->before = (q ? s->before : 0) + (double)s->asked[q].before / (double)count;
}

/* Returns the number of requests to search: the number of dev requests, or twice that number if requests for a single
 * provider are scarce. The second half is cut out of the first. */
static size_t count_dev_questions(const struct rule_search *s)
{
    const struct dev_evaluator *evaluator = s->ranking.evaluator;
    const struct example_set *set = &s->training->examples.dev;
    size_t single = 0;
    for (size_t q = 0; q < evaluator->dev_count; q++) {
        size_t first = set->starts[evaluator->dev[q]], end = set->starts[evaluator->dev[q] + 1];
        single += !wt__kind_has_several(&s->ranking, set->tools + first, end - first);
    }
    return wt__kind_is_scarce(single, evaluator->dev_count) ? 2 * evaluator->dev_count : evaluator->dev_count;
}

static int search_settings(struct rule_search *s, wt_error *err)
{
    s->asked_count = count_dev_questions(s);
    s->asked = wt__alloc_zeros(s->asked_count + 1, sizeof *s->asked);
    s->errors = wt__alloc_zeros(s->training->threads, sizeof *s->errors);
    WT_CHECK_ALLOC(s->asked && s->errors, err);
    if (wt__train_progress_phase(&s->training->progress, "measuring", s->asked_count))
        return wt__fail_cancelled(err);
    WT_TRY(wt__training_run(s->training, s->asked_count, search_hierarchy, s, s->errors, err));
    choose_settings(s);
    return 0;
}

/* ---------------------------------------------------------------- lesson */

static int open_rule_search(struct rule_search *s, wt_error *err)
{
    WT_TRY(wt__tool_vectors_open(&s->ranking.documents, s->ranking.evaluator->documents, s->ranking.evaluator->tools,
                                 s->ranking.evaluator->dim, err));
    WT_TRY(read_catalogue_tools(s, err));
    WT_TRY(wt__trained_open(&s->trained, s->training->out, s->ranking.evaluator->encoder, NULL, err));
    if (s->trained && s->trained->cross)
        WT_TRY(wt__cross_encoder_open(s->trained->cross, NULL, &s->cross, err));
    s->rules.across = s->cross != NULL;
    s->rules.by_provider = true;
    return 0;
}

static void close_rule_search(struct rule_search *s)
{
    for (size_t q = 0; s->asked && q < s->asked_count; q++) {
        free(s->asked[q].read);
        free(s->asked[q].gold);
        free(s->asked[q].cut);
    }
    free(s->asked);
    free(s->errors);
    wt__tool_vectors_dispose(&s->ranking.documents);
    wt__trained_close(s->trained);
    wt__arena_dispose(&s->arena);
}

/* Returns the number of requests cut out of dev requests. */
static size_t count_cut(const struct rule_search *s)
{
    size_t count = 0;
    for (size_t q = s->ranking.evaluator->dev_count; q < s->asked_count; q++)
        count += s->asked[q].gold_count > 0;
    return count;
}

static int save_rules(struct rule_search *s, const json_t *about, json_t *seen, wt_trained *out, wt_error *err)
{
    struct buffer text = {0};
    out->before = s->before;
    out->after = s->best;
    if (isfinite(s->fit.accuracy))
        wt__buffer_printf(&text, "the classifier is right on %.1f %% of the held-out requests", 100 * s->fit.accuracy);
    else
        wt__buffer_text(&text,
                        "the classifier's accuracy was not measured, for lack of held-out requests of both kinds");
    wt__buffer_printf(&text, " (of %zu with one provider and %zu with several, %zu of them synthetic); scores are %s",
                      s->fit.single, s->fit.several, s->fit.synthetic,
                      s->cross ? "the cross-encoder's" : "the first stage's, since there is no cross-encoder");
    out->notice = text.failed ? NULL : wt__arena_copy(&s->training->arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    json_t *config = wt__rules_write(&s->rules, json_incref(seen));
    json_t *fit =
        json_pack("{s:I, s:I, s:I, s:I, s:o}", "single", (json_int_t)s->fit.single, "multi", (json_int_t)s->fit.several,
                  "synthetic", (json_int_t)s->fit.synthetic, "dev_synthetic", (json_int_t)count_cut(s), "accuracy",
                  isfinite(s->fit.accuracy) ? json_real(s->fit.accuracy) : json_null());
    json_t *weights = wt__retriever_write(&s->ranking.retriever);
    bool failed = !config || !fit || !out->notice || json_object_set(config, "requests", fit) < 0 ||
                  json_object_set(config, "weights", weights) < 0;
    if (!failed && s->cross)
        failed = json_object_set_new(config, TRAINED_CROSS, json_string(s->trained->cross->identity)) < 0;
    if (failed) {
        json_decref(config);
        config = NULL;
    }
    int rc = wt__evaluator_finish(s->ranking.evaluator, about, config, out, err);
    json_decref(weights);
    json_decref(fit);
    return rc;
}

int wt__lesson_toolrerank(struct training *training, wt_trained *out, wt_error *err)
{
    WT_CLEANUP(close_rule_search) struct rule_search s = {.training = training};
    WT_CLEANUP(json_decrefp) json_t *about = NULL, *seen = json_array();
    WT_CHECK_ALLOC(seen, err);
    WT_TRY(wt__evaluator_begin(&s.ranking.evaluator, training, &about, err));
    WT_TRY(open_rule_search(&s, err));
    WT_TRY(list_seen(&s, seen, err));
    WT_TRY(choose_first_stage(&s, err));
    WT_TRY(wt__kind_fit(&s.ranking, &s.fit, err));
    WT_TRY(search_settings(&s, err));
    return save_rules(&s, about, seen, out, err);
}
