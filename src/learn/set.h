/* set.h: the chooser of sets (choose/chooser.h), fitted and calibrated on dev requests with the hits that a query will
 * get: those of `auto` as it was trained. */
#ifndef WT_LEARN_SET_H
#define WT_LEARN_SET_H

#include "learn/learn.h"

int wt__lesson_set(struct training *training, wt_trained *out, wt_error *err);

#endif
