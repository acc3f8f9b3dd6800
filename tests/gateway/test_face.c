/* Tests the tools of each face, and the audit lines of each call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/file.h"
#include "gateway/audit.h"
#include "gateway/running_gateway.h"
#include "gateway/upstream.h"

#define TOOL(name, more)                                                                                               \
    "{\"name\":\"" name "\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{"        \
    "\"type\":\"integer\"}}}" more "}"

static const struct mcp_server servers[] = {{.name = "files", .disabled = true}, {.name = "mail", .disabled = true}};

static wt_engine *engine_with_tools(void)
{
    wt_engine *engine = open_engine();
    put_tools(engine, "files",
              STR("{\"tools\":[" TOOL("read", ",\"annotations\":{\"readOnlyHint\":true}") "," TOOL("drop", "") "]}"));
    put_tools(engine, "mail", STR("{\"tools\":[" TOOL("send", ",\"annotations\":{\"destructiveHint\":false}") "]}"));
    return engine;
}

/* Adds a resource and a prompt, as if the server had listed them. */
static void put_offer(struct gateway *gateway, size_t server, const char *uri, const char *prompt)
{
    struct upstream_offer *offer = calloc(1, sizeof *offer);
    atomic_init(&offer->refs, 1);
    offer->resources = json_pack("[{s:s,s:s}]", "uri", uri, "name", "n");
    offer->templates = json_array();
    offer->prompts = json_pack("[{s:s}]", "name", prompt);
    assert_true(offer->resources && offer->templates && offer->prompts);
    gateway->upstreams[server]->offer = offer;
}

/* ---------------------------------------------------------------- the audit */

#define FAILED "\"outcome\":\"failed\",\"bytes\":0,\"ms\":" /* the server is disabled */

static const struct {
    enum { DIRECT, SEARCH, READ, PROMPT } kind; /* SEARCH: call of the search face; others: of the direct face */
    const char *name, *arguments;
    const char *says; /* text in the line of the decision; NULL if no line is written */
    const char *ends; /* text in the line of the outcome; NULL if the request is not sent */
} calls[] = {
    {DIRECT, "files__read", "{\"n\":1}",
     "\"asked\":\"files__read\",\"server\":\"files\",\"tool\":\"read\",\"effect\":\"read\",\"sha256\":\"", FAILED},
    {DIRECT, "files__read", "{\"n\":1}", "\"decision\":\"allowed\",\"chain\"", FAILED},
    {DIRECT, "files__read", "{\"n\":\"x\"}", "\"decision\":\"invalid\",\"chain\"", NULL},
    /* hashes of the sent arguments and of the original ones */
    {DIRECT, "files__read", "{\"n\":\"1\"}",
     "\"arguments_sha256\":\"2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd\",\"repaired_from_"
     "sha256\":\"1a2613ec93fa82b8b76d7decf6f493cff9bdf9999208caa30deb11440c1f8b43\",\"decision\":\"allowed\"",
     FAILED},
    {DIRECT, "files__read", "{\"n\":\"1.5\"}", "\"decision\":\"invalid\",\"chain\"", NULL},
    {SEARCH, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":\"1\"}}",
     "\"arguments_sha256\":\"2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd\",\"repaired_from_"
     "sha256\":\"1a2613ec93fa82b8b76d7decf6f493cff9bdf9999208caa30deb11440c1f8b43\",\"decision\":\"allowed\"",
     FAILED},
    {SEARCH, "call_read", "{\"name\":\"files__read\",\"arguments\":\"{\\\"n\\\":1}\"}",
     "\"arguments_sha256\":\"2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd\",\"repaired_from_"
     "sha256\":\"79110dd56d39df3e79dec90fabcd7f5616d7502bdc927408850d281af77e8a28\",\"decision\":"
     "\"allowed\"",
     FAILED},
    {DIRECT, "mail__send", "{}", "\"asked\":\"mail__send\",\"server\":\"mail\",\"tool\":\"send\",\"effect\":\"write\"",
     NULL},
    {DIRECT, "mail__send", "{}", "\"decision\":\"denied\",\"chain\"", NULL},
    {DIRECT, "nothing", "{}", "\"asked\":\"nothing\",\"policy\":", NULL},
    {DIRECT, "nothing", "{}", "\"decision\":\"unknown\",\"chain\"", NULL},
    {SEARCH, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":1}}", "\"decision\":\"allowed\",\"chain\"",
     FAILED},
    {SEARCH, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":\"x\"}}",
     "\"decision\":\"invalid\",\"chain\"", NULL},
    {SEARCH, "call_write", "{\"name\":\"files__read\"}", "\"decision\":\"wrong_tool\",\"chain\"", NULL},
    {SEARCH, "call_read", "{\"name\":\"mail__send\"}", "\"decision\":\"denied\",\"chain\"", NULL},
    {SEARCH, "call_read", "{\"name\":\"nothing\"}", "\"decision\":\"unknown\",\"chain\"", NULL},
    {SEARCH, "search_tools", "{\"query\":\"d\"}", NULL, NULL},
    {SEARCH, "files__read", "{}", "\"decision\":\"unknown\",\"chain\"", NULL}, /* not a tool of this face */
    {READ, "file:///x", "",
     "\"method\":\"resources/read\",\"asked\":\"file:///x\",\"server\":\"files\",\"uri\":\"file:///x\",\"sha256\":\"",
     FAILED},
    {READ, "file:///x", "", "\"decision\":\"allowed\",\"chain\"", FAILED},
    {READ, "mail+file:///x", "", "\"asked\":\"mail+file:///x\",\"server\":\"mail\",\"uri\":\"file:///x\",\"sha256\":\"",
     NULL},
    {READ, "mail+file:///x", "", "\"decision\":\"denied\",\"chain\"", NULL},
    {READ, "file:///y", "", "\"asked\":\"file:///y\",\"policy\"", NULL},
    {READ, "file:///y", "", "\"decision\":\"unknown\",\"chain\"", NULL},
    {PROMPT, "review", "{\"n\":\"1\"}",
     "\"method\":\"prompts/get\",\"asked\":\"review\",\"server\":\"files\",\"prompt\":\"review\",\"sha256\":\"",
     FAILED},
    {PROMPT, "mail.review", "{}", "\"server\":\"mail\",\"prompt\":\"review\"", NULL},
    {PROMPT, "mail.review", "{}", "\"decision\":\"denied\",\"chain\"", NULL},
    {PROMPT, "nothing", "{}", "\"decision\":\"unknown\",\"chain\"", NULL},
};

struct audited {
    char path[64];
    struct running_gateway s;
    struct audit_log *log;
    struct policy *policy;
};

/* Starts a gateway with two servers; a policy denies the second. */
static void audited_open(struct audited *a)
{
    *a = (struct audited){.s = {.engine = engine_with_tools()}};
    snprintf(a->path, sizeof a->path, "/tmp/whichtool-audit-%d", (int)getpid());
    unlink(a->path);
    SOUND(wt__audit_open(&a->log, a->path, NULL, &err));
    SOUND(wt__policy_parse(&a->policy, STR("{\"rules\":[{\"servers\":[\"files\"]}]}"), "p", &err));
    start_gateway_on(&a->s, servers, 2, &(struct gateway_options){.audit = a->log, .policy = a->policy});
    put_offer(a->s.gateway, 0, "file:///x", "review");
    put_offer(a->s.gateway, 1, "file:///x", "review");
}

static void audited_close(struct audited *a)
{
    stop_gateway(&a->s);
    wt__audit_close(a->log);
    wt__policy_close(a->policy);
    unlink(a->path);
    strcat(a->path, ".head");
    unlink(a->path);
}

static char *do_call(struct running_gateway *s, size_t i)
{
    char params[256];
    bool searches = calls[i].kind == SEARCH;
    if (calls[i].kind == DIRECT || searches)
        return call_modern(searches ? &s->search : &s->direct, searches ? s->finder : s->modern, calls[i].name,
                           calls[i].arguments);
    if (calls[i].kind == READ)
        snprintf(params, sizeof params, ",\"uri\":\"%s\"", calls[i].name);
    else
        snprintf(params, sizeof params, ",\"name\":\"%s\",\"arguments\":%s", calls[i].name, calls[i].arguments);
    return ask_modern(&s->direct, s->modern, calls[i].kind == READ ? "resources/read" : "prompts/get", params);
}

/* Checks the audit log, and returns its lines after the offset *bytes as an array. Sets *bytes to the end of the
 * log. */
static json_t *lines_behind(const char *path, size_t *bytes)
{
    char *text = NULL;
    size_t len = 0;
    SOUND(wt__file_read(&text, &len, path, 1 << 20, &err));
    SOUND(wt__audit_replay(&(struct audit_replay){0}, (struct str){text, len}, NULL, NULL, &err));
    json_t *lines = json_array();
    for (char *at = text + *bytes, *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        json_array_append_new(lines, json_string(at));
    }
    *bytes = len;
    free(text);
    return lines;
}

static void audits_each_call(void **state)
{
    struct audited a;
    size_t bytes = 0;
    (void)state;
    audited_open(&a);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        free(do_call(&a.s, i));
        json_t *lines = lines_behind(a.path, &bytes);
        const char *first = json_string_value(json_array_get(lines, 0)),
                   *second = json_string_value(json_array_get(lines, 1));
        if (json_array_size(lines) != (size_t)(calls[i].says != NULL) + (calls[i].ends != NULL) ||
            (calls[i].says &&
             (!strstr(first, calls[i].says) || strstr(first, "\"n\":") || !strstr(first, "\"principal\":\"alice\""))) ||
            (calls[i].ends && (!strstr(second, calls[i].ends) || !strstr(second, "\"of\":\""))))
            fail_msg("%s %s: %zu lines: %s, %s", calls[i].name, calls[i].arguments, json_array_size(lines),
                     first ? first : "", second ? second : "");
        json_decref(lines);
    }
    audited_close(&a);
}

/* On a full disk, refusals stay the same, no request is sent, and the operator sees the reason. Calls work again once
 * the disk has space. */
static void sends_no_call_without_its_audit_line(void **state)
{
    struct audited a;
    struct rlimit before, none;
    size_t bytes = 0;
    (void)state;
    audited_open(&a);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    none = (struct rlimit){0, before.rlim_max};
    for (int full = 1; full >= 0; full--) {
        struct buffer text = {0};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, full ? &none : &before), 0);
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            char *said = do_call(&a.s, i);
            bool unsent = strstr(said, "the call was not sent: the gateway cannot write its audit log");
            if (unsent != (full && calls[i].ends) || (calls[i].ends && !unsent && !strstr(said, "is disabled")))
                fail_msg("%s, %s: %s", full ? "full" : "not full", calls[i].name, said);
            free(said);
        }
        wt__gateway_write_state(a.s.gateway, &text);
        assert_int_equal(strstr(text.ptr, "\"audit_error\":\"cannot write ") != NULL, full);
        wt__buffer_dispose(&text);
        json_t *lines = lines_behind(a.path, &bytes);
        assert_int_equal(json_array_size(lines) > 0, !full);
        json_decref(lines);
    }
    audited_close(&a);
}

/* ---------------------------------------------------------------- repaired arguments */

#define IS_CALLED "is disabled" /* answer of a disabled server */

/* Calls of the direct face or, if `searches`, of the search face. policy: further members of the policy; NULL for no
 * policy. */
static const struct {
    const char *policy;
    bool searches;
    const char *name, *arguments, *says;
} repairs[] = {
    {NULL, false, "files__read", "{\"n\":\"1\"}", IS_CALLED},
    {NULL, false, "files__read", "{\"n\":null}", IS_CALLED},
    {NULL, false, "files__read", "{\"n\":\"x\"}", "/n: expected an integer, got \\\"x\\\""},
    {NULL, false, "files__read", "{\"n\":\"1.5\"}", "/n: expected an integer, got \\\"1.5\\\""},
    {NULL, true, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":\"1\"}}", IS_CALLED},
    {NULL, true, "call_read", "{\"name\":\"files__read\",\"arguments\":null}", IS_CALLED},
    {NULL, true, "call_read", "{\"name\":\"files__read\",\"arguments\":\"{\\\"n\\\":\\\"1\\\"}\"}", IS_CALLED},
    {NULL, true, "call_read", "{\"name\":\"files__read\",\"arguments\":\"n=1\"}", "/arguments: expected an object"},
    {NULL, true, "call_read", "{\"name\":\"files__read\",\"n\":1}",
     "\\\"n\\\" is not allowed next to \\\"name\\\"; put the arguments of files__read into \\\"arguments\\\": "
     "{\\\"name\\\": \\\"files__read\\\", \\\"arguments\\\": {\\\"n\\\": ...}}"},
    {NULL, true, "call_read", "{\"name\":\"files__read\",\"arguments\":{},\"n\":1}",
     "\\\"n\\\" is not allowed next to"},
    {NULL, true, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":1},\"why\":1}", IS_CALLED},
    {NULL, true, "search_tools", "{\"query\":\"d\",\"k\":\"3\"}", "\"structuredContent\""},
    {NULL, true, "search_tools", "{\"query\":\"a\\u0000b\"}", "leave out the character NUL"},
    {NULL, true, "search_tools", "{\"query\":\"a\\\\\\\\u0000b\"}", "\"structuredContent\""},
    {NULL, true, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":\"1\",\"a\":\"\\u0000\"}}", IS_CALLED},
    {NULL, true, "call_read", "{\"name\":\"files__read\\u0000\"}", "unknown tool"},
    {NULL, true, "search_tools", "{\"query\":\"d\",\"k\":\"many\"}", "/k: expected an integer"},
    {NULL, true, "get_tool_details", "{\"names\":\"files__read\"}", "\"structuredContent\""},
    {NULL, true, "get_tool_details", "{\"names\":\"[\\\"files__read\\\"]\"}", "\"structuredContent\""},
    {"", false, "files__read", "{\"n\":\"1\"}", IS_CALLED},
    {"\"repairArguments\":true,", false, "files__read", "{\"n\":\"1\"}", IS_CALLED},
    {"\"repairArguments\":[\"fi*\"],", false, "files__read", "{\"n\":\"1\"}", IS_CALLED},
    {"\"repairArguments\":[\"mail\"],", false, "files__read", "{\"n\":\"1\"}", "/n: expected an integer"},
    {"\"repairArguments\":[\"mail\"],", true, "search_tools", "{\"query\":\"d\",\"k\":\"3\"}", "\"structuredContent\""},
    {"\"repairArguments\":false,", false, "files__read", "{\"n\":\"1\"}", "/n: expected an integer"},
    {"\"repairArguments\":false,", true, "search_tools", "{\"query\":\"d\",\"k\":\"3\"}", "/k: expected an integer"},
    {"\"repairArguments\":false,", true, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":\"1\"}}",
     "/n: expected an integer"},
};

static void repairs_arguments_unless_the_policy_forbids_it(void **state)
{
    wt_engine *engine = engine_with_tools();
    (void)state;
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++) {
        struct policy *policy = NULL;
        struct gateway *gateway;
        char text[128];
        snprintf(text, sizeof text, "{%s\"rules\":[{}]}", repairs[i].policy ? repairs[i].policy : "");
        if (repairs[i].policy)
            SOUND(wt__policy_parse(&policy, wt__str(text), "p", &err));
        SOUND(wt__gateway_open(&gateway, engine, servers, 2, &(struct gateway_options){.policy = policy}, &err));
        struct served_face face =
            face_open(gateway, &(struct face_options){.kind = repairs[i].searches ? FACE_SEARCH : FACE_DIRECT}, NULL);
        struct mcp_peer *peer = wt__mcp_peer_open(face.service, "", false);
        char *said = call_modern(&face, peer, repairs[i].name, repairs[i].arguments);
        if (!strstr(said, repairs[i].says))
            fail_msg("%zu: %s %s: %s", i, repairs[i].name, repairs[i].arguments, said);
        free(said);
        wt__mcp_peer_release(peer);
        face_close(&face);
        wt__gateway_close(gateway);
        wt__policy_close(policy);
    }
    wt_close(engine);
}

/* ---------------------------------------------------------------- kinds of faces */

static const struct {
    enum face_kind kind;
    size_t most;
    const char *policy; /* NULL for no policy */
    const char *lists[4], *lacks;
} faces[] = {
    {FACE_DIRECT, 1, NULL, {"files__drop", "files__read", "mail__send", NULL}, "search_tools"},
    {FACE_SEARCH, 0, NULL, {"search_tools", "get_tool_details", "call_destructive", "read_more"}, "files__read"},
    {FACE_AUTO, 0, NULL, {"files__read", "mail__send", NULL}, "search_tools"},
    {FACE_AUTO, 3, NULL, {"files__read", "mail__send", NULL}, "search_tools"},
    {FACE_AUTO, 2, NULL, {"search_tools", "call_read", NULL}, "files__read"},
    {FACE_AUTO, 2, "{\"rules\":[{\"servers\":[\"files\"]}]}", {"files__read", "files__drop", NULL}, "mail__send"},
    {FACE_AUTO, 1, "{\"rules\":[{\"servers\":[\"files\"]}]}", {"search_tools", NULL}, "files__read"},
    {FACE_AUTO, 0, "{\"rules\":[]}", {"\"tools\":[]", NULL}, "search_tools"},
};

static void each_face_lists_its_own_tools(void **state)
{
    wt_engine *engine = engine_with_tools();
    (void)state;
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++) {
        struct policy *policy = NULL;
        struct gateway *gateway;
        if (faces[i].policy)
            SOUND(wt__policy_parse(&policy, wt__str(faces[i].policy), "p", &err));
        SOUND(wt__gateway_open(&gateway, engine, servers, 2, &(struct gateway_options){.policy = policy}, &err));
        const struct face_options options = {.kind = faces[i].kind, .max_direct = faces[i].most};
        struct served_face face = face_open(gateway, &options, NULL);
        struct mcp_peer *peer = wt__mcp_peer_open(face.service, "", false);
        char *said = ask_modern(&face, peer, "tools/list", "");
        for (size_t n = 0; n < 4 && faces[i].lists[n]; n++)
            if (!strstr(said, faces[i].lists[n]))
                fail_msg("%zu: %s is not in %s", i, faces[i].lists[n], said);
        if (strstr(said, faces[i].lacks))
            fail_msg("%zu: %s is in %s", i, faces[i].lacks, said);
        assert_true(strstr(said, policy ? "\"cacheScope\":\"private\"" : "\"cacheScope\":\"public\""));
        free(said);
        wt__mcp_peer_release(peer);
        face_close(&face);
        wt__gateway_close(gateway);
        wt__policy_close(policy);
    }
    wt_close(engine);
}

/* The instructions name the enabled servers of the gateway, and no other provider of the store. */
static void names_servers_in_the_instructions(void **state)
{
    static const struct mcp_server behind[] = {{.name = "files"}, {.name = "off", .disabled = true}, {.name = "web"}};
    static const struct {
        const char *rules, *summary, *says; /* rules and summary may be NULL */
    } rows[] = {{NULL, NULL, "cannot be done. Tools of files, web. What was found"},
                {NULL, "Of us.", "cannot be done. Of us. What was found"},
                {"{\"rules\":[]}", NULL, "cannot be done. What was found"}};
    wt_engine *engine = engine_with_tools();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy *policy = NULL;
        struct gateway *gateway;
        struct buffer said = {0};
        if (rows[i].rules)
            SOUND(wt__policy_parse(&policy, wt__str(rows[i].rules), "p", &err));
        SOUND(wt__gateway_open(&gateway, engine, behind, 3, &(struct gateway_options){.policy = policy}, &err));
        struct served_face face = face_open(gateway, &(struct face_options){.summary = rows[i].summary}, NULL);
        const struct mcp_features *features = wt__face_features(face.face);
        features->write_instructions(features->context, "", &said);
        if (!strstr(said.ptr, rows[i].says))
            fail_msg("%zu: %s", i, said.ptr);
        wt__buffer_dispose(&said);
        face_close(&face);
        wt__gateway_close(gateway);
        wt__policy_close(policy);
    }
    wt_close(engine);
}

/* ---------------------------------------------------------------- copies of tools */

#define SENDS(more)                                                                                                    \
    "{\"tools\":[{\"name\":\"send\",\"description\":\"sends a zanzibar letter\"," more "\"inputSchema\":{}}]}"

/* Copies of a tool share one place in search results. The hit lists the other copies in "also" with their call tools,
 * except copies that the caller may not use. */
static const struct {
    const char *policy, *has[2], *lacks;
} copies[] = {
    {"{\"rules\":[{}]}",
     {"\"also\":[", "{\"call_with\":\"call_destructive\",\"name\":\"c__send\"}"},
     "{\"call_with\":\"call_read\",\"name\":\"c__send\"}"},
    {"{\"rules\":[{\"servers\":[\"a\",\"c\"]}]}",
     {"\"also\":[{\"call_with\":\"call_destructive\",\"name\":\"c__send\"}],", "\"name\":\"a__send\""},
     "b__send"},
    {"{\"rules\":[{\"servers\":[\"b\"]}]}", {"\"name\":\"b__send\"", ""}, "\"also\""},
};

static void lists_copies_with_the_first_tool(void **state)
{
    static const struct mcp_server same[] = {
        {.name = "a", .disabled = true}, {.name = "b", .disabled = true}, {.name = "c", .disabled = true}};
    wt_engine *engine = open_engine();
    (void)state;
    put_tools(engine, "a", STR(SENDS("")));
    put_tools(engine, "b", STR(SENDS("\"annotations\":{\"readOnlyHint\":true},")));
    put_tools(engine, "c", STR(SENDS("")));
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        struct policy *policy;
        struct gateway *gateway;
        SOUND(wt__policy_parse(&policy, wt__str(copies[i].policy), "p", &err));
        SOUND(wt__gateway_open(&gateway, engine, same, 3, &(struct gateway_options){.policy = policy}, &err));
        struct served_face face = face_open(gateway, &(struct face_options){.kind = FACE_SEARCH}, NULL);
        struct mcp_peer *peer = wt__mcp_peer_open(face.service, "", false);
        char *said = call_modern(&face, peer, "search_tools", "{\"query\":\"a zanzibar letter\"}");
        const char *answer = strstr(said, "\"structuredContent\"");
        if (!answer || !strstr(answer, copies[i].has[0]) || !strstr(answer, copies[i].has[1]) ||
            strstr(answer, copies[i].lacks))
            fail_msg("%s: %s", copies[i].policy, said);
        free(said);
        wt__mcp_peer_release(peer);
        face_close(&face);
        wt__gateway_close(gateway);
        wt__policy_close(policy);
    }
    wt_close(engine);
}

/* ---------------------------------------------------------------- names of servers */

static void requires_distinct_server_names(void **state)
{
    static const struct mcp_server same[] = {{.name = "a", .disabled = true}, {.name = "a", .disabled = true}},
                                   none[] = {{.name = "a", .disabled = true}, {.name = "", .disabled = true}};
    wt_engine *engine = open_engine();
    struct gateway *gateway;
    const struct gateway_options options = {.bare_names = false};
    (void)state;
    assert_int_equal(wt__gateway_open(&gateway, engine, same, 2, &options, &err), WT_EINVAL);
    assert_string_equal(err.message, "two servers are called a");
    assert_null(gateway);
    assert_int_equal(wt__gateway_open(&gateway, engine, none, 2, &options, &err), WT_EINVAL);
    assert_string_equal(err.message, "server 2 has no name");
    wt__gateway_close(NULL);
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(audits_each_call),
        cmocka_unit_test(sends_no_call_without_its_audit_line),
        cmocka_unit_test(repairs_arguments_unless_the_policy_forbids_it),
        cmocka_unit_test(names_servers_in_the_instructions),
        cmocka_unit_test(each_face_lists_its_own_tools),
        cmocka_unit_test(lists_copies_with_the_first_tool),
        cmocka_unit_test(requires_distinct_server_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
