/* Tests the client with hostile servers. Each head is sent with the body of an answer and with that of an error. Each
 * body is sent with heads of success and of failure. Each response is sent whole, cut in half, and cut before its last
 * byte. The client must return a valid answer or an error in time, must not reveal the key, and must serve the next
 * question. The address sanitizer detects leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "llm/client.h"
#include "net/script_server.h"

#define KEY "sk-a-very-secret-key"
#define SCHEMA                                                                                                         \
    "{\"type\":\"object\",\"properties\":{\"tool\":{\"type\":[\"integer\",\"null\"]}},\"required\":[\"tool\"],"        \
    "\"additionalProperties\":false}"
#define CHOICE(message, more) "{\"choices\":[{\"message\":" message ",\"finish_reason\":\"stop\"}]" more "}"
#define CONTENT(content) CHOICE("{\"role\":\"assistant\",\"content\":" content "}", "")
#define GOOD CONTENT("\"{\\\"tool\\\": 2}\"")
#define USAGE(usage) CHOICE("{\"content\":\"{\\\"tool\\\": 2}\"}", ",\"usage\":" usage)
#define ERROR(error) "{\"error\":" error "}"
#define OK "HTTP/1.1 200 OK\r\n"
#define JSON "Content-Type: application/json\r\n"
#define LENGTH "Content-Length: @\r\n"
#define FAILS(status, headers) "HTTP/1.1 " status " Scripted\r\n" JSON headers LENGTH "\r\n"

/* A response is text, body, after. In `text`, "@" stands for the length of the body, and "#" for the length in
 * hexadecimal. In all three, "%NUMBER TEXT%" repeats TEXT. */
static const struct {
    const char *name, *text, *after;
} heads[] = {
    {"a good head", OK JSON LENGTH "\r\n", ""},
    {"no type", OK LENGTH "\r\n", ""},
    {"a type of 9 KB", OK "Content-Type: %9000 x%\r\n" LENGTH "\r\n", ""},
    {"a type that is not text", OK "Content-Type: \xFF\xFE\x01\r\n" LENGTH "\r\n", ""},
    {"a body without a length", OK JSON "\r\n", ""},
    {"HTTP/1.0", "HTTP/1.0 200 OK\r\n" JSON "\r\n", ""},
    {"HTTP/0.9", "", ""},
    {"HTTP/9.9", "HTTP/9.9 200 OK\r\n" JSON LENGTH "\r\n", ""},
    {"a length that is too large", OK JSON "Content-Length: 1@\r\n\r\n", ""},
    {"a length that is too small", OK JSON "Content-Length: 7\r\n\r\n", ""},
    {"length 0", OK JSON "Content-Length: 0\r\n\r\n", ""},
    {"a negative length", OK JSON "Content-Length: -5\r\n\r\n", ""},
    {"a length that is not a number", OK JSON "Content-Length: many\r\n\r\n", ""},
    {"a length beyond 64 bits", OK JSON "Content-Length: 99999999999999999999999\r\n\r\n", ""},
    {"a length of 8 EB", OK JSON "Content-Length: 9223372036854775807\r\n\r\n", ""},
    {"two lengths", OK JSON LENGTH "Content-Length: 3\r\n\r\n", ""},
    {"chunked", OK JSON "Transfer-Encoding: chunked\r\n\r\n#\r\n", "\r\n0\r\n\r\n"},
    {"chunked, and a length", OK JSON LENGTH "Transfer-Encoding: chunked\r\n\r\n#\r\n", "\r\n0\r\n\r\n"},
    {"chunked, without an end", OK JSON "Transfer-Encoding: chunked\r\n\r\n#\r\n", "\r\n"},
    {"chunked, invalid sizes", OK JSON "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "\r\n0\r\n\r\n"},
    {"chunked, a size beyond 64 bits", OK JSON "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n", ""},
    {"chunked, a negative size", OK JSON "Transfer-Encoding: chunked\r\n\r\n-1\r\n", "\r\n0\r\n\r\n"},
    {"chunked, an extension of 40 KB", OK JSON "Transfer-Encoding: chunked\r\n\r\n#;%40000 e%\r\n", "\r\n0\r\n\r\n"},
    {"chunked, trailers", OK JSON "Transfer-Encoding: chunked\r\n\r\n#\r\n",
     "\r\n0\r\nX: y\r\nContent-Type: text/html\r\n%1000 T: t\r\n%\r\n"},
    {"chunked twice", OK JSON "Transfer-Encoding: chunked, chunked\r\n\r\n#\r\n", "\r\n0\r\n\r\n"},
    {"declared as gzip", OK JSON "Content-Encoding: gzip\r\n" LENGTH "\r\n", ""},
    {"declared as gzip by transfer encoding", OK JSON "Transfer-Encoding: gzip, chunked\r\n\r\n#\r\n", "\r\n0\r\n\r\n"},
    {"declared as an unknown encoding", OK JSON "Content-Encoding: x-none\r\n" LENGTH "\r\n", ""},
    {"2,000 headers", OK "%2000 X-More: 1\r\n%" JSON LENGTH "\r\n", ""},
    {"2,000 cookies", OK "%2000 Set-Cookie: a=b; Path=/\r\n%" JSON LENGTH "\r\n", ""},
    {"a header of 90 KB", OK "X-More: %90000 x%\r\n" JSON LENGTH "\r\n", ""},
    {"a header of 300 KB", OK "X-More: %300000 x%\r\n" JSON LENGTH "\r\n", ""},
    {"a header without a colon", OK "X-More\r\n" JSON LENGTH "\r\n", ""},
    {"a header without a name", OK ": 1\r\n" JSON LENGTH "\r\n", ""},
    {"a header over several lines", OK "X-More: 1\r\n 2\r\n\t3\r\n" JSON LENGTH "\r\n", ""},
    {"bare newlines", "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: @\n\n", ""},
    {"no status", "HTTP/1.1\r\n" JSON LENGTH "\r\n", ""},
    {"status 000", "HTTP/1.1 000 Zero\r\n" JSON LENGTH "\r\n", ""},
    {"status 99", "HTTP/1.1 99 Low\r\n" JSON LENGTH "\r\n", ""},
    {"status 999", "HTTP/1.1 999 High\r\n" JSON LENGTH "\r\n", ""},
    {"status 2000", "HTTP/1.1 2000 Higher\r\n" JSON LENGTH "\r\n", ""},
    {"200 times 100", "%200 HTTP/1.1 100 Continue\r\nRetry-After: 9\r\n\r\n%" OK JSON LENGTH "\r\n", ""},
    {"early hints", "HTTP/1.1 103 Early\r\nLink: <x>\r\n\r\n" OK JSON LENGTH "\r\n", ""},
    {"another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", ""},
    {"204 with a body", "HTTP/1.1 204 None\r\n" JSON LENGTH "\r\n", ""},
    {"304", "HTTP/1.1 304 Same\r\n" JSON LENGTH "\r\n", ""},
    {"a redirect to a file", FAILS("301", "Location: file:///etc/passwd\r\n"), ""},
    {"a redirect without an address", FAILS("302", "Location: \r\n"), ""},
    {"a redirect to itself", FAILS("307", "Location: /v1/chat/completions\r\n"), ""},
    {"400", FAILS("400", ""), ""},
    {"401 that asks for Basic", FAILS("401", "WWW-Authenticate: Basic realm=\"x\"\r\n"), ""},
    {"401 that asks for Negotiate", FAILS("401", "WWW-Authenticate: Negotiate\r\nWWW-Authenticate: NTLM\r\n"), ""},
    {"407", FAILS("407", "Proxy-Authenticate: Digest realm=\"x\", nonce=\"y\"\r\n"), ""},
    {"422", FAILS("422", ""), ""},
    {"429, no pause", FAILS("429", "Retry-After: 0\r\n"), ""},
    {"429, a pause that is not a number", FAILS("429", "Retry-After: soon\r\n"), ""},
    {"429, an empty pause", FAILS("429", "Retry-After:\r\nretry-after-ms:\r\n"), ""},
    {"429, a negative pause", FAILS("429", "Retry-After: -7\r\nretry-after-ms: -7\r\n"), ""},
    {"429, a pause beyond 64 bits", FAILS("429", "Retry-After: 99999999999999999999\r\n"), ""},
    {"429, a pause of 1e308 ms", FAILS("429", "retry-after-ms: 1e308\r\n"), ""},
    {"429, a pause of nan ms", FAILS("429", "retry-after-ms: nan\r\n"), ""},
    {"429, a pause until 1970", FAILS("429", "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\n"), ""},
    {"429, a pause until 9999", FAILS("429", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n"), ""},
    {"500, contradictory x-should-retry", FAILS("500", "x-should-retry: true\r\nx-should-retry: maybe\r\n"), ""},
    {"503", FAILS("503", ""), ""},
    {"an event stream", OK "Content-Type: text/event-stream\r\n\r\ndata: ", "\n\ndata: [DONE]\n\n"},
    {"data after the body", OK JSON LENGTH "\r\n", "HTTP/1.1 200 OK\r\n\r\nmore"},
    {"blank lines", "%1000 \r\n%", ""},
    {"a TLS record", "\x15\x03\x01\x02\x02\x28", ""},
    {"random bytes", "\xB7\xE0\x9D\x8E\x01\x7F\xFE\xFF%100 \x81\x02%", ""},
};

static const struct {
    const char *name, *text;
} bodies[] = {
    {"an answer", GOOD},
    {"nothing", ""},
    {"blanks", "%5000  %"},
    {"null", "null"},
    {"a number", "7"},
    {"a string", "\"x\""},
    {"an empty list", "[]"},
    {"an empty object", "{}"},
    {"half a completion", "{\"choices\":[{\"mess"},
    {"two answers", GOOD GOOD},
    {"words after the completion", GOOD " and more"},
    {"a byte order mark", "\xEF\xBB\xBF" GOOD},
    {"an HTML page", "<html><body>Log in</body></html>"},
    {"a server-sent event", "data: " GOOD "\n\n"},
    {"no choices", "{\"choices\":null}"},
    {"an empty list of choices", "{\"choices\":[]}"},
    {"choices as an object", "{\"choices\":{\"0\":{}}}"},
    {"lists of choices", "{\"choices\":[[{\"message\":{}}]]}"},
    {"a choice of null", "{\"choices\":[null]}"},
    {"a choice that is a string", "{\"choices\":[\"x\"]}"},
    {"many choices", "{\"choices\":[%5000 {},%{}]}"},
    {"a message of null", CHOICE("null", "")},
    {"a message that is a string", CHOICE("\"x\"", "")},
    {"a message without content", CHOICE("{}", "")},
    {"content of null", CONTENT("null")},
    {"content of a number", CONTENT("7")},
    {"content in parts", CONTENT("[{\"type\":\"text\",\"text\":\"{\\\"tool\\\": 2}\"}]")},
    {"content is an object", CONTENT("{\"tool\":2}")},
    {"tool calls", CHOICE("{\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":"
                          "{\"name\":\"tool\",\"arguments\":\"{\"}}]}",
                          "")},
    {"a refusal", CHOICE("{\"content\":null,\"refusal\":\"no\"}", "")},
    {"finish_reason is null", "{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":null}]}"},
    {"finish_reason is a number", "{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":7}]}"},
    {"answer truncated at max_tokens",
     "{\"choices\":[{\"message\":{\"content\":\"{\"},\"finish_reason\":\"length\"}]}"},
    {"usage of null", USAGE("null")},
    {"negative usage", USAGE("{\"prompt_tokens\":-1,\"completion_tokens\":-9223372036854775808}")},
    {"usage in fractions", USAGE("{\"prompt_tokens\":1.5,\"completion_tokens\":1e300}")},
    {"usage beyond 64 bits",
     USAGE("{\"prompt_tokens\":99999999999999999999,\"completion_tokens\":9223372036854775807}")},
    {"usage as strings", USAGE("{\"prompt_tokens\":\"many\",\"completion_tokens\":[]}")},
    {"usage as a list", USAGE("[1,2]")},
    {"a number too large", CHOICE("{\"content\":\"{\\\"tool\\\": 1e999}\"}", ",\"usage\":{\"prompt_tokens\":1e999}")},
    {"a duplicate member", CHOICE("{\"content\":\"a\",\"content\":\"b\"}", "")},
    {"a NUL, escaped", CONTENT("\"{\\u0000}\"")},
    {"a NUL in a name", "{\"\\u0000\":1,\"choices\":[]}"},
    {"half a surrogate", CONTENT("\"\\ud800\"")},
    {"invalid UTF-8", CONTENT("\"\xFF\xC0\x80\xED\xA0\x80\"")},
    {"100 nested arrays", "%100 [%%100 ]%"},
    {"deep arrays", "%100000 [%"},
    {"deep objects", "%50000 {\"a\":%"},
    {"a string of 3 MB", CONTENT("\"%3000000 x%\"")},
    {"a body above the size limit", CONTENT("\"%4300000 x%\"")},
    {"many escapes", CONTENT("\"%50000 \\u00e9\\ud83d\\ude00%\"")},
    {"an answer in a fence", CONTENT("\"```json\\n{\\\"tool\\\": 2}\\n```\"")},
    {"a deeply nested answer", CONTENT("\"%100000 [%\"")},
    {"an answer with a duplicate member", CONTENT("\"{\\\"tool\\\":1,\\\"tool\\\":2}\"")},
    {"an answer of another type", CONTENT("\"{\\\"tool\\\":\\\"two\\\"}\"")},
    {"an answer with an additional member", CONTENT("\"{\\\"tool\\\":2,\\\"%300 k%\\\":[]}\"")},
    {"an answer beyond 64 bits", CONTENT("\"{\\\"tool\\\":99999999999999999999}\"")},
    {"an answer in prose", CONTENT("\"I am sorry\"")},
    {"an error that is a string", ERROR("\"slow down\"")},
    {"an error of null", ERROR("null")},
    {"an error of numbers", ERROR("{\"message\":7,\"code\":[]}")},
    {"an error of 1 MB", ERROR("{\"message\":\"%1000000 \\u001b%\"}")},
    {"an error with the key", ERROR("{\"message\":\"%9 " KEY " %\"}")},
    {"an error with the key in pieces", ERROR("{\"message\":\"sk-a-very-\\u200bsecret-\\u0007key\"}")},
    {"an error about all settings",
     ERROR("{\"message\":\"response_format cache_prompt seed max_tokens temperature context\"}")},
    {"a question that is too long", ERROR("{\"code\":\"context_length_exceeded\"}")},
};

enum { HEADS = sizeof heads / sizeof *heads, BODIES = sizeof bodies / sizeof *bodies };
enum cut { WHOLE, CUT_IN_HALF, CUT_BEFORE_THE_END, CUTS };

static wt_error err;
static struct script_server server;
static json_t *schema;
static struct chat_client *client;

static int set_up_hostile_server(void **state)
{
    (void)state;
    char url[64];
    struct chat_client_options options = wt__chat_client_defaults();
    if (script_server_start(&server) < 0)
        return -1;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", server.port);
    options.base_url = url;
    options.key = KEY;
    options.model = "some-model";
    options.first_pause_ms = 1;
    options.retries = 1;
    if (wt__chat_client_open(&client, &options, &err) < 0)
        return -1;
    return wt__json_parse(&schema, SCHEMA, strlen(SCHEMA), &err);
}

static int tear_down_hostile_server(void **state)
{
    (void)state;
    wt__chat_client_close(client);
    script_server_stop(&server);
    json_decref(schema);
    return 0;
}

/* Appends a text of the tables with its marks expanded. */
static void append_expanded(struct buffer *out, const char *text, size_t body_len)
{
    for (const char *at = text; *at; at++) {
        if (*at == '@') {
            wt__buffer_printf(out, "%zu", body_len);
        } else if (*at == '#') {
            wt__buffer_printf(out, "%zx", body_len);
        } else if (*at == '%') {
            char *repeated;
            size_t times = strtoull(at + 1, &repeated, 10);
            const char *end = strchr(++repeated, '%');
            for (; times > 0; times--)
                wt__buffer_append(out, repeated, (size_t)(end - repeated));
            at = end;
        } else {
            wt__buffer_char(out, *at);
        }
    }
}

/* Asks a question, to which the server sends `raw` at each attempt. Checks that the result is a valid answer or an
 * error without the key. Returns the result code. */
static int ask_hostile_server(const char *raw, size_t len, const char *head, const char *body)
{
    struct arena arena = {0};
    struct chat_answer answer;
    const struct script_step step = {.raw = raw, .raw_len = len};
    const struct chat_question question = {
        .task = "test/1", .text = STR("Which tool?"), .schema = schema, .max_tokens = 32};
    err = (wt_error){0};
    script_server_play(&server, &step, 1);
    int rc = wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, &err);
    script_server_hang_up(&server); /* the server may still be sending `raw`, which the caller frees */
    bool long_line = rc == WT_ENOMEM && strstr(err.message, "or a header of it is too long");
    bool told = long_line || rc == WT_ENETWORK || rc == WT_EFORMAT || rc == WT_ETOOLONG;
    bool right = rc == 0 ? json_is_object(answer.json) : told && !answer.json && err.code == rc && err.message[0];
    if (!right || answer.attempts == 0 || strstr(err.message, KEY))
        fail_msg("%s, %s: %d after %u, \"%s\"", head, body, rc, answer.attempts, err.message);
    json_decref(answer.json);
    wt__arena_dispose(&arena);
    return rc;
}

static void ask_each_cut(size_t head, size_t body)
{
    struct buffer text = {0}, raw = {0};
    append_expanded(&text, bodies[body].text, 0);
    append_expanded(&raw, heads[head].text, text.len);
    wt__buffer_str(&raw, wt__buffer_view(&text));
    append_expanded(&raw, heads[head].after, 0);
    for (enum cut cut = WHOLE; cut < CUTS; cut++) {
        size_t len = cut == WHOLE ? raw.len : cut == CUT_IN_HALF ? raw.len / 2 : raw.len - (raw.len > 0);
        ask_hostile_server(raw.ptr ? raw.ptr : "", len, heads[head].name, bodies[body].name);
    }
    wt__buffer_dispose(&text);
    wt__buffer_dispose(&raw);
    /* The client still works with a good server afterwards. */
    const char *good = OK JSON "Connection: close\r\n\r\n" GOOD;
    assert_int_equal(ask_hostile_server(good, strlen(good), "after", heads[head].name), 0);
}

static size_t head_named(const char *name)
{
    size_t head = 0;
    while (strcmp(heads[head].name, name) != 0)
        head++;
    return head;
}

static size_t body_named(const char *name)
{
    size_t body = 0;
    while (strcmp(bodies[body].name, name) != 0)
        body++;
    return body;
}

static void survives_hostile_heads(void **state)
{
    (void)state;
    for (size_t head = 0; head < HEADS; head++) {
        ask_each_cut(head, body_named("an answer"));
        ask_each_cut(head, body_named("an error with the key"));
    }
}

static void survives_hostile_bodies(void **state)
{
    (void)state;
    static const char *const behind[] = {"a good head", "chunked", "400", "503"};
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        for (size_t body = 0; body < BODIES; body++)
            ask_each_cut(head_named(behind[i]), body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_hostile_heads),
        cmocka_unit_test(survives_hostile_bodies),
    };
    return cmocka_run_group_tests(tests, set_up_hostile_server, tear_down_hostile_server);
}
