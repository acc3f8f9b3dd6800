/* about.c: information about the server: health, metrics, status, recipes, and its OpenAPI description.
 *
 * The description follows OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0). It is generated from the route table, so
 * it always matches the routes. */
#include "serve/api/internal.h"

#include "base/memory.h"
#include "wire/failure.h"
#include "wire/verbs.h"

int wt__api_health(struct api_call *call, wt_error *err)
{
    bool ready = atomic_load(&call->service->state->ready);
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
    wt__metric_write(out, "whichtool_http_running", "gauge", "Requests being answered.", (double)figures.running);
    wt__metric_write(out, "whichtool_http_accepted_total", "counter", "Accepted connections.",
                     (double)figures.accepted);
    wt__metric_write(out, "whichtool_http_refused_total", "counter", "Malformed requests.", (double)figures.refused);
    wt__metric_write(out, "whichtool_http_overloaded_total", "counter",
                     "Requests answered 503: a limit was reached, or the server was stopping.",
                     (double)figures.overloaded);
}

static int put_catalogue_metrics(const struct api_call *call, struct buffer *out, wt_error *err)
{
    wt_catalog_info info;
    wt_usage_info usages;
    wt_catalog_info_init(&info);
    wt_usage_info_init(&usages);
    WT_TRY(wt_info(call->service->engine, &info, err));
    WT_TRY(wt_get_usage_info(call->service->engine, &usages, err));
    wt__metric_write(out, "whichtool_tools", "gauge", "Tools in the catalogue.", (double)info.tools);
    wt__metric_write(out, "whichtool_providers", "gauge", "Providers in the catalogue.", (double)info.providers);
    wt__metric_write(out, "whichtool_embedded_tools", "gauge", "Tools with a vector of the current model.",
                     (double)info.embedded);
    wt__metric_write(out, "whichtool_catalogue_generation", "gauge", "Increases with every change to the catalogue.",
                     (double)info.generation);
    wt__metric_write(out, "whichtool_usages", "gauge", "Recorded usages.", (double)usages.usages);
    return 0;
}

int wt__api_metrics(struct api_call *call, wt_error *err)
{
    const struct server_state *state = call->service->state;
    call->type = "text/plain; version=0.0.4; charset=utf-8";
    wt__buffer_printf(&call->body,
                      "# HELP whichtool_build_info Version, as a label.\n# TYPE whichtool_build_info gauge\n"
                      "whichtool_build_info{version=\"%s\"} 1\n",
                      wt_version());
    wt__metric_write(&call->body, "process_start_time_seconds", "gauge", "Start time as seconds since 1970.",
                     (double)state->started);
    wt__metric_write(&call->body, "whichtool_ready", "gauge", "1 if the index is open and the model is loaded.",
                     atomic_load(&state->ready) ? 1 : 0);
    put_server_metrics(state, &call->body);
    wt__metrics_write(call->service->metrics, &call->body);
    for (size_t t = 0; t < call->service->table_count; t++) {
        const struct routes *module = &call->service->tables[t];
        if (module->metrics)
            module->metrics(module->context, &call->body);
    }
    return put_catalogue_metrics(call, &call->body, err);
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
    wt__buffer_text(out, text ? "{\"text/plain\":{\"schema\":{\"type\":\"string\"}}}}"
                              : "{\"application/json\":{\"schema\":{\"type\":[\"object\",\"array\"]}}}}");
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
                         "\"type\":\"string\",\"description\":\"JSON pointer to the invalid value.\"}}}}}}}");
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
