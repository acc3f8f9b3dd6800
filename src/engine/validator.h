/* validator.h: what the server and the gateway do with a wt_validator beyond include/whichtool/validator.h. */
#ifndef WT_ENGINE_VALIDATOR_H
#define WT_ENGINE_VALIDATOR_H

#include "base/buffer.h"
#include "whichtool/validator.h"

/* Repairs an instance without loss (schema/coerce.h, which says what wraps and the result are). */
int wt__validator_coerce(const wt_validator *validator, struct str instance, bool wraps, struct buffer *out);

#endif
