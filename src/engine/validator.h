/* validator.h: internal functions of wt_validator, for the server and the gateway. */
#ifndef WT_ENGINE_VALIDATOR_H
#define WT_ENGINE_VALIDATOR_H

#include "base/buffer.h"
#include "base/json.h"
#include "schema/lenient.h"
#include "whichtool/validator.h"

/* Works like wt_validator_open, but rewrites or drops invalid parts of the schema (schema/lenient.h). *drops: the
 * dropped parts. Errors: those of wt_validator_open, if the schema cannot be compiled even so. */
int wt__validator_open_lenient(wt_validator **out, struct str schema, struct schema_drops *drops, wt_error *err);

/* Works like wt_validate on a parsed value, whose strings may contain NUL. The value is borrowed. */
int wt__validate_value(const wt_validator *validator, const json_t *instance, const wt_validate_options *options,
                       wt_validation **out, wt_error *err);

/* Repairs an instance without loss. The parameters and the result are those of wt__coerce (schema/coerce.h). */
int wt__validator_coerce(const wt_validator *validator, json_t **value, struct str instance, bool wraps,
                         struct buffer *out);

#endif
