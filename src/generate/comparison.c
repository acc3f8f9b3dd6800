/* comparison.c: wt_generate_comparison: draws pairs, asks about each in both orders, counts the verdicts, and compares
 * them with a person's labels.
 *
 * A judge that always prefers the text shown first says nothing about either text. So each pair is asked about twice,
 * in both orders, and a verdict that changes with the order counts as a tie (Zheng et al. 2023, "Judging
 * LLM-as-a-judge", section 3.4, the conservative approach). The overall verdict on a pair is for the text that wins
 * more criteria. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#include "base/bootstrap.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "engine/sized_options.h"
#include "generate/comparison.h"
#include "generate/internal.h"
#include "generate/requests.h"

enum { LABEL_FIELDS_MAX = 16, RESAMPLES = 10000, USUAL_LIMIT = 100 };

/* ---------------------------------------------------------------- labels */

struct label_columns {
    size_t pair, verdict;
};

/* Splits a line into trimmed fields; returns their number, at most LABEL_FIELDS_MAX. */
static size_t split_label_fields(struct str line, struct str fields[LABEL_FIELDS_MAX])
{
    size_t count = 0;
    while (count < LABEL_FIELDS_MAX) {
        const char *tab = line.len > 0 ? memchr(line.ptr, '\t', line.len) : NULL;
        const size_t len = tab ? (size_t)(tab - line.ptr) : line.len;
        fields[count++] = wt__str_trim((struct str){line.ptr, len});
        if (!tab)
            break;
        line = (struct str){tab + 1, line.len - len - 1};
    }
    return count;
}

static bool equals_label_word(struct str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* True if the line names the columns; sets *columns. */
static bool read_label_columns(const struct str *fields, size_t count, struct label_columns *columns)
{
    bool pair = false, verdict = false;
    for (size_t i = 0; i < count; i++) {
        if (!pair && equals_label_word(fields[i], "pair")) {
            columns->pair = i;
            pair = true;
        } else if (!verdict && equals_label_word(fields[i], "verdict")) {
            columns->verdict = i;
            verdict = true;
        }
    }
    return pair && verdict;
}

/* Parses a pair number from 1. Leading zeros are refused, so that a pair has only one spelling. */
static bool parse_pair_number(struct str text, size_t *out)
{
    *out = 0;
    if (text.len > 0 && text.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        *out = *out * 10 + (size_t)(text.ptr[i] - '0');
        if (*out > LABEL_PAIR_MAX)
            return false;
    }
    return *out > 0;
}

/* Adds the verdict of a line; a line without a verdict adds nothing. */
static int read_label_line(struct pair_labels *labels, struct map *known, const struct str *fields, size_t count,
                           const struct label_columns *columns, const char *name, size_t number, wt_error *err)
{
    static const char *const words[LABELS] = {"a", "b", "tie"};
    const struct str pair = columns->pair < count ? fields[columns->pair] : STR(""),
                     verdict = columns->verdict < count ? fields[columns->verdict] : STR("");
    struct pair_label row = {.label = LABELS};
    bool added = false;
    if (!parse_pair_number(pair, &row.pair))
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL, "%s:%zu: \"%.*s\" is not a pair number", name, number,
                           (int)(pair.len < 40 ? pair.len : 40), pair.ptr);
    if (verdict.len == 0 || wt__str_equal(verdict, STR("?")))
        return 0;
    for (enum label label = 0; label < LABELS; label++)
        if (equals_label_word(verdict, words[label]))
            row.label = label;
    if (row.label == LABELS)
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL, "%s:%zu: \"%.*s\" is not a verdict; use a, b or tie", name,
                           number, (int)(verdict.len < 40 ? verdict.len : 40), verdict.ptr);
    if (!wt__map_insert(known, pair, 0, &added) ||
        wt__grow((void **)&labels->rows, &labels->capacity, labels->count + 1, sizeof *labels->rows) < 0)
        return wt__fail_nomem(err);
    if (!added)
        return wt__fail_at(err, WT_EFORMAT, number, 0, NULL, "%s:%zu: pair %zu appears twice", name, number, row.pair);
    labels->rows[labels->count++] = row;
    return 0;
}

int wt__pair_labels_parse(struct pair_labels *out, struct str file, const char *name, wt_error *err)
{
    struct label_columns columns = {0, 1};
    WT_CLEANUP(wt__map_dispose) struct map known = {0};
    struct str line;
    bool begun = false;
    int rc = 0;
    *out = (struct pair_labels){0};
    for (size_t number = 1; rc == 0 && wt__piece_next_line(&file, &line); number++) {
        struct str fields[LABEL_FIELDS_MAX];
        if (wt__str_trim(line).len == 0)
            continue;
        const size_t count = split_label_fields(line, fields);
        if (begun || !read_label_columns(fields, count, &columns))
            rc = read_label_line(out, &known, fields, count, &columns, name, number, err);
        begun = true;
    }
    if (rc < 0)
        wt__pair_labels_dispose(out);
    return rc;
}

void wt__pair_labels_dispose(struct pair_labels *labels)
{
    free(labels->rows);
    *labels = (struct pair_labels){0};
}

size_t wt__agreement_pairs(const struct agreement *agreement)
{
    size_t pairs = 0;
    for (size_t i = 0; i < LABELS; i++)
        for (size_t j = 0; j < LABELS; j++)
            pairs += agreement->counts[i][j];
    return pairs;
}

size_t wt__agreement_same(const struct agreement *agreement)
{
    size_t same = 0;
    for (size_t i = 0; i < LABELS; i++)
        same += agreement->counts[i][i];
    return same;
}

double wt__agreement_kappa(const struct agreement *agreement)
{
    const double pairs = (double)wt__agreement_pairs(agreement);
    double by_chance = 0;
    for (size_t i = 0; i < LABELS; i++) {
        size_t one = 0, other = 0;
        for (size_t j = 0; j < LABELS; j++) {
            one += agreement->counts[i][j];
            other += agreement->counts[j][i];
        }
        by_chance += (double)one * (double)other;
    }
    if (pairs == 0 || by_chance >= pairs * pairs)
        return NAN;
    by_chance /= pairs * pairs;
    return ((double)wt__agreement_same(agreement) / pairs - by_chance) / (1 - by_chance);
}

/* ---------------------------------------------------------------- counting */

enum comparison_criterion { NATURALNESS, FLUENCY, COHERENCE, CRITERIA };

/* Preference for the text of the first or of the second data set. */
enum preference { PREFERS_FIRST = 1, PREFERS_NEITHER = 0, PREFERS_SECOND = -1 };

struct compared_pair {
    struct str ids[2], texts[2]; /* from the first and the second data set */
    /* [order][criterion]: the model's answers. Order 0 shows the text of the first data set first, order 1 shows it
     * last. Valid for an order only if answered[order]. */
    enum preference preferences[2][CRITERIA];
    bool answered[2];
    bool is_swapped; /* true if column a of sheet.tsv holds the second data set's text */
};

static bool is_judged_pair(const struct compared_pair *pair)
{
    return pair->answered[0] && pair->answered[1];
}

/* One criterion over all judged pairs. */
struct comparison_outcome {
    size_t judged, wins, ties, losses; /* for the first data set */
    size_t changed_with_order; /* of the ties: verdicts that changed with the order; 0 for the overall verdict */
    struct bootstrap won, tied, lost, net; /* shares, and wins minus losses */
};

static const char *const criterion_names[CRITERIA + 1] = {"naturalness", "fluency", "coherence", "overall"};

/* Returns the verdict on a judged pair. criterion: CRITERIA for the overall verdict. */
static enum preference get_pair_preference(const struct compared_pair *pair, size_t criterion)
{
    int sum = 0;
    if (criterion < CRITERIA)
        return pair->preferences[0][criterion] == pair->preferences[1][criterion] ? pair->preferences[0][criterion]
                                                                                  : PREFERS_NEITHER;
    for (size_t c = 0; c < CRITERIA; c++)
        sum += get_pair_preference(pair, c);
    return sum > 0 ? PREFERS_FIRST : sum < 0 ? PREFERS_SECOND : PREFERS_NEITHER;
}

/* Bootstraps the mean of scale[preference + 1] over all preferences. */
static int bootstrap_preferences(const double *preferences, size_t count, double scale[3], uint64_t seed,
                                 struct bootstrap *out, wt_error *err)
{
    WT_AUTO_FREE double *values = wt__alloc_array(count + 1, sizeof *values);
    WT_CHECK_ALLOC(values, err);
    for (size_t i = 0; i < count; i++)
        values[i] = scale[(int)preferences[i] + 1];
    return wt__bootstrap(values, count, RESAMPLES, seed, out, err);
}

static int measure_outcome(const struct compared_pair *pairs, size_t count, size_t criterion, uint64_t seed,
                           struct comparison_outcome *out, wt_error *err)
{
    WT_AUTO_FREE double *preferences = wt__alloc_array(count + 1, sizeof *preferences);
    *out = (struct comparison_outcome){0};
    WT_CHECK_ALLOC(preferences, err);
    for (size_t i = 0; i < count; i++) {
        if (!is_judged_pair(&pairs[i]))
            continue;
        const enum preference preference = get_pair_preference(&pairs[i], criterion);
        out->wins += preference == PREFERS_FIRST;
        out->ties += preference == PREFERS_NEITHER;
        out->losses += preference == PREFERS_SECOND;
        if (criterion < CRITERIA)
            out->changed_with_order += pairs[i].preferences[0][criterion] != pairs[i].preferences[1][criterion];
        preferences[out->judged++] = preference;
    }
    double lost[3] = {1, 0, 0}, tied[3] = {0, 1, 0}, won[3] = {0, 0, 1}, net[3] = {-1, 0, 1};
    WT_TRY(bootstrap_preferences(preferences, out->judged, won, seed, &out->won, err));
    WT_TRY(bootstrap_preferences(preferences, out->judged, tied, seed, &out->tied, err));
    WT_TRY(bootstrap_preferences(preferences, out->judged, lost, seed, &out->lost, err));
    return bootstrap_preferences(preferences, out->judged, net, seed, &out->net, err);
}

/* Fills outcomes [CRITERIA + 1]; the last one is the overall verdict. */
static int measure_outcomes(const struct compared_pair *pairs, size_t count, uint64_t seed,
                            struct comparison_outcome *outcomes, wt_error *err)
{
    for (size_t c = 0; c <= CRITERIA; c++)
        WT_TRY(measure_outcome(pairs, count, c, seed, &outcomes[c], err));
    return 0;
}

/* Compares the model's verdicts with a person's labels: rows of the table are the person's. criterion: CRITERIA for the
 * overall verdict. */
static void compare_with_labels(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                                size_t criterion, struct agreement *out)
{
    *out = (struct agreement){0};
    for (size_t i = 0; i < labels->count; i++) {
        const size_t place = labels->rows[i].pair - 1;
        if (place >= count || !is_judged_pair(&pairs[place]))
            continue;
        const enum preference preference = get_pair_preference(&pairs[place], criterion);
        const bool first_is_a = !pairs[place].is_swapped;
        const enum label label = preference == PREFERS_NEITHER                 ? LABEL_TIE
                                 : (preference == PREFERS_FIRST) == first_is_a ? LABEL_A
                                                                               : LABEL_B;
        out->counts[labels->rows[i].label][label]++;
    }
}

/* ---------------------------------------------------------------- JSON */

static void write_share(const char *name, size_t count, const struct bootstrap *share, struct buffer *out)
{
    wt__buffer_printf(out, "\"%s\":{\"count\":%zu,\"share\":%.4f,\"low\":%.4f,\"high\":%.4f},", name, count,
                      share->difference, share->low, share->high);
}

static void write_outcome(const struct comparison_outcome *outcome, const char *name, bool whole, struct buffer *out)
{
    wt__buffer_printf(out, "\"%s\":{", name);
    write_share("wins", outcome->wins, &outcome->won, out);
    write_share("ties", outcome->ties, &outcome->tied, out);
    write_share("losses", outcome->losses, &outcome->lost, out);
    if (!whole)
        wt__buffer_printf(out, "\"changed_with_the_order\":%zu,", outcome->changed_with_order);
    wt__buffer_printf(out, "\"wins_less_losses\":{\"share\":%.4f,\"low\":%.4f,\"high\":%.4f,\"p\":%.4f}}",
                      outcome->net.difference, outcome->net.low, outcome->net.high, outcome->net.p);
}

/* Writes "agreement":{...}, or null without labels. */
static void write_agreement(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                            struct buffer *out)
{
    if (!labels) {
        wt__buffer_text(out, ",\"agreement\":null");
        return;
    }
    wt__buffer_printf(out, ",\"agreement\":{\"labels\":%zu", labels->count);
    for (size_t c = 0; c <= CRITERIA; c++) {
        struct agreement agreement;
        compare_with_labels(pairs, count, labels, c, &agreement);
        const size_t compared = wt__agreement_pairs(&agreement), same = wt__agreement_same(&agreement);
        const double kappa = wt__agreement_kappa(&agreement);
        wt__buffer_printf(out, ",\"%s\":{\"pairs\":%zu,\"same\":%zu,\"share\":%.4f,\"kappa\":", criterion_names[c],
                          compared, same, (double)same / (double)(compared ? compared : 1));
        if (isnan(kappa))
            wt__buffer_text(out, "null}");
        else
            wt__buffer_printf(out, "%.4f}", kappa);
    }
    wt__buffer_char(out, '}');
}

/* Appends "pairs", "criteria" and "agreement" of report.json. labels: NULL if a person has not labelled the pairs. */
static void write_comparison_members(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                                     const struct comparison_outcome *outcomes, struct buffer *out)
{
    wt__buffer_printf(out, "\"pairs\":%zu,\"judged\":%zu,\"resamples\":%d,\"criteria\":{", count,
                      outcomes[CRITERIA].judged, RESAMPLES);
    for (size_t c = 0; c <= CRITERIA; c++) {
        wt__buffer_text(out, c > 0 ? "," : "");
        write_outcome(&outcomes[c], criterion_names[c], c == CRITERIA, out);
    }
    wt__buffer_char(out, '}');
    write_agreement(pairs, count, labels, out);
}

static void write_verdict_table(const struct compared_pair *pairs, size_t count, const struct pair_labels *labels,
                                const struct comparison_outcome *outcomes, const char *model, struct buffer *out)
{
    wt__buffer_printf(out, "Verdicts of %s on the first data set:\n%-12s %6s %6s %7s   %s", model, "", "wins", "ties",
                      "losses", "wins minus losses per 100 (95 %)");
    for (size_t c = 0; c <= CRITERIA; c++) {
        const struct comparison_outcome *outcome = &outcomes[c];
        wt__buffer_printf(out, "\n%-12s %6zu %6zu %7zu   %+.0f (%+.0f to %+.0f)", criterion_names[c], outcome->wins,
                          outcome->ties, outcome->losses, 100 * outcome->net.difference, 100 * outcome->net.low,
                          100 * outcome->net.high);
        if (outcome->changed_with_order > 0)
            wt__buffer_printf(out, "; %zu verdicts changed with the order", outcome->changed_with_order);
    }
    if (!labels)
        return;
    struct agreement agreement;
    compare_with_labels(pairs, count, labels, CRITERIA, &agreement);
    const size_t compared = wt__agreement_pairs(&agreement);
    const double kappa = wt__agreement_kappa(&agreement);
    wt__buffer_printf(out, "\nA person agrees overall with %zu of %zu", wt__agreement_same(&agreement), compared);
    if (compared == 0)
        wt__buffer_text(out, "; the labels name no pair with a verdict");
    else if (isnan(kappa))
        wt__buffer_text(out, "; Cohen's kappa is undefined, since all labels are the same");
    else
        wt__buffer_printf(out, "; Cohen's kappa %.2f", kappa);
}

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

/* Draws a random order of the lines that have a text and, if `drafts`, also a draft. Sets *order to their places
 * [*count], in the arena. */
static int draw_text_order(struct comparison_run *c, const struct text_lines *lines, bool drafts, struct rng *rng,
                           uint32_t **order, size_t *count, wt_error *err)
{
    uint32_t *numbers = wt__arena_array(&c->arena, uint32_t, lines->count + 1),
             *places = wt__arena_array(&c->arena, uint32_t, lines->count + 1);
    WT_CHECK_ALLOC(numbers && places, err);
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

/* Pairs the requests of the two data sets. Without a second data set, pairs each request with its draft. */
static int draw_compared_pairs(struct comparison_run *c, wt_error *err)
{
    const bool drafts = !c->options.second;
    const struct text_lines *other = drafts ? &c->first : &c->second;
    struct rng rng;
    uint32_t *firsts = NULL, *seconds = NULL;
    size_t count = 0, other_count = 0;
    wt__rng_seed(&rng, c->options.seed);
    WT_TRY(draw_text_order(c, &c->first, drafts, &rng, &firsts, &count, err));
    if (!drafts)
        WT_TRY(draw_text_order(c, other, false, &rng, &seconds, &other_count, err));
    if (!drafts && other_count < count)
        count = other_count;
    if (count == 0)
        return wt__fail(err, WT_EEMPTY,
                        drafts ? "%s has no request with a draft to compare it with; name a second data set"
                               : "%s and the second data set have no requests to compare",
                        c->options.first);
    c->count = count < c->options.limit ? count : c->options.limit;
    c->pairs = wt__arena_array(&c->arena, struct compared_pair, c->count);
    WT_CHECK_ALLOC(c->pairs, err);
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
    WT_AUTO_FREE char *bytes = NULL;
    size_t len = 0;
    if (!c->options.labels)
        return 0;
    WT_TRY(wt__file_read(&bytes, &len, c->options.labels, LABELS_BYTES_MAX, err));
    WT_TRY(wt__pair_labels_parse(&c->labels, (struct str){bytes, len}, c->options.labels, err));
    for (size_t i = 0; i < c->labels.count; i++)
        if (c->labels.rows[i].pair > c->count)
            return wt__fail(err, WT_EFORMAT, "%s has a verdict on pair %zu, but there are only %zu pairs",
                            c->options.labels, c->labels.rows[i].pair, c->count);
    return 0;
}

static int write_comparison_settings(struct comparison_run *c, wt_error *err)
{
    struct sha256 sha;
    char hex[65];
    struct buffer *out = &c->session.settings;
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < c->count; i++)
        for (size_t t = 0; t < 2; t++) {
            wt__sha256_update(&sha, c->pairs[i].texts[t].ptr, c->pairs[i].texts[t].len);
            wt__sha256_update(&sha, "\n", 1); /* safe as a separator: a text is one line */
        }
    wt__generate_end_digest(&sha, hex);
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
        const struct str said = wt__json_str(answer, criterion_names[i]);
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
    struct question_stage stage = {
        {STAGE_COMPARISONS, "comparing", "generate-comparison", c, fill_comparison, accept_comparison, NULL},
        .count = 2 * c->count,
        .round = STAGE_ROUND};
    stage.attempts = 1; /* at temperature 0 a repeated question gets the same answer */
    c->session.runner.counts[STAGE_COMPARISONS].wanted = 2 * c->count;
    return wt__stage_run(&c->session.runner, &stage, err);
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
        wt__generate_write_json(out, ", \"text\": ", pair->texts[t]);
        wt__buffer_char(out, '}');
    }
    wt__buffer_printf(out, ", \"judged\": %s", is_judged_pair(pair) ? "true" : "false");
    for (size_t i = 0; is_judged_pair(pair) && i < CRITERIA; i++)
        wt__buffer_printf(out, ", \"%s\": {\"verdict\": \"%s\", \"in_order\": \"%s\", \"swapped\": \"%s\"}",
                          criterion_names[i], said[get_pair_preference(pair, i) + 1], said[pair->preferences[0][i] + 1],
                          said[pair->preferences[1][i] + 1]);
    wt__buffer_text(out, "}\n");
}

/* Writes pairs.jsonl and sheet.tsv. Texts need no escaping in a field: each is one line without tabs. */
static int write_comparison_files(struct comparison_run *c, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer pairs = {0}, sheet = {0};
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
    WT_TRY(wt__folder_write(&c->session.folder, "pairs.jsonl", &pairs, err));
    /* Keep an existing sheet: a person may have filled it in. */
    return wt__folder_has(&c->session.folder, "sheet.tsv")
               ? 0
               : wt__folder_write(&c->session.folder, "sheet.tsv", &sheet, err);
}

static int write_comparison_report(struct comparison_run *c, bool complete, wt_error *err)
{
    struct buffer out = {0};
    wt__session_begin_report(&c->session, complete, &out);
    wt__buffer_char(&out, ',');
    write_comparison_members(c->pairs, c->count, c->options.labels ? &c->labels : NULL, c->outcomes, &out);
    wt__buffer_char(&out, ',');
    wt__stages_report(&c->session.runner, &out);
    wt__buffer_char(&out, '}');
    return wt__session_report(&c->session, &out, err);
}

static int finish_comparison(struct comparison_run *c, wt_error *err)
{
    wt_generated *visible = &c->session.result->visible;
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0}, table = {0};
    WT_TRY(write_comparison_files(c, err));
    WT_TRY(measure_outcomes(c->pairs, c->count, c->options.seed, c->outcomes, err));
    WT_TRY(write_comparison_report(c, true, err));
    const size_t judged = c->outcomes[CRITERIA].judged;
    write_verdict_table(c->pairs, c->count, c->options.labels ? &c->labels : NULL, c->outcomes, c->session.model->name,
                        &table);
    if (judged < c->count)
        wt__buffer_printf(&line, "%zu of %zu pairs have no verdict: an answer was unusable", c->count - judged,
                          c->count);
    WT_TRY(wt__session_set_text(&c->session, &line, &visible->notice, err));
    WT_TRY(wt__session_set_text(&c->session, &table, &visible->summary, err));
    visible->rows = c->count;
    if (judged == 0)
        return wt__fail(err, WT_EEMPTY,
                        "no pair was judged after %" PRIu64 " questions to %s; see %s/report.json for the reasons",
                        c->session.runner.cost.questions, c->session.model->name, c->options.out);
    return 0;
}

static int run_comparison(struct comparison_run *c, wt_error *err)
{
    WT_TRY(wt__text_lines_read(&c->first, c->options.first, "queries.jsonl", err));
    if (c->options.second)
        WT_TRY(wt__text_lines_read(&c->second, c->options.second, "queries.jsonl", err));
    WT_TRY(draw_compared_pairs(c, err));
    WT_TRY(read_pair_labels(c, err));
    WT_TRY(write_comparison_settings(c, err));
    WT_TRY(wt__session_open(&c->session, c->options.out, 0, c->options.seed, err));
    int rc = ask_comparisons(c, err);
    if (rc == 0)
        return finish_comparison(c, err);
    wt_error unused;
    if (measure_outcomes(c->pairs, c->count, c->options.seed, c->outcomes, &unused) == 0)
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
    return wt__generate_read_count(o->limit, USUAL_LIMIT, 1, WT_MAX_COMPARISONS, "pairs to compare", &o->limit, err);
}

int wt__generate_comparison(wt_engine *engine, struct chat_model *model, const wt_comparison_options *given,
                            wt_generated **out, wt_error *err)
{
    struct comparison_run c = {0};
    *out = NULL;
    WT_TRY(wt__options_read(&c.options, sizeof c.options, given, err));
    WT_TRY(check_comparison_options(&c.options, err));
    int rc = wt__session_begin(&c.session, engine, model, c.options.progress, c.options.progress_context, err);
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
