/* call_oracle.h: simulates a language model with known answers and given error rates, for tests and evaluations only.
 * With the oracle, a test can measure the value of verification independently of the quality of a real model.
 *
 * The oracle never reads a prompt. It uses the question's subject (struct call_subject) and the labels of the request,
 * so no description can change an answer. Reports print the oracle's name next to their figures.
 *
 * Right and wrong answers of each step ("again" has the error rate of "pick", each other step its own):
 *   pick: the correct candidate; null if it is not listed. Error: with `nearest`, the candidate nearest to the correct
 *     one. Without `nearest`, any other answer including null, with equal probability
 *   again: the same as pick, but never null. If the correct candidate is not listed, every answer is wrong. The oracle
 *     then answers the nearest candidate if it is listed, else a random candidate
 *   answer: the correct one of two tools. Error: the other tool
 *   decision: the tool that the answer names; without an answer, the correct tool. Error: the other tool
 *   prediction: the correct value of each argument. Error: the wrong value of the labels. If the labels have no wrong
 *     value, the argument is left out
 *   choice: the correct option; null if it is not listed. Error: any other answer, with equal probability
 *   build, mend: build gives the verified values, mend the correct values; neither errs
 *
 * `repeat` is the probability that a later answer repeats the outcome (right or wrong) of an earlier one. With the
 * probability 1 - repeat, the later answer errs independently, at its own rate. A repeated error must be the same
 * error, so `repeat` requires `nearest`. The answers that may repeat an earlier outcome:
 *   - later samples of the pick, the answer, and a decision without an answer: the outcome of the first pick
 *   - the second prediction and the choice of an argument: the outcome of the argument's first prediction
 *
 * Random numbers are a hash of the seed, the request, the step, and the sample or argument. An answer thus does not
 * depend on earlier questions. An independent error at one rate is also an error at all higher rates.
 *
 * The results for k candidates, including the correct one, have a closed form. The variables:
 *   - rates a (pick and again), b (answer), d (decision), and the repeat r
 *   - rate of a step after a right pick: f(x) = (1 - r) x
 *   - rate of a step after a wrong pick: g(x) = r + (1 - r) x
 *   - m, the share of wrong picks other than null: 1 with `nearest`, else 1 - 1/k
 *
 * The probability of choosing the correct tool:
 *   once: 1 - a
 *   direct: (1 - a) (1 - f(d)) + a m (1 - a') (1 - g(d)), where a' = a, or 0 with k = 2
 *   verified: (1 - a) v(f(b)) + a m (1 - a') v(g(b)), where v(x) = (1 - x) (1 - d) + x d
 *   consistent: the majority of three picks, with f = f(a) and g = g(a). Of three different picks, the first wins.
 *     - with `nearest`: (1 - a) (1 - f^2) + a (1 - g)^2
 *     - without `nearest`: (1 - a)^3 + 3 (1 - a)^2 a + (1 - a) a^2 (1 - 1/k)
 *
 * The probability of a correct argument, with the rates p (prediction) and c (choice), and f and g as above:
 *   alone: 1 - p
 *   verified: (1 - p) (1 - f(p)) + (1 - p) f(p) (1 - f(c)) + p (1 - g(p)) (1 - g(c))
 *
 * The probability of a correct call with n arguments is the probability of the correct tool times the n-th power of the
 * probability of a correct argument. */
#ifndef WT_TESTS_CALL_CALL_ORACLE_H
#define WT_TESTS_CALL_CALL_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/rng.h"
#include "call/language_model.h"

struct call_oracle_options {
    double pick, answer, decision, prediction, choice; /* error rates */
    bool nearest;  /* true if a wrong pick is the candidate nearest to the correct one */
    double repeat; /* probability that an answer repeats the outcome of an earlier one */
    uint64_t seed;
};

struct call_oracle {
    struct chat_model model; /* model.name points to the member `name`, so do not copy an oracle */
    struct call_oracle_options options;
    char name[96]; /* "call oracle, 10 % error, the nearest, repeated 50 %" */
};

/* Names of enum selection_method. */
static const char *const method_labels[SELECTION_METHODS] = {"verified",    "once",       "one-shot",   "direct",
                                                             "conditioned", "consistent", "single-step"};

enum { ORACLE_STEPS = 16 /* above the number of values of enum call_step */ };

/* Identifies a random decision: the step, the sample's index, and the argument's name, or "" if it is about a tool. */
struct oracle_decision {
    enum call_step step;
    unsigned sample;
    const char *about;
};

static void seed_oracle_decision(struct rng *rng, const struct call_oracle *oracle, const struct call_request *request,
                                 struct oracle_decision decision)
{
    struct str about = wt__str(decision.about);
    uint64_t hash = wt__checksum(request->text.ptr, request->text.len, oracle->options.seed);
    wt__rng_seed(rng,
                 wt__checksum(about.ptr, about.len, hash + decision.step + (uint64_t)ORACLE_STEPS * decision.sample));
}

/* True if the decision is wrong, drawn at random with this rate. Seeds rng, which the caller may use to choose the
 * wrong answer. */
static bool decision_errs(const struct call_oracle *oracle, const struct call_request *request,
                          struct oracle_decision decision, double rate, struct rng *rng)
{
    seed_oracle_decision(rng, oracle, request, decision);
    return wt__rng_unit(rng) < rate;
}

/* Works like decision_errs, but with the probability `repeat` returns the outcome of an earlier decision. first: the
 * earlier decision. first_rate: its error rate. */
static bool dependent_decision_errs(const struct call_oracle *oracle, const struct call_request *request,
                                    struct oracle_decision decision, double rate, struct oracle_decision first,
                                    double first_rate, struct rng *rng)
{
    struct rng before;
    bool wrong = decision_errs(oracle, request, decision, rate, rng);
    return wt__rng_unit(rng) < oracle->options.repeat ? decision_errs(oracle, request, first, first_rate, &before)
                                                      : wrong;
}

/* Returns a random answer other than the right one, from 0 (null) to count. */
static size_t pick_wrong_answer(struct rng *rng, size_t right, size_t count)
{
    size_t number = (size_t)wt__rng_below(rng, count);
    return number + (number >= right);
}

static const struct oracle_decision first_pick = {CALL_PICK, 0, ""};

/* Returns the candidate's number, from 1; 0 if it is not listed. */
static size_t find_listed_number(const struct call_subject *subject, size_t candidate)
{
    for (size_t i = 0; candidate != CALL_NO_CANDIDATE && i < subject->listed_count; i++)
        if (subject->listed[i] == candidate)
            return i + 1;
    return 0;
}

static size_t answer_pick(const struct call_oracle *oracle, const struct call_subject *subject)
{
    const struct call_request *request = subject->request;
    double rate = oracle->options.pick;
    struct rng rng;
    size_t right = find_listed_number(subject, request->labels->tool),
           nearest = find_listed_number(subject, request->labels->nearest);
    const struct oracle_decision decision = {CALL_PICK, subject->sample, ""};
    bool wrong = subject->sample == 0
                     ? decision_errs(oracle, request, decision, rate, &rng)
                     : dependent_decision_errs(oracle, request, decision, rate, first_pick, rate, &rng);
    if (!wrong || subject->listed_count == 0)
        return right;
    return oracle->options.nearest && nearest != right ? nearest
                                                       : pick_wrong_answer(&rng, right, subject->listed_count);
}

static size_t answer_pick_again(const struct call_oracle *oracle, const struct call_subject *subject)
{
    const struct call_request *request = subject->request;
    struct rng rng;
    size_t right = find_listed_number(subject, request->labels->tool),
           nearest = find_listed_number(subject, request->labels->nearest);
    bool wrong =
        decision_errs(oracle, request, (struct oracle_decision){CALL_PICK_AGAIN, 0, ""}, oracle->options.pick, &rng);
    if (right > 0 && (!wrong || subject->listed_count < 2))
        return right;
    if (nearest > 0 && (right == 0 || oracle->options.nearest))
        return nearest;
    if (right == 0)
        return 1 + (size_t)wt__rng_below(&rng, subject->listed_count);
    size_t number = 1 + (size_t)wt__rng_below(&rng, subject->listed_count - 1);
    return number + (number >= right);
}

/* Returns the number (1 or 2) of the tool that the answer to the contrastive question names. */
static size_t answer_contrast_question(const struct call_oracle *oracle, const struct call_subject *subject)
{
    struct rng rng;
    size_t right = find_listed_number(subject, subject->request->labels->tool);
    bool wrong = dependent_decision_errs(oracle, subject->request, (struct oracle_decision){CALL_ANSWER, 0, ""},
                                         oracle->options.answer, first_pick, oracle->options.pick, &rng);
    right = right > 0 ? right : 1;
    return wrong ? 3 - right : right;
}

static size_t answer_decision(const struct call_oracle *oracle, const struct call_subject *subject)
{
    static const struct oracle_decision decision = {CALL_DECIDE, 0, ""};
    struct rng rng;
    double rate = oracle->options.decision;
    size_t right = find_listed_number(subject, subject->request->labels->tool);
    right = subject->answered ? answer_contrast_question(oracle, subject) : right > 0 ? right : 1;
    bool wrong = subject->answered ? decision_errs(oracle, subject->request, decision, rate, &rng)
                                   : dependent_decision_errs(oracle, subject->request, decision, rate, first_pick,
                                                             oracle->options.pick, &rng);
    return wrong ? 3 - right : right;
}

/* Returns the value that a sample predicts for an argument; NULL if the sample leaves it out. */
static const json_t *predict_argument(const struct call_oracle *oracle, const struct call_subject *subject,
                                      const char *name)
{
    const struct call_labels *labels = subject->request->labels;
    const struct oracle_decision first = {CALL_PREDICT, 0, name}, decision = {CALL_PREDICT, subject->sample, name};
    double rate = oracle->options.prediction;
    struct rng rng;
    bool wrong = subject->sample == 0
                     ? decision_errs(oracle, subject->request, first, rate, &rng)
                     : dependent_decision_errs(oracle, subject->request, decision, rate, first, rate, &rng);
    return json_object_get(wrong ? labels->wrong : labels->arguments, name);
}

static size_t answer_option(const struct call_oracle *oracle, const struct call_subject *subject)
{
    const struct oracle_decision decision = {CALL_VERIFY, 0, subject->parameter},
                                 first = {CALL_PREDICT, 0, subject->parameter};
    const json_t *value = json_object_get(subject->request->labels->arguments, subject->parameter);
    struct rng rng;
    size_t right = 0;
    for (size_t i = 0; value && right == 0 && i < subject->option_count; i++)
        right = wt__argument_equal(subject->options[i], value) ? i + 1 : 0;
    bool wrong = dependent_decision_errs(oracle, subject->request, decision, oracle->options.choice, first,
                                         oracle->options.prediction, &rng);
    return wrong && subject->option_count > 0 ? pick_wrong_answer(&rng, right, subject->option_count) : right;
}

/* Predicts all arguments of the labels. */
static int predict_all_arguments(const struct call_oracle *oracle, const struct call_subject *subject, json_t *out)
{
    const struct call_labels *labels = subject->request->labels;
    const json_t *named[] = {labels->arguments, labels->wrong};
    int rc = 0;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)named[i], name, value)
        {
            const json_t *predicted = predict_argument(oracle, subject, name);
            if (rc == 0 && predicted)
                rc = json_object_set(out, name, (json_t *)predicted);
        }
    }
    return rc;
}

static void write_number_member(struct buffer *out, const char *member, size_t number)
{
    if (number > 0)
        wt__buffer_printf(out, "{\"%s\": %zu}", member, number);
    else
        wt__buffer_printf(out, "{\"%s\": null}", member);
}

static void write_arguments_member(struct buffer *out, const json_t *arguments)
{
    wt__buffer_text(out, "{\"arguments\": ");
    if (arguments)
        wt__json_write(out, arguments);
    else
        wt__buffer_text(out, "{}");
    wt__buffer_char(out, '}');
}

static int write_oracle_answer(const struct call_oracle *oracle, const struct call_subject *subject, struct buffer *out)
{
    json_t *arguments;
    int rc = 0;
    switch (subject->step) {
    case CALL_PICK:
        write_number_member(out, "tool", answer_pick(oracle, subject));
        break;
    case CALL_PICK_AGAIN:
        write_number_member(out, "tool", answer_pick_again(oracle, subject));
        break;
    case CALL_CONTRAST:
        wt__buffer_text(out, "{\"question\": \"Which of the two is needed?\"}");
        break;
    case CALL_ANSWER:
        wt__buffer_printf(out, "{\"answer\": \"Number %zu is needed.\"}", answer_contrast_question(oracle, subject));
        break;
    case CALL_DECIDE:
        write_number_member(out, "tool", answer_decision(oracle, subject));
        break;
    case CALL_PREDICT:
        arguments = json_object();
        rc = arguments ? predict_all_arguments(oracle, subject, arguments) : -1;
        write_arguments_member(out, arguments);
        json_decref(arguments);
        break;
    case CALL_VERIFY:
        write_number_member(out, "option", answer_option(oracle, subject));
        break;
    case CALL_BUILD:
        write_arguments_member(out, subject->arguments);
        break;
    case CALL_MEND:
        write_arguments_member(out, subject->request->labels->arguments);
        break;
    }
    return rc;
}

static int ask_call_oracle(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                           struct chat_answer *out, wt_error *err)
{
    const struct call_oracle *oracle = (const struct call_oracle *)model;
    const struct call_subject *subject = question->subject;
    struct buffer text = {0};
    if (!subject || !subject->request->labels)
        return wt__fail(err, WT_EINVAL, "%s: the request has no labels", model->name);
    int rc = write_oracle_answer(oracle, subject, &text);
    out->text = (struct str){wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    rc = rc < 0 || text.failed || !out->text.ptr ? wt__fail_nomem(err) : 0;
    if (rc == 0)
        rc = wt__json_parse(&out->json, out->text.ptr, out->text.len, err);
    wt__buffer_dispose(&text);
    return rc;
}

/* Returns options with the same error rate for every step. */
static inline struct call_oracle_options set_oracle_rates(double error, uint64_t seed)
{
    return (struct call_oracle_options){
        .pick = error, .answer = error, .decision = error, .prediction = error, .choice = error, .seed = seed};
}

static bool has_uniform_rates(const struct call_oracle_options *options)
{
    double rate = options->pick;
    return options->answer == rate && options->decision == rate && options->prediction == rate &&
           options->choice == rate;
}

static void write_oracle_name(struct call_oracle *oracle)
{
    const struct call_oracle_options *o = &oracle->options;
    char *name = oracle->name;
    size_t size = sizeof oracle->name;
    int len = has_uniform_rates(o)
                  ? snprintf(name, size, "call oracle, %.3g %% error", 100 * o->pick)
                  : snprintf(name, size, "call oracle, %.3g, %.3g, %.3g, %.3g, %.3g %% error", 100 * o->pick,
                             100 * o->answer, 100 * o->decision, 100 * o->prediction, 100 * o->choice);
    if (o->nearest)
        snprintf(name + len, size - (size_t)len, ", the nearest, repeated %.3g %%", 100 * o->repeat);
}

/* Initialises an oracle, which needs no disposal and is thread-safe. Returns WT_EINVAL for a rate outside 0 to 1, or
 * for a repeat without `nearest`. A question whose request has no labels fails with WT_EINVAL. */
static inline int init_call_oracle(struct call_oracle *oracle, const struct call_oracle_options *options, wt_error *err)
{
    const double rates[] = {options->pick,       options->answer, options->decision,
                            options->prediction, options->choice, options->repeat};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (!(rates[i] >= 0 && rates[i] <= 1))
            return wt__fail(err, WT_EINVAL, "call oracle: a rate must be from 0 to 1, not %g", rates[i]);
    if (options->repeat > 0 && !options->nearest)
        return wt__fail(err, WT_EINVAL, "call oracle: repeat requires nearest");
    *oracle = (struct call_oracle){.model.ask = ask_call_oracle, .options = *options};
    write_oracle_name(oracle);
    oracle->model.name = oracle->name;
    return 0;
}

#endif
