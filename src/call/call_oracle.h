/* call_oracle.h: simulates the language model of language_model.h with known answers and a given error rate, for tests
 * and evaluations only; choose/ptr.h does the same for PTR. It separates the value of verification from the quality
 * of a model: verification helps if a second look at the same request errs elsewhere than the first.
 *
 * The oracle never reads a prompt. It uses the question's subject (struct call_subject) and the labels of the request,
 * so no description can change its answer. Reports print its name next to its figures.
 *
 * Each step has its own error rate:
 *   pick: the correct candidate, or null if it is not listed. Error: any other answer, including null, with equal
 *     probability; or the nearest other candidate
 *   again: the same, but never null; irrelevant if the correct candidate is not listed
 *   answer: the correct one of two. Error: the other
 *   decision: the one named by the answer; without an answer, the correct one. Error: the other
 *   prediction: each argument of the labels. Error: its wrong value; left out if the labels have no wrong value
 *   choice: the correct option, or null if it is not listed. Error: any other answer, with equal probability
 *
 * `repeat` correlates errors. With this probability, a later sample of the pick, the answer, and a decision without an
 * answer are wrong again if the first pick was wrong, and right again if it was right. Otherwise they err
 * independently. The second prediction and the choice of an argument depend on its first prediction in the same way.
 * The error rate of each step stays the same. `repeat` requires `nearest`, so that a repeated error is the same error.
 *
 * Random numbers are a hash of the seed, the request, the step and its subject. So an answer does not depend on earlier
 * questions, and an independent error at one rate is also an error at all higher rates.
 *
 * The results for k candidates, including the correct one, have a closed form. With the rates a (pick and again), b
 * (answer), d (decision), and the repeat r, let f(x) = (1 - r) x be the rate of a step after a right pick, and g(x) = r
 * + (1 - r) x after a wrong one. m is the share of wrong picks other than null: 1 with the nearest, else 1 - 1/k. The
 * probability of choosing the correct tool:
 *   once: 1 - a
 *   direct: (1 - a) (1 - f(d)) + a m (1 - a') (1 - g(d)), where a' = a, or 0 with k = 2
 *   verified: (1 - a) v(f(b)) + a m (1 - a') v(g(b)), where v(x) = (1 - x) (1 - d) + x d
 *   consistent: of three, with f and g of a:
 *     - nearest: (1 - a) (1 - f^2) + a (1 - g)^2
 *     - else: (1 - a)^3 + 3 (1 - a)^2 a + (1 - a) a^2 (1 - 1/k): of three different answers the first wins
 *
 * The probability of a correct argument, with the rates p (prediction) and c (choice), and f and g of these:
 *   alone: 1 - p
 *   verified: (1 - p) (1 - f(p)) + (1 - p) f(p) (1 - f(c)) + p (1 - g(p)) (1 - g(c))
 *
 * A call of n arguments is correct with the product of the first probability and the n-th power of the second. */
#ifndef WT_CALL_CALL_ORACLE_H
#define WT_CALL_CALL_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "llm/chat.h"

struct call_oracle_options {
    double pick, answer, decision, prediction, choice; /* error rates */
    bool nearest;                                      /* a wrong candidate is the one nearest to the correct one */
    double repeat;
    uint64_t seed;
};

struct call_oracle {
    struct chat_model model; /* its name points to the member below, so do not copy an oracle */
    struct call_oracle_options options;
    char name[96]; /* "call oracle, 10 % error, the nearest, repeated 50 %" */
};

/* Returns options with the same rate for every step. */
struct call_oracle_options wt__call_oracle_rate(double error, uint64_t seed);

/* Initialises an oracle; it needs no disposal and is safe for several threads. Errors: WT_EINVAL for a rate outside
 * 0..1, or a repeat without nearest. A question without labels fails with WT_EINVAL. */
int wt__call_oracle_init(struct call_oracle *oracle, const struct call_oracle_options *options, wt_error *err);

#endif
