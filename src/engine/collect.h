/* collect.h: what a snapshot is made of, read from the store.
 *
 * Reading a tool's words is nine tenths of making a snapshot. A collection therefore follows the one before, where that
 * was kept: rows whose tools have not changed since are copied, and the others read. What comes of it is the same, to
 * the byte, as of all tools read anew. */
#ifndef WT_ENGINE_COLLECT_H
#define WT_ENGINE_COLLECT_H

#include "base/buffer.h"
#include "engine/engine.h"
#include "retrieve/document.h"
#include "retrieve/named_provider.h"

/* What a row was read from, and what of it nothing else has. */
struct read_row {
    uint64_t generation; /* of the tool in the store; that of its key may be mixed with more */
    uint32_t name_words; /* of the tool's name that has most */
};

struct collection {
    wt_engine *engine;
    struct progress *progress;     /* of who waits for it; may be NULL */
    struct store *store;           /* read through this connection */
    const struct encoder *encoder; /* NULL: no vectors of descriptions */
    const struct encoder *standby; /* NULL: none */
    const struct trained *trained; /* NULL: no trained ones */
    struct moment moment;
    size_t rows;
    struct snapshot_key *keys; /* [rows] */
    struct read_row *read;     /* [rows] */
    uint64_t *copy_hashes;     /* [rows] */
    int64_t *head_rows;        /* [rows] of the trained head; NULL: nothing is trained */
    size_t key_capacity, read_capacity, copy_capacity, head_capacity;
    struct lexical_builder *builder;
    struct names_builder names;
    struct kept_tools *kept; /* NULL: not wanted, or too much */

    /* While it is made alone: */
    struct analyser *analyser;
    struct document document;
    struct name_counts providers;
    struct token_list provider_words;
    struct buffer id;
    uint32_t *copies; /* [copy_count] */
    size_t copy_count;
    void *lexical;
    size_t lexical_len;
    wt_error *err;
};

/* Everything but vectors, which are fetched only as far as they are new. known: a collection before, of the
 * same `trained` and with kept tools, of which only the rows are left afterwards; NULL: there is none. */
int wt__collect(struct collection *collection, struct collection *known, wt_error *err);
/* Leaves what another may follow. */
void wt__collection_rest(struct collection *collection);
void wt__collection_free(struct collection *collection); /* NULL is a no-op */

#endif
