/* support.h: helpers of several benchmarks. */
#ifndef WT_BENCH_SUPPORT_H
#define WT_BENCH_SUPPORT_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

/* Returns the processor time of this thread. Machines are shared, so wall times would include other programs. */
static inline double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Comparison functions for qsort, ascending. */
static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts `values`, and prints a line of results (bench/README.md) with their median and, of several values, their
 * quartiles. The measure's name is formatted like printf's arguments. */
__attribute__((format(printf, 5, 6))) static inline void print_result(double *values, size_t count, const char *unit,
                                                                      const char *who, const char *measure, ...)
{
    va_list arguments;
    qsort(values, count, sizeof *values, compare_doubles);
    va_start(arguments, measure);
    vprintf(measure, arguments);
    va_end(arguments);
    printf("\t%s\t%.6g\t%s", who, values[count / 2], unit);
    if (count > 1)
        printf("\t%.6g\t%.6g", values[count / 4], values[count * 3 / 4]);
    putchar('\n');
    fflush(stdout);
}

static inline int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

#endif
