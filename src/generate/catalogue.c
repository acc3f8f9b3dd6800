#include "generate/catalogue.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    LISTED_WHOLE = 20000, /* catalogues up to this size are listed at once; larger ones tool by tool */
    LIKE_SPARE = 8,       /* extra hits to request, since some will be unsuitable */
};

int wt__store_library_add(struct store_library *catalogue, const wt_tool *tool, size_t *place, bool *taken,
                          wt_error *err)
{
    struct buffer description = {0};
    struct library *library = catalogue->library;
    enum piece_fate fate;
    wt__piece_line(&description, wt__str(tool->description), PIECE_DESCRIPTION_BYTES_MAX);
    struct library_tool added = {
        .name = wt__str(tool->export_name), .description = wt__buffer_view(&description), .origin = ORIGIN_CATALOGUE};
    *taken = false;
    int rc = description.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0 && description.len > 0) {
        rc = wt__library_add(library, &added, place, &fate, err);
        *taken = rc == 0 && wt__str_equal(library->tools[*place].name, added.name);
    }
    wt__buffer_dispose(&description);
    return rc;
}

/* Returns the tool at `position` of the catalogue: from `all`, or listed alone into *own if `all` is NULL. */
static int get_listed_tool(wt_engine *engine, const wt_tools *all, size_t position, wt_tools **own, const wt_tool **out,
                           wt_error *err)
{
    wt_list_options options;
    *own = NULL;
    *out = NULL;
    if (all) {
        *out = position < all->len ? all->items[position] : NULL;
        return 0;
    }
    wt_list_options_init(&options);
    options.offset = position;
    options.limit = 1;
    int rc = wt_list(engine, &options, own, err);
    if (rc == 0 && (*own)->len > 0)
        *out = (*own)->items[0];
    return rc;
}

static int draw_store_tools(struct store_library *catalogue, const wt_tools *all, const uint32_t *order, size_t count,
                            size_t tools, struct progress *progress, size_t *left_out, wt_error *err)
{
    int rc = 0;
    size_t begin = catalogue->library->count;
    for (size_t i = 0; rc == 0 && i < count && catalogue->library->count - begin < tools; i++) {
        wt_tools *own;
        const wt_tool *tool;
        size_t place, before = catalogue->library->count;
        bool taken = false;
        rc = get_listed_tool(catalogue->engine, all, order[i], &own, &tool, err);
        if (rc == 0 && tool)
            rc = wt__store_library_add(catalogue, tool, &place, &taken, err);
        *left_out += rc == 0 && catalogue->library->count == before;
        wt_tools_free(own);
        if (rc == 0 && wt__progress_step(progress, 1))
            rc = wt__fail_cancelled(err);
    }
    return rc;
}

int wt__store_library_draw(struct store_library *catalogue, size_t tools, struct rng *rng, struct progress *progress,
                           size_t *left_out, wt_error *err)
{
    wt_catalog_info info;
    wt_tools *all = NULL;
    wt_catalog_info_init(&info);
    *left_out = 0;
    int rc = wt_info(catalogue->engine, &info, err);
    if (rc < 0)
        return rc;
    if (info.tools == 0)
        return wt__fail(err, WT_EEMPTY, "the store has no tools; add some with `whichtool add`");
    uint32_t *order = wt__alloc_array(info.tools, sizeof *order);
    if (!order)
        rc = wt__fail_nomem(err);
    if (rc == 0 && wt__progress_phase(progress, "reading", tools < info.tools ? tools : info.tools))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        wt__rng_draw(rng, order, info.tools, info.tools - 1);
    if (rc == 0 && info.tools <= LISTED_WHOLE)
        rc = wt_list(catalogue->engine, NULL, &all, err);
    if (rc == 0)
        rc = draw_store_tools(catalogue, all, order, info.tools, tools, progress, left_out, err);
    wt_tools_free(all);
    free(order);
    return rc;
}

int wt__store_library_find_similar(void *self, const struct choice_row *row, size_t *places, size_t most, size_t *count,
                                   wt_error *err)
{
    struct store_library *catalogue = self;
    wt_find_options options;
    wt_hits *hits = NULL;
    wt_find_options_init(&options);
    options.k = most + LIKE_SPARE;
    options.recipe = catalogue->recipe;
    *count = 0;
    int rc = wt_find(catalogue->engine, row->query.ptr, row->query.len, &options, &hits, err);
    for (size_t i = 0; rc == 0 && i < hits->len && *count < most; i++) {
        size_t place;
        bool taken;
        rc = wt__store_library_add(catalogue, hits->items[i]->tool, &place, &taken, err);
        const struct library_tool *tools = catalogue->library->tools;
        if (rc == 0 && taken && !wt__row_is_right(row, place) &&
            !wt__str_equal(tools[place].description, tools[row->tool].description))
            places[(*count)++] = place;
    }
    wt_hits_free(hits);
    return rc;
}
