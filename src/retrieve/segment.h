/* segment.h: splits a request into sub-queries. "Find a flight to Oslo, then book a hotel near the airport" needs two
 * tools. Each sub-query is also searched by itself, so that one does not drown the other. */
#ifndef WT_RETRIEVE_SEGMENT_H
#define WT_RETRIEVE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum { SUBQUERIES_MAX = 6 };

/* Cuts a request into sub-queries, which are views of it in order. Returns their number, at most SUBQUERIES_MAX: 0
 * without content words, 1 if it is not worth cutting. */
size_t wt__segment(struct str request, struct str subqueries[SUBQUERIES_MAX]);

/* True if a wish begins at the start of the text, or after a comma or another sign ("on Spotify, start a playlist"). A
 * wish is a question, or a clause with a verb in its base form. */
bool wt__has_wish(struct str text);

/* Returns the sub-query without its leading stop words ("Can you please show me the rate" -> "rate"). A sub-query of
 * stop words only stays as it is. */
struct str wt__skip_stopwords(struct str subquery);

#endif
