/* answerability.h: how well the chooser recognises requests that no tool can answer. Such requests come from two
 * sources: requests of the data set whose tools are removed together with their recorded use, and requests of another
 * data set. */
#ifndef WT_EVAL_ANSWERABILITY_H
#define WT_EVAL_ANSWERABILITY_H

#include "base/progress.h"
#include "catalog/dataset.h"

enum {
    ANSWERABILITY_FALSE_POSITIVES, /* share of answerable requests with no answer, at the default threshold of 5 % */
    ANSWERABILITY_REMOVED_AUROC,   /* area under the ROC curve, tools removed */
    ANSWERABILITY_REMOVED_RECALL,  /* share of those requests with no answer */
    ANSWERABILITY_OUT_OF_DOMAIN_AUROC, /* the same two figures for the other data set */
    ANSWERABILITY_OUT_OF_DOMAIN_RECALL,
    ANSWERABILITY_FIGURES
};
extern const char *const wt__answerability_names[ANSWERABILITY_FIGURES];

/* Fills the first *count figures: all, or all but the last two if out_of_domain is NULL. Uses the first `queries`
 * requests of the data set, and at most as many of out_of_domain. */
int wt__measure_answerability(double out[ANSWERABILITY_FIGURES], size_t *count, wt_engine *engine,
                              const struct dataset *dataset, size_t queries, const struct dataset *out_of_domain,
                              struct progress *progress, wt_error *err);

#endif
