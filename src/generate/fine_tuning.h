/* fine_tuning.h: samples as conversations for fine-tuning a language model (ToolVerifier, figure 2 and A.5).
 *
 *   system      what it is to do
 *   user        User: INSTRUCTION        masked: nothing of it is learned
 *               ###
 *               Tool Choices:
 *               NAME = DESCRIPTION
 *               ...
 *               ###
 *   assistant   Thought: NOTE            learned
 *               Act: CALLTOOL["NAME"] */
#ifndef WT_GENERATE_FINE_TUNING_H
#define WT_GENERATE_FINE_TUNING_H

#include "base/buffer.h"
#include "generate/samples.h"
#include "llm/chat.h"
#include "whichtool.h"

/* Appends a row's line, and returns the characters of its messages. Every text of it is one line, so that none can be
 * taken for the layout. */
size_t wt__fine_tuning_row(const struct sample *sample, struct buffer *out);

/* wt_generate_fine_tuning with a language model of the caller's; NULL: the engine's. */
int wt__generate_fine_tuning(wt_engine *engine, struct chat_model *model, const wt_fine_tuning_options *options,
                             wt_generated **out, wt_error *err);

#endif
