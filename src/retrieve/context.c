/* context.c: what was said before the request, where that is the last turn of a conversation.
 *
 * "yes, and now close it" names neither a thing nor whose it is; the turns before it do. What the retrieval finds for
 * these turns and the request together is evidence for the request, and so is that a tool's provider was called
 * already. It weighs more the fewer words the request has that say something, and nothing where a tool is much nearer
 * to the request than any is to the conversation: who asks in full has changed the subject, or needs no help. What all
 * of it is worth: docs/retrieval.md, "Conversations". */
#include <math.h>
#include <stdlib.h>

#include "retrieve/source.h"
#include "retrieve/words.h"

/* Chosen on the dev dialogues of bench/real. */
static const float PROVIDER_CALLED = 1;           /* beside the best tool's share */
static const float FEW_WORDS = 1, MANY_WORDS = 8; /* of the request, stop words aside */
static const float NEEDED_LEAST = 0.3f;           /* by many words */
static const float NEAR = 1, NEARER = 1.3f;       /* of the best cosine with the conversation */

static bool there(const struct view *view)
{
    return view->context != NULL;
}

/* Between two bounds, 1 at the lower and 0 at the upper one. */
static float falling(float value, float from, float to)
{
    return fminf(fmaxf((to - value) / (to - from), 0), 1);
}

/* A request that has a tool much nearer than all that was said has one is about something else. Cosines are the
 * encoder's, and so are compared with its own. */
float wt__context_needed(const struct query *query)
{
    const struct context *context = query->view->context;
    size_t at = 0, words = 0;
    if (!context)
        return 0;
    for (struct str word; (word = wt__next_word(query->request->text, &at)).len > 0;)
        words += !wt__says_nothing(word);
    float by_words = NEEDED_LEAST + (1 - NEEDED_LEAST) * falling((float)words, FEW_WORDS, MANY_WORDS);
    float best = wt__ranking(query, 0, SOURCE_DENSE)->best;
    return context->best_meaning > 0 ? by_words * falling(best / context->best_meaning, NEAR, NEARER) : by_words;
}

static int search(struct query *query, wt_error *err)
{
    const struct context *context = query->view->context;
    struct ranking *ranking = wt__ranking(query, 0, SOURCE_CONTEXT);
    ranking->top = wt__arena_array(&query->workspace->arena, struct scored, context->count);
    if (!ranking->top)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < context->count; i++)
        ranking->top[i] = (struct scored){context->tools[i].share, context->tools[i].row};
    ranking->len = context->count;
    wt__scored_sort(ranking->top, ranking->len);
    ranking->best = ranking->len ? ranking->top[0].score : 0;
    return 0;
}

static int compare_rows(const void *key, const void *item)
{
    uint32_t x = *(const uint32_t *)key, y = ((const struct context_tool *)item)->row;
    return (x > y) - (x < y);
}

static const struct context_tool *tool_of(const struct context *context, uint32_t row)
{
    return context->count > 0 ? bsearch(&row, context->tools, context->count, sizeof *context->tools, compare_rows)
                              : NULL;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool was_called(const struct context *context, uint32_t provider)
{
    return context->provider_count > 0 && bsearch(&provider, context->providers, context->provider_count,
                                                  sizeof *context->providers, compare_numbers) != NULL;
}

static int score_rows(struct query *query, wt_error *err)
{
    const struct context *context = query->view->context;
    const struct snapshot_key *keys = query->view->snapshot->keys;
    float *scores = wt__ranking(query, 0, SOURCE_CONTEXT)->scores;
    (void)err;
    for (size_t c = 0; c < query->count; c++) {
        const struct context_tool *tool = tool_of(context, query->rows[c]);
        scores[c] =
            (tool ? tool->share : 0) + (was_called(context, keys[query->rows[c]].provider) ? PROVIDER_CALLED : 0);
    }
    return 0;
}

static float value(const struct query *query, float weight, size_t t, size_t c)
{
    return weight * wt__ranking(query, t, SOURCE_CONTEXT)->scores[c];
}

/* What needs the conversation is as near to a tool as that is. */
static void features(const struct query *query, size_t c, float *out)
{
    const struct context *context = query->view->context;
    const struct context_tool *tool = context ? tool_of(context, query->rows[c]) : NULL;
    if (!tool)
        return;
    out[FEATURE_SUBQUERY_MEANING] = fmaxf(out[FEATURE_SUBQUERY_MEANING], query->context_needed * tool->meaning);
    out[FEATURE_SUBQUERY_WORDS] = fmaxf(out[FEATURE_SUBQUERY_WORDS], query->context_needed * tool->words);
}

const struct source wt__source_context = {.name = "context",
                                          .given = true,
                                          .seldom = true,
                                          .there = there,
                                          .search = search,
                                          .score_rows = score_rows,
                                          .value = value,
                                          .features = features};
