/* set_pick.c: the selector of the recipe set. It searches with the recipe auto. Then it picks one tool per need
 * (choose/relevance.h). After training, the calibrated chooser picks the set instead (choose/chooser.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "query/chooser_input.h"
#include "query/search.h"
#include "query/selector.h"
#include "retrieve/segment.h"

struct set_pick {
    struct search search;
    struct selection *selection;
    const struct chooser *chooser; /* calibrated chooser of the store, or the built-in chooser */
    struct notice notice;          /* about the chooser */
    struct candidate_features candidates;
    uint32_t *which; /* [count] indices of the picked hits */
    size_t count;
};

static int check_set_options(const wt_pick_options *options, wt_error *err)
{
    if (options->base_retriever || options->experiment || options->k)
        return wt__fail(err, WT_EINVAL,
                        "the recipe %s does not support base_retriever, experiment and k; use the recipe ptr",
                        options->recipe);
    if (!(options->complete >= 0 && options->complete < 1))
        return wt__fail(err, WT_EINVAL, "complete must be at least 0 and below 1, not %g", options->complete);
    if (!(options->abstain < 1))
        return wt__fail(err, WT_EINVAL, "abstain must be below 1, not %g", options->abstain);
    return 0;
}

/* ---------------------------------------------------------------- without training */

/* Minimum share of the recorded usages of the same request for a tool to be picked. */
static const float RECORDED_MAJORITY = 0.5f;

static void pick_recorded(struct set_pick *p)
{
    struct hit_list *hits = &p->search.hits;
    for (uint32_t h = 0; h < hits->len; h++)
        if (wt__search_recorded(&p->search, hits->items[h].row) >= RECORDED_MAJORITY)
            p->which[p->count++] = h;
}

/* Adds a notice that quotes the needs without a tool, so that the caller can rephrase them. */
static int note_unmet_needs(struct set_pick *p, const struct need_hit *found, size_t count, const struct need_set *set,
                            wt_error *err)
{
    enum { WORDS_MAX = 80 };
    struct buffer text = {0};
    uint32_t told = 0; /* one bit per need */
    for (size_t i = 0; i < set->len; i++)
        told |= 1u << found[set->which[i]].need;
    for (size_t i = 0; i < count; i++) {
        struct str subquery = p->search.hits.items[found[i].hit].subquery;
        struct str words = wt__str_head(wt__skip_stopwords(subquery), WORDS_MAX);
        uint32_t need = 1u << found[i].need;
        if (told & need || words.len == 0)
            continue;
        told |= need;
        wt__buffer_printf(&text, "%s\"%.*s\"", text.len > 0 ? ", " : "no tool found for ", (int)words.len, words.ptr);
    }
    return wt__take_notice(&p->selection->notice, WT_NOTICE_NEED_UNMET, &text, p->selection->arena, err);
}

/* Returns the share of answerable requests that may get no tool. It is negative if every request gets a tool. */
static double abstain_share(const struct set_pick *p)
{
    double share = p->selection->options->abstain;
    return share == 0 ? PICK_ABSTAIN_PERCENT / 100.0 : share;
}

/* Picks one tool per need. */
static int pick_needs(struct set_pick *p, const struct need_hit *found, size_t count, wt_error *err)
{
    struct hit_list *hits = &p->search.hits;
    struct need_set set;
    double share = abstain_share(p);
    if (share > 0 && wt__nothing_fits(hits, share))
        return 0;
    wt__choose_by_needs(found, count, share > 0 ? wt__need_least : -1, &set);
    for (size_t i = 0; i < set.len; i++) {
        const struct need_hit *chosen = &found[set.which[i]];
        hits->items[chosen->hit].probability = chosen->probability;
        p->which[p->count++] = chosen->hit;
    }
    if (set.len == 0)
        return 0;
    p->selection->out->tracc = (double)set.tracc;
    p->selection->out->complete = (double)set.complete;
    return note_unmet_needs(p, found, count, &set, err);
}

/* Sets the score of a hit to its probability, and limits the probability by the chance that no tool fits. */
static void limit_probability(struct set_pick *p, uint32_t which)
{
    struct hit *hit = &p->search.hits.items[which];
    hit->score = hit->probability;
    hit->probability = wt__relevance_below(hit->probability, p->selection->out->no_answer_probability);
}

static int pick_untrained(struct set_pick *p, wt_error *err)
{
    struct need_hit found[NEED_HITS];
    wt__set_probabilities(&p->search, NAN);
    size_t count = wt__need_hits(&p->search.hits, found);
    p->selection->out->no_answer_probability = wt__no_tool_probability(&p->search);
    pick_recorded(p);
    if (p->count == 0)
        WT_TRY(pick_needs(p, found, count, err));
    for (size_t i = 0; i < p->count; i++)
        limit_probability(p, p->which[i]);
    return 0;
}

/* ---------------------------------------------------------------- with a chooser */

/* Least probability of a past set. Below, the request counts as new. */
static const float REUSE_LIKELY = 0.5f;

static bool should_abstain(const struct set_pick *p)
{
    double share = abstain_share(p);
    return share > 0 &&
           (wt__nothing_fits(&p->search.hits, 0) ||
            p->selection->out->no_answer_probability > (double)wt__no_answer_threshold(&p->chooser->no_answer, share));
}

/* Sets the score of each hit to the probability that the hit is needed if some tool fits. The score is 0 for a hit
 * that is not a candidate. The probability of the hit also includes the chance that no tool fits. */
static void score_set_hits(struct set_pick *p, const struct chosen *chosen)
{
    struct hit_list *hits = &p->search.hits;
    for (size_t h = 0; h < hits->len; h++)
        hits->items[h].score = 0;
    for (size_t t = 0; t < p->candidates.tools; t++)
        hits->items[p->candidates.hits[t]].score = chosen->probability[t];
    for (size_t h = 0; h < hits->len; h++)
        hits->items[h].probability =
            wt__relevance_below(hits->items[h].score, p->selection->out->no_answer_probability);
}

/* Picks the set with the greatest expected TRACC, with the likeliest tool first. */
static void pick_likeliest(struct set_pick *p, const struct chosen *chosen)
{
    struct scored order[CHOOSE_TOOLS];
    for (uint32_t t = 0; t < p->candidates.tools; t++)
        if (chosen->tools >> t & 1)
            order[p->count++] = (struct scored){chosen->probability[t], p->candidates.hits[t]};
    wt__scored_sort(order, p->count);
    for (size_t i = 0; i < p->count; i++)
        p->which[i] = order[i].row;
    p->selection->out->tracc = (double)chosen->tracc;
    p->selection->out->complete = (double)chosen->complete;
}

/* The hits in the order in which they join a growing set. */
struct set_order {
    uint32_t *order;      /* [number of hits] indices of hits */
    float *nonconformity; /* [number of hits] in the same order */
    const uint64_t *used; /* one bit per row: the tool was used by a past request; NULL if unknown */
};

#define NO_PROMISE SIZE_MAX

/* Returns the size of a set that is complete with this probability, or NO_PROMISE without enough training. joined:
 * receives the indices of the hits, with room for all hits; NULL to count only. */
static size_t count_joining_hits(const struct set_pick *p, const struct set_order *joining, double probability,
                                 uint32_t *joined)
{
    struct conformal_thresholds thresholds;
    size_t count = 0;
    if (!wt__conformal_thresholds(p->chooser, probability, &thresholds))
        return NO_PROMISE;
    for (size_t i = 0; i < p->search.hits.len; i++) {
        uint32_t row = p->search.hits.items[joining->order[i]].row;
        bool unused = joining->used && !(joining->used[row / 64] >> row % 64 & 1);
        if (joining->nonconformity[i] > (unused ? thresholds.unused : thresholds.used))
            continue;
        if (joined)
            joined[count] = joining->order[i];
        count++;
    }
    return count;
}

/* Returns the greatest whole percentage below the requested probability whose set has at most WT_MAX_COMPLETE tools,
 * as a probability. Returns 0 if every such set is larger. */
static double find_best_promise(const struct set_pick *p, const struct set_order *joining)
{
    int percent = (int)ceil(p->selection->options->complete * 100 - 1e-9) - 1;
    while (percent > 0 && count_joining_hits(p, joining, percent / 100., NULL) > WT_MAX_COMPLETE)
        percent--;
    return percent / 100.;
}

/* Writes why the promise cannot be kept. wanted: required size of the set, or NO_PROMISE. */
static void describe_unkept_promise(const struct set_pick *p, size_t wanted, struct buffer *out)
{
    if (wanted != NO_PROMISE)
        wt__buffer_printf(
            out, "a set that is complete with probability %g needs %zu tools for this request; at most %d are allowed",
            p->selection->options->complete, wanted, WT_MAX_COMPLETE);
    else if (p->chooser->nonconformity.count == 0)
        wt__buffer_text(out, "the size of a complete set is unknown without training");
    else
        wt__buffer_text(out, "training cannot promise that probability: too few requests were held out, or too many of "
                             "their tools were not found");
}

static int reject_promise(const struct set_pick *p, const struct set_order *joining, size_t wanted, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    double most = joining ? find_best_promise(p, joining) : 0;
    describe_unkept_promise(p, wanted, &text);
    if (p->chooser->nonconformity.count == 0)
        wt__buffer_text(&text, "; record use, then run `whichtool train all`");
    else if (most > 0)
        wt__buffer_printf(&text, "; %g can be promised", most);
    else
        wt__buffer_text(&text, "; no probability can be promised");
    wt__buffer_text(&text, "; or use the first hits of find, or a budget of tokens (max_tokens)");
    if (p->search.notice.text)
        wt__buffer_printf(&text, ". %s", p->search.notice.text);
    return text.failed ? wt__fail_nomem(err) : wt__fail(err, WT_ERECIPE, "%s", text.ptr);
}

/* True if a tool is very unlikely to be needed and the size of a complete set is unknown. */
static bool is_unlikely_hit(const struct set_pick *p, uint32_t hit)
{
    static const float IDLE = 0.01f;
    return p->chooser->nonconformity.count == 0 && p->search.hits.items[hit].score < IDLE;
}

/* Picks the first tools without a promise. The budget cuts them later. */
static int pick_first_hits(struct set_pick *p, const struct set_order *joining, size_t wanted, wt_error *err)
{
    struct buffer text = {0};
    bool measured = p->selection->evaluation != NULL;
    size_t most = measured ? p->search.hits.len : WT_MAX_COMPLETE;
    for (size_t i = 0; i < p->search.hits.len && p->count < most; i++)
        if (measured || p->count == 0 || !is_unlikely_hit(p, joining->order[i]))
            p->which[p->count++] = joining->order[i];
    describe_unkept_promise(p, wanted, &text);
    return wt__take_notice(&p->selection->notice, WT_NOTICE_COMPLETENESS, &text, p->selection->arena, err);
}

/* Adds a notice about the basis of the promise. The promise is not a guarantee, because training used the held-out
 * requests for other choices as well. */
static int note_promise_basis(const struct set_pick *p, wt_error *err)
{
    char text[160];
    snprintf(
        text, sizeof text,
        "the set aims to be complete for %g %% of requests, measured on %zu held-out requests; this is not a guarantee",
        100 * p->selection->options->complete, p->chooser->nonconformity.count);
    return wt__add_notice(&p->selection->notice, WT_NOTICE_COMPLETENESS, text, p->selection->arena, err);
}

/* Picks a set that is complete with the requested probability. If the set would be too large or its size is unknown,
 * picks the first hits to fill the budget of tokens, or fails without a budget. An evaluation accepts any size, and
 * takes all hits if the size is unknown. */
static int pick_complete(struct set_pick *p, wt_error *err)
{
    const wt_pick_options *options = p->selection->options;
    bool measured = p->selection->evaluation != NULL;
    struct set_order joining = {.order = wt__arena_array(p->search.arena, uint32_t, p->search.hits.len),
                                .nonconformity = wt__arena_array(p->search.arena, float, p->search.hits.len)};
    WT_CHECK_ALLOC(joining.order && joining.nonconformity, err);
    WT_TRY(wt__used_rows(&p->search, &joining.used, err));
    wt__set_order(p->chooser, &p->candidates, p->search.hits.len, joining.order, joining.nonconformity);
    size_t wanted = count_joining_hits(p, &joining, options->complete, p->which);
    if (wanted != NO_PROMISE && (wanted <= WT_MAX_COMPLETE || measured)) {
        p->count = wanted;
        p->selection->out->complete = options->complete;
        return measured ? 0 : note_promise_basis(p, err);
    }
    return options->max_tokens > 0 || measured ? pick_first_hits(p, &joining, wanted, err)
                                               : reject_promise(p, &joining, wanted, err);
}

/* Picks exactly the named tools, for a request that consists of names. */
static void pick_named(struct set_pick *p)
{
    struct hit_list *hits = &p->search.hits;
    for (; p->count < hits->named; p->count++) {
        hits->items[p->count].score = hits->items[p->count].probability = RELEVANCE_NAMED;
        p->which[p->count] = (uint32_t)p->count;
    }
    p->selection->out->no_answer_probability = 1 - (double)RELEVANCE_NAMED;
    p->selection->out->tracc = p->selection->out->complete = (double)RELEVANCE_NAMED;
}

static int pick_tools(struct set_pick *p, wt_error *err)
{
    struct chosen chosen;
    if (p->search.hits.named_only && p->search.hits.named > 0) {
        pick_named(p);
        return 0;
    }
    if (p->search.untrained && p->selection->options->complete == 0)
        return pick_untrained(p, err);
    if (p->selection->options->complete > 0 && p->chooser->nonconformity.count == 0 &&
        p->selection->options->max_tokens == 0 && !p->selection->evaluation) /* even if no tool fits */
        return reject_promise(p, NULL, NO_PROMISE, err);
    if (p->candidates.tools == 0 || should_abstain(p))
        return 0;
    wt__choose(p->chooser, &p->candidates, &chosen);
    score_set_hits(p, &chosen);
    p->selection->is_new = chosen.reuse < REUSE_LIKELY;
    if (p->selection->options->complete > 0)
        return pick_complete(p, err);
    pick_likeliest(p, &chosen);
    return 0;
}

/* Appends the kept tools that were not picked. */
static int append_kept_tools(struct set_pick *p, wt_error *err)
{
    size_t picked = p->count;
    WT_TRY(wt__conversation_append(&p->search, err));
    uint32_t *which = wt__arena_array(p->search.arena, uint32_t, p->search.hits.len);
    WT_CHECK_ALLOC(which, err);
    if (picked > 0)
        memcpy(which, p->which, picked * sizeof *which);
    for (uint32_t h = 0; h < p->search.hits.len; h++) {
        struct hit *hit = &p->search.hits.items[h];
        bool taken = !hit->kept;
        for (size_t i = 0; i < picked && !taken; i++)
            taken = which[i] == h;
        if (taken)
            continue;
        hit->score = isnan(hit->probability) ? 0 : hit->probability;
        which[p->count++] = h;
    }
    p->which = which;
    p->selection->out->kept = p->search.kept_count;
    return 0;
}

/* Decides whether recorded usages of the same request count. Recorded usages take precedence over trained models,
 * because training may be older than these usages. A promise and an evaluation use the trained chooser alone. */
static int decide_recorded_usage(struct set_pick *p, wt_error *err)
{
    bool counts = p->selection->conversation->context.len == 0;
    if (p->chooser != &wt__chooser_default && counts) {
        counts = p->selection->options->complete == 0 && !p->selection->evaluation;
        if (counts) {
            WT_TRY(wt__search_is_recorded(&p->search, RECORDED_MAJORITY, &counts, err));
            p->search.untrained = counts;
        }
    }
    p->search.use_recorded = counts;
    return 0;
}

/* Searches with trained models. Repeats the search without them if the request is unlike the requests of training. A
 * promise always uses the trained models. */
static int search_candidates(struct set_pick *p, wt_error *err)
{
    bool promises = p->selection->options->complete > 0;
    WT_TRY(decide_recorded_usage(p, err));
    WT_TRY(wt__search_run(&p->search, err));
    if (p->search.untrained && !promises)
        return 0;
    p->selection->out->no_answer_probability = wt__read_candidates(&p->search, p->chooser, &p->candidates);
    int rc = promises ? 0 : wt__search_if_unfamiliar(&p->search, p->chooser, &p->candidates, err);
    p->selection->is_new = rc > 0;
    return rc < 0 ? rc : 0;
}

static int run_set_pick(struct set_pick *p, wt_error *err)
{
    WT_TRY(search_candidates(p, err));
    WT_TRY(wt__search_unknown(&p->search, &p->selection->out->unknown_words, &p->selection->out->unknown_count, err));
    WT_TRY(wt__search_note_language(&p->search, err));
    p->selection->out->recipe = p->search.plan.ran;
    p->selection->notice = p->search.notice;
    p->selection->out->encoder = p->search.encoder;
    p->selection->out->read_as = p->search.read_as;
    p->which = wt__arena_array(p->search.arena, uint32_t, p->search.hits.len);
    WT_CHECK_ALLOC(p->which, err);
    WT_TRY(wt__join_notices(&p->selection->notice, &p->notice, p->selection->arena, err));
    WT_TRY(pick_tools(p, err));
    WT_TRY(append_kept_tools(p, err));
    WT_TRY(wt__materialise_hits(&p->search, p->which, p->count, p->selection->options->explain,
                                &p->selection->out->items, &p->selection->out->len, err));
    return wt__selection_report_budget(p->selection, &p->search.budget, err);
}

static int select_set(struct selection *selection, wt_error *err)
{
    const wt_pick_options *options = selection->options;
    struct set_pick picking = {.selection = selection};
    WT_TRY(check_set_options(options, err));
    picking.search = (struct search){.engine = selection->engine,
                                     .request = selection->request,
                                     .arena = selection->arena,
                                     .filter = selection->filter,
                                     .k = options->complete > 0 ? PICK_COMPLETE : PICK_HITS,
                                     .copies = selection->evaluation ? COPIES_BY_ID : COPIES_SHARED,
                                     .as_typed = options->as_typed != 0,
                                     .features = true,
                                     .joint = options->complete <= 0, /* promises were fitted without it */
                                     .conversation = selection->conversation,
                                     .progress = selection->progress};
    WT_TRY(wt__budget_begin(&picking.search.budget, options->max_tokens, options->format, err));
    picking.chooser =
        wt__engine_chooser(selection->engine, selection->progress, &picking.search.untrained, &picking.notice);
    int rc = picking.chooser ? run_set_pick(&picking, err) : wt__fail_nomem(err);
    wt__search_end(&picking.search);
    selection->out->encode_ms = picking.search.hits.encode_ms;
    selection->times = picking.search.times;
    return rc;
}

const struct set_selector wt__selector_chooser = {.converses = true, .select = select_set};
