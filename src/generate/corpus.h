/* corpus.h: a tool of the store as a line of corpus.jsonl, in BEIR's layout (import/beir.c reads it). */
#ifndef WT_GENERATE_CORPUS_H
#define WT_GENERATE_CORPUS_H

#include "base/buffer.h"
#include "whichtool.h"

/* name: under which it stands there. Where that is not its own, metadata has its own as "original". Its _id is its id
 * in the store either way, so that judgements hold for both. */
void wt__corpus_line(const wt_tool *tool, const char *name, struct buffer *out);

#endif
