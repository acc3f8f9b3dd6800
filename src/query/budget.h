/* budget.h: limits hits to a number of tokens. Hits are taken in order if their definition still fits. A large
 * definition is skipped and does not end the list.
 *
 * Tokens are an estimate: the bytes of the exported definition divided by four. In a format for answering a client's
 * search, only the part the model reads counts (wt__export_read). The tokenizer of the reading model is unknown here;
 * docs/retrieval.md compares the estimate with two tokenizers. */
#ifndef WT_QUERY_BUDGET_H
#define WT_QUERY_BUDGET_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/tool.h"
#include "engine/notice.h"

enum { BUDGET_BYTES_PER_TOKEN = 4, BUDGET_NAMED = 3 /* names of skipped tools in the notice */ };

struct budget {
    size_t most; /* tokens; 0 for no limit and no counting */
    struct str format;
    size_t used, taken, over; /* tokens, tools that fit, tools that did not */
    struct buffer named;      /* ids of the first skipped tools */
};

/* Starts a budget. format: as in wt_export, NULL for "openai". Errors: WT_EINVAL for an unknown format. */
int wt__budget_begin(struct budget *out, size_t most, const char *format, wt_error *err);
void wt__budget_dispose(struct budget *budget);

/* Appends the tools over the budget to the notice. */
int wt__budget_report(const struct budget *budget, struct notice *notice, struct arena *arena, wt_error *err);

#endif
