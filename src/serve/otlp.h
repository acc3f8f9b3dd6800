/* otlp.h: exports the spans of requests to an OpenTelemetry collector, as JSON over HTTP (OTLP 1.x,
 * https://opentelemetry.io/docs/specs/otlp/).
 *
 * The loop copies each finished request into a queue of fixed size, without waiting and without a lock. A thread
 * sends the queue in batches. If the collector is slow or away, the queue fills up, and further requests are
 * dropped and counted.
 *
 * Spans contain the texts of requests only if the settings say so, and never keys or headers. */
#ifndef WT_SERVE_OTLP_H
#define WT_SERVE_OTLP_H

#include "base/arena.h"
#include "base/buffer.h"
#include "http/server.h"
#include "net/http_client.h"
#include "serve/trace.h"

enum {
    OTLP_QUEUE_MAX = 2048,       /* finished requests that wait to be sent */
    OTLP_BATCH_MAX = 256,        /* requests sent at once */
    OTLP_EVERY_MS = 1000,        /* a batch is sent after this time, even if it is not full */
    OTLP_TIMEOUT_MS = 10000,     /* default timeout of a POST (OTEL_EXPORTER_OTLP_TIMEOUT) */
    OTLP_TIMEOUT_MS_MAX = 60000, /* maximum timeout */
    OTLP_ATTEMPTS_MAX = 5,       /* attempts to send a batch, with growing pauses from OTLP_PAUSE_MS on */
    OTLP_PAUSE_MS = 1000,
    OTLP_PAUSE_MS_MAX = 30000,
    OTLP_CLOSE_MS = 2000,      /* time to send the rest of the queue when the server ends */
    OTLP_HEADERS_MAX = 16,     /* headers of OTEL_EXPORTER_OTLP_HEADERS */
    OTLP_ATTRIBUTES_MAX = 32,  /* attributes of OTEL_RESOURCE_ATTRIBUTES */
    OTLP_TEXT_BYTES_MAX = 2000 /* bytes of a request's text in a span */
};

struct otlp_attribute {
    const char *key, *value;
};

/* Settings of the exporter; its texts live in the arena. */
struct otlp_settings {
    const char *url; /* NULL if traces are not exported */
    struct http_header headers[OTLP_HEADERS_MAX];
    size_t header_count;
    const char *service;                                   /* service.name */
    struct otlp_attribute attributes[OTLP_ATTRIBUTES_MAX]; /* further attributes of the resource */
    size_t attribute_count;
    struct trace_sampler sampler;
    unsigned timeout_ms;
    bool has_texts; /* export the texts of requests */
    struct arena arena;
};

/* Reads the settings from the variables that the OpenTelemetry specification names (docs/operations.md). endpoint:
 * value of --otlp-endpoint, or NULL. get: getenv, or a test's function. Unknown variables are ignored. Errors:
 * WT_EINVAL (names the variable), WT_ENOMEM; errors never contain headers. */
int wt__otlp_settings_read(struct otlp_settings *out, const char *endpoint, char *(*get)(const char *name),
                           wt_error *err);
void wt__otlp_settings_dispose(struct otlp_settings *settings);

/* A finished request. */
struct otlp_request {
    struct trace_context context;
    uint64_t span; /* id of the request's span */
    double begun_ms, ended_ms, queue_ms;
    int status; /* 0 if the client disconnected before the answer */
    uint64_t bytes;
    char method[16], path[160], peer[56], key[80];
    char request_id[REQUEST_ID_BYTES_MAX + 1];
    const char *route;      /* pattern of the path, or NULL */
    const char *mcp_method; /* NULL without MCP */
    struct trace_span spans[TRACE_SPANS_MAX];
    size_t span_count;
    char *text; /* text of the request, owned; NULL to leave it out */
};

/* Appends the body of a POST. clock_ms: Unix time in milliseconds at time 0 of wt__now_ms. */
void wt__otlp_write(struct buffer *out, const struct otlp_settings *settings, const struct otlp_request *requests,
                    size_t count, double clock_ms);

struct otlp;

/* Starts the thread. settings must outlive the exporter. say: receives a message when sending begins to fail and
 * when it works again, on the thread. Errors: WT_ENETWORK (no libcurl), WT_EINVAL (a header), WT_EIO, WT_ENOMEM. */
int wt__otlp_open(struct otlp **out, const struct otlp_settings *settings,
                  void (*say)(void *context, const char *message), void *say_context, wt_error *err);
/* Queues a request, and takes over its text. Never waits. One thread. */
void wt__otlp_push(struct otlp *otlp, const struct otlp_request *request);

struct otlp_figures {
    uint64_t exported, full, failed, rejected; /* spans: sent; dropped because the queue was full, or because sending
                                                  failed; refused by the collector */
    uint64_t waiting;                          /* requests in the queue */
};
void wt__otlp_read_figures(const struct otlp *otlp, struct otlp_figures *out);
/* Sends the rest of the queue for at most OTLP_CLOSE_MS, and ends the thread. NULL is a no-op. */
void wt__otlp_close(struct otlp *otlp);

#endif
