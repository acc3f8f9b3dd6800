/* chooser_input.h: the input of the chooser of sets (choose/chooser.h) from a search, for picking, abstaining and
 * training. */
#ifndef WT_QUERY_CHOOSER_INPUT_H
#define WT_QUERY_CHOOSER_INPUT_H

#include "choose/chooser.h"
#include "query/search.h"
#include "engine/notice.h"
#include "choose/relevance.h"

enum {
    PICK_HITS = 100,          /* hits to choose a set from */
    PICK_COMPLETE = WT_MAX_K, /* hits to choose a complete set from */
    PICK_ABSTAIN_PERCENT = 5  /* default share of answerable requests to abstain at */
};

/* Notice for probabilities that were not calibrated on this catalogue. */
extern const char wt__notice_uncalibrated[];

/* Returns the chooser of the store, valid as long as the engine, or NULL if out of memory. It is calibrated on the hits
 * of auto with all trained models.
 *
 * Without a chooser of the store, returns the built-in chooser, calibrated on untrained recipes of other catalogues,
 * sets *untrained and fills *notice. If the trained models cannot be opened, or progress cancels, returns the built-in
 * chooser with *untrained false; the search afterwards reports the reason. */
const struct chooser *wt__engine_chooser(wt_engine *engine, struct progress *progress, bool *untrained,
                                         struct notice *notice);

/* Reads the candidates of a search with features. Returns the probability that no tool fits, or NaN if the search had
 * hits but no encoder. */
double wt__read_candidates(const struct search *search, const struct chooser *chooser, struct candidate_features *out);

/* If the request is unlike those the chooser was trained on, repeats the search untrained and adds a notice. Returns 1
 * if the search was repeated, else 0. Errors: those of wt__search_run. */
int wt__search_if_unfamiliar(struct search *search, const struct chooser *chooser,
                             const struct candidate_features *candidates, wt_error *err);

/* Sets the probability of each hit: at least its share of the recorded usages of the same request, at most 1 - none.
 * none: probability of no tool fitting, or NaN. */
void wt__set_probabilities(struct search *search, double none);

/* Groups the hits of an untrained search with features by need, and sets their probabilities. out [NEED_HITS]. Returns
 * the number of items. *best: probability of the likeliest tool; 1 - *best is the probability of no tool fitting. */
size_t wt__read_needs(struct search *search, struct need_hit *out, double *best);

/* Marks the past requests with one of these tools, for a search without them. *out: one bit per past
 * request, to be freed with free(); NULL if the search uses no past requests. */
int wt__past_users(const struct search *search, const int64_t *ids, size_t count, uint64_t **out, wt_error *err);

/* Marks the rows of the index used by a past request. *out: one bit per row, in the search's arena; NULL if the
 * search uses no past requests. Errors: WT_ENOMEM. */
int wt__used_rows(const struct search *search, const uint64_t **out, wt_error *err);

#endif
