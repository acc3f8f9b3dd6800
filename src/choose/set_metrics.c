#include "choose/set_metrics.h"

static double share(size_t part, size_t whole, struct overlap sets)
{
    return whole > 0 ? (double)part / (double)whole : sets.gold == sets.picked;
}

static double size(struct overlap sets)
{
    return (double)sets.picked;
}

static double size_difference(struct overlap sets)
{
    return sets.picked > sets.gold ? (double)(sets.picked - sets.gold) : (double)(sets.gold - sets.picked);
}

static double complete(struct overlap sets)
{
    return sets.common == sets.gold;
}

static double exact(struct overlap sets)
{
    return sets.common == sets.gold && sets.common == sets.picked;
}

static double precision(struct overlap sets)
{
    return share(sets.common, sets.picked, sets);
}

static double recall(struct overlap sets)
{
    return share(sets.common, sets.gold, sets);
}

static double f1(struct overlap sets)
{
    return share(2 * sets.common, sets.gold + sets.picked, sets);
}

const struct set_metric wt__set_metrics[SET_METRICS] = {
    {"tracc", wt__tracc}, {"exact", exact},       {"set_precision", precision},   {"set_recall", recall},
    {"set_f1", f1},       {"complete", complete}, {"size_diff", size_difference}, {"set_size", size},
};
