/* routes.c: the table of the API's own routes, and the search for the route of a request in all tables. */
#include "serve/api/internal.h"

#include "wire/bodies.h"
#include "wire/verbs.h"

enum {
    ASK_BYTES = 2 << 20,     /* limit for a conversation */
    TEXTS_BYTES = 8 << 20,   /* limit for texts to embed or rerank */
    IMPORT_BYTES = 64 << 20, /* limit for a source to import */
};

/* A row. The members after `returns` are designated initialisers. */
#define ROUTE(its_method, its_path, its_scope, its_name, its_summary, its_returns, ...)                                \
    {                                                                                                                  \
        .method = its_method, .path = its_path, .scope = its_scope, .name = its_name, .summary = its_summary,          \
        .returns = its_returns, __VA_ARGS__                                                                            \
    }
/* A route that runs a verb on its JSON body. */
#define VERB(its_path, its_name, its_verb, its_fields, most, its_schema, its_summary, its_returns, its_tools)          \
    ROUTE("POST", its_path, SCOPE_FIND, its_name, its_summary, its_returns, .verb = its_verb, .body = its_fields,      \
          .schema = its_schema, .body_max = most, .of_tools = its_tools)

static const struct route rows[] = {
    VERB("/v1/find", "find", wt__run_find, &wt__find_fields, ASK_BYTES, "found",
         "Find the tools that a request needs, best first",
         "The output of `whichtool find --json` (docs/json.md); hits may be empty.", true),
    VERB("/v1/pick", "pick", wt__run_pick, &wt__pick_fields, ASK_BYTES, "found",
         "Pick the exact set of tools that a request needs",
         "The output of `whichtool pick --json` (docs/json.md); hits may be empty.", true),
    VERB("/v1/call", "call", wt__run_call, &wt__call_fields, ASK_BYTES, "called",
         "Write the call that a request asks for, or report missing values; the tool is not called",
         "The output of `whichtool call --json` (docs/json.md).", true),
    ROUTE("GET", "/v1/tools", SCOPE_FIND, "list_tools", "List the catalogue page by page, in import order",
          "total: the number of tools. next_offset: null on the last page. tools: the tools of this page.",
          .query = &wt__list_fields, .schema = "tools", .answer = wt__api_list_tools, .of_tools = true),
    ROUTE("POST", "/v1/tools", SCOPE_WRITE, "add_tools", "Import tools from the body",
          "The output of `whichtool add --json` for one source.", .query = &wt__add_fields,
          .raw_body = "The source, in any format of `whichtool add`.", .body_max = IMPORT_BYTES, .schema = "added",
          .answer = wt__api_add_tools, .takes_long = true, .of_tools = true, .of_own = true),
    ROUTE("DELETE", "/v1/tools", SCOPE_WRITE, "remove_provider", "Remove all tools of a provider",
          "removed: the number of removed tools.", .query = &wt__remove_fields, .schema = "removed",
          .answer = wt__api_remove_provider, .takes_long = true, .of_tools = true, .of_own = true),
    ROUTE("GET", "/v1/tools/{id}", SCOPE_FIND, "get_tool", "Get a tool with its definition",
          "The output of `whichtool show --json`; with format, an array of one definition.", .query = &wt__show_fields,
          .answer = wt__api_get_tool, .of_tools = true),
    ROUTE("DELETE", "/v1/tools/{id}", SCOPE_WRITE, "remove_tool", "Remove one tool", "removed: 1.", .schema = "removed",
          .answer = wt__api_remove_tool, .takes_long = true, .of_tools = true, .of_own = true),
    VERB("/v1/embeddings", "embed", wt__run_embed, &wt__embeddings_fields, TEXTS_BYTES, "embeddings",
         "Embed texts as unit vectors, in the format of OpenAI's API",
         "A list of embeddings; tokens are estimated as a quarter of the bytes.", false),
    VERB("/v1/rerank", "rerank", wt__run_rerank, &wt__rerank_fields, TEXTS_BYTES, "ranking",
         "Rank texts by relevance to a query, in the format of Cohere's and Jina's APIs",
         "results, best first: index and relevance_score, the cosine of the vectors from 0 to 1.", false),
    VERB("/v2/rerank", "rerank_v2", wt__run_rerank, &wt__rerank_fields, TEXTS_BYTES, "ranking",
         "Same as /v1/rerank, at the path of version 2 of Cohere's API", "Same as /v1/rerank.", false),
    VERB("/v1/decisions", "decide", wt__run_decide, &wt__decisions_fields, TEXTS_BYTES, "decisions",
         "Choose among options by how well they fit what a text asks for, in the format of OpenAI's API",
         "answers, in the order of the questions.", false),
    VERB("/v1/systemone", "system_one", wt__run_system_one, &wt__system_one_fields, TEXTS_BYTES, "system_one_answers",
         "Same as /v1/decisions, in the format of System One", "answers by question.", false),
    ROUTE("GET", "/v1/recipes", SCOPE_FIND, "list_recipes", "List the recipes of find and pick",
          "recipes, with the requirements of each.", .schema = "recipes", .answer = wt__api_recipes),
    ROUTE("GET", "/v1/status", SCOPE_METRICS, "status",
          "Get counts of tools, vectors and usages, trained models and sizes",
          "The output of `whichtool status --json`.", .answer = wt__api_status),
    ROUTE("GET", "/metrics", SCOPE_METRICS, "metrics", "Get metrics for Prometheus, in text format 0.0.4",
          "Counters, gauges and histograms.", .answer = wt__api_metrics, .is_probe = true),
    ROUTE("GET", "/health", SCOPE_OPEN, "health", "Check if the server is running and ready",
          "status (always \"ok\"), ready, and version.", .schema = "health", .answer = wt__api_health,
          .is_probe = true),
    ROUTE("GET", "/healthz", SCOPE_OPEN, "healthz", "Check if the server is running (liveness)",
          "status, always \"ok\".", .answer = wt__api_alive, .is_probe = true),
    ROUTE("GET", "/readyz", SCOPE_OPEN, "readyz", "Check if the server should get requests (readiness)",
          "ready, true. Otherwise the status is 503, and the error code is the reason.", .answer = wt__api_readiness,
          .is_probe = true),
    ROUTE("GET", "/openapi.json", SCOPE_OPEN, "openapi", "Get this description", "OpenAPI 3.1.",
          .answer = wt__api_openapi),
};
const struct routes wt__api_routes = {.items = rows, .count = sizeof rows / sizeof *rows};

/* True if the pattern matches the path. "/v1/tools/{id}" matches "/v1/tools/a/b" and sets *rest to "a/b". */
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

const struct route *wt__route_find(const struct api_service *service, const struct http_request *request,
                                   struct route_match *out)
{
    /* Answer HEAD like GET; the server omits the body. */
    struct str method = wt__str_equal(request->method, STR("HEAD")) ? STR("GET") : request->method;
    struct route_match unused, *match = out ? out : &unused;
    *match = (struct route_match){0};
    for (size_t t = 0; t < service->table_count; t++)
        for (size_t i = 0; i < service->tables[t].count; i++, match->index++) {
            const struct route *route = &service->tables[t].items[i];
            if (!route_matches(route, request->path, &match->rest))
                continue;
            match->is_path_known = true;
            if (!route->method || wt__str_equal(method, wt__str(route->method)))
                return route;
        }
    return NULL;
}

void wt__route_methods(struct buffer *out, const struct api_service *service, struct str path)
{
    struct str rest;
    for (size_t t = 0; t < service->table_count; t++)
        for (size_t i = 0; i < service->tables[t].count; i++) {
            const struct route *route = &service->tables[t].items[i];
            if (route->method && route_matches(route, path, &rest))
                wt__buffer_printf(out, "%s%s", out->len ? ", " : "", route->method);
        }
}
