/* ranking.h: ranks the tools of a request's data set by vectors that the caller computes. Wrong tools near the top of
 * the ranking serve as hard negatives in training. */
#ifndef WT_LEARN_RANKING_H
#define WT_LEARN_RANKING_H

#include "learn/examples.h"

/* Number of nearest tools from which negatives are selected. */
enum { RANKING_DEPTH = 256 };

/* A wrong tool is skipped if its cosine exceeds this share of the best right tool's cosine. Such a tool may be right
 * but unlabelled. This is positive-aware mining (TopK-PercPos; Moreira et al. 2024, "NV-Retriever", section 4). */
#define RANKING_DOUBTFUL .95

struct mined_ranking {
    const struct examples *examples;
    uint32_t *rows; /* [count] rows of the ranked tools, ascending */
    size_t count;
    uint32_t *twins; /* [M] first tool with the same text as the tool, possibly itself. Twins are equally right */
    bool *used;      /* [M] true if a training request needs the tool or a twin */
    float *vectors;  /* [count, D] vectors of the ranked tools, borrowed; set by the caller after wt__ranking_open */
    size_t dim;      /* D; set by the caller after wt__ranking_open */
};

/* Prepares a ranking. used: if true, rank only tools that a training request needs, and their twins. most: maximum
 * number of tools; if there are more, a seeded sample is ranked. Errors: WT_ENOMEM. */
int wt__ranking_open(struct mined_ranking *out, const struct examples *examples, bool used, size_t most, uint64_t seed,
                     wt_error *err);
void wt__ranking_dispose(struct mined_ranking *ranking);

/* Returns the index of the data set (struct example_part) of a training or dev request. */
uint32_t wt__ranking_part(const struct mined_ranking *ranking, const struct example_set *set, size_t request);

/* Finds the k nearest tools of each request by inner product. requests: [count, D] vectors. parts: [count] part of each
 * request; only tools of this part are ranked. best: [count, k] rows of the tools, best first, equal scores by row. If
 * a part has fewer than k ranked tools, the remaining entries are UINT32_MAX. Errors: WT_ENOMEM. */
int wt__ranking_best(const struct mined_ranking *ranking, const float *requests, const uint32_t *parts, size_t count,
                     size_t k, uint32_t *best, wt_error *err);

/* True if the tool, or another tool with the same text, is a label of the request. */
bool wt__ranking_right(const struct mined_ranking *ranking, const struct example_set *set, size_t request,
                       uint32_t row);

/* Selects up to `most` negatives of a training request. Returns their number.
 *
 * The tools that the data set judges wrong come first. If there are fewer than `enough`, tools from best,
 * [RANKING_DEPTH], follow in order.
 *
 * Of the tools in best, skips right tools and those that are judged. vector: [D] vector of the request, used to skip
 * tools that may be right but unlabelled (RANKING_DOUBTFUL); NULL to keep them. With a vector, selects nothing if no
 * label of the request is ranked, because the cosine of the right tools is unknown.
 *
 * Also skips tools that no training request needs. In a catalogue with little usage, these tools would always be
 * negatives, and the model would only learn which tools were used. With such negatives a cross-encoder lost 11 points
 * of recall@5 on dev requests for a provider unseen in training. */
size_t wt__ranking_wrong(const struct mined_ranking *ranking, size_t request, const float *vector, const uint32_t *best,
                         size_t enough, size_t most, uint32_t *wrong);

#endif
