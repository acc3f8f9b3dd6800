/* dataset.h: reads the queries and judgements of a BEIR folder: queries.jsonl and qrels/SPLIT.tsv.
 *
 * The importer "beir" reads the third file, corpus.jsonl. This reader knows only the _id of a tool. */
#ifndef WT_CATALOG_DATASET_H
#define WT_CATALOG_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    DATASET_MAX_JUDGEMENTS = 20000000, /* maximum rows of qrels/SPLIT.tsv */
    DATASET_MAX_GAIN = 1000000         /* maximum absolute score of a judgement */
};

/* A judgement of a tool for a query. The tool is relevant if gain > 0. */
struct judgement {
    struct str tool;
    int gain;
};

struct query {
    struct str id, text;
    const struct judgement *judgements; /* one per tool, in the order of the file */
    size_t judgement_count;
};

/* Strings live as long as the data set. */
struct dataset {
    struct arena arena;
    const char *name;      /* last part of the folder's path */
    struct query *queries; /* queries with a relevant tool, in the order of queries.jsonl */
    size_t len;
    size_t unknown_queries; /* skipped, because in the qrels but not in queries.jsonl */
    size_t barren_queries;  /* skipped, because judged without a relevant tool */
};

/* Reads dir/queries.jsonl and dir/qrels/SPLIT.tsv. Errors: WT_ENOTFOUND, WT_EFORMAT with file and line, WT_ETOOLONG,
 * WT_EINVAL (the split is not a plain name), WT_EIO, WT_ENOMEM. */
int wt__dataset_read(struct dataset *out, const char *dir, const char *split, wt_error *err);

/* Parses the contents of the two files, which need not outlive the call. The names are for messages. out->name becomes
 * "". Errors: WT_EFORMAT with file and line, WT_ETOOLONG, WT_ENOMEM. */
int wt__dataset_parse(struct dataset *out, struct str queries, const char *queries_name, struct str qrels,
                      const char *qrels_name, wt_error *err);

void wt__dataset_dispose(struct dataset *dataset);

/* True if dir/qrels/SPLIT.tsv exists. */
bool wt__dataset_has_split(const char *dir, const char *split);

#endif
