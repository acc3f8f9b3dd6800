/* bundles.c: searches bundles as documents. A document holds the names of a bundle's tools and the beginning of each
 * description, so that a long description does not displace the other tools from the encoder's window. */
#include "engine/bundles.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sort.h"
#include "retrieve/document.h"

static const char bundle_kind[] = "bundle1"; /* kind of the vectors; change it when write_bundle_text changes */

/* ---------------------------------------------------------------- distinct sets */

/* The tools that one request used; after merging, that `times` requests used. first: number of the earliest request. */
struct used_set {
    const uint32_t *rows; /* ascending, distinct */
    size_t count, times, first;
};

static int compare_sets(const struct used_set *a, const struct used_set *b)
{
    size_t common = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < common; i++)
        if (a->rows[i] != b->rows[i])
            return a->rows[i] < b->rows[i] ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static int order_by_set(const void *a, const void *b)
{
    const struct used_set *x = a, *y = b;
    int order = compare_sets(x, y);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

static int order_by_use(const void *a, const void *b)
{
    const struct used_set *x = a, *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Reads the sets of all past requests into list [past requests] and rows [labels], without removed tools. Returns the
 * number of sets that are not empty. */
static size_t list_past_sets(const struct index_handle *index, struct used_set *list, uint32_t *rows)
{
    const struct neighbours *past = &index->labels->past.trained;
    size_t len = 0;
    for (size_t i = 0; i < past->count; i++) {
        size_t count = 0;
        for (uint32_t l = past->starts[i]; l < past->starts[i + 1]; l++)
            if (index->label_rows[past->labels[l]] != NEIGHBOURS_GONE)
                rows[count++] = index->label_rows[past->labels[l]];
        size_t kept = wt__sort_unique_u32(rows, count);
        if (kept > 0)
            list[len++] = (struct used_set){rows, kept, 1, i};
        rows += kept;
    }
    return len;
}

/* Merges equal sets and sorts by use. Returns the number of distinct sets. */
static size_t merge_past_sets(struct used_set *list, size_t len)
{
    size_t kept = 0;
    qsort(list, len, sizeof *list, order_by_set);
    for (size_t i = 0; i < len; i++) {
        if (kept > 0 && compare_sets(&list[kept - 1], &list[i]) == 0)
            list[kept - 1].times++;
        else
            list[kept++] = list[i];
    }
    qsort(list, kept, sizeof *list, order_by_use);
    return kept;
}

static int copy_past_sets(struct bundles *out, const struct used_set *list, size_t len, wt_error *err)
{
    size_t rows = 0;
    out->count = len < BUNDLES_MOST ? len : BUNDLES_MOST;
    out->left_out = len - out->count;
    for (size_t i = 0; i < out->count; i++)
        rows += list[i].count;
    out->starts = wt__alloc_array(out->count + 1, sizeof *out->starts);
    WT_CHECK_ALLOC(out->starts, err);
    out->rows = wt__alloc_array(rows, sizeof *out->rows);
    WT_CHECK_ALLOC(out->rows, err);
    out->starts[0] = 0;
    for (size_t i = 0; i < out->count; i++) {
        memcpy(out->rows + out->starts[i], list[i].rows, list[i].count * sizeof *list[i].rows);
        out->starts[i + 1] = out->starts[i] + (uint32_t)list[i].count;
    }
    return 0;
}

static int collect_past_sets(struct bundles *out, const struct index_handle *index, wt_error *err)
{
    const struct neighbours *past = &index->labels->past.trained;
    WT_AUTO_FREE struct used_set *list = wt__alloc_array(past->count, sizeof *list);
    WT_CHECK_ALLOC(list, err);
    WT_AUTO_FREE uint32_t *rows = wt__alloc_array(past->count ? past->starts[past->count] : 0, sizeof *rows);
    WT_CHECK_ALLOC(rows, err);
    return copy_past_sets(out, list, merge_past_sets(list, list_past_sets(index, list, rows)), err);
}

/* ---------------------------------------------------------------- documents */

/* State of writing the bundles of an index into a snapshot. */
struct bundle_writer {
    wt_engine *engine;
    struct progress *progress; /* polled while encoding; may be NULL */
    const struct index_handle *index;
    const struct bundles *bundles;
    struct snapshot_key *keys; /* [count] */
    struct analyser *analyser;
    struct document document;
    struct lexical_builder *builder;
    struct arena arena;     /* tools of one bundle */
    struct buffer words[3]; /* names, descriptions, and for the encoder "name: description+name: description" */
    struct buffer head;     /* beginning of one description */
};

enum { NAMES, DESCRIPTIONS, TEXT };

static int write_bundle_text(struct bundle_writer *b, size_t bundle, wt_error *err)
{
    const uint32_t *rows = b->bundles->rows + b->bundles->starts[bundle];
    size_t count = b->bundles->starts[bundle + 1] - b->bundles->starts[bundle];
    wt__arena_reset(&b->arena);
    int64_t *ids = wt__arena_array(&b->arena, int64_t, count);
    struct tool *tools = wt__arena_array(&b->arena, struct tool, count);
    WT_CHECK_ALLOC(ids && tools, err);
    for (size_t i = 0; i < count; i++)
        ids[i] = b->index->snapshot->keys[rows[i]].id;
    WT_TRY(wt__index_tools(b->engine, b->index, ids, count, &b->arena, tools, err));
    for (size_t w = 0; w < sizeof b->words / sizeof *b->words; w++)
        wt__buffer_clear(&b->words[w]);
    for (size_t i = 0; i < count; i++) {
        wt__buffer_clear(&b->head);
        wt__document_head(tools[i].description, &b->head);
        struct str head = wt__buffer_view(&b->head);
        const struct str pieces[][3] = {{tools[i].name, STR(" ")}, {head, STR(" ")}, {tools[i].name, STR(": "), head}};
        wt__buffer_text(&b->words[TEXT], i ? "+" : "");
        for (size_t w = 0; w < sizeof b->words / sizeof *b->words; w++)
            for (size_t p = 0; p < 3; p++)
                wt__buffer_str(&b->words[w], pieces[w][p]);
    }
    bool failed = b->head.failed || b->words[NAMES].failed || b->words[DESCRIPTIONS].failed || b->words[TEXT].failed;
    return failed ? wt__fail_nomem(err) : 0;
}

/* Adds a bundle to the lexical index and sets its key. The id of the key is a hash of the tools, the generation a hash
 * of their texts. If either changes, the bundle is encoded again. */
static int index_bundle(struct bundle_writer *b, size_t bundle, wt_error *err)
{
    uint64_t id = 0;
    WT_TRY(write_bundle_text(b, bundle, err));
    for (uint32_t r = b->bundles->starts[bundle]; r < b->bundles->starts[bundle + 1]; r++)
        id = wt__checksum(&b->index->snapshot->keys[b->bundles->rows[r]].id, sizeof(int64_t), id);
    b->keys[bundle] = (struct snapshot_key){.id = (int64_t)(id >> 1),
                                            .generation = wt__checksum(b->words[TEXT].ptr, b->words[TEXT].len, 0)};
    const struct tool document = {.name = wt__buffer_view(&b->words[NAMES]),
                                  .description = wt__buffer_view(&b->words[DESCRIPTIONS])};
    WT_TRY(wt__document_read(&b->document, b->analyser, &document, err));
    return wt__lexical_builder_add(b->builder, b->document.fields, err);
}

static int fetch_bundle_vectors(void *context, const uint32_t *bundles, size_t count, float *vectors, wt_error *err)
{
    struct bundle_writer *b = context;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct str *texts = wt__arena_array(&arena, struct str, count);
    WT_CHECK_ALLOC(texts, err);
    for (size_t i = 0; i < count; i++) {
        WT_TRY(write_bundle_text(b, bundles[i], err));
        texts[i] = (struct str){wt__arena_copy(&arena, wt__buffer_view(&b->words[TEXT])), b->words[TEXT].len};
        WT_CHECK_ALLOC(texts[i].ptr, err);
    }
    return wt__encode_many(b->bundles->encoder, TEXT_TOOL, texts, count, b->engine->threads, vectors, b->progress, err);
}

static int index_bundles(struct bundle_writer *b, void **lexical, size_t *len, wt_error *err)
{
    struct lexical_settings settings = wt__lexical_settings;
    settings.most_sum = settings.most_length = 0; /* bundles hold different numbers of tools */
    b->keys = wt__alloc_array(b->bundles->count, sizeof *b->keys);
    WT_CHECK_ALLOC(b->keys, err);
    WT_TRY(wt__analyser_open(&b->analyser, err));
    WT_TRY(wt__lexical_builder_new(&b->builder, &settings, err));
    for (size_t i = 0; i < b->bundles->count; i++)
        WT_TRY(index_bundle(b, i, err));
    return wt__lexical_builder_finish(b->builder, lexical, len, err);
}

static int make_bundle_snapshot(struct bundle_writer *b, const char *folder, uint64_t state, struct snapshot **out,
                                wt_error *err)
{
    const struct encoder *encoder = b->bundles->encoder;
    struct vector_source source = {.model = wt__encoder_hash(encoder),
                                   .kind = bundle_kind,
                                   .dim = wt__encoder_dim(encoder),
                                   .fetch = fetch_bundle_vectors,
                                   .context = b};
    struct snapshot_content content = {.generation = state,
                                       .settings = wt__document_settings_key(),
                                       .rows = b->bundles->count,
                                       .sources = &source,
                                       .source_count = 1};
    WT_AUTO_FREE void *lexical = NULL;
    WT_TRY(index_bundles(b, &lexical, &content.lexical_len, err));
    content.keys = b->keys;
    content.lexical = lexical;
    return wt__snapshot_make(out, b->engine->keeps_derived ? folder : "", b->engine->busy_ms, NULL, &content, err);
}

static void bundle_writer_dispose(struct bundle_writer *b)
{
    wt__document_dispose(&b->document);
    wt__analyser_close(b->analyser);
    wt__lexical_builder_free(b->builder);
    wt__arena_dispose(&b->arena);
    for (size_t w = 0; w < sizeof b->words / sizeof *b->words; w++)
        wt__buffer_dispose(&b->words[w]);
    wt__buffer_dispose(&b->head);
    free(b->keys);
}

/* Hashes the sets and the generation of the index. */
static uint64_t hash_bundles(const struct bundles *bundles, const struct index_handle *index)
{
    uint64_t state =
        wt__checksum(bundles->starts, (bundles->count + 1) * sizeof *bundles->starts, index->snapshot->generation);
    return wt__checksum(bundles->rows, bundles->starts[bundles->count] * sizeof *bundles->rows, state);
}

/* The two kinds of bundles of an index, and their subfolders of the index folder. */
enum { TRAINED_BUNDLES, UNTRAINED_BUNDLES, BUNDLES_KINDS };
static const char *const bundle_folders[BUNDLES_KINDS] = {"bundles", "bundles-untrained"};

/* Returns "" if the index is in memory only, NULL if out of memory. */
static const char *bundle_folder(const wt_engine *engine, size_t which, struct arena *arena)
{
    return engine->index_folder[0] ? wt__path_join(arena, engine->index_folder, bundle_folders[which]) : "";
}

static const struct vectors *bundle_vectors(const struct bundles *bundles)
{
    return wt__snapshot_vectors(bundles->snapshot, wt__encoder_hash(bundles->encoder), bundle_kind);
}

static int open_bundle_snapshot(struct bundles *bundles, wt_engine *engine, struct progress *progress,
                                const struct index_handle *index, size_t which, wt_error *err)
{
    uint64_t state = hash_bundles(bundles, index);
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const char *folder = bundle_folder(engine, which, &arena);
    WT_CHECK_ALLOC(folder, err);
    if (folder[0] && wt__snapshot_open(&bundles->snapshot, folder, state, wt__document_settings_key(), NULL) >= 0 &&
        bundle_vectors(bundles))
        return 0;
    wt__snapshot_free(bundles->snapshot);
    bundles->snapshot = NULL;
    if (wt__progress_phase(progress, "encoding bundles", bundles->count))
        return wt__fail_cancelled(err);
    WT_CLEANUP(bundle_writer_dispose)
    struct bundle_writer writer = {.engine = engine, .progress = progress, .index = index, .bundles = bundles};
    return make_bundle_snapshot(&writer, folder, state, &bundles->snapshot, err);
}

static int make_bundles(struct bundles **out, wt_engine *engine, struct progress *progress, struct index_handle *index,
                        const struct encoder *encoder, size_t which, wt_error *err)
{
    struct bundles *bundles = calloc(1, sizeof *bundles);
    WT_CHECK_ALLOC(bundles, err);
    bundles->encoder = encoder;
    int rc = collect_past_sets(bundles, index, err);
    if (rc == 0 && bundles->count > 0)
        rc = open_bundle_snapshot(bundles, engine, progress, index, which, err);
    if (rc == 0)
        *out = bundles;
    else
        wt__bundles_free(bundles);
    return rc;
}

int wt__bundles_of(wt_engine *engine, struct progress *progress, struct index_handle *index,
                   const struct encoder *encoder, const struct bundles **out, wt_error *err)
{
    const size_t which = encoder == index->labels->encoder ? TRAINED_BUNDLES : UNTRAINED_BUNDLES;
    int rc = 0;
    pthread_mutex_lock(&engine->lazy_lock);
    if (!index->bundles[which])
        rc = make_bundles(&index->bundles[which], engine, progress, index, encoder, which, err);
    *out = index->bundles[which];
    pthread_mutex_unlock(&engine->lazy_lock);
    return rc;
}

void wt__bundles_free(struct bundles *bundles)
{
    if (!bundles)
        return;
    wt__snapshot_free(bundles->snapshot);
    free(bundles->starts);
    free(bundles->rows);
    free(bundles);
}

void wt__bundles_discard(const wt_engine *engine)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    for (size_t which = 0; which < BUNDLES_KINDS && engine->keeps_derived; which++) {
        const char *folder = bundle_folder(engine, which, &arena);
        if (folder && folder[0])
            wt__snapshot_discard(folder, engine->busy_ms, NULL);
    }
}

/* Sets the bit of each bundle that holds an allowed tool. */
static void mark_allowed_bundles(const struct bundles *bundles, const uint64_t *allowed, uint64_t *open)
{
    for (size_t i = 0; i < bundles->count; i++)
        for (uint32_t r = bundles->starts[i]; r < bundles->starts[i + 1]; r++)
            if (wt__row_allowed(allowed, bundles->rows[r]))
                open[i / 64] |= (uint64_t)1 << i % 64;
}

/* Searches for the request as a whole: its sub-queries would find bundles of one tool. */
int wt__bundles_nearest(const struct bundles *bundles, const struct bundle_query *query, size_t *out, wt_error *err)
{
    /* The scorer is left out: it reads features of single tools, which bundles lack. */
    const float words = query->retriever->weights[SOURCE_BM25], meaning = query->retriever->weights[SOURCE_DENSE];
    const struct retriever words_or_meaning = {.weights = {[SOURCE_BM25] = words, [SOURCE_DENSE] = meaning}};
    struct view view = {.snapshot = bundles->snapshot, .encoder = bundles->encoder, .vectors = bundle_vectors(bundles)};
    struct retrieve_request request = {.text = query->text, .k = 1};
    struct hit_list hits = {0};
    WT_AUTO_FREE uint64_t *open = NULL;
    *out = bundles->count;
    if (bundles->count == 0)
        return 0;
    if (query->allowed) {
        open = calloc((bundles->count + 63) / 64, sizeof *open);
        WT_CHECK_ALLOC(open, err);
        mark_allowed_bundles(bundles, query->allowed, open);
        request.allowed = open;
    }
    WT_TRY(wt__retrieve(words > 0 || meaning > 0 ? &words_or_meaning : &wt__dense, &view, &request, query->workspace,
                        &hits, err));
    if (hits.len > 0)
        *out = hits.items[0].row;
    return 0;
}
