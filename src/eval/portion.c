/* portion.c: writes the data sets that an evaluation needs: a portion of a train split, and all requests divided by
 * their sets of tools. They are ordinary data sets in BEIR layout, so that training and measuring need no special case.
 * The requests are written before qrels/, so a split that exists has its requests. */
#include "eval/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "base/sort.h"
#include "catalog/dataset.h"
#include "changes/corpus.h"

/* ---------------------------------------------------------------- portion of a train split */

/* Takes the request if one of its relevant tools has fewer than `most` usages: sets *taken to true and adds the
 * request's usages to `uses`. uses: tool -> usages so far. */
static int take_for_portion(struct map *uses, const struct query *query, size_t most, bool *taken, wt_error *err)
{
    *taken = false;
    for (size_t j = 0; j < query->judgement_count; j++) {
        const uint32_t *so_far = wt__map_get(uses, query->judgements[j].tool);
        *taken |= query->judgements[j].gain > 0 && (!so_far || *so_far < most);
    }
    for (size_t j = 0; *taken && j < query->judgement_count; j++) {
        if (query->judgements[j].gain <= 0)
            continue;
        uint32_t *so_far = wt__map_insert(uses, query->judgements[j].tool, 0, NULL);
        WT_CHECK_ALLOC(so_far, err);
        (*so_far)++;
    }
    return 0;
}

int64_t wt__portion_draw(const struct dataset *train, size_t most, uint64_t seed, bool *taken, wt_error *err)
{
    WT_AUTO_FREE size_t *order = wt__alloc_array(train->len, sizeof *order);
    WT_CLEANUP(wt__map_dispose) struct map uses = {0};
    struct rng rng;
    int64_t count = 0;
    WT_CHECK_ALLOC(order, err);
    wt__rng_seed(&rng, seed);
    for (size_t i = 0; i < train->len; i++) {
        size_t at = wt__rng_below(&rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < train->len; i++) {
        WT_TRY(take_for_portion(&uses, &train->queries[order[i]], most ? most : SIZE_MAX, &taken[order[i]], err));
        count += taken[order[i]];
    }
    return count;
}

static void append_portion_request(struct buffer *queries, struct buffer *qrels, const struct query *query)
{
    wt__buffer_text(queries, "{\"_id\":");
    wt__buffer_json(queries, query->id);
    wt__buffer_text(queries, ",\"text\":");
    wt__buffer_json(queries, query->text);
    wt__buffer_text(queries, "}\n");
    for (size_t j = 0; j < query->judgement_count; j++) {
        wt__buffer_str(qrels, query->id);
        wt__buffer_char(qrels, '\t');
        wt__buffer_str(qrels, query->judgements[j].tool);
        wt__buffer_printf(qrels, "\t%d\n", query->judgements[j].gain);
    }
}

static int replace_file_in(const char *folder, const char *name, const struct buffer *content, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *path = wt__path_join(&arena, folder, name);
    WT_CHECK_ALLOC(path && !content->failed, err);
    return wt__file_replace(path, content->ptr, content->len, err);
}

/* Creates folder/qrels/, and folder/corpus.jsonl as a symbolic link to dir/corpus.jsonl. */
static int create_layout(const char *folder, const char *dir, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *qrels = wt__path_join(&arena, folder, "qrels"), *link = wt__path_join(&arena, folder, "corpus.jsonl");
    char *corpus = wt__path_join(&arena, dir, "corpus.jsonl");
    WT_CHECK_ALLOC(qrels && link && corpus, err);
    WT_TRY(wt__make_folders(qrels, err));
    WT_AUTO_FREE char *target = realpath(corpus, NULL);
    if (!target)
        return wt__fail_errno(err, "find", corpus);
    if ((unlink(link) != 0 && errno != ENOENT) || symlink(target, link) != 0)
        return wt__fail_errno(err, "link", link);
    return 0;
}

int wt__portion_write(const char *folder, const char *dir, const struct dataset *train, const bool *taken,
                      const struct dataset *dev, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer queries = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer train_rows = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer dev_rows = {0};
    WT_CLEANUP(wt__map_dispose) struct map ids = {0}; /* ids of written queries, since a query may be in both splits */
    WT_TRY(create_layout(folder, dir, err));
    for (size_t q = 0; q < train->len; q++) {
        if (!taken[q])
            continue;
        append_portion_request(&queries, &train_rows, &train->queries[q]);
        WT_CHECK_ALLOC(wt__map_insert(&ids, train->queries[q].id, 0, NULL), err);
    }
    for (size_t q = 0; dev && q < dev->len; q++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer unwanted = {0};
        append_portion_request(wt__map_get(&ids, dev->queries[q].id) ? &unwanted : &queries, &dev_rows,
                               &dev->queries[q]);
    }
    WT_TRY(replace_file_in(folder, "queries.jsonl", &queries, err));
    if (dev)
        WT_TRY(replace_file_in(folder, "qrels/dev.tsv", &dev_rows, err));
    return replace_file_in(folder, "qrels/train.tsv", &train_rows, err);
}

/* ---------------------------------------------------------------- requests divided by their sets of tools */

#define DIVISION "whichtool divided by set 1\n"

enum { SPLIT_TRAIN, SPLIT_DEV, SPLIT_TEST, SPLITS };
static const char *const split_names[SPLITS] = {"train", "dev", "test"};

/* The sets of tools are divided into PARTS equal parts. TEST_PARTS parts are test, one is dev, and the others train. */
enum { PARTS = 10, TEST_PARTS = 2 };

struct division {
    struct dataset splits[SPLITS];
    size_t count;
    const struct query **queries; /* [count] requests of all splits; each id once */
    uint64_t *keys;               /* [count] keys of their sets of tools */
    char hash[65];                /* hash of all requests, hexadecimal */
};

static void dispose_division(struct division *division)
{
    for (size_t s = 0; s < SPLITS; s++)
        wt__dataset_dispose(&division->splits[s]);
    free(division->queries);
    free(division->keys);
}

static int compare_tool_ids(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    int order = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Computes the key of a request's set of relevant tools. */
static int hash_tool_set(const struct query *query, uint64_t *key, wt_error *err)
{
    struct sha256 sha;
    unsigned char digest[32];
    size_t count = 0;
    WT_AUTO_FREE struct str *tools = wt__alloc_array(query->judgement_count, sizeof *tools);
    WT_CHECK_ALLOC(tools, err);
    for (size_t j = 0; j < query->judgement_count; j++)
        if (query->judgements[j].gain > 0)
            tools[count++] = query->judgements[j].tool;
    qsort(tools, count, sizeof *tools, compare_tool_ids);
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < count; i++) {
        wt__sha256_update(&sha, tools[i].ptr, tools[i].len);
        wt__sha256_update(&sha, "\n", 1);
    }
    wt__sha256_end(&sha, digest);
    memcpy(key, digest, sizeof *key);
    return 0;
}

static int read_all_splits(struct division *out, const char *dir, wt_error *err)
{
    WT_CLEANUP(wt__map_dispose) struct map ids = {0};
    struct sha256 all;
    unsigned char digest[32];
    size_t most = 0;
    for (size_t s = 0; s < SPLITS; s++)
        if (wt__dataset_has_split(dir, split_names[s])) {
            WT_TRY(wt__dataset_read(&out->splits[s], dir, split_names[s], err));
            most += out->splits[s].len;
        }
    out->queries = wt__alloc_array(most, sizeof *out->queries);
    out->keys = wt__alloc_array(most, sizeof *out->keys);
    WT_CHECK_ALLOC(out->queries && out->keys, err);
    wt__sha256_begin(&all);
    wt__sha256_update(&all, DIVISION, sizeof DIVISION - 1);
    for (size_t s = 0; s < SPLITS; s++)
        for (size_t q = 0; q < out->splits[s].len; q++) {
            const struct query *query = &out->splits[s].queries[q];
            bool added = false;
            WT_CHECK_ALLOC(wt__map_insert(&ids, query->id, 0, &added), err);
            if (!added)
                continue;
            WT_TRY(hash_tool_set(query, &out->keys[out->count], err));
            wt__sha256_update(&all, query->id.ptr, query->id.len);
            wt__sha256_update(&all, query->text.ptr, query->text.len);
            wt__sha256_update(&all, &out->keys[out->count], sizeof *out->keys);
            out->queries[out->count++] = query;
        }
    wt__sha256_end(&all, digest);
    wt__sha256_hex(digest, out->hash);
    return 0;
}

/* Returns the split of a set of tools. keys: [count] keys of all sets, ascending. */
static size_t split_of_set(const uint64_t *keys, size_t count, uint64_t key)
{
    size_t part = wt__lower_bound_u64(keys, count, key) * PARTS / count;
    return part < TEST_PARTS ? SPLIT_TEST : part == TEST_PARTS ? SPLIT_DEV : SPLIT_TRAIN;
}

static int write_division(const struct division *division, const char *dir, const char *folder, wt_error *err)
{
    struct buffer queries = {0}, rows[SPLITS] = {{0}};
    WT_AUTO_FREE uint64_t *keys = wt__alloc_array(division->count, sizeof *keys);
    WT_CHECK_ALLOC(keys, err);
    memcpy(keys, division->keys, division->count * sizeof *keys);
    size_t sets = wt__sort_unique_u64(keys, division->count);
    for (size_t q = 0; q < division->count; q++)
        append_portion_request(&queries, &rows[split_of_set(keys, sets, division->keys[q])], division->queries[q]);
    int rc = create_layout(folder, dir, err);
    if (rc == 0)
        rc = replace_file_in(folder, "queries.jsonl", &queries, err);
    for (size_t s = 0; s < SPLITS; s++) {
        char name[32];
        snprintf(name, sizeof name, "qrels/%s.tsv", split_names[s]);
        if (rc == 0 && rows[s].len > 0)
            rc = replace_file_in(folder, name, &rows[s], err);
        wt__buffer_dispose(&rows[s]);
    }
    wt__buffer_dispose(&queries);
    return rc;
}

int wt__divide_by_set(const char *dir, const char *cache, struct arena *arena, const char **out, wt_error *err)
{
    WT_CLEANUP(dispose_division) struct division division = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0};
    WT_TRY(read_all_splits(&division, dir, err));
    if (division.count == 0)
        return wt__fail(err, WT_EEMPTY, "%s has no request with a relevant tool", dir);
    if (!cache)
        WT_TRY(wt__corpus_cache_folder(&cache, arena, err));
    size_t last = SPLITS;
    while (last > 0 && division.splits[last - 1].len == 0)
        last--;
    wt__buffer_printf(&path, "%s/%s.wt-sets/%s-by-set", cache, division.hash, division.splits[last - 1].name);
    *out = path.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&path));
    WT_CHECK_ALLOC(*out, err);
    return write_division(&division, dir, *out, err);
}

int wt__mark_unseen_sets(const struct dataset *dataset, size_t count, const struct dataset *past, bool *unseen,
                         wt_error *err)
{
    WT_AUTO_FREE uint64_t *keys = wt__alloc_array(past->len, sizeof *keys);
    WT_CHECK_ALLOC(keys, err);
    for (size_t q = 0; q < past->len; q++)
        WT_TRY(hash_tool_set(&past->queries[q], &keys[q], err));
    size_t sets = wt__sort_unique_u64(keys, past->len);
    for (size_t q = 0; q < count; q++) {
        uint64_t key;
        WT_TRY(hash_tool_set(&dataset->queries[q], &key, err));
        size_t at = wt__lower_bound_u64(keys, sets, key);
        unseen[q] = at == sets || keys[at] != key;
    }
    return 0;
}
