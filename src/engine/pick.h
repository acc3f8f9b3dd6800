/* pick.h: from a search to a set: what picking, abstaining and the chooser's training have in common. */
#ifndef WT_ENGINE_PICK_H
#define WT_ENGINE_PICK_H

#include "choose/chooser.h"
#include "engine/search.h"

enum {
    PICK_HITS = 100,          /* hits that a set is chosen from */
    PICK_COMPLETE = WT_MAX_K, /* and those that one may grow to, which shall be complete */
    PICK_ABSTAIN_PERCENT = 5  /* of requests that some tool fits, at which nothing is picked, unless told otherwise */
};

/* An evaluation has PTR ask a stand-in that knows which tools are needed (choose/oracle.h). */
struct pick_oracle {
    struct chat_model *model;
    const int64_t *gold; /* [gold_count] ids of the tools that the request needs */
    size_t gold_count;
};

/* wt_pick. oracle: NULL outside of an evaluation; options in full. */
int wt__pick(wt_engine *engine, struct str request, const wt_pick_options *options, const struct pick_oracle *oracle,
             wt_picked **out, wt_error *err);

/* One more thing for a reader of the set to know; NULL: nothing. arena: the result's. */
int wt__picked_note(wt_picked *picked, struct arena *arena, const char *text, wt_error *err);

/* The store's chooser, calibrated on what auto finds with all that was trained; or *untrained, and it is made of what
 * other catalogues' plain recipes found, which notice says. Where what was trained cannot be used it is neither, and
 * the search says why. Lives as long as the engine. NULL when memory is out. Where progress stops it, it is untrained,
 * and the search that follows ends at once. */
const struct chooser *wt__engine_chooser(wt_engine *engine, struct progress *progress, bool *untrained,
                                         const char **notice);

/* Reads the candidates of a search with features. Returns the probability that no tool fits; NaN where there is no
 * meaning to tell it by. */
double wt__read_candidates(const struct search *search, const struct chooser *chooser, struct candidate_features *out);

/* A bit for each past request that used one of these tools: to ask as if nobody ever had. *out is the caller's to
 * free(), NULL where the search asks no past requests. */
int wt__past_users(const struct search *search, const int64_t *ids, size_t count, uint64_t **out, wt_error *err);

/* A bit for each row of the search's index that a past request used, in its arena; NULL where it asks no past requests.
 * Errors: WT_ENOMEM. */
int wt__used_rows(const struct search *search, const uint64_t **out, wt_error *err);

#endif
