/* retrieve.c: finds the hits for a request, in four steps:
 *
 *   texts       the whole request, and its sub-queries if it has several (segment.h)
 *   candidates  the DEPTH best tools of every source (source.h) for every text, with the exact score of every source
 *   values      one for each text and candidate (fuse.c):
 *                 bm25        words / best words
 *                 dense       cosine
 *                 hybrid      exp(score), where the learned scorer (scorer.h) gives the score
 *   order       compose.h
 *
 * Cost: one BM25 search per text, one pass over the vectors, and a few hundred exact scores. Only the searches grow
 * with the number of tools. */
#include "retrieve/retrieve.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sort.h"
#include "encoder/model_dir.h"
#include "retrieve/alternatives.h"
#include "retrieve/negation.h"
#include "retrieve/scorer.h"
#include "retrieve/segment.h"
#include "retrieve/source.h"
#include "retrieve/vector_cache.h"

/* Candidates per text and source. 20 would suffice, but with 100 the first hundred hits do not depend on k. A cap
 * per provider skips candidates, so a search with a cap needs more of them (CAPPED_DEPTH). */
enum { DEPTH = 100, CAPPED_DEPTH = WT_MAX_K };

/* If exact copies leave fewer than min(k, FILLED) hits, the search is repeated with CAPPED_DEPTH. */
enum { FILLED = 50 };

/* Maximum bytes of a request that is split into sub-queries. A longer request is a document: its sub-queries would
 * take many full encodings and say little about what the user wants. */
enum { SUBQUERY_REQUEST_MAX = 4096 };

/* Total bytes of sub-queries that the encoder reads, about the tokens of one whole request. The sub-queries of a
 * shorter request always fit. A longer request usually says first or last what the user wants. The budget is
 * therefore spent on the last sub-query, then the first, the last but one, and so on. Of each sub-query beyond the
 * budget, the encoder reads the first SUBQUERY_ENCODED_LEAST bytes. Words are read in full. */
enum { SUBQUERIES_ENCODED = 1280, SUBQUERY_ENCODED_LEAST = 64 };

static void close_workspace(struct workspace **workspace)
{
    wt__workspace_close(*workspace);
}

int wt__workspace_open(struct workspace **out, wt_error *err)
{
    *out = NULL;
    WT_CLEANUP(close_workspace) struct workspace *workspace = wt__alloc_zeros(1, sizeof *workspace);
    WT_CHECK_ALLOC(workspace, err);
    WT_TRY(wt__analyser_open(&workspace->analyser, err));
    WT_TRY(wt__packed_bind(&workspace->word_vectors, wt__built_in_model, MODEL_BUILT_IN, err));
    *out = WT_TAKE(workspace);
    return 0;
}

void wt__workspace_close(struct workspace *workspace)
{
    if (!workspace)
        return;
    wt__analyser_close(workspace->analyser);
    wt__token_list_dispose(&workspace->tokens);
    wt__token_list_dispose(&workspace->soft_tokens);
    wt__document_dispose(&workspace->document);
    wt__encoder_scratch_free(workspace->scratch);
    for (size_t t = 0; t < TEXTS_MAX + 1; t++)
        wt__lexical_query_dispose(&workspace->queries[t]);
    wt__vectors_scratch_dispose(&workspace->vectors);
    wt__arena_dispose(&workspace->arena);
    free(workspace);
}

/* Sets texts to the request without its denied parts and, if there are at least two, its sub-queries. */
static int split_request_texts(struct str request, struct arena *arena, struct retrieve_texts *out, wt_error *err)
{
    struct str *written = out->written;
    *out = (struct retrieve_texts){.texts = {request}, .written = {request}, .expanded = {.text = request}, .count = 1};
    if (request.len > SUBQUERY_REQUEST_MAX)
        return 0;
    WT_TRY(wt__negation_split(&written[0], &out->denied, request, arena, err));
    size_t count = wt__segment(written[0], written + 1);
    out->count = count > 1 ? 1 + count : 1;
    WT_TRY(wt__alternatives_insert(&out->expanded, written[0], arena, err));
    for (size_t t = 0; t < out->count; t++)
        out->texts[t] = wt__expanded_part(&out->expanded, (size_t)(written[t].ptr - written[0].ptr), written[t].len);
    return 0;
}

static int read_request_texts(struct workspace *workspace, const struct retrieve_request *request, wt_error *err)
{
    struct retrieve_texts split;
    workspace->names.count = workspace->names.spoken_count = 0;
    workspace->scored = NULL;
    WT_TRY(split_request_texts(request->text, &workspace->arena, &split, err));
    workspace->text_count = request->whole ? 1 : split.count;
    workspace->denied = split.denied;
    workspace->expanded = split.expanded;
    for (size_t t = 0; t < workspace->text_count; t++)
        workspace->texts[t] = (struct text){.bytes = split.texts[t], .written = split.written[t]};
    return 0;
}

/* Prepares the scratch for this encoder. The workspace keeps the scratch of the last encoder. */
static int prepare_scratch(const struct encoder *encoder, struct workspace *workspace, wt_error *err)
{
    if (workspace->scratch && workspace->scratch_of == encoder)
        return 0;
    wt__encoder_scratch_free(workspace->scratch);
    workspace->scratch = NULL;
    workspace->scratch_of = encoder;
    return wt__encoder_scratch_new(&workspace->scratch, encoder, err);
}

/* Shortens the sub-queries to what the encoder reads. */
static void limit_encoded_texts(struct str *texts, size_t count)
{
    size_t all = 0;
    for (size_t t = 1; t < count; t++) {
        texts[t] = wt__skip_stopwords(texts[t]);
        all += texts[t].len;
    }
    for (size_t i = 0, left = SUBQUERIES_ENCODED; all > SUBQUERIES_ENCODED && i + 1 < count; i++) {
        size_t t = i % 2 ? 1 + i / 2 : count - 1 - i / 2;
        texts[t] = wt__str_head(texts[t], left > SUBQUERY_ENCODED_LEAST ? left : SUBQUERY_ENCODED_LEAST);
        left -= left < texts[t].len ? left : texts[t].len;
    }
}

int wt__retrieve_texts(struct str request, struct arena *arena, struct retrieve_texts *out, wt_error *err)
{
    WT_TRY(split_request_texts(request, arena, out, err));
    limit_encoded_texts(out->texts, out->count);
    return 0;
}

static int encode_texts(struct source_query *query, wt_error *err)
{
    const struct encoder *encoder = query->view->encoder;
    struct workspace *workspace = query->workspace;
    struct str texts[TEXTS_MAX];
    size_t dim = wt__encoder_dim(encoder), count = workspace->text_count;
    float *vectors = wt__arena_array(&workspace->arena, float, count *dim);
    WT_CHECK_ALLOC(vectors, err);
    if (query->request->encoded)
        memcpy(vectors, query->request->encoded, count * dim * sizeof *vectors);
    for (size_t t = 0; t < count; t++)
        workspace->texts[t].vector = vectors + t * dim;
    query->out->encoded = vectors;
    query->out->texts = count;
    if (query->request->encoded)
        return 0;
    WT_TRY(prepare_scratch(encoder, workspace, err));
    double begun = wt__now_ms();
    for (size_t t = 0; t < count; t++)
        texts[t] = workspace->texts[t].bytes;
    limit_encoded_texts(texts, count);
    int rc = wt__vector_cache_encode(query->view->cache, encoder, workspace->scratch, texts, count, vectors,
                                     &workspace->arena, err);
    query->out->encoded_at_ms = wt__now_ms();
    query->out->encode_ms = query->out->encoded_at_ms - begun;
    return rc;
}

/* Runs the search of every source for every text. */
static int search_sources(struct source_query *query, wt_error *err)
{
    for (enum source_id s = 0; s < SOURCES; s++) {
        if (!wt__query_uses(query, s))
            continue;
        if (wt__sources[s]->needs_vectors && !query->out->encoded)
            WT_TRY(encode_texts(query, err));
        WT_TRY(wt__sources[s]->search(query, err));
    }
    return 0;
}

/* Sorts rows, removes duplicates and returns the number left. Uses a bitmap of the snapshot's rows if scanning the
 * bitmap is cheaper than sorting. */
static size_t order_rows(uint32_t *rows, size_t count, uint32_t all, struct arena *arena)
{
    enum { BITS = 64 };
    size_t words = all / BITS + 1, kept = 0;
    uint64_t *bits = words <= count ? wt__arena_array(arena, uint64_t, words) : NULL;
    if (!bits)
        return wt__sort_unique_u32(rows, count);
    for (size_t i = 0; i < count; i++)
        bits[rows[i] / BITS] |= UINT64_C(1) << rows[i] % BITS;
    for (size_t word = 0; word < words; word++)
        for (uint64_t left = bits[word]; left; left &= left - 1)
            rows[kept++] = (uint32_t)(word * BITS + (size_t)__builtin_ctzll(left));
    return kept;
}

/* Collects the rows found by any source for any text, ascending, each once. */
static int collect_candidates(struct source_query *query, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    size_t most = 0, n = 0;
    for (size_t t = 0; t < workspace->text_count; t++)
        for (size_t s = 0; s < SOURCES; s++)
            most += workspace->texts[t].rankings[s].len;
    query->rows = wt__arena_array(&workspace->arena, uint32_t, most);
    WT_CHECK_ALLOC(query->rows, err);
    for (size_t t = 0; t < workspace->text_count; t++)
        for (size_t s = 0; s < SOURCES; s++) {
            const struct ranking *ranking = &workspace->texts[t].rankings[s];
            for (size_t i = 0; i < ranking->len && i < wt__text_depth(query, t); i++)
                query->rows[n++] = ranking->top[i].row;
        }
    query->count = order_rows(query->rows, n, query->view->snapshot->rows, &workspace->arena);
    return 0;
}

/* Scores every candidate exactly for every text. */
static int score_candidates(struct source_query *query, wt_error *err)
{
    for (size_t t = 0; t < query->workspace->text_count; t++)
        for (enum source_id s = 0; s < SOURCES; s++) {
            float *scores = wt__arena_array(&query->workspace->arena, float, query->count);
            WT_CHECK_ALLOC(scores, err);
            wt__ranking(query, t, s)->scores = scores;
        }
    for (enum source_id s = 0; s < SOURCES; s++) {
        if (wt__query_uses(query, s))
            WT_TRY(wt__sources[s]->score_rows(query, err));
        if (s == SOURCE_DENSE && query->fused) /* the damping reads both scores, and later sources read the result */
            wt__damp_words(query);
    }
    return 0;
}

/* Returns the vectors of the tools' own texts, or NULL. Trained vectors cannot detect copies: training moves a tool's
 * vector towards the requests that used it, and usually only one of several copies is used. */
static const struct vectors *text_vectors(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->set_count; i++)
        if (strcmp(snapshot->sets[i].kind, wt__document_kind) == 0)
            return &snapshot->sets[i].vectors;
    return NULL;
}

/* Prepares the detection of copies. *out is NULL if the request does not want it or the snapshot lacks the data. */
static int prepare_copies(struct copies **out, const struct source_query *query, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    struct provider_names *asked = &workspace->texts[0].providers;
    const struct vectors *vectors =
        wt__retriever_uses(query->retriever, SOURCE_DENSE) ? text_vectors(query->view->snapshot) : NULL;
    bool shared = query->request->copies == COPIES_SHARED && query->view->snapshot->copies.count > 0;
    *out = NULL;
    if (query->request->copies == COPIES_ALL || (!shared && !vectors))
        return 0;
    struct copies *copies = wt__arena_array(&workspace->arena, struct copies, 1);
    WT_CHECK_ALLOC(copies, err);
    *copies = (struct copies){.keys = query->view->snapshot->keys,
                              .candidates = query->count,
                              .rows = query->rows,
                              .asked = shared ? asked : NULL,
                              .vectors = vectors,
                              .scratch = &workspace->vectors};
    *out = copies;
    WT_TRY(wt__copies_begin(copies, &workspace->arena, err));
    if (shared && !asked->hashes)
        WT_TRY(wt__provider_names_read(asked, workspace->texts[0].written, &workspace->arena, err));
    return 0;
}

static int order_hits(struct source_query *query, size_t *exact_copies, wt_error *err)
{
    struct hit_list *out = query->out;
    struct arena *arena = &query->workspace->arena;
    struct evidence evidence;
    size_t k = query->request->k < query->count ? query->request->k : query->count;
    struct chosen_candidate *choices = wt__arena_array(arena, struct chosen_candidate, k);
    out->items = wt__arena_array(arena, struct hit, k);
    WT_CHECK_ALLOC(choices && out->items, err);
    WT_TRY(wt__fuse(query, &evidence, err));
    WT_TRY(prepare_copies(&evidence.copies, query, err));
    WT_TRY(wt__compose(&evidence, k, query->request->max_per_provider, arena, choices, &out->len, err));
    if (evidence.copies) {
        out->given = evidence.copies->given;
        out->given_count = evidence.copies->given_count;
        out->asked = evidence.copies->asked;
        *exact_copies = evidence.copies->exact_count;
    }
    for (size_t i = 0; i < out->len; i++)
        wt__fuse_hit(query, &evidence, &choices[i], &choices[0], &out->items[i]);
    return 0;
}

static int find_candidates(struct source_query *query, wt_error *err)
{
    *query->out = (struct hit_list){.fits = NAN};
    WT_TRY(read_request_texts(query->workspace, query->request, err));
    WT_TRY(search_sources(query, err));
    WT_TRY(collect_candidates(query, err));
    return score_candidates(query, err);
}

/* Finds the hits. *exact_copies: number of candidates that gave their places to exact copies. */
static int find_hits(struct source_query *query, size_t *exact_copies, wt_error *err)
{
    *exact_copies = 0;
    WT_TRY(find_candidates(query, err));
    return order_hits(query, exact_copies, err);
}

/* True if any source found as many candidates as it may, so that it may have more. */
static bool is_cut(const struct source_query *query)
{
    bool cut = false;
    for (size_t t = 0; t < query->workspace->text_count; t++)
        for (enum source_id s = 0; s < SOURCES; s++)
            cut |= wt__ranking(query, t, s)->len >= wt__text_depth(query, t);
    return cut;
}

/* Repeats the search with CAPPED_DEPTH candidates, because copies left too few hits. Reuses the encoded texts and
 * the votes. */
static int find_deeper(const struct source_query *query, wt_error *err)
{
    struct retrieve_request again = *query->request;
    struct source_query deeper = *query;
    double encode_ms = query->out->encode_ms, encoded_at_ms = query->out->encoded_at_ms;
    size_t exact_copies;
    again.encoded = query->out->encoded;
    again.votes = query->out->votes;
    deeper.request = &again;
    deeper.depth = CAPPED_DEPTH;
    int rc = find_hits(&deeper, &exact_copies, err);
    query->out->encode_ms = encode_ms;
    query->out->encoded_at_ms = encoded_at_ms;
    return rc;
}

int wt__retrieve(const struct retriever *retriever, const struct view *view, const struct retrieve_request *request,
                 struct workspace *workspace, struct hit_list *out, wt_error *err)
{
    size_t least = request->max_per_provider ? CAPPED_DEPTH : DEPTH, exact_copies;
    struct source_query query = {.retriever = retriever,
                                 .view = view,
                                 .request = request,
                                 .workspace = workspace,
                                 .out = out,
                                 .depth = request->k > least ? request->k : least,
                                 .fused = wt__retriever_uses(retriever, SOURCE_BM25) &&
                                          wt__retriever_uses(retriever, SOURCE_DENSE)};
    wt__arena_reset(&workspace->arena);
    WT_TRY(find_hits(&query, &exact_copies, err));
    size_t filled = request->k < FILLED ? request->k : FILLED;
    bool few = exact_copies > 0 && out->len < filled && query.depth < CAPPED_DEPTH && is_cut(&query);
    return few ? find_deeper(&query, err) : 0;
}

int wt__retrieve_candidates(const struct view *view, const struct retrieve_request *request,
                            const struct scorer_table *table, bool z_scores, struct workspace *workspace,
                            struct candidate_list *out, wt_error *err)
{
    /* Without the scorer, because its networks may be of another table. */
    static const struct retriever retriever = {.subquery = 1, .also = SCORER_READS};
    struct hit_list hits;
    struct source_query query = {.retriever = &retriever,
                                 .view = view,
                                 .request = request,
                                 .workspace = workspace,
                                 .out = &hits,
                                 .depth = DEPTH,
                                 .fused = true};
    float *inputs;
    wt__arena_reset(&workspace->arena);
    WT_TRY(find_candidates(&query, err));
    WT_TRY(wt__scorer_read(&query, table, z_scores, &inputs, err));
    *out = (struct candidate_list){workspace->text_count, query.count, query.rows, inputs};
    return 0;
}
