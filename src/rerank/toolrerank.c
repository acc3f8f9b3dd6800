/* toolrerank.c: the rules are in hierarchy.c; here they are joined. The paper scores the extended F1 anew; a pair's
 * score does not depend on its company, so that only what came in is scored. */
#include "rerank/toolrerank.h"

#include <math.h>
#include <stdlib.h>

#include "nn/kernels/kernels.h"
#include "retrieve/compose.h"

/* ---------------------------------------------------------------- one provider or several */

enum { EVIDENCE_DEPTH = 128 }; /* rows of a text that are looked at */
#define ENTROPY_SCALE 20.0f

/* A row near a text. */
struct sighting {
    uint32_t provider, row, text;
    float score;
};

static int compare_sightings(const void *a, const void *b)
{
    const struct sighting *x = a, *y = b;
    int order = (x->provider > y->provider) - (x->provider < y->provider);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Tools that have no provider are each their own. */
static bool same_side(const struct request_texts *t, const struct sighting *a, const struct sighting *b)
{
    return a->provider == b->provider && (a->provider != t->nobody || a->row == b->row);
}

/* How one provider covers the parts. */
struct cover {
    double mean, gap;
};

/* The rows near the texts, by provider. Returns how many. least, best: [T] the last and the first score of a text. */
static size_t list_sightings(const struct request_texts *t, struct sighting *out, float *least, float *best)
{
    size_t n = 0;
    for (size_t text = 0; text < t->texts; text++) {
        const struct scored *nearest = t->nearest + text * t->most;
        size_t count = t->counts[text] < EVIDENCE_DEPTH ? t->counts[text] : EVIDENCE_DEPTH;
        best[text] = count ? nearest[0].score : 0;
        least[text] = count ? nearest[count - 1].score : 0;
        for (size_t i = 0; i < count; i++)
            out[n++] =
                (struct sighting){t->keys[nearest[i].row].provider, nearest[i].row, (uint32_t)text, nearest[i].score};
    }
    qsort(out, n, sizeof *out, compare_sightings);
    return n;
}

/* Of the sightings [n] of one provider: its best score of each text, where it has none the text's least. */
static void best_of(const struct sighting *sightings, size_t n, const float *least, size_t texts, float *out)
{
    for (size_t text = 0; text < texts; text++)
        out[text] = least[text];
    for (size_t i = 0; i < n; i++)
        out[sightings[i].text] = fmaxf(out[sightings[i].text], sightings[i].score);
}

/* The parts are the texts from `begin` on. */
static struct cover cover_of(const float *own, const float *best, size_t begin, size_t texts)
{
    struct cover cover = {0, 0};
    for (size_t text = begin; text < texts; text++) {
        double gap = (double)best[text] - (double)own[text];
        cover.mean += gap / (double)(texts - begin);
        cover.gap = fmax(cover.gap, gap);
    }
    return cover;
}

/* Entropy of softmax as its terms come: scale * score, each weighed by exp. */
struct entropy {
    double sum, weighed;
};

static void add_term(struct entropy *e, float score, float best)
{
    double logit = (double)ENTROPY_SCALE * ((double)score - (double)best), weight = exp(logit);
    e->sum += weight;
    e->weighed += weight * logit;
}

static void look_at_providers(const struct request_texts *t, size_t begin, struct request_evidence *out)
{
    struct sighting sightings[TEXTS_MAX * EVIDENCE_DEPTH];
    float least[TEXTS_MAX], best[TEXTS_MAX], own[TEXTS_MAX];
    size_t n = list_sightings(t, sightings, least, best);
    struct cover nearest = {INFINITY, 0};
    struct entropy entropy = {0, 0};
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same_side(t, &sightings[i], &sightings[end]);)
            end++;
        best_of(sightings + i, end - i, least, t->texts, own);
        struct cover cover = cover_of(own, best, begin, t->texts);
        if (cover.mean < nearest.mean)
            nearest = cover;
        add_term(&entropy, own[0], best[0]);
    }
    out->values[EVIDENCE_MARGIN] = n ? (float)nearest.mean : 0;
    out->values[EVIDENCE_GAP] = (float)nearest.gap;
    out->values[EVIDENCE_ENTROPY] = n ? (float)(log(entropy.sum) - entropy.weighed / entropy.sum) : 0;
}

void wt__request_evidence(const struct request_texts *t, struct request_evidence *out)
{
    const struct kernels *kernels = wt__kernels();
    size_t begin = t->texts > 1, parts = t->texts - begin;
    double between = 0, pairs = 0;
    float least = 1;
    look_at_providers(t, begin, out);
    for (size_t a = begin; a < t->texts; a++) {
        for (size_t b = a + 1; b < t->texts; b++, pairs++)
            between += (double)kernels->dot_f32(t->vectors + a * t->dim, t->vectors + b * t->dim, t->dim);
        if (a > 0)
            least = fminf(least, kernels->dot_f32(t->vectors, t->vectors + a * t->dim, t->dim));
    }
    out->values[EVIDENCE_PARTS] = (float)parts;
    out->values[EVIDENCE_PART_COSINE] = pairs > 0 ? (float)(between / pairs) : 1;
    out->values[EVIDENCE_WHOLE_COSINE] = least;
}

float wt__request_probability(const struct request_classifier *classifier, const struct request_evidence *evidence)
{
    double sum = classifier->constant;
    for (size_t i = 0; i < REQUEST_EVIDENCE; i++)
        sum += (double)classifier->weights[i] * (double)evidence->values[i];
    return (float)(1 / (1 + exp(-sum)));
}

enum request_kind wt__request_kind(const struct request_classifier *classifier, const struct request_evidence *evidence)
{
    float beyond = wt__request_probability(classifier, evidence) - 0.5f;
    if (!(fabsf(beyond) > classifier->margin))
        return REQUEST_UNKNOWN;
    return beyond > 0 ? REQUEST_MULTI : REQUEST_SINGLE;
}

/* ---------------------------------------------------------------- the order */

/* Scores, which lean on the first stage: logit(score) + prior * (share - 1). What the cross-encoder is sure of is less
 * than certain, so that its logit is finite. */
#define NEARLY_CERTAIN 1e-7

static int score(const struct hierarchy_settings *settings, const struct toolrerank_source *source,
                 struct candidate *candidates, size_t count, wt_error *err)
{
    int rc = source->score(source->context, candidates, count, err);
    for (size_t i = 0; rc == 0 && settings->prior > 0 && i < count; i++) {
        double odds = fmin(fmax((double)candidates[i].score, NEARLY_CERTAIN), 1 - NEARLY_CERTAIN);
        double logit = log(odds / (1 - odds)) + (double)settings->prior * ((double)candidates[i].share - 1);
        candidates[i].score = (float)(1 / (1 + exp(-logit)));
    }
    return rc;
}

static bool holds(const struct candidate *candidates, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].row == row)
            return true;
    return false;
}

/* The other tools of the providers that the settings want whole, as many as there is room for, with scores. The first
 * stage put them behind all that it gave. */
static int fetch_others(const struct hierarchy_settings *settings, const struct toolrerank_source *source,
                        const struct chosen_providers *chosen, const struct candidate *candidates, size_t count,
                        struct candidate *found, size_t *found_count, wt_error *err)
{
    struct candidate tools[HIERARCHY_MAX_CANDIDATES];
    size_t room = HIERARCHY_MAX_CANDIDATES - count, n = 0;
    float least = 1;
    for (size_t i = 0; i < count; i++)
        least = fminf(least, candidates[i].share);
    for (size_t p = 0; p < chosen->count && n < room; p++) {
        if (!chosen->items[p].expand)
            continue;
        int of = source->tools_of(source->context, chosen->items[p].provider, tools, HIERARCHY_MAX_CANDIDATES, err);
        if (of < 0)
            return of;
        for (size_t i = 0; i < (size_t)of && n < room; i++)
            if (!holds(candidates, count, tools[i].row)) {
                found[n] = tools[i];
                found[n++].share = least;
            }
    }
    *found_count = n;
    return n ? score(settings, source, found, n, err) : 0;
}

static int concentrate(const struct hierarchy_settings *settings, const struct toolrerank_source *source,
                       struct candidate *candidates, size_t *count, size_t *first, wt_error *err)
{
    struct candidate found[HIERARCHY_MAX_CANDIDATES];
    struct chosen_providers chosen;
    size_t found_count = 0;
    wt__hierarchy_concentrate(settings, candidates, *count, &chosen);
    int rc = source->score ? fetch_others(settings, source, &chosen, candidates, *count, found, &found_count, err) : 0;
    if (rc < 0)
        return rc;
    size_t before = *count;
    *count = wt__hierarchy_merge(candidates, chosen.first, before, HIERARCHY_MAX_CANDIDATES, found, found_count);
    *first = chosen.first + (*count - before);
    return 0;
}

int wt__toolrerank(const struct hierarchy_settings *settings, enum request_kind kind,
                   const struct toolrerank_source *source, struct candidate *candidates, size_t *count, size_t *first,
                   wt_error *err)
{
    *count = *first = wt__hierarchy_truncate(settings, candidates, *count);
    for (size_t i = 0; i < *count; i++)
        candidates[i].share = candidates[i].score;
    int rc = source->score && *count ? score(settings, source, candidates, *count, err) : 0;
    if (rc < 0 || *count == 0)
        return rc;
    wt__hierarchy_sort(candidates, *count);
    *first = *count;
    switch (settings->rule[kind]) {
    case HIERARCHY_CONCENTRATE:
        return concentrate(settings, source, candidates, count, first, err);
    case HIERARCHY_SPREAD:
        *first = wt__hierarchy_spread(settings, candidates, *count, source->dim);
        return 0;
    default:
        return 0;
    }
}
