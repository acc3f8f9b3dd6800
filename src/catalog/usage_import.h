/* usage_import.h: recorded use from files: JSON Lines, or a BEIR folder. docs/store.md tells users the same.
 *
 * The reader hands out one draft after the other, in the order of the source, and does not know the catalogue: whoever
 * takes a draft looks up its tools. What makes no sense is an issue with its place, and costs one usage. */
#ifndef WT_CATALOG_USAGE_IMPORT_H
#define WT_CATALOG_USAGE_IMPORT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "catalog/usage.h"

struct usage_draft_tool {
    struct str name;   /* 1 to WT_MAX_USAGE_LABEL_BYTES */
    json_t *arguments; /* an object, which the taker may change; NULL: not told */
};

/* A usage as its source has it. Views last until take() returns. */
struct usage_draft {
    struct str request; /* has passed wt__usage_check_request */
    enum usage_outcome outcome;
    int64_t time;                         /* -1: the source does not say */
    const struct usage_draft_tool *tools; /* [tool_count] 1 to WT_MAX_USAGE_TOOLS; 0: how another usage ended */
    size_t tool_count;
    struct str client; /* has passed wt__usage_check_client; "": the source does not say */
    struct str key;    /* has passed wt__usage_check_key; "": the source does not say */
    struct str query;  /* of a BEIR folder: its _id, and the names are source ids; else "" */
    const char *file;
    size_t line, byte; /* line 0: unknown */
};

/* Negative ends the import with that code. */
typedef int (*usage_take)(void *context, const struct usage_draft *draft, wt_error *err);

struct usage_import {
    usage_take take;
    void *context;
    struct progress *progress;
    bool strict;          /* the first issue fails the import with WT_EFORMAT */
    wt_add_issue *issues; /* the first WT_MAX_ISSUES */
    size_t issue_count;   /* how many of them are kept */
    size_t skipped;       /* usages that were not taken */
    struct arena arena;   /* of the issues */
    size_t issue_capacity;
};

/* Errors: WT_EFORMAT (empty, a malformed data set, or an issue when strict), WT_ETOOLONG, WT_ECANCELLED, WT_ENOMEM,
 * those of take; of a path also WT_ENOTFOUND, WT_EIO, WT_EINVAL (the split is no plain name). */
int wt__usage_import_bytes(struct usage_import *import, struct str bytes, const char *name, wt_error *err);
int wt__usage_import_path(struct usage_import *import, const char *path, const char *split, wt_error *err);
void wt__usage_import_dispose(struct usage_import *import);

/* Where something is wrong. */
struct usage_place {
    const char *file;
    size_t line, byte;
    const char *pointer; /* JSON pointer; "" when none */
};

int wt__usage_issue(struct usage_import *import, const struct usage_place *place, wt_error *err, const char *format,
                    ...) WT_PRINTF(4, 5);

#endif
