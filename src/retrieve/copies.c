#include "retrieve/copies.h"

#include "retrieve/retrieve.h"

/* Chosen on dev. Each vector includes the provider's name, which differs between copies: equal texts of two providers
 * have cosines of .6 to .9. */
static const float NEAR_COSINE = 0.65f;

/* Minimum precision of a provider's name (wt__name_precision) for the name to identify the provider. */
static const float NAMES_PROVIDER = 0.5f;

int wt__copies_begin(struct copies *copies, struct arena *arena, wt_error *err)
{
    copies->met = wt__arena_array(arena, uint32_t, copies->candidates);
    copies->older = wt__arena_array(arena, uint32_t, copies->candidates);
    copies->cosines = wt__arena_array(arena, float, copies->candidates);
    copies->placed = wt__arena_array(arena, uint32_t, copies->candidates);
    copies->given = wt__arena_array(arena, struct copy, copies->candidates);
    return copies->met && copies->older && copies->cosines && copies->placed && copies->given ? 0 : wt__fail_nomem(err);
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

/* Returns 1 and sets *of if an earlier, older candidate makes `row` a near-copy. Negative on error. */
static int find_older(struct copies *copies, uint32_t row, uint32_t *of, wt_error *err)
{
    size_t count = 0;
    for (size_t i = 0; copies->vectors && i < copies->met_count; i++)
        if (may_be_near_copy(copies, copies->met[i], row))
            copies->older[count++] = copies->met[i];
    bool has = count > 0 && row < copies->vectors->rows && copies->vectors->slot_of_row[row] != VECTOR_NONE;
    const float *vector = has ? wt__vectors_of_row(copies->vectors, row) : NULL;
    int rc = has && !vector ? wt__fail(err, WT_ESTORE, "the vector of row %u is damaged", (unsigned)row) : 0;
    if (vector)
        rc = wt__vectors_score_rows(copies->vectors, copies->scratch, vector, 1, copies->older, count, &copies->cosines,
                                    err);
    for (size_t i = 0; vector && rc == 0 && i < count; i++)
        if (copies->cosines[i] >= NEAR_COSINE) {
            *of = copies->older[i];
            rc = 1;
        }
    return rc;
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
    bool words = of != row;
    int near = words || named ? 0 : find_older(copies, row, &of, err);
    if (near < 0)
        return near;
    if (near == 0)
        copies->met[copies->met_count++] = row;
    if (near > 0 || words)
        give_place(copies, row, of);
    copies->words += words;
    return near > 0 || words ? COPY_GIVEN : COPY_NONE;
}

void wt__copy_keep(struct copies *copies)
{
    const struct copy *last = &copies->given[--copies->given_count];
    copies->words -= copies->asked && are_exact_copies(&copies->keys[last->row], &copies->keys[last->of]);
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
    copies->words++;
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
