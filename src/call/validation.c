/* validation.c: see validation.h. */
#include "call/validation.h"

#include "base/error.h"

enum { FAULTS = 4 /* violations reported at once */ };

int wt__call_checker_open(struct call_checker *out, const char *schema, wt_error *err)
{
    wt_validator_options options;
    wt_validator_options_init(&options);
    options.assert_formats = 1;
    *out = (struct call_checker){0};
    int rc = wt_validator_open(&out->validator, schema, strlen(schema), &options, &out->why);
    if (rc < 0)
        wt__fail_context(&out->why, rc, "the tool's schema");
    return rc == WT_ENOMEM ? wt__fail_nomem(err) : 0;
}

void wt__call_checker_close(struct call_checker *checker)
{
    wt_validator_close(checker->validator);
    checker->validator = NULL;
}

/* True if a violation of the wrong form is at this member, or inside it. */
static bool has_wrong_form(const wt_validation *validation, struct str pointer)
{
    for (size_t i = 0; i < validation->violation_count; i++) {
        struct str at = wt__str(validation->violations[i]->pointer);
        bool within = wt__str_starts(at, pointer) && (at.len == pointer.len || at.ptr[pointer.len] == '/');
        if (within && validation->violations[i]->code == WT_EFORMAT)
            return true;
    }
    return false;
}

static int reject_unfit_arguments(const wt_validation *validation, const struct parameters *parameters,
                                  struct call_arguments *arguments)
{
    struct buffer pointer = {0};
    for (size_t p = 0; p < arguments->len && !pointer.failed; p++) {
        wt__buffer_clear(&pointer);
        wt__json_pointer_step(&pointer, wt__str(parameters->items[p].name));
        if (arguments->items[p].state == ARGUMENT_UNSURE && has_wrong_form(validation, wt__buffer_view(&pointer)))
            wt__call_argument_reject(&arguments->items[p], &parameters->items[p]);
    }
    int rc = pointer.failed ? WT_ENOMEM : 0;
    wt__buffer_dispose(&pointer);
    return rc;
}

int wt__call_reject_unfit(const struct call_checker *checker, const struct parameters *parameters,
                          struct call_arguments *arguments, wt_error *err)
{
    struct buffer json = {0};
    wt_validation *validation = NULL;
    json_t *unsure = json_object();
    int rc = unsure ? 0 : WT_ENOMEM;
    for (size_t p = 0; p < arguments->len && rc == 0; p++)
        if (arguments->items[p].state == ARGUMENT_UNSURE && arguments->items[p].value &&
            json_object_set(unsure, parameters->items[p].name, arguments->items[p].value) < 0)
            rc = WT_ENOMEM;
    if (rc == 0 && checker->validator && json_object_size(unsure) > 0) {
        rc = wt__json_write_typed(&json, unsure);
        if (rc == 0 && (rc = wt_validate(checker->validator, json.ptr, json.len, NULL, &validation, NULL)) == 0)
            rc = reject_unfit_arguments(validation, parameters, arguments);
    }
    wt_validation_free(validation);
    wt__buffer_dispose(&json);
    json_decref(unsure);
    return rc == WT_ENOMEM ? wt__fail_nomem(err) : 0;
}

/* Reports a value too long or too deep in the same way as other violations. */
int wt__call_check(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err)
{
    const struct call_checker *checker = self;
    struct buffer json = {0}, text = {0};
    wt_validation *validation = NULL;
    wt_error why;
    *fault = (struct str){0};
    int rc = wt__json_write_typed(&json, arguments);
    if (rc == 0)
        rc = wt_validate(checker->validator, json.ptr, json.len, NULL, &validation, &why);
    wt__buffer_dispose(&json);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc < 0)
        wt__buffer_text(&text, why.message);
    for (size_t i = 0; rc == 0 && i < validation->violation_count && i < FAULTS; i++)
        wt__buffer_printf(&text, "%s%s", i > 0 ? "; " : "", validation->violations[i]->message);
    wt_validation_free(validation);
    *fault = (struct str){text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    wt__buffer_dispose(&text);
    return fault->ptr ? 0 : wt__fail_nomem(err);
}
