/* evaluate.h: validates an instance against a compiled schema and collects its violations.
 *
 * Without a list of violations, evaluation ends at the first failed keyword and all its state is on the stack. With a
 * list, evaluation continues with every keyword whose failure is useful to the reader. A value of the wrong type, for
 * example, gets only that one violation. */
#ifndef WT_SCHEMA_EVALUATE_H
#define WT_SCHEMA_EVALUATE_H

#include "schema/evaluation.h"

enum verdict { FITS, FITS_NOT, UNDECIDED, OUT_OF_MEMORY };

/* Evaluates an instance. e: zeroed except arena, most_steps and the steps already spent. If the result is UNDECIDED,
 * e->why contains the reason. */
enum verdict wt__evaluate(struct schema_evaluation *e, const struct compiled *compiled, const json_t *instance);

/* Same as wt__evaluate, and collects the violations in sorted order. Adds at least one violation if the instance does
 * not fit, and zero if it fits. */
enum verdict wt__evaluate_collecting(struct schema_evaluation *e, const struct compiled *compiled,
                                     const json_t *instance, struct violations *found);

/* Same as wt__evaluate, for a single subschema and value. */
enum verdict wt__evaluate_subschema(struct schema_evaluation *e, const struct subschema *s, const json_t *value);

void wt__evaluation_dispose(struct schema_evaluation *e);

#endif
