/* materialise.h: turns hits into public ones, with definitions and explanations. */
#ifndef WT_QUERY_MATERIALISE_H
#define WT_QUERY_MATERIALISE_H

#include "query/search.h"

/* Makes public hits in the search's arena. which [count]: positions among the search's hits, in the order of the
 * result. Skips tools removed meanwhile or over the budget. */
int wt__materialise_hits(struct search *search, const uint32_t *which, size_t count, bool explain,
                         const wt_hit *const **out, size_t *len, wt_error *err);

#endif
