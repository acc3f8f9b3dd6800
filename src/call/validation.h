/* validation.h: arguments held to the schema of their tool. A schema that is wrong, or out of the validator's
 * bounds, is the tool's fault: nothing is validated then, and why is told. */
#ifndef WT_CALL_VALIDATION_H
#define WT_CALL_VALIDATION_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "call/arguments.h"
#include "whichtool.h"

struct call_checker {
    wt_validator *validator; /* NULL: the schema cannot be validated against, and `why` says so */
    wt_error why;
};

/* WT_ENOMEM, or 0. Ends with wt__call_checker_close. */
int wt__call_checker_open(struct call_checker *out, const char *schema, wt_error *err);
void wt__call_checker_close(struct call_checker *checker);

/* Takes away what may be an argument but does not fit the tool's schema: it is no proposal to ask about. 0 or
 * WT_ENOMEM. */
int wt__call_refuse_unfit(const struct call_checker *checker, const struct parameters *parameters,
                          struct call_arguments *arguments, wt_error *err);

/* call_validation.validate of call/generation.h; self: a checker with a validator. */
int wt__call_check(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err);

#endif
