/* view.h: engines that show some tools of another engine, the shared one.
 *
 * A view has an index of its own over its tools, built from the row pool (row_pool.h). So the statistics, the spelling
 * dictionary, the names, the providers and the filters of a view know only its tools: a search of a view gives the same
 * result, to the bit, as a search of a store that has only these tools. Vectors, definitions, the encoder and the
 * language model are those of the shared engine. Its trained models and recorded usage are not used.
 *
 *   view base    one per shared engine: the current pool
 *   view         an engine with a base and a selection of rows. Its own store is empty and read-only
 *
 * The index of a view follows the shared catalogue: a search of a view sees the changes that a search of the shared
 * engine would see.
 *
 * Lock order: the build_lock of a view, then the lock of the base, then the locks of the shared engine. */
#ifndef WT_ENGINE_VIEW_H
#define WT_ENGINE_VIEW_H

#include "engine/engine.h"
#include "engine/row_pool.h"

struct view_base;

/* Opens the base of views of an engine, which must outlive it. Errors: WT_ENOMEM. */
int wt__view_base_open(struct view_base **out, wt_engine *shared, wt_error *err);
/* Call it after closing all views of the base. NULL is a no-op. */
void wt__view_base_close(struct view_base *base);
wt_engine *wt__view_base_shared(const struct view_base *base);
/* Returns the pool of the current catalogue, with a reference, built if needed. want: as in wt__engine_index. Errors:
 * those of wt__engine_index; also WT_EEMPTY. */
int wt__view_base_pool(struct view_base *base, struct progress *progress, const struct index_set *want,
                       struct row_pool **out, wt_error *err);

/* Selects the rows of a view: sets bits, [rows of the pool], all 0 before. Returns 0 or an error. */
typedef int (*view_select)(void *context, const struct row_pool *pool, uint64_t *bits, wt_error *err);

/* Lists the rows of a pool that are selected, ascending. *rows: to be freed with free(). */
int wt__view_rows(view_select select, void *context, const struct row_pool *pool, uint32_t **rows, size_t *count,
                  wt_error *err);

struct engine_view_options {
    view_select select; /* called on any thread, by one thread at a time */
    void *context;
    void (*release)(void *context); /* called when the view is closed; may be NULL */
    const char *name;               /* name of the view in errors, such as "the tenant acme"; copied */
};

/* Opens a view, to be closed with wt_close. Also calls options->release on an error. Errors: WT_ENOMEM. */
int wt__view_engine_open(wt_engine **out, struct view_base *base, const struct engine_view_options *options,
                         wt_error *err);
/* Returns the memory of the current index of a view in bytes, 0 before the first search. */
size_t wt__view_engine_bytes(wt_engine *engine);
/* Returns the serial of the pool of the current index (row_pool.h), 0 before the first search. */
uint64_t wt__view_engine_serial(wt_engine *engine);
/* Frees the index of a view that no thread uses. The next search builds it again. */
void wt__view_engine_forget(wt_engine *engine);
/* Returns engine_view_options.context, NULL if the engine is not a view. */
void *wt__view_engine_context(const wt_engine *engine);

/* The whole of a view's data. */
struct engine_view_data {
    struct engine_view public; /* first member, so that a pointer to it is a pointer to this struct */
    struct view_base *base;
    struct engine_view_options options;
    size_t bytes; /* memory of the current index; guarded by wt_engine.lock */
};

static inline struct engine_view_data *wt__view_data(const wt_engine *engine)
{
    return (struct engine_view_data *)engine->view;
}

/* The functions of a view over its tools (view_tools.c). */
int wt__view_list(wt_engine *engine, const wt_list_options *options, wt_tools **out, wt_error *err);
int wt__view_get(wt_engine *engine, const char *name, wt_tools **out, wt_error *err);
int wt__view_resolve(wt_engine *engine, const char *name, int64_t *id, wt_error *err);
int wt__view_count(wt_engine *engine, const struct encoder *encoder, wt_catalog_info *info, wt_error *err);

#endif
