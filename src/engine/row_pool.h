/* row_pool.h: the tools of one generation of a shared catalogue, from which the indexes of views are built.
 *
 * A view (view.h) shows some of the tools. Its index must not depend on any other tool, so it cannot reuse the index of
 * the whole catalogue, whose statistics count all tools. It is built from the parts that belong to one tool each: the
 * words, the names, the key and the vectors. The pool has these parts for all tools, so that building the index of a
 * view reads neither the store nor the texts of its tools. Pools are immutable and reference-counted. */
#ifndef WT_ENGINE_ROW_POOL_H
#define WT_ENGINE_ROW_POOL_H

#include "base/map.h"
#include "engine/internal.h"

/* A provider with tools in the pool. */
struct pool_provider {
    uint32_t number; /* number in the store */
    struct str name;
};

struct row_pool {
    atomic_uint references;
    uint64_t serial; /* unique among the pools of a view base, from 1 */
    uint32_t rows;
    wt_engine *shared;          /* engine of the catalogue */
    struct index_handle *index; /* its index, held; row i of the pool is row i of this index */
    struct lexical_forward *words;
    uint64_t *names;                   /* entries of the rows' names (index/names.h), grouped by row */
    uint32_t *name_ends;               /* [rows] end of each row's entries */
    uint32_t *name_words;              /* [rows] words in the longest name of each row */
    uint64_t *copy_hashes;             /* [rows] wt__document_copy_hash */
    struct name_counts provider_names; /* names of all providers; its counts are unused */
    struct str *tool_names;            /* [rows] names without the provider */
    struct str *ids;                   /* [rows] "provider/name" */
    struct pool_provider *providers;   /* [provider_count] ascending by number */
    size_t provider_count;
    uint32_t *provider_rows; /* [rows] rows grouped by provider */
    uint32_t *provider_ends; /* [provider_count] end of each provider's rows */
    struct map by_id;        /* id -> first row with this id */
    uint32_t *same_id;       /* [rows] next row with the same id, or the number of rows: "a/b" + "c" is "a" + "b/c" */
    struct map by_provider;  /* name of a provider -> its index */
    struct arena arena;
    size_t bytes; /* memory that the pool uses, without the index */
};

/* Builds a pool of the current index of an engine. known: collection of the previous pool, replaced by that of the new
 * one, also on an error; *known may be NULL. Errors: those of building an index; WT_EBUSY if the store is newer than
 * the index. */
int wt__row_pool_build(struct row_pool **out, wt_engine *shared, struct index_handle *index, struct collection **known,
                       wt_error *err);
struct row_pool *wt__row_pool_hold(struct row_pool *pool);
void wt__row_pool_release(struct row_pool *pool); /* NULL is a no-op */

/* Orders two struct pool_provider by number. */
int wt__compare_pool_providers(const void *a, const void *b);
/* Returns the provider of a row, or NULL. */
const struct pool_provider *wt__row_pool_find_row_provider(const struct row_pool *pool, uint32_t row);
/* Returns the provider's name of a row, "" without one. */
struct str wt__row_pool_provider(const struct row_pool *pool, uint32_t row);
/* Returns the first row with this id, or the number of rows. same_id has the others. */
uint32_t wt__row_pool_find(const struct row_pool *pool, struct str id);
/* Returns the index of a provider, or provider_count. */
uint32_t wt__row_pool_find_provider(const struct row_pool *pool, struct str name);
/* Returns the rows of a provider by its index, [*count], ascending. */
const uint32_t *wt__row_pool_provider_rows(const struct row_pool *pool, uint32_t provider, size_t *count);

#endif
