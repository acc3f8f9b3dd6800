/* Tests parsing of clients' configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "mcp/config.h"

static wt_error err;

/* Appends a line per server: its name, then its command line as "WORD|WORD env A=1 in FOLDER" or its URL as "at URL
 * with HEADER=VALUE", then its other settings. "off" means disabled, and "not: REASON" means refused. */
static void describe_servers(struct buffer *out, const struct mcp_config *config)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct mcp_server *server = &config->servers[i];
        wt__buffer_printf(out, "%s%s:", i ? "\n" : "", server->name);
        for (size_t w = 0; !server->refusal && server->argv && server->argv[w]; w++)
            wt__buffer_printf(out, "%s%s", w ? "|" : " ", server->argv[w]);
        for (size_t e = 0; !server->refusal && server->environment && server->environment[e]; e++)
            wt__buffer_printf(out, " env %s", server->environment[e]);
        if (!server->refusal && server->folder)
            wt__buffer_printf(out, " in %s", server->folder);
        if (!server->refusal && server->url)
            wt__buffer_printf(out, " at %s", server->url);
        for (size_t h = 0; !server->refusal && h < server->header_count; h++)
            wt__buffer_printf(out, " with %s=%s", server->headers[h].name, server->headers[h].value);
        if (server->start_timeout_ms)
            wt__buffer_printf(out, " starts in %u ms", server->start_timeout_ms);
        if (server->call_timeout_ms)
            wt__buffer_printf(out, " answers in %u ms", server->call_timeout_ms);
        wt__buffer_text(out, server->protocol == MCP_ERA_LEGACY   ? " speaks legacy"
                             : server->protocol == MCP_ERA_MODERN ? " speaks modern"
                                                                  : "");
        for (size_t t = 0; server->allowed && server->allowed[t]; t++)
            wt__buffer_printf(out, " only %s", server->allowed[t]);
        for (size_t t = 0; server->denied && server->denied[t]; t++)
            wt__buffer_printf(out, " without %s", server->denied[t]);
        if (server->note)
            wt__buffer_printf(out, " note: %s", server->note);
        wt__buffer_text(out, server->itself ? " itself" : "");
        wt__buffer_printf(out, "%s%s%s", server->disabled ? " off" : "", server->refusal ? " not: " : "",
                          server->refusal ? server->refusal : "");
    }
}

/* The environment has SET=value and EMPTY=; UNSET is not set. */
static const struct {
    const char *name, *text, *servers;
} rows[] = {
    {"Claude",
     "{\"mcpServers\":{\"a\":{\"command\":\"npx\",\"args\":[\"-y\",\"x\"],\"env\":{\"K\":\"v\"}},\"b\":{\"type\":"
     "\"stdio\",\"command\":\"c\"}}}",
     "a: npx|-y|x env K=v\nb: c"},
    {"VS Code", "{\"inputs\":[],\"servers\":{\"a\":{\"type\":\"stdio\",\"command\":\"c\",\"cwd\":\"/tmp\"}}}",
     "a: c in /tmp"},
    {"VS Code settings", "{\"editor.x\":1,\"mcp\":{\"servers\":{\"a\":{\"command\":\"c\"}}}}", "a: c"},
    {"comments and trailing commas",
     "// mine\n{\"mcpServers\": { /* one */ \"a\": {\"command\": \"c\", \"args\": [\"//x\", \"/*y*/\",], }, }, } // "
     "end",
     "a: c|//x|/*y*/"},
    {"URLs",
     "{\"mcpServers\":{\"a\":{\"type\":\"http\",\"url\":\"https://h/"
     "mcp\",\"headers\":{\"X-K\":\"v\"}},\"b\":{\"serverUrl\":\"HTTP://h\"},\"c\":{\"httpUrl\":\"http://h\"}}}",
     "a: at https://h/mcp with X-K=v\nb: at HTTP://h\nc: at http://h"},
    {"numbers and booleans",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"args\":[1,true],\"env\":{\"P\":8080,\"D\":false,\"N\":null}}}}",
     "a: c|1|true env P=8080 env D=false"},
    {"disabled",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"disabled\":true},\"b\":{\"command\":\"c\",\"enabled\":false},\"c\":{"
     "\"command\":\"c\",\"disabled\":false}}}",
     "a: c off\nb: c off\nc: c"},
    {"protocol",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"protocol\":\"legacy\"},\"b\":{\"url\":\"http://h\",\"protocol\":"
     "\"modern\"},\"c\":{\"command\":\"c\",\"protocol\":\"2025\"},\"d\":{\"command\":\"c\",\"protocol\":null}}}",
     "a: c speaks legacy\nb: at http://h speaks modern\nc: not: its \"protocol\" should be \"legacy\" or "
     "\"modern\"\nd: c"},
    {"timeouts",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"timeout\":90},\"b\":{\"command\":\"c\",\"timeout\":600000},\"c\":{"
     "\"command\":\"c\",\"startup_timeout_sec\":20,\"tool_timeout_sec\":2.5},\"d\":{\"command\":\"c\",\"initTimeout\":"
     "150000,\"timeout\":null},\"e\":{\"command\":\"c\",\"timeout\":3600},\"f\":{\"command\":\"c\",\"timeout\":3601},"
     "\"g\":{\"command\":\"c\",\"timeout\":0},\"h\":{\"command\":\"c\",\"timeout\":\"1m\"},\"i\":{\"command\":\"c\","
     "\"timeout\":1e300}}}",
     "a: c answers in 90000 ms\nb: c answers in 600000 ms\nc: c starts in 20000 ms answers in 2500 ms\nd: c starts in "
     "150000 ms\ne: c answers in 3600000 ms\nf: c answers in 3601 ms\ng: c\nh: c\ni: c"},
    {"variables",
     "{\"mcpServers\":{\"a\":{\"command\":\"${SET}\",\"args\":[\"x${SET}y${env:SET}\",\"${UNSET:-d:-e}\",\"${EMPTY:-f}"
     "\",\"${EMPTY}\",\"${UNSET:-}\"],\"env\":{\"K\":\"${SET}\"},\"cwd\":\"/${SET}\"}}}",
     "a: value|xvalueyvalue|d:-e|f|| env K=value in /value"},
    {"OpenCode variables",
     "{\"mcp\":{\"a\":{\"type\":\"local\",\"command\":[\"c\",\"x{env:SET}y\",\"{env:SET\",\"{SET}\"],"
     "\"environment\":{\"K\":\"{env:SET}\"}},\"b\":{\"type\":\"remote\",\"url\":\"http://h/{env:UNSET}\"}}}",
     "a: c|xvaluey|{env:SET|{SET} env K=value\nb: not: it needs a variable that is not set: UNSET"},
    {"optional variables",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"env\":{\"A\":\"${UNSET:-}\",\"B\":\"${EMPTY:-}\",\"C\":\"${SET:-}\","
     "\"D\":\"\","
     "\"E\":\"${UNSET:-}${EMPTY:-}\"}}}}",
     "a: c env C=value env D= env E="},
    {"text that is not a variable",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"args\":[\"$SET\",\"${SET\",\"}\",\"$(SET)\",\"~\"]}}}",
     "a: c|$SET|${SET|}|$(SET)|~ note: $SET in its entry is passed on unchanged: write ${SET} for the variable"},
    {"variables in a URL",
     "{\"servers\":{\"a\":{\"url\":\"https://${SET}/\",\"headers\":{\"Authorization\":\"Bearer ${SET}\"}}}}",
     "a: at https://value/ with Authorization=Bearer value"},
    {"unset variable",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"env\":{\"K\":\"${UNSET}\"}},\"b\":{\"command\":\"c\"}}}",
     "a: not: it needs a variable that is not set: UNSET\nb: c"},
    {"input", "{\"servers\":{\"a\":{\"command\":\"c\",\"args\":[\"${input:token}\"]}}}",
     "a: not: it needs an input that only its client can ask for: input:token"},
    {"HTTP+SSE", "{\"mcpServers\":{\"a\":{\"type\":\"sse\",\"url\":\"https://h/sse\"}}}", "a: at https://h/sse"},
    {"unsupported scheme", "{\"mcpServers\":{\"a\":{\"url\":\"file:///etc/passwd\"}}}",
     "a: not: its URL does not begin with https:// or http://"},
    {"no command", "{\"mcpServers\":{\"a\":{},\"b\":7,\"c\":{\"command\":[\"x\"]},\"d\":{\"command\":\"\"}}}",
     "a: not: it has neither a \"command\" nor a \"url\"\nb: not: it has neither a \"command\" nor a \"url\"\nc: "
     "x\nd: not: its \"command\" is empty"},
    {"invalid arguments",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"args\":\"x\"},\"b\":{\"command\":\"c\",\"args\":[[]]}}}",
     "a: not: its \"args\" is not a list\nb: not: one of its \"args\" is not a string"},
    {"invalid variables",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"env\":{\"A=B\":\"x\"}},\"b\":{\"command\":\"c\",\"env\":{\"A\":{}}}}"
     "}",
     "a: not: its \"env\" has an invalid variable: A=B\nb: not: its \"env\" has an invalid variable: A"},
    {"invalid header", "{\"mcpServers\":{\"a\":{\"url\":\"http://h\",\"headers\":{\"A: B\":\"x\"}}}}",
     "a: not: its \"headers\" has an invalid header: A: B"},
    {"members of the wrong type",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"env\":[\"A=b\"]},\"b\":{\"url\":\"http://h\",\"headers\":\"K: v\"},"
     "\"c\":{\"command\":\"c\",\"cwd\":7},\"d\":{\"command\":\"c\",\"env\":null,\"args\":null,\"cwd\":null}}}",
     "a: not: its \"env\" is not an object: write {\"NAME\": \"value\"}\nb: not: its \"headers\" is not an object\nc: "
     "not: "
     "its \"cwd\" is not a string\nd: c"},
    {"whichtool itself",
     "{\"mcpServers\":{\"a\":{\"command\":\"/opt/bin/"
     "whichtool\",\"args\":[\"mcp\"]},\"b\":{\"command\":\"whichtool\",\"args\":"
     "[\"${UNSET}\"]},\"c\":{\"command\":\"whichtool-like\"},\"d\":{\"command\":\"c\",\"args\":[\"whichtool\"]}}}",
     "a: itself not: it is whichtool itself\nb: itself not: it is whichtool itself\nc: whichtool-like\nd: c|whichtool"},
    {"Zed",
     "{\"theme\":\"x\",\"context_servers\":{\"a\":{\"source\":\"custom\",\"command\":\"c\",\"args\":[\"x\"],\"env\":{"
     "\"K\":\"v\"}},\"b\":{\"command\":{\"path\":\"p\",\"args\":[\"y\"],\"env\":{\"L\":\"w\"}}}}}",
     "a: c|x env K=v\nb: p|y env L=w"},
    {"OpenCode",
     "{\"$schema\":\"https://opencode.ai/config.json\",\"mcp\":{\"a\":{\"type\":\"local\",\"command\":[\"npx\",\"-y\","
     "\"x\"],\"environment\":{\"K\":\"v\"},\"enabled\":true},\"b\":{\"type\":\"remote\",\"url\":\"https://h\","
     "\"enabled\":false}}}",
     "a: npx|-y|x env K=v\nb: at https://h off"},
    {"bare map", "{\"a\":{\"command\":\"c\"},\"b\":{\"url\":\"https://h\"}}", "a: c\nb: at https://h"},
    {"bare list", "[{\"name\":\"a\",\"command\":\"c\"},{\"name\":\"b\",\"url\":\"https://h\"}]",
     "a: c\nb: at https://h"},
    {"list of servers", "{\"mcpServers\":[{\"name\":\"a\",\"command\":\"c\"}]}", "a: c"},
    {"nested transport", "{\"mcpServers\":{\"a\":{\"transport\":{\"type\":\"stdio\",\"command\":\"c\"}}}}",
     "a: not: its \"transport\" is an object, which is not supported: write \"command\" or \"url\" next to its name"},
    {"denied and allowed tools",
     "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"disabledTools\":[\"x\",\"y\"],\"alwaysAllow\":[\"z\"]},\"b\":{"
     "\"command\":\"c\",\"includeTools\":[\"x\"],\"excludeTools\":[\"x\"]},\"c\":{\"command\":\"c\",\"allowedTools\":"
     "[\"x\"],\"disabledTools\":null},\"d\":{\"command\":\"c\",\"excludeTools\":\"x\"}}}",
     "a: c without x without y\nb: c only x without x\nc: c only x\nd: not: not a list of tool names: excludeTools"},
    {"no name", "{\"mcpServers\":{\"\":{\"command\":\"c\"}}}", ": not: its name is empty"},
    {"no servers", "{\"mcpServers\":{}}", ""},
};

static void servers_of_each_format_are_read(void **state)
{
    (void)state;
    setenv("SET", "value", 1);
    setenv("EMPTY", "", 1);
    unsetenv("UNSET");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcp_config config;
        struct buffer text = {0};
        int rc = wt__mcp_config_parse(&config, wt__str(rows[i].text), "mcp.json", &err);
        if (rc == 0)
            describe_servers(&text, &config);
        if (rc < 0 || strcmp(text.ptr ? text.ptr : "", rows[i].servers) != 0)
            fail_msg("%s: %d, %s", rows[i].name, rc, rc < 0 ? err.message : text.ptr);
        wt__buffer_dispose(&text);
        wt__mcp_config_dispose(&config);
    }
}

static const struct {
    const char *text;
    int rc;
    size_t line;
    const char *says;
} bad[] = {
    {"{\"mcpServers\": {\n \"a\": x}}", WT_EFORMAT, 2, "mcp.json: not valid JSON"},
    {"", WT_EFORMAT, 1, "mcp.json: not valid JSON"},
    {"/* no end", WT_EFORMAT, 1, "mcp.json: not valid JSON"},
    {"{\"mcpServers\":{\"a\":{},\"a\":{}}}", WT_EFORMAT, 1, "duplicate"},
    {"[]", WT_EFORMAT, 0, "mcp.json names no MCP servers: it should have \"mcpServers\", or \"servers\""},
    {"{\"servers\":[{\"url\":\"https://api\"}],\"openapi\":\"3.0.0\"}", WT_EFORMAT, 0, "names no MCP servers"},
};

static void invalid_files_are_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mcp_config config;
        int rc = wt__mcp_config_parse(&config, wt__str(bad[i].text), "mcp.json", &err);
        if (rc != bad[i].rc || err.line != bad[i].line || !strstr(err.message, bad[i].says))
            fail_msg("%s: %d, line %zu, %s", bad[i].text, rc, err.line, err.message);
    }
}

static void too_many_servers_are_rejected(void **state)
{
    (void)state;
    struct mcp_config config;
    struct buffer text = {0};
    wt__buffer_text(&text, "{\"mcpServers\":{\"0\":{}");
    for (int i = 1; i <= MCP_SERVERS_MAX; i++)
        wt__buffer_printf(&text, ",\"%d\":{}", i);
    wt__buffer_text(&text, "}}");
    assert_int_equal(wt__mcp_config_parse(&config, wt__buffer_view(&text), "mcp.json", &err), WT_ETOOLONG);
    assert_string_equal(err.message, "mcp.json names more than 256 MCP servers");
    wt__buffer_dispose(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_of_each_format_are_read),
        cmocka_unit_test(invalid_files_are_rejected),
        cmocka_unit_test(too_many_servers_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
