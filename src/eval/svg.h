/* svg.h: charts as SVG inside an HTML page (text/html.h).
 *
 * Colours are classes defined by the page's style, so that one drawing serves light mode, dark mode and paper: s0 .. s3
 * for series, ink, faint, grid. Every chart has a title and a description for screen readers. */
#ifndef WT_EVAL_SVG_H
#define WT_EVAL_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "eval/analysis.h"
#include "text/html.h"

enum svg_unit { UNIT_PERCENT, UNIT_COUNT, UNIT_PLAIN };

struct svg_chart {
    const char *name; /* unique on the page: letters, digits, '-' */
    const char *title;
    const char *description; /* one or two sentences */
    const char *axis;        /* label of the axis */
    enum svg_unit unit;
};

/* A horizontal bar from 0, with a whisker if low < high. */
struct svg_bar {
    const char *label;
    double value, low, high;
    unsigned series;
};
void wt__svg_bars(struct buffer *out, const struct svg_chart *chart, const struct svg_bar *bars, size_t count);

/* A box with whiskers; all boxes of a chart share one axis. */
struct svg_box {
    const char *label;
    struct box_stats box;
    unsigned series;
};
void wt__svg_boxes(struct buffer *out, const struct svg_chart *chart, const struct svg_box *rows, size_t count);

/* Draws a histogram of bins [FAILURE_BINS]: 0 %, then steps of 10 %. */
void wt__svg_failures(struct buffer *out, const struct svg_chart *chart, const size_t *bins, size_t tallest,
                      unsigned series);

void wt__svg_map(struct buffer *out, const struct svg_chart *chart, const struct scatter_map *map);
/* Draws the mark of a kind of point at text height, for the legend. */
void wt__svg_mark(struct buffer *out, enum point_kind kind);

/* Returns the step of an axis from low to high: 1, 2 or 5 times a power of ten, giving at most 7 steps. */
double wt__svg_step(double low, double high);

#endif
