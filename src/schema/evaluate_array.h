/* evaluate_array.h: keywords of arrays. */
#ifndef WT_SCHEMA_EVALUATE_ARRAY_H
#define WT_SCHEMA_EVALUATE_ARRAY_H

#include "schema/evaluation.h"

bool wt__evaluate_array(struct evaluation *e, const struct subschema *s, const struct place *at,
                        struct evaluated *seen);
/* "unevaluatedItems", after all other keywords; seen: what those evaluated. */
bool wt__evaluate_rest_of_array(struct evaluation *e, const struct subschema *s, const struct place *at,
                                struct evaluated *seen);

#endif
