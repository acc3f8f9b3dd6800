/* page.h: gathers what the page of an evaluation shows, and writes it. */
#ifndef WT_EVAL_PAGE_H
#define WT_EVAL_PAGE_H

#include "engine/engine.h"
#include "eval/measure.h"

struct page_source {
    wt_engine *engine;
    const struct dataset *dataset;
    const struct plan *plan;
    const wt_eval_report *report;
    const struct measurement *measured; /* [rows] */
    uint64_t seed;
    size_t resamples;
};

/* The file is replaced in one step. Errors: those of encoding, WT_ECANCELLED, WT_EIO, ... */
int wt__page_write(const char *path, const struct page_source *source, struct progress *progress, wt_error *err);

#endif
