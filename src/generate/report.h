/* report.h: report.json: how many were asked for, made and turned away at each stage, and why; what it cost; and the
 * paper's figures beside ours. It holds nothing that differs between two runs with the same answers. */
#ifndef WT_GENERATE_REPORT_H
#define WT_GENERATE_REPORT_H

#include "generate/rows.h"

struct report {
    const char *settings;        /* JSON object */
    const char *model, *encoder; /* names; encoder NULL: none */
    const struct asker *asker;
    const struct samples *samples;
    size_t tools, unlike, noteless, left_out;
    bool complete;
};

/* Appends it, on one line. */
void wt__report_toolselect(const struct report *report, struct buffer *out);

/* "stages": [...], and "cost": {...}: of what was asked. */
void wt__report_asked(const struct asker *asker, struct buffer *out);

#endif
