/* materialise.h: hits as a caller sees them: with their tools' definitions, and with explanations. */
#ifndef WT_QUERY_MATERIALISE_H
#define WT_QUERY_MATERIALISE_H

#include "query/search.h"

/* out: an array in the search's arena, in the order of which [count], places among the search's hits. Tools that were
 * removed meanwhile are left out, and those that do not fit its budget. */
int wt__materialise_hits(struct search *search, const uint32_t *which, size_t count, bool explain,
                         const wt_hit *const **out, size_t *len, wt_error *err);

#endif
