/* index_handle.c: the current index and how it follows the catalogue.
 *
 * Every query asks for an index of the store's current state. Usually the current index has that state. Otherwise the
 * snapshot is mapped from the index folder, where this or another process wrote it, or it is built and written there. A
 * build reads through its own connection. Meanwhile the old index stays in use; at the end, the build replaces it. A
 * query during the build uses the old index, unless the old index lacks a change of a call that has returned. If the
 * folder cannot be written, the snapshot is built in memory. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "engine/bundles.h"
#include "engine/internal.h"
#include "engine/filter.h"
#include "retrieve/document.h"

enum { MISSING_BATCH = 1024, BUILD_ATTEMPTS = 3, REPLACED_WAIT_MS = 100 };

/* Source of one set of vectors for a snapshot. */
struct set_source {
    struct collection *collection;
    struct vector_set set;               /* vectors of the tools' texts */
    const struct trained_recipe *recipe; /* recipe that transforms the vectors, or NULL */
    bool *has;                           /* [rows] the row has a vector */
    uint32_t former;                     /* number of vectors of the previous document kind */
};

/* ---------------------------------------------------------------- vectors */

/* Transforms vectors [count, D] of the tools' texts into those of the recipe. */
static int transform_vectors(struct set_source *source, const uint32_t *rows, const int64_t *ids, size_t count,
                             float *vectors, wt_error *err)
{
    struct collection *collection = source->collection;
    size_t dim = source->set.dim;
    struct vector_set usage = wt__engine_usage_vectors(collection->trained->encoder, collection->engine);
    WT_AUTO_FREE float *sums = wt__alloc_array(count * dim, sizeof *sums);
    WT_CHECK_ALLOC(sums, err);
    WT_AUTO_FREE uint32_t *uses = wt__alloc_array(count, sizeof *uses);
    WT_CHECK_ALLOC(uses, err);
    int64_t rc = wt__store_get_usage_sums(collection->store, &usage, ids, count, sums, uses, err);
    for (size_t i = 0; rc >= 0 && i < count; i++)
        wt__trained_vector(collection->trained, source->recipe, vectors + i * dim, sums + i * dim, uses[i],
                           collection->head_rows[rows[i]], vectors + i * dim);
    return rc < 0 ? (int)rc : 0;
}

static int fetch_set_vectors(void *context, const uint32_t *rows, size_t count, float *vectors, wt_error *err)
{
    struct set_source *source = context;
    if (wt__progress_step(source->collection->progress, 0))
        return wt__fail_cancelled(err);
    WT_AUTO_FREE int64_t *ids = wt__alloc_array(count, sizeof *ids);
    WT_CHECK_ALLOC(ids, err);
    WT_AUTO_FREE bool *there = wt__alloc_array(count, sizeof *there);
    WT_CHECK_ALLOC(there, err);
    for (size_t i = 0; i < count; i++)
        ids[i] = source->collection->keys[rows[i]].id;
    int64_t rc = wt__store_get_vectors(source->collection->store, &source->set, ids, count, vectors, there, err);
    if (rc < 0)
        return (int)rc;
    return source->recipe ? transform_vectors(source, rows, ids, count, vectors, err) : 0;
}

/* Lists keys of a set in batches. */
typedef int (*vector_lister)(struct store *store, const struct vector_set *set, int64_t after_id,
                             struct store_key *keys, size_t max, wt_error *err);

/* Sets source->has of the listed rows to `former`. Rows are in order of id. former: `list` lists vectors of the
 * previous kind. In this case, also changes the generation of the rows, so that a later snapshot fetches their new
 * vectors. Returns 1 if any row was listed, 0 if not, or an error. */
static int mark_listed_rows(struct set_source *source, vector_lister list, bool former, wt_error *err)
{
    struct collection *collection = source->collection;
    struct store_key keys[MISSING_BATCH];
    int64_t after = 0;
    size_t row = 0;
    int count;
    do {
        count = list(collection->store, &source->set, after, keys, MISSING_BATCH, err);
        for (int i = 0; i < count; i++) {
            after = keys[i].id;
            while (row < collection->rows && collection->keys[row].id < after)
                row++;
            if (row == collection->rows || collection->keys[row].id != after)
                continue;
            source->has[row] = former;
            source->former += former;
            if (former)
                collection->keys[row].generation = wt__checksum(&collection->keys[row].generation, sizeof(uint64_t), 0);
        }
    } while (count == MISSING_BATCH);
    return count < 0 ? count : after > 0;
}

/* Fills source->has. A row has a vector if the store has a vector of the current or the previous kind for its tool. */
static int mark_set_vectors(struct set_source *source, wt_error *err)
{
    size_t rows = source->collection->rows;
    source->has = wt__alloc_array(rows, sizeof *source->has);
    WT_CHECK_ALLOC(source->has, err);
    memset(source->has, true, rows * sizeof *source->has);
    int rc = mark_listed_rows(source, wt__store_missing_vectors, false, err);
    if (rc > 0)
        rc = mark_listed_rows(source, wt__store_former_vectors, true, err);
    return rc < 0 ? rc : 0;
}

/* The vector sets that the recipes of this engine search: the sets of the tools' texts by the encoder and by the
 * fallback encoder, and one set per kind of trained recipe. */
struct set_list {
    struct set_source items[SNAPSHOT_MAX_SETS];
    struct vector_source sources[SNAPSHOT_MAX_SETS];
    size_t len;
};

static int add_vector_set(struct set_list *list, struct collection *collection, const struct encoder *encoder,
                          const struct trained_recipe *recipe, wt_error *err)
{
    struct set_source *item = &list->items[list->len];
    *item = (struct set_source){
        .collection = collection, .set = wt__engine_vectors(encoder, collection->engine), .recipe = recipe};
    list->sources[list->len++] = (struct vector_source){.model = recipe ? recipe->model : item->set.model_hash,
                                                        .kind = recipe ? recipe->kind : item->set.kind,
                                                        .dim = item->set.dim,
                                                        .fetch = fetch_set_vectors,
                                                        .context = item};
    int rc = mark_set_vectors(item, err);
    list->sources[list->len - 1].has = item->has;
    list->sources[list->len - 1].former = item->former;
    return rc;
}

static bool has_vector_set(const struct set_list *list, const struct trained_recipe *recipe)
{
    for (size_t i = 0; i < list->len; i++)
        if (strcmp(list->sources[i].kind, recipe->kind) == 0 && strcmp(list->sources[i].model, recipe->model) == 0)
            return true;
    return false;
}

static size_t count_set_vectors(const struct set_source *source, size_t rows)
{
    size_t count = 0;
    for (size_t row = 0; row < rows; row++)
        count += source->has[row];
    return count;
}

/* Adds the sets of the tools' texts: the set of the encoder, and the set of the fallback encoder while it has more
 * vectors or the encoder is not available. */
static int add_text_sets(struct set_list *list, struct collection *collection, wt_error *err)
{
    size_t count = 0;
    if (collection->encoder) {
        WT_TRY(add_vector_set(list, collection, collection->encoder, NULL, err));
        count = count_set_vectors(&list->items[0], collection->rows);
    }
    if (!collection->fallback || (collection->encoder && count == collection->rows))
        return 0;
    WT_TRY(add_vector_set(list, collection, collection->fallback, NULL, err));
    if (collection->encoder && count_set_vectors(&list->items[list->len - 1], collection->rows) <= count)
        free(list->items[--list->len].has);
    return 0;
}

static int list_vector_sets(struct set_list *list, struct collection *collection, wt_error *err)
{
    const struct trained *trained = collection->trained;
    WT_TRY(add_text_sets(list, collection, err));
    for (size_t i = 0; trained && i < RECIPES; i++) {
        const struct trained_recipe *recipe = &trained->recipes[i];
        bool plain = strcmp(recipe->kind, wt__document_kind) == 0;
        if (recipe->there && wt__retriever_uses(&recipe->retriever, SOURCE_DENSE) && !has_vector_set(list, recipe))
            WT_TRY(add_vector_set(list, collection, trained->encoder, plain ? NULL : recipe, err));
    }
    return 0;
}

static void set_list_dispose(struct set_list *list)
{
    for (size_t i = 0; i < list->len; i++)
        free(list->items[i].has);
}

static int make_index_snapshot(struct collection *collection, struct collection *known, const struct snapshot *previous,
                               struct snapshot **out, wt_error *err)
{
    const wt_engine *engine = collection->engine;
    WT_CLEANUP(set_list_dispose) struct set_list sets = {.len = 0};
    WT_TRY(wt__collect(collection, known, err));
    WT_TRY(list_vector_sets(&sets, collection, err));
    struct snapshot_content content = wt__collection_content(collection, collection->moment.state);
    content.sources = sets.sources;
    content.source_count = sets.len;
    return wt__snapshot_make(out, engine->keeps_derived ? engine->index_folder : "", engine->busy_ms, previous,
                             &content, err);
}

/* Reads the store and makes a snapshot. See build_snapshot_once. now: state of the store afterwards. */
static int read_snapshot(wt_engine *engine, bool held, struct collection *collection, struct collection *known,
                         struct snapshot **out, struct moment *now, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    const struct snapshot *previous =
        engine->index ? engine->index->snapshot : NULL; /* guarded by build_lock, which is held */
    WT_TRY(wt__open_reader(&reader, engine, err));
    collection->store = reader.store;
    if (previous)
        collection->kept = wt__kept_tools_new(known ? known->kept : NULL);
    if (held)
        WT_TRY(wt__store_read_begin(reader.store, err));
    WT_TRY(make_index_snapshot(collection, known, previous, out, err));
    return wt__moment_read(engine, reader.store, now, err);
}

/* Builds a snapshot in slices. *moved: the store changed meanwhile, so the snapshot was discarded. held: read in one
 * transaction, which prevents changes but blocks the commits of others. known: the previous collection, which the new
 * collection replaces. If there was an index before, keeps the tools in memory for the next build. */
static int build_snapshot_once(wt_engine *engine, bool held, struct collection *collection, struct collection *known,
                               struct index_handle *fresh, bool *moved, wt_error *err)
{
    struct moment now;
    int rc = read_snapshot(engine, held, collection, known, &fresh->snapshot, &now, err);
    fresh->moment = collection->moment;
    *moved = rc == 0 && now.state != collection->moment.state;
    if (*moved || rc < 0) {
        wt__snapshot_free(fresh->snapshot);
        fresh->snapshot = NULL;
    }
    return rc;
}

/* Returns the collection if the next collection can reuse its rows; otherwise frees the collection and returns NULL. */
static struct collection *reusable_collection(struct collection *known, const struct trained *trained)
{
    if (known && known->kept && known->trained == trained)
        return known;
    wt__collection_free(known);
    return NULL;
}

/* Builds a snapshot and retries if the store changed. Each attempt reuses the collection of the previous attempt. */
static int build_with_retries(wt_engine *engine, const struct collection *wanted, struct index_handle *fresh,
                              wt_error *err)
{
    struct collection *current = engine->index ? WT_TAKE(engine->index->collection) : NULL;
    struct collection *known = reusable_collection(current, wanted->trained);
    bool moved = true;
    int rc = 0;
    for (unsigned attempt = 1; rc == 0 && moved; attempt++) {
        struct collection *collection = wt__alloc_array(1, sizeof *collection);
        if (!collection) {
            rc = wt__fail_nomem(err);
            break;
        }
        *collection = *wanted;
        rc = build_snapshot_once(engine, attempt == BUILD_ATTEMPTS, collection, known, fresh, &moved, err);
        wt__collection_trim(collection);
        wt__collection_free(known);
        known = reusable_collection(collection, wanted->trained);
    }
    if (rc < 0) {
        wt__collection_free(known);
        return rc;
    }
    fresh->kept = wt__kept_tools_hold(known ? known->kept : NULL);
    fresh->collection = known;
    return 0;
}

/* Builds an index with the vectors of all available encoders and trained models, whether this query needs them or not,
 * so that the next query need not rebuild it. */
static int build_index(wt_engine *engine, struct progress *progress, struct index_handle *fresh, wt_error *err)
{
    struct collection wanted = {.engine = engine, .progress = progress};
    /* Ignore other errors here; callers that need an encoder or trained models report them. */
    if (wt__engine_encoder_locked(engine, progress, &wanted.encoder, NULL) == WT_ENOMEM ||
        wt__engine_fallback_encoder_locked(engine, &wanted.fallback, NULL) == WT_ENOMEM ||
        wt__engine_trained_locked(engine, progress, &wanted.trained, NULL) == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (wt__progress_phase(progress, "indexing", 0))
        return wt__fail_cancelled(err);
    return build_with_retries(engine, &wanted, fresh, err);
}

/* ---------------------------------------------------------------- current index */

static const struct vectors *index_vectors(const struct index_handle *index, const struct index_set *set)
{
    return wt__snapshot_vectors(index->snapshot, set->model, set->kind);
}

/* Returns the number of the set, or set_count if the index does not have it. */
static size_t find_set_number(const struct index_handle *index, const struct index_set *set)
{
    const struct snapshot *snapshot = index->snapshot;
    const struct vectors *vectors = index_vectors(index, set);
    size_t at = 0;
    while (at < snapshot->set_count && &snapshot->sets[at].vectors != vectors)
        at++;
    return at;
}

size_t wt__index_without_vector(struct index_handle *index, const struct index_set *set)
{
    const struct snapshot *snapshot = index->snapshot;
    size_t at = find_set_number(index, set);
    if (at == snapshot->set_count)
        return snapshot->rows;
    size_t missing = atomic_load(&index->without_vector[at]);
    if (missing != INDEX_UNCOUNTED)
        return missing;
    missing = 0;
    for (size_t row = 0; row < snapshot->rows; row++)
        missing += snapshot->sets[at].vectors.slot_of_row[row] == VECTOR_NONE;
    atomic_store(&index->without_vector[at], missing);
    return missing;
}

size_t wt__index_former_vectors(const struct index_handle *index, const struct index_set *set)
{
    size_t at = find_set_number(index, set);
    return at < index->snapshot->set_count ? index->snapshot->sets[at].former : 0;
}

static bool index_satisfies(const struct index_handle *index, const struct index_set *want,
                            const struct trained *labels)
{
    return index && (!want || index_vectors(index, want)) && (!labels || index->labels == labels);
}

static bool moment_covers(const struct moment *a, const struct moment *b)
{
    return a->generation >= b->generation && a->sums >= b->sums;
}

/* Returns the current index with a reference if it satisfies the request, else NULL. now: required state of the store;
 * if NULL, the index must include the changes of all returned calls. */
static struct index_handle *current_index(wt_engine *engine, const struct moment *now, const struct index_set *want,
                                          const struct trained *labels)
{
    pthread_mutex_lock(&engine->lock);
    struct index_handle *index = index_satisfies(engine->index, want, labels) ? engine->index : NULL;
    if (index && (now ? index->moment.state != now->state
                      : engine->unknown_change || index->snapshot->rows == 0 ||
                            !moment_covers(&index->moment, &engine->changed)))
        index = NULL;
    if (index)
        atomic_fetch_add(&index->references, 1);
    pthread_mutex_unlock(&engine->lock);
    return index;
}

static void set_flag(wt_engine *engine, bool *flag, bool value)
{
    pthread_mutex_lock(&engine->lock);
    *flag = value;
    pthread_mutex_unlock(&engine->lock);
}

static bool is_updating(wt_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool updating = engine->imports > 0 || engine->building;
    pthread_mutex_unlock(&engine->lock);
    return updating;
}

bool wt__engine_has_index(wt_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool exists = engine->index != NULL;
    pthread_mutex_unlock(&engine->lock);
    return exists;
}

static void note_changed_moment(wt_engine *engine, const struct moment *moment)
{
    pthread_mutex_lock(&engine->lock);
    struct moment *changed = &engine->changed;
    changed->generation = moment->generation > changed->generation ? moment->generation : changed->generation;
    changed->sums = moment->sums > changed->sums ? moment->sums : changed->sums;
    pthread_mutex_unlock(&engine->lock);
}

void wt__engine_keep_tools(wt_engine *engine)
{
    if (engine->view)
        return;
    pthread_mutex_lock(&engine->lock);
    struct index_handle *index = engine->index;
    bool wanted = index && !index->kept && index->snapshot->rows > 0;
    if (wanted)
        atomic_fetch_add(&index->references, 1);
    pthread_mutex_unlock(&engine->lock);
    if (!wanted)
        return;
    struct kept_tools *kept = wt__kept_tools_read(engine, index);
    pthread_mutex_lock(&engine->lock);
    if (!index->kept) {
        index->kept = kept;
        kept = NULL;
    }
    pthread_mutex_unlock(&engine->lock);
    wt__kept_tools_free(kept); /* not NULL if another import has set index->kept meanwhile */
    wt__index_release(index);
}

void wt__engine_begin_import(wt_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->imports++;
    pthread_mutex_unlock(&engine->lock);
    wt__engine_keep_tools(engine);
}

void wt__engine_end_import(wt_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->imports--;
    pthread_mutex_unlock(&engine->lock);
}

bool wt__engine_imports_alone(wt_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    bool alone = engine->imports <= 1;
    pthread_mutex_unlock(&engine->lock);
    return alone;
}

void wt__engine_changed(wt_engine *engine)
{
    struct moment now;
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__moment_read(engine, engine->store, &now, NULL);
    pthread_mutex_unlock(&engine->store_lock);
    if (rc == 0)
        note_changed_moment(engine, &now);
    else
        set_flag(engine, &engine->unknown_change, true);
}

/* ---------------------------------------------------------------- replacement */

static void free_index(struct index_handle *index)
{
    wt__snapshot_free(index->snapshot);
    free(index->label_rows);
    free(index->row_labels);
    wt__kept_tools_free(index->kept);
    wt__collection_free(index->collection);
    wt__tool_cache_free(index->tool_cache);
    wt__new_tools_free(index->new_tools);
    wt__filter_masks_free(index->masks);
    wt__bundles_free(index->bundles[0]);
    wt__bundles_free(index->bundles[1]);
    if (index->pool)
        index->release_pool(index->pool);
    free(index);
}

/* Replaces the current index. Requires engine->lock. */
static void replace_index(wt_engine *engine, struct index_handle *fresh)
{
    struct index_handle *old = engine->index;
    if (old) {
        old->next = engine->replaced;
        engine->replaced = old;
    }
    engine->index = fresh;
}

/* Frees the replaced indexes that are no longer in use. Returns true if others remain. Queries call this function only
 * after a build: unmapping a deleted file deletes its content, which waits for the disk. */
static bool free_replaced_indexes(wt_engine *engine)
{
    struct index_handle *unused = NULL;
    pthread_mutex_lock(&engine->lock);
    for (struct index_handle **at = &engine->replaced; *at;) {
        struct index_handle *index = *at;
        if (atomic_load(&index->references) > 1) {
            at = &index->next;
            continue;
        }
        *at = index->next;
        index->next = unused;
        unused = index;
    }
    bool remain = engine->replaced != NULL;
    pthread_mutex_unlock(&engine->lock);
    while (unused) {
        struct index_handle *index = unused;
        unused = index->next;
        free_index(index);
    }
    return remain;
}

static int map_label_rows(struct index_handle *fresh, const struct trained *labels, wt_error *err)
{
    fresh->labels = labels;
    if (!labels || labels->past.label_count == 0)
        return 0;
    fresh->label_rows = wt__alloc_array(labels->past.label_count, sizeof *fresh->label_rows);
    fresh->row_labels = wt__alloc_array(fresh->snapshot->rows, sizeof *fresh->row_labels);
    WT_CHECK_ALLOC(fresh->label_rows && fresh->row_labels, err);
    wt__past_requests_rows(&labels->past, fresh->snapshot->keys, fresh->snapshot->rows, fresh->label_rows,
                           fresh->row_labels);
    return 0;
}

/* Opens or builds the index of the state `now` and makes it the current index. Requires build_lock. */
static int refresh_index(wt_engine *engine, struct progress *progress, const struct moment *now,
                         const struct index_set *want, const struct trained *labels, struct index_handle **out,
                         wt_error *err)
{
    struct index_handle *fresh = calloc(1, sizeof *fresh);
    WT_CHECK_ALLOC(fresh, err);
    int rc = WT_ENOTFOUND;
    fresh->moment = *now;
    if (engine->index_folder[0] && now->state != engine->damaged)
        rc = wt__snapshot_open(&fresh->snapshot, engine->index_folder, now->state, wt__document_settings_key(), NULL);
    if (rc < 0 || !index_satisfies(fresh, want, NULL)) {
        wt__snapshot_free(fresh->snapshot);
        fresh->snapshot = NULL;
        rc = build_index(engine, progress, fresh, err);
    }
    if (!labels && engine->index) /* later queries will need the label rows again */
        labels = engine->index->labels;
    if (rc == 0)
        rc = map_label_rows(fresh, labels, err);
    if (rc == 0)
        rc = wt__new_tools_read(&fresh->new_tools, engine, fresh->snapshot, err);
    if (rc < 0) {
        free_index(fresh);
        return rc;
    }
    fresh->tool_cache = wt__tool_cache_new(fresh->snapshot->rows);
    for (size_t i = 0; i < SNAPSHOT_MAX_SETS; i++)
        atomic_init(&fresh->without_vector[i], INDEX_UNCOUNTED);
    atomic_init(&fresh->references, 2); /* one for the engine, one for the caller */
    fresh->made = (int64_t)time(NULL);
    pthread_mutex_lock(&engine->lock);
    replace_index(engine, fresh);
    pthread_mutex_unlock(&engine->lock);
    *out = fresh;
    return 0;
}

void wt__engine_replace_index(wt_engine *engine, struct index_handle *index)
{
    pthread_mutex_lock(&engine->lock);
    replace_index(engine, index);
    pthread_mutex_unlock(&engine->lock);
    free_replaced_indexes(engine);
}

void wt__engine_discard_index(wt_engine *engine, struct index_handle *index)
{
    if (engine->view) {
        engine->view->discard_index(engine, index);
        return;
    }
    pthread_mutex_lock(&engine->build_lock);
    pthread_mutex_lock(&engine->lock);
    bool current = engine->index == index; /* false if another thread has replaced it */
    if (current)
        replace_index(engine, NULL);
    pthread_mutex_unlock(&engine->lock);
    if (current && engine->index_folder[0] &&
        (!engine->keeps_derived || wt__snapshot_discard(engine->index_folder, engine->busy_ms, NULL) < 0))
        engine->damaged = index->moment.state;
    pthread_mutex_unlock(&engine->build_lock);
}

void wt__engine_drop_index(wt_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    replace_index(engine, NULL);
    pthread_mutex_unlock(&engine->lock);
    free_replaced_indexes(engine);
}

/* Reads the current state of the store. wait_ms: time to wait for a commit of another connection. */
static int read_current_moment(wt_engine *engine, unsigned wait_ms, struct moment *out, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    WT_TRY(wt__open_reader(&reader, engine, err));
    wt__store_set_wait(reader.store, wait_ms);
    WT_TRY(wt__moment_read(engine, reader.store, out, err));
    atomic_store_explicit(&engine->checked, (int64_t)time(NULL), memory_order_relaxed);
    return 0;
}

/* Returns the index of the newest catalogue, built if needed. */
static int open_newest_index(wt_engine *engine, struct progress *progress, const struct index_set *want,
                             const struct trained *labels, struct index_handle **out, wt_error *err)
{
    struct moment now;
    WT_TRY(wt__engine_lock_build(engine, progress, err));
    set_flag(engine, &engine->building, true);
    set_flag(engine, &engine->unknown_change, false); /* the state read below includes all changes so far */
    int rc = read_current_moment(engine, engine->busy_ms, &now, err);
    /* Another thread may have built the index meanwhile. */
    *out = rc == 0 ? current_index(engine, &now, want, labels) : NULL;
    if (rc == 0 && !*out)
        rc = refresh_index(engine, progress, &now, want, labels, out, err);
    if (rc < 0)
        set_flag(engine, &engine->unknown_change, true);
    set_flag(engine, &engine->building, false);
    pthread_mutex_unlock(&engine->build_lock);
    free_replaced_indexes(engine);
    return rc;
}

static int reject_empty_index(const wt_engine *engine, struct index_handle **index, wt_error *err)
{
    if ((*index)->snapshot->rows > 0)
        return 0;
    wt__index_release(*index);
    *index = NULL;
    return wt__fail(err, WT_EEMPTY, "the store %s holds no tools; add some with `whichtool add FILE`", engine->path);
}

int wt__engine_newest_index(wt_engine *engine, struct index_handle **out, wt_error *err)
{
    if (engine->view)
        return engine->view->index(engine, NULL, NULL, out, err);
    WT_TRY(open_newest_index(engine, NULL, NULL, NULL, out, err));
    note_changed_moment(engine, &(*out)->moment);
    /* Wait briefly for queries on the previous index. Those that ask a language model take longer; their index is freed
     * by a later build. */
    for (unsigned waited = 0; waited < REPLACED_WAIT_MS && free_replaced_indexes(engine); waited++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000L}, NULL);
    return reject_empty_index(engine, out, err);
}

int wt__engine_index(wt_engine *engine, struct progress *progress, const struct index_set *want,
                     const struct trained *labels, struct index_handle **out, wt_error *err)
{
    struct moment now;
    if (engine->view)
        return engine->view->index(engine, progress, want, out, err);
    if (engine->refresh)
        WT_TRY(engine->refresh(engine->refresher, progress, err));
    struct index_handle *index = current_index(engine, NULL, want, labels);
    int rc = 0;
    /* During an import of this engine, do not even read the state of the store: SQLite's allocator has one lock. */
    bool good = index && is_updating(engine);
    *out = NULL;
    if (!good) {
        rc = read_current_moment(engine, index ? 0 : engine->busy_ms, &now, err);
        /* If another process is committing, this query counts as earlier than the commit. */
        good = index && (rc == WT_EBUSY || (rc == 0 && (index->moment.state == now.state || is_updating(engine))));
    }
    if (good) {
        *out = index;
        return 0;
    }
    wt__index_release(index);
    if (rc == 0)
        rc = open_newest_index(engine, progress, want, labels, out, err);
    return rc < 0 ? rc : reject_empty_index(engine, out, err);
}

void wt__index_release(struct index_handle *index)
{
    if (index)
        atomic_fetch_sub(&index->references, 1);
}
