/* report_html.h: an evaluation as a self-contained HTML page: no scripts, no external resources, readable in light and
 * dark mode and on paper. */
#ifndef WT_EVAL_REPORT_HTML_H
#define WT_EVAL_REPORT_HTML_H

#include "base/bootstrap.h"
#include "base/buffer.h"
#include "eval/analysis.h"

/* Analyses of the tools' vectors by one encoder. */
struct encoder_view {
    const char *encoder;
    bool trained;
    struct vector_quality by[TOOL_VECTORS]; /* BY_USE and BY_BOTH are set only if there is recorded use */
    struct scatter_map map;
};

struct report_page {
    const wt_eval_report *report; /* has at least one row */
    const struct dataset *dataset;
    const struct eval_plan *plan;
    const struct bootstrap *intervals; /* [rows, metrics] of the means */
    const struct failures *failures;   /* [rows] */
    const char *length_unit;           /* unit of a request's length: "tokens" or "words" */
    const struct encoder_view *views;
    size_t view_count; /* 0 without an encoder */
    bool with_use;     /* true if usages were recorded */
    size_t usages;     /* recorded requests of the train split */
};

void wt__report_html(struct buffer *out, const struct report_page *page);

#endif
