/* recorded.h: the store's recorded use as rows: each request gives one row for each tool it used. */
#ifndef WT_GENERATE_RECORDED_H
#define WT_GENERATE_RECORDED_H

#include "generate/catalogue.h"

/* Adds rows from up to `limit` successful usages, drawn by rng. Requests with the same words are merged, with the
 * tools of all. The list of a row will not hold the other tools of its request. Errors: WT_EEMPTY (no such usage),
 * those of wt_list_usage, WT_ECANCELLED, WT_ENOMEM. */
int wt__rows_add_recorded(struct choice_rows *rows, struct store_library *catalogue, size_t limit, struct rng *rng,
                          struct progress *progress, wt_error *err);

#endif
