/* collect.h: collects the content of a snapshot from the store.
 *
 * Analysing the words of the tools is nine tenths of building a snapshot. If the previous collection was kept, the rows
 * of unchanged tools are copied from it and only the others are read. The result is the same, to the byte, as reading
 * all tools. */
#ifndef WT_ENGINE_COLLECT_H
#define WT_ENGINE_COLLECT_H

#include "base/buffer.h"
#include "engine/engine.h"
#include "retrieve/document.h"
#include "retrieve/named_provider.h"

/* Inputs of a row, needed to copy it into the next collection. */
struct row_source {
    uint64_t generation; /* generation of the tool in the store; the key's may include usage */
    uint32_t name_words; /* words in the longest of the tool's names */
};

struct collection {
    wt_engine *engine;
    struct progress *progress;      /* may be NULL */
    struct store *store;            /* connection to read through */
    const struct encoder *encoder;  /* NULL for no vectors of the tools' texts */
    const struct encoder *fallback; /* fallback encoder, or NULL */
    const struct trained *trained;  /* NULL for no trained vectors */
    struct moment moment;
    size_t rows;
    struct snapshot_key *keys; /* [rows] */
    struct row_source *read;   /* [rows] */
    uint64_t *copy_hashes;     /* [rows] */
    int64_t *head_rows;        /* [rows] rows of the trained head; NULL if nothing is trained */
    size_t key_capacity, read_capacity, copy_capacity, head_capacity;
    struct lexical_builder *builder;
    struct names_builder names;
    struct kept_tools *kept; /* NULL if not wanted or over the memory limit */

    /* Used only while collecting: */
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

/* Collects everything except vectors, which the snapshot fetches as needed. known: the previous collection with the
 * same `trained` and with kept tools, or NULL; afterwards it can only be freed. */
int wt__collect(struct collection *collection, struct collection *known, wt_error *err);
/* Frees what the next collection does not need. */
void wt__collection_trim(struct collection *collection);
void wt__collection_free(struct collection *collection); /* NULL is a no-op */

#endif
