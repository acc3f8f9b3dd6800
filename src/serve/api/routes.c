#include "serve/api/internal.h"

#include "wire/bodies.h"

enum {
    ASK_BYTES = 2 << 20,     /* limit for a conversation */
    TEXTS_BYTES = 8 << 20,   /* limit for texts to embed or rerank */
    IMPORT_BYTES = 64 << 20, /* limit for a source to import */
};

static const struct route rows[] = {
    {.method = "POST",
     .path = "/v1/find",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .body_max = ASK_BYTES,
     .body = &wt__find_fields,
     .name = "find",
     .summary = "Find the tools that a request needs, best first",
     .returns = "The output of `whichtool find --json` (docs/json.md); hits may be empty.",
     .answer = wt__api_find},
    {.method = "POST",
     .path = "/v1/pick",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .body_max = ASK_BYTES,
     .body = &wt__pick_fields,
     .name = "pick",
     .summary = "Pick the exact set of tools that a request needs",
     .returns = "The output of `whichtool pick --json` (docs/json.md); hits may be empty.",
     .answer = wt__api_pick},
    {.method = "POST",
     .path = "/v1/call",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .body_max = ASK_BYTES,
     .body = &wt__call_fields,
     .name = "call",
     .summary = "Write the call that a request asks for, or report missing values; the tool is not called",
     .returns = "The output of `whichtool call --json` (docs/json.md).",
     .answer = wt__api_call},
    {.method = "GET",
     .path = "/v1/tools",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .query = &wt__list_fields,
     .name = "list_tools",
     .summary = "List the catalogue page by page, in import order",
     .returns = "total number of tools, tools of this page, and next_offset, null on the last page.",
     .answer = wt__api_list_tools},
    {.method = "POST",
     .path = "/v1/tools",
     .of_tools = true,
     .scope = SCOPE_WRITE,
     .body_max = IMPORT_BYTES,
     .query = &wt__add_fields,
     .raw_body = "The source, in any format of `whichtool add`.",
     .name = "add_tools",
     .summary = "Import tools from the body",
     .returns = "The output of `whichtool add --json` for one source.",
     .takes_long = true,
     .answer = wt__api_add_tools},
    {.method = "DELETE",
     .path = "/v1/tools",
     .of_tools = true,
     .scope = SCOPE_WRITE,
     .query = &wt__remove_fields,
     .name = "remove_provider",
     .summary = "Remove all tools of a provider",
     .returns = "removed: the number of removed tools.",
     .takes_long = true,
     .answer = wt__api_remove_provider},
    {.method = "GET",
     .path = "/v1/tools/{id}",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .query = &wt__show_fields,
     .name = "get_tool",
     .summary = "Get a tool with its definition",
     .returns = "The output of `whichtool show --json`; with format, an array of one definition.",
     .answer = wt__api_get_tool},
    {.method = "DELETE",
     .path = "/v1/tools/{id}",
     .of_tools = true,
     .scope = SCOPE_WRITE,
     .name = "remove_tool",
     .summary = "Remove one tool",
     .returns = "removed: 1.",
     .takes_long = true,
     .answer = wt__api_remove_tool},
    {.method = "POST",
     .path = "/v1/embeddings",
     .scope = SCOPE_FIND,
     .body_max = TEXTS_BYTES,
     .body = &wt__embeddings_fields,
     .name = "embed",
     .summary = "Embed texts as unit vectors, in the format of OpenAI's API",
     .returns = "A list of embeddings; tokens are estimated as a quarter of the bytes.",
     .answer = wt__api_embed},
    {.method = "POST",
     .path = "/v1/rerank",
     .scope = SCOPE_FIND,
     .body_max = TEXTS_BYTES,
     .body = &wt__rerank_fields,
     .name = "rerank",
     .summary = "Rank texts by relevance to a query, in the format of Cohere's and Jina's APIs",
     .returns = "results, best first: index and relevance_score, the cosine of the vectors from 0 to 1.",
     .answer = wt__api_rerank},
    {.method = "POST",
     .path = "/v2/rerank",
     .scope = SCOPE_FIND,
     .body_max = TEXTS_BYTES,
     .body = &wt__rerank_fields,
     .name = "rerank_v2",
     .summary = "Same as /v1/rerank, at the path of version 2 of Cohere's API",
     .returns = "Same as /v1/rerank.",
     .answer = wt__api_rerank},
    {.method = "GET",
     .path = "/v1/recipes",
     .scope = SCOPE_FIND,
     .name = "list_recipes",
     .summary = "List the recipes of find and pick",
     .returns = "recipes, with the requirements of each.",
     .answer = wt__api_recipes},
    {.method = "GET",
     .path = "/v1/status",
     .scope = SCOPE_METRICS,
     .name = "status",
     .summary = "Get counts of tools, vectors and usages, trained models and sizes",
     .returns = "The output of `whichtool status --json`.",
     .answer = wt__api_status},
    {.method = "GET",
     .path = "/metrics",
     .scope = SCOPE_METRICS,
     .name = "metrics",
     .summary = "Get metrics for Prometheus, in text format 0.0.4",
     .returns = "Counters, gauges and histograms.",
     .answer = wt__api_metrics},
    {.method = "GET",
     .path = "/health",
     .scope = SCOPE_OPEN,
     .name = "health",
     .summary = "Check if the server is running and warm",
     .returns = "status (always \"ok\"), ready, and version.",
     .answer = wt__api_health},
    {.method = "GET",
     .path = "/openapi.json",
     .scope = SCOPE_OPEN,
     .name = "openapi",
     .summary = "Get this description",
     .returns = "OpenAPI 3.1.",
     .answer = wt__api_openapi},
};
const struct routes wt__api_routes = {.items = rows, .count = sizeof rows / sizeof *rows};

/* True if the pattern matches the path: "/v1/tools/{id}" matches "/v1/tools/a/b". */
static bool path_matches(const char *pattern, struct str path, struct str *rest)
{
    size_t fixed = strcspn(pattern, "{");
    *rest = (struct str){0};
    if (pattern[fixed] == '\0')
        return wt__str_equal(wt__str(pattern), path);
    if (path.len <= fixed || memcmp(path.ptr, pattern, fixed) != 0)
        return false;
    *rest = (struct str){path.ptr + fixed, path.len - fixed};
    return true;
}

/* Users configure MCP addresses with and without a final slash; accept both. */
static bool route_matches(const struct route *route, struct str path, struct str *rest)
{
    bool slash = path.len > 1 && path.ptr[path.len - 1] == '/';
    return path_matches(route->path, path, rest) ||
           (route->take && slash && path_matches(route->path, (struct str){path.ptr, path.len - 1}, rest));
}

const struct route *wt__route_find(const struct routes *tables, size_t table_count, const struct http_request *request,
                                   struct str *rest, size_t *index, bool *path_known)
{
    /* Answer HEAD like GET; the server omits the body. */
    struct str method = wt__str_equal(request->method, STR("HEAD")) ? STR("GET") : request->method;
    *path_known = false;
    *index = 0;
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t].count; i++, (*index)++) {
            const struct route *route = &tables[t].items[i];
            if (!route_matches(route, request->path, rest))
                continue;
            *path_known = true;
            if (!route->method || wt__str_equal(method, wt__str(route->method)))
                return route;
        }
    return NULL;
}

void wt__route_methods(struct buffer *out, const struct routes *tables, size_t table_count, struct str path)
{
    struct str rest;
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t].count; i++)
            if (tables[t].items[i].method && route_matches(&tables[t].items[i], path, &rest))
                wt__buffer_printf(out, "%s%s", out->len ? ", " : "", tables[t].items[i].method);
}
