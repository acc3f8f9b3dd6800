/* find.c: the tools that a request needs, best first. */
#include <stdlib.h>

#include "base/clock.h"
#include "engine/options.h"
#include "engine/publish.h"

struct result {
    wt_hits public; /* first, so that the public pointer is this one */
    struct arena arena;
};

void wt_find_options_init(wt_find_options *options)
{
    *options = (wt_find_options){.size = sizeof *options};
}

void wt_hits_free(wt_hits *public)
{
    if (!public)
        return;
    struct result *result = (struct result *)public;
    wt__arena_dispose(&result->arena);
    free(result);
}

static int run(struct search *search, bool explain, wt_hits *out, wt_error *err)
{
    wt_hit *items = NULL;
    int rc = wt__search_run(search, err);
    uint32_t *which = rc == 0 ? wt__arena_array(search->arena, uint32_t, search->hits.len) : NULL;
    if (rc < 0 || !which)
        return rc < 0 ? rc : wt__fail_nomem(err);
    for (uint32_t i = 0; i < search->hits.len; i++)
        which[i] = i;
    rc = wt__publish_hits(search, which, search->hits.len, explain, &items, &out->len, err);
    out->items = items;
    out->recipe = search->ran;
    out->why = search->why;
    out->notice = search->notice;
    out->several = search->several;
    return rc;
}

int wt_find(wt_engine *engine, const char *request, size_t request_len, const wt_find_options *given, wt_hits **out,
            wt_error *err)
{
    double begun = wt__now_ms();
    wt_find_options options;
    struct result *result = calloc(1, sizeof *result);
    *out = NULL;
    if (!result)
        return wt__fail_nomem(err);
    wt__options_read(&options, sizeof options, given);
    struct search search = {.engine = engine,
                            .request = {request, request_len},
                            .arena = &result->arena,
                            .recipe = options.recipe,
                            .provider = options.provider,
                            .k = options.k,
                            .max_per_provider = options.max_per_provider};
    int rc = run(&search, options.explain, &result->public, err);
    wt__search_end(&search);
    if (rc < 0) {
        wt_hits_free(&result->public);
        return rc;
    }
    wt_hits *hits = &result->public;
    hits->total_ms = wt__now_ms() - begun;
    hits->encode_ms = search.hits.encode_ms;
    hits->search_ms = hits->total_ms - hits->encode_ms;
    *out = hits;
    return 0;
}
