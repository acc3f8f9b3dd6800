/* toolrerank.c: see toolrerank.h. Combines the rules of hierarchy.c. The paper rescores the extended F1. The score of a
 * pair does not depend on other pairs, so this code scores only the new tools. */
#include "rerank/toolrerank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "retrieve/compose.h"

/* ---------------------------------------------------------------- one provider or several */

enum { NEAR = 128 /* rows read per text */ };

/* Row near a text. */
struct provider_match {
    uint32_t provider, row, text;
    float score;
};

static int compare_provider_matches(const void *a, const void *b)
{
    const struct provider_match *x = a, *y = b;
    int order = (x->provider > y->provider) - (x->provider < y->provider);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* True if both matches have one provider. Each tool without a provider counts as a provider of its own. */
static bool same_side(const struct request_texts *t, const struct provider_match *a, const struct provider_match *b)
{
    return a->provider == b->provider && (a->provider != t->nobody || a->row == b->row);
}

/* Matches of all texts. */
struct nearness {
    struct provider_match matches[TEXTS_MAX * NEAR];
    size_t count, begin;                     /* number of matches; index of the first sub-query */
    float least[TEXTS_MAX], best[TEXTS_MAX]; /* scores of each text */
};

static void collect_matches(const struct request_texts *t, struct nearness *n)
{
    n->count = 0;
    n->begin = t->texts > 1;
    for (size_t text = 0; text < t->texts; text++) {
        const struct scored *nearest = t->nearest + text * t->most;
        size_t count = t->counts[text] < NEAR ? t->counts[text] : NEAR;
        n->best[text] = count ? nearest[0].score : 0;
        n->least[text] = count ? nearest[count - 1].score : 0;
        for (size_t i = 0; i < count; i++)
            n->matches[n->count++] = (struct provider_match){t->keys[nearest[i].row].provider, nearest[i].row,
                                                             (uint32_t)text, nearest[i].score};
    }
    qsort(n->matches, n->count, sizeof *n->matches, compare_provider_matches);
}

/* Returns the end of the matches of one provider that begin here. */
static size_t end_of_provider(const struct request_texts *t, const struct nearness *n, size_t begin)
{
    size_t end = begin + 1;
    while (end < n->count && same_side(t, &n->matches[begin], &n->matches[end]))
        end++;
    return end;
}

/* Returns the lack of the provider with matches begin .. end - 1. An empty range is a provider without matches. */
static float lack_of_provider(const struct request_texts *t, const struct nearness *n, size_t begin, size_t end)
{
    float own[TEXTS_MAX];
    double sum = 0;
    memcpy(own, n->least, t->texts * sizeof *own);
    for (size_t i = begin; i < end; i++) {
        const struct provider_match *one = &n->matches[i];
        own[one->text] = fmaxf(own[one->text], one->score);
    }
    for (size_t text = n->begin; text < t->texts; text++)
        sum += (double)n->best[text] - (double)own[text];
    return (float)(sum / (double)(t->texts - n->begin));
}

float wt__request_lack(const struct request_texts *t, struct candidate *candidates, size_t count)
{
    struct nearness near;
    float least = INFINITY;
    collect_matches(t, &near);
    for (size_t c = 0; c < count; c++)
        candidates[c].lack = lack_of_provider(t, &near, 0, 0);
    for (size_t i = 0, end; i < near.count; i = end) {
        const struct provider_match *one = &near.matches[i];
        end = end_of_provider(t, &near, i);
        float lack = lack_of_provider(t, &near, i, end);
        least = fminf(least, lack);
        for (size_t c = 0; c < count; c++)
            if (t->keys[candidates[c].row].provider == one->provider &&
                (one->provider != t->nobody || candidates[c].row == one->row))
                candidates[c].lack = lack;
    }
    if (near.count == 0)
        return 0;
    for (size_t c = 0; c < count; c++)
        candidates[c].lack -= least;
    return least;
}

float wt__request_probability(const struct request_classifier *classifier, float lack)
{
    return (float)(1 / (1 + exp(-((double)classifier->constant + (double)classifier->weight * (double)lack))));
}

enum request_kind wt__request_kind(const struct request_classifier *classifier, float lack)
{
    float beyond = wt__request_probability(classifier, lack) - 0.5f;
    if (!(fabsf(beyond) > classifier->margin))
        return REQUEST_UNKNOWN;
    return beyond > 0 ? REQUEST_MULTI : REQUEST_SINGLE;
}

/* ---------------------------------------------------------------- order */

/* Scores candidates, corrected by the first stage and, if one provider is wanted, by its lack:
 *
 *   logit(score) + prior * (share - 1) - cover * lack
 *
 * NEARLY_CERTAIN keeps the logit of a certain score finite. */
#define NEARLY_CERTAIN 1e-7

static int score_with_correction(const struct hierarchy_settings *settings, enum hierarchy_rule rule,
                                 const struct toolrerank_source *source, struct candidate *candidates, size_t count,
                                 wt_error *err)
{
    double cover = rule == HIERARCHY_ALGORITHM1 ? (double)settings->cover : 0;
    int rc = source->score(source->context, candidates, count, err);
    for (size_t i = 0; rc == 0 && (settings->prior > 0 || cover > 0) && i < count; i++) {
        double odds = fmin(fmax((double)candidates[i].score, NEARLY_CERTAIN), 1 - NEARLY_CERTAIN);
        double logit = log(odds / (1 - odds)) + (double)settings->prior * ((double)candidates[i].share - 1) -
                       cover * (double)candidates[i].lack;
        candidates[i].score = (float)(1 / (1 + exp(-logit)));
    }
    return rc;
}

static bool has_candidate_row(const struct candidate *candidates, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].row == row)
            return true;
    return false;
}

static float lack_of_candidates(const struct candidate *candidates, size_t count, uint32_t provider)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].provider == provider)
            return candidates[i].lack;
    return 0;
}

/* Fetches and scores the other tools of the providers to expand, up to the free room. Their share is the lowest of all
 * candidates. */
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
            if (!has_candidate_row(candidates, count, tools[i].row)) {
                found[n] = tools[i];
                found[n].lack = lack_of_candidates(candidates, count, tools[i].provider);
                found[n++].share = least;
            }
    }
    *found_count = n;
    return n ? score_with_correction(settings, HIERARCHY_ALGORITHM1, source, found, n, err) : 0;
}

static int run_algorithm1(const struct hierarchy_settings *settings, const struct toolrerank_source *source,
                          struct candidate *candidates, size_t *count, size_t *first, wt_error *err)
{
    struct candidate found[HIERARCHY_MAX_CANDIDATES];
    struct chosen_providers chosen;
    size_t found_count = 0;
    wt__hierarchy_algorithm1(settings, candidates, *count, &chosen);
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
    int rc = source->score && *count
                 ? score_with_correction(settings, settings->rule[kind], source, candidates, *count, err)
                 : 0;
    if (rc < 0 || *count == 0)
        return rc;
    wt__hierarchy_sort(candidates, *count);
    *first = *count;
    switch (settings->rule[kind]) {
    case HIERARCHY_ALGORITHM1:
        return run_algorithm1(settings, source, candidates, count, first, err);
    case HIERARCHY_ALGORITHM2:
        *first = wt__hierarchy_algorithm2(settings, candidates, *count, source->dim);
        return 0;
    default:
        return 0;
    }
}
