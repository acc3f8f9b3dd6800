/* recorded_arguments.h: what a tool was called with, as it may be kept. */
#ifndef WT_CHANGES_RECORDED_ARGUMENTS_H
#define WT_CHANGES_RECORDED_ARGUMENTS_H

#include "base/arena.h"
#include "engine/engine.h"

/* The text that is stored of arguments (an object, which loses what is a credential): *out in the arena. tool: the id
 * of the tool, 0 where it is not known; label: what it is called. Takes store_lock. Errors: WT_ETOOLONG, with a
 * sentence about "the arguments"; WT_ENOMEM and those of the store. */
int wt__recorded_arguments(wt_engine *engine, int64_t tool, struct str label, json_t *arguments, struct arena *arena,
                           struct str *out, wt_error *err);

#endif
