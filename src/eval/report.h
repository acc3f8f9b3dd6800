/* report.h: the HTML page of an evaluation, and its parts: the vectors, the analyses, the projection and the charts.
 * The analyses repeat those of the Tool2Vec paper (table A.3, appendix B, figure 3). */
#ifndef WT_EVAL_REPORT_H
#define WT_EVAL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "catalog/dataset.h"
#include "engine/engine.h"
#include "eval/internal.h"
#include "text/html.h"

/* ---------------------------------------------------------------- input of the analyses */

/* The vectors for the analyses, all from one encoder: requests, and for each tool its description and its use. A vector
 * has length one, or is zero if it is missing. */
struct analysis_input {
    struct arena arena;
    const char *encoder; /* name of the encoder */
    size_t dim;          /* D */
    size_t request_count;
    const struct query *queries; /* [request_count], borrowed from the data set */
    float *requests;             /* [request_count, D] */
    size_t *gold_starts;         /* [request_count + 1] indexes into gold */
    uint32_t *gold;              /* rows of relevant tools; UINT32_MAX if the tool is not in the catalogue */
    size_t tool_count;           /* M */
    struct str *names;           /* [M] source ids; the name of a tool without a source id */
    float *descriptions;         /* [M, D] */
    float *uses;                 /* [M, D] */
    uint32_t *use_counts;        /* [M] recorded usages */
};

/* Reads the first `count` requests of the data set and every tool of the engine. Computes missing vectors. */
int wt__analysis_input_read(struct analysis_input *out, wt_engine *engine, const struct encoder *encoder,
                            const struct dataset *dataset, size_t count, struct progress *progress, wt_error *err);
void wt__analysis_input_dispose(struct analysis_input *input);

/* ---------------------------------------------------------------- distributions */

struct mean_deviation {
    size_t count;
    double mean, deviation; /* standard deviation of the population: the sum of squares is divided by count */
};
struct mean_deviation wt__mean_deviation(const double *values, size_t count);

/* Returns the quantile at `share` in 0..1, interpolated linearly between the two values around share * (count - 1).
 * sorted: [count], ascending. Returns 0 if count is 0. */
double wt__quantile(const double *sorted, size_t count, double share);

/* Quartiles and whiskers. A whisker ends at the last value within 1.5 interquartile ranges of the box (Tukey). */
struct box_stats {
    size_t count, outliers;                 /* outliers: values outside the whiskers */
    double low, first, median, third, high; /* ends of the whiskers, and quartiles */
};
/* Sorts values [count] in place. */
struct box_stats wt__box_stats(double *values, size_t count);

/* ---------------------------------------------------------------- failures (appendix B) */

enum { FAILURE_BINS = 11 }; /* 0 %, up to 10 %, up to 20 %, ... */

struct tool_failures {
    struct str tool;
    size_t wanted, missed; /* wanted: requests that need the tool; missed: how many of them miss the tool */
};

struct failures {
    struct tool_failures *tools; /* relevant tools, in the order of the requests; in the arena */
    size_t tool_count;
    struct mean_deviation share; /* missed / wanted, over tools */
    size_t bins[FAILURE_BINS];
    bool *failed;                        /* [queries] true if a relevant tool was missed */
    struct mean_deviation failed_length; /* lengths of the requests with a missed tool */
    struct mean_deviation found_length;  /* lengths of the other requests */
};

/* missed: from struct measurement. lengths: [queries]. */
int wt__count_failures(struct failures *out, const struct dataset *dataset, size_t queries, const bool *missed,
                       const double *lengths, struct arena *arena, wt_error *err);

/* ---------------------------------------------------------------- descriptions against use (A.3, figure 3) */

/* Vector used for a tool: of its texts, of the requests that used it, or the normalised sum of both. */
enum tool_vector { BY_DESCRIPTION, BY_USE, BY_BOTH, TOOL_VECTORS };

enum { VECTOR_CUTOFFS = 3 };

struct vector_quality {
    size_t tools; /* number of tools with a vector of this kind; other tools cannot be found */
    double recall[VECTOR_CUTOFFS], ndcg[VECTOR_CUTOFFS];
    struct box_stats used, unused; /* cosines of a request with the tools it used, and with the others */
};

/* seed: for sampling unused tools if there are more than a million pairs. */
int wt__judge_tool_vectors(struct vector_quality *out, const struct analysis_input *input, enum tool_vector kind,
                           uint64_t seed, wt_error *err);

/* ---------------------------------------------------------------- the map (figure 3) */

enum point_kind { POINT_REQUEST, POINT_USE, POINT_DESCRIPTION, POINT_KINDS };
enum { MAP_POINTS = 500 }; /* maximum per kind */

struct scatter_map {
    struct point {
        double x, y;
        enum point_kind kind;
        struct str text; /* the request, or the tool's id */
    } * points;
    size_t count, of_kind[POINT_KINDS];
    double nearest[POINT_KINDS][POINT_KINDS]; /* [a][b]: share of points of kind a whose nearest point is of kind b */
};

int wt__scatter_map(struct scatter_map *out, const struct analysis_input *input, uint64_t seed, struct arena *arena,
                    struct progress *progress, wt_error *err);

/* ---------------------------------------------------------------- projection */

/* Projection of high-dimensional points onto the plane.
 *
 *   PCA     the two directions of largest variance
 *   t-SNE   keeps neighbours together (van der Maaten & Hinton, Visualizing Data using t-SNE, 2008)
 *
 * t-SNE is exact, so its time grows with the square of the number of points. It is meant for up to about 1,500 points.
 * It starts from PCA. */

/* points [count, D]; out [count, 2]. seed: for the initial directions of the power iteration. Errors: WT_ENOMEM. */
int wt__pca(double *out, const float *points, size_t count, size_t dim, uint64_t seed, wt_error *err);

/* Takes the arguments of wt__pca; progress may be NULL. Fewer than 5 points get the result of PCA. Errors: WT_ENOMEM,
 * WT_ECANCELLED. */
int wt__tsne(double *out, const float *points, size_t count, size_t dim, uint64_t seed, struct progress *progress,
             wt_error *err);

/* ---------------------------------------------------------------- charts */

/* Charts as SVG inside an HTML page (text/html.h).
 *
 * Colours are classes defined by the page's style, so that one drawing serves light mode, dark mode and paper: s0 .. s3
 * for series, ink, faint, grid. Every chart has a title and a description for screen readers. */

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

/* Draws a histogram of bins [FAILURE_BINS]: 0 %, then steps of 10 %. tallest: largest bin of all charts, for a common
 * scale. */
void wt__svg_failures(struct buffer *out, const struct svg_chart *chart, const size_t *bins, size_t tallest,
                      unsigned series);

void wt__svg_map(struct buffer *out, const struct svg_chart *chart, const struct scatter_map *map);
/* Draws the mark of a kind of point at text height, for the legend. */
void wt__svg_mark(struct buffer *out, enum point_kind kind);

/* Returns the step of an axis from low to high: 1, 2 or 5 times a power of ten, giving at most 7 steps. */
double wt__svg_step(double low, double high);

/* ---------------------------------------------------------------- page */

struct page_source {
    wt_engine *engine;
    const struct dataset *dataset;
    const struct eval_plan *plan;
    const wt_eval_report *report;
    const struct measurement *measured; /* [rows] */
    uint64_t seed;
    size_t resamples;
};

/* Writes an evaluation as a self-contained HTML page: no scripts, no external resources, readable in light and dark
 * mode and on paper. Replaces the file atomically. Errors: WT_ECANCELLED, WT_EIO, errors of encoding, ... */
int wt__page_write(const char *path, const struct page_source *source, struct progress *progress, wt_error *err);

#endif
