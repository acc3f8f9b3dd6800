/* Tests a server with malformed definitions and with schemas that do not compile, next to a good server. Lists for
 * clients must match the protocol, and calls must reach their server. tests/mcp/test_mend.c tests each repair alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "gateway/audit.h"
#include "gateway/protocol_schema.h"
#include "gateway/script_server.h"
#include "gateway/running_gateway.h"
#include "whichtool/validator.h"

static struct running_gateway s;

static struct buffer told;
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;

static void hear_sentence(void *context, bool failing, const char *sentence)
{
    (void)context, (void)failing;
    pthread_mutex_lock(&told_lock);
    wt__buffer_printf(&told, "%s\n", sentence);
    pthread_mutex_unlock(&told_lock);
}

static size_t count_told(const char *what)
{
    size_t count = 0;
    pthread_mutex_lock(&told_lock);
    for (const char *at = told.ptr; at && (at = strstr(at, what)); at++)
        count++;
    pthread_mutex_unlock(&told_lock);
    return count;
}

/* Starts the odd server with the script, and the good server. audit: may be NULL. */
static void start_odd_server(const char *script, struct audit_log *audit)
{
    static struct mcp_server servers[2];
    static const char good[] = "TOOLS=$(tool t 'does another thing'); CAPABILITIES='\"tools\":{},\"prompts\":{},"
                               "\"resources\":{}'; PROMPTS='{\"name\":\"p\"}'\n"
                               "RESOURCES='{\"uri\":\"y:good\",\"name\":\"n\"}'; serve";
    servers[0] = script_server("odd", script, 0);
    servers[1] = script_server("good", good, 1);
    s = (struct running_gateway){0};
    s.engine = open_engine();
    start_gateway_on(&s, servers, 2, &(struct gateway_options){.report = hear_sentence, .audit = audit});
    wait_for_tool(&s, "good__t", true);
}

static void stop_odd_server(void)
{
    stop_gateway(&s);
    wt__buffer_dispose(&told);
}

static char *read_state(void)
{
    struct buffer text = {0};
    wt__gateway_write_state(s.gateway, &text);
    return wt__buffer_take(&text);
}

/* ---------------------------------------------------------------- schemas that do not compile */

#define N "\"n\":{\"type\":\"integer\"}"
#define A(schema) "{\"type\":\"object\",\"properties\":{" N ",\"a\":" schema "}}"
#define DIALECT(uri) "{\"type\":\"object\",\"$schema\":\"" uri "\",\"properties\":{" N "}}"

/* Tools whose calls must reach their server. */
static const struct {
    const char *tool, *schema;
    const char *fits;    /* valid arguments; NULL for {"n": 5, "a": "x"} */
    const char *refuses; /* invalid arguments; NULL if arguments are not checked */
    const char *note;    /* note about the schema; NULL if all of it is checked */
} inputs[] = {
    {"type_int", A("{\"type\":\"int\"}"), "{\"a\":1}", "{\"n\":\"five\"}", "checked against its valid part"},
    {"type_none", A("{\"type\":\"None\"}"), "{\"a\":null}", "{\"n\":\"five\"}", "checked against its valid part"},
    {"dangling_reference", A("{\"$ref\":\"#/$defs/gone\"}"), NULL, "{\"n\":\"five\"}",
     "checked against its valid part"},
    {"remote_reference", A("{\"$ref\":\"https://x.example/y\"}"), NULL, "{\"n\":\"five\"}",
     "checked against its valid part"},
    {"bad_pattern", A("{\"pattern\":\"(\"}"), NULL, "{\"n\":\"five\"}", "schema /properties/a"},
    {"format_null", A("{\"format\":null}"), NULL, "{\"n\":\"five\"}", NULL},
    {"properties_null", A("{\"properties\":null}"), NULL, "{\"n\":\"five\"}", NULL},
    {"draft_04", DIALECT("http://json-schema.org/draft-04/schema#"), NULL, "{\"n\":\"five\"}", NULL},
    {"draft_06", DIALECT("http://json-schema.org/draft-06/schema#"), NULL, "{\"n\":\"five\"}", NULL},
    {"draft_2019_09", DIALECT("https://json-schema.org/draft/2019-09/schema"), NULL, "{\"n\":\"five\"}", NULL},
    {"http_2020_12", DIALECT("http://json-schema.org/draft/2020-12/schema"), NULL, "{\"n\":\"five\"}", NULL},
    {"unknown_dialect", DIALECT("https://x.example/dialect"), NULL, NULL, "arguments are not checked"},
    {"an_alternative", A("{\"oneOf\":[{\"type\":\"int\"}]}"), NULL, NULL, "arguments are not checked"},
    {"neighbour", A("{}"), NULL, "{\"n\":\"five\"}", NULL},
};

enum { INPUTS = sizeof inputs / sizeof *inputs, FAULTY_INPUTS = 7 /* rows with a note */ };

static void check_note(const char *state, const char *tool, const char *note)
{
    struct buffer key = {0};
    wt__buffer_printf(&key, "tool \\\"%s\\\": ", tool);
    const char *at = strstr(state, key.ptr), *end = at ? strstr(at, "\",") : NULL;
    const char *found = at && note ? strstr(at, note) : NULL;
    if ((at != NULL) != (note != NULL) || (note && (!found || (end && found > end))))
        fail_msg("%s: %s", tool, state);
    wt__buffer_dispose(&key);
}

static void check_call(const char *tool, const char *arguments, const char *says)
{
    struct buffer name = {0};
    wt__buffer_printf(&name, "odd__%s", tool);
    char *answers[] = {call_of(&s, s.modern, name.ptr, arguments, ""), call_of(&s, s.legacy, name.ptr, arguments, "")};
    for (size_t i = 0; i < 2; i++) {
        if (!strstr(answers[i], says))
            fail_msg("%s %s: %s", tool, arguments, answers[i]);
        free(answers[i]);
    }
    wt__buffer_dispose(&name);
}

static void start_with_inputs(struct audit_log *audit)
{
    struct buffer script = {0};
    wt__buffer_text(&script, "TOOLS='");
    for (size_t i = 0; i < INPUTS; i++)
        wt__buffer_printf(&script, "%s{\"name\":\"%s\",\"description\":\"d\",\"inputSchema\":%s}", i > 0 ? "," : "",
                          inputs[i].tool, inputs[i].schema);
    wt__buffer_text(&script, "'; serve");
    start_odd_server(script.ptr, audit);
    wait_for_tool(&s, "odd__neighbour", true);
    wt__buffer_dispose(&script);
}

static void calls_tools_with_faulty_schemas(void **state)
{
    (void)state;
    start_with_inputs(NULL);
    char *written = read_state();
    for (size_t i = 0; i < INPUTS; i++) {
        check_call(inputs[i].tool, inputs[i].fits ? inputs[i].fits : "{\"n\":5,\"a\":\"x\"}", "\"text\":\"fine\"");
        if (inputs[i].refuses)
            check_call(inputs[i].tool, inputs[i].refuses, "do not fit");
        else
            check_call(inputs[i].tool, "{\"n\":\"five\"}", "\"text\":\"fine\"");
        check_note(written, inputs[i].tool, inputs[i].note);
    }
    free(written);
    struct buffer sentence = {0};
    wt__buffer_printf(&sentence,
                      "odd lists malformed definitions: %d with a schema that does not compile; `whichtool mcp status` "
                      "names them\n",
                      FAULTY_INPUTS);
    while (count_told(sentence.ptr) == 0)
        usleep(1000);
    assert_int_equal(count_told("malformed"), 1);
    assert_int_equal(count_told("odd: tool \"type_int\": inputSchema does not compile"), 1);
    wt__buffer_dispose(&sentence);
    stop_odd_server();
}

/* "schema_unchecked" in an audit line is "all" or "part". It is missing if the whole schema was used. */
static void audits_unchecked_arguments(void **state)
{
    static const struct {
        const char *tool, *has, *lacks;
    } rows[] = {{"type_int", "\"schema_unchecked\":\"part\"", "\"all\""},
                {"an_alternative", "\"schema_unchecked\":\"all\"", "\"part\""},
                {"neighbour", "\"decision\":\"allowed\"", "schema_unchecked"}};
    struct audit_log *log;
    char path[64], head[80];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text;
        size_t len;
        snprintf(path, sizeof path, "/tmp/whichtool-definitions-%d", (int)getpid());
        snprintf(head, sizeof head, "%s.head", path);
        SOUND(wt__audit_open(&log, path, NULL, &err));
        start_with_inputs(log);
        check_call(rows[i].tool, "{\"n\":5}", "\"text\":\"fine\"");
        stop_odd_server();
        wt__audit_close(log);
        SOUND(wt__file_read(&text, &len, path, 1 << 20, &err));
        if (!strstr(text, rows[i].has) || strstr(text, rows[i].lacks))
            fail_msg("%s: %s", rows[i].tool, text);
        free(text);
        unlink(path);
        unlink(head);
    }
}

/* ---------------------------------------------------------------- lists */

#define TOOL_WITH(name, more) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}" more "}"

static const char odd_tools[] = "TOOLS='" TOOL_WITH(
    "first",
    "") ",{\"name\":\"missing\"},{\"name\":\"null\",\"inputSchema\":null},{\"name\":"
        "\"true\",\"inputSchema\":true},{\"name\":\"false\",\"inputSchema\":false},{\"name\":"
        "\"empty\",\"inputSchema\":{}},"
        "{\"name\":\"types\",\"inputSchema\":{\"type\":[\"object\",\"null\"]}},{\"name\":"
        "\"upper\",\"inputSchema\":{"
        "\"type\":\"OBJECT\"}},{\"name\":\"any\",\"inputSchema\":{\"anyOf\":[{\"required\":["
        "\"a\"]}]}},{\"name\":\"list\","
        "\"inputSchema\":{\"type\":\"object\",\"properties\":[],\"required\":\"a\"}},{"
        "\"name\":\"string\",\"inputSchema\":{"
        "\"type\":\"string\"}},\"text\",null,7,[],{},{\"name\":7},"
        "{\"name\":\"values\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true,"
        "\"b\":null,\"c\":\"string\"}}}"
        "," TOOL_WITH("output_true", ",\"outputSchema\":true") "," TOOL_WITH("output_empty", ",\"outputSchema\":{}") "," TOOL_WITH("output_array", ",\"outputSchema\":{\"type\":\"array\"}") "," TOOL_WITH("output_dangling", ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/no\"}}}") "," TOOL_WITH(
            "output_int",
            ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"int\"}}"
            "}") "," TOOL_WITH("output_draft",
                               ",\"outputSchema\":{\"$schema\":\"http://json-schema.org/"
                               "draft-04/schema#\","
                               "\"type\":\"object\"}") "," TOOL_WITH("hints",
                                                                     ",\"annotations\":{"
                                                                     "\"readOnlyHint\":"
                                                                     "\"maybe\"},\"icons\":{},"
                                                                     "\"_meta\":[],\"title\":"
                                                                     "3") "," TOOL_WITH("note"
                                                                                        "s",
                                                                                        ",\"an"
                                                                                        "notat"
                                                                                        "ions"
                                                                                        "\":[]"
                                                                                        ",\"ic"
                                                                                        "ons\""
                                                                                        ":[{}]"
                                                                                        ",\"de"
                                                                                        "scrip"
                                                                                        "tion"
                                                                                        "\":"
                                                                                        "null") "," TOOL_WITH("last",
                                                                                                              "") "'\n"
                                                                                                                  "CAPA"
                                                                                                                  "BILI"
                                                                                                                  "TIES"
                                                                                                                  "='"
                                                                                                                  "\"to"
                                                                                                                  "ols"
                                                                                                                  "\":{"
                                                                                                                  "},"
                                                                                                                  "\"pr"
                                                                                                                  "ompt"
                                                                                                                  "s\":"
                                                                                                                  "{},"
                                                                                                                  "\"re"
                                                                                                                  "sour"
                                                                                                                  "ces"
                                                                                                                  "\":{"
                                                                                                                  "}'\n"
                                                                                                                  "PROM"
                                                                                                                  "PTS="
                                                                                                                  "'{"
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"f"
                                                                                                                  "irst"
                                                                                                                  "\"},"
                                                                                                                  "{\"n"
                                                                                                                  "ame"
                                                                                                                  "\":"
                                                                                                                  "3},{"
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"a"
                                                                                                                  "rgum"
                                                                                                                  "ents"
                                                                                                                  "\","
                                                                                                                  "\"ar"
                                                                                                                  "gume"
                                                                                                                  "nts"
                                                                                                                  "\":{"
                                                                                                                  "}},{"
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"n"
                                                                                                                  "ull"
                                                                                                                  "\","
                                                                                                                  "\"ar"
                                                                                                                  "gume"
                                                                                                                  "nts"
                                                                                                                  "\":"
                                                                                                                  "null"
                                                                                                                  "},{"
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"o"
                                                                                                                  "dd\""
                                                                                                                  ",\"a"
                                                                                                                  "rgum"
                                                                                                                  "ents"
                                                                                                                  "\":["
                                                                                                                  "{\"n"
                                                                                                                  "ame"
                                                                                                                  "\":"
                                                                                                                  "\"a"
                                                                                                                  "\","
                                                                                                                  "\"re"
                                                                                                                  "quir"
                                                                                                                  "ed\""
                                                                                                                  ":\"t"
                                                                                                                  "rue"
                                                                                                                  "\"}]"
                                                                                                                  "},{"
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"l"
                                                                                                                  "ast"
                                                                                                                  "\"}'"
                                                                                                                  "\n"
                                                                                                                  "RESO"
                                                                                                                  "URCE"
                                                                                                                  "S='{"
                                                                                                                  "\"ur"
                                                                                                                  "i\":"
                                                                                                                  "\"x:"
                                                                                                                  "firs"
                                                                                                                  "t\","
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"n"
                                                                                                                  "\"},"
                                                                                                                  "{\"n"
                                                                                                                  "ame"
                                                                                                                  "\":"
                                                                                                                  "\"n"
                                                                                                                  "\"},"
                                                                                                                  "{\"u"
                                                                                                                  "ri\""
                                                                                                                  ":1,"
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"n"
                                                                                                                  "\"},"
                                                                                                                  "{\"u"
                                                                                                                  "ri\""
                                                                                                                  ":\"x"
                                                                                                                  ":nam"
                                                                                                                  "eles"
                                                                                                                  "s\"}"
                                                                                                                  ","
                                                                                                                  "{\"u"
                                                                                                                  "ri\""
                                                                                                                  ":\"x"
                                                                                                                  ":siz"
                                                                                                                  "e\","
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"n"
                                                                                                                  "\","
                                                                                                                  "\"si"
                                                                                                                  "ze\""
                                                                                                                  ":\"b"
                                                                                                                  "ig\""
                                                                                                                  ",\"a"
                                                                                                                  "nnot"
                                                                                                                  "atio"
                                                                                                                  "ns\""
                                                                                                                  ":{"
                                                                                                                  "\"pr"
                                                                                                                  "iori"
                                                                                                                  "ty\""
                                                                                                                  ":\"h"
                                                                                                                  "igh"
                                                                                                                  "\"}}"
                                                                                                                  ",{"
                                                                                                                  "\"ur"
                                                                                                                  "i\":"
                                                                                                                  "\"x:"
                                                                                                                  "last"
                                                                                                                  "\","
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"n"
                                                                                                                  "\","
                                                                                                                  "\"mi"
                                                                                                                  "meTy"
                                                                                                                  "pe\""
                                                                                                                  ":nul"
                                                                                                                  "l}'"
                                                                                                                  "\n"
                                                                                                                  "TEMP"
                                                                                                                  "LATE"
                                                                                                                  "S='{"
                                                                                                                  "\"ur"
                                                                                                                  "iTem"
                                                                                                                  "plat"
                                                                                                                  "e\":"
                                                                                                                  "\"x:"
                                                                                                                  "{a}"
                                                                                                                  "\","
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"n"
                                                                                                                  "\","
                                                                                                                  "\"ti"
                                                                                                                  "tle"
                                                                                                                  "\":["
                                                                                                                  "]},{"
                                                                                                                  "\"ur"
                                                                                                                  "iTem"
                                                                                                                  "plat"
                                                                                                                  "e\":"
                                                                                                                  "3,"
                                                                                                                  "\"na"
                                                                                                                  "me\""
                                                                                                                  ":\"n"
                                                                                                                  "\"},"
                                                                                                                  "{\"n"
                                                                                                                  "ame"
                                                                                                                  "\":"
                                                                                                                  "\"n"
                                                                                                                  "\"}'"
                                                                                                                  "\n"
                                                                                                                  "serv"
                                                                                                                  "e";

/* Items and members in the lists of the direct face. */
static const struct {
    const char *method, *shown; /* text in the list */
    bool modern, legacy;        /* expected for clients of this era */
} listed[] = {
    {"tools/list", "\"odd__first\"", true, true},
    {"tools/list", "\"odd__missing\"", true, true},
    {"tools/list", "\"odd__null\"", true, true},
    {"tools/list", "\"odd__true\"", true, true},
    {"tools/list", "\"odd__false\"", false, false},
    {"tools/list", "\"odd__empty\"", true, true},
    {"tools/list", "\"odd__types\"", true, true},
    {"tools/list", "\"odd__upper\"", true, true},
    {"tools/list", "\"odd__any\"", true, true},
    {"tools/list", "\"odd__list\"", true, true},
    {"tools/list", "\"odd__string\"", false, false},
    {"tools/list", "\"odd__values\"", true, true},
    {"tools/list", "\"odd__output_true\"", true, true},
    {"tools/list", "\"odd__output_dangling\"", true, true},
    {"tools/list", "#/no", false, false},
    {"tools/list", "\"odd__output_int\"", true, true},
    {"tools/list", "\"int\"", false, false},
    {"tools/list", "draft-04", true, true},
    {"tools/list", "\"outputSchema\":{\"type\":\"array\"}", true, false},
    {"tools/list", "\"odd__hints\"", true, true},
    {"tools/list", "\"odd__last\"", true, true},
    {"tools/list", "\"good__t\"", true, true},
    {"prompts/list", "\"first\"", true, true},
    {"prompts/list", "\"arguments\":{}", false, false},
    {"prompts/list", "\"odd\"", true, true},
    {"prompts/list", "\"last\"", true, true},
    {"prompts/list", "\"p\"", true, true},
    {"resources/list", "\"x:first\"", true, true},
    {"resources/list", "\"x:nameless\"", false, false},
    {"resources/list", "\"x:size\"", true, true},
    {"resources/list", "\"x:last\"", true, true},
    {"resources/list", "\"y:good\"", true, true},
    {"resources/templates/list", "\"x:{a}\"", true, true},
};

static char *ask_list(const char *method, bool legacy)
{
    char text[128];
    if (!legacy)
        return ask_modern(&s.direct, s.modern, method, "");
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"%s\",\"params\":{}}", method);
    return recorder_ask(s.direct.service, s.legacy, text, NULL, NULL);
}

/* Returns a validator of a schema written with ' for ". */
static wt_validator *open_schema(const char *schema)
{
    struct buffer text = {0};
    wt_validator *validator;
    for (const char *c = schema; *c; c++)
        wt__buffer_char(&text, *c == '\'' ? '"' : *c);
    SOUND(wt_validator_open(&validator, text.ptr, text.len, NULL, &err));
    wt__buffer_dispose(&text);
    return validator;
}

/* Validates a list against the protocol's schema. */
static void check_list(const char *method, const char *schema, const char *said)
{
    wt_validator *validator = open_schema(schema);
    wt_validation *validation = NULL;
    struct buffer result = {0};
    json_t *answer = NULL;
    SOUND(wt__json_parse(&answer, said, strcspn(said, "\n"), &err));
    SOUND(wt__json_write(&result, json_object_get(answer, "result")));
    SOUND(wt_validate(validator, result.ptr, result.len, NULL, &validation, &err));
    if (!validation->valid)
        fail_msg("%s: %s: %s", method, validation->violations[0]->message, said);
    wt_validation_free(validation);
    wt_validator_close(validator);
    wt__buffer_dispose(&result);
    json_decref(answer);
}

/* Waits until the odd server's resources, prompts and templates are listed, which may be after its tools. */
static void wait_for_listed_items(void)
{
    for (size_t i = 0; i < sizeof listed / sizeof *listed;) {
        char *said = ask_list(listed[i].method, false);
        i += !listed[i].modern || strstr(said, listed[i].shown);
        free(said);
    }
}

static void lists_match_the_protocol(void **state)
{
    (void)state;
    start_odd_server(odd_tools, NULL);
    wait_for_tool(&s, "odd__last", true);
    wait_for_listed_items();
    for (size_t kind = 0; kind < sizeof protocol_lists / sizeof *protocol_lists; kind++)
        for (int legacy = 0; legacy < 2; legacy++) {
            const char *method = protocol_lists[kind].method;
            char *said = ask_list(method, legacy);
            check_list(method, legacy ? protocol_lists[kind].legacy : protocol_lists[kind].modern, said);
            for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
                if (strcmp(listed[i].method, method) == 0 &&
                    (strstr(said, listed[i].shown) != NULL) != (legacy ? listed[i].legacy : listed[i].modern))
                    fail_msg("%s, %s: %s", listed[i].shown, legacy ? "legacy" : "modern", said);
            free(said);
        }
    check_call("list", "{\"a\":1}", "\"text\":\"fine\"");
    check_call("list", "{}", "do not fit");
    stop_odd_server();
}

/* A structured result is passed on unchanged even if the tool's output schema was removed. */
static void passes_structured_results(void **state)
{
    static const char script[] =
        "call() { result $id '{\"content\":[],\"structuredContent\":{\"a\":\"x\"}}'; }\n"
        "TOOLS='" TOOL_WITH("structured", ",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
                                          "\"int\"}}}") "'; serve";
    (void)state;
    start_odd_server(script, NULL);
    wait_for_tool(&s, "odd__structured", true);
    check_call("structured", "{}", "\"structuredContent\":{\"a\":\"x\"}");
    char *written = read_state();
    check_note(written, "structured", "outputSchema does not compile and is ignored");
    free(written);
    stop_odd_server();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_tools_with_faulty_schemas),
        cmocka_unit_test(audits_unchecked_arguments),
        cmocka_unit_test(lists_match_the_protocol),
        cmocka_unit_test(passes_structured_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
