/* validator.h: JSON Schema, 2020-12 and draft-07: a schema compiled once, instances validated against it often and from
 * any number of threads. docs/validator.md says what is supported and what is limited. */
#ifndef WT_SCHEMA_VALIDATOR_H
#define WT_SCHEMA_VALIDATOR_H

#include "schema/compile.h"
#include "schema/evaluate.h"
#include "schema/messages.h"
#include "schema/metaschemas.h"
#include "schema/repair.h"

/* Whether the instance fits. Nothing is allocated for most schemas that it fits. */
enum verdict wt__validator_check(const struct compiled *compiled, const json_t *instance);

struct validation {
    bool fits;
    struct violations violations; /* sorted; where it could not be decided, the last one says why */
    struct repairs repairs;
    struct arena arena;
    json_t *names; /* what violations borrow */
};

/* What the instance breaks, after the repairs that were asked for. The instance is borrowed for as long as validation
 * is used. Returns 0, also where it fits not or could not be decided, or WT_ENOMEM. */
int wt__validator_run(struct validation *validation, const struct compiled *compiled, const json_t *instance,
                      bool repair, wt_error *err);
void wt__validation_dispose(struct validation *validation);

#endif
