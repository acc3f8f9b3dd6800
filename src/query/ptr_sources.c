/* ptr_sources.c: the sources of PTR: searches, past requests and bundles. */
#include "query/ptr_sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "retrieve/vector_cache.h"

/* ---------------------------------------------------------------- texts to tools */

/* Maps a row of a search to a row of the home index. Returns the number of rows of the home index if it lacks the
 * tool. */
static size_t find_home_row(const struct ptr_engine_sources *engine_sources, const struct search *search, uint32_t row)
{
    if (search->index == engine_sources->home.index)
        return row;
    return wt__snapshot_row(engine_sources->home.index->snapshot, search->index->snapshot->keys[row].id);
}

#define NO_FIRST_TOOL UINT32_MAX

/* Finds the k tools nearest to the text. first: row of a tool to return as the first of the k tools, or
 * NO_FIRST_TOOL. */
static int search_near_tools(struct ptr_engine_sources *engine_sources, struct str text, size_t k, uint32_t first,
                             struct arena *arena, struct ptr_tools *out, wt_error *err)
{
    const struct search *home = &engine_sources->home;
    uint32_t *rows = wt__arena_array(arena, uint32_t, k + 1);
    size_t count = 0;
    WT_CLEANUP(wt__search_end)
    struct search search = {.engine = home->engine,
                            .request = {text.ptr, text.len < WT_MAX_REQUEST_BYTES ? text.len : WT_MAX_REQUEST_BYTES},
                            .arena = arena,
                            .recipe = home->recipe,
                            .filter = home->filter,
                            .k = k,
                            .copies = home->copies,
                            .as_typed = home->as_typed,
                            .progress = home->progress};
    *out = (struct ptr_tools){0};
    WT_CHECK_ALLOC(rows, err);
    if (wt__progress_step(home->progress, 0))
        return wt__fail_cancelled(err);
    WT_TRY(wt__search_run(&search, err));
    if (first != NO_FIRST_TOOL)
        rows[count++] = first;
    for (size_t i = 0; i < search.hits.len && count < k; i++) {
        size_t row = find_home_row(engine_sources, &search, search.hits.items[i].row);
        if (row < home->index->snapshot->rows && row != first &&
            wt__row_allowed(engine_sources->allowed, (uint32_t)row))
            rows[count++] = (uint32_t)row;
    }
    *out = (struct ptr_tools){rows, count};
    return 0;
}

static int find_near_tools(void *self, struct str text, size_t k, struct arena *arena, struct ptr_tools *out,
                           wt_error *err)
{
    return search_near_tools(self, text, k, NO_FIRST_TOOL, arena, out, err);
}

static int describe_row(void *self, uint32_t row, struct arena *arena, struct ptr_text *out, wt_error *err)
{
    const struct search *home = &((struct ptr_engine_sources *)self)->home;
    struct tool tool;
    WT_TRY(wt__index_tools(home->engine, home->index, &home->index->snapshot->keys[row].id, 1, arena, &tool, err));
    *out = (struct ptr_text){tool.name, tool.description}; /* both are empty if the tool was removed meanwhile */
    return 0;
}

static int find_similar_tools(void *self, uint32_t tool, size_t k, struct arena *arena, struct ptr_tools *out,
                              wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    struct ptr_text text;
    WT_TRY(describe_row(self, tool, arena, &text, err));
    wt__buffer_str(&words, text.name);
    wt__buffer_text(&words, ": ");
    wt__buffer_str(&words, text.description);
    if (words.failed)
        return wt__fail_nomem(err);
    return search_near_tools(self, wt__buffer_view(&words), k, tool, arena, out, err);
}

/* ---------------------------------------------------------------- past use */

/* Encodes a text as *query, and allocates *scores for `count` scores. */
static int encode_past_query(struct ptr_engine_sources *sources, struct str text, size_t count, struct arena *arena,
                             float **query, float **scores, wt_error *err)
{
    size_t dim = wt__encoder_dim(sources->encoder);
    *query = wt__arena_alloc(arena, (dim + count) * sizeof **query, 64);
    WT_CHECK_ALLOC(*query, err);
    *scores = *query + dim;
    if (!sources->scratch)
        WT_TRY(wt__encoder_scratch_new(&sources->scratch, sources->encoder, err));
    return wt__vector_cache_encode(sources->home.engine->request_vectors, sources->encoder, sources->scratch, &text, 1,
                                   *query, arena, err);
}

static int read_past_tools(const struct ptr_engine_sources *engine_sources, size_t request, struct arena *arena,
                           struct ptr_tools *out, wt_error *err)
{
    const struct neighbours *past = &engine_sources->past;
    size_t count = 0;
    uint32_t *rows = wt__arena_array(arena, uint32_t, past->starts[request + 1] - past->starts[request]);
    WT_CHECK_ALLOC(rows, err);
    for (uint32_t l = past->starts[request]; l < past->starts[request + 1]; l++) {
        uint32_t row = past->rows[past->labels[l]];
        if (row != NEIGHBOURS_GONE && wt__row_allowed(engine_sources->allowed, row))
            rows[count++] = row;
    }
    *out = (struct ptr_tools){rows, count};
    return 0;
}

static int find_past_sets(void *self, struct str text, size_t k, struct arena *arena, const struct ptr_tools **out,
                          size_t *count, wt_error *err)
{
    struct ptr_engine_sources *engine_sources = self;
    const struct neighbours *past = &engine_sources->past;
    float *query = NULL, *scores = NULL;
    *count = 0;
    if (past->count == 0)
        return 0;
    struct scored *near = wt__arena_array(arena, struct scored, k);
    struct ptr_tools *lists = wt__arena_array(arena, struct ptr_tools, k);
    WT_CHECK_ALLOC(near && lists, err);
    WT_TRY(encode_past_query(engine_sources, text, past->count, arena, &query, &scores, err));
    *count = wt__neighbours_nearest(past, query, k, scores, near);
    *out = lists;
    for (size_t i = 0; i < *count; i++)
        WT_TRY(read_past_tools(engine_sources, near[i].row, arena, &lists[i], err));
    return 0;
}

static int find_nearest_bundle(void *self, struct str text, struct arena *arena, struct ptr_tools *out, wt_error *err)
{
    struct ptr_engine_sources *engine_sources = self;
    const struct bundle_query query = {text, &engine_sources->home.plan.retriever, engine_sources->allowed,
                                       engine_sources->home.workspace};
    size_t nearest = 0, count = 0;
    *out = (struct ptr_tools){0};
    if (engine_sources->past.count == 0)
        return 0;
    if (!engine_sources->bundles)
        WT_TRY(wt__bundles_of(engine_sources->home.engine, engine_sources->home.progress, engine_sources->home.index,
                              engine_sources->encoder, &engine_sources->bundles, err));
    const struct bundles *bundles = engine_sources->bundles;
    WT_TRY(wt__bundles_nearest(bundles, &query, &nearest, err));
    if (nearest == bundles->count)
        return 0;
    uint32_t begin = bundles->starts[nearest], end = bundles->starts[nearest + 1];
    uint32_t *rows = wt__arena_array(arena, uint32_t, end - begin);
    WT_CHECK_ALLOC(rows, err);
    for (uint32_t r = begin; r < end; r++)
        if (wt__row_allowed(engine_sources->allowed, bundles->rows[r]))
            rows[count++] = bundles->rows[r];
    *out = (struct ptr_tools){rows, count};
    return 0;
}

/* ---------------------------------------------------------------- opening and closing */

struct ptr_sources wt__ptr_sources(struct ptr_engine_sources *engine_sources)
{
    return (struct ptr_sources){engine_sources, find_nearest_bundle, find_near_tools,
                                find_past_sets, find_similar_tools,  describe_row};
}

/* Chooses the past requests and their encoder. Uses the base retriever's encoder, so that an untrained base retriever
 * stays untrained. If the base retriever has no encoder, uses the engine's encoder. If that cannot be opened, uses the
 * trained encoder. */
static int choose_past_encoder(struct ptr_engine_sources *engine_sources, const struct trained *trained, wt_error *err)
{
    const struct search *home = &engine_sources->home;
    wt_error why;
    int rc = 0;
    engine_sources->encoder = home->plan.encoder;
    if (!engine_sources->encoder)
        rc = wt__engine_load_encoder(home->engine, home->progress, &engine_sources->encoder, &why);
    if (rc == WT_EMODEL)
        engine_sources->encoder = trained->encoder;
    else if (rc < 0)
        return wt__fail(err, rc, "%s", why.message);
    engine_sources->past = engine_sources->encoder == trained->encoder
                               ? trained->past.trained
                               : wt__past_requests_by(&trained->past, engine_sources->encoder);
    return 0;
}

/* Chooses the past requests. If there are any, replaces the index of `home` by an index that maps the tools of past
 * requests to rows (label_rows). */
static int open_past_requests(struct ptr_engine_sources *engine_sources, wt_error *err)
{
    struct search *home = &engine_sources->home;
    const struct trained *trained = NULL;
    struct index_handle *index = NULL;
    /* Ignore other errors here; users of the trained models report them. */
    int rc = wt__engine_load_trained(home->engine, home->progress, &trained, NULL);
    if (rc == WT_ENOMEM || rc == WT_ECANCELLED)
        return rc == WT_ENOMEM ? wt__fail_nomem(err) : wt__fail_cancelled(err);
    if (!trained || !trained->recipes[RECIPE_NEIGHBOURS].there)
        return 0;
    WT_TRY(choose_past_encoder(engine_sources, trained, err));
    if (engine_sources->past.count == 0)
        return 0;
    WT_TRY(wt__engine_index(home->engine, home->progress, home->plan.set.kind ? &home->plan.set : NULL, trained, &index,
                            err));
    wt__index_release(home->index);
    home->index = index;
    engine_sources->past.rows = index->label_rows;
    return 0;
}

int wt__ptr_sources_open(struct ptr_engine_sources *engine_sources, wt_error *err)
{
    struct search *home = &engine_sources->home;
    WT_TRY(wt__search_run(home, err));
    home->hits = (struct hit_list){.encode_ms = home->hits.encode_ms};
    WT_TRY(open_past_requests(engine_sources, err));
    return wt__search_allowed(home, &engine_sources->allowed, err);
}

int wt__ptr_prepare(wt_engine *engine, struct progress *progress, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__ptr_sources_close)
    struct ptr_engine_sources sources = {
        .home = {.engine = engine, .request = STR("anything"), .arena = &arena, .k = 1, .progress = progress}};
    WT_TRY(wt__ptr_sources_open(&sources, err));
    if (sources.past.count == 0)
        return 0;
    return wt__bundles_of(engine, progress, sources.home.index, sources.encoder, &sources.bundles, err);
}

void wt__ptr_sources_close(struct ptr_engine_sources *engine_sources)
{
    wt__encoder_scratch_free(engine_sources->scratch);
    wt__search_end(&engine_sources->home);
}
