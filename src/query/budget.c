/* budget.c: counts the tokens of exported definitions. */
#include "query/budget.h"

#include "catalog/export.h"
#include "catalog/names.h"
#include "engine/notice.h"

int wt__budget_begin(struct budget *out, size_t most, const char *format, wt_error *err)
{
    struct buffer none = {0};
    *out = (struct budget){.most = most, .format = format ? wt__str(format) : STR("openai")};
    int rc = most || format ? wt__export(NULL, 0, out->format, &none, err) : 0;
    wt__buffer_dispose(&none);
    out->format = wt__export_read(out->format);
    return rc;
}

void wt__budget_dispose(struct budget *budget)
{
    wt__buffer_dispose(&budget->named);
}

static void add_skipped_name(struct budget *budget, const struct tool *tool, size_t tokens)
{
    if (budget->over++ >= BUDGET_NAMED)
        return;
    wt__buffer_text(&budget->named, budget->over > 1 ? ", " : "");
    wt__tool_id(&budget->named, tool->provider, tool->name);
    wt__buffer_printf(&budget->named, " (%zu)", tokens);
}

static int count_definition_tokens(const struct budget *budget, const struct tool *tool, size_t *tokens, wt_error *err)
{
    struct buffer definition = {0};
    int rc = budget->most ? wt__export(tool, 1, budget->format, &definition, err) : 0;
    *tokens = (definition.len + BUDGET_BYTES_PER_TOKEN - 1) / BUDGET_BYTES_PER_TOKEN;
    wt__buffer_dispose(&definition);
    return rc;
}

int wt__budget_keep(struct budget *budget, const struct tool *tool, size_t *tokens, wt_error *err)
{
    int rc = count_definition_tokens(budget, tool, tokens, err);
    budget->used += *tokens;
    budget->taken++;
    return rc;
}

int wt__budget_take(struct budget *budget, const struct tool *tool, size_t *tokens, wt_error *err)
{
    int rc = count_definition_tokens(budget, tool, tokens, err);
    if (rc < 0 || budget->most == 0)
        return rc < 0 ? rc : 1;
    if (budget->used > budget->most || *tokens > budget->most - budget->used) {
        add_skipped_name(budget, tool, *tokens);
        return 0;
    }
    budget->used += *tokens;
    budget->taken++;
    return 1;
}

int wt__budget_report(const struct budget *budget, struct notice *notice, struct arena *arena, wt_error *err)
{
    struct buffer text = {0};
    if (budget->over == 0)
        return 0;
    if (budget->taken > 0)
        wt__buffer_printf(&text, "%zu of %zu tools fit in %zu tokens, with %zu; left out: ", budget->taken,
                          budget->taken + budget->over, budget->most, budget->used);
    else
        wt__buffer_printf(&text, "no tool of %zu fits in %zu tokens: ", budget->over, budget->most);
    wt__buffer_str(&text, wt__buffer_view(&budget->named));
    if (budget->over > BUDGET_NAMED)
        wt__buffer_printf(&text, " and %zu more", budget->over - BUDGET_NAMED);
    text.failed |= budget->named.failed;
    return wt__take_notice(notice, WT_NOTICE_OVER_BUDGET, &text, arena, err);
}
