/* pick.h: wt_pick, for those who measure it as well. */
#ifndef WT_ENGINE_PICK_H
#define WT_ENGINE_PICK_H

#include "engine/selector.h"

/* wt_pick. oracle: NULL outside of an evaluation; options in full. */
int wt__pick(wt_engine *engine, struct str request, const wt_pick_options *options, const struct pick_oracle *oracle,
             wt_picked **out, wt_error *err);

#endif
