/* compose.c: ranks candidates so that each sub-query of a request gets tools.
 *
 * A plain sum would let the loudest sub-query fill the list. The score of a candidate is therefore the value for the
 * whole request plus the value for its best sub-query. Each time a candidate is taken, the weight of its best sub-query
 * fades for the following candidates:
 *
 *   score(c) = value[0][c] + subquery_weight * max over sub-queries p of faded[p] * value[p][c]
 *   faded[p] = SUBQUERY_DECAY ^ (number of candidates taken for p); 1 if value[p][c] is below 0
 *
 * Scores never rise along the list: sub-query values only shrink, and the best candidate is either taken or excluded
 * for good (provider cap, copy). A request with one sub-query keeps the order of value[0]. The list for k is a prefix
 * of any longer list. Copies share a place (copies.h) with the score of the best copy, even if the request asks for
 * another copy. A tool named in the request has a score of its own (named.c) above all others. docs/retrieval.md
 * measures decay and weight. */
#include "retrieve/compose.h"

#include <stdbool.h>
#include <string.h>

#include "base/topk.h"

static const float SUBQUERY_DECAY = 0.8f;

struct pick {
    float score, subquery;
    uint32_t text;
};

/* Returns the current score of candidate c. */
static struct pick score_candidate(const struct evidence *evidence, const float *faded, size_t c)
{
    struct pick pick = {.score = evidence->value[0][c]};
    for (uint32_t t = 1; t < evidence->texts; t++) {
        float value = evidence->value[t][c];
        float subquery = evidence->subquery_weight * (value > 0 ? faded[t] : 1) * value;
        if (pick.text == 0 || subquery > pick.subquery) {
            pick.subquery = subquery;
            pick.text = t;
        }
    }
    pick.score += pick.subquery;
    if (evidence->named && evidence->named[c] > 0)
        pick.score = evidence->named[c];
    return pick;
}

/* Fills the pool with all candidates, ordered by their score before any sub-query fades. Returns their number. */
static size_t rank_pool(const struct evidence *evidence, struct scored *pool)
{
    static const float fresh[TEXTS_MAX] = {1, 1, 1, 1, 1, 1, 1};
    for (size_t c = 0; c < evidence->candidates; c++)
        pool[c] = (struct scored){score_candidate(evidence, fresh, c).score, (uint32_t)c};
    wt__scored_sort(pool, evidence->candidates);
    return evidence->candidates;
}

/* Finds the best remaining candidate of the pool. A candidate's current score never exceeds its initial score, so the
 * scan stops at the first initial score below the best. */
static struct pick find_best_now(const struct evidence *evidence, const float *faded, const struct scored *pool,
                                 size_t left, size_t *at)
{
    struct pick best = score_candidate(evidence, faded, pool[0].row);
    *at = 0;
    for (size_t i = 1; i < left && pool[i].score >= best.score; i++) {
        struct pick here = score_candidate(evidence, faded, pool[i].row);
        if (here.score > best.score || (here.score == best.score && pool[i].row < pool[*at].row)) {
            best = here;
            *at = i;
        }
    }
    return best;
}

static bool is_capped(const struct evidence *evidence, const struct chosen_candidate *taken, size_t count, size_t cap,
                      uint32_t c)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += evidence->provider[taken[i].candidate] == evidence->provider[c];
    return same >= cap;
}

/* Returns 1 if candidate *c gives its place to an earlier one. Otherwise returns 0 and sets *c to the candidate to show
 * in its place. Negative on error. */
static int share_place(const struct evidence *evidence, uint32_t *c, wt_error *err)
{
    struct copies *copies = evidence->copies;
    int copy = copies ? wt__copy_next(copies, evidence->rows[*c], err) : COPY_NONE;
    bool leads = evidence->leads && evidence->leads[*c]; /* named in the request */
    if (copy == COPY_GIVEN && leads) {
        wt__copy_keep(copies);
        copy = COPY_NONE;
    }
    if (copy == COPY_NONE && copies && !leads)
        *c = (uint32_t)wt__copy_asked_for(copies, *c);
    return copy < 0 ? copy : copy != COPY_NONE;
}

int wt__compose(const struct evidence *evidence, size_t k, size_t max_per_provider, struct arena *scratch,
                struct chosen_candidate *out, size_t *count, wt_error *err)
{
    *count = 0;
    struct scored *pool = wt__arena_array(scratch, struct scored, evidence->candidates);
    if (!pool)
        return wt__fail_nomem(err);
    float faded[TEXTS_MAX];
    for (size_t t = 0; t < TEXTS_MAX; t++)
        faded[t] = 1;

    for (size_t left = rank_pool(evidence, pool); left > 0 && *count < k;) {
        size_t at;
        struct pick pick = find_best_now(evidence, faded, pool, left, &at);
        uint32_t best = pool[at].row, c = best;
        memmove(pool + at, pool + at + 1, (--left - at) * sizeof *pool);
        int rc = share_place(evidence, &c, err);
        if (rc < 0)
            return rc;
        if (rc == 0 && c != best && max_per_provider && is_capped(evidence, out, *count, max_per_provider, c))
            c = best;
        if (rc > 0 || (max_per_provider && is_capped(evidence, out, *count, max_per_provider, c)))
            continue;
        if (pick.text)
            faded[pick.text] *= SUBQUERY_DECAY;
        if (evidence->copies)
            wt__copy_place(evidence->copies, evidence->rows[best], evidence->rows[c]);
        out[(*count)++] = (struct chosen_candidate){c, pick.text, pick.score, pick.subquery};
    }
    return 0;
}
