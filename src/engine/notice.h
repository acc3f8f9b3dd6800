/* notice.h: notices, the remarks on a result, in one line. Each remark has a code. */
#ifndef WT_ENGINE_NOTICE_H
#define WT_ENGINE_NOTICE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

struct notice {
    const char *text; /* remarks separated by "; ", in an arena; NULL if there are none */
    unsigned codes;   /* WT_NOTICE_... bits of the remarks */
};

/* Appends a remark with its code to the notice. Does nothing if text is NULL. */
int wt__add_notice(struct notice *notice, unsigned code, const char *text, struct arena *arena, wt_error *err);

/* Works like wt__add_notice and disposes of the buffer, also on failure. */
int wt__take_notice(struct notice *notice, unsigned code, struct buffer *text, struct arena *arena, wt_error *err);

/* Appends all remarks of another notice. */
int wt__join_notices(struct notice *notice, const struct notice *other, struct arena *arena, wt_error *err);

#endif
