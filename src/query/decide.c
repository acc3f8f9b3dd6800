/* decide.c: decisions (decide.h). The options are indexed like the tools of a catalogue, without a store: words,
 * vectors and the words for the learned scorer. They have no provider, so evidence about providers and copies is left
 * out. */
#include "query/decide.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "choose/relevance.h"
#include "encoder/model_dir.h"
#include "encoder/packed.h"
#include "query/search.h"
#include "retrieve/document.h"
#include "retrieve/wish.h"

struct decider {
    wt_engine *engine;
    struct progress *progress;
    const struct encoder *encoder;
    struct encoder *word_encoder; /* its tokenizer splits the words for the scorer */
    struct analyser *analyser;
    struct workspace *workspace;
};

void wt__decider_close(struct decider *decider)
{
    if (!decider)
        return;
    wt__engine_return_workspace(decider->engine, decider->workspace);
    wt__analyser_close(decider->analyser);
    wt__encoder_close(decider->word_encoder);
    free(decider);
}

static void close_decider(struct decider **decider)
{
    wt__decider_close(*decider);
}

int wt__decider_open(struct decider **out, wt_engine *engine, struct progress *progress, wt_error *err)
{
    WT_CLEANUP(close_decider) struct decider *decider = wt__alloc_zeros(1, sizeof *decider);
    *out = NULL;
    WT_CHECK_ALLOC(decider, err);
    decider->engine = engine;
    decider->progress = progress;
    WT_TRY(wt__engine_load_encoder(engine, progress, &decider->encoder, err));
    WT_TRY(wt__encoder_open(&decider->word_encoder, MODEL_BUILT_IN, err));
    WT_TRY(wt__analyser_open(&decider->analyser, err));
    WT_TRY(wt__engine_workspace(engine, &decider->workspace, err));
    *out = WT_TAKE(decider);
    return 0;
}

/* ---------------------------------------------------------------- the index of the options */

/* Inputs of the snapshot of the options. */
struct option_index {
    struct arena arena;
    struct tool *tools;        /* [count] */
    struct snapshot_key *keys; /* [count] */
    float *vectors;            /* [count, D] */
    size_t count, dim;
    struct lexical_builder *builder;
    struct document document;
    struct row_words_builder words;
    void *lexical;
    size_t lexical_len;
};

static void dispose_option_index(struct option_index *index)
{
    wt__lexical_builder_free(index->builder);
    wt__document_dispose(&index->document);
    wt__row_words_dispose(&index->words);
    free(index->lexical);
    free(index->vectors);
    wt__arena_dispose(&index->arena);
}

static int index_option(struct option_index *index, const struct decider *decider, size_t row, wt_error *err)
{
    const struct tool *tool = &index->tools[row];
    uint16_t words[ROW_WORDS_MAX];
    WT_TRY(wt__document_read(&index->document, decider->analyser, tool, err));
    WT_TRY(wt__lexical_builder_add(index->builder, index->document.fields, err));
    const struct tokenizer *tokenizer = &wt__encoder_packed(decider->word_encoder)->tokenizer;
    const struct row_tokens tokens = {words, wt__document_words(&index->document, tool, tokenizer, words)};
    index->keys[row] = (struct snapshot_key){.id = (int64_t)row + 1,
                                             .generation = 1,
                                             .name_hash = wt__document_name_hash(tool->name),
                                             .verbs = wt__tool_verbs(tool)};
    return wt__row_words_add(&index->words, tokens, err);
}

/* Encodes the texts of the options. */
static int encode_options(struct option_index *index, const struct decider *decider, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    size_t n = index->count * DOCUMENT_TEXTS;
    unsigned fields = wt__document_fields(wt__encoder_fields(decider->encoder), NULL);
    size_t *begins = wt__arena_array(&index->arena, size_t, n + 1);
    struct str *texts = wt__arena_array(&index->arena, struct str, n);
    index->dim = wt__encoder_dim(decider->encoder);
    index->vectors = wt__alloc_aligned(n * index->dim, sizeof *index->vectors);
    if (!begins || !texts || !index->vectors)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        begins[i] = text.len;
        wt__document_text(&index->tools[i / DOCUMENT_TEXTS], fields, (unsigned)(i % DOCUMENT_TEXTS), &text);
    }
    begins[n] = text.len;
    if (text.failed)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        texts[i] = (struct str){text.ptr + begins[i], begins[i + 1] - begins[i]};
    WT_TRY(wt__encode_many(decider->encoder, TEXT_TOOL, texts, n, 1, index->vectors, decider->progress, err));
    wt__document_sum_vectors(index->vectors, index->count, index->dim);
    return 0;
}

/* Implements vector_source.fetch; context is the option_index. */
static int fetch_option_vectors(void *context, const uint32_t *rows, size_t count, float *vectors, wt_error *err)
{
    const struct option_index *index = context;
    (void)err;
    for (size_t i = 0; i < count; i++)
        memcpy(vectors + i * index->dim, index->vectors + rows[i] * index->dim, index->dim * sizeof *vectors);
    return 0;
}

static int build_option_snapshot(struct snapshot **out, struct option_index *index, const struct decider *decider,
                                 const struct decision_option *options, wt_error *err)
{
    index->tools = wt__arena_array(&index->arena, struct tool, index->count);
    index->keys = wt__arena_array(&index->arena, struct snapshot_key, index->count);
    if (!index->tools || !index->keys)
        return wt__fail_nomem(err);
    WT_TRY(wt__lexical_builder_new(&index->builder, &wt__lexical_settings, err));
    for (size_t row = 0; row < index->count; row++) {
        index->tools[row] = (struct tool){.name = options[row].name, .description = options[row].description};
        WT_TRY(index_option(index, decider, row, err));
    }
    WT_TRY(encode_options(index, decider, err));
    WT_TRY(wt__lexical_builder_finish(index->builder, &index->lexical, &index->lexical_len, err));
    const struct vector_source source = {.model = wt__encoder_hash(decider->encoder),
                                         .kind = wt__document_kind,
                                         .dim = index->dim,
                                         .fetch = fetch_option_vectors,
                                         .context = index};
    const struct snapshot_content content = {.generation = 1,
                                             .settings = wt__document_settings_key(),
                                             .keys = index->keys,
                                             .rows = index->count,
                                             .lexical = index->lexical,
                                             .lexical_len = index->lexical_len,
                                             .sources = &source,
                                             .source_count = 1,
                                             .words = wt__row_words_view(&index->words)};
    return wt__snapshot_build(out, NULL, &content, err);
}

/* ---------------------------------------------------------------- the decision */

/* Least probability of an option, which keeps odds finite. Also of options outside the result of the search. */
static const float FITS_LEAST = 1e-4f;

static int score_options(struct decider *decider, const struct snapshot *snapshot, struct str input, float *fits,
                         wt_error *err)
{
    const struct view view = {
        .snapshot = snapshot,
        .encoder = decider->encoder,
        .vectors = wt__snapshot_vectors(snapshot, wt__encoder_hash(decider->encoder), wt__document_kind)};
    const struct retrieve_request request = {.text = input, .k = snapshot->rows};
    struct hit_list hits;
    WT_TRY(wt__retrieve(&wt__hybrid, &view, &request, decider->workspace, &hits, err));
    for (size_t row = 0; row < snapshot->rows; row++)
        fits[row] = FITS_LEAST;
    for (size_t i = 0; i < hits.len; i++) {
        float fit = wt__relevance(NULL, &wt__hybrid, &hits, &hits.items[i]);
        fits[hits.items[i].row] = isnan(fit) ? FITS_LEAST : fminf(fmaxf(fit, FITS_LEAST), 1 - FITS_LEAST);
    }
    return 0;
}

int wt__decide(struct decider *decider, struct str input, const struct decision_option *options, size_t count,
               float *fits, wt_error *err)
{
    WT_CLEANUP(dispose_option_index) struct option_index index = {.count = count};
    struct snapshot *snapshot = NULL;
    struct str wish;
    WT_TRY(wt__request_check(input, err));
    if (wt__progress_step(decider->progress, 0))
        return wt__fail_cancelled(err);
    WT_TRY(wt__wish_read(&wish, input, &index.arena, err));
    int rc = build_option_snapshot(&snapshot, &index, decider, options, err);
    if (rc == 0)
        rc = score_options(decider, snapshot, wish, fits, err);
    wt__snapshot_free(snapshot);
    return rc;
}

float wt__decision_shares(const float *fits, size_t count, float *shares)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fits[i] / (1.0 - fits[i]);
    for (size_t i = 0; i < count; i++)
        shares[i] = (float)(fits[i] / (1.0 - fits[i]) / sum);
    return (float)(1 / (1 + sum));
}
