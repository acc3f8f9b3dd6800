#include "choose/candidate_features.h"

#include <math.h>
#include <string.h>

/* Added to a share of votes before its logarithm, so that one voter in a hundred hardly counts. */
static const float LITTLE = 0.01f;

static void select_candidates(struct candidate_features *out, const struct hit_list *hits)
{
    for (size_t h = 0; h < hits->len && out->tools < CHOOSE_TOOLS; h++)
        if (h < CHOOSE_FIRST || hits->items[h].features[FEATURE_NEIGHBOUR_VOTES] > 0)
            out->hits[out->tools++] = (uint32_t)h;
}

/* Reads the tools of a past request as a set. False if one of them is not a candidate. */
static bool read_set(const struct candidate_features *s, const struct hit_list *hits, const struct neighbours *n,
                     uint32_t request, uint64_t *set)
{
    *set = 0;
    for (uint32_t l = n->starts[request]; l < n->starts[request + 1]; l++) {
        size_t t = 0;
        while (t < s->tools && hits->items[s->hits[t]].row != n->rows[n->labels[l]])
            t++;
        if (t == s->tools)
            return false;
        *set |= (uint64_t)1 << t;
    }
    return *set != 0;
}

/* Reads the sets of past requests. Returns their mean number of tools, weighted by vote. */
static float read_past_sets(struct candidate_features *out, const struct hit_list *hits, const struct neighbours *n)
{
    const struct neighbour_votes *votes = &hits->votes;
    float all = 0, tools = 0;
    for (size_t i = 0; i < votes->request_count; i++)
        all += wt__neighbours_weight(votes->requests[i].score, votes->requests[0].score);
    for (size_t i = 0; i < votes->request_count; i++) {
        uint32_t request = votes->requests[i].row;
        float share = wt__neighbours_weight(votes->requests[i].score, votes->requests[0].score) / all;
        uint64_t set;
        tools += share * (float)(n->starts[request + 1] - n->starts[request]);
        if (!read_set(out, hits, n, request, &set))
            continue;
        size_t p = 0;
        while (p < out->past_count && out->past[p].tools != set)
            p++;
        if (p == out->past_count)
            out->past[out->past_count++] = (struct past_set){.tools = set};
        out->past[p].share += share;
    }
    return tools;
}

static void read_tool_features(float *out, const struct hit_list *hits, size_t h, float expected)
{
    const struct hit *hit = &hits->items[h];
    out[TOOL_SHARE] = hit->features[FEATURE_SCORE];
    out[TOOL_GAP] = hit->score - hits->items[0].score;
    out[TOOL_RANK] = -logf((float)(h + 1));
    out[TOOL_MEANING] = hit->features[FEATURE_MEANING];
    out[TOOL_WORDS] = hit->features[FEATURE_WORDS];
    out[TOOL_SUBQUERY_MEANING] = hit->features[FEATURE_SUBQUERY_MEANING];
    out[TOOL_SUBQUERY_WORDS] = hit->features[FEATURE_SUBQUERY_WORDS];
    out[TOOL_NEIGHBOUR_VOTES] = logf(hit->features[FEATURE_NEIGHBOUR_VOTES] + LITTLE);
    out[TOOL_EXPECTED] = expected > 0 ? logf(expected) : 0;
}

static void read_answerability_features(float *out, const struct hit_list *hits, float voters)
{
    const struct neighbour_votes *votes = &hits->votes;
    size_t n = hits->len;
    memset(out, 0, ANSWERABLE_FEATURES * sizeof *out);
    if (n > 0) {
        out[ANSWERABLE_BEST] = hits->items[0].score;
        out[ANSWERABLE_SECOND] = out[ANSWERABLE_BEST] - (n > 1 ? hits->items[1].score : 0);
        out[ANSWERABLE_FIFTH] = out[ANSWERABLE_BEST] - (n > 4 ? hits->items[4].score : 0);
    }
    for (size_t h = 0; h < n; h++) {
        const float *f = hits->items[h].features;
        out[ANSWERABLE_MEANING] = fmaxf(out[ANSWERABLE_MEANING], f[FEATURE_MEANING]);
        out[ANSWERABLE_SUBQUERY_MEANING] = fmaxf(out[ANSWERABLE_SUBQUERY_MEANING], f[FEATURE_SUBQUERY_MEANING]);
        out[ANSWERABLE_WORDS] = fmaxf(out[ANSWERABLE_WORDS], f[FEATURE_WORDS]);
        out[ANSWERABLE_NEIGHBOUR_VOTE] = fmaxf(out[ANSWERABLE_NEIGHBOUR_VOTE], f[FEATURE_NEIGHBOUR_VOTES]);
    }
    for (size_t i = 0; i < votes->request_count; i++)
        out[ANSWERABLE_NEAR] += votes->requests[i].score / (float)votes->request_count;
    for (size_t i = 0; i < votes->len; i++)
        out[ANSWERABLE_THERE] += votes->items[i].score;
    if (votes->request_count > 0)
        out[ANSWERABLE_NEAREST] = votes->requests[0].score;
    if (voters > 0)
        out[ANSWERABLE_THERE] /= voters;
}

void wt__candidate_features_read(struct candidate_features *out, const struct hit_list *hits,
                                 const struct neighbours *neighbours)
{
    float expected = 0;
    out->tools = out->past_count = 0;
    select_candidates(out, hits);
    if (neighbours && hits->votes.request_count > 0)
        expected = read_past_sets(out, hits, neighbours);
    for (size_t t = 0; t < out->tools; t++)
        read_tool_features(out->features[t], hits, out->hits[t], expected);
    read_answerability_features(out->answerability, hits, expected);
}
