/* report_html.h: an evaluation as one page: no script, nothing fetched, readable in light, dark and on paper. */
#ifndef WT_EVAL_REPORT_HTML_H
#define WT_EVAL_REPORT_HTML_H

#include "base/bootstrap.h"
#include "base/buffer.h"
#include "eval/analysis.h"

/* How the tools stand to the requests by one encoder. */
struct view_of_tools {
    const char *encoder;
    bool trained;
    struct standing_quality by[STANDINGS]; /* use and both only where there is recorded use */
    struct landscape map;
};

struct page {
    const wt_eval_report *report; /* with a row at least */
    const struct dataset *dataset;
    const struct plan *plan;
    const struct bootstrap *intervals; /* [rows, metrics] of the means */
    const struct failures *failures;   /* [rows] */
    const char *length_unit;           /* what a request's length was counted in: "tokens", "words" */
    const struct view_of_tools *views;
    size_t view_count; /* 0: there was no encoder */
    bool with_use;     /* usages were recorded */
    size_t usages;     /* requests of the train split that were recorded */
};

void wt__report_html(struct buffer *out, const struct page *page);

#endif
