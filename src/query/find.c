/* find.c: wt_find, a ranked list of tools for a request. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "choose/relevance.h"
#include "query/search.h"
#include "engine/sized_options.h"
#include "query/chooser_input.h"

enum { DEFAULT_HITS = 5 };

struct find_result {
    wt_hits public; /* first member, so that a pointer to it is a pointer to this struct */
    struct arena arena;
    struct search_times times;
};

struct search_times wt__hits_times(const wt_hits *hits)
{
    return ((const struct find_result *)hits)->times;
}

void wt_hits_free(wt_hits *public)
{
    wt__arena_free_owner(public, offsetof(struct find_result, arena));
}

static void abstain_untrained(struct search *search, double share, wt_hits *out)
{
    out->no_answer_probability = wt__no_tool_probability(search);
    if (wt__nothing_fits(&search->hits, share))
        search->hits.len = 0;
}

/* Removes all hits if probably no tool fits. share: maximum share of answerable requests that get no hits. */
static int abstain_if_unsure(struct search *search, const struct chooser *chooser, double share, wt_hits *out,
                             wt_error *err)
{
    struct candidate_features candidates;
    int unlike = search->untrained;
    if (!unlike) {
        out->no_answer_probability = wt__read_candidates(search, chooser, &candidates);
        unlike = wt__search_if_unfamiliar(search, chooser, &candidates, err);
    }
    if (unlike < 0)
        return unlike;
    if (unlike)
        abstain_untrained(search, share, out);
    else if (wt__nothing_fits(&search->hits, 0) ||
             out->no_answer_probability > (double)wt__no_answer_threshold(&chooser->no_answer, share))
        search->hits.len = 0;
    return 0;
}

/* Removes the weak hits that are not kept tools. Returns their number. */
static size_t remove_weak_hits(struct hit_list *hits)
{
    size_t kept = 0, all = hits->len;
    for (size_t i = 0; i < all; i++)
        if (!hits->items[i].weak || hits->items[i].kept)
            hits->items[kept++] = hits->items[i];
    hits->len = kept;
    return all - kept;
}

/* Copies the description of the search to the result. */
static void describe_search(const struct search *search, wt_hits *out)
{
    out->recipe = search->plan.ran;
    out->encoder = search->encoder;
    out->better = wt__engine_better_model(search->engine);
    out->why = search->plan.why;
    out->read_as = search->read_as;
    out->kept = search->kept_count;
    out->multi_provider_probability = search->multi_provider_probability;
    out->tokens = search->budget.used;
    out->over_budget = search->budget.over;
    out->notice = search->notice.text;
    out->notice_codes = search->notice.codes;
}

static int run_find(struct search *search, const wt_find_options *options, wt_hits *out, wt_error *err)
{
    size_t wanted = search->k, kept = search->conversation->name_count;
    if (wanted < WT_MAX_K) /* a larger k is rejected by the search */
        search->k = kept < WT_MAX_K - wanted ? wanted + kept : WT_MAX_K;
    const struct chooser *chooser = NULL;
    struct notice notice = {0}; /* about the chooser */
    out->no_answer_probability = NAN;
    if (options->abstain > 0) { /* search for at least as many hits as the calibration did */
        chooser = wt__engine_chooser(search->engine, search->progress, &search->untrained, &notice);
        WT_CHECK_ALLOC(chooser, err);
        search->features = true;
        search->k = search->k > PICK_HITS ? search->k : PICK_HITS;
    }
    WT_TRY(wt__search_run(search, err));
    WT_TRY(wt__search_unknown(search, &out->unknown_words, &out->unknown_count, err));
    if (chooser)
        WT_TRY(abstain_if_unsure(search, chooser, options->abstain, out, err));
    WT_TRY(wt__search_note_language(search, err));
    wt__conversation_cut(search, wanted);
    wt__set_probabilities(search, out->no_answer_probability);
    out->weak = options->none_if_unsure ? remove_weak_hits(&search->hits) : 0;
    WT_TRY(wt__conversation_append(search, err));
    uint32_t *which = wt__arena_array(search->arena, uint32_t, search->hits.len);
    WT_CHECK_ALLOC(which, err);
    for (uint32_t i = 0; i < search->hits.len; i++)
        which[i] = i;
    WT_TRY(wt__materialise_hits(search, which, search->hits.len, options->explain, &out->items, &out->len, err));
    if (search->conversation->has_messages) {
        out->last_turn = wt__arena_copy(search->arena, search->request);
        WT_CHECK_ALLOC(out->last_turn, err);
    }
    WT_TRY(wt__budget_report(&search->budget, &search->notice, search->arena, err));
    WT_TRY(wt__join_notices(&search->notice, &notice, search->arena, err));
    describe_search(search, out);
    return 0;
}

static int check_find_options(const wt_find_options *options, wt_error *err)
{
    if (!(options->abstain < 1))
        return wt__fail(err, WT_EINVAL, "abstain must be below 1, not %g", options->abstain);
    if (options->abstain > 0 && options->recipe && strcmp(options->recipe, "auto") != 0)
        return wt__fail(err, WT_EINVAL, "abstain requires the recipe auto, not %s", options->recipe);
    return 0;
}

static int find_hits_of(struct search *search, const wt_find_options *options, const struct conversation_options *said,
                        struct conversation_input *conversation, wt_hits *out, wt_error *err)
{
    WT_TRY(check_find_options(options, err));
    WT_TRY(wt__conversation_read(conversation, said, search->arena, err));
    search->request = conversation->request;
    search->use_recorded = !(options->abstain > 0) && conversation->context.len == 0;
    WT_TRY(wt__filter_read(options->filter, options->provider, search->arena, &search->filter, err));
    WT_TRY(wt__budget_begin(&search->budget, options->max_tokens, options->format, err));
    return run_find(search, options, out, err);
}

/* Options for callers within the library. */
struct own_options {
    const json_t *messages; /* parsed, instead of options->messages; NULL for none */
    enum copies_placed copies;
    bool joint; /* as in struct search */
};

static int find_public_hits(wt_engine *engine, struct str request, const wt_find_options *given,
                            const struct own_options *own, wt_hits **out, wt_error *err)
{
    double begun = wt__now_ms();
    wt_find_options options;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    struct find_result *result = calloc(1, sizeof *result);
    WT_CHECK_ALLOC(result, err);
    struct progress progress;
    wt__progress_init(&progress, options.progress, options.progress_context);
    wt__progress_limit(&progress, options.time_limit_ms);
    struct conversation_input conversation = {0};
    struct search search = {.engine = engine,
                            .arena = &result->arena,
                            .recipe = options.recipe,
                            .k = options.k ? options.k : DEFAULT_HITS,
                            .max_per_provider = options.max_per_provider,
                            .copies = options.copies ? COPIES_ALL : own->copies,
                            .joint = own->joint,
                            .conversation = &conversation,
                            .as_typed = options.as_typed != 0,
                            .progress = &progress};
    const struct conversation_options said = {request,      options.messages,   options.messages_len,
                                              options.have, options.have_count, own->messages};
    wt_hits *hits = &result->public;
    int rc = find_hits_of(&search, &options, &said, &conversation, hits, err);
    wt__search_end(&search);
    rc = wt__progress_end(&progress, rc, err);
    if (rc < 0) {
        wt_hits_free(hits);
        return rc;
    }
    result->times = search.times;
    result->times.begun = begun;
    result->times.ended = wt__now_ms();
    hits->total_ms = result->times.ended - begun;
    hits->encode_ms = search.hits.encode_ms;
    for (size_t i = 0; i < hits->len; i++)
        hits->copies += hits->items[i]->more_count;
    hits->search_ms = hits->total_ms - hits->encode_ms;
    *out = hits;
    return 0;
}

int wt_find(wt_engine *engine, const char *request, size_t request_len, const wt_find_options *options, wt_hits **out,
            wt_error *err)
{
    const struct own_options own = {.copies = COPIES_SHARED};
    return find_public_hits(engine, (struct str){request, request_len}, options, &own, out, err);
}

int wt__find_by_id(wt_engine *engine, struct str request, const wt_find_options *options, wt_hits **out, wt_error *err)
{
    const struct own_options own = {.copies = COPIES_BY_ID};
    return find_public_hits(engine, request, options, &own, out, err);
}

int wt__find_jointly(wt_engine *engine, struct str request, const wt_find_options *options, wt_hits **out,
                     wt_error *err)
{
    const struct own_options own = {.copies = COPIES_SHARED, .joint = true};
    return find_public_hits(engine, request, options, &own, out, err);
}

int wt__find_parsed(wt_engine *engine, struct str request, const wt_find_options *options, const json_t *messages,
                    wt_hits **out, wt_error *err)
{
    const struct own_options own = {.messages = messages, .copies = COPIES_SHARED};
    return find_public_hits(engine, request, options, &own, out, err);
}
