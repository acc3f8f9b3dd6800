#include "generate/recorded.h"

#include <stdlib.h>

#include "base/memory.h"

enum { PAGE = 1000 /* usages read at once */ };

/* One drawn usage. */
struct drawn_usage {
    char *request, *words; /* words: in lower case; requests with the same words are the same */
    char **tools;          /* [count] ids */
    size_t count;
    int64_t id;
};

struct usage_sample {
    struct drawn_usage *uses; /* [count] */
    size_t count, limit, seen;
};

static void dispose_drawn_usage(struct drawn_usage *use)
{
    for (size_t i = 0; i < use->count; i++)
        free(use->tools[i]);
    free(use->tools);
    free(use->request);
    free(use->words);
    *use = (struct drawn_usage){0};
}

static int copy_drawn_usage(struct drawn_usage *out, const wt_usage *usage, wt_error *err)
{
    struct buffer words = {0}, line = {0};
    wt__piece_words(&words, wt__str(usage->request));
    wt__piece_line(&line, wt__str(usage->request), WT_MAX_REQUEST_BYTES);
    *out = (struct drawn_usage){.words = wt__buffer_take(&words), .request = wt__buffer_take(&line), .id = usage->id};
    out->tools = calloc(usage->tool_count + 1, sizeof *out->tools);
    bool whole = out->words && out->request && out->tools;
    for (size_t i = 0; whole && i < usage->tool_count; i++)
        if (usage->tools[i]->known) {
            const char *id = usage->tools[i]->id;
            whole = (out->tools[out->count++] = wt__copy_string(id, strlen(id))) != NULL;
        }
    if (!whole)
        dispose_drawn_usage(out);
    return whole ? 0 : wt__fail_nomem(err);
}

static bool is_usable_usage(const wt_usage *usage)
{
    bool known = false;
    for (size_t i = 0; i < usage->tool_count; i++)
        known |= usage->tools[i]->known != 0;
    return known && strcmp(usage->outcome, "failed") != 0;
}

/* Reservoir sampling: each of the `seen` usages is kept with the same probability. */
static int sample_usage(struct usage_sample *drawn, const wt_usage *usage, struct rng *rng, wt_error *err)
{
    size_t at = drawn->seen++;
    if (at >= drawn->limit)
        at = wt__rng_below(rng, drawn->seen);
    if (at >= drawn->limit)
        return 0;
    struct drawn_usage use;
    int rc = copy_drawn_usage(&use, usage, err);
    if (rc < 0)
        return rc;
    if (at < drawn->count)
        dispose_drawn_usage(&drawn->uses[at]);
    else
        drawn->count++;
    drawn->uses[at] = use;
    return 0;
}

static int draw_usages(struct usage_sample *drawn, wt_engine *engine, struct rng *rng, struct progress *progress,
                       wt_error *err)
{
    wt_usage_filter filter;
    wt_usage_filter_init(&filter);
    filter.limit = PAGE;
    for (bool more = true; more;) {
        wt_usages *page;
        int rc = wt_list_usage(engine, &filter, &page, err);
        for (size_t i = 0; rc == 0 && i < page->len; i++)
            if (is_usable_usage(page->items[i]))
                rc = sample_usage(drawn, page->items[i], rng, err);
        more = rc == 0 && page->len == PAGE;
        if (more)
            filter.after_id = page->items[page->len - 1]->id;
        if (rc == 0 && wt__progress_step(progress, page->len))
            rc = wt__fail_cancelled(err);
        wt_usages_free(page);
        if (rc < 0)
            return rc;
    }
    return drawn->count > 0 ? 0
                            : wt__fail(err, WT_EEMPTY,
                                       "the store has no recorded use of existing tools; add some with "
                                       "`whichtool usage add`, or name a data set with --from FOLDER");
}

static int compare_drawn_usages(const void *a, const void *b)
{
    const struct drawn_usage *x = a, *y = b;
    int order = strcmp(x->words, y->words);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* Finds the tool by its id. *taken is false if the tool no longer exists or has no description. */
static int find_used_tool(struct store_library *catalogue, const char *id, size_t *place, bool *taken, wt_error *err)
{
    wt_tools *tools = NULL;
    wt_error why;
    *taken = false;
    int rc = wt_get(catalogue->engine, id, &tools, &why);
    if (rc == 0)
        rc = wt__store_library_add(catalogue, tools->items[0], place, taken, &why);
    wt_tools_free(tools);
    if (rc < 0 && err)
        *err = why;
    return rc == WT_ENOTFOUND || rc == WT_EINVAL ? 0 : rc;
}

/* Adds one row for each tool used by usages [count], which have the same words. */
static int add_usage_group(struct choice_rows *rows, struct store_library *catalogue, const struct drawn_usage *uses,
                           size_t count, wt_error *err)
{
    size_t total = 0, right = 0;
    for (size_t u = 0; u < count; u++)
        total += uses[u].count;
    size_t *places = wt__arena_array(&rows->arena, size_t, total + 1);
    if (!places)
        return wt__fail_nomem(err);
    for (size_t u = 0; u < count; u++)
        for (size_t i = 0; i < uses[u].count; i++) {
            bool taken, known = false;
            int rc = find_used_tool(catalogue, uses[u].tools[i], &places[right], &taken, err);
            if (rc < 0)
                return rc;
            for (size_t k = 0; k < right; k++)
                known |= taken && places[k] == places[right];
            right += taken && !known;
        }
    for (size_t i = 0; i < right; i++) {
        int rc = wt__rows_add(rows, wt__str(uses[0].request), places[i], err);
        if (rc < 0)
            return rc;
        size_t *also_right = wt__arena_array(&rows->arena, size_t, right);
        if (!also_right)
            return wt__fail_nomem(err);
        for (size_t k = 0; k < right; k++)
            if (k != i)
                also_right[rows->rows[rows->count - 1].also_right_count++] = places[k];
        rows->rows[rows->count - 1].also_right = also_right;
    }
    return 0;
}

int wt__rows_add_recorded(struct choice_rows *rows, struct store_library *catalogue, size_t limit, struct rng *rng,
                          struct progress *progress, wt_error *err)
{
    struct usage_sample drawn = {.limit = limit, .uses = calloc(limit, sizeof *drawn.uses)};
    int rc = drawn.uses ? 0 : wt__fail_nomem(err);
    if (rc == 0 && wt__progress_phase(progress, "reading", 0))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        rc = draw_usages(&drawn, catalogue->engine, rng, progress, err);
    if (rc == 0)
        qsort(drawn.uses, drawn.count, sizeof *drawn.uses, compare_drawn_usages);
    for (size_t i = 0, next; rc == 0 && i < drawn.count && rows->count < limit; i = next) {
        next = i + 1;
        while (next < drawn.count && strcmp(drawn.uses[next].words, drawn.uses[i].words) == 0)
            next++;
        rc = add_usage_group(rows, catalogue, drawn.uses + i, next - i, err);
    }
    for (size_t i = 0; i < drawn.count; i++)
        dispose_drawn_usage(&drawn.uses[i]);
    free(drawn.uses);
    return rc;
}
