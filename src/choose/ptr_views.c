/* ptr_views.c: PTR's third stage, multi-view based re-ranking (Algorithm 1), for one unsolved problem.
 *
 *   DSA  direct semantic alignment     the K tools nearest to the problem's words
 *   HQC  historical query correlation  the tools of the K past requests nearest to them, each tool once
 *   CTE  contextual tool expansion     the K tools nearest to the first tool of DSA
 *
 * Each view gives one vote to each of its tools. The tool with the most votes wins. Ties go to the tool that came
 * first, in the order of the views and their lists. If no tool has two votes otherwise, the best tool of DSA wins,
 * because it is nearest to itself and so has the vote of CTE as well. */
#include "choose/ptr_inside.h"

struct candidate_tool {
    uint32_t row;
    unsigned views; /* bitmap of the views that have it */
};

struct ballot {
    struct candidate_tool *items; /* in the order of their first occurrence */
    size_t len;
};

static size_t lesser_count(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Finds or adds the entry of `row`. Linear search is enough for a few hundred tools. */
static struct candidate_tool *find_candidate(struct ballot *ballot, uint32_t row)
{
    for (size_t i = 0; i < ballot->len; i++)
        if (ballot->items[i].row == row)
            return &ballot->items[i];
    ballot->items[ballot->len] = (struct candidate_tool){row, 0};
    return &ballot->items[ballot->len++];
}

static size_t count_ptr_tools(const struct ptr_tools *lists, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += lesser_count(lists[i].count, PTR_MOST_LISTED);
    return sum;
}

/* Counts the votes of one view, given as lists. out: the view as one list without duplicates. */
static int count_view(struct ballot *ballot, enum ptr_view view, const struct ptr_tools *lists, size_t count,
                      struct arena *arena, struct ptr_tools *out, wt_error *err)
{
    uint32_t *rows = wt__arena_array(arena, uint32_t, count_ptr_tools(lists, count));
    if (!rows)
        return wt__fail_nomem(err);
    *out = (struct ptr_tools){rows, 0};
    for (size_t i = 0; i < count; i++) {
        size_t len = lesser_count(lists[i].count, PTR_MOST_LISTED);
        for (size_t j = 0; j < len; j++) {
            struct candidate_tool *candidate = find_candidate(ballot, lists[i].rows[j]);
            if (candidate->views & 1u << view)
                continue;
            candidate->views |= 1u << view;
            rows[out->count++] = candidate->row;
        }
    }
    return 0;
}

static unsigned votes_of(const struct candidate_tool *candidate)
{
    unsigned votes = 0;
    for (unsigned bits = candidate->views; bits; bits >>= 1)
        votes += bits & 1;
    return votes;
}

static void elect_tool(const struct ballot *ballot, struct ptr_problem *problem)
{
    for (size_t i = 0; i < ballot->len; i++) {
        unsigned votes = votes_of(&ballot->items[i]);
        if (votes > problem->votes) {
            problem->solved = true;
            problem->tool = ballot->items[i].row;
            problem->votes = votes;
        }
    }
}

/* Tools and requests of the views, cut to the requested number. */
struct view_lists {
    struct ptr_tools dsa, cte;
    const struct ptr_tools *hqc;
    size_t hqc_count;
};

static int fetch_views(const struct ptr_run *run, struct str text, struct view_lists *lists, wt_error *err)
{
    const struct ptr_sources *sources = run->sources;
    int rc = sources->tools(sources->self, text, run->k, run->arena, &lists->dsa, err);
    lists->dsa.count = lesser_count(lists->dsa.count, run->k);
    if (rc >= 0 && !(run->ablate & PTR_ABLATE_HQC)) {
        rc = sources->past(sources->self, text, run->k, run->arena, &lists->hqc, &lists->hqc_count, err);
        lists->hqc_count = lesser_count(lists->hqc_count, run->k);
    }
    if (rc >= 0 && !(run->ablate & PTR_ABLATE_CTE) && lists->dsa.count > 0) {
        rc = sources->similar(sources->self, lists->dsa.rows[0], run->k, run->arena, &lists->cte, err);
        lists->cte.count = lesser_count(lists->cte.count, run->k);
    }
    if (run->ablate & PTR_ABLATE_DSA)
        lists->dsa.count = 0;
    return rc < 0 ? rc : 0;
}

int wt__ptr_rerank(const struct ptr_run *run, struct str text, struct ptr_problem *problem, wt_error *err)
{
    struct view_lists lists = {0};
    int rc = fetch_views(run, text, &lists, err);
    if (rc < 0)
        return rc;

    size_t most = lists.dsa.count + lists.cte.count + count_ptr_tools(lists.hqc, lists.hqc_count);
    struct ballot ballot = {wt__arena_array(run->arena, struct candidate_tool, most), 0};
    if (!ballot.items)
        return wt__fail_nomem(err);

    rc = count_view(&ballot, PTR_DSA, &lists.dsa, 1, run->arena, &problem->views[PTR_DSA], err);
    if (rc == 0)
        rc = count_view(&ballot, PTR_HQC, lists.hqc, lists.hqc_count, run->arena, &problem->views[PTR_HQC], err);
    if (rc == 0)
        rc = count_view(&ballot, PTR_CTE, &lists.cte, 1, run->arena, &problem->views[PTR_CTE], err);
    if (rc == 0)
        elect_tool(&ballot, problem);
    return rc;
}
