/* budget.h: as many hits as fit a number of tokens: each in its order, if its definition still fits beside those that
 * were taken; one that does not is passed over, so that one large definition does not end the list.
 *
 * Tokens are an estimate, whatever model is open here: the bytes of the definition as it is exported, by four; of a
 * form that answers a client's search, those of the definition that the model gets to read (wt__export_read). The
 * tokenizer that counts is that of the model that will read them, which nobody knows here; docs/retrieval.md says how
 * far the estimate is off by two of them. */
#ifndef WT_QUERY_BUDGET_H
#define WT_QUERY_BUDGET_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/tool.h"
#include "engine/notice.h"

enum { BUDGET_BYTES_PER_TOKEN = 4, BUDGET_NAMED = 3 /* of those that did not fit, in the notice */ };

struct budget {
    size_t most; /* tokens; 0: no budget, and none are counted */
    struct str format;
    size_t used, taken, over; /* tokens, tools that fit, and tools that did not */
    struct buffer named;
};

/* format: as in wt_export; NULL: "openai". WT_EINVAL: there is no such form. */
int wt__budget_begin(struct budget *out, size_t most, const char *format, wt_error *err);
void wt__budget_dispose(struct budget *budget);

/* 1 when the tool fits, which is counted then, 0 when it does not. *tokens: of its definition; 0 without a budget. */
int wt__budget_take(struct budget *budget, const struct tool *tool, size_t *tokens, wt_error *err);

/* Counts a tool that is in the prompt already, whether it fits or not. Before the others are taken. */
int wt__budget_keep(struct budget *budget, const struct tool *tool, size_t *tokens, wt_error *err);

/* Says which tools did not fit, behind what *notice says already. */
int wt__budget_tell(const struct budget *budget, struct notice *notice, struct arena *arena, wt_error *err);

#endif
