/* ranking.h: which tools a model puts first for a request, among those of the request's own data set: where the
 * mistakes are that there is most to learn from (hard negatives). */
#ifndef WT_LEARN_RANKING_H
#define WT_LEARN_RANKING_H

#include "learn/examples.h"

/* Tools to look at for wrong ones: many may be passed over. */
enum { RANKING_DEPTH = 256 };

/* A wrong tool whose cosine is above this share of the best right one's may well be right, and nobody said so: it is
 * passed over (Moreira et al. 2024, "NV-Retriever", section 4: positive-aware mining, TopK-PercPos). */
#define RANKING_DOUBTFUL .95

struct ranking {
    const struct examples *examples;
    uint32_t *rows; /* [count] tools that are ranked, ascending */
    size_t count;
    uint32_t *twins; /* [M] the first tool with the same text, which may be itself: as right as that one */
    bool *used;      /* [M] whether a training request needs it or a twin */
    float *vectors;  /* [count, D] of the tools, borrowed */
    size_t dim;
};

/* most: tools beyond which a seeded part is ranked; used: those alone that a training request needs, or a twin of
 * theirs. Errors: WT_ENOMEM. */
int wt__ranking_open(struct ranking *out, const struct examples *examples, bool used, size_t most, uint64_t seed,
                     wt_error *err);
void wt__ranking_dispose(struct ranking *ranking);

/* The part of a training or dev request. */
uint32_t wt__ranking_part(const struct ranking *ranking, const struct example_set *set, size_t request);

/* Rows of the k tools [count, k] that are nearest to requests [count, D] by inner product, best first; equal ones by
 * row. Each is answered from its own part (parts [count]); UINT32_MAX where that has no more. Errors: WT_ENOMEM. */
int wt__ranking_best(const struct ranking *ranking, const float *requests, const uint32_t *parts, size_t count,
                     size_t k, uint32_t *best, wt_error *err);

/* Whether a tool, or one with the same text, is a label of the request. */
bool wt__ranking_right(const struct ranking *ranking, const struct example_set *set, size_t request, uint32_t row);

/* The first `most` of best [RANKING_DEPTH] that a training request can learn from as wrong ones, in their order;
 * returns how many. Not one that is right, nor, with the request's vector [D] (NULL: whatever they are), one that may
 * well be; without a label that is ranked nobody knows. Nor one that no request needs. Of a catalogue that is hardly
 * used, those would be wrong whenever they are met, and what is learned is which tools were used: with them a
 * cross-encoder lost 11 points of recall@5 on dev requests that name a provider which training never met
 * (docs/toolrerank.md). */
size_t wt__ranking_wrong(const struct ranking *ranking, size_t request, const float *vector, const uint32_t *best,
                         size_t most, uint32_t *wrong);

#endif
