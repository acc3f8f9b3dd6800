/* recorded.h: the store's recorded use as rows: a request that used tools is an instruction for each of them. */
#ifndef WT_GENERATE_RECORDED_H
#define WT_GENERATE_RECORDED_H

#include "generate/catalogue.h"

/* Rows of up to `limit` usages that did not fail, drawn by rng; requests of the same words are one, with the tools of
 * all. No list of a row will hold another tool of its request. Errors: WT_EEMPTY (no such usage), those of
 * wt_list_usage, WT_ECANCELLED, WT_ENOMEM. */
int wt__recorded_rows(struct rows *rows, struct catalogue *catalogue, size_t limit, struct rng *rng,
                      struct progress *progress, wt_error *err);

#endif
