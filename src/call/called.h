/* called.h: parts of a call's result for callers within the library. */
#ifndef WT_CALL_CALLED_H
#define WT_CALL_CALLED_H

#include "whichtool.h"

/* Returns the result of the call's search, valid as long as the call; NULL if no search was needed. */
const wt_hits *wt__called_hits(const wt_called *called);

#endif
