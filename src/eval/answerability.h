/* answerability.h: how well it is told that no tool fits. Requests that have no tool are made of those that have some,
 * by taking their tools away as if nobody had ever used them, and taken from another data set. */
#ifndef WT_EVAL_ANSWERABILITY_H
#define WT_EVAL_ANSWERABILITY_H

#include "base/progress.h"
#include "catalog/dataset.h"

enum {
    ANSWERABILITY_FALSE_POSITIVES,     /* share of requests with tools that get nothing, at the usual 5 % */
    ANSWERABILITY_REMOVED_AUROC,       /* area under the ROC curve, tools taken away */
    ANSWERABILITY_REMOVED_RECALL,      /* share of those that get nothing */
    ANSWERABILITY_OUT_OF_DOMAIN_AUROC, /* the same two of the other set's requests */
    ANSWERABILITY_OUT_OF_DOMAIN_RECALL,
    ANSWERABILITY_FIGURES
};
extern const char *const wt__answerability_names[ANSWERABILITY_FIGURES];

/* Fills the first *count figures: without another set (out_of_domain NULL) the last two are not there. queries: the
 * first so many of the data set, and at most as many of the other. */
int wt__measure_answerability(double out[ANSWERABILITY_FIGURES], size_t *count, wt_engine *engine,
                              const struct dataset *dataset, size_t queries, const struct dataset *out_of_domain,
                              struct progress *progress, wt_error *err);

#endif
