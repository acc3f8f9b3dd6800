/* named.h: where the tools that a request names stand (named.c). */
#ifndef WT_RETRIEVE_NAMED_H
#define WT_RETRIEVE_NAMED_H

#include "retrieve/source.h"

/* Gives evidence `leads` and `named` where the request has names, once all else is known. */
int wt__named_order(struct query *query, struct evidence *evidence, wt_error *err);

/* What of that concerns a hit. */
void wt__named_hit(const struct query *query, const struct evidence *evidence, const struct choice *choice,
                   struct hit *out);

#endif
