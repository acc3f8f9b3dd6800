/* materialise.c: makes public hits within a budget of tokens. Definitions are read after the search, so the result
 * lacks tools that were removed in between. */
#include "query/selector.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "catalog/export.h"
#include "catalog/names.h"
#include "engine/tools.h"
#include "query/budget.h"
#include "retrieve/document.h"
#include "retrieve/scorer.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- budget */

int wt__budget_begin(struct budget *out, size_t most, const char *format, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer none = {0};
    *out = (struct budget){.most = most, .format = format ? wt__str(format) : STR("openai")};
    int rc = most || format ? wt__export(NULL, 0, out->format, &none, err) : 0;
    out->format = wt__export_read(out->format);
    return rc;
}

void wt__budget_dispose(struct budget *budget)
{
    wt__buffer_dispose(&budget->named);
}

static void add_skipped_name(struct budget *budget, const struct tool *tool, size_t tokens)
{
    if (budget->over++ >= BUDGET_NAMED)
        return;
    wt__buffer_text(&budget->named, budget->over > 1 ? ", " : "");
    wt__tool_id(&budget->named, tool->provider, tool->name);
    wt__buffer_printf(&budget->named, " (%zu)", tokens);
}

static int count_definition_tokens(const struct budget *budget, const struct tool *tool, size_t *tokens, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer definition = {0};
    int rc = budget->most ? wt__export(tool, 1, budget->format, &definition, err) : 0;
    *tokens = (definition.len + BUDGET_BYTES_PER_TOKEN - 1) / BUDGET_BYTES_PER_TOKEN;
    return rc;
}

/* Counts a kept tool, even if it does not fit, because it is in the prompt already. Call it before taking other
 * tools. */
static int keep_in_budget(struct budget *budget, const struct tool *tool, size_t *tokens, wt_error *err)
{
    int rc = count_definition_tokens(budget, tool, tokens, err);
    budget->used += *tokens;
    budget->taken++;
    return rc;
}

/* Takes a tool if it fits. Returns 1 if it fits, 0 if not. *tokens: tokens of its definition; 0 without a budget. */
static int take_from_budget(struct budget *budget, const struct tool *tool, size_t *tokens, wt_error *err)
{
    WT_TRY(count_definition_tokens(budget, tool, tokens, err));
    if (budget->most == 0)
        return 1;
    if (budget->used > budget->most || *tokens > budget->most - budget->used) {
        add_skipped_name(budget, tool, *tokens);
        return 0;
    }
    budget->used += *tokens;
    budget->taken++;
    return 1;
}

int wt__budget_report(const struct budget *budget, struct notice *notice, struct arena *arena, wt_error *err)
{
    struct buffer text = {0};
    if (budget->over == 0)
        return 0;
    if (budget->taken > 0)
        wt__buffer_printf(&text, "%zu of %zu tools fit in %zu tokens, with %zu; left out: ", budget->taken,
                          budget->taken + budget->over, budget->most, budget->used);
    else
        wt__buffer_printf(&text, "no tool of %zu fits in %zu tokens: ", budget->over, budget->most);
    wt__buffer_str(&text, wt__buffer_view(&budget->named));
    if (budget->over > BUDGET_NAMED)
        wt__buffer_printf(&text, " and %zu more", budget->over - BUDGET_NAMED);
    text.failed |= budget->named.failed;
    return wt__take_notice(notice, WT_NOTICE_OVER_BUDGET, &text, arena, err);
}

int wt__selection_report_budget(struct selection *selection, const struct budget *budget, wt_error *err)
{
    wt_picked *out = selection->out;
    out->tokens = budget->used;
    out->over_budget = budget->over;
    if (budget->over > 0)
        out->tracc = out->complete = NAN;
    return wt__budget_report(budget, &selection->notice, selection->arena, err);
}

/* ---------------------------------------------------------------- explanations */

/* Returns the names of the fields, such as "name description". fields: one bit per field. NULL if out of memory. */
static const char *write_field_list(struct arena *arena, unsigned fields)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    for (size_t f = 0; f < FIELD_COUNT; f++)
        if (fields & 1u << f)
            wt__buffer_printf(&text, "%s%s", text.len ? " " : "", wt__field_names[f]);
    return text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
}

static int explain_matches(struct search *search, const struct hit *hit, const struct tool *tool, wt_hit *out,
                           wt_error *err)
{
    struct arena *arena = search->arena;
    struct word_match *words;
    size_t count;
    WT_TRY(wt__retrieve_explain(search->workspace, hit->row, tool, arena, &words, &count, err));
    wt_match *matches = wt__arena_array(arena, wt_match, count);
    WT_CHECK_ALLOC(matches, err);
    for (size_t i = 0; i < count; i++) {
        matches[i] = (wt_match){.word = wt__arena_copy(arena, words[i].word),
                                .fields = write_field_list(arena, words[i].fields),
                                .score = words[i].score};
        WT_CHECK_ALLOC(matches[i].word && matches[i].fields, err);
    }
    out->matches = wt__arena_pointers(arena, matches, count, sizeof *matches);
    out->match_count = count;
    return out->matches ? 0 : wt__fail_nomem(err);
}

/* True if the retriever or the reranker uses words. */
static bool uses_words(const struct search *search)
{
    const struct rerank_kind *reranker = search->plan.reranker.kind;
    return wt__retriever_uses(&search->plan.retriever, SOURCE_BM25) || (reranker && reranker->features);
}

/* Returns the name of a stage, followed by the matched part of the request, if any. NULL if out of memory. */
static const char *write_stage_name(const struct stage_evidence *stage, const struct hit *hit, struct arena *arena)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct str part = strcmp(stage->name, SUBQUERY_STAGE) == 0 ? hit->subquery
                      : strcmp(stage->name, NAME_STAGE) == 0   ? hit->name
                                                               : (struct str){0};
    if (part.len == 0)
        return stage->name;
    wt__buffer_printf(&text, "%s \"", stage->name);
    wt__utf8_append(&text, part);
    wt__buffer_char(&text, '"');
    return wt__arena_copy(arena, wt__buffer_view(&text));
}

static int explain_stages(struct search *search, const struct hit *hit, wt_hit *out, wt_error *err)
{
    struct arena *arena = search->arena;
    wt_stage_score *stages = wt__arena_array(arena, wt_stage_score, HIT_STAGES);
    WT_CHECK_ALLOC(stages, err);
    for (size_t s = 0; s < HIT_STAGES && hit->stages[s].name; s++) {
        const struct stage_evidence *stage = &hit->stages[s];
        const char *name = write_stage_name(stage, hit, arena);
        WT_CHECK_ALLOC(name, err);
        stages[out->stage_count++] = (wt_stage_score){name, stage->rank, stage->score, stage->share, stage->weight};
    }
    out->stages = wt__arena_pointers(arena, stages, out->stage_count, sizeof *stages);
    return out->stages ? 0 : wt__fail_nomem(err);
}

static int explain_features(struct search *search, const struct hit *hit, wt_hit *out, wt_error *err)
{
    struct arena *arena = search->arena;
    struct feature_share *found;
    size_t count;
    WT_TRY(wt__scorer_explain(search->workspace, hit->row, arena, &found, &count, err));
    wt_feature_share *shares = wt__arena_array(arena, wt_feature_share, count);
    WT_CHECK_ALLOC(shares, err);
    for (size_t i = 0; i < count; i++)
        shares[i] = (wt_feature_share){found[i].name, (double)found[i].value, (double)found[i].share};
    out->features = wt__arena_pointers(arena, shares, count, sizeof *shares);
    out->feature_count = count;
    return out->features ? 0 : wt__fail_nomem(err);
}

/* Fills the stages, the features and, if words were used, the matches of a hit. */
static int explain_found_hit(struct search *search, const struct hit *hit, const struct tool *tool, wt_hit *out,
                             wt_error *err)
{
    WT_TRY(explain_stages(search, hit, out, err));
    WT_TRY(explain_features(search, hit, out, err));
    return uses_words(search) ? explain_matches(search, hit, tool, out, err) : 0;
}

/* ---------------------------------------------------------------- copies */

/* The copies of each hit. */
struct hit_copies {
    const uint32_t *shown; /* [count] rows of the hits, ascending; a hit is never listed as a copy */
    size_t count;
    int64_t *ids; /* [listed] ids of the listed copies, hit by hit */
    size_t listed;
};

static bool is_shown_hit(const struct hit_copies *told, uint32_t row)
{
    size_t at = wt__lower_bound_u32(told->shown, told->count, row);
    return at < told->count && told->shown[at] == row;
}

static void add_copy(const struct search *search, struct hit_copies *told, uint32_t row, wt_hit *out)
{
    if (is_shown_hit(told, row))
        return;
    if (out->more_count++ < WT_MAX_MORE_LIKE_IT) {
        told->ids[told->listed++] = search->index->snapshot->keys[row].id;
        out->more_listed++;
    }
}

/* Collects the copies of a hit: the identical tools that the filter allows, and the near-copies that share its
 * place. */
static void collect_copies(const struct search *search, struct hit_copies *told, const struct hit *hit, wt_hit *out)
{
    const struct snapshot *snapshot = search->index->snapshot;
    const struct snapshot_key *keys = snapshot->keys;
    uint32_t group = keys[hit->row].group;
    size_t count = 0;
    const uint32_t *rows = search->hits.asked ? wt__copy_group(snapshot, hit->row, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (rows[i] != hit->row && wt__are_copies(&keys[rows[i]], &keys[hit->row]) &&
            wt__row_allowed(search->allowed, rows[i]))
            add_copy(search, told, rows[i], out);
    for (size_t i = 0; search->copies == COPIES_SHARED && i < search->hits.given_count; i++) {
        const struct copy *given = &search->hits.given[i];
        if (given->of == hit->row && (group == 0 || !search->hits.asked || keys[given->row].group != group))
            add_copy(search, told, given->row, out);
    }
}

/* Sets the ids of the collected copies. Skips copies that were removed meanwhile. hits: [count] in the order in which
 * their copies were collected. */
static int set_copy_ids(struct search *search, struct hit_copies *told, wt_hit *hits, size_t count, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena reading = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    struct tool *tools = wt__arena_array(&reading, struct tool, told->listed);
    const char **names = wt__arena_array(search->arena, const char *, told->listed);
    WT_CHECK_ALLOC(tools && names, err);
    if (told->listed > 0)
        WT_TRY(wt__index_tools(search->engine, search->index, told->ids, told->listed, &reading, tools, err));
    for (size_t h = 0, at = 0; h < count; h++) {
        size_t listed = hits[h].more_listed;
        hits[h].more_like_it = names;
        hits[h].more_listed = 0;
        for (size_t i = 0; i < listed; i++, at++) {
            if (tools[at].name.len == 0) {
                hits[h].more_count--;
                continue;
            }
            wt__buffer_clear(&id);
            wt__tool_id(&id, tools[at].provider, tools[at].name);
            *names = id.failed ? NULL : wt__arena_copy(search->arena, wt__buffer_view(&id));
            WT_CHECK_ALLOC(*names++, err);
            hits[h].more_listed++;
        }
    }
    return 0;
}

/* Adds the copies to the hits. which, hits: [count]; hits[i] was made from which[i]. */
static int add_copies_to_hits(struct search *search, const uint32_t *which, wt_hit *hits, size_t count, wt_error *err)
{
    uint32_t *shown = wt__arena_array(search->arena, uint32_t, count);
    struct hit_copies told = {shown, count, wt__arena_array(search->arena, int64_t, count * WT_MAX_MORE_LIKE_IT), 0};
    WT_CHECK_ALLOC(shown && told.ids, err);
    for (size_t i = 0; i < count; i++)
        shown[i] = search->hits.items[which[i]].row;
    wt__sort_u32(shown, count);
    for (size_t i = 0; i < count; i++)
        collect_copies(search, &told, &search->hits.items[which[i]], &hits[i]);
    return set_copy_ids(search, &told, hits, count, err);
}

/* ---------------------------------------------------------------- hits */

/* Counts the tokens of the kept tools. */
static int count_kept_tokens(struct search *search, const uint32_t *which, size_t count, const struct tool *tools,
                             size_t *tokens, wt_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (search->hits.items[which[i]].kept && tools[i].name.len > 0)
            WT_TRY(keep_in_budget(&search->budget, &tools[i], &tokens[i], err));
    return 0;
}

int wt__materialise_hits(struct search *search, const uint32_t *which, size_t count, bool explain,
                         const wt_hit *const **out, size_t *len, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena reading = {0};
    wt_hit *items = wt__arena_array(search->arena, wt_hit, count);
    wt_tool *materialised = wt__arena_array(search->arena, wt_tool, count);
    int64_t *ids = wt__arena_array(&reading, int64_t, count);
    struct tool *tools = wt__arena_array(&reading, struct tool, count);
    size_t *tokens = wt__arena_array(&reading, size_t, count);
    uint32_t *came = wt__arena_array(&reading, uint32_t, count); /* [*len] elements of `which` in the result */
    *out = NULL;
    *len = 0;
    WT_CHECK_ALLOC(items && materialised && ids && tools && tokens && came, err);
    for (size_t i = 0; i < count; i++)
        ids[i] = search->index->snapshot->keys[search->hits.items[which[i]].row].id;
    WT_TRY(wt__index_tools(search->engine, search->index, ids, count, &reading, tools, err));
    WT_TRY(count_kept_tokens(search, which, count, tools, tokens, err));
    for (size_t i = 0; i < count; i++) {
        const struct hit *hit = &search->hits.items[which[i]];
        if (tools[i].name.len == 0)
            continue;
        int fits = hit->kept ? 1 : take_from_budget(&search->budget, &tools[i], &tokens[i], err);
        if (fits < 0)
            return fits;
        if (fits == 0)
            continue;
        wt_tool *shown = &materialised[*len];
        came[*len] = which[i];
        wt_hit *item = &items[(*len)++];
        item->tool = shown;
        item->score = hit->score;
        item->probability = (double)hit->probability;
        item->tokens = tokens[i];
        item->weak = hit->weak;
        item->kept = hit->kept;
        WT_TRY(wt__tool_materialise(search->arena, &tools[i], shown, err));
        if (explain)
            WT_TRY(explain_found_hit(search, hit, &tools[i], item, err));
    }
    WT_TRY(add_copies_to_hits(search, came, items, *len, err));
    *out = wt__arena_pointers(search->arena, items, *len, sizeof *items);
    return *out ? 0 : wt__fail_nomem(err);
}
