/* evaluate_value.h: evaluates keywords that do not visit the contents of a value. */
#ifndef WT_SCHEMA_EVALUATE_VALUE_H
#define WT_SCHEMA_EVALUATE_VALUE_H

#include "schema/evaluation.h"

/* Evaluates "enum" and "const". */
bool wt__evaluate_choice(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at);
bool wt__evaluate_number(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at);
bool wt__evaluate_string(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at);

#endif
