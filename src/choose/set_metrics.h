/* set_metrics.h: metrics that compare a set of tools with the needed set. All metrics except the size and the size
 * difference are in 0 .. 1, and 1 for the exact set. TRACC is
 *
 *   tracc   (1 - | |B| - |A| | / |A or B|) * |A and B| / |A|     with A needed and B picked (PTR, section 3)
 *
 * TRACC is thus the share of needed tools found, reduced if the set is too large or too small. If no tool is needed,
 * TRACC is 1 for an empty set and 0 for any other set. */
#ifndef WT_CHOOSE_SET_METRICS_H
#define WT_CHOOSE_SET_METRICS_H

#include <stddef.h>

struct overlap {
    size_t gold, picked, common; /* |A|, |B|, |A and B| */
};

static inline double wt__tracc(struct overlap sets)
{
    size_t difference = sets.picked > sets.gold ? sets.picked - sets.gold : sets.gold - sets.picked;
    if (sets.gold == 0)
        return sets.picked == 0;
    return (1 - (double)difference / (double)(sets.gold + sets.picked - sets.common)) * (double)sets.common /
           (double)sets.gold;
}

/* A metric and its name in reports. */
struct set_metric {
    const char *name;
    double (*of)(struct overlap sets);
};
enum { SET_METRICS = 8 };
extern const struct set_metric wt__set_metrics[SET_METRICS];

#endif
