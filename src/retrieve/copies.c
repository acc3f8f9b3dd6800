#include <stdlib.h>
#include "retrieve/copies.h"

/* What two vectors must have in common. Each holds its provider's name, too, which a copy does not share: copies of the
 * same text lie between .6 and .9. */
static const float NEAR_COPY = 0.6f;

int wt__near_copy(struct copies *copies, uint32_t c, wt_error *err)
{
    uint32_t row = copies->rows[c];
    const struct snapshot_key *key = &copies->keys[row];
    size_t count = 0;
    for (uint32_t i = 0; i < c; i++) {
        const struct snapshot_key *other = &copies->keys[copies->rows[i]];
        if (other->name_hash == key->name_hash && other->provider != key->provider)
            copies->older[count++] = copies->rows[i];
    }
    const float *vector = count > 0 ? wt__vectors_of_row(copies->vectors, row) : NULL;
    if (!vector)
        return 0;
    int rc = wt__vectors_score_rows(copies->vectors, copies->scratch, vector, copies->older, count, copies->cosines,
                                    err);
    float limit = getenv("WT_NEAR") ? (float)atof(getenv("WT_NEAR")) : NEAR_COPY;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = copies->cosines[i] >= limit;
    copies->left_out += rc == 1;
    return rc;
}
