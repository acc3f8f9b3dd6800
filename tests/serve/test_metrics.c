/* Tests the text of the metrics, and the limits of their labels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "serve/metrics.h"

#define BUCKETS_FROM(name, labels, a, b)                                                                               \
    name "_bucket{" labels ",le=\"0.0001\"} " a "\n" name "_bucket{" labels ",le=\"0.00025\"} " a "\n" name            \
         "_bucket{" labels ",le=\"0.0005\"} " a "\n" name "_bucket{" labels ",le=\"0.001\"} " a "\n" name              \
         "_bucket{" labels ",le=\"0.0025\"} " a "\n" name "_bucket{" labels ",le=\"0.005\"} " a "\n" name              \
         "_bucket{" labels ",le=\"0.01\"} " a "\n" name "_bucket{" labels ",le=\"0.025\"} " a "\n" name                \
         "_bucket{" labels ",le=\"0.05\"} " a "\n" name "_bucket{" labels ",le=\"0.1\"} " a "\n" name                  \
         "_bucket{" labels ",le=\"0.25\"} " a "\n" name "_bucket{" labels ",le=\"0.5\"} " a "\n" name                  \
         "_bucket{" labels ",le=\"1\"} " b "\n" name "_bucket{" labels ",le=\"2.5\"} " b "\n" name "_bucket{" labels   \
         ",le=\"5\"} " b "\n" name "_bucket{" labels ",le=\"10\"} " b "\n" name "_bucket{" labels ",le=\"30\"} " b     \
         "\n" name "_bucket{" labels ",le=\"60\"} " b "\n" name "_bucket{" labels ",le=\"+Inf\"} " b "\n"

static const char golden[] =
    "# HELP whichtool_http_requests_total Requests by route and status.\n"
    "# TYPE whichtool_http_requests_total counter\n"
    "whichtool_http_requests_total{route=\"find\",status=\"200\"} 2\n"
    "whichtool_http_requests_total{route=\"find\",status=\"gone\"} 1\n"
    "whichtool_http_requests_total{route=\"other\",status=\"404\"} 1\n"
    "whichtool_http_requests_total{route=\"other\",status=\"other\"} 1\n"
    "# HELP whichtool_http_request_duration_seconds Time from queueing a request to the last byte of its response, by "
    "route.\n"
    "# TYPE whichtool_http_request_duration_seconds histogram\n" BUCKETS_FROM(
        "whichtool_http_request_duration_seconds", "route=\"find\"", "2",
        "3") "whichtool_http_request_duration_seconds_sum{route=\"find\"} 1.000100\n"
             "whichtool_http_request_duration_seconds_count{route=\"find\"} 3\n" BUCKETS_FROM(
                 "whichtool_http_request_duration_seconds", "route=\"other\"", "0",
                 "2") "whichtool_http_request_duration_seconds_sum{route=\"other\"} 2.000000\n"
                      "whichtool_http_request_duration_seconds_count{route=\"other\"} 2\n"
                      "# HELP whichtool_stage_duration_seconds Time of searches in their stages.\n"
                      "# TYPE whichtool_stage_duration_seconds histogram\n" BUCKETS_FROM(
                          "whichtool_stage_duration_seconds", "stage=\"encode\"", "0",
                          "1") "whichtool_stage_duration_seconds_sum{stage=\"encode\"} 1.000000\n"
                               "whichtool_stage_duration_seconds_count{stage=\"encode\"} 1\n"
                               "# HELP whichtool_finds_total Answered searches by recipe.\n"
                               "# TYPE whichtool_finds_total counter\n"
                               "whichtool_finds_total{recipe=\"bm25\"} 1\n"
                               "whichtool_finds_total{recipe=\"mixture\"} 1\n"
                               "# HELP whichtool_imports_total Imports over HTTP.\n"
                               "# TYPE whichtool_imports_total counter\n"
                               "whichtool_imports_total 0\n";

static void count_and_time(struct metrics *metrics, size_t route, int status, double ms)
{
    wt__metrics_count_request(metrics, route, status);
    wt__metrics_time_request(metrics, route, ms);
}

static void counters_are_written_exactly(void **state)
{
    (void)state;
    struct metrics *metrics = calloc(1, sizeof *metrics);
    struct buffer text = {0};
    metrics->routes[metrics->route_count++] = "find";
    count_and_time(metrics, 0, 200, 0.1);
    count_and_time(metrics, 0, 200, 1000);
    count_and_time(metrics, 0, 0, 0);
    count_and_time(metrics, SIZE_MAX, 404, 1000);
    count_and_time(metrics, METRICS_ROUTES, 299, 1000);
    const struct trace_span spans[] = {{.stage = TRACE_ENCODE, .begun_ms = 5, .ended_ms = 1005},
                                       {.stage = TRACE_UPSTREAM, .begun_ms = 5, .ended_ms = 1005}};
    wt__metrics_count_spans(metrics, spans, 2, 3);
    assert_int_equal(atomic_load(&metrics->missed_spans), 3);
    wt__metrics_count_find(metrics, "bm25");
    wt__metrics_count_find(metrics, "a mixture of training");
    wt__metrics_write(metrics, &text);
    assert_string_equal(text.ptr, golden);
    wt__buffer_dispose(&text);
    free(metrics);
}

static void labels_and_values_are_escaped(void **state)
{
    (void)state;
    struct buffer labels = {0}, text = {0};
    wt__metric_label(&labels, "server", "a\"b\\c\nd");
    wt__metric_label(&labels, "state", "ready");
    assert_string_equal(labels.ptr, "server=\"a\\\"b\\\\c\\nd\",state=\"ready\"");
    wt__metric_value(&text, "x", labels.ptr, 0.5);
    wt__metric_value(&text, "x", "", 1e15);
    wt__metric_value(&text, "x", "", (double)INFINITY);
    wt__metric_value(&text, "x", "", -(double)INFINITY);
    wt__metric_value(&text, "x", "", (double)NAN);
    assert_string_equal(text.ptr,
                        "x{server=\"a\\\"b\\\\c\\nd\",state=\"ready\"} 0.5\nx 1e+15\nx +Inf\nx -Inf\nx NaN\n");
    wt__buffer_dispose(&labels);
    wt__buffer_dispose(&text);
}

static void figures_of_the_process_are_plausible(void **state)
{
    (void)state;
    static const char *const names[] = {"process_cpu_seconds_total",
                                        "process_resident_memory_bytes",
                                        "process_virtual_memory_bytes",
                                        "process_threads",
                                        "process_open_fds",
                                        "process_max_fds",
                                        "process_start_time_seconds",
                                        "whichtool_uptime_seconds"};
    struct buffer text = {0};
    wt__metrics_write_process(&text, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n%s ", names[i]);
        const char *at = strstr(text.ptr, line);
        if (!at)
            fail_msg("no %s", names[i]);
        double value = strtod(at + strlen(line), NULL);
        assert_true(value >= (strcmp(names[i], "process_cpu_seconds_total") == 0 ? 0 : 1));
    }
    const char *resident = strstr(text.ptr, "\nprocess_resident_memory_bytes "),
               *all = strstr(text.ptr, "\nprocess_virtual_memory_bytes ");
    assert_true(strtod(strchr(resident, ' '), NULL) < strtod(strchr(all, ' '), NULL));
    assert_non_null(strstr(text.ptr, "\nprocess_threads 1\n"));
    wt__buffer_dispose(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_written_exactly),
        cmocka_unit_test(labels_and_values_are_escaped),
        cmocka_unit_test(figures_of_the_process_are_plausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
