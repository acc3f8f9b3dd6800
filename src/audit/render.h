/* render.h: writes an audit as a file: sarif.c, report.c. */
#ifndef WT_AUDIT_RENDER_H
#define WT_AUDIT_RENDER_H

#include "audit/lines.h"
#include "base/buffer.h"
#include "whichtool/audit.h"

/* A finding with the private data for its location. */
struct placed_finding {
    wt_finding public;                 /* first member, so that a public pointer can be cast */
    const struct tool_origin *origins; /* [public.tool_count]; one for a provider: the origin of its first tool */
    const char *store;                 /* file name of the store: location of findings without a source file */
    size_t line;                       /* line in the first origin's file; 0 to look it up with wt__find_source_line */
};

/* Returns "note", "warning" or "error", as SARIF spells them. */
const char *wt__audit_level_name(int level);

void wt__audit_sarif(struct buffer *out, const wt_audit_result *audit);
void wt__audit_html(struct buffer *out, const wt_audit_result *audit);

#endif
