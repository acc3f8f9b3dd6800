#include "eval/metrics.h"

#include <math.h>

static size_t hits_within(const int *gains, size_t ranked, size_t k)
{
    size_t hits = 0;
    for (size_t i = 0; i < ranked && i < k; i++)
        hits += gains[i] > 0;
    return hits;
}

double wt__recall_at(const int *gains, size_t ranked, size_t relevant, size_t k)
{
    return relevant ? (double)hits_within(gains, ranked, k) / (double)relevant : 0;
}

double wt__complete_at(const int *gains, size_t ranked, size_t relevant, size_t k)
{
    return relevant && hits_within(gains, ranked, k) == relevant ? 1 : 0;
}

double wt__reciprocal_rank(const int *gains, size_t ranked)
{
    for (size_t i = 0; i < ranked; i++)
        if (gains[i] > 0)
            return 1.0 / (double)(i + 1);
    return 0;
}

static double dcg(const int *gains, size_t count, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < count && i < k; i++)
        if (gains[i] > 0)
            sum += gains[i] / log2((double)i + 2);
    return sum;
}

double wt__ndcg_at(const int *gains, size_t ranked, const int *ideal, size_t judged, size_t k)
{
    double best = dcg(ideal, judged, k);
    return best > 0 ? dcg(gains, ranked, k) / best : 0;
}
