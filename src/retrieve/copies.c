#include "retrieve/copies.h"

#include <stdbool.h>

/* Chosen on dev. Each vector holds its provider's name, which a copy does not share: those of one text under two
 * providers have cosines of .6 to .9. */
static const float NEAR_COSINE = 0.65f;

static bool alike(const struct copies *copies, uint32_t older, uint32_t row)
{
    const struct snapshot_key *a = &copies->keys[older], *b = &copies->keys[row];
    return older < row && a->name_hash == b->name_hash && a->provider != b->provider;
}

int wt__near_copy(struct copies *copies, uint32_t row, wt_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < copies->met_count; i++)
        if (alike(copies, copies->met[i], row))
            copies->older[count++] = copies->met[i];
    bool has = count > 0 && row < copies->vectors->rows && copies->vectors->slot_of_row[row] != VECTOR_NONE;
    const float *vector = has ? wt__vectors_of_row(copies->vectors, row) : NULL;
    int rc = has && !vector ? wt__fail(err, WT_ESTORE, "the vector of row %u is damaged", (unsigned)row) : 0;
    if (vector)
        rc = wt__vectors_score_rows(copies->vectors, copies->scratch, vector, copies->older, count, copies->cosines,
                                    err);
    for (size_t i = 0; vector && rc == 0 && i < count; i++)
        rc = copies->cosines[i] >= NEAR_COSINE;
    if (rc == 0)
        copies->met[copies->met_count++] = row;
    copies->left_out += rc == 1;
    return rc;
}
