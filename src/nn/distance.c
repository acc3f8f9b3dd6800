/* distance.c: see distance.h. Checked against tables of the reference implementations, which work in single precision:
 * no table that is known has a distance where that matters. */
#include "nn/distance.h"

#include <math.h>

void wt__distances_mpnet(struct distances *out, int32_t *bucket)
{
    enum { SIDE = DISTANCE_MPNET_BUCKETS / 2, EXACT = SIDE / 2 };

    for (int32_t distance = -DISTANCE_MPNET_REACH; distance <= DISTANCE_MPNET_REACH; distance++) {
        int32_t far = distance < 0 ? -distance : distance, place = far;

        if (far >= EXACT) {
            double steps = log((double)far / EXACT) / log((double)DISTANCE_MPNET_REACH / EXACT) * (SIDE - EXACT);

            place = EXACT + (int32_t)steps;
            place = place < SIDE ? place : SIDE - 1;
        }
        bucket[distance + DISTANCE_MPNET_REACH] = place + (distance < 0 ? SIDE : 0);
    }
    *out = (struct distances){bucket, DISTANCE_MPNET_REACH, DISTANCE_MPNET_BUCKETS};
}

/* bucket(distance) before the table's middle is added: exact up to half of the buckets, then by logarithm, so that the
 * last bucket ends at max. */
static int32_t deberta_bucket(int32_t distance, int32_t buckets, int32_t max)
{
    int32_t middle = buckets / 2, far = distance < 0 ? -distance : distance;

    if (buckets <= 0 || far <= middle)
        return distance;
    double steps = log((double)far / middle) / log((double)(max - 1) / middle) * (middle - 1);
    int32_t place = middle + (int32_t)ceil(steps);
    return distance < 0 ? -place : place;
}

void wt__distances_deberta(struct distances *out, int32_t *bucket, int32_t buckets, int32_t max)
{
    int32_t span = buckets > 0 ? buckets : max;

    for (int32_t distance = -max; distance <= max; distance++) {
        int32_t row = deberta_bucket(distance, buckets, max) + span;

        bucket[distance + max] = row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row;
    }
    *out = (struct distances){bucket, max, 2 * span};
}
