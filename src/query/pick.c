/* pick.c: wt_pick, the set of tools for a request. The recipe decides the selector. */
#include "query/selector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/sized_options.h"
#include "recipe/recipes.h"

struct pick_result {
    wt_picked public; /* first member, so that a pointer to it is a pointer to this struct */
    struct arena arena;
    struct search_times times;
};

struct search_times wt__picked_times(const wt_picked *picked)
{
    return ((const struct pick_result *)picked)->times;
}

void wt_picked_free(wt_picked *public)
{
    wt__arena_free_owner(public, offsetof(struct pick_result, arena));
}

extern const struct set_selector wt__selector_chooser, wt__selector_bundle, wt__selector_ptr;

static const struct set_selector *const set_selectors[] = {
    [SELECTOR_CHOOSER] = &wt__selector_chooser,
    [SELECTOR_BUNDLE] = &wt__selector_bundle,
    [SELECTOR_PTR] = &wt__selector_ptr,
};

/* Finds the recipe and its selector, and sets the completeness of a recipe set-N. */
static int find_set_recipe(wt_pick_options *options, const struct set_selector **selector, wt_error *err)
{
    const char *name = options->recipe ? options->recipe : TRAINED_SET;
    const struct recipe *recipe = wt__recipe_named(name);
    if (!recipe && strcmp(name, "auto") != 0)
        return wt__fail(err, WT_ERECIPE, "there is no recipe \"%.80s\"; `whichtool help --recipes` lists them", name);
    if (!recipe || !recipe->public.picks)
        return wt__fail(err, WT_ERECIPE, "the recipe %s ranks tools and makes no set; run it with `whichtool find`",
                        name);
    *selector = set_selectors[recipe->selector];
    options->recipe = name;
    if (recipe->public.complete > 0 && options->complete == 0)
        options->complete = recipe->public.complete;
    return 0;
}

static int read_pick_conversation(struct selection *selection, bool converses, struct conversation_input *out,
                                  wt_error *err)
{
    const wt_pick_options *options = selection->options;
    const struct conversation_options said = {.request = selection->request,
                                              .messages = options->messages,
                                              .messages_len = options->messages_len,
                                              .have = options->have,
                                              .have_count = options->have_count};
    if (!converses && (options->messages || options->have_count > 0))
        return wt__fail(err, WT_EINVAL,
                        "the recipe %s does not support conversations or tools to keep; use the recipe set",
                        options->recipe);
    WT_TRY(wt__conversation_read(out, &said, selection->arena, err));
    selection->request = out->request;
    if (!options->messages)
        return 0;
    selection->out->last_turn = wt__arena_copy(selection->arena, out->request);
    return selection->out->last_turn ? 0 : wt__fail_nomem(err);
}

/* True if PTR shall replace the set of the chooser: no past set is near, and a language model is configured. The
 * caller must have left the recipe open, and set no option outside PTR. */
static bool wants_language_model(const struct selection *selection, const wt_pick_options *given)
{
    const struct engine_chat *chat = &selection->engine->chat;
    return selection->is_new && !given->recipe && !selection->evaluation && (chat->model || chat->replay) &&
           given->complete == 0 && !given->messages && given->have_count == 0 && selection->out->len > 0;
}

/* Replaces the set by that of PTR. Keeps it if the language model fails. */
static int ask_language_model(struct selection *selection, wt_error *err)
{
    wt_picked *out = selection->out, chosen = *out;
    wt_pick_options options = *selection->options;
    struct selection asking = *selection;
    wt_error why;
    char text[sizeof why.message + 100];
    options.recipe = "ptr";
    options.abstain = 0;
    asking.options = &options;
    asking.notice = (struct notice){0};
    *out = (wt_picked){.no_answer_probability = NAN, .tracc = NAN, .complete = NAN};
    int rc = wt__selector_ptr.select(&asking, &why);
    if (rc == WT_ENOMEM || rc == WT_ECANCELLED)
        return wt__fail_same(err, &why);
    if (rc == 0) {
        out->no_answer_probability = chosen.no_answer_probability;
        selection->notice = asking.notice;
        return wt__add_notice(&selection->notice, WT_NOTICE_UNFAMILIAR,
                              "no recorded set is near, so the language model chose the set (recipe ptr)",
                              selection->arena, err);
    }
    *out = chosen;
    snprintf(text, sizeof text, "no recorded set is near, and the language model could not choose one: %s",
             why.message);
    return wt__add_notice(&selection->notice, WT_NOTICE_UNFAMILIAR, text, selection->arena, err);
}

int wt__pick(wt_engine *engine, struct str request, const wt_pick_options *given,
             const struct pick_evaluation *evaluation, wt_picked **out, wt_error *err)
{
    double begun = wt__now_ms();
    wt_pick_options options = *given;
    const struct set_selector *selector = NULL;
    *out = NULL;
    WT_TRY(find_set_recipe(&options, &selector, err));
    struct pick_result *result = calloc(1, sizeof *result);
    WT_CHECK_ALLOC(result, err);
    wt_picked *picked = &result->public;
    *picked = (wt_picked){.no_answer_probability = NAN, .tracc = NAN, .complete = NAN};
    struct progress progress;
    wt__progress_init(&progress, options.progress, options.progress_context);
    wt__progress_limit(&progress, options.time_limit_ms);
    struct conversation_input conversation = {0};
    struct selection selection = {.engine = engine,
                                  .request = request,
                                  .options = &options,
                                  .evaluation = evaluation,
                                  .progress = &progress,
                                  .arena = &result->arena,
                                  .out = picked,
                                  .conversation = &conversation};
    int rc = read_pick_conversation(&selection, selector->converses, &conversation, err);
    if (rc == 0)
        rc = wt__filter_read(options.filter, options.provider, &result->arena, &selection.filter, err);
    if (rc == 0)
        rc = selector->select(&selection, err);
    if (rc == 0 && wants_language_model(&selection, given))
        rc = ask_language_model(&selection, err);
    rc = wt__progress_end(&progress, rc, err);
    if (rc < 0) {
        wt_picked_free(picked);
        return rc;
    }
    picked->notice = selection.notice.text;
    picked->notice_codes = selection.notice.codes;
    result->times = selection.times;
    result->times.begun = begun;
    result->times.ended = wt__now_ms();
    picked->total_ms = result->times.ended - begun;
    picked->search_ms = fmax(picked->total_ms - picked->encode_ms - picked->model_ms,
                             0); /* not negative: a replayed answer has the model_ms of its recording */
    *out = picked;
    return 0;
}

int wt_pick(wt_engine *engine, const char *request, size_t request_len, const wt_pick_options *given, wt_picked **out,
            wt_error *err)
{
    wt_pick_options options;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    return wt__pick(engine, (struct str){request, request_len}, &options, NULL, out, err);
}
