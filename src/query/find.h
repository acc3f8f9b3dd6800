/* find.h: wt_find for evaluations, which judge hits by id. */
#ifndef WT_QUERY_FIND_H
#define WT_QUERY_FIND_H

#include "base/error.h"
#include "base/str.h"
#include "whichtool.h"

/* Works like wt_find, but gives identical tools separate places: a judgement names one of them, and the choice among
 * them would be arbitrary. options->copies still decides about near-copies. */
int wt__find_by_id(wt_engine *engine, struct str request, const wt_find_options *options, wt_hits **out, wt_error *err);

#endif
