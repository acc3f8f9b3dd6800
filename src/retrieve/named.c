/* named.c: ranks the tools whose names are in the request (request_names.h). A name identifies its tool, whatever the
 * other words of the request are. A named tool is therefore placed first instead of being weighed against other
 * evidence. The order is:
 *
 *   leaders     One tool for each name, in the request's order. The tool of a provider named nearby is preferred, then
 *               the tool with the exact spelling, then the best tool according to the other sources.
 *
 *   namesakes   The other tools with these names. They come next if the request consists only of names. In a sentence
 *               they are ranked by the other evidence.
 *
 *   rest        All other tools, ranked by the other evidence. A tool with a spoken name (request_names.h) gains a
 *               share of the total weight.
 *
 * The scores enforce this order: leaders score slightly above the best of all other evidence. */
#include <math.h>

#include "retrieve/source.h"

/* Scores that distinguish written from spoken names. */
static const float WRITTEN = 1, SPOKEN = 0.5f;

/* Weight of a spoken name as a share of all other evidence; chosen on dev (docs/retrieval.md). */
static const float SPOKEN_SHARE = 0.4f;

enum { NAMESAKES_MAX = 100, ENTRIES_READ = 4096 /* index entries per name */ };

/* Score difference between successive leaders, as a share of the best other score. */
static const float STEP = 0.01f;

static bool has_names(const struct view *view)
{
    return view->snapshot->names.count > 0;
}

static bool has_scored_row(const struct scored *rows, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].row == row)
            return true;
    return false;
}

static size_t limit_count(size_t count, size_t most)
{
    return count < most ? count : most;
}

/* Adds the first allowed rows of a name. Ignores rows beyond the index. */
static void add_rows(const struct source_query *query, const struct request_name *name, float score,
                     struct ranking *ranking)
{
    const struct snapshot *snapshot = query->view->snapshot;
    size_t read = limit_count(name->run.count, ENTRIES_READ);
    size_t before = ranking->len;
    if (name->row < snapshot->rows && wt__row_allowed(query->request->allowed, name->row) &&
        !has_scored_row(ranking->top, ranking->len, name->row))
        ranking->top[ranking->len++] = (struct scored){score, name->row};
    for (size_t i = 0; i < read && ranking->len - before < NAMESAKES_MAX; i++) {
        uint32_t row = wt__name_row(snapshot->names.entries[name->run.first + i]);
        if (row < snapshot->rows && wt__row_allowed(query->request->allowed, row) &&
            !has_scored_row(ranking->top + before, ranking->len - before, row))
            ranking->top[ranking->len++] = (struct scored){score, row};
    }
}

static int search_names(struct source_query *query, wt_error *err)
{
    struct workspace *workspace = query->workspace;
    struct request_names *names = &workspace->names;
    struct ranking *ranking = wt__ranking(query, 0, SOURCE_NAMED);
    WT_TRY(
        wt__request_names(names, &query->view->snapshot->names, workspace->texts[0].written, &workspace->arena, err));
    size_t most = 0;
    for (size_t i = 0; i < names->count; i++)
        most += 1 + limit_count(names->items[i].run.count, NAMESAKES_MAX);
    for (size_t i = 0; i < names->spoken_count; i++)
        most += 1 + limit_count(names->spoken[i].run.count, NAMESAKES_MAX);
    ranking->top = wt__arena_array(&workspace->arena, struct scored, most);
    WT_CHECK_ALLOC(ranking->top, err);
    for (size_t i = 0; i < names->count; i++)
        add_rows(query, &names->items[i], WRITTEN, ranking);
    for (size_t i = 0; i < names->spoken_count; i++)
        add_rows(query, &names->spoken[i], SPOKEN, ranking);
    return 0;
}

/* Returns the first of the given names that the row has, or NULL. */
static const struct request_name *find_name_of_row(const struct source_query *query, const struct request_name *names,
                                                   size_t count, uint32_t row)
{
    size_t i = 0;
    while (i < count && !wt__name_run_has(&query->view->snapshot->names, names[i].run, row))
        i++;
    return i < count ? &names[i] : NULL;
}

/* Scores every candidate with one of the names, including candidates from other sources. */
static int score_named_rows(struct source_query *query, wt_error *err)
{
    const struct request_names *names = &query->workspace->names;
    float *scores = wt__ranking(query, 0, SOURCE_NAMED)->scores;
    (void)err;
    for (size_t c = 0; names->count + names->spoken_count > 0 && c < query->count; c++) {
        uint32_t row = query->rows[c];
        if (find_name_of_row(query, names->items, names->count, row))
            scores[c] = WRITTEN;
        else if (find_name_of_row(query, names->spoken, names->spoken_count, row))
            scores[c] = SPOKEN;
    }
    return 0;
}

static float named_value(const struct source_query *query, float weight, size_t t, size_t c)
{
    bool spoken = t == 0 && wt__ranking(query, 0, SOURCE_NAMED)->scores[c] == SPOKEN;
    return spoken ? weight * SPOKEN_SHARE : 0; /* leaders are determined after all other sources */
}

const struct source wt__source_named = {
    {NAME_STAGE, NULL, has_names, search_names, score_named_rows, named_value, NULL}, .is_preset = true};

/* Returns the score of a candidate from the other sources: for the whole request plus the sub-query around `text`, or
 * plus the best sub-query if none contains `text`. */
static float score_by_other_sources(const struct source_query *query, const struct evidence *evidence, struct str text,
                                    size_t c)
{
    float best = 0;
    for (size_t t = 1; t < evidence->texts; t++) {
        struct str subquery = query->workspace->texts[t].written;
        bool inside = text.ptr >= subquery.ptr && text.ptr + text.len <= subquery.ptr + subquery.len;
        if (inside)
            return evidence->value[0][c] + evidence->subquery_weight * evidence->value[t][c];
        best = t == 1 ? evidence->value[t][c] : fmaxf(best, evidence->value[t][c]);
    }
    return evidence->value[0][c] + evidence->subquery_weight * best;
}

/* Returns the candidate that leads for a name. Returns query->count if all tools of the name already lead or are not
 * allowed. */
static size_t find_leader(const struct source_query *query, const struct evidence *evidence,
                          const struct request_name *name)
{
    const struct name_index *names = &query->view->snapshot->names;
    size_t best = query->count;
    float most = 0;
    bool written = false;
    for (size_t c = 0; c < query->count; c++) {
        if (evidence->leads[c] || wt__ranking(query, 0, SOURCE_NAMED)->scores[c] < WRITTEN)
            continue;
        if (query->rows[c] == name->row)
            return c;
        if (!wt__name_run_has(names, name->run, query->rows[c]))
            continue;
        bool as_written = name->written != NAME_UNWRITTEN && wt__names_has(names, name->written, query->rows[c]);
        float score = score_by_other_sources(query, evidence, name->text, c);
        if (best == query->count || as_written > written || (as_written == written && score > most)) {
            best = c;
            most = score;
            written = as_written;
        }
    }
    return best;
}

void wt__named_hit(const struct source_query *query, const struct evidence *evidence,
                   const struct chosen_candidate *choice, struct hit *out)
{
    const struct request_names *names = &query->workspace->names;
    size_t c = choice->candidate;
    if (names->count + names->spoken_count == 0)
        return;
    const struct request_name *name = find_name_of_row(query, names->spoken, names->spoken_count, query->rows[c]);
    out->name = name ? name->text : (struct str){"", 0};
    if (!evidence->named || evidence->named[c] <= 0)
        return;
    out->lead = evidence->leads[c];
    out->name = out->lead ? names->items[out->lead - 1].text : out->name;
    wt__hit_stage(out, NAME_STAGE)->share = choice->score - evidence->value[0][c] - choice->subquery;
    query->out->named += out->lead > 0;
}

void wt__named_first(struct hit_list *hits)
{
    for (size_t i = 1; hits->named > 0 && i < hits->len; i++) {
        struct hit hit = hits->items[i];
        size_t at = i;
        for (; hit.lead && at > 0 && (!hits->items[at - 1].lead || hits->items[at - 1].lead > hit.lead); at--)
            hits->items[at] = hits->items[at - 1];
        hits->items[at] = hit;
    }
    for (size_t i = hits->named > 0 ? hits->len : 0; i-- > 1;)
        hits->items[i - 1].score = fmaxf(hits->items[i - 1].score, hits->items[i].score);
}

int wt__named_order(struct source_query *query, struct evidence *evidence, wt_error *err)
{
    const struct request_names *names = &query->workspace->names;
    const struct ranking *ranking = wt__ranking(query, 0, SOURCE_NAMED);
    static const struct str whole = {"", 0};
    if (names->count == 0)
        return 0;
    evidence->leads = wt__arena_array(&query->workspace->arena, uint16_t, query->count);
    evidence->named = wt__arena_array(&query->workspace->arena, float, query->count);
    WT_CHECK_ALLOC(evidence->leads && evidence->named, err);
    float best = 0;
    for (size_t c = 0; c < query->count; c++)
        best = fmaxf(best, score_by_other_sources(query, evidence, whole, c));
    float step = STEP * (best > 0 ? best : 1);
    for (size_t i = 0; i < names->count; i++) {
        size_t c = find_leader(query, evidence, &names->items[i]);
        if (c < query->count) {
            evidence->leads[c] = (uint16_t)(1 + i);
            evidence->named[c] = best + step * (float)(names->count - i);
        }
    }
    for (size_t c = 0; names->only && c < query->count; c++)
        if (ranking->scores[c] >= WRITTEN && !evidence->leads[c]) {
            float share = best > 0 ? score_by_other_sources(query, evidence, whole, c) / best : 0;
            evidence->named[c] = best + step * (.25f + .5f * fmaxf(share, 0));
        }
    query->out->named_only = names->only;
    return 0;
}
