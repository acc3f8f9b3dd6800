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

#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

enum { REPETITION_RUN = 5, REPETITION_RUN_LONG = 12 };

/* A text's words with a blank between and at both ends, where each begins, and its runs of REPETITION_RUN words. */
struct repetition {
    struct buffer words;
    size_t *begins; /* [count + 1]; the last one is beyond the end */
    size_t count;
    struct map runs;
};

/* Of a prompt's own text, which every answer to it is held to. WT_ENOMEM. */
int wt__repetition_open(struct repetition *out, struct str prompt, wt_error *err);
void wt__repetition_dispose(struct repetition *repetition);

/* Whether `said` repeats the prompt of `own` and `prompt`, or the examples that it showed: one text. WT_ENOMEM. */
int wt__repeats(const struct repetition *own, struct str prompt, struct str examples, struct str said, bool *out,
                wt_error *err);

#endif
