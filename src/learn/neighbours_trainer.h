/* neighbours_trainer.h: the lesson "neighbours": past requests are kept with their tools, for retrieve/neighbours.h. */
#ifndef WT_LEARN_NEIGHBOURS_TRAINER_H
#define WT_LEARN_NEIGHBOURS_TRAINER_H

#include "learn/learn.h"

int wt__lesson_neighbours(struct training *training, wt_trained *out, wt_error *err);

#endif
