/* rectools.h: wt_generate_rectools and wt_generate_verdicts, with a language model of the caller's in place of the
 * engine's. */
#ifndef WT_GENERATE_RECTOOLS_H
#define WT_GENERATE_RECTOOLS_H

#include "llm/chat.h"
#include "whichtool.h"

/* model: NULL: the engine's. */
int wt__generate_rectools(wt_engine *engine, struct chat_model *model, const wt_rectools_options *options,
                          wt_generated **out, wt_error *err);

/* The same; engine may be NULL where a model is given. */
int wt__generate_verdicts(wt_engine *engine, struct chat_model *model, const wt_verdicts_options *options,
                          wt_generated **out, wt_error *err);

#endif
