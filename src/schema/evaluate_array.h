/* evaluate_array.h: evaluates the keywords of arrays. */
#ifndef WT_SCHEMA_EVALUATE_ARRAY_H
#define WT_SCHEMA_EVALUATE_ARRAY_H

#include "schema/evaluation.h"

bool wt__evaluate_array(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                        struct evaluated *seen);
/* Evaluates "unevaluatedItems", after all other keywords. seen: items evaluated by those keywords. */
bool wt__evaluate_rest_of_array(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                struct evaluated *seen);

#endif
