/* evaluate_object.h: evaluates the keywords of objects. */
#ifndef WT_SCHEMA_EVALUATE_OBJECT_H
#define WT_SCHEMA_EVALUATE_OBJECT_H

#include "schema/evaluation.h"

bool wt__evaluate_object(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                         struct evaluated *seen);
/* Evaluates "unevaluatedProperties", after all other keywords. seen: members evaluated by those keywords. */
bool wt__evaluate_rest_of_object(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                 struct evaluated *seen);

#endif
