/* analysis.h: why a recipe finds what it finds: the analyses of Tool2Vec (table A.3, appendix B, figure 3) as numbers.
 * What they look like is report_html's business. */
#ifndef WT_EVAL_ANALYSIS_H
#define WT_EVAL_ANALYSIS_H

#include "eval/material.h"
#include "eval/measure.h"

/* ---------------------------------------------------------------- distributions */

struct spread {
    size_t count;
    double mean, deviation; /* of the whole, not of a sample of it: the sum is divided by count */
};
struct spread wt__spread(const double *values, size_t count);

/* Between the two values around share * (count - 1), in proportion. sorted: [count], ascending; 0 of none. */
double wt__quantile(const double *sorted, size_t count, double share);

/* Quartiles; whiskers reach to the last value within 1.5 times their distance (Tukey). */
struct box {
    size_t count, outliers; /* beyond the whiskers */
    double low, first, median, third, high;
};
struct box wt__box(double *values, size_t count); /* sorts them */

/* ---------------------------------------------------------------- what fails (appendix B) */

enum { FAILURE_BINS = 11 }; /* none, up to a tenth, up to two, ... */

struct tool_failures {
    struct str tool;
    size_t wanted, missed; /* requests */
};

struct failures {
    struct tool_failures *tools; /* that a request wanted, in the order of the requests; in the arena */
    size_t tool_count;
    struct spread share; /* missed / wanted, over tools */
    size_t bins[FAILURE_BINS];
    bool *failed;                /* [queries] a tool is missing */
    struct spread failed_length; /* of requests of which a tool is missing */
    struct spread found_length;  /* of the others */
};

/* missed: of struct measurement. lengths: [queries]. */
int wt__failures(struct failures *out, const struct dataset *dataset, size_t queries, const bool *missed,
                 const double *lengths, struct arena *arena, wt_error *err);

/* ---------------------------------------------------------------- descriptions against use (A.3, figure 3) */

/* What stands for a tool: its texts, the requests that used it, or the unit sum of both. */
enum standing { BY_DESCRIPTION, BY_USE, BY_BOTH, STANDINGS };

enum { STANDING_CUTOFFS = 3 };

struct standing_quality {
    size_t tools; /* that have such a vector; the others cannot be found */
    double recall[STANDING_CUTOFFS], ndcg[STANDING_CUTOFFS];
    struct box used, unused; /* cosines of a request with tools that it used and did not use */
};

/* seed: of the sample of unused tools, where there are more than a million pairs. */
int wt__standing_quality(struct standing_quality *out, const struct material *material, enum standing standing,
                         uint64_t seed, wt_error *err);

/* ---------------------------------------------------------------- the map (figure 3) */

enum point_kind { POINT_REQUEST, POINT_USE, POINT_DESCRIPTION, POINT_KINDS };
enum { MAP_POINTS = 500 }; /* of each kind at most */

struct landscape {
    struct point {
        double x, y;
        enum point_kind kind;
        struct str text; /* the request, or the tool's id */
    } * points;
    size_t count, of_kind[POINT_KINDS];
    double nearest[POINT_KINDS][POINT_KINDS]; /* share of the points of a kind whose nearest is of another */
};

int wt__landscape(struct landscape *out, const struct material *material, uint64_t seed, struct arena *arena,
                  struct progress *progress, wt_error *err);

#endif
