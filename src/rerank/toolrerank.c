/* toolrerank.c: ToolRerank's rules for providers, its classifier of requests, its stages, and its settings as JSON. */
#include "rerank/toolrerank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/names.h"
#include "nn/kernels/kernels.h"
#include "retrieve/compose.h"

/* ---------------------------------------------------------------- rules for providers */

/* ToolRerank's rules for a list of candidates (sections 3.2 and 3.3). Where the paper is ambiguous, the code does this:
 *
 *   Depths. By default, unseen tools have the greater depth, as in section 3.2 and Tables 2 and 5. Section 4.2 says
 *     the opposite.
 *   Algorithm 1. The first candidate's provider is always chosen, as in the algorithm. The paper's text chooses this
 *     provider only if no score is above tau_s. For a sorted list, the results are equal.
 *   Seen providers. A provider is seen if any of its candidates is seen.
 *   Groups. Tools that are linked through other tools are in the same group. */

const struct hierarchy_settings wt__hierarchy_paper = {
    .seen_depth = 10,
    .unseen_depth = 50,
    .tau_s = 0.85f,
    .tau_m = 0.7f,
    .group_most = 3,
    .truncate = true,
    .expand_unseen = true,
    .rule = {[REQUEST_UNKNOWN] = HIERARCHY_NONE,
             [REQUEST_SINGLE] = HIERARCHY_ALGORITHM1,
             [REQUEST_MULTI] = HIERARCHY_ALGORITHM2},
};

static int check_count(const char *name, uint32_t value, wt_error *err)
{
    if (value >= 1 && value <= HIERARCHY_MAX_CANDIDATES)
        return 0;
    return wt__fail(err, WT_EINVAL, "%s is %u; it must be 1 to %d", name, value, HIERARCHY_MAX_CANDIDATES);
}

static int check_lean(const char *name, float value, wt_error *err)
{
    if (value >= 0 && value <= HIERARCHY_MAX_LEAN)
        return 0;
    return wt__fail(err, WT_EINVAL, "%s is %g; it must be 0 to %d", name, (double)value, HIERARCHY_MAX_LEAN);
}

static int check_share(const char *name, float value, float least, wt_error *err)
{
    if (value >= least && value <= 1)
        return 0;
    return wt__fail(err, WT_EINVAL, "%s is %g; it must be %g to 1", name, (double)value, (double)least);
}

int wt__hierarchy_validate(const struct hierarchy_settings *settings, wt_error *err)
{
    WT_TRY(check_count("seen_depth", settings->seen_depth, err));
    WT_TRY(check_count("unseen_depth", settings->unseen_depth, err));
    WT_TRY(check_share("tau_s", settings->tau_s, 0, err));
    WT_TRY(check_share("tau_m", settings->tau_m, -1, err));
    WT_TRY(check_count("group_most", settings->group_most, err));
    WT_TRY(check_lean("prior", settings->prior, err));
    WT_TRY(check_lean("cover", settings->cover, err));
    for (size_t kind = 0; kind < REQUEST_KINDS; kind++)
        if ((unsigned)settings->rule[kind] >= HIERARCHY_RULES)
            WT_TRY(wt__fail(err, WT_EINVAL, "rule[%zu] is %d; it must be 0 to %d", kind, (int)settings->rule[kind],
                            HIERARCHY_RULES - 1));
    return 0;
}

size_t wt__hierarchy_depth(const struct hierarchy_settings *settings)
{
    return settings->seen_depth > settings->unseen_depth ? settings->seen_depth : settings->unseen_depth;
}

static size_t limit_candidates(size_t count)
{
    return count < HIERARCHY_MAX_CANDIDATES ? count : HIERARCHY_MAX_CANDIDATES;
}

size_t wt__hierarchy_truncate(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count)
{
    size_t kept = 0, deepest = wt__hierarchy_depth(settings);
    for (size_t i = 0; i < count && i < deepest; i++) {
        size_t depth = candidates[i].seen ? settings->seen_depth : settings->unseen_depth;
        if (!settings->truncate || i < depth)
            candidates[kept++] = candidates[i];
    }
    return kept;
}

/* True if a has the higher score. NaN is the lowest score. */
static bool is_better_candidate(const struct candidate *a, const struct candidate *b)
{
    return a->score > b->score || (isnan(b->score) && !isnan(a->score));
}

/* Uses insertion sort, because the lists are short. */
void wt__hierarchy_sort(struct candidate *candidates, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct candidate moved = candidates[i];
        size_t at = i;
        for (; at > 0 && is_better_candidate(&moved, &candidates[at - 1]); at--)
            candidates[at] = candidates[at - 1];
        candidates[at] = moved;
    }
}

/* Moves the candidates marked in is_first before the other candidates, and keeps the order of both groups. Returns the
 * number of marked candidates. */
static size_t split_first(struct candidate *candidates, size_t count, const bool *is_first)
{
    struct candidate rest[HIERARCHY_MAX_CANDIDATES];
    size_t first = 0, behind = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_first[i])
            candidates[first++] = candidates[i];
        else
            rest[behind++] = candidates[i];
    }
    memcpy(candidates + first, rest, behind * sizeof *rest);
    return first;
}

static bool same_provider(const struct candidate *a, const struct candidate *b)
{
    return a->provider == b->provider && a->provider != HIERARCHY_NO_PROVIDER;
}

/* Lists the providers of the first chosen->first candidates. Skips tools without a provider, because they have no other
 * tools to add. */
static void list_candidate_providers(const struct hierarchy_settings *settings, const struct candidate *candidates,
                                     struct chosen_providers *chosen)
{
    chosen->count = 0;
    for (size_t i = 0; i < chosen->first; i++) {
        size_t at = 0;
        if (candidates[i].provider == HIERARCHY_NO_PROVIDER)
            continue;
        while (at < chosen->count && chosen->items[at].provider != candidates[i].provider)
            at++;
        if (at == chosen->count)
            chosen->items[chosen->count++] = (struct chosen_provider){.provider = candidates[i].provider};
        chosen->items[at].seen |= candidates[i].seen;
    }
    for (size_t i = 0; i < chosen->count; i++)
        chosen->items[i].expand = chosen->items[i].seen ? settings->expand_seen : settings->expand_unseen;
}

void wt__hierarchy_algorithm1(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                              struct chosen_providers *chosen)
{
    bool is_first[HIERARCHY_MAX_CANDIDATES] = {false};
    count = limit_candidates(count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !(candidates[i].score > settings->tau_s))
            continue;
        is_first[i] = true;
        for (size_t j = 0; j < count; j++)
            is_first[j] |= same_provider(&candidates[i], &candidates[j]);
    }
    chosen->first = split_first(candidates, count, is_first);
    list_candidate_providers(settings, candidates, chosen);
}

static bool has_candidate(const struct candidate *candidates, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].row == row)
            return true;
    return false;
}

/* Inserts a candidate into the sorted candidates 0 .. first - 1, after candidates with an equal score. If the list is
 * full, drops the last of all candidates. Returns true if the list has grown. */
static bool insert_candidate(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                             const struct candidate *one)
{
    size_t at = first, moved = count < capacity ? count : capacity - 1;
    while (at > 0 && is_better_candidate(one, &candidates[at - 1]))
        at--;
    if (at >= capacity)
        return false;
    memmove(candidates + at + 1, candidates + at, (moved - at) * sizeof *candidates);
    candidates[at] = *one;
    return count < capacity;
}

size_t wt__hierarchy_merge(struct candidate *candidates, size_t first, size_t count, size_t capacity,
                           const struct candidate *found, size_t found_count)
{
    wt__hierarchy_sort(candidates, first);
    for (size_t i = 0; i < found_count; i++) {
        if (has_candidate(candidates, count, found[i].row))
            continue;
        count += insert_candidate(candidates, first, count, capacity, &found[i]);
        first += first < capacity;
    }
    return count;
}

/* Returns the group of candidate `i`: the index of the group's first candidate (union-find with path halving). */
static size_t find_group(uint16_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Links candidates to groups, as in lines 2 to 5 of Algorithm 2. Computes a cosine only for candidates of different
 * groups. parent: [count] receives the union-find forest. */
static void link_groups(const struct hierarchy_settings *settings, const struct candidate *candidates, size_t count,
                        size_t dim, uint16_t *parent)
{
    const struct kernels *kernels = wt__kernels();
    for (size_t i = 0; i < count; i++)
        parent[i] = (uint16_t)i;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const struct candidate *a = &candidates[i], *b = &candidates[j];
            size_t group_a = find_group(parent, i), group_b = find_group(parent, j);
            if (group_a == group_b)
                continue;
            if (same_provider(a, b) ||
                (a->vector && b->vector && kernels->dot_f32(a->vector, b->vector, dim) > settings->tau_m))
                parent[group_a < group_b ? group_b : group_a] = (uint16_t)(group_a < group_b ? group_a : group_b);
        }
}

size_t wt__hierarchy_algorithm2(const struct hierarchy_settings *settings, struct candidate *candidates, size_t count,
                                size_t dim)
{
    uint16_t parent[HIERARCHY_MAX_CANDIDATES], group[HIERARCHY_MAX_CANDIDATES];
    bool is_first[HIERARCHY_MAX_CANDIDATES];
    count = limit_candidates(count);
    link_groups(settings, candidates, count, dim, parent);
    for (size_t i = 0; i < count; i++)
        group[i] = (uint16_t)find_group(parent, i);
    for (size_t i = 0; i < count; i++) {
        size_t ahead = 0; /* candidates of the group with a better score, or earlier with an equal score */
        for (size_t j = 0; j < count; j++)
            ahead += group[j] == group[i] && (is_better_candidate(&candidates[j], &candidates[i]) ||
                                              (j < i && !is_better_candidate(&candidates[i], &candidates[j])));
        is_first[i] = ahead < settings->group_most;
    }
    return split_first(candidates, count, is_first);
}

/* ---------------------------------------------------------------- one provider or several */

enum { NEAR = 128 }; /* maximum number of nearest rows read of each text */

/* A row among the nearest of a text, with its cosine as score. */
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

/* True if both matches belong to the same provider. A tool without a provider counts as a separate provider. */
static bool same_side(const struct request_texts *t, const struct provider_match *a, const struct provider_match *b)
{
    return a->provider == b->provider && (a->provider != t->no_provider || a->row == b->row);
}

/* Matches of all texts of a request. */
struct nearness {
    struct provider_match matches[TEXTS_MAX * NEAR]; /* [count] sorted by provider, then row */
    size_t count;
    size_t begin;                            /* index of the first sub-query among the texts */
    float least[TEXTS_MAX], best[TEXTS_MAX]; /* lowest and highest score of each text's matches; 0 without matches */
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

/* Returns the lack (wt__request_lack) of the provider that has the matches begin .. end - 1. For an empty range,
 * returns the lack of a provider without matches. */
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
        for (end = i + 1; end < near.count && same_side(t, one, &near.matches[end]);)
            end++;
        float lack = lack_of_provider(t, &near, i, end);
        least = fminf(least, lack);
        for (size_t c = 0; c < count; c++)
            if (t->keys[candidates[c].row].provider == one->provider &&
                (one->provider != t->no_provider || candidates[c].row == one->row))
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

#define NEARLY_CERTAIN 1e-7 /* minimum distance of a score from 0 and 1, so that its logit is finite */

/* Scores candidates with the cross-encoder. Then corrects the scores by the first stage's share and, for Algorithm 1,
 * by the provider's lack. The corrected logit is:
 *
 *   logit(score) + prior * (share - 1) - cover * lack */
static int score_with_correction(const struct hierarchy_settings *settings, enum hierarchy_rule rule,
                                 const struct toolrerank_source *source, struct candidate *candidates, size_t count,
                                 wt_error *err)
{
    double cover = rule == HIERARCHY_ALGORITHM1 ? (double)settings->cover : 0;
    WT_TRY(source->score(source->context, candidates, count, err));
    for (size_t i = 0; (settings->prior > 0 || cover > 0) && i < count; i++) {
        double odds = fmin(fmax((double)candidates[i].score, NEARLY_CERTAIN), 1 - NEARLY_CERTAIN);
        double logit = log(odds / (1 - odds)) + (double)settings->prior * ((double)candidates[i].share - 1) -
                       cover * (double)candidates[i].lack;
        candidates[i].score = (float)(1 / (1 + exp(-logit)));
    }
    return 0;
}

/* Returns the lack of a provider, from any of its candidates. Returns 0 if it has no candidate. */
static float lack_of_candidates(const struct candidate *candidates, size_t count, uint32_t provider)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].provider == provider)
            return candidates[i].lack;
    return 0;
}

/* Fetches the tools of the providers to expand, and scores them. Skips tools that are candidates already. Keeps at most
 * as many tools as fit into HIERARCHY_MAX_CANDIDATES. These tools get the lowest share of all candidates. */
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
            if (!has_candidate(candidates, count, tools[i].row)) {
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
    if (source->score)
        WT_TRY(fetch_others(settings, source, &chosen, candidates, *count, found, &found_count, err));
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
    if (*count == 0)
        return 0;
    if (source->score)
        WT_TRY(score_with_correction(settings, settings->rule[kind], source, candidates, *count, err));
    wt__hierarchy_sort(candidates, *count);
    if (settings->rule[kind] == HIERARCHY_ALGORITHM1)
        return run_algorithm1(settings, source, candidates, count, first, err);
    if (settings->rule[kind] == HIERARCHY_ALGORITHM2)
        *first = wt__hierarchy_algorithm2(settings, candidates, *count, source->dim);
    return 0;
}

/* ---------------------------------------------------------------- settings */

/* Reads and writes ToolRerank's settings, its classifier and its training data in a config.json:
 *
 *   {"hierarchy": {"seen_depth": 10, .., "rules": {"unknown": "none", "single": "algorithm1", "multi": "algorithm2"}},
 *    "classifier": {"weight": 0, "constant": 0, "margin": 0.1},
 *    "across": true, "seen_by": "provider", "seen": ["weather", ..]}
 *
 * Missing members of "hierarchy" have the paper's values. Without a classifier the kind of every request is unknown. */

static const char *const rule_names[HIERARCHY_RULES] = {"none", "algorithm1", "algorithm2"};
static const char *const kind_names[REQUEST_KINDS] = {"unknown", "single", "multi"};

const struct rerank_rules wt__rules_default = {
    .settings = {.seen_depth = 50, .unseen_depth = 50, .tau_s = 0.85f, .tau_m = 0.7f, .group_most = 3},
};

bool wt__rules_seen(const struct rerank_rules *rules, const struct tool *tool, struct buffer *id)
{
    if (rules->by_provider && tool->provider.len > 0)
        return wt__map_get(&rules->seen, tool->provider) != NULL;
    wt__buffer_clear(id);
    wt__tool_id(id, tool->provider, tool->name);
    return wt__map_get(&rules->seen, wt__buffer_view(id)) != NULL;
}

/* Reads a depth or count, clamped to 32 bits. wt__hierarchy_validate checks the range. */
static uint32_t read_setting_count(const json_t *object, const char *key, uint32_t fallback)
{
    int64_t value = wt__json_int(object, key, fallback);
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static int read_kind_rules(struct hierarchy_settings *settings, const json_t *object, wt_error *err)
{
    for (size_t kind = 0; kind < REQUEST_KINDS; kind++) {
        struct str name = wt__json_str(object, kind_names[kind]);
        size_t rule = 0;
        if (name.len == 0)
            continue;
        while (rule < HIERARCHY_RULES && !wt__str_equal(name, wt__str(rule_names[rule])))
            rule++;
        if (rule == HIERARCHY_RULES)
            return wt__fail(err, WT_EMODEL, "the rule for %s requests must be none, algorithm1 or algorithm2",
                            kind_names[kind]);
        settings->rule[kind] = (enum hierarchy_rule)rule;
    }
    return 0;
}

static int read_settings(struct hierarchy_settings *s, const json_t *object, wt_error *err)
{
    wt_error why;
    *s = wt__hierarchy_paper;
    s->seen_depth = read_setting_count(object, "seen_depth", s->seen_depth);
    s->unseen_depth = read_setting_count(object, "unseen_depth", s->unseen_depth);
    s->group_most = read_setting_count(object, "group_most", s->group_most);
    s->tau_s = (float)wt__json_real(object, "tau_s", (double)s->tau_s);
    s->tau_m = (float)wt__json_real(object, "tau_m", (double)s->tau_m);
    s->prior = (float)wt__json_real(object, "prior", (double)s->prior);
    s->cover = (float)wt__json_real(object, "cover", (double)s->cover);
    s->truncate = wt__json_bool(object, "truncate", s->truncate);
    s->expand_seen = wt__json_bool(object, "expand_seen", s->expand_seen);
    s->expand_unseen = wt__json_bool(object, "expand_unseen", s->expand_unseen);
    WT_TRY(read_kind_rules(s, wt__json_object(object, "rules"), err));
    if (wt__hierarchy_validate(s, &why) < 0)
        return wt__fail(err, WT_EMODEL, "hierarchy: %s", why.message);
    return 0;
}

static int read_classifier(struct request_classifier *c, const json_t *object, wt_error *err)
{
    *c = (struct request_classifier){.weight = (float)wt__json_real(object, "weight", 0),
                                     .constant = (float)wt__json_real(object, "constant", 0),
                                     .margin = (float)wt__json_real(object, "margin", 0)};
    if (object && !json_object_get(object, "weight"))
        return wt__fail(err, WT_EMODEL,
                        "classifier: no weight, because another version trained it; train toolrerank again");
    bool finite = isfinite(c->weight) && isfinite(c->constant) && isfinite(c->margin);
    return finite ? 0 : wt__fail(err, WT_EMODEL, "classifier: a number is not finite");
}

static int read_seen(struct rerank_rules *out, const json_t *list, struct arena *arena, wt_error *err)
{
    if (json_array_size(list) > WT_MAX_TOOLS)
        return wt__fail(err, WT_EMODEL, "seen: more than %d names", WT_MAX_TOOLS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *name = json_array_get(list, i);
        if (!json_is_string(name))
            return wt__fail(err, WT_EMODEL, "seen must be a list of strings");
        char *copy = wt__arena_copy(arena, (struct str){json_string_value(name), json_string_length(name)});
        WT_CHECK_ALLOC(copy && wt__map_insert(&out->seen, wt__str(copy), 1, NULL), err);
    }
    return 0;
}

int wt__rules_read(struct rerank_rules *out, const json_t *config, struct arena *arena, wt_error *err)
{
    *out = (struct rerank_rules){.across = wt__json_bool(config, "across", false)};
    out->by_provider = !wt__str_equal(wt__json_str(config, "seen_by"), wt__str("tool"));
    WT_TRY(read_settings(&out->settings, wt__json_object(config, "hierarchy"), err));
    WT_TRY(read_classifier(&out->classifier, wt__json_object(config, "classifier"), err));
    return read_seen(out, wt__json_array(config, "seen"), arena, err);
}

static json_t *write_rule_settings(const struct hierarchy_settings *s)
{
    json_t *kinds = json_object();
    for (size_t kind = 0; kinds && kind < REQUEST_KINDS; kind++)
        if (json_object_set_new(kinds, kind_names[kind], json_string(rule_names[s->rule[kind]])) < 0)
            return json_decref(kinds), NULL;
    return json_pack("{s:i, s:i, s:f, s:f, s:i, s:f, s:f, s:b, s:b, s:b, s:o}", "seen_depth", (int)s->seen_depth,
                     "unseen_depth", (int)s->unseen_depth, "tau_s", (double)s->tau_s, "tau_m", (double)s->tau_m,
                     "group_most", (int)s->group_most, "prior", (double)s->prior, "cover", (double)s->cover, "truncate",
                     (int)s->truncate, "expand_seen", (int)s->expand_seen, "expand_unseen", (int)s->expand_unseen,
                     "rules", kinds);
}

json_t *wt__rules_write(const struct rerank_rules *rules, json_t *seen)
{
    const struct request_classifier *c = &rules->classifier;
    return json_pack("{s:o, s:{s:f, s:f, s:f}, s:b, s:s, s:o}", "hierarchy", write_rule_settings(&rules->settings),
                     "classifier", "weight", (double)c->weight, "constant", (double)c->constant, "margin",
                     (double)c->margin, "across", (int)rules->across, "seen_by",
                     rules->by_provider ? "provider" : "tool", "seen", seen);
}
