#include "serve/api/routes.h"

#include "serve/api/handlers.h"
#include "wire/bodies.h"

enum {
    ASK_BYTES = 2 << 20,     /* a conversation */
    TEXTS_BYTES = 8 << 20,   /* of embeddings and documents */
    IMPORT_BYTES = 64 << 20, /* a source */
};

static const struct route rows[] = {
    {.method = "POST",
     .path = "/v1/find",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .body_max = ASK_BYTES,
     .body = &wt__find_fields,
     .name = "find",
     .summary = "The tools that a request needs, best first",
     .returns = "What `whichtool find --json` prints (docs/json.md); hits may be none.",
     .answer = wt__api_find},
    {.method = "POST",
     .path = "/v1/pick",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .body_max = ASK_BYTES,
     .body = &wt__pick_fields,
     .name = "pick",
     .summary = "The exact set of tools that a request needs, or none",
     .returns = "What `whichtool pick --json` prints (docs/json.md); hits may be none.",
     .answer = wt__api_pick},
    {.method = "POST",
     .path = "/v1/call",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .body_max = ASK_BYTES,
     .body = &wt__call_fields,
     .name = "call",
     .summary = "The call that a request asks for, or what is missing; nothing is called",
     .returns = "What `whichtool call --json` prints (docs/json.md).",
     .answer = wt__api_call},
    {.method = "GET",
     .path = "/v1/tools",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .query = &wt__list_fields,
     .name = "list_tools",
     .summary = "The catalogue, page by page, in the order of import",
     .returns = "total of the catalogue, tools of this page, and next_offset, null on the last.",
     .answer = wt__api_list_tools},
    {.method = "POST",
     .path = "/v1/tools",
     .of_tools = true,
     .scope = SCOPE_WRITE,
     .body_max = IMPORT_BYTES,
     .query = &wt__add_fields,
     .raw_body = "The source itself, in any format that `whichtool add` reads.",
     .name = "add_tools",
     .summary = "Import tools from what is sent",
     .returns = "What `whichtool add --json` prints of one source.",
     .takes_long = true,
     .answer = wt__api_add_tools},
    {.method = "DELETE",
     .path = "/v1/tools",
     .of_tools = true,
     .scope = SCOPE_WRITE,
     .query = &wt__remove_fields,
     .name = "remove_provider",
     .summary = "Remove all tools of a provider",
     .returns = "removed: how many there were.",
     .takes_long = true,
     .answer = wt__api_remove_provider},
    {.method = "GET",
     .path = "/v1/tools/{id}",
     .of_tools = true,
     .scope = SCOPE_FIND,
     .query = &wt__show_fields,
     .name = "get_tool",
     .summary = "One tool with its definition",
     .returns = "What `whichtool show --json` prints; with format an array of one definition.",
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
     .summary = "Unit vectors of texts, in the form of OpenAI's API",
     .returns = "A list of embeddings; tokens are estimated as a quarter of the bytes.",
     .answer = wt__api_embed},
    {.method = "POST",
     .path = "/v1/rerank",
     .scope = SCOPE_FIND,
     .body_max = TEXTS_BYTES,
     .body = &wt__rerank_fields,
     .name = "rerank",
     .summary = "Texts in the order of their relevance to a query, in the form of Cohere's and Jina's APIs",
     .returns = "results, best first: index and relevance_score, the cosine of the vectors from 0 to 1.",
     .answer = wt__api_rerank},
    {.method = "POST",
     .path = "/v2/rerank",
     .scope = SCOPE_FIND,
     .body_max = TEXTS_BYTES,
     .body = &wt__rerank_fields,
     .name = "rerank_v2",
     .summary = "The same, where clients of Cohere's second version look for it",
     .returns = "As /v1/rerank.",
     .answer = wt__api_rerank},
    {.method = "GET",
     .path = "/v1/recipes",
     .scope = SCOPE_FIND,
     .name = "list_recipes",
     .summary = "The recipes that find and pick know",
     .returns = "recipes, with what each needs.",
     .answer = wt__api_recipes},
    {.method = "GET",
     .path = "/v1/status",
     .scope = SCOPE_METRICS,
     .name = "status",
     .summary = "Tools, vectors, recorded use, trained models and sizes",
     .returns = "What `whichtool status --json` prints.",
     .answer = wt__api_status},
    {.method = "GET",
     .path = "/metrics",
     .scope = SCOPE_METRICS,
     .name = "metrics",
     .summary = "Figures for Prometheus, in text format 0.0.4",
     .returns = "Counters, gauges and histograms.",
     .answer = wt__api_metrics},
    {.method = "GET",
     .path = "/health",
     .scope = SCOPE_OPEN,
     .name = "health",
     .summary = "Whether the server answers, and is warm",
     .returns = "status, which is ok, ready, and version.",
     .answer = wt__api_health},
    {.method = "GET",
     .path = "/openapi.json",
     .scope = SCOPE_OPEN,
     .name = "openapi",
     .summary = "This description",
     .returns = "OpenAPI 3.1.",
     .answer = wt__api_openapi},
};
const struct routes wt__api_routes = {.items = rows, .count = sizeof rows / sizeof *rows};

/* "/v1/tools/{id}" fits "/v1/tools/a/b". */
static bool fits(const char *pattern, struct str path, struct str *rest)
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

/* Clients are told addresses with and without a slash at the end: an MCP endpoint takes both. */
static bool is_at(const struct route *route, struct str path, struct str *rest)
{
    bool slash = path.len > 1 && path.ptr[path.len - 1] == '/';
    return fits(route->path, path, rest) ||
           (route->take && slash && fits(route->path, (struct str){path.ptr, path.len - 1}, rest));
}

const struct route *wt__route_of(const struct routes *tables, size_t table_count, const struct http_request *request,
                                 struct str *rest, size_t *index, bool *path_known)
{
    /* A HEAD is answered as a GET; the server leaves the body out. */
    struct str method = wt__str_equal(request->method, STR("HEAD")) ? STR("GET") : request->method;
    *path_known = false;
    *index = 0;
    for (size_t t = 0; t < table_count; t++)
        for (size_t i = 0; i < tables[t].count; i++, (*index)++) {
            const struct route *route = &tables[t].items[i];
            if (!is_at(route, request->path, rest))
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
            if (tables[t].items[i].method && is_at(&tables[t].items[i], path, &rest))
                wt__buffer_printf(out, "%s%s", out->len ? ", " : "", tables[t].items[i].method);
}
