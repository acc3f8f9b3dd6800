/* Compares wt__retrieve with a literal implementation of docs/retrieval.md over all tools of a generated catalogue. The
 * literal implementation computes BM25 and inner products in double and chooses the best tool for each place. Also
 * tests prefixes of the result, the shares of a score, and the texts that the encoder reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "encoder/support.h"
#include "retrieve/document.h"
#include "retrieve/retrieve.h"
#include "retrieve/scorer.h"
#include "retrieve/segment.h"
#include "retrieve/source.h"

enum { TOOLS = 300, PROVIDERS = 9, DIM = SMALL_HIDDEN, LATE = 10 /* last tools, which have no vector */ };

static char folder[64], model[80];
static struct encoder *encoder;
static struct snapshot *snapshot;
static struct workspace *workspace;
static struct encoder_scratch *scratch;
static struct snapshot_key keys[TOOLS];
static float vectors[TOOLS][DIM];
static bool has[TOOLS];
static struct document documents[TOOLS];
static char descriptions[TOOLS][256], names[TOOLS][16];

static int fetch_request(void *context, const uint32_t *rows, size_t count, float *out, wt_error *err)
{
    (void)context;
    (void)err;
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * DIM, vectors[rows[i]], sizeof vectors[0]);
    return 0;
}

static void make_tools(struct lexical_builder *builder, struct analyser *analyser)
{
    static const char *const words[] = {"book",  "table", "two",   "find",    "a",    "b",      "c",      "d",
                                        "hotel", "city",  "storm", "invoice", "song", "flight", "tables", "price"};
    struct rng rng;
    wt__rng_seed(&rng, 77);
    for (size_t row = 0; row < TOOLS; row++) {
        size_t len = 0;
        for (size_t n = 1 + wt__rng_below(&rng, 12); n > 0; n--)
            len += (size_t)snprintf(descriptions[row] + len, sizeof descriptions[row] - len, "%s ",
                                    words[wt__rng_below(&rng, 16)]);
        snprintf(names[row], sizeof names[row], "%sTool", words[wt__rng_below(&rng, 16)]);
        struct tool tool = {.name = wt__str(names[row]), .description = wt__str(descriptions[row])};
        assert_int_equal(wt__document_read(&documents[row], analyser, &tool, NULL), 0);
        assert_int_equal(wt__lexical_builder_add(builder, documents[row].fields, NULL), 0);
        keys[row] = (struct snapshot_key){
            .id = (int64_t)row + 1,
            .generation = 1,
            .provider = (uint32_t)wt__rng_below(&rng, PROVIDERS),
            .name_hash = row, /* distinct, so no copies */
        };
        struct str text = tool.description;
        assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &text, 1, vectors[row], NULL), 0);
        has[row] = row < TOOLS - LATE;
    }
}

static int set_up_retrieve(void **state)
{
    (void)state;
    struct lexical_builder *builder;
    struct analyser *analyser;
    void *lexical;
    size_t lexical_len;
    make_model(folder, model);
    assert_int_equal(wt__encoder_open(&encoder, model, NULL), 0);
    assert_int_equal(wt__encoder_scratch_new(&scratch, encoder, NULL), 0);
    assert_int_equal(wt__workspace_open(&workspace, NULL), 0);
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__lexical_builder_new(&builder, &wt__lexical_settings, NULL), 0);
    make_tools(builder, analyser);
    assert_int_equal(wt__lexical_builder_finish(builder, &lexical, &lexical_len, NULL), 0);
    struct vector_source source = {
        .model = wt__encoder_hash(encoder), .kind = wt__document_kind, .dim = DIM, .has = has, .fetch = fetch_request};
    struct snapshot_content content = {.generation = 1,
                                       .settings = wt__document_settings_key(),
                                       .keys = keys,
                                       .rows = TOOLS,
                                       .lexical = lexical,
                                       .lexical_len = lexical_len,
                                       .sources = &source,
                                       .source_count = 1};
    assert_int_equal(wt__snapshot_build(&snapshot, NULL, &content, NULL), 0);
    wt__lexical_builder_free(builder);
    wt__analyser_close(analyser);
    free(lexical);
    return 0;
}

static int tear_down_retrieve(void **state)
{
    (void)state;
    for (size_t row = 0; row < TOOLS; row++)
        wt__document_dispose(&documents[row]);
    wt__workspace_close(workspace);
    wt__encoder_scratch_free(scratch);
    wt__snapshot_free(snapshot);
    wt__encoder_close(encoder);
    remove_model_folder(folder);
    return 0;
}

static bool is_allowed(const uint64_t *allowed, size_t row)
{
    return !allowed || (allowed[row / 64] >> row % 64 & 1);
}

/* Computes BM25 by its formula from the terms. Returns the greatest score that any tool could have for the text. */
static double plain_words(struct str text, double scores[TOOLS])
{
    struct analyser *analyser;
    struct token_list tokens = {0};
    double mean[FIELD_COUNT] = {0}, most = 0;
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    assert_int_equal(wt__analyser_run(analyser, text, &tokens), 0);
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        size_t filled = 0, terms = 0;
        for (size_t row = 0; row < TOOLS; row++) {
            filled += documents[row].fields[f].count > 0;
            terms += documents[row].fields[f].count;
        }
        mean[f] = filled ? (double)terms / (double)filled : 1;
    }
    memset(scores, 0, TOOLS * sizeof *scores);
    for (size_t t = 0; t < tokens.len; t++) {
        size_t before = 0, times = 0;
        for (size_t i = 0; i < tokens.len; i++) {
            times += wt__str_equal(tokens.terms[i], tokens.terms[t]);
            before += i < t && wt__str_equal(tokens.terms[i], tokens.terms[t]);
        }
        if (before > 0)
            continue;
        double weighed[TOOLS];
        size_t df = 0;
        for (size_t row = 0; row < TOOLS; row++) {
            weighed[row] = 0;
            for (size_t f = 0; f < FIELD_COUNT; f++) {
                const struct lexical_text *field = &documents[row].fields[f];
                size_t tf = 0;
                for (size_t i = 0; i < field->count; i++)
                    tf += wt__str_equal(field->terms[i], tokens.terms[t]);
                if (tf > 0)
                    weighed[row] += wt__lexical_settings.fields[f].weight * (double)tf /
                                    (.25 + .75 * (double)field->count / mean[f]);
            }
            df += weighed[row] > 0;
        }
        double idf = sqrt((double)times) * log(1 + (TOOLS - (double)df + .5) / ((double)df + .5));
        for (size_t row = 0; row < TOOLS; row++)
            scores[row] += idf * 2.5 * weighed[row] / (1.5 + weighed[row]);
        most += idf * 2.5;
    }
    wt__token_list_dispose(&tokens);
    wt__analyser_close(analyser);
    return most;
}

static void plain_meaning(struct str text, double scores[TOOLS])
{
    float query[DIM];
    assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &text, 1, query, NULL), 0);
    for (size_t row = 0; row < TOOLS; row++) {
        scores[row] = 0;
        for (size_t d = 0; has[row] && d < DIM; d++)
            scores[row] += (double)query[d] * vectors[row][d];
    }
}

static double best_of(const double *scores, const uint64_t *allowed)
{
    double best = 0;
    for (size_t row = 0; row < TOOLS; row++)
        if (is_allowed(allowed, row) && scores[row] > best)
            best = scores[row];
    return best;
}

/* Computes value [TOOLS] of one text and marks the rows found. read: the part of the text that the encoder reads. */
static void plain_value(const struct retriever *retriever, struct str text, struct str read, const uint64_t *allowed,
                        double value[TOOLS], bool found[TOOLS])
{
    double words[TOOLS] = {0}, meaning[TOOLS] = {0}, possible = 0;
    const float lexical = retriever->weights[SOURCE_BM25], dense = retriever->weights[SOURCE_DENSE];
    bool both = lexical > 0 && dense > 0;
    if (lexical > 0)
        possible = plain_words(text, words);
    if (dense > 0)
        plain_meaning(read, meaning);
    double most = best_of(words, allowed), nearest = both ? best_of(meaning, allowed) : 1;
    double coverage = both && possible > 0 ? most / possible : 1;
    for (size_t row = 0; row < TOOLS; row++) {
        double cosine = both && meaning[row] < 0 ? 0 : meaning[row];
        value[row] = most > 0 ? sqrt(coverage) * lexical * words[row] / most : 0;
        value[row] += nearest > 0 ? dense * cosine / nearest : 0;
        found[row] |= is_allowed(allowed, row) && (words[row] > 0 || (dense > 0 && has[row]));
    }
}

struct plain_hit {
    size_t row;
    double score;
};

static size_t find_plainly(const struct retriever *retriever, const struct retrieve_request *request,
                           struct plain_hit out[TOOLS])
{
    static double value[1 + SUBQUERIES_MAX][TOOLS];
    bool found[TOOLS] = {false};
    double fade[1 + SUBQUERIES_MAX];
    size_t taken_of[PROVIDERS] = {0}, count = 0;
    struct str parts[SUBQUERIES_MAX];
    size_t n = wt__segment(request->text, parts);
    n = n > 1 ? n : 0;
    plain_value(retriever, request->text, request->text, request->allowed, value[0], found);
    for (size_t p = 0; p < n; p++)
        plain_value(retriever, parts[p], wt__skip_stopwords(parts[p]), request->allowed, value[1 + p], found);
    for (size_t p = 0; p <= n; p++)
        fade[p] = 1;
    while (count < request->k) {
        size_t best = TOOLS, best_part = 0;
        double best_score = 0;
        for (size_t row = 0; row < TOOLS; row++) {
            if (!found[row])
                continue;
            double score = 0;
            size_t part = 0;
            for (size_t p = 1; p <= n; p++)
                if (part == 0 || fade[p] * value[p][row] > score) {
                    score = fade[p] * value[p][row];
                    part = p;
                }
            score += value[0][row];
            if (best == TOOLS || score > best_score) {
                best = row;
                best_part = part;
                best_score = score;
            }
        }
        if (best == TOOLS)
            break;
        found[best] = false;
        if (request->max_per_provider && taken_of[keys[best].provider]++ >= request->max_per_provider)
            continue;
        fade[best_part] *= .8;
        out[count++] = (struct plain_hit){best, best_score};
    }
    return count;
}

static const char *const requests[] = {
    "find a table for two",
    "hotel",
    "zeppelin",
    "song song song price",
    "book the hotel table tonight, then find a cheap flight price and send the song invoice today",
    "storm in the city. find two tables today! what song price, city invoice flight",
    "\xFF\xFE",
};
enum { REQUESTS = sizeof requests / sizeof *requests };

/* Compares the scores place by place. Rows whose scores differ only by rounding may swap, so each row may have any
 * place where about the same score is expected. The last row is not compared, because it may have swapped with a row
 * beyond the list. */
static void assert_same_hits(const struct hit_list *hits, const struct plain_hit *wanted, size_t count,
                             const char *what)
{
    if (hits->len != count)
        fail_msg("%s: %zu hits, not %zu", what, hits->len, count);
    for (size_t i = 0; i < count; i++) {
        bool row_there = false;
        for (size_t j = 0; j < count; j++)
            row_there |= wanted[j].row == hits->items[i].row && fabs(wanted[j].score - hits->items[i].score) < 5e-3;
        if (fabs(hits->items[i].score - wanted[i].score) > 5e-4 || (!row_there && i + 1 < count))
            fail_msg("%s: place %zu is row %u with %f, not %zu with %f", what, i, hits->items[i].row,
                     (double)hits->items[i].score, wanted[i].row, wanted[i].score);
    }
}

static struct view view_of(const struct snapshot *of, const struct encoder *with)
{
    return (struct view){.snapshot = of,
                         .encoder = with,
                         .vectors = wt__snapshot_vectors(of, wt__encoder_hash(with), wt__document_kind)};
}

static void results_match_formulas(void **state)
{
    (void)state;
    static const struct retriever both = {.weights = {[SOURCE_BM25] = 1, [SOURCE_DENSE] = .6f}, .subquery = 1},
                                  meaning_first = {.weights = {[SOURCE_BM25] = 1, [SOURCE_DENSE] = 3}, .subquery = 1};
    const struct retriever *const retrievers[] = {&wt__bm25, &wt__dense, &both, &meaning_first};
    static const struct {
        size_t k, cap;
        bool filtered;
    } ways[] = {{TOOLS, 0, false}, {TOOLS, 0, true}, {TOOLS, 2, false}, {TOOLS, 1, true}, {12, 3, false}};
    uint64_t some[(TOOLS + 63) / 64] = {0};
    for (size_t row = 0; row < TOOLS; row++)
        some[row / 64] |= (uint64_t)(keys[row].provider % 3 == 1) << row % 64;
    struct view view = view_of(snapshot, encoder);
    for (size_t r = 0; r < 4; r++)
        for (size_t q = 0; q < REQUESTS; q++)
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
                struct plain_hit wanted[TOOLS];
                struct hit_list hits;
                char what[256];
                struct retrieve_request request = {.text = wt__str(requests[q]),
                                                   .k = ways[w].k,
                                                   .allowed = ways[w].filtered ? some : NULL,
                                                   .max_per_provider = ways[w].cap};
                snprintf(what, sizeof what, "retriever %zu, \"%s\", way %zu", r, requests[q], w);
                size_t count = find_plainly(retrievers[r], &request, wanted);
                assert_int_equal(wt__retrieve(retrievers[r], &view, &request, workspace, &hits, NULL), 0);
                assert_same_hits(&hits, wanted, count, what);
            }
}

static void short_list_is_prefix_of_long_list(void **state)
{
    (void)state;
    static const struct retriever *const retrievers[] = {&wt__bm25, &wt__dense, &wt__hybrid};
    struct view view = view_of(snapshot, encoder);
    for (size_t r = 0; r < 3; r++)
        for (size_t q = 0; q < REQUESTS; q++) {
            struct retrieve_request request = {.text = wt__str(requests[q]), .k = 50};
            struct hit_list hits;
            uint32_t rows[50];
            float scores[50];
            assert_int_equal(wt__retrieve(retrievers[r], &view, &request, workspace, &hits, NULL), 0);
            size_t all = hits.len;
            for (size_t i = 0; i < all; i++) {
                rows[i] = hits.items[i].row;
                scores[i] = hits.items[i].score;
                assert_true(i == 0 || scores[i] <= scores[i - 1]);
            }
            for (request.k = 1; request.k < 50; request.k += 6) {
                assert_int_equal(wt__retrieve(retrievers[r], &view, &request, workspace, &hits, NULL), 0);
                assert_int_equal(hits.len, all < request.k ? all : request.k);
                for (size_t i = 0; i < hits.len; i++)
                    assert_true(hits.items[i].row == rows[i] && hits.items[i].score == scores[i]);
            }
        }
}

static void evidence_sums_to_score(void **state)
{
    (void)state;
    struct view view = view_of(snapshot, encoder);
    for (size_t q = 0; q < REQUESTS; q++) {
        struct retrieve_request request = {.text = wt__str(requests[q]), .k = 20};
        struct hit_list hits;
        assert_int_equal(wt__retrieve(&wt__hybrid, &view, &request, workspace, &hits, NULL), 0);
        for (size_t i = 0; i < hits.len; i++) {
            struct hit *hit = &hits.items[i];
            const struct stage_evidence *words = wt__hit_stage(hit, "bm25");
            float sum = 0;
            for (size_t s = 0; s < HIT_STAGES; s++)
                sum += hit->stages[s].share;
            assert_true(fabsf(sum - hit->score) < 1e-5f);
            assert_true((hit->subquery.len > 0) == (wt__hit_stage(hit, SUBQUERY_STAGE)->share > 0));
            assert_true(words->score > 0 || words->rank == 0);
        }
    }
}

/* Six sub-queries of `words` words each. read: one letter per sub-query, 'w' if the small model reads it whole, 'b' if
 * the model reads only its beginning. */
static void encodes_ends_of_long_requests(void **state)
{
    static const struct {
        size_t words;
        const char *read;
    } cases[] = {{4, "wwwwww"}, {30, "wwwwww"}, {60, "wwbbww"}, {100, "wbbbww"}, {112, "wbbbbw"}};
    static const char *const word[] = {"book ", "table ", "hotel ", "city ", "storm ", "song "};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer text = {0};
        for (size_t s = 0; s < SUBQUERIES_MAX; s++) {
            for (size_t w = 0; w < cases[i].words; w++)
                wt__buffer_text(&text, word[(s + w) % 6]);
            wt__buffer_text(&text, ". ");
        }
        struct view view = view_of(snapshot, encoder);
        struct retrieve_request request = {.text = wt__str_trim(wt__buffer_view(&text)), .k = 5};
        struct str subqueries[SUBQUERIES_MAX];
        struct hit_list hits;
        char read[SUBQUERIES_MAX + 1] = "";
        assert_int_equal(wt__segment(request.text, subqueries), SUBQUERIES_MAX);
        assert_int_equal(wt__retrieve(&wt__dense, &view, &request, workspace, &hits, NULL), 0);
        assert_int_equal(hits.texts, 1 + SUBQUERIES_MAX);
        for (size_t s = 0; s < SUBQUERIES_MAX; s++) {
            const struct str as_read[] = {subqueries[s], wt__str_head(subqueries[s], 64)};
            float vectors_of[2][DIM];
            assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, as_read, 2, vectors_of[0], NULL), 0);
            const float *vector = hits.encoded + (1 + s) * DIM;
            read[s] = memcmp(vector, vectors_of[0], sizeof vectors_of[0]) == 0   ? 'w'
                      : memcmp(vector, vectors_of[1], sizeof vectors_of[1]) == 0 ? 'b'
                                                                                 : '?';
        }
        if (strcmp(read, cases[i].read) != 0)
            fail_msg("%zu words: read %s, not %s", cases[i].words, read, cases[i].read);
        wt__buffer_dispose(&text);
    }
}

/* Returns the candidates of a request. *cosines: receives their cosines with the whole request, [count]. */
static struct candidate_list read_candidates(const struct retrieve_request *request, bool z_scores, float *cosines)
{
    const struct view view = view_of(snapshot, encoder);
    struct candidate_list list;
    size_t f = 0;
    assert_int_equal(wt__retrieve_candidates(&view, request, &wt__scorer_table, z_scores, workspace, &list, NULL), 0);
    while (strcmp(wt__scorer_table.features[f].name, "cosine") != 0)
        f++;
    memcpy(cosines, list.inputs + f * list.count, list.count * sizeof *cosines);
    return list;
}

/* Computes mean and standard deviation of the cosines of all pairs of different tools. */
static void measure_all_pairs(double *mean, double *deviation)
{
    double sum = 0, squares = 0, count = 0;
    for (size_t a = 0; a < TOOLS - LATE; a++)
        for (size_t b = 0; b < a; b++) {
            double cosine = 0;
            for (size_t d = 0; d < DIM; d++)
                cosine += (double)vectors[a][d] * vectors[b][d];
            if (cosine > 1 - 1e-4) /* tools with the same text */
                continue;
            sum += cosine;
            squares += cosine * cosine;
            count++;
        }
    *mean = sum / count;
    *deviation = sqrt(squares / count - *mean * *mean);
}

/* For encoders without a network of their own. The mean and the deviation come from a sample of the tools. */
static void cosines_become_z_scores(void **state)
{
    (void)state;
    static const double most_off = 0.3; /* of a sample of 16 by 64 tools, as a share of the deviation */
    const struct retrieve_request request = {.text = STR("find two tables"), .k = 10};
    float plain[TOOLS], z[TOOLS];
    double mean, deviation;
    const size_t count = read_candidates(&request, false, plain).count;
    assert_int_equal(read_candidates(&request, true, z).count, count);
    measure_all_pairs(&mean, &deviation);
    size_t low = 0, high = 0;
    for (size_t c = 0; c < count; c++) {
        low = plain[c] < plain[low] ? c : low;
        high = plain[c] > plain[high] ? c : high;
    }
    const double slope = (z[high] - z[low]) / (plain[high] - plain[low]);
    for (size_t c = 0; c < count; c++)
        assert_float_equal(z[c], z[low] + slope * (plain[c] - plain[low]), 1e-3);
    assert_float_equal(slope * deviation, 1, most_off);
    assert_float_equal(plain[low] - z[low] / slope, mean, most_off * deviation);
}

static void whole_requests_are_not_split(void **state)
{
    (void)state;
    struct retrieve_request request = {.text = STR("find two tables. Then book a hotel in the city."), .k = 10};
    float cosines[TOOLS];
    assert_int_equal(read_candidates(&request, false, cosines).texts, 3);
    request.whole = true;
    assert_int_equal(read_candidates(&request, false, cosines).texts, 1);
}

static float term_weight(const char *request_text, const char *term)
{
    struct view view = view_of(snapshot, encoder);
    struct retrieve_request request = {.text = wt__str(request_text), .k = 1};
    struct hit_list hits;
    assert_int_equal(wt__retrieve(&wt__bm25, &view, &request, workspace, &hits, NULL), 0);
    const struct text *text = &workspace->texts[0];
    for (size_t i = 0; i < text->term_count; i++)
        if (wt__str_equal(text->terms[i].text, wt__str(term)))
            return text->terms[i].weight;
    return 0;
}

/* "invoice" is inserted before "bill" (alternatives.c). */
static void inserted_words_count_in_part(void **state)
{
    (void)state;
    assert_float_equal(term_weight("bill", "bill"), 1, 1e-6);
    assert_float_equal(term_weight("bill", "invoic"), sqrtf(ALTERNATIVE_WEIGHT), 1e-6);
    assert_float_equal(term_weight("invoice bill", "invoic"), sqrtf(1 + ALTERNATIVE_WEIGHT), 1e-6);
    assert_float_equal(term_weight("find a hotel. Then send the bill", "invoic"), sqrtf(ALTERNATIVE_WEIGHT), 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cosines_become_z_scores),      cmocka_unit_test(whole_requests_are_not_split),
        cmocka_unit_test(results_match_formulas),       cmocka_unit_test(short_list_is_prefix_of_long_list),
        cmocka_unit_test(evidence_sums_to_score),       cmocka_unit_test(encodes_ends_of_long_requests),
        cmocka_unit_test(inserted_words_count_in_part),
    };
    return cmocka_run_group_tests(tests, set_up_retrieve, tear_down_retrieve);
}
