/* named.h: ranks the tools that a request names (named.c). */
#ifndef WT_RETRIEVE_NAMED_H
#define WT_RETRIEVE_NAMED_H

#include "retrieve/source.h"

/* Fills evidence `leads` and `named` if the request names tools. Must run after all other sources have scored. */
int wt__named_order(struct query *query, struct evidence *evidence, wt_error *err);

/* Fills the name fields of a hit. */
void wt__named_hit(const struct query *query, const struct evidence *evidence, const struct chosen_candidate *choice,
                   struct hit *out);

#endif
