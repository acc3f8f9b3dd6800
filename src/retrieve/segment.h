/* segment.h: the parts of a request. "Find a flight to Oslo, then book a hotel near the airport" asks for two tools;
 * each part is also searched by itself, so that the louder one does not drown the other. */
#ifndef WT_RETRIEVE_SEGMENT_H
#define WT_RETRIEVE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { PARTS_MAX = 6 };

/* Cuts request into parts, views of it in order. Returns how many: 0 when it has no content word, 1 when it is not
 * worth cutting, at most PARTS_MAX. */
size_t wt__segment(struct str request, struct str parts[PARTS_MAX]);

/* The part without the stop words that it begins with ("Can you please show me the rate" -> "rate"): the encoder reads
 * what is wanted, not how it is asked. A part of stop words alone stays as it is. */
struct str wt__skip_stopwords(struct str part);

#endif
