/* pair_evidence.h: scores a parameter and a literal by kind, name and end of a range, independent of the literal's
 * place in the request. arguments.c adds the place. */
#ifndef WT_CALL_PAIR_EVIDENCE_H
#define WT_CALL_PAIR_EVIDENCE_H

#include "call/literals.h"
#include "call/parameters.h"

static const float PAIR_NEVER = -1.F;
static const float PAIR_LITTLE = .1F; /* breaks ties between pairs of fitting kinds */
static const float PAIR_NAMED = 1.F;  /* the literal is next to a word of the parameter's name */

/* Returns the base score of the two kinds, or PAIR_NEVER if they do not fit. */
float wt__kind_evidence(const struct parameter *parameter, const struct literal *literal);

/* True if the literal can be the answer after the parameter's name; texts always can. */
bool wt__fits_as_answer(const struct parameter *parameter, const struct literal *literal);

/* Returns the score of a word next to the literal, if it is in the parameter's name or description. */
float wt__word_evidence(const struct parameter *parameter, struct str word);

/* True if the text only repeats the parameter's name ("project ID") and so is not a value. */
bool wt__repeats_name(const struct parameter *parameter, struct str text);

/* Returns the end of a range stated by the two words before a literal: "at least", "more than". */
enum parameter_bound wt__bound_cue(struct str word, struct str before);
enum parameter_bound wt__bound_opposite(enum parameter_bound bound);

/* Returns PAIR_NEVER if the request states the other end of the range than the parameter, or lacks a required end. */
float wt__bound_evidence(const struct parameter *parameter, enum parameter_bound said);

#endif
