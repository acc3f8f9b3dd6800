/* Tests views: shown names, the selection of tools, and effects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/pins.h"
#include "gateway/engine_with_servers.h"

/* ---------------------------------------------------------------- effects */

static const struct {
    const char *definition;
    enum effect effect;
} effects[] = {
    {"{}", EFFECT_DESTROY},
    {"{\"annotations\":{}}", EFFECT_DESTROY},
    {"{\"annotations\":null}", EFFECT_DESTROY},
    {"{\"annotations\":[]}", EFFECT_DESTROY},
    {"{\"annotations\":{\"readOnlyHint\":true}}", EFFECT_READ},
    {"{\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":true}}", EFFECT_READ},
    {"{\"annotations\":{\"readOnlyHint\":\"true\"}}", EFFECT_DESTROY},
    {"{\"annotations\":{\"readOnlyHint\":1}}", EFFECT_DESTROY},
    {"{\"annotations\":{\"readOnlyHint\":false}}", EFFECT_DESTROY},
    {"{\"annotations\":{\"destructiveHint\":false}}", EFFECT_WRITE},
    {"{\"annotations\":{\"destructiveHint\":\"false\"}}", EFFECT_DESTROY},
    {"{\"annotations\":{\"destructiveHint\":null}}", EFFECT_DESTROY},
    {"{\"annotations\":{\"idempotentHint\":true,\"openWorldHint\":false}}", EFFECT_DESTROY},
    {"{\"readOnlyHint\":true}", EFFECT_DESTROY},
};

static void tools_without_annotations_are_destructive(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
        json_t *definition;
        SOUND(wt__json_parse(&definition, effects[i].definition, strlen(effects[i].definition), &err));
        if (wt__effect_of(definition) != effects[i].effect)
            fail_msg("%s", effects[i].definition);
        json_decref(definition);
    }
    assert_int_equal(wt__effect_of(NULL), EFFECT_DESTROY);
    for (int i = 0; i < EFFECTS; i++)
        assert_int_equal(wt__effect_parse(wt__str(wt__effect_word((enum effect)i))), i);
    assert_int_equal(wt__effect_parse(STR("Read")), -1);
}

/* ---------------------------------------------------------------- views */

enum { SERVERS = 3 };
static const struct mcp_server servers[SERVERS] = {
    {.name = "one", .disabled = true}, {.name = "two", .disabled = true}, {.name = "git hub", .disabled = true}};

static wt_engine *engine;
static struct upstream *upstreams[SERVERS];

static int open_view_engine(void **state)
{
    (void)state;
    engine = open_engine();
    for (size_t i = 0; i < SERVERS; i++)
        SOUND(wt__upstream_open(&upstreams[i], &servers[i], &(struct upstream_options){.timeout_ms = 1}, &err));
    return 0;
}

static int close_view_engine(void **state)
{
    (void)state;
    for (size_t i = 0; i < SERVERS; i++)
        wt__upstream_close(upstreams[i]);
    wt_close(engine);
    return 0;
}

#define TOOL(name) "{\"name\":\"" name "\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"}}"

static void put_listed_tools(const char *server, const char *tools)
{
    struct buffer text = {0};
    wt__buffer_printf(&text, "{\"tools\":[%s]}", tools);
    put_tools(engine, server, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
}

static struct tool_view *make_view(bool bare)
{
    struct tool_view *view;
    const struct view_options options = {.upstreams = upstreams, .count = SERVERS, .bare_names = bare};
    SOUND(wt__view_open(&view, engine, &options, &err));
    return view;
}

/* A tool that was imported before its server listed it is not in the view until it is approved. */
static void a_view_has_only_approved_tools(void **state)
{
    wt_add_options options;
    wt_add_report *report = NULL;
    wt_waiting_list *waiting = NULL;
    static const char imported[] = "[" TOOL("forged") "," TOOL("ok") "]", later[] = "{\"tools\":[" TOOL("ok") "]}";
    (void)state;
    wt_add_options_init(&options);
    options.provider = "one";
    SOUND(wt_add(engine, imported, sizeof imported - 1, &options, &report, &err));
    wt_add_report_free(report);
    struct tool_view *view = make_view(false);
    assert_int_equal(view->count, 0);
    wt__view_release(view);
    put_tools(engine, "one", STR("{\"tools\":[]}"));
    put_tools(engine, "one", wt__str(later));
    SOUND(wt_list_waiting(engine, "one", &waiting, &err));
    assert_int_equal(waiting->len, 1);
    wt_waiting_list_free(waiting);
    view = make_view(false);
    assert_int_equal(view->count, 0);
    wt__view_release(view);
}

static void checks_each_tool_against_the_lock(void **state)
{
    char *text = NULL;
    struct pins lock = {0};
    struct tool_view *view;
    (void)state;
    put_listed_tools("one", TOOL("locked") "," TOOL("changed"));
    SOUND(wt_lock(engine, "one", &text, &err));
    char *sha256 = strstr(strstr(text, "one/changed"), "\"sha256\": \"") + 11;
    *sha256 = *sha256 == '0' ? '1' : '0';
    put_listed_tools("two", TOOL("absent"));
    SOUND(wt__pins_read(&lock, text, strlen(text), &err));
    const struct view_options options = {.upstreams = upstreams, .count = SERVERS, .lock = &lock};
    SOUND(wt__view_open(&view, engine, &options, &err));
    assert_int_equal(view->count, 1);
    assert_string_equal(view->tools[0]->name, "locked");
    wt__view_release(view);
    wt__pins_dispose(&lock);
    wt_string_free(text);
}

/* Finds a tool by its server and its name in the catalogue. */
static struct view_tool *find_server_tool(const struct tool_view *view, const char *server, const char *name)
{
    for (size_t i = 0; i < view->count; i++)
        if (strcmp(wt__upstream_name(view->tools[i]->upstream), server) == 0 && strcmp(view->tools[i]->name, name) == 0)
            return view->tools[i];
    return NULL;
}

static const struct {
    const char *server, *name;
    /* Names shown without and with bare_names; NULL for the exported name of the catalogue. */
    const char *exported, *bare;
} names[] = {
    {"one", "alone", "one__alone", "alone"},
    {"one", "same", "one__same", "one__same"},
    {"two", "same", "two__same", "two__same"},
    {"git hub", "of a space", "git_hub__of_a_space", "of a space"},
    {"two", "one__alone", NULL, NULL},                                    /* equals the exported name of another tool */
    {"two", "one__same", NULL, NULL},                                     /* equals the exported name of another tool */
    {"two", "one/alone", NULL, "one/alone"},                              /* equals the id of another tool */
    {"git hub", "call_read", "git_hub__call_read", "git_hub__call_read"}, /* a tool of the search face */
    {"git hub", "search_tools", "git_hub__search_tools", "git_hub__search_tools"},
    {"git hub", "get_tool_details", "git_hub__get_tool_details", "git_hub__get_tool_details"},
    {"git hub", "call_write", "git_hub__call_write", "git_hub__call_write"},
    {"git hub", "call_destructive", "git_hub__call_destructive", "git_hub__call_destructive"},
    {"git hub", "read_more", "git_hub__read_more", "git_hub__read_more"},
};

static void each_shown_name_belongs_to_one_tool(void **state)
{
    (void)state;
    put_listed_tools("one", TOOL("alone") "," TOOL("same"));
    put_listed_tools("two", TOOL("same") "," TOOL("one__alone") "," TOOL("one__same") "," TOOL("one/alone"));
    put_listed_tools("git hub",
                     TOOL("of a space") "," TOOL("call_read") "," TOOL("search_tools") "," TOOL(
                         "get_tool_details") "," TOOL("call_write") "," TOOL("call_destructive") "," TOOL("read_more"));
    put_listed_tools("another", TOOL("nobody_asked"));
    for (int bare = 0; bare < 2; bare++) {
        struct tool_view *view = make_view(bare);
        assert_int_equal(view->count, sizeof names / sizeof *names);
        for (size_t i = 0; i < view->count; i++) {
            struct view_tool *tool = find_server_tool(view, names[i].server, names[i].name);
            const char *shown = bare ? names[i].bare : names[i].exported;
            char member[128];
            shown = shown ? shown : tool ? tool->exported : "";
            snprintf(member, sizeof member, "{\"name\":\"%s\",", shown);
            if (!tool || strcmp(tool->shown, shown) != 0 || !wt__str_starts(tool->definition, wt__str(member)))
                fail_msg("%s of %s is shown as %s", names[i].name, names[i].server, tool ? tool->shown : "nothing");
            assert_ptr_equal(wt__view_find(view, wt__str(shown)), tool);
            assert_ptr_equal(wt__view_find(view, wt__str(tool->exported)), tool);
            assert_ptr_equal(wt__view_find_id(view, tool->id), tool);
            assert_int_equal(view->tools[tool->number] == tool, 1);
            if (i > 0)
                assert_true(strcmp(view->tools[i - 1]->shown, view->tools[i]->shown) < 0);
        }
        assert_null(wt__view_find(view, STR("nobody_asked")));
        assert_null(wt__view_find(view, STR("")));
        assert_null(wt__view_find(view, STR("one__alone\0")));
        assert_null(wt__view_find_id(view, "one__alone"));
        wt__view_release(view);
    }
}

/* A policy applies to the tool with the id, not to a tool with that text as its name. */
static void a_tool_named_like_an_id_gets_no_access(void **state)
{
    static const struct mcp_server own[SERVERS] = {
        {.name = "one", .disabled = true}, {.name = "two", .disabled = true}, {.name = "git hub", .disabled = true}};
    struct gateway *gateway;
    struct policy *policy;
    (void)state;
    put_listed_tools("one", TOOL("alone"));
    put_listed_tools("two", TOOL("one/alone"));
    SOUND(wt__policy_parse(&policy, STR("{\"rules\":[{\"servers\":[\"two\"]}]}"), "p", &err));
    SOUND(wt__gateway_open(&gateway, engine, own, SERVERS,
                           &(struct gateway_options){.bare_names = true, .policy = policy}, &err));
    struct served_face search = face_open(gateway, &(struct face_options){.kind = FACE_SEARCH}, NULL);
    struct mcp_peer *peer = wt__mcp_peer_open(search.service, "", false);
    char *said = call_modern(&search, peer, "search_tools", "{\"query\":\"alone\",\"k\":50}");
    assert_non_null(strstr(said, "two__one_alone"));
    assert_null(strstr(said, "\"one__alone\""));
    free(said);
    said = call_modern(&search, peer, "get_tool_details", "{\"names\":[\"one__alone\",\"one/alone\"]}");
    assert_non_null(strstr(said, "{\"name\":\"one__alone\",\"error\":\"there is no such tool\"}"));
    assert_non_null(strstr(said, "\"name\":\"two__one_alone\",\"description\""));
    free(said);
    said = call_modern(&search, peer, "call_destructive", "{\"name\":\"one__alone\"}");
    assert_non_null(strstr(said, "unknown tool"));
    free(said);
    wt__mcp_peer_release(peer);
    face_close(&search);
    wt__gateway_close(gateway);
    wt__policy_close(policy);
}

/* ---------------------------------------------------------------- schemas */

#define SCHEMA(name, schema) "{\"name\":\"" name "\",\"description\":\"d\",\"inputSchema\":" schema "}"
#define MIRROR(name, value)                                                                                            \
    SCHEMA(name, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":" value "}}}")

static void drops_tools_with_invalid_headers(void **state)
{
    (void)state;
    put_listed_tools("one", MIRROR("sound", "\"Region\"") "," MIRROR("a_blank", "\"Re gion\"") "," MIRROR(
                                "a_line", "\"Region\\r\\nX\"") "," MIRROR("no_text", "1") "," MIRROR("empty", "\"\""));
    put_listed_tools("two", SCHEMA("mentioned", "{\"type\":\"object\",\"description\":\"x-mcp-header\"}"));
    struct tool_view *view = make_view(true);
    assert_int_equal(view->count, 2);
    struct view_tool *sound = wt__view_find(view, STR("sound"));
    assert_non_null(sound);
    assert_non_null(wt__view_find(view, STR("mentioned")));
    assert_non_null(wt__view_input(sound, &err));
    assert_ptr_equal(wt__view_input(sound, &err), wt__view_input(sound, NULL));
    wt__view_release(view);
}

static void a_held_view_stays_valid(void **state)
{
    (void)state;
    put_listed_tools("one", TOOL("first"));
    struct tool_view *before = make_view(true);
    struct tool_view *kept = wt__view_keep(before);
    put_listed_tools("one",
                     TOOL("first") "," TOOL("second")); /* waits for approval, since it was not in the first listing */
    wt__view_release(before);
    assert_int_equal(kept->count, 1);
    assert_string_equal(wt__view_find(kept, STR("first"))->shown, "first");
    struct tool_view *after = make_view(true);
    assert_int_equal(after->count, 1);
    wt__view_release(kept);
    wt__view_release(after);
    wt__view_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_without_annotations_are_destructive),
        cmocka_unit_test_setup_teardown(a_view_has_only_approved_tools, open_view_engine, close_view_engine),
        cmocka_unit_test_setup_teardown(checks_each_tool_against_the_lock, open_view_engine, close_view_engine),
        cmocka_unit_test_setup_teardown(each_shown_name_belongs_to_one_tool, open_view_engine, close_view_engine),
        cmocka_unit_test_setup_teardown(drops_tools_with_invalid_headers, open_view_engine, close_view_engine),
        cmocka_unit_test_setup_teardown(a_held_view_stays_valid, open_view_engine, close_view_engine),
        cmocka_unit_test_setup_teardown(a_tool_named_like_an_id_gets_no_access, open_view_engine, close_view_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
