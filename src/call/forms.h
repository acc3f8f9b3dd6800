/* forms.h: in which form a parameter's description wants its values: "in the format 'YYYY-MM-DD'", "such as 'San
 * Francisco, CA'", "the IATA code". What a request has in another form is not it yet. */
#ifndef WT_CALL_FORMS_H
#define WT_CALL_FORMS_H

#include "call/literals.h"
#include "call/parameters.h"

/* The literal's text in the form that the parameter wants, in *out, which lives as long as the arena or the literal.
 * Returns 1, 0 where it has another form and cannot be given that one, or WT_ENOMEM. */
int wt__form_of(struct str *out, const struct parameter *parameter, const struct literal *literal, struct arena *arena);

/* Whether it is a code of as many letters as the parameter wants, which are not 0. */
bool wt__has_letters(const struct parameter *parameter, const struct literal *literal);

#endif
