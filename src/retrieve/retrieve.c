/* retrieve.c: the evidence of each text of a request, and the hits that come of it.
 *
 *   texts       the whole request, and its sub-queries when it has several (segment.h)
 *   candidates  the DEPTH best of every text by words and by meaning; both scores of every candidate, exactly
 *   value       of each text and candidate:  bm25    words / best words
 *                                            dense   cosine
 *                                            hybrid  sqrt(coverage) * words / best words + .6 * cosine / best cosine,
 *                                                    with words damped where a tool is stuffed with them (lexical.h)
 *               and for the whole request, where that was learned, the votes of past requests (neighbours.h)
 *   order       compose.h
 *
 * A score is divided by the best of its text because BM25 has no scale of its own. Coverage gives some of that scale
 * back where words compete with meaning: it is the share of the request's words, by weight, that the best tool could
 * answer, so a request in other words than the catalogue's is left to meaning. Cost: one BM25 search a text, one pass
 * over the vectors, and a few hundred exact scores; nothing grows with M but the searches. */
#include "retrieve/retrieve.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sort.h"
#include "retrieve/compose.h"
#include "retrieve/document.h"
#include "retrieve/segment.h"

const struct retriever wt__bm25 = {.lexical = 1, .subquery = 1};
const struct retriever wt__dense = {.dense = 1, .subquery = 1};
const struct retriever wt__hybrid = {.lexical = 1, .dense = 0.6f, .subquery = 1};

/* Candidates of a text and side: 20 would do; with 100 the first hundred hits do not depend on k. A cap passes over
 * candidates, and there must be others behind them. */
enum { DEPTH = 100, CAPPED_DEPTH = WT_MAX_K };

/* Bytes of a request that is still read in sub-queries. A longer one is a document: its sub-queries would cost seven
 * full encodings and say no more about what is wanted. */
enum { SUBQUERY_REQUEST_MAX = 4096 };

/* One side's view of one text. */
struct side {
    struct scored *top; /* [len] best first */
    size_t len;
    float *scores; /* [N] */
    float best;
};

struct text {
    struct str bytes;
    struct lexical_term *terms;
    size_t term_count;
    unsigned *fields;    /* [term_count] in which fields of the tool being explained; NULL before the first */
    const float *vector; /* [D]; those of all texts lie behind each other */
    struct side words, meaning;
    float coverage;
};

struct workspace {
    struct analyser *analyser;
    struct token_list tokens;
    struct document document;
    struct encoder_scratch *scratch;
    const struct encoder *scratch_of; /* the encoder that scratch belongs to */
    struct lexical_query queries[TEXTS_MAX];
    struct vectors_scratch vectors;
    struct arena arena;
    struct text texts[TEXTS_MAX];
    size_t text_count;
    struct neighbour_votes votes; /* of neighbours */
};

int wt__workspace_open(struct workspace **out, wt_error *err)
{
    *out = NULL;
    struct workspace *workspace = calloc(1, sizeof *workspace);
    if (!workspace)
        return wt__fail_nomem(err);
    int rc = wt__analyser_open(&workspace->analyser, err);
    if (rc < 0) {
        wt__workspace_close(workspace);
        return rc;
    }
    *out = workspace;
    return 0;
}

void wt__workspace_close(struct workspace *workspace)
{
    if (!workspace)
        return;
    wt__analyser_close(workspace->analyser);
    wt__token_list_dispose(&workspace->tokens);
    wt__document_dispose(&workspace->document);
    wt__encoder_scratch_free(workspace->scratch);
    for (size_t t = 0; t < TEXTS_MAX; t++)
        wt__lexical_query_dispose(&workspace->queries[t]);
    wt__vectors_scratch_dispose(&workspace->vectors);
    wt__arena_dispose(&workspace->arena);
    free(workspace);
}

/* The whole request, and its sub-queries when there are at least two. */
static void read_texts(struct workspace *workspace, struct str request)
{
    struct str subqueries[SUBQUERIES_MAX];
    size_t count = request.len <= SUBQUERY_REQUEST_MAX ? wt__segment(request, subqueries) : 0;
    workspace->text_count = count > 1 ? 1 + count : 1;
    workspace->texts[0] = (struct text){.bytes = request};
    for (size_t t = 1; t < workspace->text_count; t++)
        workspace->texts[t] = (struct text){.bytes = subqueries[t - 1]};
}

static int compare_terms(const void *a, const void *b)
{
    const struct lexical_term *x = a, *y = b;
    size_t shorter = x->text.len < y->text.len ? x->text.len : y->text.len;
    int order = memcmp(x->text.ptr, y->text.ptr, shorter);
    return order ? order : (x->text.len > y->text.len) - (x->text.len < y->text.len);
}

/* The different terms of a text. A word said four times counts twice: said again it hardly means more. */
static int read_terms(struct workspace *workspace, struct text *text, wt_error *err)
{
    size_t first = workspace->tokens.len;
    if (wt__analyser_run(workspace->analyser, text->bytes, &workspace->tokens) < 0)
        return wt__fail_nomem(err);
    size_t count = workspace->tokens.len - first;
    text->terms = wt__arena_array(&workspace->arena, struct lexical_term, count);
    if (!text->terms)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        text->terms[i] = (struct lexical_term){workspace->tokens.terms[first + i], 1};
    qsort(text->terms, count, sizeof *text->terms, compare_terms);
    for (size_t i = 0; i < count; i++) {
        if (text->term_count > 0 && compare_terms(&text->terms[i], &text->terms[text->term_count - 1]) == 0)
            text->terms[text->term_count - 1].weight++;
        else
            text->terms[text->term_count++] = text->terms[i];
    }
    for (size_t i = 0; i < text->term_count; i++)
        text->terms[i].weight = sqrtf(text->terms[i].weight);
    return 0;
}

/* The share of the most that BM25 could give for these terms that the best tool reaches. */
static float coverage(const struct lexical *index, const struct text *text, float best)
{
    float most = 0;
    for (size_t i = 0; i < text->term_count; i++)
        most += text->terms[i].weight * wt__lexical_idf(index->rows, wt__lexical_df(index, text->terms[i].text));
    most *= wt__lexical_settings.k1 + 1;
    return best < most ? best / most : 1;
}

static int search_words(const struct view *view, const struct retrieve_request *request, size_t depth,
                        struct workspace *workspace, wt_error *err)
{
    const struct lexical *index = &view->snapshot->lexical;
    wt__token_list_reset(&workspace->tokens);
    for (size_t t = 0; t < workspace->text_count; t++) {
        struct text *text = &workspace->texts[t];
        int rc = read_terms(workspace, text, err);
        if (rc == 0)
            rc = wt__lexical_prepare(&workspace->queries[t], index, text->terms, text->term_count, err);
        if (rc < 0)
            return rc;
        struct side *side = &text->words;
        side->top = wt__arena_array(&workspace->arena, struct scored, depth);
        if (!side->top)
            return wt__fail_nomem(err);
        side->len = wt__lexical_search(index, &workspace->queries[t], depth, request->allowed, side->top);
        side->best = side->len ? side->top[0].score : 0;
        text->coverage = coverage(index, text, side->best);
    }
    return 0;
}

/* Scratch for this encoder; a workspace keeps that of the last one. */
static int prepare_scratch(const struct encoder *encoder, struct workspace *workspace, wt_error *err)
{
    if (workspace->scratch && workspace->scratch_of == encoder)
        return 0;
    wt__encoder_scratch_free(workspace->scratch);
    workspace->scratch = NULL;
    workspace->scratch_of = encoder;
    return wt__encoder_scratch_new(&workspace->scratch, encoder, err);
}

static int encode_texts(const struct view *view, const struct retrieve_request *request, struct workspace *workspace,
                        wt_error *err)
{
    struct str texts[TEXTS_MAX];
    size_t dim = wt__encoder_dim(view->encoder);
    float *vectors = wt__arena_array(&workspace->arena, float, workspace->text_count *dim);
    if (!vectors)
        return wt__fail_nomem(err);
    if (request->encoded)
        memcpy(vectors, request->encoded, workspace->text_count * dim * sizeof *vectors);
    for (size_t t = 0; t < workspace->text_count; t++) {
        texts[t] = t == 0 ? workspace->texts[0].bytes : wt__skip_stopwords(workspace->texts[t].bytes);
        workspace->texts[t].vector = vectors + t * dim;
    }
    if (request->encoded)
        return 0;
    int rc = prepare_scratch(view->encoder, workspace, err);
    return rc < 0 ? rc : wt__encode(view->encoder, workspace->scratch, texts, workspace->text_count, vectors, err);
}

_Static_assert((int)TEXTS_MAX <= (int)VECTOR_MAX_QUERIES, "all texts of a request are searched in one pass");

static int search_meaning(const struct vectors *vectors, const struct retrieve_request *request, size_t depth,
                          struct workspace *workspace, struct hit_list *out, wt_error *err)
{
    size_t n = workspace->text_count, *counts = wt__arena_array(&workspace->arena, size_t, n);
    struct scored *top = wt__arena_array(&workspace->arena, struct scored, n * depth);
    if (!top || !counts)
        return wt__fail_nomem(err);
    out->nearest = top;
    out->nearest_counts = counts;
    out->nearest_most = depth;
    int rc = wt__vectors_search(vectors, &workspace->vectors, workspace->texts[0].vector, n, depth, request->allowed,
                                top, counts, err);
    for (size_t t = 0; rc == 0 && t < n; t++) {
        struct side *side = &workspace->texts[t].meaning;
        side->top = top + t * depth;
        side->len = counts[t];
        side->best = counts[t] && side->top[0].score > 0 ? side->top[0].score : 0;
    }
    return rc;
}

static int ask_neighbours(const struct neighbours *neighbours, const struct retrieve_request *request,
                          struct workspace *workspace, wt_error *err)
{
    workspace->votes = request->votes;
    if (request->votes.items)
        return 0;
    float *scores = wt__arena_array(&workspace->arena, float, neighbours->count);
    struct scored *items =
        wt__arena_array(&workspace->arena, struct scored, NEIGHBOURS_ASKED * neighbours->most_labels);
    struct scored *requests = wt__arena_array(&workspace->arena, struct scored, NEIGHBOURS_ASKED);
    if (!scores || !items || !requests)
        return wt__fail_nomem(err);
    workspace->votes =
        wt__neighbours_vote(neighbours, workspace->texts[0].vector, request->allowed, scores, items, requests);
    return 0;
}

static float vote_of(const struct workspace *workspace, uint32_t row)
{
    const struct neighbour_votes *votes = &workspace->votes;
    size_t low = 0, high = votes->len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (votes->items[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < votes->len && votes->items[low].row == row ? votes->items[low].score : 0;
}

/* The rows that any text found by either side or neighbours used, ascending, each once. */
static int collect_candidates(struct workspace *workspace, uint32_t **out, size_t *count, wt_error *err)
{
    size_t most = workspace->votes.len, n = 0;
    for (size_t t = 0; t < workspace->text_count; t++)
        most += workspace->texts[t].words.len + workspace->texts[t].meaning.len;
    uint32_t *rows = wt__arena_array(&workspace->arena, uint32_t, most);
    if (!rows)
        return wt__fail_nomem(err);
    for (size_t t = 0; t < workspace->text_count; t++) {
        const struct side *sides[] = {&workspace->texts[t].words, &workspace->texts[t].meaning};
        for (size_t s = 0; s < 2; s++)
            for (size_t i = 0; i < sides[s]->len; i++)
                rows[n++] = sides[s]->top[i].row;
    }
    for (size_t i = 0; i < workspace->votes.len; i++)
        rows[n++] = workspace->votes.items[i].row;
    *out = rows;
    *count = wt__sort_unique_u32(rows, n);
    return 0;
}

bool wt__asks_neighbours(const struct retriever *retriever)
{
    return retriever->neighbours > 0 || retriever->votes;
}

static bool weighs_both(const struct retriever *retriever)
{
    return retriever->lexical > 0 && retriever->dense > 0;
}

/* Exact scores of every candidate for every text. */
static int score_candidates(const struct view *view, const struct vectors *vectors, bool words,
                            struct workspace *workspace, const uint32_t *rows, size_t count, wt_error *err)
{
    for (size_t t = 0; t < workspace->text_count; t++) {
        struct text *text = &workspace->texts[t];
        text->words.scores = wt__arena_array(&workspace->arena, float, count);
        text->meaning.scores = wt__arena_array(&workspace->arena, float, count);
        if (!text->words.scores || !text->meaning.scores)
            return wt__fail_nomem(err);
        if (words)
            wt__lexical_score_rows(&view->snapshot->lexical, &workspace->queries[t], rows, count, text->words.scores);
        if (vectors) {
            int rc = wt__vectors_score_rows(vectors, &workspace->vectors, text->vector, rows, count,
                                            text->meaning.scores, err);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* Where meaning has a say, a tool that is found by its many words has to be found by what it means. By words alone it
 * could not be found at all, so that BM25 stays what it is. */
static void damp_words(const struct lexical *index, struct workspace *workspace, const uint32_t *rows, size_t count)
{
    for (size_t t = 0; t < workspace->text_count; t++) {
        struct text *text = &workspace->texts[t];
        text->words.best = 0;
        for (size_t c = 0; c < count; c++) {
            text->words.scores[c] *= wt__lexical_damping(index, rows[c]);
            text->words.best = fmaxf(text->words.best, text->words.scores[c]);
        }
        text->coverage = coverage(index, text, text->words.best);
    }
}

static float words_value(const struct retriever *retriever, const struct text *text, size_t c)
{
    if (text->words.best <= 0)
        return 0;
    float share = retriever->lexical * text->words.scores[c] / text->words.best;
    return weighs_both(retriever) ? sqrtf(text->coverage) * share : share;
}

static float meaning_value(const struct retriever *retriever, const struct text *text, size_t c)
{
    float cosine = text->meaning.scores[c];
    if (!weighs_both(retriever))
        return retriever->dense * cosine;
    return text->meaning.best > 0 && cosine > 0 ? retriever->dense * cosine / text->meaning.best : 0;
}

static int weigh(const struct retriever *retriever, const struct view *view, struct workspace *workspace,
                 const uint32_t *rows, size_t count, struct evidence *out, wt_error *err)
{
    uint32_t *provider = wt__arena_array(&workspace->arena, uint32_t, count);
    if (!provider)
        return wt__fail_nomem(err);
    for (size_t c = 0; c < count; c++)
        provider[c] = view->snapshot->keys[rows[c]].provider;
    *out = (struct evidence){.texts = workspace->text_count,
                             .candidates = count,
                             .rows = rows,
                             .provider = provider,
                             .subquery_weight = retriever->subquery};
    for (size_t t = 0; t < workspace->text_count; t++) {
        out->value[t] = wt__arena_array(&workspace->arena, float, count);
        if (!out->value[t])
            return wt__fail_nomem(err);
        for (size_t c = 0; c < count; c++)
            out->value[t][c] =
                words_value(retriever, &workspace->texts[t], c) + meaning_value(retriever, &workspace->texts[t], c);
    }
    for (size_t c = 0; c < count && workspace->votes.len > 0; c++)
        out->value[0][c] += retriever->neighbours * vote_of(workspace, rows[c]);
    return 0;
}

static size_t rank_in(const struct side *side, uint32_t row)
{
    for (size_t i = 0; i < side->len; i++)
        if (side->top[i].row == row)
            return i + 1;
    return 0;
}

static size_t vote_rank(const struct workspace *workspace, float vote)
{
    size_t rank = 1;
    for (size_t i = 0; i < workspace->votes.len; i++)
        rank += workspace->votes.items[i].score > vote;
    return vote > 0 ? rank : 0;
}

/* The place of candidate c in the order that one text alone would give. */
static size_t rank_by(const struct evidence *evidence, size_t text, size_t c)
{
    const float *value = evidence->value[text];
    size_t rank = 1;
    for (size_t i = 0; i < evidence->candidates; i++)
        rank += value[i] > value[c] || (i < c && value[i] == value[c]);
    return rank;
}

static struct hit hit_of(const struct retriever *retriever, const struct workspace *workspace,
                         const struct evidence *evidence, const uint32_t *rows, const struct choice *choice)
{
    const struct text *whole = &workspace->texts[0];
    size_t c = choice->candidate;
    struct hit hit = {.row = rows[c], .score = choice->score};
    hit.stages[STAGE_BM25] = (struct stage_evidence){rank_in(&whole->words, rows[c]), whole->words.scores[c],
                                                     words_value(retriever, whole, c)};
    hit.stages[STAGE_DENSE] = (struct stage_evidence){rank_in(&whole->meaning, rows[c]), whole->meaning.scores[c],
                                                      meaning_value(retriever, whole, c)};
    float vote = vote_of(workspace, rows[c]);
    hit.stages[STAGE_NEIGHBOURS] =
        (struct stage_evidence){vote_rank(workspace, vote), vote, retriever->neighbours * vote};
    if (choice->text > 0) {
        hit.subquery = workspace->texts[choice->text].bytes;
        hit.stages[STAGE_SUBQUERY] = (struct stage_evidence){rank_by(evidence, choice->text, c),
                                                             evidence->value[choice->text][c], choice->subquery};
    }
    return hit;
}

/* Words of a text, on one scale for all texts and whatever the retriever weighs. */
static float words_share(const struct text *text, size_t c)
{
    return text->words.best > 0 ? sqrtf(text->coverage) * text->words.scores[c] / text->words.best : 0;
}

static void read_features(const struct workspace *workspace, size_t c, float relative, float vote, float *out)
{
    const struct text *texts = workspace->texts;
    out[FEATURE_SCORE] = relative;
    out[FEATURE_MEANING] = texts[0].meaning.scores[c];
    out[FEATURE_WORDS] = words_share(&texts[0], c);
    out[FEATURE_NEIGHBOUR_VOTES] = vote;
    out[FEATURE_SUBQUERY_MEANING] = workspace->text_count > 1 ? -1 : out[FEATURE_MEANING];
    out[FEATURE_SUBQUERY_WORDS] = workspace->text_count > 1 ? 0 : out[FEATURE_WORDS];
    for (size_t t = 1; t < workspace->text_count; t++) {
        out[FEATURE_SUBQUERY_MEANING] = fmaxf(out[FEATURE_SUBQUERY_MEANING], texts[t].meaning.scores[c]);
        out[FEATURE_SUBQUERY_WORDS] = fmaxf(out[FEATURE_SUBQUERY_WORDS], words_share(&texts[t], c));
    }
}

/* Vectors of the tools' own texts: training pulls vectors to what tools are used for, which a copy is not used for. */
static const struct vectors *text_vectors(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->set_count; i++)
        if (strcmp(snapshot->sets[i].kind, wt__document_kind) == 0)
            return &snapshot->sets[i].vectors;
    return NULL;
}

/* What tells near-copies among the hits; *out is NULL where nothing can or should. */
static int watch_copies(struct copies **out, const struct retriever *retriever, const struct view *view,
                        const struct retrieve_request *request, struct workspace *workspace, size_t candidates,
                        wt_error *err)
{
    const struct vectors *vectors = text_vectors(view->snapshot);
    *out = NULL;
    if (request->copies || retriever->dense <= 0 || !vectors)
        return 0;
    struct copies *copies = wt__arena_array(&workspace->arena, struct copies, 1);
    if (!copies)
        return wt__fail_nomem(err);
    *copies = (struct copies){.vectors = vectors,
                              .scratch = &workspace->vectors,
                              .keys = view->snapshot->keys,
                              .met = wt__arena_array(&workspace->arena, uint32_t, candidates),
                              .older = wt__arena_array(&workspace->arena, uint32_t, candidates),
                              .cosines = wt__arena_array(&workspace->arena, float, candidates)};
    *out = copies;
    return copies->met && copies->older && copies->cosines ? 0 : wt__fail_nomem(err);
}

static int order_hits(const struct retriever *retriever, const struct view *view,
                      const struct retrieve_request *request, struct workspace *workspace, const uint32_t *rows,
                      size_t count, struct hit_list *out, wt_error *err)
{
    struct evidence evidence;
    size_t k = request->k < count ? request->k : count;
    struct choice *choices = wt__arena_array(&workspace->arena, struct choice, k);
    out->items = wt__arena_array(&workspace->arena, struct hit, k);
    int rc =
        choices && out->items ? weigh(retriever, view, workspace, rows, count, &evidence, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = watch_copies(&evidence.copies, retriever, view, request, workspace, count, err);
    if (rc == 0)
        rc = wt__compose(&evidence, k, request->max_per_provider, &workspace->arena, choices, &out->len, err);
    out->copies_left_out = rc == 0 && evidence.copies ? evidence.copies->left_out : 0;
    for (size_t i = 0; rc == 0 && i < out->len; i++)
        out->items[i] = hit_of(retriever, workspace, &evidence, rows, &choices[i]);
    for (size_t i = 0; rc == 0 && i < out->len; i++)
        read_features(workspace, choices[i].candidate, choices[0].score > 0 ? choices[i].score / choices[0].score : 0,
                      vote_of(workspace, out->items[i].row), out->items[i].features);
    return rc;
}

int wt__retrieve(const struct retriever *retriever, const struct view *view, const struct retrieve_request *request,
                 struct workspace *workspace, struct hit_list *out, wt_error *err)
{
    const struct vectors *vectors = retriever->dense > 0 ? view->vectors : NULL;
    const struct neighbours *neighbours = wt__asks_neighbours(retriever) ? view->neighbours : NULL;
    size_t least = request->max_per_provider ? CAPPED_DEPTH : DEPTH;
    size_t depth = request->k > least ? request->k : least, count = 0;
    uint32_t *rows = NULL;
    bool words = retriever->lexical > 0 || request->features;
    *out = (struct hit_list){0};
    wt__arena_reset(&workspace->arena);
    workspace->votes = (struct neighbour_votes){0};
    int rc = 0;
    read_texts(workspace, request->text);
    if (words)
        rc = search_words(view, request, depth, workspace, err);
    if (rc == 0 && (retriever->dense > 0 || neighbours)) {
        double begun = wt__now_ms();
        rc = encode_texts(view, request, workspace, err);
        out->encode_ms = wt__now_ms() - begun;
        out->encoded = workspace->texts[0].vector;
        out->texts = workspace->text_count;
    }
    if (rc == 0 && vectors)
        rc = search_meaning(vectors, request, depth, workspace, out, err);
    if (rc == 0 && neighbours)
        rc = ask_neighbours(neighbours, request, workspace, err);
    out->votes = workspace->votes;
    if (rc == 0)
        rc = collect_candidates(workspace, &rows, &count, err);
    if (rc == 0)
        rc = score_candidates(view, vectors, words, workspace, rows, count, err);
    if (rc == 0 && weighs_both(retriever))
        damp_words(&view->snapshot->lexical, workspace, rows, count);
    return rc < 0 ? rc : order_hits(retriever, view, request, workspace, rows, count, out, err);
}

/* fields[i]: where in the document terms[i], which are sorted, stands. Returns how many stand anywhere. */
static size_t mark_fields(const struct document *document, const struct lexical_term *terms, size_t count,
                          unsigned *fields)
{
    size_t marked = 0;
    memset(fields, 0, count * sizeof *fields);
    for (size_t f = 0; f < FIELD_COUNT; f++)
        for (size_t i = 0; i < document->fields[f].count; i++) {
            struct lexical_term key = {.text = document->fields[f].terms[i]};
            const struct lexical_term *term = bsearch(&key, terms, count, sizeof key, compare_terms);
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

int wt__retrieve_explain(const struct view *view, struct workspace *workspace, uint32_t row, const struct tool *tool,
                         struct arena *arena, struct word_match **out, size_t *count, wt_error *err)
{
    struct text *whole = &workspace->texts[0];
    *count = 0;
    if (!whole->fields)
        whole->fields = wt__arena_array(&workspace->arena, unsigned, whole->term_count);
    if (!whole->fields)
        return wt__fail_nomem(err);
    int rc = wt__document_read(&workspace->document, workspace->analyser, tool, err);
    if (rc < 0)
        return rc;
    size_t marked = mark_fields(&workspace->document, whole->terms, whole->term_count, whole->fields);
    *out = wt__arena_array(arena, struct word_match, marked);
    if (!*out)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < whole->term_count && marked > 0; i++) {
        float share;
        if (!whole->fields[i])
            continue;
        wt__lexical_explain(&view->snapshot->lexical, &workspace->queries[0], &whole->terms[i], 1, row, &share);
        if (share > 0)
            (*out)[(*count)++] = (struct word_match){whole->terms[i].text, whole->fields[i], share};
    }
    qsort(*out, *count, sizeof **out, compare_matches);
    return 0;
}
