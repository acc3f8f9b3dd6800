#include "serve/usage_routes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "serve/usage_log.h"
#include "wire/bodies.h"
#include "wire/failure.h"
#include "wire/results.h"

struct usage_routes {
    struct usage_log *log; /* NULL if the store is open for reading only */
    const wt_engine *engine;
    bool policed; /* a policy restricts tools by client */
    struct route rows[2];
    struct routes routes;
};

/* A report waiting to be written. */
struct pending_report {
    const struct usage_routes *usage;
    struct http_exchange *exchange; /* owns a reference */
};

static void answer_usage_error(const struct usage_routes *usage, struct http_exchange *exchange, const wt_error *err,
                               unsigned retry_ms)
{
    const struct failure *failure = wt__failure_of(err->code);
    wt_error told_client;
    wt__client_error(&told_client, err, usage->engine->path);
    WT_CLEANUP(wt__buffer_dispose) struct buffer body = {0};
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", retry_ms / 1000 + 1);
    const struct http_field later = {STR("Retry-After"), wt__str(seconds)};
    bool again = failure->again || retry_ms > 0;
    wt__json_failure(&body, failure->word, told_client.message, told_client.pointer);
    wt__http_answer(exchange, retry_ms > 0 ? 429 : failure->status, "application/json", &later, again ? 1 : 0,
                    wt__buffer_view(&body));
}

/* Answers the exchange of a report. If the only usage of a batch is invalid, the answer is an error. For a larger
 * batch, the answer lists the invalid usages. */
static void send_usage_result(void *context, int rc, const char *why, struct reported_usage *const *usages,
                              size_t count)
{
    struct pending_report *reporting = context;
    struct http_exchange *exchange = reporting->exchange;
    const struct usage_routes *usage = reporting->usage;
    WT_CLEANUP(wt__buffer_dispose) struct buffer body = {0};
    wt_error err;
    free(reporting);
    if (rc < 0) {
        wt__fail(&err, rc, "%s", why);
        answer_usage_error(usage, exchange, &err, 0);
    } else if (count == 1 && wt__is_invalid_usage(usages[0], usage->policed)) {
        wt__fail(&err, usages[0]->code, "%s", usages[0]->message);
        answer_usage_error(usage, exchange, &err, 0);
    } else {
        wt__json_usage_result(&body, usages, count, usage->policed);
        wt__http_answer(exchange, body.failed ? 503 : 200, "application/json", NULL, 0, wt__buffer_view(&body));
    }
    wt__http_release(exchange);
}

static int report_batch(const struct usage_routes *usage, struct http_exchange *exchange,
                        const struct usage_batch *batch, unsigned *retry_ms, wt_error *err)
{
    struct pending_report *reporting = malloc(sizeof *reporting);
    WT_CHECK_ALLOC(reporting, err);
    *reporting = (struct pending_report){usage, exchange};
    wt__http_keep(exchange);
    int rc = wt__usage_log_report(usage->log, batch, send_usage_result, reporting, retry_ms, err);
    if (rc < 0) {
        free(reporting);
        wt__http_release(exchange);
    }
    return rc;
}

static void answer_usage(void *context, struct http_exchange *exchange, const struct api_call *call)
{
    const char *principal = call->principal;
    const struct usage_routes *usage = context;
    const struct http_request *request = wt__http_request(exchange);
    WT_CLEANUP(wt__body_dispose) struct batch_query query = {0};
    unsigned retry_ms = 0;
    wt_error err;
    int rc = wt__batch_query_read(&query, request->query, &err);
    if (rc == 0 && !usage->log)
        rc = wt__fail(&err, WT_EREADONLY, "cannot record usages: the store is open for reading only");
    if (rc == 0) {
        const struct usage_batch batch = {.client = wt__str(*principal ? principal : USAGE_LOG_NO_KEY),
                                          .id = wt__str(query.id),
                                          .lines = request->body};
        rc = report_batch(usage, exchange, &batch, &retry_ms, &err);
    }
    if (rc < 0)
        answer_usage_error(usage, exchange, &err, retry_ms);
}

/* Context of put_tenant_result: the call that it answers, or fails. */
struct tenant_report {
    const struct usage_routes *usage;
    struct api_call *call;
    wt_error *err;
    int rc;
};

/* Implements usage_log_told like send_usage_result. */
static void put_tenant_result(void *context, int rc, const char *why, struct reported_usage *const *usages,
                              size_t count)
{
    struct tenant_report *report = context;
    (void)why;
    report->rc = rc;
    if (count == 1 && wt__is_invalid_usage(usages[0], report->usage->policed))
        report->rc = wt__fail(report->err, usages[0]->code, "%s", usages[0]->message);
    else
        wt__json_usage_result(&report->call->body, usages, count, report->usage->policed);
}

/* Records the usages of a tenant in its own store. */
static int answer_tenant_usage(struct api_call *call, wt_error *err)
{
    const struct usage_routes *usage = call->context;
    WT_CLEANUP(wt__body_dispose) struct batch_query query = {0};
    struct tenant_report report = {.usage = usage, .call = call, .err = err};
    WT_TRY(wt__batch_query_read(&query, call->request->query, err));
    if (!usage->log)
        return wt__fail(err, WT_EREADONLY, "cannot record usages: the store is open for reading only");
    const struct usage_batch batch = {.client = wt__str(*call->principal ? call->principal : USAGE_LOG_NO_KEY),
                                      .id = wt__str(query.id),
                                      .lines = call->request->body};
    WT_TRY(wt__usage_log_record(usage->log, call->engine, &batch, put_tenant_result, &report, &call->retry_ms, err));
    return report.rc;
}

static int answer_usage_segment(struct api_call *call, wt_error *err)
{
    WT_CLEANUP(wt__body_dispose) struct batch_query query = {0};
    struct usage_segment result;
    WT_TRY(wt__batch_query_read(&query, call->request->query, err));
    WT_TRY(wt__apply_usage_segment(call->service->engine, wt__str(query.id), call->request->body, &result, err));
    wt__json_usage_segment(&call->body, query.id, &result);
    return 0;
}

static void put_usage_metrics(void *context, struct buffer *out)
{
    const struct usage_routes *usage = context;
    struct usage_log_counts counts;
    if (!usage->log)
        return;
    wt__usage_log_count(usage->log, &counts);
    const struct {
        const char *fate;
        uint64_t count;
    } fates[] = {
        {"recorded", counts.added},
        {"repeated", counts.repeated},
        {"outcomes", counts.outcomes},
        {"missing", counts.missing},
        {"refused", counts.bad},
        {"failed", counts.failed},
        {"queue_full", counts.refused_full},
        {"client_cap", counts.refused_client},
    };
    wt__buffer_text(out, "# HELP whichtool_usages_reported_total Reported usages by result.\n"
                         "# TYPE whichtool_usages_reported_total counter\n");
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++)
        wt__buffer_printf(out, "whichtool_usages_reported_total{fate=\"%s\"} %llu\n", fates[i].fate,
                          (unsigned long long)fates[i].count);
    wt__metric_write(out, "whichtool_usages_waiting", "gauge", "Usages waiting to be written.", (double)counts.queued);
    wt__metric_write(out, "whichtool_usage_commits_total", "counter", "Groups of usages written.",
                     (double)counts.commits);
    wt__metric_write(out, "whichtool_usages_learned_total", "counter", "Requests encoded for learning.",
                     (double)counts.learned);
    wt__metric_write(out, "whichtool_usage_failed_learnings_total", "counter", "Failed learning runs.",
                     (double)counts.failed_learnings);
}

int wt__usage_routes_open(struct usage_routes **out, wt_engine *engine, bool policed, wt_error *err)
{
    WT_AUTO_FREE struct usage_routes *usage = wt__alloc_zeros(1, sizeof *usage);
    *out = NULL;
    WT_CHECK_ALLOC(usage, err);
    usage->engine = engine;
    usage->policed = policed;
    int rc = wt__usage_log_open(&usage->log, engine, NULL, err);
    if (rc < 0 && rc != WT_EREADONLY)
        return rc;
    usage->rows[0] = (struct route){
        .method = "POST",
        .path = "/v1/usage",
        .scope = SCOPE_USAGE,
        .body_max = USAGE_LOG_BATCH_BYTES_MAX,
        .query = &wt__usage_fields,
        .raw_body = "Usages as JSON Lines, in the format of `usage add`",
        .name = "record_usage",
        .summary = "Record the tools that requests used, to improve search",
        .returns = "Numbers of usages recorded, repeated and with changed outcome, and the refused usages. "
                   "Recorded usages are on disk.",
        .take = answer_usage,
        .answer = answer_tenant_usage,
        .takes_long = true,
        .of_own = true,
        .context = usage};
    usage->rows[1] = (struct route){
        .method = "POST",
        .path = "/v1/usage/segments",
        .scope = SCOPE_WRITE,
        .body_max = USAGE_SEGMENT_BYTES_MAX,
        .query = &wt__usage_fields,
        .raw_body = "A segment of usages that a replica has spooled",
        .name = "apply_usage_segment",
        .summary = "Record the usages of a replica once",
        .returns = "Whether the segment was applied now, and numbers of usages recorded, repeated and refused.",
        .answer = answer_usage_segment,
        .takes_long = true};
    usage->routes = (struct routes){usage->rows, 2, put_usage_metrics, usage};
    *out = WT_TAKE(usage);
    return 0;
}

const struct routes *wt__usage_routes(const struct usage_routes *usage)
{
    return &usage->routes;
}

void wt__usage_routes_close(struct usage_routes *usage)
{
    if (!usage)
        return;
    wt__usage_log_close(usage->log);
    free(usage);
}
