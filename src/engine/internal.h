/* internal.h: collections (the inputs of snapshots), tools kept in memory, and the cache of tools.
 *
 * Analysing the words of the tools takes nine tenths of the time of building a snapshot. If the previous collection was
 * kept, the rows of unchanged tools are copied from it, and only new and changed tools are read. The resulting snapshot
 * is the same, to the byte, as after reading all tools. */
#ifndef WT_ENGINE_INTERNAL_H
#define WT_ENGINE_INTERNAL_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "catalog/tool.h"
#include "engine/engine.h"
#include "retrieve/document.h"
#include "retrieve/named_provider.h"

/* ---------------------------------------------------------------- collections */

/* Inputs of a row, needed to copy it into the next collection. */
struct row_source {
    uint64_t generation; /* generation of the tool in the store; snapshot_key.generation may also include usage sums */
    uint32_t name_words; /* words in the longest of the tool's names */
};

struct collection {
    wt_engine *engine;
    struct progress *progress;      /* may be NULL */
    struct store *store;            /* connection to read through */
    const struct encoder *encoder;  /* encoder of the tools' texts; NULL if it is not available */
    const struct encoder *fallback; /* fallback encoder, or NULL */
    const struct trained *trained;  /* trained models; NULL if nothing was trained */
    struct moment moment;
    size_t rows;
    struct snapshot_key *keys; /* [rows] */
    struct row_source *read;   /* [rows] */
    uint64_t *copy_hashes;     /* [rows] wt__document_copy_hash of each tool */
    int64_t *head_rows;        /* [rows] row of each tool in the trained head; NULL if nothing was trained */
    size_t key_capacity, read_capacity, copy_capacity, head_capacity;
    struct lexical_builder *builder;
    struct names_builder names;
    struct row_words_builder words;
    struct kept_tools *kept; /* NULL if not wanted or over the memory limit */

    /* Used only while collecting: */
    struct analyser *analyser;
    struct document document;
    struct name_counts providers;
    struct token_list provider_words;
    struct buffer id;             /* id of the current tool */
    struct encoder *word_encoder; /* built-in encoder, whose tokens are the words of rows */
    uint32_t *copies;             /* [copy_count] rows of all groups of exact copies */
    size_t copy_count;
    void *lexical; /* lexical index of the rows, [lexical_len] bytes */
    size_t lexical_len;
    wt_error *err;
};

/* Collects everything except vectors, which the snapshot fetches as needed. known: the previous collection, with the
 * same `trained` and with kept tools; NULL to read all tools. After the call, `known` can only be freed. */
int wt__collect(struct collection *collection, struct collection *known, wt_error *err);
struct row_pool;
/* Collects the rows of a pool (row_pool.h), [count], ascending. The result equals that of wt__collect on a store that
 * has only these tools. */
int wt__collect_pool_rows(struct collection *collection, const struct row_pool *pool, const uint32_t *rows,
                          size_t count, wt_error *err);
/* Returns the content of a snapshot of the collection, without vectors. Its arrays are those of the collection. state:
 * see struct moment. */
struct snapshot_content wt__collection_content(struct collection *collection, uint64_t state);
/* Frees what the next collection does not need. */
void wt__collection_trim(struct collection *collection);
void wt__collection_free(struct collection *collection); /* NULL is a no-op */

/* ---------------------------------------------------------------- kept tools */

/* Reads the tools of the index from the store. Returns NULL on any failure; queries then read the store, which is
 * slower. */
struct kept_tools *wt__kept_tools_read(wt_engine *engine, const struct index_handle *index);
/* Creates an empty list; NULL if out of memory. If `like` is not NULL, shares its texts, so that wt__kept_tools_copy
 * can copy from it. */
struct kept_tools *wt__kept_tools_new(const struct kept_tools *like);
/* Appends a tool; tools must come in row order. If out of memory, or if the tools exceed INDEX_KEPT_BYTES, frees *kept
 * and sets it to NULL. Does nothing if *kept is NULL. */
void wt__kept_tools_add(struct kept_tools **kept, const struct tool *tool);
/* Works like wt__kept_tools_add with a tool of `from`, whose texts *kept shares. */
void wt__kept_tools_copy(struct kept_tools **kept, const struct kept_tools *from, size_t row);
const struct tool *wt__kept_tool(const struct kept_tools *kept, size_t row);
/* Adds a reference. NULL is a no-op. */
struct kept_tools *wt__kept_tools_hold(struct kept_tools *kept);
void wt__kept_tools_free(struct kept_tools *kept); /* drops a reference; NULL is a no-op */

/* ---------------------------------------------------------------- cache of tools */

/* Tools that queries on an index have read. */
struct tool_cache;

/* Creates a cache for an index of this number of rows. Returns NULL if out of memory; all users of a cache accept
 * NULL. */
struct tool_cache *wt__tool_cache_new(size_t rows);
void wt__tool_cache_free(struct tool_cache *cache); /* NULL is a no-op */

#endif
