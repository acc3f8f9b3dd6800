/* evaluate.h: whether an instance fits a compiled schema, and what it breaks.
 *
 * Without a list of violations the first keyword that fails ends it, and what it needs is on the stack. With one, every
 * keyword is tried whose failure is news: nothing is said of a value whose type is wrong but that. */
#ifndef WT_SCHEMA_EVALUATE_H
#define WT_SCHEMA_EVALUATE_H

#include "schema/evaluation.h"

enum verdict { FITS, FITS_NOT, UNDECIDED, OUT_OF_MEMORY };

/* e: all zero but arena, most_steps and what was spent already. An undecided evaluation says why in e->why. */
enum verdict wt__evaluate(struct evaluation *e, const struct compiled *compiled, const json_t *instance);

/* The same, and what the instance breaks, sorted: at least one violation where it fits not, none where it fits. */
enum verdict wt__evaluate_noting(struct evaluation *e, const struct compiled *compiled, const json_t *instance,
                                 struct violations *found);

/* The same of one subschema and a value by itself. */
enum verdict wt__evaluate_subschema(struct evaluation *e, const struct subschema *s, const json_t *value);

void wt__evaluation_dispose(struct evaluation *e);

#endif
