/* compose.c: ranks candidates so that each sub-query of a request gets tools.
 *
 * With a plain sum, the sub-query with the highest values would fill the list. The score of a candidate is therefore
 * the value for the whole request plus the value for its best sub-query. Each time a candidate is taken, the weight of
 * its best sub-query fades for the following candidates:
 *
 *   score(c) = value[0][c] + subquery_weight * max over sub-queries p of faded[p] * value[p][c]
 *   faded[p] = SUBQUERY_DECAY ^ (number of candidates taken for p); 1 if value[p][c] is below 0
 *
 * Scores never rise along the list, for two reasons. Sub-query values only shrink. The best candidate is either taken
 * or excluded for good (provider cap, copy).
 *
 * A request with one sub-query keeps the order of value[0]. The list for k is a prefix of any longer list. Copies
 * share a place with the score of the best copy, even if the request asks for another copy. A tool named in the
 * request has a score of its own above all others (named.c). docs/retrieval.md measures decay and weight. */
#include "retrieve/compose.h"

#include <stdbool.h>
#include <string.h>

#include "base/topk.h"
#include "retrieve/retrieve.h"

/* Minimum cosine of near-copies, chosen on dev. Each vector includes the name of the provider, which differs between
 * copies. Equal texts of two providers therefore have cosines of only .6 to .9. */
static const float NEAR_COSINE = 0.65f;

/* Minimum precision of a provider's name (wt__name_precision) for the name to identify the provider. */
static const float NAMES_PROVIDER = 0.5f;

int wt__copies_begin(struct copies *copies, struct arena *arena, wt_error *err)
{
    copies->storage = wt__arena_array(arena, float, copies->vectors ? wt__vectors_padded(copies->vectors->dim) : 0);
    copies->met = wt__arena_array(arena, uint32_t, copies->candidates);
    copies->older = wt__arena_array(arena, uint32_t, copies->candidates);
    copies->cosines = wt__arena_array(arena, float, copies->candidates);
    copies->placed = wt__arena_array(arena, uint32_t, copies->candidates);
    copies->given = wt__arena_array(arena, struct copy, copies->candidates);
    WT_CHECK_ALLOC(
        copies->storage && copies->met && copies->older && copies->cosines && copies->placed && copies->given, err);
    return 0;
}

static bool names_provider(const struct provider_names *asked, const struct snapshot_key *key)
{
    return key->provider_precision >= NAMES_PROVIDER && wt__provider_named(asked, key->provider_hash);
}

static bool is_asked_for(const struct copies *copies, uint32_t row)
{
    return names_provider(copies->asked, &copies->keys[row]);
}

static bool are_exact_copies(const struct snapshot_key *a, const struct snapshot_key *b)
{
    return a->group > 0 && a->group == b->group && wt__are_copies(a, b);
}

/* Returns the placed row that is an exact copy of `row`, or `row` itself. */
static uint32_t find_placed_copy(const struct copies *copies, uint32_t row)
{
    for (size_t i = 0; i < copies->placed_count; i++)
        if (are_exact_copies(&copies->keys[copies->placed[i]], &copies->keys[row]))
            return copies->placed[i];
    return row;
}

static bool may_be_near_copy(const struct copies *copies, uint32_t older, uint32_t row)
{
    const struct snapshot_key *a = &copies->keys[older], *b = &copies->keys[row];
    return older < row && a->name_hash == b->name_hash && a->provider != b->provider;
}

/* Returns 1 if `row` is a near-copy of an earlier candidate with a lower row, and sets *of to that row. Returns 0 if
 * not. Negative on error. */
static int find_older(struct copies *copies, uint32_t row, uint32_t *of, wt_error *err)
{
    size_t count = 0;
    for (size_t i = 0; copies->vectors && i < copies->met_count; i++)
        if (may_be_near_copy(copies, copies->met[i], row))
            copies->older[count++] = copies->met[i];
    if (count == 0 || row >= copies->vectors->rows || copies->vectors->slot_of_row[row] == VECTOR_NONE)
        return 0;
    const float *vector = wt__vectors_of_row(copies->vectors, row, copies->storage);
    if (!vector)
        return wt__fail(err, WT_ESTORE, "the vector of row %u is damaged", (unsigned)row);
    WT_TRY(wt__vectors_score_rows(copies->vectors, copies->scratch, vector, 1, copies->older, count, &copies->cosines,
                                  err));
    for (size_t i = 0; i < count; i++)
        if (copies->cosines[i] >= NEAR_COSINE) {
            *of = copies->older[i];
            return 1;
        }
    return 0;
}

/* Records that `row` gave its place to `of`, or to the tool that `of` gave its own place to. */
static void give_place(struct copies *copies, uint32_t row, uint32_t of)
{
    for (size_t i = 0; i < copies->given_count; i++)
        if (copies->given[i].row == of)
            of = copies->given[i].of;
    copies->given[copies->given_count++] = (struct copy){row, of};
}

int wt__copy_next(struct copies *copies, uint32_t row, wt_error *err)
{
    for (size_t i = 0; i < copies->placed_count; i++)
        if (copies->placed[i] == row)
            return COPY_PLACED;
    bool grouped = copies->asked && copies->keys[row].group > 0, named = grouped && is_asked_for(copies, row);
    uint32_t of = grouped && !named ? find_placed_copy(copies, row) : row;
    bool exact = of != row;
    int near = exact || named ? 0 : find_older(copies, row, &of, err);
    if (near < 0)
        return near;
    if (near == 0)
        copies->met[copies->met_count++] = row;
    if (near > 0 || exact)
        give_place(copies, row, of);
    copies->exact_count += exact;
    return near > 0 || exact ? COPY_GIVEN : COPY_NONE;
}

void wt__copy_keep(struct copies *copies)
{
    const struct copy *last = &copies->given[--copies->given_count];
    copies->exact_count -= copies->asked && are_exact_copies(&copies->keys[last->row], &copies->keys[last->of]);
}

size_t wt__copy_asked_for(const struct copies *copies, size_t c)
{
    const struct snapshot_key *key = &copies->keys[copies->rows[c]];
    if (!copies->asked || copies->asked->count == 0 || key->group == 0 || is_asked_for(copies, copies->rows[c]))
        return c;
    for (size_t i = 0; i < copies->candidates; i++)
        if (are_exact_copies(&copies->keys[copies->rows[i]], key) && is_asked_for(copies, copies->rows[i]))
            return i;
    return c;
}

void wt__copy_place(struct copies *copies, uint32_t row, uint32_t shown)
{
    copies->placed[copies->placed_count++] = shown;
    if (row == shown)
        return;
    give_place(copies, row, shown);
    copies->exact_count++;
}

static const float SUBQUERY_DECAY = 0.8f;

/* Current score of a candidate. */
struct pick {
    float score, subquery; /* subquery: part of score added by the sub-query */
    uint32_t text;         /* best sub-query; 0 if the request has none */
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

/* True if `cap` or more of the taken candidates have the provider of candidate c. */
static bool is_capped(const struct evidence *evidence, const struct chosen_candidate *taken, size_t count, size_t cap,
                      uint32_t c)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += evidence->provider[taken[i].candidate] == evidence->provider[c];
    return same >= cap;
}

/* Returns 1 if candidate *c gets no place of its own: it is a copy of an earlier candidate, or it has a place already.
 * Otherwise returns 0 and replaces *c by the copy to show. Returns a negative code on error. */
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
    WT_CHECK_ALLOC(pool, err);
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

struct stage_evidence *wt__hit_stage(struct hit *hit, const char *name)
{
    size_t at = 0;
    while (at < HIT_STAGES - 1 && hit->stages[at].name && strcmp(hit->stages[at].name, name) != 0)
        at++;
    hit->stages[at].name = name;
    return &hit->stages[at];
}

void wt__hits_share_places(struct hit_list *hits, const struct snapshot_key *keys)
{
    size_t kept = 0, all = hits->asked ? hits->len : 0;
    for (size_t i = 0; i < all; i++) {
        const struct snapshot_key *key = &keys[hits->items[i].row];
        bool shown = false;
        for (size_t k = 0; key->group > 0 && !shown && k < kept; k++)
            shown = are_exact_copies(&keys[hits->items[k].row], key);
        if (!shown || hits->items[i].lead || names_provider(hits->asked, key))
            hits->items[kept++] = hits->items[i];
    }
    hits->len = hits->asked ? kept : hits->len;
}
