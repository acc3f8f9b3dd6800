/* auto.h: the lesson "auto": which recipe serves this store best, by its dev requests. */
#ifndef WT_LEARN_AUTO_H
#define WT_LEARN_AUTO_H

#include "learn/learn.h"

int wt__lesson_auto(struct training *training, wt_trained *out, wt_error *err);

#endif
