/* recorded_arguments.h: prepares the arguments of a call for storing. */
#ifndef WT_CHANGES_RECORDED_ARGUMENTS_H
#define WT_CHANGES_RECORDED_ARGUMENTS_H

#include "base/arena.h"
#include "engine/engine.h"

/* Writes arguments as stored text to *out, in the arena. Removes credentials from the object `arguments`. tool: id of
 * the tool, 0 if unknown; label: its name. Takes store_lock. Errors: WT_ETOOLONG with a message about "the arguments",
 * WT_ENOMEM, and those of the store. */
int wt__write_recorded_arguments(wt_engine *engine, int64_t tool, struct str label, json_t *arguments,
                                 struct arena *arena, struct str *out, wt_error *err);

#endif
