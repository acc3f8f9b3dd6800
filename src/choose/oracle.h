/* oracle.h: replaces PTR's language model by the known answers, for tests and evaluations only. It separates the loss
 * in PTR's stages from the loss in the model, and shows the cost of a given rate of model errors.
 *
 * The oracle never reads a prompt. It uses the question's subject (struct ptr_subject) and the labels of the request,
 * so descriptions cannot influence its answers. Reports of its figures must show its name.
 *
 * At error rate e each decision is independently wrong with probability e:
 *   requirement    One for each needed tool, in the label's words. An error omits it. If the labels have wrong tools,
 *                  half of the errors keep it and add the requirement of a wrong tool.
 *   match          The tool that belongs to the requirement, or none if it is not listed. An error is any other listed
 *                  tool or none, with equal probability.
 *
 * Random numbers derive from a hash of seed, request and requirement. An answer therefore does not depend on earlier
 * questions, and an error at one rate is also an error at every higher rate. */
#ifndef WT_CHOOSE_ORACLE_H
#define WT_CHOOSE_ORACLE_H

#include <stdint.h>

#include "base/error.h"
#include "llm/chat.h"

struct oracle {
    struct chat_model model; /* points to `name` below, so an oracle must not move */
    double error;
    uint64_t seed;
    char name[64]; /* "oracle, 10 % error" */
};

/* Initialises an oracle, which needs no disposal and is thread-safe. Errors: WT_EINVAL (rate outside 0..1). A question
 * without labels fails with WT_EINVAL. */
int wt__oracle_init(struct oracle *oracle, double error, uint64_t seed, wt_error *err);

#endif
