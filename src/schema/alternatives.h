/* alternatives.h: evaluation of "anyOf" and "oneOf". If no alternative fits, only the violations of the nearest
 * alternative are reported. The author meant one alternative, so a list of every violation of all of them would not
 * help. */
#ifndef WT_SCHEMA_ALTERNATIVES_H
#define WT_SCHEMA_ALTERNATIVES_H

#include "schema/evaluation.h"

bool wt__evaluate_any_of(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                         struct evaluated *seen);
bool wt__evaluate_one_of(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                         struct evaluated *seen);

#endif
