/* find.c: one request, from words to hits with their definitions.
 *
 *   recipe -> encoder and training (if needed) -> snapshot -> retrieve/ -> the hits' rows of the store
 *
 * Hits are read from the store after the search, so a tool that was removed in between is left out of the result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "engine/recipes.h"
#include "engine/second.h"
#include "engine/tools.h"
#include "retrieve/document.h"
#include "text/unicode.h"

static const char *const AUTOMATIC = "auto", *const DEFAULT_RECIPE = "hybrid", *const FALLBACK_RECIPE = "bm25";

struct result {
    wt_hits public; /* first, so that the public pointer is this one */
    struct arena arena;
};

/* What one wt_find works with. */
struct search {
    wt_engine *engine;
    struct str request;
    wt_find_options options;
    struct retriever retriever;
    const struct encoder *encoder; /* NULL: lexical only */
    struct shelf_set set;          /* the vectors it searches, with an encoder */
    struct second_stage second;    /* looks at the hits once more */
    const struct trained *labels;  /* whose neighbours are asked; NULL: nobody's */
    struct neighbours neighbours;  /* count 0: none */
    struct shelf *shelf;
    struct workspace *workspace;
    struct hit_list hits;
    struct result *result;
};

void wt_find_options_init(wt_find_options *options)
{
    *options = (wt_find_options){.size = sizeof *options};
}

void wt_hits_free(wt_hits *public)
{
    if (!public)
        return;
    struct result *result = (struct result *)public;
    wt__arena_dispose(&result->arena);
    free(result);
}

static int check(const struct search *search, wt_error *err)
{
    if (search->request.len > WT_MAX_REQUEST_BYTES)
        return wt__fail(err, WT_ETOOLONG, "the request has %zu bytes; at most %zu are read", search->request.len,
                        WT_MAX_REQUEST_BYTES);
    if (wt__str_trim(search->request).len == 0)
        return wt__fail(err, WT_EUSAGE, "the request is empty; say in words what is wanted");
    if (search->options.k > WT_MAX_K)
        return wt__fail(err, WT_EUSAGE, "%zu hits were asked for; at most %d are given", search->options.k, WT_MAX_K);
    return 0;
}

static int fail_recipe(const char *name, wt_error *err)
{
    struct buffer names = {0};
    const wt_recipe *recipe;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++)
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
    search->second.rules = recipe->rules;
    search->result->public.recipe = recipe->public.name;
    if (!recipe->public.needs_model)
        return 0;
    int rc = wt__engine_encoder(search->engine, &search->encoder, &why);
    if (rc == WT_EMODEL && automatic) {
        search->encoder = NULL;
        search->retriever = wt__bm25;
        search->result->public.recipe = FALLBACK_RECIPE;
        search->result->public.notice = wt__arena_copy(&search->result->arena, wt__str(why.message));
        return search->result->public.notice ? 0 : wt__fail_nomem(err);
    }
    if (rc < 0 && err)
        *err = why;
    if (rc == 0)
        search->set = (struct shelf_set){wt__encoder_hash(search->encoder), wt__document_kind};
    return rc;
}

/* What training left: its own weights, or, where auto found nothing better, the plain recipe that it names. */
static int choose_trained(struct search *search, const struct trained *trained, const struct trained_recipe *recipe,
                          wt_error *err)
{
    struct arena *arena = &search->result->arena;
    wt_hits *hits = &search->result->public;
    const struct recipe *plain = wt__recipe_named(recipe->runs);
    hits->why = recipe->why[0] ? wt__arena_copy(arena, wt__str(recipe->why)) : NULL;
    if (recipe->why[0] && !hits->why)
        return wt__fail_nomem(err);
    if (plain && plain->retriever && strcmp(recipe->runs, recipe->name) != 0)
        return choose_plain(search, plain, true, err);
    search->retriever = recipe->retriever;
    search->second = (struct second_stage){
        .refiner = recipe->refiner, .cross = recipe->cross, .rules = recipe->rules, .trained = trained};
    if (wt__asks_neighbours(&recipe->retriever)) {
        search->encoder = trained->encoder;
        search->neighbours = trained->neighbours;
        search->labels = trained;
    }
    if (recipe->retriever.dense > 0) {
        search->encoder = trained->encoder;
        search->set = (struct shelf_set){recipe->model, recipe->kind};
    }
    hits->recipe = wt__arena_copy(arena, wt__str(recipe->runs));
    return hits->recipe ? 0 : wt__fail_nomem(err);
}

/* The recipe that was asked for, or the best that can run here: what training chose, else hybrid, else words alone. */
static int choose_recipe(struct search *search, wt_error *err)
{
    const char *name = search->options.recipe ? search->options.recipe : AUTOMATIC;
    bool automatic = strcmp(name, AUTOMATIC) == 0;
    const struct recipe *recipe = wt__recipe_named(automatic ? DEFAULT_RECIPE : name);
    const struct trained *trained = NULL;
    if (!recipe)
        return fail_recipe(name, err);
    if (!automatic && recipe->retriever && !recipe->rules)
        return choose_plain(search, recipe, false, err);
    wt_error why;
    int rc = wt__engine_trained(search->engine, &trained, &why);
    const struct trained_recipe *choice = wt__trained_recipe(trained, name);
    if (choice)
        return choose_trained(search, trained, choice, err);
    if (!automatic && !recipe->retriever)
        return rc < 0 ? wt__fail(err, WT_ERECIPE, "%s", why.message)
               : trained && trained->notice
                   ? wt__fail(err, WT_ERECIPE, "%s", trained->notice)
                   : wt__fail(err, WT_ERECIPE, "the recipe %s needs training; run `whichtool train %s`%s", name,
                              recipe->lesson ? recipe->lesson : name,
                              recipe->lesson ? ", then `whichtool train cross`" : "");
    const char *notice = rc < 0 ? why.message : trained ? trained->notice : NULL;
    if (notice && !(search->result->public.notice = wt__arena_copy(&search->result->arena, wt__str(notice))))
        return wt__fail_nomem(err);
    return choose_plain(search, recipe, automatic, err);
}

static int open_shelf(struct search *search, wt_error *err)
{
    return wt__engine_shelf(search->engine, search->set.kind ? &search->set : NULL, search->labels, &search->shelf,
                            err);
}

/* Says how many tools cannot be found by meaning yet. */
static int note_missing_vectors(struct search *search, wt_error *err)
{
    size_t missing = search->set.kind ? wt__shelf_without_vector(search->shelf, &search->set) : 0;
    if (missing == 0)
        return 0;
    struct buffer text = {0};
    wt__buffer_printf(&text, "%zu of %u tools have no vector yet; `whichtool add` of any source makes them", missing,
                      search->shelf->snapshot->rows);
    search->result->public.notice = wt__arena_copy(&search->result->arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return search->result->public.notice ? 0 : wt__fail_nomem(err);
}

/* A bit for each row of the provider, in the result's arena. */
static int provider_filter(struct search *search, const uint64_t **allowed, wt_error *err)
{
    const struct snapshot *snapshot = search->shelf->snapshot;
    struct str provider = wt__str(search->options.provider);
    struct arena *arena = &search->result->arena;
    size_t rows = snapshot->rows, count = 0;
    int64_t *ids = NULL;
    uint64_t *bits = wt__arena_array(arena, uint64_t, (rows + 63) / 64);
    if (!bits)
        return wt__fail_nomem(err);
    pthread_mutex_lock(&search->engine->store_lock);
    int rc = wt__store_list(search->engine->store, &provider, 0, 0, arena, &ids, &count, err);
    pthread_mutex_unlock(&search->engine->store_lock);
    if (rc < 0)
        return rc;
    if (count == 0)
        return wt__fail(err, WT_ENOTFOUND, "no tool has the provider \"%s\"", search->options.provider);
    for (size_t i = 0; i < count; i++) {
        size_t row = wt__shelf_row(snapshot, ids[i]);
        if (row < rows)
            bits[row / 64] |= (uint64_t)1 << (row % 64);
    }
    *allowed = bits;
    return 0;
}

static int retrieve(struct search *search, wt_error *err)
{
    const struct snapshot *snapshot = search->shelf->snapshot;
    struct view view = {.snapshot = snapshot, .encoder = search->encoder};
    size_t k = search->options.k ? search->options.k : 5, deeper = wt__second_depth(&search->second);
    int rc = 0;
    struct retrieve_request request = {.text = search->request,
                                       .k = k > deeper ? k : deeper,
                                       .max_per_provider = search->options.max_per_provider,
                                       .features = search->second.refiner};
    search->neighbours.rows = search->shelf->label_rows;
    if (search->neighbours.count > 0 && search->neighbours.rows)
        view.neighbours = &search->neighbours;
    if (search->set.kind)
        view.vectors = wt__snapshot_vectors(snapshot, search->set.model, search->set.kind);
    if (search->options.provider)
        rc = provider_filter(search, &request.allowed, err);
    if (rc == 0)
        rc = wt__retrieve(&search->retriever, &view, &request, search->workspace, &search->hits, err);
    if (rc == 0) {
        struct second_look look = {search->engine, &view, &request, &search->result->arena,
                                   &search->result->public.several};
        rc = wt__second_look(&search->second, &look, &search->hits, err);
    }
    if (rc == 0 && search->hits.len > k)
        search->hits.len = k;
    return rc;
}

/* "name description" for a set of fields; NULL when memory is out. */
static const char *field_list(struct arena *arena, unsigned fields)
{
    struct buffer text = {0};
    for (size_t f = 0; f < FIELD_COUNT; f++)
        if (fields & 1u << f)
            wt__buffer_printf(&text, "%s%s", text.len ? " " : "", wt__field_names[f]);
    const char *list = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    return list;
}

static int explain_matches(struct search *search, const struct hit *hit, const struct tool *tool, wt_hit *out,
                           wt_error *err)
{
    struct view view = {.snapshot = search->shelf->snapshot, .encoder = search->encoder};
    struct arena *arena = &search->result->arena;
    struct word_match *words;
    size_t count;
    int rc = wt__retrieve_explain(&view, search->workspace, hit->row, tool, arena, &words, &count, err);
    wt_match *matches = rc == 0 ? wt__arena_array(arena, wt_match, count) : NULL;
    if (rc < 0 || !matches)
        return rc < 0 ? rc : wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        matches[i] = (wt_match){.word = wt__arena_copy(arena, words[i].word),
                                .fields = field_list(arena, words[i].fields),
                                .score = words[i].score};
        if (!matches[i].word || !matches[i].fields)
            return wt__fail_nomem(err);
    }
    out->matches = matches;
    out->match_count = count;
    return 0;
}

static int explain_stages(struct search *search, const struct hit *hit, wt_hit *out, wt_error *err)
{
    static const char *const names[STAGE_COUNT] = {"bm25",    "dense", "neighbours", "part",
                                                   "refiner", "cross", "hierarchy"};
    const float weights[STAGE_COUNT] = {
        search->retriever.lexical,   search->retriever.dense,        wt__asks_neighbours(&search->retriever),
        hit->part.len > 0,           search->second.refiner != NULL, wt__second_reads(&search->second),
        search->second.rules != NULL};
    struct arena *arena = &search->result->arena;
    wt_stage_score *stages = wt__arena_array(arena, wt_stage_score, STAGE_COUNT);
    if (!stages)
        return wt__fail_nomem(err);
    for (size_t s = 0; s < STAGE_COUNT; s++) {
        if (weights[s] == 0)
            continue;
        const char *name = names[s];
        if (s == STAGE_PART) {
            struct buffer text = {0};
            wt__buffer_text(&text, "part \"");
            wt__utf8_append(&text, hit->part);
            wt__buffer_char(&text, '"');
            name = wt__arena_copy(arena, wt__buffer_view(&text));
            wt__buffer_dispose(&text);
            if (!name)
                return wt__fail_nomem(err);
        }
        stages[out->stage_count++] =
            (wt_stage_score){name, hit->stages[s].rank, hit->stages[s].score, hit->stages[s].share};
    }
    out->stages = stages;
    return 0;
}

static int publish(struct search *search, wt_error *err)
{
    struct arena *arena = &search->result->arena, reading = {0};
    size_t count = search->hits.len;
    wt_hit *items = wt__arena_array(arena, wt_hit, count);
    int64_t *ids = wt__arena_array(&reading, int64_t, count);
    struct tool *tools = wt__arena_array(&reading, struct tool, count);
    int rc = items && ids && tools ? 0 : wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        ids[i] = search->shelf->snapshot->keys[search->hits.items[i].row].id;
    if (rc == 0) {
        pthread_mutex_lock(&search->engine->store_lock);
        rc = wt__store_get(search->engine->store, ids, count, &reading, tools, err);
        pthread_mutex_unlock(&search->engine->store_lock);
    }
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        if (tools[i].name.len == 0)
            continue;
        wt_hit *out = &items[search->result->public.len++];
        out->score = search->hits.items[i].score;
        rc = wt__tool_publish(arena, &tools[i], &out->tool, err);
        if (rc >= 0 && search->options.explain)
            rc = explain_stages(search, &search->hits.items[i], out, err);
        if (rc >= 0 && search->options.explain && (search->retriever.lexical > 0 || search->second.refiner))
            rc = explain_matches(search, &search->hits.items[i], &tools[i], out, err);
    }
    search->result->public.items = items;
    wt__arena_dispose(&reading);
    return rc < 0 ? rc : 0;
}

/* Vectors are verified when they are read, so damage may show as late as here. The index can be made again: once. */
static int retrieve_or_renew(struct search *search, wt_error *err)
{
    wt_error why;
    int rc = retrieve(search, &why);
    if (rc == WT_ESTORE && search->encoder) {
        wt__engine_discard_shelf(search->engine, search->shelf);
        wt__shelf_release(search->shelf);
        rc = open_shelf(search, &why);
        if (rc == 0)
            rc = retrieve(search, &why);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int run(struct search *search, wt_error *err)
{
    int rc = check(search, err);
    search->result->public.several = NAN;
    if (rc == 0)
        rc = choose_recipe(search, err);
    if (rc == 0)
        rc = open_shelf(search, err);
    if (rc == 0)
        rc = note_missing_vectors(search, err);
    if (rc == 0)
        rc = wt__engine_workspace(search->engine, &search->workspace, err);
    if (rc == 0)
        rc = retrieve_or_renew(search, err);
    if (rc == 0)
        rc = publish(search, err);
    return rc;
}

int wt_find(wt_engine *engine, const char *request, size_t request_len, const wt_find_options *given, wt_hits **out,
            wt_error *err)
{
    double begun = wt__now_ms();
    struct search search = {.engine = engine, .request = {request, request_len}};
    *out = NULL;
    wt__options_read(&search.options, sizeof search.options, given);
    search.result = calloc(1, sizeof *search.result);
    if (!search.result)
        return wt__fail_nomem(err);
    int rc = run(&search, err);
    wt__engine_return_workspace(engine, search.workspace);
    wt__shelf_release(search.shelf);
    if (rc < 0) {
        wt_hits_free(&search.result->public);
        return rc;
    }
    wt_hits *hits = &search.result->public;
    hits->total_ms = wt__now_ms() - begun;
    hits->encode_ms = search.hits.encode_ms;
    hits->search_ms = hits->total_ms - hits->encode_ms;
    *out = hits;
    return 0;
}
