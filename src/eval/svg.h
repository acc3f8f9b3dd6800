/* svg.h: charts as SVG inside an HTML page (text/html.h).
 *
 * Colours are classes that the page's style defines, so that one drawing does for light, dark and paper: s0 .. s3 for
 * series, ink, faint, grid. Every chart carries a title and a description, for those who hear the page. */
#ifndef WT_EVAL_SVG_H
#define WT_EVAL_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "eval/analysis.h"
#include "text/html.h"

enum svg_unit { UNIT_PERCENT, UNIT_COUNT, UNIT_PLAIN };

struct chart {
    const char *name;        /* unique on the page: letters, digits, '-' */
    const char *title;       /* what it shows */
    const char *description; /* in a sentence or two */
    const char *axis;        /* what the axis counts */
    enum svg_unit unit;
};

/* Bars to the right from 0, with whiskers where low < high. */
struct bar {
    const char *label;
    double value, low, high;
    unsigned series;
};
void wt__svg_bars(struct buffer *out, const struct chart *chart, const struct bar *bars, size_t count);

/* Boxes with whiskers, beside each other on one axis. */
struct box_row {
    const char *label;
    struct box box;
    unsigned series;
};
void wt__svg_boxes(struct buffer *out, const struct chart *chart, const struct box_row *rows, size_t count);

/* Columns of FAILURE_BINS: none, then tenths. */
void wt__svg_failures(struct buffer *out, const struct chart *chart, const size_t *bins, size_t tallest,
                      unsigned series);

void wt__svg_map(struct buffer *out, const struct chart *chart, const struct landscape *map);
/* What stands for a kind of point: a drawing as tall as text. */
void wt__svg_mark(struct buffer *out, enum point_kind kind);

/* Steps of an axis from low to high: 1, 2 or 5 times a power of ten, at most 7 of them. */
double wt__svg_step(double low, double high);

#endif
