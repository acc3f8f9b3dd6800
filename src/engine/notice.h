/* notice.h: what a reader of a result should know, in one line. */
#ifndef WT_ENGINE_NOTICE_H
#define WT_ENGINE_NOTICE_H

#include "base/arena.h"
#include "base/error.h"

/* One more thing to say beside a result, behind what *notice says already; NULL: nothing. Lives in the arena. */
int wt__add_notice(const char **notice, const char *text, struct arena *arena, wt_error *err);

#endif
