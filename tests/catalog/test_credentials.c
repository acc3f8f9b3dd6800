/* Tests the detection of credentials by name, place and description. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/json.h"
#include "catalog/credentials.h"

static const struct {
    const char *tool, *place, *name, *schema;
    bool data; /* see struct credential_argument */
    bool credential;
} arguments[] = {
    /* decided by the name */
    {"get_weather", "", "api_key", "{}", false, true},
    {"get_weather", "", "apiKey", "{\"type\":\"string\"}", false, true},
    {"get_weather", "query", "API-KEY", "{}", false, true},
    {"get_weather", "query", "access_token", "{}", false, true},
    {"get_report", "", "clientSecret", "{\"type\":\"STRING\"}", false, true},
    {"get_report", "", "x_rapidapi_key", "{}", false, true},
    {"get_report", "", "x_funtranslations_api_secret", "{}", false, true},
    /* longer names: credentials of other services */
    {"create_transport", "body", "pushyApiKey", "{}", false, false},
    {"create_cart", "", "etsy_access_token", "{}", false, false},
    /* settings, not text */
    {"search", "query", "append_api_key", "{\"type\":\"boolean\"}", false, false},
    {"create_route", "body", "apiKey", "{\"type\":\"boolean\"}", false, false},
    {"create_route", "", "access_token", "{\"type\":\"dict\"}", false, false},
    {"create_route", "", "access_token", "{\"properties\":{}}", false, false},
    /* ambiguous names: decided by the description */
    {"channels_list", "query", "token", "{\"description\":\"Authentication token. Requires scope: `a`\"}", false, true},
    {"geocode", "", "key", "{\"description\":\"The API key you got when registering\"}", false, true},
    {"departures", "query", "signature", "{\"description\":\"Authentication signature for request\"}", false, true},
    {"channels_list", "query", "token", "{}", false, false},
    {"verify_captcha", "", "token", "{\"description\":\"What the captcha answered\"}", false, false},
    {"get_value", "", "key", "{\"description\":\"The key to look up\"}", false, false},
    {"upload", "", "key", "{\"description\":\"S3 object key\"}", false, false},
    {"get_quote", "", "token", "{\"description\":\"Symbol of the token\"}", false, false},
    {"create_server", "", "ssh_key", "{\"description\":\"Public key for authentication\"}", false, false},
    /* other meanings: page tokens, idempotency tokens, passwords to set, keywords */
    {"list", "query", "page_token", "{\"description\":\"Token of the next page\"}", false, false},
    {"list", "", "next_token", "{}", false, false},
    {"list", "", "continuationToken", "{}", false, false},
    {"pay", "", "idempotency_key", "{}", false, false},
    {"create_user", "", "password", "{}", false, false},
    {"list", "", "keyword", "{\"description\":\"api key\"}", false, false},
    /* subject of the tool */
    {"revoke_access_token", "", "access_token", "{}", false, false},
    {"apps/check-token", "body", "access_token", "{}", false, false},
    {"validateApiKey", "", "apiKey", "{}", false, false},
    {"rotate_keys", "", "api_key", "{}", false, false},
    {"oauth_exchange", "", "client_secret", "{}", false, false},
    {"add_mail_server", "", "api_key", "{}", false, false},
    /* headers and cookies */
    {"list", "header", "token", "{}", false, true},
    {"list", "header", "X-Postmark-Server-Token", "{}", false, true},
    {"list", "header", "App-Key", "{}", false, true},
    {"revoke_token", "header", "x-auth-token", "{}", false, true},
    {"list", "cookie", "connect.sid", "{}", false, true},
    {"list", "header", "Idempotency-Key", "{}", false, false},
    {"list", "header", "X-Amzn-Client-Token", "{}", false, false},
    {"put", "header", "x-amz-server-side-encryption-customer-key", "{}", false, false},
    {"list", "header", "X-Request-Id", "{}", false, false},
    {"list", "cookie", "locale", "{}", false, false},
    /* a path needs all its parameters */
    {"revoke_grant", "path", "access_token", "{}", false, false},
    /* body of a service that declares its authentication */
    {"update_hook", "body", "api_key", "{}", true, false},
    {"emoji_add", "body", "token", "{\"description\":\"Authentication token. Requires scope: `a`\"}", true, true},
    /* names: empty, not in ASCII, too long */
    {"list", "", "", "{}", false, false},
    {"list", "", "\xd7\x9e\xd7\xa4\xd7\xaa\xd7\x97", "{}", false, false},
    {"list", "", "a_very_long_name_of_more_than_sixty_three_letters_that_ends_in_what_would_be_one_api_key", "{}",
     false, false},
};

static void credentials_are_detected_by_name_place_and_description(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        json_t *schema;
        assert_int_equal(wt__json_parse(&schema, arguments[i].schema, strlen(arguments[i].schema), NULL), 0);
        struct credential_argument argument = {wt__str(arguments[i].tool), wt__str(arguments[i].place),
                                               wt__str(arguments[i].name), schema, arguments[i].data};
        if (wt__is_credential(&argument) != arguments[i].credential)
            fail_msg("%s(%s %s) %s", arguments[i].tool, arguments[i].place, arguments[i].name, arguments[i].schema);
        argument.schema = NULL;
        wt__is_credential(&argument);
        json_decref(schema);
    }
}

static const struct {
    const char *in, *out;
} schemas[] = {
    {"{\"properties\":{\"q\":{},\"api_key\":{}},\"required\":[\"q\",\"api_key\"]}",
     "{\"properties\":{\"q\":{}},\"required\":[\"q\"]}"},
    {"{\"properties\":{\"api_key\":{}},\"required\":[\"api_key\"]}", "{\"properties\":{}}"},
    {"{\"properties\":{\"apiKey\":{\"type\":\"string\",\"required\":true},\"access_token\":true}}",
     "{\"properties\":{}}"},
    {"{\"properties\":{\"q\":{\"properties\":{\"api_key\":{}}}},\"required\":[7]}",
     "{\"properties\":{\"q\":{\"properties\":{\"api_key\":{}}}},\"required\":[7]}"},
    {"{\"properties\":[\"api_key\"],\"required\":\"api_key\"}",
     "{\"properties\":[\"api_key\"],\"required\":\"api_key\"}"},
    {"{}", "{}"},
};

static void credentials_are_removed_from_schemas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        json_t *schema;
        struct buffer text = {0};
        assert_int_equal(wt__json_parse(&schema, schemas[i].in, strlen(schemas[i].in), NULL), 0);
        wt__leave_out_credentials(schema, STR("search"));
        assert_int_equal(wt__json_write(&text, schema), 0);
        assert_string_equal(text.ptr, schemas[i].out);
        wt__buffer_dispose(&text);
        json_decref(schema);
    }
    wt__leave_out_credentials(NULL, STR("search"));
}

/* Recorded calls lose more arguments than schemas do: an argument outside the tool's schema is removed if its name
 * alone suggests a credential. */
static void credentials_are_removed_from_recorded_calls(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *in, *out;
        bool may;
    } rows[] = {
        {"", "{\"city\":\"Oslo\",\"n\":1}", "{\"city\":\"Oslo\",\"n\":1}", false},
        {"", "{}", "{}", false},
        {"", "{\"city\":\"Oslo\",\"api_key\":\"s\",\"X-Gitlab-Token\":\"s\"}", "{\"city\":\"Oslo\"}", true},
        {"", "{\"password\":\"s\",\"Authorization\":\"s\",\"token\":5,\"auth\":{\"user\":\"s\"}}", "{}", true},
        {"", "{\"page_token\":\"p\",\"monkeys\":2}", "{\"page_token\":\"p\",\"monkeys\":2}", false},
        {"", "{\"api\\u005fkey\":\"s\"}", "{}", true},
        {"", "{\"q\":{\"api_key\":\"nested is not looked at\"}}", "{\"q\":{\"api_key\":\"nested is not looked at\"}}",
         false},
        /* an argument in the tool's schema is kept unless wt__is_credential is true for it; in the last two rows, the
         * schema has no valid properties */
        {"{\"properties\":{\"key\":{\"description\":\"The key to look up\"}}}", "{\"key\":\"a\",\"token\":\"s\"}",
         "{\"key\":\"a\"}", true},
        {"{\"properties\":{\"key\":{\"description\":\"Your API key\"}}}", "{\"key\":\"s\"}", "{}", true},
        {"{\"properties\":{\"api_key\":{\"type\":\"string\"}}}", "{\"api_key\":\"s\"}", "{}", true},
        {"{\"properties\":{\"api_key\":{\"type\":\"boolean\"}}}", "{\"api_key\":true}", "{\"api_key\":true}", true},
        {"{\"properties\":[1]}", "{\"api_key\":true}", "{}", true},
        {"[]", "{\"api_key\":true,\"q\":1}", "{\"q\":1}", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *schema = NULL, *given;
        struct buffer text = {0};
        if (*rows[i].schema)
            assert_int_equal(wt__json_parse(&schema, rows[i].schema, strlen(rows[i].schema), NULL), 0);
        assert_int_equal(wt__json_parse(&given, rows[i].in, strlen(rows[i].in), NULL), 0);
        if (wt__may_have_credentials(given) != rows[i].may)
            fail_msg("%s", rows[i].in);
        wt__drop_credentials(given, STR("search"), schema);
        assert_int_equal(wt__json_write(&text, given), 0);
        assert_string_equal(text.ptr, rows[i].out);
        wt__buffer_dispose(&text);
        json_decref(schema);
        json_decref(given);
    }
    /* the subject of the tool */
    json_t *schema = json_pack("{s:{s:{}}}", "properties", "access_token");
    json_t *given = json_pack("{s:s}", "access_token", "t");
    wt__drop_credentials(given, STR("revoke_token"), schema);
    assert_int_equal(json_object_size(given), 1);
    json_decref(schema);
    json_decref(given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(credentials_are_detected_by_name_place_and_description),
                                       cmocka_unit_test(credentials_are_removed_from_schemas),
                                       cmocka_unit_test(credentials_are_removed_from_recorded_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
