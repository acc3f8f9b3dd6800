/* Input schemas: which annotations of headers are right, what headers must say beside arguments, what a model is told
 * of arguments that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "serve/mcp/inside.h"

static wt_error err;

#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define MIRROR(name) "\"type\":\"string\",\"x-mcp-header\":" name

static const struct {
    const char *name, *schema, *says; /* NULL: it is right */
} schemas[] = {
    {"none", OBJECT("\"a\":{\"type\":\"string\"}"), NULL},
    {"one", OBJECT("\"a\":{" MIRROR("\"A\"") "}"), NULL},
    {"all that a token may have", OBJECT("\"a\":{" MIRROR("\"!#$%&'*+-.^_`|~09azAZ\"") "}"), NULL},
    {"deep", OBJECT("\"a\":" OBJECT("\"b\":" OBJECT("\"c\":{" MIRROR("\"A\"") "}"))), NULL},
    {"integer and boolean",
     OBJECT("\"a\":{\"type\":\"integer\",\"x-mcp-header\":\"A\"},\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"}"),
     NULL},
    {"a property of that name", OBJECT("\"x-mcp-header\":{\"type\":\"number\"}"), NULL},
    {"a definition of that name", "{\"type\":\"object\",\"$defs\":{\"x-mcp-header\":{\"type\":\"number\"}}}", NULL},
    {"within values", OBJECT("\"a\":{\"default\":{\"x-mcp-header\":1},\"enum\":[{\"x-mcp-header\":1}]}"), NULL},
    {"an empty name", OBJECT("\"a\":{" MIRROR("\"\"") "}"), "name of a header"},
    {"a blank", OBJECT("\"a\":{" MIRROR("\"A B\"") "}"), "name of a header"},
    {"a colon", OBJECT("\"a\":{" MIRROR("\"A:\"") "}"), "name of a header"},
    {"a line break", OBJECT("\"a\":{" MIRROR("\"A\\r\\nB\"") "}"), "name of a header"},
    {"no ASCII", OBJECT("\"a\":{" MIRROR("\"\xc3\xa4\"") "}"), "name of a header"},
    {"a number", OBJECT("\"a\":{" MIRROR("1") "}"), "name of a header"},
    {"twice", OBJECT("\"a\":{" MIRROR("\"A\"") "},\"b\":{" MIRROR("\"a\"") "}"), "there twice"},
    {"a number's", OBJECT("\"a\":{\"type\":\"number\",\"x-mcp-header\":\"A\"}"), "no string, integer or boolean"},
    {"without a type", OBJECT("\"a\":{\"x-mcp-header\":\"A\"}"), "no string, integer or boolean"},
    {"of two types", OBJECT("\"a\":{\"type\":[\"string\",\"null\"],\"x-mcp-header\":\"A\"}"), "no string, integer"},
    {"the whole", "{\"type\":\"object\",\"x-mcp-header\":\"A\"}", "only properties may not lead"},
    {"items", OBJECT("\"a\":{\"type\":\"array\",\"items\":{" MIRROR("\"A\"") "}}"), "only properties may not lead"},
    {"an alternative", "{\"anyOf\":[" OBJECT("\"a\":{" MIRROR("\"A\"") "}") "]}", "only properties may not lead"},
    {"a condition", "{\"then\":" OBJECT("\"a\":{" MIRROR("\"A\"") "}") "}", "only properties may not lead"},
    {"a definition", "{\"$defs\":{\"a\":{" MIRROR("\"A\"") "}}}", "only properties may not lead"},
    {"a pattern", "{\"patternProperties\":{\"a\":{" MIRROR("\"A\"") "}}}", "only properties may not lead"},
    {"properties behind items", "{\"items\":" OBJECT("\"a\":{" MIRROR("\"A\"") "}") "}",
     "only properties may not lead"},
    {"no JSON", "{", ""},
    {"nothing", "", ""},
};

static void annotations_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        struct mcp_input *input;
        int rc = wt__mcp_input_open(&input, wt__str(schemas[i].schema), &err);
        if ((rc == 0) != !schemas[i].says || (schemas[i].says && !strstr(err.message, schemas[i].says)))
            fail_msg("%s: %d %s", schemas[i].name, rc, err.message);
        assert_true((rc == 0) == (input != NULL));
        wt__mcp_input_close(input);
    }
}

/* Schemas that do not compile whole, with arguments that the rest takes and arguments that it refuses. */
#define ONE(keywords) OBJECT("\"a\":{" keywords "},\"n\":{\"type\":\"integer\"}")
#define DRAFT(uri) "{\"$schema\":\"" uri "\",\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"
static const struct {
    const char *name, *schema, *why; /* why: words of the reason; NULL if older forms are all there is */
    const char *fits, *misfits;      /* misfits: NULL if nothing is checked */
} loose[] = {
    {"a reference into nothing", ONE("\"$ref\":\"#/$defs/X\""), "$ref", "{\"a\":1}", "{\"n\":\"x\"}"},
    {"a remote reference", ONE("\"$ref\":\"https://x.example/y\""), "$ref", "{\"a\":1}", "{\"n\":\"x\"}"},
    {"int", ONE("\"type\":\"int\""), "int", "{\"a\":1}", "{\"a\":\"x\"}"},
    {"None", ONE("\"type\":\"None\""), "None", "{\"a\":null}", "{\"n\":\"x\"}"},
    {"an unknown type", ONE("\"type\":\"Money\""), "Money", "{\"a\":[1]}", "{\"n\":\"x\"}"},
    {"properties null", "{\"type\":\"object\",\"properties\":null,\"required\":[\"a\"]}", NULL, "{\"a\":1}", "{}"},
    {"format null", ONE("\"type\":\"string\",\"format\":null"), NULL, "{\"a\":\"x\"}", "{\"a\":1}"},
    {"a bad pattern", ONE("\"type\":\"string\",\"pattern\":\"(\""), "pattern", "{\"a\":\"x\"}", "{\"a\":1}"},
    {"several bad patterns", ONE("\"anyOf\":[{\"pattern\":\"(\"},{\"pattern\":\"[\"}],\"type\":\"string\""), "pattern",
     "{\"a\":\"x\"}", "{\"a\":1}"},
    {"a name with a slash", OBJECT("\"a/b~c\":{\"type\":\"string\",\"pattern\":\"(\"}"), "pattern", "{\"a/b~c\":\"x\"}",
     "{\"a/b~c\":1}"},
    {"minimum a text", ONE("\"type\":\"integer\",\"minimum\":\"zero\""), "minimum", "{\"a\":-1}", "{\"a\":\"x\"}"},
    {"required a boolean", ONE("\"type\":\"string\",\"required\":true"), "required", "{\"a\":\"x\"}", "{\"a\":1}"},
    {"an empty anyOf", ONE("\"anyOf\":[],\"type\":\"string\""), "anyOf", "{\"a\":\"x\"}", "{\"a\":1}"},
    {"an alternative", ONE("\"oneOf\":[{\"type\":\"int\"},{\"type\":\"str\"}]"), "int", "{\"a\":1,\"n\":\"x\"}", NULL},
    {"what is not allowed", ONE("\"not\":{\"type\":\"Money\"}"), "Money", "{\"a\":1,\"n\":\"x\"}", NULL},
    {"names of a closed object", ONE("\"patternProperties\":{\"(\":{}},\"additionalProperties\":false"),
     "patternProperties", "{\"a\":{\"x\":1}}", "{\"n\":\"x\"}"},
    {"draft-04", DRAFT("http://json-schema.org/draft-04/schema#"), NULL, "{\"n\":1}", "{\"n\":\"x\"}"},
    {"draft-06", DRAFT("http://json-schema.org/draft-06/schema#"), NULL, "{\"n\":1}", "{\"n\":\"x\"}"},
    {"2019-09", DRAFT("https://json-schema.org/draft/2019-09/schema"), NULL, "{\"n\":1}", "{\"n\":\"x\"}"},
    {"2020-12 by http", DRAFT("http://json-schema.org/draft/2020-12/schema"), NULL, "{\"n\":1}", "{\"n\":\"x\"}"},
    {"draft-04's limits", OBJECT("\"n\":{\"type\":\"integer\",\"minimum\":0,\"exclusiveMinimum\":true}"), NULL,
     "{\"n\":1}", "{\"n\":0}"},
};

static void what_compiles_of_a_schema_is_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        struct mcp_input *input;
        struct buffer words = {0};
        if (wt__mcp_input_open(&input, wt__str(loose[i].schema), &err) < 0)
            fail_msg("%s: %s", loose[i].name, err.message);
        const char *why = wt__mcp_input_unchecked(input);
        if ((why != NULL) != (loose[i].why != NULL) || (why && !strstr(why, loose[i].why)))
            fail_msg("%s: %s", loose[i].name, why ? why : "it is checked whole");
        if (wt__mcp_input_check(input, wt__str(loose[i].fits), &words) != 1)
            fail_msg("%s: %s is refused: %s", loose[i].name, loose[i].fits, words.ptr);
        if (loose[i].misfits && wt__mcp_input_check(input, wt__str(loose[i].misfits), &words) != 0)
            fail_msg("%s: %s is taken", loose[i].name, loose[i].misfits);
        wt__buffer_dispose(&words);
        wt__mcp_input_close(input);
    }
}

/* With more faults than are removed, nothing is checked, and every object is taken. */
static void a_schema_of_many_faults_is_not_checked(void **state)
{
    struct buffer schema = {0}, words = {0};
    struct mcp_input *input;
    (void)state;
    wt__buffer_text(&schema, "{\"properties\":{");
    for (int i = 0; i < 200; i++)
        wt__buffer_printf(&schema, "%s\"p%d\":{\"pattern\":\"(\"}", i > 0 ? "," : "", i);
    wt__buffer_text(&schema, ",\"n\":{\"type\":\"integer\"}}}");
    assert_int_equal(wt__mcp_input_open(&input, wt__buffer_view(&schema), &err), 0);
    assert_non_null(wt__mcp_input_unchecked(input));
    assert_int_equal(wt__mcp_input_check(input, STR("{\"n\":\"x\"}"), &words), 1);
    assert_int_equal(wt__mcp_input_repair(input, STR("{\"n\":\"1\"}"), false, &words), 0);
    wt__buffer_dispose(&schema);
    wt__buffer_dispose(&words);
    wt__mcp_input_close(input);
}

static void there_are_so_many(void **state)
{
    (void)state;
    for (int count = MCP_MIRRORS_MAX; count <= MCP_MIRRORS_MAX + 1; count++) {
        struct buffer schema = {0};
        struct mcp_input *input;
        wt__buffer_text(&schema, "{\"properties\":{");
        for (int i = 0; i < count; i++)
            wt__buffer_printf(&schema, "%s\"p%d\":{\"type\":\"string\",\"x-mcp-header\":\"H%d\"}", i > 0 ? "," : "", i,
                              i);
        wt__buffer_text(&schema, "}}");
        assert_int_equal(wt__mcp_input_open(&input, wt__buffer_view(&schema), &err),
                         count > MCP_MIRRORS_MAX ? WT_ETOOLONG : 0);
        wt__mcp_input_close(input);
        wt__buffer_dispose(&schema);
    }
}

/* ---------------------------------------------------------------- headers */

/* "NAME:VALUE"; another name has none. */
static bool param(const struct mcp_headers *headers, struct str name, struct str *value)
{
    const char *only = headers->context;
    const char *colon = only ? strchr(only, ':') : NULL;
    if (!colon || !wt__str_equal(name, (struct str){only, (size_t)(colon - only)}))
        return false;
    *value = wt__str(colon + 1);
    return true;
}

static const struct {
    const char *name, *arguments, *header; /* NULL: none is sent */
    bool right;
} mirrors[] = {
    {"neither", "{}", NULL, true},
    {"no arguments", NULL, NULL, true},
    {"a null", "{\"s\":null}", NULL, true},
    {"text", "{\"s\":\"us-west1\"}", "S:us-west1", true},
    {"no header", "{\"s\":\"x\"}", NULL, false},
    {"no argument", "{}", "S:x", false},
    {"a header beside a null", "{\"s\":null}", "S:null", false},
    {"other text", "{\"s\":\"x\"}", "S:X", false},
    {"base64", "{\"s\":\"Hello, \\u4e16\\u754c\"}", "S:=?base64?SGVsbG8sIOS4lueVjA==?=", true},
    {"blanks in base64", "{\"s\":\" padded \"}", "S:=?base64?IHBhZGRlZCA=?=", true},
    {"the sentinel in base64", "{\"s\":\"=?base64?literal?=\"}", "S:=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", true},
    {"the sentinel as it is", "{\"s\":\"=?base64?literal?=\"}", "S:=?base64?literal?=", false},
    {"a sentinel in capitals", "{\"s\":\"=?BASE64?SGk=?=\"}", "S:=?BASE64?SGk=?=", true},
    {"half a sentinel", "{\"s\":\"=?base64?\"}", "S:=?base64?", true},
    {"a sentinel of nothing", "{\"s\":\"\"}",
     "S:=?base64?"
     "?=",
     true},
    {"base64 without padding", "{\"s\":\"Hello\"}", "S:=?base64?SGVsbG8?=", false},
    {"a byte that is no ASCII", "{\"s\":\"\xc3\xa4\"}", "S:\xc3\xa4", false},
    {"a control character", "{\"s\":\"a\\u0001\"}", "S:a\x01", false},
    {"a number", "{\"i\":42}", "I:42", true},
    {"the same number", "{\"i\":42}", "I:42.0", true},
    {"a negative number", "{\"i\":-7}", "I:-7", true},
    {"another number", "{\"i\":42}", "I:43", false},
    {"a number and more", "{\"i\":42}", "I:42x", false},
    {"no number", "{\"i\":42}", "I:", false},
    {"a number written with a fraction", "{\"i\":42.0}", "I:42", true},
    {"a truth", "{\"o\":{\"b\":true}}", "B:true", true},
    {"another truth", "{\"o\":{\"b\":true}}", "B:false", false},
    {"a truth in capitals", "{\"o\":{\"b\":true}}", "B:True", false},
    {"a path that is not there", "{\"o\":3}", NULL, true},
    {"a list", "{\"s\":[1]}", "S:[1]", false},
};

static void headers_say_what_arguments_say(void **state)
{
    static const char schema[] =
        OBJECT("\"s\":{" MIRROR("\"S\"") "},\"i\":{\"type\":\"integer\",\"x-mcp-header\":\"I\"},"
                                         "\"o\":" OBJECT("\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"}"));
    struct mcp_input *input;
    (void)state;
    assert_int_equal(wt__mcp_input_open(&input, STR(schema), &err), 0);
    for (size_t i = 0; i < sizeof mirrors / sizeof *mirrors; i++) {
        struct mcp_headers headers = {.param = param, .context = mirrors[i].header};
        struct buffer words = {0};
        json_t *arguments = NULL;
        if (mirrors[i].arguments)
            assert_int_equal(wt__json_parse(&arguments, mirrors[i].arguments, strlen(mirrors[i].arguments), &err), 0);
        if (wt__mcp_mirrors_match(input, &headers, arguments, &words) != mirrors[i].right)
            fail_msg("%s: %s", mirrors[i].name, words.ptr ? words.ptr : "no word");
        assert_true((words.len == 0) == mirrors[i].right);
        wt__buffer_dispose(&words);
        json_decref(arguments);
    }
    wt__mcp_input_close(input);
}

/* What a client writes is what a server takes. */
static void a_client_repeats_what_a_server_takes(void **state)
{
    static const char schema[] = OBJECT("\"s\":{" MIRROR(
        "\"S\"") "},\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"},"
                 "\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"},\"o\":" OBJECT("\"d\":{" MIRROR("\"D\"") "}") "");
    static const struct {
        const char *arguments, *headers; /* NAME=VALUE, each with a ; behind it */
    } repeated[] = {
        {"{}", ""},
        {"{\"s\":\"x y\",\"n\":42,\"b\":false,\"o\":{\"d\":\"z\"}}", "S=x y;N=42;B=false;D=z;"},
        {"{\"s\":null,\"n\":-1,\"other\":\"x\"}", "N=-1;"},
        {"{\"s\":\"\",\"n\":2.5,\"o\":7}", "S==?base64?\?=;N=2.5;"},
        {"{\"s\":\"\\u00fc\",\"b\":[]}", "S==?base64?w7w=?=;"},
        {"{\"s\":\" x\"}", "S==?base64?IHg=?=;"},
        {"{\"s\":\"=?base64?eA==?=\"}", "S==?base64?PT9iYXNlNjQ/ZUE9PT89?=;"},
        {"{\"s\":\"a\\r\\nb\"}", "S==?base64?YQ0KYg==?=;"},
    };
    struct mcp_input *input;
    (void)state;
    assert_int_equal(wt__mcp_input_open(&input, STR(schema), &err), 0);
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        struct http_header headers[MCP_MIRRORS_MAX];
        struct arena arena = {0};
        struct buffer all = {0};
        int count = wt__mcp_input_repeat(input, wt__str(repeated[i].arguments), &arena, headers, &err);
        for (int k = 0; k < count; k++)
            wt__buffer_printf(&all, "%s=%s;", headers[k].name + strlen("Mcp-Param-"), headers[k].value);
        assert_string_equal(all.ptr ? all.ptr : "", repeated[i].headers);
        wt__buffer_dispose(&all);
        wt__arena_dispose(&arena);
    }
    assert_int_equal(wt__mcp_input_repeat(input, STR("{"), NULL, NULL, &err), WT_EFORMAT);
    wt__mcp_input_close(input);
}

/* ---------------------------------------------------------------- arguments */

static void a_model_is_told_what_does_not_fit(void **state)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],"
        "\"additionalProperties\":false}";
    struct mcp_input *input;
    struct buffer words = {0};
    (void)state;
    assert_int_equal(wt__mcp_input_open(&input, STR(schema), &err), 0);
    assert_int_equal(wt__mcp_input_check(input, STR("{\"n\":1}"), &words), 1);
    assert_int_equal(words.len, 0);
    assert_int_equal(wt__mcp_input_check(input, STR("{\"n\":\"1\",\"m\":2}"), &words), 0);
    assert_non_null(strstr(words.ptr, "/n: expected an integer"));
    assert_non_null(strstr(words.ptr, "m\""));
    wt__buffer_clear(&words);
    struct buffer many = {0};
    wt__buffer_text(&many, "{\"n\":1");
    for (int i = 0; i < 2 * MCP_VIOLATIONS_TOLD; i++)
        wt__buffer_printf(&many, ",\"x%d\":1", i);
    wt__buffer_char(&many, '}');
    assert_int_equal(wt__mcp_input_check(input, wt__buffer_view(&many), &words), 0);
    assert_non_null(strstr(words.ptr, "\nand 10 more"));
    wt__buffer_dispose(&many);
    wt__buffer_dispose(&words);
    wt__mcp_input_close(input);
}

/* "nullable" of OpenAPI. fits: as it is; becomes: after the repair; NULL if it is not repaired. */
static const struct {
    const char *schema, *arguments;
    int fits;
    const char *becomes;
} nullables[] = {
    {OBJECT("\"n\":{\"type\":\"integer\",\"nullable\":true}"), "{\"n\":null}", 1, NULL},
    {OBJECT("\"n\":{\"type\":\"integer\",\"nullable\":true}"), "{\"n\":\"5\"}", 0, "{\"n\":5}"},
    {OBJECT("\"n\":{\"type\":\"integer\",\"nullable\":true},\"m\":{\"type\":\"integer\"}"), "{\"n\":null,\"m\":null}",
     0, "{\"n\":null}"},
    {OBJECT("\"n\":{\"type\":[\"integer\",\"null\"],\"nullable\":true}"), "{\"n\":null}", 1, NULL},
    {OBJECT("\"n\":{\"type\":\"string\",\"enum\":[\"a\"],\"nullable\":true}"), "{\"n\":null}", 1, NULL},
    {OBJECT("\"n\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"nullable\":true}}"), "{\"n\":[1,null]}", 1,
     NULL},
    {OBJECT("\"n\":{\"type\":\"integer\",\"nullable\":false}"), "{\"n\":null}", 0, "{}"},
    {OBJECT("\"n\":{\"enum\":[{\"type\":\"x\",\"nullable\":true}]}"), "{\"n\":{\"type\":\"x\",\"nullable\":true}}", 1,
     NULL},
    {OBJECT("\"default\":{\"type\":\"integer\",\"nullable\":true}"), "{\"default\":null}", 1, NULL},
    {OBJECT("\"nullable\":{\"type\":\"integer\"}"), "{\"nullable\":null}", 0, "{}"},
};

static void nullable_lets_null_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nullables / sizeof *nullables; i++) {
        struct mcp_input *input;
        struct buffer words = {0}, repaired = {0};
        struct str arguments = wt__str(nullables[i].arguments);
        assert_int_equal(wt__mcp_input_open(&input, wt__str(nullables[i].schema), &err), 0);
        int fits = wt__mcp_input_check(input, arguments, &words);
        int repairs = wt__mcp_input_repair(input, arguments, false, &repaired);
        const char *becomes = nullables[i].becomes ? nullables[i].becomes : "";
        if (fits != nullables[i].fits || repairs != (nullables[i].becomes != NULL) ||
            !wt__str_equal(wt__buffer_view(&repaired), wt__str(becomes)))
            fail_msg("%zu: %d %d %s", i, fits, repairs, repaired.ptr ? repaired.ptr : "");
        wt__buffer_dispose(&words);
        wt__buffer_dispose(&repaired);
        wt__mcp_input_close(input);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotations_are_checked),
        cmocka_unit_test(what_compiles_of_a_schema_is_checked),
        cmocka_unit_test(a_schema_of_many_faults_is_not_checked),
        cmocka_unit_test(there_are_so_many),
        cmocka_unit_test(headers_say_what_arguments_say),
        cmocka_unit_test(a_client_repeats_what_a_server_takes),
        cmocka_unit_test(a_model_is_told_what_does_not_fit),
        cmocka_unit_test(nullable_lets_null_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
