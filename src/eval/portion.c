/* portion.c: the portion is an ordinary data set, so that training needs no special case. qrels/train.tsv is written
 * last: without it the folder is not yet a data set. */
#include "eval/portion.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"

/* Sets *taken to true if a tool of the request has fewer than `most` usages, and then counts the request's usages.
 * uses: tool -> usages so far. */
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
        if (!so_far)
            return wt__fail_nomem(err);
        (*so_far)++;
    }
    return 0;
}

int64_t wt__portion_draw(const struct dataset *train, size_t most, uint64_t seed, bool *taken, wt_error *err)
{
    size_t *order = wt__alloc_array(train->len, sizeof *order);
    struct map uses = {0};
    struct rng rng;
    int64_t count = 0;
    int rc = order ? 0 : wt__fail_nomem(err);
    wt__rng_seed(&rng, seed);
    for (size_t i = 0; rc == 0 && i < train->len; i++) {
        size_t at = wt__rng_below(&rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; rc == 0 && i < train->len; i++) {
        rc = take_for_portion(&uses, &train->queries[order[i]], most ? most : SIZE_MAX, &taken[order[i]], err);
        count += rc == 0 && taken[order[i]];
    }
    wt__map_dispose(&uses);
    free(order);
    return rc < 0 ? rc : count;
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
    struct arena arena = {0};
    char *path = wt__path_join(&arena, folder, name);
    int rc = path && !content->failed ? wt__file_replace(path, content->ptr, content->len, err) : wt__fail_nomem(err);
    wt__arena_dispose(&arena);
    return rc;
}

/* Creates folder/qrels/, and folder/corpus.jsonl as a symbolic link to dir/corpus.jsonl. */
static int create_layout(const char *folder, const char *dir, wt_error *err)
{
    struct arena arena = {0};
    char *qrels = wt__path_join(&arena, folder, "qrels"), *link = wt__path_join(&arena, folder, "corpus.jsonl");
    char *corpus = wt__path_join(&arena, dir, "corpus.jsonl");
    int rc = qrels && link && corpus ? wt__make_folders(qrels, err) : wt__fail_nomem(err);
    if (rc == 0) {
        char *whole = realpath(corpus, NULL);
        if (!whole)
            rc = wt__fail_errno(err, "find", corpus);
        else if ((unlink(link) != 0 && errno != ENOENT) || symlink(whole, link) != 0)
            rc = wt__fail_errno(err, "link", link);
        free(whole);
    }
    wt__arena_dispose(&arena);
    return rc;
}

int wt__portion_write(const char *folder, const char *dir, const struct dataset *train, const bool *taken,
                      const struct dataset *dev, wt_error *err)
{
    struct buffer queries = {0}, train_rows = {0}, dev_rows = {0};
    struct map ids = {0}; /* ids of written queries, since a query may be in both splits */
    int rc = create_layout(folder, dir, err);
    for (size_t q = 0; rc == 0 && q < train->len; q++) {
        if (!taken[q])
            continue;
        append_portion_request(&queries, &train_rows, &train->queries[q]);
        if (!wt__map_insert(&ids, train->queries[q].id, 0, NULL))
            rc = wt__fail_nomem(err);
    }
    for (size_t q = 0; rc == 0 && dev && q < dev->len; q++) {
        struct buffer unwanted = {0};
        append_portion_request(wt__map_get(&ids, dev->queries[q].id) ? &unwanted : &queries, &dev_rows,
                               &dev->queries[q]);
        wt__buffer_dispose(&unwanted);
    }
    if (rc == 0)
        rc = replace_file_in(folder, "queries.jsonl", &queries, err);
    if (rc == 0 && dev)
        rc = replace_file_in(folder, "qrels/dev.tsv", &dev_rows, err);
    if (rc == 0)
        rc = replace_file_in(folder, "qrels/train.tsv", &train_rows, err);
    wt__map_dispose(&ids);
    wt__buffer_dispose(&queries);
    wt__buffer_dispose(&train_rows);
    wt__buffer_dispose(&dev_rows);
    return rc;
}
