#include "engine/selector.h"

int wt__selection_note(const struct selection *selection, const char *text, wt_error *err)
{
    wt_picked *picked = selection->out;
    struct buffer all = {0};
    if (!text)
        return 0;
    if (picked->notice)
        wt__buffer_printf(&all, "%s; ", picked->notice);
    wt__buffer_text(&all, text);
    picked->notice = all.failed ? NULL : wt__arena_copy(selection->arena, wt__buffer_view(&all));
    wt__buffer_dispose(&all);
    return picked->notice ? 0 : wt__fail_nomem(err);
}
