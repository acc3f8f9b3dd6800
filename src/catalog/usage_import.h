/* usage_import.h: reads recorded use from JSON Lines or a BEIR folder. docs/store.md is the user's description.
 *
 * The reader passes one draft after the other to `take`, in the order of the source. It does not know the catalogue;
 * the callback looks up the tools. Invalid input is an issue with its place, and skips one usage. */
#ifndef WT_CATALOG_USAGE_IMPORT_H
#define WT_CATALOG_USAGE_IMPORT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "catalog/usage.h"

struct usage_draft_tool {
    struct str name;   /* 1 to WT_MAX_USAGE_LABEL_BYTES */
    json_t *arguments; /* an object that `take` may change; NULL if not reported */
};

/* A usage in its source. Views last until take() returns. */
struct usage_draft {
    struct str request; /* checked with wt__usage_check_request */
    enum usage_outcome outcome;
    int64_t time;                         /* -1 if the source has no time */
    const struct usage_draft_tool *tools; /* [tool_count] 1 to WT_MAX_USAGE_TOOLS; 0 for the outcome of another usage */
    size_t tool_count;
    struct str client; /* checked with wt__usage_check_client; "" if absent */
    struct str key;    /* checked with wt__usage_check_key; "" if absent */
    struct str query;  /* _id in a BEIR folder, where names of tools are source ids; "" for JSON Lines */
    const char *file;
    size_t line, byte; /* line is 0 if unknown */
};

/* A negative result ends the import with that code. */
typedef int (*usage_take)(void *context, const struct usage_draft *draft, wt_error *err);

struct usage_import {
    usage_take take;
    void *context;
    struct progress *progress;
    bool strict;          /* the first issue fails the import with WT_EFORMAT */
    wt_add_issue *issues; /* the first WT_MAX_ISSUES */
    size_t issue_count;   /* number of issues kept */
    size_t skipped;       /* number of usages skipped */
    struct arena arena;   /* for the issues */
    size_t issue_capacity;
};

/* Reads usages. Errors: WT_EFORMAT (empty, a malformed data set, or an issue if strict), WT_ETOOLONG, WT_ECANCELLED,
 * WT_ENOMEM, those of take; for a path also WT_ENOTFOUND, WT_EIO, WT_EINVAL (the split is not a plain name). */
int wt__usage_import_bytes(struct usage_import *import, struct str bytes, const char *name, wt_error *err);
int wt__usage_import_path(struct usage_import *import, const char *path, const char *split, wt_error *err);
void wt__usage_import_dispose(struct usage_import *import);

/* Place of an issue. */
struct usage_place {
    const char *file;
    size_t line, byte;
    const char *pointer; /* JSON pointer, or "" */
};

int wt__usage_issue(struct usage_import *import, const struct usage_place *place, wt_error *err, const char *format,
                    ...) WT_PRINTF(4, 5);

#endif
