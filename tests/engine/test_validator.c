/* test_validator.c: tests wt_validator_open and wt_validate: violations, repairs and rejected input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "whichtool.h"

static const char weather[] =
    "{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}, \"unit\": {\"enum\": [\"celsius\", "
    "\"fahrenheit\"]}, \"days\": {\"type\": \"integer\", \"minimum\": 1, \"default\": 3}, \"from\": {\"format\": "
    "\"date\"}}, \"required\": [\"city\", \"days\"], \"additionalProperties\": false}";

static wt_validator *open_validator(const char *schema, int assert_formats)
{
    wt_validator_options options;
    wt_validator *validator;
    wt_error err;
    wt_validator_options_init(&options);
    options.assert_formats = assert_formats;
    if (wt_validator_open(&validator, schema, strlen(schema), &options, &err) < 0)
        fail_msg("%s", err.message);
    return validator;
}

static wt_validation *validate_text(const wt_validator *validator, const char *instance, int repair, size_t most)
{
    wt_validate_options options;
    wt_validation *validation;
    wt_error err;
    wt_validate_options_init(&options);
    options.repair = repair;
    options.max_violations = most;
    if (wt_validate(validator, instance, strlen(instance), &options, &validation, &err) < 0)
        fail_msg("%s", err.message);
    return validation;
}

static void violations_are_reported(void **state)
{
    (void)state;
    wt_validator *validator = open_validator(weather, 1);
    wt_validation *validation = validate_text(validator, "{\"city\": \"Oslo\", \"days\": 2}", 0, 0);
    assert_true(validation->valid);
    assert_int_equal(validation->violation_count, 0);
    assert_null(validation->repaired);
    wt_validation_free(validation);

    validation = validate_text(
        validator, "{\"citi\": \"Oslo\", \"unit\": \"celcius\", \"from\": \"tomorrow\", \"days\": 0}", 0, 0);
    static const char *const said[][4] = {
        {"", "/required", "required", "required argument \"city\" is missing"},
        {"/citi", "/additionalProperties", "additionalProperties",
         "unknown argument \"citi\" (did you mean \"city\"?)"},
        {"/unit", "/properties/unit/enum", "enum",
         "/unit: expected one of \"celsius\", \"fahrenheit\", got \"celcius\" (nearest: \"celsius\")"},
        {"/from", "/properties/from/format", "format", "/from: expected a date such as 2026-03-01, got \"tomorrow\""},
        {"/days", "/properties/days/minimum", "minimum", "/days: expected at least 1, got 0"},
    };
    assert_false(validation->valid);
    assert_int_equal(validation->violation_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(validation->violations[i]->pointer, said[i][0]);
        assert_string_equal(validation->violations[i]->schema_pointer, said[i][1]);
        assert_string_equal(validation->violations[i]->keyword, said[i][2]);
        assert_string_equal(validation->violations[i]->message, said[i][3]);
        assert_int_equal(validation->violations[i]->code, WT_EFORMAT);
    }
    wt_validator_close(validator); /* results outlive the validator */
    assert_string_equal(validation->violations[4]->message, said[4][3]);
    wt_validation_free(validation);
}

static void requested_repairs_are_made_and_listed(void **state)
{
    (void)state;
    wt_validator *validator = open_validator(weather, 0);
    wt_validation *validation = validate_text(validator, "{\"unit\":\"Celsius\",\"city\":7}", 1, 0);
    assert_true(validation->valid);
    assert_string_equal(validation->repaired, "{\"unit\":\"celsius\",\"city\":\"7\",\"days\":3}");
    static const char *const repairs[][3] = {
        {"/days", "", "3"}, {"/unit", "\"Celsius\"", "\"celsius\""}, {"/city", "7", "\"7\""}};
    assert_int_equal(validation->repair_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(validation->repairs[i]->pointer, repairs[i][0]);
        assert_string_equal(validation->repairs[i]->was, repairs[i][1]);
        assert_string_equal(validation->repairs[i]->now, repairs[i][2]);
        assert_true(validation->repairs[i]->why[0] != '\0');
    }
    wt_validation_free(validation);
    validation = validate_text(validator, "{\"unit\":\"Celsius\",\"city\":7}", 0, 0);
    assert_int_equal(validation->violation_count, 3);
    assert_int_equal(validation->repair_count, 0);
    assert_null(validation->repaired);
    wt_validation_free(validation);
    wt_validator_close(validator);
}

static void violations_are_limited_on_request(void **state)
{
    (void)state;
    wt_validator *validator = open_validator("{\"items\": {\"type\": \"null\"}}", 0);
    wt_validation *validation = validate_text(validator, "[1,2,3,4,5]", 0, 2);
    assert_int_equal(validation->violation_count, 2);
    assert_int_equal(validation->more, 3);
    assert_string_equal(validation->violations[1]->pointer, "/1");
    wt_validation_free(validation);
    char many[1024] = "[0";
    for (int i = 1; i < 300; i++)
        strncat(many, ",0", sizeof many - strlen(many) - 1);
    strncat(many, "]", sizeof many - strlen(many) - 1);
    validation = validate_text(validator, many, 0, 1000);
    assert_int_equal(validation->violation_count, WT_MAX_VIOLATIONS);
    assert_int_equal(validation->more, 300 - WT_MAX_VIOLATIONS);
    wt_validation_free(validation);
    wt_validator_close(validator);
}

static void undecided_validation_has_its_own_code(void **state)
{
    (void)state;
    wt_validator *validator = open_validator("{\"properties\": {\"a\": {\"pattern\": \"(a+)+$\"}}}", 0);
    wt_validation *validation =
        validate_text(validator, "{\"a\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"}", 1, 0);
    assert_false(validation->valid);
    assert_int_equal(validation->violation_count, 1);
    assert_int_equal(validation->violations[0]->code, WT_ETIMEOUT);
    assert_string_equal(validation->violations[0]->pointer, "/a");
    assert_string_equal(validation->violations[0]->schema_pointer, "/properties/a/pattern");
    wt_validation_free(validation);
    wt_validator_close(validator);
}

static void self_referencing_schema_is_undecided(void **state)
{
    (void)state;
    wt_validator *validator = open_validator("{\"$ref\": \"#\"}", 0);
    wt_validation *validation = validate_text(validator, "{\"a\": 1}", 1, 0);
    assert_false(validation->valid);
    assert_int_equal(validation->violation_count, 1);
    assert_int_equal(validation->violations[0]->code, WT_ETIMEOUT);
    assert_string_equal(validation->violations[0]->schema_pointer, "/$ref");
    assert_string_equal(validation->violations[0]->message,
                        "could not be checked: the schema refers to itself without end");
    assert_null(validation->repaired);
    wt_validation_free(validation);
    wt_validator_close(validator);
}

static void options_give_documents_and_dialect(void **state)
{
    static const char *const uris[] = {"https://e.test/n"}, *const texts[] = {"{\"type\": \"number\"}"};
    static const char schema[] = "{\"items\": [{\"$ref\": \"https://e.test/n\"}], \"minContains\": \"x\"}";
    wt_validator_options options;
    wt_validator *validator;
    wt_error err;
    (void)state;
    wt_validator_options_init(&options);
    options.dialect = "draft-07"; /* does not define minContains */
    options.document_count = 1;
    options.document_uris = uris;
    options.documents = texts;
    if (wt_validator_open(&validator, schema, strlen(schema), &options, &err) < 0)
        fail_msg("%s", err.message);
    wt_validation *validation = validate_text(validator, "[\"a\"]", 0, 0);
    assert_string_equal(validation->violations[0]->schema_pointer, "https://e.test/n#/type");
    wt_validation_free(validation);
    wt_validator_close(validator);
    wt_validator_close(NULL);
    wt_validation_free(NULL);
}

static void invalid_input_is_rejected(void **state)
{
    static const struct {
        const char *schema, *said;
        int code;
    } schemas[] = {
        {"{\"type\": ", "schema: not valid JSON: end of input or '}' expected near end of file", WT_EFORMAT},
        {"{\"a\": {\"type\": \"int\"}, \"items\": {\"type\": \"int\"}}",
         "schema /items: \"type\" must be null, boolean, integer, number, string, array or object: \"int\"",
         WT_EFORMAT},
    };
    wt_validator_options options;
    wt_validator *validator;
    wt_validation *validation;
    wt_error err;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(wt_validator_open(&validator, schemas[i].schema, strlen(schemas[i].schema), NULL, &err),
                         schemas[i].code);
        assert_null(validator);
        assert_int_equal(strncmp(err.message, schemas[i].said, 20), 0);
    }
    wt_validator_options_init(&options);
    options.dialect = "draft-04";
    assert_int_equal(wt_validator_open(&validator, "{}", 2, &options, &err), WT_EINVAL);
    assert_string_equal(err.message, "unknown dialect \"draft-04\"; use 2020-12 or draft-07");
    options.size = 0;
    assert_int_equal(wt_validator_open(&validator, "{}", 2, &options, &err), WT_EINVAL);
    wt_validator_options_init(&options);
    options.document_count = 1;
    assert_int_equal(wt_validator_open(&validator, "{}", 2, &options, &err), WT_EINVAL);
    assert_string_equal(err.message, "document 0 of the options has no URI or no JSON");
    const char *uri = "https://e.test/\xff", *document = "{";
    options.document_uris = &uri;
    options.documents = &document;
    assert_int_equal(wt_validator_open(&validator, "{}", 2, &options, &err), WT_EINVAL);
    assert_string_equal(err.message, "the URI of document 0 of the options is not valid UTF-8");
    uri = "https://e.test/a";
    assert_int_equal(wt_validator_open(&validator, "{}", 2, &options, &err), WT_EFORMAT);
    assert_int_equal(strncmp(err.message, "https://e.test/a: not valid JSON", 32), 0);

    validator = open_validator("{}", 0);
    assert_int_equal(wt_validate(validator, "{", 1, NULL, &validation, &err), WT_EFORMAT);
    assert_null(validation);
    assert_int_equal(strncmp(err.message, "instance: not valid JSON", 24), 0);
    size_t len = (size_t)WT_MAX_INSTANCE_BYTES + 1;
    char *large = malloc(len);
    assert_non_null(large);
    memset(large, ' ', len);
    assert_int_equal(wt_validate(validator, large, len, NULL, &validation, &err), WT_ETOOLONG);
    memset(large, '[', 100);
    assert_int_equal(wt_validate(validator, large, 100, NULL, &validation, &err), WT_ETOOLONG);
    free(large);
    wt_validator_close(validator);
}

static void *validate_often(void *validator)
{
    for (int i = 0; i < 500; i++) {
        wt_validation *validation = validate_text(validator, "{\"unit\": \"Celsius\", \"city\": \"x\"}", i % 2, 0);
        assert_int_equal(validation->valid, i % 2);
        wt_validation_free(validation);
    }
    return NULL;
}

static void threads_share_one_validator(void **state)
{
    pthread_t threads[4];
    (void)state;
    wt_validator *validator = open_validator(weather, 1);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, validate_often, validator), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    wt_validator_close(validator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(violations_are_reported),
        cmocka_unit_test(requested_repairs_are_made_and_listed),
        cmocka_unit_test(violations_are_limited_on_request),
        cmocka_unit_test(undecided_validation_has_its_own_code),
        cmocka_unit_test(self_referencing_schema_is_undecided),
        cmocka_unit_test(options_give_documents_and_dialect),
        cmocka_unit_test(invalid_input_is_rejected),
        cmocka_unit_test(threads_share_one_validator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
