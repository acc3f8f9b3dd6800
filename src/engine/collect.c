/* collect.c: reads all tools, or only the changed tools, into a collection.
 *
 * The tools are read in slices, and a writer may commit in between. So a row may hold newer content than its generation
 * says, but never older content. The next collection then reads the row again. If the state of the store has changed
 * meanwhile, index_handle.c discards the snapshot and collects again. */
#include "engine/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "catalog/names.h"
#include "encoder/model_dir.h"
#include "encoder/packed.h"
#include "engine/row_pool.h"
#include "retrieve/document.h"
#include "retrieve/tool_names.h"

enum {
    SLICE = 1024,  /* tools read by one statement */
    SLICE_FULL = 1 /* result of a visit that ends the slice */
};

static int grow_collection(struct collection *collection)
{
    size_t rows = collection->rows + 1;
    bool grown =
        wt__grow((void **)&collection->keys, &collection->key_capacity, rows, sizeof *collection->keys) == 0 &&
        wt__grow((void **)&collection->read, &collection->read_capacity, rows, sizeof *collection->read) == 0 &&
        wt__grow((void **)&collection->copy_hashes, &collection->copy_capacity, rows,
                 sizeof *collection->copy_hashes) == 0 &&
        (!collection->trained || wt__grow((void **)&collection->head_rows, &collection->head_capacity, rows,
                                          sizeof *collection->head_rows) == 0);
    return grown ? 0 : wt__fail_nomem(collection->err);
}

/* Writes the tool's id into collection->id and looks up its row of the trained head. */
static int collect_tool_id(struct collection *collection, const struct tool *tool)
{
    wt__buffer_clear(&collection->id);
    wt__tool_id(&collection->id, tool->provider, tool->name);
    if (collection->id.failed)
        return wt__fail_nomem(collection->err);
    if (collection->trained)
        collection->head_rows[collection->rows] =
            wt__mlc_row(&collection->trained->mlc, wt__buffer_view(&collection->id));
    return 0;
}

static int collect_tool_names(struct collection *collection, const struct tool *tool)
{
    struct names_builder *names = &collection->names;
    uint32_t most = names->words;
    names->words = 0;
    int rc = wt__tool_names_add(names, tool, (uint32_t)collection->rows, collection->err);
    collection->read[collection->rows].name_words = names->words;
    names->words = most > names->words ? most : names->words;
    return rc;
}

/* Reads a tool into the next row. */
static int collect_row(struct collection *collection, const struct store_key *key, const struct tool *tool)
{
    wt_error *err = collection->err;
    uint64_t named = 0;
    WT_TRY(grow_collection(collection));
    WT_TRY(wt__document_read(&collection->document, collection->analyser, tool, err));
    WT_TRY(wt__lexical_builder_add(collection->builder, collection->document.fields, err));
    WT_TRY(collect_tool_id(collection, tool));
    WT_TRY(collect_tool_names(collection, tool));
    wt__kept_tools_add(&collection->kept, tool);
    WT_TRY(wt__name_counts_add(&collection->providers, tool->provider, &named, collection->analyser,
                               &collection->provider_words, err));
    uint16_t words[ROW_WORDS_MAX];
    const struct row_tokens tokens = {
        words, wt__document_words(&collection->document, tool, &wt__encoder_packed(collection->word_encoder)->tokenizer,
                                  words)};
    WT_TRY(wt__row_words_add(&collection->words, tokens, err));
    size_t row = collection->rows++;
    collection->copy_hashes[row] = wt__document_copy_hash(&collection->document, tool);
    collection->read[row].generation = key->generation;
    collection->keys[row] = (struct snapshot_key){.id = key->id,
                                                  .generation = key->generation,
                                                  .provider = (uint32_t)key->provider,
                                                  .id_hash = wt__snapshot_id_hash(wt__buffer_view(&collection->id)),
                                                  .name_hash = wt__document_name_hash(tool->name),
                                                  .provider_hash = named,
                                                  .actions = wt__tool_actions(tool),
                                                  .verbs = wt__tool_verbs(tool),
                                                  .method_twin = wt__document_method_twin(tool)};
    return 0;
}

/* ---------------------------------------------------------------- reading all tools */

static int collect_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    struct collection *collection = context;
    int rc = collect_row(collection, key, tool);
    return rc == 0 && collection->rows % SLICE == 0 ? SLICE_FULL : rc;
}

/* Reads SLICE tools per statement, so that a writer may commit in between. */
static int collect_all_tools(struct collection *collection, wt_error *err)
{
    int rc;
    do {
        int64_t last = collection->rows > 0 ? collection->keys[collection->rows - 1].id : 0;
        rc = wt__store_each(collection->store, last, collect_tool, collection, err);
        if (rc == SLICE_FULL && wt__progress_step(collection->progress, SLICE))
            return wt__fail_cancelled(err);
    } while (rc == SLICE_FULL);
    return rc;
}

/* ---------------------------------------------------------------- reading changed tools */

struct collection_update {
    struct collection *collection, *known;
    size_t at;       /* current row of `known` */
    uint32_t *moved; /* [known->rows] new row of each; NAME_NO_ROW if the tool changed or is gone */
    struct arena arena;
};

/* Counts the provider of the current row. Only the first of several contiguous rows of a provider needs the provider's
 * name. */
static int count_copied_provider(struct collection_update *f, const struct snapshot_key *key)
{
    struct collection *collection = f->collection;
    const struct snapshot_key *last = collection->rows > 0 ? &collection->keys[collection->rows - 1] : NULL;
    uint64_t named;
    if (last && last->provider == key->provider) {
        wt__name_counts_again(&collection->providers, key->provider_hash);
        return 0;
    }
    return wt__name_counts_add(&collection->providers, wt__kept_tool(f->known->kept, f->at)->provider, &named,
                               collection->analyser, &collection->provider_words, collection->err);
}

/* Copies the current row of `known`. Copy groups and provider precisions are computed again later for all rows. */
static int copy_collected_row(struct collection_update *f)
{
    struct collection *collection = f->collection;
    const struct collection *known = f->known;
    WT_TRY(grow_collection(collection));
    WT_TRY(count_copied_provider(f, &known->keys[f->at]));
    WT_TRY(wt__lexical_builder_copy(collection->builder, known->builder, f->at, collection->err));
    const struct row_words words = wt__row_words_view(&known->words);
    WT_TRY(wt__row_words_add(&collection->words, wt__row_words(&words, (uint32_t)f->at), collection->err));
    size_t row = collection->rows++;
    wt__kept_tools_copy(&collection->kept, known->kept, f->at);
    collection->read[row] = known->read[f->at];
    collection->copy_hashes[row] = known->copy_hashes[f->at];
    collection->keys[row] = known->keys[f->at];
    collection->keys[row].generation = known->read[f->at].generation;
    if (collection->trained)
        collection->head_rows[row] = known->head_rows[f->at];
    if (known->read[f->at].name_words > collection->names.words)
        collection->names.words = known->read[f->at].name_words;
    f->moved[f->at] = (uint32_t)row;
    return 0;
}

/* Advances f->at to the key. Returns true if `known` has the tool and the tool is unchanged. */
static bool is_unchanged_tool(struct collection_update *f, const struct store_key *key)
{
    const struct collection *known = f->known;
    while (f->at < known->rows && known->keys[f->at].id < key->id)
        f->at++;
    return f->at < known->rows && known->keys[f->at].id == key->id && known->read[f->at].generation == key->generation;
}

/* Collects a slice of tools. Reads the changed tools from the store in one statement. */
static int collect_slice(struct collection_update *f, const struct store_key *keys, size_t count, wt_error *err)
{
    int64_t ids[SLICE];
    size_t changed = 0, next = 0, began = f->at;
    for (size_t i = 0; i < count; i++)
        if (!is_unchanged_tool(f, &keys[i]))
            ids[changed++] = keys[i].id;
    wt__arena_reset(&f->arena);
    struct tool *tools = wt__arena_array(&f->arena, struct tool, changed);
    WT_CHECK_ALLOC(tools, err);
    int rc = changed > 0 ? wt__store_get(f->collection->store, ids, changed, &f->arena, tools, err) : 0;
    f->at = began;
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        if (is_unchanged_tool(f, &keys[i]))
            rc = copy_collected_row(f);
        else if (tools[next++].name.len > 0) /* the name is empty if the tool was removed meanwhile */
            rc = collect_row(f->collection, &keys[i], &tools[next - 1]);
    }
    return rc < 0 ? rc : 0;
}

static int collect_changes(struct collection_update *f, wt_error *err)
{
    struct store_key keys[SLICE];
    int64_t after = 0;
    int count;
    for (size_t row = 0; row < f->known->rows; row++)
        f->moved[row] = NAME_NO_ROW;
    do {
        count = wt__store_keys(f->collection->store, after, keys, SLICE, err);
        if (count < 0)
            return count;
        if (count > 0) {
            WT_TRY(collect_slice(f, keys, (size_t)count, err));
            after = keys[count - 1].id;
        }
        if (count == SLICE && wt__progress_step(f->collection->progress, SLICE))
            return wt__fail_cancelled(err);
    } while (count == SLICE);
    bool copied = wt__names_builder_follow(&f->collection->names, &f->known->names, f->moved) == 0;
    return copied ? 0 : wt__fail_nomem(err);
}

static int collect_changed_tools(struct collection *collection, struct collection *known, wt_error *err)
{
    WT_AUTO_FREE uint32_t *moved = wt__alloc_array(known->rows, sizeof *moved);
    WT_CHECK_ALLOC(moved, err);
    struct collection_update f = {.collection = collection, .known = known, .moved = moved};
    int rc = collect_changes(&f, err);
    wt__arena_dispose(&f.arena);
    return rc;
}

/* ---------------------------------------------------------------- collection */

struct key_walk {
    struct collection *collection;
    size_t row;
};

/* Mixes the generation of a usage sum into the generation of its tool's row, because a changed sum changes the trained
 * vector. Usage sums and rows are both in the order of tool ids. */
static int mix_usage_generation(void *context, const struct usage_sum_key *key)
{
    struct key_walk *walk = context;
    struct collection *collection = walk->collection;
    while (walk->row < collection->rows && collection->keys[walk->row].id < key->tool)
        walk->row++;
    if (walk->row < collection->rows && collection->keys[walk->row].id == key->tool) {
        struct snapshot_key *row = &collection->keys[walk->row];
        const uint64_t both[] = {row->generation, key->generation};
        row->generation = wt__checksum(both, sizeof both, 0);
    }
    return 0;
}

/* Computes how precisely each provider's name identifies the provider among the words of all tools. */
static int weigh_provider_names(struct collection *collection, wt_error *err)
{
    struct lexical index;
    int rc = wt__lexical_view(&index, collection->lexical, collection->lexical_len, err);
    for (size_t row = 0; rc == 0 && row < collection->rows; row++) {
        struct snapshot_key *key = &collection->keys[row];
        bool same = row > 0 && collection->keys[row - 1].provider_hash == key->provider_hash;
        key->provider_precision = same ? collection->keys[row - 1].provider_precision
                                       : wt__name_precision(&collection->providers, key->provider_hash, &index);
    }
    return rc;
}

/* Computes what depends on all rows: the lexical index, the copies, and the precision of the providers' names. */
static int finish_collection(struct collection *collection, wt_error *err)
{
    WT_TRY(wt__lexical_builder_finish(collection->builder, &collection->lexical, &collection->lexical_len, err));
    WT_TRY(wt__copy_groups_build(&collection->copies, &collection->copy_count, collection->keys,
                                 collection->copy_hashes, collection->rows, err));
    return weigh_provider_names(collection, err);
}

int wt__collect(struct collection *collection, struct collection *known, wt_error *err)
{
    collection->err = err;
    WT_TRY(wt__analyser_open(&collection->analyser, err));
    WT_TRY(wt__encoder_open(&collection->word_encoder, MODEL_BUILT_IN, err));
    WT_TRY(known ? wt__lexical_builder_follow(&collection->builder, known->builder, err)
                 : wt__lexical_builder_new(&collection->builder, &wt__lexical_settings, err));
    WT_TRY(wt__moment_read(collection->engine, collection->store, &collection->moment, err));
    WT_TRY(known ? collect_changed_tools(collection, known, err) : collect_all_tools(collection, err));
    if (collection->trained) {
        struct vector_set set = wt__engine_usage_vectors(collection->trained->encoder, collection->engine);
        struct key_walk walk = {.collection = collection};
        WT_TRY(wt__store_each_usage_sum(collection->store, &set, mix_usage_generation, &walk, err));
    }
    return finish_collection(collection, err);
}

/* ---------------------------------------------------------------- rows of a pool */

/* Copies a row of the pool. Like copy_collected_row, but the pool does not change. */
static int copy_pool_row(struct collection *collection, const struct row_pool *pool, uint32_t from)
{
    const struct snapshot *whole = pool->index->snapshot;
    const struct snapshot_key *key = &whole->keys[from];
    WT_TRY(grow_collection(collection));
    const struct snapshot_key *last = collection->rows > 0 ? &collection->keys[collection->rows - 1] : NULL;
    if (last && last->provider == key->provider)
        wt__name_counts_again(&collection->providers, key->provider_hash);
    else
        WT_TRY(wt__name_counts_add_known(&collection->providers, &pool->provider_names, key->provider_hash,
                                         collection->err));
    WT_TRY(wt__row_words_add(&collection->words, wt__row_words(&whole->words, from), collection->err));
    size_t row = collection->rows++;
    for (uint32_t i = from > 0 ? pool->name_ends[from - 1] : 0; i < pool->name_ends[from]; i++)
        if (wt__names_builder_add(&collection->names, pool->names[i] >> (NAME_KIND_BITS + NAME_ROW_BITS),
                                  wt__name_kind(pool->names[i]), (uint32_t)row, pool->name_words[from]) < 0)
            return wt__fail_nomem(collection->err);
    collection->copy_hashes[row] = pool->copy_hashes[from];
    collection->keys[row] = *key;
    collection->keys[row].group = 0;
    return 0;
}

int wt__collect_pool_rows(struct collection *collection, const struct row_pool *pool, const uint32_t *rows,
                          size_t count, wt_error *err)
{
    collection->err = err;
    WT_TRY(wt__lexical_builder_from(&collection->builder, pool->words, rows, count, err));
    for (size_t i = 0; i < count; i++)
        WT_TRY(copy_pool_row(collection, pool, rows[i]));
    return finish_collection(collection, err);
}

struct snapshot_content wt__collection_content(struct collection *collection, uint64_t state)
{
    return (struct snapshot_content){
        .generation = state,
        .settings = wt__document_settings_key(),
        .keys = collection->keys,
        .rows = collection->rows,
        .lexical = collection->lexical,
        .lexical_len = collection->lexical_len,
        .names = wt__names_builder_finish(&collection->names),
        .copies = {collection->copies, collection->copy_count},
        .words = wt__row_words_view(&collection->words),
    };
}

void wt__collection_trim(struct collection *collection)
{
    wt__document_dispose(&collection->document);
    wt__token_list_dispose(&collection->provider_words);
    wt__name_counts_dispose(&collection->providers);
    wt__analyser_close(collection->analyser);
    wt__buffer_dispose(&collection->id);
    wt__encoder_close(collection->word_encoder);
    free(collection->lexical);
    free(collection->copies);
    collection->document = (struct document){.described = 0};
    collection->provider_words = (struct token_list){.len = 0};
    collection->providers = (struct name_counts){.len = 0};
    collection->analyser = NULL;
    collection->word_encoder = NULL;
    collection->lexical = NULL;
    collection->copies = NULL;
}

void wt__collection_free(struct collection *collection)
{
    if (!collection)
        return;
    wt__collection_trim(collection);
    wt__lexical_builder_free(collection->builder);
    wt__names_builder_dispose(&collection->names);
    wt__row_words_dispose(&collection->words);
    wt__kept_tools_free(collection->kept);
    free(collection->copy_hashes);
    free(collection->head_rows);
    free(collection->read);
    free(collection->keys);
    free(collection);
}
