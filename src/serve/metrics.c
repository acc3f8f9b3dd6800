#include "serve/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "whichtool.h"

/* Statuses with a counter of their own. 0: the client disconnected before the answer began. */
static const int statuses[METRICS_STATUSES] = {200, 202, 204, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415,
                                               417, 421, 422, 429, 431, 500, 501, 502, 503, 504, 507, 0};

/* Returns the row of a route in the tables. */
static size_t find_metrics_row(const struct metrics *metrics, size_t route)
{
    return route < metrics->route_count ? route : METRICS_ROUTES;
}

void wt__metrics_count_request(struct metrics *metrics, size_t route, int status)
{
    size_t s = 0;
    while (s < METRICS_STATUSES && statuses[s] != status)
        s++;
    atomic_fetch_add_explicit(&metrics->requests[find_metrics_row(metrics, route)][s], 1, memory_order_relaxed);
}

void wt__metrics_time_request(struct metrics *metrics, size_t route, double ms)
{
    wt__histogram_add(&metrics->durations[find_metrics_row(metrics, route)], ms);
}

void wt__metrics_count_spans(struct metrics *metrics, const struct trace_span *spans, size_t count, size_t missed)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].stage < TRACE_UPSTREAM)
            wt__histogram_add(&metrics->stages[spans[i].stage], spans[i].ended_ms - spans[i].begun_ms);
    if (missed > 0)
        atomic_fetch_add_explicit(&metrics->missed_spans, missed, memory_order_relaxed);
}

void wt__metrics_count_find(struct metrics *metrics, const char *recipe)
{
    size_t i = 0;
    for (const wt_recipe *known; i < METRICS_RECIPES && (known = wt_recipe_at(i)); i++)
        if (strcmp(known->name, recipe) == 0)
            break;
    if (i < METRICS_RECIPES && !wt_recipe_at(i))
        i = METRICS_RECIPES;
    atomic_fetch_add_explicit(&metrics->finds[i], 1, memory_order_relaxed);
}

const char *wt__metrics_route(const struct metrics *metrics, size_t route)
{
    return route < metrics->route_count ? metrics->routes[route] : "other";
}

/* ---------------------------------------------------------------- writing a metric */

void wt__metric_begin(struct buffer *out, const char *name, const char *kind, const char *help)
{
    wt__buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

void wt__metric_value(struct buffer *out, const char *name, const char *labels, double value)
{
    wt__buffer_printf(out, *labels ? "%s{%s} " : "%s%s ", name, labels);
    if (isnan(value))
        wt__buffer_text(out, "NaN\n");
    else if (isinf(value))
        wt__buffer_text(out, value > 0 ? "+Inf\n" : "-Inf\n");
    else
        wt__buffer_printf(out, "%.15g\n", value);
}

void wt__metric_write(struct buffer *out, const char *name, const char *kind, const char *help, double value)
{
    wt__metric_begin(out, name, kind, help);
    wt__metric_value(out, name, "", value);
}

void wt__metric_label(struct buffer *labels, const char *name, const char *value)
{
    wt__buffer_printf(labels, "%s%s=\"", labels->len > 0 ? "," : "", name);
    for (const char *c = value; *c; c++) {
        if (*c == '\\' || *c == '"')
            wt__buffer_char(labels, '\\');
        wt__buffer_text(labels, *c == '\n' ? "\\n" : "");
        if (*c != '\n')
            wt__buffer_char(labels, *c);
    }
    wt__buffer_char(labels, '"');
}

void wt__metric_histogram(struct buffer *out, const char *name, const char *labels, const struct histogram *histogram)
{
    struct histogram_counts counts;
    uint64_t below = 0;
    const char *comma = *labels ? "," : "", *open = *labels ? "{" : "", *close = *labels ? "}" : "";
    wt__histogram_read(histogram, &counts);
    if (counts.count == 0)
        return;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        below += counts.buckets[i];
        wt__buffer_printf(out, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, labels, comma, wt__histogram_bounds[i],
                          (unsigned long long)below);
    }
    wt__buffer_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma, (unsigned long long)counts.count);
    wt__buffer_printf(out, "%s_sum%s%s%s %.6f\n", name, open, labels, close, counts.seconds);
    wt__buffer_printf(out, "%s_count%s%s%s %llu\n", name, open, labels, close, (unsigned long long)counts.count);
}

/* ---------------------------------------------------------------- requests */

static uint64_t load_counter(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void write_request_counts(const struct metrics *metrics, struct buffer *out)
{
    static const char name[] = "whichtool_http_requests_total";
    wt__metric_begin(out, name, "counter", "Requests by route and status.");
    for (size_t r = 0; r <= METRICS_ROUTES; r++)
        for (size_t s = 0; s <= METRICS_STATUSES; s++) {
            uint64_t count = load_counter(&metrics->requests[r][s]);
            if (count == 0)
                continue;
            wt__buffer_printf(out, "%s{route=\"%s\",status=\"", name, wt__metrics_route(metrics, r));
            if (s == METRICS_STATUSES)
                wt__buffer_text(out, "other");
            else if (statuses[s] == 0)
                wt__buffer_text(out, "gone");
            else
                wt__buffer_printf(out, "%d", statuses[s]);
            wt__buffer_printf(out, "\"} %llu\n", (unsigned long long)count);
        }
}

static void write_durations(const struct metrics *metrics, struct buffer *out)
{
    static const char request_name[] = "whichtool_http_request_duration_seconds";
    static const char stage_name[] = "whichtool_stage_duration_seconds";
    char labels[128];
    wt__metric_begin(out, request_name, "histogram",
                     "Time from queueing a request to the last byte of its response, by route.");
    for (size_t r = 0; r <= METRICS_ROUTES; r++) {
        snprintf(labels, sizeof labels, "route=\"%s\"", wt__metrics_route(metrics, r));
        wt__metric_histogram(out, request_name, labels, &metrics->durations[r]);
    }
    wt__metric_begin(out, stage_name, "histogram", "Time of searches in their stages.");
    for (enum trace_stage s = 0; s < TRACE_UPSTREAM; s++) {
        snprintf(labels, sizeof labels, "stage=\"%s\"", wt__trace_stage_word(s));
        wt__metric_histogram(out, stage_name, labels, &metrics->stages[s]);
    }
}

static void write_finds(const struct metrics *metrics, struct buffer *out)
{
    static const char name[] = "whichtool_finds_total";
    wt__metric_begin(out, name, "counter", "Answered searches by recipe.");
    for (size_t i = 0; i <= METRICS_RECIPES; i++) {
        const wt_recipe *recipe = i < METRICS_RECIPES ? wt_recipe_at(i) : NULL;
        uint64_t count = load_counter(&metrics->finds[i]);
        if (count > 0)
            wt__buffer_printf(out, "%s{recipe=\"%s\"} %llu\n", name, recipe ? recipe->name : "mixture",
                              (unsigned long long)count);
        if (i < METRICS_RECIPES && !recipe)
            i = METRICS_RECIPES - 1;
    }
}

void wt__metrics_write(struct metrics *metrics, struct buffer *out)
{
    write_request_counts(metrics, out);
    write_durations(metrics, out);
    write_finds(metrics, out);
    wt__metric_write(out, "whichtool_imports_total", "counter", "Imports over HTTP.",
                     (double)load_counter(&metrics->imports));
}
