/* find.h: entry points of wt_find inside the library. */
#ifndef WT_QUERY_FIND_H
#define WT_QUERY_FIND_H

#include "base/json.h"
#include "base/error.h"
#include "base/str.h"
#include "whichtool.h"

/* wt_find, but that tools which are word for word the same have places of their own: a judgement names any one of them,
 * and which one shares its place with the others is a coin's toss. Near-copies are as options->copies says. */
int wt__find_by_id(wt_engine *engine, struct str request, const wt_find_options *options, wt_hits **out, wt_error *err);

/* Works like wt_find with the messages of a conversation already parsed, instead of options->messages. messages: NULL
 * for none. */
int wt__find_parsed(wt_engine *engine, struct str request, const wt_find_options *options, const json_t *messages,
                    wt_hits **out, wt_error *err);

#endif
