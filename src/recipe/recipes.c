/* recipes.c: the table of recipes, and look-ups in the table. */
#include "recipe/recipes.h"

#include <string.h>

#include "recipe/trained.h"

#define RANKS(name_, summary_, model, training)                                                                        \
    .public = {.name = (name_), .summary = (summary_), .needs_model = (model), .needs_training = (training)}
#define PICKS(by, name_, summary_, training, probability)                                                              \
    .selector = (by), .public = {.name = (name_),                                                                      \
                                 .summary = (summary_),                                                                \
                                 .needs_model = 1,                                                                     \
                                 .needs_training = (training),                                                         \
                                 .picks = 1,                                                                           \
                                 .complete = (probability)}
/* Lessons that auto needs. It can choose a trained refiner, but does not need a refiner. */
#define AUTO_LESSONS "tool2vec mlc neighbours auto"

const struct recipe wt__recipes[RECIPES] = {
    [RECIPE_BM25] = {RANKS("bm25", "words: BM25 over name, provider, category, description and parameters", 0, 0),
                     .retriever = &wt__bm25, .lessons = ""},
    [RECIPE_DENSE] = {RANKS("dense", "meaning: embeddings of the tools' texts (dense retrieval)", 1, 0),
                      .retriever = &wt__dense, .lessons = ""},
    [RECIPE_HYBRID] = {RANKS("hybrid", "words and meaning together, by a learned scorer; the default without training",
                             1, 0),
                       .retriever = &wt__hybrid, .lessons = ""},
    [RECIPE_JOINT] = {RANKS("joint", "hybrid, its best 14 hits read together with the request by a joint scorer", 1, 0),
                      .retriever = &wt__hybrid, .reranker = &wt__rerank_joint, .lessons = ""},
    [RECIPE_TOOL2VEC] = {RANKS("tool2vec", "Tool2Vec: embeddings of the requests that used a tool, and of its text", 1,
                               1),
                         .model = MODEL_TOOL2VEC, .lessons = "tool2vec"},
    [RECIPE_MLC] = {RANKS("mlc", "a multi-label classifier of requests, with a row for each tool", 1, 1),
                    .model = MODEL_MLC, .lessons = "mlc"},
    [RECIPE_NEIGHBOURS] = {RANKS("neighbours", "the tools of the nearest past requests", 1, 1), .model = MODEL_PAST,
                           .lessons = "neighbours"},
    [RECIPE_TOOL2VEC_REFINER] = {RANKS("tool2vec+refiner", "tool2vec, its best hits reranked by a refiner", 1, 1),
                                 .model = MODEL_RERANKER, .reranker = &wt__rerank_refiner, .first = RECIPE_TOOL2VEC,
                                 .lessons = "tool2vec neighbours tool2vec+refiner"},
    [RECIPE_MLC_REFINER] = {RANKS("mlc+refiner", "mlc, its best hits reranked by a refiner", 1, 1),
                            .model = MODEL_RERANKER, .reranker = &wt__rerank_refiner, .first = RECIPE_MLC,
                            .lessons = "mlc neighbours mlc+refiner"},
    [RECIPE_DPR] = {RANKS("dpr", "dense retrieval over the tools' texts by the trained encoder", 1, 1),
                    .model = MODEL_WEIGHTS, .lessons = "dpr"},
    [RECIPE_RERANK_10] = {RANKS("rerank-10", "dpr, its best 10 hits reranked by a cross-encoder", 1, 1),
                          .reranker = &wt__rerank_cross, .first = RECIPE_DPR, .reads = 10, .lessons = "dpr cross"},
    [RECIPE_RERANK_30] = {RANKS("rerank-30", "dpr, its best 30 hits reranked by a cross-encoder", 1, 1),
                          .reranker = &wt__rerank_cross, .first = RECIPE_DPR, .reads = 30, .lessons = "dpr cross"},
    [RECIPE_RERANK_50] = {RANKS("rerank-50", "dpr, its best 50 hits reranked by a cross-encoder", 1, 1),
                          .reranker = &wt__rerank_cross, .first = RECIPE_DPR, .reads = 50, .lessons = "dpr cross"},
    [RECIPE_TOOLRERANK] = {RANKS("toolrerank",
                                 "ToolRerank: rerank, with the tools' providers; untrained: hybrid's hits", 1, 0),
                           .retriever = &wt__hybrid, .model = MODEL_RERANKER, .reranker = &wt__rerank_rules,
                           .first = RECIPE_DPR, .lessons = "dpr cross toolrerank"},
    [RECIPE_SET] = {PICKS(SELECTOR_CHOOSER, "set", "the exact set of tools, chosen from the hits of auto", 0, 0),
                    .lessons = AUTO_LESSONS " set", .told_by = TRAINED_SET},
    [RECIPE_SET_80] = {PICKS(SELECTOR_CHOOSER, "set-80", "a set that holds all needed tools with a probability of 80 %",
                             1, 0.80),
                       .lessons = AUTO_LESSONS " set", .told_by = TRAINED_SET},
    [RECIPE_SET_90] = {PICKS(SELECTOR_CHOOSER, "set-90", "as set-80, with 90 %", 1, 0.90),
                       .lessons = AUTO_LESSONS " set", .told_by = TRAINED_SET},
    [RECIPE_SET_95] = {PICKS(SELECTOR_CHOOSER, "set-95", "as set-80, with 95 %", 1, 0.95),
                       .lessons = AUTO_LESSONS " set", .told_by = TRAINED_SET},
    [RECIPE_BUNDLE] = {PICKS(SELECTOR_BUNDLE, "bundle", "the most similar of the sets of tools that past requests used",
                             1, 0),
                       .lessons = "neighbours", .told_by = "neighbours"},
    [RECIPE_PTR] = {PICKS(SELECTOR_PTR, "ptr",
                          "the set of bundle, corrected by a language model; untrained: a set that the model finds", 0,
                          0),
                    .lessons = "neighbours", .told_by = "neighbours"},
    [RECIPE_AUTO] = {RANKS("auto", "", 1, 0), .model = MODEL_CHOICE, .lessons = AUTO_LESSONS},
};

const wt_recipe *wt_recipe_at(size_t index)
{
    return index < RECIPE_AUTO ? &wt__recipes[index].public : NULL;
}

const struct recipe *wt__recipe_named(const char *name)
{
    for (size_t i = 0; i < RECIPE_AUTO; i++)
        if (strcmp(wt__recipes[i].public.name, name) == 0)
            return &wt__recipes[i];
    return NULL;
}

enum selector wt__recipe_selector(const char *name)
{
    const struct recipe *recipe = wt__recipe_named(name);
    return recipe ? recipe->selector : SELECTOR_NONE;
}

bool wt__recipe_uses(const struct recipe *recipe, const char *lesson)
{
    size_t len = strlen(lesson), length;
    for (const char *at = recipe->lessons; *at; at += length + (at[length] == ' ')) {
        length = strcspn(at, " ");
        if (length == len && memcmp(at, lesson, len) == 0)
            return true;
    }
    return false;
}
