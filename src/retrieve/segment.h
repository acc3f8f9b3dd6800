/* segment.h: the sub-queries of a request. "Find a flight to Oslo, then book a hotel near the airport" asks for two
 * tools; each sub-query is also searched by itself, so that the louder one does not drown the other. */
#ifndef WT_RETRIEVE_SEGMENT_H
#define WT_RETRIEVE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum {
    SUBQUERIES_MAX = 6,
    LONG_REQUEST = 1200 /* bytes: about what an encoder of 256 tokens reads */
};

/* Cuts request into sub-queries, views of it in order. Returns how many: 0 when it has no content word, 1 when it is
 * not worth cutting, at most SUBQUERIES_MAX. */
size_t wt__segment(struct str request, struct str subqueries[SUBQUERIES_MAX]);

/* Of a request longer than that (a mail, a log, minutes) what is at its two ends, where it asks for something by a verb
 * there: its first sentences, its last such one with those around it, in the arena. Any other request whole.
 * Errors: WT_ENOMEM. */
int wt__segment_wish(struct str *out, struct str request, struct arena *arena, wt_error *err);

/* The sub-query without the stop words that it begins with ("Can you please show me the rate" -> "rate"): the encoder
 * reads what is wanted, not how it is asked. A sub-query of stop words alone stays as it is. */
struct str wt__skip_stopwords(struct str subquery);

#endif
