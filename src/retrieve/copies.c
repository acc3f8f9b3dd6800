#include "retrieve/copies.h"

#include <stdbool.h>

/* Chosen on dev. Each vector holds its provider's name, which a copy does not share: those of one text under two
 * providers have cosines of .6 to .9. */
static const float NEAR_COSINE = 0.6f, NEAR_WORTH = 0.9f;

static bool alike(const struct copies *copies, uint32_t older, uint32_t c)
{
    const struct snapshot_key *a = &copies->keys[copies->rows[older]], *b = &copies->keys[copies->rows[c]];
    return a->name_hash == b->name_hash && a->provider != b->provider &&
           copies->worth[older] >= NEAR_WORTH * copies->worth[c];
}

int wt__near_copy(struct copies *copies, uint32_t c, wt_error *err)
{
    size_t count = 0;
    for (uint32_t i = 0; i < c; i++)
        if (alike(copies, i, c))
            copies->older[count++] = copies->rows[i];
    const float *vector = count > 0 ? wt__vectors_of_row(copies->vectors, copies->rows[c]) : NULL;
    if (!vector)
        return 0;
    int rc =
        wt__vectors_score_rows(copies->vectors, copies->scratch, vector, copies->older, count, copies->cosines, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = copies->cosines[i] >= NEAR_COSINE;
    copies->left_out += rc == 1;
    return rc;
}
