/* scorer_features.c: the features of the learned scorer (scorer.h), as one table. A row has a name, an expression that
 * computes the feature of candidate c for `text`, and a comment. To add a feature, add a row and run
 * tools/train-scorer.
 *
 * The words of a text have weights: their idf. A "mass" below is the sum of the weights of some of the words, divided
 * by the sum of all. A "gap" is the difference to the greatest value of any candidate, so it is at most 0. A
 * row named "..._sibling" is the same for the candidates of one provider. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/topk.h"
#include "retrieve/document.h"
#include "retrieve/scorer.h"
#include "retrieve/soft_words.h"
#include "retrieve/source.h"
#include "retrieve/words.h"

enum { NEAREST = 20 }; /* candidates nearest by meaning that count for provider_nearest */

/* Words of a text that a candidate has. All but `count` and the shares are masses. */
struct matched_words {
    float name, provider, description, parameters, any; /* any: in any field */
    float name_only;                                    /* in the name and neither in provider nor description */
    float name_share, provider_share; /* share of the distinct words of the name or provider that the text has */
    float count;                      /* number of words */
};

/* A text of the request and the values of its N candidates. */
struct scored_text {
    const struct source_query *query;
    const struct text *text;
    size_t t, count;                         /* number of the text; N */
    const struct matched_words *matched;     /* [N] */
    const struct soft_match *soft;           /* [N] */
    struct soft_match best_soft;             /* greatest value of each member */
    const float *cosines, *words;            /* [N] scores of meaning and words */
    float best_cosine, best_words, best_any; /* greatest of the candidates, at least 0 */
    const uint32_t *cosine_ranks;            /* [N] 0-based by cosine among the candidates */
    const uint32_t *sibling_ranks;           /* [N] the same among the candidates of the provider */
    const float *provider_cosine;            /* [N] greatest cosine of a candidate of the same provider */
    const float *provider_any;               /* [N] greatest matched.any of a candidate of the same provider */
    const float *provider_nearest;           /* [N] share of the NEAREST nearest with the same provider */
    const struct candidate_providers *providers;
    const struct soft_match *provider_soft; /* [P] greatest value of each member of a candidate of the provider */
    unsigned asked;                         /* actions that the text asks for; bits of enum action */
    const float *denied;                    /* [N] share of the denied words that the tool's name has */
};

static const struct snapshot_key *scored_key(const struct scored_text *text, size_t c)
{
    return &text->query->view->snapshot->keys[text->query->rows[c]];
}

static unsigned declared_actions(const struct scored_text *text, size_t c)
{
    return scored_key(text, c)->actions;
}

static unsigned tool_verbs(const struct scored_text *text, size_t c)
{
    return scored_key(text, c)->verbs & (ACTION_READ | ACTION_CREATE | ACTION_UPDATE | ACTION_DELETE);
}

static bool returns(const struct scored_text *text, size_t c, unsigned number)
{
    return scored_key(text, c)->verbs & number;
}

static bool is_mood(const struct scored_text *text, enum mood mood)
{
    return text->text->mood.mood == mood;
}

/* True if two sets of actions are known and have no action in common. */
static bool clash(unsigned a, unsigned b)
{
    return a && b && !(a & b);
}

static float provider_score(const struct scored_text *text, size_t c)
{
    return text->text->rankings[SOURCE_PROVIDER].scores[c];
}

static const struct soft_match *provider_soft(const struct scored_text *text, size_t c)
{
    return &text->provider_soft[text->providers->numbers[c]];
}

/* Returns the number of candidates of the same provider, with c. */
static uint32_t count_siblings(const struct scored_text *text, size_t c)
{
    uint32_t p = text->providers->numbers[c];
    return text->providers->ends[p] - (p > 0 ? text->providers->ends[p - 1] : 0);
}

/* Returns a logarithmic measure of the number of different terms of a field. */
static float field_size(const struct scored_text *text, size_t c, enum field field)
{
    return logf(1 + (float)wt__lexical_field_terms(&text->query->view->snapshot->lexical, text->query->rows[c], field));
}

static float share_of(float score, float best)
{
    return best > 0 && score > 0 ? score / best : 0;
}

/* Differences of a member of struct soft_match to the best candidate, and to the best of the same provider. */
#define SOFT_GAP(member) (text->soft[c].member - text->best_soft.member)
#define SOFT_SIBLING(member) (text->soft[c].member - provider_soft(text, c)->member)

/* clang-format off */
#define FEATURES(ROW)                                                                                                  \
    /* The score of words, and its share of the best one. */                                                           \
    ROW(words, text->words[c], 0)                                                                                      \
    ROW(words_share, share_of(text->words[c], text->best_words), FEATURE_WHOLE)                                        \
    /* The cosine with the text, and its gap. */                                                                       \
    ROW(cosine, text->cosines[c], FEATURE_WHOLE | FEATURE_VECTORS)                                                     \
    ROW(cosine_gap, text->cosines[c] - text->best_cosine, FEATURE_WHOLE | FEATURE_VECTORS)                             \
    /* Masses of words in the fields of the tool. */                                                                   \
    ROW(name, text->matched[c].name, FEATURE_WHOLE)                                                                    \
    ROW(provider, text->matched[c].provider, FEATURE_SIBLING)                                                          \
    ROW(description, text->matched[c].description, 0)                                                                  \
    ROW(parameters, text->matched[c].parameters, 0)                                                                    \
    ROW(any, text->matched[c].any, FEATURE_WHOLE)                                                                      \
    ROW(any_gap, text->matched[c].any - text->best_any, 0)                                                             \
    ROW(name_only, text->matched[c].name_only, FEATURE_SIBLING)                                                        \
    /* Shares of the words of the name and of the provider. */                                                         \
    ROW(name_share, text->matched[c].name_share, FEATURE_WHOLE)                                                        \
    ROW(provider_share, text->matched[c].provider_share, FEATURE_SIBLING)                                              \
    ROW(matches, text->matched[c].count, 0)                                                                            \
    /* The request names the provider (named_provider.h). */                                                           \
    ROW(provider_named, provider_score(text, c), FEATURE_SIBLING)                                                      \
    /* The declared action of the tool (HTTP method, hints, name) and the verb of the text. */                         \
    ROW(declared_same, (declared_actions(text, c) & text->asked) != 0, 0)                                              \
    ROW(declared_clash, clash(declared_actions(text, c), text->asked), 0)                                              \
    /* The same for the verbs of its name and first sentence. */                                                       \
    ROW(verb_same, (tool_verbs(text, c) & text->asked) != 0, 0)                                                        \
    ROW(verb_clash, clash(tool_verbs(text, c), text->asked), 0)                                                        \
    /* A question or a noun phrase needs a tool that reads. */                                                         \
    ROW(question_reads, is_mood(text, MOOD_QUESTION) && (tool_verbs(text, c) & ACTION_READ), 0)                        \
    ROW(question_acts, is_mood(text, MOOD_QUESTION) && clash(tool_verbs(text, c), ACTION_READ), 0)                     \
    ROW(noun_reads, is_mood(text, MOOD_NOUN) && (tool_verbs(text, c) & ACTION_READ), 0)                                \
    ROW(noun_acts, is_mood(text, MOOD_NOUN) && clash(tool_verbs(text, c), ACTION_READ), 0)                             \
    /* A list or one thing: what the tool returns, and what the text asks for. */                                      \
    ROW(many, returns(text, c, RETURNS_MANY), 0)                                                                       \
    ROW(one, returns(text, c, RETURNS_ONE), 0)                                                                         \
    ROW(asks_many, text->text->mood.many, 0)                                                                           \
    ROW(identified, text->text->mood.identified, 0)                                                                    \
    /* Words of the denied part (negation.h) in the name of the tool. */                                               \
    ROW(denied, text->denied[c], 0)                                                                                    \
    /* Actions of the tool, by its name and first sentence. */                                                         \
    ROW(reads, (tool_verbs(text, c) & ACTION_READ) != 0, 0)                                                            \
    ROW(creates, (tool_verbs(text, c) & ACTION_CREATE) != 0, 0)                                                        \
    ROW(updates, (tool_verbs(text, c) & ACTION_UPDATE) != 0, 0)                                                        \
    ROW(deletes, (tool_verbs(text, c) & ACTION_DELETE) != 0, 0)                                                        \
    /* The provider's best tool, and the tool next to it. */                                                           \
    ROW(provider_gap, text->provider_cosine[c] - text->best_cosine, FEATURE_VECTORS | FEATURE_SIBLING)                 \
    ROW(sibling_gap, text->cosines[c] - text->provider_cosine[c], FEATURE_VECTORS | FEATURE_SIBLING)                   \
    ROW(sibling_words, text->matched[c].any - text->provider_any[c], FEATURE_SIBLING)                                  \
    ROW(provider_nearest, text->provider_nearest[c], FEATURE_VECTORS | FEATURE_SIBLING)                                \
    /* Damping of tools with very many words (lexical.h). */                                                           \
    ROW(damping, wt__lexical_damping(&text->query->view->snapshot->lexical, text->query->rows[c]), 0)                  \
    /* The text: equal for all candidates. */                                                                          \
    ROW(question, is_mood(text, MOOD_QUESTION), 0)                                                                     \
    ROW(noun, is_mood(text, MOOD_NOUN), 0)                                                                             \
    ROW(asks, text->asked != 0, 0)                                                                                     \
    ROW(brief, text->text->term_count <= 4, 0)                                                                         \
    ROW(is_long, text->text->term_count > 12, 0)                                                                       \
    ROW(length, logf(1 + (float)text->text->term_count), 0)                                                            \
    ROW(best_cosine, text->best_cosine, FEATURE_VECTORS)                                                               \
    ROW(best_any, text->best_any, 0)                                                                                   \
    ROW(is_subquery, text->t > 0, 0)                                                                                   \
    ROW(has_subqueries, text->query->workspace->text_count > 1, 0)                                                     \
    /* Words that are close in meaning (soft_words.h). */                                                              \
    ROW(soft_name, text->soft[c].name, 0)                                                                              \
    ROW(soft_sentence, text->soft[c].sentence, 0)                                                                      \
    ROW(soft_any, text->soft[c].any, 0)                                                                                \
    ROW(soft_hits, text->soft[c].hits, 0)                                                                              \
    ROW(soft_name_mean, text->soft[c].name_mean, 0)                                                                    \
    ROW(soft_name_min, text->soft[c].name_min, 0)                                                                      \
    ROW(soft_sentence_mean, text->soft[c].sentence_mean, 0)                                                            \
    ROW(soft_cubed, text->soft[c].cubed, 0)                                                                            \
    ROW(soft_name_gap, SOFT_GAP(name), 0)                                                                              \
    ROW(soft_sentence_gap, SOFT_GAP(sentence), 0)                                                                      \
    ROW(soft_any_gap, SOFT_GAP(any), 0)                                                                                \
    ROW(soft_name_mean_gap, SOFT_GAP(name_mean), 0)                                                                    \
    ROW(soft_cubed_gap, SOFT_GAP(cubed), 0)                                                                            \
    ROW(soft_hits_gap, SOFT_GAP(hits), 0)                                                                              \
    /* Words of the tool that the text lacks, weighted by rarity among all candidates, or among siblings. */           \
    ROW(rare_name, text->soft[c].rare_name, 0)                                                                         \
    ROW(rare_sentence, text->soft[c].rare_sentence, 0)                                                                 \
    ROW(rare_name_excess, text->soft[c].rare_name_excess, 0)                                                           \
    ROW(rare_sentence_excess, text->soft[c].rare_sentence_excess, 0)                                                   \
    ROW(own_name, text->soft[c].own_name, FEATURE_SIBLING)                                                             \
    ROW(own_sentence, text->soft[c].own_sentence, FEATURE_SIBLING)                                                     \
    ROW(own_name_excess, text->soft[c].own_name_excess, FEATURE_SIBLING)                                               \
    ROW(own_sentence_excess, text->soft[c].own_sentence_excess, FEATURE_SIBLING)                                       \
    ROW(rare_name_sibling, SOFT_SIBLING(rare_name), FEATURE_SIBLING)                                                   \
    ROW(rare_sentence_sibling, SOFT_SIBLING(rare_sentence), FEATURE_SIBLING)                                           \
    ROW(rare_name_excess_sibling, SOFT_SIBLING(rare_name_excess), FEATURE_SIBLING)                                     \
    ROW(rare_sentence_excess_sibling, SOFT_SIBLING(rare_sentence_excess), FEATURE_SIBLING)                             \
    ROW(own_name_sibling, SOFT_SIBLING(own_name), FEATURE_SIBLING)                                                     \
    ROW(own_sentence_sibling, SOFT_SIBLING(own_sentence), FEATURE_SIBLING)                                             \
    ROW(own_name_excess_sibling, SOFT_SIBLING(own_name_excess), FEATURE_SIBLING)                                       \
    ROW(own_sentence_excess_sibling, SOFT_SIBLING(own_sentence_excess), FEATURE_SIBLING)                               \
    /* Cosine of the sums of the vectors of words. */                                                                  \
    ROW(soft_name_cosine, text->soft[c].name_cosine, 0)                                                                \
    ROW(soft_name_cosine_gap, SOFT_GAP(name_cosine), 0)                                                                \
    ROW(soft_name_cosine_sibling, SOFT_SIBLING(name_cosine), FEATURE_SIBLING)                                          \
    ROW(soft_cosine, text->soft[c].cosine, 0)                                                                          \
    ROW(soft_cosine_gap, SOFT_GAP(cosine), 0)                                                                          \
    ROW(soft_cosine_sibling, SOFT_SIBLING(cosine), FEATURE_SIBLING)                                                    \
    /* Rank by cosine among all candidates, and among those of the provider; number of these. */                       \
    ROW(cosine_rank, 1 / (1 + (float)text->cosine_ranks[c]), FEATURE_VECTORS)                                          \
    ROW(cosine_sibling_rank, 1 / (1 + (float)text->sibling_ranks[c]), FEATURE_VECTORS | FEATURE_SIBLING)               \
    ROW(siblings, logf((float)count_siblings(text, c)), FEATURE_SIBLING)                                                     \
    /* Different words of the fields of the tool. */                                                                   \
    ROW(name_size, field_size(text, c, FIELD_NAME), 0)                                                                 \
    ROW(description_size, field_size(text, c, FIELD_DESCRIPTION), 0)                                                   \
    ROW(parameter_size, field_size(text, c, FIELD_PARAMETERS), 0)
/* clang-format on */

#define FILL(name, expression, properties)                                                                             \
    static void fill_##name(const struct scored_text *text, float *out)                                                \
    {                                                                                                                  \
        for (size_t c = 0; c < text->count; c++)                                                                       \
            out[c] = (float)(expression);                                                                              \
    }
FEATURES(FILL)

#define FEATURE_ROW(name, expression, properties) {#name, fill_##name, properties},
static const struct scorer_feature features[] = {FEATURES(FEATURE_ROW)};
const struct scorer_table wt__scorer_table = {features, sizeof features / sizeof *features};

/* ---------------------------------------------------------------- matching words */

/* Fields of each candidate that contain each term of the whole request. */
struct term_fields {
    const struct source_query *query;
    uint8_t *masks;   /* [terms of the whole request, N] bits 1u << field */
    uint8_t *scratch; /* [N] for a term that only a sub-query has */
    float *denied;    /* [N] see struct scored_text */
};

/* Sets denied [N], which is zeroed. Words that the rest of the request has, too, do not count. */
static int match_denied_words(const struct source_query *query, const struct term_fields *fields, float *denied,
                              wt_error *err)
{
    struct workspace *workspace = query->workspace;
    const struct text *whole = &workspace->texts[0];
    struct text text = {.bytes = workspace->denied, .written = workspace->denied};
    struct lexical_query *words = &workspace->queries[TEXTS_MAX];
    size_t counted = 0;
    if (text.bytes.len == 0)
        return 0;
    WT_TRY(wt__text_terms(workspace, &text, err));
    WT_TRY(wt__lexical_prepare(words, &query->view->snapshot->lexical, text.terms, text.term_count, err));
    for (size_t i = 0; i < text.term_count; i++) {
        if (bsearch(&text.terms[i], whole->terms, whole->term_count, sizeof *whole->terms, wt__compare_terms))
            continue;
        counted++;
        wt__lexical_match_fields(words, i, query->rows, query->count, fields->scratch);
        for (size_t c = 0; c < query->count; c++)
            denied[c] += (float)(fields->scratch[c] >> FIELD_NAME & 1);
    }
    for (size_t c = 0; c < query->count && counted > 0; c++)
        denied[c] /= (float)counted;
    return 0;
}

static int open_term_fields(const struct source_query *query, struct term_fields *out, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    size_t terms = workspace->texts[0].term_count;
    *out = (struct term_fields){.query = query,
                                .masks = wt__arena_array(&workspace->arena, uint8_t, terms * query->count),
                                .scratch = wt__arena_array(&workspace->arena, uint8_t, query->count),
                                .denied = wt__arena_array(&workspace->arena, float, query->count)};
    WT_CHECK_ALLOC(out->masks && out->scratch && out->denied, err);
    for (size_t i = 0; i < terms; i++)
        wt__lexical_match_fields(&workspace->queries[0], i, query->rows, query->count, out->masks + i * query->count);
    return match_denied_words(query, out, out->denied, err);
}

/* Returns the masks [N] of term i of a text. The terms of a sub-query are nearly always terms of the whole request. */
static const uint8_t *find_term_masks(const struct term_fields *fields, size_t t, size_t i)
{
    const struct source_query *query = fields->query;
    const struct text *whole = &query->workspace->texts[0], *text = &query->workspace->texts[t];
    const struct lexical_term *found =
        bsearch(&text->terms[i], whole->terms, whole->term_count, sizeof *found, wt__compare_terms);
    if (found)
        return fields->masks + (size_t)(found - whole->terms) * query->count;
    wt__lexical_match_fields(&query->workspace->queries[t], i, query->rows, query->count, fields->scratch);
    return fields->scratch;
}

enum {
    DESCRIBED = 1u << FIELD_DESCRIPTION | 1u << FIELD_CATEGORY,
    PARAMETERS = 1u << FIELD_PARAMETERS | 1u << FIELD_PARAMETER_TEXTS
};

/* Adds a term of this idf to the sums of each candidate. */
static void add_term(const uint8_t *masks, float idf, size_t count, struct matched_words *matched)
{
    for (size_t c = 0; c < count; c++) {
        unsigned mask = masks[c];
        struct matched_words *m = &matched[c];
        if (!mask)
            continue;
        bool name = mask >> FIELD_NAME & 1, provider = mask >> FIELD_PROVIDER & 1;
        m->count++;
        m->any += idf;
        m->name += name ? idf : 0;
        m->provider += provider ? idf : 0;
        m->description += mask & DESCRIBED ? idf : 0;
        m->parameters += mask & PARAMETERS ? idf : 0;
        m->name_only += name && !provider && !(mask & DESCRIBED) ? idf : 0;
        m->name_share += (float)name;
        m->provider_share += (float)provider;
    }
}

/* Sets matched [N], which is zeroed. */
static void match_words(const struct term_fields *fields, size_t t, struct matched_words *matched)
{
    const struct source_query *query = fields->query;
    const struct text *text = &query->workspace->texts[t];
    const struct lexical *index = &query->view->snapshot->lexical;
    float all = 0;
    for (size_t i = 0; i < text->term_count; i++) {
        all += text->idf[i];
        add_term(find_term_masks(fields, t, i), text->idf[i], query->count, matched);
    }
    float scale = all > 0 ? 1 / all : 0;
    for (size_t c = 0; c < query->count; c++) {
        struct matched_words *m = &matched[c];
        unsigned names = wt__lexical_field_terms(index, query->rows[c], FIELD_NAME);
        unsigned providers = wt__lexical_field_terms(index, query->rows[c], FIELD_PROVIDER);
        m->any *= scale;
        m->name *= scale;
        m->provider *= scale;
        m->description *= scale;
        m->parameters *= scale;
        m->name_only *= scale;
        m->name_share /= (float)(names ? names : 1);
        m->provider_share /= (float)(providers ? providers : 1);
    }
}

/* ---------------------------------------------------------------- words by meaning */

static bool is_inserted_word(const struct expanded_text *expanded, struct str word)
{
    size_t i = 0;
    while (i < expanded->count && !wt__is_part_of(word, wt__inserted_part(expanded, i)))
        i++;
    return i < expanded->count;
}

/* Reads the words of the whole request, with the idf of the first term of each. */
static int read_soft_words(const struct source_query *query, struct soft_word *words, size_t *count, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    const struct lexical *index = &query->view->snapshot->lexical;
    size_t at = 0;
    *count = 0;
    for (struct str word; *count < SOFT_WORDS_MAX && (word = wt__next_word(workspace->texts[0].bytes, &at)).len > 0;) {
        if (wt__is_stopword_any_case(word))
            continue;
        wt__token_list_reset(&workspace->soft_tokens);
        if (wt__analyser_run(workspace->analyser, word, &workspace->soft_tokens) < 0)
            return wt__fail_nomem(err);
        uint32_t rows = workspace->soft_tokens.len ? wt__lexical_df(index, workspace->soft_tokens.terms[0]) : 0;
        float weight = is_inserted_word(&workspace->expanded, word) ? ALTERNATIVE_WEIGHT : 1;
        words[(*count)++] = (struct soft_word){word, weight * wt__lexical_idf(index->rows, rows)};
    }
    return 0;
}

static int compare_soft_words(const struct source_query *query, const struct candidate_providers *providers,
                              struct soft_words *out, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    struct soft_word *words = wt__arena_array(&workspace->arena, struct soft_word, SOFT_WORDS_MAX);
    size_t count;
    WT_CHECK_ALLOC(words, err);
    WT_TRY(read_soft_words(query, words, &count, err));
    return wt__soft_words_compare(out, &workspace->word_vectors, words, count, &query->view->snapshot->words,
                                  query->rows, query->count, providers, &workspace->arena, err);
}

/* Sets the greatest value of each member: of all candidates, and of those of each provider [P]. */
static void find_best_soft(const struct candidate_providers *providers, const struct soft_match *soft, size_t count,
                           struct soft_match *best, struct soft_match *provider_best)
{
    for (size_t p = 0, begin = 0; p < providers->count; begin = providers->ends[p++]) {
        provider_best[p] = soft[providers->order[begin]];
        for (size_t i = begin + 1; i < providers->ends[p]; i++)
            wt__soft_match_raise(&provider_best[p], &soft[providers->order[i]]);
    }
    *best = soft[0];
    for (size_t c = 1; c < count; c++)
        wt__soft_match_raise(best, &soft[c]);
}

/* Multiplies what the text finds in a tool by the damping of its words. */
static void damp_matches(float damping, struct matched_words *matched, struct soft_match *soft)
{
    float *const values[] = {&matched->name,  &matched->provider,  &matched->description, &matched->parameters,
                             &matched->any,   &matched->name_only, &matched->count,       &soft->name,
                             &soft->sentence, &soft->any,          &soft->cubed,          &soft->hits};
    for (size_t i = 0; damping < 1 && i < sizeof values / sizeof *values; i++)
        *values[i] *= damping;
}

/* ---------------------------------------------------------------- ranks and providers */

/* Numbers the providers of the candidates. */
static int number_providers(const struct source_query *query, struct candidate_providers *out, wt_error *err)
{
    struct arena *arena = &query->workspace->arena;
    size_t n = query->count, count = 0;
    uint32_t *numbers = wt__arena_array(arena, uint32_t, n), *order = wt__arena_array(arena, uint32_t, n);
    uint32_t *ends = wt__arena_array(arena, uint32_t, n);
    uint64_t *keys = wt__arena_array(arena, uint64_t, n);
    WT_CHECK_ALLOC(numbers && order && ends && keys, err);
    for (size_t c = 0; c < n; c++)
        keys[c] = (uint64_t)query->view->snapshot->keys[query->rows[c]].provider << 32 | c;
    wt__sort_u64(keys, n);
    for (size_t i = 0; i < n; i++) {
        count += i == 0 || keys[i] >> 32 != keys[i - 1] >> 32;
        order[i] = (uint32_t)keys[i];
        numbers[order[i]] = (uint32_t)(count - 1);
        ends[count - 1] = (uint32_t)(i + 1);
    }
    *out = (struct candidate_providers){count, numbers, order, ends};
    return 0;
}

/* Writes the rank of each candidate by its score, among all and among those of its provider. Equal scores are in row
 * order. */
static int rank_candidates(const float *scores, size_t count, const struct candidate_providers *providers,
                           struct scored_text *out, struct arena *arena, wt_error *err)
{
    struct scored *order = wt__arena_array(arena, struct scored, count);
    uint32_t *ranks = wt__arena_array(arena, uint32_t, count), *sibling_ranks = wt__arena_array(arena, uint32_t, count);
    uint32_t *seen = wt__arena_array(arena, uint32_t, providers->count);
    WT_CHECK_ALLOC(order && ranks && sibling_ranks && seen, err);
    for (size_t c = 0; c < count; c++)
        order[c] = (struct scored){scores[c], (uint32_t)c};
    wt__scored_sort(order, count);
    for (size_t i = 0; i < count; i++) {
        ranks[order[i].row] = (uint32_t)i;
        sibling_ranks[order[i].row] = seen[providers->numbers[order[i].row]]++;
    }
    out->cosine_ranks = ranks;
    out->sibling_ranks = sibling_ranks;
    return 0;
}

/* Sets the values of each candidate's provider. */
static int compare_providers(const struct candidate_providers *providers, struct scored_text *text, struct arena *arena,
                             wt_error *err)
{
    size_t n = text->count;
    float *best_cosine = wt__arena_array(arena, float, providers->count), *cosine = wt__arena_array(arena, float, n);
    float *best_any = wt__arena_array(arena, float, providers->count), *any = wt__arena_array(arena, float, n);
    float *near = wt__arena_array(arena, float, providers->count), *nearest = wt__arena_array(arena, float, n);
    WT_CHECK_ALLOC(best_cosine && cosine && best_any && any && near && nearest, err);
    for (size_t p = 0; p < providers->count; p++)
        best_cosine[p] = -INFINITY;
    for (size_t c = 0; c < n; c++) {
        uint32_t p = providers->numbers[c];
        best_cosine[p] = fmaxf(best_cosine[p], text->cosines[c]);
        best_any[p] = fmaxf(best_any[p], text->matched[c].any);
        near[p] += text->cosine_ranks[c] < NEAREST ? 1.0f / NEAREST : 0;
    }
    for (size_t c = 0; c < n; c++) {
        cosine[c] = best_cosine[providers->numbers[c]];
        any[c] = best_any[providers->numbers[c]];
        nearest[c] = near[providers->numbers[c]];
    }
    text->provider_cosine = cosine;
    text->provider_any = any;
    text->provider_nearest = nearest;
    return 0;
}

/* ---------------------------------------------------------------- texts */

static int read_scored_text(const struct term_fields *fields, const struct soft_words *words,
                            const struct candidate_providers *providers, size_t t, const float *cosines,
                            struct scored_text *out, wt_error *err)
{
    const struct source_query *query = fields->query;
    struct arena *arena = &query->workspace->arena;
    const struct text *text = &query->workspace->texts[t];
    struct matched_words *matched = wt__arena_array(arena, struct matched_words, query->count);
    struct soft_match *soft = wt__arena_array(arena, struct soft_match, query->count);
    struct soft_match *provider_soft = wt__arena_array(arena, struct soft_match, providers->count);
    WT_CHECK_ALLOC(matched && soft && provider_soft, err);
    *out = (struct scored_text){.query = query,
                                .text = text,
                                .t = t,
                                .count = query->count,
                                .matched = matched,
                                .soft = soft,
                                .providers = providers,
                                .provider_soft = provider_soft,
                                .cosines = cosines,
                                .words = text->rankings[SOURCE_BM25].scores,
                                .asked = text->mood.actions,
                                .denied = fields->denied};
    match_words(fields, t, matched);
    wt__soft_match(words, text->bytes, soft);
    for (size_t c = 0; c < query->count; c++)
        damp_matches(wt__word_damping(query, t, c), &matched[c], &soft[c]);
    find_best_soft(providers, soft, query->count, &out->best_soft, provider_soft);
    for (size_t c = 0; c < query->count; c++) {
        out->best_cosine = fmaxf(out->best_cosine, out->cosines[c]);
        out->best_words = fmaxf(out->best_words, out->words[c]);
        out->best_any = fmaxf(out->best_any, matched[c].any);
    }
    WT_TRY(rank_candidates(out->cosines, query->count, providers, out, arena, err));
    return compare_providers(providers, out, arena, err);
}

/* ---------------------------------------------------------------- cosines */

/* Tools whose cosines with each other are measured: PAIRED with PAIRED_WITH others. */
enum { PAIRED = VECTOR_MAX_QUERIES, PAIRED_WITH = 64 };
static const float DEVIATION_LEAST = 0.01f; /* for catalogues of few or equal tools */

/* Computes mean and standard deviation of cosines between tools that are spread evenly over the catalogue. */
static int measure_pairs(const struct vectors *vectors, struct workspace *workspace, float *mean, float *deviation,
                         wt_error *err)
{
    float *queries = wt__arena_array(&workspace->arena, float, PAIRED * vectors->dim);
    float *cosines[PAIRED], *all = wt__arena_array(&workspace->arena, float, PAIRED *PAIRED_WITH);
    float *storage = wt__arena_array(&workspace->arena, float, wt__vectors_padded(vectors->dim));
    WT_CHECK_ALLOC(queries && all && storage, err);
    uint32_t rows[PAIRED_WITH];
    size_t queried = 0, counted = 0;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < PAIRED_WITH; i++)
        rows[i] = (uint32_t)((uint64_t)vectors->rows * i / PAIRED_WITH);
    for (size_t i = 0; i < PAIRED; i++) {
        const float *vector =
            wt__vectors_of_row(vectors, (uint32_t)((uint64_t)vectors->rows * (2 * i + 1) / (2 * PAIRED)), storage);
        if (!vector)
            continue;
        memcpy(queries + queried * vectors->dim, vector, vectors->dim * sizeof *vector);
        cosines[queried] = all + queried * PAIRED_WITH;
        queried++;
    }
    if (queried > 0)
        WT_TRY(wt__vectors_score_rows(vectors, &workspace->vectors, queries, queried, rows, PAIRED_WITH, cosines, err));
    for (size_t i = 0; i < queried * PAIRED_WITH; i++) {
        bool same = all[i] > 1 - 1e-4f, none = all[i] == 0;
        counted += !same && !none;
        sum += same || none ? 0 : (double)all[i];
        squares += same || none ? 0 : (double)all[i] * (double)all[i];
    }
    *mean = counted > 0 ? (float)(sum / (double)counted) : 0;
    double variance = counted > 0 ? squares / (double)counted - (double)*mean * (double)*mean : 0;
    *deviation = fmaxf(sqrtf(fmaxf((float)variance, 0)), DEVIATION_LEAST);
    return 0;
}

/* Replaces cosines [texts][N] by their z-scores: standard deviations from the mean cosine of two tools. Encoders differ
 * in this mean: it is about .8 for some, and .1 for others. */
static int standardise_cosines(const struct source_query *query, const struct vectors *vectors, float **cosines,
                               wt_error *err)
{
    struct workspace *workspace = query->workspace;
    float mean = 0, deviation = 1;
    WT_TRY(measure_pairs(vectors, workspace, &mean, &deviation, err));
    for (size_t t = 0; t < workspace->text_count; t++) {
        float *z = wt__arena_array(&workspace->arena, float, query->count);
        WT_CHECK_ALLOC(z, err);
        for (size_t c = 0; c < query->count; c++)
            z[c] = (cosines[t][c] - mean) / deviation;
        cosines[t] = z;
    }
    return 0;
}

/* Sets cosines to those of all texts, [texts][N]. A trained recipe searches other vectors than those of the tools'
 * texts. The networks were trained with cosines of the texts, so these are used if the snapshot has them. */
static int read_text_cosines(const struct source_query *query, bool z_scores, float **cosines, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    const struct view *view = query->view;
    const struct vectors *texts = NULL;
    if (view->encoder)
        texts = wt__snapshot_vectors(view->snapshot, wt__encoder_hash(view->encoder), wt__document_kind);
    bool others = view->vectors && texts && texts != view->vectors;
    for (size_t t = 0; t < workspace->text_count; t++) {
        cosines[t] = others ? wt__arena_array(&workspace->arena, float, query->count)
                            : wt__ranking(query, t, SOURCE_DENSE)->scores;
        WT_CHECK_ALLOC(cosines[t], err);
    }
    if (others)
        WT_TRY(wt__vectors_score_rows(texts, &workspace->vectors, workspace->texts[0].vector, workspace->text_count,
                                      query->rows, query->count, cosines, err));
    return z_scores && view->vectors ? standardise_cosines(query, others ? texts : view->vectors, cosines, err) : 0;
}

/* ---------------------------------------------------------------- inputs */

size_t wt__scorer_inputs(const struct scorer_table *table)
{
    size_t count = table->count;
    for (size_t f = 0; f < table->count; f++)
        count += table->features[f].properties & FEATURE_WHOLE;
    return count;
}

const struct scorer_feature *wt__scorer_input(const struct scorer_table *table, size_t i)
{
    size_t f = i < table->count ? i : 0;
    for (size_t whole = table->count; i >= table->count; f++)
        if (table->features[f].properties & FEATURE_WHOLE && whole++ == i)
            break;
    return &table->features[f];
}

/* Copies the `whole` features of the first text to the inputs after the features of this text. */
static void copy_whole_features(const struct scorer_table *table, const float *first, float *inputs, size_t n)
{
    size_t to = table->count;
    for (size_t f = 0; f < table->count; f++)
        if (table->features[f].properties & FEATURE_WHOLE)
            memcpy(inputs + to++ * n, first + f * n, n * sizeof *inputs);
}

int wt__scorer_read(struct source_query *query, const struct scorer_table *table, bool z_scores, float **out,
                    wt_error *err)
{
    size_t texts = query->workspace->text_count, n = query->count, size = wt__scorer_inputs(table) * n;
    float *inputs = wt__arena_array(&query->workspace->arena, float, texts *size);
    WT_CHECK_ALLOC(inputs, err);
    *out = inputs;
    if (n == 0)
        return 0;
    struct soft_words words;
    struct term_fields fields;
    struct candidate_providers providers = {.count = 0};
    float *cosines[TEXTS_MAX];
    WT_TRY(read_text_cosines(query, z_scores, cosines, err));
    WT_TRY(number_providers(query, &providers, err));
    WT_TRY(compare_soft_words(query, &providers, &words, err));
    WT_TRY(open_term_fields(query, &fields, err));
    for (size_t t = 0; t < texts; t++) {
        struct scored_text text;
        WT_TRY(read_scored_text(&fields, &words, &providers, t, cosines[t], &text, err));
        for (size_t f = 0; f < table->count; f++)
            if (query->view->vectors || !(table->features[f].properties & FEATURE_VECTORS))
                table->features[f].fill(&text, inputs + t * size + f * n);
        copy_whole_features(table, inputs, inputs + t * size, n);
    }
    return 0;
}
