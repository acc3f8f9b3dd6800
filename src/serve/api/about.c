/* about.c: information about the server: health, readiness, metrics, status, recipes, and its OpenAPI description.
 *
 * The description follows OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0). It is generated from the route table, so
 * it always matches the routes. */
#include "serve/api/internal.h"

#include "base/memory.h"
#include "encoder/encoder.h"
#include "engine/engine.h"
#include "wire/failure.h"
#include "wire/verbs.h"

/* Returns why the server should get no requests, as a word, or NULL if it should get them. *message: a sentence. */
static const char *find_unready_reason(const struct server_state *state, const char **message)
{
    int warm = atomic_load(&state->warm);
    if (state->server && wt__http_server_is_draining(state->server)) {
        *message = "the server is shutting down";
        return "draining";
    }
    if (warm == API_WARMING) {
        *message = "the server is opening the index and loading the model";
        return "starting";
    }
    if (warm == 0)
        return NULL;
    const struct failure *failure = wt__failure_of(warm);
    *message = failure->means;
    return failure->word;
}

int wt__api_alive(struct api_call *call, wt_error *err)
{
    (void)err;
    wt__buffer_text(&call->body, "{\"status\":\"ok\"}");
    return 0;
}

int wt__api_readiness(struct api_call *call, wt_error *err)
{
    const char *message = NULL, *reason = find_unready_reason(call->service->state, &message);
    (void)err;
    if (reason) {
        call->status = 503;
        wt__json_failure(&call->body, reason, message, "");
    } else {
        wt__buffer_text(&call->body, "{\"ready\":true}");
    }
    return 0;
}

int wt__api_health(struct api_call *call, wt_error *err)
{
    const char *message;
    bool ready = !find_unready_reason(call->service->state, &message);
    (void)err;
    wt__buffer_char(&call->body, '{');
    wt__json_text(&call->body, "status", "ok");
    wt__json_flag(&call->body, "ready", ready);
    wt__json_text(&call->body, "version", wt_version());
    wt__buffer_char(&call->body, '}');
    return 0;
}

/* Appends the metrics of the HTTP server, if it is running. */
static void put_server_metrics(const struct server_state *state, struct buffer *out)
{
    struct http_figures figures = {0};
    if (!state->server)
        return;
    wt__http_server_figures(state->server, &figures);
    wt__metric_write(out, "whichtool_http_connections", "gauge", "Open connections.", (double)figures.connections);
    wt__metric_write(out, "whichtool_http_queued", "gauge", "Requests waiting for a worker.", (double)figures.queued);
    wt__metric_write(out, "whichtool_http_running", "gauge", "Requests being answered by a worker.",
                     (double)figures.running);
    wt__metric_write(out, "whichtool_http_in_progress", "gauge",
                     "Requests without a complete answer: queued, run by a worker, or waiting, as streams do.",
                     (double)figures.in_progress);
    wt__metric_write(out, "whichtool_http_accepted_total", "counter", "Accepted connections.",
                     (double)figures.accepted);
    wt__metric_write(out, "whichtool_http_refused_total", "counter", "Malformed requests.", (double)figures.refused);
    static const char *const limits[HTTP_OVERLOADS] = {[HTTP_OVERLOAD_QUEUE] = "limit=\"queue\"",
                                                       [HTTP_OVERLOAD_CONNECTIONS] = "limit=\"connections\"",
                                                       [HTTP_OVERLOAD_MEMORY] = "limit=\"memory\""};
    wt__metric_begin(out, "whichtool_http_overloaded_total", "counter", "Requests answered 503, by the limit reached.");
    for (size_t i = 0; i < HTTP_OVERLOADS; i++)
        wt__metric_value(out, "whichtool_http_overloaded_total", limits[i], (double)figures.overloaded[i]);
}

/* Appends the metrics of the exporter of traces, if it is running. */
static void put_trace_metrics(const struct api_service *service, struct buffer *out)
{
    static const char name[] = "whichtool_trace_spans_total";
    struct otlp_figures figures;
    if (!service->state->otlp)
        return;
    wt__otlp_read_figures(service->state->otlp, &figures);
    const struct {
        const char *labels;
        uint64_t count;
    } fates[] = {{"fate=\"exported\"", figures.exported},
                 {"fate=\"queue_full\"", figures.full},
                 {"fate=\"failed\"", figures.failed},
                 {"fate=\"rejected\"", figures.rejected},
                 {"fate=\"request_full\"", atomic_load(&service->metrics->missed_spans)}};
    wt__metric_begin(out, name, "counter", "Finished spans by fate; all but the exported ones are lost.");
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++)
        wt__metric_value(out, name, fates[i].labels, (double)fates[i].count);
    wt__metric_write(out, "whichtool_trace_requests_waiting", "gauge", "Requests whose spans wait to be sent.",
                     (double)figures.waiting);
}

static void put_cache_metrics(const struct engine_figures *figures, struct buffer *out)
{
    static const char name[] = "whichtool_cache_lookups_total";
    wt__metric_begin(out, name, "counter", "Lookups in caches, by cache and result.");
    wt__metric_value(out, name, "cache=\"tools\",result=\"hit\"", (double)figures->tool_hits);
    wt__metric_value(out, name, "cache=\"tools\",result=\"miss\"", (double)figures->tool_misses);
    wt__metric_value(out, name, "cache=\"filters\",result=\"hit\"", (double)figures->mask_hits);
    wt__metric_value(out, name, "cache=\"filters\",result=\"miss\"", (double)figures->mask_misses);
    wt__metric_value(out, name, "cache=\"vectors\",result=\"hit\"", (double)figures->vector_hits);
    wt__metric_value(out, name, "cache=\"vectors\",result=\"miss\"", (double)figures->vector_misses);
}

/* Appends the metrics of the index and the encoder in use. */
static void put_engine_metrics(wt_engine *engine, struct buffer *out)
{
    static const char encoder_name[] = "whichtool_encoder_info";
    struct engine_figures figures;
    wt__engine_figures(engine, &figures);
    wt__metric_write(out, "whichtool_index_generation", "gauge", "Generation of the catalogue that the index shows.",
                     (double)figures.generation);
    wt__metric_write(out, "whichtool_index_tools", "gauge", "Tools in the index.", (double)figures.tools);
    wt__metric_write(out, "whichtool_index_timestamp_seconds", "gauge",
                     "Time at which the index was opened or built, 0 before.", (double)figures.indexed);
    wt__metric_write(out, "whichtool_store_check_timestamp_seconds", "gauge",
                     "Time at which a search last read the generation of the store, 0 before.",
                     (double)figures.checked);
    put_cache_metrics(&figures, out);
    if (!figures.encoder)
        return;
    WT_CLEANUP(wt__buffer_dispose) struct buffer labels = {0};
    wt__metric_label(&labels, "name", wt__encoder_name(figures.encoder));
    wt__metric_label(&labels, "hash", wt__encoder_hash(figures.encoder));
    wt__buffer_printf(&labels, ",dimensions=\"%zu\"", wt__encoder_dim(figures.encoder));
    wt__metric_begin(out, encoder_name, "gauge", "Encoder of requests, as labels.");
    wt__metric_value(out, encoder_name, labels.ptr ? labels.ptr : "", 1);
}

/* Appends the metrics of the store. If the store cannot be read, only whichtool_store_readable tells. */
static void put_catalogue_metrics(wt_engine *engine, struct buffer *out)
{
    wt_catalog_info info;
    wt_usage_info usages;
    wt_catalog_info_init(&info);
    wt_usage_info_init(&usages);
    bool readable = wt_info(engine, &info, NULL) == 0 && wt_get_usage_info(engine, &usages, NULL) == 0;
    wt__metric_write(out, "whichtool_store_readable", "gauge", "1 if the store could be read for these metrics.",
                     readable ? 1 : 0);
    if (!readable)
        return;
    wt__metric_write(out, "whichtool_tools", "gauge", "Tools in the catalogue.", (double)info.tools);
    wt__metric_write(out, "whichtool_providers", "gauge", "Providers in the catalogue.", (double)info.providers);
    wt__metric_write(out, "whichtool_embedded_tools", "gauge", "Tools with a vector of the current model.",
                     (double)info.embedded);
    wt__metric_write(out, "whichtool_catalogue_generation", "gauge", "Increases with every change to the catalogue.",
                     (double)info.generation);
    wt__metric_write(out, "whichtool_usages", "gauge", "Recorded usages.", (double)usages.usages);
}

int wt__api_metrics(struct api_call *call, wt_error *err)
{
    const struct server_state *state = call->service->state;
    (void)err;
    call->type = "text/plain; version=0.0.4; charset=utf-8";
    wt__buffer_printf(&call->body,
                      "# HELP whichtool_build_info Version, as a label.\n# TYPE whichtool_build_info gauge\n"
                      "whichtool_build_info{version=\"%s\"} 1\n",
                      wt_version());
    const char *message;
    wt__metrics_write_process(&call->body, (double)state->started);
    wt__metric_write(&call->body, "whichtool_ready", "gauge", "1 if GET /readyz has the status 200.",
                     find_unready_reason(state, &message) ? 0 : 1);
    put_server_metrics(state, &call->body);
    put_trace_metrics(call->service, &call->body);
    put_engine_metrics(call->service->engine, &call->body);
    wt__metrics_write(call->service->metrics, &call->body);
    for (size_t t = 0; t < call->service->table_count; t++) {
        const struct routes *module = &call->service->tables[t];
        if (module->metrics)
            module->metrics(module->context, &call->body);
    }
    put_catalogue_metrics(call->service->engine, &call->body);
    return 0;
}

int wt__api_status(struct api_call *call, wt_error *err)
{
    struct json_run run = {.engine = call->service->engine, .out = &call->body};
    return wt__run_status(&run, STR("{}"), err);
}

int wt__api_recipes(struct api_call *call, wt_error *err)
{
    struct json_run run = {.out = &call->body};
    return wt__run_recipes(&run, STR("{}"), err);
}

static void put_api_parameter(struct buffer *out, const char *in, const struct field *field, const char *lead)
{
    wt__buffer_printf(out, "%s{", lead);
    wt__json_text(out, "name", field->name);
    wt__json_text(out, "in", in);
    wt__json_text(out, "description", field->says);
    wt__json_flag(out, "required", field->required);
    wt__json_key(out, "schema");
    wt__field_schema(out, field);
    wt__buffer_char(out, '}');
}

static void put_parameters(struct buffer *out, const struct route *route)
{
    static const char says[] = "The tool's name: an id such as provider/name, with slashes escaped or not, an exported "
                               "name, or a bare name if it is unique.";
    static const struct field id = {
        .name = "id", .kind = FIELD_TEXT, .required = true, .max = WT_MAX_REQUEST_BYTES, .says = says};
    bool path = strstr(route->path, "{id}") != NULL;
    if (!path && !route->query)
        return;
    wt__json_open(out, "parameters", '[');
    if (path)
        put_api_parameter(out, "path", &id, "");
    for (size_t i = 0; route->query && i < route->query->count; i++)
        put_api_parameter(out, "query", &route->query->items[i], path || i ? "," : "");
    wt__buffer_char(out, ']');
}

static void put_request_body(struct buffer *out, const struct route *route)
{
    if (!route->body && !route->raw_body)
        return;
    wt__json_key(out, "requestBody");
    wt__buffer_text(out, "{\"required\":true");
    if (route->raw_body)
        wt__json_text(out, "description", route->raw_body);
    wt__json_key(out, "content");
    if (route->body) {
        wt__buffer_text(out, "{\"application/json\":{\"schema\":");
        wt__body_schema(out, *route->body);
        wt__buffer_text(out, "}}");
    } else {
        wt__buffer_text(out, "{\"application/json\":{\"schema\":{}},\"application/yaml\":{\"schema\":{}},"
                             "\"application/jsonl\":{\"schema\":{}}}");
    }
    wt__buffer_char(out, '}');
}

static void put_responses(struct buffer *out, const struct route *route)
{
    bool text = strcmp(route->path, "/metrics") == 0;
    wt__json_key(out, "responses");
    wt__buffer_text(out, "{\"200\":{");
    wt__json_text(out, "description", route->returns);
    wt__json_key(out, "content");
    if (text)
        wt__buffer_text(out, "{\"text/plain\":{\"schema\":{\"type\":\"string\"}}}}");
    else if (route->schema)
        wt__buffer_printf(out, "{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}}}",
                          route->schema);
    else
        wt__buffer_text(out, "{\"application/json\":{\"schema\":{\"type\":[\"object\",\"array\"]}}}}");
    wt__buffer_text(out, ",\"default\":{\"$ref\":\"#/components/responses/failure\"}}");
}

static void put_operation(struct buffer *out, const struct route *route)
{
    wt__buffer_char(out, '"');
    for (const char *c = route->method; *c; c++)
        wt__buffer_char(out, (char)(*c | 0x20)); /* in lower case */
    wt__buffer_text(out, "\":{");
    wt__json_text(out, "operationId", route->name);
    wt__json_text(out, "summary", route->summary);
    if (route->scope != SCOPE_OPEN) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer says = {0};
        wt__buffer_printf(&says, "Requires a key with the scope %s if the server has keys.",
                          wt__scope_name(route->scope));
        if (route->of_tools)
            wt__buffer_text(&says, " With a policy for tools, requires the scope admin.");
        wt__json_text(out, "description", says.ptr ? says.ptr : "");
        wt__json_key(out, "security");
        wt__buffer_text(out, "[{\"key\":[]},{}]");
    }
    put_parameters(out, route);
    put_request_body(out, route);
    put_responses(out, route);
    wt__buffer_char(out, '}');
}

/* True if an earlier row has the same path. put_paths writes all rows of a path together with the first row. */
static bool is_path_written(const struct routes *routes, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(routes->items[i].path, routes->items[at].path) == 0)
            return true;
    return false;
}

static void put_paths(struct buffer *out, const struct routes *routes, bool *any)
{
    for (size_t i = 0; i < routes->count; i++) {
        const char *path = routes->items[i].path;
        if (is_path_written(routes, i) || !routes->items[i].returns)
            continue;
        wt__buffer_text(out, *any ? "," : "");
        wt__buffer_json(out, wt__str(path));
        wt__buffer_text(out, ":{");
        for (size_t j = i; j < routes->count; j++) {
            if (strcmp(routes->items[j].path, path) != 0)
                continue;
            wt__buffer_text(out, j > i ? "," : "");
            put_operation(out, &routes->items[j]);
        }
        wt__buffer_char(out, '}');
        *any = true;
    }
}

/* Appends all error codes with their statuses and meanings. */
static void put_codes(struct buffer *out)
{
    const struct failure *failure;
    wt__buffer_char(out, '[');
    for (size_t i = 0; (failure = wt__failure_at(i)); i++) {
        wt__buffer_text(out, i ? ",{" : "{");
        wt__json_text(out, "code", failure->word);
        wt__json_count(out, "status", (uint64_t)failure->status);
        wt__json_text(out, "means", failure->means);
        wt__buffer_char(out, '}');
    }
    wt__buffer_char(out, ']');
}

static void put_components(struct buffer *out)
{
    wt__buffer_text(out,
                    "{\"securitySchemes\":{\"key\":{\"type\":\"http\",\"scheme\":\"bearer\"}},\"responses\":{"
                    "\"failure\":{\"description\":\"Error.\",\"content\":{\"application/json\":{\"schema\":{"
                    "\"$ref\":\"#/components/schemas/failure\"}}}}},\"schemas\":{\"failure\":{\"type\":\"object\","
                    "\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":\"object\",\"required\":[\"code\","
                    "\"message\"],\"properties\":{\"code\":{\"type\":\"string\",\"description\":");
    wt__buffer_text(out, "\"Error code for programs; x-codes lists the codes of the library.\",\"x-codes\":");
    put_codes(out);
    wt__buffer_text(out, "},\"message\":{\"type\":\"string\",\"description\":\"Error message.\"},\"pointer\":{"
                         "\"type\":\"string\",\"description\":\"JSON pointer to the invalid value.\"}}}}}");
    wt__api_put_answer_schemas(out);
    wt__buffer_text(out, "}}");
}

int wt__api_openapi(struct api_call *call, wt_error *err)
{
    struct buffer *out = &call->body;
    bool any = false;
    (void)err;
    wt__buffer_text(out, "{\"openapi\":\"3.1.0\",\"info\":{");
    wt__json_text(out, "title", "whichtool");
    wt__json_text(out, "summary", "Find the few right tools for a request.");
    wt__json_text(out, "version", wt_version());
    wt__buffer_text(out, ",\"license\":{\"name\":\"Apache 2.0\",\"identifier\":\"Apache-2.0\"}}");
    wt__json_key(out, "servers");
    wt__buffer_text(out, "[{\"url\":\"/\"}]");
    wt__json_open(out, "paths", '{');
    for (size_t i = 0; i < call->service->table_count; i++)
        put_paths(out, &call->service->tables[i], &any);
    wt__buffer_char(out, '}');
    wt__json_key(out, "components");
    put_components(out);
    wt__buffer_char(out, '}');
    return 0;
}
