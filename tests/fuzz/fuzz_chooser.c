/* Fuzzes a trained chooser's config.json, and choosing with arbitrary parameters. */
#include <stdlib.h>

#include "choose/chooser.h"

static void choose_with(const struct chooser *chooser, size_t bytes)
{
    static struct candidate_features candidates;
    uint32_t order[CHOOSE_TOOLS];
    float nonconformity[CHOOSE_TOOLS];
    struct conformal_thresholds complete;
    struct chosen chosen;
    candidates.tools = 9;
    for (size_t t = 0; t < candidates.tools; t++) {
        candidates.hits[t] = (uint32_t)t;
        for (size_t f = 0; f < TOOL_FEATURES; f++)
            candidates.features[t][f] = (float)(t + f) - 6;
    }
    candidates.past[0] = (struct past_set){5, 1};
    candidates.past_count = 1;
    for (size_t f = 0; f < ANSWERABLE_FEATURES; f++)
        candidates.answerability[f] = (float)f - 5;
    wt__choose(chooser, &candidates, &chosen);
    if (chosen.tools == 0 || chosen.tools >> 9 != 0)
        abort();
    wt__set_order(chooser, &candidates, CHOOSE_TOOLS, order, nonconformity);
    for (size_t i = 0; i < CHOOSE_TOOLS; i++)
        if (order[i] >= CHOOSE_TOOLS)
            abort();
    wt__conformal_thresholds(chooser, 0.9, &complete);
    if (!(wt__no_answer_probability(chooser, &candidates) >= 0) ||
        !(wt__no_answer_threshold(&chooser->no_answer, 0.05) >= 0))
        abort();
    if (wt__familiarity(chooser, &candidates, bytes) > TOO_FAR)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct chooser chooser;
    json_t *config = NULL;
    wt_error err;
    if (wt__json_parse(&config, (const char *)data, size, &err) == 0 &&
        wt__chooser_read(&chooser, config, &arena, &err) == 0)
        choose_with(&chooser, size);
    json_decref(config);
    wt__arena_dispose(&arena);
    return 0;
}
