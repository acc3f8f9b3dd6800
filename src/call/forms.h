/* forms.h: converts literals to the form described by a parameter: "in the format 'YYYY-MM-DD'", "such as 'San
 * Francisco, CA'", "the IATA code". */
#ifndef WT_CALL_FORMS_H
#define WT_CALL_FORMS_H

#include "call/literals.h"
#include "call/parameters.h"

/* Sets *out to the literal's text in the parameter's form; it lives as long as the arena or the literal. Returns 1, 0
 * if the literal cannot be converted, or WT_ENOMEM. */
int wt__convert_literal(struct str *out, const struct parameter *parameter, const struct literal *literal,
                        struct arena *arena);

/* True if the literal is a code with the parameter's number of letters, which must be above 0. */
bool wt__has_letters(const struct parameter *parameter, const struct literal *literal);

#endif
