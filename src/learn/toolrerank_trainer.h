/* toolrerank_trainer.h: the lesson "toolrerank" (sections 3 and 4.1 of ToolRerank): the classifier of requests, which
 * tools training saw, and the settings of the rules by grid on dev, over the very pipeline that a query runs. */
#ifndef WT_LEARN_TOOLRERANK_TRAINER_H
#define WT_LEARN_TOOLRERANK_TRAINER_H

#include "learn/learn.h"

int wt__lesson_toolrerank(struct training *training, wt_trained *out, wt_error *err);

#endif
