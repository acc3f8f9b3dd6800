/* budget.h: limits hits to a number of tokens. Hits are taken in order. A hit whose definition does not fit is skipped,
 * and smaller hits after it may still fit.
 *
 * The number of tokens is an estimate: the bytes of the exported definition divided by four. If the model reads
 * definitions in another format than the requested one, that other format counts (wt__export_read). The tokenizer of
 * the model is unknown here. docs/find.md compares the estimate with a tokenizer. */
#ifndef WT_QUERY_BUDGET_H
#define WT_QUERY_BUDGET_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/tool.h"
#include "engine/notice.h"

enum { BUDGET_BYTES_PER_TOKEN = 4, BUDGET_NAMED = 3 /* names of skipped tools in the notice */ };

struct budget {
    size_t most;         /* maximum tokens; 0 for no limit */
    struct str format;   /* export format whose bytes count */
    size_t used;         /* tokens of the taken tools; may exceed `most` because of kept tools */
    size_t taken, over;  /* number of tools taken, and of tools skipped because they did not fit */
    struct buffer named; /* ids and tokens of the first BUDGET_NAMED skipped tools */
};

/* Starts a budget. format: as in wt_export, NULL for "openai". Errors: WT_EINVAL for an unknown format. */
int wt__budget_begin(struct budget *out, size_t most, const char *format, wt_error *err);
void wt__budget_dispose(struct budget *budget);

/* Appends the number and first ids of the skipped tools to the notice. Leaves the notice unchanged if every tool
 * fitted. */
int wt__budget_report(const struct budget *budget, struct notice *notice, struct arena *arena, wt_error *err);

#endif
