/* embed.c: encodes tools. The vector of a tool is the weighted sum of the vectors of its texts (retrieve/document.h),
 * scaled to length 1.
 *
 * Tools are encoded in batches of BATCH: large enough to keep all threads busy, small enough to lose little if encoding
 * is stopped. Each batch is one transaction, and the store skips tools changed meanwhile. So encoding may be stopped,
 * killed, or run by two processes at once. */
#include "engine/engine.h"

#include <stdlib.h>

#include "base/memory.h"
#include "retrieve/document.h"

enum { BATCH = 2048 };

struct embedding_batch {
    struct store_key keys[BATCH]; /* [count], tools of the batch */
    size_t count;
    struct arena arena;
    struct buffer text;                        /* concatenated texts of the batch */
    size_t begins[BATCH * DOCUMENT_TEXTS + 1]; /* offsets of the texts in `text`, and the end */
    struct str texts[BATCH * DOCUMENT_TEXTS];  /* the texts of each tool, one after the other */
    float *vectors;                            /* [BATCH * DOCUMENT_TEXTS, D] */
};

/* Tools to encode. */
struct embed_scope {
    const struct own_tools *own; /* NULL for all tools */
    uint64_t newest;             /* newest generation of the store to encode, if own is NULL */
};

static int compare_ids(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static bool is_in_scope(const struct embed_scope *scope, const struct store_key *key)
{
    const struct own_tools *own = scope->own;
    if (!own)
        return key->generation <= scope->newest;
    return own->count > 0 && bsearch(&key->id, own->ids, own->count, sizeof *own->ids, compare_ids);
}

/* Reads the next keys of tools in scope without a vector. *after: id of the last tool that was looked at. Returns a
 * positive number, 0 if no such tool is left, or an error. */
static int read_scope_keys(wt_engine *engine, const struct vector_set *set, const struct embed_scope *scope,
                           int64_t *after, struct embedding_batch *batch, wt_error *err)
{
    int rc = 1;
    for (batch->count = 0; rc > 0 && batch->count == 0;) {
        rc = wt__store_missing_vectors(engine->store, set, *after, batch->keys, BATCH, err);
        if (rc > 0)
            *after = batch->keys[rc - 1].id;
        for (int i = 0; i < rc; i++)
            if (is_in_scope(scope, &batch->keys[i]))
                batch->keys[batch->count++] = batch->keys[i];
    }
    return rc;
}

/* Reads the next tools without a vector, and their texts. */
static int read_tool_batch(wt_engine *engine, const struct encoder *encoder, const struct vector_set *set,
                           const struct embed_scope *scope, int64_t *after, struct embedding_batch *batch,
                           wt_error *err)
{
    int64_t ids[BATCH];
    wt__arena_reset(&batch->arena);
    wt__buffer_clear(&batch->text);
    pthread_mutex_lock(&engine->store_lock);
    int rc = read_scope_keys(engine, set, scope, after, batch, err);
    struct tool *tools = wt__arena_array(&batch->arena, struct tool, batch->count);
    for (size_t i = 0; i < batch->count; i++)
        ids[i] = batch->keys[i].id;
    if (rc > 0)
        rc = tools ? wt__store_get(engine->store, ids, batch->count, &batch->arena, tools, err) : wt__fail_nomem(err);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0)
        return rc;

    size_t n = batch->count * DOCUMENT_TEXTS;
    unsigned fields = wt__document_fields(wt__encoder_fields(encoder), NULL);
    for (size_t i = 0; i < n; i++) {
        batch->begins[i] = batch->text.len;
        wt__document_text(&tools[i / DOCUMENT_TEXTS], fields, i % DOCUMENT_TEXTS, &batch->text);
    }
    batch->begins[n] = batch->text.len;
    if (batch->text.failed)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        batch->texts[i] = (struct str){batch->text.ptr + batch->begins[i], batch->begins[i + 1] - batch->begins[i]};
    return 0;
}

/* Moves vectors of the former kind to the set, if they are of the same texts. Looks at the next BATCH tools with such a
 * vector and adds the number of moved vectors to *moved. Returns a positive number, 0 at the end, or an error. Hold
 * store_lock. */
static int move_former_batch(wt_engine *engine, const struct vector_set *set, const struct embed_scope *scope,
                             int64_t *after, struct embedding_batch *batch, uint64_t *moved, wt_error *err)
{
    int64_t ids[BATCH];
    bool there[BATCH];
    size_t count = 0, same = 0;
    int rc = wt__store_former_vectors(engine->store, set, *after, batch->keys, BATCH, err);
    if (rc <= 0)
        return rc;
    *after = batch->keys[rc - 1].id;
    for (int i = 0; i < rc; i++)
        if (is_in_scope(scope, &batch->keys[i]))
            batch->keys[count++] = batch->keys[i];
    if (count == 0)
        return rc;
    wt__arena_reset(&batch->arena);
    struct tool *tools = wt__arena_array(&batch->arena, struct tool, count);
    WT_CHECK_ALLOC(tools, err);
    for (size_t i = 0; i < count; i++)
        ids[i] = batch->keys[i].id;
    int64_t found = wt__store_get(engine->store, ids, count, &batch->arena, tools, err);
    for (size_t i = 0; found >= 0 && i < count; i++)
        if (wt__document_has_former_texts(&tools[i]))
            batch->keys[same++] = batch->keys[i];
    for (size_t i = 0; i < same; i++)
        ids[i] = batch->keys[i].id;
    if (found >= 0)
        found = wt__store_get_vectors(engine->store, set, ids, same, batch->vectors, there, err);
    if (found < 0)
        return (int)found;
    if (same == 0 || found < (int64_t)same) /* another process changed a tool, so encode the batch */
        return rc;
    int64_t stored = wt__store_put_vectors(engine->store, set, batch->keys, batch->vectors, same, err);
    *moved += stored > 0 ? (uint64_t)stored : 0;
    return stored < 0 ? (int)stored : rc;
}

static int move_former_vectors(wt_engine *engine, const struct vector_set *set, const struct embed_scope *scope,
                               struct embedding_batch *batch, uint64_t *moved, wt_error *err)
{
    int rc = 1;
    *moved = 0;
    for (int64_t after = 0; rc > 0;) {
        pthread_mutex_lock(&engine->store_lock);
        rc = move_former_batch(engine, set, scope, &after, batch, moved, err);
        pthread_mutex_unlock(&engine->store_lock);
    }
    return rc;
}

/* Encodes a batch. Returns the number of stored vectors, or an error. */
static int64_t embed_tool_batch(wt_engine *engine, const struct encoder *encoder, const struct vector_set *set,
                                struct embedding_batch *batch, struct progress *progress, wt_error *err)
{
    WT_TRY(wt__encode_many(encoder, TEXT_TOOL, batch->texts, batch->count * DOCUMENT_TEXTS, engine->threads,
                           batch->vectors, progress, err));
    wt__document_sum_vectors(batch->vectors, batch->count, set->dim);
    pthread_mutex_lock(&engine->store_lock);
    int64_t stored = wt__store_put_vectors(engine->store, set, batch->keys, batch->vectors, batch->count, err);
    pthread_mutex_unlock(&engine->store_lock);
    return stored;
}

/* Counts all tools without a vector, in scope or not. Fails if there are such tools and the store is read-only. */
static int count_missing_vectors(wt_engine *engine, const struct vector_set *set, uint64_t *missing, wt_error *err)
{
    uint64_t tools = 0, providers = 0, there = 0;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_count(engine->store, &tools, &providers, err);
    if (rc >= 0)
        rc = wt__store_count_vectors(engine->store, set, &there, err);
    pthread_mutex_unlock(&engine->store_lock);
    *missing = rc >= 0 && tools > there ? tools - there : 0;
    if (*missing > 0 && rc >= 0)
        rc = wt__engine_refuse_read_only(engine, "no vectors can be added", err);
    return rc < 0 ? rc : 0;
}

/* Encodes the tools in scope, and adds their number to *embedded. */
static int embed_tools_in_scope(wt_engine *engine, const struct encoder *encoder, const struct embed_scope *scope,
                                struct progress *progress, size_t *embedded, wt_error *err)
{
    struct vector_set set = wt__engine_vectors(encoder, engine);
    uint64_t missing, moved;
    int rc = count_missing_vectors(engine, &set, &missing, err);
    if (rc < 0 || missing == 0)
        return rc;
    struct embedding_batch *batch = calloc(1, sizeof *batch);
    float *vectors = wt__alloc_aligned((size_t)BATCH * DOCUMENT_TEXTS * set.dim, sizeof *vectors);
    if (!batch || !vectors) {
        free(batch);
        free(vectors);
        return wt__fail_nomem(err);
    }
    batch->vectors = vectors;
    rc = move_former_vectors(engine, &set, scope, batch, &moved, err);
    missing -= moved < missing ? moved : missing;
    if (scope->own && scope->own->count < missing)
        missing = scope->own->count;
    if (rc >= 0 && missing > 0 && wt__progress_phase(progress, "encoding", missing * DOCUMENT_TEXTS))
        rc = wt__fail_cancelled(err);
    for (int64_t after = 0; rc >= 0;) {
        rc = read_tool_batch(engine, encoder, &set, scope, &after, batch, err);
        if (rc < 0 || batch->count == 0)
            break;
        int64_t stored = embed_tool_batch(engine, encoder, &set, batch, progress, err);
        if (stored < 0)
            rc = (int)stored;
        else
            *embedded += (size_t)stored;
    }
    wt__arena_dispose(&batch->arena);
    wt__buffer_dispose(&batch->text);
    free(batch);
    free(vectors);
    return rc < 0 ? rc : 0;
}

int wt__embed_missing(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *embedded,
                      wt_error *err)
{
    *embedded = 0;
    return embed_tools_in_scope(engine, encoder, &(struct embed_scope){.newest = UINT64_MAX}, progress, embedded, err);
}

/* Sets *rest to the tools of all imports so far. Sets *alone to true if no other import is running. The caller then
 * encodes the tools in *rest. Reads the generation before the number of imports, so that *rest does not contain the
 * tools of an import that begins later. */
static int find_other_tools(wt_engine *engine, struct embed_scope *rest, bool *alone, wt_error *err)
{
    *rest = (struct embed_scope){0};
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_generation(engine->store, &rest->newest, err);
    pthread_mutex_unlock(&engine->store_lock);
    *alone = wt__engine_imports_alone(engine);
    return rc;
}

int wt__embed_import(wt_engine *engine, const struct encoder *encoder, struct own_tools *own, struct progress *progress,
                     size_t *embedded, wt_error *err)
{
    struct embed_scope rest;
    bool alone = false;
    *embedded = 0;
    if (own->count > 0)
        qsort(own->ids, own->count, sizeof *own->ids, compare_ids);
    int rc = find_other_tools(engine, &rest, &alone, err);
    if (rc == 0 && !alone && own->count > 0)
        rc = embed_tools_in_scope(engine, encoder, &(struct embed_scope){.own = own}, progress, embedded, err);
    if (rc == 0 && !alone)
        rc = find_other_tools(engine, &rest, &alone, err);
    return rc == 0 && alone ? embed_tools_in_scope(engine, encoder, &rest, progress, embedded, err) : rc;
}

/* Encodes for the trained encoder as well, if one exists. Ignores a damaged trained encoder; callers that use the
 * trained recipes report the damage. */
static int embed_for_trained(wt_engine *engine, const struct encoder *own, struct progress *progress, wt_error *err)
{
    const struct trained *trained;
    size_t embedded;
    if (wt__engine_trained(engine, &trained, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    return trained && trained->encoder != own ? wt__embed_missing(engine, trained->encoder, progress, &embedded, err)
                                              : 0;
}

static int complete_copies(wt_engine *engine, wt_error *err)
{
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_complete_copies(engine->store, err);
    pthread_mutex_unlock(&engine->store_lock);
    return rc;
}

int64_t wt_embed_missing(wt_engine *engine, wt_progress_fn report, void *context, wt_error *err)
{
    const struct encoder *encoder;
    struct progress progress;
    WT_TRY(wt__engine_encoder(engine, &encoder, err));
    wt__progress_init(&progress, report, context);
    size_t embedded;
    int rc = wt__embed_missing(engine, encoder, &progress, &embedded, err);
    if (rc == 0)
        rc = embed_for_trained(engine, encoder, &progress, err);
    if (rc == 0)
        rc = complete_copies(engine, err);
    wt__engine_changed(engine);
    wt__progress_dispose(&progress);
    return rc < 0 ? rc : (int64_t)embedded;
}
