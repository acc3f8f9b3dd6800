/* validation.h: validates arguments against the schema of their tool. If the schema is invalid, or exceeds the limits
 * of the validator, validation is skipped and the reason is reported. */
#ifndef WT_CALL_VALIDATION_H
#define WT_CALL_VALIDATION_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "call/arguments.h"
#include "whichtool.h"

struct call_checker {
    wt_validator *validator; /* NULL if the schema is unusable; `why` has the reason */
    wt_error why;
};

/* Opens a checker; end with wt__call_checker_close. 0 or WT_ENOMEM. */
int wt__call_checker_open(struct call_checker *out, const char *schema, wt_error *err);
void wt__call_checker_close(struct call_checker *checker);

/* Drops unsure arguments that do not fit the schema, as useless proposals. 0 or WT_ENOMEM. */
int wt__call_reject_unfit(const struct call_checker *checker, const struct parameters *parameters,
                          struct call_arguments *arguments, wt_error *err);

/* Implements call_validation.validate of call/generation.h; self: a checker with a validator. */
int wt__call_check(void *self, const json_t *arguments, struct arena *arena, struct str *fault, wt_error *err);

#endif
