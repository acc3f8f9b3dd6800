/* evaluate_value.h: keywords that look at a value without going into it. */
#ifndef WT_SCHEMA_EVALUATE_VALUE_H
#define WT_SCHEMA_EVALUATE_VALUE_H

#include "schema/evaluation.h"

/* "enum" and "const". */
bool wt__evaluate_choice(struct evaluation *e, const struct subschema *s, const struct place *at);
bool wt__evaluate_number(struct evaluation *e, const struct subschema *s, const struct place *at);
bool wt__evaluate_string(struct evaluation *e, const struct subschema *s, const struct place *at);

#endif
