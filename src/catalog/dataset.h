/* dataset.h: the questions and answers of a BEIR folder: queries.jsonl and qrels/SPLIT.tsv.
 *
 * Its third file, corpus.jsonl, is the catalogue's affair (the "beir" importer); here a tool is only its _id. */
#ifndef WT_CATALOG_DATASET_H
#define WT_CATALOG_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    DATASET_MAX_JUDGEMENTS = 20000000, /* rows of qrels/SPLIT.tsv */
    DATASET_MAX_GAIN = 1000000         /* a judgement's score lies in -DATASET_MAX_GAIN .. DATASET_MAX_GAIN */
};

/* What a person said of a tool for a query: relevant when gain > 0. */
struct judgement {
    struct str tool;
    int gain;
};

struct query {
    struct str id, text;
    const struct judgement *judgements; /* one a tool, in the order of the file */
    size_t judgement_count;
};

/* Every string lives as long as the data set. */
struct dataset {
    struct arena arena;
    const char *name;      /* last part of the folder's path */
    struct query *queries; /* those with a relevant tool, in the order of queries.jsonl */
    size_t len;
    size_t unknown_queries; /* named in the qrels, absent from queries.jsonl: left out */
    size_t barren_queries;  /* judged, but without one relevant tool: left out */
};

/* Reads dir/queries.jsonl and dir/qrels/SPLIT.tsv. Errors: WT_ENOTFOUND (with the splits in mind that usually are
 * there), WT_EFORMAT with file and line, WT_ETOOLONG, WT_EINVAL (a split that is no plain name), WT_ENOMEM. */
int wt__dataset_read(struct dataset *out, const char *dir, const char *split, wt_error *err);

/* The same from memory; the names stand in messages. The bytes are not kept. */
int wt__dataset_parse(struct dataset *out, struct str queries, const char *queries_name, struct str qrels,
                      const char *qrels_name, wt_error *err);

void wt__dataset_dispose(struct dataset *dataset);

#endif
