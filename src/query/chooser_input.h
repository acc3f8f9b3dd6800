/* chooser_input.h: what the chooser of sets reads of a search: for picking, for abstaining, and for its training. */
#ifndef WT_QUERY_CHOOSER_INPUT_H
#define WT_QUERY_CHOOSER_INPUT_H

#include "choose/chooser.h"
#include "query/search.h"
#include "engine/notice.h"
#include "choose/relevance.h"
#include "query/search.h"

enum {
    PICK_HITS = 100,          /* hits that a set is chosen from */
    PICK_COMPLETE = WT_MAX_K, /* and those that one may grow to, which shall be complete */
    PICK_ABSTAIN_PERCENT = 5  /* of requests that some tool fits, at which nothing is picked, unless told otherwise */
};

/* What notice says of chances that nothing was measured for. */
extern const char wt__chances_untrained[];

/* The store's chooser, calibrated on what auto finds with all that was trained; or *untrained, and it is made of what
 * other catalogues' plain recipes found, which notice says. Where what was trained cannot be used it is neither, and
 * the search says why. Lives as long as the engine. NULL when memory is out. Where progress stops it, it is neither,
 * and the search that follows ends at once. */
const struct chooser *wt__engine_chooser(wt_engine *engine, struct progress *progress, bool *untrained,
                                         struct notice *notice);

/* Reads the candidates of a search with features. Returns the probability that no tool fits; NaN where there is no
 * meaning to tell it by. */
double wt__read_candidates(const struct search *search, const struct chooser *chooser, struct candidate_features *out);

/* Where the request is unlike those that the chooser learned from, its search is run once more, untrained, and says so.
 * 1: it was; 0: it is like them. Errors: those of wt__search_run. */
int wt__search_if_unlike(struct search *search, const struct chooser *chooser,
                         const struct candidate_features *candidates, wt_error *err);

/* The hits' probabilities: no further than what is said of all tools together (none, or NaN), and no less far than
 * usages of this very request go. */
void wt__tell_probabilities(struct search *search, double none);

/* The hits of a search with features that nothing was trained for, by need: out [NEED_HITS]; the hits' probabilities
 * are told on the way. Returns how many; *best: the likeliest's probability, which no tool fitting leaves. */
size_t wt__read_needs(struct search *search, struct need_hit *out, double *best);

/* A bit for each past request that used one of these tools: to ask as if nobody ever had. *out is the caller's to
 * free(), NULL where the search asks no past requests. */
int wt__past_users(const struct search *search, const int64_t *ids, size_t count, uint64_t **out, wt_error *err);

/* A bit for each row of the search's index that a past request used, in its arena; NULL where it asks no past requests.
 * Errors: WT_ENOMEM. */
int wt__used_rows(const struct search *search, const uint64_t **out, wt_error *err);

#endif
