/* report.c: writes the page of an evaluation. Its sections are recipes, vectors of tools, failures, cosines of requests
 * and tools, a map of both, and settings. A table below each chart has the numbers of the chart. The table below the
 * map has the kinds of the nearest points instead. Text from the data set is escaped when it is written (text/html.h).
 * In addition, the page's content security policy forbids loading or running anything. */
#include "eval/report.h"

#include <math.h>
#include <stdlib.h>

#include "base/bootstrap.h"
#include "base/memory.h"
#include "encoder/packed.h"

enum {
    WORST_TOOLS = 15,
    FAILED_REQUESTS = 15,
    REQUEST_SHOWN = 240 /* maximum characters shown of a request or tool id */
};

/* Analyses of the tools' vectors by one encoder. */
struct encoder_view {
    const char *encoder;
    bool trained;
    struct vector_quality by[TOOL_VECTORS]; /* BY_USE and BY_BOTH are set only if there is recorded use */
    struct scatter_map map;
};

struct report_page {
    const wt_eval_report *report; /* has at least one row */
    const struct dataset *dataset;
    const struct eval_plan *plan;
    const struct bootstrap *intervals; /* [rows, metrics] of the means */
    const struct failures *failures;   /* [rows] */
    const char *length_unit;           /* unit of a request's length: "tokens" or "words" */
    const struct encoder_view *views;
    size_t view_count; /* 0 without an encoder */
    bool with_use;     /* true if usages were recorded */
    size_t usages;     /* recorded requests of the train split */
};

static void write_cell(struct buffer *out, double value, int decimals)
{
    if (isnan(value))
        wt__buffer_text(out, "<td>-</td>");
    else
        wt__buffer_printf(out, "<td>%.*f</td>", decimals, value);
}

static void begin_figure(struct buffer *out)
{
    wt__buffer_text(out, "<figure><div class=\"scroll\">\n");
}

static void end_figure(struct buffer *out, const char *caption)
{
    wt__buffer_text(out, "</div>");
    wt__html_element(out, "figcaption", caption);
    wt__buffer_text(out, "</figure>\n");
}

/* Returns the index of a metric at the main cutoff. kind: 0 recall, 1 ndcg, 2 complete. */
static size_t main_metric_index(const struct eval_plan *plan, size_t kind)
{
    return kind * plan->cutoff_count + wt__main_cutoff(plan);
}

static const struct bootstrap *find_interval(const struct report_page *page, size_t row, size_t metric)
{
    return &page->intervals[row * wt__metric_count(page->plan) + metric];
}

static double best_value(const struct report_page *page, size_t metric)
{
    double best = 0;
    for (size_t r = 0; r < page->report->row_count; r++)
        best = fmax(best, page->report->rows[r]->metrics[metric]->value);
    return best;
}

static void write_metric_cell(struct buffer *out, const struct report_page *page, size_t row, size_t metric)
{
    const struct bootstrap *b = find_interval(page, row, metric);
    bool best = page->report->row_count > 1 && b->difference >= best_value(page, metric) - 1e-12;
    wt__buffer_printf(out, "<td%s>%.1f<small>%.1f\xe2\x80\x93%.1f</small></td>", best ? " class=\"best\"" : "",
                      100 * b->difference, 100 * b->low, 100 * b->high);
}

static void write_main_table(struct buffer *out, const struct report_page *page)
{
    const wt_eval_report *report = page->report;
    const size_t shown[] = {main_metric_index(page->plan, 0), main_metric_index(page->plan, 1),
                            main_metric_index(page->plan, 2), 3 * page->plan->cutoff_count};
    struct buffer columns = {0};
    wt__buffer_text(&columns, "recipe");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        wt__buffer_printf(&columns, " %s", report->rows[0]->metrics[shown[i]]->name);
    wt__buffer_text(&columns, " p50_ms p95_ms p99_ms");
    out->failed |= columns.failed;
    wt__html_table(out, "Percent with the 95 % interval of the mean over requests (bootstrap); time of one search",
                   columns.failed ? "" : columns.ptr);
    wt__buffer_dispose(&columns);
    for (size_t r = 0; r < report->row_count; r++) {
        const wt_eval_row *row = report->rows[r];
        wt__html_row(out, row->recipe);
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
            write_metric_cell(out, page, r, shown[i]);
        write_cell(out, row->p50_ms, 2);
        write_cell(out, row->p95_ms, 2);
        write_cell(out, row->p99_ms, 2);
        wt__buffer_text(out, "</tr>\n");
    }
    wt__html_table_end(out);
}

static void write_full_table(struct buffer *out, const struct report_page *page)
{
    const wt_eval_report *report = page->report;
    wt__buffer_text(out, "<details><summary>All figures at all cutoffs</summary>\n"
                         "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">figure</th>");
    for (size_t r = 0; r < report->row_count; r++) {
        wt__buffer_text(out, "<th scope=\"col\">");
        wt__html_text(out, wt__str(report->rows[r]->recipe));
        wt__buffer_text(out, "</th>");
    }
    wt__buffer_text(out, "</tr></thead><tbody>\n");
    for (size_t m = 0; m < wt__metric_count(page->plan); m++) {
        wt__html_row(out, report->rows[0]->metrics[m]->name);
        for (size_t r = 0; r < report->row_count; r++)
            write_metric_cell(out, page, r, m);
        wt__buffer_text(out, "</tr>\n");
    }
    wt__html_table_end(out);
    wt__buffer_text(out, "</details>\n");
}

static void write_comparison_table(struct buffer *out, const wt_eval_report *report)
{
    if (report->comparison_count == 0)
        return;
    wt__html_table(out, "Difference from the first recipe, paired by request: mean in points, 95 % interval, and p",
                   "recipe <figure difference from to p");
    for (size_t i = 0; i < report->comparison_count; i++) {
        const wt_eval_comparison *c = report->comparisons[i];
        wt__html_row(out, c->b);
        wt__buffer_text(out, "<td class=\"words\">");
        wt__html_text(out, wt__str(c->metric));
        wt__buffer_printf(out, "</td><td>%+.1f</td><td>%+.1f</td><td>%+.1f</td><td>%.4f</td></tr>\n",
                          100 * c->difference, 100 * c->low, 100 * c->high, c->p);
    }
    wt__html_table_end(out);
}

static void write_recipes_section(struct buffer *out, const struct report_page *page)
{
    const wt_eval_report *report = page->report;
    size_t metric = main_metric_index(page->plan, 0);
    struct svg_bar bars[64];
    size_t count = report->row_count < 64 ? report->row_count : 64;
    for (size_t r = 0; r < count; r++) {
        const struct bootstrap *b = find_interval(page, r, metric);
        bars[r] = (struct svg_bar){report->rows[r]->recipe, b->difference, b->low, b->high, 0};
    }
    wt__buffer_text(out, "<h2 id=\"of-recipes\">Recipes</h2>\n");
    begin_figure(out);
    const struct svg_chart chart = {
        "recipes", report->rows[0]->metrics[metric]->name,
        "One bar per recipe; the whiskers are the 95 % interval. The table below has the numbers.",
        report->rows[0]->metrics[metric]->name, UNIT_PERCENT};
    wt__svg_bars(out, &chart, bars, count);
    end_figure(out, "Share of the relevant tools among the first hits, in percent, mean over requests.");
    write_main_table(out, page);
    write_comparison_table(out, report);
    write_full_table(out, page);
}

static const char *const vector_names[TOOL_VECTORS] = {"description", "use (Tool2Vec)", "both"};

static void write_vectors_section(struct buffer *out, const struct report_page *page)
{
    if (page->view_count == 0)
        return;
    wt__buffer_text(
        out,
        "<h2 id=\"of-vectors\">Description or use</h2>\n<p>Compares three vectors of a tool: the vector of its "
        "description, the mean vector of the training requests that used it (Tool2Vec), and the sum of both. Tools are "
        "ranked by the inner product alone, with the encoder as it is");
    wt__buffer_text(out, page->view_count > 1 ? " and after training.</p>\n" : ", without training.</p>\n");
    if (!page->with_use)
        wt__buffer_text(out, "<p>The data set has no training requests, so there is no recorded use.</p>\n");
    else
        wt__buffer_printf(out,
                          "<p>%zu training requests are recorded as use. A tool without recorded use has no vector by "
                          "use and cannot be found by it.</p>\n",
                          page->usages);
    wt__html_table(out, "Percent", "encoder <vectors tools R@3 R@5 R@7 nDCG@3 nDCG@5 nDCG@7");
    for (size_t v = 0; v < page->view_count; v++)
        for (unsigned s = 0; s < (page->with_use ? TOOL_VECTORS : 1); s++) {
            const struct vector_quality *q = &page->views[v].by[s];
            wt__html_row(out, page->views[v].trained ? "trained" : page->views[v].encoder);
            wt__buffer_printf(out, "<td class=\"words\">%s</td><td>%zu</td>", vector_names[s], q->tools);
            for (size_t c = 0; c < VECTOR_CUTOFFS; c++)
                write_cell(out, 100 * q->recall[c], 1);
            for (size_t c = 0; c < VECTOR_CUTOFFS; c++)
                write_cell(out, 100 * q->ndcg[c], 1);
            wt__buffer_text(out, "</tr>\n");
        }
    wt__html_table_end(out);
}

static void write_failure_charts(struct buffer *out, const struct report_page *page)
{
    size_t tallest = 0;
    for (size_t r = 0; r < page->report->row_count; r++)
        for (size_t b = 0; b < FAILURE_BINS; b++)
            tallest = page->failures[r].bins[b] > tallest ? page->failures[r].bins[b] : tallest;
    wt__buffer_text(out, "<div class=\"beside\">\n");
    for (size_t r = 0; r < page->report->row_count; r++) {
        struct buffer name = {0}, title = {0};
        const struct failures *f = &page->failures[r];
        wt__buffer_printf(&name, "failures-%zu", r);
        wt__buffer_printf(&title, "Failures by tool with %s", page->report->rows[r]->recipe);
        out->failed |= name.failed || title.failed;
        const struct svg_chart chart = {name.failed ? "" : name.ptr, title.failed ? "" : title.ptr,
                                        "Columns: number of tools that were missed in 0, up to 10, up to 20 percent of "
                                        "their requests, and so on. The table below has mean and deviation.",
                                        "missed, % of requests", UNIT_COUNT};
        wt__buffer_text(out, "<figure>");
        wt__svg_failures(out, &chart, f->bins, tallest, 1);
        wt__buffer_text(out, "<figcaption>");
        wt__html_text(out, wt__str(page->report->rows[r]->recipe));
        wt__buffer_printf(out, ": mean %.1f, deviation %.1f</figcaption></figure>\n", 100 * f->share.mean,
                          100 * f->share.deviation);
        wt__buffer_dispose(&name);
        wt__buffer_dispose(&title);
    }
    wt__buffer_text(out, "</div>\n");
}

static void write_failure_table(struct buffer *out, const struct report_page *page)
{
    wt__html_table(out, "Number of tools by the percentage of their requests that miss them",
                   "recipe tools mean deviation none to_10 to_20 to_30 to_40 to_50 to_60 to_70 to_80 to_90 to_100");
    for (size_t r = 0; r < page->report->row_count; r++) {
        const struct failures *f = &page->failures[r];
        wt__html_row(out, page->report->rows[r]->recipe);
        wt__buffer_printf(out, "<td>%zu</td><td>%.1f</td><td>%.1f</td>", f->tool_count, 100 * f->share.mean,
                          100 * f->share.deviation);
        for (size_t b = 0; b < FAILURE_BINS; b++)
            wt__buffer_printf(out, "<td>%zu</td>", f->bins[b]);
        wt__buffer_text(out, "</tr>\n");
    }
    wt__html_table_end(out);
}

static void write_length_chart(struct buffer *out, const struct report_page *page)
{
    struct svg_bar bars[64];
    struct buffer labels = {0}, axis = {0};
    size_t count = page->report->row_count < 32 ? page->report->row_count : 32, starts[64];
    for (size_t i = 0; i < 2 * count; i++) {
        starts[i] = labels.len;
        wt__buffer_printf(&labels, "%s, %s", page->report->rows[i / 2]->recipe, i % 2 ? "found" : "failed");
        wt__buffer_append(&labels, "", 1);
    }
    wt__buffer_printf(&axis, "length in %s", page->length_unit);
    out->failed |= labels.failed || axis.failed;
    for (size_t i = 0; !out->failed && i < 2 * count; i++) {
        const struct failures *f = &page->failures[i / 2];
        const struct mean_deviation *s = i % 2 ? &f->found_length : &f->failed_length;
        bars[i] = (struct svg_bar){labels.ptr + starts[i], s->mean, fmax(s->mean - s->deviation, 0),
                                   s->mean + s->deviation, i % 2 ? 2 : 1};
    }
    const struct svg_chart chart = {
        "lengths", "Length of failed and found requests",
        "Two bars per recipe: mean length of failed and of found requests; the whiskers are "
        "one standard deviation. The table below has the numbers.",
        axis.failed ? "" : axis.ptr, UNIT_COUNT};
    begin_figure(out);
    if (!out->failed)
        wt__svg_bars(out, &chart, bars, 2 * count);
    end_figure(out,
               "Mean and standard deviation. A request failed if one of its tools is not among the first five hits.");
    wt__buffer_dispose(&labels);
    wt__buffer_dispose(&axis);
}

static void write_length_table(struct buffer *out, const struct report_page *page)
{
    struct buffer caption = {0};
    wt__buffer_printf(&caption, "Length of requests in %s", page->length_unit);
    out->failed |= caption.failed;
    wt__html_table(out, caption.ptr, "recipe failed mean deviation found mean deviation");
    for (size_t r = 0; r < page->report->row_count; r++) {
        const struct failures *f = &page->failures[r];
        wt__html_row(out, page->report->rows[r]->recipe);
        wt__buffer_printf(out, "<td>%zu</td><td>%.1f</td><td>%.1f</td><td>%zu</td><td>%.1f</td><td>%.1f</td></tr>\n",
                          f->failed_length.count, f->failed_length.mean, f->failed_length.deviation,
                          f->found_length.count, f->found_length.mean, f->found_length.deviation);
    }
    wt__html_table_end(out);
    wt__buffer_dispose(&caption);
}

/* Returns the row of the recipe with the best recall; the page lists the misses of this recipe only. */
static size_t best_row(const struct report_page *page)
{
    size_t best = 0, metric = main_metric_index(page->plan, 0);
    for (size_t r = 1; r < page->report->row_count; r++)
        if (page->report->rows[r]->metrics[metric]->value > page->report->rows[best]->metrics[metric]->value)
            best = r;
    return best;
}

/* Iterates over tools in descending order of misses: returns the tool after `last`, or NULL. Ties keep their order. */
static const struct tool_failures *next_worst(const struct failures *f, const struct tool_failures *last)
{
    const struct tool_failures *next = NULL;
    for (size_t i = 0; i < f->tool_count; i++) {
        const struct tool_failures *tool = &f->tools[i];
        bool after = !last || tool->missed < last->missed || (tool->missed == last->missed && tool > last);
        if (tool->missed > 0 && after && (!next || tool->missed > next->missed))
            next = tool;
    }
    return next;
}

static void write_worst_tools(struct buffer *out, const struct report_page *page, size_t best)
{
    const struct tool_failures *tool = NULL;
    wt__buffer_text(out, "<details><summary>Tools most often missed by ");
    wt__html_text(out, wt__str(page->report->rows[best]->recipe));
    wt__buffer_text(out, "</summary>\n");
    wt__html_table(out, NULL, "tool wanted missed");
    for (size_t i = 0; i < WORST_TOOLS && (tool = next_worst(&page->failures[best], tool)); i++) {
        wt__buffer_text(out, "<tr><td class=\"long\">");
        wt__html_cut(out, tool->tool, REQUEST_SHOWN);
        wt__buffer_printf(out, "</td><td>%zu</td><td>%zu</td></tr>\n", tool->wanted, tool->missed);
    }
    wt__html_table_end(out);
    wt__buffer_text(out, "</details>\n");
}

static void write_failed_requests(struct buffer *out, const struct report_page *page, size_t best)
{
    size_t shown = 0;
    wt__buffer_text(out, "<details><summary>First requests with a tool missed by ");
    wt__html_text(out, wt__str(page->report->rows[best]->recipe));
    wt__buffer_text(out, "</summary>\n");
    wt__html_table(out, NULL, "<request <relevant_tools");
    for (size_t q = 0; q < page->plan->queries && shown < FAILED_REQUESTS; q++) {
        const struct query *query = &page->dataset->queries[q];
        if (!page->failures[best].failed[q])
            continue;
        shown++;
        wt__buffer_text(out, "<tr><td class=\"long\">");
        wt__html_cut(out, query->text, REQUEST_SHOWN);
        wt__buffer_text(out, "</td><td class=\"long\">");
        for (size_t j = 0, listed = 0; j < query->judgement_count; j++) {
            if (query->judgements[j].gain <= 0)
                continue;
            wt__buffer_text(out, listed++ ? ", " : "");
            wt__html_cut(out, query->judgements[j].tool, REQUEST_SHOWN);
        }
        wt__buffer_text(out, "</td></tr>\n");
    }
    wt__html_table_end(out);
    wt__buffer_text(out, "</details>\n");
}

static void write_failures_section(struct buffer *out, const struct report_page *page)
{
    size_t best = best_row(page);
    wt__buffer_text(
        out,
        "<h2 id=\"of-failures\">Failures</h2>\n<p>A tool fails for a request if it is relevant and not among the first "
        "five hits. Each chart counts tools by the share of their requests for which they fail: a good recipe has its "
        "tools on the left.</p>\n");
    write_failure_charts(out, page);
    write_failure_table(out, page);
    wt__buffer_text(out, "<h3>Are failed requests longer?</h3>\n");
    write_length_chart(out, page);
    write_length_table(out, page);
    write_worst_tools(out, page, best);
    write_failed_requests(out, page, best);
}

static void write_boxes(struct buffer *out, const struct report_page *page, size_t v)
{
    static const char *const labels[][2] = {{"description, used", "description, not used"},
                                            {"use, used", "use, not used"}};
    const struct encoder_view *view = &page->views[v];
    struct svg_box rows[4];
    struct buffer name = {0};
    size_t count = page->with_use ? 4 : 2;
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct svg_box){labels[i / 2][i % 2], i % 2 ? view->by[i / 2].unused : view->by[i / 2].used,
                                   i % 2   ? 3
                                   : i / 2 ? 2
                                           : 1};
    wt__buffer_printf(&name, "cosines-%zu", v);
    out->failed |= name.failed;
    const struct svg_chart chart = {
        name.failed ? "" : name.ptr, "Cosine of requests and tools",
        "Boxes from the first to the third quartile with the median; whiskers end at the last value within 1.5 "
        "interquartile ranges. The table below has the numbers.",
        "cosine of request and tool", UNIT_PLAIN};
    wt__buffer_text(out, "<h3>");
    wt__html_text(out, wt__str(view->trained ? "The trained encoder" : view->encoder));
    wt__buffer_text(out, "</h3>\n");
    begin_figure(out);
    wt__svg_boxes(out, &chart, rows, count);
    end_figure(out, "Box: quartiles and median; the number is the median. Whiskers: the last value within 1.5 "
                    "interquartile ranges.");
    wt__html_table(out, NULL, "tools'_vectors pairs low first_quartile median third_quartile high outliers");
    for (size_t i = 0; i < count; i++) {
        const struct box_stats *box = &rows[i].box;
        wt__html_row(out, rows[i].label);
        wt__buffer_printf(out, "<td>%zu</td>", box->count);
        const double values[] = {box->low, box->first, box->median, box->third, box->high};
        for (size_t k = 0; k < 5; k++)
            write_cell(out, values[k], 3);
        wt__buffer_printf(out, "<td>%zu</td></tr>\n", box->outliers);
    }
    wt__html_table_end(out);
    wt__buffer_dispose(&name);
}

static void write_cosines_section(struct buffer *out, const struct report_page *page)
{
    if (page->view_count == 0)
        return;
    wt__buffer_text(
        out,
        "<h2 id=\"of-nearness\">Cosines of requests and tools</h2>\n<p>Cosines of each request with the tools it used "
        "and with the other tools. The less the box of the used tools overlaps the box of the other tools, the better "
        "the vectors separate them.</p>\n");
    for (size_t v = 0; v < page->view_count; v++)
        write_boxes(out, page, v);
}

static void write_map(struct buffer *out, const struct report_page *page, size_t v)
{
    static const char *const kinds[POINT_KINDS] = {"requests", "tools by use", "tools by description"};
    const struct encoder_view *view = &page->views[v];
    const struct scatter_map *map = &view->map;
    struct buffer name = {0};
    wt__buffer_printf(&name, "map-%zu", v);
    out->failed |= name.failed;
    const struct svg_chart chart = {
        name.failed ? "" : name.ptr, "Map of requests and tools",
        "Each request and each tool is a point; points of similar meaning are close. The table "
        "below shows the kind of the nearest point.",
        "", UNIT_PLAIN};
    wt__buffer_text(out, "<h3>");
    wt__html_text(out, wt__str(view->trained ? "The trained encoder" : view->encoder));
    wt__buffer_text(out, "</h3>\n<ul class=\"legend\">");
    for (unsigned k = 0; k < POINT_KINDS; k++) {
        if (map->of_kind[k] == 0)
            continue;
        wt__buffer_text(out, "<li>");
        wt__svg_mark(out, (enum point_kind)k);
        wt__buffer_printf(out, "%s (%zu)</li>", kinds[k], map->of_kind[k]);
    }
    wt__buffer_text(out, "</ul>\n");
    begin_figure(out);
    wt__svg_map(out, &chart, map);
    end_figure(out, "t-SNE that starts from the first two principal components, perplexity 30. Distances within a "
                    "cluster mean more than distances between clusters. Hover over a mark to see its text.");
    wt__html_table(out, "Kind of the nearest point, by the vectors and not by the map, in percent of the points",
                   "points a_request a_tool_by_use a_tool_by_description");
    for (unsigned k = 0; k < POINT_KINDS; k++) {
        if (map->of_kind[k] == 0)
            continue;
        wt__html_row(out, kinds[k]);
        for (unsigned n = 0; n < POINT_KINDS; n++)
            write_cell(out, 100 * map->nearest[k][n], 1);
        wt__buffer_text(out, "</tr>\n");
    }
    wt__html_table_end(out);
    wt__buffer_dispose(&name);
}

static void write_map_section(struct buffer *out, const struct report_page *page)
{
    if (page->view_count == 0)
        return;
    wt__buffer_text(
        out,
        "<h2 id=\"of-map\">Map</h2>\n<p>Requests and tools in one plane, sampled if there are many. Descriptions that "
        "lie apart from the requests are hard to find by a request. Vectors of use lie among the requests.</p>\n");
    for (size_t v = 0; v < page->view_count; v++)
        write_map(out, page, v);
}

static void write_settings_section(struct buffer *out, const wt_eval_report *report)
{
    wt__buffer_text(out, "<h2 id=\"of-settings\">Settings</h2>\n");
    for (size_t r = 0; r < report->row_count; r++) {
        wt__html_element(out, "h3", report->rows[r]->recipe);
        if (report->rows[r]->notice)
            wt__html_element(out, "p", report->rows[r]->notice);
        wt__html_element(out, "pre", report->rows[r]->settings);
        wt__buffer_char(out, '\n');
    }
}

static void write_page_html(struct buffer *out, const struct report_page *page)
{
    const wt_eval_row *first = page->report->rows[0];
    wt__html_head(out);
    wt__html_text(out, wt__str(first->set));
    wt__buffer_text(out, ", ");
    wt__html_text(out, wt__str(first->split));
    wt__buffer_text(out, ": evaluation");
    wt__html_body(out);
    wt__buffer_text(out, "<h1>");
    wt__html_text(out, wt__str(first->set));
    wt__buffer_text(out, ", ");
    wt__html_text(out, wt__str(first->split));
    wt__buffer_printf(out, "</h1>\n<p class=\"lead\">%zu requests, %zu tools, %zu recipe%s. whichtool ", first->queries,
                      first->tools, page->report->row_count, page->report->row_count == 1 ? "" : "s");
    wt__html_text(out, wt__str(wt_version()));
    wt__buffer_text(out, ".</p>\n");
    write_recipes_section(out, page);
    write_vectors_section(out, page);
    write_failures_section(out, page);
    write_cosines_section(out, page);
    write_map_section(out, page);
    write_settings_section(out, page->report);
    wt__html_end(out);
}

enum {
    PAGE_RESAMPLES = 2000, /* maximum per interval; few, because the page has many intervals and shows one decimal */
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
    WT_AUTO_FREE int32_t *ids = wt__alloc_array(LENGTH_MAX, sizeof *ids);
    WT_CHECK_ALLOC(ids, g->err);
    WT_TRY(wt__engine_encoder(g->source->engine, &encoder, g->err));
    for (size_t q = 0; q < g->source->plan->queries; q++)
        g->lengths[q] = (double)wt__tokenizer_pieces(&wt__encoder_packed(encoder)->tokenizer,
                                                     g->source->dataset->queries[q].text, LENGTH_MAX, ids);
    return 0;
}

static int count_lengths(struct page_builder *g, bool model)
{
    g->lengths = wt__arena_array(&g->arena, double, g->source->plan->queries);
    g->page.length_unit = model ? "tokens" : "words";
    WT_CHECK_ALLOC(g->lengths, g->err);
    if (model)
        return count_request_tokens(g);
    for (size_t q = 0; q < g->source->plan->queries; q++)
        g->lengths[q] = count_request_words(g->source->dataset->queries[q].text);
    return 0;
}

static int find_failures(struct page_builder *g)
{
    const struct page_source *source = g->source;
    struct failures *failures = wt__arena_array(&g->arena, struct failures, source->report->row_count);
    WT_CHECK_ALLOC(failures, g->err);
    for (size_t r = 0; r < source->report->row_count; r++)
        WT_TRY(wt__count_failures(&failures[r], source->dataset, source->plan->queries, source->measured[r].missed,
                                  g->lengths, &g->arena, g->err));
    g->page.failures = failures;
    return 0;
}

static int find_intervals(struct page_builder *g)
{
    const struct page_source *source = g->source;
    size_t rows = source->report->row_count, metrics = wt__metric_count(source->plan), count = source->plan->queries;
    size_t resamples = source->resamples < PAGE_RESAMPLES ? source->resamples : PAGE_RESAMPLES;
    struct bootstrap *intervals = wt__arena_array(&g->arena, struct bootstrap, rows * metrics);
    WT_AUTO_FREE double *values = wt__alloc_array(count, sizeof *values);
    WT_CHECK_ALLOC(intervals && values, g->err);
    if (wt__progress_phase(g->progress, "drawing intervals", rows * metrics))
        return wt__fail_cancelled(g->err);
    for (size_t i = 0; i < rows * metrics; i++) {
        for (size_t q = 0; q < count; q++)
            values[q] = source->measured[i / metrics].values[q * metrics + i % metrics];
        WT_TRY(wt__bootstrap(values, count, resamples, source->seed, &intervals[i], g->err));
        if (wt__progress_step(g->progress, 1))
            return wt__fail_cancelled(g->err);
    }
    g->page.intervals = intervals;
    return 0;
}

static int view_encoder(struct page_builder *g, struct encoder_view *view, const struct encoder *encoder, bool trained)
{
    WT_CLEANUP(wt__analysis_input_dispose) struct analysis_input input = {0};
    WT_TRY(wt__analysis_input_read(&input, g->source->engine, encoder, g->source->dataset, g->source->plan->queries,
                                   g->progress, g->err));
    *view = (struct encoder_view){.trained = trained, .encoder = wt__arena_copy(&g->arena, wt__str(input.encoder))};
    WT_CHECK_ALLOC(view->encoder, g->err);
    for (unsigned s = 0; s < (g->page.with_use ? TOOL_VECTORS : 1); s++)
        WT_TRY(wt__judge_tool_vectors(&view->by[s], &input, (enum tool_vector)s, g->source->seed, g->err));
    WT_TRY(wt__scatter_map(&view->map, &input, g->source->seed, &g->arena, g->progress, g->err));
    for (size_t i = 0; i < view->map.count; i++) { /* Copy the texts: the input is freed at the end of this function. */
        struct str *text = &view->map.points[i].text;
        text->ptr = wt__arena_copy(&g->arena, *text);
        WT_CHECK_ALLOC(text->ptr, g->err);
    }
    return 0;
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

static int build_page(struct page_builder *g)
{
    const struct encoder *base = NULL;
    int rc = wt__engine_encoder(g->source->engine, &base, g->err);
    WT_TRY(count_lengths(g, rc == 0));
    WT_TRY(find_failures(g));
    WT_TRY(find_intervals(g));
    return view_encoders(g, base);
}

int wt__page_write(const char *path, const struct page_source *source, struct progress *progress, wt_error *err)
{
    struct page_builder g = {.source = source, .progress = progress, .err = err};
    g.page.report = source->report;
    g.page.dataset = source->dataset;
    g.page.plan = source->plan;
    int rc = build_page(&g);
    if (rc == 0) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer html = {0};
        write_page_html(&html, &g.page);
        rc = html.failed ? wt__fail_nomem(err) : wt__file_replace(path, html.ptr, html.len, err);
    }
    wt__arena_dispose(&g.arena);
    return rc;
}
