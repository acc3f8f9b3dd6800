/* dpr.h: the lesson "dpr" (the dual encoder of ToolRerank, section 2.2, and of ToolBench): requests against the tools'
 * texts by the encoder as it is now, and nothing else. */
#ifndef WT_LEARN_DPR_H
#define WT_LEARN_DPR_H

#include "learn/learn.h"

int wt__lesson_dpr(struct training *training, wt_trained *out, wt_error *err);

#endif
