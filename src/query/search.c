/* search.c: runs a search. The search holds its index until it ends, so that the catalogue may change meanwhile. */
#include "query/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "choose/relevance.h"
#include "engine/filter.h"
#include "recipe/recipes.h"
#include "retrieve/document.h"
#include "retrieve/language.h"
#include "retrieve/services.h"
#include "retrieve/wish.h"

/* ---------------------------------------------------------------- plan */

struct plan_options {
    const char *recipe;        /* NULL for "auto" */
    bool untrained;            /* "auto" ignores trained models */
    bool features;             /* compute features of the hits, including past requests if there are any */
    bool joint;                /* as in struct search */
    struct progress *progress; /* polled while opening models; may be NULL */
};

static const char *const AUTOMATIC = "auto";

/* Returns the recipe of "auto" without training. */
static const struct recipe *choose_default_recipe(const wt_engine *engine, bool joint)
{
    return &wt__recipes[joint && engine->joint_folder[0] ? RECIPE_JOINT : RECIPE_HYBRID];
}

static int fail_unknown_recipe(const char *name, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
    const wt_recipe *recipe;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++)
        if (!recipe->picks)
            wt__buffer_printf(&names, "%s, ", recipe->name);
    return wt__fail(err, WT_ERECIPE, "there is no recipe \"%s\"; use one of %sauto", name, names.ptr ? names.ptr : "");
}

/* Plans an untrained recipe. If the encoder cannot be opened and the recipe was chosen automatically, uses the
 * fallback encoder, or no vectors if there is no fallback. */
static int plan_untrained(wt_engine *engine, const struct plan_options *wish, const struct recipe *recipe,
                          bool automatic, struct arena *arena, struct search_plan *out, wt_error *err)
{
    wt_error why;
    out->retriever = *recipe->retriever;
    out->reranker = wt__reranker_plain(recipe->reranker);
    if (recipe->reranker == &wt__rerank_joint)
        WT_TRY(wt__engine_joint(engine, wish->progress, &out->reranker.cross, err));
    out->ran = recipe->public.name;
    if (!recipe->public.needs_model)
        return 0;
    int rc = wt__engine_load_encoder(engine, wish->progress, &out->encoder, &why);
    if (rc == WT_EMODEL && automatic) {
        wt_error failed;
        bool is_known = out->notice.text && strcmp(out->notice.text, why.message) == 0;
        rc = wt__add_notice(&out->notice, WT_NOTICE_NO_ENCODER, is_known ? NULL : why.message, arena, &failed);
        out->notice.codes |= WT_NOTICE_NO_ENCODER;
        if (rc == 0)
            rc = wt__engine_fallback_encoder(engine, wish->progress, &out->encoder, &failed);
        why = rc < 0 ? failed : why;
        if (rc == 0 && !out->encoder) {
            out->relevance = NULL;
            return 0;
        }
    }
    if (rc < 0)
        return wt__fail_same(err, &why);
    out->set = (struct index_set){wt__encoder_hash(out->encoder), wt__document_kind};
    out->may_use_fallback = true;
    return 0;
}

/* Plans a trained recipe. Uses the trained weights, or plans the untrained recipe that recipe->runs names. */
static int plan_trained_recipe(wt_engine *engine, const struct plan_options *wish, const struct trained *trained,
                               const struct trained_recipe *recipe, struct arena *arena, struct search_plan *out,
                               wt_error *err)
{
    const struct recipe *plain = wt__recipe_named(recipe->runs);
    out->why = recipe->why[0] ? wt__arena_copy(arena, wt__str(recipe->why)) : NULL;
    if (recipe->why[0] && !out->why)
        return wt__fail_nomem(err);
    if (recipe == &trained->recipes[RECIPE_AUTO] && trained->chooser && trained->chooser->has_relevance)
        out->relevance = &trained->chooser->relevance;
    if (plain && plain->retriever && strcmp(recipe->runs, recipe->name) != 0)
        return plan_untrained(engine, wish, plain, true, arena, out, err);
    out->retriever = recipe->retriever;
    if (wish->features && trained->recipes[RECIPE_NEIGHBOURS].there)
        out->retriever.also |= 1u << SOURCE_NEIGHBOURS;
    out->reranker = recipe->reranker;
    if (wt__retriever_uses(&out->retriever, SOURCE_NEIGHBOURS)) {
        out->encoder = trained->encoder;
        out->labels = trained;
    }
    if (wt__retriever_uses(&recipe->retriever, SOURCE_DENSE)) {
        out->encoder = trained->encoder;
        out->set = (struct index_set){recipe->model, recipe->kind};
    }
    out->ran = wt__arena_copy(arena, wt__str(recipe->runs));
    return out->ran ? 0 : wt__fail_nomem(err);
}

/* Plans the requested recipe and opens its models. The recipe "auto" is the recipe that training chose, else hybrid.
 * Errors: WT_ERECIPE (the recipe is unknown or cannot run), WT_EMODEL, WT_ENOMEM, WT_ECANCELLED. */
static int choose_search_plan(wt_engine *engine, const struct plan_options *wish, struct arena *arena,
                              struct search_plan *out, wt_error *err)
{
    const char *name = wish->recipe ? wish->recipe : AUTOMATIC;
    bool automatic = strcmp(name, AUTOMATIC) == 0;
    const struct recipe *recipe = automatic ? choose_default_recipe(engine, wish->joint) : wt__recipe_named(name);
    const struct trained *trained = NULL;
    *out = (struct search_plan){.recorded = automatic};
    if (!recipe)
        return fail_unknown_recipe(name, err);
    if (recipe->public.picks)
        return wt__fail(err, WT_ERECIPE, "the recipe %s makes a set and ranks no tools; run it with `whichtool pick`",
                        name);
    if (!automatic && recipe->retriever && recipe->model == MODEL_NONE)
        return plan_untrained(engine, wish, recipe, false, arena, out, err);
    wt_error why;
    int rc = wish->untrained ? 0 : wt__engine_load_trained(engine, wish->progress, &trained, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc == WT_ECANCELLED)
        return wt__fail_cancelled(err);
    const struct trained_recipe *choice = wt__trained_recipe(trained, name);
    const char *notice = rc < 0 ? why.message : trained ? trained->notice : NULL;
    if (choice) {
        rc = wt__reranker_load(&choice->reranker, &why);
        if (rc == 0)
            return plan_trained_recipe(engine, wish, trained, choice, arena, out, err);
        notice = rc != WT_ENOMEM ? wt__trained_unused(choice->runs, why.message, arena) : NULL;
        WT_CHECK_ALLOC(notice, err);
    }
    if (!automatic && !recipe->retriever)
        return notice ? wt__fail(err, WT_ERECIPE, "%s", notice)
                      : wt__fail(err, WT_ERECIPE, "the recipe %s needs training; run `whichtool train %s`%s", name,
                                 recipe->reads ? wt__recipes[recipe->first].public.name : name,
                                 recipe->reads ? ", then `whichtool train cross`" : "");
    WT_TRY(wt__add_notice(&out->notice, WT_NOTICE_UNUSED_MODEL, notice, arena, err));
    return plan_untrained(engine, wish, recipe, automatic, arena, out, err);
}

/* ---------------------------------------------------------------- index */

int wt__request_check(struct str request, wt_error *err)
{
    if (request.len > WT_MAX_REQUEST_BYTES)
        return wt__fail(err, WT_ETOOLONG, "the request has %zu bytes; at most %d are allowed", request.len,
                        WT_MAX_REQUEST_BYTES);
    if (wt__str_trim(request).len == 0)
        return wt__fail(err, WT_EINVAL, "the request is empty; describe what you need in words");
    return 0;
}

/* Opens the current index and maps the tools of past requests to its rows. */
static int open_search_index(struct search *search, wt_error *err)
{
    const struct search_plan *plan = &search->plan;
    WT_TRY(wt__engine_index(search->engine, search->progress, plan->set.kind ? &plan->set : NULL, plan->labels,
                            &search->index, err));
    if (plan->labels) {
        search->neighbours = plan->labels->past.trained;
        search->neighbours.rows = search->index->label_rows;
        search->neighbours.label_of = search->index->row_labels;
        search->neighbours.left_out = search->left_out;
    }
    return 0;
}

/* Switches to the fallback encoder if more tools have vectors of the fallback encoder than of the plan's encoder. This
 * happens after the installation of a new model. */
static int use_fallback_encoder(struct search *search, wt_error *err)
{
    struct search_plan *plan = &search->plan;
    const struct encoder *fallback = NULL;
    size_t missing = plan->may_use_fallback ? wt__index_without_vector(search->index, &plan->set) : 0;
    if (missing == 0)
        return 0;
    WT_TRY(wt__engine_fallback_encoder(search->engine, search->progress, &fallback, err));
    if (!fallback)
        return 0;
    struct index_set set = {wt__encoder_hash(fallback), wt__document_kind};
    if (wt__index_without_vector(search->index, &set) >= missing)
        return 0;
    struct buffer text = {0};
    wt__buffer_printf(&text, "searching with %s until there are vectors of %s; `whichtool vectors` makes them",
                      wt__encoder_name(fallback), wt__encoder_name(plan->encoder));
    WT_TRY(wt__take_notice(&plan->notice, WT_NOTICE_NO_VECTORS, &text, search->arena, err));
    plan->encoder = fallback;
    plan->set = set;
    return 0;
}

/* Makes the plan and opens the index, replacing those of an earlier run. */
static int plan_search(struct search *search, wt_error *err)
{
    const struct plan_options wish = {search->recipe, search->untrained, search->features, search->joint,
                                      search->progress};
    wt__index_release(search->index);
    search->index = NULL;
    WT_TRY(choose_search_plan(search->engine, &wish, search->arena, &search->plan, err));
    WT_TRY(open_search_index(search, err));
    WT_TRY(use_fallback_encoder(search, err));
    const struct encoder *encoder = search->plan.encoder;
    search->encoder = wt__arena_copy(search->arena, wt__str(encoder ? wt__encoder_name(encoder) : ""));
    WT_CHECK_ALLOC(search->encoder, err);
    return 0;
}

/* Adds a notice about tools without a vector, or with vectors of an earlier version. */
static int note_missing_vectors(struct search *search, wt_error *err)
{
    const struct index_set *set = &search->plan.set;
    size_t missing = set->kind ? wt__index_without_vector(search->index, set) : 0;
    size_t former = set->kind ? wt__index_former_vectors(search->index, set) : 0;
    if (missing + former == 0)
        return 0;
    struct buffer text = {0};
    if (missing > 0)
        wt__buffer_printf(&text, "%zu of %u tools have no vector yet", missing, search->index->snapshot->rows);
    else
        wt__buffer_printf(&text, "%zu of %u tools have vectors of an earlier version", former,
                          search->index->snapshot->rows);
    wt__buffer_text(&text, "; `whichtool vectors` makes them");
    return wt__take_notice(&search->notice, WT_NOTICE_NO_VECTORS, &text, search->arena, err);
}

/* Gets the mask of the filter on the current index. Only the first call adds the notice of the mask. */
static int read_filter_mask(struct search *search, wt_error *err)
{
    bool first = !search->mask;
    wt__filter_mask_release(search->mask);
    int rc = wt__filter_mask(search->engine, search->index, search->filter, search->progress, &search->mask, err);
    return rc == 0 && first ? wt__join_notices(&search->notice, &search->mask->notice, search->arena, err) : rc;
}

int wt__search_allowed(struct search *search, const uint64_t **allowed, wt_error *err)
{
    const struct snapshot *snapshot = search->index->snapshot;
    size_t bytes = (snapshot->rows + (size_t)63) / 64 * sizeof **allowed;
    int rc = search->filter ? read_filter_mask(search, err) : 0;
    *allowed = rc == 0 && search->filter ? search->mask->bits : NULL;
    if (rc < 0 || search->excluded_count == 0)
        return rc;
    uint64_t *bits = wt__arena_alloc(search->arena, bytes, sizeof *bits);
    WT_CHECK_ALLOC(bits, err);
    if (*allowed)
        memcpy(bits, *allowed, bytes);
    else
        memset(bits, 0xff, bytes);
    for (size_t i = 0; i < search->excluded_count; i++) {
        size_t row = wt__snapshot_row(snapshot, search->excluded[i]);
        if (row < snapshot->rows)
            bits[row / 64] &= ~((uint64_t)1 << row % 64);
    }
    *allowed = bits;
    return 0;
}

const struct neighbours *wt__search_neighbours(const struct search *search)
{
    return search->neighbours.count > 0 && search->neighbours.rows ? &search->neighbours : NULL;
}

/* Context of the reranker's callbacks read_row_tools and list_provider_rows. */
struct store_tools {
    wt_engine *engine;
    const struct index_handle *index; /* index of the query */
    const uint64_t *allowed;          /* one bit per row; NULL for all */
};

static int read_row_tools(void *context, const uint32_t *rows, size_t count, struct arena *arena, struct tool *out,
                          wt_error *err)
{
    const struct store_tools *tools = context;
    int64_t *ids = wt__arena_array(arena, int64_t, count);
    WT_CHECK_ALLOC(ids, err);
    for (size_t i = 0; i < count; i++)
        ids[i] = tools->index->snapshot->keys[rows[i]].id;
    int rc = wt__index_tools(tools->engine, tools->index, ids, count, arena, out, err);
    return rc < 0 ? rc : 0;
}

static int list_provider_rows(void *context, struct str provider, size_t most, struct arena *arena, uint32_t **rows,
                              size_t *count, wt_error *err)
{
    const struct store_tools *tools = context;
    const struct snapshot *snapshot = tools->index->snapshot;
    size_t listed = 0;
    int64_t *ids;
    *count = 0;
    WT_TRY(wt__index_provider(tools->engine, tools->index, &provider, tools->allowed ? 0 : most, arena, &ids, &listed,
                              err));
    *rows = wt__arena_array(arena, uint32_t, listed);
    WT_CHECK_ALLOC(*rows, err);
    for (size_t i = 0; i < listed && *count < most; i++) {
        size_t row = wt__snapshot_row(snapshot, ids[i]);
        /* A tool added after the snapshot has no row in it. */
        if (row < snapshot->rows && wt__row_allowed(tools->allowed, (uint32_t)row))
            (*rows)[(*count)++] = (uint32_t)row;
    }
    return 0;
}

static int order_scored_rows(const void *a, const void *b)
{
    uint32_t x = ((const struct scored *)a)->row, y = ((const struct scored *)b)->row;
    return (x > y) - (x < y);
}

/* Reads the recorded usages of the same request. Ignores them instead of waiting for a commit of another connection.
 */
static int read_recorded_usage(const struct search *search, struct recorded_tool **tools, size_t *count, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    *count = 0;
    if (atomic_load(&search->engine->usages) == 0)
        return 0;
    WT_TRY(wt__open_reader(&reader, search->engine, err));
    wt__store_set_wait(reader.store, 0);
    int rc = wt__store_recorded(reader.store, search->request, search->arena, tools, count, err);
    return rc == WT_EBUSY ? 0 : rc;
}

int wt__search_is_recorded(const struct search *search, float share, bool *out, wt_error *err)
{
    struct recorded_tool *tools;
    size_t count;
    int rc = read_recorded_usage(search, &tools, &count, err);
    *out = false;
    for (size_t i = 0; rc == 0 && i < count; i++)
        *out |= (float)tools[i].share >= share;
    return rc;
}

/* Reads the recorded usages and maps them to rows of the index. */
static int map_recorded_usage(struct search *search, wt_error *err)
{
    const struct snapshot *snapshot = search->index->snapshot;
    struct recorded_tool *tools;
    size_t count;
    search->recorded_count = 0;
    if (!search->use_recorded || !search->plan.recorded)
        return 0;
    WT_TRY(read_recorded_usage(search, &tools, &count, err));
    if (count == 0)
        return 0;
    search->recorded = wt__arena_array(search->arena, struct scored, count);
    WT_CHECK_ALLOC(search->recorded, err);
    for (size_t i = 0; i < count; i++) {
        size_t row = wt__snapshot_row(snapshot, tools[i].tool);
        if (row < snapshot->rows)
            search->recorded[search->recorded_count++] = (struct scored){(float)tools[i].share, (uint32_t)row};
    }
    qsort(search->recorded, search->recorded_count, sizeof *search->recorded, order_scored_rows);
    return 0;
}

float wt__search_recorded(const struct search *search, uint32_t row)
{
    const struct scored wanted = {.row = row}, *found = NULL;
    if (search->recorded_count > 0)
        found = bsearch(&wanted, search->recorded, search->recorded_count, sizeof wanted, order_scored_rows);
    return found ? found->score : 0;
}

/* Drops the recorded tools that the filter excludes. Their use says little about the allowed tools. */
static void drop_excluded_usage(struct search *search, const uint64_t *allowed)
{
    size_t kept = 0;
    for (size_t i = 0; i < search->recorded_count; i++)
        if (wt__row_allowed(allowed, search->recorded[i].row))
            search->recorded[kept++] = search->recorded[i];
    search->recorded_count = kept;
}

/* Returns the number of hits that the limit of new tools may remove. The limit does not apply to a search in a single
 * provider, because no other provider loses a place. now: Unix time in seconds. */
static size_t count_new_hits(const struct search *search, int64_t now)
{
    bool all = search->new_in_full || (search->filter && search->filter->provider_count == 1);
    return all ? 0 : wt__new_tools_count(search->index->new_tools, now);
}

static const float LIKELY = 0.5f; /* a probability, or a precision of a provider's name, counts above it */

/* True if a request with several parts probably needs one of the hits, or names its provider. */
static bool serves_other_parts(const struct search *search)
{
    const struct hit_list *hits = &search->hits;
    bool serves = false;
    for (size_t i = 0; hits->texts > 1 && i < hits->len; i++) {
        const struct snapshot_key *key = &search->index->snapshot->keys[hits->items[i].row];
        bool named = hits->asked && key->provider_precision > LIKELY;
        serves |= hits->items[i].estimate > LIKELY || (named && wt__provider_named(hits->asked, key->provider_hash));
    }
    return serves;
}

static void mark_weak_hits(struct search *search)
{
    struct hit_list *hits = &search->hits;
    for (size_t i = 0; i < hits->len; i++) {
        struct hit *hit = &hits->items[i];
        hit->weak = wt__search_recorded(search, hit->row) <= 0 && wt__hit_is_weak(&search->plan.retriever, hits, hit);
    }
}

static int retrieve_hits(struct search *search, wt_error *err)
{
    const struct search_plan *plan = &search->plan;
    const struct snapshot *snapshot = search->index->snapshot;
    const struct rerank_kind *reranker = plan->reranker.kind;
    struct retriever retriever = plan->retriever;
    struct view view = {.snapshot = snapshot,
                        .encoder = plan->encoder,
                        .neighbours = wt__search_neighbours(search),
                        .cache = search->engine->request_vectors};
    int64_t now = (int64_t)time(NULL);
    size_t k = search->k, new = count_new_hits(search, now), deeper = wt__reranker_depth(&plan->reranker);
    size_t most = new < WT_MAX_K &&k + new < WT_MAX_K ? k + new : WT_MAX_K;
    struct retrieve_request request = {.text = search->read,
                                       .k = most > deeper ? most : deeper,
                                       .max_per_provider = search->max_per_provider,
                                       .copies = search->copies,
                                       .features = search->features || (reranker && reranker->features)};
    if (search->encoded_by == plan->encoder && wt__str_equal(search->read, search->request))
        request.encoded = search->encoded;
    if (plan->set.kind)
        view.vectors =
            search->vectors ? search->vectors : wt__snapshot_vectors(snapshot, plan->set.model, plan->set.kind);
    WT_TRY(wt__search_allowed(search, &request.allowed, err));
    search->allowed = request.allowed;
    drop_excluded_usage(search, request.allowed);
    WT_TRY(wt__conversation_context(search, &view, &request, &view.context, err));
    view.recorded = search->recorded;
    view.recorded_count = search->recorded_count;
    if (view.recorded_count > 0)
        retriever.weights[SOURCE_RECORDED] = RECORDED_SHARE;
    retriever.weights[SOURCE_NAMED] = 1;
    if (view.context)
        retriever.weights[SOURCE_CONTEXT] = 1;
    WT_TRY(wt__retrieve(&retriever, &view, &request, search->workspace, &search->hits, err));
    search->times = (struct search_times){
        .encode_ms = search->hits.encode_ms, .encoded = search->hits.encoded_at_ms, .retrieved = wt__now_ms()};
    if (wt__progress_step(search->progress, 0))
        return wt__fail_cancelled(err);
    struct store_tools tools = {search->engine, search->index, request.allowed};
    struct rerank_input input = {&view,
                                 &request,
                                 {&tools, read_row_tools, list_provider_rows},
                                 search->arena,
                                 &search->multi_provider_probability,
                                 search->progress};
    WT_TRY(wt__rerank(&plan->reranker, &input, &search->hits, err));
    if (reranker) {
        search->times.reranked = wt__now_ms();
        wt__hits_share_places(&search->hits, snapshot->keys);
    }
    if (new > 0)
        wt__new_tools_limit(search->index->new_tools, now, snapshot->keys, &search->hits);
    if (search->hits.len > k)
        search->hits.len = k;
    wt__conversation_mark(search);
    search->hits.encode_ms += search->context_ms;
    search->hits.absent_service = search->absent_service && !serves_other_parts(search);
    mark_weak_hits(search);
    return 0;
}

/* Retrieves the hits. Retries once with a new index if reading the vectors shows that the index is damaged. */
static int retrieve_with_retry(struct search *search, wt_error *err)
{
    wt_error why;
    int rc = retrieve_hits(search, &why);
    if (rc == WT_ESTORE && search->plan.encoder) {
        wt__engine_discard_index(search->engine, search->index);
        rc = plan_search(search, &why);
        if (rc == 0)
            rc = map_recorded_usage(search, &why);
        if (rc == 0)
            rc = retrieve_hits(search, &why);
    }
    return rc < 0 ? wt__fail_same(err, &why) : rc;
}

enum { BACKGROUND_BYTES = 1500 }; /* about the limit of an encoder with 256 tokens */

/* Reads the wish of a long request. The rest of the request is the context of the wish. */
static int read_wish(struct search *search, struct str *wish, wt_error *err)
{
    WT_TRY(wt__wish_read(wish, search->request, search->arena, err));
    bool whole = wish->ptr == search->request.ptr;
    search->background = wt__str_head(whole ? STR("") : search->request, BACKGROUND_BYTES);
    return 0;
}

/* Looks for a service in the request that no tool mentions. */
static int note_absent_service(struct search *search, wt_error *err)
{
    const struct unknown_words *unknown = &search->unknown;
    struct buffer text = {0};
    search->absent_service = false;
    for (size_t i = 0; i < unknown->len && !search->absent_service; i++)
        if (wt__names_service(search->read, unknown->words[i])) {
            search->absent_service = true;
            wt__buffer_printf(&text, "the catalogue has no tool of %.*s", (int)unknown->words[i].len,
                              unknown->words[i].ptr);
        }
    return wt__take_notice(&search->notice, WT_NOTICE_ABSENT_SERVICE, &text, search->arena, err);
}

/* Splits joined words and corrects the spelling of the request, and collects its unknown words. */
static int correct_request(struct search *search, wt_error *err)
{
    const struct lexical *words = &search->index->snapshot->lexical;
    struct str wish = search->request;
    if (!search->as_typed)
        WT_TRY(read_wish(search, &wish, err));
    search->read = wish;
    if (!search->as_typed)
        WT_TRY(wt__spelling_read(&search->read, wish, words, search->workspace, search->arena, err));
    if (search->read.ptr != search->request.ptr)
        search->read_as = search->read.ptr;
    WT_TRY(wt__unknown_words(&search->unknown, search->read, words, search->workspace, search->arena, err));
    return note_absent_service(search, err);
}

/* Opens the models and updates the index, which may be slow for the first query. */
static int prepare_search(struct search *search, wt_error *err)
{
    int rc = plan_search(search, err);
    search->notice = search->plan.notice;
    if (rc < 0)
        return rc;
    WT_TRY(map_recorded_usage(search, err));
    WT_TRY(note_missing_vectors(search, err));
    WT_TRY(wt__conversation_resolve(search, err));
    return wt__engine_workspace(search->engine, &search->workspace, err);
}

int wt__search_run(struct search *search, wt_error *err)
{
    search->multi_provider_probability = NAN;
    WT_TRY(wt__request_check(search->request, err));
    if (search->k > WT_MAX_K)
        return wt__fail(err, WT_EINVAL, "%zu hits requested; at most %d are allowed", search->k, WT_MAX_K);
    if (wt__progress_phase(search->progress, "searching", 0))
        return wt__fail_cancelled(err);
    WT_TRY(prepare_search(search, err));
    WT_TRY(correct_request(search, err));
    return retrieve_with_retry(search, err);
}

/* Unknown words are reported if each of the first LOOKED_AT hits has a probability below UNLIKELY. Chosen on the dev
 * split (docs/find.md). */
static const float UNLIKELY = 0.2f;
enum { LOOKED_AT = 5 };

static bool has_likely_hit(const struct search *search)
{
    const struct hit_list *hits = &search->hits;
    for (size_t i = 0; i < hits->len && i < LOOKED_AT; i++) {
        float likely = wt__relevance(search->plan.relevance, &search->plan.retriever, hits, &hits->items[i]);
        if (!(likely < UNLIKELY)) /* also if the probability is NaN */
            return true;
    }
    return false;
}

/* A request may be in another language only if at least one in STRANGE_SHARE of its words is unknown to the
 * catalogue. */
enum { STRANGE_SHARE = 3 };

int wt__search_note_language(struct search *search, wt_error *err)
{
    const struct encoder *encoder = search->plan.encoder;
    const struct unknown_words *unknown = &search->unknown;
    if (!encoder || wt__encoder_is_multilingual(encoder) || unknown->strange == 0 ||
        unknown->strange * STRANGE_SHARE < unknown->read)
        return 0;
    const char *language = wt__foreign_language(search->request);
    struct buffer text = {0};
    if (!language)
        return 0;
    wt__buffer_printf(&text,
                      "the request seems to be %s, but the encoder %s supports only English; use a multilingual one, "
                      "such as --model " WT_MULTILINGUAL_MODEL,
                      language, wt__encoder_name(encoder));
    return wt__take_notice(&search->notice, WT_NOTICE_LANGUAGE, &text, search->arena, err);
}

int wt__search_unknown(const struct search *search, const char *const **words, size_t *count, wt_error *err)
{
    const struct unknown_words *unknown = &search->unknown;
    *words = NULL;
    *count = 0;
    if (unknown->len == 0 || (!unknown->keywords && has_likely_hit(search)))
        return 0;
    const char **list = wt__arena_array(search->arena, const char *, unknown->len);
    for (size_t i = 0; list && i < unknown->len; i++)
        if (!(list[i] = wt__arena_copy(search->arena, unknown->words[i])))
            list = NULL;
    *words = list;
    *count = list ? unknown->len : 0;
    return list ? 0 : wt__fail_nomem(err);
}

static void release_search(struct search *search)
{
    wt__filter_mask_release(search->mask);
    wt__engine_return_workspace(search->engine, search->workspace);
    wt__index_release(search->index);
    search->mask = NULL;
    search->workspace = NULL;
    search->index = NULL;
}

int wt__search_repeat_untrained(struct search *search, wt_error *err)
{
    release_search(search);
    search->neighbours = (struct neighbours){.count = 0};
    search->read_as = NULL;
    search->untrained = true;
    search->use_recorded = !search->conversation || search->conversation->context.len == 0;
    return wt__search_run(search, err);
}

void wt__search_end(struct search *search)
{
    wt__budget_dispose(&search->budget);
    release_search(search);
}
