/* compose.c: a request with several sub-queries needs a tool for each sub-query, but a plain sum lets the loudest
 * sub-query fill the list. So a candidate's score is what the whole request says plus what its best sub-query says, and
 * each time a candidate is taken, the sub-query that spoke for it counts a little less for those that follow:
 *
 *   score(c) = value[0][c] + subquery_weight * max over sub-queries p of faded[p] * value[p][c]
 *   faded[p] = SUBQUERY_DECAY ^ (how many taken candidates p spoke for); 1 where value[p][c] is below 0
 *
 * What a sub-query adds only shrinks and the best candidate is always taken, or left out for good (a provider's cap, a
 * copy), so scores never rise along the list. A request with one sub-query keeps the plain order of value[0]. The
 * first k of a longer list are the list for k. Copies share a place (copies.h), which has the score of the
 * best of them even where the request asks for another one. A tool that the request names has a score of its own
 * (named.c), above all of these. What decay and weight are worth: docs/retrieval.md. */
#include "retrieve/compose.h"

#include <stdbool.h>
#include <string.h>

#include "base/topk.h"

static const float SUBQUERY_DECAY = 0.8f;

struct pick {
    float score, subquery;
    uint32_t text;
};

/* What candidate c is worth now. */
static struct pick worth(const struct evidence *evidence, const float *faded, size_t c)
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

/* All candidates in order of their worth while no sub-query has faded. Returns how many. */
static size_t ranked_pool(const struct evidence *evidence, struct scored *pool)
{
    static const float fresh[TEXTS_MAX] = {1, 1, 1, 1, 1, 1, 1};
    for (size_t c = 0; c < evidence->candidates; c++)
        pool[c] = (struct scored){worth(evidence, fresh, c).score, (uint32_t)c};
    wt__scored_sort(pool, evidence->candidates);
    return evidence->candidates;
}

/* The best of the pool as things stand. The pool is in order of fresh worth, which worth never exceeds: the search
 * ends where no fresh worth reaches the best. */
static struct pick best_now(const struct evidence *evidence, const float *faded, const struct scored *pool, size_t left,
                            size_t *at)
{
    struct pick best = worth(evidence, faded, pool[0].row);
    *at = 0;
    for (size_t i = 1; i < left && pool[i].score >= best.score; i++) {
        struct pick here = worth(evidence, faded, pool[i].row);
        if (here.score > best.score || (here.score == best.score && pool[i].row < pool[*at].row)) {
            best = here;
            *at = i;
        }
    }
    return best;
}

static bool capped(const struct evidence *evidence, const struct choice *taken, size_t count, size_t cap, uint32_t c)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += evidence->provider[taken[i].candidate] == evidence->provider[c];
    return same >= cap;
}

/* 1: candidate *c gives its place to one that has it. Else *c becomes what is shown in its place. */
static int share_place(const struct evidence *evidence, uint32_t *c, wt_error *err)
{
    struct copies *copies = evidence->copies;
    int copy = copies ? wt__copy_next(copies, evidence->rows[*c], err) : COPY_NONE;
    bool leads = evidence->leads && evidence->leads[*c]; /* it was asked for */
    if (copy == COPY_GIVEN && leads) {
        wt__copy_keep(copies);
        copy = COPY_NONE;
    }
    if (copy == COPY_NONE && copies && !leads)
        *c = (uint32_t)wt__copy_asked_for(copies, *c);
    return copy < 0 ? copy : copy != COPY_NONE;
}

int wt__compose(const struct evidence *evidence, size_t k, size_t max_per_provider, struct arena *scratch,
                struct choice *out, size_t *count, wt_error *err)
{
    *count = 0;
    struct scored *pool = wt__arena_array(scratch, struct scored, evidence->candidates);
    if (!pool)
        return wt__fail_nomem(err);
    float faded[TEXTS_MAX];
    for (size_t t = 0; t < TEXTS_MAX; t++)
        faded[t] = 1;

    for (size_t left = ranked_pool(evidence, pool); left > 0 && *count < k;) {
        size_t at;
        struct pick pick = best_now(evidence, faded, pool, left, &at);
        uint32_t best = pool[at].row, c = best;
        memmove(pool + at, pool + at + 1, (--left - at) * sizeof *pool);
        int rc = share_place(evidence, &c, err);
        if (rc < 0)
            return rc;
        if (rc == 0 && c != best && max_per_provider && capped(evidence, out, *count, max_per_provider, c))
            c = best;
        if (rc > 0 || (max_per_provider && capped(evidence, out, *count, max_per_provider, c)))
            continue;
        if (pick.text)
            faded[pick.text] *= SUBQUERY_DECAY;
        if (evidence->copies)
            wt__copy_place(evidence->copies, evidence->rows[best], evidence->rows[c]);
        out[(*count)++] = (struct choice){c, pick.text, pick.score, pick.subquery};
    }
    return 0;
}
