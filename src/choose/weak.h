/* weak.h: hits that hardly anything speaks for. There is always a nearest tool, and a request for what the catalogue
 * has not gets five of them: each shares a word that many tools have ("send", "file"), and means something else. */
#ifndef WT_CHOOSE_WEAK_H
#define WT_CHOOSE_WEAK_H

#include "retrieve/retrieve.h"

/* Whether no more than one common word of the request, and no meaning, speaks for a hit; a name, past requests, or a
 * reranker that brought it in are more than that. */
bool wt__hit_is_weak(const struct retriever *retriever, const struct hit *hit);

#endif
