/* tool_reader.h: the tools of a snapshot's rows, out of the engine's store, for what reads them on a query's way. */
#ifndef WT_ENGINE_TOOL_READER_H
#define WT_ENGINE_TOOL_READER_H

#include "engine/engine.h"
#include "rerank/reranker.h"

struct store_tools {
    wt_engine *engine;
    const struct index_handle *index; /* of the query */
};

/* Borrows it. */
struct tool_reader wt__store_reader(struct store_tools *tools);

#endif
