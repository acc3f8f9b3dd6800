/* search_plan.c: plans trained and untrained recipes. */
#include "query/search_plan.h"

#include <string.h>

#include "recipe/recipes.h"
#include "retrieve/document.h"

static const char *const AUTOMATIC = "auto", *const DEFAULT_RECIPE = "hybrid", *const FALLBACK_RECIPE = "bm25";

static int fail_unknown_recipe(const char *name, wt_error *err)
{
    struct buffer names = {0};
    const wt_recipe *recipe;
    for (size_t i = 0; (recipe = wt_recipe_at(i)); i++)
        if (!recipe->picks)
            wt__buffer_printf(&names, "%s, ", recipe->name);
    int rc =
        wt__fail(err, WT_ERECIPE, "there is no recipe \"%s\"; use one of %sauto", name, names.ptr ? names.ptr : "");
    wt__buffer_dispose(&names);
    return rc;
}

/* Plans an untrained recipe. If the encoder cannot be opened and the recipe was chosen automatically, uses the fallback
 * encoder, or words alone if there is no fallback. */
static int plan_untrained(wt_engine *engine, const struct plan_options *wish, const struct recipe *recipe,
                          bool automatic, struct arena *arena, struct search_plan *out, wt_error *err)
{
    wt_error why;
    out->retriever = *recipe->retriever;
    out->reranker = wt__reranker_plain(recipe->reranker);
    out->ran = recipe->public.name;
    if (!recipe->public.needs_model)
        return 0;
    int rc = wt__engine_load_encoder(engine, wish->progress, &out->encoder, &why);
    if (rc == WT_EMODEL && automatic) {
        wt_error failed;
        bool is_known = out->notice.text && strcmp(out->notice.text, why.message) == 0;
        rc = wt__add_notice(&out->notice, WT_NOTICE_NO_ENCODER, is_known ? NULL : why.message, arena, &failed);
        out->notice.codes |= WT_NOTICE_NO_ENCODER;
        if (rc == 0)
            rc = wt__engine_fallback_encoder(engine, wish->progress, &out->encoder, &failed);
        why = rc < 0 ? failed : why;
        if (rc == 0 && !out->encoder) {
            out->retriever = wt__bm25;
            out->ran = FALLBACK_RECIPE;
            out->relevance = NULL;
            return 0;
        }
    }
    if (rc < 0 && err)
        *err = why;
    if (rc < 0)
        return rc;
    out->retriever = wt__untrained_retriever(engine, recipe->retriever, out->encoder);
    out->set = (struct index_set){wt__encoder_hash(out->encoder), wt__document_kind};
    out->may_use_fallback = true;
    return 0;
}

/* Plans a trained recipe: its own weights, or the untrained recipe that it names. */
static int plan_trained_recipe(wt_engine *engine, const struct plan_options *wish, const struct trained *trained,
                               const struct trained_recipe *recipe, struct arena *arena, struct search_plan *out,
                               wt_error *err)
{
    const struct recipe *plain = wt__recipe_named(recipe->runs);
    out->why = recipe->why[0] ? wt__arena_copy(arena, wt__str(recipe->why)) : NULL;
    if (recipe->why[0] && !out->why)
        return wt__fail_nomem(err);
    if (recipe == &trained->recipes[RECIPE_AUTO] && trained->chooser && trained->chooser->has_relevance)
        out->relevance = &trained->chooser->relevance;
    if (plain && plain->retriever && strcmp(recipe->runs, recipe->name) != 0)
        return plan_untrained(engine, wish, plain, true, arena, out, err);
    out->retriever = recipe->retriever;
    if (wish->features && trained->recipes[RECIPE_NEIGHBOURS].there)
        out->retriever.also |= 1u << SOURCE_NEIGHBOURS;
    out->reranker = recipe->reranker;
    if (wt__retriever_asks(&out->retriever, SOURCE_NEIGHBOURS)) {
        out->encoder = trained->encoder;
        out->labels = trained;
    }
    if (recipe->retriever.weights[SOURCE_DENSE] > 0) {
        out->encoder = trained->encoder;
        out->set = (struct index_set){recipe->model, recipe->kind};
    }
    out->ran = wt__arena_copy(arena, wt__str(recipe->runs));
    return out->ran ? 0 : wt__fail_nomem(err);
}

int wt__search_plan(wt_engine *engine, const struct plan_options *wish, struct arena *arena, struct search_plan *out,
                    wt_error *err)
{
    const char *name = wish->recipe ? wish->recipe : AUTOMATIC;
    bool automatic = strcmp(name, AUTOMATIC) == 0;
    const struct recipe *recipe = wt__recipe_named(automatic ? DEFAULT_RECIPE : name);
    const struct trained *trained = NULL;
    *out = (struct search_plan){.recorded = automatic};
    if (!recipe)
        return fail_unknown_recipe(name, err);
    if (recipe->public.picks)
        return wt__fail(err, WT_ERECIPE, "the recipe %s makes a set and ranks no tools; run it with `whichtool pick`",
                        name);
    if (!automatic && recipe->retriever && recipe->model == MODEL_NONE)
        return plan_untrained(engine, wish, recipe, false, arena, out, err);
    wt_error why;
    int rc = wish->untrained ? 0 : wt__engine_load_trained(engine, wish->progress, &trained, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc == WT_ECANCELLED)
        return wt__fail_cancelled(err);
    const struct trained_recipe *choice = wt__trained_recipe(trained, name);
    const char *notice = rc < 0 ? why.message : trained ? trained->notice : NULL;
    if (choice) {
        rc = wt__reranker_load(&choice->reranker, &why);
        if (rc == 0)
            return plan_trained_recipe(engine, wish, trained, choice, arena, out, err);
        notice = rc != WT_ENOMEM ? wt__trained_unused(choice->runs, why.message, arena) : NULL;
        if (!notice)
            return wt__fail_nomem(err);
    }
    if (!automatic && !recipe->retriever)
        return notice ? wt__fail(err, WT_ERECIPE, "%s", notice)
                      : wt__fail(err, WT_ERECIPE, "the recipe %s needs training; run `whichtool train %s`%s", name,
                                 recipe->reads ? wt__recipes[recipe->first].public.name : name,
                                 recipe->reads ? ", then `whichtool train cross`" : "");
    rc = wt__add_notice(&out->notice, WT_NOTICE_UNUSED_MODEL, notice, arena, err);
    if (rc < 0)
        return rc;
    return plan_untrained(engine, wish, recipe, automatic, arena, out, err);
}
