/* openapi.c: GET /openapi.json: OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), generated from the route table, so
 * that it describes exactly the existing routes. */
#include "serve/api/handlers.h"

#include "wire/failure.h"
#include "wire/members.h"

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
    static const struct field id = {.name = "id",
                                    .kind = FIELD_TEXT,
                                    .required = true,
                                    .max = WT_MAX_REQUEST_BYTES,
                                    .says =
                                        "The tool's name: an id such as provider/name, with slashes escaped or not, an "
                                        "exported name, or a bare name if it is unique."};
    bool path = strstr(route->path, "{id}") != NULL;
    if (!path && !route->query)
        return;
    wt__json_key(out, "parameters");
    wt__buffer_char(out, '[');
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
    size_t len = strlen(route->method);
    wt__buffer_char(out, '"');
    for (size_t i = 0; i < len; i++)
        wt__buffer_char(out, (char)(route->method[i] | 0x20));
    wt__buffer_text(out, "\":{");
    wt__json_text(out, "operationId", route->name);
    wt__json_text(out, "summary", route->summary);
    if (route->scope != SCOPE_OPEN) {
        struct buffer says = {0};
        wt__buffer_printf(&says, "Requires a key with the scope %s if the server has keys.",
                          wt__scope_name(route->scope));
        if (route->of_tools)
            wt__buffer_text(&says, " With a policy for tools, requires the scope admin.");
        wt__json_text(out, "description", says.ptr ? says.ptr : "");
        wt__buffer_dispose(&says);
        wt__json_key(out, "security");
        wt__buffer_text(out, "[{\"key\":[]},{}]");
    }
    put_parameters(out, route);
    put_request_body(out, route);
    put_responses(out, route);
    wt__buffer_char(out, '}');
}

/* True if an earlier row has the same path; put_paths writes both under that path. */
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

/* Appends the error codes with their statuses and meanings, for authors of documentation. */
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
    wt__buffer_text(out, "\"Error code for programs; x-codes lists those of the library.\",\"x-codes\":");
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
    wt__json_key(out, "paths");
    wt__buffer_char(out, '{');
    for (size_t i = 0; i < call->service->table_count; i++)
        put_paths(out, &call->service->tables[i], &any);
    wt__buffer_char(out, '}');
    wt__json_key(out, "components");
    put_components(out);
    wt__buffer_char(out, '}');
    return 0;
}
