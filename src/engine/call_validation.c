/* call_validation.c: see call_validation.h. */
#include "engine/call_validation.h"

#include "base/error.h"

enum { FAULTS = 4 /* that are told at once */ };

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

/* A value that is too long or too deep is as wrong as one that does not fit, and the same sentence says so. */
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
