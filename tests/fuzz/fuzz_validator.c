/* Fuzzes the validator with a schema and an instance, separated by the first line "---". If the schema compiles, the
 * instance is validated with and without repairs. A repaired instance reported as valid passes a second
 * validation. Coercion does not change a valid instance. A schema is opened leniently if it does not compile. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/validator.h"
#include "whichtool.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_validation(const wt_validation *validation)
{
    require(validation->valid == (validation->violation_count == 0));
    require((validation->repaired != NULL) == (validation->repair_count > 0));
    for (size_t i = 0; i < validation->violation_count; i++) {
        const wt_violation *v = validation->violations[i];
        require(v->message[0] != '\0' && v->pointer && v->schema_pointer && v->keyword);
        require(v->code == WT_EFORMAT || v->code == WT_ETIMEOUT);
        for (const char *at = v->message; *at != '\0'; at++)
            require((unsigned char)*at >= ' ');
    }
}

static void validate_and_check(const wt_validator *validator, const char *instance, size_t len, int repair)
{
    wt_validate_options options;
    wt_validation *validation, *again;
    wt_error err;
    wt_validate_options_init(&options);
    options.repair = repair;
    if (wt_validate(validator, instance, len, &options, &validation, &err) < 0)
        return;
    check_validation(validation);
    if (validation->repaired && validation->valid) { /* the repaired instance is valid */
        require(wt_validate(validator, validation->repaired, strlen(validation->repaired), NULL, &again, &err) == 0);
        require(again->valid);
        wt_validation_free(again);
    }
    wt_validation_free(validation);
}

static int is_valid_instance(const wt_validator *validator, struct str instance)
{
    wt_validation *validation;
    json_t *tree = NULL;
    int valid = 0;
    if (wt__json_parse_with_nul(&tree, instance.ptr, instance.len, NULL) == 0 &&
        wt__validate_value(validator, tree, NULL, &validation, NULL) == 0) {
        valid = validation->valid;
        wt_validation_free(validation);
    }
    json_decref(tree);
    return valid;
}

static void coerce(const wt_validator *validator, struct str instance, int wraps)
{
    struct buffer repaired = {0};
    json_auto_t *value = NULL;
    if (wt__json_parse_with_nul(&value, instance.ptr, instance.len, NULL) < 0)
        return;
    int rc = wt__validator_coerce(validator, &value, instance, wraps, &repaired);
    require(rc == WT_ENOMEM || rc == 0 || rc == 1);
    require(rc == 1 ? is_valid_instance(validator, wt__buffer_view(&repaired)) : repaired.len == 0);
    require(rc != 1 || !is_valid_instance(validator, instance));
    wt__buffer_dispose(&repaired);
}

/* Compiles a rejected schema without its faulty keywords, and validates the instance if that succeeds. */
static void open_leniently(struct str schema, const char *instance, size_t len)
{
    wt_validator *validator;
    struct schema_drops drops;
    wt_error err = {0};
    int rc = wt__validator_open_lenient(&validator, schema, &drops, &err);
    require(rc == 0 || (rc == err.code && err.message[0] != '\0' && !validator));
    require(drops.count <= SCHEMA_DROPS && (drops.count > 0) == (drops.first.code != 0));
    if (rc < 0)
        return;
    validate_and_check(validator, instance, len, 0);
    coerce(validator, (struct str){instance, len}, 1);
    wt_validator_close(validator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n---\n";
    const char *text = (const char *)data, *cut = memmem(text, size, mark, sizeof mark - 1);
    size_t len = cut ? (size_t)(cut - text) : size;
    const char *instance = cut ? cut + sizeof mark - 1 : "";
    size_t rest = cut ? size - len - (sizeof mark - 1) : 0;
    wt_validator_options options;
    wt_validator *validator;
    wt_error err = {0};
    wt_validator_options_init(&options);
    options.assert_formats = 1;
    int rc = wt_validator_open(&validator, text, len, &options, &err);
    require(rc == 0 || (rc == err.code && err.message[0] != '\0' && !validator));
    if (rc < 0) {
        open_leniently((struct str){text, len}, instance, rest);
        return 0;
    }
    validate_and_check(validator, instance, rest, 0);
    validate_and_check(validator, instance, rest, 1);
    coerce(validator, (struct str){instance, rest}, 0);
    coerce(validator, (struct str){instance, rest}, 1);
    wt_validator_close(validator);
    return 0;
}
