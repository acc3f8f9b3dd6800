/* scorer_features.c: the features of the learned scorer (scorer.h), as one table. A row has a name, an expression that
 * computes the feature of candidate c for `text`, and a comment. To add a feature, add a row and run
 * tools/train-scorer.
 *
 * The words of a text have weights: their idf. A "mass" below is the sum of the weights of some of the words, divided
 * by the sum of all. A "gap" is the difference to the greatest value of any candidate, so it is at most 0. */
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
    const float *sums;                       /* [N] shares of words and meaning, added */
    float best_sum;
    const uint32_t *cosine_ranks;  /* [N] 0-based among the candidates */
    const float *provider_cosine;  /* [N] greatest cosine of a candidate of the same provider */
    const float *provider_any;     /* [N] greatest matched.any of a candidate of the same provider */
    const float *provider_nearest; /* [N] share of the NEAREST nearest with the same provider */
    unsigned asked;                /* actions that the text asks for; bits of enum action */
    bool question;                 /* the text is a question */
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
    return scored_key(text, c)->verbs;
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

static float share_of(float score, float best)
{
    return best > 0 && score > 0 ? score / best : 0;
}

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
    /* A question needs a tool that reads. */                                                                          \
    ROW(question_reads, text->question && (tool_verbs(text, c) & ACTION_READ), 0)                                      \
    ROW(question_acts, text->question && clash(tool_verbs(text, c), ACTION_READ), 0)                                   \
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
    ROW(question, text->question, 0)                                                                                   \
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
    ROW(soft_name_gap, text->soft[c].name - text->best_soft.name, 0)                                                   \
    ROW(soft_sentence_gap, text->soft[c].sentence - text->best_soft.sentence, 0)                                       \
    ROW(soft_any_gap, text->soft[c].any - text->best_soft.any, 0)                                                      \
    ROW(soft_name_mean_gap, text->soft[c].name_mean - text->best_soft.name_mean, 0)                                    \
    ROW(soft_cubed_gap, text->soft[c].cubed - text->best_soft.cubed, 0)                                                \
    ROW(soft_hits_gap, text->soft[c].hits - text->best_soft.hits, 0)
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
};

static int open_term_fields(const struct source_query *query, struct term_fields *out, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    size_t terms = workspace->texts[0].term_count;
    *out = (struct term_fields){.query = query,
                                .masks = wt__arena_array(&workspace->arena, uint8_t, terms * query->count),
                                .scratch = wt__arena_array(&workspace->arena, uint8_t, query->count)};
    WT_CHECK_ALLOC(out->masks && out->scratch, err);
    for (size_t i = 0; i < terms; i++)
        wt__lexical_match_fields(&workspace->queries[0], i, query->rows, query->count, out->masks + i * query->count);
    return 0;
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
        words[(*count)++] = (struct soft_word){word, wt__lexical_idf(index->rows, rows)};
    }
    return 0;
}

static int compare_soft_words(const struct source_query *query, struct soft_words *out, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    struct soft_word *words = wt__arena_array(&workspace->arena, struct soft_word, SOFT_WORDS_MAX);
    size_t count;
    WT_CHECK_ALLOC(words, err);
    WT_TRY(read_soft_words(query, words, &count, err));
    return wt__soft_words_compare(out, &workspace->word_vectors, words, count, &query->view->snapshot->words,
                                  query->rows, query->count, &workspace->arena, err);
}

static void match_soft_words(const struct soft_words *words, struct str text, struct soft_match *out,
                             struct soft_match *best, size_t count)
{
    *best = (struct soft_match){0};
    for (size_t c = 0; c < count; c++) {
        out[c] = wt__soft_match(words, text, c);
        wt__soft_match_raise(best, &out[c]);
    }
}

/* ---------------------------------------------------------------- ranks and providers */

/* Writes the rank of each candidate by its score, equal scores in row order. */
static int rank_candidates(const float *scores, size_t count, struct arena *arena, const uint32_t **out, wt_error *err)
{
    struct scored *order = wt__arena_array(arena, struct scored, count);
    uint32_t *ranks = wt__arena_array(arena, uint32_t, count);
    WT_CHECK_ALLOC(order && ranks, err);
    for (size_t c = 0; c < count; c++)
        order[c] = (struct scored){scores[c], (uint32_t)c};
    wt__scored_sort(order, count);
    for (size_t i = 0; i < count; i++)
        ranks[order[i].row] = (uint32_t)i;
    *out = ranks;
    return 0;
}

/* Providers of the candidates. */
struct candidate_providers {
    const uint32_t *numbers; /* [N] 0-based, without gaps */
    size_t count;
};

static int number_providers(const struct source_query *query, struct candidate_providers *out, wt_error *err)
{
    struct arena *arena = &query->workspace->arena;
    uint32_t *numbers = wt__arena_array(arena, uint32_t, query->count);
    uint64_t *order = wt__arena_array(arena, uint64_t, query->count);
    WT_CHECK_ALLOC(numbers && order, err);
    for (size_t c = 0; c < query->count; c++)
        order[c] = (uint64_t)query->view->snapshot->keys[query->rows[c]].provider << 32 | c;
    wt__sort_u64(order, query->count);
    out->count = 0;
    for (size_t i = 0; i < query->count; i++) {
        out->count += i == 0 || order[i] >> 32 != order[i - 1] >> 32;
        numbers[(uint32_t)order[i]] = (uint32_t)(out->count - 1);
    }
    out->numbers = numbers;
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
        best_cosine[p] = -1;
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

static bool is_question(struct str bytes)
{
    size_t at = 0;
    bytes = wt__str_trim(bytes);
    return (bytes.len > 0 && bytes.ptr[bytes.len - 1] == '?') || wt__is_question_word(wt__next_word(bytes, &at));
}

static int read_scored_text(const struct term_fields *fields, const struct soft_words *words,
                            const struct candidate_providers *providers, size_t t, const float *cosines,
                            struct scored_text *out, wt_error *err)
{
    const struct source_query *query = fields->query;
    struct arena *arena = &query->workspace->arena;
    const struct text *text = &query->workspace->texts[t];
    struct matched_words *matched = wt__arena_array(arena, struct matched_words, query->count);
    struct soft_match *soft = wt__arena_array(arena, struct soft_match, query->count);
    WT_CHECK_ALLOC(matched && soft, err);
    *out = (struct scored_text){.query = query,
                                .text = text,
                                .t = t,
                                .count = query->count,
                                .matched = matched,
                                .soft = soft,
                                .cosines = cosines,
                                .words = text->rankings[SOURCE_BM25].scores,
                                .asked = text->actions,
                                .question = is_question(text->bytes)};
    match_soft_words(words, text->bytes, soft, &out->best_soft, query->count);
    match_words(fields, t, matched);
    for (size_t c = 0; c < query->count; c++) {
        out->best_cosine = fmaxf(out->best_cosine, out->cosines[c]);
        out->best_words = fmaxf(out->best_words, out->words[c]);
        out->best_any = fmaxf(out->best_any, matched[c].any);
    }
    WT_TRY(rank_candidates(out->cosines, query->count, arena, &out->cosine_ranks, err));
    return compare_providers(providers, out, arena, err);
}

/* Sets cosines to those of all texts, [texts][N]. A trained recipe searches other vectors than those of the tools'
 * texts. The networks were trained with cosines of the texts, so these are used if the snapshot has them. */
static int read_text_cosines(const struct source_query *query, float **cosines, wt_error *err)
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
    return others ? wt__vectors_score_rows(texts, &workspace->vectors, workspace->texts[0].vector,
                                           workspace->text_count, query->rows, query->count, cosines, err)
                  : 0;
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

int wt__scorer_read(struct source_query *query, const struct scorer_table *table, float **out, wt_error *err)
{
    size_t texts = query->workspace->text_count, n = query->count, size = wt__scorer_inputs(table) * n;
    float *inputs = wt__arena_array(&query->workspace->arena, float, texts *size);
    WT_CHECK_ALLOC(inputs, err);
    struct soft_words words;
    struct term_fields fields;
    struct candidate_providers providers = {NULL, 0};
    float *cosines[TEXTS_MAX];
    WT_TRY(read_text_cosines(query, cosines, err));
    WT_TRY(compare_soft_words(query, &words, err));
    WT_TRY(open_term_fields(query, &fields, err));
    WT_TRY(number_providers(query, &providers, err));
    for (size_t t = 0; t < texts; t++) {
        struct scored_text text;
        WT_TRY(read_scored_text(&fields, &words, &providers, t, cosines[t], &text, err));
        for (size_t f = 0; f < table->count; f++)
            if (query->view->vectors || !(table->features[f].properties & FEATURE_VECTORS))
                table->features[f].fill(&text, inputs + t * size + f * n);
        copy_whole_features(table, inputs, inputs + t * size, n);
    }
    *out = inputs;
    return 0;
}
