/* otlp_settings.c: settings of the exporter from the environment
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). An empty variable counts as
 * unset. */
#include "serve/otlp.h"

#include <stdlib.h>
#include <strings.h>

#include "base/memory.h"
#include "wire/body.h"

static const char traces_path[] = "/v1/traces";

static const char *read_variable(char *(*get)(const char *name), const char *name)
{
    const char *value = get(name);
    return value && *value ? value : NULL;
}

static bool read_flag(char *(*get)(const char *name), const char *name)
{
    const char *value = read_variable(get, name);
    return value && strcasecmp(value, "true") == 0;
}

/* Sets *out to the endpoint with the path of traces. */
static int join_endpoint(struct otlp_settings *out, const char *endpoint, wt_error *err)
{
    size_t len = strlen(endpoint);
    while (len > 0 && endpoint[len - 1] == '/')
        len--;
    WT_CLEANUP(wt__buffer_dispose) struct buffer url = {0};
    wt__buffer_append(&url, endpoint, len);
    wt__buffer_text(&url, traces_path);
    out->url = url.failed ? NULL : wt__arena_copy(&out->arena, wt__buffer_view(&url));
    WT_CHECK_ALLOC(out->url, err);
    return 0;
}

/* A list "key=value,key=value" with percent-encoded values. */
struct list_reader {
    const char *name; /* the variable, for errors */
    struct str rest;
};

/* Reads the next pair. Returns 1, 0 at the end, or an error. */
static int read_pair(struct list_reader *list, struct arena *arena, const char **key, char **value, wt_error *err)
{
    while (list->rest.len > 0) {
        const char *comma = memchr(list->rest.ptr, ',', list->rest.len);
        size_t len = comma ? (size_t)(comma - list->rest.ptr) : list->rest.len;
        struct str pair = wt__str_trim((struct str){list->rest.ptr, len});
        list->rest.ptr += len + (comma != NULL);
        list->rest.len -= len + (comma != NULL);
        if (pair.len == 0)
            continue;
        const char *equals = memchr(pair.ptr, '=', pair.len);
        struct str before = wt__str_trim((struct str){pair.ptr, equals ? (size_t)(equals - pair.ptr) : 0});
        if (before.len == 0)
            return wt__fail(err, WT_EINVAL, "%s must be a list such as key=value,key=value", list->name);
        struct str after = wt__str_trim((struct str){equals + 1, (size_t)(pair.ptr + pair.len - equals - 1)});
        *key = wt__arena_copy(arena, before);
        WT_CHECK_ALLOC(*key, err);
        if (wt__percent_decode(value, arena, after, false, NULL) < 0)
            return wt__fail(err, WT_EINVAL, "%s: the value of %.64s is not percent-encoded UTF-8", list->name, *key);
        return 1;
    }
    return 0;
}

static int read_otlp_headers(struct otlp_settings *out, const char *name, const char *text, wt_error *err)
{
    struct list_reader list = {name, wt__str(text)};
    const char *key;
    char *value;
    int rc;
    while ((rc = read_pair(&list, &out->arena, &key, &value, err)) > 0) {
        const struct http_header header = {key, value};
        if (out->header_count == OTLP_HEADERS_MAX)
            return wt__fail(err, WT_EINVAL, "%s has more than %d headers", name, OTLP_HEADERS_MAX);
        if (!wt__http_is_token(wt__str(key)) || wt__http_check_header(&header, NULL) < 0)
            return wt__fail(err, WT_EINVAL, "%s: %.64s is not a header that can be sent", name, key);
        out->headers[out->header_count++] = header;
    }
    return rc;
}

static int read_attributes(struct otlp_settings *out, const char *text, wt_error *err)
{
    struct list_reader list = {"OTEL_RESOURCE_ATTRIBUTES", wt__str(text)};
    const char *key;
    char *value;
    int rc;
    while ((rc = read_pair(&list, &out->arena, &key, &value, err)) > 0) {
        if (strcmp(key, "service.name") == 0) { /* OTEL_SERVICE_NAME takes precedence */
            out->service = value;
            continue;
        }
        if (out->attribute_count == OTLP_ATTRIBUTES_MAX)
            return wt__fail(err, WT_EINVAL, "%s has more than %d attributes", list.name, OTLP_ATTRIBUTES_MAX);
        out->attributes[out->attribute_count++] = (struct otlp_attribute){key, value};
    }
    return rc;
}

static int read_sampler(struct trace_sampler *out, char *(*get)(const char *name), wt_error *err)
{
    static const struct {
        const char *name;
        struct trace_sampler sampler;
    } rows[] = {
        {"parentbased_always_on", {SAMPLE_ALL, false, 1}},      {"always_on", {SAMPLE_ALL, true, 1}},
        {"parentbased_always_off", {SAMPLE_NONE, false, 0}},    {"always_off", {SAMPLE_NONE, true, 0}},
        {"parentbased_traceidratio", {SAMPLE_SHARE, false, 1}}, {"traceidratio", {SAMPLE_SHARE, true, 1}},
    };
    const char *name = read_variable(get, "OTEL_TRACES_SAMPLER"),
               *share = read_variable(get, "OTEL_TRACES_SAMPLER_ARG");
    size_t at = 0;
    while (name && at < sizeof rows / sizeof *rows && strcmp(rows[at].name, name) != 0)
        at++;
    if (at == sizeof rows / sizeof *rows)
        return wt__fail(err, WT_EINVAL,
                        "OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of these after "
                        "parentbased_, not \"%.64s\"",
                        name);
    *out = rows[at].sampler;
    if (out->root != SAMPLE_SHARE || !share)
        return 0;
    char *end;
    out->share = strtod(share, &end);
    if (*end != '\0' || !(out->share >= 0 && out->share <= 1))
        return wt__fail(err, WT_EINVAL, "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not \"%.64s\"", share);
    return 0;
}

static int read_timeout(struct otlp_settings *out, char *(*get)(const char *name), wt_error *err)
{
    const char *text = read_variable(get, "OTEL_EXPORTER_OTLP_TIMEOUT");
    char *end;
    out->timeout_ms = OTLP_TIMEOUT_MS;
    if (!text)
        return 0;
    long ms = strtol(text, &end, 10);
    if (*end != '\0' || ms < 1 || ms > OTLP_TIMEOUT_MS_MAX)
        return wt__fail(err, WT_EINVAL, "OTEL_EXPORTER_OTLP_TIMEOUT must be 1 to %d milliseconds, not \"%.64s\"",
                        OTLP_TIMEOUT_MS_MAX, text);
    out->timeout_ms = (unsigned)ms;
    return 0;
}

/* Sets the URL; it stays NULL if traces are not wanted. */
static int read_endpoint(struct otlp_settings *out, const char *endpoint, char *(*get)(const char *name), wt_error *err)
{
    const char *traces = read_variable(get, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    const char *all = read_variable(get, "OTEL_EXPORTER_OTLP_ENDPOINT");
    const char *exporter = read_variable(get, "OTEL_TRACES_EXPORTER");
    if (!endpoint && (read_flag(get, "OTEL_SDK_DISABLED") || (exporter && strcmp(exporter, "none") == 0)))
        return 0;
    if (endpoint || (!traces && all))
        return join_endpoint(out, endpoint ? endpoint : all, err);
    out->url = traces ? wt__arena_copy(&out->arena, wt__str(traces)) : NULL;
    if (traces)
        WT_CHECK_ALLOC(out->url, err);
    return 0;
}

/* Refuses other encodings, because a collector's port for one of them would reject our requests. */
static int check_protocol(char *(*get)(const char *name), wt_error *err)
{
    static const char *const names[] = {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"};
    for (size_t i = 0; i < 2; i++) {
        const char *protocol = read_variable(get, names[i]);
        if (protocol && strcmp(protocol, "http/json") != 0)
            return wt__fail(err, WT_EINVAL, "%s is \"%.64s\", but whichtool exports http/json only", names[i],
                            protocol);
        if (protocol)
            return 0;
    }
    return 0;
}

int wt__otlp_settings_read(struct otlp_settings *out, const char *endpoint, char *(*get)(const char *name),
                           wt_error *err)
{
    static const char *const header_names[] = {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"};
    *out = (struct otlp_settings){.service = "whichtool"};
    WT_TRY(read_endpoint(out, endpoint, get, err));
    if (!out->url)
        return 0;
    if (strncmp(out->url, "http://", 7) != 0 && strncmp(out->url, "https://", 8) != 0)
        return wt__fail(err, WT_EINVAL, "the OTLP endpoint must begin with http:// or https://");
    WT_TRY(check_protocol(get, err));
    for (size_t i = 0; i < 2 && out->header_count == 0; i++) {
        const char *headers = read_variable(get, header_names[i]);
        if (headers)
            WT_TRY(read_otlp_headers(out, header_names[i], headers, err));
    }
    const char *attributes = read_variable(get, "OTEL_RESOURCE_ATTRIBUTES");
    if (attributes)
        WT_TRY(read_attributes(out, attributes, err));
    const char *service = read_variable(get, "OTEL_SERVICE_NAME");
    if (service)
        out->service = wt__arena_copy(&out->arena, wt__str(service));
    WT_CHECK_ALLOC(out->service, err);
    WT_TRY(read_sampler(&out->sampler, get, err));
    return read_timeout(out, get, err);
}

void wt__otlp_settings_dispose(struct otlp_settings *settings)
{
    wt__arena_dispose(&settings->arena);
}
