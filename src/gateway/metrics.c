/* metrics.c: the metrics of the servers behind the gateway. The operator's configuration limits the number of
 * labels. */
#include "serve/metrics.h"

#include "base/memory.h"
#include "gateway/internal.h"

/* Metrics with one value for each server. */
enum server_figure { FIGURE_UP, FIGURE_FAILURES, FIGURE_TOOLS, FIGURE_WAITING, FIGURES };

static double read_server_figure(const struct upstream_status *status, enum server_figure figure)
{
    const double values[FIGURES] = {[FIGURE_UP] = status->state == UPSTREAM_READY,
                                    [FIGURE_FAILURES] = status->failures,
                                    [FIGURE_TOOLS] = (double)status->tools,
                                    [FIGURE_WAITING] = (double)(status->waiting + status->offers_waiting)};
    return values[figure];
}

static void write_server_figures(const struct gateway *gateway, struct buffer *out)
{
    static const struct {
        const char *name, *help;
    } rows[FIGURES] = {
        [FIGURE_UP] = {"whichtool_upstream_up", "1 if the server is connected and has listed its tools."},
        [FIGURE_FAILURES] = {"whichtool_upstream_failures", "Failures of the server since it last worked."},
        [FIGURE_TOOLS] = {"whichtool_upstream_tools", "Tools in the server's last list."},
        [FIGURE_WAITING] = {"whichtool_upstream_waiting_items", "Definitions of the server that wait for approval."},
    };
    struct upstream_status status;
    for (enum server_figure figure = 0; figure < FIGURES; figure++) {
        wt__metric_begin(out, rows[figure].name, "gauge", rows[figure].help);
        for (size_t i = 0; i < gateway->count; i++) {
            WT_CLEANUP(wt__buffer_dispose) struct buffer labels = {0};
            wt__upstream_status(gateway->upstreams[i], &status);
            wt__metric_label(&labels, "server", wt__upstream_name(gateway->upstreams[i]));
            wt__metric_value(out, rows[figure].name, labels.ptr ? labels.ptr : "", read_server_figure(&status, figure));
        }
    }
}

static void write_server_states(const struct gateway *gateway, struct buffer *out)
{
    static const char name[] = "whichtool_upstream_state";
    struct upstream_status status;
    wt__metric_begin(out, name, "gauge", "1 for the state that the server is in.");
    for (size_t i = 0; i < gateway->count; i++) {
        wt__upstream_status(gateway->upstreams[i], &status);
        for (enum upstream_state state = UPSTREAM_DISABLED; state <= UPSTREAM_WAITING; state++) {
            WT_CLEANUP(wt__buffer_dispose) struct buffer labels = {0};
            wt__metric_label(&labels, "server", wt__upstream_name(gateway->upstreams[i]));
            wt__metric_label(&labels, "state", wt__upstream_state_word(state));
            wt__metric_value(out, name, labels.ptr ? labels.ptr : "", status.state == state);
        }
    }
}

static void write_server_requests(const struct gateway *gateway, struct buffer *out)
{
    static const char count_name[] = "whichtool_upstream_requests_total";
    static const char time_name[] = "whichtool_upstream_request_duration_seconds";
    static const char *const words[UPSTREAM_OUTCOMES] = {"ok", "error", "asked", "failed"};
    wt__metric_begin(out, count_name, "counter", "Requests of clients to the server, by outcome.");
    for (size_t i = 0; i < gateway->count; i++)
        for (size_t o = 0; o < UPSTREAM_OUTCOMES; o++) {
            WT_CLEANUP(wt__buffer_dispose) struct buffer labels = {0};
            wt__metric_label(&labels, "server", wt__upstream_name(gateway->upstreams[i]));
            wt__metric_label(&labels, "outcome", words[o]);
            wt__metric_value(out, count_name, labels.ptr ? labels.ptr : "",
                             (double)atomic_load(&gateway->upstreams[i]->outcomes[o]));
        }
    wt__metric_begin(out, time_name, "histogram",
                     "Time of requests of clients to the server, with the wait for a server that starts.");
    for (size_t i = 0; i < gateway->count; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer labels = {0};
        wt__metric_label(&labels, "server", wt__upstream_name(gateway->upstreams[i]));
        wt__metric_histogram(out, time_name, labels.ptr ? labels.ptr : "", &gateway->upstreams[i]->durations);
    }
}

void wt__gateway_write_metrics(void *context, struct buffer *out)
{
    struct gateway *gateway = context;
    write_server_figures(gateway, out);
    write_server_states(gateway, out);
    write_server_requests(gateway, out);
    pthread_mutex_lock(&gateway->lock);
    size_t parked = gateway->parked_count;
    pthread_mutex_unlock(&gateway->lock);
    wt__metric_write(out, "whichtool_gateway_parked_calls", "gauge",
                     "Calls that wait for a client's answer to a server's question.", (double)parked);
}
