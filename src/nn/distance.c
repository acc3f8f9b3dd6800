/* distance.c: the buckets of MPNet and DeBERTa. The reference implementations compute them in single precision; in the
 * tables of the tests the result is the same for every distance. */
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

/* Returns the bucket before the middle of the table is added: exact up to half of the buckets, then logarithmic, such
 * that the last bucket ends at max. */
static int32_t find_deberta_bucket(int32_t distance, int32_t buckets, int32_t max)
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
        int32_t row = find_deberta_bucket(distance, buckets, max) + span;

        bucket[distance + max] = row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row;
    }
    *out = (struct distances){bucket, max, 2 * span};
}
