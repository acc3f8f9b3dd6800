/* report.h: report.json: how many pieces each stage requested, accepted and refused, and why; the cost; and the
 * paper's figures for comparison. Two runs with the same answers write the same report. */
#ifndef WT_GENERATE_REPORT_H
#define WT_GENERATE_REPORT_H

#include "generate/rows.h"

struct toolselect_report {
    const char *settings;        /* JSON object */
    const char *model, *encoder; /* names; encoder is NULL if the run had no encoder */
    const struct stage_runner *asker;
    const struct choice_samples *samples;
    size_t tools, without_similar, without_note, left_out;
    bool complete;
};

/* Appends the report on one line. */
void wt__toolselect_report(const struct toolselect_report *report, struct buffer *out);

/* Appends "stages": [...] and "cost": {...}. */
void wt__stages_report(const struct stage_runner *asker, struct buffer *out);

#endif
