/* other_run.h: somebody else's rankings of the same queries, read from a TREC run (eval/trec.h), and judged as a recipe
 * is. */
#ifndef WT_EVAL_OTHER_RUN_H
#define WT_EVAL_OTHER_RUN_H

#include "eval/measure.h"

enum {
    OTHER_RUN_LINES_MAX = 20000000 /* of one file, which has at most WT_MAX_FILE_BYTES */
};

/* Hits by score, and of equal scores the tool whose id is greater first, as trec_eval ranks; a query that the run does
 * not have has no hits; the measurement's notice tells of such, and of tools that the engine's catalogue lacks. *name:
 * what the row is called, the last part of the path, borrowed from it. Nothing is timed. WT_EFORMAT with file and line,
 * WT_ENOTFOUND (also where no line is of one of the queries), WT_ETOOLONG, WT_ENOMEM. */
int wt__measure_other_run(struct measurement *out, wt_engine *engine, const struct dataset *dataset,
                          const struct plan *plan, const char *path, const char **name, wt_error *err);

#endif
