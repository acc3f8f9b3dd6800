#include "eval/page.h"

#include <stdlib.h>

#include "base/memory.h"
#include "encoder/packed.h"
#include "eval/report_html.h"

enum {
    PAGE_RESAMPLES = 2000, /* per interval; the page has many intervals and shows tenths of a point */
    LENGTH_MAX = 8192      /* maximum number of tokens counted in a request */
};

struct page_builder {
    const struct page_source *source;
    struct report_page page;
    struct arena arena;
    double *lengths; /* [queries] */
    struct progress *progress;
    wt_error *err;
};

/* ---------------------------------------------------------------- lengths */

static double count_request_words(struct str text)
{
    size_t count = 0;
    bool inside = false;
    for (size_t i = 0; i < text.len; i++) {
        bool blank = (unsigned char)text.ptr[i] <= ' ';
        count += !blank && !inside;
        inside = !blank;
    }
    return (double)count;
}

static int count_request_tokens(struct page_builder *g)
{
    const struct encoder *encoder;
    int32_t *ids = wt__alloc_array(LENGTH_MAX, sizeof *ids);
    int rc = ids ? wt__engine_encoder(g->source->engine, &encoder, g->err) : wt__fail_nomem(g->err);
    for (size_t q = 0; rc == 0 && q < g->source->plan->queries; q++)
        g->lengths[q] = (double)wt__tokenizer_pieces(&wt__encoder_packed(encoder)->tokenizer,
                                                     g->source->dataset->queries[q].text, LENGTH_MAX, ids);
    free(ids);
    return rc;
}

static int count_lengths(struct page_builder *g, bool model)
{
    g->lengths = wt__arena_array(&g->arena, double, g->source->plan->queries);
    g->page.length_unit = model ? "tokens" : "words";
    if (!g->lengths)
        return wt__fail_nomem(g->err);
    if (model)
        return count_request_tokens(g);
    for (size_t q = 0; q < g->source->plan->queries; q++)
        g->lengths[q] = count_request_words(g->source->dataset->queries[q].text);
    return 0;
}

/* ---------------------------------------------------------------- figures */

static int find_failures(struct page_builder *g)
{
    const struct page_source *source = g->source;
    struct failures *failures = wt__arena_array(&g->arena, struct failures, source->report->row_count);
    int rc = failures ? 0 : wt__fail_nomem(g->err);
    for (size_t r = 0; rc == 0 && r < source->report->row_count; r++)
        rc = wt__count_failures(&failures[r], source->dataset, source->plan->queries, source->measured[r].missed,
                                g->lengths, &g->arena, g->err);
    g->page.failures = failures;
    return rc;
}

static int find_intervals(struct page_builder *g)
{
    const struct page_source *source = g->source;
    size_t rows = source->report->row_count, metrics = wt__metric_count(source->plan), count = source->plan->queries;
    size_t resamples = source->resamples < PAGE_RESAMPLES ? source->resamples : PAGE_RESAMPLES;
    struct bootstrap *intervals = wt__arena_array(&g->arena, struct bootstrap, rows * metrics);
    double *values = wt__alloc_array(count, sizeof *values);
    int rc = intervals && values ? 0 : wt__fail_nomem(g->err);
    if (rc == 0 && wt__progress_phase(g->progress, "drawing intervals", rows * metrics))
        rc = wt__fail_cancelled(g->err);
    for (size_t i = 0; rc == 0 && i < rows * metrics; i++) {
        for (size_t q = 0; q < count; q++)
            values[q] = source->measured[i / metrics].values[q * metrics + i % metrics];
        rc = wt__bootstrap(values, count, resamples, source->seed, &intervals[i], g->err);
        if (rc == 0 && wt__progress_step(g->progress, 1))
            rc = wt__fail_cancelled(g->err);
    }
    free(values);
    g->page.intervals = intervals;
    return rc;
}

/* ---------------------------------------------------------------- vectors */

static int view_encoder(struct page_builder *g, struct encoder_view *view, const struct encoder *encoder, bool trained)
{
    struct analysis_input input;
    int rc = wt__analysis_input_read(&input, g->source->engine, encoder, g->source->dataset, g->source->plan->queries,
                                     g->progress, g->err);
    if (rc < 0)
        return rc;
    *view = (struct encoder_view){.trained = trained, .encoder = wt__arena_copy(&g->arena, wt__str(input.encoder))};
    rc = view->encoder ? 0 : wt__fail_nomem(g->err);
    for (unsigned s = 0; rc == 0 && s < (g->page.with_use ? TOOL_VECTORS : 1); s++)
        rc = wt__judge_tool_vectors(&view->by[s], &input, (enum tool_vector)s, g->source->seed, g->err);
    if (rc == 0)
        rc = wt__scatter_map(&view->map, &input, g->source->seed, &g->arena, g->progress, g->err);
    for (size_t i = 0; rc == 0 && i < view->map.count; i++) { /* Copy the texts: the material is freed below. */
        struct str *text = &view->map.points[i].text;
        text->ptr = wt__arena_copy(&g->arena, *text);
        rc = text->ptr ? 0 : wt__fail_nomem(g->err);
    }
    wt__analysis_input_dispose(&input);
    return rc;
}

static int view_encoders(struct page_builder *g, const struct encoder *base)
{
    const struct trained *trained = NULL;
    wt_usage_info info;
    wt_usage_info_init(&info);
    int rc = wt_get_usage_info(g->source->engine, &info, g->err);
    if (rc < 0 || !base)
        return rc;
    g->page.with_use = info.usages > 0;
    g->page.usages = (size_t)info.usages;
    struct encoder_view *views = wt__arena_array(&g->arena, struct encoder_view, 2);
    rc = views ? view_encoder(g, &views[0], base, false) : wt__fail_nomem(g->err);
    wt__engine_trained(g->source->engine, &trained, NULL);
    bool second = rc == 0 && trained && trained->own;
    if (second)
        rc = view_encoder(g, &views[1], trained->own, true);
    g->page.views = views;
    g->page.view_count = second ? 2 : 1;
    return rc;
}

int wt__page_write(const char *path, const struct page_source *source, struct progress *progress, wt_error *err)
{
    struct page_builder g = {.source = source, .progress = progress, .err = err};
    const struct encoder *base = NULL;
    struct buffer html = {0};
    g.page.report = source->report;
    g.page.dataset = source->dataset;
    g.page.plan = source->plan;
    int rc = wt__engine_encoder(source->engine, &base, err);
    rc = count_lengths(&g, rc == 0);
    if (rc == 0)
        rc = find_failures(&g);
    if (rc == 0)
        rc = find_intervals(&g);
    if (rc == 0)
        rc = view_encoders(&g, base);
    if (rc == 0) {
        wt__report_html(&html, &g.page);
        rc = html.failed ? wt__fail_nomem(err) : wt__file_replace(path, html.ptr, html.len, err);
    }
    wt__buffer_dispose(&html);
    wt__arena_dispose(&g.arena);
    return rc;
}
