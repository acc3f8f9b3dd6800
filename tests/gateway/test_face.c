/* Which face a client sees, and which line of the audit each of its calls leaves, whatever becomes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "gateway/audit_log.h"
#include "gateway/standing.h"

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

/* ---------------------------------------------------------------- the audit */

static const struct {
    bool search; /* else the direct face */
    const char *tool, *arguments;
    const char *says; /* in the one line that is added; NULL: no line is */
} calls[] = {
    {false, "files__read", "{\"n\":1}",
     "\"asked\":\"files__read\",\"server\":\"files\",\"tool\":\"read\",\"effect\":\"read\",\"sha256\":\""},
    {false, "files__read", "{\"n\":1}", "\"decision\":\"allowed\",\"outcome\":\"failed\""},
    {false, "files__read", "{\"n\":\"x\"}", "\"decision\":\"invalid\",\"chain\""},
    {false, "mail__send", "{}", "\"asked\":\"mail__send\",\"server\":\"mail\",\"tool\":\"send\",\"effect\":\"write\""},
    {false, "mail__send", "{}", "\"decision\":\"denied\",\"chain\""},
    {false, "nothing", "{}", "\"asked\":\"nothing\",\"policy\":"},
    {false, "nothing", "{}", "\"decision\":\"unknown\",\"chain\""},
    {true, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":1}}",
     "\"decision\":\"allowed\",\"outcome\":\"failed\""},
    {true, "call_read", "{\"name\":\"files__read\",\"arguments\":{\"n\":\"x\"}}", "\"decision\":\"invalid\",\"chain\""},
    {true, "call_write", "{\"name\":\"files__read\"}", "\"decision\":\"wrong_tool\",\"chain\""},
    {true, "call_read", "{\"name\":\"mail__send\"}", "\"decision\":\"denied\",\"chain\""},
    {true, "call_read", "{\"name\":\"nothing\"}", "\"decision\":\"unknown\",\"chain\""},
    {true, "search_tools", "{\"query\":\"d\"}", NULL},
    {true, "files__read", "{}", "\"decision\":\"unknown\",\"chain\""}, /* by no tool of this face */
};

static size_t count_lines(struct str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    return count;
}

static void each_call_leaves_one_line(void **state)
{
    char path[64];
    struct standing s = {.engine = engine_with_tools()};
    struct audit_log *log;
    struct policy *policy;
    size_t lines = 0;
    (void)state;
    snprintf(path, sizeof path, "/tmp/whichtool-audit-%d", (int)getpid());
    unlink(path);
    SOUND(wt__audit_open(&log, path, &err));
    SOUND(wt__policy_parse(&policy, STR("{\"rules\":[{\"servers\":[\"files\"]}]}"), "p", &err));
    stand_on(&s, servers, 2, &(struct gateway_options){.audit = log, .policy = policy});
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char *text = NULL;
        size_t len = 0;
        free(call_modern(calls[i].search ? &s.search : &s.direct, calls[i].search ? s.finder : s.modern, calls[i].tool,
                         calls[i].arguments));
        SOUND(wt__file_read(&text, &len, path, 1 << 20, &err));
        size_t now = count_lines((struct str){text, len});
        const char *last = text;
        for (size_t n = 1; n < now; n++)
            last = strchr(last, '\n') + 1;
        if (now != lines + (calls[i].says != NULL) || (calls[i].says && !strstr(last, calls[i].says)) ||
            strstr(text, "\"n\":"))
            fail_msg("%s %s: %zu lines: %s", calls[i].tool, calls[i].arguments, now - lines, last);
        assert_true(!calls[i].says || strstr(last, "\"principal\":\"alice\""));
        lines = now;
        assert_int_equal(wt__audit_check((struct str){text, len}, &err), 0);
        free(text);
    }
    stand_down(&s);
    wt__audit_close(log);
    wt__policy_close(policy);
    unlink(path);
}

/* ---------------------------------------------------------------- which face */

static const struct {
    enum face_kind kind;
    size_t most;
    const char *policy; /* NULL: none */
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

static void a_face_shows_what_is_its_own(void **state)
{
    wt_engine *engine = engine_with_tools();
    (void)state;
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++) {
        struct policy *policy = NULL;
        struct gateway *gateway;
        if (faces[i].policy)
            SOUND(wt__policy_parse(&policy, wt__str(faces[i].policy), "p", &err));
        SOUND(wt__gateway_open(&gateway, engine, servers, 2, &(struct gateway_options){.policy = policy}, &err));
        const struct face_options options = {.kind = faces[i].kind, .direct_most = faces[i].most};
        struct faced face = face_open(gateway, &options, NULL);
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

/* ---------------------------------------------------------------- servers that cannot be told apart */

static void each_server_has_a_name_of_its_own(void **state)
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
        cmocka_unit_test(each_call_leaves_one_line),
        cmocka_unit_test(a_face_shows_what_is_its_own),
        cmocka_unit_test(each_server_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
