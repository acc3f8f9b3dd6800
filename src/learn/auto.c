/* auto.c: the lesson "auto": finds the recipe that is best on the dev requests.
 *
 * In two rounds, it tunes these weights on dev, one after the other:
 *
 *   - the mix of Tool2Vec's vectors and the classifier's rows
 *   - the balance of words and vectors
 *   - sub-queries
 *   - each further source
 *
 * A weight of 0 is among the values, so the search includes simpler recipes. The result is compared with the trained
 * refiners, and with the recipe `hybrid` on the engine's own encoder.
 *
 * Only a few values of each weight are tried. With a few dozen dev requests, a finer search would overfit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "learn/dev_evaluator.h"
#include "learn/trainers.h"
#include "retrieve/source.h"

/* Tunable weights. */
struct source_weights {
    struct retriever retriever;
    struct weight_mix {
        float tool2vec, mlc;
    } mix; /* weights of Tool2Vec's vectors and of the classifier's rows in the tool vectors */
};

struct source_balance {
    float lexical, dense;
};

/* Values to try, the preferred value first. At equal figures the earlier value is kept. */
static const struct weight_mix mixes[] = {{1, 1}, {1, 0}, {0, 1}, {1, 2}};
static const struct source_balance balances[] = {{1, 2.5f}, {1, 1.5f}, {1, 1}, {1, 0.6f}, {1, 4}, {0, 1}};
static const float subqueries[] = {0.5f, 1, 0.75f, 0.25f, 0};
enum { ROUNDS = 2, CLEARLY = 2 /* minimum lead of a refiner in standard errors */ };

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct weight_search {
    struct dev_evaluator *evaluator;
    float *tools, *rows;      /* [M, D] tool2vec's vectors, and the classifier's rows */
    bool head;                /* true if a classifier's head exists */
    float *mixed;             /* [M, D] tool vectors, mixed with the weights in_hand */
    struct tool_vectors view; /* view of mixed */
    struct weight_mix in_hand;
    struct source_weights best; /* best weights so far */
    struct dev_outcome figure;  /* outcome with the best weights */
    const char *refined; /* best recipe with a refiner that is clearly better than the best weights; NULL if none is */
    struct dev_outcome refiner; /* outcome of the recipe `refined` */
    struct dev_outcome hybrid;  /* outcome of the recipe `hybrid` */
};

/* Computes the tool vectors with these weights, unless they are in `mixed`. */
static int mix_vectors(struct weight_search *search, struct weight_mix wanted, wt_error *err)
{
    size_t count = search->evaluator->tools * search->evaluator->dim;
    if (search->view.chunks && search->in_hand.tool2vec == wanted.tool2vec && search->in_hand.mlc == wanted.mlc)
        return 0;
    for (size_t i = 0; i < count; i++)
        search->mixed[i] = wt__mlc_mix(wanted.tool2vec, search->tools[i], wanted.mlc, search->rows[i]);
    wt__tool_vectors_dispose(&search->view);
    search->in_hand = wanted;
    return wt__tool_vectors_open(&search->view, search->mixed, search->evaluator->tools, search->evaluator->dim, err);
}

/* Measures the weights on dev. */
static int ask_weights(struct weight_search *search, const struct source_weights *weights, struct dev_outcome *out,
                       wt_error *err)
{
    WT_TRY(mix_vectors(search, weights->mix, err));
    return wt__evaluator_measure(search->evaluator, &weights->retriever, &search->view, out, err);
}

/* Measures the weights on dev, and keeps them if they are better than the best so far. */
static int try_weights(struct weight_search *search, const struct source_weights *weights, wt_error *err)
{
    struct dev_outcome here = {0};
    WT_TRY(ask_weights(search, weights, &here, err));
    if (!(here.figure <= search->figure.figure + 1e-9)) {
        search->best = *weights;
        search->figure = here;
    }
    return 0;
}

static int run_weight_round(struct weight_search *search, wt_error *err)
{
    for (size_t i = 0; i < (search->head ? COUNT(mixes) : 1); i++) {
        struct source_weights weights = search->best;
        weights.mix = (struct weight_mix){mixes[i].tool2vec, search->head ? mixes[i].mlc : 0};
        WT_TRY(try_weights(search, &weights, err));
    }
    for (size_t i = 0; i < COUNT(balances); i++) {
        struct source_weights weights = search->best;
        weights.retriever.weights[SOURCE_BM25] = balances[i].lexical;
        weights.retriever.weights[SOURCE_DENSE] = balances[i].dense;
        WT_TRY(try_weights(search, &weights, err));
    }
    for (size_t i = 0; i < COUNT(subqueries); i++) {
        struct source_weights weights = search->best;
        weights.retriever.subquery = subqueries[i];
        WT_TRY(try_weights(search, &weights, err));
    }
    for (size_t s = 0; s < SOURCES; s++)
        for (size_t i = 0; i < wt__sources[s]->tried_count; i++) {
            struct source_weights weights = search->best;
            weights.retriever.weights[s] = wt__sources[s]->tried[i];
            WT_TRY(try_weights(search, &weights, err));
        }
    return 0;
}

static int open_weight_search(struct weight_search *search, wt_error *err)
{
    struct dev_evaluator *evaluator = search->evaluator;
    size_t count = evaluator->tools * evaluator->dim;
    struct tool2vec tool2vec;
    search->tools = wt__alloc_array(count, sizeof(float));
    search->rows = wt__alloc_array(count, sizeof(float));
    search->mixed = wt__alloc_array(count, sizeof(float));
    WT_CHECK_ALLOC(search->tools && search->rows && search->mixed, err);
    WT_TRY(wt__evaluator_tool2vec_weights(evaluator, &tool2vec, err));
    wt__evaluator_tool2vec(evaluator, &tool2vec, search->tools);
    WT_TRY(wt__mlc_vectors(evaluator, search->tools, search->rows, &search->head, err));
    search->best =
        (struct source_weights){.retriever = {.weights = {[SOURCE_BM25] = 1, [SOURCE_DENSE] = 2.5f}, .subquery = .5f},
                                .mix = {1, search->head ? 1 : 0}};
    for (size_t s = 0; s < SOURCES; s++)
        if (wt__sources[s]->tried_count > 0)
            search->best.retriever.weights[s] = wt__sources[s]->tried[0];
    search->figure = search->hybrid = wt__no_outcome();
    return 0;
}

static void close_weight_search(struct weight_search *search)
{
    wt__tool_vectors_dispose(&search->view);
    free(search->tools);
    free(search->rows);
    free(search->mixed);
}

/* Returns the mean of recall at 1, 3, 5 and 7. Recall at 1 distinguishes outcomes that find all tools in three hits. */
static double average_recalls(const struct dev_outcome *outcome)
{
    return (3 * outcome->figure + outcome->first) / 4;
}

/* True if `hybrid` is better than the trained result, or if nothing was measured. At equal figures the trained result
 * is preferred. */
static bool is_hybrid_kept(const struct weight_search *search)
{
    const struct dev_outcome *learned = search->refined ? &search->refiner : &search->figure;
    return !(average_recalls(learned) >= average_recalls(&search->hybrid));
}

/* Writes "fuse(bm25, neighbours, tool2vec, mlc)", or the name of a single source. */
static void write_source_names(const struct source_weights *weights, struct buffer *out)
{
    const struct weight_mix *mix = &weights->mix;
    bool fused = mix->tool2vec > 0 && mix->mlc > 0;
    for (size_t s = 0; s < SOURCES; s++)
        fused |= s != SOURCE_DENSE && weights->retriever.weights[s] > 0;
    wt__buffer_text(out, fused ? "fuse(" : "");
    for (size_t s = 0; s < SOURCES; s++)
        if (s != SOURCE_DENSE && weights->retriever.weights[s] > 0)
            wt__buffer_printf(out, "%s, ", wt__sources[s]->name);
    wt__buffer_printf(out, "%s%s%s%s", mix->tool2vec > 0 ? "tool2vec" : "",
                      mix->tool2vec > 0 && mix->mlc > 0 ? ", " : "", mix->mlc > 0 ? "mlc" : "", fused ? ")" : "");
}

static void describe_choice(const struct weight_search *search, struct buffer *runs, struct buffer *why)
{
    const struct weight_mix *mix = &search->best.mix;
    const struct retriever *retriever = &search->best.retriever;
    if (is_hybrid_kept(search) || search->refined)
        wt__buffer_text(runs, is_hybrid_kept(search) ? "hybrid" : search->refined);
    else
        write_source_names(&search->best, runs);
    if (search->evaluator->dev_count == 0) {
        wt__buffer_text(why, "there are no dev requests to choose by, so hybrid is kept");
        return;
    }
    wt__buffer_printf(why,
                      "of %zu dev requests' tools, hybrid finds %.1f %% in the first 5, and %.1f %% are found with "
                      "weights",
                      search->evaluator->dev_count, 100 * search->hybrid.recall, 100 * search->figure.recall);
    for (size_t s = 0; s < SOURCES; s++)
        if (!wt__sources[s]->is_preset)
            wt__buffer_printf(why, " %s %g,", wt__sources[s]->name, (double)retriever->weights[s]);
    wt__buffer_printf(why, " sub-queries %g; of dense tool2vec %g, mlc %g", (double)retriever->subquery,
                      (double)mix->tool2vec, (double)mix->mlc);
    if (search->refined)
        wt__buffer_printf(why, "; with %s it is %.1f %%", search->refined, 100 * search->refiner.recall);
    wt__buffer_printf(why, "; at the first place %.1f and %.1f %%", 100 * search->hybrid.first,
                      100 * (search->refined ? search->refiner.first : search->figure.first));
}

static int save_choice(struct weight_search *search, const json_t *about, wt_trained *out, wt_error *err)
{
    const struct source_weights *best = &search->best;
    const struct dev_outcome *chosen = is_hybrid_kept(search) ? &search->hybrid
                                       : search->refined      ? &search->refiner
                                                              : &search->figure;
    WT_CLEANUP(wt__buffer_dispose) struct buffer runs = {0}, why = {0};
    describe_choice(search, &runs, &why);
    out->before = search->hybrid.recall;
    out->after = chosen->recall;
    json_t *weights = wt__retriever_write(&best->retriever), *config = NULL;
    bool failed = runs.failed || why.failed || !weights ||
                  json_object_set_new(weights, "tool2vec", json_real((double)best->mix.tool2vec)) < 0 ||
                  json_object_set_new(weights, "mlc", json_real((double)best->mix.mlc)) < 0;
    if (!failed)
        config = json_pack("{s:s, s:s, s:O}", "runs", runs.ptr, "why", why.ptr, "weights", weights);
    json_decref(weights);
    out->notice = why.failed ? NULL : wt__arena_copy(&search->evaluator->training->arena, wt__buffer_view(&why));
    return wt__evaluator_finish(search->evaluator, about, config, out, err);
}

/* Measures the trained recipes that have a refiner, and sets search->refined. A refiner makes a search slower, so it
 * must be clearly better than the best weights. */
static int try_refiners(struct weight_search *search, wt_error *err)
{
    size_t count = search->evaluator->dev_count;
    WT_AUTO_FREE double *each = wt__alloc_array(2 * count, sizeof *each);
    WT_CHECK_ALLOC(each, err);
    search->figure.each = each;
    WT_TRY(ask_weights(search, &search->best, &search->figure, err));
    for (size_t i = RECIPES; i-- > 0;) { /* at equal figures the later recipe is preferred */
        const char *recipe = wt__recipes[i].public.name;
        struct dev_outcome here = {.each = each + count};
        bool there = false;
        if (wt__recipes[i].reranker == &wt__rerank_refiner)
            WT_TRY(wt__refiner_measure(search->evaluator, recipe, &there, &here, err));
        if (there && wt__evaluator_is_better(search->evaluator, each, each + count, CLEARLY) &&
            !(search->refined && here.figure <= search->refiner.figure)) {
            search->refined = recipe;
            search->refiner = here;
        }
    }
    search->figure.each = search->refiner.each = NULL;
    return 0;
}

/* Estimates the number of measurements on dev. */
static size_t count_questions(void)
{
    size_t a_round = COUNT(mixes) + COUNT(balances) + COUNT(subqueries);
    for (size_t s = 0; s < SOURCES; s++)
        a_round += wt__sources[s]->tried_count;
    return 3 + ROUNDS * a_round;
}

int wt__lesson_auto(struct training *training, wt_trained *out, wt_error *err)
{
    WT_CLEANUP(close_weight_search) struct weight_search search = {0};
    WT_CLEANUP(json_decrefp) json_t *about = NULL;
    WT_TRY(wt__evaluator_begin(&search.evaluator, training, &about, err));
    WT_TRY(open_weight_search(&search, err));
    if (wt__train_progress_phase(&training->progress, "measuring", count_questions()))
        return wt__fail_cancelled(err);
    WT_TRY(wt__evaluator_measure_hybrid(search.evaluator, &search.hybrid, err));
    for (int i = 0; i < ROUNDS; i++)
        WT_TRY(run_weight_round(&search, err));
    WT_TRY(try_refiners(&search, err));
    return save_choice(&search, about, out, err);
}
