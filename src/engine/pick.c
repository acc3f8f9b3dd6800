/* pick.c: the set of tools that a request needs: a search for its hits, then the chooser (choose/chooser.h). */
#include "engine/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/sized_options.h"
#include "engine/ptr_sources.h"
#include "engine/materialise.h"
#include "recipe/recipes.h"

struct result {
    wt_picked public; /* first, so that the public pointer is this one */
    struct arena arena;
};

struct picking {
    struct search search;
    wt_pick_options options;
    const struct chooser *chooser;
    const char *notice; /* on the chooser */
    struct candidate_features candidates;
    uint32_t *which; /* [count] the hits that were picked; their scores are probabilities then */
    size_t count;
    wt_picked *out;
};

void wt_picked_free(wt_picked *public)
{
    if (!public)
        return;
    struct result *result = (struct result *)public;
    wt__arena_dispose(&result->arena);
    free(result);
}

const struct chooser *wt__engine_chooser(wt_engine *engine, struct progress *progress, bool *untrained,
                                         const char **notice)
{
    const struct trained *trained = NULL;
    int rc = wt__engine_load_trained(engine, progress, &trained, NULL);
    if (rc == WT_ENOMEM)
        return NULL;
    bool calibrated = trained && trained->chooser;
    *untrained = rc == 0 && !calibrated; /* else the search says what is wrong with it */
    *notice = *untrained ? "not calibrated on this catalogue: record use, then run `whichtool train all`" : NULL;
    return calibrated ? trained->chooser : &wt__chooser_default;
}

double wt__read_candidates(const struct search *search, const struct chooser *chooser, struct candidate_features *out)
{
    wt__candidate_features_read(out, &search->hits, wt__search_neighbours(search));
    return search->encoder || out->tools == 0 ? (double)wt__no_answer_probability(chooser, out) : NAN;
}

int wt__past_users(const struct search *search, const int64_t *ids, size_t count, uint64_t **out, wt_error *err)
{
    const struct neighbours *n = wt__search_neighbours(search);
    *out = NULL;
    if (!n)
        return 0;
    uint64_t *bits = calloc(wt__neighbours_bits(n->count) + 1, sizeof *bits);
    if (!bits)
        return wt__fail_nomem(err);
    for (size_t g = 0; g < count; g++) {
        size_t row = wt__index_row(search->index->snapshot, ids[g]);
        for (size_t i = 0; i < n->count; i++)
            for (uint32_t l = n->starts[i]; l < n->starts[i + 1]; l++)
                if (n->rows[n->labels[l]] == row)
                    bits[i / 64] |= (uint64_t)1 << i % 64;
    }
    *out = bits;
    return 0;
}

int wt__used_rows(const struct search *search, const uint64_t **out, wt_error *err)
{
    const struct neighbours *n = wt__search_neighbours(search);
    size_t words = (search->index->snapshot->rows + (size_t)63) / 64;
    *out = NULL;
    if (!n)
        return 0;
    uint64_t *bits = wt__arena_array(search->arena, uint64_t, words);
    if (!bits)
        return wt__fail_nomem(err);
    memset(bits, 0, words * sizeof *bits);
    for (size_t l = 0; l < n->starts[n->count]; l++) {
        uint32_t row = n->rows[n->labels[l]];
        if (row != NEIGHBOURS_GONE)
            bits[row / 64] |= (uint64_t)1 << row % 64;
    }
    *out = bits;
    return 0;
}

static int check(const wt_pick_options *options, wt_error *err)
{
    if (!(options->complete >= 0 && options->complete < 1))
        return wt__fail(err, WT_EINVAL, "a set can be complete with a probability of 0 to below 1, not %g",
                        options->complete);
    if (!(options->abstain < 1))
        return wt__fail(err, WT_EINVAL, "the share of requests to abstain at is below 1, not %g", options->abstain);
    return 0;
}

int wt__picked_note(wt_picked *picked, struct arena *arena, const char *text, wt_error *err)
{
    struct buffer all = {0};
    if (!text)
        return 0;
    if (picked->notice)
        wt__buffer_printf(&all, "%s; ", picked->notice);
    wt__buffer_text(&all, text);
    picked->notice = all.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&all));
    wt__buffer_dispose(&all);
    return picked->notice ? 0 : wt__fail_nomem(err);
}

static bool abstains(const struct picking *p)
{
    double share = p->options.abstain == 0 ? PICK_ABSTAIN_PERCENT / 100.0 : p->options.abstain;
    return share > 0 && p->out->no_answer_probability > (double)wt__no_answer_threshold(&p->chooser->no_answer, share);
}

/* Hits get probabilities for scores: 0 for those that no set holds. Those are of requests that some tool fits; what is
 * said to be needed allows for there being none. */
static void score_hits(struct picking *p, const struct chosen *chosen)
{
    struct hit_list *hits = &p->search.hits;
    for (size_t h = 0; h < hits->len; h++)
        hits->items[h].score = 0;
    for (size_t t = 0; t < p->candidates.tools; t++)
        hits->items[p->candidates.hits[t]].score = chosen->probability[t];
    for (size_t h = 0; h < hits->len; h++)
        hits->items[h].probability = wt__relevance_below(hits->items[h].score, p->out->no_answer_probability);
}

/* The set of the greatest expected TRACC, likeliest first. */
static void pick_likeliest(struct picking *p, const struct chosen *chosen)
{
    struct scored order[CHOOSE_TOOLS];
    for (uint32_t t = 0; t < p->candidates.tools; t++)
        if (chosen->tools >> t & 1)
            order[p->count++] = (struct scored){chosen->probability[t], p->candidates.hits[t]};
    wt__scored_sort(order, p->count);
    for (size_t i = 0; i < p->count; i++)
        p->which[i] = order[i].row;
    p->out->tracc = (double)chosen->tracc;
    p->out->complete = (double)chosen->complete;
}

/* As many as it takes; all hits where nothing was promised. */
static int pick_complete(struct picking *p, wt_error *err)
{
    struct conformal_thresholds thresholds;
    const uint64_t *used;
    size_t hits = p->search.hits.len;
    float *before = wt__arena_array(p->search.arena, float, hits);
    int rc = before ? wt__used_rows(&p->search, &used, err) : wt__fail_nomem(err);
    if (rc < 0)
        return rc;
    bool known = wt__conformal_thresholds(p->chooser, p->options.complete, &thresholds);
    wt__set_order(p->chooser, &p->candidates, hits, p->which, before);
    for (size_t i = 0; i < hits; i++) {
        uint32_t row = p->search.hits.items[p->which[i]].row;
        bool unused = used && !(used[row / 64] >> row % 64 & 1);
        if (!known || before[i] <= (unused ? thresholds.unused : thresholds.used))
            p->which[p->count++] = p->which[i];
    }
    p->out->complete = known ? p->options.complete : NAN;
    if (known)
        return 0;
    return wt__picked_note(p->out, p->search.arena,
                           p->chooser->nonconformity.count == 0
                               ? "how large a complete set must be is not known without training"
                               : "training cannot promise that probability: it set too few requests aside, or too "
                                 "many of their tools were not found",
                           err);
}

static int pick(struct picking *p, wt_error *err)
{
    struct chosen chosen;
    if (p->candidates.tools == 0 || abstains(p))
        return 0;
    wt__choose(p->chooser, &p->candidates, &chosen);
    score_hits(p, &chosen);
    if (p->options.complete > 0)
        return pick_complete(p, err);
    pick_likeliest(p, &chosen);
    return 0;
}

static int run(struct picking *p, wt_error *err)
{
    int rc = wt__search_run(&p->search, err);
    if (rc < 0)
        return rc;
    p->out->recipe = p->search.ran;
    p->out->notice = p->search.notice;
    p->out->no_answer_probability = wt__read_candidates(&p->search, p->chooser, &p->candidates);
    p->which = wt__arena_array(p->search.arena, uint32_t, p->search.hits.len);
    rc = p->which ? wt__picked_note(p->out, p->search.arena, p->notice, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = pick(p, err);
    if (rc == 0)
        rc =
            wt__materialise_hits(&p->search, p->which, p->count, p->options.explain, &p->out->items, &p->out->len, err);
    return rc;
}

static int pick_set(wt_engine *engine, struct str request, const wt_pick_options *options, struct progress *progress,
                    struct arena *arena, wt_picked *out, wt_error *err)
{
    struct picking picking = {.options = *options, .out = out};
    int rc = check(options, err);
    if (rc < 0)
        return rc;
    picking.search = (struct search){.engine = engine,
                                     .request = request,
                                     .arena = arena,
                                     .provider = options->provider,
                                     .k = options->complete > 0 ? PICK_COMPLETE : PICK_HITS,
                                     .features = true,
                                     .progress = progress};
    picking.chooser = wt__engine_chooser(engine, progress, &picking.search.untrained, &picking.notice);
    rc = picking.chooser ? run(&picking, err) : wt__fail_nomem(err);
    wt__search_end(&picking.search);
    out->encode_ms = picking.search.hits.encode_ms;
    return rc;
}

/* The recipe that picks; complete is that of set-N. */
static int find_recipe(wt_pick_options *options, enum picker *picker, wt_error *err)
{
    const char *name = options->recipe ? options->recipe : TRAINED_SET;
    const struct recipe *recipe = wt__recipe_named(name);
    if (!recipe && strcmp(name, "auto") != 0)
        return wt__fail(err, WT_ERECIPE, "there is no recipe \"%.80s\"; `whichtool help --recipes` lists them", name);
    if (!recipe || !recipe->public.picks)
        return wt__fail(err, WT_ERECIPE, "the recipe %s gives an order, not a set: `whichtool find` runs it", name);
    *picker = recipe->picker;
    if (*picker == PICKER_CHOOSER && (options->base_retriever || options->ablate || options->k))
        return wt__fail(err, WT_EINVAL,
                        "below, without and k are options of the recipe ptr, and below of bundle, not of %s", name);
    if (recipe->public.complete > 0 && options->complete == 0)
        options->complete = recipe->public.complete;
    return 0;
}

int wt__pick(wt_engine *engine, struct str request, const wt_pick_options *given, const struct pick_oracle *oracle,
             wt_picked **out, wt_error *err)
{
    double begun = wt__now_ms();
    wt_pick_options options = *given;
    enum picker picker = PICKER_NONE;
    *out = NULL;
    int rc = find_recipe(&options, &picker, err);
    struct result *result = rc == 0 ? calloc(1, sizeof *result) : NULL;
    if (!result)
        return rc < 0 ? rc : wt__fail_nomem(err);
    wt_picked *picked = &result->public;
    *picked = (wt_picked){.no_answer_probability = NAN, .tracc = NAN, .complete = NAN};
    struct progress progress;
    wt__progress_init(&progress, options.progress, options.progress_context);
    wt__progress_limit(&progress, options.time_limit_ms);
    if (picker == PICKER_CHOOSER)
        rc = pick_set(engine, request, &options, &progress, &result->arena, picked, err);
    else
        rc = wt__ptr_pick(engine, request, &options, picker == PICKER_BUNDLE, oracle, &progress, &result->arena, picked,
                          err);
    rc = wt__progress_end(&progress, rc, err);
    if (rc < 0) {
        wt_picked_free(picked);
        return rc;
    }
    picked->total_ms = wt__now_ms() - begun;
    picked->search_ms = fmax(picked->total_ms - picked->encode_ms - picked->model_ms, 0); /* replayed: none of it */
    *out = picked;
    return 0;
}

int wt_pick(wt_engine *engine, const char *request, size_t request_len, const wt_pick_options *given, wt_picked **out,
            wt_error *err)
{
    wt_pick_options options;
    *out = NULL;
    int rc = wt__options_read(&options, sizeof options, given, err);
    return rc < 0 ? rc : wt__pick(engine, (struct str){request, request_len}, &options, NULL, out, err);
}
