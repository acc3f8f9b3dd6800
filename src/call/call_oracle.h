/* call_oracle.h: a stand-in for the language model of selection.h and generation.h that knows the answers, for tests
 * and evaluations only, as choose/ptr.h is for PTR. With it, what verification is worth can be told from what a
 * model is worth: it pays as far as a second look at the same request errs elsewhere than the first.
 *
 * It never reads a prompt: it looks at the question's subject (struct call_subject) and at the labels of the request.
 * So no description, whatever it says, changes an answer. Wherever its figures stand, its name stands beside them.
 *
 * Each step errs at a rate of its own:
 *   pick        the candidate that the request needs, or none where it is not listed. In error: any other answer, none
 *               among them, each as likely; or the nearest other candidate
 *   again       the same, but never none; what it says of a list without the needed one is of no account
 *   answer      which of the two it is. In error: the other
 *   decision    the one that the answer says; without an answer the right one. In error: the other
 *   prediction  each argument of the labels. In error: its wrong value; without one nothing
 *   choice      the right option, or none where it is not listed. In error: any other answer, each as likely
 * `repeat` makes mistakes stick: where the first pick was wrong, a further sample of it, the answer, and a decision
 * without an answer are wrong again with this probability, and where it was right, right again; else they err on their
 * own. The same holds of an argument's second prediction and its choice, as to its first prediction. Every step then
 * still errs at its rate. It wants the nearest candidate, since a repeated mistake is one and the same.
 *
 * Chance is a hash of the seed, the request, the step and what it is about. So an answer does not depend on what was
 * asked before, and what is wrong on its own at one rate is wrong at every higher one.
 *
 * What it makes of k candidates, the needed one among them, is known in closed form. With the rates a (pick and again),
 * b (answer), d (decision), and the repeat r, let f(x) = (1 - r) x be the rate of a step behind a right pick, and
 * g(x) = r + (1 - r) x behind a wrong one; m = 1 with the nearest, else 1 - 1/k, is the share of wrong picks that are
 * not none. The probability that the right tool is chosen:
 *   once        1 - a
 *   direct      (1 - a) (1 - f(d)) + a m (1 - a') (1 - g(d)), where a' = a, or 0 with k = 2
 *   verified    (1 - a) v(f(b)) + a m (1 - a') v(g(b)), where v(x) = (1 - x) (1 - d) + x d
 *   consistent  of three, with f and g of a:
 *               - nearest: (1 - a) (1 - f^2) + a (1 - g)^2
 *               - else:    (1 - a)^3 + 3 (1 - a)^2 a + (1 - a) a^2 (1 - 1/k): of three different answers the first stays
 *
 * The probability that an argument is right, with the rates p (prediction) and c (choice), and f and g of these:
 *   alone       1 - p
 *   verified    (1 - p) (1 - f(p)) + (1 - p) f(p) (1 - f(c)) + p (1 - g(p)) (1 - g(c))
 *
 * A call of n arguments is right with the product of the first probability and the n-th power of the second. */
#ifndef WT_CALL_CALL_ORACLE_H
#define WT_CALL_CALL_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "llm/chat.h"

struct call_oracle_options {
    double pick, answer, decision, prediction, choice; /* error rates */
    bool nearest;                                      /* a wrong candidate is the one nearest to the right one */
    double repeat;
    uint64_t seed;
};

struct call_oracle {
    struct chat_model model; /* borrows the name below: an oracle does not move */
    struct call_oracle_options options;
    char name[96]; /* "call oracle, 10 % error, of which 50 % are repeated" */
};

/* The same rate for every step. */
struct call_oracle_options wt__call_oracle_rate(double error, uint64_t seed);

/* Nothing to dispose of; any number of threads may ask. Errors: WT_EINVAL (a rate that is not within 0..1, a repeat
 * without the nearest). A question without labels is WT_EINVAL. */
int wt__call_oracle_init(struct call_oracle *oracle, const struct call_oracle_options *options, wt_error *err);

#endif
