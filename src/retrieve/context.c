/* context.c: evidence from the earlier turns of a conversation whose last turn is the request.
 *
 * "yes, and now close it" says neither what to close nor in which service; the earlier turns do. Two things are
 * evidence for a tool: its share in a search for these turns together with the request, and a provider whose tools
 * were already called. Both multiply the tool's value for the request, because the right tool fits the request and the
 * conversation: "close it" fits tools that close anything, and the conversation fits tools for issues. The fewer
 * content words the request has, the greater is the effect of this evidence. It has none if the nearest tool of the
 * request is much nearer than the nearest tool of the conversation: then the request has changed the subject, or can
 * be understood alone. docs/retrieval.md, "Conversations", measures the effect. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "retrieve/source.h"
#include "retrieve/words.h"

/* Chosen on the dev dialogues of bench/real, and the first two also on the dev follow-ups of training/requests. */
static const float PROVIDER_CALLED = 30;          /* factor of a tool whose provider was called */
static const float SHARE_LEAST = 0.003f;          /* root of the share of a tool without evidence */
static const float FEW_WORDS = 1, MANY_WORDS = 8; /* content words of the request */
static const float NEEDED_LEAST = 0.3f;           /* weight for requests of MANY_WORDS or more */
static const float NEAR = 1, NEARER = 1.3f;       /* best cosine of the request divided by that of the conversation */

static bool has_context(const struct view *view)
{
    return view->context != NULL;
}

/* Returns 1 if value <= from, 0 if value >= to, and a linear interpolation between them. */
static float interpolate_falling(float value, float from, float to)
{
    return fminf(fmaxf((to - value) / (to - from), 0), 1);
}

/* Multiplies two factors: one falls with the number of content words, the other with the ratio of the best cosine of
 * the request to that of the conversation. A ratio is used because the range of cosines depends on the encoder. */
float wt__context_needed(const struct source_query *query)
{
    const struct context *context = query->view->context;
    size_t at = 0, words = 0;
    if (!context)
        return 0;
    for (struct str word; (word = wt__next_word(query->request->text, &at)).len > 0;)
        words += !wt__is_stopword_any_case(word);
    float by_words = NEEDED_LEAST + (1 - NEEDED_LEAST) * interpolate_falling((float)words, FEW_WORDS, MANY_WORDS);
    float best = wt__ranking(query, 0, SOURCE_DENSE)->best;
    return context->best_meaning > 0 ? by_words * interpolate_falling(best / context->best_meaning, NEAR, NEARER)
                                     : by_words;
}

static int search_context(struct source_query *query, wt_error *err)
{
    const struct context *context = query->view->context;
    struct ranking *ranking = wt__ranking(query, 0, SOURCE_CONTEXT);
    ranking->top = wt__arena_array(&query->workspace->arena, struct scored, context->count);
    WT_CHECK_ALLOC(ranking->top, err);
    for (size_t i = 0; i < context->count; i++)
        ranking->top[i] = (struct scored){context->tools[i].share, context->tools[i].row};
    ranking->len = context->count;
    wt__scored_sort(ranking->top, ranking->len);
    ranking->best = ranking->len ? ranking->top[0].score : 0;
    return 0;
}

static int compare_context_rows(const void *key, const void *item)
{
    uint32_t x = *(const uint32_t *)key, y = ((const struct context_tool *)item)->row;
    return (x > y) - (x < y);
}

static const struct context_tool *find_context_tool(const struct context *context, uint32_t row)
{
    return context->count > 0
               ? bsearch(&row, context->tools, context->count, sizeof *context->tools, compare_context_rows)
               : NULL;
}

/* True if a tool of the provider was called in the conversation. */
static bool was_called(const struct context *context, uint32_t provider)
{
    const size_t at = wt__lower_bound_u32(context->providers, context->provider_count, provider);
    return at < context->provider_count && context->providers[at] == provider;
}

static int score_context_rows(struct source_query *query, wt_error *err)
{
    const struct context *context = query->view->context;
    const struct snapshot_key *keys = query->view->snapshot->keys;
    float *scores = wt__ranking(query, 0, SOURCE_CONTEXT)->scores;
    (void)err;
    for (size_t c = 0; c < query->count; c++) {
        const struct context_tool *tool = find_context_tool(context, query->rows[c]);
        float factor = tool ? 1 + sqrtf(tool->share) / SHARE_LEAST : 1;
        if (was_called(context, keys[query->rows[c]].provider))
            factor *= PROVIDER_CALLED;
        scores[c] = factor - 1;
    }
    return 0;
}

static float context_factor(const struct source_query *query, float weight, size_t t, size_t c)
{
    (void)t;
    return powf(1 + wt__ranking(query, 0, SOURCE_CONTEXT)->scores[c], weight);
}

/* Raises the sub-query features of a candidate to its features for the conversation, multiplied by the dependence of
 * the request on earlier turns. */
static void fill_context_features(const struct source_query *query, size_t c, float *out)
{
    const struct context *context = query->view->context;
    const struct context_tool *tool = context ? find_context_tool(context, query->rows[c]) : NULL;
    if (!tool)
        return;
    out[FEATURE_SUBQUERY_MEANING] = fmaxf(out[FEATURE_SUBQUERY_MEANING], query->context_needed * tool->meaning);
    out[FEATURE_SUBQUERY_WORDS] = fmaxf(out[FEATURE_SUBQUERY_WORDS], query->context_needed * tool->words);
}

/* Returns the greater of `own` and the part of `value` that this request takes from its conversation. */
static float raise_by_context(const struct source_query *query, float own, float value)
{
    return fmaxf(own, query->context_needed * value);
}

void wt__context_raise(struct source_query *query)
{
    const struct context *context = query->view->context;
    if (!context || !query->probability)
        return;
    for (size_t c = 0; c < query->count; c++) {
        const struct context_tool *tool = find_context_tool(context, query->rows[c]);
        query->probability[c] = raise_by_context(query, query->probability[c], tool ? tool->estimate : 0);
    }
    if (isnan(query->out->fits))
        return;
    query->out->fits = raise_by_context(query, query->out->fits, context->fits);
    query->out->fits_quantile = raise_by_context(query, query->out->fits_quantile, context->fits_quantile);
}

const struct source wt__source_context = {
    {"context", NULL, has_context, search_context, score_context_rows, context_factor, fill_context_features},
    .is_preset = true,
    .multiplies = true,
    .is_sparse = true};
