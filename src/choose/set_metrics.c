#include "choose/set_metrics.h"

static double share(size_t part, size_t whole, struct overlap sets)
{
    return whole > 0 ? (double)part / (double)whole : sets.gold == sets.picked;
}

double wt__set_size_difference(struct overlap sets)
{
    return sets.picked > sets.gold ? (double)(sets.picked - sets.gold) : (double)(sets.gold - sets.picked);
}

double wt__tracc(struct overlap sets)
{
    size_t either = sets.gold + sets.picked - sets.common;
    double sizes = either > 0 ? 1 - wt__set_size_difference(sets) / (double)either : 1;
    return sizes * share(sets.common, sets.gold, sets);
}

double wt__set_complete(struct overlap sets)
{
    return sets.common == sets.gold;
}

double wt__set_exact(struct overlap sets)
{
    return sets.common == sets.gold && sets.common == sets.picked;
}

double wt__set_precision(struct overlap sets)
{
    return share(sets.common, sets.picked, sets);
}

double wt__set_recall(struct overlap sets)
{
    return share(sets.common, sets.gold, sets);
}

double wt__set_f1(struct overlap sets)
{
    return share(2 * sets.common, sets.gold + sets.picked, sets);
}
