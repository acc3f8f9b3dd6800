/* weak.h: detects hits with hardly any evidence. A search always finds nearest tools, even if the catalogue has nothing
 * suitable. Such tools share a common word with the request ("send", "file") and do something else. */
#ifndef WT_CHOOSE_WEAK_H
#define WT_CHOOSE_WEAK_H

#include "retrieve/retrieve.h"

/* True if a hit has at most one common word of the request and is not near in meaning. A hit found by its name, by past
 * requests or by a reranker is not weak. */
bool wt__hit_is_weak(const struct retriever *retriever, const struct hit *hit);

#endif
