/* Requests against the API without a server: each route, what it says of bad input, who may use it. */
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
#include "serve/api/routes.h"
#include "whichtool/review.h"

static const char catalogue[] =
    "[{\"name\":\"book_table\",\"description\":\"Books a table in a restaurant for a number of guests\","
    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"guests\":{\"type\":\"integer\"}},\"required\":[\"guests\"]"
    "}},"
    "{\"name\":\"GET /tides\",\"description\":\"Times of high and low water at a harbour\","
    "\"input_schema\":{\"type\":\"object\",\"properties\":{}}}]";

struct fixture {
    wt_engine *engine;
    struct api *open, *keyed; /* without keys, and with */
    char folder[40], keys[64], find[64], call[64], write[64], admin[64];
};

static const char *const origins[] = {"https://app.example.com"};

static int open_all(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
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
    assert_int_equal(wt__keys_add(f->keys, "finder", SCOPE_FIND, f->find, &err), 0);
    assert_int_equal(wt__keys_add(f->keys, "caller", SCOPE_CALL, f->call, &err), 0);
    assert_int_equal(wt__keys_add(f->keys, "writer", SCOPE_WRITE | SCOPE_USAGE, f->write, &err), 0);
    assert_int_equal(wt__keys_add(f->keys, "root", SCOPE_ADMIN, f->admin, &err), 0);
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

static int close_all(void **state)
{
    struct fixture *f = *state;
    wt__api_close(f->open);
    wt__api_close(f->keyed);
    wt_close(f->engine);
    unlink(f->keys);
    rmdir(f->folder);
    free(f);
    return 0;
}

struct asked {
    const char *method, *target, *body, *host, *origin, *key;
    struct http_field more;
};

/* The answer; its body ends in NUL. */
static struct api_call ask(struct api *api, const struct asked *asked, struct http_request *request)
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

static struct str field_of(const struct api_call *call, const char *name)
{
    for (size_t i = 0; i < call->field_count; i++)
        if (wt__str_equal(call->fields[i].name, wt__str(name)))
            return call->fields[i].value;
    return (struct str){0};
}

static const struct {
    const char *method, *target, *body;
    int status;
    const char *holds; /* the answer does */
} rows[] = {
    {"GET", "/health", "", 200, "\"status\":\"ok\""},
    {"GET", "/healthy", "", 404, "\"code\":\"no_route\""},
    {"GET", "/", "", 404, "\"code\":\"no_route\""},
    {"GET", "/health?x=1", "", 400, "this path takes no parameters"},
    {"PUT", "/v1/tools", "", 405, "this path knows GET, POST, DELETE alone"},
    {"GET", "/v1/find", "", 405, "this path knows POST alone"},
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
    {"POST", "/v1/pick", "{\"query\":\"a\",\"recipe\":\"ptr\"}", 400, "this server has no language model"},
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
    {"POST", "/v1/embeddings", "{\"input\":\"a\",\"model\":\"default\",\"dimensions\":4096}", 400,
     "dimensions, and 4096"},
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

static void each_route_answers_and_says_what_is_wrong(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_request request;
        const struct asked asked = {.method = rows[i].method, .target = rows[i].target, .body = rows[i].body};
        struct api_call call = ask(f->open, &asked, &request);
        json_t *root = NULL;
        if (call.status != rows[i].status || !strstr(call.body.ptr, rows[i].holds))
            fail_msg("%s %s %s: %d %s", rows[i].method, rows[i].target, rows[i].body, call.status, call.body.ptr);
        if (strcmp(call.type, "application/json") == 0 && wt__json_parse(&root, call.body.ptr, call.body.len, NULL) < 0)
            fail_msg("%s %s: no JSON: %s", rows[i].method, rows[i].target, call.body.ptr);
        if (call.status >= 400 && (wt__json_str(wt__json_object(root, "error"), "code").len == 0 ||
                                   wt__json_str(wt__json_object(root, "error"), "message").len == 0))
            fail_msg("%s %s: not the form of errors: %s", rows[i].method, rows[i].target, call.body.ptr);
        json_decref(root);
        wt__api_call_dispose(&call);
    }
}

/* Every route and who may use it: none, a key that is none, one of another scope, the right one. */
static void each_scope_opens_its_routes_alone(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < wt__api_routes.count; i++) {
        const struct route *route = &wt__api_routes.items[i];
        const char *const keys[] = {NULL, "", "wt_nonsense", f->find, f->call, f->write, f->admin};
        const unsigned scopes[] = {0, 0, 0, SCOPE_FIND, SCOPE_CALL, SCOPE_WRITE | SCOPE_USAGE, SCOPE_ADMIN};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            struct http_request request;
            const struct asked asked = {.method = route->method, .target = route->path, .body = "", .key = keys[k]};
            struct api_call call = ask(f->keyed, &asked, &request);
            bool allowed = wt__scope_allows(scopes[k], route->scope);
            int want = allowed ? 0 : scopes[k] ? 403 : 401;
            bool refused = call.status == 401 || call.status == 403;
            if (allowed ? refused : call.status != want)
                fail_msg("%s with key %zu: %d", route->name, k, call.status);
            assert_int_equal(field_of(&call, "WWW-Authenticate").len > 0, call.status == 401);
            if (keys[k] && *keys[k])
                assert_null(strstr(call.body.ptr, keys[k]));
            wt__api_call_dispose(&call);
        }
    }
}

/* A policy is asked by other routes: those that tell of tools, or change them, are for who may administer, and for
 * nobody where nobody has a key. */
static void with_a_policy_tools_are_for_who_administers(void **state)
{
    struct fixture *f = *state;
    struct api_options options = {.engine = f->engine, .guard = {.listen = "127.0.0.1:8642"}, .policed = true};
    struct api *policed[2];
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
                const struct asked asked = {.method = route->method, .target = route->path, .body = "", .key = keys[k]};
                struct api_call call = ask(policed[keyed], &asked, &request);
                bool refused = call.status == 401 || call.status == 403;
                if (route->of_tools && refused != !(keyed && keys[k] == f->admin))
                    fail_msg("%s, %s keys, key %zu: %d", route->name, keyed ? "with" : "without", k, call.status);
                if (!route->of_tools && !keyed && refused)
                    fail_msg("%s needs no key: %d", route->name, call.status);
                wt__api_call_dispose(&call);
            }
        of_tools += route->of_tools;
        /* Whatever has tools in its path is one of them. */
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

static void hosts_and_origins_decide_first(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++) {
        struct http_request request;
        const struct asked asked = {.method = matrix[i].method,
                                    .target = matrix[i].target,
                                    .body = "",
                                    .host = matrix[i].host,
                                    .origin = matrix[i].origin};
        struct api_call call = ask(f->open, &asked, &request);
        const struct http_handler handler = wt__api_handler(f->open);
        struct http_fields common = {0};
        handler.fields(handler.context, &request, &common);
        struct str allowed = common.count > 1 ? common.items[1].value : (struct str){0};
        assert_true(wt__str_equal(common.items[0].name, STR("Vary")));
        if (call.status != matrix[i].status || (allowed.len > 0) != matrix[i].cors)
            fail_msg("%s %s from %s: %d", matrix[i].method, matrix[i].host, matrix[i].origin ? matrix[i].origin : "-",
                     call.status);
        if (allowed.len > 0)
            assert_true(wt__str_equal(allowed, wt__str(matrix[i].origin)));
        wt__api_call_dispose(&call);
    }
}

static uint64_t generation_of(wt_engine *engine)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    assert_int_equal(wt_info(engine, &info, NULL), 0);
    return info.generation;
}

/* Whoever asks with whatever key: a page of another site, and a name that was pointed here, reach no route. */
static void no_route_is_reached_from_elsewhere(void **state)
{
    struct fixture *f = *state;
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
    uint64_t before = generation_of(f->engine);
    for (size_t i = 0; i < wt__api_routes.count; i++)
        for (size_t e = 0; e < sizeof elsewhere / sizeof *elsewhere; e++)
            for (int keyed = 0; keyed < 2; keyed++) {
                const struct route *route = &wt__api_routes.items[i];
                struct http_request request;
                const struct asked asked = {.method = route->method,
                                            .target = route->path,
                                            .body = catalogue,
                                            .host = elsewhere[e].host,
                                            .origin = elsewhere[e].origin,
                                            .key = keyed ? f->admin : NULL};
                struct api_call call = ask(keyed ? f->keyed : f->open, &asked, &request);
                if (call.status != elsewhere[e].status || strstr(call.body.ptr, "evil") ||
                    strstr(call.body.ptr, "town"))
                    fail_msg("%s from %s: %d %s", route->name, elsewhere[e].host, call.status, call.body.ptr);
                wt__api_call_dispose(&call);
            }
    assert_int_equal(generation_of(f->engine), before);
}

/* A key is one in its field alone: not in the address, where logs and referrers would have it, nor in a cookie, which a
 * browser sends by itself. A session is none. */
static void a_key_counts_in_its_field_alone(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *target, *field, *prefix;
        int status;
        const char *says;
    } ways[] = {
        {"/v1/recipes", "Authorization", "Bearer ", 200, "recipes"},
        {"/v1/recipes", "authorization", "bearer ", 200, "recipes"},
        {"/v1/recipes", "Authorization", "", 401, "this takes a key: Authorization: Bearer KEY"},
        {"/v1/recipes", "Authorization", "Basic ", 401, "this takes a key"},
        {"/v1/recipes", "Authorization", "Bearer x", 401, "this key is not known here"},
        {"/v1/recipes", "Proxy-Authorization", "Bearer ", 401, "this takes a key"},
        {"/v1/recipes", "X-Api-Key", "", 401, "this takes a key"},
        {"/v1/recipes", "Cookie", "key=", 401, "this takes a key"},
        {"/v1/recipes", "Mcp-Session-Id", "", 401, "this takes a key"},
        {"/v1/recipes?key=KEY", NULL, NULL, 401, "this takes a key"},
        {"/v1/recipes?access_token=KEY", NULL, NULL, 401, "this takes a key"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char target[160], value[160];
        const char *place = strstr(ways[i].target, "KEY");
        struct http_request request;
        snprintf(target, sizeof target, "%.*s%s", (int)(place ? place - ways[i].target : (long)strlen(ways[i].target)),
                 ways[i].target, place ? f->find : "");
        snprintf(value, sizeof value, "%s%s", ways[i].prefix ? ways[i].prefix : "", f->find);
        struct asked asked = {.method = "GET", .target = target, .body = ""};
        if (ways[i].field)
            asked.more = (struct http_field){wt__str(ways[i].field), wt__str(value)};
        struct api_call call = ask(f->keyed, &asked, &request);
        if (call.status != ways[i].status || !strstr(call.body.ptr, ways[i].says))
            fail_msg("%s %s: %d %s", ways[i].target, ways[i].field ? ways[i].field : "", call.status, call.body.ptr);
        wt__api_call_dispose(&call);
    }
}

/* What is asked decides neither what the server reads, fetches or starts, nor which models it asks. */
static void what_steers_the_server_cannot_be_said(void **state)
{
    struct fixture *f = *state;
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
        {"POST", "/v1/find", "{\"query\":\"a\",\"Query\":\"b\"}", 400}, /* no two readers differ on it */
        {"POST", "/v1/find", "{\"query\":\"a\",\"query\":\"b\"}", 400},
        {"POST", "/v1/find", "{\"query\":\"a\\u0000b\"}", 400},
    };
    uint64_t before = generation_of(f->engine);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct http_request request;
        const struct asked asked = {.method = said[i].method, .target = said[i].target, .body = said[i].body};
        struct api_call call = ask(f->open, &asked, &request);
        if (call.status != said[i].status)
            fail_msg("%s %s %s: %d %s", said[i].method, said[i].target, said[i].body, call.status, call.body.ptr);
        wt__api_call_dispose(&call);
    }
    assert_int_equal(generation_of(f->engine), before);
    assert_int_equal(access("/tmp/whichtool-pwned", F_OK), -1);
}

static void beyond_this_machine_it_takes_keys(void **state)
{
    struct fixture *f = *state;
    struct api *api;
    wt_error err;
    struct api_options options = {.engine = f->engine, .guard = {.listen = "0.0.0.0:8642"}};
    assert_int_equal(wt__api_open(&api, &options, &err), WT_EINVAL);
    assert_non_null(strstr(err.message, "can be reached from other machines"));
    options.keys_path = f->keys;
    assert_int_equal(wt__api_open(&api, &options, &err), 0);
    wt__api_close(api);
    options.keys_path = "/nothing/here";
    assert_int_equal(wt__api_open(&api, &options, &err), WT_ENOTFOUND);
    assert_null(api);
}

static int status_with(struct api *api, const char *key)
{
    struct http_request request;
    const struct asked asked = {.method = "GET", .target = "/v1/recipes", .body = "", .key = key};
    struct api_call call = ask(api, &asked, &request);
    int status = call.status;
    wt__api_call_dispose(&call);
    return status;
}

static void keys_are_read_anew_and_a_bad_file_changes_nothing(void **state)
{
    struct fixture *f = *state;
    char late[64], *text;
    size_t len;
    wt_error err;
    assert_int_equal(wt__file_read(&text, &len, f->keys, 1 << 20, &err), 0);
    assert_int_equal(wt__keys_add(f->keys, "late", SCOPE_FIND, late, &err), 0);
    assert_int_equal(status_with(f->keyed, late), 401);
    wt__api_reload(f->keyed);
    assert_int_equal(status_with(f->keyed, late), 200);
    assert_int_equal(wt__file_replace(f->keys, "nonsense\n", 9, &err), 0);
    wt__api_reload(f->keyed);
    assert_int_equal(status_with(f->keyed, late), 200);
    assert_int_equal(wt__file_replace(f->keys, text, len, &err), 0); /* without the late one */
    wt__api_reload(f->keyed);
    assert_int_equal(status_with(f->keyed, late), 401);
    free(text);
}

static bool nobody_waits(const void *context)
{
    (void)context;
    return true;
}

/* A find that nobody waits for any more ends; so does one whose time is up. */
static void what_nobody_waits_for_is_given_up(void **state)
{
    struct fixture *f = *state;
    bool takes_long;
    struct http_request request = {.method = STR("POST"),
                                   .path = STR("/v1/find"),
                                   .body = STR("{\"query\":\"a table\"}"),
                                   .fields = {{STR("Host"), STR("localhost")}},
                                   .field_count = 1};
    struct api_call call = {.request = &request, .is_gone = nobody_waits};
    wt__api_respond(f->open, &call, &takes_long);
    assert_int_equal(call.status, 503);
    assert_non_null(strstr(call.body.ptr, "\"code\":\"cancelled\""));
    wt__api_call_dispose(&call);
}

static void what_takes_long_is_not_begun_on_a_worker(void **state)
{
    struct fixture *f = *state;
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

static void take_nothing(void *context, struct http_exchange *exchange, const char *principal, unsigned scopes)
{
    (void)scopes;
    (void)context;
    (void)exchange;
    (void)principal;
}

/* A module's route is found by path and any method, and is guarded as ours are. */
static void a_module_brings_a_route(void **state)
{
    struct fixture *f = *state;
    static const struct route row = {
        .path = "/mcp", .scope = SCOPE_FIND, .body_max = 1, .name = "mcp", .take = take_nothing};
    const struct routes table = {.items = &row, .count = 1};
    const struct api_options options = {.engine = f->engine,
                                        .keys_path = f->keys,
                                        .guard = {.listen = "127.0.0.1:8642"},
                                        .more = &table,
                                        .more_count = 1};
    static const char *const methods[] = {"GET", "POST", "DELETE", "PUT"};
    struct api *api;
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
        request.field_count = 1; /* without the key */
        call = (struct api_call){.request = &request};
        assert_null(wt__api_respond(api, &call, &takes_long));
        assert_int_equal(call.status, 401);
        wt__api_call_dispose(&call);
    }
    wt__api_close(api);
}

static void the_lesser_limit_holds(void **state)
{
    (void)state;
    static const struct {
        unsigned server, asked, holds;
    } limits[] = {{60, 0, 60}, {60, 10, 10}, {60, 90, 60}, {0, 0, 0}, {0, 10, 10}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct service service = {.time_limit_ms = limits[i].server};
        const struct api_call call = {.service = &service};
        assert_int_equal(wt__api_limit(&call, limits[i].asked), limits[i].holds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_route_answers_and_says_what_is_wrong),
                                       cmocka_unit_test(each_scope_opens_its_routes_alone),
                                       cmocka_unit_test(with_a_policy_tools_are_for_who_administers),
                                       cmocka_unit_test(hosts_and_origins_decide_first),
                                       cmocka_unit_test(no_route_is_reached_from_elsewhere),
                                       cmocka_unit_test(a_key_counts_in_its_field_alone),
                                       cmocka_unit_test(what_steers_the_server_cannot_be_said),
                                       cmocka_unit_test(beyond_this_machine_it_takes_keys),
                                       cmocka_unit_test(keys_are_read_anew_and_a_bad_file_changes_nothing),
                                       cmocka_unit_test(what_nobody_waits_for_is_given_up),
                                       cmocka_unit_test(what_takes_long_is_not_begun_on_a_worker),
                                       cmocka_unit_test(a_module_brings_a_route),
                                       cmocka_unit_test(the_lesser_limit_holds)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
