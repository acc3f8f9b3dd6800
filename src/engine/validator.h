/* validator.h: what the server and the gateway do with a wt_validator beyond include/whichtool/validator.h. */
#ifndef WT_ENGINE_VALIDATOR_H
#define WT_ENGINE_VALIDATOR_H

#include "base/buffer.h"
#include "base/json.h"
#include "schema/lenient.h"
#include "whichtool/validator.h"

/* Compiles a schema that wt_validator_open refuses, with what can be read of it (schema/lenient.h). Errors: also
 * WT_ETOOLONG. */
int wt__validator_open_lenient(wt_validator **out, struct str schema, struct schema_drops *drops, wt_error *err);

/* The same as wt_validate, of a value that is parsed already, whose strings may have NUL. The value is borrowed. */
int wt__validate_value(const wt_validator *validator, const json_t *instance, const wt_validate_options *options,
                       wt_validation **out, wt_error *err);

/* Repairs an instance without loss (schema/coerce.h, which says what wraps and the result are). */
int wt__validator_coerce(const wt_validator *validator, struct str instance, bool wraps, struct buffer *out);

#endif
