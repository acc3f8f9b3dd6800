/* Tests the API without a server: responses of each route, errors and permissions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "serve/api/api.h"
#include "serve/api/internal.h"
#include "whichtool/review.h"

static const char catalogue[] =
    "[{\"name\":\"book_table\",\"description\":\"Books a table in a restaurant for a number of guests\","
    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"guests\":{\"type\":\"integer\"}},\"required\":[\"guests\"]"
    "}},"
    "{\"name\":\"GET /tides\",\"description\":\"Times of high and low water at a harbour\","
    "\"input_schema\":{\"type\":\"object\",\"properties\":{}}}]";

struct routes_fixture {
    wt_engine *engine;
    struct http_api *open, *keyed; /* without and with keys */
    char folder[40], keys[64], find[64], call[64], write[64], admin[64];
};

static const char *const origins[] = {"https://app.example.com"};

static int open_fixture(void **state)
{
    struct routes_fixture *f = calloc(1, sizeof *f);
    wt_open_options open;
    wt_add_options add;
    wt_add_report *report;
    wt_error err;
    wt_open_options_init(&open);
    wt_add_options_init(&add);
    open.model = WT_BUILT_IN_MODEL;
    add.provider = "town";
    strcpy(f->folder, "/tmp/whichtool-api-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->keys, sizeof f->keys, "%s/keys", f->folder);
    assert_int_equal(wt__keys_add(f->keys, "finder", SCOPE_FIND, NULL, f->find, &err), 0);
    assert_int_equal(wt__keys_add(f->keys, "caller", SCOPE_CALL, NULL, f->call, &err), 0);
    assert_int_equal(wt__keys_add(f->keys, "writer", SCOPE_WRITE | SCOPE_USAGE, NULL, f->write, &err), 0);
    assert_int_equal(wt__keys_add(f->keys, "root", SCOPE_ADMIN, NULL, f->admin, &err), 0);
    assert_int_equal(wt_open(&f->engine, ":memory:", &open, &err), 0);
    assert_int_equal(wt_add(f->engine, catalogue, sizeof catalogue - 1, &add, &report, &err), 0);
    assert_int_equal(wt_reserve_provider(f->engine, "upstream", &err), 0);
    wt_add_report_free(report);
    struct api_options options = {.engine = f->engine,
                                  .guard = {.listen = "127.0.0.1:8642", .origins = origins, .origin_count = 1}};
    assert_int_equal(wt__api_open(&f->open, &options, &err), 0);
    options.keys_path = f->keys;
    assert_int_equal(wt__api_open(&f->keyed, &options, &err), 0);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct routes_fixture *f = *state;
    wt__api_close(f->open);
    wt__api_close(f->keyed);
    wt_close(f->engine);
    unlink(f->keys);
    rmdir(f->folder);
    free(f);
    return 0;
}

struct api_request {
    const char *method, *target, *body, *host, *origin, *key;
    struct http_field more;
};

/* Sends a request. Returns the response, whose body ends in NUL. */
static struct api_call ask_api(struct http_api *api, const struct api_request *asked, struct http_request *request)
{
    static char authorization[128];
    const char *question = strchr(asked->target, '?');
    bool takes_long;
    *request = (struct http_request){.method = wt__str(asked->method), .body = wt__str(asked->body)};
    request->path = (struct str){asked->target, question ? (size_t)(question - asked->target) : strlen(asked->target)};
    request->query = wt__str(question ? question + 1 : NULL);
    request->fields[request->field_count++] =
        (struct http_field){STR("Host"), wt__str(asked->host ? asked->host : "localhost:8642")};
    if (asked->origin)
        request->fields[request->field_count++] = (struct http_field){STR("Origin"), wt__str(asked->origin)};
    if (asked->key) {
        snprintf(authorization, sizeof authorization, "Bearer %s", asked->key);
        request->fields[request->field_count++] = (struct http_field){STR("Authorization"), wt__str(authorization)};
    }
    if (asked->more.name.len > 0)
        request->fields[request->field_count++] = asked->more;
    struct api_call call = {.request = request, .may_take_long = true};
    assert_null(wt__api_respond(api, &call, &takes_long));
    assert_false(takes_long);
    wt__buffer_text(&call.body, "");
    return call;
}

static struct str find_answer_field(const struct api_call *call, const char *name)
{
    for (size_t i = 0; i < call->field_count; i++)
        if (wt__str_equal(call->fields[i].name, wt__str(name)))
            return call->fields[i].value;
    return (struct str){0};
}

static const struct {
    const char *method, *target, *body;
    int status;
    const char *holds; /* expected in the body */
} rows[] = {
    {"GET", "/health", "", 200, "\"status\":\"ok\""},
    {"GET", "/healthz", "", 200, "{\"status\":\"ok\"}"},
    {"GET", "/readyz", "", 503, "\"code\":\"starting\""},
    {"GET", "/healthy", "", 404, "\"code\":\"no_route\""},
    {"GET", "/", "", 404, "\"code\":\"no_route\""},
    {"GET", "/health?x=1", "", 400, "this path has no query parameters"},
    {"PUT", "/v1/tools", "", 405, "this path supports GET, POST, DELETE"},
    {"GET", "/v1/find", "", 405, "this path supports POST"},
    {"get", "/health", "", 405, "\"code\":\"method\""},
    {"POST", "/v1/find", "{\"query\":\"book a table\"}", 200, "\"id\":\"town/book_table\""},
    {"POST", "/v1/find", "{\"query\":\"book a table\",\"recipe\":\"bm25\",\"explain\":true}", 200, "\"stages\":[{"},
    {"POST", "/v1/find", "{\"query\":\"book a table\",\"format\":\"openai\"}", 200,
     "\"definitions\":[{\"type\":\"function\""},
    {"POST", "/v1/find", "{\"query\":\"book a table\",\"max_tokens\":1}", 200, "\"over_budget\":2"},
    {"POST", "/v1/find", "{\"messages\":[{\"role\":\"user\",\"content\":\"high water\"}]}", 200,
     "\"request\":\"high water\""},
    {"POST", "/v1/find", "{\"messages\":[]}", 400, "\"code\":\"malformed\""},
    {"POST", "/v1/find", "{\"query\":\"a\",\"recipe\":\"nope\"}", 422, "\"code\":\"recipe\""},
    {"POST", "/v1/find", "{\"query\":\"a\",\"filter\":{\"providers\":[\"nobody\"]}}", 404, "\"code\":\"not_found\""},
    {"POST", "/v1/find", "{\"query\":\"a\",\"recip\":\"bm25\"}", 400, "\"pointer\":\"/recip\""},
    {"POST", "/v1/find", "{", 400, "\"code\":\"malformed\""},
    {"POST", "/v1/find", "", 400, "\"code\":\"malformed\""},
    {"POST", "/v1/find", "{\"query\":\"\"}", 400, "the request is empty"},
    {"POST", "/v1/pick", "{\"query\":\"book a table for two\"}", 200, "\"complete_probability\":"},
    {"POST", "/v1/pick", "{\"query\":\"a\",\"recipe\":\"ptr\"}", 400, "the server has no language model"},
    {"POST", "/v1/call", "{\"query\":\"book a table for 2 guests\",\"tool\":\"book_table\",\"format\":\"mcp\"}", 200,
     "\"call\":{"},
    {"POST", "/v1/call", "{\"query\":\"did anyone book a table for 2 guests\",\"tool\":\"book_table\"}", 200,
     "\"doubt\":\"question\""},
    {"POST", "/v1/call", "{\"query\":\"a\",\"language_model\":true}", 400, "\"pointer\":\"/language_model\""},
    {"POST", "/v1/call", "{\"query\":\"a\",\"tool\":\"nope\"}", 404, "\"code\":\"not_found\""},
    {"GET", "/v1/tools?limit=1", "", 200, "\"total\":2,\"next_offset\":1,\"tools\":[{"},
    {"GET", "/v1/tools?limit=1&offset=1", "", 200, "\"next_offset\":null"},
    {"GET", "/v1/tools?provider=nobody", "", 404, "\"code\":\"not_found\""},
    {"GET", "/v1/tools/book_table", "", 200, "\"definition\":"},
    {"GET", "/v1/tools/town/GET%20%2Ftides", "", 200, "\"name\":\"GET /tides\""},
    {"GET", "/v1/tools/town/GET%20/tides?format=anthropic", "", 200, "[{\"name\":\"town__GET_tides\""},
    {"GET", "/v1/tools/nope", "", 404, "\"code\":\"not_found\""},
    {"GET", "/v1/tools/%zz", "", 400, "\"code\":\"malformed\""},
    {"GET", "/v1/tools/", "", 404, "\"code\":\"no_route\""},
    {"GET", "/v1/tools/book_table?format=nope", "", 400, "\"pointer\":\"/format\""},
    {"POST", "/v1/tools?provider=new",
     "[{\"name\":\"x\",\"description\":\"y\",\"input_schema\":{\"type\":\"object\"}}]", 200, "\"added\":1"},
    {"POST", "/v1/tools", "nonsense", 400, "\"code\":\"malformed\""},
    {"POST", "/v1/tools?sync=1", "[]", 400, "\"pointer\":\"/source\""},
    {"DELETE", "/v1/tools/new/x", "", 200, "{\"removed\":1}"},
    {"DELETE", "/v1/tools/new/x", "", 404, "\"code\":\"not_found\""},
    {"DELETE", "/v1/tools", "", 400, "\"pointer\":\"/provider\""},
    {"DELETE", "/v1/tools?provider=new", "", 404, "\"code\":\"not_found\""},
    {"POST", "/v1/tools?provider=upstream", "[{\"name\":\"x\",\"description\":\"y\",\"input_schema\":{}}]", 400,
     "the provider upstream cannot be imported into: it is reserved for the approved tools of the MCP server with that "
     "name"},
    {"POST", "/v1/tools", "{\"provider\":\"upstream\",\"name\":\"x\",\"description\":\"y\"}", 400,
     "the provider upstream cannot be imported into"},
    {"DELETE", "/v1/tools?provider=upstream", "", 400, "the provider upstream cannot be removed"},
    {"POST", "/v1/embeddings", "{\"input\":\"a\",\"model\":\"default\"}", 200,
     "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":["},
    {"POST", "/v1/embeddings", "{\"input\":\"a\",\"model\":\"default\",\"dimensions\":100000}", 400,
     "\"pointer\":\"/dimensions\""},
    {"POST", "/v1/embeddings", "{\"input\":\"a\",\"model\":\"default\",\"dimensions\":4096}", 400, "dimensions; 4096"},
    {"POST", "/v1/embeddings", "{\"input\":\"a\",\"model\":\"text-embedding-3-small\"}", 404, "\"pointer\":\"/model\""},
    {"POST", "/v1/rerank", "{\"query\":\"high water\",\"documents\":[\"invoices\",\"high water\"],\"top_n\":1}", 200,
     "\"results\":[{\"index\":1,\"relevance_score\":"},
    {"POST", "/v2/rerank", "{\"query\":\"a\",\"documents\":[\"b\"],\"return_documents\":true,\"model\":\"default\"}",
     200, "\"document\":{\"text\":\"b\"}"},
    {"GET", "/v1/recipes", "", 200, "{\"name\":\"bm25\""},
    {"GET", "/v1/status", "", 200, "\"store_version\":"},
    {"GET", "/metrics", "", 200, "whichtool_tools 2\n"},
    {"GET", "/openapi.json", "", 200, "{\"openapi\":\"3.1.0\""},
    {"HEAD", "/health", "", 200, ""},
};

static void each_route_answers_or_reports_an_error(void **state)
{
    struct routes_fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_request request;
        const struct api_request asked = {.method = rows[i].method, .target = rows[i].target, .body = rows[i].body};
        struct api_call call = ask_api(f->open, &asked, &request);
        json_t *root = NULL;
        if (call.status != rows[i].status || !strstr(call.body.ptr, rows[i].holds))
            fail_msg("%s %s %s: %d %s", rows[i].method, rows[i].target, rows[i].body, call.status, call.body.ptr);
        if (strcmp(call.type, "application/json") == 0 && wt__json_parse(&root, call.body.ptr, call.body.len, NULL) < 0)
            fail_msg("%s %s: body is not JSON: %s", rows[i].method, rows[i].target, call.body.ptr);
        if (call.status >= 400 && (wt__json_str(wt__json_object(root, "error"), "code").len == 0 ||
                                   wt__json_str(wt__json_object(root, "error"), "message").len == 0))
            fail_msg("%s %s: body is not an error object: %s", rows[i].method, rows[i].target, call.body.ptr);
        json_decref(root);
        wt__api_call_dispose(&call);
    }
}

/* Checks each route without a key, with a wrong key, with a key of another scope, and with the right key. */
static void each_scope_permits_only_its_routes(void **state)
{
    struct routes_fixture *f = *state;
    for (size_t i = 0; i < wt__api_routes.count; i++) {
        const struct route *route = &wt__api_routes.items[i];
        const char *const keys[] = {NULL, "", "wt_nonsense", f->find, f->call, f->write, f->admin};
        const unsigned scopes[] = {0, 0, 0, SCOPE_FIND, SCOPE_CALL, SCOPE_WRITE | SCOPE_USAGE, SCOPE_ADMIN};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            struct http_request request;
            const struct api_request asked = {
                .method = route->method, .target = route->path, .body = "", .key = keys[k]};
            struct api_call call = ask_api(f->keyed, &asked, &request);
            bool allowed = wt__scope_allows(scopes[k], route->scope);
            int want = allowed ? 0 : scopes[k] ? 403 : 401;
            bool refused = call.status == 401 || call.status == 403;
            if (allowed ? refused : call.status != want)
                fail_msg("%s with key %zu: %d", route->name, k, call.status);
            assert_int_equal(find_answer_field(&call, "WWW-Authenticate").len > 0, call.status == 401);
            if (keys[k] && *keys[k])
                assert_null(strstr(call.body.ptr, keys[k]));
            wt__api_call_dispose(&call);
        }
    }
}

/* With a policy, routes that show or change tools require the scope admin. Without keys, these routes are
 * unavailable. */
static void a_policy_makes_tool_routes_require_admin(void **state)
{
    struct routes_fixture *f = *state;
    struct api_options options = {.engine = f->engine, .guard = {.listen = "127.0.0.1:8642"}, .policed = true};
    struct http_api *policed[2];
    size_t of_tools = 0;
    wt_error err;
    assert_int_equal(wt__api_open(&policed[0], &options, &err), 0);
    options.keys_path = f->keys;
    assert_int_equal(wt__api_open(&policed[1], &options, &err), 0);
    for (size_t i = 0; i < wt__api_routes.count; i++) {
        const struct route *route = &wt__api_routes.items[i];
        const char *const keys[] = {NULL, f->find, f->write, f->admin};
        for (size_t keyed = 0; keyed < 2; keyed++)
            for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
                struct http_request request;
                const struct api_request asked = {
                    .method = route->method, .target = route->path, .body = "", .key = keys[k]};
                struct api_call call = ask_api(policed[keyed], &asked, &request);
                bool refused = call.status == 401 || call.status == 403;
                if (route->of_tools && refused != !(keyed && keys[k] == f->admin))
                    fail_msg("%s, %s keys, key %zu: %d", route->name, keyed ? "with" : "without", k, call.status);
                if (!route->of_tools && !keyed && refused)
                    fail_msg("%s is refused without keys: %d", route->name, call.status);
                wt__api_call_dispose(&call);
            }
        of_tools += route->of_tools;
        /* Every route with "/tools" in its path has of_tools. */
        assert_true(route->of_tools || !strstr(route->path, "/tools"));
    }
    assert_int_equal(of_tools, 8);
    wt__api_close(policed[0]);
    wt__api_close(policed[1]);
}

static const struct {
    const char *method, *target, *host, *origin;
    int status;
    bool cors;
} matrix[] = {
    {"GET", "/health", "localhost", NULL, 200, false},
    {"GET", "/health", "evil.example.com", NULL, 421, false},
    {"GET", "/nothing", "evil.example.com", NULL, 421, false},
    {"GET", "/health", "localhost:8642", "http://localhost:8642", 200, false},
    {"GET", "/health", "localhost:8642", "http://evil.example.com", 403, false},
    {"GET", "/health", "evil.example.com", "http://evil.example.com", 421, false},
    {"GET", "/health", "localhost", "https://app.example.com", 200, true},
    {"OPTIONS", "/v1/find", "localhost", "https://app.example.com", 204, true},
    {"OPTIONS", "/v1/find", "localhost", "https://evil.example.com", 403, false},
    {"OPTIONS", "/v1/find", "localhost", NULL, 405, false},
    {"OPTIONS", "/nothing", "localhost", "https://app.example.com", 404, true},
};

static void host_and_origin_are_checked_first(void **state)
{
    struct routes_fixture *f = *state;
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++) {
        struct http_request request;
        const struct api_request asked = {.method = matrix[i].method,
                                          .target = matrix[i].target,
                                          .body = "",
                                          .host = matrix[i].host,
                                          .origin = matrix[i].origin};
        struct api_call call = ask_api(f->open, &asked, &request);
        const struct http_handler handler = wt__api_handler(f->open);
        struct http_fields common = {0};
        struct request_trace note = {0};
        handler.fields(handler.context, &request, &note, &common);
        struct str allowed = common.count > 2 ? common.items[2].value : (struct str){0};
        assert_true(wt__str_equal(common.items[0].name, STR("X-Request-Id")));
        assert_true(wt__str_equal(common.items[0].value, wt__str(note.request_id)));
        assert_true(wt__str_equal(common.items[1].name, STR("Vary")));
        if (call.status != matrix[i].status || (allowed.len > 0) != matrix[i].cors)
            fail_msg("%s %s from %s: %d", matrix[i].method, matrix[i].host, matrix[i].origin ? matrix[i].origin : "-",
                     call.status);
        if (allowed.len > 0)
            assert_true(wt__str_equal(allowed, wt__str(matrix[i].origin)));
        wt__api_call_dispose(&call);
    }
}

static uint64_t read_generation(wt_engine *engine)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    assert_int_equal(wt_info(engine, &info, NULL), 0);
    return info.generation;
}

/* Requests from foreign origins, and through DNS rebinding, reach no route, even with an admin key. */
static void foreign_hosts_and_origins_reach_no_route(void **state)
{
    struct routes_fixture *f = *state;
    static const struct {
        const char *host, *origin;
        int status;
    } elsewhere[] = {
        {"evil.example.com", NULL, 421},
        {"evil.example.com:8642", "http://evil.example.com:8642", 421},
        {"localhost.", NULL, 421},
        {"127.0.0.1.nip.io:8642", NULL, 421},
        {"localhost:8642", "http://evil.example.com", 403},
        {"localhost:8642", "http://localhost:3000", 403},
        {"localhost:8642", "null", 403},
    };
    uint64_t before = read_generation(f->engine);
    for (size_t i = 0; i < wt__api_routes.count; i++)
        for (size_t e = 0; e < sizeof elsewhere / sizeof *elsewhere; e++)
            for (int keyed = 0; keyed < 2; keyed++) {
                const struct route *route = &wt__api_routes.items[i];
                struct http_request request;
                const struct api_request asked = {.method = route->method,
                                                  .target = route->path,
                                                  .body = catalogue,
                                                  .host = elsewhere[e].host,
                                                  .origin = elsewhere[e].origin,
                                                  .key = keyed ? f->admin : NULL};
                struct api_call call = ask_api(keyed ? f->keyed : f->open, &asked, &request);
                if (call.status != elsewhere[e].status || strstr(call.body.ptr, "evil") ||
                    strstr(call.body.ptr, "town"))
                    fail_msg("%s from %s: %d %s", route->name, elsewhere[e].host, call.status, call.body.ptr);
                wt__api_call_dispose(&call);
            }
    assert_int_equal(read_generation(f->engine), before);
}

/* A key counts only in the Authorization field. A key in the URL would appear in logs. A browser would send a key in a
 * cookie automatically. */
static void keys_count_only_in_the_authorization_field(void **state)
{
    struct routes_fixture *f = *state;
    static const struct {
        const char *target, *field, *prefix;
        int status;
        const char *says;
    } ways[] = {
        {"/v1/recipes", "Authorization", "Bearer ", 200, "recipes"},
        {"/v1/recipes", "authorization", "bearer ", 200, "recipes"},
        {"/v1/recipes", "Authorization", "", 401, "a key is required; send Authorization: Bearer KEY"},
        {"/v1/recipes", "Authorization", "Basic ", 401, "a key is required"},
        {"/v1/recipes", "Authorization", "Bearer x", 401, "unknown key"},
        {"/v1/recipes", "Proxy-Authorization", "Bearer ", 401, "a key is required"},
        {"/v1/recipes", "X-Api-Key", "", 401, "a key is required"},
        {"/v1/recipes", "Cookie", "key=", 401, "a key is required"},
        {"/v1/recipes", "Mcp-Session-Id", "", 401, "a key is required"},
        {"/v1/recipes?key=KEY", NULL, NULL, 401, "a key is required"},
        {"/v1/recipes?access_token=KEY", NULL, NULL, 401, "a key is required"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char target[160], value[160];
        const char *place = strstr(ways[i].target, "KEY");
        struct http_request request;
        snprintf(target, sizeof target, "%.*s%s", (int)(place ? place - ways[i].target : (long)strlen(ways[i].target)),
                 ways[i].target, place ? f->find : "");
        snprintf(value, sizeof value, "%s%s", ways[i].prefix ? ways[i].prefix : "", f->find);
        struct api_request asked = {.method = "GET", .target = target, .body = ""};
        if (ways[i].field)
            asked.more = (struct http_field){wt__str(ways[i].field), wt__str(value)};
        struct api_call call = ask_api(f->keyed, &asked, &request);
        if (call.status != ways[i].status || !strstr(call.body.ptr, ways[i].says))
            fail_msg("%s %s: %d %s", ways[i].target, ways[i].field ? ways[i].field : "", call.status, call.body.ptr);
        wt__api_call_dispose(&call);
    }
}

/* A request cannot make the server read a file, fetch a URL or start a process. A request cannot choose a model. */
static void requests_cannot_control_files_processes_or_models(void **state)
{
    struct routes_fixture *f = *state;
    static const struct {
        const char *method, *target, *body;
        int status;
    } said[] = {
        {"POST", "/v1/tools", "\"http://169.254.169.254/latest/meta-data\"", 400},
        {"POST", "/v1/tools", "\"file:///etc/passwd\"", 400},
        {"POST", "/v1/tools", "http://127.0.0.1:8642/openapi.json", 400},
        {"POST", "/v1/tools", "{\"mcpServers\":{\"x\":{\"command\":\"touch\",\"args\":[\"/tmp/whichtool-pwned\"]}}}",
         400},
        {"POST", "/v1/tools", "{\"mcpServers\":{\"x\":{\"url\":\"http://169.254.169.254/\"}}}", 400},
        {"POST", "/v1/tools?mcp=1", "[]", 400},
        {"POST", "/v1/tools?path=/etc/passwd", "[]", 400},
        {"POST", "/v1/tools?model=/tmp", "[]", 400},
        {"GET", "/v1/tools/..%2f..%2fetc%2fpasswd", "", 404},
        {"GET", "/v1/tools/../../etc/passwd", "", 404},
        {"GET", "/v1/../metrics", "", 404},
        {"GET", "//v1/status", "", 404},
        {"POST", "/v1/find", "{\"query\":\"a\",\"model\":\"/tmp/model\"}", 400},
        {"POST", "/v1/find", "{\"query\":\"a\",\"store\":\"/tmp/other.wt\"}", 400},
        {"POST", "/v1/find", "{\"query\":\"a\",\"recipe\":\"../auto\"}", 422},
        {"POST", "/v1/pick", "{\"query\":\"a\",\"chat_url\":\"http://169.254.169.254/\"}", 400},
        {"POST", "/v1/call", "{\"query\":\"a\",\"chat_url\":\"http://169.254.169.254/\"}", 400},
        {"POST", "/v1/call", "{\"query\":\"a\",\"chat_model\":\"gpt\"}", 400},
        {"POST", "/v1/call", "{\"query\":\"a\",\"execute\":true}", 400},
        {"POST", "/v1/embeddings", "{\"input\":\"a\",\"model\":\"../../etc\"}", 404},
        {"POST", "/v1/find", "{\"query\":\"a\",\"Query\":\"b\"}", 400}, /* names are case-sensitive everywhere */
        {"POST", "/v1/find", "{\"query\":\"a\",\"query\":\"b\"}", 400},
        {"POST", "/v1/find", "{\"query\":\"a\\u0000b\"}", 400},
    };
    uint64_t before = read_generation(f->engine);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct http_request request;
        const struct api_request asked = {.method = said[i].method, .target = said[i].target, .body = said[i].body};
        struct api_call call = ask_api(f->open, &asked, &request);
        if (call.status != said[i].status)
            fail_msg("%s %s %s: %d %s", said[i].method, said[i].target, said[i].body, call.status, call.body.ptr);
        wt__api_call_dispose(&call);
    }
    assert_int_equal(read_generation(f->engine), before);
    assert_int_equal(access("/tmp/whichtool-pwned", F_OK), -1);
}

static void non_local_addresses_require_keys(void **state)
{
    struct routes_fixture *f = *state;
    struct http_api *api;
    wt_error err;
    struct api_options options = {.engine = f->engine, .guard = {.listen = "0.0.0.0:8642"}};
    assert_int_equal(wt__api_open(&api, &options, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "other machines can reach"));
    options.keys_path = f->keys;
    assert_int_equal(wt__api_open(&api, &options, &err), 0);
    wt__api_close(api);
    options.keys_path = "/nothing/here";
    assert_int_equal(wt__api_open(&api, &options, &err), WT_ENOTFOUND);
    assert_null(api);
}

static int status_with(struct http_api *api, const char *key)
{
    struct http_request request;
    const struct api_request asked = {.method = "GET", .target = "/v1/recipes", .body = "", .key = key};
    struct api_call call = ask_api(api, &asked, &request);
    int status = call.status;
    wt__api_call_dispose(&call);
    return status;
}

static void reload_replaces_keys_unless_the_file_is_invalid(void **state)
{
    struct routes_fixture *f = *state;
    char late[64], *text;
    size_t len;
    wt_error err;
    assert_int_equal(wt__file_read(&text, &len, f->keys, 1 << 20, &err), 0);
    assert_int_equal(wt__keys_add(f->keys, "late", SCOPE_FIND, NULL, late, &err), 0);
    assert_int_equal(status_with(f->keyed, late), 401);
    wt__api_reload(f->keyed);
    assert_int_equal(status_with(f->keyed, late), 200);
    assert_int_equal(wt__file_replace(f->keys, "nonsense\n", 9, &err), 0);
    wt__api_reload(f->keyed);
    assert_int_equal(status_with(f->keyed, late), 200);
    assert_int_equal(wt__file_replace(f->keys, text, len, &err), 0); /* without the late key */
    wt__api_reload(f->keyed);
    assert_int_equal(status_with(f->keyed, late), 401);
    free(text);
}

static bool has_disconnected(const void *context)
{
    (void)context;
    return true;
}

static void searches_stop_on_disconnect(void **state)
{
    struct routes_fixture *f = *state;
    bool takes_long;
    struct http_request request = {.method = STR("POST"),
                                   .path = STR("/v1/find"),
                                   .body = STR("{\"query\":\"a table\"}"),
                                   .fields = {{STR("Host"), STR("localhost")}},
                                   .field_count = 1};
    struct api_call call = {.request = &request, .is_gone = has_disconnected};
    wt__api_respond(f->open, &call, &takes_long);
    assert_int_equal(call.status, 503);
    assert_non_null(strstr(call.body.ptr, "\"code\":\"cancelled\""));
    wt__api_call_dispose(&call);
}

static void slow_calls_do_not_start_on_a_worker(void **state)
{
    struct routes_fixture *f = *state;
    bool takes_long;
    struct http_request request = {.method = STR("DELETE"),
                                   .path = STR("/v1/tools/town/book_table"),
                                   .fields = {{STR("Host"), STR("localhost")}},
                                   .field_count = 1};
    struct api_call call = {.request = &request};
    assert_null(wt__api_respond(f->open, &call, &takes_long));
    assert_true(takes_long);
    wt__api_call_dispose(&call);
    wt_tools *tools;
    wt_error err;
    assert_int_equal(wt_get(f->engine, "town/book_table", &tools, &err), 0);
    wt_tools_free(tools);
}

static void take_nothing(void *context, struct http_exchange *exchange, const struct api_call *call)
{
    (void)call;
    (void)context;
    (void)exchange;
}

/* A module's route without a method matches every method. The route requires a key with its scope. */
static void modules_can_add_routes(void **state)
{
    struct routes_fixture *f = *state;
    static const struct route row = {
        .path = "/mcp", .scope = SCOPE_FIND, .body_max = 1, .name = "mcp", .take = take_nothing};
    const struct routes table = {.items = &row, .count = 1};
    const struct api_options options = {.engine = f->engine,
                                        .keys_path = f->keys,
                                        .guard = {.listen = "127.0.0.1:8642"},
                                        .more = &table,
                                        .more_count = 1};
    static const char *const methods[] = {"GET", "POST", "DELETE", "PUT"};
    struct http_api *api;
    bool takes_long;
    char authorization[128];
    assert_int_equal(wt__api_open(&api, &options, NULL), 0);
    snprintf(authorization, sizeof authorization, "Bearer %s", f->find);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct http_request request = {
            .method = wt__str(methods[i]),
            .path = STR("/mcp"),
            .fields = {{STR("Host"), STR("localhost")}, {STR("Authorization"), wt__str(authorization)}},
            .field_count = 2};
        struct api_call call = {.request = &request};
        assert_ptr_equal(wt__api_respond(api, &call, &takes_long), &row);
        assert_string_equal(call.principal, "finder");
        wt__api_call_dispose(&call);
        request.field_count = 1; /* no key */
        call = (struct api_call){.request = &request};
        assert_null(wt__api_respond(api, &call, &takes_long));
        assert_int_equal(call.status, 401);
        wt__api_call_dispose(&call);
    }
    wt__api_close(api);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_route_answers_or_reports_an_error),
        cmocka_unit_test(each_scope_permits_only_its_routes),
        cmocka_unit_test(a_policy_makes_tool_routes_require_admin),
        cmocka_unit_test(host_and_origin_are_checked_first),
        cmocka_unit_test(foreign_hosts_and_origins_reach_no_route),
        cmocka_unit_test(keys_count_only_in_the_authorization_field),
        cmocka_unit_test(requests_cannot_control_files_processes_or_models),
        cmocka_unit_test(non_local_addresses_require_keys),
        cmocka_unit_test(reload_replaces_keys_unless_the_file_is_invalid),
        cmocka_unit_test(searches_stop_on_disconnect),
        cmocka_unit_test(slow_calls_do_not_start_on_a_worker),
        cmocka_unit_test(modules_can_add_routes),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
