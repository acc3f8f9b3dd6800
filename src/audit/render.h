/* render.h: a result as a file: sarif.c, report.c. */
#ifndef WT_AUDIT_RENDER_H
#define WT_AUDIT_RENDER_H

#include "base/buffer.h"
#include "whichtool/audit.h"

/* "note", "warning", "error": SARIF's words, too. */
const char *wt__audit_level_name(int level);

void wt__audit_sarif(struct buffer *out, const wt_audit_result *audit);
void wt__audit_html(struct buffer *out, const wt_audit_result *audit);

#endif
