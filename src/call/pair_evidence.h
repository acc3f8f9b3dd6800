/* pair_evidence.h: what a parameter and a literal have to do with each other by themselves, wherever they stand in the
 * request: kinds, names, ends of ranges. arguments.c weighs it by place. */
#ifndef WT_CALL_PAIR_EVIDENCE_H
#define WT_CALL_PAIR_EVIDENCE_H

#include "call/literals.h"
#include "call/parameters.h"

static const float PAIR_NEVER = -1.F;
static const float PAIR_LITTLE = .1F; /* kinds that fit, by which of equal pairs are told apart */
static const float PAIR_NAMED = 1.F;  /* a word of the parameter's name stands beside the literal */

/* What a parameter of this kind makes of a literal's: PAIR_NEVER, or what to begin with. */
float wt__kind_evidence(const struct parameter *parameter, const struct literal *literal);

/* Whether the literal is a value behind the parameter's name: words are, whatever they are words of. */
bool wt__fits_as_answer(const struct parameter *parameter, const struct literal *literal);

/* What a word beside the literal says for the parameter: it may be of its name, or of its description. */
float wt__word_evidence(const struct parameter *parameter, struct str word);

/* "project ID": the name of the parameter is none of its values. */
bool wt__repeats_name(const struct parameter *parameter, struct str text);

/* The end of a range that a word before the literal, and the one before that, say it is: "at least", "more than". */
enum parameter_bound wt__bound_cue(struct str word, struct str before);
enum parameter_bound wt__bound_opposite(enum parameter_bound bound);

/* PAIR_NEVER where a literal is said to be the other end of the range than the parameter, or no end of one. */
float wt__bound_evidence(const struct parameter *parameter, enum parameter_bound said);

#endif
