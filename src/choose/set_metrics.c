#include "choose/set_metrics.h"

static double share_of_sets(size_t part, size_t whole, struct overlap sets)
{
    return whole > 0 ? (double)part / (double)whole : sets.gold == sets.picked;
}

static double metric_size(struct overlap sets)
{
    return (double)sets.picked;
}

static double metric_size_difference(struct overlap sets)
{
    return sets.picked > sets.gold ? (double)(sets.picked - sets.gold) : (double)(sets.gold - sets.picked);
}

static double metric_complete(struct overlap sets)
{
    return sets.common == sets.gold;
}

static double metric_exact(struct overlap sets)
{
    return sets.common == sets.gold && sets.common == sets.picked;
}

static double metric_precision(struct overlap sets)
{
    return share_of_sets(sets.common, sets.picked, sets);
}

static double metric_recall(struct overlap sets)
{
    return share_of_sets(sets.common, sets.gold, sets);
}

static double metric_f1(struct overlap sets)
{
    return share_of_sets(2 * sets.common, sets.gold + sets.picked, sets);
}

const struct set_metric wt__set_metrics[SET_METRICS] = {
    {"tracc", wt__tracc},
    {"exact", metric_exact},
    {"set_precision", metric_precision},
    {"set_recall", metric_recall},
    {"set_f1", metric_f1},
    {"complete", metric_complete},
    {"size_diff", metric_size_difference},
    {"set_size", metric_size},
};
