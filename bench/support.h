/* support.h: helpers of several benchmarks. */
#ifndef WT_BENCH_SUPPORT_H
#define WT_BENCH_SUPPORT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "whichtool.h"

static inline void exit_with_message(const char *message)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, message);
    exit(1);
}

static inline void exit_with_wt_error(const wt_error *err)
{
    exit_with_message(err->message);
}

/* Comparison functions for qsort, ascending. */
static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

#endif
