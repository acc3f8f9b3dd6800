/* shelf.c: the current snapshot, and how it follows the catalogue.
 *
 * Every query asks for the snapshot of the store's generation. Usually that is the one in hand. Otherwise it is mapped
 * from the index folder, where another process or an earlier one left it, or made here and left there for the next.
 * A folder that cannot be written makes no difference but time: the snapshot is then made in memory. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "retrieve/document.h"

enum { MISSING_BATCH = 1024 };

struct vector_set wt__engine_vectors(const struct encoder *encoder, const wt_engine *engine)
{
    return (struct vector_set){.kind = wt__document_kind,
                               .model_hash = wt__encoder_hash(encoder),
                               .model_name = engine->model_name,
                               .dim = (uint32_t)wt__encoder_dim(encoder)};
}

/* What a snapshot is made of, as read from the store in one moment. */
struct collection {
    wt_engine *engine;
    uint64_t generation;
    struct snapshot_key *keys; /* [rows] */
    size_t rows, capacity;
    struct analyser *analyser;
    struct document document;
    struct lexical_builder *builder;
    void *lexical;
    size_t lexical_len;
    struct vector_set set;
    bool *has; /* [rows] */
    wt_error *err;
};

static int collect_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    struct collection *collection = context;
    if (wt__grow((void **)&collection->keys, &collection->capacity, collection->rows + 1, sizeof *collection->keys) < 0)
        return wt__fail_nomem(collection->err);
    int rc = wt__document_read(&collection->document, collection->analyser, tool, collection->err);
    if (rc == 0)
        rc = wt__lexical_builder_add(collection->builder, collection->document.fields, collection->err);
    if (rc == 0)
        collection->keys[collection->rows++] =
            (struct snapshot_key){.id = key->id, .generation = key->generation, .provider = (uint32_t)key->provider};
    return rc;
}

/* Everything but vectors, which are fetched only as far as they are new. Called with store_lock held. */
static int collect(struct collection *collection, wt_error *err)
{
    struct store *store = collection->engine->store;
    collection->err = err;
    int rc = wt__analyser_open(&collection->analyser, err);
    if (rc == 0)
        rc = wt__lexical_builder_new(&collection->builder, &wt__lexical_settings, err);
    if (rc < 0)
        return rc;
    rc = wt__store_read_begin(store, err);
    if (rc < 0)
        return rc;
    rc = wt__store_generation(store, &collection->generation, err);
    if (rc >= 0)
        rc = wt__store_each(store, collect_tool, collection, err);
    wt__store_read_end(store);
    if (rc >= 0)
        rc = wt__lexical_builder_finish(collection->builder, &collection->lexical, &collection->lexical_len, err);
    return rc < 0 ? rc : 0;
}

static void collection_dispose(struct collection *collection)
{
    wt__document_dispose(&collection->document);
    wt__analyser_close(collection->analyser);
    wt__lexical_builder_free(collection->builder);
    free(collection->lexical);
    free(collection->keys);
    free(collection->has);
}

static int fetch_vectors(void *context, const uint32_t *rows, size_t count, float *vectors, wt_error *err)
{
    struct collection *collection = context;
    int64_t *ids = wt__alloc_array(count, sizeof *ids);
    bool *there = wt__alloc_array(count, sizeof *there);
    if (!ids || !there) {
        free(ids);
        free(there);
        return wt__fail_nomem(err);
    }
    for (size_t i = 0; i < count; i++)
        ids[i] = collection->keys[rows[i]].id;
    int64_t found = wt__store_get_vectors(collection->engine->store, &collection->set, ids, count, vectors, there, err);
    free(ids);
    free(there);
    return found < 0 ? (int)found : 0;
}

/* Marks the rows that have a vector: all but those that the store lists as missing. Rows are in order of id. */
static int mark_vectors(struct collection *collection, wt_error *err)
{
    struct store_key missing[MISSING_BATCH];
    int64_t after = 0;
    int count;
    collection->has = wt__alloc_array(collection->rows, sizeof *collection->has);
    if (!collection->has)
        return wt__fail_nomem(err);
    memset(collection->has, true, collection->rows * sizeof *collection->has);
    do {
        count =
            wt__store_missing_vectors(collection->engine->store, &collection->set, after, missing, MISSING_BATCH, err);
        size_t row = 0;
        for (int i = 0; i < count; i++) {
            while (row < collection->rows && collection->keys[row].id < missing[i].id)
                row++;
            if (row < collection->rows && collection->keys[row].id == missing[i].id)
                collection->has[row] = false;
            after = missing[i].id;
        }
    } while (count == MISSING_BATCH);
    return count < 0 ? count : 0;
}

static int build(wt_engine *engine, const struct encoder *encoder, const struct snapshot *previous,
                 struct snapshot **out, wt_error *err)
{
    struct collection collection = {.engine = engine};
    struct vector_source source = {.fetch = fetch_vectors, .context = &collection};
    pthread_mutex_lock(&engine->store_lock);
    int rc = collect(&collection, err);
    if (rc == 0 && encoder) {
        collection.set = wt__engine_vectors(encoder, engine);
        source.model = collection.set.model_hash;
        source.kind = collection.set.kind;
        source.dim = collection.set.dim;
        rc = mark_vectors(&collection, err);
        source.has = collection.has;
    }
    struct snapshot_content content = {
        .generation = collection.generation,
        .settings = wt__document_settings_key(),
        .keys = collection.keys,
        .rows = collection.rows,
        .lexical = collection.lexical,
        .lexical_len = collection.lexical_len,
        .sources = &source,
        .source_count = encoder != NULL,
    };
    if (rc == 0) {
        rc = engine->index_folder[0] && !engine->read_only
                 ? wt__snapshot_write(out, engine->index_folder, &content, engine->busy_ms, NULL)
                 : WT_EREADONLY;
        if (rc < 0) /* whatever is wrong with the folder */
            rc = wt__snapshot_build(out, previous, &content, err);
    }
    pthread_mutex_unlock(&engine->store_lock);
    collection_dispose(&collection);
    return rc;
}

static size_t count_without_vector(const struct snapshot *snapshot, const struct vector_set *set)
{
    const struct vectors *vectors = wt__snapshot_vectors(snapshot, set->model_hash, set->kind);
    size_t missing = 0;
    for (size_t row = 0; row < snapshot->rows; row++)
        missing += !vectors || vectors->slot_of_row[row] == VECTOR_NONE;
    return missing;
}

static bool serves(const struct shelf *shelf, uint64_t generation, const struct vector_set *set)
{
    return shelf && shelf->snapshot->generation == generation &&
           (!set || wt__snapshot_vectors(shelf->snapshot, set->model_hash, set->kind));
}

/* The shelf in hand when it will do, with a reference for the caller; else NULL. */
static struct shelf *in_hand(wt_engine *engine, uint64_t generation, const struct vector_set *set)
{
    pthread_mutex_lock(&engine->lock);
    struct shelf *shelf = serves(engine->shelf, generation, set) ? engine->shelf : NULL;
    if (shelf)
        atomic_fetch_add(&shelf->references, 1);
    pthread_mutex_unlock(&engine->lock);
    return shelf;
}

static int refresh(wt_engine *engine, uint64_t generation, const struct encoder *encoder, const struct vector_set *set,
                   struct shelf **out, wt_error *err)
{
    struct shelf *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return wt__fail_nomem(err);
    int rc = WT_ENOTFOUND;
    if (engine->index_folder[0])
        rc = wt__snapshot_open(&fresh->snapshot, engine->index_folder, generation, wt__document_settings_key(), NULL);
    if (rc < 0 || !serves(fresh, generation, set)) {
        const struct snapshot *previous = engine->shelf ? engine->shelf->snapshot : NULL;
        wt__snapshot_free(fresh->snapshot);
        fresh->snapshot = NULL;
        if (!encoder) /* a snapshot without its vectors would lose them for the next query that wants them */
            wt__engine_encoder_locked(engine, &encoder, NULL);
        rc = build(engine, encoder, previous, &fresh->snapshot, err);
    }
    if (rc < 0) {
        free(fresh);
        return rc;
    }
    atomic_init(&fresh->without_vector, SHELF_UNCOUNTED);
    atomic_init(&fresh->references, 2); /* the engine's and the caller's */
    pthread_mutex_lock(&engine->lock);
    struct shelf *old = engine->shelf;
    engine->shelf = fresh;
    pthread_mutex_unlock(&engine->lock);
    wt__shelf_release(old);
    *out = fresh;
    return 0;
}

void wt__engine_discard_shelf(wt_engine *engine, struct shelf *shelf)
{
    pthread_mutex_lock(&engine->build_lock);
    pthread_mutex_lock(&engine->lock);
    bool current = engine->shelf == shelf; /* or another thread has made a new one */
    if (current)
        engine->shelf = NULL;
    pthread_mutex_unlock(&engine->lock);
    if (current) {
        if (engine->index_folder[0] && !engine->read_only)
            wt__snapshot_discard(engine->index_folder, engine->busy_ms, NULL);
        wt__shelf_release(shelf);
    }
    pthread_mutex_unlock(&engine->build_lock);
}

int wt__engine_shelf(wt_engine *engine, const struct encoder *encoder, struct shelf **out, wt_error *err)
{
    struct vector_set vectors, *set = NULL;
    uint64_t generation;
    if (encoder) {
        vectors = wt__engine_vectors(encoder, engine);
        set = &vectors;
    }
    *out = NULL;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_generation(engine->store, &generation, err);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc < 0)
        return rc;
    *out = in_hand(engine, generation, set);
    if (!*out) {
        pthread_mutex_lock(&engine->build_lock);
        *out = in_hand(engine, generation, set); /* made while we waited */
        if (!*out)
            rc = refresh(engine, generation, encoder, set, out, err);
        pthread_mutex_unlock(&engine->build_lock);
    }
    if (rc == 0 && set && atomic_load(&(*out)->without_vector) == SHELF_UNCOUNTED)
        atomic_store(&(*out)->without_vector, count_without_vector((*out)->snapshot, set));
    if (rc == 0 && (*out)->snapshot->rows == 0) {
        wt__shelf_release(*out);
        *out = NULL;
        return wt__fail(err, WT_EEMPTY, "the store %s holds no tools; add some with `whichtool add FILE`",
                        engine->path);
    }
    return rc;
}

void wt__shelf_release(struct shelf *shelf)
{
    if (shelf && atomic_fetch_sub(&shelf->references, 1) == 1) {
        wt__snapshot_free(shelf->snapshot);
        free(shelf);
    }
}
