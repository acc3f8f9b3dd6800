/* add.h: the steps of an import (add.c), for imports of several sources at once (add_mcp.c). */
#ifndef WT_CHANGES_ADD_H
#define WT_CHANGES_ADD_H

#include "import/import.h"
#include "engine/engine.h"
#include "engine/notice.h"

struct report {
    wt_add_report public; /* first, so that the public pointer is this one */
    struct own_tools own; /* what this import brought; its ids are freed with the report */
    struct notice notice; /* public.notice */
    struct arena arena;
};

/* What the importer passed over, with texts that outlive it. Ends with wt_add_report_free. */
int wt__report_new(struct report **out, const struct import *import, wt_error *err);

/* One transaction; the report tells what came of it. Takes store_lock. */
int wt__store_tools(wt_engine *engine, const struct import *import, struct str source, bool sync,
                    struct progress *progress, struct report *report, wt_error *err);

/* Appends what another report's import brought. */
int wt__report_take_own(struct report *report, const struct report *other, wt_error *err);

/* Vectors and the snapshot. Encodes the report's own tools first, and others only where no import of theirs runs. */
int wt__make_searchable(wt_engine *engine, bool no_vectors, struct progress *progress, struct report *report,
                        wt_error *err);

#endif
