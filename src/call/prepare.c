/* prepare.c: wt_prepare_calls: writes the contrastive questions of likely pairs of tools ahead of calls. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/progress.h"
#include "call/call.h"
#include "engine/sized_options.h"

enum {
    PREPARE_USUAL = 100,  /* default number of questions */
    PREPARE_READ = 10000, /* maximum recorded requests or tools to search */
    PREPARE_PAGE = 1000,  /* usages or tools read at once */
    PREPARE_HITS = 3      /* hits per search; one of them may be the searched tool */
};

/* Two tools that a search found first and second. */
struct likely_pair {
    const char *ids[2]; /* in the arena, the lesser first */
    size_t count;       /* number of searches that found them */
    double closeness;   /* greatest score of the second, as a share of the first one's */
};

struct preparation {
    wt_engine *engine;
    struct chat_model *model;
    struct engine_chat connection; /* connection to the verifying model */
    struct progress progress;
    struct arena arena;
    struct map places; /* "ID\nID" to the index in pairs */
    struct likely_pair *pairs;
    size_t count, capacity;
    wt_prepared *out;
};

static int add_likely_pair(struct preparation *p, const char *first, const char *second, double closeness,
                           wt_error *err)
{
    bool ordered = strcmp(first, second) < 0, added = false;
    const char *low = ordered ? first : second, *high = ordered ? second : first;
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
    wt__buffer_printf(&key, "%s\n%s", low, high);
    const char *kept = key.failed ? NULL : wt__arena_copy(&p->arena, wt__buffer_view(&key));
    WT_CHECK_ALLOC(kept, err);
    uint32_t *place = wt__map_insert(&p->places, wt__str(kept), (uint32_t)p->count, &added);
    if (!place || (added && wt__grow((void **)&p->pairs, &p->capacity, p->count + 1, sizeof *p->pairs) < 0))
        return wt__fail_nomem(err);
    if (added) {
        const char *ids[] = {wt__arena_copy(&p->arena, wt__str(low)), wt__arena_copy(&p->arena, wt__str(high))};
        WT_CHECK_ALLOC(ids[0] && ids[1], err);
        p->pairs[p->count++] = (struct likely_pair){.ids = {ids[0], ids[1]}};
    }
    struct likely_pair *pair = &p->pairs[*place];
    pair->count++;
    pair->closeness = closeness > pair->closeness ? closeness : pair->closeness;
    return 0;
}

/* Searches for the text, and adds the pair of the first two hits. own: id of a tool that is the first of the pair, and
 * is skipped among the hits; NULL for none. */
static int search_pair(struct preparation *p, struct str text, const char *own, wt_error *err)
{
    wt_find_options options;
    wt_hits *hits = NULL;
    const char *ids[2] = {own, NULL};
    double scores[2] = {0, 0};
    wt_find_options_init(&options);
    options.k = PREPARE_HITS;
    size_t len = text.len < WT_MAX_REQUEST_BYTES ? text.len : WT_MAX_REQUEST_BYTES;
    int rc = wt_find(p->engine, text.ptr, len, &options, &hits, err);
    if (rc == WT_EEMPTY || rc == WT_EINVAL) /* no word to search for */
        return 0;
    size_t found = own != NULL;
    for (size_t i = 0; rc == 0 && i < hits->len && found < 2; i++) {
        const char *id = hits->items[i]->tool->id;
        if (own && strcmp(id, own) == 0) {
            scores[0] = hits->items[i]->score;
            continue;
        }
        scores[found] = hits->items[i]->score;
        ids[found++] = id;
    }
    if (rc == 0 && found == 2)
        rc = add_likely_pair(p, ids[0], ids[1], scores[0] > 0 ? scores[1] / scores[0] : 0, err);
    wt_hits_free(hits);
    return rc;
}

static int search_recorded_requests(struct preparation *p, size_t *searched, wt_error *err)
{
    wt_usage_filter filter;
    wt_usage_filter_init(&filter);
    filter.limit = PREPARE_PAGE;
    for (bool more = true; more && *searched < PREPARE_READ;) {
        wt_usages *page = NULL;
        WT_TRY(wt_list_usage(p->engine, &filter, &page, err));
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < page->len; i++, ++*searched)
            rc = wt__progress_step(&p->progress, 1) ? wt__fail_cancelled(err)
                                                    : search_pair(p, wt__str(page->items[i]->request), NULL, err);
        more = page->len == PREPARE_PAGE;
        if (more)
            filter.after_id = page->items[page->len - 1]->id;
        wt_usages_free(page);
        WT_TRY(rc);
    }
    return 0;
}

static int search_tools(struct preparation *p, wt_error *err)
{
    wt_list_options options;
    wt_list_options_init(&options);
    options.limit = PREPARE_PAGE;
    for (bool more = true; more && options.offset < PREPARE_READ; options.offset += PREPARE_PAGE) {
        wt_tools *page = NULL;
        WT_TRY(wt_list(p->engine, &options, &page, err));
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < page->len; i++) {
            WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
            wt__buffer_printf(&text, "%s. %s", page->items[i]->name, page->items[i]->description);
            rc = text.failed                          ? wt__fail_nomem(err)
                 : wt__progress_step(&p->progress, 1) ? wt__fail_cancelled(err)
                                                      : search_pair(p, wt__buffer_view(&text), page->items[i]->id, err);
        }
        more = page->len == PREPARE_PAGE;
        wt_tools_free(page);
        WT_TRY(rc);
    }
    return 0;
}

static int compare_likely_pairs(const void *a, const void *b)
{
    const struct likely_pair *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    if (x->closeness != y->closeness)
        return x->closeness < y->closeness ? 1 : -1;
    int order = strcmp(x->ids[0], y->ids[0]);
    return order ? order : strcmp(x->ids[1], y->ids[1]);
}

static int list_likely_pairs(struct preparation *p, wt_error *err)
{
    size_t searched = 0;
    if (wt__progress_phase(&p->progress, "searching", 0))
        return wt__fail_cancelled(err);
    WT_TRY(search_recorded_requests(p, &searched, err));
    if (searched == 0)
        WT_TRY(search_tools(p, err));
    if (p->count == 0)
        return wt__fail(err, WT_EEMPTY, "the catalogue has no two tools to compare");
    qsort(p->pairs, p->count, sizeof *p->pairs, compare_likely_pairs);
    return 0;
}

static int prepare_pair(struct preparation *p, const struct likely_pair *pair, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const struct contrast_store store = wt__call_contrast_store(p->engine);
    struct selection_candidate candidates[2] = {{.name = {0}}};
    struct selection_trace trace = {0};
    wt_tools *tools[2] = {NULL, NULL};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        rc = wt_get(p->engine, pair->ids[i], &tools[i], err);
        if (rc == 0)
            candidates[i] = (struct selection_candidate){.name = wt__str(tools[i]->items[0]->id),
                                                         .description = wt__str(tools[i]->items[0]->description)};
    }
    if (rc == 0)
        rc = wt__prepare_contrast(candidates, p->model, &store, &p->progress, &arena, &trace, err);
    if (rc == 0) {
        p->out->known += trace.stored;
        p->out->written += !trace.stored && trace.question.len > 0;
        p->out->unusable += trace.cost.questions > 0 && trace.question.len == 0;
        p->out->prompt_tokens += trace.cost.prompt_tokens;
        p->out->completion_tokens += trace.cost.completion_tokens;
        p->out->model_ms += trace.cost.ms;
    }
    wt_tools_free(tools[0]);
    wt_tools_free(tools[1]);
    return rc == WT_ENOTFOUND ? 0 : rc; /* the tool was removed meanwhile */
}

static int run_preparation(struct preparation *p, const wt_prepare_options *options, wt_error *err)
{
    size_t wanted = options->questions ? options->questions : PREPARE_USUAL;
    if (wanted > WT_MAX_PREPARED)
        return wt__fail(err, WT_EINVAL, "%zu questions are over the limit of %d", wanted, WT_MAX_PREPARED);
    WT_TRY(options->verify_model
               ? wt__engine_chat_named(p->engine, options->verify_model, &p->connection, &p->model, err)
               : wt__engine_chat(p->engine, &p->model, err));
    WT_TRY(list_likely_pairs(p, err));
    size_t pairs = p->count < wanted ? p->count : wanted;
    if (wt__progress_phase(&p->progress, "asking the language model", pairs))
        return wt__fail_cancelled(err);
    for (size_t i = 0; i < pairs; i++) {
        WT_TRY(prepare_pair(p, &p->pairs[i], err));
        p->out->pairs++;
    }
    return 0;
}

int wt_prepare_calls(wt_engine *engine, const wt_prepare_options *given, wt_prepared *out, wt_error *err)
{
    wt_prepare_options options;
    wt_prepared prepared;
    struct preparation p = {.engine = engine, .out = &prepared};
    wt_prepared_init(&prepared);
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    wt__progress_init(&p.progress, options.progress, options.progress_context);
    int rc = run_preparation(&p, &options, err);
    int copied = wt__options_write(out, sizeof prepared, &prepared, rc == 0 ? err : NULL);
    wt__engine_chat_dispose(&p.connection);
    wt__progress_dispose(&p.progress);
    wt__map_dispose(&p.places);
    free(p.pairs);
    wt__arena_dispose(&p.arena);
    return rc < 0 ? rc : copied;
}
