/* find.h: wt_find for who judges hits by id. */
#ifndef WT_QUERY_FIND_H
#define WT_QUERY_FIND_H

#include "base/error.h"
#include "base/str.h"
#include "whichtool.h"

/* wt_find, but that tools which are word for word the same have places of their own: a judgement names any one of them,
 * and which one shares its place with the others is a coin's toss. Near-copies are as options->copies says. */
int wt__find_by_id(wt_engine *engine, struct str request, const wt_find_options *options, wt_hits **out, wt_error *err);

#endif
