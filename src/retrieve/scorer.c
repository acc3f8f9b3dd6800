/* scorer.c: the networks of the learned scorer, and the source of evidence "scorer". */
#include "retrieve/scorer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "nn/kernels/kernels.h"
#include "retrieve/language.h"
#include "retrieve/source.h"
#include "retrieve/words.h"

uint64_t wt__scorer_key(const struct scorer_table *table)
{
    uint64_t key = 0;
    for (size_t f = 0; f < table->count; f++) {
        const struct scorer_feature *feature = &table->features[f];
        key = wt__checksum(feature->name, strlen(feature->name), key + feature->properties);
    }
    return key;
}

/* ---------------------------------------------------------------- networks */

/* Returns the number of floats of one network. */
static size_t count_weights(size_t inputs, size_t hidden)
{
    return 2 * inputs + inputs * hidden + hidden + hidden * SCORER_STRIDE + SCORER_STRIDE + hidden + 2 +
           SCORER_PERCENTILES;
}

static bool is_valid_image(const struct scorer_header *header, size_t len)
{
    enum { WIDEST = 1024 };
    if (len < sizeof *header || header->magic != SCORER_MAGIC || header->version != SCORER_VERSION ||
        header->variants > SCORER_VARIANTS_MAX || header->inputs > WIDEST || header->hidden > WIDEST ||
        header->hidden % SCORER_STRIDE != 0)
        return false;
    return len == sizeof *header + header->variants * count_weights(header->inputs, header->hidden) * sizeof(float);
}

/* Returns the number of the network with this name, or `variants` if it is missing. */
static size_t find_scorer_variant(const struct scorer_header *header, const char *name)
{
    size_t v = 0;
    while (v < header->variants && strncmp(header->names[v], name, SCORER_NAME_MAX) != 0)
        v++;
    return v;
}

int wt__scorer_bind_image(struct scorer *out, const void *image, size_t len, const char *variant, wt_error *err)
{
    const struct scorer_header *header = image;
    if (!is_valid_image(header, len))
        return wt__fail(err, WT_EMODEL, "scorer: the file is damaged, or from another version");
    if (header->key != wt__scorer_key(&wt__scorer_table) || header->inputs != wt__scorer_inputs(&wt__scorer_table))
        return wt__fail(err, WT_EMODEL,
                        "scorer: the features have changed since the networks were trained; run "
                        "tools/train-scorer");
    size_t v = find_scorer_variant(header, variant), inputs = header->inputs, hidden = header->hidden;
    if (v == header->variants)
        return wt__fail(err, WT_EMODEL, "scorer: there is no network \"%s\"", variant);
    const float *at = (const float *)(const void *)(header + 1) + v * count_weights(inputs, hidden);
    *out = (struct scorer){.inputs = inputs,
                           .hidden = hidden,
                           .z_scores = strcmp(variant, SCORER_OTHER) == 0,
                           .mean = at,
                           .scale = at + inputs};
    out->weight1 = out->scale + inputs;
    out->bias1 = out->weight1 + inputs * hidden;
    out->weight2 = out->bias1 + hidden;
    out->bias2 = out->weight2 + hidden * SCORER_STRIDE;
    out->fits = out->bias2 + SCORER_STRIDE;
    out->percentiles = out->fits + hidden + 2;
    return 0;
}

int wt__scorer_bind(struct scorer *out, const char *encoder, wt_error *err)
{
    const struct scorer_header *header = (const void *)wt__built_in_scorer;
    const char *variant = encoder ? encoder : SCORER_WORDS;
    if (is_valid_image(header, wt__built_in_scorer_len) && find_scorer_variant(header, variant) == header->variants)
        variant = SCORER_OTHER;
    return wt__scorer_bind_image(out, wt__built_in_scorer, wt__built_in_scorer_len, variant, err);
}

void wt__scorer_run(const struct scorer *scorer, float *inputs, size_t count, float *hidden, float *outputs)
{
    for (size_t i = 0; i < scorer->inputs; i++) {
        float *column = inputs + i * count, mean = scorer->mean[i], scale = scorer->scale[i];
        for (size_t c = 0; c < count; c++) {
            float z = (column[c] - mean) * scale; /* compilers vectorise comparisons, but not fminf */
            z = z < SCORER_CLIP ? z : SCORER_CLIP;
            column[c] = z > -SCORER_CLIP ? z : -SCORER_CLIP;
        }
    }
    wt__kernels()->gemm(&(struct gemm){.t = count,
                                       .k = scorer->inputs,
                                       .o = scorer->hidden,
                                       .a = inputs,
                                       .a_stride = 1,
                                       .a_step = count,
                                       .w = scorer->weight1,
                                       .w_step = scorer->hidden,
                                       .w_panel = WT_PANEL,
                                       .bias = scorer->bias1,
                                       .c = hidden,
                                       .c_stride = scorer->hidden,
                                       .activation = ACTIVATION_GELU});
    wt__kernels()->gemm(&(struct gemm){.t = count,
                                       .k = scorer->hidden,
                                       .o = SCORER_OUTPUTS,
                                       .a = hidden,
                                       .a_stride = scorer->hidden,
                                       .a_step = 1,
                                       .w = scorer->weight2,
                                       .w_step = SCORER_STRIDE,
                                       .w_panel = WT_PANEL,
                                       .bias = scorer->bias2,
                                       .c = outputs,
                                       .c_stride = SCORER_OUTPUTS});
}

void wt__scorer_pool(const float *hidden, size_t count, size_t width, float *out)
{
    for (size_t u = 0; u < width; u++)
        out[u] = hidden[u];
    for (size_t c = 1; c < count; c++)
        for (size_t u = 0; u < width; u++)
            out[u] = out[u] > hidden[c * width + u] ? out[u] : hidden[c * width + u];
}

static float probability_of_odds(float odds)
{
    return 1 / (1 + expf(-odds));
}

float wt__scorer_fits(const struct scorer *scorer, const float *pooled, float odds)
{
    float sum = scorer->fits[scorer->hidden] * odds + scorer->fits[scorer->hidden + 1];
    for (size_t u = 0; u < scorer->hidden; u++)
        sum += scorer->fits[u] * pooled[u];
    return probability_of_odds(sum);
}

float wt__scorer_fits_quantile(const struct scorer *scorer, float fits)
{
    size_t below = 0;
    while (below < SCORER_PERCENTILES && scorer->percentiles[below] < fits)
        below++;
    return (float)below / SCORER_PERCENTILES;
}

/* ---------------------------------------------------------------- source */

/* The candidates are those of the sources whose evidence the features use. */
static int search_nothing(struct source_query *query, wt_error *err)
{
    (void)query;
    (void)err;
    return 0;
}

/* Inputs of the network for the whole request, kept for wt__scorer_explain. */
struct scored_request {
    struct scorer scorer;
    const float *inputs; /* [inputs][N] standardised */
    const uint32_t *rows;
    size_t count; /* N */
};

/* Working memory of a search. */
struct scoring {
    struct scorer scorer;
    float *hidden, *outputs; /* [N, hidden], [N, SCORER_OUTPUTS] of one text */
    float *pooled;           /* [hidden] of the whole request */
    float best_odds;         /* greatest log odds of a candidate for any text */
};

static int open_scoring(const struct source_query *query, struct scoring *out, wt_error *err)
{
    struct arena *arena = &query->workspace->arena;
    const struct view *view = query->view;
    WT_TRY(wt__scorer_bind(&out->scorer, view->vectors ? wt__encoder_name(view->encoder) : NULL, err));
    out->hidden = wt__arena_array(arena, float, query->count * out->scorer.hidden);
    out->outputs = wt__arena_array(arena, float, query->count *SCORER_OUTPUTS);
    out->pooled = wt__arena_array(arena, float, out->scorer.hidden);
    out->best_odds = -INFINITY;
    WT_CHECK_ALLOC(out->hidden && out->outputs && out->pooled, err);
    return 0;
}

/* Subtracted from the scores and log odds of tools that act, if the text is a question. The networks alone rank tools
 * that read too low. Chosen on the dev questions of bench/asked. */
static const float ACTS_UNASKED = 3;

/* True if the text is a question, and candidate c only acts. Verbs of descriptions do not count: with them, recall at
 * five of the data sets was .4 points lower on dev. */
static bool acts_unasked(const struct source_query *query, size_t t, size_t c)
{
    enum mood mood = query->workspace->texts[t].mood.mood;
    unsigned verbs = query->view->snapshot->keys[query->rows[c]].verbs;
    bool acts = verbs & (ACTION_CREATE | ACTION_UPDATE | ACTION_DELETE) && !(verbs & (ACTION_READ | ACTIONS_GUESSED));
    return acts && mood == MOOD_QUESTION;
}

/* Sets the scores of text t to the network's scores, and raises `probability` [N] to its probabilities. */
static void score_text(struct scoring *scoring, float *inputs, struct source_query *query, size_t t)
{
    const struct scorer *scorer = &scoring->scorer;
    struct ranking *ranking = wt__ranking(query, t, SOURCE_SCORER);
    wt__scorer_run(scorer, inputs, query->count, scoring->hidden, scoring->outputs);
    if (t == 0)
        wt__scorer_pool(scoring->hidden, query->count, scorer->hidden, scoring->pooled);
    ranking->best = -INFINITY;
    for (size_t c = 0; c < query->count; c++) {
        float unasked = acts_unasked(query, t, c) ? ACTS_UNASKED : 0;
        float odds = scoring->outputs[c * SCORER_OUTPUTS + SCORER_LOG_ODDS] - unasked;
        ranking->scores[c] = scoring->outputs[c * SCORER_OUTPUTS + SCORER_SCORE] - unasked;
        ranking->best = fmaxf(ranking->best, ranking->scores[c]);
        scoring->best_odds = fmaxf(scoring->best_odds, odds);
        query->probability[c] = fmaxf(query->probability[c], probability_of_odds(odds));
    }
    query->scorer_best = t > 0 ? fmaxf(query->scorer_best, ranking->best) : ranking->best;
}

static int keep_for_explanations(const struct source_query *query, const struct scorer *scorer, const float *inputs,
                                 wt_error *err)
{
    struct scored_request *scored = wt__arena_array(&query->workspace->arena, struct scored_request, 1);
    WT_CHECK_ALLOC(scored, err);
    *scored = (struct scored_request){*scorer, inputs, query->rows, query->count};
    query->workspace->scored = scored;
    return 0;
}

static int score_rows_by_network(struct source_query *query, wt_error *err)
{
    struct scoring scoring;
    float *inputs;
    if (query->count == 0)
        return 0;
    WT_TRY(open_scoring(query, &scoring, err));
    WT_TRY(wt__scorer_read(query, &wt__scorer_table, scoring.scorer.z_scores, &inputs, err));
    query->probability = wt__arena_array(&query->workspace->arena, float, query->count);
    WT_CHECK_ALLOC(query->probability, err);
    for (size_t t = 0; t < query->workspace->text_count; t++)
        score_text(&scoring, inputs + t * scoring.scorer.inputs * query->count, query, t);
    if (!wt__foreign_language(query->request->text)) { /* the networks were trained with English requests */
        query->out->fits = wt__scorer_fits(&scoring.scorer, scoring.pooled, scoring.best_odds);
        query->out->fits_quantile = wt__scorer_fits_quantile(&scoring.scorer, query->out->fits);
    }
    return keep_for_explanations(query, &scoring.scorer, inputs, err);
}

float wt__scorer_value(float score, float best_of_text, float best)
{
    return expf(score - (best_of_text + best) / 2);
}

static float scorer_value(const struct source_query *query, float weight, size_t t, size_t c)
{
    const struct ranking *ranking = wt__ranking(query, t, SOURCE_SCORER);
    return weight * wt__scorer_value(ranking->scores[c], ranking->best, query->scorer_best);
}

const struct source wt__source_scorer = {
    {"scorer", "scorer", NULL, search_nothing, score_rows_by_network, scorer_value, NULL},
    .ranks_all = true,
    .tried = {1, 0, 2, 4},
    .tried_count = 4};

/* ---------------------------------------------------------------- explanations */

/* Writes inputs [inputs][features + 1] of candidate c. In column f, feature f has its mean. The last column is the
 * candidate as it is. */
static void write_ablated_inputs(const struct scored_request *scored, size_t c, float *out)
{
    const struct scorer *scorer = &scored->scorer;
    size_t features = wt__scorer_table.count;
    for (size_t i = 0; i < scorer->inputs; i++) {
        float z = scored->inputs[i * scored->count + c], mean = scorer->mean[i];
        float value = scorer->scale[i] > 0 ? z / scorer->scale[i] + mean : mean;
        const struct scorer_feature *feature = wt__scorer_input(&wt__scorer_table, i);
        for (size_t f = 0; f <= features; f++)
            out[i * (features + 1) + f] = feature == &wt__scorer_table.features[f] ? mean : value;
    }
}

static int compare_shares(const void *a, const void *b)
{
    float x = fabsf(((const struct feature_share *)a)->share), y = fabsf(((const struct feature_share *)b)->share);
    return (y > x) - (y < x);
}

int wt__scorer_explain(struct workspace *workspace, uint32_t row, struct arena *arena, struct feature_share **out,
                       size_t *count, wt_error *err)
{
    const struct scored_request *scored = workspace->scored;
    size_t features = wt__scorer_table.count, columns = features + 1, c = 0;
    *out = NULL;
    *count = 0;
    while (scored && c < scored->count && scored->rows[c] != row)
        c++;
    if (!scored || c == scored->count)
        return 0;
    const struct scorer *scorer = &scored->scorer;
    float *inputs = wt__arena_array(arena, float, scorer->inputs *columns);
    float *scratch = wt__arena_array(arena, float, columns *(scorer->hidden + SCORER_OUTPUTS));
    struct feature_share *shares = wt__arena_array(arena, struct feature_share, features);
    WT_CHECK_ALLOC(inputs && scratch && shares, err);
    write_ablated_inputs(scored, c, inputs);
    for (size_t f = 0; f < features; f++)
        shares[f] = (struct feature_share){wt__scorer_table.features[f].name, inputs[f * columns + features], 0};
    float *outputs = scratch + columns * scorer->hidden;
    wt__scorer_run(scorer, inputs, columns, scratch, outputs);
    for (size_t f = 0; f < features; f++)
        shares[f].share = outputs[features * SCORER_OUTPUTS] - outputs[f * SCORER_OUTPUTS];
    qsort(shares, features, sizeof *shares, compare_shares);
    *out = shares;
    *count = features < FEATURES_EXPLAINED ? features : FEATURES_EXPLAINED;
    return 0;
}
