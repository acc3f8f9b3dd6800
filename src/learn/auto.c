/* auto.c: weights of all the evidence there is (words, Tool2Vec's vectors, the classifier's rows, sub-queries)
 * are found on dev, one after the other, twice around. What a weighing leaves out is a recipe of its own, so this
 * chooses among the plain ones too. `hybrid` with the engine's encoder and the refiners stand beside it: a refiner is
 * taken where it does better, hybrid where nothing betters it.
 *
 * A handful of values a weight, and a figure that is the mean of three cutoffs: with a few dozen dev requests a finer
 * search would find nothing but those requests. */
#include "learn/auto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "learn/mlc_trainer.h"
#include "learn/refiner_trainer.h"
#include "learn/dev_evaluator.h"
#include "learn/tool2vec_trainer.h"

/* What can be weighed. */
struct weights {
    float lexical, dense, subquery, neighbours;
    float tool2vec, mlc; /* what the dense side is made of */
};

struct mix {
    float tool2vec, mlc;
};

struct balance {
    float lexical, dense;
};

/* Values in order of preference: of equals the first stays. */
static const struct mix mixes[] = {{1, 1}, {1, 0}, {0, 1}, {1, 2}};
static const struct balance balances[] = {{1, 2.5f}, {1, 1.5f}, {1, 1}, {1, 0.6f}, {1, 4}, {0, 1}};
static const float subqueries[] = {0.5f, 1, 0.75f, 0.25f, 0};
static const float votes[] = {0.5f, 0, 0.25f, 1, 2};
enum { ROUNDS = 2, CLEARLY = 2 /* standard errors: what costs more should be worth it */ };

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct search {
    struct dev_evaluator *evaluator;
    float *tools, *rows;      /* [M, D] T, and C where there is a head */
    bool head;                /* whether there is */
    float *mixed;             /* [M, D] of the mix in hand */
    struct tool_vectors view; /* of mixed */
    struct mix in_hand;
    struct weights best;
    struct outcome figure;  /* with those */
    const char *refined;    /* the recipe with a refiner that betters them, or NULL */
    struct outcome refiner; /* its figure */
    struct outcome hybrid;
};

static int mix(struct search *search, struct mix wanted, wt_error *err)
{
    size_t count = search->evaluator->tools * search->evaluator->dim;
    if (search->view.chunks && search->in_hand.tool2vec == wanted.tool2vec && search->in_hand.mlc == wanted.mlc)
        return 0;
    for (size_t i = 0; i < count; i++)
        search->mixed[i] = wanted.tool2vec * search->tools[i] + wanted.mlc * search->rows[i];
    wt__tool_vectors_dispose(&search->view);
    search->in_hand = wanted;
    return wt__tool_vectors_open(&search->view, search->mixed, search->evaluator->tools, search->evaluator->dim, err);
}

static int ask(struct search *search, const struct weights *weights, struct outcome *out, wt_error *err)
{
    const struct retriever retriever = {.lexical = weights->lexical,
                                        .dense = weights->dense,
                                        .subquery = weights->subquery,
                                        .neighbours = weights->neighbours};
    int rc = mix(search, (struct mix){weights->tool2vec, weights->mlc}, err);
    return rc < 0 ? rc : wt__evaluator_ask(search->evaluator, &retriever, &search->view, out, err);
}

static int try(struct search *search, const struct weights *weights, wt_error *err)
{
    struct outcome here = {0};
    int rc = ask(search, weights, &here, err);
    if (rc == 0 && !(here.figure <= search->figure.figure + 1e-9)) {
        search->best = *weights;
        search->figure = here;
    }
    return rc;
}

static int one_round(struct search *search, wt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < (search->head ? COUNT(mixes) : 1); i++) {
        struct weights weights = search->best;
        weights.tool2vec = mixes[i].tool2vec;
        weights.mlc = search->head ? mixes[i].mlc : 0;
        rc = try(search, &weights, err);
    }
    for (size_t i = 0; rc == 0 && i < COUNT(balances); i++) {
        struct weights weights = search->best;
        weights.lexical = balances[i].lexical;
        weights.dense = balances[i].dense;
        rc = try(search, &weights, err);
    }
    for (size_t i = 0; rc == 0 && i < COUNT(subqueries); i++) {
        struct weights weights = search->best;
        weights.subquery = subqueries[i];
        rc = try(search, &weights, err);
    }
    for (size_t i = 0; rc == 0 && i < COUNT(votes); i++) {
        struct weights weights = search->best;
        weights.neighbours = votes[i];
        rc = try(search, &weights, err);
    }
    return rc;
}

static int open_search(struct search *search, wt_error *err)
{
    struct dev_evaluator *evaluator = search->evaluator;
    size_t count = evaluator->tools * evaluator->dim;
    struct tool2vec tool2vec;
    search->tools = wt__alloc_array(count, sizeof(float));
    search->rows = wt__alloc_array(count, sizeof(float));
    search->mixed = wt__alloc_array(count, sizeof(float));
    if (!search->tools || !search->rows || !search->mixed)
        return wt__fail_nomem(err);
    int rc = wt__evaluator_tool2vec_weights(evaluator, &tool2vec, err);
    if (rc == 0) {
        wt__evaluator_tool2vec(evaluator, &tool2vec, search->tools);
        rc = wt__mlc_vectors(evaluator, search->tools, search->rows, &search->head, err);
    }
    search->best = (struct weights){1, 2.5f, .5f, .5f, 1, search->head ? 1 : 0};
    search->figure = search->hybrid = (struct outcome){NAN, NAN, NULL};
    return rc;
}

static void close_search(struct search *search)
{
    wt__tool_vectors_dispose(&search->view);
    free(search->tools);
    free(search->rows);
    free(search->mixed);
}

/* ---------------------------------------------------------------- what was found, in words */

static bool keeps_hybrid(const struct search *search)
{
    double figure = search->refined ? search->refiner.figure : search->figure.figure;
    return !(figure >= search->hybrid.figure);
}

static void describe(const struct search *search, struct buffer *runs, struct buffer *why)
{
    const struct weights *w = &search->best;
    bool fused = w->lexical > 0 || w->neighbours > 0 || (w->tool2vec > 0 && w->mlc > 0);
    if (keeps_hybrid(search) || search->refined) {
        wt__buffer_text(runs, keeps_hybrid(search) ? "hybrid" : search->refined);
    } else {
        wt__buffer_printf(runs, "%s%s%s%s%s%s%s", fused ? "fuse(" : "", w->lexical > 0 ? "bm25, " : "",
                          w->neighbours > 0 ? "neighbours, " : "", w->tool2vec > 0 ? "tool2vec" : "",
                          w->tool2vec > 0 && w->mlc > 0 ? ", " : "", w->mlc > 0 ? "mlc" : "", fused ? ")" : "");
    }
    wt__buffer_printf(why,
                      "of %zu dev requests' tools, hybrid finds %.1f %% in the first 5, and %.1f %% are found with "
                      "weights BM25 %g, vectors %g (tool2vec %g, mlc %g), sub-queries %g, neighbours %g",
                      search->evaluator->dev_count, 100 * search->hybrid.recall, 100 * search->figure.recall,
                      (double)w->lexical, (double)w->dense, (double)w->tool2vec, (double)w->mlc, (double)w->subquery,
                      (double)w->neighbours);
    if (search->refined)
        wt__buffer_printf(why, "; with %s it is %.1f %%", search->refined, 100 * search->refiner.recall);
}

static int leave(struct search *search, const json_t *about, wt_trained *out, wt_error *err)
{
    const struct weights *w = &search->best;
    const struct outcome *chosen = keeps_hybrid(search) ? &search->hybrid
                                   : search->refined    ? &search->refiner
                                                        : &search->figure;
    struct buffer runs = {0}, why = {0};
    describe(search, &runs, &why);
    out->before = search->hybrid.recall;
    out->after = chosen->recall;
    json_t *config =
        runs.failed || why.failed
            ? NULL
            : json_pack("{s:s, s:s, s:{s:f, s:f, s:f, s:f, s:f, s:f}}", "runs", runs.ptr, "why", why.ptr, "weights",
                        "lexical", (double)w->lexical, "dense", (double)w->dense, "subquery", (double)w->subquery,
                        "neighbours", (double)w->neighbours, "tool2vec", (double)w->tool2vec, "mlc", (double)w->mlc);
    out->notice = why.failed ? NULL : wt__arena_copy(&search->evaluator->training->arena, wt__buffer_view(&why));
    int rc = wt__evaluator_leave(search->evaluator, about, config, out, err);
    wt__buffer_dispose(&runs);
    wt__buffer_dispose(&why);
    return rc;
}

/* A recipe with a refiner, where training left one, costs about twice the time: it is taken for a clear gain. */
static int try_refiners(struct search *search, wt_error *err)
{
    static const char *const recipes[] = {"mlc+refiner", "tool2vec+refiner"};
    size_t count = search->evaluator->dev_count;
    double *each = wt__alloc_array(2 * count, sizeof *each);
    int rc = each ? 0 : wt__fail_nomem(err);
    search->figure.each = each;
    if (rc == 0)
        rc = ask(search, &search->best, &search->figure, err);
    for (size_t i = 0; rc == 0 && i < COUNT(recipes); i++) {
        struct outcome here = {.each = each + count};
        bool there;
        rc = wt__refiner_ask(search->evaluator, recipes[i], &there, &here, err);
        if (rc == 0 && there && wt__evaluator_better(search->evaluator, each, each + count, CLEARLY) &&
            !(search->refined && here.figure <= search->refiner.figure)) {
            search->refined = recipes[i];
            search->refiner = here;
        }
    }
    search->figure.each = search->refiner.each = NULL;
    free(each);
    return rc;
}

int wt__lesson_auto(struct training *training, wt_trained *out, wt_error *err)
{
    struct search search = {0};
    json_t *about = NULL;
    int rc = wt__evaluator_begin(&search.evaluator, training, &about, err);
    if (rc == 0)
        rc = open_search(&search, err);
    if (rc == 0 &&
        wt__train_progress_phase(&training->progress, "measuring",
                                 3 + ROUNDS * (COUNT(mixes) + COUNT(balances) + COUNT(subqueries) + COUNT(votes))))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        rc = wt__evaluator_ask_hybrid(search.evaluator, &search.hybrid, err);
    for (int i = 0; rc == 0 && i < ROUNDS; i++)
        rc = one_round(&search, err);
    if (rc == 0)
        rc = try_refiners(&search, err);
    if (rc == 0)
        rc = leave(&search, about, out, err);
    close_search(&search);
    json_decref(about);
    return rc;
}
