/* chooser_input.h: reads the input of the chooser (choose/chooser.h) from a search. Picking, abstaining and training
 * use it. */
#ifndef WT_QUERY_CHOOSER_INPUT_H
#define WT_QUERY_CHOOSER_INPUT_H

#include "choose/chooser.h"
#include "query/search.h"
#include "engine/notice.h"
#include "choose/relevance.h"

enum {
    PICK_HITS = 100,          /* hits to choose a set from */
    PICK_COMPLETE = WT_MAX_K, /* hits to choose a complete set from */
    PICK_ABSTAIN_PERCENT = 5  /* default percentage of answerable requests that may wrongly get no tools */
};

/* Notice for probabilities that were not calibrated on this catalogue. */
extern const char wt__notice_uncalibrated[];

/* Returns the trained chooser of the store, or else the built-in chooser. Returns NULL if out of memory. The chooser is
 * valid as long as the engine.
 *
 * The trained chooser was calibrated on the hits of the recipe auto with all trained models. The built-in chooser was
 * calibrated on untrained recipes and other catalogues.
 *
 * *untrained: true if the store has no trained chooser. Then *notice says so, else *notice is empty. If the trained
 * models cannot be opened or `progress` cancels, *untrained is false, and the next search reports the reason. */
const struct chooser *wt__engine_chooser(wt_engine *engine, struct progress *progress, bool *untrained,
                                         struct notice *notice);

/* Reads the candidates from the hits of a search with `features` set. Returns the probability that no tool fits, or NaN
 * if there are candidates but the search had no encoder. */
double wt__read_candidates(const struct search *search, const struct chooser *chooser, struct candidate_features *out);

/* If the request is unlike the requests that the chooser was trained on, repeats the search untrained and adds a
 * notice. Returns 1 if the search was repeated, else 0. Errors: those of wt__search_run. */
int wt__search_if_unfamiliar(struct search *search, const struct chooser *chooser,
                             const struct candidate_features *candidates, wt_error *err);

/* Sets the probability of each hit. It is at least the hit's share of the recorded usages of the same request, and at
 * most 1 - none. none: probability that no tool fits, or NaN for no upper limit. */
void wt__set_probabilities(struct search *search, double none);

/* Returns the probability that no tool fits the request of an untrained search, from the learned scorer, the recorded
 * usages of the same request, and the names in the request. NaN if all of these are silent. */
double wt__no_tool_probability(const struct search *search);

/* Marks the past requests that used one of the tools `ids`, so that a later search can ignore these requests
 * (search.left_out). *out: one bit per past request, to be freed with free(); NULL if the search uses no past requests.
 * Errors: WT_ENOMEM. */
int wt__past_users(const struct search *search, const int64_t *ids, size_t count, uint64_t **out, wt_error *err);

/* Marks the tools that some past request used. *out: one bit per row of the index, in the search's arena; NULL if the
 * search uses no past requests. Errors: WT_ENOMEM. */
int wt__used_rows(const struct search *search, const uint64_t **out, wt_error *err);

#endif
