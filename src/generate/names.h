/* names.h: wt_generate_names with a caller's own language model. */
#ifndef WT_GENERATE_NAMES_H
#define WT_GENERATE_NAMES_H

#include "llm/chat.h"
#include "whichtool.h"

/* model: NULL for the engine's. */
int wt__generate_names(wt_engine *engine, struct chat_model *model, const wt_names_options *options, wt_generated **out,
                       wt_error *err);

#endif
