/* analysis.h: why a recipe finds or misses tools: the analyses of Tool2Vec (table A.3, appendix B, figure 3) as
 * numbers. report_html.c draws them. */
#ifndef WT_EVAL_ANALYSIS_H
#define WT_EVAL_ANALYSIS_H

#include "eval/material.h"
#include "eval/measure.h"

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
    size_t count, outliers; /* outliers: values outside the whiskers */
    double low, first, median, third, high;
};
/* Sorts values [count] in place. */
struct box_stats wt__box_stats(double *values, size_t count);

/* ---------------------------------------------------------------- failures (appendix B) */

enum { FAILURE_BINS = 11 }; /* 0 %, up to 10 %, up to 20 %, ... */

struct tool_failures {
    struct str tool;
    size_t wanted, missed; /* requests */
};

struct failures {
    struct tool_failures *tools; /* relevant tools, in the order of the requests; in the arena */
    size_t tool_count;
    struct mean_deviation share; /* missed / wanted, over tools */
    size_t bins[FAILURE_BINS];
    bool *failed;                        /* [queries] true if a relevant tool is missing */
    struct mean_deviation failed_length; /* lengths of the requests with a missing tool */
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
    size_t tools; /* tools with such a vector; the others cannot be found */
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
    double nearest[POINT_KINDS][POINT_KINDS]; /* share of the points of a kind, by the kind of their nearest point */
};

int wt__scatter_map(struct scatter_map *out, const struct analysis_input *input, uint64_t seed, struct arena *arena,
                    struct progress *progress, wt_error *err);

#endif
