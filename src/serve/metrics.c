#include "serve/metrics.h"

#include <string.h>

#include "base/clock.h"
#include "text/shown.h"
#include "whichtool.h"
#include "wire/members.h"

/* Upper bounds of the buckets in seconds. */
static const double bounds[METRICS_BUCKETS] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                               0.025,  0.05,    0.1,    0.5,   2.5,    10};

/* Statuses with a counter of their own. 0: the client disconnected before the answer began. */
static const int statuses[METRICS_STATUSES] = {200, 202, 204, 400, 401, 403, 404, 405, 409, 413, 414, 415,
                                               417, 421, 422, 431, 500, 501, 502, 503, 504, 505, 507, 0};

void wt__metrics_count_request(struct metrics *metrics, size_t route, int status, double ms)
{
    size_t r = route < metrics->route_count ? route : METRICS_ROUTES, s = 0, b = 0;
    while (s < METRICS_STATUSES && statuses[s] != status)
        s++;
    while (b < METRICS_BUCKETS && ms / 1000 > bounds[b])
        b++;
    atomic_fetch_add_explicit(&metrics->requests[r][s], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->buckets[r][b], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->microseconds[r], ms > 0 ? (uint_fast64_t)(ms * 1000) : 0, memory_order_relaxed);
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

void wt__metric_write(struct buffer *out, const char *name, const char *kind, const char *help, double value)
{
    wt__buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, kind, name, value);
}

static uint64_t load_counter(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static const char *route_label(const struct metrics *metrics, size_t route)
{
    return route < metrics->route_count ? metrics->routes[route] : "other";
}

static void write_request_counts(struct metrics *metrics, struct buffer *out)
{
    wt__buffer_text(out, "# HELP whichtool_http_requests_total Requests by route and status.\n"
                         "# TYPE whichtool_http_requests_total counter\n");
    for (size_t r = 0; r <= METRICS_ROUTES; r++)
        for (size_t s = 0; s <= METRICS_STATUSES; s++) {
            uint64_t count = load_counter(&metrics->requests[r][s]);
            if (count == 0)
                continue;
            wt__buffer_printf(out, "whichtool_http_requests_total{route=\"%s\",status=\"", route_label(metrics, r));
            if (s == METRICS_STATUSES)
                wt__buffer_text(out, "other");
            else if (statuses[s] == 0)
                wt__buffer_text(out, "gone");
            else
                wt__buffer_printf(out, "%d", statuses[s]);
            wt__buffer_printf(out, "\"} %llu\n", (unsigned long long)count);
        }
}

static void write_durations(struct metrics *metrics, struct buffer *out)
{
    wt__buffer_text(out, "# HELP whichtool_http_request_duration_seconds Time from queueing a request to the last byte "
                         "of its response.\n"
                         "# TYPE whichtool_http_request_duration_seconds histogram\n");
    for (size_t r = 0; r <= METRICS_ROUTES; r++) {
        uint64_t sum = 0;
        for (size_t b = 0; b <= METRICS_BUCKETS; b++)
            sum += load_counter(&metrics->buckets[r][b]);
        if (sum == 0)
            continue;
        const char *label = route_label(metrics, r);
        uint64_t below = 0;
        for (size_t b = 0; b < METRICS_BUCKETS; b++) {
            below += load_counter(&metrics->buckets[r][b]);
            wt__buffer_printf(out, "whichtool_http_request_duration_seconds_bucket{route=\"%s\",le=\"%g\"} %llu\n",
                              label, bounds[b], (unsigned long long)below);
        }
        below += load_counter(&metrics->buckets[r][METRICS_BUCKETS]);
        wt__buffer_printf(out, "whichtool_http_request_duration_seconds_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", label,
                          (unsigned long long)below);
        wt__buffer_printf(out, "whichtool_http_request_duration_seconds_sum{route=\"%s\"} %.6f\n", label,
                          (double)load_counter(&metrics->microseconds[r]) / 1e6);
        wt__buffer_printf(out, "whichtool_http_request_duration_seconds_count{route=\"%s\"} %llu\n", label,
                          (unsigned long long)below);
    }
}

static void write_finds(struct metrics *metrics, struct buffer *out)
{
    wt__buffer_text(out, "# HELP whichtool_finds_total Answered searches by recipe.\n"
                         "# TYPE whichtool_finds_total counter\n");
    for (size_t i = 0; i <= METRICS_RECIPES; i++) {
        const wt_recipe *recipe = i < METRICS_RECIPES ? wt_recipe_at(i) : NULL;
        uint64_t count = load_counter(&metrics->finds[i]);
        if (count > 0)
            wt__buffer_printf(out, "whichtool_finds_total{recipe=\"%s\"} %llu\n", recipe ? recipe->name : "mixture",
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

enum { PATH_SHOWN = 200, ASKED_SHOWN = 2000 };

static void put_access_time(struct buffer *out, long long seconds)
{
    char text[CLOCK_TEXT_BYTES];
    wt__clock_text(seconds, text);
    wt__buffer_text(out, text);
}

/* Writes the path as a JSON string so that bytes sent by the client cannot break the line. */
static void put_request_word(struct buffer *out, struct str word)
{
    wt__shown_string(out, wt__str_head(word, PATH_SHOWN));
}

void wt__access_text(struct buffer *out, const struct access *access)
{
    const struct http_record *record = access->record;
    put_access_time(out, access->seconds);
    wt__buffer_printf(out, " %s %s ", record->peer, *access->principal ? access->principal : "-");
    if (record->request) {
        wt__buffer_str(out, wt__str_head(record->request->method, 20));
        wt__buffer_char(out, ' ');
        put_request_word(out, record->request->path);
    } else {
        wt__buffer_text(out, "- -");
    }
    wt__buffer_printf(out, " %d %llu bytes %.1f+%.1f ms", record->status, (unsigned long long)record->bytes,
                      record->queue_ms, record->run_ms);
    if (access->asked.len > 0) {
        wt__buffer_char(out, ' ');
        wt__shown_string(out, wt__str_head(access->asked, ASKED_SHOWN));
    }
    wt__buffer_char(out, '\n');
}

static void put_access_member(struct buffer *out, const char *key, struct str value)
{
    wt__json_key(out, key);
    put_request_word(out, value);
}

void wt__access_json(struct buffer *out, const struct access *access)
{
    const struct http_record *record = access->record;
    wt__buffer_text(out, "{\"time\":\"");
    put_access_time(out, access->seconds);
    wt__buffer_char(out, '"');
    wt__json_text(out, "peer", record->peer);
    wt__json_text_or_null(out, "key", *access->principal ? access->principal : NULL);
    if (record->request) {
        put_access_member(out, "method", record->request->method);
        put_access_member(out, "path", record->request->path);
    }
    wt__json_count(out, "status", (uint64_t)record->status);
    wt__json_count(out, "bytes", record->bytes);
    wt__json_number(out, "queue_ms", record->queue_ms);
    wt__json_number(out, "run_ms", record->run_ms);
    if (access->asked.len > 0) {
        wt__json_key(out, "asked");
        wt__shown_string(out, wt__str_head(access->asked, ASKED_SHOWN));
    }
    wt__buffer_text(out, "}\n");
}
