/* fitness.h: how well it is told that no tool fits. Requests that have no tool are made of those that have some, by
 * taking their tools away as if nobody had ever used them, and taken from another data set. */
#ifndef WT_EVAL_FITNESS_H
#define WT_EVAL_FITNESS_H

#include "base/progress.h"
#include "catalog/dataset.h"

enum {
    FITNESS_FALSE,        /* share of requests with tools that get nothing, at the usual 5 % */
    FITNESS_GONE_AREA,    /* area under the ROC curve, tools taken away */
    FITNESS_GONE_CAUGHT,  /* share of those that get nothing */
    FITNESS_FOREIGN_AREA, /* the same two of the other set's requests */
    FITNESS_FOREIGN_CAUGHT,
    FITNESS_FIGURES
};
extern const char *const wt__fitness_names[FITNESS_FIGURES];

/* Fills the first *count figures: without another set (foreign NULL) the last two are not there. queries: the first so
 * many of the data set, and at most as many of the other. */
int wt__measure_fitness(double out[FITNESS_FIGURES], size_t *count, wt_engine *engine, const struct dataset *dataset,
                        size_t queries, const struct dataset *foreign, struct progress *progress, wt_error *err);

#endif
