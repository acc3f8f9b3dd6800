#include "engine/notice.h"

#include "base/buffer.h"

int wt__add_notice(const char **notice, const char *text, struct arena *arena, wt_error *err)
{
    struct buffer all = {0};
    if (!text)
        return 0;
    if (*notice)
        wt__buffer_printf(&all, "%s; ", *notice);
    wt__buffer_text(&all, text);
    *notice = all.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&all));
    wt__buffer_dispose(&all);
    return *notice ? 0 : wt__fail_nomem(err);
}
