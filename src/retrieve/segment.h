/* segment.h: the sub-queries of a request. "Find a flight to Oslo, then book a hotel near the airport" asks for two
 * tools; each sub-query is also searched by itself, so that the louder one does not drown the other. */
#ifndef WT_RETRIEVE_SEGMENT_H
#define WT_RETRIEVE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { SUBQUERIES_MAX = 6 };

/* Cuts request into sub-queries, views of it in order. Returns how many: 0 when it has no content word, 1 when it is
 * not worth cutting, at most SUBQUERIES_MAX. */
size_t wt__segment(struct str request, struct str subqueries[SUBQUERIES_MAX]);

/* The sub-query without the stop words that it begins with ("Can you please show me the rate" -> "rate"): the encoder
 * reads what is wanted, not how it is asked. A sub-query of stop words alone stays as it is. */
struct str wt__skip_stopwords(struct str subquery);

#endif
