/* page.h: computes the content of an evaluation's HTML page and writes the page. */
#ifndef WT_EVAL_PAGE_H
#define WT_EVAL_PAGE_H

#include "engine/engine.h"
#include "eval/measure.h"

struct page_source {
    wt_engine *engine;
    const struct dataset *dataset;
    const struct eval_plan *plan;
    const wt_eval_report *report;
    const struct measurement *measured; /* [rows] */
    uint64_t seed;
    size_t resamples;
};

/* Replaces the file atomically. Errors: those of encoding, WT_ECANCELLED, WT_EIO, ... */
int wt__page_write(const char *path, const struct page_source *source, struct progress *progress, wt_error *err);

#endif
