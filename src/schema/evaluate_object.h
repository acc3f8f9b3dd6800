/* evaluate_object.h: keywords of objects. */
#ifndef WT_SCHEMA_EVALUATE_OBJECT_H
#define WT_SCHEMA_EVALUATE_OBJECT_H

#include "schema/evaluation.h"

bool wt__evaluate_object(struct evaluation *e, const struct subschema *s, const struct place *at,
                         struct evaluated *seen);
/* "unevaluatedProperties", after all other keywords; seen: what those evaluated. */
bool wt__evaluate_rest_of_object(struct evaluation *e, const struct subschema *s, const struct place *at,
                                 struct evaluated *seen);

#endif
