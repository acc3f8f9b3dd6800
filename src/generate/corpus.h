/* corpus.h: a tool of the store as a line of corpus.jsonl, in BEIR's layout (read by catalog/import/beir.c). */
#ifndef WT_GENERATE_CORPUS_H
#define WT_GENERATE_CORPUS_H

#include "base/buffer.h"
#include "whichtool.h"

/* Appends the line. name: the title to write; if it is not the tool's own name, the own name goes into metadata as
 * "original". _id is always the tool's id in the store, so that judgements hold under both names. */
void wt__beir_write_tool(const wt_tool *tool, const char *name, struct buffer *out);

#endif
