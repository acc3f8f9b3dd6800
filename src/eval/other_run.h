/* other_run.h: rankings of the same queries by another program, read from a TREC run (eval/trec.h) and judged like
 * those of a recipe. */
#ifndef WT_EVAL_OTHER_RUN_H
#define WT_EVAL_OTHER_RUN_H

#include "eval/measure.h"

enum {
    OTHER_RUN_LINES_MAX = 20000000 /* per file; a file has at most WT_MAX_FILE_BYTES */
};

/* Ranks by score; equal scores by id in descending order, as trec_eval does. A query missing in the run has no hits.
 * The measurement's notice counts such queries, and tools missing in the engine's catalogue. Nothing is timed. *name:
 * label of the row, the last part of `path`, borrowed from it. Errors: WT_EFORMAT with file and line, WT_ENOTFOUND
 * (also if no line is about one of the queries), WT_ETOOLONG, WT_ENOMEM. */
int wt__measure_other_run(struct measurement *out, wt_engine *engine, const struct dataset *dataset,
                          const struct eval_plan *plan, const char *path, const char **name, wt_error *err);

#endif
