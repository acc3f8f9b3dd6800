/* alternatives.h: "anyOf" and "oneOf". Where no alternative fits, what is told is what keeps the value from the nearest
 * one: whoever wrote the value meant one of them, and a list of all that is wrong with all of them helps nobody. */
#ifndef WT_SCHEMA_ALTERNATIVES_H
#define WT_SCHEMA_ALTERNATIVES_H

#include "schema/evaluation.h"

bool wt__evaluate_any_of(struct evaluation *e, const struct subschema *s, const struct place *at,
                         struct evaluated *seen);
bool wt__evaluate_one_of(struct evaluation *e, const struct subschema *s, const struct place *at,
                         struct evaluated *seen);

#endif
