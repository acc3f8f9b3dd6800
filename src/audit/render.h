/* render.h: a result as a file: sarif.c, report.c. */
#ifndef WT_AUDIT_RENDER_H
#define WT_AUDIT_RENDER_H

#include "audit/lines.h"
#include "base/buffer.h"
#include "whichtool/audit.h"

/* What every finding of a result is, and only we know. */
struct placed_finding {
    wt_finding public;            /* first: found by it */
    const struct origin *origins; /* [public.tool_count]; of a provider one, that of its first tool */
    const char *store;            /* the file's name: where a finding is that has no file of its own */
    size_t line;                  /* in the first origin's file; 0: it is to be looked for there */
};

/* "note", "warning", "error": SARIF's words, too. */
const char *wt__audit_level_name(int level);

void wt__audit_sarif(struct buffer *out, const wt_audit_result *audit);
void wt__audit_html(struct buffer *out, const wt_audit_result *audit);

#endif
