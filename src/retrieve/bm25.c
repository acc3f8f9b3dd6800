/* bm25.c: the source "words": BM25 over the tool's fields.
 *
 * BM25 has no scale of its own, so a score is divided by the best score of its text. If words compete with meaning, the
 * score is also multiplied by the root of the coverage. Coverage is the share of the request's words, by weight, that
 * the best tool could match. A request that uses other words than the catalogue is therefore ranked by meaning. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "retrieve/source.h"
#include "retrieve/words.h"

static const float SPARED_FROM = .9f; /* share of the best cosine above which tools are damped less */

int wt__compare_terms(const void *a, const void *b)
{
    const struct lexical_term *x = a, *y = b;
    size_t shorter = x->text.len < y->text.len ? x->text.len : y->text.len;
    int order = memcmp(x->text.ptr, y->text.ptr, shorter);
    return order ? order : (x->text.len > y->text.len) - (x->text.len < y->text.len);
}

/* Analyses a text: its written words, then its alternatives. *written: number of tokens of the first. */
static int read_bm25_tokens(struct workspace *workspace, const struct text *text, size_t *written, wt_error *err)
{
    struct token_list *tokens = &workspace->tokens;
    size_t first = tokens->len;
    int rc = wt__analyser_run(workspace->analyser, text->written, tokens);
    *written = tokens->len - first;
    for (size_t i = 0; i < workspace->expanded.count && rc == 0; i++) {
        struct str inserted = wt__inserted_part(&workspace->expanded, i);
        if (wt__is_part_of(inserted, text->bytes))
            rc = wt__analyser_run(workspace->analyser, inserted, tokens);
    }
    return rc < 0 ? wt__fail_nomem(err) : 0;
}

/* Collects the distinct terms of a text. Weights are the square root of the count, because repeating a word adds
 * little. */
int wt__text_terms(struct workspace *workspace, struct text *text, wt_error *err)
{
    size_t first = workspace->tokens.len, written;
    WT_TRY(read_bm25_tokens(workspace, text, &written, err));
    size_t count = workspace->tokens.len - first;
    text->terms = wt__arena_array(&workspace->arena, struct lexical_term, count);
    text->shares = wt__arena_array(&workspace->arena, float, count);
    text->idf = wt__arena_array(&workspace->arena, float, count);
    WT_CHECK_ALLOC(text->terms && text->shares && text->idf, err);
    for (size_t i = 0; i < count; i++)
        text->terms[i] =
            (struct lexical_term){workspace->tokens.terms[first + i], i < written ? 1 : ALTERNATIVE_WEIGHT};
    qsort(text->terms, count, sizeof *text->terms, wt__compare_terms);
    for (size_t i = 0; i < count; i++) {
        if (text->term_count > 0 && wt__compare_terms(&text->terms[i], &text->terms[text->term_count - 1]) == 0)
            text->terms[text->term_count - 1].weight += text->terms[i].weight;
        else
            text->terms[text->term_count++] = text->terms[i];
    }
    for (size_t i = 0; i < text->term_count; i++)
        text->terms[i].weight = sqrtf(text->terms[i].weight);
    return 0;
}

/* Computes the idf [term_count] of each term and the maximum BM25 score of all. */
static void read_idf(const struct lexical *index, const struct lexical_query *query, struct text *text)
{
    text->most = 0;
    for (size_t i = 0; i < text->term_count; i++) {
        text->idf[i] = text->terms[i].weight * wt__lexical_idf(index->rows, wt__lexical_term_rows(query, i));
        text->most += text->idf[i];
    }
    text->most *= wt__lexical_settings.k1 + 1;
}

/* Returns the share of the maximum score that the best tool reaches. */
static float measure_coverage(const struct text *text, float best)
{
    return best < text->most ? best / text->most : 1;
}

static int search_bm25(struct source_query *query, wt_error *err)
{
    const struct lexical *index = &query->view->snapshot->lexical;
    struct workspace *workspace = query->workspace;
    wt__token_list_reset(&workspace->tokens);
    for (size_t t = 0; t < workspace->text_count; t++) {
        struct text *text = &workspace->texts[t];
        WT_TRY(wt__text_terms(workspace, text, err));
        WT_TRY(wt__lexical_prepare(&workspace->queries[t], index, text->terms, text->term_count, err));
        read_idf(index, &workspace->queries[t], text);
        struct ranking *words = &text->rankings[SOURCE_BM25];
        words->top = wt__arena_array(&workspace->arena, struct scored, wt__text_depth(query, t));
        WT_CHECK_ALLOC(words->top, err);
        words->len = wt__lexical_search(index, &workspace->queries[t], wt__text_depth(query, t),
                                        query->request->allowed, words->top);
        words->best = words->len ? words->top[0].score : 0;
        text->coverage = measure_coverage(text, words->best);
    }
    return 0;
}

/* Returns the part of the damping that a candidate is spared: 1 for the best candidate by meaning, 0 for a cosine
 * below SPARED_FROM of the best. Real tools with large schemas have as many words as keyword-stuffed ones, but match
 * the meaning of the request. */
static float spared_damping(const struct text *text, size_t c)
{
    const struct ranking *meaning = &text->rankings[SOURCE_DENSE];
    if (meaning->best <= 0)
        return 0;
    return fminf(fmaxf((meaning->scores[c] / meaning->best - SPARED_FROM) / (1 - SPARED_FROM), 0), 1);
}

float wt__word_damping(const struct source_query *query, size_t t, size_t c)
{
    float damping = wt__lexical_damping(&query->view->snapshot->lexical, query->rows[c]);
    return damping < 1 ? damping + (1 - damping) * spared_damping(&query->workspace->texts[t], c) : 1;
}

/* Reduces the word scores of tools with very many words, so that such a tool must also match by meaning. Not used if
 * only words have a weight, because such a tool could then not be found at all. */
static void damp_word_scores(struct source_query *query, size_t t)
{
    struct text *text = &query->workspace->texts[t];
    struct ranking *words = &text->rankings[SOURCE_BM25];
    words->best = 0;
    for (size_t c = 0; c < query->count; c++) {
        words->scores[c] *= wt__word_damping(query, t, c);
        words->best = fmaxf(words->best, words->scores[c]);
    }
    text->coverage = measure_coverage(text, words->best);
}

void wt__damp_words(struct source_query *query)
{
    for (size_t t = 0; t < query->workspace->text_count; t++)
        damp_word_scores(query, t);
}

static int score_bm25_rows(struct source_query *query, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    (void)err;
    for (size_t t = 0; t < workspace->text_count; t++)
        wt__lexical_score_rows(&query->view->snapshot->lexical, &workspace->queries[t], query->rows, query->count,
                               wt__ranking(query, t, SOURCE_BM25)->scores);
    return 0;
}

/* Returns the weight times the candidate's share of the best word score; 0 if no tool has a word of the text. */
static float weigh_word_score(const struct text *text, float weight, size_t c)
{
    const struct ranking *words = &text->rankings[SOURCE_BM25];
    return words->best > 0 ? weight * words->scores[c] / words->best : 0;
}

static float bm25_value(const struct source_query *query, float weight, size_t t, size_t c)
{
    const struct text *text = &query->workspace->texts[t];
    const float share = weigh_word_score(text, weight, c);
    return query->fused ? sqrtf(text->coverage) * share : share;
}

/* Sets the word features, which are comparable between texts and independent of the retriever's weights. */
static void fill_word_features(const struct source_query *query, size_t c, float *out)
{
    const struct text *texts = query->workspace->texts;
    const size_t count = query->workspace->text_count;
    out[FEATURE_WORDS] = weigh_word_score(&texts[0], sqrtf(texts[0].coverage), c);
    out[FEATURE_SUBQUERY_WORDS] = count > 1 ? 0 : out[FEATURE_WORDS];
    for (size_t t = 1; t < count; t++)
        out[FEATURE_SUBQUERY_WORDS] =
            fmaxf(out[FEATURE_SUBQUERY_WORDS], weigh_word_score(&texts[t], sqrtf(texts[t].coverage), c));
}

struct word_share wt__word_share(const struct source_query *query, size_t c)
{
    const struct text *whole = &query->workspace->texts[0];
    struct word_share out = {0};
    float found = 0, all = 0;
    wt__lexical_explain(&query->workspace->queries[0], 0, whole->term_count, query->rows[c], whole->shares);
    for (size_t i = 0; i < whole->term_count; i++) {
        out.count += whole->shares[i] > 0;
        found += whole->shares[i] > 0 ? whole->idf[i] : 0;
        all += whole->idf[i];
    }
    out.weight = all > 0 ? found / all : 0;
    return out;
}

const struct source wt__source_bm25 = {
    {"bm25", "lexical", NULL, search_bm25, score_bm25_rows, bm25_value, fill_word_features}, .for_features = true};

/* Sets fields[i] to the fields of the document that contain the sorted terms[i]. Returns the number of terms found. */
static size_t mark_fields(const struct document *document, const struct lexical_term *terms, size_t count,
                          unsigned *fields)
{
    size_t marked = 0;
    memset(fields, 0, count * sizeof *fields);
    for (size_t f = 0; f < FIELD_COUNT; f++)
        for (size_t i = 0; i < document->fields[f].count; i++) {
            struct lexical_term key = {.text = document->fields[f].terms[i]};
            const struct lexical_term *term = bsearch(&key, terms, count, sizeof key, wt__compare_terms);
            if (!term)
                continue;
            marked += fields[term - terms] == 0;
            fields[term - terms] |= 1u << f;
        }
    return marked;
}

static int compare_matches(const void *a, const void *b)
{
    const struct word_match *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

int wt__retrieve_explain(struct workspace *workspace, uint32_t row, const struct tool *tool, struct arena *arena,
                         struct word_match **out, size_t *count, wt_error *err)
{
    struct text *whole = &workspace->texts[0];
    *count = 0;
    if (!whole->fields)
        whole->fields = wt__arena_array(&workspace->arena, unsigned, whole->term_count);
    WT_CHECK_ALLOC(whole->fields, err);
    WT_TRY(wt__document_read(&workspace->document, workspace->analyser, tool, err));
    size_t marked = mark_fields(&workspace->document, whole->terms, whole->term_count, whole->fields);
    *out = wt__arena_array(arena, struct word_match, marked);
    WT_CHECK_ALLOC(*out, err);
    for (size_t i = 0; i < whole->term_count && marked > 0; i++) {
        float share_of_score;
        if (!whole->fields[i])
            continue;
        wt__lexical_explain(&workspace->queries[0], i, 1, row, &share_of_score);
        if (share_of_score > 0)
            (*out)[(*count)++] = (struct word_match){whole->terms[i].text, whole->fields[i], share_of_score};
    }
    qsort(*out, *count, sizeof **out, compare_matches);
    return 0;
}
