/* oracle.h: a stand-in for PTR's language model that knows the answers, for tests and evaluations only. With it, what
 * PTR's stages lose can be told apart from what a model loses, and what a model's errors cost can be told from their
 * rate.
 *
 * It never reads a prompt: it looks at the question's subject (struct ptr_subject) and at the labels of the request. So
 * no description, whatever it says, changes an answer. Wherever its figures stand, its name stands beside them.
 *
 * At an error rate e each decision is wrong with probability e, on its own:
 *   a requirement  one for each needed tool, in the label's words. In error: it is left out; or, half of the time where
 *                  the labels hold wrong tools, it is named, and behind it one of theirs that nobody asked for
 *   a match        the tool that the requirement is the words of, or none when that is not listed. In error: any other
 *                  listed tool, or none, each as likely
 * Chance is a hash of the seed, the request, and the requirement's words. So an answer does not depend on what was
 * asked before, and what is wrong at one rate is wrong at every higher one. */
#ifndef WT_CHOOSE_ORACLE_H
#define WT_CHOOSE_ORACLE_H

#include <stdint.h>

#include "base/error.h"
#include "llm/chat.h"

struct oracle {
    struct chat_model model; /* borrows the name below: an oracle does not move */
    double error;
    uint64_t seed;
    char name[64]; /* "oracle, 10 % error" */
};

/* Nothing to dispose of; any number of threads may ask. Errors: WT_EINVAL (a rate that is not within 0..1). A question
 * without labels is WT_EINVAL. */
int wt__oracle_init(struct oracle *oracle, double error, uint64_t seed, wt_error *err);

#endif
