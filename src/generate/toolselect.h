/* toolselect.h: wt_generate_toolselect with a caller's own language model. */
#ifndef WT_GENERATE_TOOLSELECT_H
#define WT_GENERATE_TOOLSELECT_H

#include "llm/chat.h"
#include "whichtool.h"

int wt__generate_toolselect(wt_engine *engine, struct chat_model *model, const wt_toolselect_options *options,
                            wt_generated **out, wt_error *err);

#endif
