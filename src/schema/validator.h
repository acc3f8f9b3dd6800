/* validator.h: JSON Schema 2020-12 and draft-07. A schema is compiled once; instances can then be validated from any
 * number of threads. See docs/validator.md for the supported features and limits. */
#ifndef WT_SCHEMA_VALIDATOR_H
#define WT_SCHEMA_VALIDATOR_H

#include "schema/compile.h"
#include "schema/evaluate.h"
#include "schema/messages.h"
#include "schema/metaschemas.h"
#include "schema/repair.h"

/* Checks if the instance fits. Success needs no allocation with most schemas. */
enum verdict wt__validator_check(const struct compiled *compiled, const json_t *instance);

struct validation {
    bool fits;
    struct violations violations; /* sorted; if undecided, the last one is the reason */
    struct repairs repairs;
    struct arena arena;
    json_t *names; /* names borrowed by the violations */
};

/* Validates the instance and collects the violations, after repairs if requested. The instance must live as long as
 * `validation`. Returns 0, even if the instance does not fit or is undecided, or WT_ENOMEM. */
int wt__validator_run(struct validation *validation, const struct compiled *compiled, const json_t *instance,
                      bool repair, wt_error *err);
void wt__validation_dispose(struct validation *validation);

#endif
