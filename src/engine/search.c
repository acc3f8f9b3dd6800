/* search.c: hits are rows of a snapshot, which the search keeps until it ends: the catalogue may change meanwhile. */
#include "engine/search.h"

#include <math.h>
#include <string.h>

#include "recipe/recipes.h"
#include "retrieve/document.h"

static const char *const AUTOMATIC = "auto", *const DEFAULT_RECIPE = "hybrid", *const FALLBACK_RECIPE = "bm25";

static int check(const struct search *search, wt_error *err)
{
    if (search->request.len > WT_MAX_REQUEST_BYTES)
        return wt__fail(err, WT_ETOOLONG, "the request has %zu bytes; at most %d are read", search->request.len,
                        WT_MAX_REQUEST_BYTES);
    if (wt__str_trim(search->request).len == 0)
        return wt__fail(err, WT_EINVAL, "the request is empty; say in words what is wanted");
    if (search->k > WT_MAX_K)
        return wt__fail(err, WT_EINVAL, "%zu hits were asked for; at most %d are given", search->k, WT_MAX_K);
    return 0;
}

static int fail_recipe(const char *name, wt_error *err)
{
    struct buffer names = {0};
    const wt_recipe *recipe;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++)
        if (!recipe->picks)
            wt__buffer_printf(&names, "%s, ", recipe->name);
    int rc = wt__fail(err, WT_ERECIPE, "there is no recipe \"%s\"; there are %sauto", name, names.ptr ? names.ptr : "");
    wt__buffer_dispose(&names);
    return rc;
}

/* A recipe without training. The default one does without an encoder when there is none. */
static int choose_plain(struct search *search, const struct recipe *recipe, bool automatic, wt_error *err)
{
    wt_error why;
    search->retriever = *recipe->retriever;
    search->reranker.rules = recipe->rules;
    search->ran = recipe->public.name;
    if (!recipe->public.needs_model)
        return 0;
    int rc = wt__engine_load_encoder(search->engine, search->progress, &search->encoder, &why);
    if (rc == WT_EMODEL && automatic) {
        search->encoder = NULL;
        search->retriever = wt__bm25;
        search->ran = FALLBACK_RECIPE;
        search->relevance = NULL;
        search->notice = wt__arena_copy(search->arena, wt__str(why.message));
        return search->notice ? 0 : wt__fail_nomem(err);
    }
    if (rc < 0 && err)
        *err = why;
    if (rc == 0)
        search->set = (struct index_set){wt__encoder_hash(search->encoder), wt__document_kind};
    return rc;
}

/* What training left: its own weights, or, where auto found nothing better, the plain recipe that it names. */
static int choose_trained(struct search *search, const struct trained *trained, const struct trained_recipe *recipe,
                          wt_error *err)
{
    const struct recipe *plain = wt__recipe_named(recipe->runs);
    search->why = recipe->why[0] ? wt__arena_copy(search->arena, wt__str(recipe->why)) : NULL;
    if (recipe->why[0] && !search->why)
        return wt__fail_nomem(err);
    if (recipe == &trained->recipes[RECIPE_AUTO] && trained->chooser && trained->chooser->has_relevance)
        search->relevance = &trained->chooser->relevance;
    if (plain && plain->retriever && strcmp(recipe->runs, recipe->name) != 0)
        return choose_plain(search, plain, true, err);
    search->retriever = recipe->retriever;
    search->retriever.votes |= search->features && trained->recipes[RECIPE_NEIGHBOURS].there;
    search->reranker = (struct reranker){
        .refiner = recipe->refiner, .rules = recipe->rules, .reads = recipe->cross, .cross = trained->cross};
    if (wt__asks_neighbours(&search->retriever)) {
        search->encoder = trained->encoder;
        search->neighbours = trained->past.trained;
        search->neighbours.left_out = search->left_out;
        search->labels = trained;
    }
    if (recipe->retriever.dense > 0) {
        search->encoder = trained->encoder;
        search->set = (struct index_set){recipe->model, recipe->kind};
    }
    search->ran = wt__arena_copy(search->arena, wt__str(recipe->runs));
    return search->ran ? 0 : wt__fail_nomem(err);
}

/* The recipe that was asked for, or the best that can run here: what training chose, else hybrid, else words alone. */
static int choose_recipe(struct search *search, wt_error *err)
{
    const char *name = search->recipe ? search->recipe : AUTOMATIC;
    bool automatic = strcmp(name, AUTOMATIC) == 0;
    const struct recipe *recipe = wt__recipe_named(automatic ? DEFAULT_RECIPE : name);
    const struct trained *trained = NULL;
    if (!recipe)
        return fail_recipe(name, err);
    if (recipe->public.picks)
        return wt__fail(err, WT_ERECIPE, "the recipe %s gives a set, not an order: `whichtool pick` runs it", name);
    if (!automatic && recipe->retriever && !recipe->rules)
        return choose_plain(search, recipe, false, err);
    wt_error why;
    int rc = search->untrained ? 0 : wt__engine_load_trained(search->engine, search->progress, &trained, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc == WT_ECANCELLED)
        return wt__fail_cancelled(err);
    const struct trained_recipe *choice = wt__trained_recipe(trained, name);
    if (choice)
        return choose_trained(search, trained, choice, err);
    if (!automatic && !recipe->retriever)
        return rc < 0 ? wt__fail(err, WT_ERECIPE, "%s", why.message)
               : trained && trained->notice
                   ? wt__fail(err, WT_ERECIPE, "%s", trained->notice)
                   : wt__fail(err, WT_ERECIPE, "the recipe %s needs training; run `whichtool train %s`%s", name,
                              recipe->reads ? wt__recipes[recipe->first].public.name : name,
                              recipe->reads ? ", then `whichtool train cross`" : "");
    const char *notice = rc < 0 ? why.message : trained ? trained->notice : NULL;
    if (notice && !(search->notice = wt__arena_copy(search->arena, wt__str(notice))))
        return wt__fail_nomem(err);
    return choose_plain(search, recipe, automatic, err);
}

static int open_index(struct search *search, wt_error *err)
{
    return wt__engine_index(search->engine, search->progress, search->set.kind ? &search->set : NULL, search->labels,
                            &search->index, err);
}

/* Says how many tools cannot be found by meaning yet. */
static int note_missing_vectors(struct search *search, wt_error *err)
{
    size_t missing = search->set.kind ? wt__index_without_vector(search->index, &search->set) : 0;
    if (missing == 0)
        return 0;
    struct buffer text = {0};
    wt__buffer_printf(&text, "%zu of %u tools have no vector yet; `whichtool add` of any source makes them", missing,
                      search->index->snapshot->rows);
    search->notice = wt__arena_copy(search->arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return search->notice ? 0 : wt__fail_nomem(err);
}

/* Sets the bit of a tool's row to `wanted`. */
static void mark(const struct snapshot *snapshot, uint64_t *bits, int64_t id, bool wanted)
{
    size_t row = wt__index_row(snapshot, id);
    uint64_t bit = (uint64_t)1 << (row % 64);
    if (row < snapshot->rows)
        bits[row / 64] = wanted ? bits[row / 64] | bit : bits[row / 64] & ~bit;
}

static int mark_provider(struct search *search, uint64_t *bits, wt_error *err)
{
    struct str provider = wt__str(search->provider);
    size_t count = 0;
    int64_t *ids = NULL;
    int rc = wt__index_provider(search->engine, search->index, &provider, 0, search->arena, &ids, &count, err);
    if (rc < 0)
        return rc;
    if (count == 0)
        return wt__fail(err, WT_ENOTFOUND, "no tool has the provider \"%s\"", search->provider);
    for (size_t i = 0; i < count; i++)
        mark(search->index->snapshot, bits, ids[i], true);
    return 0;
}

int wt__search_allowed(struct search *search, const uint64_t **allowed, wt_error *err)
{
    const struct snapshot *snapshot = search->index->snapshot;
    size_t words = (snapshot->rows + (size_t)63) / 64;
    int rc = 0;
    *allowed = NULL;
    if (!search->provider && search->excluded_count == 0)
        return 0;
    uint64_t *bits = wt__arena_array(search->arena, uint64_t, words);
    if (!bits)
        return wt__fail_nomem(err);
    if (search->provider)
        rc = mark_provider(search, bits, err);
    else
        memset(bits, 0xff, words * sizeof *bits);
    for (size_t i = 0; rc == 0 && i < search->excluded_count; i++)
        mark(snapshot, bits, search->excluded[i], false);
    *allowed = bits;
    return rc;
}

const struct neighbours *wt__search_neighbours(const struct search *search)
{
    return search->neighbours.count > 0 && search->neighbours.rows ? &search->neighbours : NULL;
}

static int retrieve(struct search *search, wt_error *err)
{
    const struct snapshot *snapshot = search->index->snapshot;
    struct view view = {.snapshot = snapshot, .encoder = search->encoder};
    size_t k = search->k, deeper = wt__reranker_depth(&search->reranker);
    struct retrieve_request request = {.text = search->request,
                                       .k = k > deeper ? k : deeper,
                                       .max_per_provider = search->max_per_provider,
                                       .copies = search->copies,
                                       .features = search->features || search->reranker.refiner};
    search->neighbours.rows = search->index->label_rows;
    view.neighbours = wt__search_neighbours(search);
    if (search->set.kind)
        view.vectors =
            search->vectors ? search->vectors : wt__snapshot_vectors(snapshot, search->set.model, search->set.kind);
    int rc = wt__search_allowed(search, &request.allowed, err);
    if (rc == 0)
        rc = wt__retrieve(&search->retriever, &view, &request, search->workspace, &search->hits, err);
    if (rc == 0 && wt__progress_step(search->progress, 0))
        rc = wt__fail_cancelled(err);
    if (rc == 0) {
        struct store_tools tools = {search->engine, search->index};
        struct rerank_input input = {
            &view,           &request, wt__store_reader(&tools), search->arena, &search->multi_provider_probability,
            search->progress};
        rc = wt__rerank(&search->reranker, &input, &search->hits, err);
    }
    if (rc == 0 && search->hits.len > k)
        search->hits.len = k;
    return rc;
}

/* Vectors are verified when they are read, so damage may show as late as here. The index can be made again: once. */
static int retrieve_or_renew(struct search *search, wt_error *err)
{
    wt_error why;
    int rc = retrieve(search, &why);
    if (rc == WT_ESTORE && search->encoder) {
        wt__engine_discard_index(search->engine, search->index);
        wt__index_release(search->index);
        rc = open_index(search, &why);
        if (rc == 0)
            rc = retrieve(search, &why);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

int wt__search_run(struct search *search, wt_error *err)
{
    search->multi_provider_probability = NAN;
    int rc = check(search, err);
    if (rc == 0 && wt__progress_phase(search->progress, "searching", 0))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        rc = choose_recipe(search, err);
    if (rc == 0)
        rc = open_index(search, err);
    if (rc == 0)
        rc = note_missing_vectors(search, err);
    if (rc == 0)
        rc = wt__engine_workspace(search->engine, &search->workspace, err);
    return rc < 0 ? rc : retrieve_or_renew(search, err);
}

void wt__search_end(struct search *search)
{
    wt__engine_return_workspace(search->engine, search->workspace);
    wt__index_release(search->index);
}
