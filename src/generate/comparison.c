/* comparison.c: wt_generate_comparison: draws pairs, asks about each in both orders, and writes the verdicts
 * (comparison_report.c counts them). */
#include "generate/comparison.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "engine/sized_options.h"
#include "generate/report.h"
#include "generate/session.h"
#include "generate/text_lines.h"

enum { USUAL_LIMIT = 100 };

static const char *const criteria[CRITERIA] = {"naturalness", "fluency", "coherence"};

struct comparison_run {
    struct generate_session session;
    wt_comparison_options options; /* defaults filled in */
    struct text_lines first, second;
    struct pair_labels labels;
    struct arena arena;
    struct compared_pair *pairs; /* [count] */
    size_t count;
    struct comparison_outcome outcomes[CRITERIA + 1];
};

/* ---------------------------------------------------------------- pairs */

/* Draws an order of the lines with a text, and with a draft if `drafts`. *order [*count] is in the arena. */
static int draw_text_order(struct comparison_run *c, const struct text_lines *lines, bool drafts, struct rng *rng,
                           uint32_t **order, size_t *count, wt_error *err)
{
    uint32_t *numbers = wt__arena_array(&c->arena, uint32_t, lines->count + 1),
             *places = wt__arena_array(&c->arena, uint32_t, lines->count + 1);
    if (!numbers || !places)
        return wt__fail_nomem(err);
    *count = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (lines->items[i].text.len > 0 && (!drafts || lines->items[i].draft.len > 0))
            places[(*count)++] = (uint32_t)i;
    wt__rng_draw(rng, numbers, *count, *count > 0 ? *count - 1 : 0);
    for (size_t i = 0; i < *count; i++)
        numbers[i] = places[numbers[i]];
    *order = numbers;
    return 0;
}

/* Pairs the requests of two data sets, or the requests of one with their drafts. */
static int draw_compared_pairs(struct comparison_run *c, wt_error *err)
{
    const bool drafts = !c->options.second;
    const struct text_lines *other = drafts ? &c->first : &c->second;
    struct rng rng;
    uint32_t *firsts = NULL, *seconds = NULL;
    size_t count = 0, other_count = 0;
    wt__rng_seed(&rng, c->options.seed);
    int rc = draw_text_order(c, &c->first, drafts, &rng, &firsts, &count, err);
    if (rc == 0 && !drafts)
        rc = draw_text_order(c, other, false, &rng, &seconds, &other_count, err);
    if (rc < 0)
        return rc;
    if (!drafts && other_count < count)
        count = other_count;
    if (count == 0)
        return wt__fail(err, WT_EEMPTY,
                        drafts ? "%s has no request with a draft to compare it with; name a second data set"
                               : "%s and the second data set have no requests to compare",
                        c->options.first);
    c->count = count < c->options.limit ? count : c->options.limit;
    c->pairs = wt__arena_array(&c->arena, struct compared_pair, c->count);
    if (!c->pairs)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < c->count; i++) {
        const struct text_line *one = &c->first.items[firsts[i]], *two = drafts ? one : &other->items[seconds[i]];
        c->pairs[i] = (struct compared_pair){.ids = {one->id, two->id},
                                             .texts = {one->text, drafts ? two->draft : two->text},
                                             .is_swapped = wt__rng_below(&rng, 2) == 1};
    }
    return 0;
}

static int read_pair_labels(struct comparison_run *c, wt_error *err)
{
    char *bytes = NULL;
    size_t len = 0;
    if (!c->options.labels)
        return 0;
    int rc = wt__file_read(&bytes, &len, c->options.labels, LABELS_BYTES_MAX, err);
    if (rc == 0)
        rc = wt__pair_labels_parse(&c->labels, (struct str){bytes, len}, c->options.labels, err);
    free(bytes);
    for (size_t i = 0; rc == 0 && i < c->labels.count; i++)
        if (c->labels.rows[i].pair > c->count)
            rc = wt__fail(err, WT_EFORMAT, "%s has a verdict on pair %zu, but there are only %zu pairs",
                          c->options.labels, c->labels.rows[i].pair, c->count);
    return rc;
}

static int write_comparison_settings(struct comparison_run *c, wt_error *err)
{
    struct sha256 sha;
    unsigned char digest[32];
    char hex[65];
    struct buffer *out = &c->session.settings;
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < c->count; i++)
        for (size_t t = 0; t < 2; t++) {
            wt__sha256_update(&sha, c->pairs[i].texts[t].ptr, c->pairs[i].texts[t].len);
            wt__sha256_update(&sha, "\n", 1); /* safe as a separator: a text is one line */
        }
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, hex);
    wt__buffer_printf(out,
                      "{\"kind\":\"comparison\",\"version\":1,\"with\":\"%s\",\"limit\":%zu,\"seed\":%" PRIu64
                      ",\"texts\":\"%s\",\"model\":",
                      c->options.second ? "another" : "drafts", c->options.limit, c->options.seed, hex);
    wt__buffer_json(out, wt__str(c->session.model->name));
    wt__buffer_char(out, '}');
    return out->failed ? wt__fail_nomem(err) : 0;
}

/* ---------------------------------------------------------------- questions */

/* Items 0 .. count - 1 are the pairs in order; the next count items are the same pairs swapped. */
static int fill_comparison(void *context, size_t item, struct arena *arena, struct prompt_value *values, size_t *count,
                           wt_error *err)
{
    const struct comparison_run *c = context;
    const struct compared_pair *pair = &c->pairs[item % c->count];
    const size_t order = item / c->count;
    (void)arena;
    (void)err;
    values[(*count)++] = (struct prompt_value){.slot = "one", .text = pair->texts[order]};
    values[(*count)++] = (struct prompt_value){.slot = "other", .text = pair->texts[1 - order]};
    return 0;
}

static int accept_comparison(void *context, size_t item, const json_t *answer, struct stage_count *count, bool *done,
                             wt_error *err)
{
    const struct comparison_run *c = context;
    struct compared_pair *pair = &c->pairs[item % c->count];
    const size_t order = item / c->count;
    bool whole = true;
    (void)err;
    for (size_t i = 0; i < CRITERIA; i++) {
        const struct str said = wt__json_str(answer, criteria[i]);
        const bool one = wt__str_equal(said, STR("one")), other = wt__str_equal(said, STR("other"));
        whole &= one || other || wt__str_equal(said, STR("tie"));
        pair->preferences[order][i] = !one && !other        ? PREFERS_NEITHER
                                      : one == (order == 0) ? PREFERS_FIRST
                                                            : PREFERS_SECOND;
    }
    pair->answered[order] = whole;
    wt__stage_note(count, whole ? PIECE_TAKEN : PIECE_NO_WORD);
    *done = true;
    return 0;
}

static int ask_comparisons(struct comparison_run *c, wt_error *err)
{
    const struct question_stage stage = {
        .id = STAGE_COMPARISONS,
        .phase = "comparing",
        .prompt = "generate-comparison",
        .count = 2 * c->count,
        .round = STAGE_ROUND,
        .attempts = 1, /* at temperature 0 a repeated question gets the same answer */
        .context = c,
        .fill = fill_comparison,
        .accept = accept_comparison,
    };
    c->session.asker.counts[STAGE_COMPARISONS].wanted = 2 * c->count;
    return wt__stage_run(&c->session.asker, &stage, err);
}

/* ---------------------------------------------------------------- results */

static void write_compared_pair(const struct compared_pair *pair, size_t number, struct buffer *out)
{
    static const char *const said[] = {"second", "tie", "first"};
    static const char *const sides[] = {"first", "second"};
    wt__buffer_printf(out, "{\"pair\": %zu", number);
    for (size_t t = 0; t < 2; t++) {
        wt__buffer_printf(out, ", \"%s\": {\"_id\": ", sides[t]);
        wt__buffer_json(out, pair->ids[t]);
        wt__buffer_text(out, ", \"text\": ");
        wt__buffer_json(out, pair->texts[t]);
        wt__buffer_char(out, '}');
    }
    wt__buffer_printf(out, ", \"judged\": %s", wt__pair_is_judged(pair) ? "true" : "false");
    for (size_t i = 0; wt__pair_is_judged(pair) && i < CRITERIA; i++)
        wt__buffer_printf(out, ", \"%s\": {\"verdict\": \"%s\", \"in_order\": \"%s\", \"swapped\": \"%s\"}",
                          criteria[i], said[wt__pair_preference(pair, i) + 1], said[pair->preferences[0][i] + 1],
                          said[pair->preferences[1][i] + 1]);
    wt__buffer_text(out, "}\n");
}

/* Writes pairs.jsonl and sheet.tsv. Texts need no escaping in a field: each is one line without tabs. */
static int write_comparison_files(struct comparison_run *c, wt_error *err)
{
    struct buffer pairs = {0}, sheet = {0};
    wt__buffer_text(&sheet, "pair\tverdict\ta\tb\n");
    for (size_t i = 0; i < c->count; i++) {
        const struct compared_pair *pair = &c->pairs[i];
        write_compared_pair(pair, i + 1, &pairs);
        wt__buffer_printf(&sheet, "%zu\t\t", i + 1);
        wt__buffer_str(&sheet, pair->texts[pair->is_swapped]);
        wt__buffer_char(&sheet, '\t');
        wt__buffer_str(&sheet, pair->texts[!pair->is_swapped]);
        wt__buffer_char(&sheet, '\n');
    }
    int rc = wt__folder_write(&c->session.folder, "pairs.jsonl", &pairs, err);
    /* Keep an existing sheet: a person may have filled it in. */
    if (rc == 0 && !wt__folder_has(&c->session.folder, "sheet.tsv"))
        rc = wt__folder_write(&c->session.folder, "sheet.tsv", &sheet, err);
    wt__buffer_dispose(&pairs);
    wt__buffer_dispose(&sheet);
    return rc;
}

static int write_comparison_report(struct comparison_run *c, bool complete, wt_error *err)
{
    struct buffer out = {0};
    wt__buffer_printf(&out, "{\"settings\":%s,\"complete\":%s,\"model\":", c->session.settings.ptr,
                      complete ? "true" : "false");
    wt__buffer_json(&out, wt__str(c->session.model->name));
    wt__buffer_char(&out, ',');
    wt__comparison_report(c->pairs, c->count, c->options.labels ? &c->labels : NULL, c->outcomes, &out);
    wt__buffer_char(&out, ',');
    wt__stages_report(&c->session.asker, &out);
    wt__buffer_char(&out, '}');
    return wt__session_report(&c->session, &out, err);
}

static int finish_comparison(struct comparison_run *c, wt_error *err)
{
    wt_generated *visible = &c->session.result->visible;
    struct buffer line = {0}, table = {0};
    int rc = write_comparison_files(c, err);
    if (rc == 0)
        rc = wt__pairs_measure(c->pairs, c->count, c->options.seed, c->outcomes, err);
    if (rc == 0)
        rc = write_comparison_report(c, true, err);
    const size_t judged = c->outcomes[CRITERIA].judged;
    wt__comparison_text(c->pairs, c->count, c->options.labels ? &c->labels : NULL, c->outcomes, c->session.model->name,
                        &table);
    if (judged < c->count)
        wt__buffer_printf(&line, "%zu of %zu pairs have no verdict: an answer was unusable", c->count - judged,
                          c->count);
    if (rc == 0)
        rc = wt__session_set_text(&c->session, &line, &visible->notice, err);
    if (rc == 0)
        rc = wt__session_set_text(&c->session, &table, &visible->summary, err);
    wt__buffer_dispose(&line);
    wt__buffer_dispose(&table);
    visible->rows = c->count;
    if (rc == 0 && judged == 0)
        rc = wt__fail(err, WT_EEMPTY,
                      "no pair was judged after %" PRIu64 " questions to %s; see %s/report.json for the reasons",
                      c->session.asker.cost.questions, c->session.model->name, c->options.out);
    return rc;
}

static int run_comparison(struct comparison_run *c, wt_error *err)
{
    int rc = wt__text_lines_read(&c->first, c->options.first, "queries.jsonl", err);
    if (rc == 0 && c->options.second)
        rc = wt__text_lines_read(&c->second, c->options.second, "queries.jsonl", err);
    if (rc == 0)
        rc = draw_compared_pairs(c, err);
    if (rc == 0)
        rc = read_pair_labels(c, err);
    if (rc == 0)
        rc = write_comparison_settings(c, err);
    if (rc == 0)
        rc = wt__session_open(&c->session, c->options.out, 0, c->options.seed, err);
    if (rc < 0)
        return rc;
    rc = ask_comparisons(c, err);
    if (rc == 0)
        return finish_comparison(c, err);
    wt_error unused;
    if (wt__pairs_measure(c->pairs, c->count, c->options.seed, c->outcomes, &unused) == 0)
        write_comparison_report(c, false, &unused); /* record the progress so far */
    return rc;
}

static int check_comparison_options(wt_comparison_options *o, wt_error *err)
{
    if (!o->first || !o->first[0])
        return wt__fail(err, WT_EINVAL, "name the folder of the first data set");
    if (!o->out || !o->out[0])
        return wt__fail(err, WT_EINVAL, "name a folder for the verdicts");
    o->seed = o->seed ? o->seed : 1;
    const size_t given = o->limit;
    return wt__generate_read_count(given, USUAL_LIMIT, 1, WT_MAX_COMPARISONS, "pairs to compare", &o->limit, err);
}

int wt__generate_comparison(wt_engine *engine, struct chat_model *model, const wt_comparison_options *given,
                            wt_generated **out, wt_error *err)
{
    struct comparison_run c = {0};
    *out = NULL;
    int rc = wt__options_read(&c.options, sizeof c.options, given, err);
    if (rc == 0)
        rc = check_comparison_options(&c.options, err);
    if (rc < 0)
        return rc;
    rc = wt__session_begin(&c.session, engine, model, c.options.progress, c.options.progress_context, err);
    if (rc == 0)
        rc = run_comparison(&c, err);
    rc = wt__session_end(&c.session, rc, out);
    wt__text_lines_dispose(&c.first);
    wt__text_lines_dispose(&c.second);
    wt__pair_labels_dispose(&c.labels);
    wt__arena_dispose(&c.arena);
    return rc;
}

int wt_generate_comparison(wt_engine *engine, const wt_comparison_options *options, wt_generated **out, wt_error *err)
{
    return wt__generate_comparison(engine, NULL, options, out, err);
}
