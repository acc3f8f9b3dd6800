/* selector.c: the budget of a set. */
#include "query/selector.h"

#include <math.h>

int wt__selection_report_budget(struct selection *selection, const struct budget *budget, wt_error *err)
{
    wt_picked *out = selection->out;
    out->tokens = budget->used;
    out->over_budget = budget->over;
    if (budget->over > 0)
        out->tracc = out->complete = NAN;
    return wt__budget_report(budget, &selection->notice, selection->arena, err);
}
