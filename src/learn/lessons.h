/* lessons.h: the functions in the table of lessons.c. Each is documented in its own file. */
#ifndef WT_LEARN_LESSONS_H
#define WT_LEARN_LESSONS_H

#include "learn/learn.h"

int wt__lesson_encoder(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_dpr(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_tool2vec(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_mlc(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_neighbours(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_refiner(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_auto(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_set(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_cross(struct training *training, wt_trained *out, wt_error *err);
int wt__lesson_toolrerank(struct training *training, wt_trained *out, wt_error *err);

#endif
