/* rectools.h: wt_generate_rectools and wt_generate_verdicts with a caller's own language model. */
#ifndef WT_GENERATE_RECTOOLS_H
#define WT_GENERATE_RECTOOLS_H

#include "llm/chat.h"
#include "whichtool.h"

/* model: NULL for the engine's. */
int wt__generate_rectools(wt_engine *engine, struct chat_model *model, const wt_rectools_options *options,
                          wt_generated **out, wt_error *err);

/* model: NULL for the engine's. engine may be NULL if a model is given. */
int wt__generate_verdicts(wt_engine *engine, struct chat_model *model, const wt_verdicts_options *options,
                          wt_generated **out, wt_error *err);

#endif
