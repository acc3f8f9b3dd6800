/* fine_tuning.h: samples as conversations for fine-tuning a language model (ToolVerifier, figure 2 and A.5).
 *
 *   system      the task
 *   user        User: INSTRUCTION        masked: excluded from the loss
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

/* Appends one row as a line and returns the number of characters in its messages. Each text is folded to one line,
 * so that it cannot be mistaken for the layout. */
size_t wt__fine_tuning_row(const struct choice_sample *sample, struct buffer *out);

/* Does the work of wt_generate_fine_tuning. model: NULL for the engine's. */
int wt__generate_fine_tuning(wt_engine *engine, struct chat_model *model, const wt_fine_tuning_options *options,
                             wt_generated **out, wt_error *err);

#endif
