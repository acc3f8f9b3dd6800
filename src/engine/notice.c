#include "engine/notice.h"

/* Names by bit. They appear in JSON and must not change. */
static const char *const notice_names[] = {"no_encoder",   "no_vectors",      "unused_model", "uncalibrated",
                                           "unfamiliar",   "language",        "filter",       "over_budget",
                                           "conversation", "need_unmet",      "completeness", "no_recorded_use",
                                           "stand_in",     "answer_unusable", "schema",       "incomplete_source",
                                           "kept",         "collision",       "empty_source", "absent_service"};

const char *wt_notice_name(unsigned code)
{
    for (size_t bit = 0; bit < sizeof notice_names / sizeof *notice_names; bit++)
        if (code == 1u << bit)
            return notice_names[bit];
    return NULL;
}

int wt__add_notice(struct notice *notice, unsigned code, const char *text, struct arena *arena, wt_error *err)
{
    struct buffer all = {0};
    if (!text)
        return 0;
    if (notice->text)
        wt__buffer_printf(&all, "%s; ", notice->text);
    wt__buffer_text(&all, text);
    notice->text = all.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&all));
    notice->codes |= code;
    wt__buffer_dispose(&all);
    return notice->text ? 0 : wt__fail_nomem(err);
}

int wt__take_notice(struct notice *notice, unsigned code, struct buffer *text, struct arena *arena, wt_error *err)
{
    int rc = text->failed ? wt__fail_nomem(err) : wt__add_notice(notice, code, text->ptr, arena, err);
    wt__buffer_dispose(text);
    return rc;
}

int wt__join_notices(struct notice *notice, const struct notice *other, struct arena *arena, wt_error *err)
{
    return wt__add_notice(notice, other->codes, other->text, arena, err);
}
