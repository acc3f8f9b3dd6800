/* chooser_input.c: reads features, needs and past use from a search. */
#include "query/chooser_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char wt__notice_uncalibrated[] = "probabilities are not calibrated on this catalogue but on others; record use, "
                                       "then run `whichtool train all`";

const struct chooser *wt__engine_chooser(wt_engine *engine, struct progress *progress, bool *untrained,
                                         struct notice *notice)
{
    const struct trained *trained = NULL;
    int rc = wt__engine_load_trained(engine, progress, &trained, NULL);
    if (rc == WT_ENOMEM)
        return NULL;
    bool calibrated = trained && trained->chooser;
    *untrained = rc == 0 && !calibrated; /* after an error, the search reports the error */
    *notice = *untrained ? (struct notice){wt__notice_uncalibrated, WT_NOTICE_UNCALIBRATED} : (struct notice){0};
    return calibrated ? trained->chooser : &wt__chooser_default;
}

/* Limits the probability that no tool fits: to 1 minus the largest share of a tool among the recorded usages of the
 * same request (store/store.h), and to 1 - RELEVANCE_NAMED if the request names a tool. */
static double limit_no_answer(const struct search *search, double none)
{
    double share = search->hits.named > 0 ? (double)RELEVANCE_NAMED : 0;
    for (size_t i = 0; i < search->recorded_count; i++)
        share = fmax(share, (double)search->recorded[i].score);
    return share > 0 ? fmin(none, 1 - share) : none; /* none may be NaN */
}

double wt__read_candidates(const struct search *search, const struct chooser *chooser, struct candidate_features *out)
{
    wt__candidate_features_read(out, &search->hits, wt__search_neighbours(search));
    if (!search->plan.encoder && out->tools > 0)
        return NAN;
    return limit_no_answer(search, (double)wt__no_answer_probability(chooser, out));
}

int wt__search_if_unfamiliar(struct search *search, const struct chooser *chooser,
                             const struct candidate_features *candidates, wt_error *err)
{
    static const char *const notices[] = {
        [TOO_SHORT] = "the request is shorter than those used for training, so the search ran without training",
        [TOO_FAR] = "the request is unlike those used for training, so the search ran without training"};
    enum familiarity familiarity = wt__familiarity(chooser, candidates, search->request.len);
    if (familiarity == FAMILIAR)
        return 0;
    WT_TRY(wt__search_repeat_untrained(search, err));
    WT_TRY(wt__add_notice(&search->notice, WT_NOTICE_UNFAMILIAR, notices[familiarity], search->arena, err));
    return 1;
}

void wt__set_probabilities(struct search *search, double none)
{
    struct hit_list *hits = &search->hits;
    for (size_t i = 0; i < hits->len; i++) {
        struct hit *hit = &hits->items[i];
        float found =
            hit->lead ? RELEVANCE_NAMED : wt__relevance(search->plan.relevance, &search->plan.retriever, hits, hit);
        float recorded = wt__search_recorded(search, hit->row);
        hit->probability = wt__relevance_below(recorded > 0 ? fmaxf(found, recorded) : found, none);
    }
}

double wt__no_tool_probability(const struct search *search)
{
    const struct hit_list *hits = &search->hits;
    return limit_no_answer(search, hits->len > 0 ? 1 - (double)hits->fits : 1);
}

int wt__past_users(const struct search *search, const int64_t *ids, size_t count, uint64_t **out, wt_error *err)
{
    const struct neighbours *n = wt__search_neighbours(search);
    *out = NULL;
    if (!n)
        return 0;
    uint64_t *bits = calloc(wt__neighbours_bits(n->count) + 1, sizeof *bits);
    WT_CHECK_ALLOC(bits, err);
    for (size_t g = 0; g < count; g++) {
        size_t row = wt__snapshot_row(search->index->snapshot, ids[g]);
        for (size_t i = 0; i < n->count; i++)
            for (uint32_t l = n->starts[i]; l < n->starts[i + 1]; l++)
                if (n->rows[n->labels[l]] == row)
                    bits[i / 64] |= (uint64_t)1 << i % 64;
    }
    *out = bits;
    return 0;
}

int wt__used_rows(const struct search *search, const uint64_t **out, wt_error *err)
{
    const struct neighbours *n = wt__search_neighbours(search);
    size_t words = (search->index->snapshot->rows + (size_t)63) / 64;
    *out = NULL;
    if (!n)
        return 0;
    uint64_t *bits = wt__arena_array(search->arena, uint64_t, words);
    WT_CHECK_ALLOC(bits, err);
    for (size_t l = 0; l < n->starts[n->count]; l++) {
        uint32_t row = n->rows[n->labels[l]];
        if (row != NEIGHBOURS_GONE)
            bits[row / 64] |= (uint64_t)1 << row % 64;
    }
    *out = bits;
    return 0;
}
