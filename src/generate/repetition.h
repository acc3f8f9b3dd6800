/* repetition.h: detects answers that only repeat their prompt.
 *
 * A small model asked for something new may copy the prompt's form, its rules or one of its examples. Such an answer
 * matches the schema and is useless. The rule, over lower-case words:
 *
 *   - a word of the answer is copied if it belongs to a run of at least REPETITION_RUN words found verbatim in the
 *     prompt; an answer of fewer words is copied if it is such a run as a whole
 *   - an answer repeats the prompt if at least half of its words are copied, or a run of REPETITION_RUN_LONG words
 *   - an answer without words ("...") repeats the prompt if it occurs there verbatim
 *
 * Only the prompt's own text and its examples count, not the tools or the request it is about: an answer must share
 * words with those. */
#ifndef WT_GENERATE_REPETITION_H
#define WT_GENERATE_REPETITION_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

enum { REPETITION_RUN = 5, REPETITION_RUN_LONG = 12 };

/* The words of a text, separated by blanks and with a blank at both ends; where each begins; its runs of
 * REPETITION_RUN words. */
struct repetition {
    struct buffer words;
    size_t *begins; /* [count + 1]; the last is past the end */
    size_t count;
    struct map runs;
};

/* Reads the prompt's own text, the same for all answers. Errors: WT_ENOMEM. */
int wt__repetition_open(struct repetition *out, struct str prompt, wt_error *err);
void wt__repetition_dispose(struct repetition *repetition);

/* Sets *out to true if `said` repeats the prompt (`own` and `prompt`) or the examples shown with it, joined into one
 * text. Errors: WT_ENOMEM. */
int wt__repetition_check(const struct repetition *own, struct str prompt, struct str examples, struct str said,
                         bool *out, wt_error *err);

#endif
