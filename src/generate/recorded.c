#include "generate/recorded.h"

#include <stdlib.h>

#include "base/memory.h"

enum { PAGE = 1000 /* usages read at once */ };

/* One drawn usage. */
struct use {
    char *request, *words; /* words: in lower case; requests with the same words are the same */
    char **tools;          /* [count] ids */
    size_t count;
    int64_t id;
};

struct drawn {
    struct use *uses; /* [count] */
    size_t count, limit, seen;
};

static void use_dispose(struct use *use)
{
    for (size_t i = 0; i < use->count; i++)
        free(use->tools[i]);
    free(use->tools);
    free(use->request);
    free(use->words);
    *use = (struct use){0};
}

static int copy_use(struct use *out, const wt_usage *usage, wt_error *err)
{
    struct buffer words = {0}, line = {0};
    wt__piece_words(&words, wt__str(usage->request));
    wt__piece_line(&line, wt__str(usage->request), WT_MAX_REQUEST_BYTES);
    *out = (struct use){.words = wt__buffer_take(&words), .request = wt__buffer_take(&line), .id = usage->id};
    out->tools = calloc(usage->tool_count + 1, sizeof *out->tools);
    bool whole = out->words && out->request && out->tools;
    for (size_t i = 0; whole && i < usage->tool_count; i++)
        if (usage->tools[i]->known) {
            const char *id = usage->tools[i]->id;
            whole = (out->tools[out->count++] = wt__copy_string(id, strlen(id))) != NULL;
        }
    if (!whole)
        use_dispose(out);
    return whole ? 0 : wt__fail_nomem(err);
}

static bool is_useful(const wt_usage *usage)
{
    bool known = false;
    for (size_t i = 0; i < usage->tool_count; i++)
        known |= usage->tools[i]->known != 0;
    return known && strcmp(usage->outcome, "failed") != 0;
}

/* Reservoir sampling: each of the `seen` usages is kept with the same probability. */
static int draw_use(struct drawn *drawn, const wt_usage *usage, struct rng *rng, wt_error *err)
{
    size_t at = drawn->seen++;
    if (at >= drawn->limit)
        at = wt__rng_below(rng, drawn->seen);
    if (at >= drawn->limit)
        return 0;
    struct use use;
    int rc = copy_use(&use, usage, err);
    if (rc < 0)
        return rc;
    if (at < drawn->count)
        use_dispose(&drawn->uses[at]);
    else
        drawn->count++;
    drawn->uses[at] = use;
    return 0;
}

static int draw(struct drawn *drawn, wt_engine *engine, struct rng *rng, struct progress *progress, wt_error *err)
{
    wt_usage_filter filter;
    wt_usage_filter_init(&filter);
    filter.limit = PAGE;
    for (bool more = true; more;) {
        wt_usages *page;
        int rc = wt_list_usage(engine, &filter, &page, err);
        for (size_t i = 0; rc == 0 && i < page->len; i++)
            if (is_useful(page->items[i]))
                rc = draw_use(drawn, page->items[i], rng, err);
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

static int compare_uses(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    int order = strcmp(x->words, y->words);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* Finds the tool by its id. *taken is false if the tool no longer exists or has no description. */
static int place_of(struct catalogue *catalogue, const char *id, size_t *place, bool *taken, wt_error *err)
{
    wt_tools *tools = NULL;
    wt_error why;
    *taken = false;
    int rc = wt_get(catalogue->engine, id, &tools, &why);
    if (rc == 0)
        rc = wt__catalogue_add(catalogue, tools->items[0], place, taken, &why);
    wt_tools_free(tools);
    if (rc < 0 && err)
        *err = why;
    return rc == WT_ENOTFOUND || rc == WT_EINVAL ? 0 : rc;
}

/* Adds one row for each tool used by usages [count], which have the same words. */
static int add_group(struct rows *rows, struct catalogue *catalogue, const struct use *uses, size_t count,
                     wt_error *err)
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
            int rc = place_of(catalogue, uses[u].tools[i], &places[right], &taken, err);
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
        size_t *also = wt__arena_array(&rows->arena, size_t, right);
        if (!also)
            return wt__fail_nomem(err);
        for (size_t k = 0; k < right; k++)
            if (k != i)
                also[rows->rows[rows->count - 1].also_count++] = places[k];
        rows->rows[rows->count - 1].also = also;
    }
    return 0;
}

int wt__recorded_rows(struct rows *rows, struct catalogue *catalogue, size_t limit, struct rng *rng,
                      struct progress *progress, wt_error *err)
{
    struct drawn drawn = {.limit = limit, .uses = calloc(limit, sizeof *drawn.uses)};
    int rc = drawn.uses ? 0 : wt__fail_nomem(err);
    if (rc == 0 && wt__progress_phase(progress, "reading", 0))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        rc = draw(&drawn, catalogue->engine, rng, progress, err);
    if (rc == 0)
        qsort(drawn.uses, drawn.count, sizeof *drawn.uses, compare_uses);
    for (size_t i = 0, next; rc == 0 && i < drawn.count && rows->count < limit; i = next) {
        next = i + 1;
        while (next < drawn.count && strcmp(drawn.uses[next].words, drawn.uses[i].words) == 0)
            next++;
        rc = add_group(rows, catalogue, drawn.uses + i, next - i, err);
    }
    for (size_t i = 0; i < drawn.count; i++)
        use_dispose(&drawn.uses[i]);
    free(drawn.uses);
    return rc;
}
