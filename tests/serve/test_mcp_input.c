/* Tests input schemas: header annotations, headers compared with arguments, and messages about invalid arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "serve/mcp/internal.h"

static wt_error err;

#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define MIRROR(name) "\"type\":\"string\",\"x-mcp-header\":" name

static json_t *parse_arguments_text(struct str arguments)
{
    json_t *tree = NULL;
    assert_int_equal(wt__json_parse(&tree, arguments.ptr, arguments.len, NULL), 0);
    return tree;
}

static int check_arguments_text(const struct mcp_input *input, struct str arguments, struct buffer *words)
{
    json_auto_t *tree = parse_arguments_text(arguments);
    return wt__mcp_input_check(input, tree, words);
}

/* Repairs the arguments and checks that the repaired tree equals the repaired text, parsed. */
static int repair_arguments_text(const struct mcp_input *input, struct str arguments, struct buffer *repaired)
{
    json_auto_t *tree = parse_arguments_text(arguments);
    int fits = wt__mcp_input_repair(input, arguments, &tree, false, repaired);
    json_auto_t *expected = parse_arguments_text(fits > 0 ? wt__buffer_view(repaired) : arguments);
    assert_true(json_equal(tree, expected));
    return fits;
}

static const struct {
    const char *name, *schema, *says; /* NULL if valid */
} schemas[] = {
    {"no annotation", OBJECT("\"a\":{\"type\":\"string\"}"), NULL},
    {"one annotation", OBJECT("\"a\":{" MIRROR("\"A\"") "}"), NULL},
    {"all characters of a token", OBJECT("\"a\":{" MIRROR("\"!#$%&'*+-.^_`|~09azAZ\"") "}"), NULL},
    {"a nested property", OBJECT("\"a\":" OBJECT("\"b\":" OBJECT("\"c\":{" MIRROR("\"A\"") "}"))), NULL},
    {"integer and boolean",
     OBJECT("\"a\":{\"type\":\"integer\",\"x-mcp-header\":\"A\"},\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"}"),
     NULL},
    {"property named x-mcp-header", OBJECT("\"x-mcp-header\":{\"type\":\"number\"}"), NULL},
    {"definition named x-mcp-header", "{\"type\":\"object\",\"$defs\":{\"x-mcp-header\":{\"type\":\"number\"}}}", NULL},
    {"annotation inside default and enum is data",
     OBJECT("\"a\":{\"default\":{\"x-mcp-header\":1},\"enum\":[{\"x-mcp-header\":1}]}"), NULL},
    {"an empty name", OBJECT("\"a\":{" MIRROR("\"\"") "}"), "not a header name"},
    {"name with a blank", OBJECT("\"a\":{" MIRROR("\"A B\"") "}"), "not a header name"},
    {"name with a colon", OBJECT("\"a\":{" MIRROR("\"A:\"") "}"), "not a header name"},
    {"name with a line break", OBJECT("\"a\":{" MIRROR("\"A\\r\\nB\"") "}"), "not a header name"},
    {"not ASCII", OBJECT("\"a\":{" MIRROR("\"\xc3\xa4\"") "}"), "not a header name"},
    {"name is a number", OBJECT("\"a\":{" MIRROR("1") "}"), "not a header name"},
    {"duplicate name in other case", OBJECT("\"a\":{" MIRROR("\"A\"") "},\"b\":{" MIRROR("\"a\"") "}"),
     "is a duplicate"},
    {"annotation on a number", OBJECT("\"a\":{\"type\":\"number\",\"x-mcp-header\":\"A\"}"),
     "not on a string, integer or boolean"},
    {"annotation on a schema without a type", OBJECT("\"a\":{\"x-mcp-header\":\"A\"}"),
     "not on a string, integer or boolean"},
    {"annotation on a schema with two types", OBJECT("\"a\":{\"type\":[\"string\",\"null\"],\"x-mcp-header\":\"A\"}"),
     "not on a string, integer"},
    {"annotation on the root", "{\"type\":\"object\",\"x-mcp-header\":\"A\"}", "not reached through properties"},
    {"annotation inside items", OBJECT("\"a\":{\"type\":\"array\",\"items\":{" MIRROR("\"A\"") "}}"),
     "not reached through properties"},
    {"annotation inside anyOf", "{\"anyOf\":[" OBJECT("\"a\":{" MIRROR("\"A\"") "}") "]}",
     "not reached through properties"},
    {"annotation inside then", "{\"then\":" OBJECT("\"a\":{" MIRROR("\"A\"") "}") "}",
     "not reached through properties"},
    {"annotation inside $defs", "{\"$defs\":{\"a\":{" MIRROR("\"A\"") "}}}", "not reached through properties"},
    {"annotation inside patternProperties", "{\"patternProperties\":{\"a\":{" MIRROR("\"A\"") "}}}",
     "not reached through properties"},
    {"annotation on a property of array items", "{\"items\":" OBJECT("\"a\":{" MIRROR("\"A\"") "}") "}",
     "not reached through properties"},
    {"invalid JSON", "{", ""},
    {"an empty schema", "", ""},
};

static void header_annotations_are_checked(void **state)
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

/* Schemas with faults or of older drafts. The part of a schema that compiles accepts `fits` and rejects `misfits`. */
#define ONE(keywords) OBJECT("\"a\":{" keywords "},\"n\":{\"type\":\"integer\"}")
#define DRAFT(uri) "{\"$schema\":\"" uri "\",\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"
static const struct {
    const char *name, *schema, *why; /* why: words from the reason; NULL if the whole schema is checked */
    const char *fits, *misfits;      /* misfits: NULL if the schema is not checked */
} loose[] = {
    {"a dangling reference", ONE("\"$ref\":\"#/$defs/X\""), "$ref", "{\"a\":1}", "{\"n\":\"x\"}"},
    {"a remote reference", ONE("\"$ref\":\"https://x.example/y\""), "$ref", "{\"a\":1}", "{\"n\":\"x\"}"},
    {"type int", ONE("\"type\":\"int\""), "int", "{\"a\":1}", "{\"a\":\"x\"}"},
    {"type None", ONE("\"type\":\"None\""), "None", "{\"a\":null}", "{\"n\":\"x\"}"},
    {"an unknown type", ONE("\"type\":\"Money\""), "Money", "{\"a\":[1]}", "{\"n\":\"x\"}"},
    {"properties is null", "{\"type\":\"object\",\"properties\":null,\"required\":[\"a\"]}", NULL, "{\"a\":1}", "{}"},
    {"format is null", ONE("\"type\":\"string\",\"format\":null"), NULL, "{\"a\":\"x\"}", "{\"a\":1}"},
    {"a bad pattern", ONE("\"type\":\"string\",\"pattern\":\"(\""), "pattern", "{\"a\":\"x\"}", "{\"a\":1}"},
    {"several bad patterns", ONE("\"anyOf\":[{\"pattern\":\"(\"},{\"pattern\":\"[\"}],\"type\":\"string\""), "pattern",
     "{\"a\":\"x\"}", "{\"a\":1}"},
    {"a name with a slash", OBJECT("\"a/b~c\":{\"type\":\"string\",\"pattern\":\"(\"}"), "pattern", "{\"a/b~c\":\"x\"}",
     "{\"a/b~c\":1}"},
    {"minimum is a string", ONE("\"type\":\"integer\",\"minimum\":\"zero\""), "minimum", "{\"a\":-1}", "{\"a\":\"x\"}"},
    {"required is a boolean", ONE("\"type\":\"string\",\"required\":true"), "required", "{\"a\":\"x\"}", "{\"a\":1}"},
    {"an empty anyOf", ONE("\"anyOf\":[],\"type\":\"string\""), "anyOf", "{\"a\":\"x\"}", "{\"a\":1}"},
    {"unknown types inside oneOf", ONE("\"oneOf\":[{\"type\":\"int\"},{\"type\":\"str\"}]"), "int",
     "{\"a\":1,\"n\":\"x\"}", NULL},
    {"unknown type inside not", ONE("\"not\":{\"type\":\"Money\"}"), "Money", "{\"a\":1,\"n\":\"x\"}", NULL},
    {"a bad pattern of names in a closed object",
     ONE("\"patternProperties\":{\"(\":{}},\"additionalProperties\":false"), "patternProperties", "{\"a\":{\"x\":1}}",
     "{\"n\":\"x\"}"},
    {"draft-04", DRAFT("http://json-schema.org/draft-04/schema#"), NULL, "{\"n\":1}", "{\"n\":\"x\"}"},
    {"draft-06", DRAFT("http://json-schema.org/draft-06/schema#"), NULL, "{\"n\":1}", "{\"n\":\"x\"}"},
    {"2019-09", DRAFT("https://json-schema.org/draft/2019-09/schema"), NULL, "{\"n\":1}", "{\"n\":\"x\"}"},
    {"2020-12 by http", DRAFT("http://json-schema.org/draft/2020-12/schema"), NULL, "{\"n\":1}", "{\"n\":\"x\"}"},
    {"draft-04's limits", OBJECT("\"n\":{\"type\":\"integer\",\"minimum\":0,\"exclusiveMinimum\":true}"), NULL,
     "{\"n\":1}", "{\"n\":0}"},
};

static void arguments_are_checked_by_the_part_of_a_schema_that_compiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        struct mcp_input *input;
        struct buffer words = {0};
        if (wt__mcp_input_open(&input, wt__str(loose[i].schema), &err) < 0)
            fail_msg("%s: %s", loose[i].name, err.message);
        const char *why = wt__mcp_input_unchecked(input);
        if ((why != NULL) != (loose[i].why != NULL) || (why && !strstr(why, loose[i].why)))
            fail_msg("%s: %s", loose[i].name, why ? why : "the whole schema is checked");
        if (check_arguments_text(input, wt__str(loose[i].fits), &words) != 1)
            fail_msg("%s: %s is refused: %s", loose[i].name, loose[i].fits, words.ptr);
        if (loose[i].misfits && check_arguments_text(input, wt__str(loose[i].misfits), &words) != 0)
            fail_msg("%s: %s is accepted", loose[i].name, loose[i].misfits);
        wt__buffer_dispose(&words);
        wt__mcp_input_close(input);
    }
}

/* With too many faults the schema is not checked, and every object is accepted. */
static void a_schema_with_too_many_faults_is_not_checked(void **state)
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
    assert_int_equal(check_arguments_text(input, STR("{\"n\":\"x\"}"), &words), 1);
    assert_int_equal(repair_arguments_text(input, STR("{\"n\":\"1\"}"), &words), 0);
    wt__buffer_dispose(&schema);
    wt__buffer_dispose(&words);
    wt__mcp_input_close(input);
}

static void the_number_of_annotations_is_limited(void **state)
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

/* Finds a parameter in headers->context, which holds the only header as "NAME:VALUE", or is NULL. */
static bool find_test_param(const struct mcp_headers *headers, struct str name, struct str *value)
{
    const char *only = headers->context;
    const char *colon = only ? strchr(only, ':') : NULL;
    if (!colon || !wt__str_equal(name, (struct str){only, (size_t)(colon - only)}))
        return false;
    *value = wt__str(colon + 1);
    return true;
}

static const struct {
    const char *name, *arguments, *header; /* NULL if absent */
    bool right;
} mirrors[] = {
    {"no header and no argument", "{}", NULL, true},
    {"no arguments", NULL, NULL, true},
    {"a null", "{\"s\":null}", NULL, true},
    {"text", "{\"s\":\"us-west1\"}", "S:us-west1", true},
    {"no header", "{\"s\":\"x\"}", NULL, false},
    {"no argument", "{}", "S:x", false},
    {"a header for a null", "{\"s\":null}", "S:null", false},
    {"other text", "{\"s\":\"x\"}", "S:X", false},
    {"base64", "{\"s\":\"Hello, \\u4e16\\u754c\"}", "S:=?base64?SGVsbG8sIOS4lueVjA==?=", true},
    {"blanks in base64", "{\"s\":\" padded \"}", "S:=?base64?IHBhZGRlZCA=?=", true},
    {"the sentinel in base64", "{\"s\":\"=?base64?literal?=\"}", "S:=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", true},
    {"the sentinel as it is", "{\"s\":\"=?base64?literal?=\"}", "S:=?base64?literal?=", false},
    {"a sentinel in capitals", "{\"s\":\"=?BASE64?SGk=?=\"}", "S:=?BASE64?SGk=?=", true},
    {"half a sentinel", "{\"s\":\"=?base64?\"}", "S:=?base64?", true},
    {"an empty sentinel", "{\"s\":\"\"}",
     "S:=?base64?"
     "?=",
     true},
    {"base64 without padding", "{\"s\":\"Hello\"}", "S:=?base64?SGVsbG8?=", false},
    {"a byte outside ASCII", "{\"s\":\"\xc3\xa4\"}", "S:\xc3\xa4", false},
    {"a control character", "{\"s\":\"a\\u0001\"}", "S:a\x01", false},
    {"a number", "{\"i\":42}", "I:42", true},
    {"the same number", "{\"i\":42}", "I:42.0", true},
    {"a negative number", "{\"i\":-7}", "I:-7", true},
    {"another number", "{\"i\":42}", "I:43", false},
    {"a number and more", "{\"i\":42}", "I:42x", false},
    {"an empty number", "{\"i\":42}", "I:", false},
    {"a number written with a fraction", "{\"i\":42.0}", "I:42", true},
    {"a boolean", "{\"o\":{\"b\":true}}", "B:true", true},
    {"another boolean", "{\"o\":{\"b\":true}}", "B:false", false},
    {"a boolean in capitals", "{\"o\":{\"b\":true}}", "B:True", false},
    {"a missing path", "{\"o\":3}", NULL, true},
    {"an array", "{\"s\":[1]}", "S:[1]", false},
};

static void headers_must_match_arguments(void **state)
{
    static const char schema[] =
        OBJECT("\"s\":{" MIRROR("\"S\"") "},\"i\":{\"type\":\"integer\",\"x-mcp-header\":\"I\"},"
                                         "\"o\":" OBJECT("\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"}"));
    struct mcp_input *input;
    (void)state;
    assert_int_equal(wt__mcp_input_open(&input, STR(schema), &err), 0);
    for (size_t i = 0; i < sizeof mirrors / sizeof *mirrors; i++) {
        struct mcp_headers headers = {.param = find_test_param, .context = mirrors[i].header};
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

static void clients_repeat_arguments_in_headers(void **state)
{
    static const char schema[] = OBJECT("\"s\":{" MIRROR(
        "\"S\"") "},\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"},"
                 "\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"},\"o\":" OBJECT("\"d\":{" MIRROR("\"D\"") "}") "");
    static const struct {
        const char *arguments, *headers; /* NAME=VALUE, each followed by ; */
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
        json_auto_t *tree = parse_arguments_text(wt__str(repeated[i].arguments));
        int count = wt__mcp_input_write_headers(input, wt__str(repeated[i].arguments), tree, &arena, headers, &err);
        for (int k = 0; k < count; k++)
            wt__buffer_printf(&all, "%s=%s;", headers[k].name + strlen("Mcp-Param-"), headers[k].value);
        assert_string_equal(all.ptr ? all.ptr : "", repeated[i].headers);
        wt__buffer_dispose(&all);
        wt__arena_dispose(&arena);
    }
    wt__mcp_input_close(input);
}

/* ---------------------------------------------------------------- arguments */

static void violations_are_explained_to_the_model(void **state)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],"
        "\"additionalProperties\":false}";
    struct mcp_input *input;
    struct buffer words = {0};
    (void)state;
    assert_int_equal(wt__mcp_input_open(&input, STR(schema), &err), 0);
    assert_int_equal(check_arguments_text(input, STR("{\"n\":1}"), &words), 1);
    assert_int_equal(words.len, 0);
    assert_int_equal(check_arguments_text(input, STR("{\"n\":\"1\",\"m\":2}"), &words), 0);
    assert_non_null(strstr(words.ptr, "/n: expected an integer"));
    assert_non_null(strstr(words.ptr, "m\""));
    wt__buffer_clear(&words);
    struct buffer many = {0};
    wt__buffer_text(&many, "{\"n\":1");
    for (int i = 0; i < 2 * MCP_VIOLATIONS_TOLD; i++)
        wt__buffer_printf(&many, ",\"x%d\":1", i);
    wt__buffer_char(&many, '}');
    assert_int_equal(check_arguments_text(input, wt__buffer_view(&many), &words), 0);
    assert_non_null(strstr(words.ptr, "\nand 10 more"));
    wt__buffer_dispose(&many);
    wt__buffer_dispose(&words);
    wt__mcp_input_close(input);
}

/* OpenAPI's keyword "nullable".
 * fits: 1 if the arguments are valid as sent, else 0.
 * becomes: the arguments after the repair, or NULL if they are not repaired. */
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

static void nullable_allows_null(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nullables / sizeof *nullables; i++) {
        struct mcp_input *input;
        struct buffer words = {0}, repaired = {0};
        struct str arguments = wt__str(nullables[i].arguments);
        assert_int_equal(wt__mcp_input_open(&input, wt__str(nullables[i].schema), &err), 0);
        int fits = check_arguments_text(input, arguments, &words);
        int repairs = repair_arguments_text(input, arguments, &repaired);
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
        cmocka_unit_test(header_annotations_are_checked),
        cmocka_unit_test(arguments_are_checked_by_the_part_of_a_schema_that_compiles),
        cmocka_unit_test(a_schema_with_too_many_faults_is_not_checked),
        cmocka_unit_test(the_number_of_annotations_is_limited),
        cmocka_unit_test(headers_must_match_arguments),
        cmocka_unit_test(clients_repeat_arguments_in_headers),
        cmocka_unit_test(violations_are_explained_to_the_model),
        cmocka_unit_test(nullable_allows_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
