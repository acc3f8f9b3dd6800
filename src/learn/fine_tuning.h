/* fine_tuning.h: the lesson "encoder", in any of the ways of tuning.h. */
#ifndef WT_LEARN_FINE_TUNING_H
#define WT_LEARN_FINE_TUNING_H

#include "learn/learn.h"

int wt__lesson_encoder(struct training *training, wt_trained *out, wt_error *err);

#endif
