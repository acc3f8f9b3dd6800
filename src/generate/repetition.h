/* repetition.h: whether a language model only gives back what it was asked with.
 *
 * A small model that shall write something new copies the prompt's form, its rules, or one of its examples. Such an
 * answer matches the schema and says nothing. The rule, over words in lower case:
 *
 *   - each word of the answer that stands in a run of at least REPETITION_RUN words which the prompt has word for word
 *     is copied; an answer of fewer words is copied when all of it is such a run
 *   - an answer repeats the prompt when at least half of its words are copied, or a run of REPETITION_RUN_LONG words
 *   - one without a word ("...") repeats it when it stands there as it is
 *
 * The prompt here is its own text and its examples, never the tools or the request that it is about: an answer has to
 * share words with these. */
#ifndef WT_GENERATE_REPETITION_H
#define WT_GENERATE_REPETITION_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

enum { REPETITION_RUN = 5, REPETITION_RUN_LONG = 12 };

/* Whether `said` repeats `prompt`. WT_ENOMEM. */
int wt__repeats(struct str said, struct str prompt, bool *out, wt_error *err);

#endif
