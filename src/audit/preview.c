/* preview.c: predicts the share of first places that tools waiting for approval would take (wt_preview_waiting).
 *
 *   copy of the catalogue in memory, with vectors -> search requests -> add the waiting tools -> search again
 *
 * The share is defined as in search_checks.c. The live catalogue is only read, and never contains the waiting tools.
 * Searches in the copy do not limit new tools (engine/filter.h). */
#include "audit/internal.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "import/import.h"
#include "store/review.h"
#include "encoder/model_dir.h"
#include "query/search.h"
#include "engine/sized_options.h"
#include "text/unicode.h"
#include "whichtool/review.h"

enum {
    COPY_BATCH = 1024,   /* tools per batch of copied vectors */
    USAGES_READ = 3000,  /* newest usages to take requests from */
    REQUEST_ANSWERS = 16 /* maximum tools that answer a request */
};

struct owned_preview {
    wt_preview public; /* first member, so that wt_preview_free can cast */
    struct arena arena;
};

void wt_preview_free(wt_preview *public)
{
    if (!public)
        return;
    struct owned_preview *result = (struct owned_preview *)public;
    wt__arena_dispose(&result->arena);
    free(result);
}

/* A request and the tools that answer it, as indexes of struct preview's tools. */
struct preview_request {
    struct str text;
    uint32_t answers[REQUEST_ANSWERS];
    size_t answer_count;
};

struct preview {
    wt_engine *engine, *copy;
    struct str provider;
    wt_preview_options options;
    struct tool *tools;       /* [count] tools of the catalogue, by id */
    struct store_key *keys;   /* [count] keys in the catalogue */
    struct store_key *copied; /* [count] keys of the same tools in the copy */
    size_t count, tool_capacity, key_capacity;
    size_t own; /* number of the provider's tools */
    struct preview_request requests[WT_MAX_PREVIEW_REQUESTS];
    size_t request_count;
    bool recorded; /* true if the requests were recorded; false if they are made from descriptions */
    const char *recipe;
    struct progress progress;
    struct arena arena;
    wt_error *err;
};

/* ---------------------------------------------------------------- the catalogue */

static int copy_catalogue_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    struct preview *p = context;
    if (p->count == WT_MAX_PREVIEW_TOOLS)
        return wt__fail(p->err, WT_ETOOLONG, "the catalogue has more than %d tools, too many to copy for a preview",
                        WT_MAX_PREVIEW_TOOLS);
    if (wt__grow((void **)&p->tools, &p->tool_capacity, p->count + 1, sizeof *p->tools) < 0 ||
        wt__grow((void **)&p->keys, &p->key_capacity, p->count + 1, sizeof *p->keys) < 0)
        return wt__fail_nomem(p->err);
    p->tools[p->count] = *tool;
    p->keys[p->count] = *key;
    p->own += wt__str_equal(tool->provider, p->provider);
    return wt__store_copy_tool(&p->tools[p->count++], &p->arena, p->err);
}

/* Context of match_tool. at: index of the next tool in the catalogue. The copy has the tools in the same order. */
struct copy_match {
    struct preview *p;
    size_t at;
};

static int match_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    struct copy_match *m = context;
    struct preview *p = m->p;
    const struct tool *own = m->at < p->count ? &p->tools[m->at] : NULL;
    if (!own || !wt__str_equal(own->name, tool->name) || !wt__str_equal(own->provider, tool->provider))
        return wt__fail(p->err, WT_EINVAL, "cannot copy the catalogue for a preview: %.*s is missing from the copy",
                        own ? (int)own->name.len : 0, own ? own->name.ptr : "");
    p->copied[m->at++] = *key;
    return 0;
}

static int copy_vectors(struct preview *p, struct store *reader, const struct encoder *encoder)
{
    const struct vector_set set = wt__engine_vectors(encoder, p->engine);
    float *vectors = wt__alloc_array((size_t)COPY_BATCH * set.dim, sizeof *vectors);
    int64_t ids[COPY_BATCH];
    bool there[COPY_BATCH];
    int64_t rc = vectors ? 0 : wt__fail_nomem(p->err);
    for (size_t begin = 0; rc >= 0 && begin < p->count; begin += COPY_BATCH) {
        struct store_key keys[COPY_BATCH];
        size_t n = p->count - begin < COPY_BATCH ? p->count - begin : COPY_BATCH, kept = 0;
        for (size_t i = 0; i < n; i++)
            ids[i] = p->keys[begin + i].id;
        rc = wt__store_get_vectors(reader, &set, ids, n, vectors, there, p->err);
        for (size_t i = 0; rc >= 0 && i < n; i++) {
            if (!there[i])
                continue;
            keys[kept] = p->copied[begin + i];
            memmove(vectors + kept++ * set.dim, vectors + i * set.dim, set.dim * sizeof *vectors);
        }
        if (rc >= 0)
            rc = wt__store_put_vectors(p->copy->store, &set, keys, vectors, kept, p->err);
    }
    free(vectors);
    return rc < 0 ? (int)rc : 0;
}

static int open_copy(struct preview *p)
{
    wt_open_options options;
    wt_open_options_init(&options);
    const wt_engine *engine = p->engine;
    options.model = wt__model_is_built_in(engine->model_folder) ? WT_BUILT_IN_MODEL : engine->model_folder;
    options.threads = engine->threads;
    options.trained = "";
    WT_TRY(wt_open(&p->copy, ":memory:", &options, p->err));
    return 0;
}

/* Copies tools and vectors into the copy. Missing vectors are computed in the copy later, together with the vectors of
 * the waiting tools. */
static int copy_catalogue(struct preview *p, struct store *reader)
{
    const struct store_import_options options = {.source = STR("copy"), .progress = &p->progress};
    const struct encoder *encoder = NULL;
    struct copy_match matching = {.p = p};
    struct store_changes changes;
    wt_error why;
    p->copied = wt__arena_array(&p->arena, struct store_key, p->count);
    int rc = p->copied ? wt__store_import(p->copy->store, p->tools, p->count, &options, &changes, p->err)
                       : wt__fail_nomem(p->err);
    if (rc == 0)
        rc = wt__store_each(p->copy->store, 0, match_tool, &matching, p->err);
    if (rc < 0)
        return rc;
    rc = wt__engine_load_encoder(p->copy, &p->progress, &encoder, &why);
    if (rc < 0 && rc != WT_EMODEL) {
        if (p->err)
            *p->err = why;
        return rc;
    }
    p->recipe = rc == 0 ? "hybrid" : "bm25";
    return rc == 0 ? copy_vectors(p, reader, encoder) : 0;
}

/* ---------------------------------------------------------------- requests */

static int compare_preview_keys(const void *one, const void *other)
{
    const struct store_key *a = one, *b = other;
    return (a->id > b->id) - (a->id < b->id);
}

/* Returns the index of the key with that id; `count` if not found. */
static size_t find_store_key(const struct store_key *keys, size_t count, int64_t id)
{
    const struct store_key wanted = {.id = id};
    const struct store_key *found =
        count > 0 ? bsearch(&wanted, keys, count, sizeof wanted, compare_preview_keys) : NULL;
    return found ? (size_t)(found - keys) : count;
}

static bool is_own_tool(const struct preview *p, size_t place)
{
    return place < p->count && wt__str_equal(p->tools[place].provider, p->provider);
}

/* True if the label has the form "PROVIDER/...". Usages of removed tools have such labels. */
static bool names_own(const struct preview *p, struct str label)
{
    return wt__str_starts(label, p->provider) && label.len > p->provider.len && label.ptr[p->provider.len] == '/';
}

static bool is_for_own(const struct preview *p, const struct usage *usage)
{
    for (size_t t = 0; t < usage->tool_count; t++)
        if (names_own(p, usage->tools[t].label) ||
            is_own_tool(p, find_store_key(p->keys, p->count, usage->tools[t].tool)))
            return true;
    return false;
}

static void add_recorded(struct preview *p, const struct usage *usage)
{
    struct preview_request *request = &p->requests[p->request_count++];
    *request = (struct preview_request){.text = usage->request};
    for (size_t t = 0; t < usage->tool_count && request->answer_count < REQUEST_ANSWERS; t++) {
        size_t place = find_store_key(p->keys, p->count, usage->tools[t].tool);
        if (place < p->count)
            request->answers[request->answer_count++] = (uint32_t)place;
    }
}

/* Reads the newest distinct recorded requests that did not fail and did not use the provider. Keeps no requests if
 * there are fewer than WT_PREVIEW_RECORDED. */
static int read_preview_usages(struct preview *p, struct store *reader)
{
    struct usage_query query = {0};
    struct usage *usages = NULL;
    struct map met = {0};
    size_t count = 0;
    int64_t last = 0;
    int rc = wt__store_last_usage(reader, &last, p->err);
    query.after = last > USAGES_READ ? last - USAGES_READ : 0;
    if (rc == 0)
        rc = wt__store_usages(reader, &query, &p->arena, &usages, &count, p->err);
    for (size_t i = count; rc == 0 && i-- > 0 && p->request_count < WT_MAX_PREVIEW_REQUESTS;) {
        bool added = false;
        if (usages[i].outcome == USAGE_FAILED || is_for_own(p, &usages[i]))
            continue;
        if (!wt__map_insert(&met, usages[i].request, 0, &added))
            rc = wt__fail_nomem(p->err);
        if (added)
            add_recorded(p, &usages[i]);
    }
    wt__map_dispose(&met);
    p->recorded = p->request_count >= WT_PREVIEW_RECORDED;
    if (!p->recorded)
        p->request_count = 0;
    return rc;
}

/* Makes requests from descriptions of randomly drawn tools of other providers. */
static int make_preview_requests(struct preview *p)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct rng rng;
    uint32_t *order = wt__arena_array(&p->arena, uint32_t, p->count);
    WT_CHECK_ALLOC(order, p->err);
    wt__rng_seed(&rng, 1);
    wt__rng_draw(&rng, order, p->count, p->count > 0 ? p->count - 1 : 0);
    for (size_t i = 0; i < p->count && p->request_count < WT_MAX_PREVIEW_REQUESTS; i++) {
        uint32_t place = order[i];
        wt__buffer_clear(&text);
        if (is_own_tool(p, place))
            continue;
        wt__first_sentences(p->tools[place].description, &text);
        struct str request = wt__str_trim(wt__buffer_view(&text));
        if (text.failed || !wt__has_word(request))
            continue;
        char *copy = wt__arena_copy(&p->arena, request);
        WT_CHECK_ALLOC(copy, p->err);
        p->requests[p->request_count++] =
            (struct preview_request){.text = {copy, request.len}, .answers = {place}, .answer_count = 1};
    }
    WT_CHECK_ALLOC(!text.failed, p->err);
    if (p->request_count == 0)
        return wt__fail(p->err, WT_EEMPTY,
                        "cannot make requests for a preview: no tool of another provider has a description");
    return 0;
}

/* ---------------------------------------------------------------- searching */

struct preview_tally {
    size_t all, own; /* places of all tools, and of the provider's tools */
};

static bool is_answer(const struct preview_request *request, size_t place)
{
    for (size_t i = 0; i < request->answer_count; i++)
        if (request->answers[i] == place)
            return true;
    return false;
}

static int search_preview_request(struct preview *p, const struct preview_request *request,
                                  const struct request_vectors *vectors, struct preview_tally *tally)
{
    struct arena arena = {0};
    struct search search = {.engine = p->copy,
                            .request = request->text,
                            .arena = &arena,
                            .recipe = p->recipe,
                            .k = AUDIT_FIRST_PLACES,
                            .copies = COPIES_SHARED,
                            .new_in_full = true,
                            .as_typed = true,
                            .encoded = wt__request_vectors_of(vectors, request->text, &arena),
                            .encoded_by = vectors->encoder};
    int rc = wt__search_run(&search, p->err);
    for (size_t i = 0; rc == 0 && i < search.hits.len; i++) {
        /* A tool of the copy that is not in the catalogue is a waiting tool. */
        size_t place = find_store_key(p->copied, p->count, search.index->snapshot->keys[search.hits.items[i].row].id);
        if (is_answer(request, place))
            continue;
        tally->all++;
        tally->own += place == p->count || is_own_tool(p, place);
    }
    wt__search_end(&search);
    wt__arena_dispose(&arena);
    if (rc == 0 && wt__progress_step(&p->progress, 1))
        rc = wt__fail_cancelled(p->err);
    return rc;
}

static int search_preview_requests(struct preview *p, const struct request_vectors *vectors, double *share)
{
    struct preview_tally tally = {0};
    if (wt__progress_phase(&p->progress, "searching requests", p->request_count))
        return wt__fail_cancelled(p->err);
    for (size_t i = 0; i < p->request_count; i++)
        WT_TRY(search_preview_request(p, &p->requests[i], vectors, &tally));
    *share = tally.all > 0 ? (double)tally.own / (double)tally.all : 0;
    return 0;
}

static int encode_preview_requests(struct preview *p, struct request_vectors *vectors)
{
    struct str texts[WT_MAX_PREVIEW_REQUESTS];
    unsigned threads = p->engine->threads ? p->engine->threads : wt__processor_count();
    if (strcmp(p->recipe, "hybrid") != 0)
        return 0;
    WT_TRY(wt__engine_load_encoder(p->copy, &p->progress, &vectors->encoder, p->err));
    for (size_t i = 0; i < p->request_count; i++)
        texts[i] = p->requests[i].text;
    return wt__request_vectors_make(vectors, texts, p->request_count, threads, p->err);
}

/* ---------------------------------------------------------------- waiting tools */

static bool is_chosen_name(const struct preview *p, struct str name)
{
    for (size_t i = 0; i < p->options.name_count; i++)
        if (wt__str_equal(name, wt__str(p->options.names[i])))
            return true;
    return p->options.name_count == 0 && name.len > 0;
}

/* Writes {"tools":[...]} with the waiting definitions, and counts them. */
static int read_waiting(struct preview *p, struct store *reader, struct buffer *out, size_t *count)
{
    struct review_row *rows = NULL;
    size_t row_count = 0;
    int rc = wt__store_reviews(reader, REVIEWS_WAITING, &p->provider, &p->arena, &rows, &row_count, p->err);
    wt__buffer_text(out, "{\"tools\":[");
    for (size_t i = 0; rc >= 0 && i < row_count; i++) {
        if (rows[i].kind != REVIEW_TOOL || !is_chosen_name(p, rows[i].name))
            continue;
        wt__buffer_text(out, *count > 0 ? "," : "");
        wt__buffer_str(out, rows[i].offered);
        ++*count;
    }
    wt__buffer_text(out, "]}");
    if (rc >= 0 && out->failed)
        return wt__fail_nomem(p->err);
    if (rc >= 0 && (*count == 0 || *count < p->options.name_count))
        return wt__fail(p->err, WT_ENOTFOUND, "%s of %.*s waits for approval",
                        *count == 0 ? "nothing" : "not every named tool", (int)p->provider.len, p->provider.ptr);
    return rc < 0 ? rc : 0;
}

static int add_waiting(struct preview *p, struct str waiting)
{
    const struct import_options reading = {.format = STR("mcp"), .provider = p->provider, .progress = &p->progress};
    const struct store_import_options options = {.source = STR("waiting"), .progress = &p->progress};
    const struct encoder *encoder = NULL;
    WT_CLEANUP(wt__import_dispose) struct import import = {0};
    struct store_changes changes;
    size_t embedded;
    WT_TRY(wt__import_bytes(&import, waiting, &reading, p->err));
    WT_TRY(wt__store_import(p->copy->store, import.tools, import.tool_count, &options, &changes, p->err));
    if (strcmp(p->recipe, "hybrid") != 0)
        return 0;
    WT_TRY(wt__engine_load_encoder(p->copy, &p->progress, &encoder, p->err));
    return encoder ? wt__embed_missing(p->copy, encoder, &p->progress, &embedded, p->err) : 0;
}

/* ---------------------------------------------------------------- whole preview */

static int read_preview_inputs(struct preview *p, struct buffer *waiting, size_t *count)
{
    struct store *reader;
    int rc = wt__progress_phase(&p->progress, "copying the catalogue", 0) ? wt__fail_cancelled(p->err) : 0;
    if (rc == 0)
        rc = open_copy(p);
    if (rc == 0)
        rc = wt__engine_reader(p->engine, &reader, p->err);
    if (rc < 0)
        return rc;
    rc = read_waiting(p, reader, waiting, count);
    if (rc == 0)
        rc = wt__store_each(reader, 0, copy_catalogue_tool, p, p->err);
    if (rc == 0)
        rc = copy_catalogue(p, reader);
    if (rc == 0)
        rc = read_preview_usages(p, reader);
    wt__engine_return_reader(p->engine, reader);
    return rc == 0 && !p->recorded ? make_preview_requests(p) : rc;
}

static int write_preview_sentence(struct preview *p, struct arena *arena, wt_preview *out)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_printf(
        &text,
        "In %zu %s for tools of other providers, %.*s has %.2f %% of the first %d places (and %.2f %% of the tools); "
        "with the waiting tools %.2f %% (%.2f %%)%s.",
        out->requests, p->recorded ? "recorded requests" : "searches", (int)p->provider.len, p->provider.ptr,
        100 * out->places_now, AUDIT_FIRST_PLACES, 100 * out->tools_now, 100 * out->places_then, 100 * out->tools_then,
        out->far ? ": far above its share" : "");
    out->sentence = text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(out->sentence, p->err);
    return 0;
}

static int compute_preview(struct preview *p, struct owned_preview *result)
{
    WT_CLEANUP(wt__request_vectors_dispose) struct request_vectors vectors = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer waiting = {0};
    wt_preview *out = &result->public;
    WT_TRY(read_preview_inputs(p, &waiting, &out->waiting));
    WT_TRY(encode_preview_requests(p, &vectors));
    WT_TRY(search_preview_requests(p, &vectors, &out->places_now));
    WT_TRY(add_waiting(p, wt__buffer_view(&waiting)));
    WT_TRY(search_preview_requests(p, &vectors, &out->places_then));
    out->requests = p->request_count;
    out->recorded = p->recorded;
    out->recipe = p->recipe;
    out->tools_now = p->count > 0 ? (double)p->own / (double)p->count : 0;
    out->tools_then = (double)(p->own + out->waiting) / (double)(p->count + out->waiting);
    out->far = wt__is_capture(out->places_then, out->tools_then);
    return write_preview_sentence(p, &result->arena, out);
}

int wt_preview_waiting(wt_engine *engine, const char *provider, const wt_preview_options *options, wt_preview **out,
                       wt_error *err)
{
    struct preview *p = calloc(1, sizeof *p);
    struct owned_preview *result = calloc(1, sizeof *result);
    *out = NULL;
    int rc = p && result ? wt__options_read(&p->options, sizeof p->options, options, err) : wt__fail_nomem(err);
    if (rc < 0) {
        free(p);
        free(result);
        return rc;
    }
    p->engine = engine;
    p->provider = wt__str(provider);
    p->err = err;
    wt__progress_init(&p->progress, p->options.progress, p->options.progress_context);
    rc = compute_preview(p, result);
    rc = wt__progress_end(&p->progress, rc, err);
    wt_close(p->copy);
    free(p->tools);
    free(p->keys);
    wt__arena_dispose(&p->arena);
    free(p);
    if (rc < 0) {
        wt_preview_free(&result->public);
        return rc;
    }
    *out = &result->public;
    return 0;
}
