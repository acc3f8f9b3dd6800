/* segment.h: splits a request into sub-queries. "Find a flight to Oslo, then book a hotel near the airport" needs two
 * tools. Each sub-query is also searched by itself, so that one does not drown the other. */
#ifndef WT_RETRIEVE_SEGMENT_H
#define WT_RETRIEVE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    SUBQUERIES_MAX = 6,
    LONG_REQUEST = 1200 /* bytes: about the limit of an encoder with 256 tokens */
};

/* Cuts a request into sub-queries, which are views of it in order. Returns their number, at most SUBQUERIES_MAX: 0
 * without content words, 1 if it is not worth cutting. */
size_t wt__segment(struct str request, struct str subqueries[SUBQUERIES_MAX]);

/* Shortens a request above LONG_REQUEST (a mail, a log, minutes) to the sentences around the wishes near its two
 * ends. A wish is a question, or a clause with a verb in its base form ("fork the repository"). Sets *out to the
 * first sentences and to the last wish with the sentences around it, in the arena. Sets *out to any other request
 * unchanged. Errors: WT_ENOMEM. */
int wt__segment_wish(struct str *out, struct str request, struct arena *arena, wt_error *err);

/* Returns the sub-query without its leading stop words ("Can you please show me the rate" -> "rate"). A sub-query of
 * stop words only stays as it is. */
struct str wt__skip_stopwords(struct str subquery);

#endif
