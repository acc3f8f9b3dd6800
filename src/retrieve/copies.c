#include "retrieve/copies.h"

/* What two tools' vectors must have in common. Chosen on dev (docs/floods.md). */
static const float NEAR_COPY = 0.8f;

int wt__near_copy(struct copies *copies, uint32_t c, wt_error *err)
{
    const float *vector = wt__vectors_of_row(copies->vectors, copies->rows[c]);
    size_t count = 0;
    for (uint32_t i = 0; vector && i < c; i++)
        if (copies->provider[i] != copies->provider[c])
            copies->older[count++] = copies->rows[i];
    int rc = 0;
    if (count > 0)
        rc = wt__vectors_score_rows(copies->vectors, copies->scratch, vector, copies->older, count, copies->cosines,
                                    err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = copies->cosines[i] >= NEAR_COPY;
    copies->left_out += rc == 1;
    return rc;
}
