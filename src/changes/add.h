/* add.h: the steps of an import (add.c), shared with imports of several sources at once (add_mcp.c). */
#ifndef WT_CHANGES_ADD_H
#define WT_CHANGES_ADD_H

#include "engine/engine.h"
#include "engine/notice.h"
#include "import/import.h"

struct import_report {
    wt_add_report public; /* first member, so that the public pointer converts to struct import_report */
    struct own_tools own; /* tools of this import; the ids are freed with the report */
    struct notice notice; /* owner of public.notice */
    struct arena arena;
};

/* Creates a report of the importer's issues, with copies of their texts. Free with wt_add_report_free. */
int wt__report_new(struct import_report **out, const struct import *import, wt_error *err);

/* Stores the tools in one transaction and reports the changes. With sync, also removes the tools of `source` that the
 * import does not have, unless the source is truncated. Takes store_lock. */
int wt__store_tools(wt_engine *engine, const struct import *import, struct str source, bool sync,
                    struct progress *progress, struct import_report *report, wt_error *err);

/* Appends the tools of another report. */
int wt__report_add_own(struct import_report *report, const struct import_report *other, wt_error *err);

/* Encodes tools and builds the index. Encodes the report's own tools, and the tools of other imports only if no other
 * import is running. With no_vectors, only builds the index. */
int wt__make_searchable(wt_engine *engine, bool no_vectors, struct progress *progress, struct import_report *report,
                        wt_error *err);

#endif
