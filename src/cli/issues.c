#include "cli/issues.h"

#include "cli/output.h"

enum { ISSUES_SHOWN = 20 };

void wt__issues_tell(const struct cli *cli, const wt_add_issue *const *issues, size_t count, size_t met)
{
    size_t shown = count < ISSUES_SHOWN ? count : ISSUES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        struct buffer place = {0};
        wt__buffer_text(&place, issues[i]->file);
        if (issues[i]->line)
            wt__buffer_printf(&place, ":%zu", issues[i]->line);
        if (*issues[i]->pointer)
            wt__buffer_printf(&place, ": %s", issues[i]->pointer);
        wt__cli_note(cli, "%s: %s", place.ptr ? place.ptr : "", issues[i]->reason);
        wt__buffer_dispose(&place);
    }
    if (count > shown && met > count)
        wt__cli_note(cli, "... and %zu more; --json lists the first %zu", met - shown, count);
    else if (count > shown)
        wt__cli_note(cli, "... and %zu more; --json lists them all", count - shown);
}

void wt__issues_json(struct buffer *out, const wt_add_issue *const *issues, size_t count)
{
    wt__json_key(out, "issues");
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "file", issues[i]->file);
        wt__json_count(out, "line", issues[i]->line);
        wt__json_count(out, "byte", issues[i]->byte);
        wt__json_text(out, "pointer", issues[i]->pointer);
        wt__json_text(out, "reason", issues[i]->reason);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}
