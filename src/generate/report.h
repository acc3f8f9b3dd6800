/* report.h: report.json: how many pieces each stage requested, accepted and refused, and why; the cost; and the
 * paper's figures for comparison. Two runs with the same answers write the same report. */
#ifndef WT_GENERATE_REPORT_H
#define WT_GENERATE_REPORT_H

#include "generate/rows.h"

struct report {
    const char *settings;        /* JSON object */
    const char *model, *encoder; /* names; encoder is NULL if the run had no encoder */
    const struct asker *asker;
    const struct samples *samples;
    size_t tools, unlike, noteless, left_out;
    bool complete;
};

/* Appends the report on one line. */
void wt__report_toolselect(const struct report *report, struct buffer *out);

/* Appends "stages": [...] and "cost": {...}. */
void wt__report_asked(const struct asker *asker, struct buffer *out);

#endif
